//! Repetitions as they are written: what does not change in them is computed once.

use super::*;
use crate::{Block, Machine};

/// e^x·Σ k·(x + 1)² for k from 1 to 3, and the last (x + 1)²: the exponential and the square do not depend on the round.
#[test]
fn what_does_not_change_between_rounds_is_computed_before_them() {
    let mut w = Writer::default();
    let x = Source::Column(0);
    let first = w.constants(&[1.0, 2.0, 3.0]);
    let zero = w.number(0.0);
    let carried = w.repeat_all(3, &[zero, zero], |w, carried| {
        let scale = w.unary(Unary::Exp, x);
        let above = w.add(x, 1.0);
        let square = w.unary(Unary::Square, above);
        let weighted = w.mul(Source::Node(first), square);
        let scaled = w.mul(weighted, scale);
        vec![w.add(carried[0], scaled), square]
    });
    let program = w.finish(carried.into_iter().map(Output::Dense)).unwrap();
    let begin = program.steps().iter().position(|step| matches!(step, Step::Begin { .. })).unwrap();
    assert_eq!(begin, 3, "{:?}", program.steps());
    let records = [-1.5, 0.0, 0.25];
    let mut out = [f64::NAN; 6];
    Machine::default().write_all(&program, Block::over(&records, 3, 3), &mut out);
    for (i, x) in records.iter().enumerate() {
        let (square, scale) = ((x + 1.0) * (x + 1.0), Unary::Exp.at(*x));
        let sum = [1.0, 2.0, 3.0].iter().fold(0.0, |sum, k| sum + k * square * scale);
        assert_eq!([out[i], out[3 + i]], [sum, square]);
    }
}

/// Kept values and those carried out of a repetition are found although steps before it were moved.
#[test]
fn values_of_one_repetition_are_read_in_the_next() {
    let mut w = Writer::default();
    let first = w.constants(&[1.0, 2.0, 3.0, 4.0]);
    let start = w.fill(0.0);
    let mut kept = Source::Column(0);
    let [sum] = w.repeat(4, [start], |w, [sum]| {
        let constant = w.add(Source::Column(0), 0.5);
        let power = w.mul(Source::Node(first), constant);
        kept = w.keep(power);
        [w.add(sum, power)]
    });
    let [spread] = w.repeat(4, [start], |w, [spread]| {
        let mean = w.mul(0.25, sum);
        let apart = w.sub(kept, mean);
        [w.fused(apart, apart, spread)]
    });
    let program = w.finish([Output::Dense(sum), Output::Dense(spread)]).unwrap();
    let mut out = [f64::NAN; 2];
    Machine::default().write_all(&program, Block::over(&[1.5], 1, 1), &mut out);
    // 2·{1, 2, 3, 4}: the sum is 20, and Σ(2k − 5)² = 9 + 1 + 1 + 9.
    assert_eq!(out, [20.0, 20.0]);
}

#[test]
fn what_nothing_reads_is_left_out() {
    let mut w = Writer::default();
    let first = w.constants(&[1.0, 2.0]);
    let unused = w.unary(Unary::Exp, Source::Column(0));
    let start = w.fill(0.0);
    let [sum] = w.repeat(2, [start], |w, [sum]| {
        let value = w.mul(Source::Node(first), Source::Column(0));
        let unread = w.add(value, unused);
        w.keep(unread);
        [w.add(sum, value)]
    });
    let program = w.finish([Output::Dense(sum)]).unwrap();
    // The start, the repetition's beginning and end, what it carries, a product and a sum.
    assert_eq!(program.steps().len(), 6, "{:?}", program.steps());
    let mut out = [f64::NAN];
    Machine::default().write_all(&program, Block::over(&[1.5], 1, 1), &mut out);
    assert_eq!(out, [4.5]);
}

/// A program in a repetition reads a node in place of a column: Σ (a·k + b)² over k from 1 to 3.
#[test]
fn a_program_is_appended_with_other_columns() {
    let mut inner = Writer::default();
    let line = inner.dot(0.5, [(2.0, Source::Column(0)), (1.0, Source::Column(1))]);
    let square = inner.unary(Unary::Square, line);
    let inner = inner.finish([Output::Dense(square), Output::Dense(Source::Column(1))]).unwrap();
    let mut w = Writer::default();
    let first = w.constants(&[1.0, 2.0, 3.0]);
    let start = w.fill(0.0);
    let [sum] = w.repeat(3, [start], |w, [sum]| {
        let parts = w.append_with(&inner, |column| match column {
            0 => Source::Node(first),
            other => Source::Column(other),
        });
        assert_eq!(parts[1], Source::Column(1));
        [w.add(sum, parts[0])]
    });
    let plain = w.append(&inner);
    let program = w.finish([Output::Dense(sum), Output::Dense(plain[0])]).unwrap();
    let mut out = [f64::NAN; 2];
    Machine::default().write_all(&program, Block::over(&[10.0, -1.5], 1, 1), &mut out);
    assert_eq!(out, [1.0 + 9.0 + 25.0, 19.0 * 19.0]);
}
