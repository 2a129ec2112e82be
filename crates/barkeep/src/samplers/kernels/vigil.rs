//! Watches a flow's answers for a verdict: is there time enough, has the start been forgotten, are the steps steady.
//!
//! **Privacy.** Reads forces, which are answers with public numbers added, and nothing else.

use crate::diagnostics::{Check, Grade};

/// What a flow is judged by; public.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Vigil {
    /// γ: a direction relaxes in this time.
    pub(crate) friction: f64,
    /// What the clip is expected to move a mean by, in posterior sd.
    pub(crate) bias: f64,
    /// Draws left out of the summary.
    pub(crate) burn_in: BurnIn,
}

/// Draws to leave out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BurnIn {
    /// At least these.
    pub(crate) draws: u64,
    /// And at least a third of the run.
    pub(crate) third: bool,
}

impl BurnIn {
    /// Of a chain of this many steps; at most half of them.
    pub(crate) fn of(self, steps: u64) -> u64 {
        let third = if self.third { steps.div_ceil(3) } else { 0 };
        self.draws.max(third).min(steps / 2)
    }
}

/// Diffusion time, in relaxation times, below which nothing has relaxed.
const LITTLE_TIME: f64 = 5.0;
/// What is left of the way from the start, in posterior sd, that counts; and that spoils.
const LEFT: (f64, f64) = (0.3, 1.0);
/// Bias of a clip that counts, and that spoils.
const BIAS: (f64, f64) = (0.5, 3.0);
/// Step times squared force that counts, and that spoils: 1.33 for a standard normal and steps of 1; curvature that steps
/// barely bear has 12.
const FORCE: (f64, f64) = (4.0, 12.0);

/// What was seen of a flow.
pub(crate) struct Watched {
    vigil: Vigil,
    time: f64,
    step: f64,
    /// h·(‖f‖²/d − the noise's share), step after step.
    excess: Recent,
    /// The sum of all displacements, in whitened units.
    way: Vec<f64>,
    noise: f64,
}

/// Numbers of which the sum over the later half is wanted, in bounded memory: of many, neighbours are added up.
#[derive(Debug, Default)]
struct Recent {
    /// Sums of `1 << doublings` numbers each, the last perhaps of fewer.
    sums: Vec<f64>,
    doublings: u32,
    steps: u64,
}

impl Recent {
    /// Sums that are kept at most.
    const MOST: usize = 4096;

    fn push(&mut self, number: f64) {
        let place = usize::try_from(self.steps >> self.doublings).unwrap_or(usize::MAX);
        match self.sums.get_mut(place) {
            Some(sum) => *sum += number,
            None => self.sums.push(number),
        }
        self.steps += 1;
        if self.sums.len() == Self::MOST && self.steps == (Self::MOST as u64) << self.doublings {
            self.sums = self.sums.chunks(2).map(|pair| pair.iter().sum()).collect();
            self.doublings += 1;
        }
    }

    /// The sum over the later half, or a little less than half where neighbours were added up, and how many it is of.
    fn late(&self) -> (f64, u64) {
        let place = (self.steps / 2).div_ceil(1 << self.doublings);
        let late = usize::try_from(place).ok().and_then(|place| self.sums.get(place..)).unwrap_or_default();
        (late.iter().sum(), self.steps.saturating_sub(place << self.doublings))
    }
}

impl Watched {
    pub(crate) fn new(vigil: Vigil, dimension: usize) -> Self {
        Self { vigil, time: 0.0, step: 0.0, excess: Recent::default(), way: vec![0.0; dimension], noise: 0.0 }
    }

    /// Takes down a force that carries noise of a standard deviation, and the time of its step.
    pub(crate) fn force(&mut self, force: &[f64], noise: f64, step: f64) {
        let square = force.iter().map(|f| f * f).sum::<f64>() / force.len() as f64;
        self.excess.push(step * (square - noise * noise));
        self.time += step;
        (self.step, self.noise) = (step, noise);
    }

    /// Takes down a displacement.
    pub(crate) fn displaced(&mut self, by: &[f64]) {
        self.way.iter_mut().zip(by).for_each(|(way, by)| *way += by);
    }

    /// What was found.
    pub(crate) fn checks(&self) -> Vec<Check> {
        let mut checks = vec![self.relaxed(), self.arrived()];
        checks.extend(self.steady());
        checks.extend(self.unbiased());
        checks
    }

    fn relaxed(&self) -> Check {
        let relaxations = self.time / self.vigil.friction;
        let enough = relaxations >= LITTLE_TIME;
        graded(
            "relaxation_times",
            (enough, enough),
            relaxations,
            (
                format!("the chain ran for {relaxations:.1} relaxation times"),
                "a larger epsilon or more records buy time",
            ),
        )
    }

    /// What is left of the way from the start in the mean of the kept draws, if the whitening is right.
    fn arrived(&self) -> Check {
        let Vigil { friction, burn_in, .. } = self.vigil;
        let steps = self.excess.steps;
        let distance = (self.way.iter().map(|x| x * x).sum::<f64>() / self.way.len() as f64).sqrt();
        let left_out = burn_in.of(steps) as f64 * self.step;
        let kept = (self.time - left_out).max(self.step) / friction;
        let left = distance * libm::exp(-left_out / friction) * -libm::expm1(-kept) / kept;
        graded(
            "start",
            (left <= LEFT.0, left <= LEFT.1),
            left,
            (
                format!(
                    "the start lies {distance:.0} posterior sd away, of which {left:.1} are still in the mean"
                ),
                "give a start nearer to the posterior, or buy time with a larger epsilon or more records",
            ),
        )
    }

    /// Whether forces are as small as a posterior of unit curvature makes them.
    fn steady(&self) -> Option<Check> {
        let (late, steps) = self.excess.late();
        if steps < 8 {
            return None;
        }
        let mean = late / steps as f64;
        // What the noise's square alone varies by.
        let chance = self.step * self.noise.powi(2) * (2.0 / (self.way.len() as f64 * steps as f64)).sqrt();
        let sure = mean - 4.0 * chance;
        Some(graded(
            "force",
            (sure <= FORCE.0, sure <= FORCE.1),
            mean,
            (
                format!(
                    "forces are {mean:.0} where steps of this length bear 4: the chain swings about the posterior"
                ),
                "declare what columns typically hold, so that they are whitened better, or take shorter steps",
            ),
        ))
    }

    fn unbiased(&self) -> Option<Check> {
        let bias = self.vigil.bias;
        (bias > 0.0).then(|| {
            graded(
                "clip_bias",
                (bias <= BIAS.0, bias <= BIAS.1),
                bias,
                (
                    format!(
                        "long gradients are clipped, which may move means by about {bias:.1} posterior sd"
                    ),
                    "a larger epsilon or more records pay for a wider clip",
                ),
            )
        })
    }
}

fn graded(
    key: &'static str,
    (good, bearable): (bool, bool),
    value: f64,
    (words, remedy): (String, &str),
) -> Check {
    match (good, bearable) {
        (true, _) => Check::passed(key, value, words),
        (false, true) => Check::found(key, Grade::Wide, value, words, remedy),
        (false, false) => Check::found(key, Grade::NotToBeTrusted, value, words, remedy),
    }
}

#[cfg(test)]
mod tests;
