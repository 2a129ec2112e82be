//! Checks what must hold for every f64: no panic, no endless loop, safe-side answers.

use barkeep_num as num;
use proptest::prelude::*;

/// Every bit pattern, with the ones that break things made common.
fn any_f64() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => any::<u64>().prop_map(f64::from_bits),
        2 => -50.0..50.0_f64,
        2 => prop::sample::select(vec![
            0.0,
            -0.0,
            1.0,
            -1.0,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::NAN,
            f64::MAX,
            f64::MIN,
            f64::MIN_POSITIVE,
            5e-324,
            -5e-324,
        ]),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn functions_of_one_argument_keep_their_range(x in any_f64()) {
        prop_assert!(num::erfc(x).is_nan() == x.is_nan());
        prop_assert!(num::erfcx(x).is_nan() == x.is_nan());
        prop_assert!(num::ln_erfc(x).is_nan() == x.is_nan());
        prop_assert!(num::normal_cdf(x).is_nan() == x.is_nan());
        prop_assert!(num::ln_normal_cdf(x).is_nan() == x.is_nan());
        if !x.is_nan() {
            prop_assert!((0.0..=2.0).contains(&num::erfc(x)));
            prop_assert!(num::erfcx(x) >= 0.0);
            prop_assert!((0.0..=1.0).contains(&num::normal_cdf(x)));
            prop_assert!(num::ln_normal_cdf(x) <= 0.0);
            prop_assert!(num::ln_gamma(x) >= -0.13 || x < 0.0);
        }
        prop_assert_eq!(num::normal_quantile(x).is_nan(), !(0.0..=1.0).contains(&x));
        prop_assert_eq!(num::log1m_exp(x).is_nan(), x.is_nan() || x > 0.0);
        prop_assert!(num::log1m_exp(x).is_nan() || num::log1m_exp(x) <= 0.0);
    }

    #[test]
    fn functions_of_two_arguments_never_panic(a in any_f64(), b in any_f64()) {
        let sum = num::log_add_exp(a, b);
        prop_assert_eq!(sum.is_nan(), a.is_nan() || b.is_nan());
        prop_assert!(sum.is_nan() || sum >= a.max(b));
        let difference = num::log_sub_exp(a, b);
        prop_assert!(difference.is_nan() || difference <= a);
        let both = num::log_sum_exp(&[a, b]);
        prop_assert!(both.is_nan() == sum.is_nan() && (both.is_nan() || both == sum));
        let ways = num::ln_binomial(a, b);
        let undefined = a.is_nan() || b.is_nan() || a < 0.0;
        prop_assert_eq!(ways.is_nan(), undefined);
        if !undefined && b >= 0.0 && b <= a {
            prop_assert!(ways >= -1e-13);
        }
    }

    #[test]
    fn the_normal_quantile_inverts_the_distribution(x in -37.0..8.0_f64) {
        let p = num::normal_cdf(x);
        let back = num::normal_quantile(p);
        // p carries an error of 4 ulp; the inverse multiplies it by Φ/φ.
        let spread = p * 5.0 * f64::EPSILON / ((-0.5 * x * x).exp() / 2.5066);
        prop_assert!((back - x).abs() <= spread + 5.0 * f64::EPSILON * x.abs());
    }

    #[test]
    fn rounding_moves_outward_and_counts_places(x in any_f64(), ulps in 0..50_u32) {
        let (mut above, mut below) = (x, x);
        for _ in 0..ulps {
            above = num::up(above);
            below = num::down(below);
        }
        prop_assert!(x.is_nan() || (num::up_by(x, ulps) == above && num::down_by(x, ulps) == below));
        prop_assert!(!x.is_nan() || (num::up_by(x, ulps).is_nan() && num::down_by(x, ulps).is_nan()));
        prop_assert!(x.is_nan() || (num::up(x) >= x && num::down(x) <= x));
        prop_assert!(!x.is_finite() || (num::up(x) > x && num::down(x) < x));
        let far = num::up_by(x, u32::MAX);
        prop_assert!(x.is_nan() || far >= x);
    }

    #[test]
    fn integers_are_found_exactly(low in any::<u64>(), width in any::<u64>(), place in any::<u64>()) {
        let high = low.saturating_add(width);
        let last = low.saturating_add(place);
        let mut asked = 0;
        let found = num::largest_integer(low, high, |k| { asked += 1; k <= last });
        prop_assert_eq!(found, Some(last.min(high)));
        prop_assert!(asked <= 129, "{} evaluations", asked);
    }

    #[test]
    fn near_answers_cost_few_questions(low in any::<u32>(), place in 0..1000_u64) {
        let low = u64::from(low);
        let mut asked = 0;
        let found = num::largest_integer(low, u64::MAX, |k| { asked += 1; k <= low + place });
        prop_assert_eq!(found, Some(low + place));
        prop_assert!(asked <= 23, "{} evaluations", asked);
    }

    #[test]
    fn reals_are_found_on_the_safe_side(
        low in any_f64(), high in any_f64(), last in any_f64(), tolerance in any_f64(),
    ) {
        let mut asked = 0;
        let largest = num::largest_real(low, high, tolerance, |x| { asked += 1; x <= last });
        prop_assert!(asked <= 66);
        prop_assert_eq!(largest.is_some(), low <= high && low <= last);
        if let Some(x) = largest {
            prop_assert!(low <= x && x <= high && x <= last);
            let next = num::up(x);
            let reached = x == high || next > last;
            prop_assert!(reached || (high.min(last) - x).abs() <= tolerance * x.abs().max(last.abs()).max(high.abs()));
        }
        asked = 0;
        let smallest = num::smallest_real(low, high, tolerance, |x| { asked += 1; x >= last });
        prop_assert!(asked <= 66);
        prop_assert_eq!(smallest.is_some(), low <= high && high >= last);
        if let Some(x) = smallest {
            prop_assert!(low <= x && x <= high && x >= last);
        }
    }

    #[test]
    fn without_tolerance_reals_are_found_to_the_last_place(ends in prop::array::uniform3(any_f64())) {
        let mut ends = ends.map(|x| if x.is_nan() { 0.0 } else { x });
        ends.sort_by(f64::total_cmp);
        let [low, last, high] = ends;
        prop_assert_eq!(num::largest_real(low, high, 0.0, |x| x <= last), Some(last));
        prop_assert_eq!(num::smallest_real(low, high, f64::NAN, |x| x >= last), Some(last));
    }

    #[test]
    fn a_predicate_that_is_not_monotone_still_holds_at_the_answer(
        low in any_f64(), high in any_f64(), salt in any::<u64>(),
    ) {
        let noise = |bits: u64| (bits ^ salt).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 63 == 1;
        if let Some(x) = num::largest_real(low, high, 1e-9, |x| noise(x.to_bits())) {
            prop_assert!(noise(x.to_bits()));
        }
        if let Some(x) = num::smallest_real(low, high, 1e-9, |x| noise(x.to_bits())) {
            prop_assert!(noise(x.to_bits()));
        }
        if let Some(k) = num::largest_integer(low.to_bits(), high.to_bits(), noise) {
            prop_assert!(noise(k));
        }
    }
}

#[test]
fn a_failing_predicate_stops_the_search() {
    let mut asked = 0;
    let outcome = num::try_largest_integer(0, 1000, |k| {
        asked += 1;
        if k > 5 { Err("too far") } else { Ok(true) }
    });
    assert_eq!(outcome, Err("too far"));
    assert!(asked <= 4);
    assert_eq!(num::try_largest_real(0.0, 1.0, 0.1, |_| Err::<bool, _>("no")), Err("no"));
    assert_eq!(num::try_smallest_real(0.0, 1.0, 0.1, |_| Err::<bool, _>("no")), Err("no"));
}

#[test]
fn edges_are_as_documented() {
    let (infinity, ln_2) = (f64::INFINITY, std::f64::consts::LN_2);
    assert_eq!(num::erfcx(infinity), 0.0);
    assert_eq!(num::erfcx(-27.0), infinity);
    assert_eq!(num::ln_erfc(infinity), -infinity);
    assert_eq!(num::ln_erfc(-infinity), ln_2);
    assert_eq!(num::ln_normal_cdf(-infinity), -infinity);
    assert_eq!(num::ln_normal_cdf(infinity), 0.0);
    assert_eq!((num::normal_quantile(0.0), num::normal_quantile(1.0)), (-infinity, infinity));
    assert_eq!(
        (num::ln_gamma(0.0), num::ln_gamma(-3.0), num::ln_gamma(-infinity)),
        (infinity, infinity, infinity)
    );
    assert_eq!(num::ln_binomial(5.0, 6.0), -infinity);
    assert_eq!((num::ln_binomial(infinity, 0.0), num::ln_binomial(infinity, 2.0)), (0.0, infinity));
    assert_eq!(num::log_add_exp(-infinity, -infinity), -infinity);
    assert_eq!(num::log_sub_exp(3.0, 3.0), -infinity);
    assert!(num::log_sub_exp(2.0, 3.0).is_nan() && num::log_sub_exp(infinity, infinity).is_nan());
    assert_eq!(num::log_sum_exp(&[]), -infinity);
    assert_eq!((num::log1m_exp(0.0), num::log1m_exp(-infinity)), (-infinity, 0.0));
    assert_eq!(num::up(f64::MAX), infinity);
    assert_eq!(num::up_by(-5e-324, 2), 5e-324);
    assert_eq!(num::largest_integer(3, 2, |_| true), None);
    assert_eq!(num::largest_integer(7, 7, |_| true), Some(7));
    assert_eq!(num::largest_real(0.0, 1.0, 0.0, |_| true), Some(1.0));
}
