//! Holds what a run publishes, chain × draw × parameter, in memory; all of it is public.

#[cfg(test)]
mod tests;

pub use crate::shape::{CHAIN_COLUMN, DRAW_COLUMN, ShapeError, WARMUP_COLUMN};
pub use crate::step::Outcome;

use crate::Error;
use crate::run::files::WriteError;
use crate::run::storage::{self, Heading, Keep, Piece, Sink, Source};
use barkeep_model::Model;
use std::convert::Infallible;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// The words that mark every output of a run whose randomness or sampler protects nobody.
pub const NOT_PRIVATE: &str = "NOT PRIVATE";

/// The states one chain visited, one per step, start excluded, nothing thinned.
///
/// A chain is filled by the thread that runs it and then joins the others by [`Draws::add`].
///
/// **Privacy.** Public: each state is a function of the start and of answers the curator has charged for.
#[derive(Debug, Clone, PartialEq)]
pub struct Chain {
    dimension: usize,
    /// Row after row: coordinate j of draw i is `values[i * dimension + j]`.
    values: Vec<f64>,
    outcomes: Vec<Outcome>,
}

impl Chain {
    /// Starts an empty chain of states with `dimension` coordinates.
    #[must_use]
    pub fn new(dimension: usize) -> Self {
        Self { dimension, values: Vec::new(), outcomes: Vec::new() }
    }

    /// Appends the state after one more step, and what the step did.
    ///
    /// # Errors
    /// [`ShapeError::Dimension`] if `state` has another number of coordinates than the chain; nothing
    /// is appended then.
    pub fn push(&mut self, state: &[f64], outcome: Outcome) -> Result<(), ShapeError> {
        if state.len() != self.dimension {
            return Err(ShapeError::Dimension { expected: self.dimension, actual: state.len() });
        }
        self.values.extend_from_slice(state);
        self.outcomes.push(outcome);
        Ok(())
    }

    /// The number of draws, which is the number of steps made.
    #[must_use]
    pub fn len(&self) -> usize {
        self.outcomes.len()
    }

    /// Whether no step was made yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.outcomes.is_empty()
    }

    /// The number of coordinates of a draw.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// What each step did, after the first `burn_in` steps.
    #[must_use]
    pub fn outcomes(&self, burn_in: usize) -> &[Outcome] {
        self.outcomes.get(burn_in..).unwrap_or_default()
    }

    /// All coordinates of the draws after the first `burn_in`, row after row.
    #[must_use]
    pub fn values(&self, burn_in: usize) -> &[f64] {
        burn_in.checked_mul(self.dimension).and_then(|start| self.values.get(start..)).unwrap_or_default()
    }

    /// The draws after the first `burn_in`, each a slice of [`dimension`](Self::dimension) coordinates.
    pub fn rows(&self, burn_in: usize) -> impl ExactSizeIterator<Item = &[f64]> {
        // A chain without coordinates has no values either, so any length of a row will do.
        self.values(burn_in).chunks_exact(self.dimension.max(1))
    }

    /// The values of one parameter, by its position, in the draws after the first `burn_in`; empty if there is
    /// no such parameter.
    #[must_use]
    pub fn series(&self, parameter: usize, burn_in: usize) -> Vec<f64> {
        self.rows(burn_in).filter_map(|row| row.get(parameter).copied()).collect()
    }

    /// The share of accepted proposals among the steps after the first `burn_in` that tested one.
    ///
    /// `None` if no step did: an empty chain, or a sampler that moves without asking.
    #[must_use]
    pub fn acceptance(&self, burn_in: usize) -> Option<f64> {
        acceptance(self.outcomes(burn_in))
    }
}

/// All chains of a run over the same named parameters.
///
/// Chains may differ in length: a budget can end, or a person stop the run, at any step of any chain.
///
/// **Privacy.** Everything here is public. A sampler never sees a record; it moves by the curator's answers,
/// which were charged before they were given, so the draws and whatever is computed from them alone (the
/// summary, a plot, a distance to another sample) are post-processing and cost nothing more. Nothing computed
/// from records in another way may be stored here.
///
/// ```
/// use barkeep::run::draws::{Draws, Outcome};
///
/// let mut draws = Draws::new(vec!["slope".into(), "offset".into()])?;
/// let mut chain = draws.chain();
/// chain.push(&[0.1, 2.0], Outcome::Accepted)?;
/// chain.push(&[0.1, 2.0], Outcome::Rejected)?;
/// draws.add(chain)?;
/// assert_eq!(draws.series(0, 0), [[0.1, 0.1]]);
/// assert_eq!(draws.acceptance(0), Some(0.5));
/// # Ok::<(), barkeep::run::draws::ShapeError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Draws {
    heading: Heading,
    chains: Vec<Chain>,
    /// The quantities of each chain: quantity j of draw i is `[i * quantities + j]`.
    derived: Vec<Vec<f64>>,
}

impl Draws {
    /// Prepares for chains over the named parameters; made before a run, so that a bad name costs no budget.
    ///
    /// # Errors
    /// [`ShapeError::NoParameters`] without names; [`ShapeError::Name`] for a name that is empty,
    /// comes twice, or is `chain`, `draw` or `warmup`.
    pub fn new(parameters: Vec<String>) -> Result<Self, ShapeError> {
        Ok(Self::under(Heading::new(parameters)?))
    }

    /// Makes room for quantities that follow from the parameters, in columns after theirs.
    ///
    /// # Errors
    /// [`ShapeError::Name`] as in [`new`](Self::new).
    pub fn with_quantities(mut self, names: &[String]) -> Result<Self, ShapeError> {
        self.heading = self.heading.with_quantities(names)?;
        Ok(self)
    }

    /// Computes the quantities of every draw.
    ///
    /// # Errors
    /// [`ShapeError::Dimension`] if there are others than were named; nothing is kept then.
    pub fn derive(&mut self, at: impl Fn(&[f64]) -> Vec<f64>) -> Result<(), ShapeError> {
        let expected = self.heading.quantities.len();
        let derived: Vec<Vec<f64>> =
            self.chains.iter().map(|chain| chain.rows(0).flat_map(&at).collect()).collect();
        for (chain, values) in self.chains.iter().zip(&derived) {
            if values.len() != chain.len() * expected {
                let actual = values.len() / chain.len().max(1);
                return Err(ShapeError::Dimension { expected, actual });
            }
        }
        self.derived = derived;
        Ok(())
    }

    /// The names of the quantities that follow from the parameters.
    #[must_use]
    pub fn quantities(&self) -> &[String] {
        &self.heading.quantities
    }

    /// The quantities of a chain's draws after the first `burn_in`, row after row.
    fn derived_rows(&self, chain: usize, burn_in: usize) -> impl Iterator<Item = &[f64]> {
        let values = self.derived.get(chain).map_or(&[][..], Vec::as_slice);
        values.chunks_exact(self.heading.quantities.len().max(1)).skip(burn_in)
    }

    /// The values of one quantity, chain by chain, after each chain's first `burn_in` draws.
    #[must_use]
    pub fn quantity_series(&self, quantity: usize, burn_in: usize) -> Vec<Vec<f64>> {
        (0..self.chains.len())
            .map(|chain| {
                self.derived_rows(chain, burn_in).filter_map(|row| row.get(quantity).copied()).collect()
            })
            .collect()
    }

    /// No chain yet, under a heading.
    pub(crate) fn under(heading: Heading) -> Self {
        Self { heading, chains: Vec::new(), derived: Vec::new() }
    }

    /// Marks the run, and with it the summary and the Parquet file, as [`NOT_PRIVATE`].
    pub fn mark_not_private(&mut self) {
        self.heading.not_private = true;
    }

    /// Whether the run was marked as protecting nobody.
    #[must_use]
    pub fn is_not_private(&self) -> bool {
        self.heading.not_private
    }

    /// Flags the first `draws` of each chain as warm-up in both files.
    pub fn mark_warmup(&mut self, draws: usize) {
        self.heading.warmup = draws;
    }

    /// Draws at the start of each chain that are flagged as warm-up.
    #[must_use]
    pub fn warmup(&self) -> usize {
        self.heading.warmup
    }

    /// An empty chain over these parameters, to be filled and then added.
    #[must_use]
    pub fn chain(&self) -> Chain {
        Chain::new(self.dimension())
    }

    /// Adds a chain after the ones already there.
    ///
    /// # Errors
    /// [`ShapeError::Dimension`] if its states have another number of coordinates.
    pub fn add(&mut self, chain: Chain) -> Result<(), ShapeError> {
        if chain.dimension != self.dimension() {
            return Err(ShapeError::Dimension { expected: self.dimension(), actual: chain.dimension });
        }
        self.chains.push(chain);
        Ok(())
    }

    /// The names of the parameters, in the order of a draw's coordinates.
    #[must_use]
    pub fn parameters(&self) -> &[String] {
        &self.heading.parameters
    }

    /// The number of parameters.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.heading.dimension()
    }

    /// The chains, in the order in which they were added.
    #[must_use]
    pub fn chains(&self) -> &[Chain] {
        &self.chains
    }

    /// The values of one parameter, chain by chain, after each chain's first `burn_in` draws.
    #[must_use]
    pub fn series(&self, parameter: usize, burn_in: usize) -> Vec<Vec<f64>> {
        self.chains.iter().map(|chain| chain.series(parameter, burn_in)).collect()
    }

    /// All draws after each chain's first `burn_in`, chain after chain, row after row.
    #[must_use]
    pub fn pooled(&self, burn_in: usize) -> Vec<f64> {
        self.chains.iter().flat_map(|chain| chain.values(burn_in)).copied().collect()
    }

    /// The share of accepted proposals among all chains' steps that tested one, after each chain's first
    /// `burn_in` steps; `None` if no step did.
    #[must_use]
    pub fn acceptance(&self, burn_in: usize) -> Option<f64> {
        acceptance(self.chains.iter().flat_map(|chain| chain.outcomes(burn_in)))
    }

    /// Writes a CSV file: a header, then one line per draw, chain after chain.
    ///
    /// Columns: `chain` and `draw`, both from 1; `warmup`, true for draws the summary leaves out; and one per parameter in
    /// the order of [`parameters`](Self::parameters), then one per quantity in the order of [`quantities`](Self::quantities).
    ///
    /// **Precision.** Numbers have the fewest digits that read back as the same f64, an exponent where plain
    /// digits would be many; not-a-number is `NaN`, infinities are `inf` and `-inf`.
    ///
    /// # Errors
    /// [`WriteError`]; the file is then as it was before, see [`write_atomically`](crate::run::files::write_atomically).
    pub fn write_csv(&self, path: &Path) -> Result<(), WriteError> {
        storage::csv::FORMAT.write(self, path)
    }

    /// Writes a Parquet file with the columns of [`write_csv`](Self::write_csv), `chain` and `draw` as 64-bit
    /// integers, `warmup` as a boolean, the others as doubles. No value is null, and no row group holds draws of two
    /// chains.
    ///
    /// A run marked [`NOT_PRIVATE`] says so in the file's metadata under the key `privacy`.
    ///
    /// **Precision.** Every f64 keeps its bits.
    ///
    /// # Errors
    /// [`WriteError`]; the file is then as it was before, see [`write_atomically`](crate::run::files::write_atomically).
    pub fn write_parquet(&self, path: &Path) -> Result<(), WriteError> {
        storage::parquet::FORMAT.write(self, path)
    }
}

fn acceptance<'a>(outcomes: impl IntoIterator<Item = &'a Outcome>) -> Option<f64> {
    let mut tests = Tests::default();
    tests.count(outcomes);
    tests.accepted()
}

/// Counts proposals that were tested.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Tests {
    pub(crate) accepted: u64,
    pub(crate) tested: u64,
}

impl Tests {
    /// Counts the proposals of more steps.
    pub(crate) fn count<'a>(&mut self, outcomes: impl IntoIterator<Item = &'a Outcome>) {
        for outcome in outcomes {
            self.accepted += u64::from(*outcome == Outcome::Accepted);
            self.tested += u64::from(*outcome != Outcome::Moved);
        }
    }

    /// The share of accepted proposals; `None` if there was none.
    pub(crate) fn accepted(self) -> Option<f64> {
        (self.tested > 0).then(|| self.accepted as f64 / self.tested as f64)
    }
}

impl Sink for Chain {
    fn take(&mut self, state: &[f64], outcome: Outcome) -> Result<(), Error> {
        Ok(self.push(state, outcome)?)
    }

    fn taken(&self) -> usize {
        self.len()
    }
}

/// Keeps draws in memory.
pub(crate) struct Memory {
    draws: Draws,
    model: Arc<dyn Model>,
}

impl Memory {
    /// No chain yet. The model says what follows from a state.
    pub(crate) fn new(heading: Heading, model: Arc<dyn Model>) -> Self {
        Self { draws: Draws::under(heading), model }
    }
}

impl Keep for Memory {
    type Chain = Chain;
    type Kept = Draws;

    fn chain(&self, _index: usize) -> Result<Chain, Error> {
        Ok(self.draws.chain())
    }

    fn end(mut self, chains: Vec<Chain>, warmup: usize) -> Result<Draws, Error> {
        for chain in chains {
            self.draws.add(chain)?;
        }
        self.draws.derive(|theta| self.model.quantities(theta))?;
        self.draws.mark_warmup(warmup);
        Ok(self.draws)
    }
}

impl Source for Draws {
    type Error = Infallible;

    fn failure(error: Infallible) -> io::Error {
        match error {}
    }

    fn heading(&self) -> &Heading {
        &self.heading
    }

    fn lengths(&self) -> Vec<usize> {
        self.chains.iter().map(Chain::len).collect()
    }

    fn read(&self, chain: usize, first: usize, piece: &mut Piece) -> Result<(), Infallible> {
        piece.values.clear();
        piece.outcomes.clear();
        let Some(ended) = self.chains.get(chain) else { return Ok(()) };
        let mut derived = self.derived_rows(chain, first);
        let unknown = vec![f64::NAN; self.heading.quantities.len()];
        for row in ended.rows(first).take(storage::PIECE) {
            piece.values.extend_from_slice(row);
            // Before they are derived, quantities are not known.
            piece.values.extend_from_slice(derived.next().unwrap_or(&unknown));
        }
        piece.outcomes.extend(ended.outcomes(first).iter().take(storage::PIECE));
        Ok(())
    }
}
