//! Solves for ε, δ or the number of repetitions in one direction of a composition, refining the lattice until it is enough.

use barkeep_num::{largest_real, smallest_real};

use super::composer::{Bounds, Composer, Fineness, Step};
use super::composition::Accuracy;
use super::engine::Side;
use super::plan::{Model, Saddle, Sketch, Target};
use crate::{Bracket, Error};

/// How often a lattice is refined before giving up.
const ATTEMPTS: usize = 5;

/// More steps than these are not counted exactly by f64.
const MOST_STEPS: f64 = 9e15;

/// Largest part of ln δ that is left to all errors but those of the lattice.
const OTHER_ERRORS: f64 = 1e-2;

/// One direction of a composition, with its outline.
pub(super) struct Query<'a> {
    steps: &'a [Step],
    model: Model,
}

impl<'a> Query<'a> {
    pub(super) fn new(steps: &'a [Step]) -> Result<Self, Error> {
        let total: f64 = steps.iter().map(|step| step.steps as f64).sum();
        if total > MOST_STEPS {
            return Err(Error::Unresolved {
                what: "the composition",
                reason: "it has too many steps to count",
            });
        }
        let depth = 800.0 + libm::log(total);
        let sketch = |step: &Step| Sketch::new(&step.losses.outline(depth), step.steps as f64);
        Ok(Self { steps, model: Model { sketches: steps.iter().map(sketch).collect() } })
    }

    /// Steps whose losses are not on a lattice by nature.
    fn inexact_steps(&self) -> f64 {
        let inexact = |step: &&Step| !step.losses.anchor().is_some_and(|anchor| anchor.exact);
        let count: f64 = self.steps.iter().filter(inexact).map(|step| step.steps as f64).sum();
        count.max(1.0)
    }

    /// The lattice on which the bounds of ln δ are expected to be `width` apart after so many repetitions.
    ///
    /// Splitting and merging change the second moment of each loss by about h²/6 and h²/12, and ln δ by s(1+s)/2 times their sum
    /// over all steps.
    fn fineness(&self, saddle: &Saddle, times: f64, width: f64) -> Fineness {
        let Saddle { tilt, .. } = *saddle;
        let step = (4.0 * width / (tilt * (1.0 + tilt) * self.inexact_steps() * times)).sqrt();
        Fineness { step, tolerance: (OTHER_ERRORS * width).clamp(1e-12, 1e-5) }
    }

    /// ε at ln δ.
    pub(super) fn epsilon(&self, log_delta: f64, accuracy: Accuracy) -> Result<Bracket, Error> {
        let mut saddle = self.model.saddle(Target::LogDelta(log_delta));
        let mut factor = 1.0;
        for _ in 0..ATTEMPTS {
            let width = saddle.epsilon.max(1e-3 * saddle.deviation) * accuracy.get() * saddle.tilt * factor;
            let fineness = self.fineness(&saddle, 1.0, width);
            let composer = Composer::new(self.steps, &self.model, &saddle, fineness)?;
            let bounds = composer.compose(1);
            if bounds.lower.log_infinite() > log_delta {
                return Err(Error::Unbounded("δ is below the chance of an infinite privacy loss"));
            }
            let Some((lower, upper)) = epsilon_between(&bounds, log_delta) else {
                factor *= 0.25;
                continue;
            };
            let excess = (upper - lower) / (accuracy.get() * upper);
            let spread = bounds.upper.log_delta(upper) - bounds.lower.log_delta(upper);
            if upper == 0.0 || excess <= 1.0 || spread <= accuracy.get() {
                return Ok(Bracket { lower: composer.certified.then_some(lower), upper });
            }
            factor *= (0.5 / excess.min(spread / accuracy.get())).clamp(0.003, 0.5);
            let middle = if lower > 0.0 { 0.5 * (lower + upper) } else { upper };
            saddle = self.model.saddle(Target::Epsilon(middle)).moved(middle, log_delta);
        }
        Err(not_narrow("ε"))
    }

    /// δ at ε.
    pub(super) fn delta(&self, epsilon: f64, accuracy: Accuracy) -> Result<Bracket, Error> {
        let mut saddle = self.model.saddle(Target::Epsilon(epsilon));
        saddle = saddle.moved(epsilon, saddle.log_delta);
        let mut width = accuracy.get();
        for _ in 0..ATTEMPTS {
            let composer =
                Composer::new(self.steps, &self.model, &saddle, self.fineness(&saddle, 1.0, width))?;
            let bounds = composer.compose(1);
            let (lower, upper) = (bounds.lower.log_delta(epsilon), bounds.upper.log_delta(epsilon));
            let spread = upper - lower;
            // Below the smallest f64 only the upper end says anything.
            if spread <= accuracy.get() || upper < -745.0 {
                let lower = composer.certified.then(|| libm::exp(lower) * (1.0 - 1e-13));
                return Ok(Bracket { lower, upper: above(upper) });
            }
            width *= (0.5 * accuracy.get() / spread).clamp(0.003, 0.5);
            saddle = saddle.moved(epsilon, upper);
        }
        Err(not_narrow("δ"))
    }

    /// Whether so many repetitions are shown to stay within (ε, δ).
    pub(super) fn fits(
        &self,
        times: u64,
        epsilon: f64,
        log_delta: f64,
        accuracy: Accuracy,
    ) -> Result<bool, Error> {
        let composer = self.for_repetitions(times, epsilon, accuracy.get())?;
        Ok(composer.side(Side::Upper, times).log_delta(epsilon) <= below(log_delta))
    }

    fn for_repetitions(&self, times: u64, epsilon: f64, width: f64) -> Result<Composer, Error> {
        let model = self.model.repeated(times as f64);
        let saddle = model.saddle(Target::Epsilon(epsilon));
        let saddle = saddle.moved(epsilon, saddle.log_delta);
        Composer::new(self.steps, &model, &saddle, self.fineness(&saddle, times as f64, width))
    }

    /// The most repetitions within (ε, δ).
    pub(super) fn largest_repetitions(
        &self,
        epsilon: f64,
        log_delta: f64,
        accuracy: Accuracy,
    ) -> Result<u64, Error> {
        let guess = self.model.repetitions(epsilon, log_delta);
        if self.model.cumulants(0.0).variance == 0.0 && self.model.cumulants(0.0).mean == 0.0 {
            return Err(Error::Unbounded("it costs nothing: it can be repeated without end"));
        }
        let most = MOST_STEPS / self.model.sketches.iter().map(Sketch::steps).sum::<f64>();
        if guess.is_nan() || guess > most {
            return Err(Error::Unresolved {
                what: "the number of steps",
                reason: "there are too many to count",
            });
        }
        let mut guess = guess.clamp(1.0, most) as u64;
        // One repetition more changes ln δ by K(s) of one: that is what must be told apart.
        let mut width = 0.0;
        for attempt in 0..ATTEMPTS {
            let saddle = self.model.repeated(guess as f64).saddle(Target::Epsilon(epsilon));
            let once = self.model.cumulants(saddle.tilt).value;
            if attempt == 0 {
                width = (0.25 * once).clamp(0.1 * accuracy.get(), 0.05);
            }
            let composer = match self.for_repetitions(guess, epsilon, width) {
                // Finer than allowed: what is known must do.
                Err(Error::Unresolved { .. }) if attempt > 0 => break,
                composer => composer?,
            };
            let fits = |side: Side, times: u64| {
                let limit = if side == Side::Upper { below(log_delta) } else { log_delta };
                let miss = composer.side(side, times).log_delta(epsilon) - limit;
                (miss <= 0.0, miss)
            };
            let certain = turning_point(guess, most as u64, once, |times| fits(Side::Upper, times));
            let possible = turning_point(certain, most as u64, once, |times| fits(Side::Lower, times));
            // Far from the guess the lattice was not made for the answer.
            let near = certain.abs_diff(guess) as f64 <= 1.0 + 0.02 * guess as f64;
            if near && (possible <= certain || (possible - certain) as f64 <= accuracy.get() * certain as f64)
            {
                return Ok(certain);
            }
            if near {
                width *= 0.2;
            }
            guess = certain.max(1);
        }
        Err(not_narrow("the number of steps"))
    }
}

/// The largest number at which a test holds, from a guess and about how much one more changes what it misses by.
///
/// The test is seen to hold at the result, or the result is 0.
fn turning_point(guess: u64, most: u64, slope: f64, mut test: impl FnMut(u64) -> (bool, f64)) -> u64 {
    let (mut holds, mut fails) = (0_u64, most.saturating_add(1));
    let mut next = guess.clamp(1, most);
    let mut stride = 1_u64;
    while fails - holds > 1 {
        let (held, miss) = test(next);
        if held {
            holds = holds.max(next);
        } else {
            fails = fails.min(next);
        }
        // Where the straight line through this point meets zero, one off so as to end up on both sides.
        let way = (miss / slope).abs();
        let jump = if way.is_finite() { (way.min(1e15) as u64).max(1) } else { stride };
        stride = stride.saturating_mul(2);
        next = if held {
            holds.saturating_add(jump.max(stride / 4))
        } else {
            fails.saturating_sub(jump.max(stride / 4))
        };
        next = next.clamp(holds + 1, (fails - 1).max(holds + 1));
    }
    holds
}

fn not_narrow(what: &'static str) -> Error {
    Error::Unresolved { what, reason: "the bracket stayed wider than asked for" }
}

/// At most a logarithm that was rounded.
fn below(log: f64) -> f64 {
    log - 4.0 * f64::EPSILON * log.abs()
}

/// At least e^log; 0 only for −∞, and never above 1.
fn above(log: f64) -> f64 {
    if log == f64::NEG_INFINITY {
        0.0
    } else {
        (libm::exp(log) * (1.0 + 1e-13)).clamp(f64::from_bits(1), 1.0)
    }
}

/// The ε between which the truth lies; None if no ε is shown to be enough.
fn epsilon_between(bounds: &Bounds, log_delta: f64) -> Option<(f64, f64)> {
    let less = below(log_delta);
    let more = log_delta + 4.0 * f64::EPSILON * log_delta.abs();
    let upper = smallest_real(0.0, 1e300, 1e-14, |epsilon| bounds.upper.log_delta(epsilon) <= less)?;
    // Far from where precision was wanted the lower bound is of no use: start close by.
    let enough = |epsilon: f64| bounds.lower.log_delta(epsilon) > more;
    let start = (1..60)
        .rev()
        .map(|halvings| upper * (1.0 - libm::exp2(-f64::from(halvings))))
        .find(|start| enough(*start));
    let lower = largest_real(start.unwrap_or(0.0), upper, 1e-14, enough);
    Some((lower.unwrap_or(0.0), upper))
}
