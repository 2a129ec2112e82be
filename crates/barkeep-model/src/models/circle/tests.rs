//! Holds the circle against dual numbers and quadrature.

use barkeep_data::Block;
use num_dual::Dual64;

use super::*;
use crate::{Scratch, check};

#[test]
fn agrees_with_dual_numbers() {
    let density = |x: &[f64], theta: &[Dual64]| {
        let miss = theta[0] * theta[0] + theta[1] * theta[1] - x[0] * x[0];
        miss * miss * -1e-2
    };
    let flat = |_: &[Dual64]| Dual64::new(0.0, 0.0);
    check::against_oracle(&Circle::new(1e-2).unwrap(), &[0.0, 0.0], 4.0, density, flat);
}

#[test]
fn behaves_as_every_model_must() {
    let model = Circle::new(1e-5).unwrap();
    check::one_component_moves(&model, &[2.0, -1.0]);
    check::any_values(&model, &[2.0, -1.0]);
    assert!(!model.sample_prior(&mut check::uniform(1), &mut [0.0; 2]), "a flat prior has no draws");
}

#[test]
fn information_is_the_second_moment_of_the_score() {
    // E over q = r² ~ N(s, 1/(2a)) by the trapezoid rule; a is large enough that q stays positive.
    let (a, theta) = (2.0, [3.0, -4.0]);
    let model = Circle::new(a).unwrap();
    let nodes: Vec<f64> = (-400..=400).map(|k| f64::from(k) / 40.0).collect();
    let radii: Vec<f64> = nodes.iter().map(|z| (25.0 + z / (2.0 * a).sqrt()).sqrt()).collect();
    let mut gradient = vec![0.0; 2 * nodes.len()];
    let block = Block::over(&radii, radii.len(), radii.len());
    model.gradient(block, &theta, &mut gradient, &mut Scratch::new());
    let mut fisher = [0.0; 4];
    assert!(model.fisher(&theta, &mut fisher));
    for k in 0..4 {
        let (first, second) = (&gradient[k / 2 * nodes.len()..], &gradient[k % 2 * nodes.len()..]);
        let total: f64 =
            (0..nodes.len()).map(|i| (-0.5 * nodes[i] * nodes[i]).exp() * first[i] * second[i] / 40.0).sum();
        let expected = total / std::f64::consts::TAU.sqrt();
        assert!((fisher[k] - expected).abs() < 1e-9 * expected.abs());
    }
}

#[test]
fn simulated_radii_are_the_thesis_ones() {
    let model = Circle::new(1e-5).unwrap();
    let radii = check::columns(&model, &[0.0, 3.0], 10_000, 9);
    let mean = radii.iter().sum::<f64>() / 10_000.0;
    let variance = radii.iter().map(|r| (r - mean).powi(2)).sum::<f64>() / 10_000.0;
    // Standard errors 0.01 and 0.014.
    assert!((mean - 3.0).abs() < 0.05 && (variance - 1.0).abs() < 0.07);
}

#[test]
fn nonsense_is_refused() {
    for a in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let message = Circle::new(a).err().map(|error| error.to_string());
        assert_eq!(message.as_deref(), Some("model.a must be finite and above 0"));
    }
}
