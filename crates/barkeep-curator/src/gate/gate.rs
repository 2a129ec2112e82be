//! Answers a chain's questions: checks, charges, and only then touches records.

use crate::error::question;
use crate::gate::curator::Curator;
use crate::gate::priced::{Decision, Drawn, NoisySum, Question};
use crate::random::batch::Batch;
use crate::random::coin::flip;
use crate::random::exponential::draw as draw_candidate;
use crate::random::normal::rounded_normal;
use crate::sums::lattice::{check_batch, coin_input, noisy_log_ratio};
use crate::sums::passes::{Worker, workers};
use crate::sums::terms::check_state;
use crate::{Choose, Decide, MOST_CANDIDATES, NoiseRng, Refused, Sum};
use barkeep_accounting::{Neighbours, Sampling};
use std::sync::Arc;

/// All that a sampler is given: its questions.
///
/// **Privacy.** What comes back is public, and so is everything computed from it. Each question is paid for before
/// records are touched; a refusal costs nothing, changes nothing, and depends on nothing but public numbers.
pub trait Ask {
    /// May the chain move? `true` for yes.
    ///
    /// # Errors
    /// [`Refused::Exhausted`] when the budget does not cover the question, and the other refusals when
    /// the question is malformed or has no known cost.
    fn decide(&mut self, question: &Decide<'_>) -> Result<bool, Refused>;

    /// Writes a noisy sum over records to `out`, one entry per coordinate.
    ///
    /// # Errors
    /// As [`Ask::decide`]; `out` is untouched then.
    fn sum(&mut self, question: &Sum<'_>, out: &mut [f64]) -> Result<(), Refused>;

    /// Chooses one of the candidates, and says which by its position.
    ///
    /// # Errors
    /// As [`Ask::decide`].
    fn choose(&mut self, question: &Choose<'_>) -> Result<usize, Refused>;
}

/// One chain's access to the shared [`Curator`], with randomness of its own and working memory that is reused.
///
/// **Privacy.** [`Gate::decide`] answers with a coin whose log-ratio has the sensitivity of
/// [`decide_sensitivity`](crate::decide_sensitivity); at release level an exactly sampled normal was added to it first.
/// [`Gate::sum`] answers with the exact integer sum plus an exactly sampled normal rounded to the lattice, a
/// post-processing of the Gaussian mechanism at the charged ratio. [`Gate::choose`] answers by the exponential mechanism
/// on integers. No refusal, retry or early end depends on what records say. There is no `Debug`, `Clone` or `Serialize`.
pub struct Gate {
    curator: Arc<Curator>,
    rng: NoiseRng,
    workers: Vec<Worker>,
    batch: Batch,
}

impl Gate {
    /// Opens a gate for one chain.
    #[must_use]
    pub fn open(curator: &Arc<Curator>, rng: NoiseRng) -> Self {
        Self { curator: Arc::clone(curator), rng, workers: workers(curator.records()), batch: Batch::new() }
    }

    /// Whether answers are private: paid for, and protected by randomness nobody can repeat.
    #[must_use]
    pub fn is_private(&self) -> bool {
        self.curator.budget().is_private() && !self.rng.is_insecure()
    }

    /// Checks a batch against the records without looking at them.
    fn check_batch(&self, batch: Sampling) -> Result<(), Refused> {
        let Sampling::WithoutReplacement { batch, records } = batch else { return Ok(()) };
        if self.curator.privacy_model().neighbours == Neighbours::AddRemove {
            // Before the comparison below, which would reveal the number of records.
            return Err(question(
                "batch",
                "all records or a Poisson sample where neighbours add or remove one",
            ));
        }
        check_batch(batch, records)?;
        if records != self.curator.records() as u64 {
            return Err(question("batch", "drawn from as many records as there are"));
        }
        Ok(())
    }
}

impl Ask for Gate {
    fn decide(&mut self, asked: &Decide<'_>) -> Result<bool, Refused> {
        let curator = &*self.curator;
        let dimension = curator.dimension();
        for (name, state) in [("from", asked.from), ("to", asked.to)] {
            check_state(name, state, dimension)?;
        }
        if !asked.offset.is_finite() {
            return Err(question("offset", "a finite number"));
        }
        let priced = asked.price(curator.privacy_model())?;
        self.check_batch(asked.batch)?;
        let charged = curator.budget().charge(priced)?;

        let positions = draw(&mut self.batch, asked.batch, curator.records(), &mut self.rng)?;
        let moments = curator.moments(&charged, positions, &mut self.workers);
        let Decision { unit, variance, noise } = *charged.constants();
        let coin = match noise {
            None => {
                let input = coin_input(moments, unit, asked.offset, variance).open();
                Some(asked.rule.coin(input.log_ratio, input.batch_variance))
            }
            Some(Drawn { lattice, sigma }) => {
                let noise = rounded_normal(&mut self.rng, lattice);
                let noisy = noisy_log_ratio(moments, unit, asked.offset, variance, noise);
                asked.rule.coin_after_noise(noisy, sigma)
            }
        };
        // A rule without noise was given none, so there is a coin.
        Ok(coin.is_some_and(|coin| flip(&mut self.rng, &coin)))
    }

    fn sum(&mut self, asked: &Sum<'_>, out: &mut [f64]) -> Result<(), Refused> {
        let curator = &*self.curator;
        let terms = curator.terms(asked.term)?;
        if out.len() != terms.width() {
            return Err(question(
                "out",
                "as long as what is summed: a number per parameter, per entry of a score, or per statistic",
            ));
        }
        self.check_batch(asked.batch)?;
        let charged = curator.budget().charge(asked.price(curator.privacy_model())?)?;

        let positions = draw(&mut self.batch, asked.batch, curator.records(), &mut self.rng)?;
        let sums = curator.vector(&charged, &terms, positions, &mut self.workers).open();
        let NoisySum { unit, noise } = *charged.constants();
        for (out, &sum) in out.iter_mut().zip(sums) {
            let drawn = noise.map_or(0, |sigma| rounded_normal(&mut self.rng, sigma));
            *out = unit * (i128::from(sum) + drawn) as f64;
        }
        Ok(())
    }

    fn choose(&mut self, asked: &Choose<'_>) -> Result<usize, Refused> {
        let curator = &*self.curator;
        let dimension = curator.dimension();
        check_state("reference", asked.reference, dimension)?;
        let count = asked.offsets.len();
        if !(1..=MOST_CANDIDATES).contains(&count) {
            return Err(question("candidates", "at least 1 and at most 2^16"));
        }
        check_state("candidates", asked.candidates, count * dimension)?;
        check_state("offsets", asked.offsets, count)?;
        let charged = curator.budget().charge(asked.price(curator.privacy_model())?)?;

        let sums = curator.candidates(&charged, &mut self.workers).open();
        Ok(draw_candidate(&mut self.rng, sums, asked.offsets, charged.constants().worth))
    }
}

/// Draws the asked batch; `None` stands for all records. What it could refuse was refused before the charge.
fn draw<'a>(
    batch: &'a mut Batch,
    asked: Sampling,
    records: usize,
    rng: &mut NoiseRng,
) -> Result<Option<&'a [u32]>, Refused> {
    match asked {
        Sampling::Full => return Ok(None),
        Sampling::Poisson { rate } => batch.draw_poisson(rng, rate, records as u64)?,
        Sampling::WithoutReplacement { batch: size, records } => {
            batch.draw_without_replacement(rng, size, records)?;
        }
    }
    Ok(Some(batch.members()))
}

#[cfg(test)]
mod tests;
