//! Integrates over short panels with a proved relative error, by Gauss–Legendre rules.
//!
//! # The bound
//! Let f be analytic on and inside the ellipse with foci ±1 and semi-axes summing to ρ, |f| ≤ M there. Its Chebyshev
//! coefficients are at most 2Mρ^(−j). An n-point rule is exact up to degree 2n−1, is wrong on T_j by at most 2 + 2/(j²−1),
//! and is right on odd ones; so its error is at most 4.2·M·ρ^(−2n)/(1−ρ^(−2)) for n ≥ 3.
//!
//! For a normal density centred at distance a from the middle of a panel of half-width r, |f| on the ellipse is at
//! most e^(a·w + w²/2), w = r(ρ+1/ρ)/2, times its value in the middle, and at least e^(−ar−r²/2) times that on the panel. With
//! t = r·(a+1) the relative error is at most 2.1·e^(v+v²/2)·(t/2v)^(2n) for v = wt/r, smallest at v = (√(1+8n)−1)/2. For
//! the difference of two densities, which vanishes somewhere, w/r = v/t times more, relative to its largest value on the panel.
//! [`rule`] chooses n so that even the latter is below 2⁻⁵⁴.

/// Nodes and weights on [−1, 1].
pub(super) type Rule = &'static [(f64, f64)];

/// The widest panel: t = r·(a+1) at most this.
pub(super) const WIDEST: f64 = 0.28;

/// The shortest rule that integrates normal densities, and differences of two, over a panel of size t = r·(a+1) ≤ [`WIDEST`].
pub(super) fn rule(size: f64) -> Rule {
    if size <= 9e-4 {
        &THREE
    } else if size <= 0.01 {
        &FOUR
    } else if size <= 0.09 {
        &SIX
    } else {
        &EIGHT
    }
}

const THREE: [(f64, f64); 3] = [
    (-0.7745966692414834, 0.5555555555555556),
    (0.0, 0.8888888888888888),
    (0.7745966692414834, 0.5555555555555556),
];

const FOUR: [(f64, f64); 4] = [
    (-0.8611363115940526, 0.34785484513745385),
    (-0.33998104358485626, 0.6521451548625461),
    (0.33998104358485626, 0.6521451548625461),
    (0.8611363115940526, 0.34785484513745385),
];

const SIX: [(f64, f64); 6] = [
    (-0.932469514203152, 0.17132449237917036),
    (-0.6612093864662645, 0.3607615730481386),
    (-0.2386191860831969, 0.46791393457269104),
    (0.2386191860831969, 0.46791393457269104),
    (0.6612093864662645, 0.3607615730481386),
    (0.932469514203152, 0.17132449237917036),
];

const EIGHT: [(f64, f64); 8] = [
    (-0.9602898564975363, 0.10122853629037626),
    (-0.7966664774136267, 0.22238103445337448),
    (-0.525532409916329, 0.31370664587788727),
    (-0.1834346424956498, 0.362683783378362),
    (0.1834346424956498, 0.362683783378362),
    (0.525532409916329, 0.31370664587788727),
    (0.7966664774136267, 0.22238103445337448),
    (0.9602898564975363, 0.10122853629037626),
];

#[cfg(test)]
mod tests;
