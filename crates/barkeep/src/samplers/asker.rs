//! Lets kernels ask: the gate that answers, and the likelihood that questions are written by.

use barkeep_curator::{Ask, Choose, Decide, Refused, Sum};
use barkeep_model::Likelihood;

/// What a kernel asks with.
///
/// **Privacy.** The likelihood writes questions, which are public; it is shown no record.
pub(crate) struct Asker<'a> {
    gate: &'a mut dyn Ask,
    likelihood: &'a dyn Likelihood,
}

impl<'a> Asker<'a> {
    /// Asks this gate, in the words of this likelihood.
    pub(crate) fn new(gate: &'a mut dyn Ask, likelihood: &'a dyn Likelihood) -> Self {
        Self { gate, likelihood }
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
