//! Predicts responses at public profiles of covariates, and compares profiles: free post-processing of a run's draws.
//!
//! For every draw θ the mean response E[y | x, θ] at a profile x follows from the model, and a response y is drawn. The former give
//! the expectation with its posterior interval, the latter the interval that the next record's response lies in. Everything
//! is in original units.
//!
//! **Privacy.** A function of public profiles and draws, which the run has paid for: it costs nothing.
//!
//! **Precision.** Of regressions E[y | x, θ] is exact. Of a text it is the mean of [`INNER`] simulated responses, with the same
//! random numbers for every draw and profile, so that their error hardly shows in contrasts.

mod profiles;
#[cfg(test)]
mod tests;

pub use profiles::{Profile, Profiles};

use crate::Error;
use crate::diagnostics::moments::{Moments, quantile, sorted};
use crate::public_rng::PublicRng;
use crate::run::finished::Finished;
use crate::spec::Spec;
use crate::units;
use barkeep_data::{Column, Factor, Kind, Scale, Shape};
use barkeep_model::{Law, Regression};
use profiles::written;
use serde::Serialize;

/// Simulated responses behind one expectation of a model written as text.
pub const INNER: usize = 128;
/// Draws that a text is simulated for.
const MOST_SIMULATED: usize = 512;
/// The public seed of simulated responses: the same question has the same answer.
const SEED: u64 = 20_220;
/// The step of a slope, as a part of the column's range.
const STEP: f64 = 1e-4;

/// Where a number lies under the posterior.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Estimate {
    /// The mean.
    pub mean: f64,
    /// The central 89 % interval.
    pub interval_89: [f64; 2],
}

/// What is predicted at a profile.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Prediction {
    /// The profile.
    pub profile: String,
    /// The mean response.
    pub expectation: Estimate,
    /// The interval that holds the response of a further record with 89 %; absent for a yes or no.
    pub predictive_89: Option<[f64; 2]>,
}

/// One profile against another.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Contrast {
    /// The profile.
    pub profile: String,
    /// The one it is compared with.
    pub against: String,
    /// The difference of their mean responses.
    pub difference: Estimate,
    /// Their odds ratio, rate ratio or ratio of means; absent where people use none.
    pub ratio: Option<RatioEstimate>,
}

/// A ratio and its name.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct RatioEstimate {
    /// What it is.
    pub what: &'static str,
    /// The posterior median.
    pub median: f64,
    /// The central 89 % interval.
    pub interval_89: [f64; 2],
}

/// Mean responses along one column, all others as a profile says.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Curve {
    /// The profile.
    pub profile: String,
    /// The column.
    pub column: String,
    /// Its values, as a person writes them, and the mean response at each.
    pub points: Vec<(String, Estimate)>,
}

/// What a change of one column does to the mean response, on average over the profiles.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Effect {
    /// The column.
    pub column: String,
    /// The change: one more of it, or a level against the first.
    pub change: String,
    /// The change of the mean response.
    pub effect: Estimate,
}

/// Everything predicted at some profiles.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Predictions {
    /// What is predicted, in words: `mean of delay`, `probability of late`.
    pub what: String,
    /// Draws they rest on.
    pub draws: usize,
    /// At each profile.
    pub predictions: Vec<Prediction>,
    /// Each profile against the first, or the named one.
    pub contrasts: Vec<Contrast>,
    /// Along columns.
    pub curves: Vec<Curve>,
    /// Of columns.
    pub effects: Vec<Effect>,
}

/// Predicts at profiles.
///
/// ```
/// use barkeep::curator::TableBuilder;
/// use barkeep::predict::{Predictor, Profiles};
/// use barkeep::{Finished, Spec};
///
/// let spec = Spec::parse(
///     "[data]\npath = 'r.csv'\nrecords = 400\n[data.columns]\n\
///      sold = { kind = 'integer', min = 0, max = 50, invalid = 0 }\nprice = { min = 1, max = 9, invalid = 5 }\n\
///      [model]\nformula = 'sold ~ price'\nfamily = 'poisson'\n[privacy]\nepsilon = 3\ndelta = 1e-6\n",
///     ".".as_ref(),
/// )?;
/// let plan = spec.plan()?;
/// let mut table = TableBuilder::viewed(plan.view().clone(), plan.spec().count())?;
/// for record in 0..400 {
///     table.push_row(&[f64::from(record % 7), 1.0 + f64::from(record % 9)])?;
/// }
/// let run = plan.run(table.finish()?)?;
/// let finished = Finished::of(&plan, &run);
/// let profiles = Profiles::parse("profile,price\ncheap,2\nexpensive,8\n", finished.spec())?;
/// let found = Predictor::new(&finished)?.predict(&profiles)?;
/// assert_eq!(found.what, "mean of sold");
/// assert_eq!(found.contrasts[0].ratio.map(|ratio| ratio.what), Some("rate ratio"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Predictor<'a> {
    finished: &'a Finished,
    against: Option<String>,
    along: Vec<(String, usize)>,
}

impl<'a> Predictor<'a> {
    /// Of a run's posterior.
    ///
    /// # Errors
    /// [`Error::Profile`] if its model predicts no response from other columns, or there are no draws.
    pub fn new(finished: &'a Finished) -> Result<Self, Error> {
        let model = finished.spec().model();
        if model.responses().is_empty() {
            return Err(Error::Profile(format!(
                "model \"{}\" is of whole records: it predicts no column from others",
                finished.spec().model_name()
            )));
        }
        if model.censors() {
            let reason =
                "a text with censored responses: what a further record shows depends on when it is censored";
            return Err(Error::Profile(format!("predictions are not made for {reason}")));
        }
        if finished.draws().is_empty() {
            return Err(Error::Profile("the run left no draws after warm-up".to_owned()));
        }
        Ok(Self { finished, against: None, along: Vec::new() })
    }

    /// Compares with the profile of this name, not with the first.
    #[must_use]
    pub fn against(self, profile: impl Into<String>) -> Self {
        Self { against: Some(profile.into()), ..self }
    }

    /// Follows a column over `points` values between its bounds, or over its levels, and states its average effect.
    #[must_use]
    pub fn along(mut self, column: impl Into<String>, points: usize) -> Self {
        self.along.push((column.into(), points.max(2)));
        self
    }

    /// Predicts.
    ///
    /// # Errors
    /// [`Error::Profile`] for a name or a column that there is not.
    pub fn predict(&self, profiles: &Profiles) -> Result<Predictions, Error> {
        let spec = self.finished.spec();
        let list = profiles.list();
        let base = match &self.against {
            None => 0,
            Some(name) => list
                .iter()
                .position(|profile| profile.name == *name)
                .ok_or_else(|| Error::Profile(format!("there is no profile `{name}` to compare with")))?,
        };
        let engine = Engine::new(self.finished);
        let responses: Vec<Responses> = list.iter().map(|profile| engine.at(&profile.values)).collect();
        let predictions = list.iter().zip(&responses);
        let binary = engine.is_binary();
        let predictions = predictions
            .map(|(profile, responses)| Prediction {
                profile: profile.name.clone(),
                expectation: estimate(&responses.means),
                predictive_89: (!binary).then(|| estimate(&responses.drawn).interval_89),
            })
            .collect();
        let against = list.iter().zip(&responses).enumerate().filter(|(place, _)| *place != base);
        let contrasts = against
            .filter_map(|(_, (profile, responses))| Some((profile, responses, list.get(base)?)))
            .map(|(profile, responses_here, reference)| Contrast {
                profile: profile.name.clone(),
                against: reference.name.clone(),
                difference: estimate(&differences(&responses_here.means, &responses[base].means)),
                ratio: engine.ratio(&responses_here.predictors, &responses[base].predictors),
            })
            .collect();
        let (mut curves, mut effects) = (Vec::new(), Vec::new());
        for (name, points) in &self.along {
            let place = profiles.place(name, spec)?;
            let column = &spec.data().view().source().columns()[place];
            for profile in list {
                curves.push(engine.curve(profile, column, place, *points));
            }
            effects.extend(engine.effects(list, column, place));
        }
        let what = engine.what();
        let draws = engine.draws.len();
        Ok(Predictions { what, draws, predictions, contrasts, curves, effects })
    }
}

/// What the draws say at one profile.
struct Responses {
    /// E[y | x, θ], draw by draw.
    means: Vec<f64>,
    /// Drawn responses.
    drawn: Vec<f64>,
    /// η, draw by draw; empty for a text.
    predictors: Vec<f64>,
}

/// Predicts for every draw.
struct Engine<'a> {
    spec: &'a Spec,
    draws: Vec<&'a [f64]>,
    /// The response's place among what the model sees, and the column behind it.
    response: usize,
    factor: Factor,
    law: Option<Law>,
}

impl<'a> Engine<'a> {
    fn new(finished: &'a Finished) -> Self {
        let spec = finished.spec();
        let response = spec.model().responses().first().copied().unwrap_or(0);
        let feature = spec.data().view().features().get(response);
        let factor = feature.and_then(|feature| feature.factors.first()).copied();
        let law = spec.model().regression().and_then(Regression::law);
        let all = finished.draws();
        let every = if law.is_some() { 1 } else { all.len().div_ceil(MOST_SIMULATED).max(1) };
        Self {
            spec,
            draws: all.iter().step_by(every).map(Vec::as_slice).collect(),
            response,
            factor: factor.unwrap_or(Factor { column: 0, shape: Shape::Value, scaled: false }),
            law,
        }
    }

    /// The response's column.
    fn column(&self) -> Option<&Column> {
        self.spec.data().view().source().columns().get(self.factor.column)
    }

    /// Whether a response is a yes or a no.
    fn is_binary(&self) -> bool {
        let flag = self.column().is_some_and(|column| matches!(column.kind(), Kind::Bool));
        flag || matches!(self.factor.shape, Shape::Level(_))
    }

    fn what(&self) -> String {
        let view = self.spec.data().view();
        let name = view.features().get(self.response).map(|feature| units::subject(feature, view.source()));
        let kind = if self.is_binary() { "probability" } else { "mean" };
        format!("{kind} of {}", name.unwrap_or_default())
    }

    /// What the model sees of values in the columns' own units; a response's place is not looked at.
    fn row(&self, values: &[f64]) -> Vec<f64> {
        let view = self.spec.data().view();
        let columns = view.source().columns();
        let seen = |factor: &Factor| factor.at(&columns[factor.column], values[factor.column]);
        view.features().iter().map(|feature| feature.factors.iter().map(seen).product()).collect()
    }

    /// A response in its column's own unit.
    fn own_unit(&self, response: f64) -> f64 {
        match self.column() {
            Some(column) if self.factor.scaled && column.scale() == Scale::Bounds => {
                let (centre, half_width) = self.factor.scaling(column);
                centre + half_width * response
            }
            Some(_) | None => response,
        }
    }

    fn at(&self, values: &[f64]) -> Responses {
        let (model, row) = (self.spec.model(), self.row(values));
        let mut responses = Responses { means: Vec::new(), drawn: Vec::new(), predictors: Vec::new() };
        let regression = model.regression().zip(self.law);
        let simulated = if regression.is_some() { 1 } else { INNER };
        // Of a regression every draw has a response of its own; of a text the same numbers serve all.
        let mut rng = PublicRng::new(SEED, 0);
        for theta in &self.draws {
            if regression.is_none() {
                rng = PublicRng::new(SEED, 0);
            }
            let mut sum = 0.0;
            for _ in 0..simulated {
                let mut record = row.clone();
                model.respond(theta, &mut || rng.open_uniform(), &mut record);
                let drawn = self.own_unit(record.get(self.response).copied().unwrap_or(f64::NAN));
                sum += drawn;
                responses.drawn.push(drawn);
            }
            match regression {
                Some((regression, law)) => {
                    let (predictor, trials) = regression.predictor(theta, &row);
                    responses.predictors.push(predictor);
                    responses.means.push(self.own_unit(law.mean(predictor, trials)));
                }
                None => responses.means.push(sum / simulated as f64),
            }
        }
        responses
    }

    fn means(&self, values: &[f64]) -> Vec<f64> {
        self.at(values).means
    }

    /// e to a difference of η.
    fn ratio(&self, one: &[f64], other: &[f64]) -> Option<RatioEstimate> {
        let what = self.law?.ratio_words()?;
        let ordered = sorted(differences(one, other))?;
        let at = |probability| quantile(&ordered, probability).map(libm::exp);
        Some(RatioEstimate { what, median: at(0.5)?, interval_89: [at(0.055)?, at(0.945)?] })
    }

    /// A column's values: its levels, or points between its bounds.
    fn grid(column: &Column, points: usize) -> Vec<f64> {
        match column.kind() {
            Kind::Bool => vec![0.0, 1.0],
            Kind::Category { levels } => (0..levels.len()).map(|level| level as f64).collect(),
            Kind::Real { min, max } => spaced(*min, *max, points).collect(),
            Kind::Integer { min, max } => {
                let mut values: Vec<f64> = spaced(*min, *max, points).map(f64::round).collect();
                values.dedup();
                values
            }
        }
    }

    fn curve(&self, profile: &Profile, column: &Column, place: usize, points: usize) -> Curve {
        let at = |value: f64| {
            let mut values = profile.values.clone();
            values[place] = value;
            (written(column, value), estimate(&self.means(&values)))
        };
        Curve {
            profile: profile.name.clone(),
            column: column.name().to_owned(),
            points: Self::grid(column, points).into_iter().map(at).collect(),
        }
    }

    /// Average effects of a column: a slope, or each level against the first.
    fn effects(&self, profiles: &[Profile], column: &Column, place: usize) -> Vec<Effect> {
        let moved = |profile: &Profile, value: f64| {
            let mut values = profile.values.clone();
            values[place] = value;
            self.means(&values)
        };
        let average = |change: &dyn Fn(&Profile) -> Vec<f64>| {
            let mut sum = vec![0.0; self.draws.len()];
            for profile in profiles {
                sum.iter_mut().zip(change(profile)).for_each(|(sum, change)| *sum += change);
            }
            sum.iter_mut().for_each(|sum| *sum /= profiles.len().max(1) as f64);
            estimate(&sum)
        };
        let name = column.name();
        let effect = |change: String, effect: Estimate| Effect { column: name.to_owned(), change, effect };
        match column.kind() {
            Kind::Real { min, max } | Kind::Integer { min, max } => {
                let step = STEP * (max - min);
                let slope = |profile: &Profile| {
                    let (low, high) =
                        ((profile.values[place] - step).max(*min), (profile.values[place] + step).min(*max));
                    let change = differences(&moved(profile, high), &moved(profile, low));
                    change.into_iter().map(|change| change / (high - low)).collect()
                };
                vec![effect(format!("1 more of {name}"), average(&slope))]
            }
            Kind::Bool => {
                let change = |profile: &Profile| differences(&moved(profile, 1.0), &moved(profile, 0.0));
                vec![effect(format!("{name} true, not false"), average(&change))]
            }
            Kind::Category { levels } => {
                let first = levels.first().map(String::as_str).unwrap_or_default();
                let of = |(index, level): (usize, &String)| {
                    let change =
                        |profile: &Profile| differences(&moved(profile, index as f64), &moved(profile, 0.0));
                    effect(format!("{level}, not {first}"), average(&change))
                };
                levels.iter().enumerate().skip(1).map(of).collect()
            }
        }
    }
}

/// Values from one end to the other.
fn spaced(min: f64, max: f64, points: usize) -> impl Iterator<Item = f64> {
    let last = points.max(2) - 1;
    (0..=last).map(move |k| (min + (max - min) * (k as f64 / last as f64)).clamp(min, max))
}

fn differences(one: &[f64], other: &[f64]) -> Vec<f64> {
    one.iter().zip(other).map(|(one, other)| one - other).collect()
}

/// Mean and interval; not-a-number where a draw is not finite.
fn estimate(values: &[f64]) -> Estimate {
    let mean = Moments::of(values).map_or(f64::NAN, |moments| moments.mean);
    let ordered = sorted(values.to_vec()).unwrap_or_default();
    let at = |probability| quantile(&ordered, probability).unwrap_or(f64::NAN);
    Estimate { mean, interval_89: [at(0.055), at(0.945)] }
}
