//! Draws how many records a Poisson batch passes over: geometric numbers, exactly.
//!
//! With success probability q there are at least g failures before a success with probability (1−q)^g. For a
//! uniform number U the largest g with U < (1−q)^g has that law. f64 only guesses g; integers decide whether
//! U < (1−q)^g, by bounds on the power rounded outwards and, where U falls between them, by refining both until
//! it does not. The guess changes the work, never the answer: it is that of the exact power.

use crate::random::digits::{Digits, Uniform, dyadic_parts};
use crate::random::rng::Bits;
use barkeep_accounting::Rate;
use dashu_int::UBig;

/// The geometric law of one sampling rate.
pub(crate) struct Skips {
    /// The rate q = integer·2^−scale.
    integer: u64,
    scale: u32,
    /// 1/ln(1−q), roughly.
    inverse_log: f64,
    /// Bounds on (1−q)^(d·16^i) for i from 0 and d < 16.
    powers: Vec<[Bounds; 16]>,
}

/// Bounds on a number of [0, 1], in units of 2^−63.
#[derive(Clone, Copy)]
struct Bounds {
    low: u64,
    high: u64,
}

impl Bounds {
    const ONE: Self = Self { low: 1 << 63, high: 1 << 63 };

    #[inline]
    fn times(self, other: Self) -> Self {
        let low = u128::from(self.low) * u128::from(other.low);
        let high = u128::from(self.high) * u128::from(other.high);
        Self { low: (low >> 63) as u64, high: high.div_ceil(1 << 63) as u64 }
    }
}

impl Skips {
    /// For lengths up to `longest`.
    pub(crate) fn new(rate: Rate, longest: u64) -> Self {
        let (integer, power) = dyadic_parts(rate.get());
        let scale = power.unsigned_abs();
        // integer·2^(63 − scale), rounded down and up; a rate below 2^−63 lies between 0 and one unit.
        let (down, up) = match scale.checked_sub(63) {
            None => (integer << (63 - scale), integer << (63 - scale)),
            Some(shift) if shift < 64 => (integer >> shift, integer.div_ceil(1 << shift)),
            Some(_) => (0, 1),
        };
        let mut base = Bounds { low: Bounds::ONE.low - up, high: Bounds::ONE.high - down };
        let levels = (64 - longest.leading_zeros()).div_ceil(4);
        let level = |_| {
            let mut row = [Bounds::ONE; 16];
            for d in 1..16 {
                row[d] = row[d - 1].times(base);
            }
            base = row[15].times(base);
            row
        };
        let powers = (0..levels).map(level).collect();
        Self { integer, scale, inverse_log: (-rate.get()).ln_1p().recip(), powers }
    }

    /// The number of records passed over, or `enough` if it is at least that; `enough` up to the longest length.
    pub(crate) fn draw(&self, enough: u64, bits: &mut impl Bits) -> u64 {
        let mut uniform = Uniform::draw(bits);
        let guess = (uniform.first() as f64 * 0.5_f64.powi(64)).ln() * self.inverse_log;
        // The cast saturates, and takes not-a-number to 0.
        self.settle((guess as u64).min(enough), enough, &mut uniform, bits)
    }

    /// The largest length up to `enough` whose power is above the uniform number, from any guess up to `enough`.
    fn settle(&self, guess: u64, enough: u64, uniform: &mut Uniform, bits: &mut impl Bits) -> u64 {
        let mut length = guess;
        // The power of length 0 is 1.
        while !self.is_below_power(uniform, length, bits) {
            length -= 1;
        }
        while length < enough && self.is_below_power(uniform, length + 1, bits) {
            length += 1;
        }
        length
    }

    /// Whether a uniform number is below (1−q)^length.
    #[inline]
    fn is_below_power(&self, uniform: &mut Uniform, length: u64, bits: &mut impl Bits) -> bool {
        let mut bounds = Bounds::ONE;
        let mut rest = length;
        for row in &self.powers {
            if rest == 0 {
                break;
            }
            bounds = bounds.times(row[(rest & 15) as usize]);
            rest >>= 4;
        }
        // The uniform number lies in [first, first + 1)·2^−64.
        let first = u128::from(uniform.first());
        if first < 2 * u128::from(bounds.low) {
            true
        } else if first >= 2 * u128::from(bounds.high) {
            false
        } else {
            self.is_below_refined_power(uniform, length, bits)
        }
    }

    /// [`Self::is_below_power`] with as many digits as it takes.
    #[cold]
    fn is_below_refined_power(&self, uniform: &mut Uniform, length: u64, bits: &mut impl Bits) -> bool {
        let mut digits = 2;
        loop {
            digits *= 2;
            let drawn = (0..digits).fold(UBig::ZERO, |all, index| (all << 64) + uniform.digit(index, bits));
            let (low, high) = self.power(length, 64 * digits);
            if drawn < low {
                return true;
            }
            if drawn >= high {
                return false;
            }
        }
    }

    /// Bounds on (1−q)^length, in units of 2^−places.
    fn power(&self, length: u64, places: usize) -> (UBig, UBig) {
        let one = UBig::ONE << places;
        let scaled = UBig::from(self.integer) << places;
        let down = &scaled >> self.scale as usize;
        let up = (scaled + ((UBig::ONE << self.scale as usize) - 1_u8)) >> self.scale as usize;
        let truncated = |x: UBig| x >> places;
        let raised = |x: UBig| (x + (&one - 1_u8)) >> places;
        let (mut low, mut high) = (one.clone(), one.clone());
        let (base_low, base_high) = (&one - up, &one - down);
        for i in (0..64 - length.leading_zeros()).rev() {
            (low, high) = (truncated(&low * &low), raised(&high * &high));
            if length >> i & 1 == 1 {
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
    use crate::random::rng::Script;
    use crate::test_support::statistics::{assert_fits, assert_frequency};
    use proptest::prelude::*;

    fn skips(rate: f64) -> Skips {
        Skips::new(Rate::new(rate).expect("a rate"), 1 << 32)
    }

    /// (1−q)^length·2^(scale·length) and scale·length: the power as one fraction of integers.
    fn exact(skips: &Skips, length: u64) -> (UBig, usize) {
        let base = (UBig::ONE << skips.scale as usize) - skips.integer;
        (base.pow(length as usize), skips.scale as usize * length as usize)
    }

    #[test]
    fn lengths_are_geometric() {
        let mut rng = NoiseRng::insecure_seed(31);
        for rate in [0.7, 0.5, 0.3, 0.11, 0.01] {
            let law = skips(rate);
            let bins = (5.0 / rate) as usize;
            let mut counts = vec![0; bins + 1];
            (0..300_000).for_each(|_| counts[(law.draw(1 << 32, &mut rng) as usize).min(bins)] += 1);
            let mut probabilities: Vec<f64> = (0..bins).map(|g| rate * (1.0 - rate).powi(g as i32)).collect();
            probabilities.push((1.0 - rate).powi(bins as i32));
            assert_fits(&counts, &probabilities, &format!("rate {rate}"));
        }
    }

    #[test]
    fn long_lengths_have_the_power_as_frequency() {
        let mut rng = NoiseRng::insecure_seed(32);
        for (rate, length) in [(1e-3, 511), (1e-9, 1 << 29), (1e-9, 1 << 32), (0.3, 1), (1e-6, 12_345)] {
            let law = skips(rate);
            let reached = (0..100_000).filter(|_| law.draw(length, &mut rng) == length).count() as u64;
            let power = (length as f64 * (-rate).ln_1p()).exp();
            assert_frequency(reached, 100_000, power, &format!("{rate}, {length}"));
        }
    }

    #[test]
    fn the_guess_is_right_but_for_one() {
        // Only the work depends on it; ten thousand lengths settled from the guess itself would hide a bad one.
        let mut rng = NoiseRng::insecure_seed(33);
        for rate in [0.9, 0.1, 1e-3, 1e-6, 1e-9] {
            let law = skips(rate);
            for _ in 0..1000 {
                let mut uniform = Uniform::draw(&mut rng);
                let first = uniform.first();
                let guess = ((first as f64 * 0.5_f64.powi(64)).ln() * law.inverse_log) as u64;
                let settled = law.settle(guess.min(1 << 32), 1 << 32, &mut uniform, &mut rng);
                assert!(settled.abs_diff(guess.min(1 << 32)) <= 1, "{rate}");
            }
        }
    }

    proptest! {
        #[test]
        fn any_guess_settles_at_the_same_length(
            rate in 0.01..1.0_f64, first in any::<u64>(), guess in 0_u64..1000, enough in 0_u64..1000,
        ) {
            let law = skips(rate);
            let settle = |guess: u64| {
                let mut bits = Script::new([first, 1, 2, 3, 4, 5, 6, 7]);
                let mut uniform = Uniform::draw(&mut bits);
                law.settle(guess, enough, &mut uniform, &mut bits)
            };
            prop_assert_eq!(settle(guess.min(enough)), settle(0));
        }

        /// Numbers that agree with the power in up to eight digits, just below and just above it.
        #[test]
        fn decisions_are_those_of_the_exact_power(
            rate in prop_oneof![1e-25..1e-15, 1e-9..1e-3, 1e-3..1.0_f64],
            length in 1_u64..60,
            depth in 1_usize..9,
            above in any::<bool>(),
        ) {
            let law = skips(rate);
            let (power, places) = exact(&law, length);
            // The first `depth` digits of the power; one unit more lies above it, unless the power ended there.
            let digits = (&power << (64 * depth)) >> places;
            prop_assume!(&digits << places != power << (64 * depth));
            let number = if above { digits + 1_u8 } else { digits };
            let mut words: Vec<u64> = (0..depth).rev().map(|i| (&number >> (64 * i)) & u64::MAX).collect();
            words.resize(64, 0);
            let mut bits = Script::new(words);
            let mut uniform = Uniform::draw(&mut bits);
            prop_assert_eq!(law.is_below_power(&mut uniform, length, &mut bits), !above);
        }

        #[test]
        fn bounds_enclose_the_power(rate in prop_oneof![1e-300..1e-10, 1e-9..1.0_f64], length in 0_u64..40) {
            let law = skips(rate);
            let (power, places) = exact(&law, length);
            let (low, high) = law.power(length, 256);
            prop_assert!(&low << places <= &power << 256 && &power << 256 <= &high << places);
            prop_assert!(high - low < UBig::from(4 * length + 2));
        }
    }
}
