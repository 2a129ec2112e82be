//! Bounds the privacy curve of the minibatch Barker test: the supremum over all batches at every ε, from above.
//!
//! # The test on one batch
//! As in the [parent](super): N(Σu/√b, σ²), the others' mean m, the changed record's values u₁ and u₂, w = |u₁ − u₂|.
//!
//! 1. *Variances.* Both are at least v₀ = 1 + max(0, |m| − 1/b)², for Σu² ≤ b. They differ by |d| ≤ w·(2|m| + (2−w)(b−1)/b)/b, since
//!    |u₁ + u₂| ≤ 2 − w.
//! 2. *Common noise.* Take min(σ₁², σ₂²) − v₀ off both variances: adding it again is post-processing. In units of √v₀ what is left is a pair of
//!    normals at distance g = w/√(bv₀), one of variance 1 and the other of variance 1 + e, 0 ≤ e ≤ |d|/v₀.
//! 3. *Distance.* H_a = 1 − ∫ min(p, aq). As a function of place and distance min(p, aq) is log-concave, so its integral over places is
//!    log-concave in the distance (Prékopa 1973). It is even. So H_a grows with |g|.
//! 4. *Variance.* √v·φ_v(x) grows with v. For e₀ ≤ e ≤ e₁ and κ = √((1+e₁)/(1+e₀)) hence p_e ≤ κ·p_{e₁} where the first is wide, and H_a ≤
//!    κ·H_{a/κ} at e₁; and q_e ≥ q_{e₀}/κ where the second is wide, and H_a ≤ H_{a/κ} at e₀.
//!
//! The pairs (e, g) that can be reached are covered by a staircase: e is cut into cells, and each has the largest g with which one of its e
//! occurs, found on a grid of cells of (|m|, w). The curve of one batch D(a) is at most the largest of the bounds over the stairs.
//!
//! # The batch is drawn
//! Let A be what a batch without record i gives, B and C what one with i gives on the two data sets. For a ≥ 1 and α = 1 + (a−1)/q,
//! H_a((1−q)A+qB ‖ (1−q)A+qC) = q·H_α(B ‖ (1−β)A+βC) with β = a/α (Balle, Barthe, Gaboardi 2018, Theorem 2). That is convex in the second law. B and C
//! differ in one record of one batch. So do B and A if a uniform member of a batch without i is exchanged for i. Hence H_a ≤ q·D(α), which needs no pair, only
//! the curve. For a < 1 the mirror image H_a(P‖Q) = 1 − a + a·H_{1/a}(Q‖P) serves: D bounds both orders. ∎

use std::cell::RefCell;
use std::rc::Rc;

use barkeep_num::{ln_normal_cdf, up_by};

use super::{BarkerBound, BarkerTest, batch_rate};
use crate::renyi::{self, Amplified, Curve as _, Orders};
use crate::{Error, Order, pld};

/// Cells of |m| and of w on which the reachable pairs are looked for.
const CELLS: u32 = 64;

/// Stairs of the staircase.
const STAIRS: u32 = 16;

/// Dots of the curve on each side of ε = 0.
const DOTS: u32 = 1500;

/// Dots at small losses are this much closer together than at the end, about.
const LINEAR: f64 = 0.05;

/// The curve is followed down to e^this.
const LOG_FLOOR: f64 = -600.0;

/// Losses of one batch are followed up to here.
const LARGEST_LOSS: f64 = 600.0;

/// Relative room for the rounding of a handful of operations.
const ROOM: f64 = 1e-14;

/// Normal tails from here on are less than any f64.
const NOTHING_BEYOND: f64 = 39.0;

/// Relative error charged to normal tails and their differences.
const TAIL_ERROR: f64 = 1e-11;

/// Relative error charged to a sum over all dots.
const INTEGRAL_ERROR: f64 = 1e-11;

/// Pairs of normals: one of variance 1, the other of 1 + e for an e of a range, at most this far apart.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Stair {
    excess: (f64, f64),
    distance: f64,
}

/// The curve of one step on batches of `batch` of `records`, from above.
///
/// # Errors
/// [`Error::Argument`] unless 1 ≤ b ≤ n.
pub(crate) fn curve(batch: u64, records: u64) -> Result<pld::DominatingPair, Error> {
    CURVES.with_borrow_mut(|curves| {
        if let Some((.., curve)) = curves.iter().find(|known| (known.0, known.1) == (batch, records)) {
            return Ok(curve.clone());
        }
        let curve = computed(batch, records)?;
        if curves.len() >= MOST_CURVES {
            curves.remove(0);
        }
        curves.push((batch, records, curve.clone()));
        Ok(curve)
    })
}

fn computed(batch: u64, records: u64) -> Result<pld::DominatingPair, Error> {
    let rate = batch_rate(batch, records)?.get();
    let right: Vec<(f64, f64)> = followed(batch).iter().map(|dot| dot.sampled(rate)).collect();
    let mirrored = right.iter().rev().filter(|(epsilon, _)| *epsilon > 0.0).map(|(epsilon, delta)| {
        let left = (libm::exp(-epsilon) * delta - libm::expm1(-epsilon)) * (1.0 + ROOM);
        (-epsilon, left.min(1.0))
    });
    let dots: Vec<(f64, f64)> = mirrored.chain(right.iter().copied()).collect();
    pld::DominatingPair::from_dots(&dots)
}

/// Curves that are kept.
const MOST_CURVES: usize = 4;

thread_local! {
    /// The last curves, by batch and records: a plan asks for one several times, and it remembers the blocks that were made of it.
    static CURVES: RefCell<Vec<(u64, u64, pld::DominatingPair)>> = const { RefCell::new(Vec::new()) };
    /// The last curve that was followed: a plan asks for one several times.
    static LAST: RefCell<Option<(u64, Rc<[Dot]>)>> = const { RefCell::new(None) };
}

/// Dots of one batch's curve.
fn followed(batch: u64) -> Rc<[Dot]> {
    LAST.with_borrow_mut(|last| match last {
        Some((known, dots)) if *known == batch => Rc::clone(dots),
        _ => {
            let dots: Rc<[Dot]> = Test::new(batch as f64).followed().into();
            *last = Some((batch, Rc::clone(&dots)));
            dots
        }
    })
}

/// A point of one batch's curve.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Dot {
    loss: f64,
    delta: f64,
}

impl Dot {
    /// (ε, δ) of the drawn batch; ε is rounded up, for the curve falls.
    fn sampled(&self, rate: f64) -> (f64, f64) {
        let epsilon =
            if self.loss == 0.0 { 0.0 } else { up_by(libm::log1p(rate * libm::expm1(self.loss)), 8) };
        (epsilon, (rate * self.delta * (1.0 + ROOM)).min(1.0))
    }
}

/// Rényi divergences of one step, from its privacy curve. A filter across runs needs them: curves do not add.
///
/// t^α = 1 + α(t−1) + α(α−1)·(∫_1^∞ a^(α−2)(t−a)₊ da + ∫_0^1 a^(α−2)(a−t)₊ da), and with t = P/Q the means under Q are δ(a) of one order of the
/// pair and a·δ(1/a) of the other. With a = e^ε, for both orders at once,
///
/// > e^((α−1)D_α) ≤ 1 + α(α−1)·∫_0^∞ (e^((α−1)ε) + e^(−αε))·δ(ε) dε.
///
/// Between two dots δ is at most its value at the first, and the rest is integrated exactly. Beyond the last dot, at loss l of one batch,
/// δ ≤ q·e^((β−1)(D_β−l)) for any order β, D_β of one batch by the `fixed` bound; ε ≤ l and dε ≤ dl, so that part is at most
/// 2q·e^((β−1)D_β − (β−α)l)/(β−α).
pub(crate) struct Divergences {
    /// (ε, δ) of the drawn batch.
    dots: Vec<(f64, f64)>,
    /// The loss of one batch at the last dot.
    end: f64,
    rate: f64,
    single: BarkerTest,
    /// What holds too, and is finite where the integral's tail is not.
    published: Amplified<BarkerTest>,
}

impl Divergences {
    /// # Errors
    /// [`Error::Argument`] unless 1 ≤ b ≤ n.
    pub(crate) fn new(batch: u64, records: u64) -> Result<Self, Error> {
        let rate = batch_rate(batch, records)?;
        let followed = followed(batch);
        let single = BarkerTest::new(batch, BarkerBound::Fixed);
        Ok(Self {
            dots: followed.iter().map(|dot| dot.sampled(rate.get())).collect(),
            end: followed.last().map_or(0.0, |dot| dot.loss),
            rate: rate.get(),
            published: Amplified::new(rate, single.clone()),
            single,
        })
    }

    /// The integral, tail included.
    fn integral(&self, alpha: f64) -> f64 {
        let Orders::Whole { largest } = self.single.orders() else { return f64::INFINITY };
        let tail = |order: u32| {
            let beyond = Order::new(f64::from(order)).map_or(f64::INFINITY, |order| self.single.at(order));
            let room = f64::from(order) - alpha;
            2.0 * self.rate * libm::exp((f64::from(order) - 1.0) * beyond - room * self.end) / room
        };
        // Any order above α will do; the best is within a factor of two of one of these.
        let orders =
            (0..12).map(|halvings| largest >> halvings).filter(|order| f64::from(*order) >= alpha + 1.0);
        let tail = orders.map(tail).fold(f64::INFINITY, f64::min);
        // ∫ e^(cε) dε from one dot to the next.
        let weight = |c: f64, from: f64, to: f64| libm::exp(c * from) * libm::expm1(c * (to - from)) / c;
        let cells = self.dots.windows(2).map(|pair| {
            let ((from, delta), (to, _)) = (pair[0], pair[1]);
            delta * (weight(alpha - 1.0, from, to) + weight(-alpha, from, to))
        });
        (cells.sum::<f64>() + tail) * (1.0 + INTEGRAL_ERROR)
    }
}

impl renyi::Curve for Divergences {
    fn orders(&self) -> Orders {
        self.published.orders()
    }

    fn at(&self, order: Order) -> f64 {
        let alpha = order.get();
        let own = libm::log1p(alpha * (alpha - 1.0) * self.integral(alpha)) / (alpha - 1.0);
        let published = self.published.at(order);
        // NaN, from an overflow, falls to the published one.
        if own < published { up_by(own, 16) } else { published }
    }
}

/// The test on one batch.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Test {
    stairs: Vec<Stair>,
}

impl Test {
    /// The staircase for batches of b records.
    pub(super) fn new(b: f64) -> Self {
        let reached: Vec<(f64, f64)> = (0..CELLS * CELLS).map(|cell| reach(b, cell)).collect();
        let most = reached.iter().map(|(excess, _)| *excess).fold(0.0, f64::max);
        let edge = |stair: u32| most * f64::from(stair) / f64::from(STAIRS);
        let stair = |index: u32| {
            let excess = (edge(index), edge(index + 1));
            let beyond = reached.iter().filter(|(reached, _)| *reached >= excess.0);
            Stair { excess, distance: beyond.map(|(_, distance)| *distance).fold(0.0, f64::max) }
        };
        Self { stairs: (0..STAIRS).map(stair).collect() }
    }

    /// D at a = e^`loss` ≥ 1, from above.
    pub(super) fn delta(&self, loss: f64) -> f64 {
        self.stairs.iter().map(|stair| stair.delta(loss)).fold(0.0, f64::max)
    }

    /// Dots of the curve, from loss 0 to where it is not followed any more.
    fn followed(&self) -> Vec<Dot> {
        let end = self.end();
        let dot = |step: u32| {
            let share = f64::from(step) / f64::from(DOTS);
            // Closer together at small losses, where most of them are.
            let loss = end * share * (share + LINEAR) / (1.0 + LINEAR);
            Dot { loss, delta: self.delta(loss) }
        };
        (0..=DOTS).map(dot).collect()
    }

    /// A loss beyond which the curve is not followed: what is left there is mass at infinity.
    fn end(&self) -> f64 {
        let least = libm::exp(LOG_FLOOR);
        barkeep_num::smallest_real(0.0, LARGEST_LOSS, 1e-3, |loss| self.delta(loss) <= least)
            .unwrap_or(LARGEST_LOSS)
    }
}

/// The largest e and g of one cell of (|m|, w).
fn reach(b: f64, cell: u32) -> (f64, f64) {
    let edge = (b - 1.0) / b;
    let cut = |index: u32, whole: f64| {
        let part = |index: u32| whole * f64::from(index) / f64::from(CELLS);
        (part(index), part(index + 1))
    };
    let (mean, apart) = (cut(cell / CELLS, edge), cut(cell % CELLS, 2.0));
    let inner = (mean.0 - 1.0 / b).max(0.0);
    let variance = (1.0 + inner * inner) * (1.0 - ROOM);
    let change = apart.1 * (2.0 * mean.1 + (2.0 - apart.0) * edge) / b;
    ((change / variance) * (1.0 + ROOM), apart.1 / (b * variance).sqrt() * (1.0 + ROOM))
}

impl Stair {
    /// The larger of the bounds where the first is wide and where the second is.
    fn delta(&self, loss: f64) -> f64 {
        let (least, most) = self.excess;
        let log_factor = 0.5 * (libm::log1p(most) - libm::log1p(least)) + ROOM;
        let wide = libm::exp(log_factor) * first_wide(self.distance, most, loss - log_factor);
        let narrow = second_wide(self.distance, least, loss - log_factor);
        (wide.max(narrow) * (1.0 + ROOM) + f64::MIN_POSITIVE).min(1.0)
    }
}

/// P(x) − a·Q(x) of two upper tails at arguments p and q, a = e^`loss`: the value, and what it was made of.
fn tails(p: f64, q: f64, loss: f64) -> (f64, f64) {
    // Both underflow to nothing: an upper tail at x > 1 is below e^(−x²/2).
    if p > NOTHING_BEYOND && q > 1.0 && 0.5 * q * q - loss > 0.5 * NOTHING_BEYOND * NOTHING_BEYOND {
        return (0.0, 0.0);
    }
    let (first, second) = (libm::exp(ln_normal_cdf(-p)), libm::exp(loss + ln_normal_cdf(-q)));
    (first - second, first + second)
}

/// H_a(N(g, 1+e) ‖ N(0, 1)) from above: ln p/q = (e·x²/2 + gx − g²/2)/(1+e) − ½ln(1+e) is above ln a outside an interval.
fn first_wide(g: f64, e: f64, loss: f64) -> f64 {
    let sd = (1.0 + e).sqrt();
    // e·x²/2 + gx − level > 0.
    let level = (1.0 + e) * (loss + 0.5 * libm::log1p(e)) + 0.5 * g * g;
    let square = g * g + 2.0 * e * level;
    if square < 0.0 {
        return -libm::expm1(loss);
    }
    let root = g + square.sqrt();
    let right = 2.0 * level / root;
    let (value, size) = tails((right - g) / sd, right, loss);
    let (left_value, left_size) = match e > 0.0 {
        // The other root is −root/e; its tail is mirrored.
        true => tails((root / e + g) / sd, root / e, loss),
        false => (0.0, 0.0),
    };
    value.max(0.0) + left_value.max(0.0) + TAIL_ERROR * (size + left_size)
}

/// H_a(N(g, 1) ‖ N(0, 1+e)) from above: ln p/q = −e·x²/(2(1+e)) + gx − g²/2 + ½ln(1+e) is above ln a inside an interval.
fn second_wide(g: f64, e: f64, loss: f64) -> f64 {
    let (sd, bend) = ((1.0 + e).sqrt(), e / (1.0 + e));
    // −bend·x²/2 + gx − level > 0.
    let level = loss - 0.5 * libm::log1p(e) + 0.5 * g * g;
    let square = g * g - 2.0 * bend * level;
    if square <= 0.0 {
        // Rounding may have hidden an interval, but none of any mass: p − aq has a double root there.
        return 0.0;
    }
    let root = g + square.sqrt();
    let left = 2.0 * level / root;
    let (value, size) = tails(left - g, left / sd, loss);
    let (beyond, beyond_size) = match bend > 0.0 {
        true => tails(root / bend - g, root / (bend * sd), loss),
        false => (0.0, 0.0),
    };
    (value - beyond.min(0.0)).max(0.0) + TAIL_ERROR * (size + beyond_size)
}
