//! Composes decisions of which only the bit leaves, against every adversary, by a recursion on a grid.
//!
//! # The recursion
//! A bit is "accept" with probability p = a(t) on one data set and q = a(t + s) on its neighbour, |s| ≤ Δ; an adversary steers t and s by the
//! bits so far. Let F₀(x) = max(0, 1 − x) and F_{j+1}(x) = sup over t and s of G = p·F_j(xq/p) + (1−p)·F_j(x(1−q)/(1−p)). Splitting the law of j+1 bits by its
//! first shows that H_x of any k bits is at most F_k(x). A mean over randomised choices is no more.
//!
//! F_j is convex, falls, and mirrors, F(x) = 1 − x + x·F(1/x), since the choices are closed under exchange of the two data sets.
//!
//! # In company
//! Let D be the product of the pairs that dominate other releases of the same run, T_D f(x) = E_P f(x·Q/P). *Claim:* j bits and those releases, in any adaptive
//! order, have H_x ≤ T_D F_j(x). *Proof,* by induction: if a release is next, what follows is at most T_{D'}F_j for any answer, a convex function of x, and
//! domination gives T_D F_j. If a bit is next, sup_t G_t[T_D F_{j−1}] = sup_t T_D G_t[F_{j−1}] ≤ T_D sup_t G_t[F_{j−1}] = T_D F_j. ∎ So F_j
//! composes as the curve of one release would; also with itself: F_{i+j} ≤ T_{F_i}F_j. A long run is cut into equal blocks.
//!
//! # Corners
//! Each term of G is the perspective of a convex function, so G is convex in (q, p), and its supremum over a set is at most the largest value at the corners of any
//! polygons that cover it. It is convex in q for fixed p, so s = ±Δ; the other sign is the other order of the two data sets. What is left to
//! cover is the curve (q, p) = (a(t−Δ), a(t)), above the diagonal, on which G = F. Between t₀ and t₁ its slope lies in [m, M] ([`Half::slopes`]), so it lies
//! under the line through (q₀, p₀) of slope M and under the line through (q₁, p₁) of slope m. Under both and above the diagonal is a polygon whose corners off
//! the diagonal are those two points and where the lines meet. A point moved up or to the left only makes the polygon larger. A lazy rule scales
//! the picture by κ. The end of the curve, below p₁, lies under p = p₁ and p = e^range·q: one corner.

use crate::interval::{Interval, at};
use crate::losses::{Fineness, Keep, Losses};
use crate::rule::{Half, Rule};
use crate::{Result, STOPPED, Unchecked};

/// Bits of one recursion; longer runs are cut into blocks.
const BLOCK: u64 = 128;

/// How far a corner may stand off the curve, relative to the distance of the two probabilities; and how many times more where coins are weak.
const EXCESS: f64 = 2e-3;
const LOOSEST: f64 = 10.0;

/// Probability of the rare outcome at which a half of bounded loss ends: such coins gain an adversary little.
const BOUNDED_END: f64 = 1e-8;

/// Where the two probabilities of the rare outcome are so far apart an infinite loss costs as much.
const APART: f64 = 1e-10;

/// Cells of one half at most.
const MOST_CELLS: u32 = 4000;

/// Room for the roundings of one value of G: ten operations on non-negative numbers, each off by 2⁻⁵³.
const ROOM: f64 = 1.0 + 1.0 / (1_u64 << 48) as f64;

/// What underflow may hide of a product.
const FLOOR: f64 = 1e-300;

/// Probabilities (p, q) of an outcome on the two data sets.
type Pair = (f64, f64);

/// The corners that cover everything one step can do, first order only.
///
/// The lower half has the coins of "accept", κ times those of the rule inside, up to t = Δ/2 and a little more. The other half has those of "reject",
/// κ·r + 1 − κ. Affine maps take corners to corners. Without laziness the halves of Barker's rule and of corrections, 1 − a(−t) = a(t), are the same.
fn corners(rule: &Rule, sensitivity: f64, tail: f64) -> Result<Vec<Pair>> {
    let (keep, inner) = rule.kept();
    let same = keep == 1.0 && !matches!(inner, Rule::Penalty { .. });
    let mut all = Vec::new();
    for (mirrored, always) in
        [(false, at(0.0)), (true, at(1.0) - keep)].into_iter().take(if same { 1 } else { 2 })
    {
        let mut half = Vec::new();
        Half { rule: inner, mirrored }.cover(0.5 * sensitivity + 1e-6, sensitivity, tail, &mut half)?;
        let lazy = |x: f64| always + at(keep) * x;
        all.extend(half.iter().map(|(p, q)| (lazy(*p).hi.min(1.0), lazy(*q).lo.max(0.0))));
    }
    Ok(all)
}

/// t and Δ are multiples of this, and less than 2¹² in size: t − Δ is exact.
const GRID: f64 = 1.0 / (1_u64 << 40) as f64;

/// The least multiple of the grid that is not below.
fn up_to_grid(t: f64) -> f64 {
    (t.clamp(-4000.0, 4000.0) / GRID).ceil() * GRID
}

impl Half<'_> {
    /// (p, q) at t, moved up and to the left.
    fn point(&self, t: f64, sensitivity: f64) -> Pair {
        (self.value(t).hi, self.value(t - sensitivity).lo)
    }

    /// Adds the corners of the curve from its end up to `top`.
    fn cover(&self, top: f64, sensitivity: f64, tail: f64, corners: &mut Vec<Pair>) -> Result<()> {
        let range = self.rule.range(self.mirrored, sensitivity);
        let end = if range.is_finite() { tail.max(BOUNDED_END) } else { tail };
        let (mut right, mut width, mut strongest) = (up_to_grid(top), 0.05, 0.0_f64);
        let mut here = self.point(right, sensitivity);
        corners.push(here);
        for _ in 0..MOST_CELLS {
            if here.0 <= end || here.1 <= APART * here.0 {
                corners.push((here.0, (at(-range.min(1e3)).exp() * here.0).lo.max(0.0)));
                return Ok(());
            }
            strongest = strongest.max(variance(&here));
            let weak = variance(&here).max(1e-300);
            let allowed = EXCESS * (0.1 * strongest / weak).clamp(1.0, LOOSEST);
            let (corner, before) = loop {
                let left = -up_to_grid(width - right);
                let before = self.point(left, sensitivity);
                let slopes = self.slopes(left, right, sensitivity);
                let (corner, excess) = meet(before, here, slopes);
                if excess <= allowed || width < 1e-7 {
                    if excess < 0.3 * allowed {
                        width *= 1.5;
                    }
                    break (corner, (left, before));
                }
                width *= 0.6;
            };
            corners.extend([corner, before.1]);
            (right, here) = before;
        }
        Err(Unchecked("an acceptance rule needs too many corners"))
    }
}

/// A point under no less than the two lines, and how far it stands off the chord relative to p − q.
///
/// The lines p = p₀ + M(q − q₀) and p = p₁ − m(q₁ − q), q from q₀ to q₁, meet at q₀ + d with d = (p₁ − p₀ − m(q₁ − q₀))/(M − m). For any d in [0, q₁ − q₀] the
/// corner (q₀ + d, the larger of both lines there) covers: left of it the first line, right of it the second one stays below the polygon through it. Where no
/// such point is found the corner is (q₀, p₁).
fn meet((p0, q0): Pair, (p1, q1): Pair, slopes: Interval) -> (Pair, f64) {
    let plain = (p1, q0);
    let width = q1 - q0;
    let gap = (p0 - q0).max(f64::MIN_POSITIVE);
    let excess = |(p, q): Pair| (p - (p0 + (p1 - p0) * ((q - q0) / width).clamp(0.0, 1.0))) / gap;
    if !(slopes.lo >= 0.0 && slopes.hi.is_finite() && slopes.hi > slopes.lo && width > 0.0) {
        return (plain, (p1 - p0) / gap);
    }
    let d = ((p1 - p0 - slopes.lo * width) / (slopes.hi - slopes.lo)).clamp(0.0, width);
    let q = (q0 + d).min(q1);
    let first = (at(q) - q0) * slopes.hi + p0;
    let second = at(p1) - (at(q1) - q) * slopes.lo;
    let corner = (first.hi.max(second.hi), q);
    let (of_corner, of_plain) = (excess(corner), (p1 - p0) / gap);
    if corner.0 <= 1.0 && of_corner <= of_plain { (corner, of_corner) } else { (plain, of_plain) }
}

/// A term p·F(x·ratio) of G on the grid: weights of the two ends of a chord, and the cell of ln ratio at x = 1.
///
/// The term grows with p and, as F falls, with smaller ratios: p is rounded up and ln ratio down. On a chord in e^l the right end has the share
/// (e^θ − 1)/(e^h − 1), θ the distance from the left end; F is no less at the left end, so that share is rounded down.
#[derive(Clone, Copy)]
struct Term {
    cell: i64,
    left: f64,
    right: f64,
}

impl Term {
    fn new(p: Interval, q: Interval, step: f64, reach: i64) -> Self {
        if p.hi <= 0.0 {
            // p·F(xq/p) → 0 as p → 0.
            return Self { cell: 0, left: 0.0, right: 0.0 };
        }
        // h is a power of two, so that the quotient is exact.
        let place = if q.lo > 0.0 { (q / p).ln().lo / step } else { f64::NEG_INFINITY };
        // To the far left F ≤ 1, to the far right it is at most its last value.
        let (least, most) = (-2 * reach - 1, reach + 1);
        let cell = place.floor() as i64;
        if cell < least || cell > most {
            return Self { cell: cell.clamp(least, most), left: p.hi, right: 0.0 };
        }
        let theta = (place - place.floor()).next_down().max(0.0) * step;
        let share = (at(theta).exp_m1() / at(step).exp_m1()).lo.clamp(0.0, 1.0);
        Self { cell, left: (p.hi * (1.0 - share).next_up()).next_up(), right: (p.hi * share).next_up() }
    }
}

/// Losses that dominate `steps` decisions.
pub(crate) fn decisions(
    rule: &Rule,
    size: f64,
    steps: u64,
    fine: Fineness,
    keep: &mut Keep<'_>,
) -> Result<Losses> {
    if !(rule.is_sound() && (1e-7..=100.0).contains(&size)) {
        return Err(Unchecked("a decision's parameters are out of range"));
    }
    // A larger sensitivity allows whatever a smaller one does.
    let sensitivity = up_to_grid(size);
    let blocks = steps.div_ceil(BLOCK).max(1);
    let each = steps.div_ceil(blocks);
    let (count, of_blocks) = (each as f64, blocks as f64);
    let least = fine.cut / of_blocks;
    let all = corners(rule, sensitivity, least / count)?;
    let strength = all.iter().map(variance).fold(0.0_f64, f64::max);
    let step = (strength.sqrt() / (8.0 + 128.0 / count)).log2().floor().exp2();
    let likely =
        (2.0 * count * strength * -least.max(1e-300).ln()).sqrt() + 0.5 * count * strength + sensitivity;
    let largest = rule.range(false, sensitivity).max(rule.range(true, sensitivity)) * count;
    let (mut reach, mut before) = (likely.min(largest), 1.0);
    loop {
        let points = (reach / step).ceil() + 2.0;
        if points > MOST_POINTS {
            return Err(Unchecked("decisions need too fine a grid"));
        }
        let block = recursion(&all, each, step, points as usize, &mut |done, work| keep(0.7 * done, work))?;
        // Farther out is of no use where losses are infinite themselves.
        if block.infinite <= 4.0 * least || reach >= largest || block.infinite > 0.5 * before {
            let block = block.trimmed(0.1 * least);
            return block.times(blocks, of_blocks, fine, &mut |done, work| keep(0.7 + 0.3 * done, work));
        }
        (reach, before) = (2.0 * reach, block.infinite);
    }
}

/// Grid points of one recursion at most, on each side.
const MOST_POINTS: f64 = 50_000.0;

/// The variance of a coin's loss, for the choice of a grid.
fn variance((p, q): &Pair) -> f64 {
    let range = (p / q).ln() + ((1.0 - q) / (1.0 - p)).ln();
    if range.is_finite() { p * (1.0 - p) * range * range } else { 0.0 }
}

/// F after `steps` steps, as losses.
fn recursion(corners: &[Pair], steps: u64, step: f64, reach: usize, keep: &mut Keep<'_>) -> Result<Losses> {
    let ends = reach as i64;
    let term = |p: Interval, q: Interval| Term::new(p, q, step, ends);
    let both = |(p, q): Pair| [term(at(p), at(q)), term(at(1.0) - p, at(1.0) - q)];
    let terms: Vec<[Term; 2]> = corners.iter().flat_map(|&(p, q)| [both((p, q)), both((q, p))]).collect();
    let power = |k: i64| at(step * k as f64);
    // e^(−hk) and 1 − e^(−hk), for the mirror image.
    let mirror: Vec<(f64, f64)> =
        (0..=ends).map(|k| (power(-k).exp().hi, (-power(-k).exp_m1()).hi.max(0.0))).collect();
    // F at h·k for k from −3·reach − 2 on: 1 before −reach, its last value after reach.
    let zero = 3 * reach + 2;
    let mut all = vec![1.0; zero + 2 * reach + 4];
    let mut next: Vec<f64> = vec![0.0; reach + 1];
    for done in 0..=steps {
        if !keep(done as f64 / steps.max(1) as f64, (4 * terms.len() * reach) as f64) {
            return Err(STOPPED);
        }
        // F₀ is 0 from x = 1 on.
        for (k, value) in next.iter().enumerate() {
            let value = if done == 0 { 0.0 } else { (value * ROOM + FLOOR).min(1.0) };
            let (x, rest) = mirror[k];
            all[zero - k] = ((x * value).next_up() + rest).next_up().min(1.0);
            all[zero + k] = value;
        }
        let last = all[zero + reach];
        all[zero + reach..].fill(last);
        if done == steps {
            break;
        }
        // s = 0 is the diagonal, where G = F.
        next.copy_from_slice(&all[zero..=zero + reach]);
        for [yes, no] in &terms {
            let from = |term: &Term| &all[(zero as i64 + term.cell) as usize..][..reach + 2];
            let (a, b) = (from(yes), from(no));
            for (k, best) in next.iter_mut().enumerate() {
                let value = yes.left * a[k] + yes.right * a[k + 1] + (no.left * b[k] + no.right * b[k + 1]);
                *best = best.max(value);
            }
        }
    }
    Ok(Losses::below(step, -ends, all[zero - reach..=zero + reach].to_vec()))
}

#[cfg(test)]
mod tests;
