//! Holds the noise's standard deviation as an exact fraction, never smaller than what was asked for.

use crate::Refused;
use crate::random::digits::dyadic_parts;

/// A standard deviation in lattice units, σ = integer · 2^−e with integer < 2⁵³ and ½ ≤ σ ≤ 2⁵².
///
/// **Privacy.** Public. Both ways to make one give at least the asked σ, so noise drawn with it costs at most
/// what the accountant charged for the asked σ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LatticeSigma {
    integer: u64,
    exponent: u32,
}

/// What is required of a σ, as refusals say it.
const REQUIREMENT: &str = "between 1/2 and 2^52 lattice units";

impl LatticeSigma {
    /// The smallest, ½.
    pub const SMALLEST: Self = Self { integer: 1, exponent: 1 };

    /// The largest, 2⁵².
    pub const LARGEST: Self = Self { integer: 1 << 52, exponent: 0 };

    /// Takes σ in lattice units. Exact: every f64 of the range is an integer · 2^−e with e ≤ 53.
    ///
    /// # Errors
    /// [`Refused::Question`] outside [½, 2⁵²], including not-a-number.
    pub fn new(sigma: f64) -> Result<Self, Refused> {
        if !(0.5..=Self::LARGEST.to_f64()).contains(&sigma) {
            return Err(Refused::Question { name: "sigma", requirement: REQUIREMENT });
        }
        let (mantissa, power) = dyadic_parts(sigma);
        Ok(Self::reduced(mantissa, power))
    }

    /// The smallest representable σ of at least `sigma / unit` lattice units: exact when the quotient has at
    /// most 53 significant bits, at most 2^−52 above it in relative terms otherwise.
    ///
    /// # Errors
    /// [`Refused::Question`] when either is not a positive finite number, or the quotient is outside [½, 2⁵²].
    pub fn rounded_up(sigma: f64, unit: f64) -> Result<Self, Refused> {
        let positive = |x: f64| x.is_finite() && x > 0.0;
        if !(positive(sigma) && positive(unit)) {
            return Err(Refused::Question { name: "sigma", requirement: REQUIREMENT });
        }
        let ((above, above_power), (below, below_power)) = (dyadic_parts(sigma), dyadic_parts(unit));
        // Normalised to 2⁵² ≤ above, below < 2⁵³, the quotient of `above·2⁶⁴` by `below` has 64 or 65 bits.
        let (up, down) = (above.leading_zeros() - 11, below.leading_zeros() - 11);
        let quotient = (u128::from(above << up) << 64).div_ceil(u128::from(below << down));
        let excess = (128 - quotient.leading_zeros()).saturating_sub(53);
        let integer = quotient.div_ceil(1 << excess) as u64;
        let power = above_power - up as i32 - (below_power - down as i32) - 64 + excess as i32;
        // integer ∈ [2⁵², 2⁵³]: the range of the power decides before it is used as a shift.
        if !(-53..=0).contains(&power) {
            return Err(Refused::Question { name: "sigma", requirement: REQUIREMENT });
        }
        let sigma = Self::reduced(integer, power);
        Self::new(sigma.to_f64())
    }

    /// The integer of σ = integer · 2^−e: the numerator.
    pub(crate) fn numerator(self) -> u64 {
        self.integer
    }

    /// The e of σ = integer · 2^−e, the smallest possible: the denominator is 2^e.
    pub(crate) fn denominator_exponent(self) -> u32 {
        self.exponent
    }

    /// σ as f64, exactly.
    #[must_use]
    pub const fn to_f64(self) -> f64 {
        // Both factors and the quotient are exact: 53 bits over a power of two no larger than 2⁵³.
        self.integer as f64 / (1_u64 << self.exponent) as f64
    }

    /// `integer · 2^power` in lowest terms, for −53 ≤ power ≤ 0.
    fn reduced(integer: u64, power: i32) -> Self {
        let exponent = power.unsigned_abs();
        let shift = integer.trailing_zeros().min(exponent);
        Self { integer: integer >> shift, exponent: exponent - shift }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dashu_int::UBig;
    use proptest::prelude::*;

    #[test]
    fn the_range_is_closed_and_everything_else_is_refused() {
        assert_eq!(LatticeSigma::new(0.5), Ok(LatticeSigma::SMALLEST));
        assert_eq!(LatticeSigma::new(2_f64.powi(52)), Ok(LatticeSigma::LARGEST));
        let outside = [0.5_f64.next_down(), 2_f64.powi(52).next_up(), 0.0, -1.0, f64::INFINITY, f64::NAN];
        for sigma in outside {
            assert!(LatticeSigma::new(sigma).is_err(), "{sigma}");
            assert!(LatticeSigma::rounded_up(sigma, 1.0).is_err(), "{sigma}");
        }
        for unit in [0.0, -1.0, f64::INFINITY, f64::NAN, 2_f64.next_up(), 0.5_f64.powi(52).next_down()] {
            assert!(LatticeSigma::rounded_up(1.0, unit).is_err(), "{unit}");
        }
        assert!(LatticeSigma::rounded_up(f64::MAX, f64::from_bits(1)).is_err());
        assert!(LatticeSigma::rounded_up(f64::from_bits(1), f64::MAX).is_err());
        assert_eq!(
            LatticeSigma::rounded_up(f64::from_bits(1), f64::from_bits(2)),
            Ok(LatticeSigma::SMALLEST)
        );
    }

    #[test]
    fn fractions_are_in_lowest_terms() {
        let parts = |sigma| LatticeSigma::new(sigma).map(|s| (s.numerator(), s.denominator_exponent()));
        assert_eq!(parts(1.5), Ok((3, 1)));
        assert_eq!(parts(100.0), Ok((100, 0)));
        assert_eq!(parts(0.5_f64.next_up()), Ok(((1 << 52) + 1, 53)));
    }

    proptest! {
        #[test]
        fn every_number_of_the_range_is_held_exactly(sigma in 0.5..4.6e15_f64) {
            prop_assume!(sigma <= 2_f64.powi(52));
            prop_assert_eq!(LatticeSigma::new(sigma).map(LatticeSigma::to_f64), Ok(sigma));
        }

        #[test]
        fn a_quotient_is_rounded_up_to_the_next_representable_number(
            wanted in 0.51..4e15_f64, unit in prop::num::f64::POSITIVE,
        ) {
            let asked = wanted * unit;
            prop_assume!(asked.is_finite() && asked / unit > 0.5 && asked / unit < 4e15);
            let sigma = LatticeSigma::rounded_up(asked, unit).expect("in range");
            // value·unit compared with asked exactly, all three at scale 2^1100 and 2^2200.
            let scaled = |x: f64| {
                let (integer, power) = dyadic_parts(x);
                UBig::from(integer) << (power + 1100) as usize
            };
            let asked = scaled(asked) << 1100;
            prop_assert!(scaled(sigma.to_f64()) * scaled(unit) >= asked);
            prop_assert!(scaled(sigma.to_f64().next_down()) * scaled(unit) < asked);
        }
    }
}
