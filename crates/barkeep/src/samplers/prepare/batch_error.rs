//! Bounds how far a test on a batch may be from the test it stands for, because a batch's sum is only about normal.
//!
//! # The bound
//! Draws of a batch count as independent, as in the papers' theorem (Heikkilä et al. 2019, supplement, Theorem 1, after Seita et al.
//! 2017). Let X_i = (nT/b)·r_i, |r_i| ≤ R the clip, so that X_i lies in an interval of length D = 2nTR/b. Write L = ΣX_i,
//! Y_i = X_i − E X_i, w = Var X_i, v = bw ≤ bD²/4, and v̂ = Σ(X_i − X̄)² ≤ bD²/4. A test accepts with probability h(L, v̂). With G
//! normal of the same mean and variance as L, E h(G, v) is the rule the test stands for. The rest is error:
//!
//! > |E h(L, v̂) − E h(G, v)| ≤ |E h(L, v) − E h(G, v)| + |E h(L, v̂) − E h(L, v)|.
//!
//! Let M_j bound |∂ʲh/∂Lʲ|, and κ bound Σ|E Y_i³|. On an interval of length D the third moment is at most w√(D² − 4w), attained by
//! two atoms at its ends: E[(D' − Y)(Y + w/D')²] ≥ 0 with D' the way to the far end. So κ = v√(D² − 4v/b).
//!
//! *First term*, by replacing one X_i by a normal at a time (Lindeberg): ⅙κM₃ + (M₄/24)(D²v + 3v²/b). Or, as h rises from 0 to 1, the
//! distance of the distribution functions, by Berry and Esseen 0.469·ΣE|Y_i|³/v^(3/2) ≤ 0.469·D/√v (Shevtsova 2013). Or M₁ times
//! E|L − E L| + E|G − E G| ≤ (1 + √(2/π))√v. The least of the three.
//!
//! *Second term.* ∂h/∂v is −½ times a derivative of h in L: the second where the batch's variance is part of the noise, the first where
//! half of it is taken off. Call M the bound of that derivative, M' and M'' those of the next two, N that of ∂²h/∂v² times 4. Then
//! v̂ − v = Σ(Y_i² − w) − (ΣY_i)²/b. Taylor's formula in Y_i, and E(Y_i² − w) = 0, give ½(κM' + ½M''D²v) + ½M·v/b + ⅛N·E(v̂ − v)², with
//! E(v̂ − v)² ≤ 2D²v + (6v² + 2D²v)/b². Or plainly ½M·E|v̂ − v| ≤ ½M(D√v + v/b). The less of the two.
//!
//! The law of the r_i is not known, so the largest over all v counts: cell by cell, each part at the end where it is larger.

use barkeep_accounting::Rule;

/// Errors of an acceptance probability above this are worth a warning.
pub(crate) const LARGE: f64 = 0.01;

/// Cells into which the possible variances are divided, each this many times the one below.
const CELLS: i32 = 120;
const GROWTH: f64 = 1.2;

/// Berry and Esseen's constant for equal laws.
const BERRY_ESSEEN: f64 = 0.469;

/// The largest |φ|, |φ'|, |φ''| and |φ'''|, rounded up.
const NORMAL: [f64; 4] = [0.39895, 0.24198, 0.39895, 0.55060];

/// Bounds on derivatives of an acceptance function.
struct Smoothness {
    /// M₁ to M₄.
    own: [f64; 4],
    /// M, M', M'' and N: of −2·∂h/∂v, its derivatives, and 4·∂²h/∂v².
    by_variance: [f64; 4],
}

/// The most by which P(accept) on a batch may differ from the rule's, whatever the records; None for rules without a test on
/// batches.
pub(crate) fn batch_error(rule: &Rule, tempered: f64, batch: u64, clip: f64) -> Option<f64> {
    #[expect(clippy::cast_precision_loss, reason = "a batch is at most 2^32")]
    let batch = batch as f64;
    let width = 2.0 * tempered * clip / batch;
    let most = 0.25 * batch * width * width;
    let mut worst: f64 = 0.0;
    let mut high = most;
    for cell in (0..CELLS).rev() {
        let low = if cell == 0 { 0.0 } else { high / GROWTH };
        worst = worst.max(in_cell(&smoothness(rule, high, most)?, batch, width, low, high));
        high = low;
    }
    Some(worst.min(1.0))
}

/// The bound for variances from `low` to `high`.
fn in_cell(smooth: &Smoothness, batch: f64, width: f64, low: f64, high: f64) -> f64 {
    let [first, _, third, fourth] = smooth.own;
    let square = width * width;
    let skew = high * (square - 4.0 * low / batch).max(0.0).sqrt();
    let taylor = skew * third / 6.0 + fourth / 24.0 * (square * high + 3.0 * high * high / batch);
    let distance = BERRY_ESSEEN * width / low.sqrt();
    let plain = first * (1.0 + (2.0 / std::f64::consts::PI).sqrt()) * high.sqrt();
    let normal = taylor.min(distance).min(plain);
    let [slope, next, after, second] = smooth.by_variance;
    let missed = 2.0 * square * high + (6.0 * high * high + 2.0 * square * high) / (batch * batch);
    let expanded = 0.5 * (skew * next + 0.5 * after * square * high)
        + 0.5 * slope * high / batch
        + 0.125 * second * missed;
    let variance = expanded.min(0.5 * slope * (width * high.sqrt() + high / batch));
    normal + variance
}

/// The bounds for a batch whose variance is at most `variance`, its estimate at most `most`.
///
/// *Corrected:* a mixture of Φ((L+μ_k)/s) with s² ≥ C − v, and ∂h/∂v = −½∂²h/∂L². *Penalty:* h = A(L − ½v̂ + …), A(m) = E min(1, e^(m+ξ))
/// with ξ ~ N(0, σ²). A' is at most 1, A'' = A' − φ_σ the difference of two positive terms, and each further one is the one before less
/// a derivative of φ_σ.
fn smoothness(rule: &Rule, variance: f64, most: f64) -> Option<Smoothness> {
    match rule {
        Rule::Corrected { variance: noise, .. } => {
            let bounds = |left: f64| {
                let scale = left.max(f64::MIN_POSITIVE).sqrt();
                [1, 2, 3, 4].map(|order: i32| NORMAL[order as usize - 1] / scale.powi(order))
            };
            let (own, estimated) = (bounds(noise - variance), bounds(noise - most));
            Some(Smoothness { own, by_variance: [estimated[1], own[2], own[3], estimated[3]] })
        }
        Rule::Penalty { sigma } => {
            let second = (NORMAL[0] / sigma).max(1.0);
            let third = second + NORMAL[1] / (sigma * sigma);
            let fourth = third + NORMAL[2] / sigma.powi(3);
            Some(Smoothness { own: [1.0, second, third, fourth], by_variance: [1.0, second, third, second] })
        }
        Rule::Metropolis | Rule::Barker | Rule::Lazy { .. } => None,
    }
}

#[cfg(test)]
mod tests;
