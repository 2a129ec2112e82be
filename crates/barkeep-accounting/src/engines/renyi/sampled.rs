//! Bounds Rényi divergences of mechanisms that see a random batch, each for the sampling scheme it was proved for.

use barkeep_num::{ln_binomial, ln_normal_cdf, log_sum_exp, normal_cdf, up, up_by};

use std::f64::consts::LN_2;

use super::{Curve, LARGEST_WHOLE_ORDER, Linear, Orders};
use crate::{Order, Rate, Ratio};

/// A Gaussian mechanism on a Poisson sample, **add/remove** neighbours.
///
/// With W = (1−q) + q·dP/dQ, P = N(1, s²), Q = N(0, s²), whole α:
///
/// > E_Q[W^α] − 1 = Σ_{j=2..α} C(α,j)·(1−q)^(α−j)·q^j·(e^(j(j−1)/(2s²)) − 1),  ε(α) = ln(E_Q[W^α])/(α−1).
///
/// The form with −1 in each term, allowed since the binomial weights sum to 1, keeps the digits of small q. The other
/// direction is never larger (Mironov, Talwar, Zhang 2019, Theorems 4 and 5 and Section 3.3).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PoissonGaussian {
    /// Probability that a record is drawn.
    pub rate: Rate,
    /// Noise standard deviation over the sensitivity to one added record.
    pub ratio: Ratio,
}

impl Curve for PoissonGaussian {
    fn orders(&self) -> Orders {
        whole_orders(self.rate)
    }

    fn at(&self, order: Order) -> f64 {
        // What holds for all records holds for a batch, at every order.
        let unsampled = Linear::gaussian(self.ratio).at(order);
        if self.rate.get() == 1.0 || !has_sum(order) {
            return unsampled;
        }
        let ratio = self.ratio.get();
        let terms = weighted_terms(self.rate.get(), order, |j| ln_expm1(exponent(j, ratio)));
        amplified_divergence(0.0, terms, order).min(unsampled)
    }
}

/// A Gaussian mechanism on a batch drawn **without replacement**, **substitution** neighbours: the tight curve.
///
/// The two-branch pair of Zhu, Dong and Wang 2022 (Proposition 30) dominates this mechanism: its hockey-stick
/// divergence at a ≥ 1 is h(a) = H_a((1−q)Q+qP ‖ Q), and at a < 1 the mirror image 1 − a + a·h(1/a), with
/// P = N(1, s²), Q = N(0, s²). A Rényi moment is an integral of hockey-stick divergences,
///
/// > E[(dP*/dQ*)^α under Q*] − 1 = ∫₁^∞ α(α−1)·(a^(α−2) + a^(−α−1))·h(a) da,
///
/// so domination carries over. With L = dP/dQ and W = 1 + q(L−1) the integral is
/// E_Q[W^α + W^(1−α) − 1 − W; L > 1]. Bound W^(1−α) ≤ 1 − (α−1)(W−1) + ½α(α−1)(W−1)², true for W ≥ 1 by Taylor's
/// formula. What is left is, for whole α, a sum of positive terms:
///
/// > ≤ Σ_{j=2..α} C(α,j)(1−q)^(α−j)q^j·A_j + C(α,2)·q²·A₂,  A_j = E_Q[L^j − 1 − j(L−1); L > 1]
/// > = e^(j(j−1)/(2s²))·Φ((j−½)/s) − Φ(−1/(2s)) − j·(Φ(1/(2s)) − Φ(−1/(2s))).
///
/// About a quarter of the general bound of [`Amplified`] at small q.
///
/// It also bounds **Poisson** batches under **substitution**, the ratio being to the whole substitution sensitivity: there too the
/// outputs are (1−q)X + qY and (1−q)X + qY' with X, Y, Y' within that sensitivity of each other, and the domination
/// needs nothing else: H_a' of the mixtures is q·H_a(Y ‖ (1−β)X+βY') at a' = 1+q(a−1), β = a'/a (Balle, Barthe, Gaboardi 2018,
/// Theorem 2), by convexity at most q times the base pair's H_a.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WithoutReplacementGaussian {
    /// Batch size over records.
    pub rate: Rate,
    /// Noise standard deviation over the substitution sensitivity of a batch's answer.
    pub ratio: Ratio,
}

impl Curve for WithoutReplacementGaussian {
    fn orders(&self) -> Orders {
        whole_orders(self.rate)
    }

    fn at(&self, order: Order) -> f64 {
        // What holds for all records holds for a batch, at every order.
        let unsampled = Linear::gaussian(self.ratio).at(order);
        if self.rate.get() == 1.0 || !has_sum(order) {
            return unsampled;
        }
        let ratio = self.ratio.get();
        let (above, below) = (normal_cdf(0.5 / ratio), normal_cdf(-0.5 / ratio));
        let upper_moment = |j: f64| {
            let exponent = exponent(j, ratio);
            if exponent > 30.0 {
                // Dropping the negative parts loses nothing here and only raises the bound.
                return up(exponent + up_by(ln_normal_cdf((j - 0.5) / ratio), 8));
            }
            let power = libm::exp(exponent) * normal_cdf((j - 0.5) / ratio);
            // The exponential is off by one unit, each Φ by four, their arguments by two more.
            let rounding = 8.0 * f64::EPSILON * (power + below + j * (above + below));
            up(libm::log(power - below - j * (above - below) + rounding))
        };
        let rate = self.rate.get();
        let pairs = 0.5 * order.get() * (order.get() - 1.0);
        let mirrored = sum_up([up_by(libm::log(pairs * rate * rate), 4), upper_moment(2.0)]);
        let direct = weighted_terms(rate, order, upper_moment);
        let terms = direct.into_iter().chain([mirrored]).collect();
        amplified_divergence(0.0, terms, order).min(unsampled)
    }
}

/// Any mechanism on a batch drawn **without replacement**, **substitution** neighbours, from its own Rényi curve.
///
/// For whole α ≥ 2, the worst-case loss ε(∞) taken as infinite:
///
/// > ε'(α) = ln(1 + q²C(α,2)·min{4(e^ε(2)−1), 2e^ε(2)} + Σ_{j=3..α} q^j·C(α,j)·e^((j−1)ε(j))·2)/(α−1),  j = α included.
///
/// Wang, Balle, Kasiviswanathan 2019, Theorem 9; thesis Theorem 3.5; NeurIPS supplement Proposition 2.
pub struct Amplified<C> {
    rate: Rate,
    base: C,
}

impl<C: Curve> Amplified<C> {
    /// `base` bounds the mechanism on one batch; its worst-case loss is unbounded or not known.
    #[must_use]
    pub fn new(rate: Rate, base: C) -> Self {
        Self { rate, base }
    }

    fn base_at(&self, j: f64) -> f64 {
        self.base.at(Order::trusted(j))
    }
}

impl<C: Curve> Curve for Amplified<C> {
    fn orders(&self) -> Orders {
        match (whole_orders(self.rate), self.base.orders()) {
            (Orders::Whole { largest }, Orders::Whole { largest: other }) => {
                Orders::Whole { largest: largest.min(other) }
            }
            (own, Orders::Real) => own,
            (Orders::Real, other) => other,
        }
    }

    fn at(&self, order: Order) -> f64 {
        let rate = self.rate.get();
        let unsampled = self.base.at(order);
        if rate == 1.0 || !has_sum(order) {
            return unsampled;
        }
        let alpha = order.get();
        let second = self.base_at(2.0);
        let near = 4.0 * libm::expm1(second);
        let far = libm::exp(second) * up(libm::exp(up(LN_2)));
        let pairs = up_by(0.5 * alpha * (alpha - 1.0) * rate * rate * near.min(far), 8);
        let mut terms = Vec::new();
        let ln_rate = up(libm::log(rate));
        let mut j = 3.0;
        while j <= alpha {
            let moment = up((j - 1.0) * self.base_at(j));
            let ways = up_by(ln_binomial(alpha, j), 4);
            terms.push(sum_up([up(j * ln_rate), moment, ways, up(LN_2)]));
            j += 1.0;
        }
        // A batch shows no more than all records would, by convexity over the batches drawn.
        amplified_divergence(pairs, terms, order).min(unsampled)
    }
}

/// Without sampling there is no sum to carry, so every real order is available.
fn whole_orders(rate: Rate) -> Orders {
    if rate.get() == 1.0 { Orders::Real } else { Orders::Whole { largest: LARGEST_WHOLE_ORDER } }
}

/// Whether a sum over j = 2..α is defined for this order, and not too long.
fn has_sum(order: Order) -> bool {
    let alpha = order.get();
    alpha == alpha.trunc() && alpha <= f64::from(LARGEST_WHOLE_ORDER)
}

/// j(j−1)/(2s²), rounded up.
fn exponent(j: f64, ratio: f64) -> f64 {
    up_by(0.5 * j * (j - 1.0) / ratio / ratio, 2)
}

/// ln(eˣ − 1), rounded up.
fn ln_expm1(x: f64) -> f64 {
    if x < 40.0 { up_by(libm::log(libm::expm1(x)), 4) } else { x }
}

/// A sum in which every addition is rounded up.
fn sum_up<const N: usize>(parts: [f64; N]) -> f64 {
    parts.into_iter().reduce(|sum, part| up(sum + part)).unwrap_or(0.0)
}

/// ln[C(α,j)(1−q)^(α−j)q^j·m_j] for j = 2..α, rounded up, given ln m_j rounded up.
fn weighted_terms(rate: f64, order: Order, ln_moment: impl Fn(f64) -> f64) -> Vec<f64> {
    let alpha = order.get();
    let (ln_rate, ln_rest) = (up(libm::log(rate)), up(libm::log1p(-rate)));
    let mut terms = Vec::new();
    let mut j = 2.0;
    while j <= alpha {
        let ways = up_by(ln_binomial(alpha, j), 4);
        terms.push(sum_up([up(j * ln_rate), ln_moment(j), ways, up((alpha - j) * ln_rest)]));
        j += 1.0;
    }
    terms
}

/// ln(1 + head + Σ e^term)/(α−1), rounded up. The head is kept out of log space, which would cost it digits.
fn amplified_divergence(head: f64, terms: Vec<f64>, order: Order) -> f64 {
    let sum = log_sum_exp(&terms);
    let ln_sum = if sum.is_finite() { sum + 2.0 * f64::EPSILON * sum.abs().max(0.5) } else { sum };
    let moment = if ln_sum < 700.0 && head < 1e300 {
        libm::log1p(up(head + up(libm::exp(ln_sum))))
    } else {
        log_sum_exp(&[0.0, up(libm::log(head)), ln_sum])
    };
    up_by(moment / (order.get() - 1.0), 4)
}
