//! Runs the two dynamic programs side by side, on a grid as fine as a counted budget of work allows.

use super::acceptance::Acceptance;
use super::envelope::{Envelope, Fineness};
use super::lower::Lower;
use super::pair::Pair;
use super::profile::{Profile, crossing};
use super::upper::{LEVELLING, Upper};
use crate::{Delta, Error, GaussianRun, Mu};

/// Nodes per standard deviation of one step's privacy loss, finest first, and the evaluations the upper bound may cost for
/// it: some tens of milliseconds, the coarsest a tenth of a second. The chords of a grid with n nodes add about 1/(3n²) of the
/// loss variance, and as much is allowed to the envelope: 0.5 % of the variance at n = 8, 0.01 % at n = 64.
const FINENESS: [(f64, f64); 5] = [(256.0, 1e7), (64.0, 1e8), (32.0, 1.2e8), (16.0, 1.5e8), (8.0, 6e8)];

/// Steps up to which the tails are enclosed as closely as the middle.
const FEW: u64 = 64;

/// Evaluations after which a run that was planned too optimistically is given up.
const MOST_WORK: u64 = 4_000_000_000;

/// Nodes after which the grid is not prolonged.
const MOST_NODES: usize = 1 << 21;

/// Part of the smallest δ of interest that may be lost to cut-off tails.
const CUT: f64 = 1e-4;

/// A dynamic program ready to run.
#[derive(Clone)]
pub(super) struct Program {
    upper: Upper,
    lower: Option<Lower>,
    step: f64,
    /// Steps taken.
    pub(super) steps: u64,
    work: u64,
}

/// What becomes of the attacks that bound from below. The upper bound is the same to the bit.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Attacks {
    /// They are run.
    Run,
    /// They are not run: only the lower bound needs them.
    Spared,
}

/// Numbers of steps for which one grid is made.
///
/// A search and whoever computes ε of its answer again stand on the same grid, and find the same to the bit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stretch {
    /// The last number that belongs to the stretch before.
    pub(super) after: u64,
    pub(super) last: u64,
}

impl Stretch {
    /// The end of the last stretch: beyond it all steps are treated alike.
    pub(super) const LAST: u64 = 1 << 52;

    /// The stretch with this many steps in it: half an octave.
    pub(super) fn of(steps: u64) -> Self {
        let above = steps.clamp(1, Self::LAST).next_power_of_two();
        let middle = above - above / 4;
        if steps <= middle && above > 2 {
            Self { after: above / 2, last: middle }
        } else {
            Self { after: middle.min(above - 1), last: above }
        }
    }
}

/// The standard deviation of a step's privacy loss squared, at its largest, for planning only.
pub(super) fn information(rule: &dyn Acceptance, sensitivity: f64) -> Result<f64, Error> {
    Ok(Envelope::new(rule, sensitivity, Fineness { excess: 1e-2, decay: 2.0, tail: 1e-12 })?.information)
}

/// About how far the privacy loss of this many steps reaches at probability `floor`, for planning only.
fn window(steps: f64, information: f64, floor: f64) -> f64 {
    let gaussian = Mu::new((steps * information).sqrt()).and_then(GaussianRun::from_mu);
    let reach = gaussian.and_then(|gaussian| Ok(gaussian.epsilon(Delta::new(floor)?).upper));
    reach.unwrap_or(f64::INFINITY)
}

impl Program {
    /// Plans for a stretch of steps, with an eye on δ ≥ `smallest`. None if they are too many for `patience` times the
    /// usual work.
    ///
    /// # Errors
    /// [`Error::Unresolved`] if the acceptance function cannot be enclosed.
    pub(super) fn plan(
        rule: &dyn Acceptance,
        sensitivity: f64,
        stretch: Stretch,
        smallest: f64,
        wanted: Attacks,
        patience: f64,
    ) -> Result<Option<Self>, Error> {
        let steps = stretch.last as f64;
        let floor = (CUT * smallest / (1.0 + steps / LEVELLING)).max(1e-284);
        // A cell over which the rare outcome decays by e^c adds about c²/8 of the loss. Few steps live in the tails, where cells are this large,
        // and are cheap: there it is brought below what the grid adds. Otherwise cells cost as much as a grid of 64 nodes per
        // deviation, or less, as measured.
        let finest = if stretch.last <= FEW { 0.02 } else { 0.1 };
        let decay = (finest * (1.0 + steps / 50.0 + (steps / 150.0).powi(2))).min(8.0);
        let mut failure = None;
        for (fineness, most_work) in FINENESS {
            let excess = 1.0 / (3.0 * fineness * fineness);
            let aim = Fineness { excess, decay, tail: floor / 64.0 };
            // At small sensitivities rounding may forbid the finest envelopes.
            let envelope = match Envelope::new(rule, sensitivity, aim) {
                Ok(envelope) => envelope,
                Err(error) => {
                    failure = Some(error);
                    continue;
                }
            };
            failure = None;
            let step = envelope.information.sqrt() / fineness;
            let furthest = envelope.outer.iter().map(|pair| pair.toward).fold(0.0, f64::max);
            let nodes = window(steps, envelope.information, floor).min(steps * furthest) / step;
            let work = 0.7 * steps * nodes * envelope.outer.len() as f64;
            if work <= patience * most_work {
                let upper = Upper::new(&envelope.outer, step, floor, MOST_NODES);
                let lower = (wanted == Attacks::Run).then(|| Lower::new(&attacks(&envelope, steps), step));
                return Ok(Some(Self { upper, lower, step, steps: 0, work: 0 }));
            }
        }
        failure.map_or(Ok(None), Err)
    }

    /// Takes one more step.
    ///
    /// # Errors
    /// [`Error::Unresolved`] when the work limit is reached.
    pub(super) fn advance(&mut self) -> Result<(), Error> {
        if self.work > MOST_WORK {
            return Err(Error::Unresolved { what: "a composition of decisions", reason: "too many steps" });
        }
        self.work += self.upper.advance();
        if let Some(lower) = &mut self.lower {
            self.work += lower.advance(self.upper.nodes().0.len());
        }
        self.steps += 1;
        Ok(())
    }

    /// ε after the steps taken, from above; None if the grid does not reach down to this δ.
    pub(super) fn epsilon(&self, delta: Delta) -> Option<f64> {
        let (upper, flat) = self.upper.nodes();
        crossing(upper, flat, self.step, delta.get())
    }

    /// Both bounds after the steps taken.
    pub(super) fn profile(&self) -> Profile {
        let (upper, flat) = self.upper.nodes();
        let tests = self.lower.as_ref().map(Lower::tests);
        let (hits, alarms) =
            tests.map_or((Vec::new(), Vec::new()), |(hits, alarms)| (hits.to_vec(), alarms.to_vec()));
        Profile { step: self.step, upper: upper.to_vec(), flat, hits, alarms }
    }
}

/// The reachable pairs worth trying: for few steps nearly all of them, for many some near the strongest.
fn attacks(envelope: &Envelope, steps: f64) -> Vec<Pair> {
    let (weakest, apart) = if steps <= 64.0 { (0.0, 0.02) } else { (0.02, 0.15) };
    let mut pairs: Vec<Pair> = Vec::new();
    let mut last = f64::NEG_INFINITY;
    for pair in &envelope.inner {
        // The log-odds of the two ratios move about as t does.
        let place = libm::log(pair.toward / pair.away);
        let strong = pair.moments().1 >= weakest * envelope.information;
        if place.is_finite() && strong && (place - last).abs() >= apart {
            pairs.push(*pair);
            last = place;
        }
    }
    pairs
}
