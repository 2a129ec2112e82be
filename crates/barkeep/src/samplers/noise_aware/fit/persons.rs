//! Turns what is expected of rows into what is expected of persons: a person's rows are added, and their sum is clipped once.
//!
//! Let a row's term be ψ, of length at most c, and e = E_θ ψ its mean, about 0 at the round's θ_k. A person with m rows adds
//! clip_C(Σψ), C ≥ c. Where m·c ≤ C nothing is clipped: the mean is m·e. Elsewhere it is less, by a gain that follows from
//! made-up persons: rows are drawn at θ_k, their sum s is moved by ±m·e, and the difference of the clipped sums is averaged over
//! persons and directions. So an answer's mean is N·g(|e|)·e, with N the number of rows. Its variance is N·w·Cov ψ: w is the share
//! of E|s|² that the clip leaves.
//!
//! At θ_k itself E s = 0, but not E clip_C(s) where rows are skewed. What is lost, b = |E clip_C(s)|, depends on how alike a person's
//! rows are, which nobody asked: half of the made-up persons have rows of one kind, and the larger b of both halves counts, in the
//! choice of C and in the variance of answers. So C grows with the number of persons, up to where nothing is clipped.
//!
//! How many rows persons have is asked with the columns. What is not known of that number multiplies e, which is about 0 where
//! it matters, and no variance is reckoned for it. Rows of one person are taken to be independent given θ, as the likelihood has them.

use crate::public_rng::PublicRng;
use crate::samplers::noise_aware::fit::expectation::{Round, Set};
use barkeep_model::{NodeRoom, Regression, Scorer};
use barkeep_num::linear::dot;

/// Numbers of rows that are distinguished.
const SIZES: usize = 64;
/// Made-up persons.
const PERSONS: usize = 2048;
/// More rows of a person are not made up: their sum is that of this many, stretched.
const MOST: usize = 64;
/// Means for which a gain is tabled, over the row's clip.
const MEANS: usize = 20;
const SMALLEST: f64 = 0.01;
/// What a person's noise is over a row's, times the root of the rows, where a row's clip is chosen: the clip of a sum takes a
/// sixth off its mean.
const LOSS: f64 = 1.2;

/// How many rows persons have.
#[derive(Debug, Clone)]
pub(crate) struct RowLaw {
    /// Numbers of rows, ascending.
    sizes: Vec<f64>,
    /// How often each is.
    shares: Vec<f64>,
}

impl RowLaw {
    /// One row each.
    pub(crate) fn one() -> Self {
        Self { sizes: vec![1.0], shares: vec![1.0] }
    }

    /// From 1 to `most` rows, with this mean and this variance of z, the number mapped to [−1, 1]: of all such laws the one of the
    /// largest entropy, exp(a·z + b·z²), found by damped Newton steps.
    pub(crate) fn new(most: u64, mean: f64, variance: f64) -> Self {
        if most <= 1 {
            return Self::one();
        }
        let count = usize::try_from(most).unwrap_or(SIZES).min(SIZES);
        let z = |k: usize| 2.0 * k as f64 / (count - 1) as f64 - 1.0;
        let mean = mean.clamp(-0.999, 0.999);
        let second = mean * mean + variance.clamp(1e-4, 1.0 - mean * mean);
        let shares = |(a, b): (f64, f64)| -> Vec<f64> {
            let logs: Vec<f64> = (0..count).map(|k| a * z(k) + b * z(k) * z(k)).collect();
            let largest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let weights: Vec<f64> = logs.iter().map(|log| libm::exp(log - largest)).collect();
            let total: f64 = weights.iter().sum();
            weights.iter().map(|weight| weight / total).collect()
        };
        let mut at = (0.0, 0.0);
        for _ in 0..60 {
            let weights = shares(at);
            let moment =
                |power: i32| weights.iter().enumerate().map(|(k, w)| w * z(k).powi(power)).sum::<f64>();
            let [m1, m2, m3, m4] = [1, 2, 3, 4].map(moment);
            // The covariance of (z, z²); a little more on its diagonal keeps steps short where the law is nearly one point.
            let (aa, ab, bb) = (m2 - m1 * m1 + 1e-4, m3 - m1 * m2, m4 - m2 * m2 + 1e-4);
            let (u, v) = (mean - m1, second - m2);
            let determinant = (aa * bb - ab * ab).max(1e-12);
            let cut = |x: f64| x.clamp(-5.0, 5.0);
            at.0 = (at.0 + cut((bb * u - ab * v) / determinant)).clamp(-400.0, 400.0);
            at.1 = (at.1 + cut((aa * v - ab * u) / determinant)).clamp(-400.0, 400.0);
        }
        let sizes = (0..count).map(|k| (1.0 + 0.5 * (z(k) + 1.0) * (most - 1) as f64).round()).collect();
        Self { sizes, shares: shares(at) }
    }

    /// Whether every person has one row.
    pub(crate) fn is_one(&self) -> bool {
        self.sizes.len() == 1
    }

    /// Rows of a person on average.
    pub(crate) fn mean(&self) -> f64 {
        dot(&self.sizes, &self.shares)
    }

    /// The size of which a share of persons has fewer rows.
    fn quantile(&self, share: f64) -> f64 {
        let mut left = share;
        for (size, own) in self.sizes.iter().zip(&self.shares) {
            left -= own;
            if left < 0.0 {
                return *size;
            }
        }
        self.sizes.last().copied().unwrap_or(1.0)
    }

    /// What the noise on a sum of all is over a row's clip, where σ/C is `per_clip`: for the choice of the row's clip.
    pub(crate) fn noise_of(&self, per_clip: f64) -> f64 {
        if self.is_one() { per_clip } else { LOSS * self.mean().sqrt() * per_clip }
    }
}

/// What a person's clip makes of a block of parameters.
#[derive(Debug, Clone)]
pub(crate) struct Gain {
    /// C.
    pub(crate) clip: f64,
    /// w.
    pub(crate) share: f64,
    /// b over the rows of a person.
    pub(crate) bias: f64,
    /// ln of the means that are tabled, and g at each.
    table: Vec<(f64, f64)>,
}

impl Gain {
    /// g at a mean, and its slope there.
    fn at(&self, mean: f64) -> (f64, f64) {
        let x = libm::log(mean.max(1e-300));
        let next = self.table.partition_point(|(place, _)| *place <= x);
        let (Some(from), Some(to)) =
            (next.checked_sub(1).and_then(|k| self.table.get(k)), self.table.get(next))
        else {
            let end = if next == 0 { self.table.first() } else { self.table.last() };
            return (end.map_or(1.0, |(_, gain)| *gain), 0.0);
        };
        let slope = (to.1 - from.1) / (to.0 - from.0);
        (from.1 + slope * (x - from.0), slope / mean)
    }

    /// g of a small mean.
    pub(crate) fn small(&self) -> f64 {
        self.table.first().map_or(1.0, |(_, gain)| *gain)
    }

    /// Turns the mean of a row's block, and its slopes row by row, into a person's over the rows of one.
    pub(crate) fn squeeze(&self, mean: &mut [f64], slopes: &mut [f64]) {
        let length = dot(mean, mean).sqrt();
        let (gain, bend) = self.at(length);
        let width = slopes.len() / mean.len().max(1);
        if width > 0 {
            // d(g(|e|)·e) = g·de + g′·e(e·de)/|e|.
            let mut along = vec![0.0; width];
            for (e, row) in mean.iter().zip(slopes.chunks_exact(width)) {
                along.iter_mut().zip(row).for_each(|(sum, slope)| *sum += e * slope);
            }
            for (e, row) in mean.iter().zip(slopes.chunks_exact_mut(width)) {
                let radial = bend * e / length.max(1e-300);
                row.iter_mut().zip(&along).for_each(|(slope, along)| *slope = gain * *slope + radial * along);
            }
        }
        mean.iter_mut().for_each(|e| *e *= gain);
    }
}

/// Whether the rows of a made-up person are of one kind.
fn is_alike(person: usize) -> bool {
    person % 2 == 1
}

/// Made-up persons of one block: the sums of their rows and how many these are.
pub(crate) struct MadeUp {
    width: usize,
    sums: Vec<f64>,
    rows: Vec<f64>,
    /// A direction for each.
    directions: Vec<f64>,
}

/// Makes persons up at a round's θ: sums for the coefficients and, where there is one, for the nuisance.
pub(crate) fn make_up(
    regression: &Regression,
    round: &Round,
    set: &Set,
    law: &RowLaw,
    top: f64,
) -> Option<(MadeUp, Option<MadeUp>)> {
    let (d, has_nuisance) = regression.parts();
    let scorer = regression.scorer(round.coefficients(), top)?;
    let other = if has_nuisance { Some(regression.scorer(round.nuisance(), top)?) } else { None };
    let rule = regression.nodes(&round.theta, top)?;
    let mut rng = PublicRng::new(0, 1);
    let mut first = MadeUp { width: d, sums: Vec::new(), rows: Vec::new(), directions: Vec::new() };
    let mut second = MadeUp { width: 1, sums: Vec::new(), rows: Vec::new(), directions: Vec::new() };
    let (mut room, mut nodes) = (NodeRoom::default(), NodeRoom::default());
    let mut whitened = vec![0.0; d];
    for person in 0..PERSONS {
        let rows = law.quantile((person as f64 + 0.5) / PERSONS as f64);
        let made = (rows as usize).clamp(1, MOST);
        let stretch = (rows / made as f64).sqrt();
        let (mut sum, mut single) = (vec![0.0; d], 0.0);
        let alike = rng.index(set.len());
        for _ in 0..made {
            let any = rng.index(set.len());
            let i = if is_alike(person) { alike } else { any };
            let (predictor, trials) = set.predictor(i, &round.theta);
            nodes.fill(&rule, predictor, trials);
            let mut left = rng.uniform() * nodes.weights().iter().sum::<f64>();
            let drawn = nodes.weights().iter().position(|weight| {
                left -= weight;
                left < 0.0
            });
            let response = [nodes.responses()[drawn.unwrap_or(nodes.responses().len() - 1)]];
            let (mut slope, mut nuisance) = ([0.0], vec![0.0; usize::from(has_nuisance)]);
            regression.slopes(&round.theta, (predictor, trials), &response, &mut slope, &mut nuisance);
            let bound = scorer.bound(scorer.whiten(set.row(i), &mut whitened));
            let factor = Scorer::factor(slope[0], bound, scorer.centre(predictor, trials, bound, &mut room));
            sum.iter_mut().zip(&whitened).for_each(|(sum, a)| *sum += stretch * factor * a);
            if let (Some(other), Some(slope)) = (&other, nuisance.first()) {
                let bound = other.bound(round.stretch.abs());
                let centre = other.centre(predictor, trials, bound, &mut room);
                single += stretch * round.stretch * Scorer::factor(*slope, bound, centre);
            }
        }
        let direction: Vec<f64> = (0..d).map(|_| rng.normal()).collect();
        let length = dot(&direction, &direction).sqrt().max(1e-300);
        first.directions.extend(direction.iter().map(|x| x / length));
        first.sums.extend(sum);
        first.rows.push(rows);
        second.directions.push(1.0);
        second.sums.push(single);
        second.rows.push(rows);
    }
    Some((first, has_nuisance.then_some(second)))
}

impl MadeUp {
    /// The gain of a person's clip, where a row's is `own`.
    fn gain(&self, own: f64, clip: f64) -> Gain {
        let shortened = |length: f64| (clip / length.max(1e-300)).min(1.0);
        let persons = || {
            let vectors = self.sums.chunks_exact(self.width).zip(self.directions.chunks_exact(self.width));
            vectors.zip(&self.rows).map(|((sum, direction), rows)| (sum, direction, *rows))
        };
        let free = |rows: f64| rows * own <= clip * (1.0 + 1e-9);
        let (mut kept, mut all) = (0.0, 0.0);
        // E s = 0, so that E clip(s) is the mean of what the clip takes off: less noisy than that of what it leaves.
        let mut lost = [vec![0.0; self.width], vec![0.0; self.width]];
        for (person, (sum, _, rows)) in persons().enumerate() {
            let square = dot(sum, sum);
            let factor = if free(rows) { 1.0 } else { shortened(square.sqrt()) };
            kept += factor * factor * square;
            all += square;
            let half = &mut lost[usize::from(is_alike(person))];
            half.iter_mut().zip(sum).for_each(|(lost, x)| *lost += (1.0 - factor) * x);
        }
        let bias = lost.iter().map(|half| 2.0 * dot(half, half).sqrt()).fold(0.0, f64::max);
        let total: f64 = self.rows.iter().sum();
        let table = (0..MEANS).map(|k| {
            let mean = own * SMALLEST.powf(1.0 - k as f64 / (MEANS - 1) as f64);
            let moved: f64 = persons()
                .map(|(sum, direction, rows)| {
                    if free(rows) {
                        return rows;
                    }
                    let ends = [rows * mean, -rows * mean].map(|move_by| {
                        let along = dot(sum, direction) + move_by;
                        let square = dot(sum, sum) + 2.0 * move_by * dot(sum, direction) + move_by * move_by;
                        along * shortened(square.max(0.0).sqrt())
                    });
                    0.5 * (ends[0] - ends[1]) / mean
                })
                .sum();
            (libm::log(mean), moved / total)
        });
        let share = if all > 0.0 { kept / all } else { 1.0 };
        Gain { clip, share, bias: bias / total, table: table.collect() }
    }

    /// The clip of a person's sum that leaves an answer most precise, for σ/C `per_clip` and this number of persons; never below a
    /// row's own.
    pub(crate) fn choose(&self, own: f64, per_clip: f64, persons: f64) -> Gain {
        let longest = self.rows.iter().copied().fold(1.0, f64::max);
        let (count, width) = (self.rows.len() as f64, self.width as f64);
        let second: f64 = dot(&self.sums, &self.sums) / (count * width);
        let rows = persons * self.rows.iter().sum::<f64>() / count;
        let mut best: Option<(f64, Gain)> = None;
        let mut wider = 1.0_f64;
        loop {
            let gain = self.gain(own, own * wider.min(longest));
            let noise = per_clip * gain.clip;
            let bias = rows * gain.bias;
            let cost = persons * gain.share * second + noise * noise + bias * bias / width;
            let cost = cost / (gain.small() * gain.small());
            if best.as_ref().is_none_or(|(least, _)| cost < *least) {
                best = Some((cost, gain));
            }
            if wider >= longest {
                break;
            }
            wider *= std::f64::consts::SQRT_2;
        }
        best.map_or_else(|| self.gain(own, own), |(_, gain)| gain)
    }
}

#[cfg(test)]
mod tests;
