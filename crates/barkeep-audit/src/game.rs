//! Plays a mechanism in two worlds that differ in one record, and hands each trial's score to the attacker.

use barkeep::Error;
use barkeep::PublicRng;
use barkeep_curator::NoiseRng;
use rayon::iter::{IntoParallelIterator, ParallelIterator};
use std::ops::Range;

/// One of two neighbouring data sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum World {
    /// The first.
    First,
    /// Its neighbour.
    Second,
}

impl World {
    /// Both.
    pub const BOTH: [Self; 2] = [Self::First, Self::Second];

    /// The position in a pair.
    #[must_use]
    pub fn index(self) -> usize {
        match self {
            Self::First => 0,
            Self::Second => 1,
        }
    }
}

/// Where a game's randomness comes from. Records are made up, so nothing is lost when a seed repeats an audit.
#[derive(Debug, Clone, Copy)]
pub struct Source {
    public: u64,
    insecure: Option<u64>,
}

impl Source {
    /// From the operating system, or all of it from a seed.
    ///
    /// # Errors
    /// [`Error::Read`] when the operating system gives no randomness.
    pub fn new(seed: Option<u64>) -> Result<Self, Error> {
        let fresh = || {
            PublicRng::fresh_seed()
                .map_err(|error| Error::Read { path: "randomness".to_owned(), reason: error.to_string() })
        };
        Ok(Self { public: seed.map_or_else(fresh, Ok)?, insecure: seed })
    }

    /// The protecting randomness of a trial.
    ///
    /// # Errors
    /// [`Error::Refused`] when the operating system gives none.
    pub fn noise(&self, world: World, trial: u64) -> Result<NoiseRng, Error> {
        match self.insecure {
            Some(seed) => Ok(NoiseRng::insecure_seed(mixed(seed ^ mixed(2 * trial + world.index() as u64)))),
            None => Ok(NoiseRng::from_os()?),
        }
    }

    /// The seed of everything public.
    pub(crate) fn public_seed(&self) -> u64 {
        self.public
    }

    /// The public randomness of a trial.
    #[must_use]
    pub fn public(&self, world: World, trial: u64) -> PublicRng {
        PublicRng::new(self.public, 2 * trial + world.index() as u64)
    }
}

/// A bijection of 64 bits without visible structure (the finaliser of SplitMix64, Steele et al. 2014).
fn mixed(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// A mechanism with two neighbouring data sets built in.
pub trait Game: Sync {
    /// Plays these independent trials in a world. A score is any number computed from what is released; large ones
    /// should speak for [`World::First`]. Not-a-number speaks for nobody.
    ///
    /// # Errors
    /// Whatever keeps the mechanism from running.
    fn play(&self, world: World, trials: Range<u64>, source: Source) -> Result<Vec<f64>, Error>;
}

/// A game whose trials are one call each; broken mechanisms of tests are made of it.
pub struct Each<F>(pub F);

impl<F: Fn(World, &mut NoiseRng) -> f64 + Sync> Game for Each<F> {
    fn play(&self, world: World, trials: Range<u64>, source: Source) -> Result<Vec<f64>, Error> {
        let mut rng = source.noise(world, trials.start)?;
        Ok(trials.map(|_| (self.0)(world, &mut rng)).collect())
    }
}

/// Trials that one task plays.
const CHUNK: u64 = 512;

/// Plays the trials of a range on all threads and gathers what `digest` makes of each task's scores.
pub(crate) fn play_all<T: Send>(
    game: &dyn Game,
    world: World,
    trials: Range<u64>,
    source: Source,
    digest: impl Fn(Vec<f64>) -> T + Sync,
) -> Result<Vec<T>, Error> {
    let chunks = (trials.end - trials.start).div_ceil(CHUNK);
    (0..chunks)
        .into_par_iter()
        .map(|chunk| {
            let start = trials.start + chunk * CHUNK;
            game.play(world, start..(start + CHUNK).min(trials.end), source).map(&digest)
        })
        .collect()
}
