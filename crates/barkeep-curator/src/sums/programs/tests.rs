//! Asks over programs however records are kept, and compares with plain f64. Hostile programs stay within the clip.

use super::*;
use crate::records::layout::Layout;
use crate::records::stored::{Filling, Stored};
use crate::sums::terms::check_ratio;
use crate::test_support::echo::{EXTREMES, ball, table};
use crate::test_support::questions::answers;
use crate::{Ask, Budget, Curator, Gate, NoiseRng, PersonsBuilder, PrivacyModel, Sum, Table, Temper, Term};
use barkeep_accounting::{Neighbours, Rate, Sampling};
use barkeep_data::{
    Admission, Column, Count, CsvOptions, Factor, Feature, Roster, Schema, Shape as Map, View,
};
use barkeep_machine::{self as machine, Binary, Source, Step, Unary, Writer};
use std::io::Write as _;
use std::sync::Arc;

/// A response, two categories of 5 and 300 levels without their first, a number, a bool.
fn view() -> View {
    let levels = |count: usize| (0..count).map(|level| format!("l{level}")).collect();
    let source = Schema::new(vec![
        Column::boolean("y", false).unwrap(),
        Column::category("town", levels(5), "l1").unwrap(),
        Column::category("code", levels(300), "l3").unwrap(),
        Column::real("x", -1.0, 1.0, 0.0).unwrap(),
        Column::boolean("b", false).unwrap(),
    ])
    .unwrap();
    let feature = |name: String, column: usize, shape: Map| Feature {
        name,
        factors: vec![Factor { column, shape, scaled: true }],
    };
    let mut features = vec![feature("y".into(), 0, Map::Value)];
    features.extend((1..5).map(|level| feature(format!("town{level}"), 1, Map::Level(level))));
    features.extend((1..300).map(|level| feature(format!("code{level}"), 2, Map::Level(level))));
    features.push(feature("x".into(), 3, Map::Value));
    features.push(feature("b".into(), 4, Map::Value));
    View::new(source, features).unwrap()
}

const RECORDS: usize = 5000;

fn rows() -> impl Iterator<Item = [f64; 5]> {
    (0..RECORDS).map(|i| {
        let x = i as f64;
        [
            f64::from((x * 0.7).sin() > 0.2),
            x * 3.0 % 5.0,
            (x * x) % 300.0,
            (x * 0.37).sin(),
            (x / 3.0).floor() % 2.0,
        ]
    })
}

fn stored(layout: Layout, view: &View) -> Stored {
    let count = Count::Exactly(RECORDS);
    let mut filling = Filling::laid_out(view.schema(), layout, count).unwrap();
    let mut admission = Admission::new(view.clone(), count).unwrap();
    rows().for_each(|row| admission.push_row(&row, &mut filling).unwrap());
    admission.finish(&mut filling).unwrap();
    filling.finish().unwrap()
}

fn roster() -> Roster {
    let mut roster = Roster::new(Count::Exactly(900));
    (0..RECORDS).for_each(|i| assert!(roster.push(format!("p{}", i * 31 % 900).as_bytes())));
    roster
}

fn theta() -> Vec<f64> {
    (0..306).map(|j| (j as f64 * 0.83).sin()).collect()
}

/// The gradient of the logistic regression: levels by index, or every column by itself.
fn gradient(theta: &[f64], by_level: bool) -> Program {
    let mut w = Writer::default();
    let line = w.dot(theta[0], theta[1..].iter().copied().zip((1..306).map(Source::Column)));
    let mean = w.unary(Unary::ShortSigmoid, line);
    let slope = w.sub(Source::Column(0), mean);
    let mut outputs = vec![Output::Dense(slope)];
    if by_level {
        outputs.push(Output::Levels { value: slope, column: 1, count: 4 });
        outputs.push(Output::Levels { value: slope, column: 5, count: 299 });
    } else {
        outputs.extend((1..304).map(|column| Output::Dense(w.mul(slope, Source::Column(column)))));
    }
    outputs.extend((304..306).map(|column| Output::Dense(w.mul(slope, Source::Column(column)))));
    w.finish(outputs).unwrap()
}

fn open(table: impl Into<Table>) -> Gate {
    let privacy_model = PrivacyModel { neighbours: Neighbours::Substitute };
    let curator = Curator::new(table.into(), privacy_model, Budget::not_private()).unwrap();
    Gate::open(&Arc::new(curator), NoiseRng::insecure_seed(11)).unwrap()
}

/// The exact sum, and its unit.
fn exact(gate: &mut Gate, term: Term<'_>, clip: f64, batch: Sampling, width: usize) -> Vec<f64> {
    let mut out = vec![0.0; width];
    let clip = Clip::new(clip).unwrap();
    gate.sum(&Sum { term, temper: Temper::NONE, clip, batch, sigma: 0.0 }, &mut out).unwrap();
    out
}

/// The sum of clipped gradients in plain f64, over the rows of each unit.
fn plain_gradient(theta: &[f64], units: &[Vec<[f64; 5]>], clip: f64) -> Vec<f64> {
    let mut sum = vec![0.0; 306];
    for rows in units {
        let mut own = vec![0.0; 306];
        for [y, town, code, x, b] in rows {
            let level = |first: usize, level: f64| (level > 0.0).then(|| first + level as usize);
            let levels: Vec<usize> = [level(0, *town), level(4, *code)].into_iter().flatten().collect();
            let line =
                theta[0] + levels.iter().map(|j| theta[*j]).sum::<f64>() + theta[304] * x + theta[305] * b;
            let slope = y - 1.0 / (1.0 + (-line).exp());
            levels.iter().chain([&0]).for_each(|j| own[*j] += slope);
            own[304] += slope * x;
            own[305] += slope * b;
        }
        let factor = (clip / own.iter().map(|x| x * x).sum::<f64>().sqrt()).min(1.0);
        sum.iter_mut().zip(own).for_each(|(sum, x)| *sum += factor * x);
    }
    sum
}

/// Gradients of a regression over categories: the same integers from wide and from narrow tables, column by column and by level, on any
/// number of threads, of records, of persons and of batches; and those of plain f64.
#[test]
fn gradients_do_not_depend_on_how_records_are_kept() {
    let (view, theta) = (view(), theta());
    let dense = machine::Term::of(gradient(&theta, false));
    let by_level = machine::Term::of(gradient(&theta, true));
    let mut persons = vec![Vec::new(); 900];
    rows().enumerate().for_each(|(i, row)| persons[i * 31 % 900].push(row));
    let records: Vec<Vec<[f64; 5]>> = rows().map(|row| vec![row]).collect();
    for units in [records, persons] {
        let by_person = units.len() == 900;
        for batch in [
            Sampling::Full,
            Sampling::WithoutReplacement { batch: 700, records: units.len() as u64 },
            Sampling::Poisson { rate: Rate::new(0.3).unwrap() },
        ] {
            let ask = |narrow: bool, threads: usize, term: &machine::Term| {
                let layout = if narrow { Layout::narrow(&view) } else { Layout::wide(view.schema()) };
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| {
                    let mut stored = stored(layout, &view);
                    if by_person {
                        stored = stored.by_person(&roster(), None, None).unwrap();
                    }
                    exact(&mut open(stored), ball(term), 0.9, batch, 306)
                })
            };
            let expected = ask(false, 1, &dense);
            for (term, narrow, threads) in [
                (&dense, true, 1),
                (&dense, true, 3),
                (&by_level, false, 1),
                (&by_level, true, 1),
                (&by_level, true, 3),
            ] {
                assert_eq!(ask(narrow, threads, term), expected, "{by_person} {batch:?} {threads} {narrow}");
            }
            if batch == Sampling::Full {
                // A unit beyond the clip is cut to within 4.02·10^-5 of it.
                let slack = 4.1e-5 * 0.9 * units.len() as f64;
                let plain = plain_gradient(&theta, &units, 0.9);
                assert!(expected.iter().zip(&plain).all(|(found, plain)| (found - plain).abs() < slack));
                assert!(plain.iter().any(|x| x.abs() > 30.0 * slack));
            }
        }
    }
}

/// Files that stay where they are answer as tables in memory, record by record and person by person.
#[test]
fn streams_answer_as_tables() {
    let schema = Schema::new(vec![
        Column::integer("g", 0.0, 3.0, 0.0).unwrap(),
        Column::real("x", -1.0, 1.0, 0.0).unwrap(),
        Column::boolean("b", false).unwrap(),
    ])
    .unwrap();
    let view = View::all(schema.clone());
    let path = std::env::temp_dir().join(format!("barkeep-programs-{}.csv", std::process::id()));
    let mut file = std::fs::File::create(&path).unwrap();
    writeln!(file, "who,g,x,b").unwrap();
    let rows: Vec<(String, [f64; 3])> = (0..4000)
        .map(|i| (format!("{}", i * 17 % 321), [(i % 4) as f64, f64::from(i).sin(), f64::from(i % 3 == 0)]))
        .collect();
    for (who, [g, x, b]) in &rows {
        writeln!(file, "{who},{g},{x},{b}").unwrap();
    }
    drop(file);
    let options = CsvOptions::default();
    for most_rows in [None, Some(None), Some(Some(5))] {
        let (held, streamed) = match most_rows {
            None => {
                let mut builder = crate::TableBuilder::new(schema.clone(), rows.len()).unwrap();
                rows.iter().for_each(|(_, row)| builder.push_row(row).unwrap());
                let count = Count::Exactly(rows.len());
                (builder.finish(), Table::stream_files(&[&path], &view, count, options, 1, &mut |_| {}))
            }
            Some(most) => {
                let count = Count::Exactly(321);
                let mut builder = PersonsBuilder::new(view.clone(), count, most).unwrap();
                rows.iter().for_each(|(who, row)| builder.push_row(who, row).unwrap());
                (
                    builder.finish(),
                    Table::stream_files_persons(&[&path], &view, "who", count, most, options, 1),
                )
            }
        };
        let expected = answers(&mut open(held.unwrap()), &schema);
        assert_eq!(answers(&mut open(streamed.unwrap()), &schema), expected, "{most_rows:?}");
    }
    std::fs::remove_file(&path).unwrap();
}

/// A person's rows at several places make one vector that is clipped as one.
#[test]
fn rows_at_several_places_are_clipped_as_one_vector() {
    let schema = Schema::new(vec![
        Column::integer("g", 0.0, 6.0, 0.0).unwrap(),
        Column::real("x", -9.0, 9.0, 0.0).unwrap(),
    ])
    .unwrap();
    let persons: [(&str, &[[f64; 2]]); 3] = [
        ("a", &[[0.0, 3.0], [5.0, 4.0], [0.0, -3.0]]),
        ("b", &[[1.0, 3.0], [2.0, 4.0]]),
        ("c", &[[6.0, 0.5]]),
    ];
    let mut w = Writer::default();
    let value = w.dot(0.0, [(1.0, Source::Column(1))]);
    let row = w.finish([Output::By { value, column: 0, count: 7 }, Output::Dense(value)]).unwrap();
    for (fold, expected) in [
        // Of a only the second row is left: (0, …, 4; 4) of length 4√2, cut to 2.
        (
            Fold::Sum,
            [
                0.0,
                6.0 / 74_f64.sqrt(),
                8.0 / 74_f64.sqrt(),
                0.0,
                0.0,
                2_f64.sqrt(),
                0.5,
                2_f64.sqrt() + 14.0 / 74_f64.sqrt() + 0.5,
            ],
        ),
        (Fold::Mean, {
            let b = 2.0 / (1.5_f64.powi(2) + 4.0 + 3.5_f64.powi(2)).sqrt();
            [0.0, 1.5 * b, 2.0 * b, 0.0, 0.0, 4.0 / 3.0, 0.5, 4.0 / 3.0 + 3.5 * b + 0.5]
        }),
    ] {
        let mut builder = PersonsBuilder::new(View::all(schema.clone()), Count::Exactly(3), Some(3)).unwrap();
        // In any order: a person's rows are gathered.
        for k in 0..3 {
            for (who, rows) in &persons {
                if let Some(row) = rows.get(k) {
                    builder.push_row(who, row).unwrap();
                }
            }
        }
        let mut gate = open(builder.finish().unwrap());
        let term = machine::Term::new(row.clone(), fold, None).unwrap();
        let found = exact(&mut gate, ball(&term), 2.0, Sampling::Full, 8);
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 2e-4, "{found} for {expected}, {fold:?}");
        }
    }
}

/// Whatever a program writes, a record moves an answer by no more than its shape is charged for.
#[test]
fn hostile_programs_stay_within_the_clip() {
    let mut w = Writer::default();
    // Each extreme where the record names it: beyond them the record itself.
    let first = w.constants(&EXTREMES);
    let wild = w.step(Step::Gather { index: Source::Column(0), first, count: EXTREMES.len() as u32 });
    let over = w.binary(Binary::Div, wild, Source::Column(1));
    let row = w.finish([wild, over].map(Output::Dense)).unwrap();
    let term = machine::Term::of(row);
    for shape in [Shape::Ball, Shape::Positive] {
        for k in 0..EXTREMES.len() {
            for other in [0.0, 1.0, -1e-300, 1e300] {
                let mut gate = open(table(&[vec![k as f64, other]]));
                let found =
                    exact(&mut gate, Term::Program(Asked { term: &term, shape }), 3.0, Sampling::Full, 2);
                let norm = found.iter().map(|x| x * x).sum::<f64>();
                assert!(norm <= 9.0, "{found:?}");
                assert!(shape == Shape::Ball || found.iter().all(|entry| *entry >= 0.0));
            }
        }
    }
}

/// What does not fit the shape, the unit or the columns is refused from public numbers alone.
#[test]
fn outputs_that_do_not_fit_are_refused() {
    let program = |outputs: &[Output]| {
        let mut w = Writer::default();
        w.dot(0.0, [(1.0, Source::Column(1))]);
        machine::Term::of(w.finish(outputs.iter().copied()).unwrap())
    };
    let value = Source::Step(0);
    let (dense, by) = (Output::Dense(value), Output::By { value, column: 0, count: 9 });
    let persons = Unit::Person { most_rows: None };
    let few = Unit::Person { most_rows: Some(4095) };
    let fits = |outputs: &[Output], shape: Shape, unit: Unit| {
        Asked { term: &program(outputs), shape }.check(2, unit).is_ok()
    };
    let (interval, indexed) =
        (Shape::Interval { low: 0.0, high: 1.0 }, Shape::Indexed { low: 0.0, high: 1.0 });
    let group = Shape::ByGroup { threshold: 2.0 };
    for (outputs, shape, unit, expected) in [
        (&[dense, by][..], Shape::Ball, Unit::Record, true),
        (&[dense, by], Shape::Ball, few, true),
        (&[dense, by, by], Shape::Ball, few, false),
        (&[by], Shape::Positive, persons, false),
        (&[dense], Shape::Positive, persons, true),
        (&[], Shape::Ball, Unit::Record, false),
        (&[dense], interval, persons, true),
        (&[dense, dense], interval, Unit::Record, false),
        (&[by], indexed, Unit::Record, true),
        (&[by], group, Unit::Record, true),
        (&[by], indexed, persons, false),
        (&[by], group, persons, false),
        (&[by], group, Unit::Person { most_rows: Some(1) }, true),
        (&[dense], indexed, Unit::Record, false),
        (&[dense, dense], Shape::Outer, Unit::Record, true),
        (&[dense, dense], Shape::Outer, persons, false),
        (&[by], Shape::Outer, Unit::Record, false),
    ] {
        assert_eq!(fits(outputs, shape, unit), expected, "{outputs:?} {shape:?} {unit:?}");
    }
    assert!(Asked { term: &program(&[dense]), shape: Shape::Ball }.check(1, Unit::Record).is_err());
    assert!(
        check_ratio(&program(&[dense]).row, 2).is_ok() && check_ratio(&program(&[dense]).row, 1).is_err()
    );
    assert!(
        check_ratio(&program(&[dense, dense]).row, 2).is_err()
            && check_ratio(&program(&[by]).row, 2).is_err()
    );
}
