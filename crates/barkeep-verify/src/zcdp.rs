//! Turns ρ of zero-concentrated privacy into δ at ε.

use crate::interval::at;

/// Steps of the search for the best order. A worse one loses digits and no truth.
const SEARCH: u32 = 60;

/// δ at ε of what has Rényi divergence at most ρα at every order α > 1, rounded up.
///
/// For every α, δ ≤ e^((α−1)(ρα − ε))·(1 − 1/α)^(α−1)/α (Canonne, Kamath, Steinke 2020, Proposition 12). Its logarithm is convex in ln(α − 1) near its
/// least value: thirds of a range are cut off without proof, and the bound at the order that is left is proved.
pub(crate) fn delta(rho: f64, epsilon: f64) -> f64 {
    if rho == 0.0 {
        return 0.0;
    }
    let centre = (((epsilon + rho) / (2.0 * rho)) - 1.0).max(1e-3).ln();
    let (mut low, mut high) = (centre - 4.0, centre + 2.0);
    let order = |place: f64| 1.0 + place.exp();
    for _ in 0..SEARCH {
        let third = (high - low) / 3.0;
        let [left, right] = [low + third, high - third].map(|place| plain(rho, epsilon, order(place)));
        if left < right { high -= third } else { low += third }
    }
    proved(rho, epsilon, order(0.5 * (low + high))).min(1.0)
}

/// ln of the bound, for the search alone.
fn plain(rho: f64, epsilon: f64, alpha: f64) -> f64 {
    (alpha - 1.0) * (rho * alpha - epsilon + (-1.0 / alpha).ln_1p()) - alpha.ln()
}

/// The bound at one order.
fn proved(rho: f64, epsilon: f64, alpha: f64) -> f64 {
    let gain = at(alpha) - 1.0;
    let loss = gain * (at(rho) * alpha - epsilon + (-(at(1.0) / alpha)).ln_1p()) - at(alpha).ln();
    let delta = loss.exp().hi;
    if delta.is_nan() { 1.0 } else { delta }
}
