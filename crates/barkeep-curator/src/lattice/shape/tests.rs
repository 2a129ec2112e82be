//! Looks for two units whose contributions are further apart than their shape is charged for.

use super::super::{TileRoom, add_cut, add_indexed, add_tile};
use super::*;
use crate::test_support::echo::EXTREMES;
use barkeep_machine::Share;
use proptest::prelude::*;

const CLIP: f64 = 1.5;
const BOTH: [Neighbours; 2] = [Neighbours::Substitute, Neighbours::AddRemove];

fn wild() -> impl Strategy<Value = f64> {
    prop_oneof![4 => -3.0..3.0_f64, 2 => prop::sample::select(vec![-CLIP, CLIP, 0.0, 1e-300]),
        1 => any::<f64>(), 1 => prop::sample::select(&EXTREMES[..])]
}

fn clip() -> Clip {
    Clip::new(CLIP).unwrap()
}

/// How far two units are apart, and the first from nothing.
fn moves(first: &[i64], second: &[i64]) -> [f64; 2] {
    let norm =
        |move_: &mut dyn Iterator<Item = i64>| move_.map(|z| (z as f64) * (z as f64)).sum::<f64>().sqrt();
    [norm(&mut first.iter().zip(second).map(|(a, b)| a - b)), norm(&mut first.iter().copied())]
}

fn check(shape: Shape, first: &[i64], second: &[i64]) {
    for (found, neighbours) in moves(first, second).into_iter().zip(BOTH) {
        let most = shape.reach(clip(), neighbours).unwrap();
        assert!(found <= most, "{shape:?}, {neighbours:?}: {found} above {most}");
    }
}

fn positive(row: &[f64]) -> Vec<i64> {
    let columns: Vec<Vec<f64>> = row.iter().map(|entry| vec![*entry]).collect();
    let mut sums = vec![0; row.len()];
    let share = |k: usize| Share::Dense(&columns[k]);
    add_tile::<true>((row.len(), 1), share, clip(), &mut TileRoom::default(), &mut sums);
    sums
}

/// The sums by place of units, and the halves of their squares.
fn groups(units: &[(f64, u32)], shape: Shape) -> Vec<i64> {
    let (values, index): (Vec<f64>, Vec<u32>) = units.iter().copied().unzip();
    let mut sums = vec![0; 7];
    let (places, squares) = sums.split_at_mut(5);
    let share = Share::Indexed { values: &values, index: &index, code: 0, count: 5 };
    add_indexed(share, shape.range(clip()).unwrap(), clip(), places, |u| {
        squares.iter_mut().zip(halves(u)).for_each(|(sum, half)| *sum += half);
    });
    sums
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn positive_vectors_are_at_most_a_right_angle_apart(
        a in prop::collection::vec(wild(), 3), b in prop::collection::vec(wild(), 3),
    ) {
        check(Shape::Positive, &positive(&a), &positive(&b));
        // Attained: at right angles.
        let corner = |k: usize| positive(&std::array::from_fn::<f64, 3, _>(|j| if j == k { 9.0 } else { -9.0 }));
        let [apart, _] = moves(&corner(0), &corner(2));
        prop_assert!(apart > 0.9999 * Shape::Positive.reach(clip(), Neighbours::Substitute).unwrap());
    }

    #[test]
    fn numbers_stay_in_their_interval(a in wild(), b in wild(), ends in (-1.5..1.49_f64, 0.01..3.0_f64)) {
        let shape = Shape::Interval { low: ends.0, high: (ends.0 + ends.1).min(CLIP) };
        let range = shape.range(clip()).unwrap();
        let cut = |value: f64| {
            let mut sum = [0];
            add_cut(&[value], range, clip(), &mut sum[0]);
            sum
        };
        check(shape, &cut(a), &cut(b));
        let [apart, _] = moves(&cut(f64::INFINITY), &cut(f64::NEG_INFINITY));
        prop_assert_eq!(apart, shape.reach(clip(), Neighbours::Substitute).unwrap());
    }

    #[test]
    fn one_place_moves_by_its_range_and_two_by_a_right_angle(
        a in (wild(), 0..7_u32), b in (wild(), 0..7_u32), ends in (-1.5..1.49_f64, 0.01..3.0_f64),
    ) {
        let shape = Shape::Indexed { low: ends.0, high: (ends.0 + ends.1).min(CLIP) };
        check(shape, &groups(&[a], shape)[..5], &groups(&[b], shape)[..5]);
    }

    #[test]
    fn one_unit_moves_the_spread_between_groups_by_its_bound(
        others in prop::collection::vec((wild(), 0..6_u32), 0..12),
        a in (wild(), 0..6_u32),
        b in (wild(), 0..6_u32),
        clips in prop::sample::select(vec![1.0, 1.5, 2.0, 5.0, 1e6]),
    ) {
        let shape = Shape::ByGroup { threshold: clips * CLIP };
        let with = |more: &[(f64, u32)]| {
            let units: Vec<(f64, u32)> = others.iter().chain(more).copied().collect();
            shape.between_groups(clip(), &groups(&units, shape)).unwrap()
        };
        let (first, second, without) = (with(&[a]), with(&[b]), with(&[]));
        for (found, neighbours) in [(first - second, BOTH[0]), (first - without, BOTH[1])] {
            prop_assert!(found.abs() as f64 <= shape.reach(clip(), neighbours).unwrap(), "{}", found);
        }
    }
}

/// H in real numbers, and its bound where it is attained: a group at the threshold loses a unit and gains its opposite.
#[test]
fn the_spread_between_groups_is_what_it_says() {
    let shape = Shape::ByGroup { threshold: 2.0 * CLIP };
    let unit = shape.unit(Temper::NONE, clip()).unwrap();
    let h = |units: &[(f64, u32)]| shape.between_groups(clip(), &groups(units, shape)).unwrap() as f64 * unit;
    let units = [(0.5, 0), (0.75, 0), (-1.0, 1), (1.5, 2), (1.5, 2), (1.5, 2), (1.0, 9)];
    // Within the threshold the square; 4.5 lies beyond 3.
    let expected = 1.25_f64.powi(2) + 1.0 + (2.0 * 3.0 * 4.5 - 9.0) - (0.25 + 0.5625 + 1.0 + 3.0 * 2.25);
    assert!((h(&units) - expected).abs() < 1e-6, "{} for {expected}", h(&units));
    // Three at the clip: without one of them their group is at the threshold, and stays beyond it with one more.
    let with = |last: f64| h(&[(1.5, 0), (1.5, 0), (1.5, 0), (last, 0)]);
    let most = shape_sensitivity(shape, Temper::NONE, clip(), Neighbours::Substitute).unwrap().get();
    assert!((most - 4.0 * 3.0 * 1.5).abs() < 1e-6, "{most}");
    assert!((with(1.5) - with(-1.5) - most).abs() < 1e-6, "{}", with(1.5) - with(-1.5));
}

#[test]
fn bounds_that_do_not_fit_are_refused() {
    let refused = |shape: Shape| {
        BOTH.map(|neighbours| shape_sensitivity(shape, Temper::NONE, clip(), neighbours).is_err())
    };
    for (low, high) in
        [(0.0, 0.0), (1.0, 0.0), (-2.0, 0.0), (0.0, 1.6), (f64::NAN, 1.0), (0.0, f64::INFINITY)]
    {
        assert_eq!(refused(Shape::Interval { low, high }), [true; 2]);
        assert_eq!(refused(Shape::Indexed { low, high }), [true; 2]);
    }
    for threshold in [1.49, 0.0, f64::NAN, 3e6, -3.0] {
        assert_eq!(refused(Shape::ByGroup { threshold }), [true; 2]);
    }
    let batch = Sampling::WithoutReplacement { batch: 1, records: 2 };
    for shape in [
        Shape::Positive,
        Shape::Outer,
        Shape::ByGroup { threshold: 2.0 },
        Shape::Interval { low: 0.0, high: 1.0 },
    ] {
        assert!(
            shape.check(Temper::NONE, batch).is_err() && shape.check(Temper::NONE, Sampling::Full).is_ok()
        );
    }
    assert!(Shape::Ball.check(Temper::NONE, batch).is_ok());
}
