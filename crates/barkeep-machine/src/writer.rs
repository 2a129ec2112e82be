//! Writes programs step by step. Nothing here is trusted: [`Program::new`] checks what comes out.

use crate::op::{Binary, Unary};
use crate::program::{Line, Output, Program, Source, Step, Unsound};

/// A program that is being written.
///
/// ```
/// use barkeep_machine::{Output, Source, Unary, Writer};
/// // The score of a logistic regression without an intercept: (y − 1/(1 + e^(−b·x)))·x.
/// let mut w = Writer::default();
/// let predictor = w.dot(0.0, [(0.3, Source::Column(1))]);
/// let share = w.unary(Unary::Sigmoid, predictor);
/// let rest = w.sub(Source::Column(0), share);
/// let score = w.mul(rest, Source::Column(1));
/// let program = w.finish([Output::Dense(score)])?;
/// assert_eq!((program.width(), program.columns()), (1, &[0, 1][..]));
/// # Ok::<(), barkeep_machine::Unsound>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Writer {
    /// In the order they run, each with the number that sources name it by.
    steps: Vec<(u32, Step)>,
    /// The repetition of each step by its number, counted from 1, or 0 outside of all.
    inside: Vec<u32>,
    /// The repetition that is open, and where it begins among the steps.
    open: Option<(u32, usize)>,
    repetitions: u32,
    constants: Vec<f64>,
}

/// What a function is given: the value of every record at a place, or a number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Operand {
    /// A value per record.
    At(Source),
    /// The same number for every record.
    Number(f64),
}

impl From<Source> for Operand {
    fn from(source: Source) -> Self {
        Self::At(source)
    }
}

impl From<f64> for Operand {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl Writer {
    fn place(&mut self, operand: impl Into<Operand>) -> Source {
        match operand.into() {
            Operand::At(source) => source,
            Operand::Number(number) => self.number(number),
        }
    }

    /// Appends a step, and returns where its result is. Within a repetition, a step that has the same result in every round goes before it.
    pub fn step(&mut self, step: Step) -> Source {
        let step = match step {
            Step::End(next) => Step::End(next.into_iter().map(|value| self.within(value)).collect()),
            other => other,
        };
        let here = self.open.map_or(0, |(repetition, _)| repetition);
        let mut inside = here;
        match &step {
            Step::Begin { .. } => {
                self.repetitions += 1;
                self.open = Some((self.repetitions, self.steps.len()));
            }
            Step::End(_) => self.open = None,
            Step::Carry(_) | Step::Keep(_) => {}
            Step::Dot { .. }
            | Step::Product(_)
            | Step::Unary(..)
            | Step::Binary(..)
            | Step::Fused(..)
            | Step::Select(..)
            | Step::Gather { .. } => {
                if !step.sources().into_iter().any(|source| self.varies(source, here)) {
                    inside = 0;
                }
            }
        }
        match &mut self.open {
            Some((_, begin)) if here != 0 && inside == 0 => {
                self.steps.insert(*begin, (self.inside.len() as u32, step));
                *begin += 1;
            }
            Some(_) | None => self.steps.push((self.inside.len() as u32, step)),
        }
        self.inside.push(inside);
        Source::Step(self.inside.len() as u32 - 1)
    }

    /// Whether a value may differ between the rounds of a repetition.
    fn varies(&self, source: Source, repetition: u32) -> bool {
        match source {
            Source::Column(_) | Source::Constant(_) => false,
            Source::Node(_) | Source::Kept(_) => true,
            Source::Step(step) => self.inside.get(step as usize).is_none_or(|own| *own == repetition),
        }
    }

    /// The value as one that the open repetition computes itself.
    fn within(&mut self, value: Source) -> Source {
        match (value, self.open) {
            (Source::Step(step), Some((repetition, _))) if self.inside[step as usize] == repetition => value,
            (_, Some((repetition, _))) => {
                let one = self.number(1.0);
                self.steps.push((self.inside.len() as u32, Step::Binary(Binary::Mul, one, value)));
                self.inside.push(repetition);
                Source::Step(self.inside.len() as u32 - 1)
            }
            (_, None) => value,
        }
    }

    /// A number.
    pub fn number(&mut self, number: f64) -> Source {
        Source::Constant(self.constants(&[number]))
    }

    /// Numbers one after the other; the place of the first.
    pub fn constants(&mut self, numbers: &[f64]) -> u32 {
        self.constants.extend_from_slice(numbers);
        (self.constants.len() - numbers.len()) as u32
    }

    /// start + Σ weight·value, added in order with one rounding each.
    pub fn dot(&mut self, start: f64, terms: impl IntoIterator<Item = (f64, Source)>) -> Source {
        let (weights, terms): (Vec<f64>, Vec<Source>) = terms.into_iter().unzip();
        let (start, first) = (self.constants(&[start]), self.constants(&weights));
        self.step(Step::Dot { start, first, terms: terms.into() })
    }

    /// A value of its own for every record, the same for all.
    pub fn fill(&mut self, number: f64) -> Source {
        self.dot(number, [])
    }

    /// weight·(value − centre), with two roundings.
    pub fn deviation(&mut self, weight: f64, value: Source, centre: f64) -> Source {
        let (centre, weight) = (self.number(centre), self.number(weight));
        let apart = self.sub(value, centre);
        self.mul(weight, apart)
    }

    /// (p + r·a)·(q + s·b).
    pub fn product(&mut self, (p, r, a): (f64, f64, Source), (q, s, b): (f64, f64, Source)) -> Source {
        let first = self.constants(&[p, r, q, s]);
        self.step(Step::Product([
            Line { start: first, weight: first + 1, value: a },
            Line { start: first + 2, weight: first + 3, value: b },
        ]))
    }

    /// A function of one value.
    pub fn unary(&mut self, function: Unary, a: impl Into<Operand>) -> Source {
        let a = self.place(a);
        self.step(Step::Unary(function, a))
    }

    /// −a, exactly.
    pub fn minus(&mut self, a: Source) -> Source {
        self.mul(-1.0, a)
    }

    /// A function of two values.
    pub fn binary(&mut self, function: Binary, a: impl Into<Operand>, b: impl Into<Operand>) -> Source {
        let (a, b) = (self.place(a), self.place(b));
        self.step(Step::Binary(function, a, b))
    }

    /// a + b.
    pub fn add(&mut self, a: impl Into<Operand>, b: impl Into<Operand>) -> Source {
        self.binary(Binary::Add, a, b)
    }

    /// a − b.
    pub fn sub(&mut self, a: impl Into<Operand>, b: impl Into<Operand>) -> Source {
        self.binary(Binary::Sub, a, b)
    }

    /// a·b.
    pub fn mul(&mut self, a: impl Into<Operand>, b: impl Into<Operand>) -> Source {
        self.binary(Binary::Mul, a, b)
    }

    /// a/b.
    pub fn div(&mut self, a: impl Into<Operand>, b: impl Into<Operand>) -> Source {
        self.binary(Binary::Div, a, b)
    }

    /// The smaller.
    pub fn min(&mut self, a: impl Into<Operand>, b: impl Into<Operand>) -> Source {
        self.binary(Binary::Min, a, b)
    }

    /// The larger.
    pub fn max(&mut self, a: impl Into<Operand>, b: impl Into<Operand>) -> Source {
        self.binary(Binary::Max, a, b)
    }

    /// a·b + c with one rounding.
    pub fn fused(&mut self, a: impl Into<Operand>, b: impl Into<Operand>, c: impl Into<Operand>) -> Source {
        let (a, b, c) = (self.place(a), self.place(b), self.place(c));
        self.step(Step::Fused(a, b, c))
    }

    /// `yes` where the condition is not 0, else `no`.
    pub fn select(&mut self, condition: Source, yes: impl Into<Operand>, no: impl Into<Operand>) -> Source {
        let (yes, no) = (self.place(yes), self.place(no));
        self.step(Step::Select(condition, yes, no))
    }

    /// `value` cut to ±`bound`; not a number becomes −`bound`.
    pub fn cut(&mut self, value: Source, bound: Source) -> Source {
        let zero = self.number(0.0);
        let minus = self.sub(zero, bound);
        // The machine's choice keeps its first operand where the comparison fails.
        let low = self.max(minus, value);
        self.min(low, bound)
    }

    /// The Euclidean length of a vector.
    pub fn length(&mut self, entries: &[Source]) -> Source {
        let mut square = self.fill(0.0);
        for entry in entries {
            square = self.fused(*entry, *entry, square);
        }
        self.unary(Unary::Sqrt, square)
    }

    /// A repetition of `count` rounds over values that are carried from round to round. `body` gets the carried values and says what they become;
    /// what is returned are their last values.
    pub fn repeat<const K: usize>(
        &mut self,
        count: u32,
        starts: [Source; K],
        body: impl FnOnce(&mut Self, [Source; K]) -> [Source; K],
    ) -> [Source; K] {
        self.step(Step::Begin { count });
        let carried = starts.map(|start| self.step(Step::Carry(start)));
        let next = body(self, carried);
        self.step(Step::End(next.into()));
        carried
    }

    /// [`repeat`](Writer::repeat) for any number of carried values.
    pub fn repeat_all(
        &mut self,
        count: u32,
        starts: &[Source],
        body: impl FnOnce(&mut Self, &[Source]) -> Vec<Source>,
    ) -> Vec<Source> {
        self.step(Step::Begin { count });
        let carried: Vec<Source> = starts.iter().map(|start| self.step(Step::Carry(*start))).collect();
        let next = body(self, &carried);
        self.step(Step::End(next.into()));
        carried
    }

    /// Keeps a value of every round; readable in later repetitions of the same count.
    pub fn keep(&mut self, value: Source) -> Source {
        match self.step(Step::Keep(value)) {
            Source::Step(step) => Source::Kept(step),
            other @ (Source::Column(_) | Source::Constant(_) | Source::Node(_) | Source::Kept(_)) => other,
        }
    }

    /// Appends all of a program; what it would hand out.
    pub fn append(&mut self, program: &Program) -> Vec<Source> {
        self.append_with(program, Source::Column)
    }

    /// Appends all of a program, whose columns are replaced by what `column` says; what it would hand out. Within a repetition it must have
    /// none of its own.
    pub fn append_with(&mut self, program: &Program, column: impl Fn(u32) -> Source) -> Vec<Source> {
        let constants = self.constants(program.constants());
        let mut results: Vec<Source> = Vec::with_capacity(program.steps().len());
        let map = |source: Source, results: &[Source]| match source {
            Source::Column(place) => column(place),
            Source::Step(step) => results[step as usize],
            Source::Constant(place) => Source::Constant(place + constants),
            Source::Node(place) => Source::Node(place + constants),
            Source::Kept(step) => match results[step as usize] {
                Source::Step(step) => Source::Kept(step),
                other @ (Source::Column(_) | Source::Constant(_) | Source::Node(_) | Source::Kept(_)) => {
                    other
                }
            },
        };
        for step in program.steps() {
            let moved = step.clone().with_sources(|source| map(source, &results));
            let moved = match moved {
                Step::Dot { start, first, terms } => {
                    Step::Dot { start: start + constants, first: first + constants, terms }
                }
                Step::Product(lines) => Step::Product(lines.map(|line| Line {
                    start: line.start + constants,
                    weight: line.weight + constants,
                    ..line
                })),
                Step::Gather { index, first, count } => {
                    Step::Gather { index, first: first + constants, count }
                }
                other @ (Step::Unary(..)
                | Step::Binary(..)
                | Step::Fused(..)
                | Step::Select(..)
                | Step::Begin { .. }
                | Step::Carry(_)
                | Step::Keep(_)
                | Step::End(_)) => other,
            };
            results.push(self.step(moved));
        }
        program.outputs().iter().map(|output| map(output.value(), &results)).collect()
    }

    /// Leaves out the steps whose results nothing reads.
    fn shorten(&mut self, outputs: &[Output]) {
        let mut read = vec![false; self.inside.len()];
        let mark = |source: Source, read: &mut [bool]| {
            if let Source::Step(step) | Source::Kept(step) = source
                && let Some(read) = read.get_mut(step as usize)
            {
                *read = true;
            }
        };
        outputs.iter().for_each(|output| mark(output.value(), &mut read));
        // From the end: a step is read by later ones alone, but for carried values, which stay.
        for (number, step) in self.steps.iter().rev() {
            if matches!(step, Step::Begin { .. } | Step::Carry(_) | Step::End(_)) {
                read[*number as usize] = true;
            }
            if read[*number as usize] {
                step.sources().into_iter().for_each(|source| mark(source, &mut read));
            }
        }
        self.steps.retain(|(number, _)| read[*number as usize]);
    }

    /// The program that hands out these.
    ///
    /// # Errors
    /// Those of [`Program::new`].
    pub fn finish(mut self, outputs: impl IntoIterator<Item = Output>) -> Result<Program, Unsound> {
        let outputs: Vec<Output> = outputs.into_iter().collect();
        self.shorten(&outputs);
        let mut places = vec![u32::MAX; self.inside.len()];
        for (place, (number, _)) in (0..).zip(&self.steps) {
            places[*number as usize] = place;
        }
        let place = |step: u32| places.get(step as usize).copied().unwrap_or(u32::MAX);
        let map = |source: Source| match source {
            Source::Step(step) => Source::Step(place(step)),
            Source::Kept(step) => Source::Kept(place(step)),
            Source::Column(_) | Source::Constant(_) | Source::Node(_) => source,
        };
        let steps = self.steps.into_iter().map(|(_, step)| step.with_sources(map)).collect();
        let outputs = outputs.into_iter().map(|output| output.with_value(map(output.value()))).collect();
        Program::new(steps, outputs, self.constants)
    }
}

#[cfg(test)]
mod tests;
