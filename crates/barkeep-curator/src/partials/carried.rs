//! Carries what is asked from driver to worker, in bytes: programs, shape and clip, all of them public.

use super::wire::{Reader, length};
use crate::sums::terms::Summed;
use crate::{Asked, Clip, Shape};
use barkeep_machine::{Program, Term};

/// What a shard is asked, with programs of its own.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Carried {
    /// How many records, or persons, there are.
    Count,
    Ratio {
        program: Program,
        clip: Clip,
    },
    Term {
        term: Term,
        shape: Shape,
        clip: Clip,
    },
    Faults,
    Choices {
        programs: Vec<Program>,
        centre: f64,
        clip: Clip,
    },
}

impl Carried {
    /// What is to be summed.
    pub(super) fn of(summed: Summed<'_>) -> Self {
        match summed {
            Summed::Ratio { program, clip } => Self::Ratio { program: program.clone(), clip },
            Summed::Term { asked: Asked { term, shape }, clip } => {
                Self::Term { term: term.clone(), shape, clip }
            }
            Summed::Faults => Self::Faults,
            Summed::Choices { programs, centre, clip } => {
                Self::Choices { programs: programs.to_vec(), centre, clip }
            }
        }
    }

    /// What is to be summed; none where records are only counted.
    pub(super) fn summed(&self) -> Option<Summed<'_>> {
        match self {
            Self::Count => None,
            Self::Ratio { program, clip } => Some(Summed::Ratio { program, clip: *clip }),
            Self::Term { term, shape, clip } => {
                Some(Summed::Term { asked: Asked { term, shape: *shape }, clip: *clip })
            }
            Self::Faults => Some(Summed::Faults),
            Self::Choices { programs, centre, clip } => {
                Some(Summed::Choices { programs, centre: *centre, clip: *clip })
            }
        }
    }

    /// Appends it to bytes: one for the kind, then what the kind has.
    pub(super) fn write(&self, bytes: &mut Vec<u8>) {
        match self {
            Self::Count => bytes.push(0),
            Self::Ratio { program, clip } => {
                bytes.push(1);
                write_numbers(bytes, [clip.get()]);
                bytes.extend(program.to_bytes());
            }
            Self::Term { term, shape, clip } => {
                bytes.push(2);
                write_numbers(bytes, [clip.get()]);
                write_shape(bytes, *shape);
                bytes.extend(term.to_bytes());
            }
            Self::Faults => bytes.push(3),
            Self::Choices { programs, centre, clip } => {
                bytes.push(4);
                write_numbers(bytes, [clip.get(), *centre]);
                length(bytes, programs.len());
                programs.iter().for_each(|program| bytes.extend(program.to_bytes()));
            }
        }
    }

    /// Reads what [`Carried::write`] wrote, to the end; none where it is something else.
    pub(super) fn read(mut reader: Reader<'_>) -> Option<Self> {
        let reader = &mut reader;
        let carried = match reader.byte()? {
            0 => Self::Count,
            1 => Self::Ratio { clip: read_clip(reader)?, program: read_program(reader)? },
            2 => Self::Term {
                clip: read_clip(reader)?,
                shape: read_shape(reader)?,
                term: reader.read(|bytes| Term::from_bytes(bytes).ok())?,
            },
            3 => Self::Faults,
            4 => Self::Choices {
                clip: read_clip(reader)?,
                centre: reader.number()?,
                programs: (0..reader.four()?).map(|_| read_program(reader)).collect::<Option<_>>()?,
            },
            _ => return None,
        };
        reader.is_at_end().then_some(carried)
    }
}

fn read_clip(reader: &mut Reader<'_>) -> Option<Clip> {
    Clip::new(reader.number()?).ok()
}

fn read_program(reader: &mut Reader<'_>) -> Option<Program> {
    reader.read(|bytes| Program::from_bytes(bytes).ok())
}

fn write_numbers<const N: usize>(bytes: &mut Vec<u8>, numbers: [f64; N]) {
    numbers.iter().for_each(|number| bytes.extend(number.to_bits().to_le_bytes()));
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
    write_numbers(bytes, numbers);
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
