//! Says what a question adds up over records, and checks it against the columns and the unit: all of it public.

use crate::error::question;
use crate::lattice::{MOST_DIMENSIONS, Shape, gram, gram_width};
use crate::{Clip, Refused};
use barkeep_data::Unit;
use barkeep_machine::{Fold, Output, Program, Source, Step};

/// What a [`Sum`](crate::Sum) adds up over records.
#[derive(Debug, Clone, Copy)]
pub enum Term<'a> {
    /// What a program writes of each record or person, cut to a shape. The answer has one entry for each entry of the program's outputs. There
    /// are two exceptions: [`Shape::Outer`] has [`gram_width`] entries, [`Shape::ByGroup`] has one.
    Program(Asked<'a>),
    /// How many cells of each column of the file were invalid, and how many were clamped: two numbers per column, at the clip
    /// of [`faults_clip`](crate::faults_clip). barkeep counted them while it read the file, so this asks all records.
    Faults,
}

/// What a program writes of each record or person, and the set that the result is cut to.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// The programs over rows and units. They decide what the answer means, and nothing about its price.
    pub term: &'a barkeep_machine::Term,
    /// The set that one record's or person's contribution is cut to. The price depends on it alone, whatever the programs write.
    pub shape: Shape,
}

/// What is added up over the records, clip included; checked, and all of it public.
#[derive(Clone, Copy)]
pub(crate) enum Summed<'a> {
    /// Clipped numbers that a program writes, into the workers' moments.
    Ratio { program: &'a Program, clip: Clip },
    /// What a term writes, cut to its shape, entry by entry into the workers' sums.
    Term { asked: Asked<'a>, clip: Clip },
    /// What was counted while the records were read, into the first worker's sums.
    Faults,
    /// Clipped numbers less `centre`, program by program into the workers' sums.
    Choices { programs: &'a [Program], centre: f64, clip: Clip },
}

impl<'a> Summed<'a> {
    /// The programs that run over rows.
    pub(crate) fn programs(self) -> &'a [Program] {
        match self {
            Self::Ratio { program, .. } => std::slice::from_ref(program),
            Self::Choices { programs, .. } => programs,
            Self::Term { asked, .. } => std::slice::from_ref(&asked.term.row),
            Self::Faults => &[],
        }
    }

    /// Whether the sum goes to the workers' moments.
    pub(crate) fn is_scalar(self) -> bool {
        match self {
            Self::Ratio { .. } => true,
            Self::Term { .. } | Self::Faults | Self::Choices { .. } => false,
        }
    }
}

/// The number of entries of a sum's answer, and of the sums over records that it is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Widths {
    pub(crate) answer: usize,
    pub(crate) sums: usize,
}

impl<'a> Term<'a> {
    /// Checks the term against records of this many columns. `faults` is the number of sums of faults, where they were counted.
    ///
    /// # Errors
    /// As [`Asked::check`], and [`Refused::Question`] for faults that were not counted.
    pub(crate) fn check(self, columns: usize, unit: Unit, faults: Option<usize>) -> Result<Widths, Refused> {
        match self {
            Self::Program(asked) => asked.check(columns, unit),
            Self::Faults => faults
                .map(|width| Widths { answer: width, sums: width })
                .ok_or(question("term", "a program where the table did not count its faults")),
        }
    }

    /// What it adds up at this clip.
    pub(crate) fn at(self, clip: Clip) -> Summed<'a> {
        match self {
            Self::Program(asked) => Summed::Term { asked, clip },
            Self::Faults => Summed::Faults,
        }
    }

    /// Whether entry `k` of the answer is a product of two different coordinates, which gets less noise.
    pub(crate) fn is_pair(self, k: usize) -> bool {
        match self {
            Self::Program(Asked { term, shape: Shape::Outer }) => !gram::is_square(k, term.width()),
            Self::Program(_) | Self::Faults => false,
        }
    }

    /// Entry `k` of the answer, in lattice steps, before noise.
    ///
    /// # Errors
    /// As [`Shape::between_groups`]: none for a question that was charged.
    pub(crate) fn entry(self, k: usize, clip: Clip, sums: &[i64]) -> Result<i128, Refused> {
        match self {
            Self::Program(Asked { shape: shape @ Shape::ByGroup { .. }, .. }) => {
                shape.between_groups(clip, sums)
            }
            Self::Program(_) | Self::Faults => Ok(sums.get(k).copied().unwrap_or(0).into()),
        }
    }
}

/// The most entries of an answer.
const MOST_ENTRIES: usize = 1 << 22;

impl Asked<'_> {
    /// Checks the programs against the columns, the shape and the unit.
    ///
    /// # Errors
    /// [`Refused::Question`] for a program that reads columns that are not there, and for outputs that do not fit the shape or the unit.
    pub(crate) fn check(self, columns: usize, unit: Unit) -> Result<Widths, Refused> {
        let Self { term, shape } = self;
        check_columns(&term.row, columns)?;
        let outputs = term.outputs();
        let width = term.width();
        let by_level = |output: &Output| matches!(output, Output::By { .. });
        let most_rows = match unit {
            Unit::Record => 1,
            Unit::Person { most_rows } => most_rows.unwrap_or(u64::MAX),
        };
        // Where a unit has one place for each output.
        let is_one = most_rows == 1 || term.unit.is_some();
        let fits = match shape {
            Shape::Ball | Shape::Positive => {
                let sparse = outputs.iter().filter(|output| by_level(output)).count() as u64;
                let dense: usize =
                    outputs.iter().filter(|output| !by_level(output)).map(|one| one.width()).sum();
                let places = sparse.saturating_mul(if is_one { 1 } else { most_rows });
                places.saturating_add(dense as u64) <= MOST_DIMENSIONS as u64
            }
            Shape::Interval { .. } => matches!(outputs, [Output::Dense(_)]),
            Shape::Outer => {
                let dense = outputs.iter().all(|output| matches!(output, Output::Dense(_)));
                dense && term.unit.is_none() && (most_rows == 1 || term.fold == Fold::Mean)
            }
            Shape::Indexed { .. } | Shape::ByGroup { .. } => {
                is_one && matches!(outputs, [Output::Levels { .. } | Output::By { .. }])
            }
        };
        if !fits || !(1..=MOST_ENTRIES).contains(&width) {
            return Err(question(
                "term",
                "of outputs that fit the shape: at most 4096 that a unit can have, one for an interval, by level where one goes to its place, \
                 and few enough rows of a person",
            ));
        }
        Ok(match shape {
            Shape::Ball | Shape::Positive | Shape::Interval { .. } | Shape::Indexed { .. } => {
                Widths { answer: width, sums: width }
            }
            Shape::Outer => Widths { answer: gram_width(width), sums: gram_width(width) },
            // After the groups the two halves of the squares.
            Shape::ByGroup { .. } => Widths { answer: 1, sums: width + 2 },
        })
    }
}

/// A program with one number for each record, of columns that are there.
///
/// # Errors
/// [`Refused::Question`] otherwise.
pub(crate) fn check_ratio(program: &Program, columns: usize) -> Result<(), Refused> {
    check_columns(program, columns)?;
    if matches!(program.outputs(), [Output::Dense(_)]) {
        Ok(())
    } else {
        Err(question("ratio", "a program with one output"))
    }
}

fn check_columns(program: &Program, columns: usize) -> Result<(), Refused> {
    if reads(program) <= columns {
        Ok(())
    } else {
        Err(question("data.columns", "at least as many as the program reads"))
    }
}

/// The number of columns a program reads, the first ones.
pub(crate) fn reads(program: &Program) -> usize {
    program.columns().last().map_or(0, |last| *last as usize + 1)
}

/// Whether a program can take levels by their index, `levels` being the number of columns from one on that are kept so: it reads
/// them in sums and as outputs by level alone, and those in whole.
pub(crate) fn takes_levels(program: &Program, levels: impl Fn(u32) -> usize) -> bool {
    let is_plain = |source: &Source| !matches!(source, Source::Column(column) if levels(*column) > 0);
    let steps = program.steps().iter().all(|step| match step {
        Step::Dot { .. } | Step::Begin { .. } => true,
        Step::Product(lines) => lines.iter().all(|line| is_plain(&line.value)),
        Step::Unary(_, a) | Step::Carry(a) | Step::Keep(a) | Step::Gather { index: a, .. } => is_plain(a),
        Step::Binary(_, a, b) => is_plain(a) && is_plain(b),
        Step::Fused(a, b, c) | Step::Select(a, b, c) => is_plain(a) && is_plain(b) && is_plain(c),
        Step::End(next) => next.iter().all(is_plain),
    });
    steps
        && program.outputs().iter().all(|output| {
            is_plain(&output.value())
                && match *output {
                    Output::Dense(_) => true,
                    Output::By { column, .. } => levels(column) == 0,
                    Output::Levels { column, count, .. } => {
                        levels(column) >= count as usize
                            || (column..column + count).all(|column| levels(column) == 0)
                    }
                }
        })
}
