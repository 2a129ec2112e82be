//! Finds how often a composition may be repeated: along a line of tilts, or on lattices.

use std::cell::Cell;
use std::sync::Arc;

use barkeep_num::convolution::Planner;

use super::super::composer::{Bounds, Composer, Step};
use super::super::composition::Accuracy;
use super::super::engine::Side;
use super::super::plan::Target;
use super::super::sketch::Sketch;
use super::{ATTEMPTS, COARSE, MOST_STEPS, Query, below, not_narrow};
use crate::{Bracket, Error};

/// Of the repetitions that may be missed, as many as a first lattice is fine enough for, and as a search on it may stop short of.
const SPARED: f64 = 0.6;
const MISSED: f64 = 0.1;

/// Fewer repetitions than these are looked for on lattices first. They are all told apart.
const FEW: u64 = 1000;

/// Looks at which the end of a range of whole numbers is found, at most.
const MOST_LOOKS: u32 = 4 * 64;

impl Query<'_> {
    /// Whether `times` repetitions are shown to stay within (ε, δ): on a coarse lattice, or by their own ε.
    pub(in super::super) fn fits(
        &self,
        times: u64,
        epsilon: f64,
        log_delta: f64,
        planner: &mut Planner,
    ) -> bool {
        if let Some((_, upper)) = self.single().filter(|_| times == 1).and_then(|one| one.alone(epsilon)) {
            return upper <= below(log_delta);
        }
        if times == 1
            && let Some((_, upper)) = self.delta_on_line(epsilon, COARSE)
        {
            return upper <= below(log_delta);
        }
        let composer = self.for_repetitions(times, epsilon, log_delta, (COARSE, false), planner);
        let holds =
            |composer: Composer| composer.side(Side::Upper, times).log_delta(epsilon) <= below(log_delta);
        composer.is_ok_and(holds)
            || times > 1
                && self.repeated(times).is_some_and(|steps| {
                    let query = Query::of(&steps, self.model.repeated(times as f64), self.work);
                    let own = query.epsilon(log_delta, Accuracy::default(), planner);
                    own.is_ok_and(|found| found.upper <= epsilon)
                })
    }

    /// The steps, so many times.
    fn repeated(&self, times: u64) -> Option<Vec<Step>> {
        let repeated = |step: &Step| {
            let steps = step.steps.checked_mul(times)?;
            Some(Step { losses: Arc::clone(&step.losses), steps })
        };
        self.steps.iter().map(repeated).collect()
    }

    /// A composer that decides whether δ at ε is above or below e^`log_delta` after `times` repetitions.
    fn for_repetitions(
        &self,
        times: u64,
        epsilon: f64,
        log_delta: f64,
        (width, concentrated): (f64, bool),
        planner: &mut Planner,
    ) -> Result<Composer, Error> {
        let model = self.model.repeated(times as f64);
        let mut plan = model.plan(Target::Epsilon(epsilon));
        if plan.saddle.log_delta < log_delta - 1.0 {
            // Far below: it is enough to know that a smaller ε does.
            plan = model.plan(Target::LogDelta(log_delta));
        }
        let fineness = self.fineness(&plan.saddle, times as f64, width, concentrated);
        Composer::new(self.steps, &plan, fineness, planner, self.work)
    }

    /// The most repetitions within (ε, δ).
    pub(in super::super) fn largest_repetitions(
        &self,
        epsilon: f64,
        log_delta: f64,
        accuracy: Accuracy,
        planner: &mut Planner,
    ) -> Result<u64, Error> {
        let untilted = self.model.cumulants(0.0);
        if untilted.variance == 0.0 && untilted.mean == 0.0 {
            return Err(Error::Unbounded("it costs nothing: it can be repeated without end"));
        }
        let guess = self.model.repetitions(epsilon, log_delta);
        let most = MOST_STEPS / self.model.sketches.iter().map(Sketch::steps).sum::<f64>();
        if guess.is_nan() || guess > most {
            return Err(Error::Unresolved {
                what: "the number of steps",
                reason: "there are too many to count",
            });
        }
        let most = most as u64;
        // Where all losses together are at most ε there is nothing left over. A cast saturates.
        let finite = self.log_infinite() == f64::NEG_INFINITY;
        let pure = self.largest_loss().filter(|_| finite);
        let pure = pure.map_or(0, |largest| ((epsilon / largest) * (1.0 - 1e-14)) as u64);
        let mut guess = (guess as u64).clamp(1, most);
        // Seen to hold, and seen not to hold for more: each look narrows it, whatever the lattice.
        let (mut certain, mut possible) = (pure.min(most), most);
        // A coarse lattice corrects the guess; a finer one tells apart what one repetition more changes, K(s) of one. Where so many are
        // allowed that not every one counts, the first is made to tell apart what does.
        let spare = |times: u64| accuracy.get() * times as f64;
        let mut width = COARSE;
        if spare(guess) >= 2.0 {
            let tilt = self.model.repeated(guess as f64).saddle(Target::Epsilon(epsilon)).tilt;
            let change = SPARED * spare(guess) * self.model.cumulants(tilt).value;
            width = if change > 0.0 { width.min(change) } else { width };
        }
        let work = self.work;
        if let Some((lower, upper)) = self.single().and_then(|losses| losses.alone(epsilon)) {
            if upper <= below(log_delta) {
                certain = certain.max(1).min(most);
            } else if lower > log_delta {
                return Ok(0);
            }
        }
        // Few rare losses are hard to resolve, many of them are not: a guess may be far too small.
        let on_line = |guess: u64| {
            let mut guesses = [1, 8, 64].into_iter().map(|factor| guess.saturating_mul(factor).min(most));
            guesses.find_map(|guess| self.largest_on_line(guess, most, epsilon, log_delta))
        };
        // Of few repetitions lattices are short, and lines long.
        let first = guess;
        if first >= FEW
            && let Some(found) = on_line(first)
        {
            return Ok(found.max(certain));
        }
        let mut known = (certain, possible);
        for _ in 0..3 * ATTEMPTS {
            let Ok(composer) = self.for_repetitions(guess, epsilon, log_delta, (width, false), planner)
            else {
                // Finer than allowed: what is known must do.
                break;
            };
            // Out of work, nothing is known: neither that it fits nor that it does not.
            let miss = |side: Side, times: u64| match (work.spend(composer.length()), side) {
                (true, Side::Upper) => composer.side(side, times).log_delta(epsilon) - below(log_delta),
                (true, Side::Lower) => composer.side(side, times).log_delta(epsilon) - log_delta,
                (false, Side::Upper) => f64::INFINITY,
                (false, Side::Lower) => f64::NEG_INFINITY,
            };
            let once = self.model.cumulants(composer.tilt()).value;
            let near = if spare(guess) >= 2.0 { MISSED * spare(guess) } else { 0.0 };
            let (here, slope) =
                turning_point((guess, possible), once, near, |times| miss(Side::Upper, times));
            certain = certain.max(here);
            // One look may show that not enough more would fit.
            let enough = certain.saturating_add(spare(certain) as u64).saturating_add(1);
            if enough <= possible && near > 0.0 && miss(Side::Lower, enough) > 0.0 {
                return Ok(certain);
            }
            // Far beyond, the lower bound would fade with the window.
            let beyond = here.saturating_mul(2).saturating_add(10).min(possible);
            let (there, _) = turning_point((here, beyond), slope, 0.0, |times| miss(Side::Lower, times));
            if there < beyond {
                possible = possible.min(there);
            }
            if possible <= certain || (possible - certain) as f64 <= accuracy.get() * certain as f64 {
                return Ok(certain);
            }
            // Far from the guess the lattice was not made for the answer; if it showed nothing new, it was too coarse.
            let before = std::mem::replace(&mut known, (certain, possible));
            if before == known || here.abs_diff(guess) as f64 <= 1.0 + 0.1 * guess as f64 {
                width = (0.2 * width).min((0.25 * slope).max(0.1 * accuracy.get()));
            }
            guess = if there < beyond {
                u64::midpoint(certain, possible).max(1)
            } else if here > 0 && here >= guess {
                certain + 1
            } else if certain < guess && possible == most {
                // Nothing is known of the guess itself: single rare losses are hard to resolve, many of them are not.
                width = COARSE;
                guess.saturating_mul(8).min(most)
            } else {
                certain + 1
            };
        }
        if first < FEW
            && let Some(found) = on_line(first)
        {
            return Ok(found.max(certain));
        }
        // By halving, a lattice of its own for each look. What is not resolved does not count as within.
        let mut beyond = possible;
        while (beyond - certain) as f64 > accuracy.get() * certain as f64 && !work.is_spent() {
            // Doubling first: the end may be far beyond the answer.
            let middle =
                u64::midpoint(certain, beyond).max(certain + 1).min(certain.saturating_mul(2).max(1));
            match self.compare(middle, epsilon, log_delta, planner) {
                Some(true) => certain = middle,
                Some(false) => (beyond, possible) = (middle - 1, middle - 1),
                None => beyond = middle - 1,
            }
        }
        if certain == 0 && possible > 0 { Err(not_narrow("the number of steps")) } else { Ok(certain) }
    }

    /// The most repetitions within (ε, δ), where a line resolves every number that is looked at: ε at δ never falls with their
    /// number, so all up to one that is seen to hold hold; the bracket of one more is at most 1e-5 wide.
    fn largest_on_line(&self, guess: u64, most: u64, epsilon: f64, log_delta: f64) -> Option<u64> {
        let unresolved = Cell::new(false);
        let miss = |times: u64| {
            let found = (!unresolved.get()).then(|| self.repeated_on_line(times, log_delta)).flatten();
            unresolved.set(found.is_none());
            found.map_or(f64::INFINITY, |found| found.upper - epsilon)
        };
        // How much one repetition more changes, seen from two that lie apart.
        let apart = (guess / 64).max(1);
        let slope = (miss(guess.saturating_add(apart)) - miss(guess)) / apart as f64;
        if slope.is_nan() || slope <= 0.0 || unresolved.get() {
            return None;
        }
        let (found, _) = turning_point((guess, most), slope, 0.0, miss);
        (!unresolved.get()).then_some(found)
    }

    /// ε of so many repetitions at ln δ, where a line resolves it.
    fn repeated_on_line(&self, times: u64, log_delta: f64) -> Option<Bracket> {
        let steps = self.repeated(times)?;
        let query = Query::of(&steps, self.model.repeated(times as f64), self.work);
        query.tries.set(self.tries.get());
        let found = query.epsilon_on_line(log_delta, Accuracy::default());
        self.tries.set(query.tries.get());
        found
    }

    /// Whether `times` repetitions stay within (ε, δ), if that is resolved.
    fn compare(&self, times: u64, epsilon: f64, log_delta: f64, planner: &mut Planner) -> Option<bool> {
        let kinds = [(COARSE, false), (COARSE, true), (1e-3, false), (1e-3, true), (3e-5, false)];
        for (width, concentrated) in kinds {
            if concentrated && !self.is_concentrated(COARSE) {
                continue;
            }
            let Ok(composer) =
                self.for_repetitions(times, epsilon, log_delta, (width, concentrated), planner)
            else {
                continue;
            };
            let Bounds { upper, lower } = composer.compose(times);
            if upper.log_delta(epsilon) <= below(log_delta) {
                return Some(true);
            }
            if lower.log_delta(epsilon) > log_delta {
                return Some(false);
            }
        }
        None
    }
}

/// The largest number up to `most` at which something is not missed by more than 0, or one about `near` below it, from a guess and about how
/// much one more changes the miss.
///
/// The miss is seen not to be above 0 at the result, or the result is 0. Also returns how much one more changes it there.
fn turning_point(
    (guess, most): (u64, u64),
    slope: f64,
    near: f64,
    mut miss: impl FnMut(u64) -> f64,
) -> (u64, f64) {
    let (mut holds, mut fails) = ((0_u64, f64::NEG_INFINITY), (most.saturating_add(1), f64::INFINITY));
    let mut next = guess.clamp(1, most);
    // The range is halved every fourth time, so this is more than enough for any.
    for round in 0..MOST_LOOKS {
        if fails.0 - holds.0 <= 1 || -holds.1 <= near * slope {
            break;
        }
        let missed = miss(next);
        if missed <= 0.0 {
            holds = (next, missed);
        } else {
            fails = (next, missed);
        }
        let (room, widening) = ((fails.0 - holds.0) as f64, libm::exp2(f64::from(round.min(64))));
        // Along the straight line through what is known, but every fourth time to the middle, whatever the shape.
        let way = if round % 4 == 3 {
            0.5 * room
        } else if holds.1.is_finite() && fails.1.is_finite() {
            room * (holds.1 / (holds.1 - fails.1)) - 0.5 * near
        } else if holds.1.is_finite() {
            widening * (-holds.1 / slope) - 0.5 * near
        } else if fails.1.is_finite() {
            room - widening * (fails.1 / slope) - 0.5 * near
        } else {
            0.5 * room
        };
        let way = if way.is_nan() { 0.5 * room } else { way.clamp(1.0, (room - 1.0).max(1.0)) };
        next = holds.0.saturating_add(way as u64).clamp(holds.0 + 1, (fails.0 - 1).max(holds.0 + 1));
    }
    let change = fails.1 - holds.1;
    let known = change.is_finite() && fails.0 - holds.0 <= 1;
    (holds.0, if known { change } else { slope })
}
