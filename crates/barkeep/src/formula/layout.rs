//! Lays a formula out over declared columns: which features a model reads, in which order, under which names.

use super::moments::Moments;
use super::parse::{Atom, Formula, Function, Term, TrialsOf};
use super::tokens::FormulaError;
use crate::keys::suggestion;
use barkeep_data::{Column, Factor, Feature, Kind, Schema, Shape, View};

/// The trials of a binomial response.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Trials {
    /// Not a binomial response.
    None,
    /// The same number for every record.
    Fixed(f64),
    /// The second column of the view; the number is the middle of its bounds.
    Column(f64),
}

/// A formula over a schema: the view a regression reads, and what is publicly known of its coefficients.
///
/// The view's columns are the response, the trials and the offset, if there are any, then the features. Categories are
/// coded by treatment: a level's indicator for every level but the first, which the intercept stands for. Where a
/// formula has no intercept, or an interaction without the term it would be a part of, all levels get one (the rule of
/// R's `model.matrix`).
#[derive(Debug, Clone)]
pub struct Layout {
    /// What is read and what the model sees of it.
    pub view: View,
    /// Whether the first coefficient is an intercept.
    pub intercept: bool,
    /// The trials of a binomial response.
    pub trials: Trials,
    /// The offset's mean, and the logarithm of its exponential's mean, if its column were spread evenly over its bounds.
    pub offset: Option<(f64, f64)>,
    /// For each feature the name of its term: `origin` for `origin[JFK]`.
    pub terms: Vec<String>,
    /// `E[x]` and, row by row, `E[x·xᵀ]` of the coefficients' features if columns were independent and spread evenly over
    /// their bounds or levels.
    pub means: Vec<f64>,
    /// See `means`.
    pub moments: Vec<f64>,
    /// The corners of all feature vectors bounds and levels allow, one after the other; empty if there are too many.
    pub corners: Vec<f64>,
}

/// The most features: more coefficients than anyone reads, and than a dense preconditioner suits.
const MOST_FEATURES: usize = 1000;

impl Layout {
    /// Lays out a formula. `scaled_response` says whether the response is seen as its column's `scale` says or in its own
    /// unit.
    ///
    /// # Errors
    /// An unknown column, a function that its column's bounds make undefined, a term that follows from others.
    pub fn new(formula: &Formula, schema: &Schema, scaled_response: bool) -> Result<Self, FormulaError> {
        let find = |atom: &Atom| find(formula, schema, atom);
        let response = find(&formula.response)?;
        let mut features = vec![match schema.columns()[response].kind() {
            // A category of two levels is a yes and a no.
            Kind::Category { levels } if levels.len() == 2 => single(
                &formula.response.column,
                Factor { column: response, shape: Shape::Level(1), scaled: false },
            ),
            Kind::Category { .. } => {
                let reason = "a response must be a number, true or false, or a category of two levels";
                return Err(formula.error(formula.response.span, reason));
            }
            Kind::Real { .. } | Kind::Integer { .. } | Kind::Bool => single(
                &formula.response.column,
                Factor { column: response, shape: Shape::Value, scaled: scaled_response },
            ),
        }];
        let trials = match &formula.trials {
            None => Trials::None,
            Some(TrialsOf::Fixed(number)) => Trials::Fixed(*number),
            Some(TrialsOf::Column(atom)) => {
                let column = find(atom)?;
                let Kind::Integer { min, max } = *schema.columns()[column].kind() else {
                    return Err(formula.error(atom.span, "trials must be a column of kind \"integer\""));
                };
                if min < 0.0 || max < 1.0 {
                    return Err(formula
                        .error(atom.span, "trials must have a min of at least 0 and a max of at least 1"));
                }
                features.push(single(
                    &format!("trials({})", atom.column),
                    Factor { column, shape: Shape::Value, scaled: false },
                ));
                Trials::Column((0.5 * (min + max)).max(1.0))
            }
        };
        let mut offset = None;
        if let Some(atom) = &formula.offset {
            let factor = Factor { scaled: false, ..factor(formula, schema, atom)? };
            offset = Some(super::moments::typical(&factor, &schema.columns()[factor.column]));
            features.push(single(&format!("offset({})", written(atom)), factor));
        }
        let lead = features.len();
        let mut terms = Vec::new();
        let mut places = Vec::new();
        for term in &formula.terms {
            let name = term.0.iter().map(written).collect::<Vec<_>>().join(":");
            for feature in expand(formula, schema, term)? {
                if features.len() - lead >= MOST_FEATURES {
                    let reason = format!("gives the formula more than {MOST_FEATURES} coefficients");
                    return Err(formula.error(span(term), reason));
                }
                features.push(feature);
                terms.push(name.clone());
                places.push(span(term));
            }
        }
        if terms.is_empty() && !formula.intercept {
            return Err(formula.error(
                formula.response.span,
                "there is nothing to estimate: neither a term nor an intercept",
            ));
        }
        let view = View::new(schema.clone(), features)
            .map_err(|error| formula.error(formula.response.span, error.to_string()))?;
        let Moments { means, moments } =
            Moments::new(view.source(), &view.features()[lead..], formula.intercept);
        if let Some(feature) = super::moments::dependent(&moments, means.len()) {
            let feature = feature - usize::from(formula.intercept);
            let name = &view.features()[lead + feature].name;
            let reason =
                format!("`{name}` follows from the terms before it, whatever the records; leave one out");
            return Err(formula.error(places[feature], reason));
        }
        let mut layout = Self {
            view,
            intercept: formula.intercept,
            trials,
            offset,
            terms,
            means,
            moments,
            corners: Vec::new(),
        };
        layout.corners = super::corners::corners(&layout);
        Ok(layout)
    }

    /// The columns before the features.
    #[must_use]
    pub fn lead(&self) -> usize {
        self.view.features().len() - self.terms.len()
    }

    /// The features as columns with their ranges, in order.
    #[must_use]
    pub fn features(&self) -> &[Column] {
        &self.view.schema().columns()[self.lead()..]
    }
}

fn single(name: &str, factor: Factor) -> Feature {
    Feature { name: name.to_owned(), factors: vec![factor] }
}

fn span(term: &Term) -> super::tokens::Span {
    match &term.0[..] {
        [first, .., last] if first.span.start <= last.span.start => first.span.to(last.span),
        [first, ..] => first.span,
        [] => super::tokens::Span { start: 0, end: 1 },
    }
}

fn find(formula: &Formula, schema: &Schema, atom: &Atom) -> Result<usize, FormulaError> {
    schema.columns().iter().position(|column| column.name() == atom.column.trim()).ok_or_else(|| {
        let nearest = suggestion(&atom.column, schema.columns().iter().map(Column::name));
        formula.error(atom.span, format!("there is no column `{}` in data.columns{nearest}", atom.column))
    })
}

/// The factor of a numeric or true/false column.
fn factor(formula: &Formula, schema: &Schema, atom: &Atom) -> Result<Factor, FormulaError> {
    let column = find(formula, schema, atom)?;
    let shape = match atom.function {
        Function::Plain => Shape::Value,
        Function::Log => Shape::Log,
        Function::Sqrt => Shape::Sqrt,
        Function::Square => Shape::Square,
        Function::Poly(degree) => Shape::Legendre(degree),
    };
    let factor = Factor { column, shape, scaled: true };
    let declared = &schema.columns()[column];
    let category = matches!(declared.kind(), Kind::Category { .. }).then_some("must not be a category here");
    match category.or_else(|| factor.fault(declared)) {
        Some(requirement) => {
            Err(formula.error(atom.span, format!("the column `{}` {requirement}", declared.name())))
        }
        None => Ok(factor),
    }
}

/// A term's features: one, or one for each combination of the levels that are coded.
fn expand(formula: &Formula, schema: &Schema, term: &Term) -> Result<Vec<Feature>, FormulaError> {
    let mut features = vec![Feature { name: String::new(), factors: vec![] }];
    for (place, atom) in term.0.iter().enumerate() {
        let column = find(formula, schema, atom)?;
        let choices: Vec<(String, Factor)> = match schema.columns()[column].kind() {
            Kind::Category { levels } if atom.function == Function::Plain => {
                let mut rest = term.0.clone();
                rest.remove(place);
                let rest = Term(rest);
                let covered =
                    if rest.0.is_empty() { formula.intercept } else { formula.terms.contains(&rest) };
                if levels.len() < 2 && covered {
                    let reason = format!("the category `{}` has one level only", atom.column);
                    return Err(formula.error(atom.span, reason));
                }
                let coded = levels.iter().enumerate().skip(usize::from(covered));
                coded
                    .map(|(level, name)| {
                        let factor = Factor { column, shape: Shape::Level(level), scaled: true };
                        (format!("{}[{name}]", atom.column), factor)
                    })
                    .collect()
            }
            _ => vec![(written(atom), factor(formula, schema, atom)?)],
        };
        if features.len() * choices.len() > MOST_FEATURES {
            let reason = format!("gives the formula more than {MOST_FEATURES} coefficients");
            return Err(formula.error(atom.span, reason));
        }
        features = features
            .iter()
            .flat_map(|feature| {
                choices.iter().map(|(name, factor)| {
                    let name = if feature.name.is_empty() {
                        name.clone()
                    } else {
                        format!("{}:{name}", feature.name)
                    };
                    let factors = feature.factors.iter().copied().chain([*factor]).collect();
                    Feature { name, factors }
                })
            })
            .collect();
    }
    Ok(features)
}

/// The atom as a person would write it.
fn written(atom: &Atom) -> String {
    let column = &atom.column;
    match atom.function {
        Function::Plain => column.clone(),
        Function::Log => format!("log({column})"),
        Function::Sqrt => format!("sqrt({column})"),
        Function::Square => format!("square({column})"),
        Function::Poly(degree) => format!("poly({column}, {degree})"),
    }
}
