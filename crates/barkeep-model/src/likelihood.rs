//! Defines how records bear on parameters: per-record log densities and gradients, a block at a time.

use barkeep_data::{Block, Schema};
use barkeep_machine::{Output, Program, Source, Unsound, Writer};

use crate::given::NO_RESPONSES;
use crate::statistics::NO_STATISTICS;
use crate::{Affine, Given, Line, RecordStatistics, Regression, Scratch, Sloped};

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
/// Terms are per record: a likelihood never clips, rounds or sums over records, and its work does not depend on what
/// they say. Prior and public facts are the [`Model`](crate::Model)'s, which a type implements beside this trait.
///
/// **Privacy.** A likelihood is trusted code in the curator's hand: it alone is shown records, and what it writes goes
/// to the curator alone. The guarantee rests on one property that no type can enforce: the term of a record depends on
/// that record, θ and public facts, never on another record. So a likelihood holds no state that a record could change
/// (`&self`, no interior mutability) and treats the records of a block one by one.
///
/// Lengths are the caller's promise, which the curator checks once: `theta`, `from`, `to` have
/// [`dimension`](Likelihood::dimension) entries, a block has [`columns`](Likelihood::columns) columns, `out` is as long
/// as stated.
pub trait Likelihood: Send + Sync {
    /// The number d of parameters.
    fn dimension(&self) -> usize;

    /// The number of data columns read, the first ones of every block.
    fn columns(&self) -> usize;

    /// Whether log-ratios, gradients and scores read levels of categories by their index, where a block
    /// [has them so](Block::levels_from): the same bits as from columns, but for the sign of zeros.
    fn reads_levels(&self) -> bool {
        false
    }

    /// Writes ln p(x|θ) to a program. This default is for likelihoods that give no programs: it is not a number.
    fn write_density(&self, _theta: &[f64], w: &mut Writer) -> Source {
        w.fill(f64::NAN)
    }

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

    /// The program of the records' sufficient statistics under the schema's public bounds: those that
    /// [`Model::statistics`](crate::Model::statistics) describes.
    ///
    /// # Errors
    /// The reason why there are none.
    fn statistics_program(&self, _schema: &Schema) -> Result<Program, &'static str> {
        Err(NO_STATISTICS)
    }

    /// Writes ln p(x_i|θ) for each record to `out`, which is as long as the block.
    fn log_density(&self, block: Block<'_>, theta: &[f64], out: &mut [f64], scratch: &mut Scratch);

    /// Writes ln p(x_i|θ') − ln p(x_i|θ) for each record to `out`, which is as long as the block.
    ///
    /// **Precision.** This default subtracts and so cancels; models override it where a closed form exists.
    fn log_ratio(&self, block: Block<'_>, from: &[f64], to: &[f64], out: &mut [f64], scratch: &mut Scratch) {
        let mut at_from = std::mem::take(&mut scratch.difference);
        at_from.resize(block.len(), 0.0);
        self.log_density(block, from, &mut at_from, scratch);
        self.log_density(block, to, out, scratch);
        for (out, at_from) in out.iter_mut().zip(&at_from) {
            *out -= at_from;
        }
        scratch.difference = at_from;
    }

    /// Writes the log-ratio Σ_j w_j·(x_j − c_j) of a record, without a lean, and returns true; returns false where it is not of that form.
    ///
    /// **Precision.** [`log_ratio`](Likelihood::log_ratio) writes the same bits: w_j times fl(x_j − c_j) is added to 0 in one rounding, in
    /// the order of the columns, but for those whose weight is 0. The curator tries it on made-up records and refuses a model where a bit differs.
    fn affine_log_ratio(&self, _from: &[f64], _to: &[f64], _out: &mut Affine) -> bool {
        false
    }

    /// Whether [`gradient`](Likelihood::gradient) and [`Model::prior_gradient`](crate::Model::prior_gradient) are given. Where they are
    /// not, a plan refuses samplers that follow gradients; walks need none.
    fn has_gradient(&self) -> bool {
        false
    }

    /// Writes ∂ ln p(x_i|θ)/∂θ_j to `out[j·len + i]`, where len is the block's length. Not asked unless
    /// [`has_gradient`](Likelihood::has_gradient).
    fn gradient(&self, _block: Block<'_>, _theta: &[f64], out: &mut [f64], _scratch: &mut Scratch) {
        out.fill(f64::NAN);
    }

    /// Writes the gradient at θ as an affine function of the record and returns true; returns false where it is not one
    /// of that form.
    ///
    /// **Precision.** [`gradient`](Likelihood::gradient) writes the same bits, but for the sign of zeros: fl(w·fl(x − c)),
    /// and the first coordinate with lean·fl(x₂ − c₂) added in one rounding unless the lean is 0.
    fn affine_gradient(&self, _theta: &[f64], _out: &mut Affine) -> bool {
        false
    }

    /// How the gradient is a slope times columns, where it is of that form.
    fn sloped(&self) -> Option<Sloped> {
        None
    }

    /// Writes each record's slope at θ to `slopes`, which is as long as the block, and the last coordinate of a [`Sloped`] gradient
    /// with a nuisance to `others`, which is empty for one without. Where they `are_predicted`, `slopes` holds each record's predictor on the
    /// [line](Likelihood::slope_line) before. Not asked unless [`sloped`](Likelihood::sloped).
    ///
    /// **Precision.** [`gradient`](Likelihood::gradient) writes the same bits, but for the sign of zeros: fl(r·x).
    fn slopes(
        &self,
        _block: Block<'_>,
        _theta: &[f64],
        _are_predicted: bool,
        slopes: &mut [f64],
        others: &mut [f64],
        _scratch: &mut Scratch,
    ) {
        slopes.fill(f64::NAN);
        others.fill(f64::NAN);
    }

    /// Writes the linear predictor that slopes at θ are a function of, and returns true; returns false where there is none. The curator
    /// then adds it up itself, in the pass that adds up norms.
    fn slope_line(&self, _theta: &[f64], _out: &mut Line) -> bool {
        false
    }

    /// The records' sufficient statistics under the schema's public bounds: the part that reads records of what
    /// [`Model::statistics`](crate::Model::statistics) describes.
    ///
    /// # Errors
    /// The reason why there are none.
    fn record_statistics(&self, _schema: &Schema) -> Result<Box<dyn RecordStatistics + '_>, &'static str> {
        Err(NO_STATISTICS)
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
