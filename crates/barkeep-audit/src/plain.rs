//! Computes what a question asks of one record, or of one person, step by step in f64: neither the machine nor the curator's arithmetic.

use barkeep_curator::{Asked, Shape, Sum};
use barkeep_machine::{Fold, Output, Program, Source, Step, Term, place};

/// A program on its way through one record.
struct Walk<'a> {
    program: &'a Program,
    record: &'a [f64],
    values: Vec<f64>,
    kept: Vec<Vec<f64>>,
    round: usize,
}

impl Walk<'_> {
    fn constant(&self, place: u32) -> f64 {
        self.program.constants().get(place as usize).copied().unwrap_or(f64::NAN)
    }

    fn column(&self, column: u32) -> f64 {
        self.record.get(column as usize).copied().unwrap_or(f64::NAN)
    }

    fn read(&self, source: Source) -> f64 {
        match source {
            Source::Column(column) => self.column(column),
            Source::Step(step) => self.values[step as usize],
            Source::Constant(place) => self.constant(place),
            Source::Node(first) => self.constant(first + self.round as u32),
            Source::Kept(step) => self.kept[step as usize][self.round],
        }
    }

    fn value(&self, step: &Step) -> f64 {
        match step {
            Step::Dot { start, first, terms } => {
                let weights = (*first..).map(|place| self.constant(place));
                let products = terms.iter().zip(weights).map(|(term, weight)| weight * self.read(*term));
                self.constant(*start) + products.sum::<f64>()
            }
            Step::Product(lines) => lines
                .iter()
                .map(|line| self.constant(line.start) + self.constant(line.weight) * self.read(line.value))
                .product(),
            Step::Unary(function, a) => function.at(self.read(*a)),
            Step::Binary(function, a, b) => function.at(self.read(*a), self.read(*b)),
            Step::Fused(a, b, c) => self.read(*a) * self.read(*b) + self.read(*c),
            Step::Select(c, a, b) => self.read(if self.read(*c) == 0.0 { *b } else { *a }),
            Step::Gather { index, first, count } => {
                self.constant(first + place(self.read(*index), *count as usize) as u32)
            }
            Step::Carry(start) | Step::Keep(start) => self.read(*start),
            Step::Begin { .. } | Step::End(_) => 0.0,
        }
    }

    /// Goes through all steps; afterwards `values` has what each left.
    fn go(&mut self) {
        let steps = self.program.steps();
        let (mut next, mut begun, mut rounds) = (0, 0, 0);
        while let Some(step) = steps.get(next) {
            let value = self.value(step);
            match step {
                Step::Begin { count } => (begun, rounds, self.round) = (next, *count as usize, 0),
                Step::Carry(_) if self.round > 0 => {}
                Step::Keep(_) => self.kept[next].push(value),
                Step::End(carried) => {
                    let new: Vec<f64> = carried.iter().map(|source| self.read(*source)).collect();
                    self.values[begun + 1..][..new.len()].copy_from_slice(&new);
                    self.round += 1;
                    if self.round < rounds {
                        next = begun + 1;
                        continue;
                    }
                    self.round = 0;
                }
                Step::Dot { .. }
                | Step::Product(_)
                | Step::Unary(..)
                | Step::Binary(..)
                | Step::Fused(..)
                | Step::Select(..)
                | Step::Gather { .. }
                | Step::Carry(_) => self.values[next] = value,
            }
            next += 1;
        }
    }
}

/// What a program writes for one record, entry by entry.
pub(crate) fn outputs(program: &Program, record: &[f64]) -> Vec<f64> {
    let steps = program.steps().len();
    let (values, kept) = (vec![0.0; steps], vec![Vec::new(); steps]);
    let mut walk = Walk { program, record, values, kept, round: 0 };
    walk.go();
    let mut out = Vec::with_capacity(program.width());
    for output in program.outputs() {
        let value = walk.read(output.value());
        match *output {
            Output::Dense(_) => out.push(value),
            Output::Levels { column, count, .. } => {
                out.extend((0..count).map(|level| value * walk.column(column + level)));
            }
            Output::By { column, count, .. } => {
                let own = place(walk.column(column), count as usize);
                out.extend((0..count as usize).map(|entry| if entry == own { value } else { 0.0 }));
            }
        }
    }
    out
}

/// The one output of a program, added up over rows.
pub(crate) fn sum(program: &Program, rows: &[Vec<f64>]) -> f64 {
    rows.iter().map(|row| outputs(program, row)[0]).reduce(|sum, ratio| sum + ratio).unwrap_or(0.0)
}

/// What a unit of these rows contributes before it is cut to a shape.
fn contribution(term: &Term, rows: &[Vec<f64>]) -> Vec<f64> {
    let mut folded = added(rows.iter().map(|row| outputs(&term.row, row)));
    if term.fold == Fold::Mean {
        folded.iter_mut().for_each(|sum| *sum /= rows.len() as f64);
    }
    match &term.unit {
        None => folded,
        Some(unit) => {
            folded.push(rows.len() as f64);
            outputs(unit, &folded)
        }
    }
}

/// What a unit adds to a sum: folded, then cut to the shape. Groups have no term of a unit alone: theirs is empty.
pub(crate) fn term(asked: Asked<'_>, rows: &[Vec<f64>], clip: f64) -> Vec<f64> {
    match asked.shape {
        Shape::Outer => {
            let mut all = added(rows.iter().map(|row| products(outputs(&asked.term.row, row), clip)));
            all.iter_mut().for_each(|entry| *entry /= rows.len() as f64);
            all
        }
        Shape::Ball => shortened(contribution(asked.term, rows), clip),
        Shape::Positive => {
            shortened(contribution(asked.term, rows).iter().map(|entry| entry.max(0.0)).collect(), clip)
        }
        Shape::Interval { low, high } => {
            contribution(asked.term, rows).iter().map(|entry| cut(*entry, low, high)).collect()
        }
        Shape::Indexed { low, high } => contribution(asked.term, rows)
            .iter()
            .map(|entry| if *entry == 0.0 { 0.0 } else { cut(*entry, low, high) })
            .collect(),
        Shape::ByGroup { .. } => Vec::new(),
    }
}

/// How many times the answer's precision an entry has: 2 for products of different coordinates, which get less noise.
pub(crate) fn precision(asked: &Sum<'_>, entry: usize) -> f64 {
    let barkeep_curator::Term::Program(Asked { term, shape: Shape::Outer }) = asked.term else { return 1.0 };
    let p = term.width();
    let mut square = p;
    for j in 0..p {
        if square == entry {
            return 1.0;
        }
        square += p - j;
    }
    2.0
}

fn added(vectors: impl Iterator<Item = Vec<f64>>) -> Vec<f64> {
    let add = |mut sum: Vec<f64>, next: Vec<f64>| {
        sum.iter_mut().zip(next).for_each(|(sum, entry)| *sum += entry);
        sum
    };
    vectors.reduce(add).unwrap_or_default()
}

fn cut(value: f64, low: f64, high: f64) -> f64 {
    if value.is_nan() { 0.0_f64.clamp(low, high) } else { value.clamp(low, high) }
}

/// A vector shortened to a norm of at most `clip`; one that is not finite is 0.
fn shortened(mut vector: Vec<f64>, clip: f64) -> Vec<f64> {
    let norm = vector.iter().map(|entry| entry * entry).sum::<f64>().sqrt();
    let factor = if norm.is_finite() { (clip / norm).min(1.0) } else { 0.0 };
    vector.iter_mut().for_each(|entry| *entry = if factor == 0.0 { 0.0 } else { *entry * factor });
    vector
}

/// x and its products, x shortened to the radius.
fn products(x: Vec<f64>, radius: f64) -> Vec<f64> {
    let x = shortened(x, radius);
    let pairs = x.iter().enumerate().flat_map(|(j, left)| x[j..].iter().map(move |right| left * right));
    x.iter().copied().chain(pairs).collect()
}
