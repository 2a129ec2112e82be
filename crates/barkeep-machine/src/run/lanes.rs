//! Applies a function to one record after the other, with the widest vector instructions of the machine: no value crosses lanes.

use barkeep_num::vector::{dispatch, scalar};

use crate::functions::{digamma, ln_cauchy_cdf, ln_gamma, ln_normal_cdf, mills, trigamma};
use crate::op::{self, Binary, Unary, binary, unary};

/// What an instruction reads: a value per record, or one for all.
#[derive(Clone, Copy)]
pub(super) enum Read<'a> {
    Each(&'a [f64]),
    All(f64),
}

/// A function of `K` columns, record by record: entry i of the result is computed from entries i alone.
#[inline(always)]
pub(super) fn zip<const K: usize>(columns: [&[f64]; K], out: &mut [f64], value: impl Fn([f64; K]) -> f64) {
    #[inline(always)]
    fn run<const K: usize>(columns: [&[f64]; K], out: &mut [f64], value: impl Fn([f64; K]) -> f64) {
        let length = columns.iter().fold(out.len(), |length, column| length.min(column.len()));
        let (out, columns) = (&mut out[..length], columns.map(|column| &column[..length]));
        for i in 0..length {
            out[i] = value(columns.map(|column| column[i]));
        }
    }
    dispatch(
        #[inline(always)]
        || run(columns, out, value),
    );
}

/// A function of two values, either of which may be the same for all.
#[inline(always)]
pub(super) fn two(a: Read<'_>, b: Read<'_>, out: &mut [f64], value: impl Fn([f64; 2]) -> f64) {
    match (a, b) {
        (Read::Each(a), Read::Each(b)) => zip([a, b], out, value),
        (Read::Each(a), Read::All(b)) => zip(
            [a],
            out,
            #[inline(always)]
            |[a]| value([a, b]),
        ),
        (Read::All(a), Read::Each(b)) => zip(
            [b],
            out,
            #[inline(always)]
            |[b]| value([a, b]),
        ),
        (Read::All(a), Read::All(b)) => out.fill(value([a, b])),
    }
}

/// A function of three values, any of which may be the same for all.
#[inline(always)]
pub(super) fn three([a, b, c]: [Read<'_>; 3], out: &mut [f64], value: impl Fn([f64; 3]) -> f64) {
    match (a, b, c) {
        (Read::Each(a), Read::Each(b), Read::Each(c)) => zip([a, b, c], out, value),
        (Read::All(a), b, c) => two(
            b,
            c,
            out,
            #[inline(always)]
            |[b, c]| value([a, b, c]),
        ),
        (Read::Each(a), Read::All(b), c) => two(
            Read::Each(a),
            c,
            out,
            #[inline(always)]
            |[a, c]| value([a, b, c]),
        ),
        (Read::Each(a), Read::Each(b), Read::All(c)) => two(
            Read::Each(a),
            Read::Each(b),
            out,
            #[inline(always)]
            |[a, b]| value([a, b, c]),
        ),
    }
}

/// A function of one value.
pub(super) fn each(function: Unary, a: &[f64], out: &mut [f64]) {
    macro_rules! run {
        ($x:ident, $value:expr) => {
            zip(
                [a],
                out,
                #[inline(always)]
                |[$x]| $value,
            )
        };
    }
    unary!(function, x => run)
}

/// A function of two values.
pub(super) fn both(function: Binary, a: &[f64], b: &[f64], out: &mut [f64]) {
    macro_rules! run {
        ($x:ident, $y:ident, $value:expr) => {
            zip(
                [a, b],
                out,
                #[inline(always)]
                |[$x, $y]| $value,
            )
        };
    }
    binary!(function, x, y => run)
}

/// A function of a value and of a second that is the same for all.
pub(super) fn left(function: Binary, a: &[f64], y: f64, out: &mut [f64]) {
    macro_rules! run {
        ($x:ident, $y:ident, $value:expr) => {
            zip(
                [a],
                out,
                #[inline(always)]
                |[$x]| $value,
            )
        };
    }
    binary!(function, x, y => run)
}

/// A function of a first value that is the same for all and of another.
pub(super) fn right(function: Binary, x: f64, b: &[f64], out: &mut [f64]) {
    macro_rules! run {
        ($x:ident, $y:ident, $value:expr) => {
            zip(
                [b],
                out,
                #[inline(always)]
                |[$y]| $value,
            )
        };
    }
    binary!(function, x, y => run)
}
