//! Checks what must hold of MMD for any samples, and its size against published figures.

use proptest::prelude::*;

use super::*;

fn sample(count: std::ops::Range<usize>) -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec([-5.0..5.0_f64, -5.0..5.0], count).prop_map(|points| points.concat())
}

fn normal(rng: &mut PublicRng, count: usize, sds: &[f64]) -> Vec<f64> {
    (0..count).flat_map(|_| sds.iter().map(|sd| sd * rng.normal()).collect::<Vec<_>>()).collect()
}

#[test]
fn refuses_what_has_no_distance() {
    let (one, two) = (Points::new(&[1.0, 2.0], 1).unwrap(), Points::new(&[1.0, 2.0], 2).unwrap());
    let rng = &mut PublicRng::new(1, 0);
    assert_eq!(squared_mmd(&one, &two, 1.0), None);
    assert_eq!(median_width(&one, &two, rng), None);
    assert_eq!(mmd(&one, &two, rng), None);
    for width in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-310] {
        assert_eq!(squared_mmd(&one, &one, width), None, "{width}");
    }
    assert_eq!(squared_mmd(&two, &two, 1.0).unwrap().unbiased, None, "a single point each");
    let still = Points::new(&[3.0, 3.0, 3.0], 1).unwrap();
    assert_eq!(median_width(&still, &still, rng), Some(0.0));
    assert_eq!(mmd(&still, &still, rng), None);
}

#[test]
fn extreme_points_are_far_apart_and_nothing_worse() {
    let x = Points::new(&[f64::MAX, -f64::MAX], 1).unwrap();
    let y = Points::new(&[0.0, 1e-300], 1).unwrap();
    // Points of x are infinitely far from all others, those of y coincide at this width.
    let found = squared_mmd(&x, &y, 1.0).unwrap();
    assert_eq!((found.unbiased, found.biased), (Some(1.0), 1.5));
    let found = squared_mmd(&x, &y, f64::MIN_POSITIVE).unwrap();
    assert_eq!((found.unbiased, found.biased), (Some(0.0), 1.0));
    assert!(squared_mmd(&x, &y, f64::MAX).unwrap().biased.is_finite());
    assert_eq!(median_width(&x, &x, &mut PublicRng::new(1, 0)), None, "a distance beyond the largest f64");
}

#[test]
fn the_width_is_the_median_distance_of_pairs() {
    // Of |x − y|, x and y standard normal: √2·Φ⁻¹(3/4) = 0.9539; the median of 500 has standard error
    // 1/(2·√500·density there) = 0.0497, and 4.5 of them are missed with probability 7e-6.
    let rng = &mut PublicRng::new(2, 0);
    let (x, y) = (normal(rng, 4000, &[1.0]), normal(rng, 4000, &[1.0]));
    let (x, y) = (Points::new(&x, 1).unwrap(), Points::new(&y, 1).unwrap());
    let width = median_width(&x, &y, rng).unwrap();
    assert!((width - 0.9539).abs() < 0.224, "{width}");
    assert_ne!(median_width(&x, &y, rng), Some(width), "drawn anew each time");
    let again = |chain| median_width(&x, &y, &mut PublicRng::new(3, chain));
    assert_eq!(again(0), again(0));
}

#[test]
fn the_width_pairs_points_not_coordinates() {
    let (x, y) = ([0.0, 0.0], [3.0, 4.0]);
    let (x, y) = (Points::new(&x, 2).unwrap(), Points::new(&y, 2).unwrap());
    assert_eq!(median_width(&x, &y, &mut PublicRng::new(1, 0)), Some(5.0));
}

#[test]
fn independent_draws_are_as_far_apart_as_published() {
    // Median distance of 20 samples of independent draws from 1000 reference draws of a Gaussian with correlation
    // 0.999, as measured with the thesis' own code: 0.1106 at 25 draws, 0.0500 at 100. Over other reference draws
    // such a median has a relative standard deviation of 0.13; 0.35 is missed with probability below 1 %.
    let rng = &mut PublicRng::new(4, 0);
    let slope = 0.999_f64;
    let correlated = |rng: &mut PublicRng, count: usize| -> Vec<f64> {
        let pairs = (0..count).map(|_| (rng.normal(), rng.normal()));
        pairs.flat_map(|(a, b)| [a, slope * a + (1.0 - slope * slope).sqrt() * b]).collect()
    };
    let reference = correlated(rng, 1000);
    let reference = Points::new(&reference, 2).unwrap();
    for (count, published) in [(25, 0.1106), (100, 0.0500)] {
        let distances = (0..20).map(|_| {
            let draws = correlated(rng, count);
            mmd(&Points::new(&draws, 2).unwrap(), &reference, rng).unwrap()
        });
        let median = quantile(&sorted(distances.collect()).unwrap(), 0.5).unwrap();
        assert!((median / published - 1.0).abs() < 0.35, "{median} against {published} at {count}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn symmetric_bounded_and_blind_to_order(x in sample(2..20), y in sample(2..20), width in 0.1..10.0_f64) {
        let (a, b) = (Points::new(&x, 2).unwrap(), Points::new(&y, 2).unwrap());
        let found = squared_mmd(&a, &b, width).unwrap();
        let turned = squared_mmd(&b, &a, width).unwrap();
        prop_assert!((found.biased - turned.biased).abs() < 1e-14);
        prop_assert!((found.unbiased.unwrap() - turned.unbiased.unwrap()).abs() < 1e-14);
        prop_assert!(found.biased > -1e-14 && found.biased <= 2.0);
        let mut other: Vec<[f64; 2]> = x.as_chunks::<2>().0.to_vec();
        other.reverse();
        let other = other.concat();
        let reordered = squared_mmd(&Points::new(&other, 2).unwrap(), &b, width).unwrap();
        prop_assert!((found.biased - reordered.biased).abs() < 1e-14);
        prop_assert!(squared_mmd(&a, &a, width).unwrap().biased.abs() < 1e-14);
    }

    #[test]
    fn no_finite_input_panics(
        x in prop::collection::vec(prop::num::f64::NORMAL, 1..12),
        y in prop::collection::vec(prop::num::f64::NORMAL, 1..12),
        width in prop::num::f64::ANY,
    ) {
        let (x, y) = (Points::new(&x, 1).unwrap(), Points::new(&y, 1).unwrap());
        if let Some(found) = squared_mmd(&x, &y, width) {
            prop_assert!((-1e-14..=2.0).contains(&found.biased));
        }
        let _ = mmd(&x, &y, &mut PublicRng::new(1, 0));
    }
}
