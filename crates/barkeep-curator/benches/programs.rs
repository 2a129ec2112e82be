//! Races questions over programs against the loops of the likelihoods they replace, one thread, in turn.

#![allow(clippy::print_stdout, clippy::unwrap_used, missing_docs, reason = "a program that measures")]

use barkeep_accounting::{Neighbours, Sampling};
use barkeep_curator::{
    Ask, Asked, Budget, Clip, Curator, Gate, NoiseRng, Precondition, PrivacyModel, Shape, Sum, Table,
    TableBuilder, Temper, Term,
};
use barkeep_data::{Column, Count, Factor, Feature, Schema, Shape as Map, View};
use barkeep_machine::{self as machine, Output, Source, Unary, Writer};
use barkeep_model::families::bernoulli::Logit;
use barkeep_model::{Design, Prior, Regression};
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

/// A logistic regression, and the columns of its categories: the first of each and their number.
fn race(name: &str, view: &View, rows: &[Vec<f64>], levels: &[(u32, u32)]) {
    let count = Count::Exactly(rows.len());
    let table = || -> Table {
        let mut builder = TableBuilder::viewed(view.clone(), count).unwrap();
        rows.iter().for_each(|row| builder.push_row(row).unwrap());
        builder.finish().unwrap()
    };
    let names: Vec<String> =
        view.schema().columns()[1..].iter().map(|column| column.name().to_owned()).collect();
    let prior = Prior::Normal { mean: 0.0, sd: 2.5 };
    let model =
        Arc::new(Regression::new(Design::new("y", names, true, prior).unwrap(), Box::new(Logit)).unwrap());
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
    let open = || {
        let curator = Curator::new(table(), model.clone(), privacy_model, Budget::not_private()).unwrap();
        Gate::open(&Arc::new(curator), NoiseRng::insecure_seed(1)).unwrap()
    };
    let terms = [
        Term::Gradient { theta: &theta, precondition: Precondition::Identity },
        Term::Program(Asked { term: &term, shape: Shape::Ball }),
    ];
    let mut gates = [open(), open()];
    let (mut best, mut outs) = ([f64::INFINITY; 2], [vec![0.0; width], vec![0.0; width]]);
    for _ in 0..300 {
        for k in 0..2 {
            let (temper, batch, clip) = (Temper::NONE, Sampling::Full, Clip::new(1.5).unwrap());
            let question = Sum { term: terms[k], temper, clip, batch, sigma: 0.0 };
            let start = Instant::now();
            gates[k].sum(black_box(&question), &mut outs[k]).unwrap();
            best[k] = best[k].min(start.elapsed().as_secs_f64());
        }
    }
    assert_eq!(outs[0], outs[1]);
    let [old, new] = best.map(|seconds| seconds * 1e9 / rows.len() as f64);
    println!("{name}: loops {old:.2}, program {new:.2} ns a record");
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
        race("logistic, d = 10", &view, &(0..records).map(row).collect::<Vec<_>>(), &[]);

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
        race("categories, d = 49", &view, &(0..records).map(row).collect::<Vec<_>>(), &levels);
    });
}
