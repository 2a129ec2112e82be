//! Bounds the best adaptive attack from above: the dynamic program over F_j on a grid, every rounding upward.
//!
//! F_j is kept at x_i = e^{ih}, i ≥ 0. **Every value stored is at least F_j(x_i)**, by induction over j:
//! - *between nodes* F_j is convex in x, so the chord lies above it;
//! - *left of x = 1* F_j(x) = 1 − x + x·F_j(1/x), since the adversary's pairs come with P and Q in both orders and
//!   H_x(P‖Q) = 1 − x + x·H_{1/x}(Q‖P);
//! - *right of the last node kept* F_j is at most its value there, for it does not increase;
//! - *the supremum over t* is at most the maximum over the corners of an envelope, of whichever at each step;
//! - *rounding*: all coefficients and terms are positive, each sum within 16 units of rounding, and the factor 1 + 2^−48
//!   folded into the coefficients is 32 units. Positions are rounded to the left, where F_j is larger.
//!
//! Nodes whose value is at most `floor`·(1 + j/32) are cut off and replaced by one flat value. Since the program maps F + c to
//! at most F + c, this raises the result by at most the last such floor in all.

use super::pair::Pair;
use barkeep_num::vector;

/// 1 + 2^−48.
pub(super) const INFLATION: f64 = 1.0 + 1.0 / (1_u64 << 48) as f64;

/// Relative room for the rounding of a position on the grid.
const PLACE: f64 = 1.0 / (1_u64 << 49) as f64;

/// Outcomes further than this many nodes to the left take F = 1.
const FURTHEST_LEFT: usize = 1 << 14;

/// Outcomes further than this many nodes to the right take the value there.
const FURTHEST_RIGHT: usize = 1 << 10;

/// The floor doubles in this many steps: a flat tail feeds on itself, and a floor that stood still would never cut it again.
pub(super) const LEVELLING: f64 = 32.0;

/// Nodes worked on together, so that a piece of every array stays in the first cache.
const CHUNK: usize = 512;

/// Nodes whose values stay in registers while every corner is tried on them.
const HELD: usize = 32;

/// One corner as weights on four nodes at fixed distances, and a constant for an outcome without a finite ratio.
#[derive(Clone)]
struct Stencil {
    /// Distance to the left of the first of two neighbouring nodes.
    left: usize,
    /// Distance to the right of the first of two neighbouring nodes.
    right: usize,
    weights: [f64; 4],
    constant: f64,
}

impl Stencil {
    fn new(pair: Pair, step: f64) -> Self {
        let (toward, away) = pair.masses();
        let (toward, away) = (toward * INFLATION, away * INFLATION);
        // The weight of the right one of two nodes at a given distance from the left one, rounded down.
        let part = |distance: f64| {
            let exact = libm::expm1(distance.max(0.0)) / libm::expm1(step);
            (exact * (1.0 - PLACE)).min(1.0)
        };
        let places = (pair.toward / step * (1.0 + PLACE)).ceil();
        let (left, on_left, constant) = if places <= FURTHEST_LEFT as f64 {
            let share = part(places * step * (1.0 - PLACE) - pair.toward * (1.0 + PLACE));
            (places as usize, [toward * (1.0 - share), toward * share], 0.0)
        } else {
            (0, [0.0, 0.0], toward)
        };
        let furthest = FURTHEST_RIGHT as f64;
        let away_by = pair.away.min(furthest * step) * (1.0 - PLACE);
        let places = (away_by / step * (1.0 - PLACE)).floor();
        let share = part(away_by - places * step * (1.0 + PLACE));
        let weights = [on_left[0], on_left[1], away * (1.0 - share), away * share];
        Self { left, right: places as usize, weights, constant }
    }

    /// The weighted sum of four nodes. Products are not rounded: each takes one operation with the sum it goes into.
    #[inline(always)]
    fn yields(&self, l0: f64, l1: f64, r0: f64, r1: f64) -> f64 {
        let [a, b, c, d] = self.weights;
        a.mul_add(l0, b.mul_add(l1, c.mul_add(r0, d.mul_add(r1, self.constant))))
    }

    /// Raises `held`, the values from place `origin` of `padded` on, to what this corner yields.
    #[inline(always)]
    fn raise_held(&self, held: &mut [f64; HELD], padded: &[f64], origin: usize) {
        let window = |from: usize| padded.get(from..).and_then(<[f64]>::first_chunk::<{ HELD + 1 }>);
        let (Some(left), Some(right)) = (window(origin - self.left), window(origin + self.right)) else {
            return self.raise(held, padded, origin);
        };
        for i in 0..HELD {
            let raised = self.yields(left[i], left[i + 1], right[i], right[i + 1]);
            held[i] = if raised > held[i] { raised } else { held[i] };
        }
    }

    /// The same for any number of values.
    #[inline(always)]
    fn raise(&self, values: &mut [f64], padded: &[f64], origin: usize) {
        let count = values.len();
        let window = |from: usize| &padded[from..from + count];
        let (left, right) = (origin - self.left, origin + self.right);
        let (l0, l1, r0, r1) = (window(left), window(left + 1), window(right), window(right + 1));
        for ((((value, l0), l1), r0), r1) in values.iter_mut().zip(l0).zip(l1).zip(r0).zip(r1) {
            let raised = self.yields(*l0, *l1, *r0, *r1);
            *value = if raised > *value { raised } else { *value };
        }
    }
}

/// Raises `values`, which start at place `origin` of `padded`, to what any corner yields.
#[inline(always)]
fn raise(stencils: &[Stencil], values: &mut [f64], padded: &[f64], origin: usize) {
    let (whole, rest) = values.as_chunks_mut::<HELD>();
    let after = origin + whole.len() * HELD;
    for (index, values) in whole.iter_mut().enumerate() {
        let mut held = *values;
        for stencil in stencils {
            stencil.raise_held(&mut held, padded, origin + index * HELD);
        }
        *values = held;
    }
    for stencil in stencils {
        stencil.raise(rest, padded, after);
    }
}

/// The running bound: F_j after j steps.
#[derive(Clone)]
pub(super) struct Upper {
    floor: f64,
    /// What is tried from some step on until the next.
    tiers: Vec<(u64, Vec<Stencil>)>,
    /// Largest distances to the left and to the right.
    reach: (usize, usize),
    /// Steps taken.
    steps: u64,
    most_nodes: usize,
    /// 1 − e^{−gh} and e^{−gh} for g = 0, 1, …, up to the reach to the left.
    decays: Vec<(f64, f64)>,
    /// F_j at the nodes kept; never empty.
    values: Vec<f64>,
    /// Bounds F_j at and beyond the first node not kept.
    flat: f64,
    padded: Vec<f64>,
}

impl Upper {
    /// F_0(x) = max(0, 1 − x) on a grid of the given step and at most `most_nodes` nodes. The corners of a polygon serve from a step on
    /// until the next polygon's.
    pub(super) fn new(polygons: &[(u64, Vec<Pair>)], step: f64, floor: f64, most_nodes: usize) -> Self {
        let stencils = |corners: &[Pair]| corners.iter().map(|&pair| Stencil::new(pair, step)).collect();
        let tiers: Vec<(u64, Vec<Stencil>)> =
            polygons.iter().map(|(from, corners)| (*from, stencils(corners))).collect();
        let all = || tiers.iter().flat_map(|(_, stencils)| stencils);
        let left = all().map(|stencil| stencil.left).max().unwrap_or(0);
        let right = all().map(|stencil| stencil.right).max().unwrap_or(0);
        let decay = |g: usize| (-libm::expm1(-(g as f64) * step), libm::exp(-(g as f64) * step));
        let decays = (0..=left).map(decay).collect();
        let (values, padded) = (vec![0.0], Vec::new());
        Self { floor, tiers, reach: (left, right), steps: 0, most_nodes, decays, values, flat: 0.0, padded }
    }

    /// Takes one more step; returns the number of stencils evaluated.
    pub(super) fn advance(&mut self) -> u64 {
        let (left, right) = self.reach;
        let kept = self.values.len();
        let furthest = (kept + left + 1).min(self.most_nodes.max(kept));
        let tier = self.tiers.iter().rfind(|(from, _)| *from <= self.steps);
        let stencils = tier.map_or(&[][..], |(_, stencils)| stencils);
        self.steps += 1;
        let floor = self.floor * (1.0 + self.steps as f64 / LEVELLING);
        self.padded.clear();
        for g in (1..=left).rev() {
            let (lift, decay) = self.decays[g];
            self.padded.push((lift + decay * self.value(g)) * INFLATION);
        }
        self.padded.extend_from_slice(&self.values);
        self.padded.resize(left + furthest + right + 1, self.flat);
        // Standing still is one of the adversary's moves; it also keeps the bound monotone in j.
        let mut nodes = 0;
        while nodes < furthest && (nodes < kept || self.values[nodes - 1] > floor) {
            let end = (nodes + CHUNK).min(furthest);
            self.values.resize(end.max(self.values.len()), self.flat);
            let (values, padded) = (&mut self.values[nodes..end], &self.padded[..]);
            vector::dispatch(
                #[inline(always)]
                || raise(stencils, values, padded, left + nodes),
            );
            nodes = end;
        }
        self.flat = self.values[nodes - 1];
        while self.values.len() > 1
            && let Some(last) = self.values.pop_if(|last| *last <= floor)
        {
            self.flat = last;
        }
        (nodes * stencils.len()) as u64
    }

    fn value(&self, place: usize) -> f64 {
        self.values.get(place).copied().unwrap_or(self.flat)
    }

    /// The bounds at the nodes kept, and at and beyond the first node not kept.
    pub(super) fn nodes(&self) -> (&[f64], f64) {
        (&self.values, self.flat)
    }
}
