//! Keeps draws on the disk while chains run: one hidden file a chain, removed when the draws are in their last form.
//!
//! A row is its coordinates and quantities as little-endian doubles and a byte for what the step did. Nothing reads a spool but the process
//! that wrote it. A killed run leaves its spool behind, under names that end in `.partial`; when the run is continued its
//! chains begin anew from the journal, and so do these files.
//!
//! **Privacy.** Draws follow from answers that are released: a spool holds nothing that its run does not publish.

use super::{Heading, Keep, PIECE, Piece, Sink, Source};
use crate::Error;
use crate::run::draws::{Outcome, ShapeError};
use crate::run::files::WriteError;
use barkeep_model::Model;
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A folder that takes a run's draws.
pub(crate) struct Spool {
    folder: PathBuf,
    heading: Heading,
    model: Arc<dyn Model>,
}

impl Spool {
    /// A spool in a folder that one run has to itself. The model says what follows from a state.
    pub(crate) fn new(folder: &Path, heading: Heading, model: Arc<dyn Model>) -> Self {
        Self { folder: folder.to_owned(), heading, model }
    }
}

/// The file of one chain while it runs.
pub(crate) struct SpoolChain {
    file: BufWriter<File>,
    place: Place,
    model: Arc<dyn Model>,
    dimension: usize,
    quantities: usize,
    draws: usize,
}

/// Where a file lies; it is removed with this.
struct Place(PathBuf);

impl Drop for Place {
    fn drop(&mut self) {
        // Failing to tidy up changes nothing that was promised.
        let _ = std::fs::remove_file(&self.0);
    }
}

impl Keep for Spool {
    type Chain = SpoolChain;
    type Kept = Spooled;

    fn chain(&self, index: usize) -> Result<SpoolChain, Error> {
        let path = self.folder.join(format!(".draws-{}.partial", index + 1));
        let fail = |source| WriteError { path: path.clone(), source };
        let mut options = OpenOptions::new();
        let file = options.read(true).write(true).create(true).truncate(true).open(&path).map_err(fail)?;
        Ok(SpoolChain {
            file: BufWriter::with_capacity(1 << 16, file),
            place: Place(path),
            model: Arc::clone(&self.model),
            dimension: self.heading.dimension(),
            quantities: self.heading.quantities.len(),
            draws: 0,
        })
    }

    fn end(self, chains: Vec<SpoolChain>, warmup: usize) -> Result<Spooled, Error> {
        let ended = chains.into_iter().map(|chain| {
            let SpoolChain { file, place, draws, .. } = chain;
            let written = file.into_inner().map_err(io::IntoInnerError::into_error);
            let file = written.map_err(|source| WriteError { path: place.0.clone(), source })?;
            Ok(Ended { file, draws, _place: place })
        });
        Ok(Spooled {
            chains: ended.collect::<Result<_, WriteError>>()?,
            heading: Heading { warmup, ..self.heading },
        })
    }
}

impl Sink for SpoolChain {
    fn take(&mut self, state: &[f64], outcome: Outcome) -> Result<(), Error> {
        if state.len() != self.dimension {
            return Err(ShapeError::Dimension { expected: self.dimension, actual: state.len() }.into());
        }
        let further = if self.quantities == 0 { Vec::new() } else { self.model.quantities(state) };
        if further.len() != self.quantities {
            return Err(ShapeError::Dimension { expected: self.quantities, actual: further.len() }.into());
        }
        let fail = |source| WriteError { path: self.place.0.clone(), source };
        for number in state.iter().chain(&further) {
            self.file.write_all(&number.to_le_bytes()).map_err(fail)?;
        }
        self.file.write_all(&[code(outcome)]).map_err(fail)?;
        self.draws += 1;
        Ok(())
    }

    fn taken(&self) -> usize {
        self.draws
    }
}

/// The draws of a run whose chains have ended, on the disk.
pub(crate) struct Spooled {
    chains: Vec<Ended>,
    heading: Heading,
}

/// The file of a chain that has ended. It is closed before it is removed.
struct Ended {
    file: File,
    draws: usize,
    _place: Place,
}

impl Source for Spooled {
    type Error = io::Error;

    fn failure(error: io::Error) -> io::Error {
        error
    }

    fn heading(&self) -> &Heading {
        &self.heading
    }

    fn lengths(&self) -> Vec<usize> {
        self.chains.iter().map(|chain| chain.draws).collect()
    }

    fn read(&self, chain: usize, first: usize, piece: &mut Piece) -> io::Result<()> {
        piece.values.clear();
        piece.outcomes.clear();
        let Some(Ended { file, draws, .. }) = self.chains.get(chain) else { return Ok(()) };
        let mut file = file;
        let row = 8 * self.heading.width() + 1;
        let count = draws.saturating_sub(first).min(PIECE);
        if count == 0 {
            return Ok(());
        }
        let mut bytes = vec![0; count * row];
        file.seek(SeekFrom::Start((first as u64) * row as u64))?;
        file.read_exact(&mut bytes)?;
        for row in bytes.chunks_exact(row) {
            let (coordinates, rest) = row.as_chunks();
            piece.values.extend(coordinates.iter().map(|number| f64::from_le_bytes(*number)));
            let outcome = rest.first().copied().and_then(outcome).ok_or(io::ErrorKind::InvalidData)?;
            piece.outcomes.push(outcome);
        }
        Ok(())
    }
}

fn code(outcome: Outcome) -> u8 {
    match outcome {
        Outcome::Accepted => 1,
        Outcome::Rejected => 2,
        Outcome::Moved => 3,
    }
}

fn outcome(code: u8) -> Option<Outcome> {
    [Outcome::Accepted, Outcome::Rejected, Outcome::Moved]
        .into_iter()
        .find(|outcome| self::code(*outcome) == code)
}
