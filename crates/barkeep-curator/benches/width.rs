//! Measures tables whose columns are as wide as they need to be against tables of f64, in one run: `cargo bench -p barkeep-curator
//! --bench width` prints bytes per record and the time of a pass for each, a decision and a sum of gradients.
#![allow(clippy::print_stdout, clippy::unwrap_used, missing_docs, reason = "a program that measures")]

use barkeep_accounting::{Neighbours, Rule, Sampling};
use barkeep_curator::{
    Ask, Asked, Budget, Clip, Curator, Decide, Gate, Level, NoiseRng, PrivacyModel, Shape as Cut, Sum, Table,
    TableBuilder, Temper, Term,
};
use barkeep_data::{Column, Count, Factor, Feature, Schema, Shape, View};
use barkeep_machine::{self as machine, Binary, Output, Source, Unary, Writer};
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

/// A table of records and how a model sees them: a response, categories by their levels, and reals.
struct Setting {
    name: &'static str,
    records: usize,
    categories: &'static [usize],
    reals: usize,
    more: More,
}

/// Columns that are made of others.
#[derive(Clone, Copy)]
enum More {
    Nothing,
    /// The first two categories, the first two reals, and a category and a real interact.
    Crossed,
    /// Every two reals interact.
    Pairs,
}

const SETTINGS: [Setting; 8] = [
    setting("four categories", 1_400_000, &[5, 7, 16, 24], 0, More::Nothing),
    setting("flights", 327_346, &[3, 16, 12], 2, More::Nothing),
    setting("mixed", 10_000_000, &[4, 8], 6, More::Nothing),
    setting("crossed", 1_000_000, &[6, 12], 2, More::Crossed),
    setting("pairs", 1_000_000, &[], 8, More::Pairs),
    setting("few of the first", 20_000, &[5, 7, 16, 24], 0, More::Nothing),
    setting("few of mixed", 20_000, &[4, 8], 6, More::Nothing),
    setting("few crossed", 20_000, &[6, 12], 2, More::Crossed),
];

const fn setting(
    name: &'static str,
    records: usize,
    categories: &'static [usize],
    reals: usize,
    more: More,
) -> Setting {
    Setting { name, records, categories, reals, more }
}

impl Setting {
    fn view(&self) -> View {
        let mut columns = vec![Column::boolean("y", false).unwrap()];
        let mut features = vec![Feature::column("y", 0)];
        for (j, count) in self.categories.iter().enumerate() {
            let levels: Vec<String> = (0..*count).map(|level| format!("l{level}")).collect();
            columns.push(Column::category(format!("c{j}"), levels, "l0").unwrap());
            for level in 1..*count {
                let factors = vec![Factor { column: j + 1, shape: Shape::Level(level), scaled: true }];
                features.push(Feature { name: format!("c{j}l{level}"), factors });
            }
        }
        for j in 0..self.reals {
            columns.push(Column::real(format!("x{j}"), -1.0, 1.0, 0.0).unwrap());
            features.push(Feature::column(format!("x{j}"), columns.len() - 1));
        }
        let level = |column: usize, level: usize| Factor { column, shape: Shape::Level(level), scaled: true };
        let value = |column: usize| Factor { column, shape: Shape::Value, scaled: true };
        let reals = 1 + self.categories.len()..columns.len();
        let mut made = |factors: Vec<Factor>| {
            let name = format!("m{}", features.len());
            features.push(Feature { name, factors });
        };
        match self.more {
            More::Nothing => {}
            More::Crossed => {
                for first in 1..self.categories[0] {
                    (1..self.categories[1]).for_each(|second| made(vec![level(1, first), level(2, second)]));
                }
                (1..self.categories[1]).for_each(|second| made(vec![value(reals.start), level(2, second)]));
                made(reals.map(value).collect());
            }
            More::Pairs => {
                for first in reals.clone() {
                    (first + 1..reals.end).for_each(|second| made(vec![value(first), value(second)]));
                }
            }
        }
        View::new(Schema::new(columns).unwrap(), features).unwrap()
    }

    /// The log-ratio of a logistic regression from coefficients 0.1 to 0.101, and its gradient, levels of each category together.
    fn programs(&self, width: u32) -> (machine::Program, machine::Term) {
        let mut w = Writer::default();
        let line = |w: &mut Writer, theta: f64| w.dot(theta, (1..width).map(|j| (theta, Source::Column(j))));
        let [from, to] = [0.1, 0.101].map(|theta| line(&mut w, theta));
        let sign = w.product((-1.0, 2.0, Source::Column(0)), (1.0, 0.0, Source::Column(0)));
        let [a, b] = [to, from].map(|line| w.mul(sign, line));
        let ratio = w.binary(Binary::LogSigmoidDifference, a, b);
        let ratio = w.finish([Output::Dense(ratio)]).unwrap();
        let mut w = Writer::default();
        let line = line(&mut w, 0.1);
        let mean = w.unary(Unary::ShortSigmoid, line);
        let slope = w.sub(Source::Column(0), mean);
        let mut outputs = vec![Output::Dense(slope)];
        let mut column = 1;
        for count in self.categories {
            let count = *count as u32 - 1;
            outputs.push(Output::Levels { value: slope, column, count });
            column += count;
        }
        let crossed = match self.more {
            // Levels of both categories: one index too.
            More::Crossed => {
                (column + self.reals as u32, (self.categories[0] - 1) * (self.categories[1] - 1))
            }
            More::Nothing | More::Pairs => (width, 0),
        };
        while column < width {
            if column == crossed.0 {
                let count = crossed.1 as u32;
                outputs.push(Output::Levels { value: slope, column, count });
                column += count;
            } else {
                outputs.push(Output::Dense(w.mul(slope, Source::Column(column))));
                column += 1;
            }
        }
        (ratio, machine::Term::of(w.finish(outputs).unwrap()))
    }

    fn fill(&self, mut builder: TableBuilder) -> Table {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut uniform = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1_u64 << 53) as f64
        };
        for _ in 0..self.records {
            let mut row = vec![f64::from(uniform() < 0.4)];
            row.extend(self.categories.iter().map(|count| (uniform() * *count as f64).floor()));
            row.extend((0..self.reals).map(|_| 2.0 * uniform() - 1.0));
            builder.push_row(&row).unwrap();
        }
        builder.finish().unwrap()
    }
}

/// The shortest of some passes over each of two tables, taken in turn, in nanoseconds a record.
fn fastest(records: usize, gates: &mut [Gate; 2], pass: impl Fn(&mut Gate)) -> [f64; 2] {
    let mut best = [f64::INFINITY; 2];
    // Short passes are tried more often: a machine shared with others is seldom left alone for long.
    for _ in 0..(20_000_000 / records).clamp(9, 200) {
        for (best, gate) in best.iter_mut().zip(gates.iter_mut()) {
            let start = Instant::now();
            pass(gate);
            *best = best.min(start.elapsed().as_secs_f64());
        }
    }
    best.map(|seconds| seconds * 1e9 / records as f64)
}

/// Times of a decision and of a sum of gradients, of each of two tables.
fn times(setting: &Setting, tables: [Table; 2]) -> [[f64; 2]; 2] {
    let privacy_model = PrivacyModel { neighbours: Neighbours::Substitute };
    let mut gates = tables.map(|table| {
        let curator = Curator::new(table, privacy_model, Budget::not_private()).unwrap();
        Gate::open(&Arc::new(curator), NoiseRng::insecure_seed(1)).unwrap()
    });
    let (ratio, term) = setting.programs(setting.view().schema().width() as u32);
    let clip = Clip::new(1.0).unwrap();
    let (temper, batch) = (Temper::NONE, Sampling::Full);
    let decide = Decide {
        ratio: &ratio,
        offset: 0.0,
        temper,
        clip,
        batch,
        rule: &Rule::Barker,
        level: Level::Decision,
    };
    let width = term.width();
    let term = Term::Program(Asked { term: &term, shape: Cut::Ball });
    let sum = Sum { term, temper, clip, batch, sigma: 10.0 };
    [
        fastest(setting.records, &mut gates, |gate| {
            assert!(black_box(gate.decide(black_box(&decide))).is_ok());
        }),
        fastest(setting.records, &mut gates, |gate| {
            gate.sum(black_box(&sum), &mut vec![0.0; width]).unwrap();
        }),
    ]
}

fn main() {
    println!("threads: {}", rayon::current_num_threads());
    println!(
        "table                records  bytes a record      decision, ns a record   gradient, ns a record"
    );
    println!("                              f64  own  ratio      f64    own  ratio       f64    own  ratio");
    for setting in &SETTINGS {
        let view = setting.view();
        let count = Count::Exactly(setting.records);
        let wide = setting.fill(TableBuilder::wide(view.clone(), count).unwrap());
        let own = setting.fill(TableBuilder::viewed(view.clone(), count).unwrap());
        let [[decision, own_decision], [gradient, own_gradient]] = times(setting, [wide, own]);
        let (bytes, own_bytes) =
            (8 * view.schema().width(), Table::bytes(&view, count) / setting.records as u128);
        println!(
            "{:18} {:>9}  {bytes:>4} {own_bytes:>4} {:>6.1}    {decision:>6.2} {own_decision:>6.2} {:>6.2}    {gradient:>6.2} {own_gradient:>6.2} {:>6.2}",
            setting.name,
            setting.records,
            bytes as f64 / own_bytes as f64,
            decision / own_decision,
            gradient / own_gradient,
        );
    }
}
