//! Flips coins whose probability is exactly the dyadic number the accountant analysed.

use crate::NoiseRng;
use crate::random::digits::{Dyadic, Uniform};
use crate::random::rng::Bits;
use barkeep_accounting::{Coin, Side};

/// Flips an acceptance coin: `true` to accept.
///
/// **Privacy.** The side named by the coin comes up with probability exactly `coin.smaller`, the other with
/// exactly one minus it: no rounding is left to account for beyond [`Rule::coin`]'s own. The probability is a
/// secret and only the outcome may leave. The work does not depend on it: one word of 64 bits is read, and a
/// further one with probability 2^−64, whatever the probability is. Hence the pair of outcome and work is
/// within total variation 2^−64 of the outcome together with a constant. (Reading single bits, the number of
/// bits read is geometric whatever the probability, but together with the outcome it gives a bit of it away.)
///
/// [`Rule::coin`]: barkeep_accounting::Rule::coin
pub(crate) fn flip(rng: &mut NoiseRng, coin: &Coin) -> bool {
    toss(rng, coin)
}

fn toss(bits: &mut impl Bits, coin: &Coin) -> bool {
    bernoulli(bits, coin.smaller) == (coin.side == Side::Accept)
}

/// `true` with probability exactly p = `probability`; numbers outside [0, 1] count as the nearer end, and
/// not-a-number as 0.
///
/// Let U = 0.u₁u₂… with independent uniform digits to the base 2⁶⁴, and p = 0.p₁p₂… the expansion of p < 1,
/// which ends: p is dyadic. The answer is whether U < p, decided at the first i with uᵢ ≠ pᵢ, which exists with
/// probability 1: U < p exactly when uᵢ < pᵢ there. P(U < p) = p. Each digit agrees with probability 2^−64
/// independently of the others and of p, so the number of digits read is geometric, the same for every p.
fn bernoulli(bits: &mut impl Bits, probability: f64) -> bool {
    if probability >= 1.0 {
        return true;
    }
    let probability = if probability > 0.0 { probability } else { 0.0 };
    Uniform::draw(bits).is_below(&mut Dyadic::new(probability), bits)
}

#[cfg(test)]
mod tests;
