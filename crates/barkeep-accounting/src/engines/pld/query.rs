//! Solves for ε or δ in one direction of a composition, refining the lattice until it is enough.

use std::cell::{Cell, OnceCell};

use barkeep_num::convolution::Planner;
use barkeep_num::{largest_real, smallest_real};

use super::atoms::Losses;
use super::composer::{Bounds, Composer, Fineness, Step};
use super::composition::Accuracy;
use super::line::Line;
use super::plan::{Model, Plan, Saddle, Target};
use super::sketch::Sketch;
use super::work::Work;
use crate::{Bracket, Error};

mod repetitions;

/// How often a lattice is refined before giving up.
const ATTEMPTS: usize = 5;

/// More steps than these are not counted exactly by f64.
const MOST_STEPS: f64 = 9e15;

/// A first lattice is somewhat finer than needed: it may be made coarser to save half its length, and a second one costs more.
const FIRST: f64 = 0.72;

/// Width of ln δ with which a number of repetitions is looked for first.
const COARSE: f64 = 0.03;

/// Brackets with ends this far apart, relative, are worth a second try.
const WIDE: f64 = 1e-3;

/// Ends of ln δ this far apart are not brought together by a finer lattice of the same kind.
const HOPELESS: f64 = 1.0;

/// How often the spacing of a lattice is reconsidered.
const WIDENINGS: usize = 4;

/// Largest part of ln δ that is left to all errors but those of the lattice.
const OTHER_ERRORS: f64 = 0.08;

/// The part of δ that may get lost elsewhere where a lattice serves a range of ε: δ falls by powers of ten along it.
const FOLLOWED_TOLERANCE: f64 = 1e-9;

/// The part of the width of ln δ that a line may be wrong by, and how often one is tried.
const LINE: f64 = 0.02;
const LINES: usize = 3;

/// Relative width of the bracket around the ε of a single use.
const ALONE: f64 = 1e-11;

/// One direction of a composition, with its outline.
pub(super) struct Query<'a> {
    steps: &'a [Step],
    model: Model,
    work: &'a Work,
    /// What was asked first, planned.
    first: OnceCell<(Target, Plan)>,
    /// How often a line failed before one served: the next is not tried so short.
    tries: Cell<i32>,
}

impl<'a> Query<'a> {
    /// Masses far below e^`log_delta` are left out of the outline.
    pub(super) fn new(steps: &'a [Step], log_delta: f64, work: &'a Work) -> Result<Self, Error> {
        let total: f64 = steps.iter().map(|step| step.steps as f64).sum();
        if total > MOST_STEPS {
            return Err(Error::Unresolved {
                what: "the composition",
                reason: "it has too many steps to count",
            });
        }
        let depth = 60.0 - log_delta + libm::log(total);
        let sketch = |step: &Step| Sketch::new(&step.losses.outline(depth), step.steps as f64);
        let model = Model { sketches: steps.iter().map(sketch).collect() };
        Ok(Self::of(steps, model, work))
    }

    /// With an outline made before.
    pub(super) fn of(steps: &'a [Step], model: Model, work: &'a Work) -> Self {
        Self { steps, model, work, first: OnceCell::new(), tries: Cell::new(0) }
    }

    /// The outline.
    pub(super) fn into_model(self) -> Model {
        self.model
    }

    /// The losses, if they are those of a single use.
    fn single(&self) -> Option<&dyn Losses> {
        match self.steps {
            [step] if step.steps == 1 => Some(step.losses.as_ref()),
            _ => None,
        }
    }

    /// ε of a single use at ln δ, where no lattice is needed.
    fn epsilon_alone(&self, log_delta: f64) -> Option<Bracket> {
        let losses = self.single()?;
        let (less, more) = (below(log_delta), above_log(log_delta));
        let enough = |epsilon: f64| losses.alone(epsilon).is_some_and(|(_, upper)| upper <= less);
        let missing = |epsilon: f64| losses.alone(epsilon).is_some_and(|(lower, _)| lower > more);
        losses.alone(0.0)?;
        if enough(0.0) {
            return Some(Bracket::exact(0.0));
        }
        // Between a point that is not enough and one that is, from where the outline expects it.
        let guess = self.estimate(Target::LogDelta(log_delta)).clamp(1e-290, 1e3);
        let high =
            (0..1000).map(|doublings| guess * libm::exp2(f64::from(doublings))).find(|high| enough(*high))?;
        let low =
            (1..1000).map(|halvings| high * libm::exp2(-f64::from(halvings))).find(|low| !enough(*low))?;
        let upper = smallest_real(low, high, 0.1 * ALONE, enough)?;
        let near = upper * (1.0 - ALONE);
        let lower = if missing(near) { Some(near) } else { largest_real(0.0, upper, ALONE, missing) };
        Some(Bracket::new(lower.unwrap_or(0.0), upper))
    }

    /// About how many steps a lattice of this spacing gets wrong: those whose losses are on it by nature or lie very close to the
    /// node made for most of them are not among them.
    fn inexact_steps(&self, off_node: impl Fn(&Sketch) -> f64) -> f64 {
        let steps = self.steps.iter().zip(&self.model.sketches);
        let inexact = steps.filter(|(step, _)| !step.losses.anchor().is_some_and(|anchor| anchor.exact));
        inexact.map(|(step, sketch)| step.steps as f64 * off_node(sketch)).sum()
    }

    /// Whether all but rare losses of some step are closer together than the points of a lattice.
    fn is_concentrated(&self, spacing: f64) -> bool {
        self.model.sketches.iter().any(|sketch| sketch.bulk(spacing).is_some())
    }

    /// The lattice on which the bounds of ln δ are expected to be `width` apart after `times` repetitions.
    ///
    /// Splitting and merging change the second moment of each loss by about h²/6 and h²/12, and ln δ by s(1+s)/2 times their sum
    /// over all steps.
    fn fineness(&self, saddle: &Saddle, times: f64, width: f64, concentrated: bool) -> Fineness {
        let Saddle { tilt, .. } = *saddle;
        let fine = |inexact: f64| (4.0 * width / (tilt * (1.0 + tilt) * (inexact * times).max(1.0))).sqrt();
        let mut step = fine(self.inexact_steps(|_| 1.0));
        if concentrated {
            // On a wider lattice fewer losses are far from their node, which allows for a wider one still.
            for _ in 0..WIDENINGS {
                step = step.max(fine(self.inexact_steps(|sketch| sketch.off_node(tilt, step))));
            }
        }
        Fineness { step, tolerance: (OTHER_ERRORS * width).clamp(1e-12, 1e-5), concentrated }
    }

    /// At least the largest finite loss of one repetition, if those are bounded: at that ε only infinite losses are left over.
    fn largest_loss(&self) -> Option<f64> {
        let largest = |step: &Step| Some(step.losses.largest()? * step.steps as f64);
        let sum: Option<f64> = self.steps.iter().map(largest).sum();
        sum.map(|sum| sum * (1.0 + 1e-14))
    }

    /// ε where it is all but the largest loss M that can be: δ(ε) ≥ P(M)·(1 − e^(ε−M)), so ε ≥ M + ln(1 − δ/P(M)).
    fn epsilon_at_the_top(&self, log_delta: f64, accuracy: Accuracy) -> Option<Bracket> {
        let largest = self.largest_loss().filter(|_| self.log_infinite() == f64::NEG_INFINITY)?;
        let mass = |step: &Step| Some(step.losses.log_top()? * step.steps as f64);
        let log_top: f64 = self.steps.iter().map(mass).sum::<Option<f64>>()?;
        let part = libm::exp(log_delta - log_top + 1e-12 * (1.0 + log_top.abs()));
        let lower = largest * (1.0 - 4e-14) + libm::log1p(-part) - f64::EPSILON;
        (lower >= largest * (1.0 - accuracy.get())).then(|| Bracket::new(lower, largest))
    }

    /// ln of at most the chance of an infinite loss in one repetition, less than 10⁻¹¹ below it.
    fn log_infinite(&self) -> f64 {
        let none = |step: &Step| step.steps as f64 * libm::log1p(-libm::exp(step.losses.infinite()));
        libm::log(-libm::expm1(self.steps.iter().map(none).sum())) - 1e-12
    }

    /// ε at ln δ.
    pub(super) fn epsilon(
        &self,
        log_delta: f64,
        accuracy: Accuracy,
        planner: &mut Planner,
    ) -> Result<Bracket, Error> {
        if self.log_infinite() > log_delta {
            return Err(Error::Unbounded("δ is below the chance of an infinite privacy loss"));
        }
        // Where nothing is random there is nothing to compose.
        if let Some(largest) = self.largest_loss()
            && self.log_infinite() + 2e-11 <= log_delta
            && (largest == 0.0 || self.model.cumulants(0.0).variance == 0.0)
        {
            return Ok(Bracket { lower: (largest == 0.0).then_some(0.0), upper: largest });
        }
        if let Some(found) = self.epsilon_alone(log_delta) {
            return Ok(found);
        }
        if let Some(found) = self.epsilon_at_the_top(log_delta, accuracy) {
            return Ok(found);
        }
        if let Some(found) = self.epsilon_on_line(log_delta, accuracy) {
            return Ok(found);
        }
        let plain = self.epsilon_on(log_delta, accuracy, false, planner);
        self.or_concentrated(plain, || self.epsilon_on(log_delta, accuracy, true, planner))
    }

    /// A line for a plan, fine enough for ln δ to be known to `width`.
    fn line(&self, plan: &Plan, width: f64) -> Option<Line> {
        let tolerance = (LINE * width).clamp(1e-10, 1e-7);
        let try_from = |tries: i32| {
            let line = self.work.spend(0).then(|| Line::new(self.steps, plan, tolerance, tries)).flatten()?;
            self.tries.set(line.tries);
            Some(line)
        };
        match self.tries.get() {
            0 => try_from(0),
            tries => try_from(tries).or_else(|| try_from(0)),
        }
    }

    /// ε at ln δ, where a line resolves it.
    fn epsilon_on_line(&self, log_delta: f64, accuracy: Accuracy) -> Option<Bracket> {
        let mut plan = self.plan(Target::LogDelta(log_delta));
        for _ in 0..LINES {
            let Saddle { tilt, epsilon, .. } = plan.saddle;
            let line = self.line(&plan, (tilt * epsilon).max(1.0) * accuracy.get())?;
            let (lower, upper) = line.epsilon(below(log_delta), above_log(log_delta))?;
            if upper - lower <= accuracy.get() * upper {
                let upper = self.largest_loss().map_or(upper, |largest| upper.min(largest));
                return Some(Bracket::new(lower.min(upper), upper));
            }
            plan = self.model.plan(Target::Epsilon(0.5 * (lower + upper)));
            plan.saddle.log_delta = log_delta;
        }
        None
    }

    /// ln of bounds on δ at ε, where a line resolves them to `width`.
    fn delta_on_line(&self, epsilon: f64, width: f64) -> Option<(f64, f64)> {
        let mut plan = self.plan(Target::Epsilon(epsilon));
        for _ in 0..LINES {
            let (lower, upper) = self.line(&plan, width)?.log_delta(epsilon);
            if upper - lower <= width {
                return Some((lower, upper));
            }
            plan.saddle.log_delta = upper;
        }
        None
    }

    /// ε at ln δ, on one kind of lattice.
    fn epsilon_on(
        &self,
        log_delta: f64,
        accuracy: Accuracy,
        concentrated: bool,
        planner: &mut Planner,
    ) -> Result<Bracket, Error> {
        let mut plan = self.plan(Target::LogDelta(log_delta));
        let mut factor = FIRST;
        let mut best: Option<Bracket> = None;
        for _ in 0..ATTEMPTS {
            let saddle = plan.saddle;
            // ε to this accuracy is ln δ to that times dlnδ/dε; where this is less than the accuracy itself, ε is as good as known.
            let width = (saddle.tilt * saddle.epsilon).max(1.0) * accuracy.get() * factor;
            let fineness = self.fineness(&saddle, 1.0, width, concentrated);
            let composer = match Composer::new(self.steps, &plan, fineness, planner, self.work) {
                Err(Error::Unresolved { .. }) if best.is_some() && !accuracy.is_required() => break,
                composer => composer?,
            };
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
            let shown = self.largest_loss().map_or(upper, |largest| upper.min(largest));
            let found = Bracket { lower: composer.certified.then_some(lower.min(shown)), upper: shown };
            if upper == 0.0 || excess <= 1.0 || spread <= accuracy.get() {
                return Ok(found);
            }
            best = Some(tighter(best, found));
            if !concentrated && spread > HOPELESS && self.is_concentrated(fineness.step) {
                break;
            }
            // Where the answer is not where it was expected, a better plan may be all that is missing.
            if (upper - saddle.epsilon).abs() <= 1e-3 * saddle.epsilon {
                factor *= (0.5 / excess.min(spread / accuracy.get())).clamp(0.003, 0.5);
            }
            let middle = if lower > 0.99 * upper { 0.5 * (lower + upper) } else { upper };
            plan = self.model.plan(Target::Epsilon(middle));
            plan.saddle.log_delta = log_delta;
        }
        best.filter(|_| !accuracy.is_required()).ok_or_else(|| not_narrow("ε"))
    }

    /// δ at ε.
    pub(super) fn delta(
        &self,
        epsilon: f64,
        accuracy: Accuracy,
        planner: &mut Planner,
    ) -> Result<Bracket, Error> {
        if let Some(found) = self.delta_without_lattice(epsilon) {
            return Ok(found);
        }
        if let Some((lower, upper)) = self.delta_on_line(epsilon, accuracy.get()) {
            return Ok(delta_between(lower, upper, true));
        }
        let plain = self.delta_on(epsilon, accuracy, false, planner);
        self.or_concentrated(plain, || self.delta_on(epsilon, accuracy, true, planner))
    }

    /// δ at ε where all losses are at most that, or where there is one use only.
    pub(super) fn delta_without_lattice(&self, epsilon: f64) -> Option<Bracket> {
        if self.largest_loss().is_some_and(|largest| largest <= epsilon) {
            let chance = libm::exp(self.log_infinite());
            return Some(Bracket { lower: Some(chance), upper: (chance * (1.0 + 2e-11)).min(1.0) });
        }
        let (lower, upper) = self.single()?.alone(epsilon)?;
        Some(delta_between(lower, upper, true))
    }

    /// Bounds from one lattice, about `width` of ln δ apart where δ is no further from the target than some powers of ten.
    pub(super) fn lattice(&self, target: Target, width: f64, planner: &mut Planner) -> Result<Bounds, Error> {
        let plan = self.plan(target);
        let fineness = self.fineness(&plan.saddle, 1.0, width, false);
        let fineness = Fineness { tolerance: FOLLOWED_TOLERANCE, ..fineness };
        Ok(Composer::new(self.steps, &plan, fineness, planner, self.work)?.compose(1))
    }

    /// A bracket that is narrow, or the better of it and one from a lattice with nodes for losses that nearly always occur.
    fn or_concentrated(
        &self,
        plain: Result<Bracket, Error>,
        other: impl FnOnce() -> Result<Bracket, Error>,
    ) -> Result<Bracket, Error> {
        let wide = |found: &Bracket| found.lower.is_some_and(|lower| lower < (1.0 - WIDE) * found.upper);
        match plain {
            Ok(found) if !wide(&found) => Ok(found),
            Err(error) if !matches!(error, Error::Unresolved { .. }) => Err(error),
            plain if !self.is_concentrated(COARSE) => plain,
            Ok(found) => Ok(other().map_or(found, |other| tighter(Some(found), other))),
            Err(error) => other().map_err(|_| error),
        }
    }

    /// δ at ε, on one kind of lattice.
    fn delta_on(
        &self,
        epsilon: f64,
        accuracy: Accuracy,
        concentrated: bool,
        planner: &mut Planner,
    ) -> Result<Bracket, Error> {
        let mut plan = self.plan(Target::Epsilon(epsilon));
        // What ε itself would be known to; the best bracket that is at least as narrow.
        let enough = accuracy.get() * (plan.saddle.tilt * epsilon).max(1.0);
        let mut known: Option<(f64, f64, bool)> = None;
        let mut best: Option<Bracket> = None;
        let (mut width, mut before, mut composed) = (FIRST * accuracy.get(), None, 0);
        for _ in 0..2 * ATTEMPTS {
            let fineness = self.fineness(&plan.saddle, 1.0, width, concentrated);
            let composer = match Composer::new(self.steps, &plan, fineness, planner, self.work) {
                Err(Error::Unresolved { .. }) if known.is_some() => break,
                Err(Error::Unresolved { .. }) if best.is_none() && width < accuracy.get() => {
                    width = accuracy.get();
                    continue;
                }
                Err(Error::Unresolved { .. }) if best.is_some() && !accuracy.is_required() => {
                    // Too fine: something between this and the last, if there is room.
                    match before.map(|before: f64| (before * width).sqrt()) {
                        Some(between) if between > 1.5 * width => width = between,
                        _ => break,
                    }
                    continue;
                }
                Err(Error::Unresolved { .. }) if width < 0.5 * enough => {
                    width = 0.5 * enough;
                    continue;
                }
                composer => composer?,
            };
            let bounds = composer.compose(1);
            let (lower, upper) = (bounds.lower.log_delta(epsilon), bounds.upper.log_delta(epsilon));
            let spread = upper - lower;
            if spread <= enough {
                known = Some((lower, upper, composer.certified));
            }
            // Below the smallest f64 only the upper end says anything.
            if spread <= accuracy.get() || upper < -745.0 {
                known = Some((lower, upper, composer.certified));
                break;
            }
            best = Some(tighter(best, delta_between(lower, upper, composer.certified)));
            composed += 1;
            if !concentrated && spread > HOPELESS && self.is_concentrated(fineness.step) {
                break;
            }
            if composed == ATTEMPTS || before.is_some_and(|before| before <= width) {
                break;
            }
            before = Some(width);
            width *= (0.5 * accuracy.get() / spread).clamp(0.003, 0.5);
            plan.saddle.log_delta = upper;
        }
        let best = best.filter(|_| !accuracy.is_required());
        let known = known.map(|(lower, upper, certified)| delta_between(lower, upper, certified));
        known.or(best).ok_or_else(|| not_narrow("δ"))
    }

    /// The plan for a target; that of the first one is kept.
    fn plan(&self, target: Target) -> Plan {
        let (of, plan) = self.first.get_or_init(|| (target, self.model.plan(target)));
        if *of == target { plan.clone() } else { self.model.plan(target) }
    }

    /// About what the answer is: ε, or ln δ.
    pub(super) fn estimate(&self, target: Target) -> f64 {
        let saddle = self.plan(target).saddle;
        match target {
            Target::LogDelta(_) => saddle.epsilon,
            Target::Epsilon(_) => saddle.log_delta,
        }
    }
}

fn not_narrow(what: &'static str) -> Error {
    Error::Unresolved { what, reason: "the bracket stayed wider than asked for" }
}

/// What is left between two brackets of the same.
fn tighter(best: Option<Bracket>, found: Bracket) -> Bracket {
    best.map_or(found, |best| Bracket {
        lower: best.lower.zip(found.lower).map(|(a, b)| a.max(b)),
        upper: best.upper.min(found.upper),
    })
}

/// A bracket of δ from its logarithms.
fn delta_between(lower: f64, upper: f64, certified: bool) -> Bracket {
    Bracket { lower: certified.then(|| libm::exp(lower) * (1.0 - 1e-13)), upper: above(upper) }
}

/// At most a logarithm that was rounded.
fn below(log: f64) -> f64 {
    log - 4.0 * f64::EPSILON * log.abs()
}

/// At least a logarithm that was rounded.
fn above_log(log: f64) -> f64 {
    log + 4.0 * f64::EPSILON * log.abs()
}

/// At least e^log; 0 only for −∞, and never above 1.
pub(super) fn above(log: f64) -> f64 {
    if log == f64::NEG_INFINITY {
        0.0
    } else {
        (libm::exp(log) * (1.0 + 1e-13)).clamp(f64::from_bits(1), 1.0)
    }
}

/// The ε between which the truth lies; None if no ε is shown to be enough.
fn epsilon_between(bounds: &Bounds, log_delta: f64) -> Option<(f64, f64)> {
    let less = below(log_delta);
    let more = above_log(log_delta);
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
