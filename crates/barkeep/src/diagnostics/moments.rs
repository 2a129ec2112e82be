//! Computes mean, variance and quantiles of any finite numbers without overflow on the way.

/// The mean and the variance of a sample.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moments {
    /// m = (1/n) Σ x_i.
    pub mean: f64,
    /// v = (1/(n−1)) Σ (x_i − m)²; 0 for a single number, infinite if it exceeds the largest f64.
    pub variance: f64,
    /// √v, finite wherever the standard deviation itself is.
    pub sd: f64,
}

impl Moments {
    /// The moments of `values`; `None` if there are none, or one of them is not finite.
    ///
    /// **Precision.** Two passes, each with the correction term of Chan, Golub and LeVeque (1983), on
    /// values scaled by a power of two: relative errors of a few 2^-53 whatever the ratio of mean to standard
    /// deviation that f64 can hold, and no overflow of squares.
    #[must_use]
    pub fn of(values: &[f64]) -> Option<Self> {
        let mut moments = MomentPasses::default();
        values.iter().for_each(|value| moments.look(*value));
        values.iter().for_each(|value| moments.add(*value));
        values.iter().for_each(|value| moments.correct(*value));
        values.iter().for_each(|value| moments.square(*value));
        moments.found()
    }
}

/// Computes [`Moments`] of values that come again in each of four passes, in the same order: [`look`](Self::look),
/// [`add`](Self::add), [`correct`](Self::correct), [`square`](Self::square).
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct MomentPasses {
    count: u64,
    first: f64,
    largest: f64,
    infinite: bool,
    varied: bool,
    sum: f64,
    left: f64,
    squares: f64,
    rest: f64,
}

impl MomentPasses {
    /// The first pass: how large values are.
    pub(crate) fn look(&mut self, value: f64) {
        if self.count == 0 {
            self.first = value;
        }
        self.count += 1;
        self.infinite |= !value.is_finite();
        self.varied |= value != self.first;
        self.largest = self.largest.max(value.abs());
    }

    /// The second pass: their sum.
    pub(crate) fn add(&mut self, value: f64) {
        self.sum += value / self.scale();
    }

    /// The third pass: what rounding left out of the mean.
    pub(crate) fn correct(&mut self, value: f64) {
        self.left += value / self.scale() - self.rough();
    }

    /// The fourth pass: squared deviations.
    pub(crate) fn square(&mut self, value: f64) {
        let deviation = value / self.scale() - self.mean();
        self.squares += deviation * deviation;
        self.rest += deviation;
    }

    /// The number of values.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// Whether there are values, all of them finite.
    pub(crate) fn is_usable(&self) -> bool {
        self.count > 0 && !self.infinite
    }

    /// The moments, after all four passes.
    pub(crate) fn found(&self) -> Option<Moments> {
        if !self.is_usable() {
            return None;
        }
        if !self.varied {
            // Rounding of the mean must not make a chain that never moved look as if it had.
            return Some(Moments { mean: self.first, variance: 0.0, sd: 0.0 });
        }
        let (count, scale) = (self.count as f64, self.scale());
        let variance = (self.squares - self.rest * self.rest / count) / (count - 1.0);
        Some(Moments {
            mean: self.mean() * scale,
            variance: variance * scale * scale,
            sd: variance.sqrt() * scale,
        })
    }

    fn scale(&self) -> f64 {
        power_of_two(self.largest)
    }

    fn rough(&self) -> f64 {
        self.sum / self.count as f64
    }

    fn mean(&self) -> f64 {
        self.rough() + self.left / self.count as f64
    }
}

/// A power of two s with max |x| / s in [1, 2), so that sums and squares of x / s neither overflow nor vanish.
///
/// At zero and among subnormal numbers s is the smallest normal number. `None` without values or if one is not
/// finite.
pub(super) fn binary_scale(values: &[f64]) -> Option<f64> {
    if values.is_empty() || !values.iter().all(|value| value.is_finite()) {
        return None;
    }
    Some(power_of_two(values.iter().fold(0.0, |largest, value| largest.max(value.abs()))))
}

/// The largest power of two that is at most `number`, and at least the smallest normal number.
fn power_of_two(number: f64) -> f64 {
    const EXPONENT: u64 = 0x7ff0_0000_0000_0000;
    f64::from_bits(number.max(f64::MIN_POSITIVE).to_bits() & EXPONENT)
}

/// Sorts finite numbers for [`quantile`]; `None` without values or if one is not finite.
#[must_use]
pub fn sorted(mut values: Vec<f64>) -> Option<Vec<f64>> {
    if values.is_empty() || !values.iter().all(|value| value.is_finite()) {
        return None;
    }
    values.sort_unstable_by(f64::total_cmp);
    Some(values)
}

/// The quantile of `sorted` numbers at `probability`, by linear interpolation between order statistics.
///
/// With x_0 ≤ … ≤ x_{n−1} and h = (n−1)p: x_⌊h⌋ + (h − ⌊h⌋)(x_⌊h⌋+1 − x_⌊h⌋). This is type 7 of Hyndman and Fan
/// (1996), the default of R and NumPy.
///
/// `None` without numbers or if `probability` is not in [0, 1].
#[must_use]
pub fn quantile(sorted: &[f64], probability: f64) -> Option<f64> {
    let place = Between::new(sorted.len() as u64, probability)?;
    place.value(|rank| sorted.get(usize::try_from(rank).ok()?).copied())
}

/// Where a quantile lies: between the order statistics of two ranks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Between {
    /// The ranks, from 0.
    pub(crate) ranks: [u64; 2],
    /// How much of the second.
    weight: f64,
}

impl Between {
    /// The place of a quantile of `count` numbers.
    pub(crate) fn new(count: u64, probability: f64) -> Option<Self> {
        if !(0.0..=1.0).contains(&probability) {
            return None;
        }
        let position = count.checked_sub(1)? as f64 * probability;
        let low = position.floor();
        Some(Self { ranks: [low as u64, position.ceil() as u64], weight: position - low })
    }

    /// The quantile, from the order statistic of each rank.
    pub(crate) fn value(self, at: impl Fn(u64) -> Option<f64>) -> Option<f64> {
        let [below, above] = [at(self.ranks[0])?, at(self.ranks[1])?];
        // Not below + weight·(above − below): that difference may overflow, and the median would not be the rounded
        // midpoint, as it is elsewhere, on which ties of the folded draws hang.
        Some(if below == above { below } else { below * (1.0 - self.weight) + above * self.weight })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn moments_by_hand() {
        let moments = Moments::of(&[1.0, 2.0, 6.0]).unwrap();
        assert_eq!((moments.mean, moments.variance), (3.0, 7.0));
        assert_eq!(moments.sd, 7.0_f64.sqrt());
        let single = Moments::of(&[4.5]).unwrap();
        assert_eq!((single.mean, single.variance, single.sd), (4.5, 0.0, 0.0));
        assert_eq!(Moments::of(&[]), None);
        assert_eq!(Moments::of(&[1.0, f64::NAN]), None);
        assert_eq!(Moments::of(&[1.0, f64::INFINITY]), None);
    }

    #[test]
    fn a_far_mean_leaves_the_variance_exact() {
        // 1e9 + {4, 7, 13, 16}: variance 30, the example of textbooks for cancellation.
        let moments = Moments::of(&[1e9 + 4.0, 1e9 + 7.0, 1e9 + 13.0, 1e9 + 16.0]).unwrap();
        assert_eq!((moments.mean, moments.variance), (1e9 + 10.0, 30.0));
    }

    #[test]
    fn extremes_neither_overflow_nor_vanish() {
        let huge = Moments::of(&[f64::MAX, -f64::MAX, f64::MAX, -f64::MAX]).unwrap();
        assert_eq!(huge.mean, 0.0);
        assert_eq!(huge.variance, f64::INFINITY);
        let steady = Moments::of(&[f64::MAX; 7]).unwrap();
        assert_eq!((steady.mean, steady.sd), (f64::MAX, 0.0));
        let wide = Moments::of(&[1e200, 3e200]).unwrap();
        assert!((wide.sd / 2f64.sqrt() / 1e200 - 1.0).abs() < 1e-15);
        let tiny = Moments::of(&[1e-200, 3e-200]).unwrap();
        assert!((tiny.sd / 2f64.sqrt() / 1e-200 - 1.0).abs() < 1e-15);
        let zero = Moments::of(&[0.0, -0.0]).unwrap();
        assert_eq!((zero.mean, zero.sd), (0.0, 0.0));
    }

    #[test]
    fn quantiles_by_hand() {
        let values = sorted(vec![3.0, 1.0, 2.0, 5.0, 4.0]).unwrap();
        for (probability, expected) in [(0.0, 1.0), (0.1, 1.4), (0.5, 3.0), (0.95, 4.8), (1.0, 5.0)] {
            let found = quantile(&values, probability).unwrap();
            assert!((found - expected).abs() < 1e-15 * expected, "{probability}: {found}");
        }
        assert_eq!(quantile(&[], 0.5), None);
        assert_eq!(quantile(&values, f64::NAN), None);
        assert_eq!(quantile(&values, 1.1), None);
        assert_eq!(quantile(&[-f64::MAX, f64::MAX], 0.5), Some(0.0));
        assert_eq!(quantile(&[7.0], 0.3), Some(7.0));
        assert_eq!(sorted(vec![f64::NAN]), None);
    }

    proptest! {
        #[test]
        fn quantiles_stay_in_order_and_range(
            values in prop::collection::vec(prop::num::f64::NORMAL | prop::num::f64::ZERO, 1..50),
            p in 0.0..=1.0,
            q in 0.0..=1.0,
        ) {
            let values = sorted(values).unwrap();
            let (low, high) = (f64::min(p, q), f64::max(p, q));
            let (low, high) = (quantile(&values, low).unwrap(), quantile(&values, high).unwrap());
            let slack = 1e-15 * values[0].abs().max(values[values.len() - 1].abs());
            prop_assert!(low <= high + slack);
            prop_assert!(values[0] - slack <= low && high <= values[values.len() - 1] + slack);
        }

        #[test]
        fn moments_of_any_input_are_in_range_or_absent(values in prop::collection::vec(prop::num::f64::ANY, 0..20)) {
            match Moments::of(&values) {
                None => prop_assert!(values.is_empty() || values.iter().any(|value| !value.is_finite())),
                Some(found) => {
                    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
                    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                    let slack = 1e-15 * low.abs().max(high.abs());
                    prop_assert!(low - slack <= found.mean && found.mean <= high + slack);
                    prop_assert!(found.sd >= 0.0 && found.variance >= 0.0);
                }
            }
        }
    }
}
