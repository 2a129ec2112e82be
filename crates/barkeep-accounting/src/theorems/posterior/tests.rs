//! Checks the price of one draw from the exact posterior.

use super::{likelihood_scale, one_draw};
use crate::{Epsilon, Sensitivity};

#[test]
fn scaled_likelihood_meets_the_budget() {
    for (bound, epsilon) in [(0.1, 1.0), (3.0, 0.5), (1e-9, 1e-9), (7.0, 28.0)] {
        let epsilon = Epsilon::new(epsilon).unwrap();
        let scale = likelihood_scale(Sensitivity::new(bound).unwrap(), epsilon);
        let spent = one_draw(Sensitivity::new(bound * scale).unwrap()).unwrap();
        assert!(spent <= epsilon && scale <= 1.0);
        assert!(scale == 1.0 || spent.get() > epsilon.get() * (1.0 - 1e-14));
    }
}
