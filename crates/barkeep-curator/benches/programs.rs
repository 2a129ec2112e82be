//! Times sums of the gradients of logistic regressions, one thread, in nanoseconds a record.

#![allow(clippy::print_stdout, clippy::unwrap_used, missing_docs, reason = "a program that measures")]

use barkeep_accounting::{Neighbours, Sampling};
use barkeep_curator::{
    Ask, Asked, Budget, Clip, Curator, Gate, NoiseRng, PrivacyModel, Shape, Sum, TableBuilder, Temper, Term,
};
use barkeep_data::{Column, Count, Factor, Feature, Schema, Shape as Map, View};
use barkeep_machine::{self as machine, Output, Source, Unary, Writer};
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

/// A logistic regression over these rows; `levels` are the columns of its categories: the first of each and their number.
fn time(name: &str, view: &View, rows: &[Vec<f64>], levels: &[(u32, u32)]) {
    let count = Count::Exactly(rows.len());
    let mut builder = TableBuilder::viewed(view.clone(), count).unwrap();
    rows.iter().for_each(|row| builder.push_row(row).unwrap());
    let table = builder.finish().unwrap();
    let width = view.schema().width();
    let theta: Vec<f64> = (0..width).map(|j| 0.3 * (j as f64).sin()).collect();
    let mut w = Writer::default();
    let line = w.dot(theta[0], theta[1..].iter().copied().zip((1..width as u32).map(Source::Column)));
    let mean = w.unary(Unary::ShortSigmoid, line);
    let slope = w.sub(Source::Column(0), mean);
    let mut outputs = vec![Output::Dense(slope)];
    let mut column = 1;
    while column < width as u32 {
        let count = levels.iter().find(|(first, _)| *first == column).map_or(1, |(_, count)| *count);
        outputs.push(match levels.iter().any(|(first, _)| *first == column) {
            true => Output::Levels { value: slope, column, count },
            false => Output::Dense(w.mul(slope, Source::Column(column))),
        });
        column += count;
    }
    let term = machine::Term::of(w.finish(outputs).unwrap());
    let privacy_model = PrivacyModel { neighbours: Neighbours::Substitute };
    let curator = Curator::new(table, privacy_model, Budget::not_private()).unwrap();
    let mut gate = Gate::open(&Arc::new(curator), NoiseRng::insecure_seed(1)).unwrap();
    let (mut best, mut out) = (f64::INFINITY, vec![0.0; width]);
    for _ in 0..300 {
        let (temper, batch, clip) = (Temper::NONE, Sampling::Full, Clip::new(1.5).unwrap());
        let term = Term::Program(Asked { term: &term, shape: Shape::Ball });
        let start = Instant::now();
        gate.sum(black_box(&Sum { term, temper, clip, batch, sigma: 0.0 }), &mut out).unwrap();
        best = best.min(start.elapsed().as_secs_f64());
    }
    println!("{name}: {:.2} ns a record", best * 1e9 / rows.len() as f64);
}

fn main() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let records = 100_000;
    let mixed = |i: usize, k: usize| ((i * 31 + k * 17) as f64 * 0.618).fract();
    pool.install(|| {
        let mut columns = vec![Column::boolean("y", false).unwrap()];
        columns.extend((1..10).map(|k| Column::real(format!("x{k}"), -1.0, 1.0, 0.0).unwrap()));
        let view = View::all(Schema::new(columns).unwrap());
        let row = |i: usize| {
            (0..10).map(|k| if k == 0 { (i % 2) as f64 } else { 2.0 * mixed(i, k) - 1.0 }).collect()
        };
        time("logistic, d = 10", &view, &(0..records).map(row).collect::<Vec<_>>(), &[]);

        let sizes = [5, 7, 16, 24];
        let mut columns = vec![Column::boolean("y", false).unwrap()];
        let mut features = vec![("y".to_owned(), 0, Map::Value)];
        let mut levels = Vec::new();
        for (place, size) in sizes.into_iter().enumerate() {
            let names = (0..size).map(|level| format!("l{level}")).collect();
            columns.push(Column::category(format!("c{place}"), names, "l0").unwrap());
            levels.push((features.len() as u32, size as u32 - 1));
            features
                .extend((1..size).map(|level| (format!("c{place}l{level}"), place + 1, Map::Level(level))));
        }
        let feature =
            |(name, column, shape)| Feature { name, factors: vec![Factor { column, shape, scaled: true }] };
        let view =
            View::new(Schema::new(columns).unwrap(), features.into_iter().map(feature).collect()).unwrap();
        let row = |i: usize| {
            let level = |(k, size): (usize, &usize)| (mixed(i, k) * *size as f64).floor();
            std::iter::once((i % 2) as f64).chain(sizes.iter().enumerate().map(level)).collect()
        };
        time("categories, d = 49", &view, &(0..records).map(row).collect::<Vec<_>>(), &levels);
    });
}
