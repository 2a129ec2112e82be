//! Turns parameters into what a person reads: coefficients per unit of the columns as declared, spreads and not their
//! logarithms.
//!
//! A model may see a column mapped to [−1, 1]. With f the function of a column that a feature uses, it then sees
//! (f − c)/h. A product of such features is a polynomial of the f, so that η = Σ_j β_j·Π (f − c)/h is multiplied out:
//! a monomial's coefficient is a fixed linear combination of the β. Where η is the response itself and that was mapped
//! too, y = c + h·η. Nothing here is an approximation.
//!
//! **Privacy.** A public function of draws: post-processing.

use crate::spec::Spec;
use barkeep_data::{Column, Feature, Kind, Schema, Shape};
use barkeep_model::{Law, Model, ReadAs, Regression};
use std::sync::Arc;

#[cfg(test)]
mod tests;

/// One number that a person reads.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Reading {
    /// Its name: `hour`, `origin[JFK]`, `hour:distance`, `sd`.
    pub name: String,
    /// What it counts, in words: `log-odds per 1 of hour`.
    pub unit: String,
    /// What e to its power is, such as an odds ratio; none where it is nothing that people use.
    pub ratio: Option<&'static str>,
    form: Form,
}

/// How a number follows from θ.
#[derive(Debug, Clone, PartialEq)]
enum Form {
    /// Σ weight·θ + constant.
    Sum { weights: Vec<(usize, f64)>, constant: f64 },
    /// factor·e^θ.
    Exponential { parameter: usize, factor: f64 },
    /// 1/(1 + e^(−θ)).
    Share { parameter: usize },
    /// A quantity of the model.
    Quantity(usize),
}

/// What a person reads of a model's parameters, in original units.
#[derive(Clone)]
pub struct Units {
    model: Arc<dyn Model>,
    readings: Vec<Reading>,
}

impl Units {
    /// What a person reads of a spec's parameters. [`Units::differ`] says whether that is anything else.
    #[must_use]
    pub fn of(spec: &Spec) -> Self {
        let model = Arc::clone(spec.model());
        let view = spec.data().view();
        let readings = match model.regression() {
            Some(regression) => coefficients(regression, view.features(), view.source()),
            None => Vec::new(),
        };
        let units = Self { model, readings };
        units.with_others(view.features(), view.source())
    }

    /// The numbers, in the order shown.
    #[must_use]
    pub fn readings(&self) -> &[Reading] {
        &self.readings
    }

    /// Whether a person reads anything else than the parameters as they are.
    #[must_use]
    pub fn differ(&self) -> bool {
        let names = self.model.parameter_names();
        let plain = |(place, reading): (usize, &Reading)| match &reading.form {
            Form::Sum { weights, constant } => *weights == [(place, 1.0)] && *constant == 0.0,
            Form::Exponential { .. } | Form::Share { .. } | Form::Quantity(_) => false,
        };
        self.readings.len() != names.len() || !self.readings.iter().enumerate().all(plain)
    }

    /// The numbers at θ.
    #[must_use]
    pub fn at(&self, theta: &[f64]) -> Vec<f64> {
        let mut out = Vec::with_capacity(self.readings.len());
        self.append(theta, &mut out);
        out
    }

    /// Appends the numbers at θ to a list.
    pub(crate) fn append(&self, theta: &[f64], out: &mut Vec<f64>) {
        let quantities = self.model.quantities(theta);
        let number = |reading: &Reading| match &reading.form {
            Form::Sum { weights, constant } => {
                weights.iter().fold(*constant, |sum, (place, weight)| sum + weight * theta[*place])
            }
            Form::Exponential { parameter, factor } => factor * libm::exp(theta[*parameter]),
            Form::Share { parameter } => 1.0 / (1.0 + libm::exp(-theta[*parameter])),
            Form::Quantity(place) => quantities.get(*place).copied().unwrap_or(f64::NAN),
        };
        out.extend(self.readings.iter().map(number));
    }

    /// Adds whatever is no coefficient of a regression.
    fn with_others(mut self, features: &[Feature], source: &Schema) -> Self {
        let done = self.model.regression().map_or(0, |regression| regression.parts().0);
        let response = self.model.regression().and(features.first());
        let names = self.model.parameter_names();
        let mut has_quantities = false;
        for (parameter, name) in names.iter().enumerate().skip(done) {
            let (name, unit, form) = match self.model.read_as(parameter) {
                ReadAs::Itself => {
                    let form = Form::Sum { weights: vec![(parameter, 1.0)], constant: 0.0 };
                    (name.clone(), String::new(), form)
                }
                ReadAs::LocationOf(column) => match features.get(column) {
                    Some(feature) => {
                        let (centre, half_width) = scaling(feature, source);
                        let weights = vec![(parameter, half_width)];
                        let form = Form::Sum { weights, constant: centre };
                        (name.clone(), feature.name.clone(), form)
                    }
                    None => continue,
                },
                // Where the response is mapped its spread is too; no other nuisance has its unit.
                ReadAs::LogOf(what) => {
                    let (_, factor) = response.map_or((0.0, 1.0), |response| scaling(response, source));
                    let unit = response.filter(|_| in_response(&*self.model));
                    let unit = unit.map(|response| response.name.clone()).unwrap_or_default();
                    (what.to_owned(), unit, Form::Exponential { parameter, factor })
                }
                ReadAs::LogOddsOf(what) => (what.to_owned(), String::new(), Form::Share { parameter }),
                ReadAs::Quantities => {
                    has_quantities = true;
                    continue;
                }
            };
            self.readings.push(Reading { name, unit, ratio: None, form });
        }
        if has_quantities {
            let quantities = self.model.quantity_names().iter().enumerate();
            self.readings.extend(quantities.map(|(place, name)| Reading {
                name: name.clone(),
                unit: String::new(),
                ratio: None,
                form: Form::Quantity(place),
            }));
        }
        self
    }
}

/// What a response is called: of a category, the level that counts as a yes.
pub(crate) fn subject(response: &Feature, source: &Schema) -> String {
    let level = response.factors.first().and_then(|factor| {
        match (factor.shape, source.columns().get(factor.column)?.kind()) {
            (Shape::Level(level), Kind::Category { levels }) => levels.get(level),
            _ => None,
        }
    });
    match level {
        Some(level) => format!("{} = {level}", response.name),
        None => response.name.clone(),
    }
}

/// Whether η is the response itself.
fn in_response(model: &dyn Model) -> bool {
    let law = model.regression().and_then(Regression::law);
    law.is_some_and(|law| law.predictor_words().is_none())
}

/// Centre and half width of the map of a lone column.
fn scaling(feature: &Feature, source: &Schema) -> (f64, f64) {
    match &feature.factors[..] {
        [factor] => source.columns().get(factor.column).map_or((0.0, 1.0), |column| factor.scaling(column)),
        _ => (0.0, 1.0),
    }
}

/// A product of functions of columns: a sorted list of them.
type Monomial = Vec<(usize, Shape)>;

/// A monomial on its way to a reading.
struct Entry {
    monomial: Monomial,
    name: String,
    per: String,
    weights: Vec<(usize, f64)>,
    constant: f64,
}

/// The coefficients of a regression, multiplied out.
fn coefficients(regression: &Regression, features: &[Feature], source: &Schema) -> Vec<Reading> {
    let (count, intercept) = (regression.parts().0, regression.has_intercept());
    let lead = features.len() - (count - usize::from(intercept)).min(features.len());
    let law = regression.law();
    let words = law.and_then(Law::predictor_words);
    // Only a response that η is itself is mapped, and then all of η is.
    let (centre, height) = match (words, features.first()) {
        (None, Some(response)) => scaling(response, source),
        _ => (0.0, 1.0),
    };
    let subject = features.first().map(|response| subject(response, source)).unwrap_or_default();
    let counted = words.map_or_else(|| subject.clone(), |words| format!("{words} of {subject}"));
    let mut entries: Vec<Entry> = Vec::new();
    if intercept {
        entries.push(Entry::new(&Vec::new(), source));
        entries[0].weights.push((0, height));
    }
    // The formula's own terms first and in its order; what multiplying out adds comes after them.
    for feature in &features[lead..] {
        let whole = feature.factors.iter().map(|factor| (factor.column, factor.shape)).collect();
        let entry = place_of(&mut entries, whole, source);
        entries[entry].name.clone_from(&feature.name);
    }
    for (place, feature) in features[lead..].iter().enumerate() {
        for (monomial, share) in multiplied(feature, source) {
            let entry = place_of(&mut entries, monomial, source);
            entries[entry].weights.push((place + usize::from(intercept), height * share));
        }
    }
    if let Some(constant) = entries.iter_mut().find(|entry| entry.monomial.is_empty()) {
        constant.constant = centre;
    }
    entries.into_iter().map(|entry| entry.reading(&counted, law)).collect()
}

/// The entry of a monomial, made where there is none.
fn place_of(entries: &mut Vec<Entry>, mut monomial: Monomial, source: &Schema) -> usize {
    let order = |(column, shape): &(usize, Shape)| (*column, format!("{shape:?}"));
    monomial.sort_by_key(order);
    match entries.iter().position(|entry| entry.monomial == monomial) {
        Some(place) => place,
        None => {
            entries.push(Entry::new(&monomial, source));
            entries.len() - 1
        }
    }
}

/// A feature as a sum of monomials with their shares.
fn multiplied(feature: &Feature, source: &Schema) -> Vec<(Monomial, f64)> {
    let mut sum: Vec<(Monomial, f64)> = vec![(Vec::new(), 1.0)];
    for factor in &feature.factors {
        let Some(column) = source.columns().get(factor.column) else { continue };
        let (centre, half_width) = factor.scaling(column);
        let constants: Vec<(Monomial, f64)> = sum
            .iter()
            .filter(|_| centre != 0.0)
            .map(|(monomial, share)| (monomial.clone(), -share * centre / half_width))
            .collect();
        for (monomial, share) in &mut sum {
            monomial.push((factor.column, factor.shape));
            *share /= half_width;
        }
        sum.extend(constants);
    }
    sum
}

impl Entry {
    fn new(monomial: &Monomial, source: &Schema) -> Self {
        let columns = source.columns();
        let parts: Vec<(String, String)> = monomial
            .iter()
            .filter_map(|(column, shape)| columns.get(*column).map(|column| factor_words(column, *shape)))
            .collect();
        let (names, per): (Vec<String>, Vec<String>) = parts.into_iter().unzip();
        let name = if names.is_empty() { "intercept".to_owned() } else { names.join(":") };
        let per = per.join(" and ");
        Self { monomial: monomial.clone(), name, per, weights: Vec::new(), constant: 0.0 }
    }

    fn reading(self, counted: &str, law: Option<Law>) -> Reading {
        let Self { name, per, mut weights, constant, monomial } = self;
        weights.sort_by_key(|(place, _)| *place);
        let unit = if per.is_empty() { counted.to_owned() } else { format!("{counted} {per}") };
        let ratio = law.and_then(Law::ratio_words).filter(|_| !monomial.is_empty());
        Reading { name, unit, ratio, form: Form::Sum { weights, constant } }
    }
}

/// A function of a column: its name as in a formula, and the change that a coefficient is for.
fn factor_words(column: &Column, shape: Shape) -> (String, String) {
    let name = column.name();
    match (shape, column.kind()) {
        (Shape::Value, Kind::Bool) => (name.to_owned(), format!("where {name} is true")),
        (Shape::Value, Kind::Real { .. } | Kind::Integer { .. } | Kind::Category { .. }) => {
            (name.to_owned(), format!("per 1 of {name}"))
        }
        (Shape::Log, _) => (format!("log({name})"), format!("per 1 of log({name})")),
        (Shape::Sqrt, _) => (format!("sqrt({name})"), format!("per 1 of sqrt({name})")),
        (Shape::Square, _) => (format!("square({name})"), format!("per 1 of {name} squared")),
        (Shape::Legendre(degree), _) => (
            format!("poly({name}, {degree})"),
            format!("per 1 of the Legendre polynomial of degree {degree} over the bounds of {name}"),
        ),
        (Shape::Level(level), Kind::Category { levels }) => {
            let level = levels.get(level).map(String::as_str).unwrap_or_default();
            (format!("{name}[{level}]"), format!("where {name} is {level}"))
        }
        (Shape::Level(level), Kind::Real { .. } | Kind::Integer { .. } | Kind::Bool) => {
            (format!("{name}[{level}]"), format!("where {name} is {level}"))
        }
    }
}
