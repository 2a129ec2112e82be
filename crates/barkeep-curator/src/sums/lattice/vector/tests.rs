//! Attacks the clipped vector sums with every kind of f64, most of all with norms next to the bound.

use super::super::*;
use crate::test_support::echo::EXTREMES;
use barkeep_data::{Beside, Block, Place};
use barkeep_model::{Affine, Sloped};
use proptest::collection::vec;
use proptest::prelude::*;

/// The integer sum of some records' contributions; `rows` holds one gradient per record.
fn sums(rows: &[Vec<f64>], clip: Clip) -> Vec<i64> {
    let dimension = rows[0].len();
    let terms: Vec<f64> = (0..dimension).flat_map(|j| rows.iter().map(move |row| row[j])).collect();
    let mut sums = vec![0; dimension];
    add_clipped(&Written::new(&terms, rows.len()), dimension, &mut ClipRoom::default(), &mut sums, clip);
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

/// A record's contribution by the documented operations, one after the other, compiled for the baseline.
fn contribution(row: &[f64], clip: Clip) -> Vec<i64> {
    let steps = 2_f64.powi(30) / clip.get();
    let square: f64 = row.iter().fold(0.0, |sum, x| x.mul_add(*x, sum)) * (steps * steps);
    let x = square;
    let start = f64::from_bits(0x5fe6_ed21_0000_0000_u64.wrapping_sub(x.to_bits() >> 1));
    let polished = |root: f64, a: f64| root * (-(0.5 * x * root)).mul_add(root, a);
    let root = polished(polished(start, 1.500_879), 1.5);
    let shrunk = (2_f64.powi(30) - 1.0 - (0.5 * (row.len() as f64).sqrt()).ceil()) * steps * root;
    let factor = if shrunk < steps { shrunk } else { steps };
    // A norm that is not finite gives a root of no meaning, and counts as zero.
    // Between 2^52 and 2^53 every f64 is an integer: the sum is the exact product, rounded once.
    let middle = 1.5 * 2_f64.powi(52);
    let rounded = |x: &f64| (x.mul_add(factor, middle) - middle) as i64;
    row.iter().map(|x| if square < f64::INFINITY { rounded(x) } else { 0 }).collect()
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
    /// bound's length, to half a step, the bound's slack and the error of the root, 2^-19.
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
            prop_assert!((value - ideal).abs() <= half + ideal.abs() * (5.0 * 2_f64.powi(-30) + 2_f64.powi(-19)));
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
    assert!(first <= 1 << 30 && first > (1 << 30) - 4 - 2048 && second == 0);
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
            add_clipped(&Columns::new(block, &affine), dimension, &mut room, &mut found, clip);
            assert_eq!(found, sums(&rows, clip), "{dimension} coordinates, {records} records");
        }
    }
}

/// Slopes times columns and levels give the integers of the same gradients written out, whatever slopes and columns hold.
#[test]
fn sloped_gradients_are_summed_as_if_they_were_written() {
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
                let mut row: Vec<f64> = if intercept { vec![slopes[i]] } else { vec![] };
                row.extend((1..=features).map(|column| match places[column] {
                    Place::Level { index, code, .. } => {
                        if indices[index * records + i] == code {
                            slopes[i]
                        } else {
                            0.0
                        }
                    }
                    Place::Lying(_) | Place::Widened(_) => slopes[i] * values[column * records + i],
                }));
                row.extend(others.get(i));
                row
            };
            let rows: Vec<Vec<f64>> = (0..records).map(row).collect();
            let clip = Clip::new(2.0).unwrap();
            let beside = Beside { widened: &[], indices: &indices, records };
            let block = Block::over(&values, records, records);
            let block = if features > 2 { block.placed(&places, beside) } else { block };
            let (mut room, mut found) = (ClipRoom::default(), vec![0; dimension]);
            let gradients = Slopes::new(block, sloped, &slopes, &others);
            add_clipped(&gradients, dimension, &mut room, &mut found, clip);
            assert_eq!(found, sums(&rows, clip), "{dimension} coordinates, {records} records");
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
        // √d for the rounding, 2^11 for the root: 2^-19 of 2^30.
        assert!(length <= 1 << 60 && (length as f64).sqrt() >= 2_f64.powi(30) - 70.0 - 2048.0, "{length}");
    }
}

#[test]
fn norms_beyond_the_bound_are_cut_to_it_but_for_the_error_of_the_root() {
    let clip = Clip::new(1.0).unwrap();
    // Over two octaves the start of the reciprocal root takes every error it has.
    for k in 0..20_000 {
        let norm = 1.0 + f64::from(k) * 1.5e-4;
        let z = sums(&[vec![norm]], clip)[0];
        // 2^11 is 2^-19 of 2^30; the bound itself is 2 below that.
        assert!(((1 << 30) - 2 - 2048..=1 << 30).contains(&z), "{norm}");
    }
}
