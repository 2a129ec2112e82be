//! Names a question by a hash, so that a kept answer is given to the question it answers and to no other.

use barkeep_curator::{AnyQuestion, Asked, Choose, Decide, Shape, Sum, Term};
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
            writer.bytes(&ratio.to_bytes());
            writer.numbers(&[offset, temper.get(), clip.get()]);
            writer.value(&batch);
            writer.value(rule);
            writer.word(level.name());
        }
        AnyQuestion::Sum(Sum { term, temper, clip, batch, sigma }) => {
            writer.word("sum");
            match term {
                Term::Program(Asked { term, shape }) => {
                    writer.word("program");
                    writer.bytes(&term.to_bytes());
                    writer.shape(shape);
                }
                Term::Faults => writer.word("faults"),
            }
            writer.numbers(&[temper.get(), clip.get(), sigma]);
            writer.value(&batch);
        }
        AnyQuestion::Choose(Choose { ratios, offsets, range: (low, high), power }) => {
            writer.word("choose");
            writer.numbers(offsets);
            ratios.iter().for_each(|program| writer.bytes(&program.to_bytes()));
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
}
