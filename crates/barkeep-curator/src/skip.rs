//! Draws how many records a Poisson batch passes over: geometric numbers, exactly.
//!
//! With success probability q the number of failures before a success is g with probability (1−q)^g·q. For a
//! block length B write g = B·d + r with 0 ≤ r < B: the probability is the product of ((1−q)^B)^d and (1−q)^r up to
//! a constant, so d and r are independent. d counts successes of a coin (1−q)^B before the first failure; r is
//! uniform below B, kept with probability (1−q)^r and drawn again otherwise. For B ≈ 1/(2q) to 1/q a constant
//! number of coins suffices (the decomposition of Bringmann and Friedrich 2013).
//!
//! A coin of probability (1−q)^j compares a uniform number with bounds on the power, computed in integers and
//! rounded outwards; if the number falls between them both are refined until it does not. The decision is that of
//! the exact power.

use crate::digits::{Digits, Uniform, dyadic_parts};
use crate::rng::Bits;
use barkeep_accounting::Rate;
use dashu_int::UBig;

/// The geometric law of one sampling rate.
pub(crate) struct Skips {
    /// The rate q = integer·2^−scale.
    integer: u64,
    scale: u32,
    /// Bounds on (1−q)^(2^i) for i up to the exponent of the block length.
    powers: Vec<Bounds>,
}

/// Bounds on a number of [0, 1], in units of 2^−63.
#[derive(Clone, Copy)]
struct Bounds {
    low: u64,
    high: u64,
}

const ONE: u64 = 1 << 63;

impl Bounds {
    fn times(self, other: Self) -> Self {
        let [low, high] =
            [(self.low, other.low), (self.high, other.high)].map(|(a, b)| u128::from(a) * u128::from(b));
        Self { low: (low >> 63) as u64, high: high.div_ceil(1 << 63) as u64 }
    }
}

impl Skips {
    pub(crate) fn new(rate: Rate) -> Self {
        let (integer, power) = dyadic_parts(rate.get());
        let scale = power.unsigned_abs();
        // integer·2^(63 − scale), rounded down and up; a rate below 2^−63 lies between 0 and one unit.
        let (down, up) = match scale.checked_sub(63) {
            None => (integer << (63 - scale), integer << (63 - scale)),
            Some(shift) if shift < 64 => (integer >> shift, integer.div_ceil(1 << shift)),
            Some(_) => (0, 1),
        };
        let mut powers = vec![Bounds { low: ONE - up, high: ONE - down }];
        // The largest B = 2^h with B·q < 1, at least 1 and, as no more records exist, at most 2³².
        let exponent = scale.saturating_sub(64 - integer.leading_zeros()).min(32);
        for i in 0..exponent as usize {
            powers.push(powers[i].times(powers[i]));
        }
        Self { integer, scale, powers }
    }

    /// The number of records passed over, or any number of at least `enough` if it is that large.
    pub(crate) fn draw(&self, enough: u64, bits: &mut impl Bits) -> u64 {
        let block = 1 << (self.powers.len() - 1);
        let mut skipped = 0;
        while self.fails_throughout(block, bits) {
            skipped += block;
            if skipped >= enough {
                return skipped;
            }
        }
        loop {
            let rest = bits.below(block);
            if self.fails_throughout(rest, bits) {
                return skipped + rest;
            }
        }
    }

    /// `true` with probability exactly (1−q)^count, for count at most the block length.
    fn fails_throughout(&self, count: u64, bits: &mut impl Bits) -> bool {
        let mut uniform = Uniform::draw(bits);
        let mut bounds = Bounds { low: ONE, high: ONE };
        for (i, &power) in self.powers.iter().enumerate() {
            if count >> i & 1 == 1 {
                bounds = bounds.times(power);
            }
        }
        // The uniform number lies in [first, first + 1) · 2^−64.
        let first = u128::from(uniform.first());
        if first < 2 * u128::from(bounds.low) {
            true
        } else if first >= 2 * u128::from(bounds.high) {
            false
        } else {
            self.is_below_power(&mut uniform, count, bits)
        }
    }

    /// Whether a uniform number is below (1−q)^count: [`Self::fails_throughout`] with as many digits as it takes.
    #[cold]
    fn is_below_power(&self, uniform: &mut Uniform, count: u64, bits: &mut impl Bits) -> bool {
        let mut digits = 2;
        loop {
            digits *= 2;
            let places = 64 * digits;
            let drawn = (0..digits).fold(UBig::ZERO, |all, index| (all << 64) + uniform.digit(index, bits));
            let (low, high) = self.power(count, places);
            if drawn < low {
                return true;
            }
            if drawn >= high {
                return false;
            }
        }
    }

    /// Bounds on (1−q)^count, in units of 2^−places.
    fn power(&self, count: u64, places: usize) -> (UBig, UBig) {
        let one = UBig::ONE << places;
        let scaled = UBig::from(self.integer) << places;
        let down = &scaled >> self.scale as usize;
        let up = (scaled + ((UBig::ONE << self.scale as usize) - 1_u8)) >> self.scale as usize;
        let truncated = |x: UBig| x >> places;
        let raised = |x: UBig| (x + (&one - 1_u8)) >> places;
        let (mut low, mut high) = (one.clone(), one.clone());
        let (base_low, base_high) = (&one - up, &one - down);
        for i in (0..64 - count.leading_zeros()).rev() {
            (low, high) = (truncated(&low * &low), raised(&high * &high));
            if count >> i & 1 == 1 {
                (low, high) = (truncated(&low * &base_low), raised(&high * &base_high));
            }
        }
        (low, high)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NoiseRng;
    use crate::rng::Script;
    use crate::statistics::{assert_fits, assert_frequency};
    use proptest::prelude::*;

    fn skips(rate: f64) -> Skips {
        Skips::new(Rate::new(rate).expect("a rate"))
    }

    /// (1−q)^count·2^(scale·count) and scale·count: the power as one fraction of integers.
    fn exact(skips: &Skips, count: u64) -> (UBig, usize) {
        let base = (UBig::ONE << skips.scale as usize) - skips.integer;
        (base.pow(count as usize), skips.scale as usize * count as usize)
    }

    #[test]
    fn the_block_length_is_the_largest_below_the_inverse_rate() {
        for (rate, block) in
            [(1.0, 1), (0.6, 1), (0.5, 1), (0.3, 2), (1e-3, 512), (1e-6, 1 << 19), (1e-30, 1 << 32)]
        {
            assert_eq!(1_u64 << (skips(rate).powers.len() - 1), block, "{rate}");
        }
    }

    #[test]
    fn lengths_are_geometric() {
        let mut rng = NoiseRng::insecure_seed(31);
        for rate in [0.7, 0.5, 0.3, 0.11, 0.01] {
            let law = skips(rate);
            let bins = (5.0 / rate) as usize;
            let mut counts = vec![0; bins + 1];
            (0..300_000).for_each(|_| counts[(law.draw(u64::MAX, &mut rng) as usize).min(bins)] += 1);
            let mut probabilities: Vec<f64> = (0..bins).map(|g| rate * (1.0 - rate).powi(g as i32)).collect();
            probabilities.push((1.0 - rate).powi(bins as i32));
            assert_fits(&counts, &probabilities, &format!("rate {rate}"));
        }
    }

    #[test]
    fn failures_throughout_have_the_power_as_frequency() {
        let mut rng = NoiseRng::insecure_seed(32);
        for (rate, count) in [(1e-3, 511), (1e-9, 1 << 29), (0.3, 1), (1e-6, 12_345)] {
            let law = skips(rate);
            let held = (0..100_000).filter(|_| law.fails_throughout(count, &mut rng)).count() as u64;
            let power = (count as f64 * (-rate).ln_1p()).exp();
            assert_frequency(held, 100_000, power, &format!("{rate}, {count}"));
        }
    }

    proptest! {
        /// Numbers that agree with the power in up to eight digits, just below and just above it.
        #[test]
        fn decisions_are_those_of_the_exact_power(
            rate in prop_oneof![1e-25..1e-15, 1e-9..1e-3, 1e-3..1.0_f64],
            count in 1_u64..60,
            depth in 1_usize..9,
            above in any::<bool>(),
        ) {
            let law = skips(rate);
            let count = count.min(1 << (law.powers.len() - 1));
            let (power, places) = exact(&law, count);
            // The first `depth` digits of the power; one unit more lies above it, unless the power ended there.
            let digits = (&power << (64 * depth)) >> places;
            prop_assume!(&digits << places != power << (64 * depth));
            let number = if above { digits + 1_u8 } else { digits };
            let mut words: Vec<u64> = (0..depth).rev().map(|i| (&number >> (64 * i)) & u64::MAX).collect();
            words.resize(64, 0);
            prop_assert_eq!(law.fails_throughout(count, &mut Script::new(words)), !above);
        }

        #[test]
        fn bounds_enclose_the_power(rate in prop_oneof![1e-300..1e-10, 1e-9..1.0_f64], count in 0_u64..40) {
            let law = skips(rate);
            let (power, places) = exact(&law, count);
            let (low, high) = law.power(count, 256);
            prop_assert!(&low << places <= &power << 256 && &power << 256 <= &high << places);
            prop_assert!(high - low < UBig::from(4 * count + 2));
        }
    }
}
