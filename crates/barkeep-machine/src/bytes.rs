//! Writes programs as bytes and reads them back, checked: what journals hash and shards are sent.

use crate::op::{Binary, Unary};
use crate::program::{Line, Output, Program, Source, Step, Unsound};
use crate::term::{Fold, Term};

/// What does not read as a program.
const BROKEN: Unsound = Unsound("does not read as one");

impl Program {
    /// The program as bytes: the same for equal programs, and different ones for different programs.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        number(&mut out, self.steps().len());
        self.steps().iter().for_each(|step| write_step(&mut out, step));
        number(&mut out, self.outputs().len());
        for output in self.outputs() {
            let (kind, column, count) = match *output {
                Output::Dense(_) => (0, 0, 0),
                Output::Levels { column, count, .. } => (1, column, count),
                Output::By { column, count, .. } => (2, column, count),
            };
            out.push(kind);
            write_source(&mut out, output.value());
            out.extend(column.to_le_bytes());
            out.extend(count.to_le_bytes());
        }
        number(&mut out, self.constants().len());
        self.constants().iter().for_each(|constant| out.extend(constant.to_bits().to_le_bytes()));
        out
    }

    /// Reads what [`Program::to_bytes`] wrote from the start of `bytes`, and says how many bytes that were.
    ///
    /// # Errors
    /// [`Unsound`] for anything that is no program.
    pub fn from_bytes(bytes: &[u8]) -> Result<(Self, usize), Unsound> {
        let reader = &mut Reader(bytes);
        let steps = (0..reader.length()?).map(|_| reader.step()).collect::<Option<_>>().ok_or(BROKEN)?;
        let outputs = (0..reader.length()?).map(|_| reader.output()).collect::<Option<_>>().ok_or(BROKEN)?;
        let constants: Option<_> =
            (0..reader.length()?).map(|_| reader.eight().map(f64::from_bits)).collect();
        let program = Self::new(steps, outputs, constants.ok_or(BROKEN)?)?;
        Ok((program, bytes.len() - reader.0.len()))
    }
}

impl Term {
    /// The term as bytes, as [`Program::to_bytes`].
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let fold = match self.fold {
            Fold::Sum => 0,
            Fold::Mean => 1,
        };
        let mut out = vec![fold, u8::from(self.unit.is_some())];
        out.extend(self.row.to_bytes());
        out.extend(self.unit.iter().flat_map(Program::to_bytes));
        out
    }

    /// Reads what [`Term::to_bytes`] wrote from the start of `bytes`, and says how many bytes that were.
    ///
    /// # Errors
    /// [`Unsound`] for anything that is no term.
    pub fn from_bytes(bytes: &[u8]) -> Result<(Self, usize), Unsound> {
        let ([fold, has_unit], rest) = bytes.split_first_chunk().ok_or(BROKEN)?;
        let fold = match fold {
            0 => Fold::Sum,
            1 => Fold::Mean,
            _ => return Err(BROKEN),
        };
        let (row, length) = Program::from_bytes(rest)?;
        let (unit, more) = match has_unit {
            0 => (None, 0),
            1 => Program::from_bytes(&rest[length..]).map(|(unit, more)| (Some(unit), more))?,
            _ => return Err(BROKEN),
        };
        Ok((Self::new(row, fold, unit)?, 2 + length + more))
    }
}

fn number(out: &mut Vec<u8>, number: usize) {
    out.extend(u32::try_from(number).unwrap_or(u32::MAX).to_le_bytes());
}

fn write_source(out: &mut Vec<u8>, source: Source) {
    let (kind, place) = match source {
        Source::Column(place) => (0, place),
        Source::Step(place) => (1, place),
        Source::Constant(place) => (2, place),
        Source::Node(place) => (3, place),
        Source::Kept(place) => (4, place),
    };
    out.push(kind);
    out.extend(place.to_le_bytes());
}

fn write_step(out: &mut Vec<u8>, step: &Step) {
    let mut list = |kind: u8, numbers: &[u32], sources: &[Source]| {
        out.push(kind);
        numbers.iter().for_each(|number| out.extend(number.to_le_bytes()));
        number(out, sources.len());
        sources.iter().for_each(|source| write_source(out, *source));
    };
    match step {
        Step::Dot { start, first, terms } => list(0, &[*start, *first], terms),
        Step::Product([a, b]) => {
            list(1, &[a.start, a.weight, b.start, b.weight], &[a.value, b.value]);
        }
        Step::Unary(function, a) => list(2, &[Unary::position(*function)], &[*a]),
        Step::Binary(function, a, b) => list(3, &[Binary::position(*function)], &[*a, *b]),
        Step::Fused(a, b, c) => list(4, &[], &[*a, *b, *c]),
        Step::Select(a, b, c) => list(5, &[], &[*a, *b, *c]),
        Step::Gather { index, first, count } => list(6, &[*first, *count], &[*index]),
        Step::Begin { count } => list(7, &[*count], &[]),
        Step::Carry(a) => list(8, &[], &[*a]),
        Step::Keep(a) => list(9, &[], &[*a]),
        Step::End(next) => list(10, &[], next),
    }
}

/// Bytes that are yet to be read.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*taken)
    }

    fn four(&mut self) -> Option<u32> {
        self.take().map(u32::from_le_bytes)
    }

    fn eight(&mut self) -> Option<u64> {
        self.take().map(u64::from_le_bytes)
    }

    /// A number of things, each of which takes a byte at least.
    fn length(&mut self) -> Result<usize, Unsound> {
        let length = self.four().ok_or(BROKEN)? as usize;
        if length <= self.0.len() { Ok(length) } else { Err(BROKEN) }
    }

    fn source(&mut self) -> Option<Source> {
        let [kind] = self.take()?;
        let place = self.four()?;
        Some(match kind {
            0 => Source::Column(place),
            1 => Source::Step(place),
            2 => Source::Constant(place),
            3 => Source::Node(place),
            4 => Source::Kept(place),
            _ => return None,
        })
    }

    fn output(&mut self) -> Option<Output> {
        let [kind] = self.take()?;
        let (value, column, count) = (self.source()?, self.four()?, self.four()?);
        Some(match kind {
            0 if (column, count) == (0, 0) => Output::Dense(value),
            1 => Output::Levels { value, column, count },
            2 => Output::By { value, column, count },
            _ => return None,
        })
    }

    fn step(&mut self) -> Option<Step> {
        let [kind] = self.take()?;
        let numbers = match kind {
            0 | 6 => 2,
            1 => 4,
            2 | 3 | 7 => 1,
            4 | 5 | 8 | 9 | 10 => 0,
            _ => return None,
        };
        let numbers = (0..numbers).map(|_| self.four()).collect::<Option<Vec<u32>>>()?;
        let length = self.length().ok()?;
        let sources = (0..length).map(|_| self.source()).collect::<Option<Vec<Source>>>()?;
        Some(match (kind, &numbers[..], &sources[..]) {
            (0, [start, first], terms) => Step::Dot { start: *start, first: *first, terms: terms.into() },
            (1, [a, b, c, d], [x, y]) => Step::Product([
                Line { start: *a, weight: *b, value: *x },
                Line { start: *c, weight: *d, value: *y },
            ]),
            (2, [function], [a]) => Step::Unary(Unary::at_position(*function)?, *a),
            (3, [function], [a, b]) => Step::Binary(Binary::at_position(*function)?, *a, *b),
            (4, [], [a, b, c]) => Step::Fused(*a, *b, *c),
            (5, [], [a, b, c]) => Step::Select(*a, *b, *c),
            (6, [first, count], [index]) => Step::Gather { index: *index, first: *first, count: *count },
            (7, [count], []) => Step::Begin { count: *count },
            (8, [], [a]) => Step::Carry(*a),
            (9, [], [a]) => Step::Keep(*a),
            (10, [], next) => Step::End(next.into()),
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests;
