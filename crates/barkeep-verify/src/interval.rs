//! Encloses real numbers between two f64s, so that every rounding goes outwards.
//!
//! **Lemma (outward).** IEEE 754 rounds +, −, ×, ÷ and √ to the nearest f64. The exact result therefore lies between the two neighbours of
//! the computed one, and `next_down` and `next_up` enclose it; underflow and overflow included. An operation on intervals takes
//! the least and the largest of what its ends give, so it encloses every result of numbers within them. ∎
//!
//! No library function is believed: exp is a Taylor sum with its remainder, ln is a guess corrected by that exp, and the normal tail
//! is a series of positive terms near 0 and a continued fraction between two of its convergents beyond.

use std::ops::{Add, Div, Mul, Neg, Sub};

/// All real numbers from `lo` to `hi`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Interval {
    pub(crate) lo: f64,
    pub(crate) hi: f64,
}

/// One number.
pub(crate) fn at(value: f64) -> Interval {
    span(value, value)
}

/// All numbers from one to the other.
pub(crate) fn span(lo: f64, hi: f64) -> Interval {
    Interval { lo, hi }
}

impl From<f64> for Interval {
    fn from(value: f64) -> Self {
        at(value)
    }
}

/// Bounds of a rounded result.
fn outward(lo: f64, hi: f64) -> Interval {
    span(lo.next_down(), hi.next_up())
}

/// The least and the largest of four rounded results.
fn around([a, b, c, d]: [f64; 4]) -> Interval {
    outward(a.min(b).min(c).min(d), a.max(b).max(c).max(d))
}

macro_rules! operator {
    ($Trait:ident, $name:ident, $of:expr) => {
        impl<T: Into<Interval>> $Trait<T> for Interval {
            type Output = Self;
            fn $name(self, other: T) -> Self {
                let of: fn(Self, Self) -> Self = $of;
                of(self, other.into())
            }
        }
    };
}

operator!(Add, add, |a, b| outward(a.lo + b.lo, a.hi + b.hi));
operator!(Sub, sub, |a, b| outward(a.lo - b.hi, a.hi - b.lo));
operator!(Mul, mul, |a, b| around([a.lo * b.lo, a.lo * b.hi, a.hi * b.lo, a.hi * b.hi]));
// The divisor must not contain 0.
operator!(Div, div, |a, b| around([a.lo / b.lo, a.lo / b.hi, a.hi / b.lo, a.hi / b.hi]));

impl Neg for Interval {
    type Output = Self;
    fn neg(self) -> Self {
        span(-self.hi, -self.lo)
    }
}

impl Interval {
    /// Of a function that rises.
    fn rising(self, of: fn(f64) -> Self) -> Self {
        span(of(self.lo).lo, of(self.hi).hi)
    }

    /// The square root; what is below 0 counts as 0.
    pub(crate) fn sqrt(self) -> Self {
        span(self.lo.max(0.0).sqrt().next_down().max(0.0), self.hi.max(0.0).sqrt().next_up())
    }

    /// The part that is not below 0.
    pub(crate) fn positive(self) -> Self {
        span(self.lo.max(0.0), self.hi.max(0.0))
    }

    /// e^x.
    pub(crate) fn exp(self) -> Self {
        self.rising(exp)
    }

    /// e^x − 1.
    pub(crate) fn exp_m1(self) -> Self {
        self.rising(exp_m1)
    }

    /// ln(1 + x) for x > −1.
    pub(crate) fn ln_1p(self) -> Self {
        self.rising(ln_1p)
    }

    /// ln x for x > 0.
    pub(crate) fn ln(self) -> Self {
        self.rising(ln)
    }

    /// The standard normal density.
    pub(crate) fn density(self) -> Self {
        (self * self * -0.5).exp() * DENSITY_AT_0
    }

    /// P(Z > x) for a standard normal Z.
    pub(crate) fn tail(self) -> Self {
        (-self).rising(|x| tail(-x))
    }

    /// Mills' ratio, P(Z > x) over the density, for x ≥ 0: it falls.
    pub(crate) fn mills(self) -> Self {
        (-self.positive()).rising(|x| mills(-x))
    }
}

/// The upper 33 bits of ln 2: a product with a whole number below 2¹¹ is exact.
const LN_2_HIGH: f64 = f64::from_bits(0x3fe6_2e42_fee0_0000);
/// ln 2 − `LN_2_HIGH`, to the nearest f64; a test holds both to 60 digits.
const LN_2_LOW: f64 = f64::from_bits(0x3dea_39ef_3579_3c76);

/// Terms of the Taylor sum. For |r| ≤ 0.4 the rest is below 0.4¹⁹/19!·2 < 1e-24.
const TERMS: u32 = 18;
const REST: f64 = 1e-24;

/// Beyond these the result leaves the range of f64.
const LARGEST_POWER: f64 = 709.0;

/// (e^r − 1) for |r| ≤ 0.4: r(1 + r/2(1 + r/3(…))), the rest added, relative to r.
fn short_exp_m1(r: Interval) -> Interval {
    let sum = (2..=TERMS).rev().fold(at(1.0), |sum, k| sum * r / f64::from(k) + 1.0);
    (sum + span(-REST, REST)) * r
}

/// x = n·ln 2 + r with |r| ≤ 0.4, and n.
fn reduced(x: f64) -> (i32, Interval) {
    let n = (x * std::f64::consts::LOG2_E).round() as i32;
    let low = outward(LN_2_LOW, LN_2_LOW);
    (n, at(x) - f64::from(n) * LN_2_HIGH - low * f64::from(n))
}

/// e^x: e^r·2^n, the power in two exact factors. Beyond the range of f64 it is below its least, or above 8e307.
fn exp(x: f64) -> Interval {
    if x < -745.0 {
        return span(0.0, f64::MIN_POSITIVE);
    }
    if x > LARGEST_POWER {
        return span(8e307, f64::INFINITY);
    }
    let (n, r) = reduced(x);
    // |n| ≤ 1075, so each half is the exponent of a normal f64.
    let power = |n: i32| f64::from_bits(u64::from((1023 + n).unsigned_abs()) << 52);
    ((short_exp_m1(r) + 1.0) * power(n / 2) * power(n - n / 2)).positive()
}

fn exp_m1(x: f64) -> Interval {
    if x.abs() <= 0.3 { short_exp_m1(at(x)) } else { exp(x) - 1.0 }
}

/// ln(1 + d) for a finite d > −1: c + ln(1 + t) for any guess c, with t = (d − (e^c − 1))/e^c.
fn ln_1p(d: f64) -> Interval {
    let c = libm::log1p(d).clamp(-LARGEST_POWER, LARGEST_POWER);
    corrected(c, (at(d) - exp_m1(c)) / exp(c))
}

/// ln y for a finite y > 0, in the same way. Where y is nearly subnormal e^c loses its digits, and only an upper bound is kept.
fn ln(y: f64) -> Interval {
    if y < 1e-307 {
        return span(f64::NEG_INFINITY, -706.0);
    }
    let c = libm::log(y);
    corrected(c, (at(y) - exp(c)) / exp(c))
}

/// c + ln(1 + t): t − t² ≤ ln(1 + t) ≤ t where |t| ≤ ½. A wrong guess says nothing.
fn corrected(c: f64, t: Interval) -> Interval {
    let known = t.lo >= -0.5 && t.hi <= 0.5;
    let rest = span((t - span(0.0, (t * t).hi)).lo, t.hi);
    if known { at(c) + rest } else { span(f64::NEG_INFINITY, f64::INFINITY) }
}

/// 1/√(2π) between two neighbouring f64s.
const DENSITY_AT_0: Interval = Interval { lo: 0.398_942_280_401_432_64, hi: 0.398_942_280_401_432_75 };

/// From here on the continued fraction is used.
const FAR: f64 = 3.0;

/// Partial quotients of the fraction. From x = 3 on neighbouring convergents differ by less than 1e-16.
const QUOTIENTS: u32 = 120;

/// P(Z > x). Beyond 38.5 it is below e^(−741).
fn tail(x: f64) -> Interval {
    if x < 0.0 {
        let other = at(1.0) - tail(-x);
        return span(other.lo, other.hi.min(1.0));
    }
    if x > 38.5 {
        return span(0.0, 1e-320);
    }
    let rest = if x >= FAR { mills(x) * at(x).density() } else { at(0.5) - at(x).density() * series(x) };
    rest.positive()
}

/// Σ x^(2k+1)/(1·3·…·(2k+1)) for x ≤ 3, so that P(0 < Z < x) is the density times it. From the k at which terms shrink by ½ or more the rest is at
/// most the last term; after 64 of them they shrink by 9/131.
fn series(x: f64) -> Interval {
    let square = at(x) * x;
    let (mut term, mut sum) = (at(x), at(x));
    for k in 1..=64 {
        let odd = f64::from(2 * k + 1);
        term = term * square / odd;
        sum = sum + term;
        if term.hi < 1e-18 * sum.lo && square.hi < 0.5 * odd {
            break;
        }
    }
    span(sum.lo, (sum.hi + term.hi).next_up())
}

/// Mills' ratio at x ≥ 0: 1/(x + 1/(x + 2/(x + 3/(…)))). Convergents of a fraction of positive terms lie on either side of it in turn, so that the
/// fraction cut after `QUOTIENTS` quotients, its last tail replaced by anything from x to ∞, encloses it.
fn mills(x: f64) -> Interval {
    if x < FAR {
        return tail(x) / at(x).density();
    }
    let last = span(x, f64::INFINITY);
    let fraction = (1..=QUOTIENTS).rev().fold(last, |below, k| (at(f64::from(k)) / below).positive() + x);
    at(1.0) / fraction
}

#[cfg(test)]
mod tests;
