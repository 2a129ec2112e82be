//! Models a response by a family and a linear predictor: ln p(y|x,θ) = ℓ(y, η) with η = o + α + Σ_j β_j·x_j.
//!
//! Every family is the same pass over the columns, which adds up η, and one short loop over the records, which turns η
//! and y into a log density, a log ratio or ∂ℓ/∂η; a gradient is ∂ℓ/∂η times the features.

use barkeep_data::{Block, Schema};
use barkeep_num::up_by;
use barkeep_num::vector::scalar::{exp, ln, sigmoid};

use super::design::Trials;
use super::family::{hazard, probit, size_score, successes};
use super::products::Products;
use crate::gamma::{digamma, ln_gamma};
use crate::kernel::{fold_column, fold_columns, map_column, map_in_place};
use crate::soft::{softplus, softplus_difference};
use crate::{
    Belief, Design, Error, Family, Likelihood, Link, Model, Nuisance, RecordStatistics, Scratch, Statistics,
};

/// A generalised linear model: a [`Design`] and a [`Family`].
pub struct Regression {
    names: Vec<String>,
    design: Design,
    family: Family,
    belief: Option<Belief>,
    /// The logarithm of a known nuisance.
    known: f64,
}

impl Regression {
    /// The regression. Its parameters are the coefficients and, where the family has an unknown nuisance, its logarithm.
    ///
    /// **Errors** unless a known nuisance is finite and above 0, and an unknown one's prior is one.
    pub fn new(design: Design, family: Family) -> Result<Self, Error> {
        let family = family.checked()?;
        let belief = family.belief()?;
        let mut names = design.names();
        let known = match family.nuisance() {
            Some((_, name, Nuisance::Unknown(_))) => {
                names.push(name.to_owned());
                0.0
            }
            Some((_, _, Nuisance::Known(value))) => libm::log(value),
            None => 0.0,
        };
        Ok(Self { names, design, family, belief, known })
    }

    /// The design.
    pub fn design(&self) -> &Design {
        &self.design
    }

    /// The logarithm of the nuisance, known or not.
    fn log_nuisance(&self, theta: &[f64]) -> f64 {
        if self.belief.is_some() { theta[self.design.coefficients()] } else { self.known }
    }

    /// Each record's number of trials.
    fn trials<'a>(&self, block: Block<'a>, buffer: &'a mut [f64]) -> &'a [f64] {
        match self.design.trials() {
            Trials::Column(_) => block.column(1),
            Trials::Fixed(trials) => {
                buffer.fill(trials);
                buffer
            }
        }
    }

    /// The sufficient statistics of a normal response.
    fn products(&self, schema: &Schema) -> Result<Products<'_>, &'static str> {
        match self.family {
            _ if self.design.has_offset() => Err("needs a regression without an offset"),
            Family::Gaussian { sd: Nuisance::Known(sd) } => Products::new(&self.design, sd, schema),
            Family::Gaussian { .. } => {
                Err("needs a known sd: with an unknown one the posterior is not normal")
            }
            _ => Err("needs family \"gaussian\": of the others no sums over records tell the posterior"),
        }
    }

    /// Writes η.
    fn predict(&self, block: Block<'_>, theta: &[f64], out: &mut [f64]) {
        self.line(block, theta, (0.0, 1.0), out);
    }

    /// Writes y − η.
    fn residuals(&self, block: Block<'_>, theta: &[f64], out: &mut [f64]) {
        self.line(block, theta, (1.0, -1.0), out);
    }

    /// Writes r·y + q·η. One function for all families: each copy of the loop is compiled for every instruction set.
    #[inline(never)]
    fn line(&self, block: Block<'_>, theta: &[f64], (response, sign): (f64, f64), out: &mut [f64]) {
        self.design.combine(block, ([response], [sign]), |j| [sign * theta[j]], [out]);
    }

    /// Writes η' − η, and η or, for a response on η's own scale, y − ½(η + η').
    #[inline(never)]
    fn lines(&self, block: Block<'_>, (from, to): (&[f64], &[f64]), shift: &mut [f64], out: &mut [f64]) {
        let middle = matches!(self.family, Family::Gaussian { .. } | Family::StudentT { .. });
        let (response, sign) = if middle { (1.0, -1.0) } else { (0.0, 1.0) };
        let coefficients = |j: usize| {
            let base = if middle { -0.5 * (from[j] + to[j]) } else { from[j] };
            [to[j] - from[j], base]
        };
        self.design.combine(block, ([0.0, response], [0.0, sign]), coefficients, [shift, out]);
    }
}

impl Likelihood for Regression {
    fn dimension(&self) -> usize {
        self.names.len()
    }

    fn columns(&self) -> usize {
        self.design.columns().len()
    }

    fn log_density(&self, block: Block<'_>, theta: &[f64], out: &mut [f64], scratch: &mut Scratch) {
        let y = block.column(0);
        let log_nuisance = self.log_nuisance(theta);
        let nuisance = libm::exp(log_nuisance);
        let [trials] = scratch.buffers(out.len());
        match self.family {
            Family::Gaussian { .. } => {
                self.residuals(block, theta, out);
                let weight = -0.5 * libm::exp(-2.0 * log_nuisance);
                let start = -log_nuisance - 0.5 * libm::log(std::f64::consts::TAU);
                map_in_place(out, |residual| weight * residual * residual + start);
            }
            Family::StudentT { degrees, .. } => {
                self.residuals(block, theta, out);
                let start = barkeep_num::ln_gamma(0.5 * (degrees + 1.0))
                    - barkeep_num::ln_gamma(0.5 * degrees)
                    - 0.5 * libm::log(degrees * std::f64::consts::PI)
                    - log_nuisance;
                let (power, scale) = (-0.5 * (degrees + 1.0), 1.0 / (degrees * nuisance * nuisance));
                map_in_place(
                    out,
                    #[inline(always)]
                    |residual| power * ln(1.0 + residual * residual * scale) + start,
                );
            }
            Family::Bernoulli(Link::Logit) => {
                self.predict(block, theta, out);
                fold_column(
                    y,
                    out,
                    #[inline(always)]
                    |predictor, y| y * predictor - softplus(predictor),
                );
            }
            Family::Bernoulli(Link::Probit) => {
                self.predict(block, theta, out);
                out.iter_mut().zip(y).for_each(|(out, y)| *out = probit(*out, *y));
            }
            Family::Binomial => {
                self.predict(block, theta, out);
                let trials = self.trials(block, trials);
                fold_columns(
                    [y, trials],
                    out,
                    #[inline(always)]
                    |predictor, [y, trials]| successes(y, trials) * predictor - trials * softplus(predictor),
                );
                let each = out.iter_mut().zip(y).zip(trials);
                each.for_each(|((out, y), trials)| *out += self.family.base(*y, *trials));
            }
            Family::Poisson => {
                self.predict(block, theta, out);
                fold_column(
                    y,
                    out,
                    #[inline(always)]
                    |predictor, y| y * predictor - exp(predictor),
                );
                out.iter_mut().zip(y).for_each(|(out, y)| *out += self.family.base(*y, 1.0));
            }
            Family::NegativeBinomial { .. } => {
                self.predict(block, theta, out);
                let at_size = ln_gamma(nuisance);
                fold_column(
                    y,
                    out,
                    #[inline(always)]
                    |predictor, y| {
                        let t = predictor - log_nuisance;
                        (y * t - (y + nuisance) * softplus(t)) + (ln_gamma(y + nuisance) - at_size)
                    },
                );
                out.iter_mut().zip(y).for_each(|(out, y)| *out += self.family.base(*y, 1.0));
            }
            Family::Gamma { .. } => {
                self.predict(block, theta, out);
                let start = nuisance * log_nuisance - barkeep_num::ln_gamma(nuisance);
                fold_column(
                    y,
                    out,
                    #[inline(always)]
                    |predictor, y| {
                        let log_y = ln(y);
                        nuisance * ((log_y - predictor) - exp(log_y - predictor)) - log_y + start
                    },
                );
            }
        }
    }

    /// Differences of η come from moved coefficients alone, so that large densities never cancel. For a normal response,
    /// with D = η'−η, m = y − ½(η+η') and e = y − η = m + ½D: D·m/σ'² + ½(1/σ² − 1/σ'²)e² + ln σ/σ'.
    fn log_ratio(&self, block: Block<'_>, from: &[f64], to: &[f64], out: &mut [f64], scratch: &mut Scratch) {
        let y = block.column(0);
        let (log_from, log_to) = (self.log_nuisance(from), self.log_nuisance(to));
        let (before, after) = (libm::exp(log_from), libm::exp(log_to));
        let [shift, trials] = scratch.buffers(out.len());
        self.lines(block, (from, to), shift, out);
        match self.family {
            Family::Gaussian { .. } => {
                let precision = libm::exp(-2.0 * log_to);
                let excess = 0.5 * precision * libm::expm1(2.0 * (log_to - log_from));
                let start = log_from - log_to;
                fold_column(shift, out, |middle, shift| {
                    let residual = middle + 0.5 * shift;
                    precision * shift * middle + (excess * residual * residual + start)
                });
            }
            Family::StudentT { degrees, .. } => {
                let power = -0.5 * (degrees + 1.0);
                let (then, now) = (degrees * before * before, degrees * after * after);
                // (1 + e'²/νs'²)/(1 + e²/νs²), and s/s' to the power one.
                let (start, quotient) = (log_from - log_to, then / now);
                fold_column(
                    shift,
                    out,
                    #[inline(always)]
                    |middle, shift| {
                        let (residual, moved) = (middle + 0.5 * shift, middle - 0.5 * shift);
                        power * ln(quotient * (now + moved * moved) / (then + residual * residual)) + start
                    },
                );
            }
            Family::Bernoulli(Link::Logit) => fold_columns(
                [shift, y],
                out,
                #[inline(always)]
                |before, [shift, y]| y * shift - softplus_difference(before + shift, before),
            ),
            Family::Bernoulli(Link::Probit) => {
                for ((out, shift), y) in out.iter_mut().zip(&*shift).zip(y) {
                    *out = probit(*out + shift, *y) - probit(*out, *y);
                }
            }
            Family::Binomial => fold_columns(
                [shift, y, self.trials(block, trials)],
                out,
                #[inline(always)]
                |before, [shift, y, trials]| {
                    successes(y, trials) * shift - trials * softplus_difference(before + shift, before)
                },
            ),
            Family::Poisson => fold_columns(
                [shift, y],
                out,
                #[inline(always)]
                |before, [shift, y]| y * shift - (exp(before + shift) - exp(before)),
            ),
            Family::NegativeBinomial { .. } => {
                let (moved, grown) = (log_to - log_from, after - before);
                fold_columns(
                    [shift, y],
                    out,
                    #[inline(always)]
                    |predictor, [shift, y]| {
                        let (t, to) = (predictor - log_from, predictor + shift - log_to);
                        y * (shift - moved) - (y + before) * softplus_difference(to, t) - grown * softplus(to)
                    },
                );
                if self.belief.is_some() {
                    let start = ln_gamma(after) - ln_gamma(before);
                    fold_column(
                        y,
                        out,
                        #[inline(always)]
                        |out, y| out + ((ln_gamma(y + after) - ln_gamma(y + before)) - start),
                    );
                }
            }
            Family::Gamma { .. } => {
                let grown = after - before;
                let start = (after * log_to - before * log_from)
                    - (barkeep_num::ln_gamma(after) - barkeep_num::ln_gamma(before));
                fold_columns(
                    [shift, y],
                    out,
                    #[inline(always)]
                    |predictor, [shift, y]| {
                        // ln y − η, whose exponential is y/μ.
                        let excess = ln(y) - predictor;
                        let (then, now) = (exp(excess), exp(excess - shift));
                        (grown * excess - after * shift) - (after * now - before * then) + start
                    },
                );
            }
        }
    }

    fn gradient(&self, block: Block<'_>, theta: &[f64], out: &mut [f64], scratch: &mut Scratch) {
        let y = block.column(0);
        let log_nuisance = self.log_nuisance(theta);
        let nuisance = libm::exp(log_nuisance);
        let [score, trials] = scratch.buffers(block.len());
        // The nuisance's share of the gradient comes last, and only if it is a parameter.
        let last = self.design.coefficients() * block.len();
        let nuisance_score = out.get_mut(last..).unwrap_or_default();
        match self.family {
            Family::Gaussian { .. } => {
                self.residuals(block, theta, score);
                let precision = libm::exp(-2.0 * log_nuisance);
                map_column(score, nuisance_score, |residual| precision * residual * residual - 1.0);
                map_in_place(score, |residual| precision * residual);
            }
            Family::StudentT { degrees, .. } => {
                self.residuals(block, theta, score);
                let (weight, spread) = (degrees + 1.0, degrees * nuisance * nuisance);
                map_column(score, nuisance_score, |residual| {
                    weight * (residual * residual / (spread + residual * residual)) - 1.0
                });
                map_in_place(score, |residual| weight * residual / (spread + residual * residual));
            }
            Family::Bernoulli(Link::Logit) => {
                self.predict(block, theta, score);
                fold_column(
                    y,
                    score,
                    #[inline(always)]
                    |predictor, y| y - sigmoid(predictor),
                );
            }
            Family::Bernoulli(Link::Probit) => {
                self.predict(block, theta, score);
                for (score, y) in score.iter_mut().zip(y) {
                    let sign = 2.0 * y - 1.0;
                    *score = sign * hazard(sign * *score);
                }
            }
            Family::Binomial => {
                self.predict(block, theta, score);
                fold_columns(
                    [y, self.trials(block, trials)],
                    score,
                    #[inline(always)]
                    |predictor, [y, trials]| successes(y, trials) - trials * sigmoid(predictor),
                );
            }
            Family::Poisson => {
                self.predict(block, theta, score);
                fold_column(
                    y,
                    score,
                    #[inline(always)]
                    |predictor, y| y - exp(predictor),
                );
            }
            Family::NegativeBinomial { .. } => {
                self.predict(block, theta, score);
                if self.belief.is_some() {
                    let at_size = digamma(nuisance);
                    nuisance_score.copy_from_slice(score);
                    fold_column(
                        y,
                        nuisance_score,
                        #[inline(always)]
                        |predictor, y| size_score(predictor - log_nuisance, y, nuisance, at_size),
                    );
                }
                fold_column(
                    y,
                    score,
                    #[inline(always)]
                    |predictor, y| y - (y + nuisance) * sigmoid(predictor - log_nuisance),
                );
            }
            Family::Gamma { .. } => {
                self.predict(block, theta, score);
                if self.belief.is_some() {
                    let start = log_nuisance + 1.0 - digamma(nuisance);
                    nuisance_score.copy_from_slice(score);
                    fold_column(
                        y,
                        nuisance_score,
                        #[inline(always)]
                        |predictor, y| {
                            let excess = ln(y) - predictor;
                            nuisance * (start + excess - exp(excess))
                        },
                    );
                }
                fold_column(
                    y,
                    score,
                    #[inline(always)]
                    |predictor, y| nuisance * (y * exp(-predictor) - 1.0),
                );
            }
        }
        self.design.scores(block, score, out);
    }

    fn record_statistics(&self, schema: &Schema) -> Result<Box<dyn RecordStatistics + '_>, &'static str> {
        Ok(Box::new(self.products(schema)?))
    }
}

impl Model for Regression {
    fn parameter_names(&self) -> &[String] {
        &self.names
    }

    fn column_names(&self) -> &[String] {
        self.design.columns()
    }

    fn log_prior(&self, theta: &[f64]) -> f64 {
        let belief = self.belief.as_ref().map_or(0.0, |belief| belief.log_density(self.log_nuisance(theta)));
        self.design.log_prior(theta) + belief
    }

    fn prior_gradient(&self, theta: &[f64], out: &mut [f64]) {
        self.design.prior_gradient(theta, out);
        if let (Some(belief), Some(out)) = (&self.belief, out.last_mut()) {
            *out = belief.derivative(self.log_nuisance(theta));
        }
    }

    /// The family's information about η, at the typical η of the design, times the declared E[x·xᵀ]; and the family's
    /// information about the logarithm of its nuisance.
    ///
    /// Exact where η does not vary between records; for probabilities the largest it can be. The guess of the features'
    /// moments is public: from bounds and levels, see [`Design::with_moments`].
    fn fisher(&self, theta: &[f64], out: &mut [f64]) -> bool {
        let (d, k) = (self.dimension(), self.design.coefficients());
        let nuisance = libm::exp(self.log_nuisance(theta));
        let (log_mean, middle) = self.design.typical_predictor(theta);
        let trials = match self.design.trials() {
            Trials::Fixed(trials) | Trials::Column(trials) => trials,
        };
        let weight = self.family.information(log_mean, nuisance, trials);
        out.fill(0.0);
        for (out, moments) in out.chunks_exact_mut(d).zip(self.design.moments().chunks_exact(k)) {
            out.iter_mut().zip(moments).for_each(|(out, moment)| *out = weight * moment);
        }
        if let (Some(_), Some(out)) = (&self.belief, out.last_mut()) {
            *out = self.family.nuisance_information(middle, nuisance);
        }
        out.iter().all(|entry| entry.is_finite())
    }

    fn prior_precision(&self, theta: &[f64], out: &mut [f64]) {
        let d = self.dimension();
        out.fill(0.0);
        self.design.prior_precision(d, out);
        if let (Some(belief), Some(out)) = (&self.belief, out.last_mut()) {
            *out = belief.precision(self.log_nuisance(theta));
        }
    }

    /// |∂ℓ/∂η|·‖x‖ at its largest over the columns' ranges, where every parameter is a coefficient and ∂ℓ/∂η is bounded:
    /// `Bernoulli` by logit, `Binomial`, and `StudentT` and `NegativeBinomial` with a known nuisance.
    fn lipschitz(&self, schema: &Schema) -> Option<f64> {
        let (length, trials) = self.design.reach(schema)?;
        let response = schema.columns().first()?.range();
        let bound = up_by(self.family.slope(response, trials)? * length, 4);
        bound.is_finite().then_some(bound)
    }

    fn statistics(&self, schema: &Schema) -> Result<Box<dyn Statistics + '_>, &'static str> {
        Ok(Box::new(self.products(schema)?))
    }

    /// |∂ℓ/∂η| at its largest times ‖A·x‖ at its largest over the design's corners.
    fn lipschitz_through(&self, schema: &Schema, matrix: &[f64]) -> Option<f64> {
        let (_, trials) = self.design.reach(schema)?;
        let slope = self.family.slope(schema.columns().first()?.range(), trials)?;
        let bound = slope * self.design.reach_through(matrix, self.dimension())?;
        bound.is_finite().then_some(bound)
    }

    fn has_long_gradients(&self) -> bool {
        self.family.slope((0.0, 1.0), 1.0).is_none()
    }

    fn sample_prior(&self, uniform: &mut dyn FnMut() -> f64, out: &mut [f64]) -> bool {
        let proper = self.design.sample_prior(uniform, out);
        match (&self.belief, out.last_mut()) {
            (Some(belief), Some(out)) => {
                let draw = belief.sample(uniform);
                *out = draw.unwrap_or(0.0);
                proper && draw.is_some()
            }
            _ => proper,
        }
    }

    /// Features are standard normal, trials the typical ones, and there is no offset.
    fn simulate(&self, theta: &[f64], uniform: &mut dyn FnMut() -> f64, row: &mut [f64]) {
        self.design.simulate_features(uniform, row);
        self.respond(theta, uniform, row);
    }

    fn respond(&self, theta: &[f64], uniform: &mut dyn FnMut() -> f64, row: &mut [f64]) -> bool {
        let (predictor, trials) = self.design.predictor(theta, row);
        row[0] = self.family.simulate(predictor, libm::exp(self.log_nuisance(theta)), trials, uniform);
        true
    }
}

#[cfg(test)]
mod tests;
