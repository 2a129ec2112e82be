//! Draws a normal number, exactly, rounded to the lattice: a post-processing of the true Gaussian mechanism.

use crate::random::digits::{Digits, Fraction, Uniform};
use crate::random::half_normal::{cell, is_kept};
use crate::random::rng::Bits;
use crate::{LatticeSigma, NoiseRng};

/// ⌊X + ½⌋ for X ~ N(0, σ²), in lattice units.
///
/// P(z) = Φ((z + ½)/σ) − Φ((z − ½)/σ) for every integer z, exactly.
///
/// **Privacy.** Rounding by ⌊x + ½⌋ commutes with integer shifts, so for a secret lattice vector s the sum of s
/// and independent draws is ⌊s + X + ½⌋ by coordinates: a function of the Gaussian mechanism's output, hence
/// μ-GDP with μ = Δ/σ where Δ is the ℓ2 sensitivity of s, in any dimension and under any composition. The work
/// varies with the randomness and with the public σ, never with s, which this function does not see; but it
/// is not independent of the number drawn, so the time of a single draw must not be shown.
///
/// **Precision.** Exact: integers and lazily drawn random digits throughout, no floating point. 17.5 words of 64 bits
/// a draw on average, whatever σ is.
///
/// Karney 2016, algorithm N; the rounding is proved in the source.
pub fn rounded_normal(rng: &mut NoiseRng, sigma: LatticeSigma) -> i128 {
    draw(rng, sigma)
}

fn draw(bits: &mut impl Bits, sigma: LatticeSigma) -> i128 {
    loop {
        let k = cell(bits);
        let mut x = Uniform::draw(bits);
        if is_kept(k, &mut x, bits) {
            let magnitude = rounded(k, &mut x, sigma, bits) as i128;
            // ⌊−y + ½⌋ = −⌊y + ½⌋ unless y + ½ is an integer, which has probability 0.
            return if bits.next_u64() >> 63 == 0 { magnitude } else { -magnitude };
        }
    }
}

/// ⌊σ(k + x) + ½⌋ for σ = m·2^−e, drawing digits of x only until the answer is certain.
///
/// Write k·m = a·2^e + b with b < 2^e, and x = (d + t)/2⁶⁴ with first digit d and a uniform tail t ∈ [0, 1). Then
/// 2^(e+64)·(σ(k + x) + ½) = a·2^(e+64) + L + m·t, where L = b·2⁶⁴ + d·m + 2^(e+63) is an integer. With
/// L = q·2^(e+64) + r, the answer is a + q as long as m·t < g = 2^(e+64) − r, and a + q + 1 from there on:
/// never more, since m·t < m ≤ 2^(e+52). Whether t < g/m is asked only if g < m, with probability about
/// σ·2^−64, and is answered exactly, digit by digit.
///
/// No overflow: m ≤ 2⁵³ and e ≤ 53, so k·m < 2¹¹⁷ and L < 2¹¹⁹.
fn rounded(k: u64, x: &mut Uniform, sigma: LatticeSigma, bits: &mut impl Bits) -> u128 {
    let (m, e) = (sigma.numerator(), sigma.denominator_exponent());
    let product = u128::from(k) * u128::from(m);
    let (a, b) = (product >> e, product & ((1 << e) - 1));
    let scale = e + 64;
    let sum = (b << 64) + u128::from(x.first()) * u128::from(m) + (1 << (scale - 1));
    let (q, gap) = (sum >> scale, (1 << scale) - (sum & ((1 << scale) - 1)));
    let certain = gap >= u128::from(m);
    let beyond = !certain && !x.tail_is_below(1, &mut Fraction::new(gap as u64, m), bits);
    a + q + u128::from(beyond)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::rng::Script;
    use dashu_int::UBig;
    use proptest::prelude::*;

    /// ⌊σ(k + x) + ½⌋ with 20 digits of x, as one division of integers.
    fn reference(k: u64, digits: &[u64], sigma: LatticeSigma) -> UBig {
        let places = 64 * digits.len();
        let x = digits.iter().fold(UBig::from(k), |all, &digit| (all << 64) + digit);
        let (m, e) = (sigma.numerator(), sigma.denominator_exponent() as usize);
        ((x * m * 2_u8) + (UBig::ONE << (e + places))) / (UBig::ONE << (e + places + 1))
    }

    fn check(k: u64, digits: &[u64], sigma: LatticeSigma) -> usize {
        let mut script = Script::new(digits);
        let mut x = Uniform::draw(&mut script);
        let answer = rounded(k, &mut x, sigma, &mut script);
        assert_eq!(UBig::from(answer), reference(k, digits, sigma), "k = {k}, {sigma:?}, {digits:?}");
        script.read
    }

    proptest! {
        #[test]
        fn rounding_agrees_with_long_division(
            k in prop_oneof![0_u64..10, any::<u64>()],
            exponent in -1..52_i32,
            mantissa in 1.0..2.0_f64,
            digits in prop::collection::vec(any::<u64>(), 20),
        ) {
            check(k, &digits, LatticeSigma::new(mantissa * 2_f64.powi(exponent)).expect("in range"));
        }

        /// Just below and just above a half-integer, where one digit does not decide.
        #[test]
        fn rounding_draws_more_digits_where_it_must(
            k in 0_u64..5,
            sigma in prop_oneof![0.5..4.0, 1e3..1e9, 1e15..4.5e15_f64],
            share in 0.0..1.0_f64,
            depth in 1_usize..6,
            above in any::<bool>(),
        ) {
            let sigma = LatticeSigma::new(sigma).expect("in range");
            let (m, e) = (sigma.numerator(), sigma.denominator_exponent() as usize);
            // The half-integer h + ½ of the cell [kσ, (k+1)σ) at the given share of it, if there is one.
            let h = UBig::from(((k as f64 + share) * sigma.to_f64()) as u64);
            let doubled = (h * 2_u8 + 1_u8) << e;
            prop_assume!(doubled > UBig::from(2 * k) * m && doubled < UBig::from(2 * k + 2) * m);
            // x = (h + ½)/σ − k to 20 digits, cut or raised at digit `depth`.
            let scaled = ((doubled - UBig::from(2 * k) * m) << (64 * depth)) / (UBig::from(m) * 2_u8);
            let cut = if above { scaled + 1_u8 } else { scaled };
            let mut digits: Vec<u64> = (0..depth)
                .rev()
                .map(|i| (&cut >> (64 * i)) & u64::MAX)
                .collect();
            digits.resize(20, 0);
            let read = check(k, &digits, sigma);
            // Agreement with a number this near to h + ½ in `depth` digits takes about that many to undo.
            prop_assert!(read + 2 >= depth);
        }
    }

    #[test]
    fn the_ends_of_the_range_do_not_overflow() {
        for sigma in
            [LatticeSigma::SMALLEST, LatticeSigma::LARGEST, LatticeSigma::new(0.5_f64.next_up()).unwrap()]
        {
            for k in [0, 1, u64::MAX] {
                for digit in [0, 1, 1 << 63, u64::MAX] {
                    check(k, &[&[digit][..], &[0; 18], &[1]].concat(), sigma);
                    check(k, &[&[digit][..], &[u64::MAX; 19]].concat(), sigma);
                }
            }
        }
    }
}
