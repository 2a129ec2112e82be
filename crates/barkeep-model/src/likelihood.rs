//! Defines how records bear on parameters: programs of per-record log densities and gradients.

mod given;

use barkeep_data::{Block, Schema};
use barkeep_machine::{Output, Program, Source, Unsound, Writer};

use crate::statistics::NO_STATISTICS;
use crate::{Regression, Scratch};
use given::NO_RESPONSES;

pub use given::{Centring, Given, StandIns};

/// What a program computed of a record's gradient.
#[derive(Debug, Clone, PartialEq)]
pub enum Gradient {
    /// Its entries.
    Entries(Vec<Source>),
    /// A slope times columns: an intercept's entry, which comes first, is the slope, a feature's is the slope times its column.
    Sloped {
        /// The slope.
        slope: Source,
        /// Whether the first entry is the slope itself.
        intercept: bool,
        /// The column of the first feature; the others follow.
        first: u32,
        /// The number of features.
        features: u32,
        /// The last entry, where a nuisance is a parameter.
        nuisance: Option<Source>,
    },
}

impl Gradient {
    /// Its entries, each computed by a step or a column.
    pub fn entries(self, w: &mut Writer) -> Vec<Source> {
        match self {
            Self::Entries(entries) => entries,
            Self::Sloped { slope, intercept, first, features, nuisance } => {
                let mut entries: Vec<Source> = intercept.then_some(slope).into_iter().collect();
                entries.extend((first..first + features).map(|column| w.mul(slope, Source::Column(column))));
                entries.extend(nuisance);
                entries
            }
        }
    }
}

/// The likelihood ln p(x|θ) of single records, θ ∈ ℝᵈ.
///
/// A likelihood writes programs. The curator runs them over records, one record at a time, and clips, rounds and sums what comes out. Prior and
/// public facts are the [`Model`](crate::Model)'s, which a type implements as well.
///
/// **Privacy.** A likelihood is never shown a record of the curator's: the programs follow from θ and public facts, and a program cannot
/// read another record. So nothing about a likelihood is trusted. [`log_density`](Likelihood::log_density), [`log_ratio`](Likelihood::log_ratio) and
/// [`gradient`](Likelihood::gradient) run the programs over records that are public: synthetic ones.
///
/// Lengths are the caller's promise: `theta`, `from`, `to` have [`dimension`](Likelihood::dimension) entries, a block has
/// [`columns`](Likelihood::columns) columns, `out` is as long as stated.
pub trait Likelihood: Send + Sync {
    /// The number d of parameters.
    fn dimension(&self) -> usize;

    /// The number of data columns read, the first ones of every block.
    fn columns(&self) -> usize;

    /// Writes ln p(x|θ) to a program.
    fn write_density(&self, theta: &[f64], w: &mut Writer) -> Source;

    /// Writes ln p(x|θ') − ln p(x|θ) to a program.
    ///
    /// **Precision.** This default subtracts and so cancels; models override it where a closed form exists.
    fn write_ratio(&self, from: &[f64], to: &[f64], w: &mut Writer) -> Source {
        let before = self.write_density(from, w);
        let after = self.write_density(to, w);
        w.sub(after, before)
    }

    /// Writes the gradient at θ to a program. Not asked unless [`has_gradient`](Likelihood::has_gradient).
    fn write_gradient(&self, _theta: &[f64], w: &mut Writer) -> Gradient {
        let none = w.fill(f64::NAN);
        Gradient::Entries(vec![none; self.dimension()])
    }

    /// The program of ln p(x|θ), its one output.
    ///
    /// # Errors
    /// [`Unsound`] for one that is larger than the machine runs.
    fn density_program(&self, theta: &[f64]) -> Result<Program, Unsound> {
        let mut w = Writer::default();
        let density = self.write_density(theta, &mut w);
        w.finish([Output::Dense(density)])
    }

    /// The program of ln p(x|θ') − ln p(x|θ), its one output.
    ///
    /// # Errors
    /// [`Unsound`] for one that is larger than the machine runs.
    fn ratio_program(&self, from: &[f64], to: &[f64]) -> Result<Program, Unsound> {
        let mut w = Writer::default();
        let ratio = self.write_ratio(from, to, &mut w);
        w.finish([Output::Dense(ratio)])
    }

    /// The program of the gradient at θ, an output for each entry. Not asked unless [`has_gradient`](Likelihood::has_gradient).
    ///
    /// # Errors
    /// [`Unsound`] for one that is larger than the machine runs.
    fn gradient_program(&self, theta: &[f64]) -> Result<Program, Unsound> {
        let mut w = Writer::default();
        let entries = self.write_gradient(theta, &mut w).entries(&mut w);
        w.finish(entries.into_iter().map(Output::Dense))
    }

    /// The program of the records' sufficient statistics under the schema's public bounds: those that
    /// [`Model::statistics`](crate::Model::statistics) describes.
    ///
    /// # Errors
    /// The reason why there are none.
    fn statistics_program(&self, _schema: &Schema) -> Result<Program, &'static str> {
        Err(NO_STATISTICS)
    }

    /// Whether [`write_gradient`](Likelihood::write_gradient) and [`Model::prior_gradient`](crate::Model::prior_gradient) are given. Where they are
    /// not, a plan refuses samplers that follow gradients; walks need none.
    fn has_gradient(&self) -> bool {
        false
    }

    /// Writes ln p(x_i|θ) for each of some public records to `out`, which is as long as the block.
    fn log_density(&self, block: Block<'_>, theta: &[f64], out: &mut [f64], scratch: &mut Scratch) {
        scratch.run(self.density_program(theta), block, out);
    }

    /// Writes ln p(x_i|θ') − ln p(x_i|θ) for each of some public records to `out`, which is as long as the block.
    fn log_ratio(&self, block: Block<'_>, from: &[f64], to: &[f64], out: &mut [f64], scratch: &mut Scratch) {
        scratch.run(self.ratio_program(from, to), block, out);
    }

    /// Writes ∂ ln p(x_i|θ)/∂θ_j of some public records to `out[j·len + i]`, where len is the block's length. Not asked unless
    /// [`has_gradient`](Likelihood::has_gradient).
    fn gradient(&self, block: Block<'_>, theta: &[f64], out: &mut [f64], scratch: &mut Scratch) {
        scratch.run(self.gradient_program(theta), block, out);
    }

    /// The law of a record's responses given its other columns, by which scores can be centred.
    ///
    /// # Errors
    /// The reason why there is none.
    fn given(&self) -> Result<&dyn Given, &'static str> {
        Err(NO_RESPONSES)
    }

    /// The regression that this likelihood is, if it is one: its centred scores are terms of their own.
    fn regression(&self) -> Option<&Regression> {
        None
    }
}
