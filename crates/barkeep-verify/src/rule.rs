//! Encloses the acceptance probability a(t) of each rule, its slope, and how that slope changes.
//!
//! Each rule is seen twice, as two [`Half`]s: from t = −∞, where a is small, and from t = ∞ as t ↦ 1 − a(−t), so that small probabilities keep
//! their digits.

use serde::Deserialize;

use crate::curves::gaussian;
use crate::interval::{Interval, at, span};

/// A test that turns a log-ratio t into a bit, as a bill writes it: 1/(1 + e^−t); E min(1, e^(t+ξ−σ²/2)), ξ ~ N(0, σ²); P(t + N(0, C) + V > 0), C the variance and V the
/// correction; and κ times the rule inside.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) enum Rule {
    Barker,
    Penalty { sigma: f64 },
    Corrected { variance: f64, correction: Vec<Component> },
    Lazy { keep: f64, rule: Box<Rule> },
}

/// A normal component of V, weights divided by their sum; V is symmetric.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Component {
    pub(crate) weight: f64,
    pub(crate) mean: f64,
    pub(crate) sd: f64,
}

/// One of the two views of a rule.
#[derive(Clone, Copy)]
pub(crate) struct Half<'a> {
    pub(crate) rule: &'a Rule,
    /// Whether this is t ↦ 1 − a(−t).
    pub(crate) mirrored: bool,
}

impl Rule {
    /// κ and the rule inside.
    pub(crate) fn kept(&self) -> (f64, &Self) {
        match self {
            Self::Lazy { keep, rule } => (*keep, rule),
            Self::Barker | Self::Penalty { .. } | Self::Corrected { .. } => (1.0, self),
        }
    }

    /// Whether the parameters are those of a rule, and of a size that the arithmetic is made for.
    pub(crate) fn is_sound(&self) -> bool {
        match self {
            Self::Barker => true,
            Self::Penalty { sigma } => (1e-4..=1e3).contains(sigma),
            Self::Corrected { variance, correction: parts } => {
                let mirrored = |part: &Component| parts.contains(&Component { mean: -part.mean, ..*part });
                let sized = |part: &Component| part.weight > 0.0 && part.mean.abs().max(part.sd.abs()) <= 1e6;
                let sound = !parts.is_empty() && parts.iter().all(|part| sized(part) && mirrored(part));
                sound && (1e-3..=4.0).contains(variance)
            }
            Self::Lazy { keep, rule } => {
                (1e-9..=1.0).contains(keep) && rule.kept().0 == 1.0 && rule.is_sound()
            }
        }
    }

    /// How much a computed coin may be off: e^ρ is the most by which an ideal probability exceeds the flipped one, and the other way round up to
    /// β more. The rounding of the gate's coins is proved where they are computed (`barkeep-accounting`, `rule/precision.rs`); these are no less than
    /// its bounds, which a test of this crate checks.
    pub(crate) fn coin_error(&self) -> (f64, f64) {
        let (units, absolute) = match self {
            Self::Barker => (8.0, 0.0),
            Self::Penalty { sigma } => (8192.0 + 4096.0 / sigma, 1e-265),
            Self::Corrected { correction, .. } => (16384.0 + 16.0 * correction.len() as f64, 1e-265),
            Self::Lazy { rule, .. } => (rule.coin_error().0 / f64::EPSILON + 8.0, rule.coin_error().1),
        };
        (units * f64::EPSILON, absolute)
    }

    /// The loss of a half's rare outcome within sensitivity Δ, at most; infinite where there is no bound.
    ///
    /// (ln a)' = 1 − a for Barker, also on the other half, where 1 − a(−t) = a(t). For a penalty a' = E e^(t+ξ−σ²/2)·1{… < 0} ≤ a. The others have normal tails. Times κ
    /// the quotient is the same; κ·r + 1 − κ has a smaller one.
    pub(crate) fn range(&self, mirrored: bool, sensitivity: f64) -> f64 {
        match self.kept().1 {
            Self::Barker => sensitivity,
            Self::Penalty { .. } if !mirrored => sensitivity,
            Self::Penalty { .. } | Self::Corrected { .. } | Self::Lazy { .. } => f64::INFINITY,
        }
    }
}

/// Σw·f/Σw over the components of V.
fn mixed(parts: &[Component], of: impl Fn(&Component) -> Interval) -> Interval {
    let sums = parts
        .iter()
        .fold((at(0.0), at(0.0)), |(sum, weight), part| (sum + of(part) * part.weight, weight + part.weight));
    sums.0 / sums.1
}

impl Component {
    /// C + sd².
    fn spread(&self, variance: f64) -> Interval {
        at(self.sd) * self.sd + variance
    }

    /// (t + mean)/√(C + sd²).
    fn place(&self, variance: f64, t: f64) -> Interval {
        (at(t) + self.mean) / self.spread(variance).sqrt()
    }

    /// The density of −mean + N(0, C + sd²) at t.
    fn density(&self, variance: f64, t: f64) -> Interval {
        self.place(variance, t).density() / self.spread(variance).sqrt()
    }
}

impl Half<'_> {
    /// The probability of this half's outcome.
    pub(crate) fn value(&self, t: f64) -> Interval {
        let value = match self.rule {
            Rule::Barker => {
                let odds = at(-t.abs()).exp();
                let small = odds / (odds + 1.0);
                if t < 0.0 { small } else { at(1.0) - small }
            }
            // 1 − a(t) is the curve of σ-GDP at e^t: Φ(−z) − e^t·Φ(−z−σ), z = t/σ − σ/2. And a(t) = e^t·a(−t).
            Rule::Penalty { sigma } => match (self.mirrored, t < 0.0) {
                (true, _) => gaussian(*sigma, -t),
                (false, true) => at(t).exp() * (at(1.0) - gaussian(*sigma, -t)),
                (false, false) => at(1.0) - gaussian(*sigma, t),
            },
            Rule::Corrected { variance, correction } => {
                mixed(correction, |part| (-part.place(*variance, t)).tail())
            }
            Rule::Lazy { rule, .. } => Half { rule, ..*self }.value(t),
        };
        span(value.lo.clamp(0.0, 1.0), value.hi.clamp(0.0, 1.0))
    }

    /// The slope of [`Half::value`].
    fn slope(&self, t: f64) -> Interval {
        match self.rule {
            Rule::Barker => {
                let odds = at(-t.abs()).exp();
                odds / ((odds + 1.0) * (odds + 1.0))
            }
            // a' = e^t·Φ(−z), z = t/σ + σ/2, at t or at −t. As e^t·φ(z) = φ(z − σ), no factor leaves the range of f64 where z > 0.
            Rule::Penalty { sigma } => {
                let t = at(if self.mirrored { -t } else { t });
                let z = t / *sigma + at(*sigma) * 0.5;
                if z.lo > 0.0 { (z - *sigma).density() * z.mills() } else { t.exp() * z.tail() }
            }
            Rule::Corrected { variance, correction } => mixed(correction, |part| part.density(*variance, t)),
            Rule::Lazy { rule, .. } => Half { rule, ..*self }.slope(t),
        }
    }

    /// Bounds on slope(t)/slope(t − Δ) for all t from `from` to `to`; t − Δ must be exact.
    ///
    /// *Barker and penalties.* a is the distribution function of a logistic variable, or of −E + N(σ²/2, σ²), E exponential: sums of variables of log-concave density, so
    /// that a' is log-concave (Prékopa 1973). Then the quotient falls in t, and its ends bound it. *Corrections.* ln a'(t) − ln a'(t−Δ) has slope at most Δ·K,
    /// K the largest |(ln a')''| in between: [`bend`].
    pub(crate) fn slopes(&self, from: f64, to: f64, sensitivity: f64) -> Interval {
        let quotient = |t: f64| self.slope(t) / self.slope(t - sensitivity);
        match self.rule {
            Rule::Barker | Rule::Penalty { .. } => span(quotient(to).lo, quotient(from).hi),
            Rule::Corrected { variance, correction } => {
                let bend = bend(*variance, correction, from - sensitivity, to);
                let change = ((at(to) - from) * sensitivity * bend).hi;
                quotient(to) * span(-change, change).exp()
            }
            Rule::Lazy { rule, .. } => Half { rule, ..*self }.slopes(from, to, sensitivity),
        }
    }
}

/// |(ln g)''| at most, from `from` to `to`, g = Σ w_k N(−m_k, v_k).
///
/// With π_k = w_k N_k/g and s_k = −(t + m_k)/v_k, (ln g)'' = −Σπ_k/v_k + Var_π(s), and Var_π(s) ≤ Σπ_k(s_k − c)² for any c: here the mean of s in the middle, about. N_k is
/// least at an end, and largest there or at −m_k.
fn bend(variance: f64, parts: &[Component], from: f64, to: f64) -> f64 {
    let score = |part: &Component, t: f64| -(at(t) + part.mean) / part.spread(variance);
    let middle = 0.5 * (from + to);
    let (mut least, mut scores, mut weights) = (at(0.0), 0.0, 0.0);
    for part in parts {
        let [a, b, c] = [from, to, middle].map(|t| part.density(variance, t) * part.weight);
        least = least + a.lo.min(b.lo);
        (scores, weights) = (scores + c.hi * score(part, middle).hi, weights + c.hi);
    }
    let centre = if weights > 0.0 { scores / weights } else { 0.0 };
    let varied = parts.iter().fold(at(0.0), |sum, part| {
        let nearest = (-part.mean).clamp(from, to);
        let most = part.density(variance, nearest) * part.weight / least.lo.max(f64::MIN_POSITIVE);
        let [a, b] = [from, to].map(|t| score(part, t) - centre);
        sum + at((a * a).hi.max((b * b).hi)) * most.hi.min(1.0)
    });
    varied.hi.max((at(1.0) / variance).hi)
}
