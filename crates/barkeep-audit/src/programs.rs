//! Replays what programs write of a record, or of a person's rows, in plain numbers.

use barkeep_curator::{Asked, Shape};
use barkeep_data::Block;
use barkeep_machine::{Fold, Machine, Program};

/// What a program writes of one row.
fn written(program: &Program, row: &[f64]) -> Vec<f64> {
    let mut out = vec![0.0; program.width()];
    Machine::default().write_all(program, Block::over(row, 1, 1), &mut out);
    out
}

/// The one output of a program, added up over rows.
pub(crate) fn sum(program: &Program, rows: &[Vec<f64>]) -> f64 {
    rows.iter().map(|row| written(program, row)[0]).reduce(|sum, ratio| sum + ratio).unwrap_or(0.0)
}

/// What a unit adds to a sum: folded, then cut to the shape. Groups have no term of a unit alone: theirs is empty.
pub(crate) fn term(asked: Asked<'_>, rows: &[Vec<f64>], clip: f64) -> Vec<f64> {
    let Asked { term, shape } = asked;
    let count = rows.len() as f64;
    let add = |mut sum: Vec<f64>, next: Vec<f64>| {
        sum.iter_mut().zip(next).for_each(|(sum, entry)| *sum += entry);
        sum
    };
    let each = rows.iter().map(|row| written(&term.row, row));
    if shape == Shape::Outer {
        let mut all = each.map(|x| products(x, clip)).reduce(add).unwrap_or_default();
        all.iter_mut().for_each(|entry| *entry /= count);
        return all;
    }
    let mut folded = each.reduce(add).unwrap_or_default();
    if term.fold == Fold::Mean {
        folded.iter_mut().for_each(|entry| *entry /= count);
    }
    if let Some(unit) = &term.unit {
        folded.push(count);
        folded = written(unit, &folded);
    }
    match shape {
        Shape::Ball | Shape::Outer => shortened(folded, clip),
        Shape::Positive => shortened(folded.iter().map(|entry| entry.max(0.0)).collect(), clip),
        Shape::Interval { low, high } => folded.iter().map(|entry| cut(*entry, low, high)).collect(),
        Shape::Indexed { low, high } => {
            folded.iter().map(|entry| if *entry == 0.0 { 0.0 } else { cut(*entry, low, high) }).collect()
        }
        Shape::ByGroup { .. } => Vec::new(),
    }
}

fn cut(value: f64, low: f64, high: f64) -> f64 {
    if value.is_nan() { 0.0_f64.clamp(low, high) } else { value.clamp(low, high) }
}

fn shortened(mut vector: Vec<f64>, clip: f64) -> Vec<f64> {
    let norm = vector.iter().map(|entry| entry * entry).sum::<f64>().sqrt();
    let factor = if norm.is_finite() { (clip / norm).min(1.0) } else { 0.0 };
    vector.iter_mut().for_each(|entry| *entry = if factor == 0.0 { 0.0 } else { *entry * factor });
    vector
}

fn products(x: Vec<f64>, clip: f64) -> Vec<f64> {
    let x = shortened(x, clip);
    let pairs = x.iter().enumerate().flat_map(|(j, left)| x[j..].iter().map(move |right| left * right));
    x.iter().copied().chain(pairs).collect()
}
