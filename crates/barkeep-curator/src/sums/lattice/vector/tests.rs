//! Attacks the clipped vector sums with every kind of f64, most of all with norms next to the bound.

use super::super::*;
use crate::records::rows::{Rows, Run};
use crate::records::stored::STRIDE;
use crate::test_support::echo::EXTREMES;
use barkeep_data::{BLOCK, Beside, Block, Place};
use barkeep_model::{Affine, Line, Sloped};
use proptest::collection::vec;
use proptest::prelude::*;

/// The integer sum of some records' contributions; `rows` holds one gradient per record.
fn sums(rows: &[Vec<f64>], clip: Clip) -> Vec<i64> {
    let dimension = rows[0].len();
    let terms: Vec<f64> = (0..dimension).flat_map(|j| rows.iter().map(move |row| row[j])).collect();
    let mut sums = vec![0; dimension];
    add_clipped(&Written::new(&terms, rows.len()), &mut ClipRoom::default(), &mut sums, clip);
    sums
}

/// Σ z², exactly.
fn square(vector: impl IntoIterator<Item = i64>) -> i128 {
    vector.into_iter().map(|z| i128::from(z) * i128::from(z)).sum()
}

fn any_coordinate() -> impl Strategy<Value = f64> {
    prop_oneof![
        3 => -2.0..2.0_f64,
        2 => prop::num::f64::ANY,
        1 => prop::sample::select(EXTREMES.to_vec()),
    ]
}

/// Gradients of one dimension: most of them anything, some of nearly the norm `clip`.
fn any_rows() -> impl Strategy<Value = (Vec<Vec<f64>>, Vec<f64>, Clip)> {
    (1_usize..40, -30.0..30.0_f64).prop_flat_map(|(dimension, power)| {
        let clip = power.exp2();
        let anything = vec(any_coordinate(), dimension);
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

/// The same of a slope times columns and, perhaps, a number of its own.
fn sloped_contribution(slope: f64, columns: &[f64], other: Option<f64>, clip: Clip) -> Vec<i64> {
    let square = columns.iter().fold(2_f64.powi(-900), |sum, x| x.mul_add(*x, sum));
    let own = other.unwrap_or(0.0);
    let factor = factor_of((square * slope).mul_add(slope, own * own), clip);
    let columns = columns.iter().map(|x| factor.map_or(0, |factor| rounded(*x, slope * factor)));
    columns.chain(other.map(|own| factor.map_or(0, |factor| rounded(own, factor)))).collect()
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
            prop_assert!(square(sums(&[row], clip)) <= 1 << 60);
        }
    }

    #[test]
    fn no_record_moves_the_sum_by_more_than_the_reach((rows, other, clip) in any_rows(), at in any::<prop::sample::Index>()) {
        let at = at.index(rows.len());
        let before = sums(&rows, clip);
        let mut neighbour = rows.clone();
        neighbour[at] = other;
        let moved = before.iter().zip(sums(&neighbour, clip)).map(|(a, b)| a - b);
        prop_assert!(square(moved) <= 1 << 62);
        neighbour.remove(at);
        if !neighbour.is_empty() {
            let moved = before.iter().zip(sums(&neighbour, clip)).map(|(a, b)| a - b);
            prop_assert!(square(moved) <= 1 << 60);
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

/// Affine gradients give the integers of the same gradients written out, whatever the columns hold.
#[test]
fn affine_gradients_are_summed_as_if_they_were_written() {
    let wild = |k: usize| match k % 97 {
        0 => EXTREMES[k / 97 % EXTREMES.len()],
        1 => 1e154,
        _ => (k as f64).sin() * 4.0,
    };
    for (dimension, lean, own) in [
        (1, 0.0, 0.3),
        (2, 0.7, 0.3),
        (2, 0.0, 0.3),
        (3, 0.0, 1.0),
        (4, -0.2, 0.3),
        (5, -3.0, 0.3),
        (30, 0.1, 0.3),
        (31, 0.0, 1.0),
    ] {
        let affine = Affine {
            // Weights of 1 alone are left out of the loops.
            weights: (0..dimension).map(|j| if own == 1.0 { own } else { own + j as f64 }).collect(),
            centres: (0..dimension).map(|j| 0.1 * j as f64).collect(),
            lean,
        };
        for records in [1, 63, 64, 65, 200, 512, 700, 1024] {
            let values: Vec<f64> = (0..dimension * records).map(wild).collect();
            let row = |i: usize| {
                let at = |j: usize| affine.weights[j] * (values[j * records + i] - affine.centres[j]);
                let mut row: Vec<f64> = (0..dimension).map(at).collect();
                if lean != 0.0 {
                    row[0] = lean.mul_add(values[records + i] - affine.centres[1], row[0]);
                }
                row
            };
            let rows: Vec<Vec<f64>> = (0..records).map(row).collect();
            let clip = Clip::new(2.0).unwrap();
            let block = Block::over(&values, records, records);
            let (mut room, mut found) = (ClipRoom::default(), vec![0; dimension]);
            add_clipped(&Columns::new(Rows::Block(block), &affine), &mut room, &mut found, clip);
            assert_eq!(found, sums(&rows, clip), "{dimension} coordinates, {records} records");
        }
        // A run of blocks gives the sum of theirs.
        let pitch = dimension * STRIDE;
        let values: Vec<f64> = (0..3 * pitch).map(wild).collect();
        let clip = Clip::new(2.0).unwrap();
        let sum = |rows: &[Rows<'_>]| {
            let (mut room, mut found) = (ClipRoom::default(), vec![0; dimension]);
            rows.iter()
                .for_each(|rows| add_clipped(&Columns::new(*rows, &affine), &mut room, &mut found, clip));
            found
        };
        let blocks = values.chunks_exact(pitch).map(|block| Rows::Block(Block::over(block, STRIDE, BLOCK)));
        assert_eq!(sum(&[Rows::Run(Run::new(&values, pitch).unwrap())]), sum(&blocks.collect::<Vec<_>>()));
    }
}

/// Slopes times columns and levels give the integers of the documented operations, whatever slopes and columns hold.
#[test]
fn sloped_gradients_are_summed_by_the_plain_operations() {
    let wild = |k: usize| match k % 89 {
        0 => EXTREMES[k / 89 % EXTREMES.len()],
        1 => 1e154,
        _ => (k as f64 + 0.5).sin() * 4.0,
    };
    // Two columns, a category of three levels and a reference, another column, and categories of six levels and of twelve.
    let categories = [(3, 1, 3), (7, 2, 6), (13, 2, 12)];
    let mut places: Vec<Place> = (0..7).map(Place::Lying).collect();
    places.resize(25, Place::Lying(0));
    for (index, (first, code, count)) in categories.into_iter().enumerate() {
        for k in 0..count {
            places[first + k] = Place::Level { index, code: code + k as u8, count: count - k };
        }
    }
    // All of them, or the first columns alone, in a block of nothing else.
    let shapes = [(true, true), (true, false), (false, false)].map(|shape| [(shape, 24), (shape, 2)]);
    for ((intercept, nuisance), features) in shapes.into_iter().flatten() {
        let sloped = Sloped { intercept, first: 1, features, nuisance };
        let dimension = features + usize::from(intercept) + usize::from(nuisance);
        for records in [1, 63, 65, 511, 512, 700, 1024] {
            let values: Vec<f64> = (0..7 * records).map(wild).collect();
            let slopes: Vec<f64> = (0..records).map(|i| wild(3 * i + 5)).collect();
            let others: Vec<f64> =
                (0..if nuisance { records } else { 0 }).map(|i| wild(7 * i + 11)).collect();
            let index = |step: usize| move |i: usize| (i * step % 19) as u8;
            let indices: Vec<u8> = [5, 3, 7].iter().flat_map(|step| (0..records).map(index(*step))).collect();
            let row = |i: usize| {
                let mut row: Vec<f64> = if intercept { vec![1.0] } else { vec![] };
                row.extend((1..=features).map(|column| match places[column] {
                    Place::Level { index, code, .. } => f64::from(indices[index * records + i] == code),
                    Place::Lying(_) | Place::Widened(_) => values[column * records + i],
                }));
                row
            };
            let clip = Clip::new(2.0).unwrap();
            let own = |(i, slope): (usize, &f64)| {
                sloped_contribution(*slope, &row(i), others.get(i).copied(), clip)
            };
            let all: Vec<Vec<i64>> = slopes.iter().enumerate().map(own).collect();
            assert!(all.iter().all(|own| square(own.iter().copied()) <= 1 << 60));
            let expected = |records: usize| {
                let column = |j: usize| all[..records].iter().map(|own| own[j]).sum::<i64>();
                (0..dimension).map(column).collect::<Vec<i64>>()
            };
            let beside = Beside { widened: &[], indices: &indices, records };
            let block = Block::over(&values, records, records);
            let block = if features > 2 { block.placed(&places, beside) } else { block };
            let (mut room, mut found) = (ClipRoom::default(), vec![0; dimension]);
            let gradients = Slopes::new(block, sloped, &slopes, &others);
            add_clipped(&gradients, &mut room, &mut found, clip);
            assert_eq!(found, expected(records), "{dimension} coordinates, {records} records");
            // Whole columns are predicted from as well: some records at a time, where the machine has wide vectors.
            let line = Line { start: 0.25, weights: vec![0.0, -0.5, 1.5] };
            let mut columns = [&[][..]; MANY];
            let Some(columns) = Whole::new(block, sloped, &line, &mut columns) else {
                assert!(features > 2);
                continue;
            };
            let (mut predictors, mut norms) = (vec![0.0; records], vec![0.0; records]);
            let whole = columns.predict(&mut predictors, &mut norms);
            for (i, predictor) in predictors[..whole].iter().enumerate() {
                let plain =
                    1.5_f64.mul_add(values[2 * records + i], (-0.5_f64).mul_add(values[records + i], 0.25));
                assert!(predictor.to_bits() == plain.to_bits() || (predictor.is_nan() && plain.is_nan()));
            }
            found.fill(0);
            let known = whole.min(others.len());
            let mut lanes = Lanes::new();
            columns.add(&slopes[..whole], &norms[..whole], &others[..known], clip, &mut lanes);
            lanes.add_to(&mut found);
            assert_eq!(found, expected(whole), "{dimension} coordinates, {whole} records");
        }
    }
}

#[test]
fn the_largest_dimension_keeps_the_bound() {
    let clip = Clip::new(3.0).unwrap();
    for seed in 0..20 {
        let wave = |j: usize| 1.0 + ((j * (2 * seed + 1)) as f64).sin();
        let row: Vec<f64> = (0..MOST_DIMENSIONS).map(wave).collect();
        let length = square(sums(&[row], clip));
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

/// G of the factor's proof, whose extremes are found anew, and λ, by going through two octaves of N: no t there is exceeds the bound.
#[test]
fn the_quadratic_of_the_factor_stays_below_the_bound_everywhere() {
    let [a, b] = super::QUADRATIC;
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
        let y = f64::from_bits(super::START - (square.to_bits() >> 1));
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
