//! Plans a composition by its cumulants: which tilt, which window of losses. Nothing here carries a guarantee.

use barkeep_num::log_add_exp;

use super::sketch::{Cumulants, Sketch};

/// All steps of a composition.
#[derive(Debug, Clone)]
pub(super) struct Model {
    pub(super) sketches: Vec<Sketch>,
}

/// What is asked of the composition.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Target {
    /// ε, for this ln δ.
    LogDelta(f64),
    /// δ, for this ε.
    Epsilon(f64),
}

/// A tilt s with the ε and ln δ it is the saddle point of.
#[derive(Debug, Clone, Copy)]
pub(super) struct Saddle {
    pub(super) tilt: f64,
    pub(super) epsilon: f64,
    pub(super) log_delta: f64,
    pub(super) deviation: f64,
    /// ln δ as the tilt alone would have it.
    first_order: f64,
}

impl Saddle {
    /// δ(ε) = (1/2πi)∫ exp(K(z) − zε)/(z(z+1)) dz, whose integrand is stationary at s where K'(s) = ε + 1/s + 1/(s+1);
    /// to first order ln δ = K(s) − sε − ln(s(s+1)) − ½ln(2π(K''(s) + 1/s² + 1/(s+1)²)).
    fn new(cumulants: Cumulants, tilt: f64) -> Self {
        let Cumulants { value, mean, variance } = cumulants;
        let epsilon = mean - 1.0 / tilt - 1.0 / (tilt + 1.0);
        let curvature = variance + 1.0 / (tilt * tilt) + 1.0 / ((tilt + 1.0) * (tilt + 1.0));
        let log_delta = value
            - tilt * epsilon
            - libm::log(tilt)
            - libm::log1p(tilt)
            - 0.5 * libm::log(2.0 * std::f64::consts::PI * curvature);
        let log_delta = log_delta.min(0.0);
        Self { tilt, epsilon, log_delta, deviation: variance.sqrt(), first_order: log_delta }
    }

    /// How much less than the tilt says δ is, as a factor. Where δ comes from single rare large losses, most of the tilted mass is that of
    /// sums that never reach ε.
    pub(super) fn reaching(&self) -> f64 {
        libm::exp((self.log_delta - self.first_order).min(0.0))
    }
}

/// The tilt to compute with, the losses to keep, and the tilts of the Chernoff bounds on the rest.
#[derive(Debug, Clone, Copy)]
pub(super) struct Window {
    /// s: at most that of the saddle point.
    pub(super) tilt: f64,
    pub(super) low: f64,
    pub(super) high: f64,
    /// Tilts, relative to `tilt`, that bound what lies below the window (negative), above it, and above ε plus its length.
    pub(super) below: f64,
    pub(super) above: f64,
    pub(super) returning: f64,
    /// The same for sums so low that a capped loss does not lift them above ε (negative).
    pub(super) sinking: f64,
}

/// What is asked, where the answer is expected, and the losses in outline.
#[derive(Debug, Clone)]
pub(super) struct Plan {
    /// With losses capped at ε plus how low the sum can be: above that they decide by themselves, almost surely, that the sum is
    /// above ε; then δ does not depend on how large they are, and they may be split between there and infinity.
    pub(super) model: Model,
    pub(super) saddle: Saddle,
    /// The tilt of the Chernoff bound on how low the sum can be.
    pub(super) sinking: f64,
}

/// How rare low sums and large losses are.
struct Depths {
    deviation: f64,
    /// Tilts z and K(−z) of all steps but one.
    leans: Vec<(f64, f64)>,
    /// Of each sketch, ln of the mass from each loss on.
    tails: Vec<Vec<f64>>,
}

impl Depths {
    /// ln of at least the chance of a sum below minus the room, by the best of the tilts, and that tilt.
    fn log_sunk(&self, room: f64) -> (f64, f64) {
        let bounds = self.leans.iter().map(|(lean, value)| (value - lean * room, *lean));
        bounds.min_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or((0.0, 1.0))
    }
}

impl Model {
    pub(super) fn cumulants(&self, tilt: f64) -> Cumulants {
        let mut total = Cumulants { value: 0.0, mean: 0.0, variance: 0.0 };
        for sketch in &self.sketches {
            let one = sketch.cumulants(tilt);
            total.value += sketch.steps() * one.value;
            total.mean += sketch.steps() * one.mean;
            total.variance += sketch.steps() * one.variance;
        }
        total
    }

    /// The ε and δ of which a tilt is the saddle point.
    pub(super) fn saddle_at(&self, tilt: f64) -> Saddle {
        Saddle::new(self.cumulants(tilt), tilt)
    }

    /// K of all steps but the one whose own is least, if that is negative.
    fn all_but_one(&self, tilt: f64) -> f64 {
        let (mut sum, mut least) = (0.0, 0.0_f64);
        for sketch in &self.sketches {
            let value = sketch.cumulants(tilt).value;
            (sum, least) = (sum + sketch.steps() * value, least.min(value));
        }
        sum - least
    }

    /// What is needed to say how low the sum of all but one can be, and how large a single loss.
    fn depths(&self) -> Depths {
        let deviation = self.cumulants(0.0).variance.sqrt().max(f64::MIN_POSITIVE);
        let usual = (-2.0 * SUNK).sqrt() / deviation;
        // Where a single loss may be very low, if rarely, a tilt that suits that one is far below the usual.
        let leans = (-6..=6)
            .map(|step| usual * libm::exp2(0.5 * f64::from(step)))
            .chain((-4..=16).map(|step| libm::exp2(0.5 * f64::from(step))))
            .map(|lean| (lean, self.all_but_one(-lean)))
            .collect();
        Depths { deviation, leans, tails: self.sketches.iter().map(Sketch::tails_above).collect() }
    }

    /// ln of about how often a loss above `top` is expected.
    fn log_beyond(&self, depths: &Depths, top: f64) -> f64 {
        let sketches = self.sketches.iter().zip(&depths.tails);
        sketches
            .map(|(sketch, tails)| libm::log(sketch.steps()) + sketch.log_above(tails, top))
            .fold(f64::NEG_INFINITY, log_add_exp)
    }

    /// How far above ε losses are capped, and the tilt of the Chernoff bound on sums so low that a capped loss does not lift them.
    ///
    /// Both must happen for the cap to matter: a loss above ε plus the room, and a sum of all others below minus the room. The
    /// smallest room is taken at which their chances multiply to no more than e^`log_lost`, or the sum alone is rare enough.
    fn room(&self, depths: &Depths, epsilon: f64, log_lost: f64) -> (f64, f64) {
        // Not so little that all of the curve is cut off at ε.
        let least = 2.0 * depths.deviation;
        for step in 0..ROOMS {
            let room = least * libm::exp2(0.25 * f64::from(step));
            let (log_sunk, lean) = depths.log_sunk(room);
            if log_sunk <= SUNK || log_sunk + self.log_beyond(depths, epsilon + room) <= log_lost {
                return (room, -lean);
            }
        }
        let (room, lean) = depths
            .leans
            .iter()
            .map(|(lean, value)| ((value - SUNK) / lean, *lean))
            .min_by(|a, b| a.0.total_cmp(&b.0))
            .unwrap_or((f64::INFINITY, 1.0));
        (room.max(least), -lean)
    }

    fn plan_at(&self, epsilon: f64, log_delta: f64, depths: &Depths) -> Plan {
        let (room, sinking) = self.room(depths, epsilon, log_delta + LOST);
        let top = epsilon + room;
        let mut beyond = f64::NEG_INFINITY;
        let cap = |sketch: &Sketch| {
            let (capped, log_mass) = sketch.capped(top);
            beyond = log_add_exp(beyond, log_mass + libm::log(sketch.steps()));
            capped
        };
        let model = Self { sketches: self.sketches.iter().map(cap).collect() };
        let saddle = model.saddle(Target::Epsilon(epsilon));
        let saddle = Saddle { epsilon, log_delta: log_add_exp(saddle.log_delta, beyond).min(0.0), ..saddle };
        Plan { model, saddle, sinking }
    }

    /// The plan for a target.
    pub(super) fn plan(&self, target: Target) -> Plan {
        let depths = self.depths();
        let log_delta = match target {
            Target::Epsilon(epsilon) => {
                let about = self.saddle(target).log_delta;
                return self.plan_at(epsilon, about.max(LOWEST), &depths);
            }
            Target::LogDelta(log_delta) => log_delta,
        };
        let mut epsilon = self.saddle(target).epsilon;
        let mut plan = self.plan_at(epsilon, log_delta, &depths);
        // δ falls about as e^(−sε).
        for _ in 0..8 {
            let miss = plan.saddle.log_delta - log_delta;
            let (least, most) = (0.5 * epsilon, 2.0 * epsilon + plan.saddle.deviation);
            let next = (epsilon + miss / plan.saddle.tilt).max(least).min(most);
            if miss.abs() < 0.02 || next.is_nan() || next == epsilon {
                break;
            }
            epsilon = next;
            plan = self.plan_at(epsilon, log_delta, &depths);
        }
        plan.saddle.log_delta = log_delta;
        plan
    }

    /// The saddle point for a target, by bisection on ln s; at ε ≥ 0.
    pub(super) fn saddle(&self, target: Target) -> Saddle {
        let beyond = |log_tilt: f64| {
            let saddle = self.saddle_at(libm::exp(log_tilt));
            match target {
                Target::Epsilon(epsilon) => saddle.epsilon >= epsilon,
                Target::LogDelta(log_delta) => saddle.epsilon >= 0.0 && saddle.log_delta <= log_delta,
            }
        };
        let (mut low, mut high) = self.log_tilts();
        for _ in 0..HALVINGS {
            if high - low < 1e-3 {
                break;
            }
            let middle = 0.5 * (low + high);
            if beyond(middle) {
                high = middle;
            } else {
                low = middle;
            }
        }
        self.saddle_at(libm::exp(high))
    }

    /// Logarithms of tilts far too flat for the whole sum and far too steep for any single step.
    fn log_tilts(&self) -> (f64, f64) {
        let whole = self.cumulants(0.0).variance.sqrt();
        let single = self.sketches.iter().map(|sketch| sketch.cumulants(0.0).variance.sqrt());
        let smallest = single.fold(whole, |a, b| if b > 0.0 { a.min(b) } else { a });
        (libm::log(1e-6 / whole), libm::log(1e4 / smallest))
    }

    /// About how often everything can be repeated before δ at ε is `log_delta`.
    pub(super) fn repetitions(&self, epsilon: f64, log_delta: f64) -> f64 {
        let first = libm::log(self.light_repetitions(epsilon, log_delta));
        // Where rare large losses decide, that is far too few, since δ then grows with their number only: the secant rule on
        // ln δ as a function of ln n, from a slope of 1.
        let miss = |log_times: f64| {
            let repeated = self.repeated(libm::exp(log_times));
            repeated.plan(Target::Epsilon(epsilon)).saddle.log_delta - log_delta
        };
        let (mut before, mut missed_before) = (first, miss(first));
        let mut now = first - missed_before.clamp(-2.0, 2.0);
        for _ in 0..12 {
            if now.is_nan() || (now - before).abs() < 3e-3 {
                break;
            }
            let missed = miss(now);
            let slope = ((missed - missed_before) / (now - before)).max(1.0);
            (before, missed_before) = (now, missed);
            now -= (missed / slope).clamp(-2.0, 2.0);
        }
        libm::exp(now)
    }

    /// The same where no loss is large, by bisection on the saddle point: a tilt s is that of ε after
    /// n = (ε + 1/s + 1/(s+1))/K'(s) repetitions.
    fn light_repetitions(&self, epsilon: f64, log_delta: f64) -> f64 {
        let at = |log_tilt: f64| {
            let tilt = libm::exp(log_tilt);
            let Cumulants { value, mean, variance } = self.cumulants(tilt);
            let times = (epsilon + 1.0 / tilt + 1.0 / (tilt + 1.0)) / mean;
            let repeated = Cumulants { value: value * times, mean: mean * times, variance: variance * times };
            (times, Saddle::new(repeated, tilt).log_delta)
        };
        let (mut low, mut high) = self.log_tilts();
        for _ in 0..HALVINGS {
            if high - low < 1e-4 {
                break;
            }
            let middle = 0.5 * (low + high);
            let (times, log) = at(middle);
            // A flat tilt stands for many repetitions, a mean of zero or less for more than any number.
            if times > 0.0 && log <= log_delta {
                high = middle;
            } else {
                low = middle;
            }
        }
        at(high).0
    }

    /// Everything `times` times.
    pub(super) fn repeated(&self, times: f64) -> Self {
        Self { sketches: self.sketches.iter().map(|sketch| sketch.repeated(times)).collect() }
    }
}

/// Halvings of an interval of tilts, at most.
const HALVINGS: u32 = 64;

/// The window reaches at least this far to both sides of ε, in standard deviations, for ε is not quite known.
const MARGIN: f64 = 0.25;

/// ln of the chance of a sum that is low enough to be left out of account.
const SUNK: f64 = -25.0;

/// ln of the part of δ that may be lost where a capped loss meets a low sum.
const LOST: f64 = -20.0;

/// ln of the smallest δ that anything is planned for.
const LOWEST: f64 = -745.0;

/// Rooms tried, each 2^¼ times the one before.
const ROOMS: u32 = 80;

impl Plan {
    /// The shortest window in which δ near a saddle point can be computed to `tolerance`, relative.
    ///
    /// The saddle point's own tilt makes δ the most precise, but where single losses are rare and large it also makes them
    /// common, and the window long. A smaller tilt t leaves the entries near ε smaller than the largest by e^gap,
    /// gap = K(t) − tε − ln δ, and the transform's relative error, `noise`, larger by as much. Of those that afford it,
    /// the tilt with the shortest window is taken. Sums above the window come back at its lower end, below ε, where they do no
    /// harm; so only P(S > high) itself must be small, and what lies beyond ε plus the window's length. Sums below it
    /// come back at its upper end, where little weight is given to them.
    pub(super) fn window(&self, tolerance: f64, noise: f64) -> Window {
        let Saddle { tilt: steepest, epsilon, log_delta, deviation, .. } = self.saddle;
        let log_tolerance = libm::log(tolerance);
        let powers = |from: i32, to: i32, base: f64| {
            (from..=to).map(move |step| base * libm::exp2(0.5 * f64::from(step)))
        };
        // P(S ≥ T) ≤ e^(K(z) − zT) for any z > 0.
        let (mut high, mut outer) = (f64::INFINITY, steepest);
        for tilt in powers(-4, 6, steepest) {
            let above = (self.model.cumulants(tilt).value - log_delta - log_tolerance) / tilt;
            if above < high {
                (high, outer) = (above, tilt);
            }
        }
        let high = high.max(epsilon + MARGIN * deviation);
        let untilted = self.model.cumulants(0.0).variance.sqrt().max(f64::MIN_POSITIVE);
        let sunk: Vec<(f64, f64)> = powers(-6, 4, (-2.0 * (log_delta + log_tolerance)).sqrt() / untilted)
            .map(|lean| (lean, self.model.cumulants(-lean).value))
            .collect();
        let mut best: Option<Window> = None;
        for share in [1.0, 0.85, 0.7, 0.55, 0.4, 0.25, 0.1, 0.0] {
            let tilt = share * steepest;
            let Cumulants { value, variance, .. } = self.model.cumulants(tilt);
            let gap = value - tilt * epsilon - log_delta;
            if share < 1.0 && gap > log_tolerance - libm::log(noise) {
                break;
            }
            // What may be lost of ln δ, and the same in tilted units.
            let lost = log_delta + log_tolerance;
            let allowed = lost + tilt * epsilon - value;
            let usual = (-2.0 * allowed).sqrt() / variance.sqrt().max(f64::MIN_POSITIVE);
            // P(S ≥ T) ≤ e^(K(t+z) − K(t) − zT) after the tilt.
            let (mut far, mut returning) = (f64::INFINITY, usual);
            for lean in powers(-6, 4, usual) {
                let most = (self.model.cumulants(tilt + lean).value - value - allowed) / lean;
                if most < far {
                    (far, returning) = (most, lean);
                }
            }
            // e^(−tΛ)·P(S < low), Λ = high − low, P(S < low) ≤ e^(K(−z) + z·low), z = 0 included.
            let (mut low, mut below) = (f64::NEG_INFINITY, -tilt);
            for (lean, value) in std::iter::once((0.0, 0.0)).chain(sunk.iter().copied()) {
                let least = (lost + tilt * high - value) / (tilt + lean);
                if tilt + lean > 0.0 && least > low {
                    (low, below) = (least, -tilt - lean);
                }
            }
            let low = low.min(epsilon - MARGIN * deviation);
            let high = high.max(low + (far - epsilon));
            if best.is_none_or(|best| high - low < best.high - best.low) {
                best = Some(Window {
                    tilt,
                    low,
                    high,
                    below,
                    above: outer - tilt,
                    returning,
                    sinking: self.sinking - tilt,
                });
            }
        }
        // The first share is never refused.
        best.unwrap_or(Window {
            tilt: steepest,
            low: high,
            high,
            below: 0.0,
            above: 0.0,
            returning: 0.0,
            sinking: 0.0,
        })
    }
}
