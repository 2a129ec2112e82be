//! Finds the largest number of decisions within a budget, on the grids on which whoever asks for their ε again will stand.
//!
//! Grids belong to stretches of steps. The search starts in the stretch where Gaussian noise of the same effect would end. It goes on to
//! the next where all of one fits, and back to where the budget seems to end where none does. Within a stretch a program is
//! walked step by step, each priced as it is reached; blocks are expensive to evaluate, so their search follows what Gaussian
//! noise would do. Every number it returns was priced; that one more does not fit may be an estimate.

use super::acceptance::Acceptance;
use super::blocks::Blocks;
use super::closed::Closed;
use super::program::{Attacks, Kind, Program, Stretch};
use super::{Composed, SENSITIVITIES, lowest, too_many_steps};
use crate::{Delta, Epsilon, Error, GaussianRun, Sensitivity, Steps};
use std::cell::Cell;

/// Parts of a stretch in which a largest number of steps is sought where each evaluation is expensive.
const RESOLUTION: u64 = 4096;

/// The part of what Gaussian noise of the same information allows beyond which closed forms are not improved upon: blocks lose
/// some of it, and take seconds.
const CLOSE: f64 = 0.99;

/// The part of what Gaussian noise of the same effect allows with which a search begins: blocks lose some of it.
const AIM: f64 = 0.99;

/// Looks by estimates; then halves.
const LOOKS: u32 = 12;

/// Decisions whose limit is Gaussian noise.
const MANY: u64 = 1 << 24;

/// What a number of decisions costs in all, given their ε by δ with ideal coins.
type Price<'a> = &'a dyn Fn(Steps, &dyn Fn(Delta) -> Result<f64, Error>) -> Result<f64, Error>;

/// The largest number of decisions found within a budget.
pub(crate) struct Longest {
    pub(crate) steps: Steps,
    /// What they cost in all.
    pub(crate) spent: f64,
    /// Them all, as [`composed`](super::composed()) for the budget's δ, to the bit; none where there are none.
    pub(crate) composed: Option<Composed>,
}

/// The last steps of a stretch that fit.
struct Last {
    steps: Steps,
    /// Their ε with ideal coins.
    ideal: f64,
    composed: Option<Composed>,
}

/// The largest number of decisions found whose price is at most ε; None where no program resolves them, or a closed form may
/// allow more.
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
) -> Result<Option<Longest>, Error> {
    rule.check()?;
    let closed = Closed::new(rule, sensitivity);
    let known = closed.largest_steps(epsilon, delta);
    if !SENSITIVITIES.contains(&sensitivity.get()) || known.0 >= Stretch::LAST {
        return Ok(None);
    }
    let (kind, smallest) = (Kind::new(rule, sensitivity.get())?, lowest(delta));
    let search = Search { epsilon, delta, price };
    let allowed = search.loss(epsilon.get());
    let limit = 2.0 * allowed / kind.information();
    // Of many small ones nearly as many as Gaussian noise of the same information allows: no program finds more of them.
    if known.0 >= MANY && known.0 as f64 >= CLOSE * limit {
        return Ok(None);
    }
    let run = kind.run(limit.max(1.0), smallest);
    let guess = AIM * limit * (kind.information() / kind.effective(run)).clamp(0.1, 1.0);
    // A cast saturates.
    let mut stretch = Stretch::of(guess as u64);
    // The last steps of a stretch that fit, and the first stretch of which none do.
    let (mut below, mut above): (Option<Last>, Option<Stretch>) = (None, None);
    let Last { steps, ideal, composed } = loop {
        let (last, edge) = match Program::plan(&kind, stretch, smallest, Attacks::Spared)? {
            Some(program) => search.walk(program, stretch)?,
            None => search.look(Blocks::new(&kind, stretch, smallest)?, stretch, guess)?,
        };
        let Steps(found) = last.steps;
        if found > stretch.after {
            let next = Stretch::of(found.saturating_add(1));
            if found < stretch.last || found >= Stretch::LAST || above == Some(next) {
                break last;
            }
            (below, stretch) = (Some(last), next);
        } else if let Some(below) = below.take_if(|below| below.steps.0 == stretch.after) {
            break below;
        } else if stretch.after == 0 {
            break Last { steps: Steps(0), ideal: 0.0, composed: None };
        } else if stretch.after <= known.0 {
            // Closed forms allow as many.
            return Ok(None);
        } else {
            above = Some(stretch);
            // Where there is no telling, half of the way to what closed forms allow, in octaves.
            let middle = (stretch.after as f64 * known.0.max(1) as f64).sqrt();
            let least = below.as_ref().map_or(1, |below| below.steps.0.saturating_add(1));
            let next = if edge > 0.0 { edge } else { middle };
            stretch = Stretch::of((next as u64).clamp(least, stretch.after));
        }
    };
    if steps < known {
        return Ok(None);
    }
    let spent = price(steps, &|delta| Ok(ideal.min(closed.epsilon(steps, delta))))?;
    Ok(Some(Longest { steps, spent, composed }))
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

    /// The most steps of a program that fit, and about where the budget ends.
    fn walk(&self, mut program: Program, stretch: Stretch) -> Result<(Last, f64), Error> {
        let (mut steps, mut ideal, mut profile) = (Steps(0), 0.0, None);
        while program.steps < stretch.last {
            program.advance()?;
            let now = Steps(program.steps);
            let (spent, its_ideal) =
                self.spent(now, |delta| program.epsilon(delta).ok_or_else(too_many_steps));
            if spent > self.epsilon.get() {
                break;
            }
            (steps, ideal) = (now, its_ideal);
            program.store(profile.get_or_insert_with(|| program.profile()));
        }
        Ok((Last { steps, ideal, composed: profile.map(Composed::Whole) }, steps.0 as f64))
    }

    /// The most steps of a stretch that fit as blocks, up to one part in some thousand, and about where the budget ends; the end of
    /// the stretch below if none do.
    fn look(&self, blocks: Blocks, stretch: Stretch, guess: f64) -> Result<(Last, f64), Error> {
        // Stretches begin and end at whole units.
        let unit = (stretch.last / RESOLUTION).max(1).next_power_of_two();
        let aim = self.loss(self.epsilon.get());
        let mut last = (Steps(stretch.after), f64::INFINITY);
        let mut edge = 0.0;
        let (mut inside, mut outside) = (stretch.after / unit, stretch.last / unit + 1);
        let mut next = guess / unit as f64;
        let mut before: Option<(f64, f64)> = None;
        let mut looks = 0;
        while outside - inside > 1 {
            let middle = inside + (outside - inside) / 2;
            // A cast saturates.
            let units = if looks < LOOKS { next as u64 } else { middle }.clamp(inside + 1, outside - 1);
            let steps = Steps(units * unit);
            let (spent, ideal) = self.spent(steps, |delta| blocks.epsilon(steps, delta));
            // In proportion at first, then along the line through the last two.
            let (at, lost) = (units as f64, self.loss(spent));
            let slope = before.map_or(lost / at, |(there, then)| (lost - then) / (at - there));
            next = if slope > 0.0 { (at + (aim - lost) / slope).max(0.0) } else { at * aim / lost };
            before = Some((at, lost)).filter(|_| lost.is_finite());
            edge = next * unit as f64;
            looks += 1;
            if spent > self.epsilon.get() {
                outside = units;
                continue;
            }
            (inside, last) = (units, (steps, ideal));
            // Where one more is not expected to fit, nobody looks.
            if next < units as f64 + 1.0 && looks < LOOKS {
                break;
            }
        }
        let (steps, ideal) = last;
        let composed = Some(Composed::Blocks { blocks, steps, attack: None });
        Ok((Last { steps, ideal, composed }, edge))
    }
}
