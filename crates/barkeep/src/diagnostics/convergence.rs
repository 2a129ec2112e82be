//! Measures how far chains can be trusted: R-hat, effective sample sizes, Monte Carlo error of the mean.
//!
//! Definitions are those of Vehtari, Gelman, Simpson, Carpenter and Bürkner (2021), "Rank-normalization, folding,
//! and localization: an improved R̂ for assessing convergence of MCMC", Bayesian Analysis 16, as the R package
//! `posterior` and ArviZ compute them. All functions take one parameter's draws, chain by chain. In common:
//!
//! - each chain is cut into halves; of an odd number of draws the middle one is left out;
//! - of chains with different lengths the first n draws count, n the shortest length;
//! - draws of any finite size do: nothing overflows on the way;
//! - `None` stands for "unknown": no chain, fewer than [`FEWEST_DRAWS`] draws in a chain, a draw that is not
//!   finite, or draws that are all equal.
//!
//! Where the two differ: a single chain is compared with itself, half against half, as in `posterior` (ArviZ
//! reports no R-hat then); chains that never moved, but stand in different places, have the infinite R-hat the
//! formula gives, as in ArviZ (`posterior` says nothing then).

mod sequences;

use super::moments::{Moments, quantile, sorted};
use sequences::Sequences;

#[cfg(test)]
mod tests;

/// The number of draws per chain below which nothing is said about convergence.
pub const FEWEST_DRAWS: usize = 4;

/// Rank-normalised split R-hat: the larger of the bulk and the folded one.
///
/// With z the rank-normalised draws, m half-chains of n draws, W the mean of their variances and B/n the variance
/// of their means: R̂ = √((B/W + n − 1)/n). The folded R̂ is that of |x − median(x)|, where the median is that of
/// all draws: it sees chains that agree in location but not in scale. About 1 when chains agree; the authors
/// advise to use a sample only below 1.01. Infinite when half-chains are constant and differ.
#[must_use]
pub fn r_hat<C: AsRef<[f64]>>(chains: &[C]) -> Option<f64> {
    let whole = Sequences::new(chains)?;
    let bulk = whole.halves().rank_normalised().r_hat()?;
    // Draws that fold onto one number (two values, equally often) have no scale that could disagree.
    let folded = whole.folded().halves().rank_normalised().r_hat();
    Some(folded.map_or(bulk, |folded| folded.max(bulk)))
}

/// Bulk effective sample size: that of the rank-normalised draws.
///
/// The number of independent draws that would locate the bulk of the posterior as well. The authors advise at least
/// 100 per chain.
#[must_use]
pub fn ess_bulk<C: AsRef<[f64]>>(chains: &[C]) -> Option<f64> {
    Sequences::new(chains)?.halves().rank_normalised().effective_size()
}

/// Tail effective sample size: the smaller of those of the indicators x ≤ q_5% and x ≤ q_95%.
///
/// `None` also when an indicator is constant, that is when the largest value holds 5 % of the draws, as in a
/// chain that was stuck there: nothing is known about a tail seen once. (So does `posterior`; ArviZ would count
/// every draw.)
#[must_use]
pub fn ess_tail<C: AsRef<[f64]>>(chains: &[C]) -> Option<f64> {
    let whole = Sequences::new(chains)?;
    let ordered = sorted(whole.values().to_vec())?;
    let size_at = |probability| whole.at_most(quantile(&ordered, probability)?).halves().effective_size();
    Some(size_at(0.05)?.min(size_at(0.95)?))
}

/// Effective sample size for the mean: that of the draws themselves.
#[must_use]
pub fn ess_mean<C: AsRef<[f64]>>(chains: &[C]) -> Option<f64> {
    Sequences::new(chains)?.halves().effective_size()
}

/// Monte Carlo standard error of the mean: sd(x)/√ESS_mean.
#[must_use]
pub fn mcse_mean<C: AsRef<[f64]>>(chains: &[C]) -> Option<f64> {
    let whole = Sequences::new(chains)?;
    let size = whole.halves().effective_size()?;
    Some(Moments::of(whole.values())?.sd / size.sqrt())
}
