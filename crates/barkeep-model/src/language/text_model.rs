//! Makes a text a model: densities, ratios and gradients by program, and every public fact a plan asks for.

mod given;

use barkeep_data::{Column, Schema};
use barkeep_machine::{Program, Source, Unsound, Writer};
use barkeep_num::linear::Cholesky;

use super::build::{Meaning, Observed, Response, build};
use super::fault::{Fault, Span, TextError};
use super::graph::{Graph, Id, Node};
use super::information::{Scores, information, spread, steepest};
use super::interval::Interval;
use super::parameters::Parameter;
use super::parse::parse;
use super::program::{Template, Uniforms};
use super::reach::Core;
use crate::{Given, Gradient, Likelihood, Model, ReadAs};

/// A model written as text.
///
/// **Privacy.** What it computes from a record depends on that record, θ and the text, by syntax: no text can name another
/// record. Its instructions are the same whatever a record says.
pub struct TextModel {
    names: Vec<String>,
    column_names: Vec<String>,
    columns: Vec<Column>,
    /// Their places in the schema of the file.
    places: Vec<usize>,
    density: Template,
    ratio: Template,
    gradient: Template,
    /// ln p(θ), then its gradient.
    prior: Uniforms,
    /// Where all priors are normal with a known sd: the gradients of what each has squared, one after the other.
    residuals: Option<Uniforms>,
    /// The values a text speaks of, where they are not the coordinates.
    values: Uniforms,
    value_names: Vec<String>,
    parameters: Vec<Parameter>,
    responses: Vec<Response>,
    /// The places of the columns that are drawn given the others.
    drawn: Vec<usize>,
    free: bool,
    scores: Vec<Scores>,
    /// The text's own nodes, for single records.
    graph: Graph,
    /// The graph with gradient and ratio, for bounds.
    whole: Graph,
    slopes: Vec<Id>,
    /// The gradient taken apart, for bounds through matrices.
    cores: Vec<Core>,
    difference: Id,
    bound: Option<f64>,
}

impl TextModel {
    /// Reads a text against the declared columns of the records. It reads those it names, in the schema's order.
    ///
    /// # Errors
    /// The first fault, with its line and column.
    pub fn new(text: &str, schema: &Schema) -> Result<Self, TextError> {
        let read = || -> Result<Self, Fault> {
            let syntax = parse(text)?;
            Self::compile(build(&syntax, schema)?, schema)
                .map_err(|unsound| Fault::new(Span::default(), unsound.to_string()))
        };
        read().map_err(|fault| TextError::new(text, fault))
    }

    fn compile(meaning: Meaning, schema: &Schema) -> Result<Self, Unsound> {
        let Meaning { graph, columns: places, parameters, names, values, responses, free, density, prior } =
            meaning;
        let d = names.len();
        let columns: Vec<Column> = places.iter().map(|place| schema.columns()[*place].clone()).collect();
        let mut whole = graph.clone();
        let slopes = whole.gradient(density, d);
        let difference = whole.difference(density, d);
        let cores = whole.cores(&slopes);
        let mut working = whole.clone();
        let scores = responses
            .iter()
            .map(|response| Scores::new(&mut working, response, d))
            .collect::<Result<_, _>>()?;
        let mut outputs = vec![prior];
        outputs.extend(working.gradient(prior, d));
        let residuals = residuals(&mut working, &parameters, d);
        let (value_names, value_nodes): (Vec<String>, Vec<Id>) = values.into_iter().unzip();
        let drawn = responses.iter().flat_map(|response| match response.observed {
            Observed::Where { flag, .. } => vec![response.column, flag],
            Observed::Exact | Observed::AtBounds | Observed::Truncated => vec![response.column],
        });
        let drawn = if free { Vec::new() } else { drawn.collect() };
        let mut model = Self {
            column_names: columns.iter().map(|column| column.name().to_owned()).collect(),
            density: Template::new(&mut working, &[density])?,
            ratio: Template::new(&mut working, &[difference])?,
            gradient: Template::new(&mut working, &slopes)?,
            prior: Uniforms::new(&mut working, &outputs),
            residuals: residuals.map(|nodes| Uniforms::new(&mut working, &nodes)),
            values: Uniforms::new(&mut working, &value_nodes),
            value_names,
            bound: None,
            names,
            columns,
            places,
            parameters,
            drawn,
            responses,
            free,
            scores,
            graph,
            whole,
            slopes,
            cores,
            difference,
        };
        model.bound = model.gradient_bound(&model.columns);
        Ok(model)
    }

    /// The places in the schema of the columns it reads.
    #[must_use]
    pub fn places(&self) -> &[usize] {
        &self.places
    }

    /// Nodes of the graphs and instructions of the programs that records run through.
    #[cfg(test)]
    pub(crate) fn size(&self) -> usize {
        let templates = [&self.density, &self.ratio, &self.gradient];
        self.whole.size() + self.prior.size() + templates.map(Template::size).iter().sum::<usize>()
    }

    fn gradient_bound(&self, columns: &[Column]) -> Option<f64> {
        self.whole.gradient_bound(&self.slopes, &ranges(columns))
    }

    /// The declared columns it reads, of a schema that may hold others.
    fn declared(&self, schema: &Schema) -> Option<Vec<Column>> {
        self.column_names
            .iter()
            .map(|name| schema.columns().iter().find(|column| column.name() == name).cloned())
            .collect()
    }
}

fn ranges(columns: &[Column]) -> Vec<Interval> {
    columns
        .iter()
        .map(|column| {
            let (low, high) = column.range();
            Interval::new(low, high)
        })
        .collect()
}

/// More parameters than this have their priors' curvature by differences.
const MOST_RESIDUALS: usize = 64;

/// The gradients of z = (θ_j − mean)/sd for every parameter, where each has a normal prior whose sd no parameter moves.
fn residuals(graph: &mut Graph, parameters: &[Parameter], d: usize) -> Option<Vec<Id>> {
    if !(1..=MOST_RESIDUALS).contains(&d) {
        return None;
    }
    let mut residuals = Vec::new();
    for parameter in parameters {
        let (mean, sd) = parameter.normal_prior()?;
        let needed = graph.needed(&[sd]);
        let is_moved = (0..graph.len()).any(|id| {
            needed[id] && Id::try_from(id).is_ok_and(|id| matches!(graph.node(id), Node::Parameter(_)))
        });
        if is_moved {
            return None;
        }
        for value in &parameter.values {
            let apart = graph.sub(*value, mean);
            residuals.push(graph.div(apart, sd));
        }
    }
    Some(residuals.into_iter().flat_map(|z| graph.gradient(z, d)).collect())
}

/// Writes a template at θ to a program. It has as many constants as slots, so that it is there; were it not, its values would be none.
fn append(program: Result<Program, Unsound>, w: &mut Writer, width: usize) -> Vec<Source> {
    match program {
        Ok(program) => w.append(&program),
        Err(_) => vec![w.fill(f64::NAN); width],
    }
}

impl Likelihood for TextModel {
    fn dimension(&self) -> usize {
        self.names.len()
    }

    fn columns(&self) -> usize {
        self.columns.len()
    }

    fn write_density(&self, theta: &[f64], w: &mut Writer) -> Source {
        append(self.density_program(theta), w, 1)[0]
    }

    fn write_ratio(&self, from: &[f64], to: &[f64], w: &mut Writer) -> Source {
        append(self.ratio_program(from, to), w, 1)[0]
    }

    fn write_gradient(&self, theta: &[f64], w: &mut Writer) -> Gradient {
        Gradient::Entries(append(self.gradient_program(theta), w, self.names.len()))
    }

    fn density_program(&self, theta: &[f64]) -> Result<Program, Unsound> {
        self.density.at(&[theta])
    }

    /// One expression of both points in which large terms do not cancel.
    fn ratio_program(&self, from: &[f64], to: &[f64]) -> Result<Program, Unsound> {
        self.ratio.at(&[from, to])
    }

    fn gradient_program(&self, theta: &[f64]) -> Result<Program, Unsound> {
        self.gradient.at(&[theta])
    }

    fn has_gradient(&self) -> bool {
        true
    }

    /// Where every response follows a named distribution and was observed as it is.
    fn given(&self) -> Result<&dyn Given, &'static str> {
        self.has_responses_as_they_are()?;
        Ok(self)
    }
}

impl Model for TextModel {
    fn parameter_names(&self) -> &[String] {
        &self.names
    }

    fn column_names(&self) -> &[String] {
        &self.column_names
    }

    fn log_prior(&self, theta: &[f64]) -> f64 {
        self.prior.at(theta)[0]
    }

    fn prior_gradient(&self, theta: &[f64], out: &mut [f64]) {
        out.copy_from_slice(&self.prior.at(theta)[1..]);
    }

    /// By quadrature over the response, at public points spread over the covariates; unknown for a bare `log_density`.
    ///
    /// Where gradients are bounded it is that at θ = 0, wherever θ is: for probabilities the largest it can be. What whitens
    /// then stays the same, so that a clip at the bound shortens nothing.
    fn fisher(&self, theta: &[f64], out: &mut [f64]) -> bool {
        let origin = vec![0.0; theta.len()];
        let theta = if self.bound.is_some() { &origin } else { theta };
        !self.free && information((&self.responses, &self.scores), &self.columns, theta, out)
    }

    /// Of normal priors with a known sd, whose logarithms are sums of squares −½z², Σ∇z·∇zᵀ. Else the Hessian by central
    /// differences where it is positive definite, or its diagonal without negative entries.
    fn prior_precision(&self, theta: &[f64], out: &mut [f64]) {
        let d = self.names.len();
        if let Some(residuals) = &self.residuals {
            out.fill(0.0);
            for slope in residuals.at(theta).chunks_exact(d) {
                for (k, entry) in out.iter_mut().enumerate() {
                    *entry += slope[k / d] * slope[k % d];
                }
            }
            return;
        }
        let mut moved = theta.to_vec();
        for j in 0..d {
            /// About the cube root of a rounding: the error of the difference is then of the order of its square.
            const STEP: f64 = 1e-5;
            let step = STEP * theta[j].abs().max(1.0);
            moved[j] = theta[j] + step;
            let after = self.prior.at(&moved);
            moved[j] = theta[j] - step;
            let before = self.prior.at(&moved);
            moved[j] = theta[j];
            for k in 0..d {
                out[k * d + j] = (before[k + 1] - after[k + 1]) / (2.0 * step);
            }
        }
        for j in 0..d {
            for k in 0..j {
                let mean = 0.5 * (out[j * d + k] + out[k * d + j]);
                out[j * d + k] = mean;
                out[k * d + j] = mean;
            }
        }
        let usable = out.iter().all(|entry| entry.is_finite()) && Cholesky::new(out, d).is_some();
        if !usable {
            for (place, entry) in out.iter_mut().enumerate() {
                let keep = place / d == place % d && entry.is_finite();
                *entry = if keep { entry.max(0.0) } else { 0.0 };
            }
        }
    }

    /// By interval arithmetic over the declared bounds, rounded outward.
    fn lipschitz(&self, schema: &Schema) -> Option<f64> {
        let columns = self.declared(schema)?;
        if columns == self.columns { self.bound } else { self.gradient_bound(&columns) }
    }

    /// Over the corners of the columns' bounds, each core of the gradient by its interval.
    fn lipschitz_through(&self, schema: &Schema, matrix: &[f64]) -> Option<f64> {
        self.whole.reach(&self.cores, matrix, &ranges(&self.declared(schema)?))
    }

    /// The steepest information at covariates on corners of their bounds, at θ; nothing without covariates, of which there is
    /// no guess then.
    fn stiffness_through(&self, _schema: &Schema, theta: &[f64], matrix: &[f64]) -> Option<f64> {
        let guessed = (0..self.columns.len()).any(|place| !self.drawn.contains(&place));
        let sides = (&self.responses[..], &self.scores[..]);
        (guessed && !self.free).then(|| steepest(sides, &self.columns, theta, matrix)).flatten()
    }

    fn log_ratio_range(&self, schema: &Schema, from: &[f64], to: &[f64]) -> Option<(f64, f64)> {
        let columns = self.declared(schema)?;
        let theta: Vec<Interval> = from.iter().chain(to).map(|value| Interval::new(*value, *value)).collect();
        let found = self.whole.intervals(&theta, &ranges(&columns))[self.difference as usize];
        (found.low.is_finite() && found.high.is_finite()).then_some((found.low, found.high))
    }

    /// Not where all columns are normal with a known sd, or mixtures of such: the built-in models of whole records.
    fn has_long_gradients(&self) -> bool {
        self.bound.is_none() && !self.is_of_normal_means()
    }

    fn sample_prior(&self, uniform: &mut dyn FnMut() -> f64, out: &mut [f64]) -> bool {
        out.fill(0.0);
        self.parameters.iter().all(|parameter| {
            let nodes = self.graph.values(out, &[]);
            parameter.draw(&nodes, uniform, out)
        })
    }

    fn simulates(&self) -> bool {
        !self.free
    }

    fn quantity_names(&self) -> &[String] {
        &self.value_names
    }

    fn quantities(&self, theta: &[f64]) -> Vec<f64> {
        self.values.at(theta)
    }

    fn read_as(&self, parameter: usize) -> ReadAs {
        let own = |declared: &Parameter| {
            let coordinates = declared.range.coordinates(declared.values.len());
            (declared.first..declared.first + coordinates).contains(&parameter)
                && declared.range.is_value(parameter - declared.first)
        };
        if self.parameters.iter().any(own) { ReadAs::Itself } else { ReadAs::Quantities }
    }

    /// Covariates are spread evenly over their bounds or levels, independently. Of a bare `log_density` nothing can be
    /// simulated: see [`Model::simulates`].
    fn simulate(&self, theta: &[f64], uniform: &mut dyn FnMut() -> f64, row: &mut [f64]) {
        for (value, column) in row.iter_mut().zip(&self.columns) {
            *value = spread(column, uniform());
        }
        self.respond(theta, uniform, row);
    }

    fn responses(&self) -> &[usize] {
        &self.drawn
    }

    fn censors(&self) -> bool {
        self.responses.iter().any(|response| match response.observed {
            Observed::Where { .. } => true,
            Observed::Exact | Observed::AtBounds | Observed::Truncated => false,
        })
    }

    /// In the text's order: a response may depend on those before it. A censoring time is spread evenly over the response's
    /// bounds.
    fn respond(&self, theta: &[f64], uniform: &mut dyn FnMut() -> f64, row: &mut [f64]) {
        for response in &self.responses {
            let nodes = self.graph.values(theta, row);
            let (low, high) = self.columns[response.column].range();
            row[response.column] = match response.observed {
                Observed::Exact | Observed::AtBounds => response.law.draw(&nodes, uniform) + response.least,
                Observed::Truncated => {
                    const TRIES: usize = 10_000;
                    let draws = (0..TRIES).map(|_| response.law.draw(&nodes, uniform));
                    draws.into_iter().find(|y| (low..=high).contains(y)).unwrap_or(low)
                }
                Observed::Where { flag, when } => {
                    let (time, limit) = (response.law.draw(&nodes, uniform), low + (high - low) * uniform());
                    // A count is beyond a limit where it is beyond the whole number below.
                    let limit = if response.law.is_count() { limit.floor() } else { limit };
                    let censored = time > limit;
                    row[flag] = if censored { when } else { 1.0 - when };
                    if censored { limit } else { time }
                }
            };
        }
    }
}

#[cfg(test)]
mod tests;
