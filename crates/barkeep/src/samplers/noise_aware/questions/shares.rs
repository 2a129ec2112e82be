//! Splits a budget over the questions before the first of them is asked: Σμ² is the whole.

use crate::samplers::entry::Questions;
use barkeep_accounting::mechanisms::Gaussian;
use barkeep_accounting::{Cost, Error, Mechanism, Neighbours, Ratio, Sampling, Steps};

/// The share of μ² of all that is asked about columns, where the rest goes into scores.
pub(crate) const LEARNING: f64 = 0.15;
/// The part of it that the columns' moments have; the products have the rest.
const COLUMNS: f64 = 0.3;
/// The share of the tail.
const TAIL: f64 = 0.04;
/// How the rest is split over the scores.
pub(crate) const ROUNDS: [f64; 8] = [1.0, 1.0, 1.0, 1.0, 1.5, 1.5, 2.0, 2.0];

/// Noise over sensitivity of every question.
#[derive(Debug, Clone)]
pub(crate) struct Shares {
    /// Of the whole budget as one answer.
    pub(crate) whole: Ratio,
    /// The share of μ² that is left when columns were asked about.
    pub(crate) left: f64,
    /// Of the columns' moments.
    pub(crate) columns: Ratio,
    /// Of the products; absent without columns.
    pub(crate) gram: Option<Ratio>,
    /// Of the tail, for each block; absent where scores are bounded.
    pub(crate) tail: Option<Ratio>,
    /// Of each round's scores: the coefficients', and the nuisance's where there is one.
    pub(crate) rounds: Vec<(Ratio, Option<Ratio>)>,
    /// Of all rounds' scores as if they were one answer.
    pub(crate) together: (Ratio, Option<Ratio>),
}

impl Shares {
    /// Of a budget that allows one answer at ratio `whole`, for D parameters; `learning` is the columns' share.
    pub(crate) fn new(
        whole: Ratio,
        learning: f64,
        has_columns: bool,
        has_tail: bool,
        coefficients: usize,
        has_nuisance: bool,
    ) -> Result<Self, Error> {
        let part = |share: f64| Ratio::new(whole.get() / share.sqrt());
        let columns = COLUMNS * learning;
        let gram = if has_columns { learning - columns } else { 0.0 };
        let tail = if has_tail { TAIL } else { 0.0 };
        let left = 1.0 - columns - gram;
        let scores = left - tail;
        let nuisance = if has_nuisance { 2.0 / (coefficients as f64 + 2.0) } else { 0.0 };
        let blocks = |share: f64| -> Result<(Ratio, Option<Ratio>), Error> {
            let second = if has_nuisance { Some(part(share * nuisance)?) } else { None };
            Ok((part(share * (1.0 - nuisance))?, second))
        };
        let total: f64 = ROUNDS.iter().sum();
        let tails = if has_nuisance { 2.0 } else { 1.0 };
        Ok(Self {
            whole,
            left,
            columns: part(columns)?,
            gram: if has_columns { Some(part(gram)?) } else { None },
            tail: if has_tail { Some(part(tail / tails)?) } else { None },
            rounds: ROUNDS.iter().map(|share| blocks(scores * share / total)).collect::<Result<_, _>>()?,
            together: blocks(scores)?,
        })
    }

    /// What is asked, as it is paid for.
    pub(crate) fn questions(&self, neighbours: Neighbours) -> Result<Questions, Error> {
        let has_nuisance = self.together.1.is_some();
        let tails =
            self.tail.iter().flat_map(|ratio| std::iter::repeat_n(ratio, if has_nuisance { 2 } else { 1 }));
        let rounds = self.rounds.iter().flat_map(|(first, second)| std::iter::once(first).chain(second));
        let mut ratios: Vec<&Ratio> =
            std::iter::once(&self.columns).chain(&self.gram).chain(tails).chain(rounds).collect();
        priced(&mut ratios, neighbours)
    }
}

/// The ratio of each round's scores, where all of the budget goes into them.
pub(crate) fn rounds_of(whole: Ratio) -> Result<Vec<Ratio>, Error> {
    let total: f64 = ROUNDS.iter().sum();
    ROUNDS.iter().map(|share| Ratio::new(whole.get() / (share / total).sqrt())).collect()
}

/// Gaussian answers at these ratios, as they are paid for.
pub(crate) fn priced(ratios: &mut [&Ratio], neighbours: Neighbours) -> Result<Questions, Error> {
    // The cheapest first: a question takes the first permit that covers it, which then is its own.
    ratios.sort_by(|a, b| b.get().total_cmp(&a.get()));
    let mut questions = Questions::new();
    for ratio in ratios {
        let cost = Cost::new(Mechanism::Gaussian(Gaussian { ratio: **ratio }), Sampling::Full, neighbours)?;
        match questions.iter_mut().find(|(known, _)| *known == cost) {
            Some((_, times)) => times.0 += 1,
            None => questions.push((cost, Steps(1))),
        }
    }
    Ok(questions)
}

#[cfg(test)]
mod tests;
