//! Looks ahead from public facts: how near the posterior without privacy the answers will come.
//!
//! A mean given answers differs from that given the records by D = E[θ | answers] − E[θ | records]. If beliefs are right, the answers'
//! posterior variance is that of the records plus E D²: the error's square is what the variance grows by. So a forecast goes
//! through the sampler's own arithmetic and adds up what each round leaves, in units of the posterior's variance without privacy:
//!
//! - a clip c leaves S(c) − 1 of sampling and N(c) of noise, by the same sums over made-up records that choose it;
//! - round k is asked where round k − 1 left the mode. The answer is doubted by a share κ of how far that is, so it is weighed by
//!   1/(N_k + κ²·E²ₖ₋₁), and E²ₖ is S − 1 and the variance of the weighed mean so far. Noise is divided by a slope that is
//!   known only as well as the columns are;
//! - records that stray from their family add the square of the clip's bias.
//!
//! Each part falls as n or ε grows: at the best clip noise falls by more than the bias of more records grows.
//!
//! [`SIGNAL`], [`MET`] and the shares of levels are guesses. They were settled with the experiments `coverage`, `real-data`, six designs
//! of `promise` and eleven cells of real problems in view; the other designs were measured afterwards.

use crate::samplers::entry::{Expected, Forecast, MakeForecast};
use crate::samplers::noise_aware::fit::expectation::{Round, Set, information};
use crate::samplers::noise_aware::fit::persons::{MadeUp, RowLaw, make_up};
use crate::samplers::noise_aware::fit::posterior::{DISCREPANCY, Scene};
use crate::samplers::noise_aware::fit::tail::{Bias, Part, believed_straying};
use crate::samplers::noise_aware::policy::clip::{Left, Noise, left, limit};
use crate::samplers::noise_aware::questions::ask::{Setup, TAIL_ROUND};
use crate::samplers::noise_aware::questions::shares::ROUNDS;
use crate::samplers::noise_aware::synthetic::columns::Grid;
use crate::samplers::noise_aware::synthetic::copula::Belief;
use crate::start::prior_mode;
use barkeep_accounting::{Neighbours, Ratio};
use barkeep_curator::gram_sensitivity;
use barkeep_model::ScoreBlock;
use barkeep_num::linear::dot;

/// Made-up records of a forecast, and at most, where a level is rare.
const RECORDS: (f64, f64) = (256.0, 2048.0);
/// Made-up records of the rarest level.
const OF_RAREST: f64 = 16.0;
/// A mean is off by more than half a posterior standard deviation: worth a word.
const LARGE_ERROR: f64 = 3.0;
/// Clips between two that a run tries.
const BETWEEN: u32 = 8;
/// The bias of a clip is reckoned with up to this many records: of more, the tail's answer shows how far they stray, and clips widen.
const STRAYING: f64 = 2e4;
/// The share of the allowance for records that differ from made-up ones which is met on average.
const MET: f64 = 1.0 / 3.0;
/// What slopes together typically say, as a variance of the predictor times a record's information about it: a fifth of a normal
/// response's variance is explained, or chances of yes and no spread as predictors of sd 1 make them.
const SIGNAL: f64 = 0.25;

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
}

/// A clip of a block, and what it leaves.
#[derive(Debug, Clone, Copy)]
struct Point {
    narrow: f64,
    /// The mean variance over whitened directions, by which clips are chosen.
    mean: f64,
    /// What sampling leaves, S, and what noise does, N; means over the parameters.
    sampling: f64,
    noise: f64,
}

/// A block of parameters and what clips leave of it.
struct Block {
    part: Part,
    size: f64,
    points: Vec<Point>,
}

impl Block {
    /// Clips between those that are tried, so that a forecast does not jump where a run's clip does.
    fn new(block: ScoreBlock, size: f64, round: &Round, left: &[Left]) -> Self {
        let part = match block {
            ScoreBlock::Coefficients => Part::Coefficients,
            ScoreBlock::Nuisance => Part::Nuisance,
        };
        let whitening = match block {
            ScoreBlock::Coefficients => &round.whitening[..],
            ScoreBlock::Nuisance => &[1.0],
        };
        let tried: Vec<[f64; 4]> = left
            .iter()
            .map(|left| {
                let (sampling, noise) = left.through(whitening);
                [left.narrow, left.mean(), sampling, noise].map(|x| libm::log(x.max(1e-300)))
            })
            .collect();
        let between = tried.windows(2).flat_map(|pair| {
            (0..BETWEEN).map(|k| {
                let share = f64::from(k) / f64::from(BETWEEN);
                let [narrow, mean, sampling, noise] =
                    std::array::from_fn(|j| libm::exp(pair[0][j] + share * (pair[1][j] - pair[0][j])));
                Point { narrow, mean, sampling, noise }
            })
        });
        let points = between.filter(|point| point.mean.is_finite()).collect();
        Self { part, size, points }
    }

    /// The clip that a run chooses under a belief about its bias.
    fn choose(&self, bias: &Bias) -> Option<Point> {
        let cost = |point: &Point| point.mean + bias.at(point.narrow).powi(2);
        let least = self.points.iter().map(cost).fold(f64::INFINITY, f64::min);
        let most = limit(least, bias);
        self.points.iter().rev().find(|point| cost(point) <= most).copied()
    }
}

impl Setup {
    /// The error for columns as they are declared or usually are, and for records that stray from their family as far as real ones are
    /// believed to. Nobody knows that before the tail is asked; the range's lower end is that of records which follow it.
    pub(crate) fn expected(&self) -> Option<Expected> {
        let regression = self.regression().ok()?;
        let raws = &self.coordinates.raws;
        let grids: Vec<Grid> = raws.iter().map(|raw| Grid::new(raw.is_binary())).collect();
        let belief = Belief::before(&self.coordinates, &grids).uneven(raws);
        let count = (OF_RAREST / belief.rarest(raws)).clamp(RECORDS.0, RECORDS.1) as usize;
        let set =
            Set::new(regression, &belief.rows(&self.coordinates, self.columns(), count), self.columns());
        let rows = self.rows_before();
        let scene = self.scene(regression, &set, &[], &rows);
        let (d, has_nuisance) = regression.parts();
        let round = self.typical_round(&scene)?;
        let of = |block: ScoreBlock, size: f64, ratio: Ratio| {
            let noise = Noise { per_clip: rows.noise_of(2.0 * ratio.get()), records: scene.records };
            let left = left(regression, &round, block, (&set, count), scene.top, noise);
            Block::new(block, size, &round, &left)
        };
        let mut blocks = vec![of(ScoreBlock::Coefficients, d as f64, self.shares.together.0)];
        if let (true, Some(ratio)) = (has_nuisance, self.shares.together.1) {
            blocks.push(of(ScoreBlock::Nuisance, 1.0, ratio));
        }
        // A posterior is no wider than its prior, and its mean hardly lies outside of that.
        let most = self.widest(&round, scene.records).max(LARGE_ERROR);
        let error = |straying: f64| Some(self.error(&scene, &round, &rows, &blocks, straying)?.min(most));
        let (clean, error) = (error(0.0)?, error(believed_straying())?);
        let width = (1.0 + error * error).sqrt();
        Some(Expected { error, range: (0.7 * clean, 1.5 * error), width })
    }

    /// A round where slopes say as much as [`SIGNAL`], alternately up and down, each as much over its feature's range as any other. At
    /// the prior's mode all records would be as likely to respond, and scores nowhere as long as they are.
    fn typical_round(&self, scene: &Scene<'_>) -> Option<Round> {
        let mut theta = prior_mode(&*self.model);
        let (set, d) = (scene.set, scene.regression.parts().0);
        let (matrix, _) = information(scene.regression, (set, set.len()), &theta, scene.top)?;
        let count = set.len().max(1) as f64;
        let over = |sum: &dyn Fn(usize) -> f64| (0..set.len()).map(sum).sum::<f64>() / count;
        let squares: f64 = (0..d).map(|j| over(&|i| set.row(i)[j].powi(2))).sum();
        let weight = matrix.iter().step_by(d + 1).sum::<f64>() / squares;
        let slopes: Vec<f64> = (0..d)
            .map(|j| {
                let values = || (0..set.len()).map(|i| set.row(i)[j]);
                let range =
                    values().fold(f64::NEG_INFINITY, f64::max) - values().fold(f64::INFINITY, f64::min);
                let sign = if j % 2 == 0 { -1.0 } else { 1.0 };
                if range > 0.0 { sign / range } else { 0.0 }
            })
            .collect();
        let mean = over(&|i| dot(set.row(i), &slopes));
        let variance = over(&|i| (dot(set.row(i), &slopes) - mean).powi(2));
        let length = (SIGNAL / (weight * variance)).sqrt();
        if length.is_finite() {
            theta.iter_mut().zip(&slopes).for_each(|(x, slope)| *x += length * slope);
        }
        self.round(scene, &theta).ok()
    }

    /// The error that rounds leave of records that stray by a multiple of what is usual.
    fn error(
        &self,
        scene: &Scene<'_>,
        round: &Round,
        rows: &RowLaw,
        blocks: &[Block],
        straying: f64,
    ) -> Option<f64> {
        let n = scene.records;
        let parameters: f64 = blocks.iter().map(|block| block.size).sum();
        let before = self.bias(scene.regression, n);
        let after = match self.shares.tail {
            None => before.clone(),
            Some(ratio) => {
                let noise = 2.0 * std::f64::consts::SQRT_2 * ratio.get() / self.records;
                let given = |part| Bias::given(&Bias::straying(straying), noise, part, n);
                (given(Part::Coefficients), given(Part::Nuisance))
            }
        };
        let mut chosen = Vec::new();
        for block in blocks {
            let pick = |(first, second): &(Bias, Bias)| {
                block.choose(if block.part == Part::Coefficients { first } else { second })
            };
            chosen.push((pick(&before)?, pick(&after)?));
        }
        let narrowness = (chosen[0].1.narrow, chosen.last()?.1.narrow);
        let gains = self.gains(scene, round, rows, narrowness);
        let many = n.min(STRAYING);
        let own = |block: &Block, point: Point| match self.shares.tail {
            Some(_) => Bias::of_straying(straying, block.part, many).at(point.narrow).powi(2),
            None => 0.0,
        };
        let total: f64 = ROUNDS.iter().sum();
        let columns = self.columns_doubt();
        let (doubt, met) = (DISCREPANCY.powi(2) + columns, (MET * DISCREPANCY).powi(2) + columns);
        // Noise is divided by a slope that is known as well as the columns: E(1 + κz)⁻² is 1 + 3κ² to second order.
        let amplified = 1.0 + 3.0 * columns;
        let mut square = n * SIGNAL / parameters;
        let mut sums = vec![(0.0, 0.0); blocks.len()];
        for (k, share) in ROUNDS.iter().enumerate() {
            let mut next = 0.0;
            for (j, block) in blocks.iter().enumerate() {
                let point = if k < TAIL_ROUND { chosen[j].0 } else { chosen[j].1 };
                let (sampling, noise, bias) = gains.as_ref().map_or((1.0, 1.0, 0.0), |gains| gains[j]);
                let noise = point.noise * noise * amplified * total / share;
                let weight = 1.0 / (noise + doubt * square);
                sums[j].0 += weight * weight * (noise + met * square);
                sums[j].1 += weight;
                let left = (point.sampling * sampling - 1.0).max(0.0) + own(block, point) + bias;
                next += block.size / parameters * (left + sums[j].0 / (sums[j].1 * sums[j].1));
            }
            square = next;
        }
        Some(square.max(1e-4).sqrt())
    }

    /// What the clip of a person's rows makes of sampling and of noise, and the square of its bias, for each block; `None` of records.
    fn gains(
        &self,
        scene: &Scene<'_>,
        round: &Round,
        rows: &RowLaw,
        narrowness: (f64, f64),
    ) -> Option<Vec<(f64, f64, f64)>> {
        if rows.is_one() {
            return None;
        }
        let round = Round { narrowness, ..round.clone() };
        let (first, second) = make_up(scene.regression, &round, scene.set, rows, scene.top)?;
        let own = round.clips();
        let of = |made: &MadeUp, own: f64, ratio: Ratio, width: f64| {
            let gain = made.choose(own, 2.0 * ratio.get(), self.records);
            let square = gain.small() * gain.small();
            let noise = gain.clip / (own * rows.noise_of(1.0));
            (
                gain.share / square,
                noise * noise / square,
                scene.records / width * gain.bias * gain.bias / square,
            )
        };
        let d = scene.regression.parts().0 as f64;
        let mut all = vec![of(&first, own.0, self.shares.together.0, d)];
        if let (Some(made), Some(ratio)) = (second, self.shares.together.1) {
            all.push(of(&made, own.1, ratio, 1.0));
        }
        Some(all)
    }

    /// The square of what expectations are doubted by because columns are known from noisy answers, as a share of them.
    fn columns_doubt(&self) -> f64 {
        let p = self.coordinates.raws.len() as f64;
        let Some(ratio) = self.shares.gram else { return 0.0 };
        let radius = p.sqrt() + 0.7;
        let Ok(reach) = gram_sensitivity(radius, Neighbours::Substitute) else { return 0.0 };
        let noise = ratio.get() * reach.get() / self.records;
        let known = |believed: f64, noise: f64| 1.0 / (believed.powi(-2) + noise.powi(-2));
        known(1.4, noise.hypot(0.05))
            + (p - 1.0) * known(0.35, (noise * std::f64::consts::FRAC_1_SQRT_2).hypot(0.03))
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

#[cfg(test)]
mod tests;
