//! Summarises a run per parameter and per chain, ready to be written as JSON or shown as a table.

use serde::{Deserialize, Serialize};

use self::location::{Location, located};
use crate::diagnostics::Verdict;
use crate::diagnostics::convergence::{ess_bulk, ess_tail, mcse_mean, r_hat};
use crate::plan::FaultCounts;
use crate::run::draws::{Draws, NOT_PRIVATE, Tests};
use crate::run::storage::{Heading, Piece, Source, pass};
use crate::samplers::Report;
use crate::units::Units;
use std::borrow::Cow;

mod checks;
mod location;
mod table;
#[cfg(test)]
mod tests;

/// Where the posterior lies and how far the chains can be trusted: the content of `summary.json`.
///
/// `Display` gives an aligned table for people. In JSON, what is unknown is `null`.
///
/// **Privacy.** Post-processing of the draws and of the answers they follow from: public, at no cost.
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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// What the run is good for.
    pub verdict: Verdict,
    /// [`NOT_PRIVATE`] if the run was marked so; absent otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub privacy: Option<Cow<'static, str>>,
    /// How many cells were bad, if that was asked and paid for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub faults: Option<FaultCounts>,
    /// The sampler that ran, where the answers chose it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ran: Option<Cow<'static, str>>,
    /// Where the fit stood before the first round of answers and after each, a number for every parameter; absent without a fit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fit_path: Vec<Vec<f64>>,
    /// How many draws at the start of each chain were left out of everything here.
    pub burn_in: usize,
    /// How many draws were summarised, over all chains.
    pub draws: usize,
    /// Of how many draws one counts towards R-hat, effective sizes and the Monte Carlo error: 1 up to
    /// [`MOST_COMPARED`] draws.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub every: usize,
    /// The share of accepted proposals; `None` for samplers that move without asking.
    pub acceptance: Option<f64>,
    /// Each chain by itself, in order.
    pub chains: Vec<ChainSummary>,
    /// Each parameter over all chains, in order.
    pub parameters: Vec<ParameterSummary>,
    /// Each quantity that follows from the parameters, such as the `shape` of a parameter `log_shape`; absent without any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub quantities: Vec<ParameterSummary>,
    /// The same in original units, as [`Units`] says; absent where a person reads the parameters as they are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub original_units: Vec<OriginalSummary>,
}

/// A number in original units.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OriginalSummary {
    /// Where it lies.
    #[serde(flatten)]
    pub summary: ParameterSummary,
    /// What it counts, in words; empty for a pure number.
    pub unit: String,
    /// e to its power, where people use that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio: Option<Ratio>,
}

/// e to the power of a coefficient.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ratio {
    /// What it is: an odds ratio, a rate ratio.
    pub what: Cow<'static, str>,
    /// The median.
    pub q50: Option<f64>,
    /// The central 89 % interval.
    pub interval_89: Option<[f64; 2]>,
}

/// Draws of all chains that convergence is judged by at most.
///
/// Ranks and autocorrelations need a parameter's draws in memory, half a megabyte of them. Of more draws every k-th is taken.
/// R-hat is then the same but for its own error; an effective size is that of fewer draws, so a lower bound; the Monte
/// Carlo error is an upper bound. Mean, standard deviation and quantiles are always those of all draws.
pub const MOST_COMPARED: usize = 1 << 16;

fn one() -> usize {
    1
}

fn is_one(every: &usize) -> bool {
    *every == 1
}

/// One chain's share in a [`Summary`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChainSummary {
    /// How many of its draws were summarised.
    pub draws: usize,
    /// The share of accepted proposals among them.
    pub acceptance: Option<f64>,
}

/// One parameter's row in a [`Summary`].
///
/// Location and spread use every draw after burn-in; `None` without draws or if one is not finite. What
/// convergence needs, and when it is `None`, is stated in [`convergence`](crate::diagnostics::convergence).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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
        let Ok(summary) = Self::of_run(draws, burn_in, &[], None);
        summary
    }

    /// Summarises a run's draws, with what its kernels say of their chains, and in original units where they differ.
    ///
    /// Memory: what [`MOST_COMPARED`] draws of one parameter take in some ten arrays, and 0.2 MB a parameter, whatever the
    /// number of draws.
    ///
    /// # Errors
    /// The draws cannot be read.
    pub(crate) fn of_run<S: Source>(
        draws: &S,
        burn_in: usize,
        reports: &[Report],
        units: Option<&Units>,
    ) -> Result<Self, S::Error> {
        let mut tests = vec![Tests::default(); draws.lengths().len()];
        pass(draws, burn_in, &mut |chain, piece| tests[chain].count(&piece.outcomes))?;
        let chains: Vec<ChainSummary> = draws
            .lengths()
            .iter()
            .zip(&tests)
            .map(|(length, tests)| ChainSummary {
                draws: length.saturating_sub(burn_in),
                acceptance: tests.accepted(),
            })
            .collect();
        let summarised: usize = chains.iter().map(|chain| chain.draws).sum();
        let every = summarised.div_ceil(MOST_COMPARED).max(1);
        let independent = !reports.is_empty() && reports.iter().all(|report| report.independent);
        let reading = Reading { burn_in, every, independent };
        let mut parameters = reading.rows(draws)?;
        let quantities = parameters.split_off(draws.heading().dimension());
        parameters.iter_mut().for_each(ParameterSummary::drop_empty_interval);
        let mut original_units = match units.filter(|units| units.differ()) {
            Some(units) => reading.rows(&InUnits::new(draws, units))?,
            None => Vec::new(),
        };
        original_units.iter_mut().for_each(ParameterSummary::drop_empty_interval);
        let original_units = original_units
            .into_iter()
            .zip(units.map(Units::readings).unwrap_or_default())
            .map(|(summary, reading)| OriginalSummary {
                ratio: reading.ratio.map(|what| Ratio::of(what, &summary)),
                unit: reading.unit.clone(),
                summary,
            })
            .collect();
        let mut checks = checks::checks(summarised, independent, &parameters);
        checks.extend(reports.iter().flat_map(|report| report.checks.iter().cloned()));
        let all = tests.iter().fold(Tests::default(), |sum, tests| Tests {
            accepted: sum.accepted + tests.accepted,
            tested: sum.tested + tests.tested,
        });
        Ok(Self {
            verdict: Verdict::new(checks),
            privacy: draws.heading().not_private.then_some(Cow::Borrowed(NOT_PRIVATE)),
            faults: None,
            ran: reports.iter().find_map(|report| report.branch).map(Cow::Borrowed),
            fit_path: reports.first().map(|report| report.path.clone()).unwrap_or_default(),
            burn_in,
            draws: summarised,
            every,
            acceptance: all.accepted(),
            chains,
            parameters,
            quantities,
            original_units,
        })
    }
}

impl Ratio {
    /// Quantiles keep their order under e^x, so that they are those of the coefficient to its power.
    fn of(what: &'static str, summary: &ParameterSummary) -> Self {
        Self {
            what: Cow::Borrowed(what),
            q50: summary.q50.map(libm::exp),
            interval_89: summary.interval_89.map(|ends| ends.map(libm::exp)),
        }
    }
}

/// How rows are made of draws.
struct Reading {
    burn_in: usize,
    every: usize,
    independent: bool,
}

impl Reading {
    /// A row for every number of a draw.
    fn rows<S: Source>(&self, draws: &S) -> Result<Vec<ParameterSummary>, S::Error> {
        let locations = located(draws, self.burn_in)?;
        let mut rows = Vec::new();
        for (position, (name, location)) in draws.heading().names().zip(&locations).enumerate() {
            let series = series(draws, position, self.burn_in, self.every)?;
            let row = ParameterSummary::new(name.clone(), location, &series);
            rows.push(if self.independent { ParameterSummary { r_hat: None, ..row } } else { row });
        }
        Ok(rows)
    }
}

/// Draws in original units.
struct InUnits<'a, S> {
    draws: &'a S,
    units: &'a Units,
    heading: Heading,
}

impl<'a, S: Source> InUnits<'a, S> {
    fn new(draws: &'a S, units: &'a Units) -> Self {
        let parameters = units.readings().iter().map(|reading| reading.name.clone()).collect();
        Self {
            heading: Heading { parameters, quantities: Vec::new(), ..draws.heading().clone() },
            draws,
            units,
        }
    }
}

impl<S: Source> Source for InUnits<'_, S> {
    type Error = S::Error;

    fn failure(error: Self::Error) -> std::io::Error {
        S::failure(error)
    }

    fn heading(&self) -> &Heading {
        &self.heading
    }

    fn lengths(&self) -> Vec<usize> {
        self.draws.lengths()
    }

    fn read(&self, chain: usize, first: usize, piece: &mut Piece) -> Result<(), Self::Error> {
        self.draws.read(chain, first, piece)?;
        let (width, dimension) = (self.draws.heading().width(), self.draws.heading().dimension());
        let read = std::mem::take(&mut piece.values);
        piece.values.reserve(read.len() / width.max(1) * self.heading.width());
        read.chunks_exact(width).for_each(|row| self.units.append(&row[..dimension], &mut piece.values));
        Ok(())
    }
}

/// Every k-th draw of one parameter or quantity, chain by chain.
fn series<S: Source>(
    draws: &S,
    parameter: usize,
    burn_in: usize,
    every: usize,
) -> Result<Vec<Vec<f64>>, S::Error> {
    let lengths = draws.lengths();
    let mut series: Vec<Vec<f64>> =
        lengths.iter().map(|length| Vec::with_capacity(length.saturating_sub(burn_in) / every)).collect();
    let mut seen = vec![0_usize; lengths.len()];
    pass(draws, burn_in, &mut |chain, piece| {
        for row in piece.values.chunks_exact(draws.heading().width()) {
            seen[chain] += 1;
            if seen[chain].is_multiple_of(every) {
                series[chain].extend(row.get(parameter));
            }
        }
    })?;
    Ok(series)
}

impl ParameterSummary {
    /// Forgets an interval without width: a parameter is never known exactly, so that its draws have only not moved.
    fn drop_empty_interval(&mut self) {
        if self.interval_89.is_some_and(|[low, high]| low == high) {
            (self.interval_89, self.q5, self.q95) = (None, None, None);
        }
    }

    /// Summarises one parameter: where all its draws lie, and how those of each chain follow one another.
    fn new(name: String, location: &Location, chains: &[Vec<f64>]) -> Self {
        let [q5, low, q50, high, q95] = location.quantiles;
        Self {
            name,
            mean: location.mean,
            sd: location.sd,
            q5,
            q50,
            q95,
            interval_89: low.zip(high).map(|(low, high)| [low, high]),
            r_hat: r_hat(chains),
            ess_bulk: ess_bulk(chains),
            ess_tail: ess_tail(chains),
            mcse_mean: mcse_mean(chains),
        }
    }
}
