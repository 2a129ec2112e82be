//! Bounds the curve of Barker's test on a batch (Heikkilä et al. 2019, Theorem 2) over everything the batch may hold.
//!
//! The b records of a batch have log-ratios u ∈ [−1, 1] in units of the clip. What is released is at most a draw of N(Σu/√b, 2 − Var u). One record changes by
//! w = |u₁ − u₂| ≤ 2, the others add up to b·m.
//!
//! 1. *Variances.* Var u ≤ 1 − mean², and |mean| ≥ |m| − 1/b: both variances are at least v = 1 + max(0, |m| − 1/b)². They differ by
//!    |u₁ − u₂|·|2m/b − (u₁+u₂)(b−1)/b²| ≤ w(2|m| + 2 − w)/b, as |u₁ + u₂| ≤ 2 − w.
//! 2. *Common noise.* Both draws are one of variance v, or of v plus the difference, with further noise added to both: post-processing. In units of √v: normals of
//!    variances 1 and 1 + e, e ≤ w(2|m| + 2 − w)/(bv), at distance g = w/√(bv).
//! 3. *Distance.* H_x = 1 − ∫min(p, xq). The minimum is log-concave in place and distance, so its integral is log-concave in the distance (Prékopa 1973),
//!    and even: H grows with g.
//! 4. *Variance.* √s·φ_s grows with the variance s at every place. For e from e₀ to e₁ and κ = √((1+e₁)/(1+e₀)): where the first law is the
//!    wide one, p ≤ κ·p_{e₁}, so H_x ≤ κ·H_{x/κ} at e₁; where the second is, q ≥ q_{e₀}/κ, so H_x ≤ H_{x/κ} at e₀.
//!
//! Boxes of (|m|, w) cover all batches; each allows every e up to its largest and every g up to its largest. A stair of e takes the largest g of any box that
//! reaches it. Drawing the batch amplifies the result as any curve without replacement ([`removed`]): Balle, Barthe, Gaboardi 2018, Theorem 2.

use crate::curves::{mirrored, removed};
use crate::interval::{Interval, at};

/// Boxes of |m| and of w, and stairs of e. More of them are closer.
const BOXES: u32 = 48;
const STAIRS: u32 = 24;

/// Every e of a range, every distance up to a largest one.
struct Stair {
    least: f64,
    most: f64,
    distance: f64,
}

/// The curve of one test on a batch that holds a record with this probability.
pub(crate) struct Minibatch {
    stairs: Vec<Stair>,
    rate: f64,
}

impl Minibatch {
    pub(crate) fn new(batch: f64, rate: f64) -> Self {
        let ends = |i: u32, whole: f64| [i, i + 1].map(|i| whole * f64::from(i) / f64::from(BOXES));
        let reach = |cell: u32| {
            let ([m0, m1], [w0, w1]) = (ends(cell / BOXES, 1.0), ends(cell % BOXES, 2.0));
            let mean = at((at(m0.next_down()) - at(1.0) / batch).lo.max(0.0));
            let bv = (mean * mean + 1.0) * batch;
            let difference = at(w1.next_up()) * (at(m1.next_up()) * 2.0 + 2.0 - w0.next_down());
            ((difference / bv).hi, (at(w1.next_up()) / bv.sqrt()).hi)
        };
        let boxes: Vec<(f64, f64)> = (0..BOXES * BOXES).map(reach).collect();
        let most = boxes.iter().fold(0.0_f64, |most, (e, _)| most.max(*e));
        let edge = |stair: u32| most * (f64::from(stair) / f64::from(STAIRS));
        let stair = |i: u32| {
            let reaching = boxes.iter().filter(|(e, _)| *e >= edge(i));
            let distance = reaching.fold(0.0_f64, |most, (_, distance)| most.max(*distance));
            Stair { least: edge(i), most: edge(i + 1), distance }
        };
        Self { stairs: (0..STAIRS).map(stair).collect(), rate }
    }

    /// H of one step at e^l.
    pub(crate) fn curve(&self, l: f64) -> f64 {
        if l < 0.0 {
            return mirrored(l, self.curve(-l));
        }
        removed(self.rate, l, |l| self.stairs.iter().fold(0.0_f64, |most, stair| most.max(stair.curve(l))))
    }
}

impl Stair {
    /// The larger of the two bounds of step 4.
    fn curve(&self, l: f64) -> f64 {
        let ln_factor = (at(self.most).ln_1p() - at(self.least).ln_1p()) * 0.5;
        let l = (at(l) - ln_factor).lo;
        let wide = (ln_factor.exp() * first_wide(self.distance, self.most, l)).hi;
        wide.max(second_wide(self.distance, self.least, l)).min(1.0)
    }
}

/// P − xQ of half-lines whose ends in units of their laws are p and q: enclosed, since the end is.
fn beyond(p: Interval, q: Interval, l: f64) -> Interval {
    p.tail() - at(l).exp() * q.tail()
}

/// H of N(g, 1+e) against N(0, 1): ex²/2 + gx > c with c = (1+e)(l + ½ln(1+e)) + g²/2, outside the two roots 2c/(g+s) and −(g+s)/e, s = √(g² + 2ec).
fn first_wide(g: f64, e: f64, l: f64) -> f64 {
    let (g, wide) = (at(g), at(e) + 1.0);
    let level = wide * (at(e).ln_1p() * 0.5 + l) + g * g * 0.5;
    let square = g * g + level * e * 2.0;
    if square.lo <= 0.0 {
        // l is far below 0.
        return 1.0;
    }
    let (sum, sd) = (g + square.sqrt(), wide.sqrt());
    let right = level * 2.0 / sum;
    let left = if e > 0.0 { beyond((sum / e + g) / sd, sum / e, l).hi.max(0.0) } else { 0.0 };
    (beyond((right - g) / sd, right, l) + left).hi.clamp(0.0, 1.0)
}

/// H of N(g, 1) against N(0, 1+e): −kx²/2 + gx > c, k = e/(1+e), c = l − ½ln(1+e) + g²/2, between the roots 2c/(g+s) and (g+s)/k, s = √(g² − 2kc): the half-line
/// from the first root on, less the one from the second on, where P < xQ. Where s² may be negative s is anything from 0, and the roots enclose more.
fn second_wide(g: f64, e: f64, l: f64) -> f64 {
    let (g, wide) = (at(g), at(e) + 1.0);
    let bend = at(e) / wide;
    let level = at(l) - at(e).ln_1p() * 0.5 + g * g * 0.5;
    let square = g * g - bend * level * 2.0;
    if square.hi <= 0.0 {
        return 0.0;
    }
    let (sum, sd) = (g + square.sqrt(), wide.sqrt());
    let (left, right) = (level * 2.0 / sum, sum / bend);
    let missing = if e > 0.0 { -beyond(right - g, right / sd, l).lo.min(0.0) } else { 0.0 };
    (beyond(left - g, left / sd, l) + missing).hi.clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests;
