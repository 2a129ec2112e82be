//! Proves how far a computed coin may be from the ideal one, rule by rule.

use super::Rule;
use super::correction::MOST_COMPONENTS;
use barkeep_num::erfcx;
use std::f64::consts::FRAC_1_SQRT_2;

/// u, the relative error of one rounded operation.
const UNIT: f64 = 1.0 / (1_u64 << 53) as f64;

/// e, the premise: `libm::exp` and `expm1` are within one unit in the last place (2u), `barkeep_num::erfcx` at
/// arguments ≥ 0 and `normal_cdf` within 8u. The worst found over their tables is well below.
const SPECIAL: f64 = 8.0 * UNIT;

/// Below 2^−60 a coin is lifted: never less likely than the ideal one.
const LIFTED_BELOW: f64 = 1.0 / (1_u64 << 60) as f64;

/// Below 2^−900 a computed probability says only that the ideal one is below 2^−899.
const RESOLVED_DOWN_TO: f64 = 1.0 / ((1_u128 << 100) as f64 * TWO_TO_800);

const TWO_TO_800: f64 = {
    let square = (1_u128 << 100) as f64 * (1_u128 << 100) as f64;
    square * square * square * square
};

/// How far computed coins of a rule may be from the ideal ones.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rounding {
    /// η, the relative error of the smaller side where it is at least 2^−60.
    smaller: f64,
    /// l, by which it is lifted below; 0 if it keeps η there.
    lift: f64,
}

impl Rounding {
    /// That of a rule's coins.
    pub(crate) fn of(rule: &Rule) -> Self {
        match rule {
            Rule::Metropolis => Self { smaller: 2.0 * UNIT, lift: 0.0 },
            Rule::Barker => Self { smaller: 5.0 * UNIT, lift: 0.0 },
            Rule::Penalty { sigma } => Self { smaller: penalty_error(*sigma), lift: rule.lift() },
            Rule::Corrected { correction, .. } => Self::corrected(correction.components().len()),
            Rule::Lazy { rule, .. } => {
                let inside = Self::of(rule);
                Self { smaller: inside.smaller + 3.0 * UNIT, ..inside }
            }
        }
    }

    /// That of any corrected rule's coins.
    pub(crate) fn largest_corrected() -> Self {
        Self::corrected(MOST_COMPONENTS)
    }

    fn corrected(components: usize) -> Self {
        let smaller = (403.0 + 2.0 * components as f64) * UNIT + SPECIAL;
        Self { smaller, lift: corrected_lift(components) }
    }

    /// ρ of [`Rule::coin_error`].
    pub(crate) fn error(self) -> f64 {
        1.01 * self.smaller
    }

    /// ρ' of [`Rule::coin_far_error`].
    pub(crate) fn far_error(self) -> f64 {
        self.error().max(2.02 * self.lift)
    }

    /// β of [`Rule::coin_absolute_error`].
    pub(crate) fn absolute_error(self) -> f64 {
        if self.lift == 0.0 { 0.0 } else { 1.01 * LIFTED_BELOW * self.far_error() }
    }

    /// β' of [`Rule::coin_far_absolute_error`].
    pub(crate) fn far_absolute_error(self) -> f64 {
        if self.lift == 0.0 { 0.0 } else { 4.0 * RESOLVED_DOWN_TO }
    }
}

impl Rule {
    /// ρ: no outcome's probability is below e^{−ρ} times the ideal, nor above e^ρ times the ideal plus β
    /// ([`Rule::coin_absolute_error`]).
    ///
    /// What k coins cost by this is stated and proved beside [`CoinError`](crate::CoinError).
    ///
    /// **Premise.** The relative error of erfcx and Φ is at most e = 8u, u = 2^−53, and that of exp 2u. These are tested special
    /// functions, held to tables of 60 digits in `barkeep-num`, not proved ones.
    ///
    /// **Proof.** |λ| ≤ 64. Let η bound the relative error of the smaller side, s ≤ ½ up to that error. The larger side is 1−s
    /// exactly as flipped, so its absolute error is that of s, and its relative error at most η(1+4η). Since
    /// η ≤ 2^−30 in every case, ρ = 1.01·η covers −ln(1−η(1+4η)).
    ///
    /// *Metropolis:* one exp or expm1, η = 2u.
    /// *Barker:* s = v/(1+v), v = e^−|λ|. d ln s/d ln v = 1/(1+v) ≤ 1: exp 2u, sum u, quotient u; η = 5u.
    ///
    /// *Penalty.* z = λ/σ − σ/2 is computed with error ζ ≤ u(|λ/σ| + |z|)(1+u). Here outcomes of at least 2^−60 count.
    /// Write E for erfcx, M(z) = √(π/2)·E(z/√2) for Mills' ratio, and κ = Φ(−z)/(1−a(λ)) = 1/(1 − M(z+σ)/M(z)). By Birnbaum's
    /// inequality 1/M(t) ≥ (t + √(t²+4))/2, so (ln M)' = t − 1/M ≤ −2/(t + √(t²+4)) ≤ −1/(t+1), hence
    /// M(z+σ)/M(z) ≤ (z+1)/(z+1+σ) and κ − 1 ≤ (z+1)/σ for z ≥ 0.
    /// (i) z ≥ 0: 1−a ≤ ½e^{−z²/2} gives z ≤ 9.05; σ(z+σ/2) = λ ≤ 64 gives σ ≤ 11.32, so ζ ≤ 24u. Since a' = e^λΦ(−z−σ) =
    /// Φ(−z) − (1−a), |d ln(1−a)/dz| = σ(κ−1) ≤ z+1: the error of z costs 242u. The arguments of E are off by 3u and
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
    /// *Below 2^−60* the lift of [`Rule::coin_far_error`] puts the smaller side at or above the ideal, and the larger side moves by
    /// less than 2^−60·2^−24.
    ///
    /// **Precision.** About 2^−44 for a penalty with σ ≥ 1, growing like 1/σ below.
    #[must_use]
    pub fn coin_error(&self) -> f64 {
        Rounding::of(self).error()
    }

    /// ρ': no outcome's probability is above e^ρ' times the ideal, plus 2^−898 ([`Rule::coin_far_absolute_error`]).
    ///
    /// **Proof.** Metropolis and Barker have one relative error everywhere: ρ' = ρ. For the others let s in [2^−900, 2^−60] be the
    /// smaller side as computed, and η' its relative error. The coin is s·(1+l), rounded twice, with l ≥ η' + η'² + 4u: so it is
    /// between the ideal and e^{2.01·l} times it. A smaller s becomes 2^−899, at or above the ideal and by no more than that.
    ///
    /// *Penalty,* by the cases of [`Rule::coin_error`]. (i) Now z ≤ 36.5, so ζ ≤ 79u costs 37.5·79u; κ ≤ 1 + 37.5/σ; the square is off
    /// by 667u: η' ≤ 3640u + 2(1 + 37.5/σ)(e+3u) ≤ (3662 + 825/σ)u. (ii) If z+σ ≥ 0, |z| ≤ 36.5 and |λ/σ| = |z+σ/2| is at most
    /// max(|z|/2, √32) ≤ 18.3, so ζ ≤ 55u costs 37.3·55u, the exponential 670u, the rest e+6u. If z+σ < 0, a ≥ ½e^λ ≥ 2^−94: then
    /// either |z| ≤ 11.4 and Φ(z) is off by 283u + e, or its error is below 2^94·½e^{−z²/2}·2z(z+1)u ≤ 182u of a; the second
    /// term as before. (iii) 1−a ≥ r₀ > 2^−60. So l = (4096 + 1024/σ)u.
    ///
    /// *Corrected.* Components with |y| > 36.5 weigh less than 2^−960 together, below u of s; the others' Φ is off by
    /// 36.5·37.5·4u + e. So l = (8192 + 4n)u.
    ///
    /// *Lazy:* 3u more, or s ≥ 1−κ ≥ 2^−53 and nothing is lifted.
    #[must_use]
    pub fn coin_far_error(&self) -> f64 {
        Rounding::of(self).far_error()
    }

    /// β: the most by which the lift moves an outcome, to be charged to δ together with ρ.
    ///
    /// An outcome below 2^−60 moves by at most a factor e^ρ', hence by 2^−60·1.01·ρ', or by 2^−899.
    #[must_use]
    pub fn coin_absolute_error(&self) -> f64 {
        Rounding::of(self).absolute_error()
    }

    /// β', to be charged to δ together with ρ'.
    #[must_use]
    pub fn coin_far_absolute_error(&self) -> f64 {
        Rounding::of(self).far_absolute_error()
    }

    /// l of [`Rule::coin_far_error`]; a function of the rule alone.
    fn lift(&self) -> f64 {
        match self {
            Self::Metropolis | Self::Barker => 0.0,
            Self::Penalty { sigma } => (4096.0 + 1024.0 / sigma) * UNIT,
            Self::Corrected { correction, .. } => corrected_lift(correction.components().len()),
            Self::Lazy { rule, .. } => rule.lift(),
        }
    }

    /// The smaller side as it is flipped: not below the ideal where that is below 2^−60.
    pub(super) fn lifted(&self, smaller: f64) -> f64 {
        // At most 1, whatever a rule that was never valid says.
        let lift = self.lift().min(1.0);
        // Both are computed whatever the secret is.
        let raised = (smaller * (1.0 + lift)).max(2.0 * RESOLVED_DOWN_TO);
        if lift > 0.0 && smaller < LIFTED_BELOW { raised } else { smaller }
    }
}

fn corrected_lift(components: usize) -> f64 {
    (8192.0 + 4.0 * components as f64) * UNIT
}

/// The largest of the three cases; the 1 % covers the rounding of this very computation.
fn penalty_error(sigma: f64) -> f64 {
    let condition = 1.0 + 10.05 / sigma;
    let beyond = 288.0 * UNIT + 2.0 * condition * (SPECIAL + 3.0 * UNIT);
    let accepted = 250.0 * UNIT + 2.0 * SPECIAL;
    let at_zero = 0.5 * (1.0 - erfcx(sigma * FRAC_1_SQRT_2));
    let rejected = 1.01 * (16.0 * UNIT + 2.0 * SPECIAL) / at_zero;
    beyond.max(accepted).max(rejected)
}
