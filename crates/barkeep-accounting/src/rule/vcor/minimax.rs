//! Fits the correction with the least possible sup-CDF error: a linear program over atoms, refined by exchange.

use super::quality::{largest, logistic_tail};
use super::simplex;
use crate::{Component, Correction, Error};
use std::f64::consts::{E, PI};

/// The smallest C solved for; below it, V + N(0, 1−C) does for C what V does for 1.
///
/// The error at 1, 5·10⁻⁸, is far below what any chain can notice, while the program for smaller C grows and degenerates.
pub(super) const SMALLEST: f64 = 1.0;

/// The error is tested up to here: both tails beyond are below 10⁻¹⁰, a thousandth of the smallest error reached.
const FARTHEST_POINT: f64 = 24.0;

/// Atoms are placed up to here.
const FARTHEST_ATOM: f64 = 36.0;

/// Exchanges before the best found is taken; ten or so are usual.
const ROUNDS: usize = 60;

/// Minimises sup_y |P(N(0,C) + V ≤ y) − S(y)| over all symmetric laws V, for C ≥ [`SMALLEST`].
///
/// Returns the correction and a lower bound on the error of every correction.
///
/// With weights w_a on atom pairs ±a and upper tails U_a(y) = ½Φ((a−y)/√C) + ½Φ((−a−y)/√C), R(y) = 1/(1+e^y):
/// minimise t subject to |R(y) − Σ w_a U_a(y)| ≤ t for all y ≥ 0, Σ w_a = 1, w ≥ 0. Solved for finitely many y and a; then the
/// y where the error is largest and the a that would lower t most are added, until nothing is left to gain.
///
/// **Lower bound.** The solution's multipliers u on the points y_i, with signs σ_i and Σ u_i ≤ 1, prove that every law has
/// t ≥ Σ σ_i u_i R(y_i) − max_a Σ σ_i u_i U_a(y_i): weak duality. An asymmetric V is no better than its symmetrisation.
pub(super) fn fit(variance: f64) -> Result<(Correction, f64), Error> {
    let sd = libm::sqrt(variance);
    let mut points: Vec<f64> = (1..=60).map(|i| 0.4 * f64::from(i)).collect();
    let mut atoms: Vec<f64> = (0..=32).map(|i| 0.5 * f64::from(i)).collect();
    let found = exchange(sd, &mut points, &mut atoms, true);
    let (error, program) = found.ok_or(Error::Unresolved {
        what: "the minimax correction",
        reason: "its linear program could not be solved in double precision",
    })?;
    let least = program.least(sd);
    // Near the optimum an atom is often split between two neighbouring columns: join them and weigh once more.
    let mut joined = join(&program.weights);
    let weights = match exchange(sd, &mut points, &mut joined, false) {
        Some((again, tidy)) if again <= error * (1.0 + 1e-3) => tidy.weights,
        _ => program.weights,
    };
    let halves = weights.iter().map(|&(mean, weight)| Component { weight, mean, sd: 0.0 });
    Ok((super::mirrored(halves)?, least))
}

/// Solves, adds the worst points and (if `grow`) the best new atoms, and repeats; returns the best program and its error.
fn exchange(sd: f64, points: &mut Vec<f64>, atoms: &mut Vec<f64>, grow: bool) -> Option<(f64, Program)> {
    let mut best: Option<(f64, Program)> = None;
    for _ in 0..ROUNDS {
        let Some(program) = Program::solve(sd, points, atoms) else { break };
        let worst = peaks(FARTHEST_POINT, |y| program.error(sd, y).abs());
        let gains = if grow { peaks(FARTHEST_ATOM, |a| program.price(sd, a)) } else { Vec::new() };
        let before = points.len() + atoms.len();
        add(points, worst.iter().filter(|(_, value)| *value > program.error));
        add(atoms, gains.iter().filter(|(_, value)| *value > program.highest_price));
        let reached = worst.iter().fold(0.0_f64, |most, (_, value)| most.max(*value));
        let highest = gains.iter().fold(program.highest_price, |most, (_, value)| most.max(*value));
        let done =
            reached - (program.value() - highest) <= 1e-6 * reached || points.len() + atoms.len() == before;
        if done || best.as_ref().is_none_or(|(error, _)| reached < *error) {
            best = Some((reached, program));
        }
        if done {
            break;
        }
    }
    best
}

/// Adds places that are not there yet.
fn add<'a>(list: &mut Vec<f64>, candidates: impl Iterator<Item = &'a (f64, f64)>) {
    for &(x, _) in candidates {
        if !list.iter().any(|other| (other - x).abs() < 1e-9) {
            list.push(x);
        }
    }
}

/// Joins atoms closer than a twentieth at their centre of mass; those next to 0 go to 0.
fn join(weights: &[(f64, f64)]) -> Vec<f64> {
    const CLOSE: f64 = 0.05;
    let mut sorted = weights.to_vec();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut groups: Vec<Vec<(f64, f64)>> = Vec::new();
    for atom in sorted {
        match groups.last_mut() {
            Some(group) if group.last().is_some_and(|last| atom.0 - last.0 < CLOSE) => group.push(atom),
            _ => groups.push(vec![atom]),
        }
    }
    let centre = |group: &Vec<(f64, f64)>| {
        let mass: f64 = group.iter().map(|(_, weight)| weight).sum();
        group.iter().map(|(a, weight)| a * weight).sum::<f64>() / mass
    };
    groups.iter().map(centre).map(|a| if a < CLOSE { 0.0 } else { a }).collect()
}

/// The solved program for some points and atoms.
struct Program {
    /// Atoms with their weights, mirror images included in one weight.
    weights: Vec<(f64, f64)>,
    /// Points with their multipliers times the sign of the constraint.
    multipliers: Vec<(f64, f64)>,
    /// t, the largest error at the points.
    error: f64,
    /// The largest price of an atom in the program; others above it would lower t.
    highest_price: f64,
}

impl Program {
    /// Solves the dual: maximise Σ σ_i u_i R(y_i) + ν subject to Σ u_i ≤ 1 and Σ σ_i u_i U_a(y_i) + ν ≤ 0 for every
    /// atom. Its prices are t and the weights.
    fn solve(sd: f64, points: &[f64], atoms: &[f64]) -> Option<Self> {
        let count = points.len();
        let signed = |values: &mut dyn Iterator<Item = f64>, last: f64| {
            let upper: Vec<f64> = values.collect();
            let mut row = upper.clone();
            row.extend(upper.iter().map(|value| -value));
            row.extend([last, -last]);
            row
        };
        let objective = signed(&mut points.iter().map(|&y| logistic_tail(y)), 1.0);
        let mut matrix = vec![vec![1.0; 2 * count + 2]];
        matrix[0][2 * count..].fill(0.0);
        matrix.extend(atoms.iter().map(|&a| signed(&mut points.iter().map(|&y| pair_tail(sd, a, y)), 1.0)));
        let mut right = vec![0.0; matrix.len()];
        right[0] = 1.0;
        // Without a nudge every vertex is degenerate; with it t grows by at most 2·10⁻¹¹.
        for (j, entry) in right.iter_mut().enumerate().skip(1) {
            *entry = 1e-11 * (1.0 + ((j * 61) % 101) as f64 / 101.0);
        }
        let solution = simplex::maximise(&objective, &matrix, &right)?;
        let total: f64 = solution.prices[1..].iter().sum();
        if !(0.5..2.0).contains(&total) {
            return None;
        }
        let weights = atoms.iter().zip(&solution.prices[1..]).filter(|(_, weight)| **weight > 0.0);
        let multiplier = |i: usize| solution.variables[i] - solution.variables[count + i];
        let multipliers =
            points.iter().enumerate().map(|(i, &y)| (y, multiplier(i))).filter(|(_, u)| *u != 0.0);
        let mut program = Self {
            weights: weights.map(|(&a, &weight)| (a, weight / total)).collect(),
            multipliers: multipliers.collect(),
            error: solution.prices[0],
            highest_price: 0.0,
        };
        program.highest_price = atoms.iter().map(|&a| program.price(sd, a)).fold(f64::NEG_INFINITY, f64::max);
        Some(program)
    }

    /// R(y) − Σ w_a U_a(y).
    fn error(&self, sd: f64, y: f64) -> f64 {
        logistic_tail(y) - self.weights.iter().map(|&(a, weight)| weight * pair_tail(sd, a, y)).sum::<f64>()
    }

    /// Σ σ_i u_i U_a(y_i).
    fn price(&self, sd: f64, a: f64) -> f64 {
        self.multipliers.iter().map(|&(y, u)| u * pair_tail(sd, a, y)).sum()
    }

    /// Σ σ_i u_i R(y_i).
    fn value(&self) -> f64 {
        self.multipliers.iter().map(|&(y, u)| u * logistic_tail(y)).sum()
    }

    /// The lower bound on the error of any law, proved by these multipliers.
    fn least(&self, sd: f64) -> f64 {
        let total = self.multipliers.iter().map(|(_, u)| u.abs()).sum::<f64>().max(1.0);
        // A normal density of variance v has slope at most 1/(v√(2πe)); the multipliers sum to about 1.
        let curvature = total / (sd * sd * (2.0 * PI * E).sqrt());
        // |price| ≤ ½: shifted by 1 it is positive, as `largest` wants it.
        let (_, highest) = largest(
            FARTHEST_ATOM,
            |a| 1.0 + self.price(sd, a),
            curvature,
            0.0,
            (1e-5 * self.error).max(1e-11),
        );
        // Atoms farther out price like the farthest, up to the tail between them and the points.
        let beyond = barkeep_num::normal_cdf((FARTHEST_POINT - FARTHEST_ATOM) / sd);
        let rounding = self.multipliers.len() as f64 * 8.0 * f64::EPSILON;
        (self.value() - (highest - 1.0) - beyond - rounding) / total
    }
}

/// U_a(y): the upper tail of noise plus a symmetric pair of atoms at ±a.
fn pair_tail(sd: f64, a: f64, y: f64) -> f64 {
    0.5 * (barkeep_num::normal_cdf((a - y) / sd) + barkeep_num::normal_cdf((-a - y) / sd))
}

/// Local maxima of f on [0, `reach`], each with its value.
fn peaks(reach: f64, f: impl Fn(f64) -> f64) -> Vec<(f64, f64)> {
    /// Much narrower than the noise, whose standard deviation is at least 1.
    const STEP: f64 = 1.0 / 32.0;
    let count = (reach / STEP) as usize;
    let values: Vec<f64> = (0..=count).map(|i| f(STEP * i as f64)).collect();
    let mut found = Vec::new();
    for i in 0..=count {
        let left = if i == 0 { f64::NEG_INFINITY } else { values[i - 1] };
        let right = if i == count { f64::NEG_INFINITY } else { values[i + 1] };
        if values[i] >= left && values[i] > right {
            let centre = STEP * i as f64;
            found.push(golden((centre - STEP).max(0.0), (centre + STEP).min(reach), &f));
        }
    }
    found
}

/// Golden-section search for a maximum.
fn golden(mut low: f64, mut high: f64, f: &impl Fn(f64) -> f64) -> (f64, f64) {
    /// (√5 − 1)/2.
    const RATIO: f64 = 0.618_033_988_749_894_9;
    let mut left = high - RATIO * (high - low);
    let mut right = low + RATIO * (high - low);
    let (mut at_left, mut at_right) = (f(left), f(right));
    for _ in 0..40 {
        if at_left >= at_right {
            (high, right, at_right) = (right, left, at_left);
            left = high - RATIO * (high - low);
            at_left = f(left);
        } else {
            (low, left, at_left) = (left, right, at_right);
            right = low + RATIO * (high - low);
            at_right = f(right);
        }
    }
    if at_left >= at_right { (left, at_left) } else { (right, at_right) }
}
