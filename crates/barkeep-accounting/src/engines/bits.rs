//! Prices repeated bits exactly: the number of ones says all, so k independent bits are a binomial against a binomial.
//!
//! With P = Bin(k, p), Q = Bin(k, q) and p > q the likelihood ratio grows with the number of ones, so
//!
//! > δ(ε) = Σ_j max(0, P(j) − e^ε·Q(j)),
//!
//! a sum over the upper end only; the other direction is the same sum for zeros instead of ones. Powers, binomial coefficients and
//! the sum are carried at twice the precision of f64 and with exponents of their own.
//!
//! **Precision.** An operation has a relative error below 2⁻¹⁰⁰. The first binomial coefficient takes at most k/2 quotients and
//! products: k. Powers of both chances by repeated squaring, where an early error is raised to the rest of the power: 2k. Each
//! step to the next term takes at most four operations, and there are at most k: 4k. e^ε, a series squared five times: 128. So
//! every P(j) and e^ε·Q(j) is wrong by a factor of at most 1 ± (7k + 132)·2⁻¹⁰⁰ and, with the additions, the sum of their
//! differences by at most (8k + 132)·2⁻¹⁰⁰ times Σ(P + e^ε·Q) over the same j. Where the two hardly differ that is more than
//! a unit in the last place of δ. So (k + 8)·2⁻⁹⁵ times that sum joins the bracket, four times as much for large k, beside two
//! units for the end of the sum and the last rounding.

use barkeep_num::{down_by, normal_quantile, try_largest_integer, up_by};

use crate::engines::double::Double;
use crate::gaussian::outward;
use crate::{Bracket, Delta, Epsilon, Error, Probability, Steps};

/// Sums over more bits are left to the general accountant.
const MOST_STEPS: u64 = 1 << 17;

/// The error charged for each bit, as a part of what is added up: 2⁻⁹⁵.
const DOUBLED: f64 = 1.0 / (1_u128 << 95) as f64;

/// Probabilities closer to 0 or 1 than this lose digits in doubled precision.
const SMALLEST: f64 = 1e-200;

/// One bit, 1 with probability p on one data set and q on its neighbour, in the worse direction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Bits {
    /// Chances of an outcome that is likelier on the first data set, and of the other outcome.
    first: (Double, Double),
    second: (Double, Double),
}

impl Bits {
    /// None if the bit never differs, or a probability is 0, 1 or next to it.
    pub(crate) fn new(p: Probability, q: Probability) -> Option<Self> {
        let (larger, smaller) = (p.get().max(q.get()), p.get().min(q.get()));
        let complement = |x: f64| Double::sum(1.0, -x);
        let usable = smaller >= SMALLEST && complement(larger).high >= SMALLEST && larger > smaller;
        usable.then(|| Self {
            first: (larger.into(), complement(larger)),
            second: (smaller.into(), complement(smaller)),
        })
    }

    /// δ at ε after `steps` bits.
    pub(crate) fn delta(&self, steps: Steps, epsilon: Epsilon) -> Result<Bracket, Error> {
        if steps.0 > MOST_STEPS {
            return Err(Error::Unresolved {
                what: "the sum over bits",
                reason: "there are more than 2^17 of them",
            });
        }
        let ends = self.directions().map(|(p, q)| {
            let (excess, weighted) = excess(steps.0, p, q, epsilon.get());
            let slack = (steps.0 + 8) as f64 * DOUBLED * (excess + 2.0 * weighted);
            (down_by(excess - slack, 2).max(0.0), up_by(excess + slack, 2).min(1.0))
        });
        Ok(Bracket::new(ends[0].0.max(ends[1].0), ends[0].1.max(ends[1].1)))
    }

    /// Chances of one outcome and the other: ones are likelier on the first data set, zeros on the second.
    fn directions(&self) -> [((Double, Double), (Double, Double)); 2] {
        let Self { first, second } = *self;
        [(first, second), ((second.1, second.0), (first.1, first.0))]
    }

    /// ε at δ after `steps` bits.
    pub(crate) fn epsilon(&self, steps: Steps, delta: Delta) -> Result<Bracket, Error> {
        let most = up_by(self.largest_loss() * steps.0 as f64, 16);
        let at = |epsilon: f64| self.delta(steps, Epsilon::trusted(epsilon));
        if at(0.0)?.upper <= delta.get() {
            return Ok(Bracket::exact(0.0));
        }
        let roots = self.directions().map(|(p, q)| root(steps.0, p, q, delta.get(), most));
        let root = roots[0].max(roots[1]);
        let step = (root * 4.0 * f64::EPSILON).max(f64::MIN_POSITIVE);
        let upper = outward(step, |distance| {
            let candidate = (root + distance).min(most);
            let certain = at(candidate).is_ok_and(|spent| spent.upper <= delta.get());
            (candidate == most || certain).then_some(candidate)
        });
        let lower = outward(step, |distance| {
            let candidate = (root - distance).max(0.0);
            let certain = at(candidate).is_ok_and(|spent| spent.lower.is_some_and(|low| low > delta.get()));
            (candidate == 0.0 || certain).then_some(candidate)
        });
        Ok(Bracket::new(lower.unwrap_or(0.0), upper.unwrap_or(most)))
    }

    /// The most bits within (ε, δ).
    pub(crate) fn largest_steps(&self, epsilon: Epsilon, delta: Delta) -> Result<Steps, Error> {
        let fits = |steps: u64| Ok(self.delta(Steps(steps), epsilon)?.upper <= delta.get());
        Ok(Steps(try_largest_integer(0, u64::MAX, fits)?.unwrap_or(0)))
    }

    /// The largest privacy loss of one bit, up to rounding.
    fn largest_loss(&self) -> f64 {
        let Self { first, second } = self;
        log_ratio(first.0, second.0).max(log_ratio(second.1, first.1))
    }
}

/// ln(a/b) to a few units, however close the two are.
fn log_ratio(a: Double, b: Double) -> f64 {
    let apart = ((a.high - b.high) + (a.low - b.low)) / b.high;
    if apart.abs() < 1.0 { libm::log1p(apart) } else { libm::log(a.high) - libm::log(b.high) }
}

/// Where δ(ε) of one direction meets `delta`, as good as f64 gives.
///
/// In x = e^ε the curve is convex, falling and piecewise linear: Newton's steps from the left never overshoot, and end.
fn root(k: u64, p: (Double, Double), q: (Double, Double), delta: f64, most: f64) -> f64 {
    // Begin where a normal law of the losses would put it, a little to the left.
    let chance = p.0.high;
    let (one, zero) = (log_ratio(p.0, q.0), log_ratio(p.1, q.1));
    let mean = chance * one + (1.0 - chance) * zero;
    let deviation = (k as f64 * chance * (1.0 - chance)).sqrt() * (one - zero);
    let guess = k as f64 * mean - normal_quantile(delta) * deviation;
    let mut epsilon = (0.97 * guess).clamp(0.0, 0.999 * most);
    let mut inside = false;
    for _ in 0..1000 {
        let (spent, weighted) = excess(k, p, q, epsilon);
        if spent < delta && !inside && epsilon > 0.0 {
            // Too far: from the right a step could go anywhere.
            epsilon = if epsilon < 1e-12 { 0.0 } else { 0.9 * epsilon };
            continue;
        }
        inside = true;
        let next = (epsilon + libm::log1p((spent - delta) / weighted)).min(most);
        // Past the last piece this is 0/0, and ends the search too.
        if next.is_nan() || next - epsilon <= f64::EPSILON * next {
            break;
        }
        epsilon = next;
    }
    epsilon
}

/// Σ_j max(0, P(j) − e^ε·Q(j)), and the sum of e^ε·Q(j) over the same j; P = Bin(k, p) and Q = Bin(k, q) are given as chances of
/// one and zero, p > q.
fn excess(k: u64, p: (Double, Double), q: (Double, Double), epsilon: f64) -> (f64, f64) {
    let (gain, loss) = (log_ratio(p.0, q.0), log_ratio(q.1, p.1));
    // No loss exceeds k·gain, so nothing is left above it; the slack covers its rounding.
    if epsilon > k as f64 * gain * (1.0 + 1e-12) {
        return (0.0, 0.0);
    }
    let weight = Scaled::exp(epsilon);
    let crossing = (epsilon + k as f64 * loss) / (gain + loss);
    // Rounding may have put the crossing a little off: go back until the first term is not positive.
    let mut start = (crossing.clamp(0.0, k as f64) as u64).saturating_sub(2);
    let mut back = 4_u64;
    let term = |j: u64| {
        let ways = ways(k, j);
        let chance = |(one, zero)| Scaled::power(one, j).times(Scaled::power(zero, k - j)).times(ways);
        (chance(p), chance(q).times(weight))
    };
    let (mut ours, mut theirs) = term(start);
    while start > 0 && ours.minus(theirs) > Scaled::ZERO {
        start = start.saturating_sub(back);
        back *= 2;
        (ours, theirs) = term(start);
    }
    let (mut sum, mut weighted) = (Scaled::ZERO, Scaled::ZERO);
    for j in start..=k {
        let difference = ours.minus(theirs);
        if difference > Scaled::ZERO {
            sum = sum.plus(difference);
            weighted = weighted.plus(theirs);
            // Past the mode of P the terms shrink faster and faster.
            let falling = (j + 1) as f64 > (k + 1) as f64 * p.0.high;
            if falling && ours < sum.times(Scaled::NEGLIGIBLE) {
                break;
            }
        }
        if j < k {
            let choices = Double::count(k - j).over(Double::count(j + 1));
            ours = ours.times(choices.times(p.0.over(p.1)).into());
            theirs = theirs.times(choices.times(q.0.over(q.1)).into());
        }
    }
    (sum.rounded(), weighted.rounded())
}

/// The binomial coefficient C(k, j).
fn ways(k: u64, j: u64) -> Scaled {
    let factor = |i: u64| Scaled::from(Double::count(k - i).over(Double::count(i + 1)));
    (0..j.min(k - j)).fold(Scaled::from(Double::from(1.0)), |product, i| product.times(factor(i)))
}

/// value·2^exponent, the value's high part between ½ and 1 unless zero.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Scaled {
    value: Double,
    exponent: i64,
}

impl Scaled {
    const ZERO: Self = Self { value: Double::ZERO, exponent: 0 };

    /// 2⁻⁷⁰: what is smaller than this part of a sum does not matter even a million times.
    const NEGLIGIBLE: Self = Self { value: Double { high: 0.5, low: 0.0 }, exponent: -69 };

    fn new(value: Double, exponent: i64) -> Self {
        if value.high == 0.0 {
            return Self::ZERO;
        }
        let (_, shift) = libm::frexp(value.high);
        // Two factors, for 2^−shift itself may leave the range.
        let half = shift / 2;
        let value = value.scaled(libm::ldexp(1.0, -half)).scaled(libm::ldexp(1.0, half - shift));
        Self { value, exponent: exponent + i64::from(shift) }
    }

    fn times(self, other: Self) -> Self {
        Self::new(self.value.times(other.value), self.exponent + other.exponent)
    }

    fn plus(self, other: Self) -> Self {
        if self == Self::ZERO {
            return other;
        }
        let (large, small) = if self.exponent >= other.exponent { (self, other) } else { (other, self) };
        let shift = large.exponent - small.exponent;
        // Beyond doubled precision nothing is added.
        if small == Self::ZERO || shift > 220 {
            return large;
        }
        let aligned = small.value.scaled(libm::ldexp(1.0, -(shift as i32)));
        Self::new(large.value.plus(aligned), large.exponent)
    }

    fn minus(self, other: Self) -> Self {
        self.plus(Self { value: other.value.scaled(-1.0), exponent: other.exponent })
    }

    /// xⁿ by squaring.
    fn power(base: Double, n: u64) -> Self {
        let mut square = Self::from(base);
        let mut result = Self::from(Double::from(1.0));
        let mut left = n;
        while left > 0 {
            if left & 1 == 1 {
                result = result.times(square);
            }
            square = square.times(square);
            left >>= 1;
        }
        result
    }

    /// eˣ for 0 ≤ x < 2⁴⁰.
    fn exp(x: f64) -> Self {
        // ln 2 to 160 bits, so that n·ln 2 keeps a hundred after the point.
        const LN_2: [f64; 3] =
            [std::f64::consts::LN_2, 2.319_046_813_846_299_6e-17, 5.707_708_438_416_212e-34];
        let n = (x / LN_2[0]).round();
        let rest = LN_2.iter().fold(Double::from(x), |rest, part| rest.plus(Double::product(-n, *part)));
        // |rest| ≤ 0.35, and a 32nd of it below 0.011: eleven terms leave less than 2⁻¹⁰⁰.
        let small = rest.scaled(1.0 / 32.0);
        let mut series = Double::from(1.0);
        for i in (1..=14).rev() {
            series = Double::from(1.0).plus(small.times(series).over(Double::from(f64::from(i))));
        }
        for _ in 0..5 {
            series = series.times(series);
        }
        Self::new(series, n as i64)
    }

    /// The nearest f64; subnormal results are rounded once more.
    fn rounded(self) -> f64 {
        let exponent = self.exponent.clamp(-2000, 2000) as i32;
        libm::ldexp(self.value.rounded(), exponent)
    }
}

impl From<Double> for Scaled {
    fn from(value: Double) -> Self {
        Self::new(value, 0)
    }
}

impl PartialOrd for Scaled {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        let difference = self.plus(Self { value: other.value.scaled(-1.0), exponent: other.exponent });
        difference.value.high.partial_cmp(&0.0)
    }
}

#[cfg(test)]
mod tests;
