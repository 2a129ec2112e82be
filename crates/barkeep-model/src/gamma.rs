//! Evaluates ln Γ, its derivative ψ and ψ' of one positive number, in operations that a loop can vectorise.
//!
//! Arguments are lifted by eight, Γ(x+8) = Γ(x)·x(x+1)…(x+7), to where Stirling's series has converged.

use barkeep_num::vector::scalar::ln;

/// ½ ln 2π.
const HALF_LN_TAU: f64 = 0.918_938_533_204_672_8;

/// Above this the eight factors may overflow and the series needs no lifting.
const LARGE: f64 = 1e30;

/// ln Γ(x) for x > 0.
///
/// **Precision.** The worst error found is 2⁻⁴⁷·max(1, |x ln x|), absolute: near 1 and 2, where ln Γ vanishes, the
/// relative error is larger.
#[inline(always)]
pub(crate) fn ln_gamma(x: f64) -> f64 {
    let large = x > LARGE;
    let product = if large { 1.0 } else { product(x) };
    let y = if large { x } else { x + 8.0 };
    let w = 1.0 / (y * y);
    // B₂ₖ/(2k(2k−1)): the first term left out is below 3·10⁻¹⁷ at y = 8.
    let series = (1.0 / 12.0
        - w * (1.0 / 360.0
            - w * (1.0 / 1260.0
                - w * (1.0 / 1680.0
                    - w * (1.0 / 1188.0
                        - w * (691.0 / 360_360.0 - w * (1.0 / 156.0 - w * (3617.0 / 122_400.0))))))))
        / y;
    ((y - 0.5) * ln(y) - y) + (HALF_LN_TAU + series) - ln(product)
}

/// ψ(x) = d ln Γ(x)/dx for x > 0.
///
/// **Precision.** The absolute error is at most 2⁻⁴⁸·max(1, 1/x).
#[inline(always)]
pub(crate) fn digamma(x: f64) -> f64 {
    let y = x + 8.0;
    let w = 1.0 / (y * y);
    let series = w
        * (1.0 / 12.0
            - w * (1.0 / 120.0
                - w * (1.0 / 252.0
                    - w * (1.0 / 240.0
                        - w * (1.0 / 132.0
                            - w * (691.0 / 32_760.0 - w * (1.0 / 12.0 - w * 3617.0 / 8160.0)))))));
    ln(y) - 0.5 / y - series - lifted(x, |x| 1.0 / x)
}

/// ψ'(x) for x > 0, to 2⁻⁴⁵ relative.
pub(crate) fn trigamma(x: f64) -> f64 {
    let y = x + 8.0;
    let w = 1.0 / (y * y);
    let series = w
        * (1.0 / 6.0
            - w * (1.0 / 30.0 - w * (1.0 / 42.0 - w * (1.0 / 30.0 - w * (5.0 / 66.0 - w * 691.0 / 2730.0)))));
    (1.0 + 0.5 / y + series) / y + lifted(x, |x| 1.0 / (x * x))
}

#[inline(always)]
fn product(x: f64) -> f64 {
    ((x * (x + 1.0)) * ((x + 2.0) * (x + 3.0))) * (((x + 4.0) * (x + 5.0)) * ((x + 6.0) * (x + 7.0)))
}

/// Σ term(x + k) for k from 0 to 7.
#[inline(always)]
fn lifted(x: f64, term: impl Fn(f64) -> f64) -> f64 {
    let pair = |k: f64| term(x + k) + term(x + k + 1.0);
    (pair(6.0) + pair(4.0)) + (pair(2.0) + pair(0.0))
}

#[cfg(test)]
mod tests;
