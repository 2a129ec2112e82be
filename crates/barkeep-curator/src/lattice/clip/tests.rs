//! Attacks the clip with every kind of f64, most of all with norms next to the bound, and compares it with the plain operations.

use super::*;
use crate::test_support::echo::EXTREMES;
use proptest::collection::vec;
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
    fn levels_are_added_as_their_columns_are(
        count in prop::sample::select(vec![1_usize, 3, 8, 9, 40, 64, 65, 1000]),
        records in 1..TILE + 1,
        values in vec(wild(), TILE),
        index in vec(0..1100_u32, TILE),
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
    fn no_record_adds_more_than_its_bound(row in vec(wild(), 1..40), clip in clip()) {
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
    fn numbers_are_cut_to_their_range(values in vec(wild(), 1..300), low in -1.0..0.9_f64, clip in clip()) {
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

/// The integer sum of some records' contributions; `rows` holds one gradient per record.
fn sums(rows: &[Vec<f64>], clip: Clip) -> Vec<i64> {
    let columns: Vec<Vec<f64>> =
        (0..rows[0].len()).map(|j| rows.iter().map(|row| row[j]).collect()).collect();
    dense::<false>(&columns, clip)
}

/// Gradients of one dimension: most of them anything, some of nearly the norm `clip`.
fn any_rows() -> impl Strategy<Value = (Vec<Vec<f64>>, Vec<f64>, Clip)> {
    (1_usize..40, -30.0..30.0_f64).prop_flat_map(|(dimension, power)| {
        let clip = power.exp2();
        let anything = vec(wild(), dimension);
        let near = (vec(-1.0..1.0_f64, dimension), -1e-5..1e-5_f64).prop_map(move |(direction, off)| {
            let norm = direction.iter().map(|x| x * x).sum::<f64>().sqrt().max(1e-30);
            direction.iter().map(|x| x / norm * clip * (1.0 + off)).collect::<Vec<_>>()
        });
        let row = prop_oneof![anything, near];
        (
            prop_oneof![4 => vec(row.clone(), 1..20), 1 => vec(row.clone(), 60..140)],
            row,
            Just(Clip::new(clip).unwrap()),
        )
    })
}

/// What a record with squared norm `square` is multiplied by, by the documented operations, compiled for the baseline; `None` where it
/// does not count.
fn factor_of(square: f64, clip: Clip) -> Option<f64> {
    let [a, b] = [-4_614.731_602_988_059, 16_997_945.617_55];
    let y = f64::from_bits(0x6042_220e_0000_0000_u64.wrapping_sub(square.to_bits() >> 1));
    let w = (square * y).mul_add(y, a);
    let factor = y * w.mul_add(w, b);
    let steps = 2_f64.powi(30) / clip.get();
    (square < f64::INFINITY).then_some(if factor < steps { factor } else { steps })
}

/// Between 2^52 and 2^53 every f64 is an integer: the sum is the exact product, rounded once.
fn rounded(x: f64, factor: f64) -> i64 {
    let middle = 1.5 * 2_f64.powi(52);
    (x.mul_add(factor, middle) - middle) as i64
}

/// A record's contribution by the documented operations, one after the other, compiled for the baseline.
fn contribution(row: &[f64], clip: Clip) -> Vec<i64> {
    let square = row.iter().fold(2_f64.powi(-900), |sum, x| x.mul_add(*x, sum));
    let factor = factor_of(square, clip);
    row.iter().map(|x| factor.map_or(0, |factor| rounded(*x, factor))).collect()
}

proptest! {
    #[test]
    fn every_instruction_set_gives_the_bits_of_the_plain_operations((rows, _, clip) in any_rows()) {
        let mut expected = vec![0; rows[0].len()];
        for row in &rows {
            expected.iter_mut().zip(contribution(row, clip)).for_each(|(sum, z)| *sum += z);
        }
        prop_assert_eq!(sums(&rows, clip), expected);
    }

    #[test]
    fn a_contribution_is_never_longer_than_the_bound((rows, _, clip) in any_rows()) {
        for row in rows {
            prop_assert!(square(&sums(&[row], clip)) <= 1 << 60);
        }
    }

    #[test]
    fn no_record_moves_the_sum_by_more_than_the_reach((rows, other, clip) in any_rows(), at in any::<prop::sample::Index>()) {
        let at = at.index(rows.len());
        let before = sums(&rows, clip);
        let mut neighbour = rows.clone();
        neighbour[at] = other;
        let moved = |neighbour: &[Vec<f64>]| -> Vec<i64> {
            before.iter().zip(sums(neighbour, clip)).map(|(a, b)| a - b).collect()
        };
        prop_assert!(square(&moved(&neighbour)) <= 1 << 62);
        neighbour.remove(at);
        if !neighbour.is_empty() {
            prop_assert!(square(&moved(&neighbour)) <= 1 << 60);
        }
    }

    #[test]
    fn sums_are_those_of_the_records_one_by_one((rows, _, clip) in any_rows()) {
        let mut total = vec![0; rows[0].len()];
        for row in &rows {
            total.iter_mut().zip(sums(std::slice::from_ref(row), clip)).for_each(|(total, z)| *total += z);
        }
        prop_assert_eq!(total, sums(&rows, clip));
    }

    /// Inside the ball a gradient keeps its value to half a lattice step; outside it keeps its direction and gets the
    /// bound's length, to half a step, the bound's slack and the error of the root, 4.02·10^-5 in all.
    #[test]
    fn clipping_does_what_it_says(row in vec(-1.0..1.0_f64, 1..20), scale in 0.01..1e6_f64) {
        let norm = row.iter().map(|x| x * x).sum::<f64>().sqrt();
        prop_assume!(norm > 1e-3);
        let row: Vec<f64> = row.iter().map(|x| x / norm * scale).collect();
        let factor = scale.recip().min(1.0);
        for (z, x) in sums(std::slice::from_ref(&row), Clip::new(1.0).unwrap()).into_iter().zip(&row) {
            let (value, ideal) = (z as f64 / 2_f64.powi(30), x * factor);
            let half = 2_f64.powi(-31) + 1e-15;
            prop_assert!(value.abs() <= ideal.abs() + half);
            prop_assert!((value - ideal).abs() <= half + ideal.abs() * 4.02e-5);
            if scale < 0.999 {
                prop_assert!((value - ideal).abs() <= half);
            }
        }
    }
}

#[test]
fn what_is_not_finite_or_too_long_to_square_counts_as_zero() {
    let clip = Clip::new(1.0).unwrap();
    for extreme in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e308, f64::MAX, 1e160] {
        assert_eq!(sums(&[vec![0.5, extreme, 0.1]], clip), [0, 0, 0], "{extreme}");
    }
    // The next smaller ones are clipped.
    let [first, second] = sums(&[vec![1e140, 0.0]], clip)[..] else { panic!("two coordinates") };
    assert!(first <= 1 << 30 && first > (1 << 30) - 43_101 && second == 0);
}

#[test]
fn the_largest_dimension_keeps_the_bound() {
    let clip = Clip::new(3.0).unwrap();
    for seed in 0..20 {
        let wave = |j: usize| 1.0 + ((j * (2 * seed + 1)) as f64).sin();
        let row: Vec<f64> = (0..MOST_DIMENSIONS).map(wave).collect();
        let length = square(&sums(&[row], clip));
        // √d for the rounding, the rest for the root.
        assert!(length <= 1 << 60 && (length as f64).sqrt() >= 2_f64.powi(30) - 70.0 - 43_101.0, "{length}");
    }
}

/// Over two octaves the start takes every error it has. Some 10^5 norms of them, and norms of every size there is: a gradient of
/// one coordinate beyond the clip keeps within the stated bounds.
#[test]
fn norms_beyond_the_bound_are_cut_to_it_but_for_the_error_of_the_root() {
    let clip = Clip::new(2_f64.powi(-40)).unwrap();
    let octaves = (0..120_000).map(|k| 1.0 + f64::from(k) * 2.5e-5);
    let sizes = (-39..510).flat_map(|power| [1.0, 1.37, 1.999_999].map(|x| x * 2_f64.powi(power)));
    let norms: Vec<f64> = octaves.chain(sizes).collect();
    for chunk in norms.chunks(64) {
        for norm in chunk {
            // The sum's rounding adds ½, the factor's proof leaves 39.
            let length = factor_of(norm * norm, clip).unwrap() * norm;
            assert!((2_f64.powi(30) - 43_100.5..=2_f64.powi(30) - 38.9).contains(&length), "{norm}");
        }
        let rows: Vec<Vec<f64>> = chunk.iter().map(|norm| vec![*norm]).collect();
        let most = (1_i64 << 30) * chunk.len() as i64;
        assert!((most - 43_101 * chunk.len() as i64..most).contains(&sums(&rows, clip)[0]));
    }
}

/// Finds the extremes of G and λ of the factor's proof by a search over two octaves of N: no t exceeds the bound.
#[test]
fn the_quadratic_of_the_factor_stays_below_the_bound_everywhere() {
    let [a, b] = QUADRATIC;
    let length = |t: f64| t.sqrt() * ((t + a) * (t + a) + b);
    let slope = |t: f64| (t + a) * (t + a) + b + 4.0 * t * (t + a);
    // The derivative changes its sign twice and no more, being a quadratic.
    let mut roots = vec![];
    for k in 0..3000 {
        let (mut low, mut high) = (f64::from(k), f64::from(k + 1));
        if slope(low) * slope(high) < 0.0 {
            for _ in 0..60 {
                let middle = 0.5 * (low + high);
                if slope(low) * slope(middle) <= 0.0 { high = middle } else { low = middle }
            }
            roots.push(low);
        }
    }
    assert_eq!(roots.len(), 2);
    let bound = 2_f64.powi(30) - 39.9;
    assert!(length(roots[0]) < bound && length(roots[0]) > bound - 0.2, "the highest, tightly");
    assert!(length(roots[1]) > 2_f64.powi(30) - 43_100.2, "the lowest");
    // Beyond the second root it grows, up to the largest t there is.
    let turned = |square: f64| {
        let y = f64::from_bits(START - (square.to_bits() >> 1));
        square * y * y
    };
    let steps = 300_000;
    let octaves = (0..=steps).map(|k| turned(1.0 + 3.0 * f64::from(k) / f64::from(steps)));
    let (least, largest) =
        octaves.fold((f64::INFINITY, 0.0_f64), |(least, largest), t| (least.min(t), largest.max(t)));
    assert!(largest > 2_945.714_2 && largest < 2_945.714_22 && length(2_945.714_3) < bound, "{largest}");
    assert!(least > roots[0] - 87.0 && length(least) > 2_f64.powi(30) - 43_100.2, "{least}");
    // A b that is larger by 0.8 breaks it, and so does a start that is larger by a twenty-thousandth: the bound is tight.
    assert!(length(roots[0]) + 0.8 * roots[0].sqrt() > 2_f64.powi(30));
    assert!(length(1.0001 * largest) > 2_f64.powi(30));
}
