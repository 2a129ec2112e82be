//! Fits the posterior given all answers so far: its mode by damped Gauss–Newton, its width, and how well answers agree.

use crate::samplers::noise_aware::fit::expectation::{Expected, Held, Round, Set, Wanted, expect};
use crate::samplers::noise_aware::fit::tail::Bias;
use barkeep_model::{Model, Regression};
use barkeep_num::linear::{Cholesky, dot};
use barkeep_num::normal_cdf;

/// Made-up records for covariances.
const COVARIANCE: usize = 512;
/// Made-up records for draws, and of the rarest level among them: level and slope at the mode come from all there are, only the bend
/// from these. Levels that hardly one of them has make modes far off that are none.
const BEND: f64 = 128.0;
const OF_RAREST: f64 = 16.0;
/// How far answers may be off beyond noise because records differ from made-up ones: this share of what is expected.
pub(crate) const DISCREPANCY: f64 = 0.3;
/// How much of a clip's bias two rounds share.
const SHARED_BIAS: f64 = 0.7;
/// The longest step of the mode's search, in prior standard deviations.
const LONGEST: f64 = 0.4;
/// Answers that disagree more than in this share of runs on records that follow the model widen the posterior.
pub(crate) const UNLIKELY: f64 = 0.05;
/// Steps of a search.
const STEPS: usize = 30;

/// All that expectations need, fixed before the first score is asked for.
pub(crate) struct Scene<'a> {
    pub(crate) model: &'a dyn Model,
    pub(crate) regression: &'a Regression,
    /// n, or the rows of all persons as they are believed to be.
    pub(crate) records: f64,
    /// The largest response.
    pub(crate) top: f64,
    /// Made-up records of the columns as they are believed to be.
    pub(crate) set: &'a Set,
    /// Made-up records of columns as they might be.
    pub(crate) others: &'a [Set],
    /// The least share of a level or of a true-or-false value, as it is believed to be.
    pub(crate) rarest: Option<f64>,
}

/// A round with what it makes of every made-up record.
pub(crate) struct Answered {
    pub(crate) round: Round,
    pub(crate) held: Held,
    /// For each of the other sets.
    pub(crate) others: Vec<Held>,
}

impl Answered {
    pub(crate) fn new(scene: &Scene<'_>, round: Round) -> Option<Self> {
        let held = Held::new(scene.regression, &round, scene.set, scene.top)?;
        let others = scene.others.iter().map(|set| Held::new(scene.regression, &round, set, scene.top));
        Some(Self { others: others.collect::<Option<_>>()?, held, round })
    }
}

/// The posterior given the answers.
#[derive(Debug, Clone)]
pub(crate) struct Fit {
    /// The mode.
    pub(crate) mode: Vec<f64>,
    /// Its covariance as a factor.
    pub(crate) factor: Cholesky,
    /// V⁻¹.
    pub(crate) precision: Vec<f64>,
    /// P(χ² > rᵀV⁻¹r) at the mode, with (K − 1)·D degrees of freedom: small where answers disagree.
    pub(crate) agreement: f64,
    /// What V was multiplied by because they do; 1 where they agree.
    pub(crate) inflation: f64,
    /// What expectations over few made-up records lack at the mode, per record, and in slope.
    correction: (Vec<f64>, Vec<f64>),
}

/// What answers are expected to be, at any θ.
pub(crate) trait Expects: Sync {
    /// The number of coefficients, and whether a nuisance follows them.
    fn parts(&self) -> (usize, bool);

    /// Made-up records that there are.
    fn size(&self) -> usize;

    /// Of these, how many draws are judged by.
    fn bend(&self) -> usize;

    /// Expected answers per record at θ, by the first `count` made-up records; `None` where they cannot say.
    fn expected(
        &self,
        answered: &[Answered],
        theta: &[f64],
        count: usize,
        wanted: Wanted,
    ) -> Option<Expected>;

    /// How far they would be elsewhere for columns as they might be, one of them after the other.
    fn moved(&self, answered: &[Answered], theta: &[f64]) -> Option<Vec<Vec<f64>>>;

    /// The share of what is expected that answers may be off by because records differ from made-up ones.
    fn discrepancy(&self) -> f64;
}

/// The posterior given answers.
#[derive(Clone, Copy)]
pub(crate) struct Posterior<'a> {
    pub(crate) model: &'a dyn Model,
    /// n, or the rows of all persons as they are believed to be.
    pub(crate) records: f64,
    pub(crate) expects: &'a dyn Expects,
}

impl Expects for Scene<'_> {
    fn parts(&self) -> (usize, bool) {
        self.regression.parts()
    }

    fn size(&self) -> usize {
        self.set.len()
    }

    fn bend(&self) -> usize {
        let rare = self.rarest.map_or(0.0, |share| OF_RAREST / share.max(1e-6));
        (rare.max(BEND) as usize).min(self.set.len())
    }

    fn expected(
        &self,
        answered: &[Answered],
        theta: &[f64],
        count: usize,
        wanted: Wanted,
    ) -> Option<Expected> {
        self.expected_over(&Self::rounds(answered), (self.set, count), theta, wanted)
    }

    fn moved(&self, answered: &[Answered], theta: &[f64]) -> Option<Vec<Vec<f64>>> {
        let Some(shortest) = self.others.iter().map(Set::len).min() else { return Some(Vec::new()) };
        let base = self.expected(answered, theta, shortest, Wanted::Mean)?;
        let moved = (0..self.others.len()).map(|r| {
            let rounds: Vec<(&Round, &Held)> =
                answered.iter().map(|one| (&one.round, &one.others[r])).collect();
            let seen = self.expected_over(&rounds, (&self.others[r], shortest), theta, Wanted::Mean)?;
            Some(seen.mean.iter().zip(&base.mean).map(|(a, b)| self.records * (a - b)).collect())
        });
        moved.collect()
    }

    fn discrepancy(&self) -> f64 {
        DISCREPANCY
    }
}

impl Scene<'_> {
    /// The posterior given answers in this scene.
    pub(crate) fn posterior(&self) -> Posterior<'_> {
        Posterior { model: self.model, records: self.records, expects: self }
    }

    fn rounds(answered: &[Answered]) -> Vec<(&Round, &Held)> {
        answered.iter().map(|one| (&one.round, &one.held)).collect()
    }

    /// The same over records as they might be.
    fn expected_over(
        &self,
        rounds: &[(&Round, &Held)],
        set: (&Set, usize),
        theta: &[f64],
        wanted: Wanted,
    ) -> Option<Expected> {
        let mut expected = expect(self.regression, rounds, set, theta, self.top, wanted)?;
        expected.squeeze(rounds, self.regression.parts().0);
        Some(expected)
    }
}

impl Posterior<'_> {
    fn parameters(&self) -> usize {
        let (d, nuisance) = self.expects.parts();
        d + usize::from(nuisance)
    }

    fn expected(
        &self,
        answered: &[Answered],
        theta: &[f64],
        count: usize,
        wanted: Wanted,
    ) -> Option<Expected> {
        self.expects.expected(answered, theta, count, wanted)
    }

    /// What the answers differ from their expectation by.
    pub(crate) fn rest(&self, answered: &[Answered], mean: &[f64]) -> Vec<f64> {
        let answers = answered.iter().flat_map(|one| &one.round.answer);
        answers.zip(mean).map(|(answer, mean)| answer - self.records * mean).collect()
    }

    /// V: sampling, noise, doubt about the columns, discrepancy and the clips' bias.
    fn variance(
        &self,
        answered: &[Answered],
        theta: &[f64],
        mean: &[f64],
        bias: &(Bias, Bias),
    ) -> Option<Vec<f64>> {
        let (n, parameters) = (self.records, self.parameters());
        let size = mean.len();
        let base = self.expected(answered, theta, COVARIANCE, Wanted::Covariance)?;
        let mut variance: Vec<f64> = base.covariance.iter().map(|entry| n * entry).collect();
        for (k, one) in answered.iter().enumerate() {
            let own = &mean[k * parameters..(k + 1) * parameters];
            let doubt = self.expects.discrepancy() * n * dot(own, own).sqrt();
            for (j, noise) in one.round.noise.iter().enumerate() {
                let at = k * parameters + j;
                variance[at * size + at] += noise * noise + doubt * doubt / parameters as f64 + 1e-6 * n;
            }
        }
        let pull = |k: usize, j: usize| {
            let (coefficients, nuisance) = answered[k].round.narrowness;
            let is_nuisance = j == self.expects.parts().0;
            let own = if is_nuisance { bias.1.at(nuisance) } else { bias.0.at(coefficients) };
            let Some(gain) = answered[k].round.gain(is_nuisance) else { return own };
            let width = if is_nuisance { 1.0 } else { self.expects.parts().0 as f64 };
            (gain.small() * own).hypot((n / width).sqrt() * gain.bias)
        };
        for k in 0..answered.len() {
            for l in 0..answered.len() {
                for j in 0..parameters {
                    let share = if k == l { 1.0 } else { SHARED_BIAS };
                    variance[(k * parameters + j) * size + l * parameters + j] +=
                        n * share * pull(k, j) * pull(l, j);
                }
            }
        }
        let moved = self.expects.moved(answered, theta)?;
        if moved.is_empty() {
            return Some(variance);
        }
        for i in 0..size {
            for j in 0..=i {
                let entry = moved.iter().map(|moved| moved[i] * moved[j]).sum::<f64>() / moved.len() as f64;
                variance[i * size + j] += entry;
                variance[j * size + i] = variance[i * size + j];
            }
        }
        Some(variance)
    }

    /// −½rᵀV⁻¹r + ln p(θ).
    fn height(&self, answered: &[Answered], precision: &[f64], theta: &[f64], mean: &[f64]) -> f64 {
        let rest = self.rest(answered, mean);
        self.model.log_prior(theta) - 0.5 * quadratic(precision, &rest)
    }

    /// The posterior, started at θ; V is renewed up to `renewals` times.
    pub(crate) fn fit(
        &self,
        answered: &[Answered],
        start: &[f64],
        bias: &(Bias, Bias),
        renewals: usize,
    ) -> Option<Fit> {
        let (n, d) = (self.records, self.parameters());
        let whole = self.expects.size();
        let mut theta = start.to_vec();
        let mut found = None;
        for _ in 0..renewals {
            let before = theta.clone();
            let mut seen = self.expected(answered, &theta, whole, Wanted::Slopes)?;
            let size = seen.mean.len();
            let variance = self.variance(answered, &theta, &seen.mean, bias)?;
            let precision = Cholesky::new(&variance, size)?.inverse();
            let mut height = self.height(answered, &precision, &theta, &seen.mean);
            let mut damping = 1e-3;
            for _ in 0..STEPS {
                let (gradient, curvature) = self.newton(answered, &precision, &theta, &seen, n)?;
                let mut better = None;
                for _ in 0..8 {
                    let step = damped(&curvature, &gradient, damping, d)?;
                    let step = self.shortened(&theta, step);
                    let next: Vec<f64> = theta.iter().zip(&step).map(|(x, step)| x + step).collect();
                    let there = self.expected(answered, &next, whole, Wanted::Slopes);
                    if let Some(there) = there {
                        let higher = self.height(answered, &precision, &next, &there.mean);
                        if higher.is_finite() && higher >= height - 1e-7 {
                            better = Some((next, there, higher));
                            break;
                        }
                    }
                    damping *= 6.0;
                }
                let Some((next, there, higher)) = better else { break };
                let gain = higher - height;
                (theta, seen, height) = (next, there, higher);
                damping /= 6.0;
                if gain < 1e-3 {
                    break;
                }
            }
            let (_, curvature) = self.newton(answered, &precision, &theta, &seen, n)?;
            let covariance = Cholesky::new(&curvature, d)?.inverse();
            let factor = Cholesky::new(&covariance, d)?;
            let moved = theta.iter().zip(&before).enumerate();
            let moved =
                moved.map(|(j, (x, y))| (x - y).abs() / covariance[j * d + j].sqrt()).fold(0.0, f64::max);
            let discrepancy = quadratic(&precision, &self.rest(answered, &seen.mean));
            let freedom = ((answered.len() - 1) * d) as f64;
            let agreement = chi_square_tail(discrepancy, freedom);
            let inflation = if agreement < UNLIKELY { (discrepancy / freedom).max(1.0) } else { 1.0 };
            let fit = Fit {
                mode: theta.clone(),
                factor,
                precision,
                agreement,
                inflation,
                correction: (vec![], vec![]),
            };
            found = Some((seen, fit));
            if moved < 0.1 {
                break;
            }
        }
        let (seen, mut fit) = found?;
        if fit.inflation > 1.0 {
            fit.precision.iter_mut().for_each(|entry| *entry /= fit.inflation);
            let (_, curvature) = self.newton(answered, &fit.precision, &fit.mode, &seen, n)?;
            fit.factor = Cholesky::new(&Cholesky::new(&curvature, d)?.inverse(), d)?;
        }
        let bend = self.expects.bend();
        if whole > bend {
            let few = self.expected(answered, &fit.mode, bend, Wanted::Slopes)?;
            let lacks = |all: &[f64], few: &[f64]| all.iter().zip(few).map(|(a, b)| a - b).collect();
            fit.correction = (lacks(&seen.mean, &few.mean), lacks(&seen.slopes, &few.slopes));
        }
        Some(fit)
    }

    /// The gradient of the height and a positive definite curvature.
    fn newton(
        &self,
        answered: &[Answered],
        precision: &[f64],
        theta: &[f64],
        seen: &Expected,
        n: f64,
    ) -> Option<(Vec<f64>, Vec<f64>)> {
        let (d, size) = (self.parameters(), seen.mean.len());
        let rest = self.rest(answered, &seen.mean);
        let pulled: Vec<f64> = precision.chunks_exact(size).map(|row| dot(row, &rest)).collect();
        let (mut gradient, mut curvature) = (vec![0.0; d], vec![0.0; d * d]);
        self.model.prior_gradient(theta, &mut gradient);
        self.model.prior_precision(theta, &mut curvature);
        // V⁻¹J, row by row.
        let mut mapped = vec![0.0; size * d];
        for (row, out) in precision.chunks_exact(size).zip(mapped.chunks_exact_mut(d)) {
            for (weight, slopes) in row.iter().zip(seen.slopes.chunks_exact(d)) {
                out.iter_mut().zip(slopes).for_each(|(out, slope)| *out += weight * slope);
            }
        }
        for (i, (slopes, mapped)) in seen.slopes.chunks_exact(d).zip(mapped.chunks_exact(d)).enumerate() {
            for (j, slope) in slopes.iter().enumerate() {
                gradient[j] += n * slope * pulled[i];
                let row = &mut curvature[j * d..(j + 1) * d];
                row.iter_mut().zip(mapped).for_each(|(out, mapped)| *out += n * n * slope * mapped);
            }
        }
        for i in 0..d {
            for j in 0..i {
                let entry = 0.5 * (curvature[i * d + j] + curvature[j * d + i]);
                curvature[i * d + j] = entry;
                curvature[j * d + i] = entry;
            }
        }
        gradient.iter().chain(&curvature).all(|entry| entry.is_finite()).then_some((gradient, curvature))
    }

    /// A step of at most [`LONGEST`] prior standard deviations in each coefficient, and of 1 in the nuisance's logarithm.
    fn shortened(&self, theta: &[f64], step: Vec<f64>) -> Vec<f64> {
        let (d, parameters) = (self.expects.parts().0, self.parameters());
        let mut precision = vec![0.0; parameters * parameters];
        self.model.prior_precision(theta, &mut precision);
        let longest = |j: usize| match precision[j * parameters + j] {
            _ if j == d => 1.0,
            precision if precision > 0.0 => LONGEST / precision.sqrt(),
            _ => f64::INFINITY,
        };
        let excess = step.iter().enumerate().map(|(j, step)| step.abs() / longest(j)).fold(1.0, f64::max);
        step.iter().map(|step| step / excess).collect()
    }

    /// ln of the posterior density at θ, up to a constant: for draws near the mode.
    pub(crate) fn log_posterior(&self, answered: &[Answered], fit: &Fit, theta: &[f64]) -> f64 {
        let Some(mut seen) = self.expected(answered, theta, self.expects.bend(), Wanted::Mean) else {
            return f64::NEG_INFINITY;
        };
        let (level, slopes) = &fit.correction;
        if !level.is_empty() {
            let away: Vec<f64> = theta.iter().zip(&fit.mode).map(|(x, mode)| x - mode).collect();
            for ((mean, level), slopes) in
                seen.mean.iter_mut().zip(level).zip(slopes.chunks_exact(away.len()))
            {
                *mean += level + dot(slopes, &away);
            }
        }
        let height = self.height(answered, &fit.precision, theta, &seen.mean);
        if height.is_nan() { f64::NEG_INFINITY } else { height }
    }

    /// The same with its gradient, by all made-up records: few of them say nothing of rare levels far from the mode. `None` where one
    /// of the two is not finite.
    pub(crate) fn sloped(&self, answered: &[Answered], fit: &Fit, theta: &[f64]) -> Option<(f64, Vec<f64>)> {
        let seen = self.expected(answered, theta, self.expects.size(), Wanted::Slopes)?;
        let rest = self.rest(answered, &seen.mean);
        let mut gradient = vec![0.0; theta.len()];
        self.model.prior_gradient(theta, &mut gradient);
        for (row, slopes) in fit.precision.chunks_exact(rest.len()).zip(seen.slopes.chunks_exact(theta.len()))
        {
            let pulled = self.records * dot(row, &rest);
            gradient.iter_mut().zip(slopes).for_each(|(sum, slope)| *sum += slope * pulled);
        }
        let height = self.height(answered, &fit.precision, theta, &seen.mean);
        let is_finite = height.is_finite() && gradient.iter().all(|entry| entry.is_finite());
        is_finite.then_some((height, gradient))
    }
}

impl Fit {
    /// The squared distance of θ from the mode, in this fit's standard deviations.
    pub(crate) fn distance(&self, theta: &[f64]) -> f64 {
        let away: Vec<f64> = theta.iter().zip(&self.mode).map(|(x, mode)| x - mode).collect();
        let rows = self.factor.inverse_lower().chunks_exact(away.len());
        rows.map(|row| dot(row, &away).powi(2)).sum()
    }
}

/// P(χ²_k > x) by the cube root's normal approximation (Wilson and Hilferty 1931): right to a few thousandths.
pub(crate) fn chi_square_tail(x: f64, k: f64) -> f64 {
    if k <= 0.0 {
        return 1.0;
    }
    let spread = 2.0 / (9.0 * k);
    normal_cdf(-(((x / k).max(0.0).cbrt() - (1.0 - spread)) / spread.sqrt()))
}

pub(crate) fn quadratic(matrix: &[f64], vector: &[f64]) -> f64 {
    matrix.chunks_exact(vector.len()).zip(vector).map(|(row, x)| x * dot(row, vector)).sum()
}

/// The step that solves (H + damping·diag H)·step = gradient.
fn damped(curvature: &[f64], gradient: &[f64], damping: f64, d: usize) -> Option<Vec<f64>> {
    let mut matrix = curvature.to_vec();
    matrix.iter_mut().step_by(d + 1).for_each(|entry| *entry *= 1.0 + damping);
    let inverse = Cholesky::new(&matrix, d)?.inverse();
    Some(inverse.chunks_exact(d).map(|row| dot(row, gradient)).collect())
}

#[cfg(test)]
impl Fit {
    /// A fit with this mode and unit covariance, for tests of the rooms beside this one.
    pub(crate) fn at(mode: &[f64]) -> Self {
        let d = mode.len();
        let unit: Vec<f64> = (0..d * d).map(|k| f64::from(u8::from(k % (d + 1) == 0))).collect();
        let factor = Cholesky::new(&unit, d).unwrap();
        let mode = mode.to_vec();
        Self { mode, factor, precision: vec![], agreement: 1.0, inflation: 1.0, correction: (vec![], vec![]) }
    }
}

#[cfg(test)]
mod tests;
