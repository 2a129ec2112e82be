//! Bounds what a Barker test with Gaussian noise reveals, on all records and on batches (Heikkilä et al. 2019).
//!
//! # On a batch
//! Write u_i = r_i·N₀/√b ∈ [−1, 1] for the clipped log-ratios of a batch of b records. The test releases (and then
//! thresholds) a sample of N(Σu/√b, 2 − Var(u)), Var with 1/b. Replace one record's u₂ by u₁, the others having sum
//! S = bm and sum of squares Q. With v = σ₂² and d = σ₂² − σ₁², Lemma 1 of the paper reads
//!
//! > D_α(N₁‖N₂) = −½ln(1 − d/v) − ln(1 + (α−1)d/v)/(2(α−1)) + α(u₁−u₂)²/(2b(v + (α−1)d)),
//! >
//! > d = (u₂−u₁)·[2m/b − (u₁+u₂)(b−1)/b²],  v = 2 − (Q+u₂²)/b + (m + u₂/b)².
//!
//! Three proved bounds on its supremum, and one on the whole privacy curve, see [`BarkerBound`]:
//!
//! * **paper** (Theorem 2): 5/(2b) + ln(2b/(b−5α))/(2(α−1)) + 2α/(b−5α) for α < b/5. Its second term does not vanish as
//!   b grows.
//! * **fixed**: |d| ≤ c = 4(b−1)/b², since |u₂−u₁|·(|u₁+u₂| + 2) ≤ 4 on the square and |m| ≤ (b−1)/b; and v ≥ 1. Hence
//!   −½ln(1−d/v) = ½ln(v/σ₁²) ≤ ½|d| (both variances are at least 1), and v/(v+(α−1)d) ≤ 1/(1−c(α−1)):
//!   ε(α) = c/2 − ln(1−c(α−1))/(2(α−1)) + 2α/(b(1−c(α−1))) for c(α−1) < 1.
//! * **tight**: the supremum itself, by branch and bound, [`supremum`].
//! * **pld**: no Rényi divergence but δ at every ε, at most the largest hockey-stick divergence of any two batches that differ in a
//!   record; then amplified and composed as privacy-loss distributions are. By far the least: `barker/curve.rs`.

mod curve;

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use barkeep_num::up_by;
use serde::{Deserialize, Serialize};

use crate::renyi::{Amplified, Curve, LARGEST_WHOLE_ORDER, Orders};
use crate::theorems::thesis::batch_rate;
use crate::{Error, Order};

pub(crate) use curve::{Divergences, curve};

/// Which bound on the minibatch Barker test is used; all are proved, each tighter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BarkerBound {
    /// As published.
    Paper,
    /// As published, without the term that does not vanish for large batches.
    Fixed,
    /// The supremum over all batches, certified by branch and bound.
    Tight,
    /// Privacy-loss distributions of the largest curve over all batches.
    Pld,
}

/// Corollary 2: the Rényi curve of one step of the minibatch test, Theorem 2 amplified by q = b/n without replacement.
///
/// With [`BarkerBound::Paper`] also Theorem 3.3 of the thesis.
///
/// # Errors
/// [`Error::Argument`] unless 1 ≤ b ≤ n.
pub fn corollary_2(batch: u64, records: u64, bound: BarkerBound) -> Result<Amplified<BarkerTest>, Error> {
    Ok(Amplified::new(batch_rate(batch, records)?, BarkerTest::new(batch, bound)))
}

/// Theorem 2: the Rényi curve of the test on one batch of b records, before amplification.
#[derive(Debug, Clone, PartialEq)]
pub struct BarkerTest {
    batch: f64,
    bound: BarkerBound,
    largest: u32,
    /// For the tight bound, (α, (α−1)·ε(α)) at some whole orders, increasing.
    moments: Vec<(f64, f64)>,
}

impl BarkerTest {
    /// Chooses the bound; the tight one is computed here, at a few dozen orders. Privacy-loss distributions are no Rényi curve: for them
    /// the fixed one stands in, which costs nothing to evaluate.
    #[must_use]
    pub fn new(batch: u64, bound: BarkerBound) -> Self {
        let batch = batch as f64;
        // The first order at which the bound is infinite, or more.
        let limit = match bound {
            BarkerBound::Paper => batch / 5.0,
            BarkerBound::Fixed | BarkerBound::Pld => 1.0 + 0.25 * batch,
            // The supremum is finite up to 1 + b/2, but large and slow to find near there.
            BarkerBound::Tight => 1.0 + 0.4 * batch,
        };
        // Casting saturates; the largest whole order is strictly below the limit.
        let largest = ((limit.ceil() - 1.0).max(0.0) as u32).min(LARGEST_WHOLE_ORDER);
        let mut test = Self { batch, bound, largest, moments: Vec::new() };
        if bound == BarkerBound::Tight {
            let mut order = 2_u32;
            while order <= largest {
                let alpha = f64::from(order);
                test.moments.push((alpha, up_by((alpha - 1.0) * supremum(batch, alpha), 1)));
                // Every order up to 16, then 12 % apart; the largest one last.
                let next = order + 1 + order / 16 * 2;
                order = if order < largest && next > largest { largest } else { next };
            }
        }
        test
    }

    /// Linear interpolation of (α−1)·ε(α): a supremum of convex functions of α is convex, so chords lie above it.
    fn interpolated(&self, alpha: f64) -> f64 {
        let right = self.moments.partition_point(|(order, _)| *order < alpha);
        let Some(&(high, at_high)) = self.moments.get(right) else { return f64::INFINITY };
        if high == alpha {
            return at_high / (alpha - 1.0);
        }
        let Some(&(low, at_low)) = right.checked_sub(1).and_then(|left| self.moments.get(left)) else {
            return f64::INFINITY;
        };
        let share = (alpha - low) / (high - low);
        up_by((at_low + share * (at_high - at_low)) / (alpha - 1.0), 8)
    }
}

impl Curve for BarkerTest {
    fn orders(&self) -> Orders {
        Orders::Whole { largest: self.largest }
    }

    fn at(&self, order: Order) -> f64 {
        let (alpha, b) = (order.get(), self.batch);
        let bound = match self.bound {
            BarkerBound::Paper => {
                let left = b - 5.0 * alpha;
                2.5 / b + libm::log(2.0 * b / left) / (2.0 * (alpha - 1.0)) + 2.0 * alpha / left
            }
            BarkerBound::Fixed | BarkerBound::Pld => {
                let change = 4.0 * (b - 1.0) / (b * b);
                let left = 1.0 - change * (alpha - 1.0);
                0.5 * change - libm::log(left) / (2.0 * (alpha - 1.0)) + 2.0 * alpha / (b * left)
            }
            BarkerBound::Tight => self.interpolated(alpha),
        };
        if bound >= 0.0 { up_by(bound, 16) } else { f64::INFINITY }
    }
}

/// Relative gap at which the search for the supremum stops.
const GAP: f64 = 1.0 / 2048.0;

/// Boxes examined at most; the bound is valid whenever the search stops.
const MOST_BOXES: usize = 50_000;

/// sup D_α(N₁‖N₂) over all batches of b records and both values of the changed one, from above, to 0.05 %.
///
/// **Proof.** *Q.* Adding independent noise N(0, w) to both samples is post-processing, so D_α does not grow when v
/// grows with d and u₁−u₂ fixed. d does not depend on Q, and v falls with Q ≤ b−1: the others lie at ±1, and three
/// variables remain, |m| ≤ (b−1)/b and |u₁|, |u₂| ≤ 1. Negating all three changes nothing, so let u₁ ≤ u₂.
///
/// *Box.* On a box let v ≥ v₀, d₀ ≤ d ≤ d₁, |u₁−u₂| ≤ w. By the same argument v may be replaced by v₀ wherever both
/// variances stay positive there. The first two terms are convex in d (their second derivative is
/// ½(v−d)⁻² + ½(α−1)(v+(α−1)d)⁻²), so at most their value at an end; the third falls with d. So
/// max{φ(d₀), φ(d₁)} + αw²/(2b(v₀+(α−1)d₀)) bounds D_α on the box, and the largest such bound over a cover bounds the
/// supremum. v₀ and d₀ are lowered, d₁ raised, by more than their rounding.
#[must_use]
pub fn supremum(batch: f64, alpha: f64) -> f64 {
    let edge = (batch - 1.0) / batch;
    let whole = Box3 { m: (-edge, edge), first: (-1.0, 1.0), second: (-1.0, 1.0) };
    let mut queue = BinaryHeap::from([Bounded { bound: whole.bound(batch, alpha), region: whole }]);
    let mut attained = 0.0_f64;
    for _ in 0..MOST_BOXES {
        let Some(Bounded { bound, region }) = queue.pop() else { return 0.0 };
        attained = attained.max(region.corner(batch, alpha));
        if bound <= attained * (1.0 + GAP) {
            return bound;
        }
        for half in region.halves() {
            // Where u₁ > u₂ throughout, the mirror image has been counted.
            if half.first.0 <= half.second.1 {
                queue.push(Bounded { bound: half.bound(batch, alpha), region: half });
            }
        }
    }
    queue.peek().map_or(f64::INFINITY, |top| top.bound)
}

/// A box of (m, u₁, u₂).
#[derive(Debug, Clone, Copy, PartialEq)]
struct Box3 {
    m: (f64, f64),
    first: (f64, f64),
    second: (f64, f64),
}

impl Box3 {
    /// The bound of the proof.
    fn bound(&self, b: f64, alpha: f64) -> f64 {
        // Larger than the rounding of any of the sums below, whose terms are at most 4.
        const SLACK: f64 = 1.0 / 281_474_976_710_656.0; // 2⁻⁴⁸
        let width = ((self.second.0 - self.first.1).max(0.0), self.second.1 - self.first.0);
        let pull = (b - 1.0) / b;
        let lean = (
            2.0 * self.m.0 - (self.first.1 + self.second.1) * pull,
            2.0 * self.m.1 - (self.first.0 + self.second.0) * pull,
        );
        let change = (
            (width.0 * lean.0).min(width.1 * lean.0) / b - SLACK / b,
            (width.0 * lean.1).max(width.1 * lean.1) / b + SLACK / b,
        );
        let largest_square = (self.second.0 * self.second.0).max(self.second.1 * self.second.1);
        let mean = (self.m.0 + self.second.0 / b, self.m.1 + self.second.1 / b);
        let smallest_mean = if mean.0 > 0.0 {
            mean.0
        } else if mean.1 < 0.0 {
            -mean.1
        } else {
            0.0
        };
        let variance = 1.0 + (1.0 - largest_square) / b + smallest_mean * smallest_mean - SLACK;
        let spread = variance_term(variance, change.0, alpha).max(variance_term(variance, change.1, alpha));
        let mixed = variance + (alpha - 1.0) * change.0;
        let shift = if mixed > 0.0 { alpha * width.1 * width.1 / (2.0 * b * mixed) } else { f64::INFINITY };
        up_by(spread + shift, 8) + SLACK / b
    }

    /// D_α at the corner that the supremum tends to, the changed record as far apart as the box allows.
    fn corner(&self, b: f64, alpha: f64) -> f64 {
        let middle = 0.5 * (self.m.0 + self.m.1);
        let point = Self {
            m: (middle, middle),
            first: (self.first.0, self.first.0),
            second: (self.second.1, self.second.1),
        };
        point.bound(b, alpha)
    }

    fn halves(&self) -> [Self; 2] {
        let lengths = [self.m, self.first, self.second].map(|(low, high)| high - low);
        let split = |(low, high): (f64, f64)| {
            let middle = 0.5 * (low + high);
            [(low, middle), (middle, high)]
        };
        if lengths[0] >= lengths[1] && lengths[0] >= lengths[2] {
            split(self.m).map(|m| Self { m, ..*self })
        } else if lengths[1] >= lengths[2] {
            split(self.first).map(|first| Self { first, ..*self })
        } else {
            split(self.second).map(|second| Self { second, ..*self })
        }
    }
}

/// −½ln(1 − d/v) − ln(1 + (α−1)d/v)/(2(α−1)), which is at least 0; infinite where a variance is not positive.
fn variance_term(v: f64, d: f64, alpha: f64) -> f64 {
    let relative = d / v;
    if relative >= 1.0 || (alpha - 1.0) * relative <= -1.0 {
        return f64::INFINITY;
    }
    let first = -0.5 * libm::log1p(-relative);
    let second = -libm::log1p((alpha - 1.0) * relative) / (2.0 * (alpha - 1.0));
    (first + second + 4.0 * f64::EPSILON * (first.abs() + second.abs())).max(0.0)
}

/// A box in the order of its bound.
struct Bounded {
    bound: f64,
    region: Box3,
}

impl PartialEq for Bounded {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Bounded {}

impl PartialOrd for Bounded {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Bounded {
    fn cmp(&self, other: &Self) -> Ordering {
        self.bound.total_cmp(&other.bound)
    }
}
