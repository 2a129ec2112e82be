//! Compares the clip of programs with the plain operations, and looks for outputs that break its bound.

use super::super::{ClipRoom, Written, add_clipped};
use super::*;
use crate::test_support::echo::EXTREMES;
use proptest::prelude::*;

fn wild() -> impl Strategy<Value = f64> {
    prop_oneof![
        6 => -4.0..4.0_f64,
        2 => any::<f64>(),
        1 => prop::sample::select(&EXTREMES[..]),
        1 => (-300..300_i32).prop_map(|power| 10_f64.powi(power)),
    ]
}

fn clip() -> impl Strategy<Value = Clip> {
    (-39..39_i32).prop_map(|power| Clip::new(2_f64.powi(power) * 1.1).unwrap())
}

/// The sums of some dense columns.
fn dense<const POSITIVE: bool>(columns: &[Vec<f64>], clip: Clip) -> Vec<i64> {
    let (records, mut sums) = (columns[0].len(), vec![0; columns.len()]);
    let mut room = TileRoom::default();
    let share = |k: usize| Share::Dense(&columns[k]);
    add_tile::<POSITIVE>((columns.len(), records), share, clip, &mut room, &mut sums);
    sums
}

fn square(sums: &[i64]) -> u128 {
    sums.iter().map(|z| u128::from(z.unsigned_abs()).pow(2)).sum()
}

proptest! {
    #[test]
    fn dense_outputs_are_added_as_written_gradients_are(
        (width, records) in (1..12_usize, 1..TILE + 1),
        numbers in prop::collection::vec(wild(), 12 * TILE),
        clip in clip(),
    ) {
        let columns: Vec<Vec<f64>> = numbers.chunks(TILE).take(width).map(|all| all[..records].to_vec()).collect();
        let mut expected = vec![0; width];
        add_clipped(&Written::new(&columns.concat(), records), &mut ClipRoom::default(), &mut expected, clip);
        prop_assert_eq!(dense::<false>(&columns, clip), expected);
    }

    #[test]
    fn levels_are_added_as_their_columns_are(
        count in prop::sample::select(vec![1_usize, 3, 8, 9, 40, 64, 65, 1000]),
        records in 1..TILE + 1,
        values in prop::collection::vec(wild(), TILE),
        index in prop::collection::vec(0..1100_u32, TILE),
        code in prop::sample::select(vec![0_u32, 1, u32::MAX - 2]),
        clip in clip(),
    ) {
        let first: Vec<f64> = values.iter().rev().copied().take(records).collect();
        let index: Vec<u32> = index.iter().map(|own| code.wrapping_add(own % (count as u32 + 2))).take(records).collect();
        let values = &values[..records];
        let column = |level: u32| -> Vec<f64> {
            (0..records).map(|i| if index[i].wrapping_sub(code) == level { values[i] } else { 0.0 }).collect()
        };
        let columns: Vec<Vec<f64>> = std::iter::once(first.clone()).chain((0..count as u32).map(column)).collect();
        let share = |k: usize| match k {
            0 => Share::Dense(&first),
            _ => Share::Indexed { values, index: &index, code, count },
        };
        let (mut room, mut found) = (TileRoom::default(), vec![0; count + 1]);
        add_tile::<false>((2, records), share, clip, &mut room, &mut found);
        prop_assert_eq!(&found, &dense::<false>(&columns, clip));
        found.fill(0);
        add_tile::<true>((2, records), share, clip, &mut room, &mut found);
        prop_assert_eq!(&found, &dense::<true>(&columns, clip));
        prop_assert!(room.buckets.iter().flatten().all(|sum| *sum == 0));
    }

    #[test]
    fn no_record_adds_more_than_its_bound(row in prop::collection::vec(wild(), 1..40), clip in clip()) {
        let columns: Vec<Vec<f64>> = row.iter().map(|entry| vec![*entry]).collect();
        let ball = dense::<false>(&columns, clip);
        prop_assert!(square(&ball) <= 1 << 60);
        let positive = dense::<true>(&columns, clip);
        prop_assert!(square(&positive) <= 1 << 60 && positive.iter().all(|z| *z >= 0));
        let entries: Vec<(usize, f64)> = row.iter().copied().enumerate().collect();
        for (expected, positive) in [(ball, false), (positive, true)] {
            let mut found = vec![0; row.len()];
            add_one(&entries, positive, clip, &mut found);
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn numbers_are_cut_to_their_range(values in prop::collection::vec(wild(), 1..300), low in -1.0..0.9_f64, clip in clip()) {
        let range = Range { low: (low * 2_f64.powi(30)) as i64, high: 1 << 30 };
        for value in &values {
            let mut sum = 0;
            add_cut(&[*value], range, clip, &mut sum);
            prop_assert!((range.low..=range.high).contains(&sum));
            let real = if value.is_nan() { 0.0 } else { value / clip.get() * 2_f64.powi(30) };
            prop_assert!((sum as f64 - real.clamp(range.low as f64, range.high as f64)).abs() <= 0.51);
        }
        let (mut whole, mut parts) = (0, 0);
        add_cut(&values, range, clip, &mut whole);
        values.iter().for_each(|value| add_cut(&[*value], range, clip, &mut parts));
        prop_assert_eq!(whole, parts);
    }
}
