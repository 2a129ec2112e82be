//! Stands between a chain and its gate: replays the answers that were kept, and keeps new ones before they are released.

use super::Journal;
use super::format::{Broken, Kind, Record, read_record};
use super::identity::{Identity, identity};
use barkeep_curator::{AnyQuestion, Ask, Choose, Decide, Gate, Refused, Sum};
use std::fs::File;
use std::io::{self, BufReader, Seek, SeekFrom};
use std::path::Path;

/// The kept answers of one chain, read as they are needed.
pub(super) struct Replay {
    file: BufReader<File>,
    chain: u32,
    left: u64,
    seeded: bool,
    bytes: Vec<u8>,
}

impl Replay {
    /// Starts at a chain's first answer of `left`. All of them were checked when the journal was opened.
    pub(super) fn new(path: &Path, start: u64, chain: u32, left: u64, seeded: bool) -> io::Result<Self> {
        let mut file = BufReader::new(File::open(path)?);
        file.seek(SeekFrom::Start(start))?;
        Ok(Self { file, chain, left, seeded, bytes: Vec::new() })
    }

    /// The chain's next record; none if it can no longer be read.
    fn next(&mut self) -> Option<Record> {
        self.left = self.left.checked_sub(1)?;
        loop {
            // Other chains' records lie between.
            let (record, _) = match read_record(&mut self.file, u64::MAX, self.seeded, &mut self.bytes) {
                Ok(found) => found?,
                Err(Broken::Io(_) | Broken::Body(_) | Broken::Head) => return None,
            };
            if record.chain == self.chain {
                return Some(record);
            }
        }
    }
}

/// A gate whose answers are kept; without a gate, the kept answers alone.
pub(super) struct Kept<'j> {
    journal: &'j Journal,
    chain: u32,
    gate: Option<Gate>,
    replay: Replay,
    /// Where seeded noise was after the last replayed answer.
    position: Option<u128>,
    /// A sum that is not released yet.
    unreleased: Vec<f64>,
}

impl<'j> Kept<'j> {
    pub(super) fn new(journal: &'j Journal, chain: u32, gate: Option<Gate>, replay: Replay) -> Self {
        Self { journal, chain, gate, replay, position: None, unreleased: Vec::new() }
    }

    /// The kept answer to a question, charged for; none where the chain asks for the first time.
    fn replayed(
        &mut self,
        question: &AnyQuestion<'_>,
        kind: Kind,
        name: Identity,
    ) -> Result<Option<Vec<u8>>, Refused> {
        if self.replay.left == 0 {
            if let (Some(position), Some(gate)) = (self.position.take(), &mut self.gate) {
                gate.continue_seeded(position);
            }
            return Ok(None);
        }
        let Some(record) = self.replay.next() else {
            return Err(self.journal.diverge("it can no longer be read"));
        };
        if record.kind != kind || record.identity != name {
            return Err(self.journal.diverge(
                "it answers another question than this run asks: the run was begun by another program or machine",
            ));
        }
        if let Some(gate) = &mut self.gate {
            gate.charge(question)?;
        }
        self.position = record.position;
        Ok(Some(record.answer))
    }

    /// Keeps an answer, so that it may be released.
    fn keep(&mut self, kind: Kind, identity: Identity, answer: Vec<u8>) -> Result<(), Refused> {
        let position = self.gate.as_mut().and_then(Gate::seeded_position);
        self.journal.append(&Record { chain: self.chain, kind, identity, answer, position })
    }

    /// The gate, for a question that was not answered yet.
    fn gate(&mut self) -> Result<&mut Gate, Refused> {
        self.gate.as_mut().ok_or(Refused::Exhausted)
    }

    fn damaged(&self) -> Refused {
        self.journal.diverge("it holds an answer of another shape than the question's")
    }
}

impl Ask for Kept<'_> {
    fn decide(&mut self, asked: &Decide<'_>) -> Result<bool, Refused> {
        let question = AnyQuestion::Decide(*asked);
        let name = identity(&question);
        if let Some(answer) = self.replayed(&question, Kind::Decide, name)? {
            return match answer[..] {
                [bit @ 0..=1] => Ok(bit == 1),
                _ => Err(self.damaged()),
            };
        }
        let bit = self.gate()?.decide(asked)?;
        self.keep(Kind::Decide, name, vec![u8::from(bit)])?;
        Ok(bit)
    }

    fn sum(&mut self, asked: &Sum<'_>, out: &mut [f64]) -> Result<(), Refused> {
        let question = AnyQuestion::Sum(*asked);
        let name = identity(&question);
        if let Some(answer) = self.replayed(&question, Kind::Sum, name)? {
            let (numbers, rest) = answer.as_chunks();
            if numbers.len() != out.len() || !rest.is_empty() {
                return Err(self.damaged());
            }
            for (out, number) in out.iter_mut().zip(numbers) {
                *out = f64::from_le_bytes(*number);
            }
            return Ok(());
        }
        let mut sums = std::mem::take(&mut self.unreleased);
        sums.clear();
        sums.resize(out.len(), 0.0);
        let answered = self.gate().and_then(|gate| gate.sum(asked, &mut sums)).and_then(|()| {
            self.keep(Kind::Sum, name, sums.iter().flat_map(|number| number.to_le_bytes()).collect())
        });
        if answered.is_ok() {
            out.copy_from_slice(&sums);
        }
        self.unreleased = sums;
        answered
    }

    fn choose(&mut self, asked: &Choose<'_>) -> Result<usize, Refused> {
        let question = AnyQuestion::Choose(*asked);
        let name = identity(&question);
        if let Some(answer) = self.replayed(&question, Kind::Choose, name)? {
            let chosen = answer.try_into().map(u32::from_le_bytes).map_err(|_| self.damaged())?;
            return Ok(chosen as usize);
        }
        let chosen = self.gate()?.choose(asked)?;
        // There are at most 2^16 candidates.
        let answer = u32::try_from(chosen).map_err(|_| self.damaged())?.to_le_bytes().to_vec();
        self.keep(Kind::Choose, name, answer)?;
        Ok(chosen)
    }
}
