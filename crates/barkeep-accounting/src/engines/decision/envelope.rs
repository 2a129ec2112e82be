//! Encloses every coin pair an adversary can reach in the hull of a few: the supremum over t becomes a maximum.
//!
//! **Theorem.** Let F be convex and non-increasing, G(q, p) = p·F(xq/p) + (1−p)·F(x(1−q)/(1−p)). G is convex on the unit square:
//! each term is the perspective of a convex function. So G over a set is at most its maximum over the corners of any
//! polygon that encloses the set.
//!
//! The pairs to enclose are (q, p) = (κa(t−s), κa(t)), |s| ≤ Δ. For fixed t they lie on a segment whose ends are s = ±Δ;
//! those with s = −Δ are those with s = Δ with P and Q exchanged; and κ only scales the picture towards (0, 0). What is
//! left is the curve C = {(a(t−Δ), a(t))}, above the diagonal, and the diagonal itself, where G = F(x).
//!
//! **The corners.** Cut C at points t₀ < t₁ < …. With P_i the point at t_i, moved up and to the left by its error:
//! - *any rising curve:* between t_i and t_{i+1} it stays to the right of and below (q_i, p_{i+1});
//! - *a concave one* stays below the chord to the left of t_i prolonged to the right, and below the chord to the right
//!   of t_{i+1} prolonged to the left. Take for the corner a point above both lines (their crossing). Corners of
//!   neighbouring cells lie above the two lines through their common P_i, whose slopes are ordered, so the segment
//!   between them passes above P_i: the hull of all corners and of the diagonal encloses C. The corner's distance
//!   from C is of second order in the cell;
//! - *a smooth one* stays, within the cell, below the line through P_i with the largest slope of the cell, and below the line
//!   through P_{i+1} with the smallest. The slope at P_i lies within the bounds of both its cells, so the lines are
//!   ordered as before.
//!
//! The last cell on each side ends on the line p = e^range·q, or on q = 0 where the range is unbounded; where the two
//! halves meet, P_i itself is a corner.
//!
//! **Few corners.** Any such polygon is sound; how close it must be is a matter of choice. Where corners must only gain no more than the
//! strongest coins (see [`Peak`]), cells are as large as that allows. C and its image with P and Q exchanged are then
//! enclosed each by a polygon of its own: a pair and its exchange do not gain the same.
//!
//! Each half of C is handled where its probabilities are small and precise, the upper one as the lower one of
//! t ↦ 1 − a(−t). The points P_i themselves, moved the other way, serve the lower bounds.

use super::acceptance::{Acceptance, FLOOR, Shape};
use super::pair::Pair;
use super::peak::{Peak, strength};
use crate::Error;

/// Room for every rounding of the few operations between a probability and a corner.
const ROOM: f64 = 1.0 / (1_u64 << 48) as f64;

/// More corners than any sensible request needs; a counted limit instead of an endless loop.
const MOST_CELLS: usize = 20_000;

/// The length of the chords that bound slopes, as a part of a cell, and where cells are few and large.
const ASIDE: f64 = 0.125;
const ASIDE_OF_LARGE: f64 = 0.05;

/// ln of the ratio of probabilities beyond which a cell is not prolonged.
const MOST_DECAY: f64 = 16.0;

/// Corners that enclose, and reachable pairs, of one acceptance function at one sensitivity.
pub(super) struct Envelope {
    /// The corners, with P and Q in both orders: dominate whatever an adversary can do in one step.
    pub(super) outer: Vec<Pair>,
    /// Pairs an adversary can reach: at all places, then the same in the other order.
    pub(super) inner: Vec<Pair>,
    /// Where tails of unbounded range were given up.
    pub(super) ends: Vec<End>,
    /// The largest variance of the privacy loss among reachable pairs, or twice the largest mean.
    pub(super) information: f64,
    /// Where cells end, and on which half; inwards first on each.
    pub(super) places: Vec<(f64, bool)>,
    /// The same information, of the coarse walk with which an envelope begins: whoever makes another one need not repeat it.
    pub(super) strongest: f64,
}

/// The last point of a half whose range is unbounded.
pub(super) struct End {
    /// The rare outcome's probabilities there: p from above, q from below.
    pub(super) p: f64,
    pub(super) q: f64,
    /// A lower bound on (ln p)' from there outwards.
    pub(super) steepness: f64,
}

/// How closely to enclose.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Fineness {
    /// Relative excess of a corner's loss variance over the curve's, where that is largest; looser elsewhere.
    pub(super) excess: f64,
    /// Largest ln p(right)/p(left) of the rare outcome over a cell: an attack of few steps lives in the tails.
    pub(super) decay: f64,
    /// Probability at which a tail of unbounded range is given up as one corner with q = 0.
    pub(super) tail: f64,
}

impl Envelope {
    /// As close everywhere as where coins are strongest.
    pub(super) fn new(a: &dyn Acceptance, sensitivity: f64, fineness: Fineness) -> Result<Self, Error> {
        Self::below(a, sensitivity, fineness, None, None)
    }

    /// As close as corners must be to stay below a peak, given [`Envelope::strongest`] of another envelope of the same coins.
    pub(super) fn below(
        a: &dyn Acceptance,
        sensitivity: f64,
        fineness: Fineness,
        peak: Option<&Peak>,
        strongest: Option<f64>,
    ) -> Result<Self, Error> {
        let centre = if a.odd() { 0.5 * sensitivity } else { median(a) + 0.5 * sensitivity };
        let aside = if peak.is_some() { ASIDE_OF_LARGE } else { ASIDE };
        let lower = Half { a, sensitivity, mirrored: false, aside };
        // t ↦ 1 − a(−t) at t̄ is the pair at t = Δ − t̄.
        let upper = Half { a, sensitivity, mirrored: true, aside };
        // The halves overlap by more than the rounding of where they meet.
        let mirrored_centre = sensitivity - centre + 1e-9 * (1.0 + centre.abs());
        let walked = || lower.strongest(centre).max(upper.strongest(mirrored_centre));
        let strongest = strongest.unwrap_or_else(walked);
        let (outer, inner, ends, places) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut envelope = Self { outer, inner, ends, information: strongest, places, strongest };
        let mut halves = |exchanged: bool| {
            lower.march(centre, fineness, peak, exchanged, &mut envelope)?;
            if a.odd() {
                Ok(())
            } else {
                upper.march(mirrored_centre, fineness, peak, exchanged, &mut envelope)
            }
        };
        halves(false)?;
        if peak.is_some() {
            // In the other order coins gain less, and may be enclosed by other corners.
            halves(true)?;
        } else {
            let exchanged: Vec<Pair> = envelope.outer.iter().map(|pair| pair.exchanged()).collect();
            envelope.outer.extend(exchanged);
        }
        let exchanged: Vec<Pair> = envelope.inner.iter().map(|pair| pair.exchanged()).collect();
        envelope.inner.extend(exchanged);
        Ok(envelope)
    }
}

/// The coins an adversary can reach at t, on one half or the other.
pub(super) fn reached(a: &dyn Acceptance, sensitivity: f64, t: f64, mirrored: bool) -> Pair {
    Half { a, sensitivity, mirrored, aside: ASIDE }.place(t).reached
}

/// Where a is about one half: the two halves are equally precise there.
fn median(a: &dyn Acceptance) -> f64 {
    let below = |t: f64| a.probability(t) <= 0.5;
    barkeep_num::largest_real(-1e6, 1e6, 1e-3, below).unwrap_or(0.0)
}

/// A point of the unit square.
#[derive(Clone, Copy)]
struct Point {
    q: f64,
    p: f64,
}

/// A point of the curve between its bounds.
#[derive(Clone, Copy)]
struct Node {
    /// Up and to the left of the true point.
    outer: Point,
    /// Down and to the right of it.
    inner: Point,
}

/// A point at which cells end.
struct Place {
    /// The probability.
    value: f64,
    node: Node,
    /// The coins an adversary can reach there.
    reached: Pair,
    /// Their strength.
    strength: f64,
}

/// One half of the curve, seen from the corner (0, 0) or from (1, 1).
struct Half<'a> {
    a: &'a dyn Acceptance,
    sensitivity: f64,
    mirrored: bool,
    /// The length of chords, as a part of a cell.
    aside: f64,
}

impl Half<'_> {
    fn value(&self, t: f64) -> f64 {
        if self.mirrored { self.a.complement(-t) } else { self.a.probability(t) }
    }

    /// Bounds on a probability that was computed as `value`.
    fn bounds(&self, value: f64) -> (f64, f64) {
        if value >= FLOOR {
            let error = self.a.error(value) + ROOM;
            (value * (1.0 - error), (value * (1.0 + error)).min(1.0))
        } else {
            (0.0, FLOOR)
        }
    }

    fn node(&self, t: f64) -> Node {
        self.node_of(self.value(t), t)
    }

    /// The node at t, where the probability is `value`.
    fn node_of(&self, value: f64, t: f64) -> Node {
        let (p_low, p_high) = self.bounds(value);
        let (q_low, q_high) = self.bounds(self.value(t - self.sensitivity));
        Node { outer: Point { q: q_low, p: p_high }, inner: Point { q: q_high, p: p_low } }
    }

    /// All that is asked of a point at which cells end: probabilities of a mixture are expensive.
    fn place(&self, t: f64) -> Place {
        let value = self.value(t);
        let node = self.node_of(value, t);
        let reached = self.pair(node.inner, -ROOM);
        Place { value, node, reached, strength: strength(reached) }
    }

    /// The range of this half's own outcome.
    fn range(&self) -> f64 {
        if self.mirrored {
            self.a.reject_range(self.sensitivity)
        } else {
            self.a.accept_range(self.sensitivity)
        }
    }

    /// The coins at a point above the diagonal after scaling by κ, both ratios moved by `slack`; this half's own outcome,
    /// rare near its end, comes first.
    fn pair(&self, point: Point, slack: f64) -> Pair {
        let Point { q, p } = point;
        let keep = self.a.keep();
        let distance = (p - q).max(0.0);
        let ratio = |denominator: f64, share: f64| {
            if distance == 0.0 { 0.0 } else { libm::log1p(share * distance / denominator) * (1.0 + slack) }
        };
        if self.mirrored {
            Pair { toward: ratio((1.0 - keep) + keep * q, keep), away: ratio(1.0 - p, 1.0) }
        } else {
            Pair { toward: ratio(q, 1.0), away: ratio(1.0 - keep * p, keep) }
        }
    }

    /// The largest strength of reachable pairs, by a coarse walk: it only steers the fineness and the windows.
    fn strongest(&self, from: f64) -> f64 {
        let mut best: f64 = 0.0;
        let mut offset = 1e-3;
        while offset < 1e3 {
            let pair = self.pair(self.node(from - offset).inner, 0.0);
            best = best.max(strength(pair)).max(strength(pair.exchanged()));
            offset *= 1.1;
        }
        best
    }

    /// A corner above the curve between two points, `left` < `right`.
    fn corner(&self, left: f64, right: f64, at_left: &Node, at_right: &Node) -> Point {
        let (from, to) = (at_left.outer, at_right.outer);
        let plain = Point { q: from.q, p: to.p };
        let (falling, rising) = match self.a.shape() {
            Shape::Monotone => return plain,
            Shape::Smooth => self.a.slopes(left, right, self.sensitivity, self.mirrored),
            Shape::Concave => {
                let aside = self.aside * (right - left);
                let before = self.node(left - aside).inner;
                let rising = (from.p - before.p) / (from.q - before.q) * (1.0 + ROOM);
                (self.slope_after(right, to, aside), if before.q < from.q { rising } else { f64::INFINITY })
            }
        };
        let width = to.q - from.q;
        if !(rising.is_finite() && rising > falling && width > 0.0) {
            return plain;
        }
        let offset = (((to.p - from.p) - falling * width) / (rising - falling)).clamp(0.0, width);
        let height = (from.p + rising * offset).max(to.p - falling * (width - offset));
        let p = height * (1.0 + ROOM);
        if p <= to.p { Point { q: (from.q + offset) * (1.0 - ROOM), p } } else { plain }
    }

    /// A lower bound on the slope of a chord that starts at t, where the curve is below `here`, and lies to its right.
    fn slope_after(&self, t: f64, here: Point, aside: f64) -> f64 {
        let after = self.node(t + aside);
        ((after.inner.p - here.p) / (after.inner.q - here.q) * (1.0 - ROOM)).max(0.0)
    }

    /// The corner that covers the curve from its end up to t.
    fn last_corner(&self, t: f64, here: Point, cell: f64) -> Pair {
        let Point { q, p } = here;
        let slope =
            if self.a.shape() == Shape::Concave { self.slope_after(t, here, self.aside * cell) } else { 0.0 };
        let growth = libm::exp(self.range()) * (1.0 + ROOM);
        // Where the line through P_i meets p = growth·q; growth may be infinite.
        let crossing = if growth > slope { ((p - slope * q) / (growth - slope)).clamp(0.0, q) } else { q };
        let height = if slope.is_finite() { p - slope * (q - crossing) } else { p };
        self.pair(Point { q: crossing * (1.0 - ROOM), p: (height * (1.0 + ROOM)).min(1.0) }, ROOM)
    }

    fn end(&self, t: f64, cell: f64) -> End {
        let Node { outer, inner } = self.node(t);
        let steepness = if self.a.shape() == Shape::Concave {
            // ln p is concave: its slope at t is at least that of a chord to the right.
            let after = self.node(t + cell).inner;
            libm::log(after.p / outer.p) / cell * (1.0 - 1e-9)
        } else {
            self.a.steepness(t, self.mirrored)
        };
        End { p: outer.p, q: outer.q.min(inner.q), steepness }
    }

    /// Walks from the centre to the end of the half, adding corners and reachable pairs to the envelope.
    fn march(
        &self,
        from: f64,
        fineness: Fineness,
        peak: Option<&Peak>,
        exchanged: bool,
        envelope: &mut Envelope,
    ) -> Result<(), Error> {
        let ordered = |pair: Pair| if exchanged { pair.exchanged() } else { pair };
        let unresolved =
            Error::Unresolved { what: "a decision", reason: "its acceptance function is too rough" };
        let monotone = self.a.shape() == Shape::Monotone;
        let (mut right, mut cell) = (from, 0.125_f64);
        // A kink is a feature of the size of the sensitivity; below that lies rounding.
        let smallest = 1e-4 * self.sensitivity.min(0.01);
        let mut here = self.place(right);
        envelope.inner.push(here.reached);
        envelope.places.push((right, self.mirrored));
        envelope.outer.push(ordered(self.pair(here.node.outer, ROOM)));
        // Cells from here on: the largest found that will do, and the smallest found that will not.
        let (mut good, mut bad): (Option<(f64, Place, Pair)>, f64) = (None, f64::INFINITY);
        for _ in 0..MOST_CELLS {
            let left = right - cell;
            let there = self.place(left);
            let corner = self.pair(self.corner(left, right, &there.node, &here.node), ROOM);
            let plain = there.strength.max(here.strength);
            envelope.information = envelope.information.max(plain);
            let share = (plain / envelope.information).max(1e-9);
            // A weak part of the curve may be enclosed more loosely; the first order of the plain corners costs more.
            let allowed = (fineness.excess / share).min(0.1) * if monotone { 4.0 } else { 1.0 };
            let excess = strength(corner) / plain - 1.0;
            let decay = libm::log(here.value / there.value);
            let above = |pair: Pair| peak.is_none_or(|peak| peak.is_exceeded(ordered(pair), fineness.excess));
            // A corner without a finite ratio gains nothing from a smaller cell; it must only be rare.
            let loose = if corner.toward.is_finite() {
                // Far beyond what coins tell here it would make the grid long.
                let usual = there.reached.toward.max(envelope.information.sqrt());
                let far = peak.is_some() && corner.toward > 2.0 * usual;
                far || (excess > allowed || peak.is_some() && decay > 0.01) && above(corner)
            } else {
                peak.is_some() && corner.distance() > fineness.tail
            };
            if (loose || decay > fineness.decay) && cell > smallest {
                bad = cell;
            } else {
                good = Some((cell, there, corner));
            }
            let tried = match &good {
                None => 0.5 * cell,
                // Below a peak few large cells are as good as many small ones.
                Some((cell, ..)) if peak.is_some() && bad.is_infinite() && decay < MOST_DECAY => 2.0 * cell,
                Some((cell, ..)) if peak.is_some() && bad > 1.2 * cell && bad.is_finite() => {
                    (bad * cell).sqrt()
                }
                Some(_) => 0.0,
            };
            if tried > 0.0 {
                cell = tried;
                continue;
            }
            let Some((found, there, corner)) = good.take() else { break };
            (cell, bad) = (found, f64::INFINITY);
            let at_left = there.reached;
            envelope.outer.push(ordered(corner));
            envelope.inner.push(at_left);
            (right, here) = (right - cell, there);
            envelope.places.push((right, self.mirrored));
            let last = self.last_corner(right, here.node.outer, cell);
            // Weak, and no single outcome tells more than others do; or too unlikely to be noticed at all.
            let usual = at_left.toward.max(envelope.information.sqrt());
            let settled = last.toward <= 1.1 * usual && strength(last) <= 1e-4 * envelope.information;
            let settled = settled || last.toward.is_finite() && !above(last);
            if settled || last.distance() <= fineness.tail {
                envelope.outer.push(ordered(last));
                if last.toward.is_infinite() {
                    envelope.ends.push(self.end(right, cell));
                }
                return Ok(());
            }
            if peak.is_none() && excess < 0.3 * allowed && decay < 0.6 * fineness.decay {
                cell *= 1.5;
            }
        }
        Err(unresolved)
    }
}
