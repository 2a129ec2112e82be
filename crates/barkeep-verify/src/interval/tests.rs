//! Enclosures hold against values of 60 digits, and are narrow.

use super::*;

/// Whether `high + low`, |low| below half a unit of `high`, lies within.
fn encloses(interval: Interval, high: f64, low: f64) -> bool {
    let below = interval.lo < high || interval.lo == high && low >= 0.0;
    below && (interval.hi > high || interval.hi == high && low <= 0.0)
}

#[test]
fn functions_are_enclosed() {
    let mut seen = 0;
    for row in include_str!("../../tests/tables/enclosures.csv").lines() {
        let fields: Vec<&str> = row.split(';').collect();
        let number = |i: usize| fields[i].parse::<f64>().unwrap();
        let x = at(number(1));
        let found = match fields[0] {
            "exp" => x.exp(),
            "exp_m1" => x.exp_m1(),
            "ln" => x.ln(),
            "ln_1p" => x.ln_1p(),
            "tail" => x.tail(),
            "mills" => x.mills(),
            other => panic!("{other} is not a function"),
        };
        assert!(encloses(found, number(2), number(3)), "{row}: {found:?}");
        assert!(found.hi - found.lo <= 1e-12 * found.hi.abs().max(1e-300), "{row}: {found:?} is wide");
        seen += 1;
    }
    assert_eq!(seen, 360);
}

#[test]
fn both_parts_of_ln_2_are_those_of_its_digits() {
    // ln 2 to 60 digits, times 2^100, by mpmath; the parts as exact fractions of 2^100.
    let ln_2: u128 = 878_668_439_483_319_573_618_263_538_048;
    let fraction = |part: f64| {
        let bits = part.to_bits();
        let (exponent, digits) = ((bits >> 52) as i32 - 1075, u128::from(bits & ((1 << 52) - 1) | 1 << 52));
        let shift = 100 + exponent;
        if shift >= 0 { digits << shift } else { digits >> -shift }
    };
    let rest = ln_2 - fraction(LN_2_HIGH);
    assert!(fraction(LN_2_LOW.next_down()) < rest && rest < fraction(LN_2_LOW.next_up()));
}

#[test]
fn what_says_nothing_is_not_narrow() {
    assert_eq!(corrected(3.0, at(7.0)), span(f64::NEG_INFINITY, f64::INFINITY));
    assert_eq!(at(1e-320).ln().lo, f64::NEG_INFINITY);
    assert!(at(-800.0).exp().hi > 0.0 && at(800.0).exp().hi == f64::INFINITY);
    assert!(at(0.0).tail().lo <= 0.5 && at(0.0).tail().hi >= 0.5);
}
