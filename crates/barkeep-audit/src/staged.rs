//! Stages the real thing: a curator, a gate and whatever asks them, on two tables that differ in one record.

use crate::game::{Game, Source, World};
use crate::pair::Pair;
use crate::probe::{Aim, Probe, Steered};
use barkeep::Error;
use barkeep::PublicRng;
use barkeep_curator::insecure::SharedTable;
use barkeep_curator::{Ask, Budget, Gate, PrivacyModel};
use std::ops::Range;
use std::sync::Arc;

/// Buys a run's budget anew, for this many chains.
type Buy<'a> = Box<dyn Fn() -> Result<(Budget, usize), Error> + Sync + 'a>;

/// Asks what one chain asks, by its position.
type Perform<'a> = Box<dyn Fn(usize, &mut dyn Ask, &mut PublicRng) -> Result<(), Error> + Sync + 'a>;

/// A game of real questions to a real curator, bought anew for every trial.
pub(crate) struct Staged<'a> {
    pub(crate) pair: Pair,
    pub(crate) tables: [SharedTable; 2],
    pub(crate) premises: PrivacyModel,
    pub(crate) buy: Buy<'a>,
    pub(crate) perform: Perform<'a>,
    pub(crate) aim: Aim,
}

impl<'a> Staged<'a> {
    /// Builds the tables.
    ///
    /// # Errors
    /// Those of the tables.
    pub(crate) fn new(
        pair: Pair,
        premises: PrivacyModel,
        aim: Aim,
        (buy, perform): (Buy<'a>, Perform<'a>),
    ) -> Result<Self, Error> {
        Ok(Self { tables: pair.tables()?, pair, premises, buy, perform, aim })
    }

    fn trial(&self, world: World, trial: u64, source: Source, steered: &mut Steered) -> Result<f64, Error> {
        let mut public = source.public(world, trial);
        let mut score = 0.0;
        let (budget, chains) = (self.buy)()?;
        let curator = self.tables[world.index()].curator(self.premises, budget)?;
        let curator = Arc::new(curator);
        let noise = source.noise(world, trial)?.into_streams();
        for (chain, noise) in (0..chains).zip(noise) {
            let mut gate = Gate::for_chain(&curator, chain, noise)?;
            let mut probe = Probe::new(&mut gate, &self.pair, self.aim, steered);
            (self.perform)(chain, &mut probe, &mut public)?;
            score += probe.score;
        }
        Ok(score)
    }
}

impl Game for Staged<'_> {
    fn play(&self, world: World, trials: Range<u64>, source: Source) -> Result<Vec<f64>, Error> {
        let mut steered = Steered::default();
        trials.map(|trial| self.trial(world, trial, source, &mut steered)).collect()
    }
}
