//! Flips coins whose probability is exactly the dyadic number the accountant analysed.

use crate::NoiseRng;
use crate::digits::{Dyadic, Uniform};
use crate::rng::Bits;
use barkeep_accounting::{Coin, Side};

/// Flips an acceptance coin: `true` to accept.
///
/// **Privacy.** The side named by the coin comes up with probability exactly `coin.smaller`, the other with
/// exactly one minus it: no rounding is left to account for beyond [`Rule::coin`]'s own. The probability is a
/// secret and only the outcome may leave. The work tells nothing about it: one word of 64 bits is read, and a
/// further one with probability 2^−64, whatever the probability is. Hence the pair of outcome and work is
/// within total variation 2^−64 of the outcome together with a constant. (Reading single bits, the number of
/// bits read is geometric whatever the probability, but together with the outcome it gives a bit of it away.)
///
/// [`Rule::coin`]: barkeep_accounting::Rule::coin
pub fn flip(rng: &mut NoiseRng, coin: &Coin) -> bool {
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
mod tests {
    use super::*;
    use crate::rng::Script;
    use dashu_int::UBig;

    /// P(true) in units of 2^−1088, reconstructed from outcomes alone: how many first digits answer `true` at
    /// once, by bisection; then the same for the second digit after the one first digit that is undecided; and so
    /// on. 17 digits hold the 1074 bits of any f64.
    fn reconstructed(probability: f64) -> UBig {
        let mut undecided = Vec::new();
        let mut numerator = UBig::ZERO;
        for _ in 0..17 {
            // The answer, and whether it took no more digits; the digits after it would answer `false`.
            let ask = |digit: u64| {
                let words = [&undecided[..], &[digit], &[u64::MAX; 18]].concat();
                let mut script = Script::new(words);
                let answer = bernoulli(&mut script, probability);
                (answer, script.read == undecided.len() + 1)
            };
            let (mut low, mut high) = (0, u64::MAX);
            while low < high {
                let middle = low + (high - low) / 2;
                if ask(middle) == (true, true) { low = middle + 1 } else { high = middle }
            }
            // Below the undecided digit all answer `true`, above it `false`, both at once.
            assert!(!ask(low).1);
            assert!(low == 0 || ask(low - 1) == (true, true));
            assert!(low == u64::MAX || ask(low + 1) == (false, true));
            numerator = (numerator << 64) + low;
            undecided.push(low);
        }
        numerator
    }

    /// p·2^1088 for p < 1, by doubling: exact, and independent of how the coin takes numbers apart.
    fn scaled(mut p: f64) -> UBig {
        let mut doublings = 0;
        while p.fract() != 0.0 {
            p *= 2.0;
            doublings += 1;
        }
        UBig::from(p as u64) << (1088 - doublings)
    }

    #[test]
    fn chosen_bits_reproduce_the_dyadic_number_exactly() {
        let tiny = f64::from_bits(1);
        let cases = [
            0.0,
            tiny,
            3.0 * tiny,
            f64::MIN_POSITIVE,
            f64::MIN_POSITIVE.next_down(),
            2e-300,
            0.5_f64.powi(64),
            0.5_f64.powi(65),
            0.5_f64.powi(60),
            1.5 * 0.5_f64.powi(60),
            1e-9,
            1.0 / 3.0,
            0.3,
            0.5,
            0.5_f64.next_down(),
            0.5_f64.next_up(),
            1.0_f64.next_down(),
        ];
        for probability in cases {
            assert_eq!(reconstructed(probability), scaled(probability), "{probability:e}");
        }
    }

    #[test]
    fn numbers_outside_the_interval_count_as_its_nearer_end() {
        for word in [0, 1, 1 << 63, u64::MAX] {
            for certain in [1.0, 1.5, f64::INFINITY] {
                assert!(bernoulli(&mut Script::new([word]), certain));
            }
            for never in [-0.0, -1.0, f64::NEG_INFINITY, f64::NAN] {
                assert!(!bernoulli(&mut Script::new([word, 1]), never));
            }
        }
    }

    #[test]
    fn one_word_is_read_whatever_the_probability() {
        let mut source = NoiseRng::insecure_seed(11);
        for probability in [0.0, f64::from_bits(1), 1e-20, 1e-3, 0.25, 0.5] {
            for _ in 0..1000 {
                let mut script = Script::new([source.next_u64()]);
                bernoulli(&mut script, probability);
                assert_eq!(script.read, 1);
            }
        }
    }

    #[test]
    fn the_named_side_comes_up_when_the_draw_is_below() {
        for (side, word, accept) in [
            (Side::Accept, 0, true),
            (Side::Accept, u64::MAX, false),
            (Side::Reject, 0, false),
            (Side::Reject, u64::MAX, true),
        ] {
            let coin = Coin { smaller: 0.25, side };
            assert_eq!(toss(&mut Script::new([word]), &coin), accept);
        }
    }
}
