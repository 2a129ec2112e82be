//! Checks sums over few bits by hand, and that ε and δ are inverse.

use super::{Bits, Scaled};
use crate::{Delta, Epsilon, Probability, Steps};

fn bits(p: f64, q: f64) -> Bits {
    Bits::new(Probability::new(p).unwrap(), Probability::new(q).unwrap()).unwrap()
}

#[test]
fn exponential_is_right_to_the_last_digit() {
    for x in [0.0, 1e-9, 0.3, 1.0, 17.25, 700.0] {
        assert!((Scaled::exp(x).rounded() / libm::exp(x) - 1.0).abs() < 3e-16, "{x}");
    }
    // e^1000 = e^500·e^500, far outside f64.
    let half = Scaled::exp(500.0);
    let ratio = Scaled::exp(1000.0).times(Scaled::exp(0.0)).minus(half.times(half));
    assert!(ratio.exponent < Scaled::exp(1000.0).exponent - 85);
}

#[test]
fn few_bits_by_hand() {
    // One bit: max(p − e^ε·q, (1−q) − e^ε(1−p)).
    let one = bits(0.5, 0.4).delta(Steps(1), Epsilon::new(0.1).unwrap()).unwrap();
    assert!((one.upper - 0.057_931_632_769_740_95).abs() < 3e-17 && one.upper - one.lower.unwrap() < 1e-16);
    // Two bits at ε = 0: total variation of Bin(2, ¾) and Bin(2, ¼) is 9/16 − 1/16 = ½.
    let two = bits(0.75, 0.25).delta(Steps(2), Epsilon::new(0.0).unwrap()).unwrap();
    assert!(two.contains(0.5));
    // Nothing is left beyond the largest loss.
    let none = bits(0.75, 0.25).delta(Steps(2), Epsilon::new(2.2).unwrap()).unwrap();
    assert_eq!(none.upper, 5e-324 * 2.0);
}

#[test]
fn epsilon_and_delta_are_inverse() {
    let (bits, steps) = (bits(0.3, 0.31), Steps(5000));
    for delta in [0.1, 1e-6, 1e-12] {
        let epsilon = bits.epsilon(steps, Delta::new(delta).unwrap()).unwrap();
        assert!(epsilon.upper - epsilon.lower.unwrap() < 1e-12 * epsilon.upper);
        let back = bits.delta(steps, Epsilon::new(epsilon.upper).unwrap()).unwrap();
        assert!((back.upper / delta - 1.0).abs() < 1e-11);
    }
}

/// Where the chances hardly differ, δ is a difference of nearly equal sums: exact integers say what it is.
#[test]
fn brackets_hold_where_the_two_chances_are_one_unit_apart() {
    // p = (2^52 + 1)/2^53, q = 2^52/2^53: with k bits, δ(0) = Σ max(0, P(j) − Q(j)) in units of 2^(−53k).
    let (p, q) = (0.5 + f64::EPSILON / 2.0, 0.5);
    for k in [1_u64, 2] {
        let found = bits(p, q).delta(Steps(k), Epsilon::new(0.0).unwrap()).unwrap();
        let (a, n) = ((1_u128 << 52) + 1, 1_u128 << 53);
        // One bit: (a − 2^52)/2^53. Two: the terms for two ones and for one one, the latter not positive.
        let exact = match k {
            1 => 1.0 / n as f64,
            _ => (a * a - (1 << 104)) as f64 / (n as f64 * n as f64),
        };
        assert!(found.upper >= exact && found.lower.unwrap() <= exact, "{k}: {found:?} {exact:e}");
        assert!(found.upper - found.lower.unwrap() < 1e-10 * exact, "{k}: {found:?}");
    }
}
