//! Programs against a plain evaluator that knows one record at a time.

use super::*;
use crate::{Beside, Binary, Place, Unary, Writer};
use proptest::prelude::*;

/// Evaluates one record by the meaning of the steps, without registers.
struct Plain<'a> {
    program: &'a Program,
    record: &'a [f64],
    values: Vec<f64>,
    kept: Vec<Vec<f64>>,
    round: usize,
}

impl Plain<'_> {
    fn at(&self, source: Source) -> f64 {
        match source {
            Source::Column(j) => self.record[j as usize],
            Source::Step(k) => self.values[k as usize],
            Source::Constant(k) => self.program.constants[k as usize],
            Source::Node(first) => self.program.constants[first as usize + self.round],
            Source::Kept(k) => self.kept[k as usize][self.round],
        }
    }

    fn compute(&self, step: &Step) -> f64 {
        let constant = |k: u32| self.program.constants[k as usize];
        match step {
            Step::Dot { start, first, terms } => terms
                .iter()
                .zip(*first..)
                .fold(constant(*start), |sum, (term, w)| constant(w).mul_add(self.at(*term), sum)),
            Step::Product([a, b]) => {
                constant(a.weight).mul_add(self.at(a.value), constant(a.start))
                    * constant(b.weight).mul_add(self.at(b.value), constant(b.start))
            }
            Step::Unary(f, a) => f.at(self.at(*a)),
            Step::Binary(f, a, b) => f.at(self.at(*a), self.at(*b)),
            Step::Fused(a, b, c) => self.at(*a).mul_add(self.at(*b), self.at(*c)),
            Step::Select(c, a, b) => self.at(if self.at(*c) != 0.0 { *a } else { *b }),
            Step::Gather { index, first, count } => {
                constant(first + place(self.at(*index), *count as usize) as u32)
            }
            Step::Carry(a) | Step::Keep(a) => self.at(*a),
            Step::Begin { .. } | Step::End(_) => 0.0,
        }
    }

    fn run(mut self) -> Vec<f64> {
        let steps = self.program.steps();
        let (mut next, mut begun, mut count) = (0, 0, 0);
        while next < steps.len() {
            let value = self.compute(&steps[next]);
            match &steps[next] {
                Step::Begin { count: rounds } => (begun, count, self.round) = (next, *rounds as usize, 0),
                Step::Carry(_) if self.round > 0 => {}
                Step::Keep(_) => self.kept[next].push(value),
                Step::End(carried) => {
                    let new: Vec<f64> = carried.iter().map(|source| self.at(*source)).collect();
                    self.values[begun + 1..][..new.len()].copy_from_slice(&new);
                    self.round += 1;
                    if self.round < count {
                        next = begun + 1;
                        continue;
                    }
                    self.round = 0;
                }
                _ => self.values[next] = value,
            }
            next += 1;
        }
        self.program.outputs().iter().map(|output| self.at(output.value())).collect()
    }
}

fn plain(program: &Program, record: &[f64]) -> Vec<f64> {
    let steps = program.steps().len();
    Plain { program, record, values: vec![0.0; steps], kept: vec![Vec::new(); steps], round: 0 }.run()
}

const COLUMNS: u32 = 4;

/// A program by a list of numbers: each picks an operation and what it reads among what is there.
fn scribble(choices: &[u32]) -> Program {
    let mut w = Writer::default();
    let first = w.constants(&[0.5, -1.25, 2.0, 0.0, 3.5]);
    let mut there: Vec<Source> = (0..COLUMNS).map(Source::Column).collect();
    there.extend((first..first + 5).map(Source::Constant));
    let mut kept = Vec::new();
    for choice in choices {
        let pick = |k: u32| there[(choice / (16 * (k + 1)) + 7 * k) as usize % there.len()];
        let (a, b, c) = (pick(0), pick(1), pick(2));
        let value = match choice % 16 {
            0..=3 => w.dot(0.25, [(1.5, a), (-0.5, b), (2.0, c), (0.125, a), (1.0, c)]),
            4 => w.product((1.0, 0.5, a), (-2.0, 1.5, b)),
            5..=7 => w.unary(Unary::ALL[(choice / 16) as usize % Unary::ALL.len()], a),
            8..=10 => w.binary(Binary::ALL[(choice / 16) as usize % Binary::ALL.len()], a, b),
            11 => w.fused(a, b, c),
            12 => w.select(a, b, c),
            13 => w.step(Step::Gather { index: a, first, count: 5 }),
            14 => {
                // One value is carried on twice.
                let [sum, last, again] = w.repeat(5, [a, b, c], |w, [sum, last, again]| {
                    let node = w.fused(last, Source::Node(first), again);
                    let node = w.unary(Unary::Witch, node);
                    kept.push(w.keep(node));
                    let sum = w.add(sum, node);
                    [node, sum, node]
                });
                w.fused(again, last, sum)
            }
            _ => match kept.last().copied() {
                Some(kept) => {
                    let [sum] = w.repeat(5, [a], |w, [sum]| [w.fused(kept, b, sum)]);
                    sum
                }
                None => w.add(a, b),
            },
        };
        there.push(value);
    }
    let last = *there.last().unwrap();
    let one = w.number(1.0);
    let last = w.mul(last, one);
    let middle = w.add(there[there.len() / 2], last);
    w.finish([last, middle, Source::Column(1)].map(Output::Dense)).unwrap()
}

fn number(i: usize, j: usize) -> f64 {
    let x = ((i * 37 + j * 101) as f64 * 0.618).sin();
    if (i + j).is_multiple_of(11) { (3.0 * x).round() } else { 2.0 * x }
}

fn same(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits() || a == b || (a.is_nan() && b.is_nan())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Whatever the program, a record's outputs are those of the plain evaluation, wherever it stands.
    #[test]
    fn a_records_outputs_are_its_own(choices in prop::collection::vec(0_u32..1 << 20, 1..30), records in 1_usize..600) {
        let program = scribble(&choices);
        let values: Vec<f64> = (0..COLUMNS as usize).flat_map(|j| (0..records).map(move |i| number(i, j))).collect();
        let block = Block::over(&values, records, records);
        let (mut machine, mut out) = (Machine::default(), vec![0.0; 3 * records]);
        machine.write_all(&program, block, &mut out);
        for i in 0..records {
            let record: Vec<f64> = (0..COLUMNS as usize).map(|j| number(i, j)).collect();
            for (k, expected) in plain(&program, &record).into_iter().enumerate() {
                prop_assert!(same(out[k * records + i], expected), "{i} {k} {} {expected}", out[k * records + i]);
            }
        }
    }
}

/// Columns 1 to `count` say which level column 0 is at; the same as columns and as an index.
#[test]
fn levels_are_the_same_as_columns_and_as_an_index() {
    for count in [2_usize, 5, 8, 9, 30] {
        let records = 300;
        let levels: Vec<u32> = (0..records).map(|i| (i * i + 3 * i) as u32 % (count as u32 + 1)).collect();
        let mut values: Vec<f64> = (0..records).map(|i| number(i, 0)).collect();
        for level in 1..=count as u32 {
            values.extend(levels.iter().map(|own| f64::from(u8::from(*own == level))));
        }
        let wide = Block::over(&values, records, records);
        let mut places = vec![Place::Lying(0)];
        places.extend((0..count).map(|k| Place::Level { index: 0, code: k as u32 + 1, count: count - k }));
        let beside = Beside { widened: &[], indices: &levels, records };
        let narrow = Block::over(&values[..records], records, records).placed(&places, beside);
        let mut w = Writer::default();
        let sum = w.dot(0.5, (0..=count as u32).map(|j| (f64::from(j).sin(), Source::Column(j))));
        let outputs = [Output::Dense(sum), Output::Levels { value: sum, column: 1, count: count as u32 }];
        let program = w.finish(outputs).unwrap();
        let mut machine = Machine::default();
        let [one, other] = [wide, narrow].map(|block| {
            let mut out = vec![f64::NAN; (1 + count) * records];
            machine.write_all(&program, block, &mut out);
            out
        });
        assert_eq!(one, other);
        for (i, own) in levels.iter().enumerate() {
            for level in 0..count {
                let expected = if *own as usize == level + 1 { one[i] } else { 0.0 };
                assert_eq!(one[(level + 1) * records + i], expected);
            }
        }
    }
}

#[test]
fn a_column_names_the_entry() {
    let (values, count) = (vec![0.0, 3.0, 7.0, -2.0, f64::NAN, 1.5], 5);
    let mut w = Writer::default();
    let one = w.fill(2.0);
    let program = w.finish([Output::By { value: one, column: 0, count }]).unwrap();
    let mut out = vec![f64::NAN; 5 * 6];
    Machine::default().write_all(&program, Block::over(&values, 6, 6), &mut out);
    let entries = [0, 3, 4, 0, 0, 1];
    for (i, entry) in entries.into_iter().enumerate() {
        for k in 0..5 {
            assert_eq!(out[k * 6 + i], if k == entry { 2.0 } else { 0.0 });
        }
    }
}
