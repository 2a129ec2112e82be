//! Runs over whole columns of a block in loops the compiler turns into vector instructions.
//!
//! Two things keep a loop in the widest instructions. Every closure on the way is `#[inline(always)]`: only what is
//! inlined is compiled for them. Slices are arguments of an inlined function inside the dispatched closure: for captured
//! slices the compiler must assume that they overlap.

use barkeep_data::{Block, Levels};
use barkeep_num::vector::dispatch;

/// The number of columns that one pass over the records adds up: large enough to save most memory traffic of the sums,
/// small enough for the registers.
const FUSED: usize = 4;

/// A column with its weights in each sum and its centre.
type Weighted<'a, const N: usize> = (&'a [f64], [f64; N], f64);

/// Adds w·z, the term of a linear form, with one rounding.
#[inline(always)]
pub(crate) fn linear(sum: f64, weight: f64, deviation: f64) -> f64 {
    weight.mul_add(deviation, sum)
}

/// Adds w·z², the term of a quadratic form, with two roundings.
#[inline(always)]
pub(crate) fn quadratic(sum: f64, weight: f64, deviation: f64) -> f64 {
    (weight * deviation).mul_add(deviation, sum)
}

/// Writes N sums over columns, reading each column once: out_n[i] = start_n + Σ_j terms of w_nj and x_ij − m_j, where
/// (w_j, m_j) = `weights(j)` for each of the first `columns` columns.
///
/// A column whose weights are all 0 is not read: the term must be 0 there. Additions are in the order of the
/// columns, so the bits do not depend on how columns are grouped.
///
/// Columns that a block keeps as one index are looked up in a table of their weights: of their terms all but one are those of 0,
/// which change no sum. Their centres must be 0.
#[inline(always)]
pub(crate) fn sum_columns<const N: usize>(
    block: Block<'_>,
    columns: usize,
    start: [f64; N],
    mut outs: [&mut [f64]; N],
    weights: impl Fn(usize) -> ([f64; N], f64),
    add_term: impl Fn(f64, f64, f64) -> f64 + Copy,
) {
    let column = |j: usize| {
        let (weights, centre) = weights(j);
        (block.column(j), weights, centre)
    };
    let mut first = Some(start);
    let mut next = 0;
    loop {
        let mut group: [Weighted<'_, N>; FUSED] = [(&[], [0.0; N], 0.0); FUSED];
        let mut count = 0;
        let mut levels = None;
        while next < columns && count < FUSED && levels.is_none() {
            levels = block.levels_from(next);
            if levels.is_none() {
                let column = column(next);
                next += 1;
                if column.1.iter().any(|w| *w != 0.0) {
                    group[count] = column;
                    count += 1;
                }
            }
        }
        let [a, b, c, _] = group;
        let own = outs.each_mut().map(|out| &mut **out);
        match count {
            0 => own.into_iter().zip(first.into_iter().flatten()).for_each(|(out, start)| out.fill(start)),
            1 => add([a], first, own, add_term),
            2 => add([a, b], first, own, add_term),
            3 => add([a, b, c], first, own, add_term),
            _ => add(group, first, own, add_term),
        }
        first = None;
        match levels {
            Some(levels) => {
                let outs = outs.each_mut().map(|out| &mut **out);
                add_levels(levels, |k| weights(next + k).0, outs, |sum, weight| add_term(sum, weight, 1.0));
                next += levels.count;
            }
            None if count < FUSED => return,
            None => {}
        }
    }
}

/// Levels that are compared with one after the other, rather than looked up.
const COMPARED: usize = 8;
/// Records that are compared at a time: what is found of them stays in registers.
const LANES: usize = 32;

/// Replaces out_n[i] by add(out_n[i], w) with w the n-th weight of the column that is 1 in record i, by its index, or 0 if none is.
#[inline(always)]
pub(crate) fn add_levels<const N: usize>(
    levels: Levels<'_>,
    weights: impl Fn(usize) -> [f64; N],
    outs: [&mut [f64]; N],
    add: impl Fn(f64, f64) -> f64 + Copy,
) {
    let Levels { code, count, index } = levels;
    // After the weights that of no column.
    let tables: [Vec<f64>; N] =
        std::array::from_fn(|n| (0..count).map(|k| weights(k)[n]).chain([0.0]).collect());
    dispatch(
        #[inline(always)]
        || look_up(&tables, code, index, outs, add),
    );
}

#[inline(always)]
fn look_up<const N: usize>(
    tables: &[Vec<f64>; N],
    code: u32,
    index: &[u32],
    outs: [&mut [f64]; N],
    add: impl Fn(f64, f64) -> f64,
) {
    let length = outs.iter().fold(index.len(), |length, out| length.min(out.len()));
    let count = tables.first().map_or(0, |table| table.len() - 1);
    let compared = if count <= COMPARED { length - length % LANES } else { 0 };
    let (chunks, index) = index[..length].split_at(compared);
    let mut outs = outs.map(|out| &mut out[..length]);
    for (place, chunk) in chunks.as_chunks::<LANES>().0.iter().enumerate() {
        let mut found = [[0.0; LANES]; N];
        for (level, own) in (code..).take(count).enumerate() {
            for (found, table) in found.iter_mut().zip(tables) {
                let weight = table[level];
                for i in 0..LANES {
                    found[i] = if chunk[i] == own { weight } else { found[i] };
                }
            }
        }
        for (out, found) in outs.iter_mut().zip(&found) {
            let Some(out) = out[place * LANES..].first_chunk_mut::<LANES>() else { return };
            for i in 0..LANES {
                out[i] = add(out[i], found[i]);
            }
        }
    }
    let mut outs = outs.map(|out| &mut out[compared..]);
    for (i, own) in index.iter().enumerate() {
        let place = (own.wrapping_sub(code) as usize).min(count);
        for (out, table) in outs.iter_mut().zip(tables) {
            out[i] = add(out[i], table[place]);
        }
    }
}

/// Adds one group of columns to the sums, which begin at `first` if this is the first group.
#[inline(always)]
fn add<const K: usize, const N: usize>(
    group: [Weighted<'_, N>; K],
    first: Option<[f64; N]>,
    outs: [&mut [f64]; N],
    add_term: impl Fn(f64, f64, f64) -> f64 + Copy,
) {
    dispatch(
        #[inline(always)]
        || match first {
            Some(start) => pass::<K, N, true>(group, start, outs, add_term),
            None => pass::<K, N, false>(group, [0.0; N], outs, add_term),
        },
    );
}

#[inline(always)]
fn pass<const K: usize, const N: usize, const FIRST: bool>(
    group: [Weighted<'_, N>; K],
    start: [f64; N],
    outs: [&mut [f64]; N],
    add_term: impl Fn(f64, f64, f64) -> f64,
) {
    // Slices of equal lengths, cut where the loop can see it: no bounds check survives.
    let shortest = outs.iter().map(|out| out.len()).min().unwrap_or(0);
    let length = group.iter().fold(shortest, |length, (column, ..)| length.min(column.len()));
    let mut outs = outs.map(|out| &mut out[..length]);
    let columns = group.map(|(column, ..)| &column[..length]);
    for i in 0..length {
        let deviations: [f64; K] = std::array::from_fn(|k| columns[k][i] - group[k].2);
        for (n, out) in outs.iter_mut().enumerate() {
            let mut sum = if FIRST { start[n] } else { out[i] };
            for k in 0..K {
                sum = add_term(sum, group[k].1[n], deviations[k]);
            }
            out[i] = sum;
        }
    }
}

/// Writes out_i = value(x_i) over a column.
#[inline(always)]
pub(crate) fn map_column(column: &[f64], out: &mut [f64], value: impl Fn(f64) -> f64 + Copy) {
    #[inline(always)]
    fn run(column: &[f64], out: &mut [f64], value: impl Fn(f64) -> f64) {
        for (out, x) in out.iter_mut().zip(column) {
            *out = value(*x);
        }
    }
    dispatch(
        #[inline(always)]
        || run(column, out, value),
    );
}

/// Replaces out_i by value(out_i, x_i) over a column.
#[inline(always)]
pub(crate) fn fold_column(column: &[f64], out: &mut [f64], value: impl Fn(f64, f64) -> f64 + Copy) {
    fold_columns(
        [column],
        out,
        #[inline(always)]
        |out, [x]| value(out, x),
    );
}

/// Replaces out_i by value(out_i, [x_i1, …, x_iK]) over K columns.
#[inline(always)]
pub(crate) fn fold_columns<const K: usize>(
    columns: [&[f64]; K],
    out: &mut [f64],
    value: impl Fn(f64, [f64; K]) -> f64 + Copy,
) {
    #[inline(always)]
    fn run<const K: usize>(columns: [&[f64]; K], out: &mut [f64], value: impl Fn(f64, [f64; K]) -> f64) {
        let length = columns.iter().fold(out.len(), |length, column| length.min(column.len()));
        let (out, columns) = (&mut out[..length], columns.map(|column| &column[..length]));
        for i in 0..length {
            out[i] = value(out[i], columns.map(|column| column[i]));
        }
    }
    dispatch(
        #[inline(always)]
        || run(columns, out, value),
    );
}

/// Replaces each value by value(x_i).
#[inline(always)]
pub(crate) fn map_in_place(values: &mut [f64], value: impl Fn(f64) -> f64 + Copy) {
    #[inline(always)]
    fn run(values: &mut [f64], value: impl Fn(f64) -> f64) {
        for x in values {
            *x = value(*x);
        }
    }
    dispatch(
        #[inline(always)]
        || run(values, value),
    );
}

#[cfg(test)]
mod tests;
