//! Finds the raw columns behind a formula's features, or those a text's responses are given: what is asked about them, and how
//! made-up records follow from them.

use barkeep_data::{Column, Factor, Feature, Kind, Shape, View};
use barkeep_model::terms::{Coordinate, Curve};
use barkeep_model::{Law, Regression};

/// One raw column, or one level of a category, as a coordinate in [−1, 1].
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Raw {
    /// The place of its column in the file's schema.
    pub(crate) source: usize,
    /// What it is.
    pub(crate) kind: RawKind,
}

/// What a raw coordinate is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum RawKind {
    /// A number between bounds; its logarithm where every feature takes that.
    Number {
        /// Whether the coordinate is the logarithm's.
        log: bool,
    },
    /// Trials, by their root.
    Trials,
    /// True or false.
    Bool,
    /// Whether a category is at this level, above 0.
    Level(usize),
}

impl Raw {
    /// Whether it has two values only.
    pub(crate) fn is_binary(&self) -> bool {
        match self.kind {
            RawKind::Bool | RawKind::Level(_) => true,
            RawKind::Number { .. } | RawKind::Trials => false,
        }
    }
}

/// The raw coordinates of a regression and what its table must hold for them.
#[derive(Debug, Clone)]
pub(crate) struct Coordinates {
    /// What is read: the model's features, and after them raw columns that are no feature.
    pub(crate) view: View,
    /// The raw coordinates, levels of a category together and ascending.
    pub(crate) raws: Vec<Raw>,
    /// The curator's side of each.
    pub(crate) asked: Vec<Coordinate>,
    /// A regression's response, mapped to [−1, 1].
    pub(crate) response: Option<Coordinate>,
}

impl Coordinates {
    /// Of a regression that reads this view; `None` if raw columns cannot be appended.
    pub(crate) fn new(view: &View, regression: &Regression, law: Law) -> Option<Self> {
        let (trials_column, fixed_trials) = regression.trials();
        let mut raws = Vec::new();
        let used: Vec<Factor> =
            view.features().iter().skip(1).flat_map(|feature| feature.factors.clone()).collect();
        for (source, column) in view.source().columns().iter().enumerate() {
            let factors: Vec<&Factor> = used.iter().filter(|factor| factor.column == source).collect();
            if factors.is_empty() {
                continue;
            }
            let is_trials = trials_column
                && view
                    .features()
                    .get(1)
                    .and_then(|trials| trials.factors.first())
                    .is_some_and(|f| f.column == source);
            match column.kind() {
                Kind::Real { .. } | Kind::Integer { .. } if is_trials => {
                    raws.push(Raw { source, kind: RawKind::Trials });
                }
                Kind::Real { .. } | Kind::Integer { .. } => {
                    let log = factors.iter().all(|factor| factor.shape == Shape::Log);
                    raws.push(Raw { source, kind: RawKind::Number { log } });
                }
                Kind::Bool => raws.push(Raw { source, kind: RawKind::Bool }),
                Kind::Category { levels } => {
                    raws.extend((1..levels.len()).map(|level| Raw { source, kind: RawKind::Level(level) }));
                }
            }
        }
        let (view, asked) = asked_of(view, &raws, 1)?;
        let (low, high) = view.schema().columns().first()?.range();
        let response = match law {
            Law::Logit | Law::Probit => mapped(0, Curve::Line, (low, high), false),
            Law::Normal | Law::StudentT { .. } => mapped(0, Curve::Line, (low, high), true),
            Law::Poisson | Law::NegativeBinomial => {
                mapped(0, Curve::Log { plus: 0.5 }, (libm::log(low + 0.5), libm::log(high + 0.5)), true)
            }
            Law::Gamma => mapped(0, Curve::Log { plus: 0.0 }, (libm::log(low), libm::log(high)), true),
            Law::Binomial => {
                let column = trials_column.then_some(1);
                mapped(0, Curve::Share { column, fixed: fixed_trials }, (0.0, 1.0), true)
            }
        };
        Some(Self { view, raws, asked, response: Some(response) })
    }

    /// Of a text that reads this view, the columns at `responses` drawn given the others; `None` if raw columns cannot be
    /// appended.
    pub(crate) fn given(view: &View, responses: &[usize]) -> Option<Self> {
        let mut raws = Vec::new();
        for (place, feature) in view.features().iter().enumerate() {
            let [Factor { column: source, .. }] = feature.factors[..] else { return None };
            if responses.contains(&place) {
                continue;
            }
            match view.source().columns()[source].kind() {
                Kind::Real { .. } | Kind::Integer { .. } => {
                    raws.push(Raw { source, kind: RawKind::Number { log: false } });
                }
                Kind::Bool => raws.push(Raw { source, kind: RawKind::Bool }),
                Kind::Category { levels } => {
                    raws.extend((1..levels.len()).map(|level| Raw { source, kind: RawKind::Level(level) }));
                }
            }
        }
        let (view, asked) = asked_of(view, &raws, 0)?;
        Some(Self { view, raws, asked, response: None })
    }

    /// A raw coordinate as people name it: a column, or a level of one.
    pub(crate) fn name(&self, raw: &Raw) -> String {
        let column = &self.view.source().columns()[raw.source];
        match (raw.kind, column.kind()) {
            (RawKind::Level(level), Kind::Category { levels }) => {
                format!("{}[{}]", column.name(), levels[level])
            }
            (
                RawKind::Level(_) | RawKind::Number { .. } | RawKind::Trials | RawKind::Bool,
                Kind::Category { .. } | Kind::Real { .. } | Kind::Integer { .. } | Kind::Bool,
            ) => column.name().to_owned(),
        }
    }

    /// The value in its own unit of the source column of a raw coordinate at z.
    fn own_unit(&self, raw: &Raw, z: f64) -> f64 {
        let column = &self.view.source().columns()[raw.source];
        let (low, high) = column.bounds().unwrap_or((0.0, 1.0));
        let between = |low: f64, high: f64| 0.5 * (low + high) + 0.5 * (high - low) * z;
        match raw.kind {
            RawKind::Number { log: false } => between(low, high),
            RawKind::Number { log: true } => {
                libm::exp(between(libm::log(low), libm::log(high))).clamp(low, high)
            }
            RawKind::Trials => (0.25 * (z + 1.0) * (z + 1.0) * high).round().clamp(low.max(0.0), high),
            RawKind::Bool => f64::from(u8::from(z > 0.0)),
            RawKind::Level(level) => {
                if z > 0.0 {
                    level as f64
                } else {
                    0.0
                }
            }
        }
    }

    /// Where values that are declared to be typical lie, as coordinates; the inverse of [`Coordinates::own_unit`].
    pub(crate) fn typical(&self, raw: &Raw) -> Option<(f64, f64)> {
        let column = &self.view.source().columns()[raw.source];
        let ((low, high), (from, to)) = (column.bounds()?, column.typical()?);
        let map: fn(f64) -> f64 = match raw.kind {
            RawKind::Number { log: false } => |value| value,
            RawKind::Number { log: true } => libm::log,
            RawKind::Trials => f64::sqrt,
            RawKind::Bool | RawKind::Level(_) => return None,
        };
        let low = if raw.kind == RawKind::Trials { 0.0 } else { low };
        let z = |value: f64| (2.0 * (map(value) - map(low)) / (map(high) - map(low)) - 1.0).clamp(-1.0, 1.0);
        Some((z(from), z(to)))
    }

    /// Writes what the model would see of a record with these raw coordinates to `row`, a regression's response 0 and a text's
    /// responses anything. A text may use a whole number as an index: there it stays whole.
    pub(crate) fn push(&self, z: &[f64], values: &mut Vec<f64>, row: &mut [f64]) {
        let columns = self.view.source().columns();
        values.clear();
        values.extend(columns.iter().map(Column::invalid));
        let mut last = usize::MAX;
        for (raw, z) in self.raws.iter().zip(z) {
            let value = self.own_unit(raw, *z);
            let is_whole =
                self.response.is_none() && matches!(columns[raw.source].kind(), Kind::Integer { .. });
            let value = if is_whole { value.round() } else { value };
            let slot = &mut values[raw.source];
            // Of a category's levels at most one is 1; the first stands where none is.
            *slot = if raw.source == last { slot.max(value) } else { value };
            last = raw.source;
        }
        for (cell, feature) in row.iter_mut().zip(self.view.features()) {
            let factors = feature.factors.iter();
            *cell = factors.map(|factor| factor.at(&columns[factor.column], values[factor.column])).product();
        }
        if let (Some(_), Some(response)) = (self.response, row.first_mut()) {
            *response = 0.0;
        }
    }
}

/// The view with raw columns that are no feature appended, and the curator's side of each raw coordinate. The first `skipped`
/// features are no raw columns.
fn asked_of(view: &View, raws: &[Raw], skipped: usize) -> Option<(View, Vec<Coordinate>)> {
    let mut features = view.features().to_vec();
    let columns = view.source().columns();
    let places: Vec<usize> = raws.iter().map(|raw| place(raw, &mut features, columns, skipped)).collect();
    // Columns that nobody uses were dropped before, so that places in the source stay.
    let view = if features.len() == view.features().len() {
        view.clone()
    } else {
        View::new(view.source().clone(), features).ok()?
    };
    let asked = raws
        .iter()
        .zip(places)
        .map(|(raw, column)| {
            let (low, high) = view.schema().columns()[column].range();
            let (curve, low, high) = match raw.kind {
                RawKind::Trials => (Curve::Root, 0.0, high.sqrt()),
                RawKind::Number { .. } | RawKind::Bool | RawKind::Level(_) => (Curve::Line, low, high),
            };
            mapped(column, curve, (low, high), !raw.is_binary())
        })
        .collect();
    Some((view, asked))
}

/// The column of a table that holds a raw coordinate up to a line; appended where no feature does.
fn place(raw: &Raw, features: &mut Vec<Feature>, columns: &[Column], skipped: usize) -> usize {
    let shape = match raw.kind {
        RawKind::Number { log: true } => Shape::Log,
        RawKind::Number { log: false } | RawKind::Trials | RawKind::Bool => Shape::Value,
        RawKind::Level(level) => Shape::Level(level),
    };
    let holds = |feature: &Feature| matches!(feature.factors[..], [factor] if factor.column == raw.source && factor.shape == shape);
    features.iter().skip(skipped).position(holds).map_or_else(
        || {
            let name = match raw.kind {
                RawKind::Level(level) => format!("raw {}[{level}]", columns[raw.source].name()),
                RawKind::Number { .. } | RawKind::Trials | RawKind::Bool => {
                    format!("raw {}", columns[raw.source].name())
                }
            };
            features
                .push(Feature { name, factors: vec![Factor { column: raw.source, shape, scaled: true }] });
            features.len() - 1
        },
        |place| place + skipped,
    )
}

/// The line that maps [low, high] to [−1, 1] after a curve.
fn mapped(column: usize, curve: Curve, (low, high): (f64, f64), squared: bool) -> Coordinate {
    let width = (high - low).max(f64::MIN_POSITIVE);
    Coordinate { column, curve, scale: 2.0 / width, shift: -(low + high) / width, squared }
}

#[cfg(test)]
mod tests;
