//! Lists the functions a program may use, each with its value for one number: total, and without branches.

use barkeep_num::vector::scalar;

use crate::functions::{
    digamma, ln_cauchy_cdf, ln_gamma, ln_normal_cdf, mills, select, softplus_difference, trigamma,
};
use crate::op;

/// A function of one number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unary {
    /// eˣ.
    Exp,
    /// eˣ − 1.
    ExpM1,
    /// ln x.
    Ln,
    /// ln(1 + x).
    Ln1p,
    /// √x.
    Sqrt,
    /// |x|.
    Abs,
    /// −1, 0 or 1.
    Sign,
    /// x².
    Square,
    /// 1/x.
    Reciprocal,
    /// 1/(1 + e⁻ˣ).
    Sigmoid,
    /// 1/(1 + e⁻ˣ) to 2.3·10⁻¹⁰, for slopes that are rounded to 2⁻³⁰ of a bound afterwards.
    ShortSigmoid,
    /// ln(1/(1 + e⁻ˣ)).
    LogSigmoid,
    /// ln(1 − eˣ) for x below 0.
    Log1mExp,
    /// ln(1 + x²): a logarithm whose derivative is bounded.
    Ln1pSquare,
    /// x/(1 + x²), half its derivative.
    Witch,
    /// ln Γ(x) for x above 0.
    LnGamma,
    /// ψ(x) for x above 0.
    Digamma,
    /// ψ'(x) for x above 0.
    Trigamma,
    /// Φ(x).
    NormalCdf,
    /// ln Φ(x).
    LnNormalCdf,
    /// φ(x)/Φ(x), the derivative of ln Φ.
    Mills,
    /// ln(½ + atan(x)/π), precise in the lower tail.
    LnCauchyCdf,
    /// The largest whole number that is not above x.
    Floor,
}

/// A function of two numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Binary {
    /// a + b.
    Add,
    /// a − b.
    Sub,
    /// a·b.
    Mul,
    /// a/b.
    Div,
    /// aᵇ for a ≥ 0: e^(b·ln a), and 1 for b = 0.
    Pow,
    /// The smaller.
    Min,
    /// The larger.
    Max,
    /// 1 where a < b, else 0.
    Less,
    /// 1 where a ≤ b, else 0.
    LessEqual,
    /// 1 where a = b, else 0.
    Equal,
    /// ln(eᵃ + eᵇ).
    LogAddExp,
    /// log_sigmoid(a) − log_sigmoid(b), without cancellation.
    LogSigmoidDifference,
}

/// ln 2.
const LN_2: f64 = std::f64::consts::LN_2;

/// ln(1 − eˣ): near 0 by expm1, below −ln 2 by log1p.
#[inline(always)]
pub(crate) fn log_1m_exp(x: f64) -> f64 {
    let near = scalar::ln(-scalar::exp_m1(x));
    let far = scalar::ln_1p(-scalar::exp(x));
    select(x > -LN_2, near, far)
}

/// ln(1 + x²), also where x² overflows.
#[inline(always)]
pub(crate) fn ln_1p_square(x: f64) -> f64 {
    let size = x.abs();
    select(size > 1e150, 2.0 * scalar::ln(size), scalar::ln_1p(x * x))
}

/// x/(1 + x²), also where x² overflows.
#[inline(always)]
pub(crate) fn witch(x: f64) -> f64 {
    select(x.abs() > 1e150, 1.0 / x, x / (1.0 + x * x))
}

/// ln(eᵃ + eᵇ); −∞ where both are.
#[inline(always)]
pub(crate) fn log_add_exp(a: f64, b: f64) -> f64 {
    let (low, high) = (select(a < b, a, b), select(a < b, b, a));
    let apart = select(low == high, 0.0, low - high);
    high + scalar::ln_1p(scalar::exp(apart))
}

/// aᵇ.
#[inline(always)]
pub(crate) fn pow(a: f64, b: f64) -> f64 {
    select(b == 0.0, 1.0, scalar::exp(b * scalar::ln(a)))
}

/// −1, 0 or 1; NaN stays.
#[inline(always)]
pub(crate) fn sign(x: f64) -> f64 {
    select(x > 0.0, 1.0, select(x < 0.0, -1.0, x))
}

/// log_sigmoid(a) − log_sigmoid(b).
#[inline(always)]
pub(crate) fn log_sigmoid_difference(a: f64, b: f64) -> f64 {
    -softplus_difference(-a, -b)
}

/// 1 or 0.
#[inline(always)]
pub(crate) fn truth(condition: bool) -> f64 {
    select(condition, 1.0, 0.0)
}

/// Calls `$run!` with the expression of one function, so that a loop around it is compiled for each.
macro_rules! unary {
    ($op:expr, $x:ident => $run:ident) => {
        match $op {
            Unary::Exp => $run!($x, scalar::exp($x)),
            Unary::ExpM1 => $run!($x, scalar::exp_m1($x)),
            Unary::Ln => $run!($x, scalar::ln($x)),
            Unary::Ln1p => $run!($x, scalar::ln_1p($x)),
            Unary::Sqrt => $run!($x, $x.sqrt()),
            Unary::Abs => $run!($x, $x.abs()),
            Unary::Sign => $run!($x, op::sign($x)),
            Unary::Square => $run!($x, $x * $x),
            Unary::Reciprocal => $run!($x, 1.0 / $x),
            Unary::Sigmoid => $run!($x, scalar::sigmoid($x)),
            Unary::ShortSigmoid => $run!($x, scalar::short_sigmoid($x)),
            Unary::LogSigmoid => $run!($x, scalar::log_sigmoid($x)),
            Unary::Log1mExp => $run!($x, op::log_1m_exp($x)),
            Unary::Ln1pSquare => $run!($x, op::ln_1p_square($x)),
            Unary::Witch => $run!($x, op::witch($x)),
            Unary::LnGamma => $run!($x, ln_gamma($x)),
            Unary::Digamma => $run!($x, digamma($x)),
            Unary::Trigamma => $run!($x, trigamma($x)),
            Unary::NormalCdf => $run!($x, scalar::normal_cdf($x)),
            Unary::LnNormalCdf => $run!($x, ln_normal_cdf($x)),
            Unary::Mills => $run!($x, mills($x)),
            Unary::LnCauchyCdf => $run!($x, ln_cauchy_cdf($x)),
            Unary::Floor => $run!($x, $x.floor()),
        }
    };
}

/// As [`unary!`], for functions of two numbers.
macro_rules! binary {
    ($op:expr, $a:ident, $b:ident => $run:ident) => {
        match $op {
            Binary::Add => $run!($a, $b, $a + $b),
            Binary::Sub => $run!($a, $b, $a - $b),
            Binary::Mul => $run!($a, $b, $a * $b),
            Binary::Div => $run!($a, $b, $a / $b),
            Binary::Pow => $run!($a, $b, op::pow($a, $b)),
            Binary::Min => $run!($a, $b, if $b < $a { $b } else { $a }),
            Binary::Max => $run!($a, $b, if $b > $a { $b } else { $a }),
            Binary::Less => $run!($a, $b, op::truth($a < $b)),
            Binary::LessEqual => $run!($a, $b, op::truth($a <= $b)),
            Binary::Equal => $run!($a, $b, op::truth($a == $b)),
            Binary::LogAddExp => $run!($a, $b, op::log_add_exp($a, $b)),
            Binary::LogSigmoidDifference => $run!($a, $b, op::log_sigmoid_difference($a, $b)),
        }
    };
}

pub(crate) use {binary, unary};

impl Unary {
    /// f(x).
    #[must_use]
    pub fn at(self, x: f64) -> f64 {
        macro_rules! value {
            ($x:ident, $value:expr) => {
                $value
            };
        }
        unary!(self, x => value)
    }
}

impl Binary {
    /// f(a, b).
    #[must_use]
    pub fn at(self, a: f64, b: f64) -> f64 {
        macro_rules! value {
            ($a:ident, $b:ident, $value:expr) => {
                $value
            };
        }
        binary!(self, a, b => value)
    }

    /// Whether f(a, b) = f(b, a), to the bit.
    #[must_use]
    pub fn commutes(self) -> bool {
        match self {
            Self::Add | Self::Mul | Self::Equal | Self::LogAddExp => true,
            Self::Sub
            | Self::Div
            | Self::Pow
            | Self::Min
            | Self::Max
            | Self::Less
            | Self::LessEqual
            | Self::LogSigmoidDifference => false,
        }
    }
}

impl Unary {
    /// All of them, in the order by which bytes name them.
    pub const ALL: [Self; 23] = [
        Self::Exp,
        Self::ExpM1,
        Self::Ln,
        Self::Ln1p,
        Self::Sqrt,
        Self::Abs,
        Self::Sign,
        Self::Square,
        Self::Reciprocal,
        Self::Sigmoid,
        Self::ShortSigmoid,
        Self::LogSigmoid,
        Self::Log1mExp,
        Self::Ln1pSquare,
        Self::Witch,
        Self::LnGamma,
        Self::Digamma,
        Self::Trigamma,
        Self::NormalCdf,
        Self::LnNormalCdf,
        Self::Mills,
        Self::LnCauchyCdf,
        Self::Floor,
    ];

    /// Its place among all.
    pub(crate) fn position(self) -> u32 {
        Self::ALL.iter().zip(0..).find_map(|(one, place)| (*one == self).then_some(place)).unwrap_or(u32::MAX)
    }

    /// The one at a place.
    pub(crate) fn at_position(place: u32) -> Option<Self> {
        Self::ALL.get(place as usize).copied()
    }
}

impl Binary {
    /// All of them, in the order by which bytes name them.
    pub const ALL: [Self; 12] = [
        Self::Add,
        Self::Sub,
        Self::Mul,
        Self::Div,
        Self::Pow,
        Self::Min,
        Self::Max,
        Self::Less,
        Self::LessEqual,
        Self::Equal,
        Self::LogAddExp,
        Self::LogSigmoidDifference,
    ];

    /// Its place among all.
    pub(crate) fn position(self) -> u32 {
        Self::ALL.iter().zip(0..).find_map(|(one, place)| (*one == self).then_some(place)).unwrap_or(u32::MAX)
    }

    /// The one at a place.
    pub(crate) fn at_position(place: u32) -> Option<Self> {
        Self::ALL.get(place as usize).copied()
    }
}

/// The position in a table of `count` entries that a number names: the nearest below, cut to the table; not a number names the first.
#[inline(always)]
#[must_use]
pub fn place(index: f64, count: usize) -> usize {
    // A cast from a float cuts to the range of the integer, and takes not a number for 0.
    (index as usize).min(count.saturating_sub(1))
}

#[cfg(test)]
mod tests;
