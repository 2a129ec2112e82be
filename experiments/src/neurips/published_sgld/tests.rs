//! The rewrite's gradient is the model's, and its chain follows its law.

use super::*;
use barkeep::data::Block;
use barkeep::model::{Likelihood, Mixture, Scratch};

#[test]
fn gradients_are_the_models() {
    let model = Mixture::new(2.0, [10.0, 1.0]).unwrap();
    for (x, theta) in [(0.3, [0.1, 1.2]), (-4.0, [0.8, -1.0]), (9.0, [0.0, 0.5])] {
        let mut out = [0.0; 2];
        model.gradient(Block::over(&[x], 1, 1), &theta, &mut out, &mut Scratch::default());
        let found = gradient(x, theta);
        assert!(out.iter().zip(found).all(|(a, b)| (a - b).abs() < 1e-12), "{out:?} against {found:?}");
    }
}

/// And a chain that is not asked for a checkpoint takes no step.
#[test]
fn the_fixed_noise_is_twice_the_coded() {
    assert_eq!(Variant::Fixed.noise(), 2.0 * Variant::AsCoded.noise());
    let found = chain(&[0.0; 50], 0.0, Variant::Fixed, 1, 0);
    assert!(found["steps"].is_empty());
}
