//! Lets kernels ask: the gate that answers, and the likelihood that questions are written by.

use barkeep_curator::{Ask, Choose, Decide, Refused, Sum};
use barkeep_data::{Shape, View};
use barkeep_machine::{Program, Term, Unsound};
use barkeep_model::Likelihood;
use barkeep_model::terms::{self, Precondition};
use std::ops::Range;

/// What a kernel asks with.
///
/// **Privacy.** The likelihood writes questions, which are public; it is shown no record.
pub(crate) struct Asker<'a> {
    gate: &'a mut dyn Ask,
    likelihood: &'a dyn Likelihood,
    levels: Vec<Range<u32>>,
}

impl<'a> Asker<'a> {
    /// Asks this gate, in the words of this likelihood about records that are seen so.
    pub(crate) fn new(gate: &'a mut dyn Ask, likelihood: &'a dyn Likelihood, view: &View) -> Self {
        Self { gate, likelihood, levels: levels(view) }
    }

    /// The same about records whose columns are as they are.
    #[cfg(test)]
    pub(crate) fn plain(gate: &'a mut dyn Ask, likelihood: &'a dyn Likelihood) -> Self {
        Self { gate, likelihood, levels: Vec::new() }
    }

    /// Each record's gradient at θ, mapped.
    ///
    /// # Errors
    /// [`Refused::Question`] for a program that is larger than the machine runs.
    pub(crate) fn gradient(&self, theta: &[f64], precondition: Precondition<'_>) -> Result<Term, Refused> {
        terms::gradient(self.likelihood, theta, precondition, &self.levels).map_err(too_large)
    }

    /// Each record's gradient at θ, mapped, and `weight` times its square.
    ///
    /// # Errors
    /// As [`Asker::gradient`].
    pub(crate) fn score(
        &self,
        theta: &[f64],
        precondition: Precondition<'_>,
        weight: f64,
    ) -> Result<Term, Refused> {
        terms::score(self.likelihood, theta, precondition, weight).map_err(too_large)
    }

    /// Each record's log-ratio between two states.
    ///
    /// # Errors
    /// As [`Asker::gradient`].
    pub(crate) fn log_ratio(&self, from: &[f64], to: &[f64]) -> Result<Program, Refused> {
        self.likelihood.ratio_program(from, to).map_err(too_large)
    }

    /// The likelihood.
    pub(crate) fn likelihood(&self) -> &'a dyn Likelihood {
        self.likelihood
    }

    /// As [`Ask::decide`].
    ///
    /// # Errors
    /// As [`Ask::decide`].
    pub(crate) fn decide(&mut self, question: &Decide<'_>) -> Result<bool, Refused> {
        self.gate.decide(question)
    }

    /// As [`Ask::sum`].
    ///
    /// # Errors
    /// As [`Ask::sum`].
    pub(crate) fn sum(&mut self, question: &Sum<'_>, out: &mut [f64]) -> Result<(), Refused> {
        self.gate.sum(question, out)
    }

    /// As [`Ask::choose`].
    ///
    /// # Errors
    /// As [`Ask::choose`].
    pub(crate) fn choose(&mut self, question: &Choose<'_>) -> Result<usize, Refused> {
        self.gate.choose(question)
    }
}

/// What a question that no machine runs is refused with.
pub(crate) fn too_large(_: Unsound) -> Refused {
    Refused::Question {
        name: "model",
        requirement: "one whose terms the machine can run: with fewer parameters",
    }
}

/// The neighbouring columns that say by 0 and 1 which level of a category, or of an interaction of categories, a record is at.
fn levels(view: &View) -> Vec<Range<u32>> {
    let category = |feature: &barkeep_data::Feature| -> Option<Vec<usize>> {
        let at = |factor: &barkeep_data::Factor| match factor.shape {
            Shape::Level(_) => Some(factor.column),
            Shape::Value | Shape::Log | Shape::Sqrt | Shape::Square | Shape::Legendre(_) => None,
        };
        feature.factors.iter().map(at).collect()
    };
    let mut found: Vec<(Vec<usize>, Range<u32>)> = Vec::new();
    for (column, feature) in (0_u32..).zip(view.features()) {
        let Some(category) = category(feature) else { continue };
        match found.last_mut() {
            Some((known, range)) if *known == category && range.end == column => range.end += 1,
            Some(_) | None => found.push((category, column..column + 1)),
        }
    }
    found.into_iter().map(|(_, range)| range).filter(|range| range.len() > 1).collect()
}
