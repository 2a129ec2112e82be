//! Bounds the privacy curve H_x = Σ max(0, P − xQ) of one step from above, mechanism by mechanism, as a function of l = ln x.
//!
//! Every curve **mirrors**: H_x(P‖Q) = 1 − x + x·H_{1/x}(Q‖P), since P − xQ = (P − xQ)₊ − (xQ − P)₊ and both have mass 1.

use crate::interval::{Interval, at, span};

/// An upper bound on H at e^l, for any l.
pub(crate) type Curve = Box<dyn Fn(f64) -> f64>;

/// 1 − x + x·H, H the other order's curve at 1/x.
pub(crate) fn mirrored(l: f64, other: f64) -> f64 {
    (at(l).exp() * other - at(l).exp_m1()).hi.clamp(0.0, 1.0)
}

/// μ-GDP: N(μ, 1) against N(0, 1). The likelihood ratio grows, so H is that of a half-line (Neyman and Pearson; Balle and Wang 2018):
/// Φ(−a) − e^l·Φ(−b), a = l/μ − μ/2, b = l/μ + μ/2. Since e^l·φ(b) = φ(a), for a ≥ 0 that is φ(a)·(M(a) − M(b)) with Mills' ratio M, which
/// keeps its digits in the tail.
pub(crate) fn gaussian(mu: f64, l: f64) -> Interval {
    if l < 0.0 {
        return at(l).exp() * gaussian(mu, -l) - at(l).exp_m1();
    }
    let (a, b) = (at(l) / mu - at(mu) * 0.5, at(l) / mu + at(mu) * 0.5);
    let digits = a.lo > 0.0;
    let value =
        if digits { a.density() * (a.mills() - b.mills()) } else { a.tail() - at(l).exp() * b.tail() };
    span(value.lo.max(0.0), value.hi.clamp(0.0, 1.0))
}

/// A mechanism with base curve H(P‖Q) ≤ `base`, applied to a batch that holds the changed record with probability γ: M = (1−γ)Q + γP against Q.
///
/// For x ≥ 1 − γ, M − xQ = γ(P − x'Q) with x' = 1 + (x−1)/γ; below, M − xQ ≥ 0 everywhere and H = 1 − x. H grows with γ, so γ may be rounded up:
/// for the event S that attains it, M(S) − xQ(S) = γ(P(S) − Q(S)) + (1−x)Q(S), and P(S) ≥ Q(S) unless Q(S) = 0.
pub(crate) fn removed(rate: f64, l: f64, base: impl Fn(f64) -> f64) -> f64 {
    let excess = at(l).exp_m1() / rate;
    if excess.hi <= -1.0 {
        return (-at(l).exp_m1()).hi.clamp(0.0, 1.0);
    }
    // The base's curve falls, so the least x' counts; it may be as low as 0, where H is 1.
    let inner = if excess.lo <= -1.0 { 1.0 } else { base(excess.ln_1p().lo) };
    (at(rate) * inner).hi.clamp(0.0, 1.0)
}

/// Poisson batches under add-remove, "one record less": (1−γ)N(0) + γN(μ) against N(0). "One more" is the mirror image.
pub(crate) fn poisson_removed(mu: f64, rate: f64, l: f64) -> f64 {
    removed(rate, l, |inner| gaussian(mu, inner).hi)
}

/// Poisson batches under substitution, noise of standard deviation 1, sensitivity μ: (1−γ)N(0) + γN(c) against (1−γ)N(0) + γN(−c), c = μ/2.
///
/// *That this pair is the worst.* Fix the other records' share of the batch: it has one law on both data sets. Around it let A, B, C be normal at 0, y, y'
/// with |y|, |y'| ≤ c. For x ≥ 1 and an event S with B(S) = Φ(z), A(S) ≥ Φ(z − c) and C(S) ≥ Φ(z − 2c) by Neyman and Pearson; both
/// enter γB(S) − (x−1)(1−γ)A(S) − xγC(S) with a coefficient of at most 0. Half-lines attain
///
/// > H_x = sup over z of γΦ(z) − (x−1)(1−γ)Φ(z−c) − xγΦ(z−2c).
///
/// *The supremum.* With u = e^(cz − c²/2) the derivative is φ(z)·(γ − (x−1)(1−γ)u − xγe^(−c²)u²), which falls in u: it is at the one positive root.
/// The root is enclosed, and each term takes the end that makes the whole larger. The pair is its own mirror image.
pub(crate) fn poisson_substituted(mu: f64, rate: f64, l: f64) -> f64 {
    if l < 0.0 {
        return mirrored(l, poisson_substituted(mu, rate, -l));
    }
    let (c, rate) = (at(0.5 * mu), at(rate));
    let x = at(l).exp();
    let others = at(l).exp_m1().positive() * (at(1.0) - rate).positive();
    // a·u² + b·u = γ, the root as 2γ/(b + √(b² + 4aγ)).
    let a = x * rate * (-(c * c)).exp();
    let u = rate * 2.0 / (others + (others * others + a * rate * 4.0).sqrt());
    let z = (u.ln() + c * c * 0.5) / c;
    let lost = others * (c - z).tail() + x * rate * (c + c - z).tail();
    ((rate * (-z).tail()).hi - lost.lo).next_up().clamp(0.0, 1.0)
}

/// A bit of probability p against q.
pub(crate) fn bit(p: f64, q: f64, l: f64) -> f64 {
    let part = |p: Interval, q: Interval| (p - at(l).exp() * q).hi.max(0.0);
    (part(at(p), at(q)) + part(at(1.0) - p, at(1.0) - q)).next_up().clamp(0.0, 1.0)
}

/// Steps of the search for the best order. A worse one loses digits and no truth.
const SEARCH: u32 = 60;

/// δ at ε of what has Rényi divergence at most ρα at every order α > 1, rounded up.
///
/// For every α, δ ≤ e^((α−1)(ρα − ε))·(1 − 1/α)^(α−1)/α (Canonne, Kamath, Steinke 2020, Proposition 12). Thirds of a range of ln(α − 1) around the best order of the first
/// factor are cut off without proof; the bound at the order that is left is proved.
pub(crate) fn zcdp(rho: f64, epsilon: f64) -> f64 {
    let proved = |place: f64| {
        let (gain, alpha) = (at(place).exp(), at(place).exp() + 1.0);
        let loss = gain * (alpha * rho - epsilon + (-(at(1.0) / alpha)).ln_1p()) - alpha.ln();
        loss.exp().hi
    };
    let centre = (((epsilon + rho) / (2.0 * rho)) - 1.0).clamp(1e-3, 1e15).ln();
    let (mut low, mut high) = (centre - 4.0, centre + 2.0);
    for _ in 0..SEARCH {
        let third = (high - low) / 3.0;
        if proved(low + third) < proved(high - third) { high -= third } else { low += third }
    }
    proved(0.5 * (low + high)).min(1.0)
}

#[cfg(test)]
mod tests;
