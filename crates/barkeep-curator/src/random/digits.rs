//! Compares numbers of [0, 1) by their digits to the base 2⁶⁴, drawing random digits only as far as needed.

use crate::random::rng::Bits;

/// A number of [0, 1) known by its digits to the base 2⁶⁴.
pub(crate) trait Digits {
    /// Digit 0.
    fn first(&self) -> u64;

    /// Digit `index`, drawn now if it is random and was not needed before.
    fn digit(&mut self, index: usize, bits: &mut impl Bits) -> u64;
}

/// A uniform number of [0, 1), exactly: infinitely many independent digits, of which those drawn are kept.
pub(crate) struct Uniform {
    first: u64,
    /// Digits from index 1; empty but with probability 2^−64 per comparison, so nothing is allocated.
    more: Vec<u64>,
}

impl Uniform {
    #[inline]
    pub(crate) fn draw(bits: &mut impl Bits) -> Self {
        Self { first: bits.next_u64(), more: Vec::new() }
    }

    /// Whether the number is below `other`. Equality, of probability 0, never ends.
    #[inline]
    pub(crate) fn is_below(&mut self, other: &mut impl Digits, bits: &mut impl Bits) -> bool {
        if self.first == other.first() {
            self.tail_is_below(0, other, bits)
        } else {
            self.first < other.first()
        }
    }

    /// Whether the number made of the digits from `skip` on is below `other`. That number is uniform, and
    /// independent of the digits skipped.
    #[cold]
    pub(crate) fn tail_is_below(
        &mut self,
        skip: usize,
        other: &mut impl Digits,
        bits: &mut impl Bits,
    ) -> bool {
        let mut index = 0;
        loop {
            let (own, others) = (self.digit(skip + index, bits), other.digit(index, bits));
            if own != others {
                return own < others;
            }
            index += 1;
        }
    }
}

impl Digits for Uniform {
    #[inline]
    fn first(&self) -> u64 {
        self.first
    }

    fn digit(&mut self, index: usize, bits: &mut impl Bits) -> u64 {
        while self.more.len() < index {
            self.more.push(bits.next_u64());
        }
        if index == 0 { self.first } else { self.more[index - 1] }
    }
}

/// The fraction `numerator / denominator` of [0, 1).
pub(crate) struct Fraction {
    numerator: u64,
    denominator: u64,
    first: u64,
}

impl Fraction {
    /// For numerator < denominator.
    #[inline]
    pub(crate) fn new(numerator: u64, denominator: u64) -> Self {
        debug_assert!(numerator < denominator);
        Self { numerator, denominator, first: divide(numerator, denominator).0 }
    }
}

impl Digits for Fraction {
    #[inline]
    fn first(&self) -> u64 {
        self.first
    }

    fn digit(&mut self, index: usize, _: &mut impl Bits) -> u64 {
        let (mut digit, mut remainder) = divide(self.numerator, self.denominator);
        for _ in 0..index {
            (digit, remainder) = divide(remainder, self.denominator);
        }
        digit
    }
}

/// A dyadic number integer·2^−scale of [0, 1), with integer < 2⁵³.
pub(crate) struct Dyadic {
    integer: u64,
    scale: u32,
}

impl Dyadic {
    /// For 0 ≤ x < 1; exact.
    #[inline]
    pub(crate) fn new(x: f64) -> Self {
        let (integer, power) = dyadic_parts(x);
        Self { integer, scale: power.unsigned_abs() }
    }
}

impl Digits for Dyadic {
    #[inline]
    fn first(&self) -> u64 {
        // x < 1 has scale ≥ 53. The shift is capped, not branched on, for x may be secret: after 127 places
        // nothing is left of the 117 bits.
        ((u128::from(self.integer) << 64) >> self.scale.min(127)) as u64
    }

    fn digit(&mut self, index: usize, _: &mut impl Bits) -> u64 {
        // The low word of integer·2^(64 + 64·index − scale): 0 once the last bit has been passed.
        match (self.scale as usize).checked_sub(64 * index) {
            Some(shift) => ((u128::from(self.integer) << 64) >> shift.min(127)) as u64,
            None => 0,
        }
    }
}

/// The integer and the power of two of x = integer·2^power, for finite x ≥ 0; integer < 2⁵³, power ≥ −1074.
#[inline]
pub(crate) fn dyadic_parts(x: f64) -> (u64, i32) {
    let (field, fraction) = (x.to_bits() >> 52, x.to_bits() & ((1 << 52) - 1));
    let normal = u64::from(field != 0);
    (fraction | normal << 52, field as i32 - normal as i32 - 1074)
}

/// The next digit of a fraction, and the numerator of what follows it: one place of long division.
#[inline]
fn divide(numerator: u64, denominator: u64) -> (u64, u64) {
    let shifted = u128::from(numerator) << 64;
    let denominator = u128::from(denominator);
    ((shifted / denominator) as u64, (shifted % denominator) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::rng::Script;
    use proptest::prelude::*;

    fn uniform(words: &[u64]) -> Uniform {
        Uniform { first: words[0], more: words[1..].to_vec() }
    }

    #[test]
    fn ties_are_broken_by_drawing_one_digit_for_each() {
        let mut bits = Script::new([5, 4]);
        let (mut one, mut two) = (uniform(&[7]), uniform(&[7]));
        assert!(!one.is_below(&mut two, &mut bits));
        assert_eq!(bits.read, 2);
        // The digits drawn are kept: the same question is answered the same without drawing.
        assert!(!one.is_below(&mut two, &mut bits) && two.is_below(&mut one, &mut bits));
        assert_eq!(bits.read, 2);
        // Only the number that ran out of digits draws.
        let mut bits = Script::new([9]);
        let mut three = uniform(&[7, 5]);
        assert!(three.is_below(&mut uniform(&[7, 5, 9]), &mut Script::new([8])));
        assert!(!three.is_below(&mut uniform(&[7]), &mut Script::new([4])));
        assert!(uniform(&[7]).is_below(&mut uniform(&[7, 10]), &mut bits));
        assert_eq!(bits.read, 1);
    }

    #[test]
    fn a_tail_skips_digits_and_draws_what_is_missing() {
        let mut bits = Script::new([1 << 63, 0, 1]);
        let mut x = uniform(&[123]);
        // The tail's first digit equals that of 1/2, the second too, the third is above.
        assert!(!x.tail_is_below(1, &mut Fraction::new(1, 2), &mut bits));
        assert_eq!(bits.read, 3);
        assert!(x.tail_is_below(1, &mut Fraction::new(2, 3), &mut bits));
    }

    #[test]
    fn zero_has_only_zeros() {
        let mut bits = Script::new([0, 0, 0, 1]);
        assert!(!Uniform::draw(&mut bits).is_below(&mut Dyadic::new(0.0), &mut bits));
        assert!(!uniform(&[0, 0, 3]).is_below(&mut Fraction::new(0, 5), &mut bits));
    }

    proptest! {
        #[test]
        fn digits_of_a_fraction_are_those_of_long_division(denominator in 1_u64..1 << 53, share in 0.0..1.0) {
            let numerator = (denominator as f64 * share) as u64;
            prop_assume!(numerator < denominator);
            let mut fraction = Fraction::new(numerator, denominator);
            let bits = &mut Script::new([]);
            prop_assert_eq!(fraction.first(), fraction.digit(0, bits));
            let digits = (0..4).fold(dashu_int::UBig::ZERO, |all, i| (all << 64) + fraction.digit(i, bits));
            prop_assert_eq!(digits, (dashu_int::UBig::from(numerator) << 256) / denominator);
        }

        #[test]
        fn digits_of_a_dyadic_number_add_up_to_it(x in prop_oneof![0.0..1.0_f64, prop::num::f64::SUBNORMAL]) {
            let x = f64::abs(x);
            let mut dyadic = Dyadic::new(x);
            let bits = &mut Script::new([]);
            prop_assert_eq!(dyadic.first(), dyadic.digit(0, bits));
            let digits = (0..17).fold(dashu_int::UBig::ZERO, |all, i| (all << 64) + dyadic.digit(i, bits));
            let (integer, power) = dyadic_parts(x);
            prop_assert_eq!(integer as f64 * 2_f64.powi(power / 2) * 2_f64.powi(power - power / 2), x);
            prop_assert_eq!(digits, dashu_int::UBig::from(integer) << (1088 + power) as usize);
            prop_assert_eq!(dyadic.digit(17, bits), 0);
        }
    }
}
