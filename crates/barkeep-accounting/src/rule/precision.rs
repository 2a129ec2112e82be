//! Proves how far a computed coin may be from the ideal one, rule by rule.

use super::Rule;
use barkeep_num::erfcx;
use std::f64::consts::FRAC_1_SQRT_2;

/// u, the relative error of one rounded operation.
const UNIT: f64 = 1.0 / (1_u64 << 53) as f64;

/// e, the premise: `libm::exp` and `expm1` are within one unit in the last place (2u), `barkeep_num::erfcx` at
/// arguments ≥ 0 and `normal_cdf` within 8u. The worst found over their tables is well below.
const SPECIAL: f64 = 8.0 * UNIT;

/// Below 2^−60 the error of a probability is charged to δ.
const RELATIVE_DOWN_TO: f64 = 1.0 / (1_u64 << 60) as f64;

impl Rule {
    /// ρ: each outcome's probability is within a factor e^{±ρ} of the ideal (and ±β, [`Rule::coin_absolute_error`]).
    ///
    /// k coins turn (ε, δ) into (ε + 2kρ, e^{kρ}δ), since a probability ratio of two data sets is off by e^{2ρ} at most
    /// in each step.
    ///
    /// **Proof.** Write u = 2^−53 and e = 8u for the relative error of erfcx and Φ; that of exp is 2u. |λ| ≤ 64. Let η bound the relative error of the smaller side, s ≤ ½ up to that error. The larger side is 1−s
    /// exactly as flipped, so its absolute error is that of s, and its relative error at most η(1+4η). Since
    /// η ≤ 2^−30 in every case, ρ = 1.01·η covers −ln(1−η(1+4η)).
    ///
    /// *Metropolis:* one exp or expm1, η = 2u.
    /// *Barker:* s = v/(1+v), v = e^−|λ|. d ln s/d ln v = 1/(1+v) ≤ 1: exp 2u, sum u, quotient u; η = 5u.
    ///
    /// *Penalty.* z = λ/σ − σ/2 is computed with error ζ ≤ u(|λ/σ| + |z|)(1+u). Only outcomes of at least 2^−60 count.
    /// Write E for erfcx, which as a Laplace transform of a positive measure is log-convex, and κ = Φ(−z)/(1−a(λ)) =
    /// 1/(1 − E((z+σ)/√2)/E(z/√2)), which therefore grows with z.
    /// (i) z ≥ 0: 1−a ≤ ½e^{−z²/2} gives z ≤ 9.05; σ(z+σ/2) = λ ≤ 64 gives σ ≤ 11.32, so ζ ≤ 24u. Since a' = e^λΦ(−z−σ) =
    /// Φ(−z) − (1−a), |d ln(1−a)/dz| = σ(κ−1): the error of z costs 24uσκ. The arguments of E are off by 3u and
    /// |xE'/E| ≤ 1, so each E is off by e+3u, their difference by 2κ(e+3u)+u. The square is off by 41u, exp 2u,
    /// products 2u.
    /// (ii) z < 0, a ≤ ½. If z+σ ≥ 0, a = ½e^{−z²/2}(E + E): a ≥ 2^−60 gives |z| ≤ 9.12 (the bracket is at most 2) and, by
    /// λ ≤ 64, σ ≤ 23.7; |λ/σ| = |z+σ/2|, and the error of z costs (|z|+0.8)ζ ≤ 192u, 0.8 bounding |d ln E/dz|. Then E's
    /// arguments cost e+3u, the exponential 44u, the rest 3u.
    /// If z+σ < 0, a = Φ(z) + e^λΦ(−z−σ) with −z−σ > 0: while |z| ≤ 9.05 the first term is off by (|z|+1)ζ + e ≤ 182u + e (now
    /// |λ/σ| ≤ |z|); beyond, by at most 2^60·½e^{−z²/2}·2z(z+1)u ≤ 182u of a. The second term is off by 2u (exp), e, u
    /// and φ(y)/Φ(y)·(3y+2σ)u ≤ 20u with y = −z−σ, λ ≥ −64 forcing σ ≤ 11.32. So η = 250u + 2e.
    /// (iii) z < 0, a > ½ (so again σ < 11.4): 1−a is one exact subtraction, off by the absolute error of a ≤ 1. The error of z
    /// costs a'σζ ≤ 3u when z+σ ≥ 0, and φ(z)·2|z|u + φ(y)(3y+2σ)u ≤ 3u when not (then λ > −1, so σ < 1.5); the
    /// roundings of (ii) without their growing parts e+9u: 16u + 2e in all. And 1−a decreases in λ, so it is at least
    /// its value at z = 0, r₀ = ½(1 − E(σ/√2)): η = (16u+2e)/r₀.
    ///
    /// *Corrected,* n components: C−s² is off by u, the root of (C−s²)+σ_k² by 2u, the quotient by 4u; Φ(y) for y < 0 by
    /// |y|(|y|+1)·4u + e, at most 400u + e while |y| ≤ 9.5; components beyond weigh less than 2^−68 together, and
    /// their error is below u of 2^−60. For y ≥ 0 Φ is off by 3u + e. Weighted sums and quotient: (2n+2)u.
    /// η = (403 + 2n)u + e.
    ///
    /// *Lazy:* one product, or a product and a sum of positive terms around an inside side that was the complement: 3u more.
    ///
    /// **Precision.** About 2^−45 for a penalty with σ ≥ ½, growing like 1/σ below.
    #[must_use]
    pub fn coin_error(&self) -> f64 {
        1.01 * self.smaller_side_error()
    }

    /// β: the absolute error of outcomes of probability below 2^−60, to be charged to δ.
    ///
    /// k coins add at most k·β·e^{kρ}(1 + e^{ε+2kρ}) to δ: replacing one ideal coin by the flipped one moves the
    /// probability of any event by at most β beyond the factor e^ρ, on each of the two data sets.
    ///
    /// **Proof.** Metropolis and Barker keep their relative error down to e^−64: β = 0, also when lazy. For the others the
    /// relative error found in [`Rule::coin_error`] at 2^−60 grows further out at most like z³ and 1/σ, while the
    /// probability falls like e^{−z²/2}: the product is largest at 2^−60. Underflow adds less than 2^−1000.
    #[must_use]
    pub fn coin_absolute_error(&self) -> f64 {
        match self {
            Self::Metropolis | Self::Barker => 0.0,
            Self::Lazy { rule, .. } => rule.coin_absolute_error(),
            Self::Penalty { .. } | Self::Corrected { .. } => 2.0 * RELATIVE_DOWN_TO * self.coin_error(),
        }
    }

    fn smaller_side_error(&self) -> f64 {
        match self {
            Self::Metropolis => 2.0 * UNIT,
            Self::Barker => 5.0 * UNIT,
            Self::Penalty { sigma } => penalty_error(*sigma),
            Self::Corrected { correction, .. } => {
                (403.0 + 2.0 * correction.components().len() as f64) * UNIT + SPECIAL
            }
            Self::Lazy { rule, .. } => rule.smaller_side_error() + 3.0 * UNIT,
        }
    }
}

/// The largest of the three cases; the 1 % covers the rounding of this very computation.
fn penalty_error(sigma: f64) -> f64 {
    let half_step = sigma * FRAC_1_SQRT_2;
    let furthest = 9.05 * FRAC_1_SQRT_2;
    let condition = 1.01 / (1.0 - erfcx(furthest + half_step) / erfcx(furthest));
    let beyond = 24.0 * UNIT * sigma * condition + 2.0 * condition * (SPECIAL + 3.0 * UNIT) + 46.0 * UNIT;
    let accepted = 250.0 * UNIT + 2.0 * SPECIAL;
    let at_zero = 0.5 * (1.0 - erfcx(half_step));
    let rejected = 1.01 * (16.0 * UNIT + 2.0 * SPECIAL) / at_zero;
    beyond.max(accepted).max(rejected)
}
