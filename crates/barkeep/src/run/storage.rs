//! Takes draws as they come and gives them back in pieces: what a run holds in memory does not grow with its steps.
//!
//! While a chain runs, its draws go one by one to a [`Sink`]: a file of the run's [`spool`], or memory. When all chains
//! have ended they are a [`Source`], which the summary reads in passes and every [`Storage`], [CSV](csv) and
//! [Parquet](parquet), is written from. Only then is it known which draws are warm-up, and whose turn a row is.

pub(crate) mod csv;
pub(crate) mod parquet;
pub(crate) mod spool;

#[cfg(test)]
mod tests;

use crate::Error;
use crate::run::draws::{CHAIN_COLUMN, DRAW_COLUMN, Outcome, ShapeError, WARMUP_COLUMN};
use crate::run::files::{WriteError, write_atomically};
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::Path;

/// The formats every run leaves its draws in.
pub(crate) const FORMATS: [Format; 2] = [csv::FORMAT, parquet::FORMAT];

/// Draws that are read at a time.
pub(crate) const PIECE: usize = 1024;

/// What every format states beside the draws.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Heading {
    /// The parameters' names, in the order of a draw's coordinates.
    pub(crate) parameters: Vec<String>,
    /// The names of quantities that follow from the parameters, whose values stand after theirs in every row.
    pub(crate) quantities: Vec<String>,
    /// Whether the run protects nobody.
    pub(crate) not_private: bool,
    /// Draws of each chain that the summary leaves out.
    pub(crate) warmup: usize,
}

impl Heading {
    /// A heading for named parameters.
    ///
    /// # Errors
    /// [`ShapeError`] for names that would make ambiguous columns.
    pub(crate) fn new(parameters: Vec<String>) -> Result<Self, ShapeError> {
        if parameters.is_empty() {
            return Err(ShapeError::NoParameters);
        }
        let heading = Self { parameters, quantities: Vec::new(), not_private: false, warmup: 0 };
        heading.with_quantities(&[])
    }

    /// The heading with quantities that follow from the parameters.
    ///
    /// # Errors
    /// [`ShapeError::Name`] as in [`new`](Self::new).
    pub(crate) fn with_quantities(mut self, names: &[String]) -> Result<Self, ShapeError> {
        let mut seen = std::collections::BTreeSet::from(["", CHAIN_COLUMN, DRAW_COLUMN, WARMUP_COLUMN]);
        if let Some(name) = self.parameters.iter().chain(names).find(|name| !seen.insert(name)) {
            return Err(ShapeError::Name(name.clone()));
        }
        self.quantities = names.to_vec();
        Ok(self)
    }

    /// The names of a row's numbers.
    pub(crate) fn names(&self) -> impl Iterator<Item = &String> {
        self.parameters.iter().chain(&self.quantities)
    }

    /// The numbers of a row.
    pub(crate) fn width(&self) -> usize {
        self.parameters.len() + self.quantities.len()
    }

    /// The number of parameters.
    pub(crate) fn dimension(&self) -> usize {
        self.parameters.len()
    }
}

/// Takes the draws of one chain as they come.
pub(crate) trait Sink: Send {
    /// Takes the state after one more step, and what the step did.
    ///
    /// # Errors
    /// [`Error::Shape`] for a state of another dimension; [`Error::Write`] where a file cannot grow.
    fn take(&mut self, state: &[f64], outcome: Outcome) -> Result<(), Error>;

    /// The number of draws taken.
    fn taken(&self) -> usize;
}

/// Keeps the draws of all chains of a run.
pub(crate) trait Keep: Sync {
    /// Keeps one chain's.
    type Chain: Sink;
    /// What is left of all of them.
    type Kept;

    /// Makes room for the chain of this position.
    ///
    /// # Errors
    /// [`Error::Write`] if there is none.
    fn chain(&self, index: usize) -> Result<Self::Chain, Error>;

    /// Ends all chains, in order.
    ///
    /// # Errors
    /// [`Error::Write`] if the last draws find no room.
    fn end(self, chains: Vec<Self::Chain>, warmup: usize) -> Result<Self::Kept, Error>;
}

/// The draws of chains that have ended.
pub(crate) trait Source {
    /// Why draws cannot be read.
    type Error;

    /// The same for those who write files.
    fn failure(error: Self::Error) -> io::Error;

    /// What is stated beside the draws.
    fn heading(&self) -> &Heading;

    /// The number of draws of each chain.
    fn lengths(&self) -> Vec<usize>;

    /// Puts the next draws of a chain from the one of position `first` on into `piece`; none where the chain has ended.
    ///
    /// # Errors
    /// They cannot be read.
    fn read(&self, chain: usize, first: usize, piece: &mut Piece) -> Result<(), Self::Error>;
}

/// Shows all draws after each chain's first `from`, chain after chain.
///
/// # Errors
/// They cannot be read.
pub(crate) fn pass<S: Source>(
    source: &S,
    from: usize,
    visit: &mut dyn FnMut(usize, &Piece),
) -> Result<(), S::Error> {
    let mut piece = Piece::default();
    for chain in 0..source.lengths().len() {
        let mut first = from;
        loop {
            source.read(chain, first, &mut piece)?;
            if piece.outcomes.is_empty() {
                break;
            }
            visit(chain, &piece);
            first += piece.outcomes.len();
        }
    }
    Ok(())
}

/// A few draws of one chain.
#[derive(Debug, Default)]
pub(crate) struct Piece {
    /// Row after row, parameters and then quantities.
    pub(crate) values: Vec<f64>,
    /// What each step did.
    pub(crate) outcomes: Vec<Outcome>,
}

/// Draws on their way into a file, in the file's order.
pub(crate) struct Rows<'a> {
    /// The chain, from 0.
    pub(crate) chain: usize,
    /// The position of the first draw in its chain, from 0.
    pub(crate) first: usize,
    /// Row after row.
    pub(crate) values: &'a [f64],
}

/// A file of draws being written.
pub(crate) trait Storage {
    /// Writes draws after those already written.
    ///
    /// # Errors
    /// The file cannot grow.
    fn append(&mut self, rows: &Rows<'_>) -> io::Result<()>;

    /// Writes whatever ends the file.
    ///
    /// # Errors
    /// The file cannot grow.
    fn finish(self: Box<Self>) -> io::Result<()>;
}

/// A kind of file for draws.
pub(crate) struct Format {
    /// The file's name in a folder of results.
    pub(crate) name: &'static str,
    open: for<'a> fn(&'a Heading, &'a mut BufWriter<File>) -> Opened<'a>,
}

/// A file with all that stands before its draws.
type Opened<'a> = io::Result<Box<dyn Storage + 'a>>;

impl Format {
    /// Writes all draws to a file, whole or not at all.
    ///
    /// # Errors
    /// [`WriteError`]; the file is then as it was before.
    pub(crate) fn write<S: Source>(&self, source: &S, path: &Path) -> Result<(), WriteError> {
        write_atomically(path, |file| {
            let mut storage = (self.open)(source.heading(), file)?;
            let mut piece = Piece::default();
            for chain in 0..source.lengths().len() {
                let mut first = 0;
                loop {
                    source.read(chain, first, &mut piece).map_err(S::failure)?;
                    if piece.outcomes.is_empty() {
                        break;
                    }
                    storage.append(&Rows { chain, first, values: &piece.values })?;
                    first += piece.outcomes.len();
                }
            }
            storage.finish()
        })
    }
}
