//! Carries what is asked from driver to worker: the public content of a question, as lists of numbers.

use super::wire::{Reader, length};
use crate::sums::coordinates::{Coordinate, Curve};
use crate::sums::sweep::Summed;
use crate::{Along, Asked, Centre, Clip, Precondition, Shape, Term};
use barkeep_machine::Program;
use barkeep_model::{CentredScore, ScoreBlock};

/// What is asked of a shard, with numbers of its own.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Carried {
    kind: Kind,
    /// What a gradient is mapped by, or which parameters a score is of.
    form: Form,
    /// The question's clip first, where it has one.
    numbers: Vec<f64>,
    lists: Vec<Vec<f64>>,
    coordinates: Vec<Coordinate>,
    most_rows: Option<u64>,
    /// What is asked over programs.
    program: Option<Programs>,
}

/// What a program question carries.
#[derive(Debug, Clone, PartialEq)]
enum Programs {
    Term(barkeep_machine::Term, Shape),
    Ratios(Vec<Program>),
}

/// What a shard is asked.
pub(super) enum Carry<'a> {
    /// How many records, or persons, there are.
    Count,
    LogRatios {
        from: &'a [f64],
        to: &'a [f64],
        along: Option<Along<'a>>,
        clip: Clip,
    },
    Term {
        term: Term<'a>,
        clip: Clip,
    },
    Candidates {
        reference: &'a [f64],
        candidates: &'a [f64],
        centre: f64,
        clip: Clip,
    },
    Ratio {
        program: &'a Program,
        clip: Clip,
    },
    Choices {
        programs: &'a [Program],
        centre: f64,
        clip: Clip,
    },
}

macro_rules! bytes {
    ($(#[$doc:meta])* $name:ident { $($variant:ident = $byte:literal),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq)]
        enum $name { $($variant),* }

        impl $name {
            fn byte(self) -> u8 {
                match self { $(Self::$variant => $byte),* }
            }

            fn of(byte: u8) -> Option<Self> {
                match byte { $($byte => Some(Self::$variant),)* _ => None }
            }
        }
    };
}

bytes! {
    /// What is asked, by the byte that stands for it.
    Kind {
        Count = 0, LogRatios = 1, Candidates = 2, Gradient = 3, Score = 4, Statistics = 5, Columns = 6, Gram = 7,
        Centred = 8, Tail = 9, Shifted = 10, Faults = 11, Expected = 12, Path = 13, Program = 14, Ratio = 15, Choices = 16,
    }
}

bytes! {
    /// How gradients are mapped, or which parameters a score is of.
    Form { None = 0, Identity = 1, Diagonal = 2, Dense = 3, Coefficients = 4, Nuisance = 5 }
}

impl Carried {
    /// The question how many records there are.
    pub(super) fn count() -> Self {
        Self::new(Kind::Count, Form::None, &[], &[])
    }

    fn new(kind: Kind, form: Form, numbers: &[f64], lists: &[&[f64]]) -> Self {
        let lists = lists.iter().map(|list| list.to_vec()).collect();
        Self {
            kind,
            form,
            numbers: numbers.to_vec(),
            lists,
            coordinates: Vec::new(),
            most_rows: None,
            program: None,
        }
    }

    fn programs(kind: Kind, numbers: &[f64], program: Programs) -> Self {
        Self { program: Some(program), ..Self::new(kind, Form::None, numbers, &[]) }
    }

    /// What is to be summed.
    pub(super) fn of(summed: Summed<'_>) -> Self {
        match summed {
            Summed::LogRatios { from, to, along: None, clip } => {
                Self::new(Kind::LogRatios, Form::None, &[clip.get()], &[from, to])
            }
            Summed::LogRatios { from, to, along: Some(along), clip } => {
                let Along { points, weights, clip: own } = along;
                let numbers = [clip.get(), own.get()];
                Self::new(Kind::Path, Form::None, &numbers, &[from, to, points, weights])
            }
            Summed::Candidates { reference, candidates, centre, clip } => {
                let numbers = [clip.get(), centre];
                Self::new(Kind::Candidates, Form::None, &numbers, &[reference, candidates])
            }
            Summed::Terms { term, clip, .. } => Self::of_term(term, clip.get()),
            Summed::Ratio { program, clip } => {
                Self::programs(Kind::Ratio, &[clip.get()], Programs::Ratios(vec![program.clone()]))
            }
            Summed::Choices { programs, centre, clip } => {
                let numbers = [clip.get(), centre];
                Self::programs(Kind::Choices, &numbers, Programs::Ratios(programs.to_vec()))
            }
        }
    }

    fn of_term(term: Term<'_>, clip: f64) -> Self {
        match term {
            Term::Gradient { theta, precondition } => {
                let (form, matrix) = mapped(precondition);
                Self::new(Kind::Gradient, form, &[clip], &[theta, matrix])
            }
            Term::Score { theta, precondition, weight } => {
                let (form, matrix) = mapped(precondition);
                Self::new(Kind::Score, form, &[clip, weight], &[theta, matrix])
            }
            Term::Statistics => Self::new(Kind::Statistics, Form::None, &[clip], &[]),
            Term::Columns { coordinates, most_rows } => {
                let coordinates = coordinates.to_vec();
                Self { coordinates, most_rows, ..Self::new(Kind::Columns, Form::None, &[clip], &[]) }
            }
            Term::Gram { coordinates, centres, spreads } => {
                let lists = [centres, spreads];
                let coordinates = coordinates.to_vec();
                Self { coordinates, ..Self::new(Kind::Gram, Form::None, &[clip], &lists) }
            }
            Term::Centred(score) => {
                let lists = [score.theta, score.whitening];
                Self::new(Kind::Centred, block(score), &[clip, score.clip], &lists)
            }
            Term::Tail { score, edges } => {
                let lists = [score.theta, score.whitening, edges];
                Self::new(Kind::Tail, block(score), &[clip, score.clip], &lists)
            }
            Term::Shifted { theta, precondition, clip: own, centre } => {
                let (form, matrix) = mapped(precondition);
                match centre {
                    Centre::Same(centre) => {
                        Self::new(Kind::Shifted, form, &[clip, own], &[theta, matrix, centre])
                    }
                    Centre::Expected => Self::new(Kind::Expected, form, &[clip, own], &[theta, matrix]),
                }
            }
            Term::Faults => Self::new(Kind::Faults, Form::None, &[clip], &[]),
            Term::Program(Asked { term, shape }) => {
                Self::programs(Kind::Program, &[clip], Programs::Term(term.clone(), shape))
            }
        }
    }

    /// What is asked; none where the parts do not make a question.
    pub(super) fn asked(&self) -> Option<Carry<'_>> {
        if self.kind == Kind::Count {
            return Some(Carry::Count);
        }
        let number = |place: usize| self.numbers.get(place).copied();
        let list = |place: usize| self.lists.get(place).map(Vec::as_slice);
        let clip = Clip::new(number(0)?).ok()?;
        let coordinates = &self.coordinates[..];
        let term = match self.kind {
            Kind::Count => return Some(Carry::Count),
            Kind::LogRatios => {
                return Some(Carry::LogRatios { from: list(0)?, to: list(1)?, along: None, clip });
            }
            Kind::Path => {
                let own = Clip::new(number(1)?).ok()?;
                let along = Some(Along { points: list(2)?, weights: list(3)?, clip: own });
                return Some(Carry::LogRatios { from: list(0)?, to: list(1)?, along, clip });
            }
            Kind::Candidates => {
                let (reference, candidates, centre) = (list(0)?, list(1)?, number(1)?);
                return Some(Carry::Candidates { reference, candidates, centre, clip });
            }
            Kind::Gradient => Term::Gradient { theta: list(0)?, precondition: self.precondition(list(1)?)? },
            Kind::Score => Term::Score {
                theta: list(0)?,
                precondition: self.precondition(list(1)?)?,
                weight: number(1)?,
            },
            Kind::Statistics => Term::Statistics,
            Kind::Columns => Term::Columns { coordinates, most_rows: self.most_rows },
            Kind::Gram => Term::Gram { coordinates, centres: list(0)?, spreads: list(1)? },
            Kind::Centred => Term::Centred(self.score(list(0)?, list(1)?, number(1)?)?),
            Kind::Tail => Term::Tail { score: self.score(list(0)?, list(1)?, number(1)?)?, edges: list(2)? },
            Kind::Shifted => Term::Shifted {
                theta: list(0)?,
                precondition: self.precondition(list(1)?)?,
                clip: number(1)?,
                centre: Centre::Same(list(2)?),
            },
            Kind::Expected => Term::Shifted {
                theta: list(0)?,
                precondition: self.precondition(list(1)?)?,
                clip: number(1)?,
                centre: Centre::Expected,
            },
            Kind::Faults => Term::Faults,
            Kind::Program => match self.program.as_ref()? {
                Programs::Term(term, shape) => Term::Program(Asked { term, shape: *shape }),
                Programs::Ratios(_) => return None,
            },
            Kind::Ratio => match self.program.as_ref()? {
                Programs::Ratios(programs) => {
                    return Some(Carry::Ratio { program: programs.first()?, clip });
                }
                Programs::Term(..) => return None,
            },
            Kind::Choices => match self.program.as_ref()? {
                Programs::Ratios(programs) => {
                    return Some(Carry::Choices { programs, centre: number(1)?, clip });
                }
                Programs::Term(..) => return None,
            },
        };
        Some(Carry::Term { term, clip })
    }

    fn precondition<'a>(&self, matrix: &'a [f64]) -> Option<Precondition<'a>> {
        match self.form {
            Form::Identity => Some(Precondition::Identity),
            Form::Diagonal => Some(Precondition::Diagonal(matrix)),
            Form::Dense => Some(Precondition::Dense(matrix)),
            Form::None | Form::Coefficients | Form::Nuisance => None,
        }
    }

    fn score<'a>(&self, theta: &'a [f64], whitening: &'a [f64], clip: f64) -> Option<CentredScore<'a>> {
        let block = match self.form {
            Form::Coefficients => ScoreBlock::Coefficients,
            Form::Nuisance => ScoreBlock::Nuisance,
            Form::None | Form::Identity | Form::Diagonal | Form::Dense => return None,
        };
        Some(CentredScore { theta, block, whitening, clip })
    }

    /// Appends it to bytes.
    pub(super) fn write(&self, bytes: &mut Vec<u8>) {
        bytes.extend([self.kind.byte(), self.form.byte()]);
        write_list(bytes, &self.numbers);
        length(bytes, self.lists.len());
        self.lists.iter().for_each(|list| write_list(bytes, list));
        length(bytes, self.coordinates.len());
        for one in &self.coordinates {
            let (curve, number, column) = match one.curve {
                Curve::Line => (0, 0.0, None),
                Curve::Log { plus } => (1, plus, None),
                Curve::Root => (2, 0.0, None),
                Curve::Share { column, fixed } => (3, fixed, column),
            };
            bytes.extend([curve, u8::from(one.squared)]);
            bytes.extend((one.column as u64).to_le_bytes());
            write_option(bytes, column.map(|column| column as u64));
            for number in [number, one.scale, one.shift] {
                bytes.extend(number.to_bits().to_le_bytes());
            }
        }
        write_option(bytes, self.most_rows);
        match &self.program {
            None => bytes.push(0),
            Some(Programs::Term(term, shape)) => {
                bytes.push(1);
                write_shape(bytes, *shape);
                bytes.extend(term.to_bytes());
            }
            Some(Programs::Ratios(programs)) => {
                bytes.push(2);
                length(bytes, programs.len());
                programs.iter().for_each(|program| bytes.extend(program.to_bytes()));
            }
        }
    }

    /// Reads what [`Carried::write`] wrote, to the end; none where it is something else.
    pub(super) fn read(mut reader: Reader<'_>) -> Option<Self> {
        let reader = &mut reader;
        let (kind, form) = (Kind::of(reader.byte()?)?, Form::of(reader.byte()?)?);
        let numbers = read_list(reader)?;
        let lists = (0..reader.four()?).map(|_| read_list(reader)).collect::<Option<_>>()?;
        let coordinates = (0..reader.four()?).map(|_| read_coordinate(reader)).collect::<Option<_>>()?;
        let most_rows = read_option(reader)?;
        let program = match reader.byte()? {
            0 => None,
            1 => {
                let shape = read_shape(reader)?;
                Some(Programs::Term(
                    reader.read(|bytes| barkeep_machine::Term::from_bytes(bytes).ok())?,
                    shape,
                ))
            }
            2 => {
                let programs =
                    (0..reader.four()?).map(|_| reader.read(|bytes| Program::from_bytes(bytes).ok()));
                Some(Programs::Ratios(programs.collect::<Option<_>>()?))
            }
            _ => return None,
        };
        reader.is_at_end().then_some(Self { kind, form, numbers, lists, coordinates, most_rows, program })
    }
}

fn mapped(precondition: Precondition<'_>) -> (Form, &[f64]) {
    match precondition {
        Precondition::Identity => (Form::Identity, &[]),
        Precondition::Diagonal(entries) => (Form::Diagonal, entries),
        Precondition::Dense(entries) => (Form::Dense, entries),
    }
}

fn block(score: CentredScore<'_>) -> Form {
    match score.block {
        ScoreBlock::Coefficients => Form::Coefficients,
        ScoreBlock::Nuisance => Form::Nuisance,
    }
}

fn write_shape(bytes: &mut Vec<u8>, shape: Shape) {
    let (kind, numbers) = match shape {
        Shape::Ball => (0, [0.0; 2]),
        Shape::Interval { low, high } => (1, [low, high]),
        Shape::Positive => (2, [0.0; 2]),
        Shape::Outer => (3, [0.0; 2]),
        Shape::Indexed { low, high } => (4, [low, high]),
        Shape::ByGroup { threshold } => (5, [threshold, 0.0]),
    };
    bytes.push(kind);
    numbers.iter().for_each(|number| bytes.extend(number.to_bits().to_le_bytes()));
}

fn read_shape(reader: &mut Reader<'_>) -> Option<Shape> {
    let (kind, first, second) = (reader.byte()?, reader.number()?, reader.number()?);
    Some(match kind {
        0 => Shape::Ball,
        1 => Shape::Interval { low: first, high: second },
        2 => Shape::Positive,
        3 => Shape::Outer,
        4 => Shape::Indexed { low: first, high: second },
        5 => Shape::ByGroup { threshold: first },
        _ => return None,
    })
}

fn write_list(bytes: &mut Vec<u8>, list: &[f64]) {
    length(bytes, list.len());
    list.iter().for_each(|number| bytes.extend(number.to_bits().to_le_bytes()));
}

fn read_list(reader: &mut Reader<'_>) -> Option<Vec<f64>> {
    (0..reader.four()?).map(|_| reader.number()).collect()
}

fn write_option(bytes: &mut Vec<u8>, option: Option<u64>) {
    bytes.push(u8::from(option.is_some()));
    bytes.extend(option.unwrap_or(0).to_le_bytes());
}

fn read_option(reader: &mut Reader<'_>) -> Option<Option<u64>> {
    let (is_some, number) = (reader.byte()?, reader.eight()?);
    match is_some {
        0 => Some(None),
        1 => Some(Some(number)),
        _ => None,
    }
}

fn read_coordinate(reader: &mut Reader<'_>) -> Option<Coordinate> {
    let (curve, squared) = (reader.byte()?, reader.byte()? == 1);
    let column = usize::try_from(reader.eight()?).ok()?;
    let other = match read_option(reader)? {
        Some(other) => Some(usize::try_from(other).ok()?),
        None => None,
    };
    let (number, scale, shift) = (reader.number()?, reader.number()?, reader.number()?);
    let curve = match curve {
        0 => Curve::Line,
        1 => Curve::Log { plus: number },
        2 => Curve::Root,
        3 => Curve::Share { column: other, fixed: number },
        _ => return None,
    };
    Some(Coordinate { column, curve, scale, shift, squared })
}
