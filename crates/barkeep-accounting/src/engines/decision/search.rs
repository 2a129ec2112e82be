//! Finds the largest number of decisions within a budget, on the grids on which whoever asks for their ε again will stand.
//!
//! Grids belong to stretches of steps. The search starts in the stretch where Gaussian noise of the same information would end, and
//! goes on to the next where all of one fits, or back where none does. Within a stretch a program is walked step by step, each
//! priced as it is reached; blocks are expensive to evaluate, so their search follows what Gaussian noise would do.

use super::acceptance::Acceptance;
use super::blocks::Blocks;
use super::closed::Closed;
use super::program::{Attacks, Program, Stretch, information};
use super::{SENSITIVITIES, USUAL, lowest, too_many_steps};
use crate::{Delta, Epsilon, Error, GaussianRun, Sensitivity, Steps};
use barkeep_num::try_largest_guessed;
use std::cell::Cell;

/// Parts of a stretch in which a largest number of steps is sought where each evaluation is expensive.
const RESOLUTION: u64 = 4096;

/// The part of what Gaussian noise of the same information allows beyond which closed forms are not improved upon: blocks lose
/// some of it, and take seconds.
const CLOSE: f64 = 0.99;

/// How many times what closed forms allow is far above it.
const FAR: f64 = 4.0;

/// Decisions whose limit is Gaussian noise.
const MANY: u64 = 1 << 24;

/// What a number of decisions costs in all, given their ε by δ with ideal coins.
type Price<'a> = &'a dyn Fn(Steps, &dyn Fn(Delta) -> Result<f64, Error>) -> Result<f64, Error>;

/// The largest number of decisions found whose price is at most ε, and that price; None where no program resolves them, or a
/// closed form may allow more.
///
/// The price is the one that [`Decisions`](super::Decisions) composed for δ lead to, to the bit: the search stands on their grids.
///
/// # Errors
/// As [`epsilon`](super::epsilon()).
pub(crate) fn longest(
    rule: &dyn Acceptance,
    sensitivity: Sensitivity,
    epsilon: Epsilon,
    delta: Delta,
    price: Price,
) -> Result<Option<(Steps, f64)>, Error> {
    rule.check()?;
    let closed = Closed::new(rule, sensitivity);
    let known = closed.largest_steps(epsilon, delta);
    if !SENSITIVITIES.contains(&sensitivity.get()) || known.0 >= Stretch::LAST {
        return Ok(None);
    }
    let (step, smallest) = (sensitivity.get(), lowest(delta));
    let search = Search { epsilon, delta, price };
    let allowed = search.loss(epsilon.get());
    let guess = 2.0 * allowed / information(rule, step)?;
    // Of many small ones nearly as many as Gaussian noise of the same information allows: no program finds more of them.
    if known.0 >= MANY && known.0 as f64 >= CLOSE * guess {
        return Ok(None);
    }
    // A cast saturates.
    let mut stretch = Stretch::of(guess as u64);
    let (mut below, mut falling) = (None, false);
    let (steps, ideal) = loop {
        let last = match Program::plan(rule, step, stretch, smallest, Attacks::Spared, USUAL)? {
            Some(program) => search.walk(program, stretch)?,
            None => search.look(&Blocks::new(rule, step, stretch, smallest, USUAL)?, stretch, guess)?,
        };
        let Steps(found) = last.0;
        if found == stretch.last && found < Stretch::LAST && !falling {
            below = Some(last);
            stretch = Stretch::of(found + 1);
        } else if found > stretch.after || found == 0 {
            break below.filter(|_| found == 0).unwrap_or(last);
        } else if let Some(below) = below {
            break below;
        } else if found <= known.0 {
            // Closed forms allow as many.
            return Ok(None);
        } else {
            falling = true;
            // Far above what closed forms allow, stretch after stretch would take long: half of the way there, in octaves.
            let far = found as f64 > FAR * known.0.max(1) as f64;
            let middle = (found as f64 * known.0.max(1) as f64).sqrt() as u64;
            stretch = Stretch::of(if far { middle } else { found });
        }
    };
    if steps < known {
        return Ok(None);
    }
    Ok(Some((steps, price(steps, &|delta| Ok(ideal.min(closed.epsilon(steps, delta))))?)))
}

/// A search for the largest number of steps of one stretch.
struct Search<'a> {
    epsilon: Epsilon,
    delta: Delta,
    price: Price<'a>,
}

impl Search<'_> {
    /// The loss that Gaussian noise of this ε has, which grows in proportion to steps.
    fn loss(&self, epsilon: f64) -> f64 {
        let within = |epsilon| GaussianRun::largest_within(epsilon, self.delta).rho().upper;
        Epsilon::new(epsilon).map_or(f64::INFINITY, within)
    }

    /// The price of this many steps, and their ε with ideal coins; infinite if there is none.
    fn spent(&self, steps: Steps, ideal: impl Fn(Delta) -> Result<f64, Error>) -> (f64, f64) {
        let seen = Cell::new(f64::INFINITY);
        let spent = (self.price)(steps, &|delta| {
            seen.set(ideal(delta)?);
            Ok(seen.get())
        });
        (spent.unwrap_or(f64::INFINITY), seen.get())
    }

    /// The most steps of a program that fit, with their ideal ε.
    fn walk(&self, mut program: Program, stretch: Stretch) -> Result<(Steps, f64), Error> {
        let mut last = (Steps(0), 0.0);
        while program.steps < stretch.last {
            program.advance()?;
            let steps = Steps(program.steps);
            let (spent, ideal) = self.spent(steps, |delta| program.epsilon(delta).ok_or_else(too_many_steps));
            if spent > self.epsilon.get() {
                break;
            }
            last = (steps, ideal);
        }
        Ok(last)
    }

    /// The most steps of a stretch that fit as blocks, up to one part in some thousand, with their ideal ε; the end of the stretch below
    /// if none do.
    fn look(&self, blocks: &Blocks, stretch: Stretch, guess: f64) -> Result<(Steps, f64), Error> {
        // Stretches begin and end at whole units.
        let unit = (stretch.last / RESOLUTION).max(1).next_power_of_two();
        let aim = self.loss(self.epsilon.get());
        let mut last = (Steps(stretch.after), f64::INFINITY);
        try_largest_guessed(stretch.after / unit, stretch.last / unit + 1, guess / unit as f64, |units| {
            let steps = Steps(units * unit);
            let (spent, ideal) = self.spent(steps, |delta| blocks.epsilon(steps, delta));
            let fits = spent <= self.epsilon.get();
            if fits {
                last = (steps, ideal);
            }
            Ok::<_, Error>((fits, units as f64 * aim / self.loss(spent)))
        })?;
        Ok(last)
    }
}
