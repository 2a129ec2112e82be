//! Defines what the law of a response owes a regression: its arithmetic, public facts and an entry for the spec.

mod law;
mod link;
mod response;

use std::fmt::Debug;

use barkeep_machine::{Source, Writer};
use barkeep_num::vector::dispatch;

use crate::settings::{Key, Settings};
use crate::{Error, Prior};

pub use law::{Law, NodeRule};
pub use link::Link;
pub use response::Response;

/// What is known of a family's one parameter beside η: a spread, a shape, a size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Nuisance {
    /// It is this.
    Known(f64),
    /// It is a parameter of the model, held as its logarithm, with this prior on itself.
    Unknown(Prior),
}

impl Nuisance {
    /// Whether it is a parameter.
    pub(crate) fn is_unknown(&self) -> bool {
        matches!(self, Self::Unknown(_))
    }
}

/// A family's parameter beside η, in the words of a spec.
#[derive(Debug)]
pub struct NuisanceEntry {
    /// Its key in `[model]` and in `[model.priors]`.
    pub key: &'static str,
    /// The name of its logarithm as a parameter.
    pub parameter: &'static str,
    /// One line of meaning, where it is known.
    pub meaning: &'static str,
    /// The default prior, given the response's [unit](Link::unit).
    pub prior: fn(f64) -> Prior,
    /// The default prior in words, where u is the response's unit.
    pub prior_words: &'static str,
}

/// What a spec chose for a family.
pub struct Choice<'a> {
    /// One of the entry's links.
    pub link: Link,
    /// What is known of the nuisance; ignored where the entry has none.
    pub nuisance: Nuisance,
    /// The values of the entry's constants.
    pub settings: &'a dyn Settings,
}

/// A family a spec can name.
pub struct FamilyEntry {
    /// As written in `model.family`.
    pub name: &'static str,
    /// The links it has, the usual one first.
    pub links: &'static [Link],
    /// Which columns can be its response.
    pub response: Response,
    /// The parameter beside η, if it has one.
    pub nuisance: Option<&'static NuisanceEntry>,
    /// The keys of its further constants.
    pub constants: &'static [Key],
    /// Makes the family of a choice.
    pub build: fn(&Choice<'_>) -> Result<Box<dyn Family>, Error>,
}

/// What synthetic responses share.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Predicted {
    /// η.
    pub predictor: f64,
    /// The trials, where the family [counts them](Family::counts_trials).
    pub trials: f64,
    /// The logarithm of the nuisance.
    pub log_nuisance: f64,
}

/// What a family's programs read of a record beside η.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seen {
    /// y.
    pub response: Source,
    /// The trials; 1 unless the family [counts trials](Family::counts_trials).
    pub trials: Source,
}

/// The law of a response y given its predictor η.
///
/// `write_density`, `write_ratio` and `write_score` append its arithmetic to a program, of which `line` is η. Where a family
/// [works on residuals](Family::works_on_residuals), `line` is y − η. `score` computes the same of synthetic responses, for expectations that are
/// needed too often to start a program for each.
pub trait Family: Send + Sync + Debug {
    /// The nuisance and what is known of it.
    fn nuisance(&self) -> Option<(&'static NuisanceEntry, Nuisance)> {
        None
    }

    /// Refuses constants, other than the nuisance, that make no law.
    ///
    /// # Errors
    /// The first of them, by key.
    fn check(&self) -> Result<(), Error> {
        Ok(())
    }

    /// Whether its programs are given residuals y − η in place of η.
    fn works_on_residuals(&self) -> bool {
        false
    }

    /// Whether a response is a number of successes out of trials.
    fn counts_trials(&self) -> bool {
        false
    }

    /// Writes ln p(y|η), where `line` is η (or y − η).
    fn write_density(&self, w: &mut Writer, seen: Seen, line: Source, log_nuisance: f64) -> Source;

    /// Writes ln p(y|η') − ln p(y|η), where `line` is η (or y − ½(η + η')), `shift` is η' − η and `log_nuisances` are those
    /// before and after the move.
    fn write_ratio(
        &self,
        w: &mut Writer,
        seen: Seen,
        line: Source,
        shift: Source,
        log_nuisances: (f64, f64),
    ) -> Source;

    /// Writes ∂ℓ/∂η and, where the nuisance is a parameter, ∂ℓ/∂ ln nuisance; `line` is η (or y − η).
    fn write_score(
        &self,
        w: &mut Writer,
        seen: Seen,
        line: Source,
        log_nuisance: f64,
    ) -> (Source, Option<Source>);

    /// Writes ∂ℓ/∂η of each of some synthetic responses to `slopes`, and ∂ℓ/∂ ln nuisance to `others`, which is empty unless the nuisance
    /// is a parameter. The operations are those of [`write_score`](Family::write_score).
    fn score(&self, at: Predicted, responses: &[f64], slopes: &mut [f64], others: &mut [f64]);

    /// The law itself, for expectations over responses; `None` where the family does not state it.
    fn law(&self) -> Option<Law> {
        None
    }

    /// The expected information of one record about η at this predictor; for a probability the largest it can be, which
    /// is at η = 0.
    fn information(&self, predictor: f64, nuisance: f64, trials: f64) -> f64;

    /// The expected information of one record about the logarithm of the nuisance; η and it do not inform each other.
    fn nuisance_information(&self, _predictor: f64, _nuisance: f64) -> f64 {
        0.0
    }

    /// A bound on |∂ℓ/∂η| for every η, given the least and largest response and the number of trials, where there is one.
    ///
    /// Where there is none, single gradients may be far longer than they are on average.
    fn slope(&self, _response: (f64, f64), _trials: f64) -> Option<f64> {
        None
    }

    /// The largest −∂²ℓ/∂η² over the information, at most over all responses and all η near a posterior's mode: what steps of
    /// a whitened chain have to bear.
    fn curvature(&self) -> f64 {
        1.0
    }

    /// The known standard deviation of a normal response, whose posterior follows from sums over records.
    ///
    /// # Errors
    /// The reason why there is none.
    fn known_sd(&self) -> Result<f64, &'static str> {
        Err("needs family \"gaussian\": for other families no sums over records determine the posterior")
    }

    /// Draws a response.
    fn simulate(&self, predictor: f64, nuisance: f64, trials: f64, uniform: &mut dyn FnMut() -> f64) -> f64;
}

/// 1 with probability `share`, else 0.
pub(crate) fn flip(share: f64, uniform: &mut dyn FnMut() -> f64) -> f64 {
    f64::from(u8::from(uniform() < share))
}

/// Writes value(y) of each response, in a loop that the compiler turns into the widest vector instructions of the machine it runs on.
///
/// A closure that calls functions must be `#[inline(always)]`, and so is all on the way: only what is inlined is compiled for those instructions.
#[inline(always)]
pub(crate) fn map(responses: &[f64], out: &mut [f64], value: impl Fn(f64) -> f64 + Copy) {
    // The slices are arguments: of captured ones the compiler must assume that they overlap.
    #[inline(always)]
    fn run(responses: &[f64], out: &mut [f64], value: impl Fn(f64) -> f64) {
        for (out, y) in out.iter_mut().zip(responses) {
            *out = value(*y);
        }
    }
    dispatch(
        #[inline(always)]
        || run(responses, out, value),
    );
}
