//! Names a question by a hash, so that a kept answer is given to the question it answers and to no other.

use barkeep_curator::{
    Along, AnyQuestion, Asked, Centre, Choose, Coordinate, Curve, Decide, LogRatio, LogRatios, Precondition,
    Shape, Sum, Term,
};
use barkeep_model::{CentredScore, ScoreBlock};
use serde::Serialize;
use sha2::{Digest, Sha256};

/// The first half of a SHA-256.
pub(super) type Identity = [u8; 16];

/// The name of a question: equal questions have equal names, and no two different ones are known to share one.
///
/// Every field is written in turn, numbers by their bits, lists after their length. A new field of a question does not
/// compile before it is written here.
pub(super) fn identity(question: &AnyQuestion<'_>) -> Identity {
    let mut writer = Writer(Sha256::new());
    match *question {
        AnyQuestion::Decide(Decide { ratio, offset, temper, clip, batch, rule, level }) => {
            writer.word("decide");
            let along = match ratio {
                LogRatio::Model { from, to, along } => {
                    writer.numbers(from);
                    writer.numbers(to);
                    along
                }
                LogRatio::Program(program) => {
                    writer.word("program");
                    writer.bytes(&program.to_bytes());
                    None
                }
            };
            writer.numbers(&[offset, temper.get(), clip.get()]);
            writer.value(&batch);
            writer.value(rule);
            writer.word(level.name());
            if let Some(Along { points, weights, clip }) = along {
                writer.word("along");
                writer.numbers(points);
                writer.numbers(weights);
                writer.numbers(&[clip.get()]);
            }
        }
        AnyQuestion::Sum(Sum { term, temper, clip, batch, sigma }) => {
            writer.word("sum");
            match term {
                Term::Gradient { theta, precondition } => {
                    writer.word("gradient");
                    writer.numbers(theta);
                    writer.precondition(precondition);
                }
                Term::Score { theta, precondition, weight } => {
                    writer.word("score");
                    writer.numbers(theta);
                    writer.precondition(precondition);
                    writer.numbers(&[weight]);
                }
                Term::Statistics => writer.word("statistics"),
                Term::Faults => writer.word("faults"),
                Term::Program(Asked { term, shape }) => {
                    writer.word("program");
                    writer.bytes(&term.to_bytes());
                    writer.shape(shape);
                }
                Term::Columns { coordinates, most_rows } => {
                    writer.word("columns");
                    writer.coordinates(coordinates);
                    if let Some(most) = most_rows {
                        writer.word("rows");
                        writer.value(&most);
                    }
                }
                Term::Gram { coordinates, centres, spreads } => {
                    writer.word("gram");
                    writer.coordinates(coordinates);
                    writer.numbers(centres);
                    writer.numbers(spreads);
                }
                Term::Centred(score) => {
                    writer.word("centred");
                    writer.score(score);
                }
                Term::Tail { score, edges } => {
                    writer.word("tail");
                    writer.score(score);
                    writer.numbers(edges);
                }
                Term::Shifted { theta, precondition, clip, centre } => {
                    writer.word("shifted");
                    writer.numbers(theta);
                    writer.precondition(precondition);
                    writer.numbers(&[clip]);
                    match centre {
                        Centre::Same(centre) => writer.numbers(centre),
                        Centre::Expected => writer.word("expected"),
                    }
                }
            }
            writer.numbers(&[temper.get(), clip.get(), sigma]);
            writer.value(&batch);
        }
        AnyQuestion::Choose(Choose { ratios, offsets, range: (low, high), power }) => {
            writer.word("choose");
            match ratios {
                LogRatios::Model { reference, candidates } => {
                    writer.numbers(reference);
                    writer.numbers(candidates);
                }
                LogRatios::Programs(programs) => {
                    writer.word("programs");
                    programs.iter().for_each(|program| writer.bytes(&program.to_bytes()));
                }
            }
            writer.numbers(offsets);
            writer.numbers(&[low, high, power]);
        }
    }
    let mut identity = Identity::default();
    identity.copy_from_slice(&writer.0.finalize()[..16]);
    identity
}

/// Writes parts of a question so that no two lists of parts give the same bytes.
struct Writer(Sha256);

impl Writer {
    fn bytes(&mut self, bytes: &[u8]) {
        self.0.update((bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
    }

    fn shape(&mut self, shape: Shape) {
        match shape {
            Shape::Ball => self.word("ball"),
            Shape::Interval { low, high } => {
                self.word("interval");
                self.numbers(&[low, high]);
            }
            Shape::Positive => self.word("positive"),
            Shape::Outer => self.word("outer"),
            Shape::Indexed { low, high } => {
                self.word("indexed");
                self.numbers(&[low, high]);
            }
            Shape::ByGroup { threshold } => {
                self.word("by group");
                self.numbers(&[threshold]);
            }
        }
    }

    fn word(&mut self, word: &str) {
        self.bytes(word.as_bytes());
    }

    fn numbers(&mut self, numbers: &[f64]) {
        self.0.update((numbers.len() as u64).to_le_bytes());
        for number in numbers {
            self.0.update(number.to_bits().to_le_bytes());
        }
    }

    fn value(&mut self, value: &impl Serialize) {
        // Rules and batches hold finite numbers and words, which JSON writes without loss.
        self.bytes(&serde_json::to_vec(value).unwrap_or_default());
    }

    fn coordinates(&mut self, coordinates: &[Coordinate]) {
        self.0.update((coordinates.len() as u64).to_le_bytes());
        for Coordinate { column, curve, scale, shift, squared } in coordinates {
            self.0.update((*column as u64).to_le_bytes());
            match *curve {
                Curve::Line => self.word("line"),
                Curve::Log { plus } => {
                    self.word("log");
                    self.numbers(&[plus]);
                }
                Curve::Root => self.word("root"),
                Curve::Share { column, fixed } => {
                    self.word("share");
                    self.value(&column);
                    self.numbers(&[fixed]);
                }
            }
            self.numbers(&[*scale, *shift, f64::from(u8::from(*squared))]);
        }
    }

    fn score(&mut self, CentredScore { theta, block, whitening, clip }: CentredScore<'_>) {
        self.word(match block {
            ScoreBlock::Coefficients => "coefficients",
            ScoreBlock::Nuisance => "nuisance",
        });
        self.numbers(theta);
        self.numbers(whitening);
        self.numbers(&[clip]);
    }

    fn precondition(&mut self, precondition: Precondition<'_>) {
        match precondition {
            Precondition::Identity => self.word("identity"),
            Precondition::Diagonal(entries) => {
                self.word("diagonal");
                self.numbers(entries);
            }
            Precondition::Dense(entries) => {
                self.word("dense");
                self.numbers(entries);
            }
        }
    }
}
