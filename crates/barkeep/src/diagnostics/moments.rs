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
        let scale = binary_scale(values)?;
        if values.windows(2).all(|pair| pair[0] == pair[1]) {
            // Rounding of the mean must not make a chain that never moved look as if it had.
            return Some(Self { mean: values[0], variance: 0.0, sd: 0.0 });
        }
        let count = values.len() as f64;
        let scaled = || values.iter().map(|value| value / scale);
        let rough = scaled().sum::<f64>() / count;
        let mean = rough + scaled().map(|value| value - rough).sum::<f64>() / count;
        let (mut squares, mut rest) = (0.0, 0.0);
        for value in scaled() {
            let deviation = value - mean;
            squares += deviation * deviation;
            rest += deviation;
        }
        let variance = (squares - rest * rest / count) / (count - 1.0);
        Some(Self { mean: mean * scale, variance: variance * scale * scale, sd: variance.sqrt() * scale })
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
    let largest = values.iter().fold(f64::MIN_POSITIVE, |largest, value| largest.max(value.abs()));
    const EXPONENT: u64 = 0x7ff0_0000_0000_0000;
    Some(f64::from_bits(largest.to_bits() & EXPONENT))
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
    if !(0.0..=1.0).contains(&probability) {
        return None;
    }
    let position = sorted.len().checked_sub(1)? as f64 * probability;
    let low = position.floor();
    let (below, above) = (sorted.get(low as usize)?, sorted.get(position.ceil() as usize)?);
    let weight = position - low;
    // Not below + weight·(above − below): that difference may overflow, and the median would not be the rounded
    // midpoint, as it is elsewhere, on which ties of the folded draws hang.
    Some(if below == above { *below } else { below * (1.0 - weight) + above * weight })
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
