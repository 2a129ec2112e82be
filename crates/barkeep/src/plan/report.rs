//! Buys and asks the counts of trouble: how many cells of each column were invalid, and how many were clamped.
//!
//! Levels that the records do not hold, or bounds in the wrong unit, leave no other trace: every cell becomes the declared
//! `invalid` value or the nearer bound, and the posterior is about those. Two noisy counts a column show it.
//!
//! **Privacy.** One [`Sum`] of the records' faults with normal noise: a share of the budget's μ² buys μ_r², and σ = Δ/μ_r with
//! Δ = √(2·columns) under substitution and √columns where a record is added or removed
//! ([`faults_clip`](barkeep_curator::faults_clip) proves it, for persons too). It is a line of the run's bill.

use crate::Error;
use crate::facts::Fact;
use crate::samplers::entry::{Price, Questions};
use crate::spec::{Privacy, Spec, SpecError};
use barkeep_accounting::{Cost, Delta, Epsilon, GaussianRun, Mu, Sampling, Steps};
use barkeep_curator::{
    Ask, Clip, PrivacyModel, Sum, Temper, Term, faults_centre, faults_clip, sum_cost, sum_sensitivity,
};
use barkeep_data::{Count, Unit};
use serde::{Deserialize, Serialize};

/// What a run asks about its records' cells.
#[derive(Debug, Clone)]
pub(crate) struct FaultReport {
    columns: Vec<String>,
    count: Count,
    unit: Unit,
    clip: Clip,
    sigma: f64,
    cost: Cost,
    share: f64,
}

/// Noisy counts of cells that were invalid or clamped; all of it public.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct FaultCounts {
    /// What a count is within of the truth, in 95 of 100 cases.
    pub error: f64,
    /// How many cells a column has: the number of records, or of persons, who count by the share of their rows. Absent where it
    /// is secret.
    pub of: Option<u64>,
    /// What is counted.
    pub unit: Unit,
    /// Each column of the file that the spec declares.
    pub columns: Vec<ColumnFaults>,
}

/// Two counts of one column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ColumnFaults {
    /// The column.
    pub column: String,
    /// Cells that were missing, unreadable or undeclared, about.
    pub invalid: f64,
    /// Cells outside the bounds, about.
    pub clamped: f64,
}

impl FaultReport {
    /// Plans the counts a spec asks for, and what the budget leaves for the draws.
    ///
    /// # Errors
    /// Without a budget; a noise that cannot be drawn.
    pub(crate) fn plan(spec: &Spec) -> Result<Option<(Self, Privacy)>, Error> {
        let data = spec.data();
        let Some(share) = data.reported_share() else { return Ok(None) };
        let fail = |reason: &str| Error::from(SpecError::new("data.report", reason));
        let Privacy::Budget { epsilon, delta, neighbours } = spec.privacy() else {
            return Err(fail("is a share of a budget, and private = false has none; remove it"));
        };
        let columns: Vec<String> =
            data.view().source().columns().iter().map(|column| column.name().to_owned()).collect();
        let (count, privacy_model) = (spec.count(), PrivacyModel { neighbours });
        let clip = faults_clip(columns.len(), count)?;
        let mu = Mu::largest_within(epsilon, delta).get();
        let sigma = sum_sensitivity(Temper::NONE, clip, neighbours)?.get() / (mu * share.sqrt());
        let cost = sum_cost(Temper::NONE, clip, Sampling::Full, sigma, privacy_model)
            .map_err(|error| fail(&format!("has no price: {error}")))?;
        let rest =
            rest(mu * (1.0 - share).sqrt(), delta).ok_or_else(|| fail("leaves nothing for the draws"))?;
        let report = Self { columns, count, unit: data.unit(), clip, sigma, cost, share };
        Ok(Some((report, Privacy::Budget { epsilon: rest, delta, neighbours })))
    }

    /// Refuses prices that the counts do not compose with.
    ///
    /// # Errors
    /// A sampler that charges its steps to a filter as it goes.
    pub(crate) fn check(&self, price: &Price) -> Result<(), SpecError> {
        match price {
            Price::Varying(..) => Err(SpecError::new(
                "data.report",
                "needs a sampler whose bill is composed before the run; this one's steps differ in price: set \
                 proposal = \"bounded\", or clip_scale = \"constant\"",
            )),
            Price::PerStep(..)
            | Price::PerStepAfter { .. }
            | Price::PerDraw(_)
            | Price::Planned(_)
            | Price::Once { .. }
            | Price::Gaussian { .. }
            | Price::NotPrivate => Ok(()),
        }
    }

    /// What the counts ask.
    pub(crate) fn questions(&self) -> Questions {
        vec![(self.cost.clone(), Steps(1))]
    }

    /// What a plan shows.
    pub(crate) fn fact(&self) -> Fact {
        let (error, percent) = (self.error(), 100.0 * self.share);
        let words = format!("± {error:.0} cells of a column, for {percent:.1} % of the budget");
        Fact::number("report_error", "counts of bad cells", error, words).unit("cells")
    }

    /// Two standard deviations of the noise.
    fn error(&self) -> f64 {
        2.0 * self.sigma
    }

    /// Asks for the counts.
    ///
    /// # Errors
    /// Those of the curator.
    pub(crate) fn ask(&self, ask: &mut dyn Ask) -> Result<FaultCounts, Error> {
        let mut out = vec![0.0; 2 * self.columns.len()];
        let question = Sum {
            term: Term::Faults,
            temper: Temper::NONE,
            clip: self.clip,
            batch: Sampling::Full,
            sigma: self.sigma,
        };
        ask.sum(&question, &mut out)?;
        #[expect(clippy::cast_precision_loss, reason = "a count of at most 2^32")]
        let back = faults_centre(self.count) * self.count.declared() as f64;
        let columns = self.columns.iter().zip(out.chunks_exact(2)).map(|(column, counts)| ColumnFaults {
            column: column.clone(),
            invalid: counts[0] + back,
            clamped: counts[1] + back,
        });
        let of = match self.count {
            Count::Exactly(records) => Some(records as u64),
            Count::About(_) => None,
        };
        Ok(FaultCounts { error: self.error(), of, unit: self.unit, columns: columns.collect() })
    }
}

/// The ε at δ of μ, rounded down a little, so that both parts together stay within the budget.
fn rest(mu: f64, delta: Delta) -> Option<Epsilon> {
    let run = Mu::new(mu * (1.0 - 1e-9)).and_then(GaussianRun::from_mu).ok()?;
    Epsilon::new(run.epsilon(delta).lower?).ok()
}

impl std::fmt::Display for FaultCounts {
    /// A line for each column that has trouble beyond the error, or one that none has.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let error = self.error;
        let mut quiet = true;
        for ColumnFaults { column, invalid, clamped } in &self.columns {
            for (count, what, remedy) in [
                (*invalid, "were invalid", "check its kind, its levels and how the file writes them"),
                (*clamped, "were outside the bounds", "check min and max, and the unit of the file"),
            ] {
                if count <= error {
                    continue;
                }
                quiet = false;
                let of = self.of.map(|of| format!(" of {of}")).unwrap_or_default();
                let cells = match self.unit {
                    Unit::Record => "cells",
                    Unit::Person { .. } => "persons' cells, each person counted once,",
                };
                writeln!(f, "about {count:.0} ± {error:.0}{of} {cells} of column {column} {what}: {remedy}")?;
            }
        }
        if quiet {
            writeln!(f, "no column has more than about {error:.0} bad cells, as far as the counts show")?;
        }
        Ok(())
    }
}
