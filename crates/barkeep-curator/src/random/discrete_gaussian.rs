//! Draws from the discrete Gaussian distribution, exactly: the zCDP mechanism that lives on the lattice.

use crate::random::digits::Fraction;
use crate::random::half_normal::{cell, is_kept};
use crate::random::rng::Bits;
use crate::{LatticeSigma, NoiseRng};

/// An integer z with probability exactly e^(−z²/(2σ²)) / Σⱼ e^(−j²/(2σ²)), in lattice units.
///
/// **Privacy.** Added independently to each coordinate of a secret lattice vector of ℓ2 sensitivity Δ it is
/// Δ²/(2σ²)-zCDP (Canonne, Kamath, Steinke 2020). For a shift by the integer s in one coordinate and an order α > 1,
/// completing the square gives e^((α−1)·D_α) = e^(α(α−1)s²/(2σ²))·θ(αs)/θ(0) with θ(c) = Σ_z e^(−(z−c)²/(2σ²)). The
/// Fourier coefficients of θ are positive (Poisson summation), so θ(c) ≤ θ(0), and D_α ≤ α·s²/(2σ²); coordinates add.
///
/// The work varies with the randomness and with the public σ, never with the secret; but it is not independent of
/// the number drawn, so the time of a single draw must not be shown.
///
/// **Precision.** Exact: integers and lazily drawn random digits throughout, no floating point, nothing longer
/// than 128 bits. On average 18 words of 64 bits a draw for σ ≥ 10, at most 29 (σ = ½).
///
/// Karney 2016, algorithm D with centre 0: it needs σ only, where the sampler of Canonne, Kamath and Steinke
/// needs fractions of some 300 bits for σ = 2⁵².
pub fn discrete_gaussian(rng: &mut NoiseRng, sigma: LatticeSigma) -> i128 {
    draw(rng, sigma)
}

/// The integers i ≥ 0 fall into cells k = ⌊i/σ⌋, with i = σ(k + x), so that their weight is
/// e^(−i²/(2σ²)) = e^(−k²/2)·e^(−x(2k+x)/2). A cell holds at most ⌈σ⌉ of them, from ⌈kσ⌉ on. Draw k with weight
/// e^(−k²/2), j uniform below ⌈σ⌉, and a sign; start again where i = ⌈kσ⌉ + j lies beyond the cell (x ≥ 1) and
/// where it would be −0: every other signed integer was proposed with probability proportional to e^(−k²/2).
/// Keeping it with probability e^(−x(2k+x)/2) gives each its weight.
///
/// With σ = m·2^−e: x = (i·2^e − k·m)/m, and i·2^e − k·m < 2^e + ⌈σ⌉·2^e ≤ m + 2·2^e ≤ 2⁵⁵.
fn draw(bits: &mut impl Bits, sigma: LatticeSigma) -> i128 {
    let (m, e) = (sigma.numerator(), sigma.denominator_exponent());
    let width = m.div_ceil(1 << e);
    loop {
        let k = cell(bits);
        let start = u128::from(k) * u128::from(m);
        let lowest = start.div_ceil(1 << e);
        let j = bits.below(width);
        let numerator = ((lowest << e) - start) as u64 + (j << e);
        let negative = bits.next_u64() >> 63 == 1;
        if numerator >= m || (negative && k == 0 && numerator == 0) {
            continue;
        }
        if is_kept(k, &mut Fraction::new(numerator, m), bits) {
            let magnitude = lowest as i128 + i128::from(j);
            return if negative { -magnitude } else { magnitude };
        }
    }
}
