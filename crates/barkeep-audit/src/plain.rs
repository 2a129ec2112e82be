//! Computes what a question asks of one record, or of one person, step by step in f64: neither the machine nor the curator's arithmetic.

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

/// What a unit of these rows contributes before it is clipped.
pub(crate) fn contribution(term: &Term, rows: &[Vec<f64>]) -> Vec<f64> {
    let mut sum = vec![0.0; term.row.width()];
    for row in rows {
        sum.iter_mut().zip(outputs(&term.row, row)).for_each(|(sum, entry)| *sum += entry);
    }
    match term.fold {
        Fold::Sum => {}
        Fold::Mean => sum.iter_mut().for_each(|sum| *sum /= rows.len() as f64),
    }
    match &term.unit {
        None => sum,
        Some(unit) => {
            sum.push(rows.len() as f64);
            outputs(unit, &sum)
        }
    }
}
