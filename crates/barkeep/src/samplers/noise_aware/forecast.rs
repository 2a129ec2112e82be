//! Looks ahead from public facts: how near the posterior without privacy the answers will come.

use super::ask::Setup;
use super::clip::{Noise, choose};
use super::columns::Grid;
use super::copula::Belief;
use super::expectation::Set;
use super::shares::ROUNDS;
use super::tail::{Bias, EDGES, Part};
use crate::plan::start::prior_mode;
use crate::samplers::entry::{Expected, Forecast, MakeForecast};
use barkeep_accounting::Ratio;
use barkeep_model::ScoreBlock;

/// Made-up records of a forecast.
const RECORDS: usize = 256;
/// A mean is off by more than half a posterior standard deviation: worth a word.
const LARGE_ERROR: f64 = 3.0;
/// Rounds that tell little: they are asked far from the mode, where doubt about the columns outweighs the noise. Half of them,
/// by the errors of simulated logistic regressions.
const LOST: usize = 4;

impl Setup {
    /// What a run can be expected to achieve, if columns spread as columns usually do.
    pub(crate) fn forecast(&self) -> Option<MakeForecast> {
        let expected = self.expected()?;
        let records = self.records;
        Some(Box::new(move |_| {
            let mut warnings = Vec::new();
            if expected.width > LARGE_ERROR {
                let enough = records * (expected.width / LARGE_ERROR).powi(2);
                warnings.push(format!(
                    "intervals are expected to be {:.1} times as wide as without privacy; to bring this down to three \
                     times you need about {enough:.0} records or a larger epsilon",
                    expected.width
                ));
            }
            Forecast { facts: Vec::new(), warnings, expected: Some(expected), ..Forecast::default() }
        }))
    }

    /// The error by the method's own reckoning: made-up records of columns as they are declared or usually are, clips chosen as a
    /// run chooses them, and the variance and bias that they leave.
    ///
    /// Before the tail is asked nobody knows how far records stray from the family. So the error is computed twice: for
    /// records that follow it, and for records as they are believed to be. The expected one is the geometric mean.
    fn expected(&self) -> Option<Expected> {
        let regression = self.regression().ok()?;
        let raws = &self.coordinates.raws;
        let grids: Vec<Grid> = raws.iter().map(|raw| Grid::new(raw.is_binary())).collect();
        let belief = Belief::before(&self.coordinates, &grids);
        let set =
            Set::new(regression, &belief.rows(&self.coordinates, self.columns(), RECORDS), self.columns());
        let rows = self.rows_before();
        let scene = self.scene(regression, &set, &[], &rows);
        let round = self.round(&scene, &prior_mode(&*self.model)).ok()?;
        let cost = |block, ratio: Ratio, bias: &Bias| {
            let noise = Noise { per_clip: rows.noise_of(2.0 * ratio.get()), records: scene.records };
            choose(regression, &round, block, &set, scene.top, noise, bias).map(|(_, cost)| cost)
        };
        let (d, has_nuisance) = regression.parts();
        let kept: f64 = ROUNDS[LOST..].iter().sum::<f64>() / ROUNDS.iter().sum::<f64>();
        let error = |bias: &(Bias, Bias)| {
            let mut mean = cost(ScoreBlock::Coefficients, self.shares.together.0, &bias.0)?;
            if let (true, Some(ratio)) = (has_nuisance, self.shares.together.1) {
                mean = (d as f64 * mean + cost(ScoreBlock::Nuisance, ratio, &bias.1)?) / (d as f64 + 1.0);
            }
            Some(((mean - 1.0).max(1e-4) / kept).sqrt())
        };
        let (clean, strayed) =
            (error(&self.clean_bias(scene.records))?, error(&self.bias(regression, scene.records))?);
        let error = (clean * strayed).sqrt();
        let width = (1.0 + error * error).sqrt();
        Some(Expected { error, range: (0.7 * clean, 1.5 * strayed), width })
    }

    /// What a clip's bias is believed to be after a tail that shows no excess.
    fn clean_bias(&self, rows: f64) -> (Bias, Bias) {
        let Some(ratio) = self.shares.tail else { return (Bias::none(), Bias::none()) };
        let noise = ratio.get() * 2.0 * std::f64::consts::SQRT_2 / self.records;
        let of = |part| Bias::given(&[0.0; EDGES.len()], noise, part, rows);
        (of(Part::Coefficients), of(Part::Nuisance))
    }
}
