//! Asks a gate one question of every kind, to compare tables that must answer alike.

use crate::{Ask, Asked, Choose, Clip, Decide, Gate, Level, Shape, Sum, Temper, Term};
use barkeep_accounting::{Rule, Sampling};
use barkeep_data::Schema;
use barkeep_machine::{self as machine, Fold, Output, Program, Source, Unary, Writer};

/// Answers in bits: all shapes that go with the unit, with levels read by index and column by column, faults where they were counted, decisions and a choice.
pub(crate) fn answers(gate: &mut Gate, schema: &Schema) -> Vec<u64> {
    let columns = || (0..schema.width() as u32).map(Source::Column);
    // (columns alone, levels alone, by a column): none reads a level but in sums and as one, the first reads all.
    let [plain, by_level, by_column] = [0, 1, 2].map(|kind| {
        let mut w = Writer::default();
        let line = w.dot(0.1, columns().zip(1..).map(|(column, k)| (0.3 / f64::from(k), column)));
        let slope = w.unary(Unary::Sigmoid, line);
        let outputs = match kind {
            0 => columns().map(|column| Output::Dense(w.mul(slope, column))).collect(),
            1 => (0..schema.width() as u32)
                .map(|column| Output::Levels { value: slope, column, count: 1 })
                .chain([Output::Dense(line)])
                .collect(),
            _ => vec![Output::By { value: line, column: 0, count: 3 }],
        };
        w.finish(outputs).unwrap()
    });
    let one = {
        let mut w = Writer::default();
        let sum = w.dot(-0.2, columns().map(|column| (0.4, column)));
        w.finish([Output::Dense(sum)]).unwrap()
    };
    let unit = {
        let mut w = Writer::default();
        let rows = Source::Column(plain.width() as u32);
        let rooted = w.unary(Unary::Sqrt, rows);
        let first = w.div(Source::Column(0), rooted);
        w.finish([Output::By { value: first, column: plain.width() as u32, count: 4 }, Output::Dense(rooted)])
            .unwrap()
    };
    let mut answers = Vec::new();
    let clip = Clip::new(0.7).unwrap();
    let term = |row: &Program, fold: Fold, unit: Option<&Program>| {
        machine::Term::new(row.clone(), fold, unit.cloned()).unwrap()
    };
    let terms = [
        (term(&plain, Fold::Sum, None), vec![Shape::Ball, Shape::Positive]),
        (term(&plain, Fold::Mean, None), vec![Shape::Ball, Shape::Outer]),
        (term(&by_level, Fold::Mean, None), vec![Shape::Ball, Shape::Positive]),
        (term(&plain, Fold::Sum, Some(&unit)), vec![Shape::Ball, Shape::Positive]),
        (term(&one, Fold::Sum, None), vec![Shape::Interval { low: -0.2, high: 0.6 }]),
        (
            term(&by_column, Fold::Sum, None),
            vec![Shape::Ball, Shape::Indexed { low: -0.1, high: 0.7 }, Shape::ByGroup { threshold: 0.9 }],
        ),
    ];
    let mut asked = 0;
    for (term, shapes) in &terms {
        for shape in shapes {
            let question = Asked { term, shape: *shape };
            let Ok(widths) = question.check(schema.width(), gate.unit()) else { continue };
            let mut out = vec![0.0; widths.answer];
            let (temper, batch) = (Temper::NONE, Sampling::Full);
            gate.sum(&Sum { term: Term::Program(question), temper, clip, batch, sigma: 1.0 }, &mut out)
                .unwrap();
            answers.extend(out.iter().map(|x| x.to_bits()));
            asked += 1;
        }
    }
    assert!(asked >= 9);
    if gate.faults() > 0 {
        let mut out = vec![0.0; gate.faults()];
        let (term, temper, batch) = (Term::Faults, Temper::NONE, Sampling::Full);
        gate.sum(&Sum { term, temper, clip, batch, sigma: 1.0 }, &mut out).unwrap();
        answers.extend(out.iter().map(|x| x.to_bits()));
    }
    for rule in [Rule::Barker, Rule::Penalty { sigma: 1.0 }] {
        let question = Decide {
            ratio: &one,
            offset: 0.1,
            temper: Temper::new(0.01).unwrap(),
            clip,
            batch: Sampling::Full,
            rule: &rule,
            level: Level::Decision,
        };
        answers.extend((0..8).map(|_| u64::from(gate.decide(&question).unwrap())));
    }
    let constants = |factor: f64| one.constants().iter().map(|constant| factor * constant).collect();
    let programs = [1.0, -0.5, 0.01].map(|factor| one.with_constants(constants(factor)).unwrap());
    let question = Choose { ratios: &programs, offsets: &[0.0; 3], range: (-1.0, 1.5), power: 0.001 };
    answers.extend((0..8).map(|_| gate.choose(&question).unwrap() as u64));
    answers
}
