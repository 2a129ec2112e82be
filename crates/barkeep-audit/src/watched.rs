//! Reports how far an audit is: games take minutes, and silence looks like a fault.

use crate::evidence::Effort;
use crate::game::{Game, Source, World};
use barkeep::Error;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

/// How far an audit is.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Progress<'a> {
    /// What is being attacked.
    pub mechanism: &'a str,
    /// The number of games before this one.
    pub before: usize,
    /// The number of games in all.
    pub games: usize,
    /// The share of this game's trials that were played.
    pub share: f64,
}

/// Where in an audit a game stands.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a> {
    pub(crate) index: usize,
    pub(crate) games: usize,
    pub(crate) watch: Option<&'a (dyn Fn(Progress<'_>) + Sync)>,
}

/// A game whose trials are counted as they are played.
pub(crate) struct Watched<'a> {
    game: &'a dyn Game,
    mechanism: &'a str,
    place: Place<'a>,
    played: AtomicU64,
    total: u64,
}

impl<'a> Watched<'a> {
    pub(crate) fn new(game: &'a dyn Game, mechanism: &'a str, effort: Effort, place: Place<'a>) -> Self {
        // Both worlds.
        let total = effort.trials.saturating_mul(2).max(1);
        Self { game, mechanism, place, played: AtomicU64::new(0), total }
    }
}

impl Game for Watched<'_> {
    fn play(&self, world: World, trials: Range<u64>, source: Source) -> Result<Vec<f64>, Error> {
        let count = trials.end - trials.start;
        let scores = self.game.play(world, trials, source)?;
        let played = self.played.fetch_add(count, Ordering::Relaxed) + count;
        if let Some(watch) = self.place.watch {
            let share = (played as f64 / self.total as f64).min(1.0);
            watch(Progress {
                mechanism: self.mechanism,
                before: self.place.index,
                games: self.place.games,
                share,
            });
        }
        Ok(scores)
    }
}
