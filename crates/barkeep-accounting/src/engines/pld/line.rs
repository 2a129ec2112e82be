//! Brackets δ(ε) of a composition by an integral along a line of complex tilts: no lattice, and a few dozen terms where losses add up.
//!
//! # What is computed
//! Let S be the sum of all losses and F(t) = e^(st)·E(1 − e^(t−S))₊ for some s > 0. Its Fourier transform is
//! Φ(z)/(z(z+1)) at z = s + iω, with Φ(z) = E e^(zS) the product of the powers of [`Characteristic`]. Both are integrable and F varies by a
//! finite amount in all, so Poisson's sum holds: for Λ = 2π/Δ and ω_n = nΔ
//!
//! > (Δ/2π)·Σ_n e^(−iω_n·ε)·Φ(z_n)/(z_n(z_n+1)) = Σ_m F(ε + mΛ),
//!
//! and δ(ε) = e^(−sε)·F(ε). The sum is finite but for what is charged below.
//!
//! # Proof: what is added, what is taken away
//! - *Copies.* Every F(ε + mΛ) is at least 0, so the sum is an upper bound. The lower one takes the copies away. Since δ ≤ 1, those
//!   below amount to at most e^(sε)·Σ_(m>0) e^(−smΛ). Those above: (1 − e^(−x))₊ ≤ e^(vx)·v^v/(v+1)^(v+1), so that
//!   F(t) ≤ e^(−at)·Φ(s+a)·v^v/(v+1)^(v+1) for v = s + a and any a > 0, a geometric series too.
//! - *The rest of the sum.* |z(z+1)| ≥ ω², so that what lies beyond ω_N adds at most Δ/π·Σ|Φ|/ω². |Φ| is bounded on a grid that grows
//!   with ω, and beyond it by the variation of the density; see [`characteristic`](super::characteristic).
//! - *Powers.* As in [`convolution`](barkeep_num::convolution), bound (2): factors ŵ with errors e make the product of powers wrong by at most
//!   Π(|ŵ|+e)^k·Σke/(|ŵ|+e), the rounding of the powers being 16u of each ŵ.
//! - *Capped and dropped losses.* As on a [`lattice`](super::lattice): capped losses are split between the cap and infinity, and the chance
//!   that one meets a low sum is taken off the lower bound. Dropped outputs count as infinite above, and as nothing below.

use std::f64::consts::PI;

use barkeep_num::{log_add_exp, log_sub_exp};

use super::characteristic::{Bin, Branches, Characteristic, Range};
use super::composer::Step;
use super::plan::Plan;
use super::sketch::Cumulants;

/// Points times nodes, at most: some milliseconds, less than a lattice takes where it comes to that.
const MOST_WORK: f64 = 3e6;

/// Relative error charged to raising a bin to a power, per unit of the power: 16·2⁻⁵³.
const POWER_ERROR: f64 = 8.0 * f64::EPSILON;

/// Roundings charged to a term of the sum: 64·2⁻⁵³.
const TERM_ERROR: f64 = 32.0 * f64::EPSILON;

/// Lines tried, each with twice the terms of the one before.
const TRIES: i32 = 6;

/// By how much more terms must have decayed at each try, in logarithms.
const MARGIN: f64 = 8.0;

/// ln of about the largest ω that a line is followed to.
const FARTHEST: f64 = 8.0;

/// Looks at which ε is found, at most, and how often its ends are moved apart.
const SECANTS: u32 = 12;
const SEEKS: u32 = 28;

/// ln δ this close to the one asked for is close enough to find ε by.
const CLOSE: f64 = 1e-9;

/// A composition, ready to be asked for both bounds at any ε near the one it was made for.
pub(super) struct Line {
    tilt: f64,
    spacing: f64,
    /// Φ(z_n)/(z_n(z_n+1)) in tilted units around the mean of the sum.
    terms: Vec<(f64, f64)>,
    mean: f64,
    /// Σkκ.
    log_scale: f64,
    /// Sizes of the terms, what they may be wrong by and what lies beyond them, all summed as the terms are.
    size: f64,
    error: f64,
    /// a, and ln of all copies above were ε at the mean.
    returning: (f64, f64),
    /// ln of infinite mass from above and below.
    infinite: (f64, f64),
    /// ln of what to take off for capped losses were ε 0, how fast that grows, and what it does not exceed.
    sunk: (f64, f64, f64),
    /// Σk·|κ| and Σk·|mean|, for rounding.
    log_terms: f64,
    travelled: f64,
    /// The ε it was made for.
    reference: f64,
    /// Tries that failed before.
    pub(super) tries: i32,
}

/// One kind of step on the line.
struct Kind {
    step: Characteristic,
    times: f64,
}

impl Line {
    /// Made for the ε of a plan and about its δ, to a part `tolerance` of that, by the first try from `tries` on that succeeds; None where
    /// a lattice serves better.
    pub(super) fn new(steps: &[Step], plan: &Plan, tolerance: f64, tries: i32) -> Option<Self> {
        let branches: Vec<Branches> =
            steps.iter().map(|step| step.losses.branches()).collect::<Option<_>>()?;
        let saddle = plan.saddle;
        let (tilt, epsilon, log_delta) = (saddle.tilt, saddle.epsilon, saddle.log_delta);
        let cumulants: Vec<(Cumulants, f64)> =
            plan.model.sketches.iter().map(|sketch| (sketch.cumulants(tilt), sketch.steps())).collect();
        let total = |part: &dyn Fn(&Cumulants) -> f64| -> f64 {
            cumulants.iter().map(|(one, steps)| steps * part(one)).sum()
        };
        let (log_scale, mean) = (total(&|one| one.value), total(&|one| one.mean));
        let deviation = total(&|one| one.variance).sqrt();
        let count: f64 = cumulants.iter().map(|(_, steps)| steps).sum();
        // F(ε) in tilted units, and what may be lost of it.
        let log_allowed = libm::log(tolerance) + log_delta + tilt * epsilon - log_scale;
        let (lean, length) = copies(plan, libm::log(tolerance), deviation)?;
        let spacing = 2.0 * PI / length;
        if !(spacing > 0.0 && spacing.is_finite() && log_allowed.is_finite() && deviation > 0.0) {
            return None;
        }
        // Atoms never decay: where they are all that is left, and that is too much, no line is long enough.
        let still = |(branches, (one, times)): (&Branches, &(Cumulants, f64))| {
            let log = branches.atom.map_or(f64::NEG_INFINITY, |atom| atom.log_mass + tilt * atom.loss);
            times * (log - one.value)
        };
        if branches.iter().zip(&cumulants).map(still).sum::<f64>() > log_allowed + FARTHEST {
            return None;
        }
        let usual = (2.0 * (2.0 - log_allowed).max(1.0)).sqrt() / deviation;
        let mut work = MOST_WORK;
        for attempt in tries..TRIES {
            let most = 1.2 * libm::exp2(f64::from(attempt)) * usual;
            let mut kinds = Vec::with_capacity(steps.len());
            for ((branches, sketch), (one, times)) in
                branches.iter().zip(&plan.model.sketches).zip(&cumulants)
            {
                let range = Range {
                    tilt,
                    reach: most,
                    depth: 3.0 - log_delta - libm::log(tolerance) + libm::log(count),
                    top: sketch.extent().1,
                    tolerance: (1e-3 * tolerance / count).min(1e-14),
                    decay: libm::exp(((log_allowed - 3.0) / count).min(-1e-9)),
                    log_scale: one.value,
                    mean: one.mean,
                    deviation: one.variance.sqrt(),
                };
                kinds.push(Kind { step: Characteristic::new(branches, range, spacing)?, times: *times });
            }
            let nodes = kinds.iter().map(|kind| kind.step.nodes() as f64).sum::<f64>();
            if most / spacing * nodes > work {
                return None;
            }
            let mut line = Self {
                tilt,
                spacing,
                terms: Vec::new(),
                mean,
                log_scale,
                size: 0.0,
                error: 0.0,
                returning: (lean, returning(&kinds, tilt, lean, length)),
                infinite: infinite(&kinds),
                sunk: sunk(&kinds, -plan.sinking, tilt),
                log_terms: total(&|one| one.value.abs()),
                travelled: total(&|one| one.mean.abs()),
                reference: epsilon,
                tries: attempt,
            };
            let mut points = (work / nodes) as u32;
            // A kind of few steps decays fast at first and bounds little later: then the others must have decayed too.
            let log_enough = log_allowed - 3.0 - MARGIN * f64::from(attempt);
            if line.sum(&mut kinds, most, (log_allowed, log_enough), &mut points) {
                return Some(line);
            }
            work = f64::from(points) * nodes;
        }
        None
    }

    /// Adds the terms up to where they are negligible, and bounds the rest; false if that is beyond `most`, or takes more than `points`,
    /// which are counted down.
    fn sum(
        &mut self,
        kinds: &mut [Kind],
        most: f64,
        (log_allowed, log_enough): (f64, f64),
        points: &mut u32,
    ) -> bool {
        let mut omega = 0.0;
        while omega <= most {
            *points = points.saturating_sub(1);
            let (mut log_size, mut angle, mut log_bound, mut relative) = (0.0, 0.0, 0.0, 0.0);
            for Kind { step, times } in &*kinds {
                let bin = step.bin();
                let size = bin.size();
                let error = bin.error + POWER_ERROR * size;
                log_size += times * libm::log(size);
                angle += times * libm::atan2(bin.im, bin.re);
                log_bound += times * libm::log(size + error);
                relative += times * (error / (size + error));
            }
            // 1/(z(z+1)).
            let (re, im) = (self.tilt * (self.tilt + 1.0) - omega * omega, (2.0 * self.tilt + 1.0) * omega);
            let square = re * re + im * im;
            let (shrunk, size) = (square.sqrt(), libm::exp(log_size));
            let (cos, sin) = (size * libm::cos(angle), size * libm::sin(angle));
            let scale = if omega == 0.0 { 0.5 } else { 1.0 } * self.spacing / PI;
            self.terms.push((scale * (cos * re + sin * im) / square, scale * (sin * re - cos * im) / square));
            let bound = scale * libm::exp(log_bound) / shrunk;
            self.size += bound;
            self.error += 1.0001 * bound * relative;
            if omega > 0.0 && log_bound - libm::log(PI * omega) < log_enough {
                return self.bound_rest(kinds, omega, log_allowed, points);
            }
            kinds.iter_mut().for_each(|kind| kind.step.advance());
            omega = self.terms.len() as f64 * self.spacing;
        }
        false
    }

    /// Adds what lies beyond ω to the error; false if it is too much.
    fn bound_rest(&mut self, kinds: &mut [Kind], from: f64, log_allowed: f64, points: &mut u32) -> bool {
        let (mut omega, mut stride, mut rest) = (from, 1.0, 0.0);
        let allowed = libm::exp(log_allowed);
        // (|ŵ| + e)² bounds C.
        let squares = |kinds: &[Kind]| -> Vec<f64> {
            let square = |bin: Bin| (bin.size() * (1.0 + POWER_ERROR) + bin.error) * (bin.size() + bin.error);
            kinds.iter().map(|kind| square(kind.step.bin())).collect()
        };
        let between = |kinds: &[Kind], squares: &[f64], way: f64| -> f64 {
            let one = |(kind, square): (&Kind, &f64)| {
                let bend = 0.25 * way * way * kind.step.mass * kind.step.second;
                0.5 * kind.times * libm::log(square + bend)
            };
            kinds.iter().zip(squares).map(one).sum()
        };
        let mut here = squares(kinds);
        while *points > 0 {
            *points -= 1;
            let far: f64 = kinds
                .iter()
                .map(|Kind { step, times }| times * libm::log(step.still + 1.001 * step.variation / omega))
                .sum();
            if far - libm::log(PI * omega) < log_allowed - 2.0 {
                self.error += 1.001 * (rest + libm::exp(far) / (PI * omega));
                return true;
            }
            let wanted = log_allowed + libm::log(PI * omega) - 3.0;
            while between(kinds, &here, 2.0 * stride * self.spacing) < wanted && stride * self.spacing < omega
            {
                stride *= 2.0;
                kinds.iter_mut().for_each(|kind| kind.step.double());
            }
            kinds.iter_mut().for_each(|kind| kind.step.advance());
            let there = squares(kinds);
            let larger: Vec<f64> = here.iter().zip(&there).map(|(a, b)| a.max(*b)).collect();
            let log = between(kinds, &larger, stride * self.spacing);
            rest += stride * self.spacing / PI * libm::exp(log) / (omega * omega);
            if rest.is_nan() || rest >= 0.5 * allowed {
                return false;
            }
            (here, omega) = (there, omega + stride * self.spacing);
        }
        false
    }

    /// The ε between which the truth lies for ln δ: δ is at most e^`less` at the upper one, and above e^`more` at the lower; None if they
    /// are not found close to the ε this was made for.
    pub(super) fn epsilon(&self, less: f64, more: f64) -> Option<(f64, f64)> {
        let upper = |epsilon: f64| self.log_delta(epsilon).1 - less;
        // By the secant rule.
        let (mut at, mut slope) = (self.reference, -self.tilt);
        let mut miss = upper(at);
        for _ in 0..SECANTS {
            if miss.abs() < CLOSE {
                break;
            }
            let next = (at - miss / slope).clamp(0.5 * at, 2.0 * at);
            let missed = upper(next);
            let steeper = (missed - miss) / (next - at);
            if steeper < 0.0 && steeper.is_finite() {
                slope = steeper;
            }
            (at, miss) = (next, missed);
        }
        // A little up until it is enough, a little down until it is not.
        let seek = |from: f64, sign: f64, holds: &dyn Fn(f64) -> bool| {
            let aside = |doublings: u32| from - sign * libm::exp2(f64::from(doublings)) * CLOSE / slope;
            (1..SEEKS).map(aside).find(|epsilon| *epsilon >= 0.0 && holds(*epsilon))
        };
        let high = seek(at - miss / slope, 1.0, &|epsilon| upper(epsilon) <= 0.0)?;
        let low = seek(at - miss / slope, -1.0, &|epsilon| self.log_delta(epsilon).0 > more)?;
        Some((low, high))
    }

    /// ln of bounds on δ at ε, from below and from above.
    pub(super) fn log_delta(&self, epsilon: f64) -> (f64, f64) {
        let way = epsilon - self.mean;
        let term = |(index, (re, im)): (usize, &(f64, f64))| {
            let angle = index as f64 * self.spacing * way;
            re * libm::cos(angle) + im * libm::sin(angle)
        };
        let sum: f64 = self.terms.iter().enumerate().map(term).sum();
        let turns = self.terms.len() as f64 * self.spacing * (epsilon.abs() + self.travelled + way.abs());
        let rounding = self.size * TERM_ERROR * (2.0 + self.terms.len() as f64 + turns);
        let error = self.error + rounding;
        let exponent = self.log_scale - self.tilt * epsilon;
        let slack = TERM_ERROR * (4.0 + self.log_terms + (self.tilt * epsilon).abs());
        let length = 2.0 * PI / self.spacing;
        // Copies below and above.
        let below = libm::exp(-exponent - self.tilt * length + slack) / -libm::expm1(-self.tilt * length);
        let above = libm::exp(self.returning.1 - self.returning.0 * way);
        let (least, most) = (sum - error - 1.001 * (below + above), sum + error);
        // Written so that a NaN says nothing.
        if least.is_nan() || most.is_nan() || most <= 0.0 {
            return (f64::NEG_INFINITY, 0.0);
        }
        let finite = |units: f64, slack: f64| {
            if units > 0.0 { libm::log(units) + exponent + slack } else { f64::NEG_INFINITY }
        };
        let upper = log_add_exp(finite(most, slack), self.infinite.0);
        let whole = log_add_exp(finite(least, -slack), self.infinite.1);
        let (log_sunk, growth, limit) = self.sunk;
        let sunk = (log_sunk + growth * epsilon).min(limit);
        let lower = if sunk < whole { log_sub_exp(whole, sunk) } else { f64::NEG_INFINITY };
        (
            if lower.is_nan() { f64::NEG_INFINITY } else { lower },
            if upper.is_nan() { 0.0 } else { upper.min(0.0) },
        )
    }
}

/// A tilt a for the copies above, and the distance of copies at which all are below a part e^`log_tolerance` of F(ε).
fn copies(plan: &Plan, log_tolerance: f64, deviation: f64) -> Option<(f64, f64)> {
    let saddle = plan.saddle;
    let (tilt, epsilon) = (saddle.tilt, saddle.epsilon);
    let lost = saddle.log_delta + log_tolerance;
    let below = (2.0 - lost) / tilt;
    let usual = (-2.0 * log_tolerance).sqrt() / deviation;
    let above = (-6..=6).map(|step| usual * libm::exp2(0.5 * f64::from(step))).map(|lean| {
        let value = plan.model.cumulants(tilt + lean).value;
        (lean, (value + log_peak(tilt + lean) - (tilt + lean) * epsilon - lost + 2.0) / lean)
    });
    let (lean, above) = above.min_by(|a, b| a.1.total_cmp(&b.1))?;
    Some((lean, below.max(above)))
}

/// ln v^v/(v+1)^(v+1).
fn log_peak(v: f64) -> f64 {
    v * libm::log(v) - (v + 1.0) * libm::log1p(v)
}

/// ln of all copies above, in tilted units, were ε at the mean.
fn returning(kinds: &[Kind], tilt: f64, lean: f64, length: f64) -> f64 {
    let moments: f64 = kinds.iter().map(|kind| kind.times * kind.step.log_moment(lean)).sum();
    let ratio = libm::exp(-lean * length);
    moments + log_peak(tilt + lean) - lean * length - libm::log1p(-ratio) + 1e-9
}

/// ln of infinite mass, from above and from below.
fn infinite(kinds: &[Kind]) -> (f64, f64) {
    let (mut upper, mut none) = (f64::NEG_INFINITY, 0.0);
    for Kind { step, times } in kinds {
        let ends = &step.ends;
        upper = log_add_exp(upper, libm::log(*times) + log_add_exp(ends.infinite.0, ends.dropped));
        none += times * libm::exp(ends.infinite.1);
    }
    // 1 − e^(−x) ≤ 1 − Π(1−m)^k.
    let lower = libm::log(-libm::expm1(-none));
    (upper + 1e-12, lower - 1e-12)
}

/// What capping takes off the lower bound, by Chernoff's bound P(S < ε − top) ≤ e^(θ(ε−top))·Π(E e^(−θL))^k, with one step left out.
fn sunk(kinds: &[Kind], theta: f64, tilt: f64) -> (f64, f64, f64) {
    let lean = -theta - tilt;
    let (mut sum, mut least, mut capped, mut top) = (0.0, 0.0_f64, f64::NEG_INFINITY, f64::INFINITY);
    for Kind { step, times } in kinds {
        let ends = &step.ends;
        let (log_scale, mean) = step.scale();
        let mut moment = step.log_moment(lean) + log_scale + lean * mean;
        if ends.capped > f64::NEG_INFINITY {
            moment = log_add_exp(moment, ends.capped - theta * ends.top);
            capped = log_add_exp(capped, libm::log(*times) + ends.capped);
            top = top.min(ends.top);
        }
        moment += 1e-12 * (1.0 + log_scale.abs() + (lean * mean).abs());
        sum += times * moment;
        least = least.min(moment);
    }
    if capped == f64::NEG_INFINITY {
        return (f64::NEG_INFINITY, 0.0, f64::NEG_INFINITY);
    }
    (capped + sum - least - theta * top + 1e-9, theta, capped + 1e-9)
}

#[cfg(test)]
mod tests;
