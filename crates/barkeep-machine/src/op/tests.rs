//! Functions against those of the mathematics library, which are computed in other ways.

use super::*;

/// Close to a few units, or both not finite alike.
fn close(found: f64, expected: f64, units: f64) -> bool {
    found == expected
        || (found.is_nan() && expected.is_nan())
        || (found - expected).abs() <= units * f64::EPSILON * expected.abs().max(1e-300)
}

#[test]
fn normal_tails_agree_with_the_branching_functions() {
    for k in -4000..4000 {
        let x = f64::from(k) * 0.01;
        assert!(close(ln_normal_cdf(x), barkeep_num::ln_normal_cdf(x), 16.0), "{x}");
        let expected = if x < 0.0 {
            (2.0 / std::f64::consts::PI).sqrt() / barkeep_num::erfcx(-x / std::f64::consts::SQRT_2)
        } else {
            (-0.5 * x * x).exp() / (2.0 * std::f64::consts::PI).sqrt() / barkeep_num::normal_cdf(x)
        };
        assert!(close(mills(x), expected, 1000.0), "{x} {} {expected}", mills(x));
    }
    for x in [f64::NEG_INFINITY, -1e200, -1e20, 1e20, f64::INFINITY] {
        assert!(close(ln_normal_cdf(x), barkeep_num::ln_normal_cdf(x), 16.0), "{x}");
    }
    assert!(ln_normal_cdf(f64::NAN).is_nan() && mills(f64::NAN).is_nan());
    assert!(close(mills(-1e20), 1e20, 16.0));
}

#[test]
fn cauchy_tails_agree_with_the_library() {
    for k in -3000..3000 {
        let x = f64::from(k).powi(3) * 1e-6;
        let expected = if x < 0.0 {
            libm::log(libm::atan(-1.0 / x) / std::f64::consts::PI)
        } else {
            libm::log1p(-libm::atan2(1.0, x) / std::f64::consts::PI)
        };
        assert!(close(ln_cauchy_cdf(x), expected, 16.0), "{x}");
    }
    assert_eq!(ln_cauchy_cdf(f64::NEG_INFINITY), f64::NEG_INFINITY);
    assert_eq!(ln_cauchy_cdf(f64::INFINITY), 0.0);
}

#[test]
fn every_function_has_a_place_of_its_own_and_takes_any_number() {
    for (place, function) in Unary::ALL.iter().enumerate() {
        assert_eq!(Unary::at_position(function.position()), Some(*function));
        assert_eq!(function.position() as usize, place);
        for x in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -0.0, -1.5, 1e-310, 1e308, -1e308] {
            let _ = function.at(x);
        }
    }
    for (place, function) in Binary::ALL.iter().enumerate() {
        assert_eq!(Binary::at_position(function.position()), Some(*function));
        assert_eq!(function.position() as usize, place);
    }
    assert_eq!((Unary::at_position(99), Binary::at_position(99)), (None, None));
}

#[test]
fn places_are_cut_to_the_table() {
    assert_eq!([-1.0, 0.0, 2.9, 3.0, 1e300, f64::NAN].map(|x| place(x, 3)), [0, 0, 2, 2, 2, 0]);
}
