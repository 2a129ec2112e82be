//! Summarises a run per parameter and per chain, ready to be written as JSON or shown as a table.

use serde::Serialize;

use super::convergence::{ess_bulk, ess_tail, mcse_mean, r_hat};
use super::moments::{Moments, quantile, sorted};
use super::verdict::Verdict;
use crate::plan::FaultCounts;
use crate::run::draws::{Draws, NOT_PRIVATE};
use crate::samplers::Report;

#[cfg(test)]
mod tests;

/// Where the posterior lies and how far the chains can be trusted: the content of `summary.json`.
///
/// `Display` gives an aligned table for people. In JSON, what is unknown is `null`.
///
/// **Privacy.** Post-processing of the draws: public, at no cost.
///
/// ```
/// use barkeep::{Draws, Outcome, Summary};
///
/// let mut draws = Draws::new(vec!["slope".into()])?;
/// let mut chain = draws.chain();
/// for state in [9.0, 1.0, 3.0, 2.0, 4.0] {
///     chain.push(&[state], Outcome::Accepted)?;
/// }
/// draws.add(chain)?;
/// let summary = Summary::new(&draws, 1);
/// assert_eq!(summary.parameters[0].mean, Some(2.5));
/// assert_eq!(summary.acceptance, Some(1.0));
/// # Ok::<(), barkeep::run::draws::ShapeError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// What the run is good for.
    pub verdict: Verdict,
    /// [`NOT_PRIVATE`] if the run was marked so; absent otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub privacy: Option<&'static str>,
    /// How many cells were bad, if that was asked and paid for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub faults: Option<FaultCounts>,
    /// How many draws at the start of each chain were left out of everything here.
    pub burn_in: usize,
    /// How many draws were summarised, over all chains.
    pub draws: usize,
    /// The share of accepted proposals; `None` for samplers that move without asking.
    pub acceptance: Option<f64>,
    /// Each chain by itself, in order.
    pub chains: Vec<ChainSummary>,
    /// Each parameter over all chains, in order.
    pub parameters: Vec<ParameterSummary>,
    /// Each quantity that follows from the parameters, such as the `shape` of a parameter `log_shape`; absent without any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub quantities: Vec<ParameterSummary>,
}

/// One chain's share in a [`Summary`].
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ChainSummary {
    /// How many of its draws were summarised.
    pub draws: usize,
    /// The share of accepted proposals among them.
    pub acceptance: Option<f64>,
}

/// One parameter's row in a [`Summary`].
///
/// Location and spread use every draw after burn-in; `None` without draws or if one is not finite. What
/// convergence needs, and when it is `None`, is stated in [`convergence`](super::convergence).
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ParameterSummary {
    /// The parameter's name.
    pub name: String,
    /// The mean.
    pub mean: Option<f64>,
    /// The standard deviation, divisor n − 1; `None` also for a single draw.
    pub sd: Option<f64>,
    /// The 5 % quantile.
    pub q5: Option<f64>,
    /// The median.
    pub q50: Option<f64>,
    /// The 95 % quantile.
    pub q95: Option<f64>,
    /// The central 89 % interval: the 5.5 % and the 94.5 % quantile.
    pub interval_89: Option<[f64; 2]>,
    /// Rank-normalised split R-hat; infinite, `null` in JSON, if each chain stays where it is and they differ.
    pub r_hat: Option<f64>,
    /// Bulk effective sample size.
    pub ess_bulk: Option<f64>,
    /// Tail effective sample size.
    pub ess_tail: Option<f64>,
    /// Monte Carlo standard error of the mean.
    pub mcse_mean: Option<f64>,
}

impl Summary {
    /// Summarises `draws` without the first `burn_in` draws of each chain. The verdict rests on the draws alone.
    #[must_use]
    pub fn new(draws: &Draws, burn_in: usize) -> Self {
        Self::of_run(draws, burn_in, &[])
    }

    /// Summarises a run's draws, with what its kernels say of their chains.
    pub(crate) fn of_run(draws: &Draws, burn_in: usize, reports: &[Report]) -> Self {
        let chains: Vec<ChainSummary> = draws
            .chains()
            .iter()
            .map(|chain| ChainSummary {
                draws: chain.rows(burn_in).len(),
                acceptance: chain.acceptance(burn_in),
            })
            .collect();
        let independent = !reports.is_empty() && reports.iter().all(|report| report.independent);
        let rows = |names: &[String], series: &dyn Fn(usize) -> Vec<Vec<f64>>| -> Vec<ParameterSummary> {
            let rows = names.iter().enumerate();
            rows.map(|(position, name)| ParameterSummary::new(name, &series(position)))
                .map(|row| if independent { ParameterSummary { r_hat: None, ..row } } else { row })
                .collect()
        };
        let parameters = rows(draws.parameters(), &|position| draws.series(position, burn_in));
        let quantities = rows(draws.quantities(), &|position| draws.quantity_series(position, burn_in));
        let summarised = chains.iter().map(|chain| chain.draws).sum();
        let mut checks = super::verdict::draws::checks(summarised, independent, &parameters);
        checks.extend(reports.iter().flat_map(|report| report.checks.iter().cloned()));
        Self {
            verdict: Verdict::new(checks),
            privacy: draws.is_not_private().then_some(NOT_PRIVATE),
            faults: None,
            burn_in,
            draws: summarised,
            acceptance: draws.acceptance(burn_in),
            chains,
            parameters,
            quantities,
        }
    }
}

impl ParameterSummary {
    /// Summarises one parameter's draws, given chain by chain.
    #[must_use]
    pub fn new(name: &str, chains: &[Vec<f64>]) -> Self {
        let pooled = chains.concat();
        let moments = Moments::of(&pooled);
        let sd = moments.filter(|_| pooled.len() > 1).map(|moments| moments.sd);
        let ordered = sorted(pooled).unwrap_or_default();
        let at = |probability| quantile(&ordered, probability);
        Self {
            name: name.to_owned(),
            mean: moments.map(|moments| moments.mean),
            sd,
            q5: at(0.05),
            q50: at(0.5),
            q95: at(0.95),
            interval_89: at(0.055).zip(at(0.945)).map(|(low, high)| [low, high]),
            r_hat: r_hat(chains),
            ess_bulk: ess_bulk(chains),
            ess_tail: ess_tail(chains),
            mcse_mean: mcse_mean(chains),
        }
    }
}
