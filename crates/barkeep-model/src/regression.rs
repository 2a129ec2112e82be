//! Models a response by a family and a linear predictor: ln p(y|x,θ) = ℓ(y, η) with η = o + α + Σ_j β_j·x_j.
//!
//! Every family's programs start with the same sum over the columns, which is η; the family turns η and y into a log density,
//! a log ratio or ∂ℓ/∂η. A gradient is ∂ℓ/∂η times the features.

mod design;
mod products;
mod scorer;

use barkeep_data::Schema;
use barkeep_machine::{Program, Source, Writer};
use barkeep_num::up_by;

use crate::error::require_positive;
use crate::family::{Family, Nuisance, Seen};
use crate::{Belief, Error, Gradient, Likelihood, Model, ReadAs, Statistics, Transform};
use design::Trials;
use products::Products;

pub use design::Design;
pub use scorer::{CentredScore, NodeRoom, ScoreBlock, Scorer};

/// A generalised linear model: a [`Design`] and a [`Family`].
pub struct Regression {
    names: Vec<String>,
    design: Design,
    family: Box<dyn Family>,
    belief: Option<Belief>,
    /// The logarithm of a known nuisance.
    known: f64,
}

impl Regression {
    /// The regression. Its parameters are the coefficients and, where the family has an unknown nuisance, its logarithm.
    ///
    /// # Errors
    /// A known nuisance or another constant of the family is not finite and above 0, or an unknown nuisance's prior is not
    /// a prior.
    pub fn new(design: Design, family: Box<dyn Family>) -> Result<Self, Error> {
        family.check()?;
        let (mut names, mut belief, mut known) = (design.names(), None, 0.0);
        match family.nuisance() {
            None => {}
            Some((entry, Nuisance::Known(value))) => {
                require_positive(entry.key, &[value])?;
                known = libm::log(value);
            }
            Some((entry, Nuisance::Unknown(prior))) => {
                belief = Some(Belief::new(prior, Transform::Positive, entry.key)?);
                names.push(entry.parameter.to_owned());
            }
        }
        Ok(Self { names, design, family, belief, known })
    }

    /// The logarithm of the nuisance, known or not.
    fn log_nuisance(&self, theta: &[f64]) -> f64 {
        if self.belief.is_some() { theta[self.design.coefficients()] } else { self.known }
    }

    /// What the family's programs read.
    pub(crate) fn write_seen(&self, w: &mut Writer) -> Seen {
        let trials = match self.design.trials() {
            _ if !self.family.counts_trials() => w.number(1.0),
            Trials::Column(_) => Source::Column(1),
            Trials::Fixed(trials) => w.number(trials),
        };
        Seen { response: Source::Column(0), trials }
    }

    /// Writes η, or y − η for a family that works on residuals.
    pub(crate) fn write_predictor(&self, theta: &[f64], w: &mut Writer) -> Source {
        let (response, sign) = self.signs();
        self.design.write_line(w, (response, sign), |j| sign * theta[j])
    }

    /// The sufficient statistics of a normal response.
    fn products(&self, schema: &Schema) -> Result<Products<'_>, &'static str> {
        if self.design.has_offset() {
            return Err("needs a regression without an offset");
        }
        Products::new(&self.design, self.family.known_sd()?, schema)
    }

    /// The weights of y and of η in what the family works on.
    fn signs(&self) -> (f64, f64) {
        if self.family.works_on_residuals() { (1.0, -1.0) } else { (0.0, 1.0) }
    }
}

impl Likelihood for Regression {
    fn dimension(&self) -> usize {
        self.names.len()
    }

    fn columns(&self) -> usize {
        self.design.columns().len()
    }

    fn write_density(&self, theta: &[f64], w: &mut Writer) -> Source {
        let line = self.write_predictor(theta, w);
        let seen = self.write_seen(w);
        self.family.write_density(w, seen, line, self.log_nuisance(theta))
    }

    /// Differences of η come from moved coefficients alone, so that large densities never cancel.
    fn write_ratio(&self, from: &[f64], to: &[f64], w: &mut Writer) -> Source {
        let middle = self.family.works_on_residuals();
        let shift = self.design.write_line(w, (0.0, 0.0), |j| to[j] - from[j]);
        let base = |j: usize| if middle { -0.5 * (from[j] + to[j]) } else { from[j] };
        let line = self.design.write_line(w, self.signs(), base);
        let seen = self.write_seen(w);
        self.family.write_ratio(w, seen, line, shift, (self.log_nuisance(from), self.log_nuisance(to)))
    }

    fn write_gradient(&self, theta: &[f64], w: &mut Writer) -> Gradient {
        let line = self.write_predictor(theta, w);
        let seen = self.write_seen(w);
        let (slope, nuisance) = self.family.write_score(w, seen, line, self.log_nuisance(theta));
        let (intercept, first) = (self.design.has_intercept(), self.design.lead() as u32);
        let features = self.design.columns().len() as u32 - first;
        Gradient::Sloped { slope, intercept, first, features, nuisance }
    }

    fn statistics_program(&self, schema: &Schema) -> Result<Program, &'static str> {
        self.products(schema)?.program().map_err(|_| "needs fewer coefficients: it has too many products")
    }

    fn has_gradient(&self) -> bool {
        true
    }

    fn regression(&self) -> Option<&Regression> {
        Some(self)
    }
}

impl Model for Regression {
    fn parameter_names(&self) -> &[String] {
        &self.names
    }

    fn column_names(&self) -> &[String] {
        self.design.columns()
    }

    fn read_as(&self, parameter: usize) -> ReadAs {
        match self.family.nuisance() {
            Some((entry, _)) if parameter >= self.design.coefficients() => ReadAs::LogOf(entry.key),
            Some(_) | None => ReadAs::Itself,
        }
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

    /// |∂ℓ/∂η|·‖x‖ at its largest over the columns' ranges, where every parameter is a coefficient and ∂ℓ/∂η is bounded.
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

    fn regression(&self) -> Option<&Regression> {
        Some(self)
    }

    /// The family's largest curvature, in units of its information, times ‖A·x‖² at its largest: over the design's corners,
    /// or by A's norm and the columns' ranges where there are too many of them.
    fn stiffness_through(&self, schema: &Schema, theta: &[f64], matrix: &[f64]) -> Option<f64> {
        let d = self.dimension();
        let (length, most) = self.design.reach(schema)?;
        let (log_mean, _) = self.design.typical_predictor(theta);
        let usual = match self.design.trials() {
            Trials::Fixed(trials) | Trials::Column(trials) => trials,
        };
        let nuisance = libm::exp(self.log_nuisance(theta));
        let weight = self.family.information(log_mean, nuisance, usual) * (most / usual).max(1.0);
        let squares: f64 = matrix.iter().map(|entry| entry * entry).sum();
        let reach = self.design.reach_through(matrix, d).unwrap_or(squares.sqrt() * length);
        let bound = self.family.curvature() * weight * reach * reach;
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

    fn responses(&self) -> &[usize] {
        &[0]
    }

    fn respond(&self, theta: &[f64], uniform: &mut dyn FnMut() -> f64, row: &mut [f64]) {
        let (predictor, trials) = self.design.predictor(theta, row);
        row[0] = self.family.simulate(predictor, libm::exp(self.log_nuisance(theta)), trials, uniform);
    }
}

#[cfg(test)]
mod tests;
