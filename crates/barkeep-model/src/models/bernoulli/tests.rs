//! Holds the rate against dual numbers and simulated records.

use barkeep_data::Column;
use num_dual::{Dual64, DualNum};

use super::*;
use crate::check;

#[test]
fn agrees_with_dual_numbers() {
    let model = BernoulliRate::new(2.5, 0.5).unwrap();
    let rate = |u: Dual64| ((-u).exp() + 1.0).recip();
    let density = |x: &[f64], u: &[Dual64]| {
        let chance = if x[0] == 1.0 { rate(u[0]) } else { -rate(u[0]) + 1.0 };
        chance.ln()
    };
    // B(2.5, 0.5) = Γ(2.5)Γ(0.5)/Γ(3) = (3/4)·π/2.
    let prior = |u: &[Dual64]| {
        rate(u[0]).ln() * 2.5 + (-rate(u[0]) + 1.0).ln() * 0.5 - (0.375 * std::f64::consts::PI).ln()
    };
    check::against_oracle(&model, &[0.3], 3.0, density, prior);
}

#[test]
fn behaves_as_every_model_must() {
    let model = BernoulliRate::new(2.0, 3.0).unwrap();
    check::scores(&model, &[0.4], true);
    check::any_values(&model, &[0.4]);
    check::prior_draws(&model);
    assert!(BernoulliRate::new(0.0, 1.0).is_err() && BernoulliRate::new(1.0, f64::NAN).is_err());
}

#[test]
fn the_range_of_a_ratio_is_reached_at_its_ends() {
    let model = BernoulliRate::new(1.0, 1.0).unwrap();
    let schema = Schema::new(vec![Column::boolean("x", false).unwrap()]).unwrap();
    let (low, high) = model.log_ratio_range(&schema, &[0.0], &[1.0]).unwrap();
    // ln of r(1)/½ and of (1 − r(1))/½, r(1) = e/(1 + e).
    let e = std::f64::consts::E;
    assert!((high - (2.0 * e / (1.0 + e)).ln()).abs() < 1e-15);
    assert!((low - (2.0 / (1.0 + e)).ln()).abs() < 1e-15);
}
