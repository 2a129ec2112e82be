//! Looks ahead from public facts: how near the posterior without privacy the answers will come.

use super::ask::Setup;
use super::clip::{Noise, choose};
use super::columns::Grid;
use super::copula::Belief;
use super::expectation::Set;
use crate::plan::start::prior_mode;
use crate::samplers::entry::{Expected, Forecast, MakeForecast};
use barkeep_accounting::Ratio;
use barkeep_model::ScoreBlock;

/// Made-up records of a forecast.
const RECORDS: usize = 256;
/// A mean is off by more than half a posterior standard deviation: worth a word.
const LARGE_ERROR: f64 = 3.0;
/// What early rounds at a poor θ, columns that are not as believed and answers that disagree add. Chosen by judgement: no
/// measurement stands behind it yet.
const WEAR: f64 = 1.25;

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

    /// The mean square error of both blocks at the prior's mode, over columns as they are believed to be before any answer.
    fn expected(&self) -> Option<Expected> {
        let regression = self.regression().ok()?;
        let raws = &self.coordinates.raws;
        let grids: Vec<Grid> = raws.iter().map(|raw| Grid::new(raw.is_binary())).collect();
        let belief = Belief::before(raws, &grids);
        let set =
            Set::new(regression, &belief.rows(&self.coordinates, self.columns(), RECORDS), self.columns());
        let scene = self.scene(regression, &set, &[]);
        let theta = prior_mode(&*self.model);
        let round = self.round(&scene, &theta).ok()?;
        let bias = self.bias(regression);
        let cost = |block, ratio: Ratio, bias| {
            let noise = Noise { per_clip: 2.0 * ratio.get(), records: self.records };
            choose(regression, &round, block, &set, scene.top, noise, bias).map(|(_, cost)| cost)
        };
        let (d, has_nuisance) = regression.parts();
        let first = cost(ScoreBlock::Coefficients, self.shares.together.0, &bias.0)?;
        let mut mean = first;
        if let (true, Some(ratio)) = (has_nuisance, self.shares.together.1) {
            let second = cost(ScoreBlock::Nuisance, ratio, &bias.1)?;
            mean = (d as f64 * first + second) / (d as f64 + 1.0);
        }
        let error = WEAR * (mean - 1.0).max(1e-4).sqrt();
        let width = (1.0 + error * error).sqrt();
        Some(Expected { error, range: (0.6 * error, 1.8 * error), width })
    }
}
