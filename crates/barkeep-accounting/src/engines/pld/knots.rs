//! Turns a privacy curve δ(ε) known at some points into distributions above and below it.
//!
//! As a function of x = e^ε a privacy curve δ is convex, falls from δ = 1 at x = 0, and never falls faster than 1 − x. A
//! piecewise linear function of that kind *is* the curve of a pair of distributions: the change of slope at a corner x is Q's
//! mass at loss ln x, x times it is P's, and the level after the last corner is P's mass at infinity.
//!
//! *Above* (connecting the dots; Doroshenko, Ghazi, Kamath, Kumar, Manurangsi 2022): values at least δ at some x, and δ(0) = 1.
//! Their lower convex hull h is a convex function on the dots; so is δ's own interpolation g, which is at most every dot, and h is
//! the largest such: δ ≤ g ≤ h. Noise in the values can therefore not make the hull dip below the truth.
//!
//! *Below*: a convex function lies above the extension of each of its chords. Between two dots it is above the chord
//! before them and above the chord after them; the larger of the two lines has one corner there. These corners and the dots
//! bound δ from below, and the function through them is concave at the dots, so its convex hull is the hull of the points
//! themselves: a privacy curve nowhere above δ.

use super::atoms::{Atom, Atoms};

/// A point (x, δ) of a curve, x = e^ε.
type Point = (f64, f64);

/// Rounding charged to a difference of two slopes, relative to the larger.
const SLOPE_ERROR: f64 = 16.0 * f64::EPSILON;

/// A distribution that dominates every curve at or below the dots (ε, δ), ascending in ε.
///
/// None if a dot is not a number or the order is wrong.
pub(super) fn dominating(dots: &[(f64, f64)]) -> Option<Atoms> {
    let mut points = vec![(0.0, 1.0)];
    let mut smallest = 1.0_f64;
    for &(epsilon, delta) in dots {
        // The curve falls, so a value at an earlier dot bounds it as well.
        smallest = smallest.min(delta.max(0.0));
        points.push((libm::exp(epsilon), smallest));
    }
    let known = |(epsilon, delta): &(f64, f64)| epsilon.abs() <= 700.0 && !delta.is_nan();
    if !dots.iter().all(known) || !ascending(&points) {
        return None;
    }
    Some(corners(&hull(&points), 1.0))
}

/// A distribution that is dominated by every privacy curve that passes, at each ε (ascending), between the two values given.
pub(super) fn dominated(dots: &[(f64, f64, f64)]) -> Option<Atoms> {
    let mut low = vec![(0.0, 1.0)];
    let mut high = vec![(0.0, 1.0)];
    for &(epsilon, lower, upper) in dots {
        let x = libm::exp(epsilon);
        low.push((x, lower.max(1.0 - x).max(0.0)));
        high.push((x, upper.clamp(0.0, 1.0)));
    }
    let known = |(epsilon, lower, upper): &(f64, f64, f64)| epsilon.abs() <= 700.0 && lower <= upper;
    if !dots.iter().all(known) || !ascending(&low) {
        return None;
    }
    let mut points: Vec<Point> = Vec::with_capacity(2 * low.len());
    let last = low.len() - 1;
    for index in 0..last {
        points.push(low[index]);
        // Lines through a low value at the near dot and a high one at the far dot: below the true chord's extension.
        let left = if index == 0 { (low[0], -1.0) } else { (low[index], slope(high[index - 1], low[index])) };
        let right = if index + 1 == last {
            (low[last], 0.0)
        } else {
            (low[index + 1], slope(low[index + 1], high[index + 2]))
        };
        points.extend(crossing(left, right, low[index].0, low[index + 1].0));
    }
    points.push(low[last]);
    // Past the last dot: down the last chord to zero.
    if last > 0 && low[last].1 > 0.0 {
        let fall = slope(high[last - 1], low[last]);
        if fall < 0.0 {
            points.push((low[last].0 - low[last].1 / fall * (1.0 - 1e-12), 0.0));
        }
    }
    Some(corners(&hull(&points), -1.0))
}

fn ascending(points: &[Point]) -> bool {
    points.windows(2).all(|pair| pair[0].0 < pair[1].0)
}

fn slope(a: Point, b: Point) -> f64 {
    (b.1 - a.1) / (b.0 - a.0)
}

/// Where two lines (point, slope) cross, if strictly between the two ends; lowered by the rounding of the crossing.
fn crossing(left: (Point, f64), right: (Point, f64), low: f64, high: f64) -> Option<Point> {
    let ((x, y), rise) = left;
    let ((z, w), climb) = right;
    let turn = climb - rise;
    // right − left at x, divided by the difference of slopes, is the way back from x.
    let step = -((w - y) + climb * (x - z)) / turn;
    let (at, value) = (x + step, y + rise * step);
    let rounding = SLOPE_ERROR * (y.abs() + (rise * step).abs());
    (turn > 0.0 && at > low && at < high && value.is_finite()).then_some((at, (value - rounding).max(0.0)))
}

/// The lower convex hull of points ascending in x.
fn hull(points: &[Point]) -> Vec<Point> {
    let mut hull: Vec<Point> = Vec::with_capacity(points.len());
    for &point in points {
        while let [.., before, last] = hull[..] {
            if slope(before, last) < slope(last, point) {
                break;
            }
            hull.pop();
        }
        hull.push(point);
    }
    hull
}

/// The distribution of a convex, falling, piecewise linear curve; rounding raises the masses (`sign` 1) or lowers them (−1).
fn corners(points: &[Point], sign: f64) -> Atoms {
    let mut atoms = Vec::with_capacity(points.len());
    let mut before = points.first().zip(points.get(1)).map_or(0.0, |(a, b)| slope(*a, *b).min(0.0));
    for (index, &(x, _)) in points.iter().enumerate().skip(1) {
        let after = points.get(index + 1).map_or(0.0, |next| slope((x, points[index].1), *next).min(0.0));
        let change = after - before;
        let rounding = SLOPE_ERROR * (after.abs() + before.abs());
        let mass = x * (change + sign * rounding);
        if mass > 0.0 {
            let mut atom = Atom::rounded(libm::log(x), libm::log(mass));
            atom.loss_slack += 4.0 * f64::EPSILON;
            atoms.push(atom);
        }
        before = after;
    }
    let level = points.last().map_or(0.0, |point| point.1);
    let infinite = libm::log(level * (1.0 + sign * 1e-14));
    Atoms { atoms, below: f64::NEG_INFINITY, above: infinite, infinite }
}

#[cfg(test)]
mod tests;
