//! Holds the column loops against plain ones.

use super::*;
use barkeep_data::{Beside, Place};

/// A value that is not exact in any sum.
fn value(i: usize, j: usize) -> f64 {
    ((i * 7 + j * 13) as f64 * 0.37).sin() * 10.0
}

#[test]
fn sums_are_those_of_a_plain_loop_to_the_last_bit() {
    for length in [1, 5, 8, 31, 64, 100] {
        for columns in 0..10 {
            let values: Vec<f64> = (0..columns).flat_map(|j| (0..length).map(move |i| value(i, j))).collect();
            let block = Block::over(&values, length, length);
            // The third column is out of the first sum, the fourth out of both.
            let weights = |j: usize| {
                let first = if j == 2 || j == 3 { 0.0 } else { 0.1 * (j as f64 + 1.0) };
                let second = if j == 3 { 0.0 } else { 0.3 - j as f64 };
                ([first, second], 0.7 * j as f64)
            };
            let (mut first, mut second) = (vec![f64::NAN; length], vec![f64::NAN; length]);
            sum_columns(block, columns, [1.1, -2.2], [&mut first, &mut second], weights, quadratic);
            for i in 0..length {
                let (mut expected, mut other) = (1.1, -2.2);
                for j in (0..columns).filter(|j| *j != 3) {
                    let ([weight, another], centre) = weights(j);
                    let deviation = value(i, j) - centre;
                    expected = f64::mul_add(weight * deviation, deviation, expected);
                    other = f64::mul_add(another * deviation, deviation, other);
                }
                assert_eq!((first[i], second[i]), (expected, other));
            }
        }
    }
}

#[test]
fn levels_give_the_sums_of_their_columns_to_the_last_bit() {
    for (count, length) in [(1, 5), (3, 64), (COMPARED, 100), (COMPARED + 1, 100), (200, 333), (3000, 4001)] {
        // The codes 0, 1 and those above are of no column.
        let index: Vec<u32> = (0..length).map(|i| (i * 7 % (count + 5)) as u32).collect();
        let one = |k: usize| index.iter().map(move |own| if *own as usize == k + 2 { 1.0 } else { 0.0 });
        let real: Vec<f64> = (0..length).map(|i| value(i, 3)).collect();
        let written: Vec<f64> = (0..count).flat_map(one).chain(real.iter().copied()).collect();
        let level = |k: usize| Place::Level { index: 0, code: k as u32 + 2, count: count - k };
        let places: Vec<Place> = (0..count).map(level).chain([Place::Lying(0)]).collect();
        let beside = Beside { widened: &[], indices: &index, records: length };
        let by_index = Block::over(&real, length, length).placed(&places, beside);
        let weights = |j: usize| ([0.1 * (j as f64 + 1.0), 0.3 - j as f64], 0.0);
        let [expected, found] = [Block::over(&written, length, length), by_index].map(|block| {
            let (mut first, mut second) = (vec![f64::NAN; length], vec![f64::NAN; length]);
            sum_columns(block, count + 1, [1.1, -2.2], [&mut first, &mut second], weights, linear);
            (first, second)
        });
        assert_eq!(found, expected, "{count} levels of {length} records");
    }
}

#[test]
fn columns_without_weight_are_not_read() {
    let values = [f64::NAN, f64::NAN, 2.0, 3.0];
    let mut out = [0.0; 2];
    let weights = |j: usize| ([if j == 0 { 0.0 } else { 1.5 }], 0.0);
    sum_columns(Block::over(&values, 2, 2), 2, [1.0], [&mut out], weights, linear);
    assert_eq!(out, [4.0, 5.5]);
}

#[test]
fn maps_and_folds_visit_every_record_once() {
    let column: Vec<f64> = (0..77).map(|i| value(i, 1)).collect();
    let mut out = vec![f64::NAN; 77];
    map_column(&column, &mut out, |x| 2.0 * x);
    fold_column(&column, &mut out, |out, x| out - x);
    fold_columns([&column, &column], &mut out, |out, [x, y]| out + x - y);
    map_in_place(&mut out, |out| out + 1.0);
    for (x, out) in column.iter().zip(out) {
        assert_eq!(out, 2.0 * x - x + x - x + 1.0);
    }
}
