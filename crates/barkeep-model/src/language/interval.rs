//! Bounds expressions over all records the declared columns admit and over all θ, by interval arithmetic rounded outward.
//!
//! **Guarantee.** For every θ and every record inside the columns' ranges, the real value of a node lies in its interval. By
//! induction over the nodes: each interval operation holds every value that its function takes on the arguments' intervals.
//! Sums, differences, products and quotients of end points are off by half a unit in the last place and are moved outward by
//! one; the other functions by more units than their documented error. Where a function is undefined on part of an argument's
//! interval (a logarithm of 0, a quotient by 0), the interval is the whole line. A node that is not bounded by its shape alone
//! has an infinite end, and then there is no bound.

use barkeep_machine::{Binary, Unary, place};
use barkeep_num::{down_by, up_by};

use super::graph::{Graph, Id, Node};

/// A closed interval; an infinite end is no bound.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Interval {
    pub(crate) low: f64,
    pub(crate) high: f64,
}

/// The whole line.
const ALL: Interval = Interval { low: f64::NEG_INFINITY, high: f64::INFINITY };

/// Units by which results of functions other than the four of arithmetic are moved outward; the worst documented error is
/// below four, and ln Γ and ψ have absolute ones on top.
const MARGIN: u32 = 8;

impl Interval {
    /// From one number to another.
    pub(crate) fn new(low: f64, high: f64) -> Self {
        if low.is_nan() || high.is_nan() || low > high { ALL } else { Self { low, high } }
    }

    fn widened(self, units: u32) -> Self {
        Self::new(down_by(self.low, units), up_by(self.high, units))
    }

    /// The largest absolute value.
    pub(crate) fn size(self) -> f64 {
        self.low.abs().max(self.high.abs())
    }

    /// Whether a number is inside.
    fn holds(self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    /// The smallest interval that holds both.
    fn hull(self, other: Self) -> Self {
        Self::new(self.low.min(other.low), self.high.max(other.high))
    }

    fn monotone(self, function: impl Fn(f64) -> f64) -> Self {
        Self::new(function(self.low), function(self.high)).widened(MARGIN)
    }

    fn falling(self, function: impl Fn(f64) -> f64) -> Self {
        Self::new(function(self.high), function(self.low)).widened(MARGIN)
    }

    /// The interval of |x|.
    fn absolute(self) -> Self {
        let least = if self.holds(0.0) { 0.0 } else { self.low.abs().min(self.high.abs()) };
        Self::new(least, self.size())
    }

    fn times(self, other: Self) -> Self {
        // 0·∞ is 0: an infinite end stands for numbers, all of which are finite.
        let product = |a: f64, b: f64| if a == 0.0 || b == 0.0 { 0.0 } else { a * b };
        let ends = [
            product(self.low, other.low),
            product(self.low, other.high),
            product(self.high, other.low),
            product(self.high, other.high),
        ];
        let low = ends.into_iter().fold(f64::INFINITY, f64::min);
        let high = ends.into_iter().fold(f64::NEG_INFINITY, f64::max);
        Self::new(low, high).outward(low != 0.0, high != 0.0)
    }

    /// Moved outward by a unit where the end is no exact 0.
    fn outward(self, low: bool, high: bool) -> Self {
        Self::new(down_by(self.low, u32::from(low)), up_by(self.high, u32::from(high)))
    }

    fn reciprocal(self) -> Self {
        if self.low > 0.0 || self.high < 0.0 {
            let inverse = |x: f64| 1.0 / x;
            Self::new(inverse(self.high), inverse(self.low)).widened(1).within_sign(self.low > 0.0)
        } else {
            ALL
        }
    }

    /// Cut to the numbers of one sign: outward rounding must not cross 0.
    fn within_sign(self, positive: bool) -> Self {
        if positive {
            Self::new(self.low.max(0.0), self.high)
        } else {
            Self::new(self.low, self.high.min(0.0))
        }
    }

    /// Cut to what a function can reach at all.
    fn within(self, low: f64, high: f64) -> Self {
        Self::new(self.low.max(low), self.high.min(high))
    }

    fn unary(self, op: Unary) -> Self {
        let x = self;
        match op {
            Unary::Exp => x.monotone(|x| op.at(x)).within(0.0, f64::INFINITY),
            Unary::ExpM1 => {
                // The function itself overflows early; beyond it there is no finite bound.
                x.monotone(|x| op.at(x)).within(-1.0, f64::INFINITY)
            }
            Unary::Sigmoid | Unary::ShortSigmoid | Unary::NormalCdf => {
                x.monotone(|x| op.at(x)).within(0.0, 1.0)
            }
            Unary::LogSigmoid | Unary::LnNormalCdf | Unary::LnCauchyCdf => {
                x.monotone(|x| op.at(x)).within(f64::NEG_INFINITY, 0.0)
            }
            Unary::Sqrt if x.low >= 0.0 => x.monotone(|x| op.at(x)).within(0.0, f64::INFINITY),
            Unary::Ln if x.low >= 0.0 => x.monotone(|x| op.at(x)),
            Unary::Ln1p if x.low >= -1.0 => x.monotone(|x| op.at(x)),
            Unary::Log1mExp if x.high <= 0.0 => x.falling(|x| op.at(x)).within(f64::NEG_INFINITY, 0.0),
            Unary::Sign | Unary::Floor => Self::new(op.at(x.low), op.at(x.high)),
            Unary::Abs => x.absolute(),
            Unary::Square => {
                let size = x.absolute();
                size.times(size).within(0.0, f64::INFINITY)
            }
            Unary::Reciprocal => x.reciprocal(),
            Unary::Ln1pSquare => x.absolute().monotone(|x| op.at(x)).within(0.0, f64::INFINITY),
            Unary::Witch => x.witch(),
            Unary::Mills => x.falling(|x| op.at(x)).within(0.0, f64::INFINITY),
            Unary::Digamma if x.low > 0.0 => {
                // An absolute error of 2⁻⁴⁸·max(1, 1/x) on top of the units.
                let slack = |x: f64| (-47_f64).exp2() * (1.0 / x).max(1.0);
                Self::new(op.at(x.low) - slack(x.low), op.at(x.high) + slack(x.high)).widened(MARGIN)
            }
            Unary::Trigamma if x.low > 0.0 => {
                let (most, least) = (op.at(x.low), op.at(x.high));
                Self::new(least * (1.0 - (-40_f64).exp2()), most * (1.0 + (-40_f64).exp2()))
                    .within(0.0, f64::INFINITY)
            }
            Unary::LnGamma if x.low > 0.0 => x.ln_gamma(),
            Unary::Sqrt
            | Unary::Ln
            | Unary::Ln1p
            | Unary::Log1mExp
            | Unary::Digamma
            | Unary::Trigamma
            | Unary::LnGamma => ALL,
        }
    }

    /// x/(1 + x²): rises from −1 to 1, where it is ±½, and falls towards 0 outside.
    fn witch(self) -> Self {
        let at = |x: f64| if x.is_infinite() { 0.0 } else { Unary::Witch.at(x) };
        let (a, b) = (at(self.low), at(self.high));
        let mut found = Self::new(a.min(b), a.max(b)).widened(MARGIN);
        if self.holds(1.0) {
            found.high = 0.5;
        }
        if self.holds(-1.0) {
            found.low = -0.5;
        }
        found.within(-0.5, 0.5)
    }

    /// ln Γ falls to its least value −0.1214862905… near 1.4616 and rises after it.
    fn ln_gamma(self) -> Self {
        const LEAST: f64 = -0.121_486_290_535_849_7;
        let slack = |x: f64| (-45_f64).exp2() * (x * x.ln()).abs().max(1.0);
        let (a, b) = (Unary::LnGamma.at(self.low), Unary::LnGamma.at(self.high));
        let high = (a + slack(self.low)).max(b + slack(self.high));
        let least = if self.holds(1.461_632) || self.holds(1.461_633) { LEAST } else { a.min(b) };
        let high = if self.low == 0.0 { f64::INFINITY } else { high };
        Self::new(least - slack(self.low.min(self.high)) - 1e-12, high).widened(MARGIN)
    }

    fn binary(op: Binary, a: Self, b: Self) -> Self {
        match op {
            Binary::Add => {
                let (low, high) = (a.low + b.low, a.high + b.high);
                Self::new(low, high).outward(true, true)
            }
            Binary::Sub => {
                let (low, high) = (a.low - b.high, a.high - b.low);
                Self::new(low, high).outward(true, true)
            }
            Binary::Mul => a.times(b),
            Binary::Div => a.times(b.reciprocal()),
            Binary::Pow if a.low >= 0.0 => {
                // e^(b·ln a); the exponent's own rounding is inside the interval of the product.
                let exponent = a.unary(Unary::Ln).times(b);
                let one = Self::new(1.0, 1.0);
                let power = exponent.unary(Unary::Exp);
                if b.holds(0.0) { power.hull(one) } else { power }
            }
            Binary::Pow => ALL,
            Binary::Min => Self::new(a.low.min(b.low), a.high.min(b.high)),
            Binary::Max => Self::new(a.low.max(b.low), a.high.max(b.high)),
            Binary::Less => truth(a.high < b.low, a.low >= b.high),
            Binary::LessEqual => truth(a.high <= b.low, a.low > b.high),
            Binary::Equal => {
                truth(a.low == a.high && a.low == b.low && b.low == b.high, a.high < b.low || b.high < a.low)
            }
            Binary::LogAddExp => Self::new(op.at(a.low, b.low), op.at(a.high, b.high)).widened(MARGIN),
            Binary::LogSigmoidDifference => {
                let (first, second) = (a.unary(Unary::LogSigmoid), b.unary(Unary::LogSigmoid));
                // A derivative between 0 and 1: the difference is within that of the arguments and of the same sign.
                let apart = Self::binary(Binary::Sub, a, b).hull(Self::new(0.0, 0.0));
                let apart = apart.widened(MARGIN);
                Self::binary(Binary::Sub, first, second).within(apart.low, apart.high)
            }
        }
    }
}

/// 1 where it always holds, 0 where it never does, else either.
fn truth(always: bool, never: bool) -> Interval {
    match (always, never) {
        (true, _) => Interval::new(1.0, 1.0),
        (false, true) => Interval::new(0.0, 0.0),
        (false, false) => Interval::new(0.0, 1.0),
    }
}

impl Graph {
    /// An interval for each node, for θ in these intervals and records in these ranges.
    pub(crate) fn intervals(&self, theta: &[Interval], columns: &[Interval]) -> Vec<Interval> {
        let mut found: Vec<Interval> = Vec::with_capacity(self.len());
        for id in 0..self.len() {
            let at = |id: &Id| found[*id as usize];
            let interval = match self.node(Id::try_from(id).unwrap_or(Id::MAX)) {
                Node::Constant(bits) => {
                    let value = f64::from_bits(*bits);
                    if value.is_nan() { ALL } else { Interval { low: value, high: value } }
                }
                Node::Parameter(index) => theta.get(*index as usize).copied().unwrap_or(ALL),
                Node::Column(index) => columns.get(*index as usize).copied().unwrap_or(ALL),
                Node::Unary(op, a) => at(a).unary(*op),
                Node::Binary(op, a, b) => Interval::binary(*op, at(a), at(b)),
                Node::Select(c, a, b) => {
                    let condition = at(c);
                    if !condition.holds(0.0) {
                        at(a)
                    } else if condition.low == 0.0 && condition.high == 0.0 {
                        at(b)
                    } else {
                        at(a).hull(at(b))
                    }
                }
                Node::Gather(index, entries) => {
                    let index = at(index);
                    let (first, last) = (place(index.low, entries.len()), place(index.high, entries.len()));
                    entries[first..=last].iter().map(at).reduce(Interval::hull).unwrap_or(ALL)
                }
            };
            found.push(interval);
        }
        found
    }

    /// A bound on ‖∇‖₂ over all θ and all records in these ranges, rounded up; nothing where the intervals give none.
    ///
    /// Coordinates that are not 0 for one level each of the same column add up to the largest of them, not to their norm.
    pub(crate) fn gradient_bound(&self, gradient: &[Id], columns: &[Interval]) -> Option<f64> {
        let intervals = self.intervals(&[], columns);
        let mut squares = 0.0;
        // For each index, what its levels' coordinates reach: at most one level is present.
        let mut chosen: Vec<(Id, Vec<(u64, f64)>)> = Vec::new();
        for id in gradient {
            let size = intervals[*id as usize].size();
            let square = up_by(size * size, 1);
            match self.level_of(*id) {
                None => squares = up_by(squares + square, 1),
                Some((index, level)) => {
                    let place = chosen.iter().position(|(known, _)| *known == index);
                    let place = place.unwrap_or_else(|| {
                        chosen.push((index, Vec::new()));
                        chosen.len() - 1
                    });
                    let levels = &mut chosen[place].1;
                    match levels.iter_mut().find(|(known, _)| *known == level) {
                        Some((_, sum)) => *sum = up_by(*sum + square, 1),
                        None => levels.push((level, square)),
                    }
                }
            }
        }
        for (_, levels) in chosen {
            let largest = levels.into_iter().map(|(_, sum)| sum).fold(0.0, f64::max);
            squares = up_by(squares + largest, 1);
        }
        let bound = up_by(squares.sqrt(), 1);
        let moves = gradient.iter().any(|id| intervals[*id as usize].size() > 0.0);
        (bound.is_finite() && moves).then_some(bound)
    }

    /// The index and the level outside of which a coordinate is 0.
    pub(crate) fn level_of(&self, id: Id) -> Option<(Id, u64)> {
        let Node::Select(condition, _, otherwise) = *self.node(id) else { return None };
        if self.value(otherwise) != Some(0.0) {
            return None;
        }
        match *self.node(condition) {
            Node::Binary(Binary::Equal, a, b) => match (self.node(a), self.node(b)) {
                (Node::Constant(level), _) => Some((b, *level)),
                (_, Node::Constant(level)) => Some((a, *level)),
                _ => None,
            },
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
