//! Chooses one of finitely many public points with probability in proportion to a tempered posterior: the exponential
//! mechanism, by integers, private with δ = 0.
//!
//! # What it costs, proved
//! A record adds an integer within ±2^30 to the sum S_g of every candidate g, whatever it says, so a neighbouring change
//! moves each S_g by at most R = 2^31 (substitution) or 2^30 (adding or removing). With κ = k·2^-e, k an integer, what one
//! step is worth, V_g = k·S_g + round(offset_g·2^e) is an exact integer, and moves by at most kR. Let V be the largest V_g.
//! Candidates get weight exp(max(V_g − V, −X)·2^-e), X = 32·2^e: multiplied by e^(V·2^-e) that is
//! exp(max(V_g, V − X)·2^-e), where both arguments move by at most kR. So weights, and likewise their sum, move by a factor
//! of at most e^(κR), and probabilities by e^(2κR).
//!
//! What runs is near it: V_g − V as f64 is off by 2^-48 at most, exp by a few 2^-53, and the weights are then integers
//! exactly; the draw multiplies 128 random bits by their sum, at most 2^116, and keeps what is above 2^128: each
//! candidate has at least 2^53 of that sum, so its probability is off by a factor of at most 1 ± 2^-64. Together a
//! weight is off by less than e^(±2^-47) on either data set, and ε = 2κR + 2^-45. ∎
//!
//! No step of the work depends on what records say: every candidate is evaluated on every record, and the draw takes
//! two words and runs through all weights.

use crate::error::question;
use crate::random::digits::dyadic_parts;
use crate::random::rng::Bits;
use crate::{Clip, Refused};

/// The most candidates: 2^16 weights of at most 2^100 each add up to 2^116.
pub const MOST_CANDIDATES: usize = 1 << 16;

/// The largest ε of one choice: above it randomised response cannot be distinguished from certainty.
pub const LARGEST_CHOICE: f64 = 30.0;

/// Weights below e^-32 of the largest are raised to it.
const FLOOR: i128 = 32;

/// What the program adds to the exponential mechanism's ε.
pub(crate) const ROUNDING: f64 = 1.0 / (1_u64 << 45) as f64;

/// κ as an integer and a power of two, k·2^-e.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Worth {
    integer: u64,
    exponent: u32,
}

impl Worth {
    /// power·half·2^-30, rounded down to 31 bits.
    ///
    /// # Errors
    /// [`Refused::Question`] unless ε then lies between about 2^-26 and 2^7.
    pub(crate) fn of(half: Clip, power: f64) -> Result<Self, Refused> {
        let kappa = power * half.get() / (1_u64 << 30) as f64;
        // Then 2κR lies between 2^-27 and 2^7, and e between 55 and 88.
        if !(0.5_f64.powi(58)..=0.5_f64.powi(25)).contains(&kappa) {
            return Err(question("power", "such that epsilon lies between about 2^-26 and 30"));
        }
        let (mantissa, power) = dyadic_parts(kappa);
        // 53 bits, of which the highest 31 stay.
        Ok(Self { integer: mantissa >> 22, exponent: (-(power + 22)) as u32 })
    }

    /// κ, exactly: an integer below 2^31 over a power of two.
    pub(crate) fn to_f64(self) -> f64 {
        self.integer as f64 / 2_f64.powi(self.exponent as i32)
    }
}

/// Draws a candidate from the sums over records.
pub(crate) fn draw(bits: &mut impl Bits, sums: &[i64], offsets: &[f64], worth: Worth) -> usize {
    let scale = 2_f64.powi(worth.exponent as i32);
    let value = |(sum, offset): (&i64, &f64)| {
        // Public, hence the same integer on neighbouring data sets; cut so that no sum below can overflow.
        let most = 2_f64.powi(110);
        let offset = (offset * scale).round_ties_even().clamp(-most, most) as i128;
        i128::from(worth.integer) * i128::from(*sum) + offset
    };
    let values: Vec<i128> = sums.iter().zip(offsets).map(value).collect();
    let largest = values.iter().copied().max().unwrap_or(0);
    let weights: Vec<u128> =
        values.iter().map(|value| weight((value - largest).max(-(FLOOR << worth.exponent)), scale)).collect();
    let total: u128 = weights.iter().sum();
    let random = u128::from(bits.next_u64()) << 64 | u128::from(bits.next_u64());
    let mark = high_product(random, total);
    // The number of running sums that are not above the mark: every weight is looked at.
    let mut running = 0_u128;
    weights.iter().fold(0, |passed, weight| {
        running += weight;
        passed + usize::from(running <= mark)
    })
}

/// 2^100·e^(difference/scale), exactly the f64 that exp gives: between e^-32·2^100 > 2^53 and 2^100.
fn weight(difference: i128, scale: f64) -> u128 {
    let (mantissa, power) = dyadic_parts(libm::exp(difference as f64 / scale));
    // e^-32 > 2^-47: its last bit is worth 2^-99 or more.
    u128::from(mantissa) << (power + 100)
}

/// ⌊a·b/2^128⌋.
fn high_product(a: u128, b: u128) -> u128 {
    let low = |x: u128| x & u128::from(u64::MAX);
    let (a1, a0, b1, b0) = (a >> 64, low(a), b >> 64, low(b));
    let middle = a1 * b0 + ((a0 * b0) >> 64);
    let other = a0 * b1 + low(middle);
    a1 * b1 + (middle >> 64) + (other >> 64)
}

#[cfg(test)]
mod tests;
