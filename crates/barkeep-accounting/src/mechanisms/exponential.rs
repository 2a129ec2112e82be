//! A choice from a public list by the exponential mechanism, or by the largest score with Gumbel noise.

use serde::{Deserialize, Serialize};

use super::{Entry, Leaves, NOT_GAUSSIAN, Suits, full_batches_only};
use crate::{Error, Mu, Neighbours, Ratio, Rho, Rule, Sampling, Sensitivity, decision, pld, renyi};

/// One item of a public list, drawn with probability proportional to e^score.
///
/// **Privacy.** If a neighbouring change moves every score by between t − r and t, it moves the logarithm of every
/// probability by between t' − r and t' for some t': the normaliser moves all of them alike. Losses between t' − r and t' can be split
/// to the two ends, which only helps the adversary. That pair is a coin whose log-odds differ by r on the two data sets, and so are
/// all bits of Barker's rule within sensitivity r. An adversary who steers t' is one who steers the rule's log-ratio: optimal adaptive
/// composition of those decisions is that of this mechanism (Dong, Durfee, Rogers 2020).
///
/// The item with the largest score plus standard Gumbel noise has the same law.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exponential {
    /// r: twice the sensitivity of a score; once, where a change moves all scores in the same direction.
    pub range: Sensitivity,
}

/// The rule whose bits have exactly the pairs of a bounded range.
const BOUNDED_RANGE: Rule = Rule::Barker;

impl Entry for Exponential {
    fn check(&self, sampling: Sampling, _: Neighbours) -> Result<(), Error> {
        full_batches_only(sampling)
    }

    fn rho(&self, _: Sampling) -> Result<Rho, Error> {
        decision::zcdp(&BOUNDED_RANGE, self.range)
    }

    fn mu(&self, _: Sampling) -> Result<Mu, Error> {
        Err(NOT_GAUSSIAN)
    }

    fn gaussian_ratio(&self) -> Option<Ratio> {
        None
    }

    fn covers(&self, other: &Self) -> bool {
        self.range >= other.range
    }

    fn losses(&self, _: Sampling, _: Neighbours) -> Result<pld::DominatingPair, Error> {
        decision::single(&BOUNDED_RANGE, self.range)
    }

    fn divergences(&self, _: Sampling, _: Neighbours) -> Result<Box<dyn renyi::Curve>, Error> {
        Ok(Box::new(decision::Divergences::new(BOUNDED_RANGE, self.range)?))
    }

    fn suits(&self, _: Sampling) -> Suits<'_> {
        Suits::Decisions { rule: &BOUNDED_RANGE, sensitivity: self.range }
    }

    /// The draw is taken as ideal.
    fn leaves(&self) -> Leaves {
        Leaves::drawn("every item that was chosen from a public list")
    }
}
