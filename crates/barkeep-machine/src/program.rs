//! Defines programs and checks them once: what passes here can be run over any records.

mod assign;

use std::sync::Arc;

use crate::op::{Binary, Unary};
use assign::assign;

/// The most entries that programs write densely: up to here the clip of a sum is proved.
pub const MOST_WIDTH: usize = 1 << 12;

/// The most levels of an index.
pub const MOST_LEVELS: usize = 1 << 20;

/// The most instructions that one tile may take, repetitions counted.
const MOST_WORK: u64 = 1 << 22;

/// Where an instruction reads one number per record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// A column of the block.
    Column(u32),
    /// The result of an earlier step.
    Step(u32),
    /// The same number for every record.
    Constant(u32),
    /// Within a repetition: the constant at this place, one further in every round.
    Node(u32),
    /// Within a repetition: what a [`Step::Keep`] of an earlier one of the same count kept in this round.
    Kept(u32),
}

/// start + weight·value, the first two constants.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Line {
    /// The place of the constant that is added.
    pub start: u32,
    /// The place of the factor.
    pub weight: u32,
    /// The value.
    pub value: Source,
}

/// One instruction: what it computes for each record.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// A constant, plus constants times values, each product added in order with one rounding. Neighbouring columns that a block keeps as one
    /// index are looked up in their weights.
    Dot {
        /// The place of the constant.
        start: u32,
        /// The place of the first weight; the others follow it.
        first: u32,
        /// The values.
        terms: Box<[Source]>,
    },
    /// The product of two lines, each with one rounding.
    Product([Line; 2]),
    /// A function of one value.
    Unary(Unary, Source),
    /// A function of two values.
    Binary(Binary, Source, Source),
    /// a·b + c with one rounding.
    Fused(Source, Source, Source),
    /// The second value where the first is not 0, else the third.
    Select(Source, Source, Source),
    /// An entry of a run of constants, by its [place](crate::place).
    Gather {
        /// The value that names the entry.
        index: Source,
        /// The place of the first entry.
        first: u32,
        /// The number of entries.
        count: u32,
    },
    /// Starts a repetition of the steps up to the next [`Step::End`]. Repetitions do not nest.
    Begin {
        /// The number of rounds.
        count: u32,
    },
    /// A value that is carried from round to round, right after [`Step::Begin`]: this in the first round.
    Carry(Source),
    /// Keeps a value of every round for later repetitions.
    Keep(Source),
    /// Ends a repetition: what each carried value becomes in the next round and, after the last, for the steps that follow.
    End(Box<[Source]>),
}

/// What leaves a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Output {
    /// One entry.
    Dense(Source),
    /// `count` entries: the value at the place of the one of these neighbouring columns that is 1, 0 at the others. The columns hold 0 and 1,
    /// and at most one of them 1.
    Levels {
        /// The value.
        value: Source,
        /// The first of the columns.
        column: u32,
        /// Their number.
        count: u32,
    },
    /// `count` entries: the value at the [place](crate::place) that a column names, 0 at the others.
    By {
        /// The value.
        value: Source,
        /// The column that names the place.
        column: u32,
        /// The number of places.
        count: u32,
    },
}

impl Output {
    /// The number of entries.
    #[must_use]
    pub fn width(self) -> usize {
        match self {
            Self::Dense(_) => 1,
            Self::Levels { count, .. } | Self::By { count, .. } => count as usize,
        }
    }

    /// The value.
    #[must_use]
    pub fn value(self) -> Source {
        match self {
            Self::Dense(value) | Self::Levels { value, .. } | Self::By { value, .. } => value,
        }
    }

    /// The same output of another value.
    pub(crate) fn with_value(self, value: Source) -> Self {
        match self {
            Self::Dense(_) => Self::Dense(value),
            Self::Levels { column, count, .. } => Self::Levels { value, column, count },
            Self::By { column, count, .. } => Self::By { value, column, count },
        }
    }
}

/// Why a program is refused. Follows from the program alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a program {0}")]
pub struct Unsound(pub(crate) &'static str);

/// Steps that were checked, and where their results go.
#[derive(Debug, PartialEq)]
pub(crate) struct Code {
    pub(crate) steps: Vec<Step>,
    pub(crate) outputs: Vec<Output>,
    /// The register of each step's result.
    pub(crate) places: Vec<u32>,
    pub(crate) registers: usize,
    /// The columns it reads, ascending.
    pub(crate) columns: Vec<u32>,
    /// The number of constants it was checked with.
    constants: usize,
}

/// A checked program: public data, the same for every record.
///
/// **Privacy.** Holds no record. Cloning shares the steps.
#[derive(Debug, Clone, PartialEq)]
pub struct Program {
    pub(crate) code: Arc<Code>,
    pub(crate) constants: Vec<f64>,
}

impl Program {
    /// Checks steps and outputs.
    ///
    /// # Errors
    /// [`Unsound`] where a step reads what is not computed before it, a constant that is not there, or more than the limits of this module.
    pub fn new(steps: Vec<Step>, outputs: Vec<Output>, constants: Vec<f64>) -> Result<Self, Unsound> {
        let mut columns = check(&steps, &outputs, constants.len())?;
        columns.sort_unstable();
        columns.dedup();
        let (places, registers) = assign(&steps, &outputs);
        let code = Code { steps, outputs, places, registers, columns, constants: constants.len() };
        Ok(Self { code: Arc::new(code), constants })
    }

    /// The same steps with other constants, as many as before.
    ///
    /// # Errors
    /// [`Unsound`] for another number of constants.
    pub fn with_constants(&self, constants: Vec<f64>) -> Result<Self, Unsound> {
        if constants.len() != self.code.constants {
            return Err(Unsound("has another number of constants"));
        }
        Ok(Self { code: Arc::clone(&self.code), constants })
    }

    /// Its steps.
    #[must_use]
    pub fn steps(&self) -> &[Step] {
        &self.code.steps
    }

    /// What leaves it.
    #[must_use]
    pub fn outputs(&self) -> &[Output] {
        &self.code.outputs
    }

    /// Its constants.
    #[must_use]
    pub fn constants(&self) -> &[f64] {
        &self.constants
    }

    /// The number of entries of a record's outputs.
    #[must_use]
    pub fn width(&self) -> usize {
        self.code.outputs.iter().map(|output| output.width()).sum()
    }

    /// The columns it reads, ascending.
    #[must_use]
    pub fn columns(&self) -> &[u32] {
        &self.code.columns
    }
}

/// What is known of the steps before one.
struct Checked {
    /// For each step, the repetition it is in, counted from 1, or 0; and what later steps may read of it.
    results: Vec<(u32, Left)>,
    /// The repetition that is open, with its count.
    open: Option<(u32, u32)>,
    constants: usize,
    columns: Vec<u32>,
}

/// What a step leaves.
#[derive(Clone, Copy, PartialEq)]
enum Left {
    /// A value, gone when its repetition ends.
    Value,
    /// A value that outlives its repetition.
    Carried,
    /// As many values as the repetition has rounds.
    Kept(u32),
    Nothing,
}

impl Checked {
    fn source(&mut self, source: Source) -> Result<(), Unsound> {
        let is_there = match source {
            Source::Column(column) => {
                self.columns.push(column);
                column < u32::MAX
            }
            Source::Constant(place) => (place as usize) < self.constants,
            Source::Step(step) => match self.results.get(step as usize) {
                Some((_, Left::Carried)) => true,
                Some((inside, Left::Value)) => {
                    *inside == 0 || self.open.is_some_and(|(open, _)| open == *inside)
                }
                Some((_, Left::Kept(_) | Left::Nothing)) | None => false,
            },
            Source::Node(first) => {
                self.open.is_some_and(|(_, count)| first as usize + count as usize <= self.constants)
            }
            Source::Kept(step) => match (self.results.get(step as usize), self.open) {
                (Some((inside, Left::Kept(kept))), Some((open, count))) => *kept == count && *inside != open,
                (Some(_) | None, _) => false,
            },
        };
        if is_there { Ok(()) } else { Err(Unsound("reads what is not there before it")) }
    }

    fn constants(&self, first: u32, count: usize) -> Result<(), Unsound> {
        let end = (first as usize).checked_add(count);
        if end.is_some_and(|end| end <= self.constants) {
            Ok(())
        } else {
            Err(Unsound("reads constants that are not there"))
        }
    }
}

/// Checks all steps in order; the columns they read.
fn check(steps: &[Step], outputs: &[Output], constants: usize) -> Result<Vec<u32>, Unsound> {
    if u32::try_from(steps.len()).is_err() || u32::try_from(constants).is_err() {
        return Err(Unsound("is too long"));
    }
    let mut known =
        Checked { results: Vec::with_capacity(steps.len()), open: None, constants, columns: Vec::new() };
    let (mut repetitions, mut carried, mut work) = (0, 0, 0_u64);
    // Carried values stand right after the start of their repetition.
    let mut may_carry = false;
    for step in steps {
        work += known.open.map_or(1, |(_, count)| u64::from(count));
        let here = known.open.map_or(0, |(open, _)| open);
        let mut left = Left::Value;
        let carries = matches!(step, Step::Begin { .. }) || (may_carry && matches!(step, Step::Carry(_)));
        match step {
            Step::Dot { start, first, terms } => {
                known.constants(*start, 1)?;
                known.constants(*first, terms.len())?;
                terms.iter().try_for_each(|term| known.source(*term))?;
            }
            Step::Product(lines) => {
                for line in lines {
                    known.constants(line.start, 1)?;
                    known.constants(line.weight, 1)?;
                    known.source(line.value)?;
                }
            }
            Step::Unary(_, a) => known.source(*a)?,
            Step::Binary(_, a, b) => [*a, *b].into_iter().try_for_each(|source| known.source(source))?,
            Step::Fused(a, b, c) | Step::Select(a, b, c) => {
                [*a, *b, *c].into_iter().try_for_each(|source| known.source(source))?;
            }
            Step::Gather { index, first, count } => {
                if *count == 0 {
                    return Err(Unsound("looks up in an empty table"));
                }
                known.constants(*first, *count as usize)?;
                known.source(*index)?;
            }
            Step::Begin { count } => {
                if known.open.is_some() || *count == 0 {
                    return Err(Unsound("nests repetitions, or has one of no rounds"));
                }
                repetitions += 1;
                known.open = Some((repetitions, *count));
                (carried, left) = (0, Left::Nothing);
            }
            Step::Carry(start) => {
                if !may_carry {
                    return Err(Unsound("carries a value elsewhere than at the start of a repetition"));
                }
                // In the first round what was there before the repetition.
                if let Source::Step(step) = start
                    && known.results.get(*step as usize).is_some_and(|(inside, _)| *inside == here)
                {
                    return Err(Unsound("carries a value of its own repetition"));
                }
                known.source(*start)?;
                carried += 1;
                left = Left::Carried;
            }
            Step::Keep(value) => {
                known.source(*value)?;
                let (_, count) = known.open.ok_or(Unsound("keeps a value outside of a repetition"))?;
                work += u64::from(count);
                left = Left::Kept(count);
            }
            Step::End(next) => {
                if known.open.is_none() || next.len() != carried {
                    return Err(Unsound("ends a repetition that does not fit"));
                }
                for value in next {
                    known.source(*value)?;
                    // Neither a carried value, which may have been replaced already, nor what is there once.
                    let own = match value {
                        Source::Step(step) => known.results[*step as usize] == (here, Left::Value),
                        Source::Column(_) | Source::Constant(_) | Source::Node(_) | Source::Kept(_) => false,
                    };
                    if !own {
                        return Err(Unsound("carries on what the repetition did not compute"));
                    }
                }
                (known.open, left) = (None, Left::Nothing);
            }
        }
        may_carry = carries;
        known.results.push((here, left));
    }
    if known.open.is_some() {
        return Err(Unsound("does not end its repetition"));
    }
    let mut dense = 0_usize;
    for output in outputs {
        known.source(output.value())?;
        if !matches!(output.value(), Source::Column(_) | Source::Step(_)) {
            return Err(Unsound("hands out what is no value of a record"));
        }
        match *output {
            Output::Dense(_) => dense += 1,
            Output::Levels { column, count, .. } => {
                dense += count as usize;
                if column.checked_add(count).is_none() {
                    return Err(Unsound("reads columns that cannot be"));
                }
                known.columns.extend(column..column + count.min(1 << 16));
            }
            Output::By { column, count, .. } => {
                if !(1..=MOST_LEVELS).contains(&(count as usize)) {
                    return Err(Unsound("has more levels than a million"));
                }
                known.columns.push(column);
            }
        }
    }
    if dense > MOST_WIDTH || work > MOST_WORK {
        return Err(Unsound("is larger than the machine runs"));
    }
    Ok(known.columns)
}

#[cfg(test)]
mod tests;
