//! Answers a chain's questions: checks, charges, and only then touches records.

use crate::error::question;
use crate::gate::curator::Curator;
use crate::gate::priced::{Decision, Drawn, NoisySum};
use crate::lattice::{coin_input, noisy_log_ratio};
use crate::random::batch::Batch;
use crate::random::coin::flip;
use crate::random::exponential::draw as draw_candidate;
use crate::random::normal::rounded_normal;
use crate::sums::passes::{Worker, workers};
use crate::{AnyQuestion, Choose, Decide, NoiseRng, Refused, Sum};
use barkeep_accounting::Sampling;
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
    chain: usize,
    rng: NoiseRng,
    workers: Vec<Worker>,
    batch: Batch,
}

impl Gate {
    /// Opens a gate for the only chain, or for the first.
    ///
    /// # Errors
    /// As [`Gate::for_chain`].
    pub fn open(curator: &Arc<Curator>, rng: NoiseRng) -> Result<Self, Refused> {
        Self::for_chain(curator, 0, rng)
    }

    /// Opens a gate for the chain of this position, which pays from its own share where the budget has shares.
    ///
    /// # Errors
    /// [`Refused::Question`] for seeded noise under a private budget: whoever knows the seed subtracts the noise. Only a
    /// run that is marked NOT PRIVATE may use it.
    pub fn for_chain(curator: &Arc<Curator>, chain: usize, rng: NoiseRng) -> Result<Self, Refused> {
        if rng.is_insecure() && curator.budget().is_private() {
            return Err(question("noise", "from the operating system, or the run marked NOT PRIVATE"));
        }
        let (curator, workers) = (Arc::clone(curator), workers(curator.sweep().rows()));
        Ok(Self { curator, chain, rng, workers, batch: Batch::new() })
    }

    /// Whether answers are private: paid for, and protected by randomness nobody can repeat.
    #[must_use]
    pub fn is_private(&self) -> bool {
        self.curator.budget().is_private()
    }

    /// Charges a question that an earlier part of the same run got answered, without touching a record.
    ///
    /// **Privacy.** A continued run buys its whole budget anew and pays here for what its journal answers. So the answers
    /// of all parts together never cost more than was bought once.
    ///
    /// # Errors
    /// As [`Ask::decide`].
    pub fn charge(&self, question: &AnyQuestion<'_>) -> Result<(), Refused> {
        match question {
            AnyQuestion::Decide(asked) => self.curator.charge_decide(self.chain, asked).map(drop),
            AnyQuestion::Sum(asked) => self.curator.charge_sum(self.chain, asked, None).map(drop),
            AnyQuestion::Choose(asked) => self.curator.charge_choose(self.chain, asked).map(drop),
        }
    }

    /// How many sums of faults there are, for tests.
    #[cfg(test)]
    pub(crate) fn faults(&self) -> usize {
        self.curator.sweep().faults().unwrap_or(0)
    }

    /// What a neighbouring data set differs in, for tests.
    #[cfg(test)]
    pub(crate) fn unit(&self) -> barkeep_data::Unit {
        self.curator.unit()
    }

    /// The protecting randomness, for [`insecure`](crate::insecure) alone.
    pub(crate) fn randomness(&mut self) -> &mut NoiseRng {
        &mut self.rng
    }
}

impl Ask for Gate {
    fn decide(&mut self, asked: &Decide<'_>) -> Result<bool, Refused> {
        let curator = &*self.curator;
        let charged = curator.charge_decide(self.chain, asked)?;
        let positions = draw(&mut self.batch, asked.batch, curator.records(), &mut self.rng)?;
        let moments = curator.moments(&charged, positions, &mut self.workers)?;
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
        let (widths, charged) = curator.charge_sum(self.chain, asked, Some(out.len()))?;
        let positions = draw(&mut self.batch, asked.batch, curator.records(), &mut self.rng)?;
        let sums = curator.vector(&charged, widths, positions, &mut self.workers)?.open();
        let NoisySum { unit, noise, pair_noise } = *charged.constants();
        for (k, out) in out.iter_mut().enumerate() {
            let noise = if asked.term.is_pair(k) { pair_noise } else { noise };
            let drawn = noise.map_or(0, |sigma| rounded_normal(&mut self.rng, sigma));
            *out = unit * (asked.term.entry(k, asked.clip, sums)? + drawn) as f64;
        }
        Ok(())
    }

    fn choose(&mut self, asked: &Choose<'_>) -> Result<usize, Refused> {
        let curator = &*self.curator;
        let charged = curator.charge_choose(self.chain, asked)?;
        let sums = curator.candidates(&charged, &mut self.workers)?.open();
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
