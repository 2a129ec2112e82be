//! Cuts the privacy losses of (subsampled) Gaussian mechanisms into atoms, each known almost to the last digit.
//!
//! In units of the noise, let φ be the standard normal density, c = 1/ratio the shift, q the sampling rate and
//! r(y) = e^(cy − c²/2) the likelihood ratio of N(c, 1) to N(0, 1). The pairs (P, Q) are
//!
//! | kind | P | Q | loss |
//! | --- | --- | --- | --- |
//! | `Remove` | (1−q)N(0)+qN(c) | N(0) | ln(1−q+q·r) |
//! | `Add` | N(0) | (1−q)N(0)+qN(c) | −ln(1−q+q·r) |
//! | `Substitute` | (1−q)N(0)+qN(c) | (1−q)N(0)+qN(−c) | ln(1−q+q·r(y)) − ln(1−q+q·r(−y)) |
//!
//! The loss is monotone in y, so a range of losses is a range of y, a *panel*. Its mass under P and its mass under Q are integrals
//! of normal densities, taken by the rules of [`quadrature`](super::quadrature); their ratio is the loss of the panel's
//! barycentre. Where the loss is small, P − Q is integrated instead of P and Q, so that small losses are known to as many digits as
//! large ones.
//!
//! **Precision.** Quadrature adds less than 2⁻⁵³ to the relative error of a mass. Rounding adds a few units in the last place, and that
//! of the exponent y²/2 is y² times as large; the slack of an atom is several times their sum. The rounding of a
//! panel's middle moves the whole panel, which changes its mass by a factor of 1 + y²u at most.

use std::f64::consts::PI;

use barkeep_num::vector::scalar::{exp, exp_m1, ln, ln_1p};
use barkeep_num::{ln_normal_cdf, log_add_exp};

use super::atoms::{Atom, Atoms, Losses, Sides, log_excess};
use super::characteristic::Branches;
use super::quadrature::{self, rule};

/// Panels without an end are closed off here, in noise units; what lies beyond is one atom.
const END: f64 = 8.0;

/// How far beyond its threshold a single use is cut into panels: what lies further is e^(−50) of it or less, and one atom.
const REACH: f64 = 10.0;

/// Panels of an outline, at most.
const OUTLINE_PANELS: f64 = 2000.0;

/// Panels of a single use, at most.
const MOST_PANELS: f64 = 1e4;

/// Width of an outline's panels.
const OUTLINE_WIDTH: f64 = 0.125;

/// Likelihood ratios up to e^this are added up without a factor taken out.
const LARGEST_NEAR: f64 = 600.0;

/// Which pair, in which direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Remove,
    Add,
    Substitute,
}

/// A pair of the table above, restricted to coordinates above `start`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct NormalPair {
    pub(super) kind: Kind,
    /// c.
    pub(super) shift: f64,
    /// q.
    pub(super) rate: f64,
    /// The lowest coordinate, −∞ for the whole pair.
    pub(super) start: f64,
}

impl NormalPair {
    pub(super) fn new(kind: Kind, shift: f64, rate: f64) -> Self {
        Self { kind, shift, rate, start: f64::NEG_INFINITY }
    }

    /// ln r(y).
    fn log_ratio(&self, y: f64) -> f64 {
        self.shift * (y - 0.5 * self.shift)
    }

    /// The coordinate at which the loss is ℓ, −∞ or ∞ if it is never reached.
    pub(super) fn coordinate(&self, loss: f64) -> f64 {
        let (c, q) = (self.shift, self.rate);
        match self.kind {
            Kind::Remove => 0.5 * c + self.mixed(loss) / c,
            Kind::Add => 0.5 * c + self.mixed(-loss) / c,
            // With v = r(y)·e^((c²−ℓ)/2) the loss is ℓ where v − 1/v = 2(1−q)/q·e^(c²/2)·sinh(ℓ/2).
            Kind::Substitute => {
                let half = 0.5 * loss;
                let log_factor = libm::log((1.0 - q) / q) + 0.5 * c * c;
                let log_size = log_factor + log_sinh(half.abs());
                let inverse = if log_size > 20.0 {
                    (log_size + std::f64::consts::LN_2).copysign(half)
                } else {
                    libm::asinh(exp(log_factor) * libm::sinh(half))
                };
                (half + inverse) / c
            }
        }
    }

    /// ln r where ln(1−q+q·r) = ℓ.
    fn mixed(&self, loss: f64) -> f64 {
        let q = self.rate;
        if loss > 30.0 {
            return loss - libm::log(q) + libm::log1p(-(1.0 - q) * exp(-loss));
        }
        let excess = exp_m1(loss) / q;
        if excess <= -1.0 { f64::NEG_INFINITY } else { ln_1p(excess) }
    }

    /// Whether the loss grows with the coordinate.
    fn ascending(&self) -> bool {
        self.kind != Kind::Add
    }

    /// ln((1−q)·e^a + q·e^b).
    fn mixture(&self, a: f64, b: f64) -> f64 {
        log_add_exp(libm::log1p(-self.rate) + a, libm::log(self.rate) + b)
    }

    /// Everything above (`upper`) or below a coordinate as one atom.
    pub(super) fn end(&self, y: f64, upper: bool) -> Atom {
        let sign = if upper { -1.0 } else { 1.0 };
        let log_normal = |centre: f64| ln_normal_cdf(sign * (y - centre));
        let (centred, shifted) = (log_normal(0.0), log_normal(self.shift));
        let mixed = self.mixture(centred, shifted);
        let (log_p, log_q) = match self.kind {
            Kind::Remove => (mixed, centred),
            Kind::Add => (centred, mixed),
            Kind::Substitute => (mixed, self.mixture(centred, log_normal(-self.shift))),
        };
        // ln Φ feels the rounding of y by y times as much.
        let unit = 16.0 * f64::EPSILON * (1.0 + log_p.abs() + log_q.abs() + y * y);
        Atom { loss: log_p - log_q, log_mass: log_p, loss_slack: unit, log_slack: unit }
    }

    /// How many panels are needed from y to z, for the proof of the quadrature to hold.
    fn panels(&self, y: f64, z: f64) -> f64 {
        let farthest = y.abs().max(z.abs()) + self.shift;
        ((z - y) * (farthest + 1.0) / (2.0 * quadrature::WIDEST)).ceil().max(1.0)
    }

    /// The part of the distribution with coordinates from y to z, as one atom.
    fn panel(&self, y: f64, z: f64) -> Atom {
        let (c, q) = (self.shift, self.rate);
        let (middle, half) = (0.5 * (y + z), 0.5 * (z - y));
        // Densities are relative to that in the middle.
        let (scale, log_reference) = (half / (2.0 * PI).sqrt(), -0.5 * middle * middle);
        let nodes = rule(half * (middle.abs() + c + 1.0));
        let log_ratio = self.log_ratio(middle);
        let (log_mass, loss, steepness) = if self.kind == Kind::Substitute {
            let lift = log_ratio.max(self.log_ratio(-middle)).max(0.0);
            let (mut plain, mut up, mut down, mut difference) = (0.0, 0.0, 0.0, 0.0);
            for (node, weight) in nodes {
                let step = half * node;
                let density = weight * exp(-step * (middle + 0.5 * step));
                let rise = density * exp(self.log_ratio(middle + step) - lift);
                let fall = density * exp(self.log_ratio(-middle - step) - lift);
                plain += density;
                up += rise;
                down += fall;
                // 1 − r(−y)/r(y) = 1 − e^(−2cy).
                difference -= rise * exp_m1(-2.0 * c * (middle + step));
            }
            let rest = (1.0 - q) * exp(-lift) * plain;
            let (p, other) = (rest + q * up, rest + q * down);
            // Their difference wherever the two are close, so that a small loss keeps its digits.
            let apart = q * difference / other;
            let loss = if apart.abs() < 0.5 { ln_1p(apart) } else { ln(p / other) };
            (lift + ln(scale * p), loss, q * (up / p + down / other))
        } else {
            // Where the mixture is close to N(0), their difference; elsewhere each by itself, with its size taken out.
            let near = log_ratio < (-libm::log(q)).clamp(1.0, LARGEST_NEAR) && (q < 0.5 || log_ratio > -0.5);
            let lift = if near { 0.0 } else { log_ratio.max(libm::log1p(-q)) };
            let (mut plain, mut excess) = (0.0, 0.0);
            for (node, weight) in nodes {
                let step = half * node;
                let density = weight * exp(-step * (middle + 0.5 * step));
                let exponent = self.log_ratio(middle + step);
                plain += density;
                excess += density * if near { exp_m1(exponent) } else { exp(exponent - lift) };
            }
            let (mixed, loss, shifted) = if near {
                let mixed = plain + q * excess;
                (mixed, ln_1p(q * excess / plain), (plain + excess) / mixed)
            } else {
                let mixed = exp(libm::log1p(-q) - lift) * plain + q * excess;
                (mixed, lift + ln(mixed / plain), excess / mixed)
            };
            match self.kind {
                Kind::Add => (ln(scale * plain), -loss, q * shifted),
                Kind::Remove | Kind::Substitute => (lift + ln(scale * mixed), loss, q * shifted),
            }
        };
        let log_mass = log_reference + log_mass;
        let unit = 16.0 * f64::EPSILON;
        Atom {
            loss,
            log_mass,
            // The exponent cy − c²/2 is rounded; the loss feels it by d loss/d ln r.
            loss_slack: unit * (loss.abs() + steepness.abs() * c * (middle.abs() + c)),
            log_slack: unit * (8.0 + log_mass.abs() + middle * middle),
        }
    }

    /// The coordinates that matter down to masses of e^(−depth).
    fn extent(&self, depth: f64) -> (f64, f64) {
        let far = (2.0 * depth).sqrt() + 1.0;
        let high = if self.kind == Kind::Add { far } else { far + self.shift };
        ((-far).max(self.start), high)
    }

    /// Atoms of the panels between neighbouring coordinates (ascending), by ascending loss.
    fn between(&self, coordinates: &[f64], mut emit: impl FnMut(Atom)) {
        let mut cell = |low: f64, high: f64| {
            // Not even two representable coordinates: the mass is in the neighbours.
            if high <= low {
                return;
            }
            let count = self.panels(low, high).min(1e6);
            let edge = |index: f64| if index >= count { high } else { low + (high - low) * (index / count) };
            for index in 0..count as u32 {
                let index = if self.ascending() { f64::from(index) } else { count - 1.0 - f64::from(index) };
                let (y, z) = (edge(index), edge(index + 1.0));
                if y < z {
                    emit(self.panel(y, z));
                }
            }
        };
        if self.ascending() {
            coordinates.windows(2).for_each(|pair| cell(pair[0], pair[1]));
        } else {
            coordinates.windows(2).rev().for_each(|pair| cell(pair[0], pair[1]));
        }
    }

    /// The atoms between and beyond the boundaries, appended by ascending loss.
    pub(super) fn cut(&self, boundaries: &[f64], atoms: &mut Vec<Atom>) {
        let mut coordinates: Vec<f64> =
            boundaries.iter().map(|loss| self.coordinate(*loss).max(self.start)).collect();
        if !self.ascending() {
            coordinates.reverse();
        }
        // Rounding may disturb the order of close coordinates.
        for index in 1..coordinates.len() {
            coordinates[index] = coordinates[index].max(coordinates[index - 1]);
        }
        let finite = coordinates.iter().position(|y| y.is_finite()).unwrap_or(coordinates.len());
        if finite > 0 {
            let limit = coordinates.get(finite).map_or(-END, |y| y.min(-END));
            coordinates.splice(..finite, [limit]);
        }
        let lower = coordinates.first().filter(|y| **y > self.start).map(|y| self.end(*y, false));
        let upper = coordinates.last().map(|y| self.end(*y, true));
        let (first, last) = if self.ascending() { (lower, upper) } else { (upper, lower) };
        let real = |atom: &Atom| atom.log_mass > f64::NEG_INFINITY && atom.loss.is_finite();
        atoms.extend(first.filter(real));
        self.between(&coordinates, |atom| atoms.push(atom));
        atoms.extend(last.filter(real));
    }

    /// The outline of [`Losses::outline`], appended by ascending loss.
    pub(super) fn sketch(&self, depth: f64, atoms: &mut Vec<Atom>) {
        let (low, high) = self.extent(depth);
        let count = ((high - low) / OUTLINE_WIDTH).clamp(1.0, OUTLINE_PANELS).ceil();
        let first = atoms.len();
        for index in 0..count as u32 {
            let edge = |index: u32| low + (high - low) * (f64::from(index) / count);
            atoms.push(self.panel(edge(index), edge(index + 1)));
        }
        if !self.ascending() {
            atoms[first..].reverse();
        }
    }
}

/// ln sinh(x) for x ≥ 0.
fn log_sinh(x: f64) -> f64 {
    if x > 1.0 { x - std::f64::consts::LN_2 + libm::log1p(-exp(-2.0 * x)) } else { libm::log(libm::sinh(x)) }
}

impl Losses for NormalPair {
    fn outline(&self, depth: f64) -> Vec<Atom> {
        let mut atoms = Vec::new();
        self.sketch(depth, &mut atoms);
        atoms
    }

    fn atoms(&self, boundaries: &[f64]) -> Sides {
        let mut atoms = Vec::with_capacity(boundaries.len());
        self.cut(boundaries, &mut atoms);
        Sides::Both(Atoms::complete(atoms))
    }

    /// δ(ε) = Σ p·(1 − e^(ε−ℓ)) over panels beyond the coordinate of ε, where all losses are above it.
    ///
    /// The coordinate is rounded, but P − e^ε·Q vanishes there: what a panel that begins a few units off misses is of second
    /// order, far below the slack of the sum.
    fn alone(&self, epsilon: f64) -> Option<(f64, f64)> {
        let edge = self.coordinate(epsilon).max(self.start);
        if edge == f64::NEG_INFINITY && !self.ascending() {
            return Some((f64::NEG_INFINITY, f64::NEG_INFINITY));
        }
        let (low, high) = if self.ascending() {
            (edge, edge.max(self.shift) + REACH)
        } else {
            (edge.min(0.0) - REACH, edge)
        };
        if !(low.is_finite() && high.is_finite() && self.panels(low, high) <= MOST_PANELS) {
            return None;
        }
        let mut atoms = Vec::new();
        self.between(&[low, high], |atom| atoms.push(atom));
        atoms.push(if self.ascending() { self.end(high, true) } else { self.end(low, false) });
        atoms.retain(|atom| atom.log_mass > f64::NEG_INFINITY && atom.loss.is_finite());
        let (lower, upper) = log_excess(&atoms, epsilon);
        (!upper.is_nan()).then_some((lower, upper))
    }

    fn branches(&self) -> Option<Branches> {
        (self.kind != Kind::Substitute).then(|| Branches { normal: vec![*self], atom: None })
    }

    fn largest(&self) -> Option<f64> {
        // −ln(1−q+q·r) < −ln(1−q).
        (self.kind == Kind::Add && self.rate < 1.0)
            .then(|| -libm::log1p(-self.rate) * (1.0 + 4.0 * f64::EPSILON))
    }
}

/// Batches without replacement under substitution, Gaussian noise: one convex curve of two branches.
///
/// For a ≥ 1 the curve is H_a((1−q)Q+qP ‖ Q), the part of `Remove` with losses above 0; for a < 1 it is
/// H_a(P ‖ (1−q)P+qQ), the part of `Add` with losses below 0 (Zhu, Dong, Wang 2022, Proposition 30). Both parts are y > c/2.
/// The slope −Q(loss > 0) of the first at a = 1 is above that of the second, so the curve is convex, and the
/// difference is mass at loss 0: what is left of P, (1−q)(1 − 2Φ(−c/2)).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct WithoutReplacement {
    shift: f64,
    rate: f64,
}

impl WithoutReplacement {
    pub(super) fn new(shift: f64, rate: f64) -> Self {
        Self { shift, rate }
    }

    fn branch(&self, kind: Kind) -> NormalPair {
        NormalPair { kind, shift: self.shift, rate: self.rate, start: 0.5 * self.shift }
    }

    /// The atom at loss 0; ln(1 − 2Φ(−c/2)) = ln erf(c/√8).
    fn middle(&self) -> Atom {
        let centre = libm::erf(self.shift / 8.0_f64.sqrt());
        let mut atom = Atom::rounded(0.0, libm::log1p(-self.rate) + libm::log(centre));
        // 1 − q and its logarithm round apart for q near 1.
        atom.log_slack += 2.0 * f64::EPSILON / (1.0 - self.rate);
        atom
    }
}

impl Losses for WithoutReplacement {
    fn outline(&self, depth: f64) -> Vec<Atom> {
        let mut atoms = Vec::new();
        self.branch(Kind::Add).sketch(depth, &mut atoms);
        atoms.push(self.middle());
        self.branch(Kind::Remove).sketch(depth, &mut atoms);
        atoms
    }

    fn atoms(&self, boundaries: &[f64]) -> Sides {
        // Loss 0 is a boundary too: the atom there belongs to neither branch.
        let split = boundaries.partition_point(|loss| *loss < 0.0);
        let mut negative = boundaries[..split].to_vec();
        negative.push(0.0);
        let mut positive = vec![0.0];
        positive.extend(boundaries[split..].iter().filter(|loss| **loss > 0.0));
        let mut atoms = Vec::with_capacity(boundaries.len());
        self.branch(Kind::Add).cut(&negative, &mut atoms);
        if self.rate < 1.0 {
            atoms.push(self.middle());
        }
        self.branch(Kind::Remove).cut(&positive, &mut atoms);
        Sides::Both(Atoms::complete(atoms))
    }

    fn branches(&self) -> Option<Branches> {
        let normal = vec![self.branch(Kind::Add), self.branch(Kind::Remove)];
        Some(Branches { normal, atom: (self.rate < 1.0).then(|| self.middle()) })
    }

    /// For ε ≥ 0 the first branch alone.
    fn alone(&self, epsilon: f64) -> Option<(f64, f64)> {
        self.branch(Kind::Remove).alone(epsilon)
    }
}
