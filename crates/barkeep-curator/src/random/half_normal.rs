//! Splits |N(0, 1)| into unit cells and thins them exactly: what the normal and the discrete Gaussian share.
//!
//! For y = k + x with k = ⌊y⌋ the density e^(−y²/2) is e^(−k²/2) · e^(−x(2k+x)/2). Draw k with weights e^(−k²/2)
//! by [`cell`], propose x within the cell, keep it with probability e^(−x(2k+x)/2) by [`is_kept`], and start
//! again otherwise. Both steps compare uniform numbers and draw small integers: no exponential is evaluated,
//! nothing is rounded. This is algorithm N of Karney, "Sampling exactly from the normal distribution", ACM
//! TOMS 42(1):3, 2016, with digits to the base 2⁶⁴; the proofs are given again below.

use crate::random::digits::{Digits, Uniform};
use crate::random::rng::Bits;

/// An integer k ≥ 0 with probability exactly e^(−k²/2) / Σⱼ e^(−j²/2).
///
/// k successes of a coin e^(−½) before the first failure have probability (1 − e^(−½))·e^(−k/2); k(k−1) further
/// successes are demanded before k is kept, with probability e^(−k(k−1)/2). The product is proportional to
/// e^(−k²/2).
pub(crate) fn cell(bits: &mut impl Bits) -> u64 {
    loop {
        let mut k: u64 = 0;
        while decays_by_half(bits) {
            k += 1;
        }
        if (0..k * k.saturating_sub(1)).all(|_| decays_by_half(bits)) {
            return k;
        }
    }
}

/// `true` with probability exactly e^(−½), by von Neumann's comparison of uniform numbers.
///
/// The run ½ > U₁ > U₂ > … is at least n long with probability (½)ⁿ/n!: all n are below ½ and in one of their
/// n! orders. Its length is even with probability Σₙ (−1)ⁿ(½)ⁿ/n! = e^(−½).
fn decays_by_half(bits: &mut impl Bits) -> bool {
    let mut last = Uniform::draw(bits);
    if last.first() >= 1 << 63 {
        return true;
    }
    let mut even = false;
    loop {
        let mut next = Uniform::draw(bits);
        if !next.is_below(&mut last, bits) {
            return even;
        }
        even = !even;
        last = next;
    }
}

/// `true` with probability exactly e^(−x(2k+x)/2): all of k + 1 independent coins e^(−x(2k+x)/(2k+2)).
pub(crate) fn is_kept(k: u64, x: &mut impl Digits, bits: &mut impl Bits) -> bool {
    (0..=k).all(|_| decays(k, x, bits))
}

/// `true` with probability exactly e^(−x·f), f = (2k+x)/(2k+2).
///
/// A run x > U₁ > U₂ > … in which each member must also pass an independent coin of probability f is at least n
/// long with probability xⁿfⁿ/n!. Its length is even with probability Σₙ (−1)ⁿ(xf)ⁿ/n! = e^(−xf).
fn decays(k: u64, x: &mut impl Digits, bits: &mut impl Bits) -> bool {
    let mut next = Uniform::draw(bits);
    if !(next.is_below(x, bits) && passes(k, x, bits)) {
        return true;
    }
    let mut even = false;
    loop {
        let mut last = next;
        next = Uniform::draw(bits);
        if !(next.is_below(&mut last, bits) && passes(k, x, bits)) {
            return even;
        }
        even = !even;
    }
}

/// `true` with probability exactly (2k+x)/(2k+2): of 2k+2 equally likely cases 2k pass, one passes if a uniform
/// number is below x, one does not.
fn passes(k: u64, x: &mut impl Digits, bits: &mut impl Bits) -> bool {
    let case = bits.below(2 * k + 2);
    case < 2 * k || (case == 2 * k && Uniform::draw(bits).is_below(x, bits))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::digits::Fraction;
    use crate::random::rng::Script;

    const HALF: u64 = 1 << 63;

    #[test]
    fn a_run_of_even_length_decays_by_half() {
        // Length 0; 1 after a tie, broken by one more digit each; 2; and 2 after a tie.
        assert!(decays_by_half(&mut Script::new([HALF])));
        assert!(!decays_by_half(&mut Script::new([HALF - 1, HALF - 1, 1, 0])));
        assert!(decays_by_half(&mut Script::new([HALF - 1, 5, 6])));
        assert!(decays_by_half(&mut Script::new([5, 5, 8, 9, 6])));
    }

    #[test]
    fn a_cell_asks_for_its_square() {
        // k = 2 after two successes and a failure; then 2·1 further successes.
        let fail = [HALF - 1, HALF];
        let script = [&[HALF; 2][..], &fail, &[HALF; 2]].concat();
        assert_eq!(cell(&mut Script::new(script)), 2);
        // The second of them failing starts again; k = 0 and k = 1 ask for none.
        let script = [&[HALF; 2][..], &fail, &[HALF], &fail, &fail].concat();
        assert_eq!(cell(&mut Script::new(script)), 0);
        assert_eq!(cell(&mut Script::new([&[HALF][..], &fail].concat())), 1);
    }

    #[test]
    fn a_case_passes_with_its_share() {
        // k = 1: of four cases the first two pass, the third if a uniform number is below x, the fourth not.
        let x = || Fraction::new(1, 3);
        let third = u64::MAX / 3;
        let case = |i: u64| i << 62;
        for (words, passed) in [
            (vec![case(0)], true),
            (vec![case(1)], true),
            (vec![case(2), third - 1], true),
            (vec![case(2), third + 1], false),
            (vec![case(2), third, third - 1], true),
            (vec![case(3)], false),
        ] {
            assert_eq!(passes(1, &mut x(), &mut Script::new(words)), passed);
        }
        // Both runs of k = 1 must be even; here of length 0, and of length 1 when the second number rises.
        assert!(is_kept(1, &mut x(), &mut Script::new([HALF, HALF])));
        assert!(!is_kept(1, &mut x(), &mut Script::new([HALF, 7, case(0), 8])));
    }
}
