//! Reads a run back, from its folder or from memory, for all that is free after it: predictions, reports.
//!
//! **Privacy.** Everything here follows from the certificate, the summary and the draws, which are public. No file of records is
//! opened, although the spec names one.

use crate::Error;
use crate::plan::Plan;
use crate::run::Run;
use crate::run::Summary;
use crate::run::certificate::Certificate;
use crate::run::draws::Draws;
use crate::run::folder::{CERTIFICATE, DRAWS_PARQUET, SUMMARY};
use crate::run::storage::parquet;
use crate::spec::Spec;
use crate::units::Units;
use std::path::{Path, PathBuf};

#[cfg(test)]
mod tests;

/// Draws after warm-up that are kept for expectations: their Monte Carlo error is 1/64 of a posterior sd.
const MOST_DRAWS: usize = 4096;
/// States of a chain that are kept to show its path.
const MOST_STATES: usize = 600;

/// A run that has ended.
#[derive(Clone)]
pub struct Finished {
    folder: Option<PathBuf>,
    spec: Spec,
    certificate: Certificate,
    summary: Summary,
    draws: Vec<Vec<f64>>,
    traces: Vec<Trace>,
}

/// The path of a chain, warm-up included: every k-th state.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct Trace {
    /// Numbers of the steps, from 1.
    pub steps: Vec<usize>,
    /// The parameters after each.
    pub states: Vec<Vec<f64>>,
}

/// Which draws are kept.
struct Keeper {
    burn_in: usize,
    every: usize,
    stride: usize,
    dimension: usize,
    draws: Vec<Vec<f64>>,
    traces: Vec<Trace>,
}

impl Keeper {
    fn new(lengths: &[usize], burn_in: usize, dimension: usize) -> Self {
        let after: usize = lengths.iter().map(|length| length.saturating_sub(burn_in)).sum();
        let longest = lengths.iter().copied().max().unwrap_or(0);
        Self {
            burn_in,
            every: after.div_ceil(MOST_DRAWS).max(1),
            stride: longest.div_ceil(MOST_STATES).max(1),
            dimension,
            draws: Vec::new(),
            traces: vec![Trace::default(); lengths.len()],
        }
    }

    fn take(&mut self, chain: usize, place: usize, numbers: &[f64]) {
        let theta = numbers.get(..self.dimension).unwrap_or(numbers);
        if place >= self.burn_in && (place - self.burn_in).is_multiple_of(self.every) {
            self.draws.push(theta.to_vec());
        }
        if place.is_multiple_of(self.stride)
            && let Some(trace) = self.traces.get_mut(chain)
        {
            trace.steps.push(place + 1);
            trace.states.push(theta.to_vec());
        }
    }
}

impl Finished {
    /// Reads the folder of a run that has ended. Its files must be those that its certificate binds.
    ///
    /// # Errors
    /// [`Error::Read`] if a file is missing, unreadable or no such file, or the run has not ended; [`Error::Certificate`] if one
    /// was edited; [`Error::Spec`] if the model is code of another program.
    pub fn read(folder: &Path) -> Result<Self, Error> {
        let certificate = Certificate::read(&folder.join(CERTIFICATE))?;
        let unreadable = |name: &str, reason: String| Error::Read {
            path: folder.join(name).display().to_string(),
            reason,
        };
        let Some(steps_used) = certificate.steps_used.clone() else {
            let reason = "the run has not ended; `barkeep resume` continues it".to_owned();
            return Err(unreadable(CERTIFICATE, reason));
        };
        let absent = certificate.check_files(folder)?;
        if let Some(name) = [DRAWS_PARQUET, SUMMARY].into_iter().find(|name| absent.contains(name)) {
            return Err(unreadable(name, "it is not there".to_owned()));
        }
        let text = std::fs::read_to_string(folder.join(SUMMARY))
            .map_err(|error| unreadable(SUMMARY, error.kind().to_string()))?;
        let summary: Summary = serde_json::from_str(&text)
            .map_err(|error| unreadable(SUMMARY, format!("it is no summary: line {}", error.line())))?;
        let spec = certificate.parsed_spec()?;
        let lengths: Vec<usize> =
            steps_used.iter().map(|steps| usize::try_from(*steps).unwrap_or(usize::MAX)).collect();
        let mut keeper = Keeper::new(&lengths, summary.burn_in, spec.model().dimension());
        parquet::visit(&folder.join(DRAWS_PARQUET), &mut |chain, place, numbers| {
            keeper.take(chain, place, numbers);
        })
        .map_err(|error| unreadable(DRAWS_PARQUET, error.kind().to_string()))?;
        let Keeper { draws, traces, .. } = keeper;
        Ok(Self { folder: Some(folder.to_owned()), spec, certificate, summary, draws, traces })
    }

    /// A run whose draws are in memory, by the plan it came from.
    #[must_use]
    pub fn of(plan: &Plan, run: &Run) -> Self {
        Self::kept(plan, &run.draws, run.certificate.clone(), run.summary().clone())
    }

    /// Draws of a plan that came otherwise, such as by replaying; the first `burn_in` of each chain are warm-up, and the verdict
    /// rests on the draws alone.
    #[must_use]
    pub fn of_draws(plan: &Plan, draws: &Draws, burn_in: usize) -> Self {
        Self::kept(plan, draws, Certificate::of(plan), Summary::new(draws, burn_in))
    }

    fn kept(plan: &Plan, draws: &Draws, certificate: Certificate, summary: Summary) -> Self {
        let spec = plan.spec().clone();
        let chains = draws.chains();
        let lengths: Vec<usize> = chains.iter().map(|chain| chain.len()).collect();
        let mut keeper = Keeper::new(&lengths, summary.burn_in, spec.model().dimension());
        for (number, chain) in chains.iter().enumerate() {
            chain.rows(0).enumerate().for_each(|(place, row)| keeper.take(number, place, row));
        }
        let Keeper { draws, traces, .. } = keeper;
        Self { folder: None, spec, certificate, summary, draws, traces }
    }

    /// Where it was read from.
    #[must_use]
    pub fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// Its spec.
    #[must_use]
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// Plans its spec again, without opening records: the same forecast and facts as before the run.
    ///
    /// # Errors
    /// As [`Plan::new`].
    pub fn plan(&self) -> Result<Plan, Error> {
        Plan::new(self.spec.clone())
    }

    /// The certificate it ran under.
    #[must_use]
    pub fn certificate(&self) -> &Certificate {
        &self.certificate
    }

    /// Where its posterior lies and how far it can be trusted.
    #[must_use]
    pub fn summary(&self) -> &Summary {
        &self.summary
    }

    /// What a person reads of its parameters.
    #[must_use]
    pub fn units(&self) -> Units {
        Units::of(&self.spec)
    }

    /// Draws of all chains after warm-up, at most 4096 of them, evenly spaced.
    #[must_use]
    pub fn draws(&self) -> &[Vec<f64>] {
        &self.draws
    }

    /// The chains' paths.
    #[must_use]
    pub fn traces(&self) -> &[Trace] {
        &self.traces
    }
}
