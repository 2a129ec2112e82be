//! Looks ahead from public facts: how near the posterior without privacy the answers will come.

use super::ask::Setup;
use super::clip::{Noise, limit, variances};
use super::columns::Grid;
use super::copula::Belief;
use super::expectation::{Round, Set};
use super::shares::ROUNDS;
use crate::plan::start::prior_mode;
use crate::samplers::entry::{Expected, Forecast, MakeForecast};
use barkeep_model::ScoreBlock;

/// Made-up records of a forecast.
const RECORDS: usize = 256;
/// A mean is off by more than half a posterior standard deviation: worth a word.
const LARGE_ERROR: f64 = 3.0;
/// Rounds that tell little: they are asked far from the mode, where doubt about the columns outweighs the noise. With five of the
/// eight the median of measured error over forecast is 0.96 in 28 runs of ten on real records at ε = 0.3, 1 and 3.
const LOST: usize = 5;
/// Records whose straying from the family a forecast reckons with: about as many as real problems have.
const STRAYING: f64 = 2e4;

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

    /// The error by the method's own reckoning: made-up records of columns as they are declared or usually are, and the variance
    /// and bias that a clip may leave which is chosen as a run chooses it.
    ///
    /// Before the tail is asked nobody knows how far records stray from the family. Real ones do, so they are taken to stray as
    /// [`STRAYING`] records are believed to. Records that follow their family do better, by up to three times; the range's lower
    /// end is theirs. Of fewer records, noise hides most of the straying, and of more, the tail's answer shows it and clips
    /// widen; so its size here does not depend on n. Then each clip's variance falls with n and with ε, its bias stays, and so the
    /// error of the best clip never grows with either, as long as it is far from what the prior allows.
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
        let (d, has_nuisance) = regression.parts();
        let strayed = self.bias(regression, STRAYING);
        let mut blocks = vec![(ScoreBlock::Coefficients, self.shares.together.0, &strayed.0, d as f64)];
        if let (true, Some(ratio)) = (has_nuisance, self.shares.together.1) {
            blocks.push((ScoreBlock::Nuisance, ratio, &strayed.1, 1.0));
        }
        let (mut clean, mut astray, mut parameters) = (0.0, 0.0, 0.0);
        for (block, ratio, bias, size) in blocks {
            let noise = Noise { per_clip: rows.noise_of(2.0 * ratio.get()), records: scene.records };
            let variances = variances(regression, &round, block, &set, scene.top, noise);
            let cost = |of: &dyn Fn(&(f64, f64)) -> f64| {
                let least = variances.iter().map(of).fold(f64::INFINITY, f64::min);
                least.is_finite().then(|| size * limit(least, bias))
            };
            clean += cost(&|(_, variance)| *variance)?;
            astray += cost(&|(narrow, variance)| variance + bias.at(*narrow).powi(2))?;
            parameters += size;
        }
        let kept: f64 = ROUNDS[LOST..].iter().sum::<f64>() / ROUNDS.iter().sum::<f64>();
        let error = |cost: f64| ((cost / parameters - 1.0).max(1e-4) / kept).sqrt();
        // A posterior is no wider than its prior, and its mean hardly lies outside of that.
        let most = self.widest(&round, scene.records).max(LARGE_ERROR);
        let (clean, error) = (error(clean).min(most), error(astray).min(most));
        let width = (1.0 + error * error).sqrt();
        Some(Expected { error, range: (0.7 * clean, 1.5 * error), width })
    }

    /// The prior's standard deviations in those of the posterior without privacy, root mean square over the coefficients.
    fn widest(&self, round: &Round, records: f64) -> f64 {
        let (parameters, d) = (self.model.dimension(), (round.whitening.len() as f64).sqrt() as usize);
        let mut prior = vec![0.0; parameters * parameters];
        self.model.prior_precision(&round.theta, &mut prior);
        let variance = |j: usize| (0..d).map(|k| round.whitening[k * d + j].powi(2)).sum::<f64>() / records;
        let squares: f64 = (0..d).map(|j| 1.0 / (prior[j * parameters + j] * variance(j))).sum();
        (squares / d as f64).sqrt()
    }
}
