//! Computes the expected information of one record: public points spread over the columns, and each law's own nodes.
//!
//! E[∇ℓ·∇ℓᵀ] is a sum over the responses, since conditional scores are uncorrelated, of expectations over the covariates and
//! over the response given them. Covariates are spread evenly over what is typical of them, their bounds or their levels, by a
//! low-discrepancy sequence: a public guess, which shapes how fast a chain moves and never where it goes. The response's expectation is a quadrature that
//! moves smoothly with θ.

use barkeep_data::{Block, Column, Kind, Scale};
use barkeep_machine::Unsound;
use barkeep_num::linear::{Spectrum, product};
use std::ops::Range;

use super::build::{Observed, Response};
use super::graph::Graph;
use super::laws::{Law, Support, Weighted};
use super::observed::MOST_COUNTS;
use super::program::Template;
use crate::Scratch;

/// How many points stand for the covariates.
const POINTS: usize = 64;
/// More parameters than this are not asked for their steepest corner.
const MANY: usize = 100;
/// How many times stand for a censoring time that is spread evenly over the bounds.
const TIMES: usize = 16;
/// How many values stand for a truncated response.
const INSIDE: usize = 65;

/// What one response adds to the information, compiled.
pub(crate) struct Scores {
    /// The gradient of its log density.
    gradient: Template,
    /// Its law, by the places of its arguments among the outputs of `arguments`.
    pub(super) law: Law,
    pub(super) arguments: Template,
    pub(super) width: usize,
    /// ln P(Y > y), or the log density, where weights need it.
    weight: Template,
}

impl Scores {
    /// Compiles what a response of a model with `dimension` parameters needs.
    ///
    /// # Errors
    /// Those of [`Template::new`].
    pub(crate) fn new(graph: &mut Graph, response: &Response, dimension: usize) -> Result<Self, Unsound> {
        let slopes = graph.gradient(response.density, dimension);
        let mut nodes = Vec::new();
        let law = response.law.listed(&mut nodes);
        let weight = response.survival.unwrap_or(response.density);
        Ok(Self {
            gradient: Template::new(graph, &slopes)?,
            law,
            arguments: Template::new(graph, &nodes)?,
            width: nodes.len(),
            weight: Template::new(graph, &[weight])?,
        })
    }

    /// The nodes of the law for each of some records, given column by column.
    fn nodes(&self, records: &[f64], theta: &[f64], scratch: &mut Scratch) -> Vec<Vec<Weighted>> {
        let mut arguments = vec![0.0; self.width * POINTS];
        let block = Block::over(records, POINTS, POINTS);
        scratch.run(self.arguments.at(&[theta]), block, &mut arguments);
        let at = |i: usize| {
            let values: Vec<f64> = (0..self.width).map(|k| arguments[k * POINTS + i]).collect();
            let mut nodes = Vec::new();
            self.law.nodes(&values, 0.0, &mut nodes);
            nodes
        };
        (0..POINTS).map(at).collect()
    }
}

/// Records with weights, row after row.
struct Nodes {
    columns: usize,
    rows: Vec<f64>,
    weights: Vec<f64>,
    /// Where the records of each point end.
    ends: Vec<usize>,
}

/// Writes Σ E[∇ℓ_r·∇ℓ_rᵀ] over the responses; false if it is not finite.
pub(crate) fn information(
    (responses, scores): (&[Response], &[Scores]),
    columns: &[Column],
    theta: &[f64],
    out: &mut [f64],
) -> bool {
    out.fill(0.0);
    let points = points(columns, |i, j| spread(&columns[j], share(i, j)));
    let whole = |nodes: &Nodes, gradient: &Template, scratch: &mut Scratch| {
        nodes.sum(gradient, theta, (0..nodes.weights.len(), 1.0), out, scratch);
    };
    over_points((responses, scores), columns, theta, points, whole);
    out.iter().all(|entry| entry.is_finite())
}

/// The largest eigenvalue of A·E[∇ℓ·∇ℓᵀ | x]·Aᵀ over covariates x at corners of their bounds, the responses drawn; A is given
/// row by row. Nothing where it is not finite.
///
/// Nothing either for more than [`MANY`] parameters. All corners where there are few, else as many that are drawn: a public guess of how steep the posterior of records can be
/// that lie elsewhere than [`information`] has them.
pub(crate) fn steepest(
    (responses, scores): (&[Response], &[Scores]),
    columns: &[Column],
    theta: &[f64],
    matrix: &[f64],
) -> Option<f64> {
    let d = theta.len();
    if d > MANY {
        return None;
    }
    let drawn: Vec<usize> = responses.iter().map(|response| response.column).collect();
    let covariates: Vec<usize> = (0..columns.len()).filter(|j| !drawn.contains(j)).collect();
    let few = covariates.len() <= POINTS.ilog2() as usize;
    let corner = |i: usize, j: usize| {
        let (low, high) = columns[j].range();
        let place = covariates.iter().position(|covariate| *covariate == j);
        let up = match place {
            Some(place) if few => i >> place & 1 == 1,
            Some(_) | None => share(i, j) < 0.5,
        };
        // Of more than two levels any may be the steepest.
        match columns[j].kind() {
            Kind::Category { .. } => spread(&columns[j], share(i, j)),
            Kind::Real { .. } | Kind::Integer { .. } | Kind::Bool => {
                if up {
                    high
                } else {
                    low
                }
            }
        }
    };
    let mut sums = vec![0.0; POINTS * d * d];
    over_points((responses, scores), columns, theta, points(columns, corner), |nodes, gradient, scratch| {
        for (i, sum) in sums.chunks_exact_mut(d * d).enumerate() {
            nodes.sum(gradient, theta, (nodes.of_point(i), POINTS as f64), sum, scratch);
        }
    });
    let mut largest: f64 = 0.0;
    for sum in sums.chunks_exact(d * d) {
        let through = product(&product(matrix, sum, d), &transposed(matrix, d), d);
        largest = largest.max(Spectrum::new(&through, d)?.range().1);
    }
    largest.is_finite().then_some(largest)
}

/// The transpose of a square matrix.
fn transposed(matrix: &[f64], d: usize) -> Vec<f64> {
    (0..d * d).map(|k| matrix[k % d * d + k / d]).collect()
}

/// Values of all columns at [`POINTS`] points, column by column.
fn points(columns: &[Column], at: impl Fn(usize, usize) -> f64) -> Vec<f64> {
    (0..columns.len()).flat_map(|j| (0..POINTS).map(move |i| (i, j))).map(|(i, j)| at(i, j)).collect()
}

/// Calls `each` with the nodes that stand for every response at the points, and the program of its scores.
fn over_points(
    (responses, scores): (&[Response], &[Scores]),
    columns: &[Column],
    theta: &[f64],
    mut points: Vec<f64>,
    mut each: impl FnMut(&Nodes, &Template, &mut Scratch),
) {
    let mut scratch = Scratch::new();
    for (place, (response, scores)) in responses.iter().zip(scores).enumerate() {
        let lists = scores.nodes(&points, theta, &mut scratch);
        let mut nodes =
            Nodes { columns: columns.len(), rows: Vec::new(), weights: Vec::new(), ends: Vec::new() };
        for (i, list) in lists.iter().enumerate() {
            let row: Vec<f64> = (0..columns.len()).map(|j| points[j * POINTS + i]).collect();
            nodes.add(response, &columns[response.column], list, row);
            nodes.ends.push(nodes.weights.len());
        }
        nodes.weigh(response, scores, theta, &mut scratch);
        each(&nodes, &scores.gradient, &mut scratch);
        // Later responses may depend on this one: it takes one of its nodes, another for each point.
        for (i, list) in lists.iter().enumerate() {
            if let Some(value) = pick(list, share(i, columns.len() + place)) {
                points[response.column * POINTS + i] = value + response.least;
            }
        }
    }
}

/// The value at which a running sum of weights passes a share.
pub(super) fn pick(nodes: &[Weighted], share: f64) -> Option<f64> {
    let mut level = share;
    for node in nodes {
        level -= node.weight;
        if level < 0.0 {
            return Some(node.value);
        }
    }
    nodes.last().map(|node| node.value)
}

impl Nodes {
    fn push(&mut self, row: &[f64], weight: f64) {
        if weight > 0.0 {
            self.rows.extend_from_slice(row);
            self.weights.push(weight / POINTS as f64);
        }
    }

    /// Adds the records that stand for a response given the rest of its record. Where their weights are densities or
    /// survival probabilities, [`weigh`](Self::weigh) multiplies by them.
    fn add(&mut self, response: &Response, column: &Column, list: &[Weighted], mut row: Vec<f64>) {
        let (low, high) = column.range();
        let middle = |k: usize, count: usize| low + (high - low) * (k as f64 + 0.5) / count as f64;
        match response.observed {
            Observed::Exact => {
                for node in list {
                    row[response.column] = node.value + response.least;
                    self.push(&row, node.weight);
                }
            }
            // Inside the bounds as it is; all that lies beyond them at the bound.
            Observed::AtBounds => {
                for node in list {
                    row[response.column] = node.value.clamp(low, high);
                    self.push(&row, node.weight);
                }
            }
            // Censoring times are spread evenly over the bounds: an event at t is seen where they are later, and a record
            // censored at c has probability P(Y > c).
            Observed::Where { flag, when } => {
                row[flag] = 1.0 - when;
                for node in list {
                    row[response.column] = node.value.clamp(low, high);
                    self.push(&row, node.weight * ((high - node.value) / (high - low)).clamp(0.0, 1.0));
                }
                row[flag] = when;
                for k in 0..TIMES {
                    let limit = middle(k, TIMES);
                    row[response.column] = if response.law.is_count() { limit.floor() } else { limit };
                    self.push(&row, 1.0 / TIMES as f64);
                }
            }
            // Every count, or every few of many, or fixed points between the bounds, weighted by the density.
            Observed::Truncated if response.law.supports().contains(&Support::Whole) => {
                let stride = ((high - low + 1.0) / MOST_COUNTS).ceil();
                let mut value = low;
                while value <= high {
                    row[response.column] = value;
                    self.push(&row, stride);
                    value += stride;
                }
            }
            Observed::Truncated => {
                for k in 0..INSIDE {
                    row[response.column] = middle(k, INSIDE);
                    self.push(&row, (high - low) / INSIDE as f64);
                }
            }
        }
    }

    /// Multiplies the weights of censored records by P(Y > y), and those of truncated ones by the density.
    fn weigh(&mut self, response: &Response, scores: &Scores, theta: &[f64], scratch: &mut Scratch) {
        let flag = match response.observed {
            Observed::Exact | Observed::AtBounds => return,
            Observed::Where { flag, when } => Some((flag, when)),
            Observed::Truncated => None,
        };
        let count = self.weights.len();
        let values = self.by_column(0..count);
        let mut logs = vec![0.0; count];
        scratch.run(scores.weight.at(&[theta]), Block::over(&values, count, count), &mut logs);
        for (i, (weight, log)) in self.weights.iter_mut().zip(logs).enumerate() {
            if flag.is_none_or(|(flag, when)| values[flag * count + i] == when) {
                *weight *= libm::exp(log);
            }
        }
    }

    /// Some of the records, column by column.
    fn by_column(&self, chosen: Range<usize>) -> Vec<f64> {
        let (first, count) = (chosen.start, chosen.len());
        let mut values = vec![0.0; self.columns * count];
        for (i, row) in self.rows.chunks_exact(self.columns).skip(first).take(count).enumerate() {
            row.iter().enumerate().for_each(|(j, value)| values[j * count + i] = *value);
        }
        values
    }

    /// The records of point i.
    fn of_point(&self, i: usize) -> Range<usize> {
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        start..self.ends[i]
    }

    /// Adds factor·Σ w·∇ℓ·∇ℓᵀ over some of the records to `out`.
    fn sum(
        &self,
        gradient: &Template,
        theta: &[f64],
        (chosen, factor): (Range<usize>, f64),
        out: &mut [f64],
        scratch: &mut Scratch,
    ) {
        let (count, d) = (chosen.len(), theta.len());
        if count == 0 {
            return;
        }
        let values = self.by_column(chosen.clone());
        let weights = &self.weights[chosen];
        let mut scores = vec![0.0; d * count];
        scratch.run(gradient.at(&[theta]), Block::over(&values, count, count), &mut scores);
        for j in 0..d {
            for k in 0..=j {
                let (left, right) =
                    (&scores[j * count..(j + 1) * count], &scores[k * count..(k + 1) * count]);
                let products = left.iter().zip(right).zip(weights).map(|((x, y), w)| x * y * w);
                let entry: f64 = factor * products.sum::<f64>();
                out[j * d + k] += entry;
                if j != k {
                    out[k * d + j] += entry;
                }
            }
        }
    }
}

/// Share k of dimension j of a sequence that fills the unit cube evenly: multiples of an irrational number, another one for
/// each dimension (square roots of primes).
pub(super) fn share(k: usize, j: usize) -> f64 {
    const PRIMES: [f64; 24] = [
        2.0, 3.0, 5.0, 7.0, 11.0, 13.0, 17.0, 19.0, 23.0, 29.0, 31.0, 37.0, 41.0, 43.0, 47.0, 53.0, 59.0,
        61.0, 67.0, 71.0, 73.0, 79.0, 83.0, 89.0,
    ];
    let prime = PRIMES[j % PRIMES.len()] + 1000.0 * (j / PRIMES.len()) as f64;
    ((k as f64 + 0.5) * prime.sqrt()).fract()
}

/// What is typical of a column as a model sees it: as declared, or all that its bounds admit.
fn typical(column: &Column) -> (f64, f64) {
    let seen = |value: f64| match (column.scale(), column.bounds()) {
        (Scale::Bounds, Some((min, max))) => (value - (0.5 * min + 0.5 * max)) / (0.5 * max - 0.5 * min),
        (Scale::Bounds | Scale::None, _) => value,
    };
    column.typical().map_or_else(|| column.range(), |(low, high)| (seen(low), seen(high)))
}

/// The value at a share of a column's typical values, as a model sees it.
pub(crate) fn spread(column: &Column, share: f64) -> f64 {
    let (min, max) = typical(column);
    match (column.kind(), column.scale()) {
        (Kind::Integer { .. }, Scale::None) | (Kind::Bool | Kind::Category { .. }, _) => {
            (min + (share * (max - min + 1.0)).floor()).min(max)
        }
        (Kind::Real { .. }, _) | (Kind::Integer { .. }, Scale::Bounds) => min * (1.0 - share) + max * share,
    }
}
