//! Runs over lists of numbers in loops the compiler turns into vector instructions.
//!
//! Two things keep a loop in the widest instructions. Every closure on the way is `#[inline(always)]`: only what is
//! inlined is compiled for them. Slices are arguments of an inlined function inside the dispatched closure: for captured
//! slices the compiler must assume that they overlap.

use barkeep_num::vector::dispatch;

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
