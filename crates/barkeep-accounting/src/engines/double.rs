//! Carries sums, products and quotients at twice the precision of f64, where an exponential magnifies rounding.
//!
//! Every operation has a relative error below 2⁻¹⁰⁰ while no intermediate result leaves the normal range; the
//! callers keep their arguments between 2⁻⁴⁵⁰ and 2⁴⁵⁰.

/// The unevaluated sum `high + low`, with |low| at most half a unit in the last place of `high`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Double {
    pub(crate) high: f64,
    pub(crate) low: f64,
}

impl Double {
    pub(crate) const ZERO: Self = Self { high: 0.0, low: 0.0 };

    /// `a + b` without error.
    pub(crate) fn sum(a: f64, b: f64) -> Self {
        let high = a + b;
        let part = high - a;
        Self { high, low: (a - (high - part)) + (b - part) }
    }

    /// `a · b` without error.
    pub(crate) fn product(a: f64, b: f64) -> Self {
        let high = a * b;
        Self { high, low: libm::fma(a, b, -high) }
    }

    /// A count without error, though f64 has only 53 bits.
    pub(crate) fn count(count: u64) -> Self {
        let (upper, lower) = (count >> 32, count & 0xffff_ffff);
        Self::sum(upper as f64 * 4_294_967_296.0, lower as f64)
    }

    pub(crate) fn plus(self, other: Self) -> Self {
        let high = Self::sum(self.high, other.high);
        let low = Self::sum(self.low, other.low);
        let carried = Self::sum(high.high, high.low + low.high);
        Self::sum(carried.high, carried.low + low.low)
    }

    pub(crate) fn times(self, other: Self) -> Self {
        let product = Self::product(self.high, other.high);
        Self::sum(product.high, product.low + (self.high * other.low + self.low * other.high))
    }

    pub(crate) fn over(self, divisor: Self) -> Self {
        let first = self.high / divisor.high;
        let rest = self.plus(divisor.times(Self::from(-first)));
        let second = rest.high / divisor.high;
        let rest = rest.plus(divisor.times(Self::from(-second)));
        let third = rest.high / divisor.high;
        let leading = Self::sum(first, second);
        Self::sum(leading.high, leading.low + third)
    }

    /// The square root; zero of zero.
    pub(crate) fn root(self) -> Self {
        if self.high <= 0.0 {
            return Self::ZERO;
        }
        let first = self.high.sqrt();
        let square = Self::product(first, first);
        let rest = self.plus(Self { high: -square.high, low: -square.low });
        Self::sum(first, rest.high / (2.0 * first))
    }

    /// Multiplied by a power of two, without error.
    pub(crate) fn scaled(self, power_of_two: f64) -> Self {
        Self { high: self.high * power_of_two, low: self.low * power_of_two }
    }

    /// An f64 that is not below.
    ///
    /// Exact when this is an f64; otherwise one unit covers the error of the operations that led here.
    pub(crate) fn rounded_up(self) -> f64 {
        if self.low == 0.0 { self.high } else { self.high.next_up() }
    }

    /// The nearest f64.
    pub(crate) fn rounded(self) -> f64 {
        self.high + self.low
    }
}

impl From<f64> for Double {
    fn from(value: f64) -> Self {
        Self { high: value, low: 0.0 }
    }
}

#[cfg(test)]
mod tests;
