//! Computes the expected information of one record: public points spread over the columns, and each law's own nodes.
//!
//! E[∇ℓ·∇ℓᵀ] is a sum over the responses, since conditional scores are uncorrelated, of expectations over the covariates and
//! over the response given them. Covariates are spread evenly over their bounds and levels by a low-discrepancy sequence: a
//! public guess, which shapes how fast a chain moves and never where it goes. The response's expectation is a quadrature that
//! moves smoothly with θ.

use barkeep_data::{Block, Column, Kind, Scale};

use super::build::{Observed, Response};
use super::graph::Graph;
use super::laws::Weighted;
use super::program::Program;
use crate::Scratch;

/// How many points stand for the covariates.
const POINTS: u32 = 128;
/// How many times stand for a censoring time that is spread evenly over the bounds.
const TIMES: u32 = 16;

/// What one response adds to the information.
pub(crate) struct Scores {
    /// The gradient of its log density.
    pub(crate) gradient: Program,
}

/// A record with its weight.
struct Nodes {
    columns: usize,
    /// Row after row.
    rows: Vec<f64>,
    weights: Vec<f64>,
}

/// Writes Σ E[∇ℓ_r·∇ℓ_rᵀ] over the responses; false if it is not finite.
pub(crate) fn information(
    graph: &Graph,
    (responses, scores): (&[Response], &[Scores]),
    columns: &[Column],
    theta: &[f64],
    out: &mut [f64],
) -> bool {
    out.fill(0.0);
    let points: Vec<Vec<f64>> = (0..POINTS).map(|k| point(columns, k)).collect();
    let mut scratch = Scratch::new();
    for (place, (response, scores)) in responses.iter().zip(scores).enumerate() {
        let mut nodes = Nodes { columns: columns.len(), rows: Vec::new(), weights: Vec::new() };
        for (k, point) in points.iter().enumerate() {
            let mut row = point.clone();
            // Earlier responses take one of their nodes each, in turn: later ones may depend on them.
            for earlier in &responses[..place] {
                let values = graph.values(theta, &row);
                let mut list = Vec::new();
                earlier.law.nodes(&values, &mut list);
                if let Some(node) = pick(&list, share(k as u32, 7 + place as u32)) {
                    row[earlier.column] = node + earlier.least;
                }
            }
            nodes.add(graph, response, columns, theta, row);
        }
        nodes.sum(&scores.gradient, theta, out, &mut scratch);
    }
    out.iter().all(|entry| entry.is_finite())
}

/// The value at which a running sum of weights passes a share.
fn pick(nodes: &[Weighted], share: f64) -> Option<f64> {
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
            self.weights.push(weight / f64::from(POINTS));
        }
    }

    /// Adds the records that stand for a response given the rest of its record.
    fn add(
        &mut self,
        graph: &Graph,
        response: &Response,
        columns: &[Column],
        theta: &[f64],
        mut row: Vec<f64>,
    ) {
        let column = &columns[response.column];
        let (low, high) = column.range();
        let values = graph.values(theta, &row);
        let mut list = Vec::new();
        response.law.nodes(&values, &mut list);
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
                for node in list {
                    row[response.column] = node.value.clamp(low, high);
                    row[flag] = 1.0 - when;
                    self.push(&row, node.weight * ((high - node.value) / (high - low)).clamp(0.0, 1.0));
                }
                for k in 0..TIMES {
                    let time = low + (high - low) * (f64::from(k) + 0.5) / f64::from(TIMES);
                    row[response.column] = time;
                    row[flag] = when;
                    let survival =
                        response.survival.map_or(f64::NAN, |id| graph.values(theta, &row)[id as usize]);
                    self.push(&row, libm::exp(survival) / f64::from(TIMES));
                }
            }
            // Fixed points between the bounds, weighted by the density.
            Observed::Truncated => {
                let count = 65_u32;
                let mut inside = Vec::new();
                for k in 0..count {
                    let value = low + (high - low) * (f64::from(k) + 0.5) / f64::from(count);
                    row[response.column] = value;
                    let log = graph.values(theta, &row)[response.density as usize];
                    inside.push((value, libm::exp(log)));
                }
                let total: f64 = inside.iter().map(|(_, weight)| weight).sum();
                for (value, weight) in inside {
                    row[response.column] = value;
                    self.push(&row, weight / total);
                }
            }
        }
    }

    /// Adds Σ w·∇ℓ·∇ℓᵀ to `out`.
    fn sum(&self, gradient: &Program, theta: &[f64], out: &mut [f64], scratch: &mut Scratch) {
        let (count, d) = (self.weights.len(), theta.len());
        if count == 0 {
            return;
        }
        let mut values = vec![0.0; self.columns * count];
        for (i, row) in self.rows.chunks_exact(self.columns).enumerate() {
            row.iter().enumerate().for_each(|(j, value)| values[j * count + i] = *value);
        }
        let mut scores = vec![0.0; d * count];
        gradient.run(Block::over(&values, count, count), &[theta], &mut scores, &mut scratch.workspace);
        for j in 0..d {
            for k in 0..=j {
                let (left, right) =
                    (&scores[j * count..(j + 1) * count], &scores[k * count..(k + 1) * count]);
                let products = left.iter().zip(right).zip(&self.weights).map(|((x, y), w)| x * y * w);
                let entry: f64 = products.sum();
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
fn share(k: u32, j: u32) -> f64 {
    const PRIMES: [f64; 24] = [
        2.0, 3.0, 5.0, 7.0, 11.0, 13.0, 17.0, 19.0, 23.0, 29.0, 31.0, 37.0, 41.0, 43.0, 47.0, 53.0, 59.0,
        61.0, 67.0, 71.0, 73.0, 79.0, 83.0, 89.0,
    ];
    let prime = PRIMES[j as usize % PRIMES.len()] + 1000.0 * (j as usize / PRIMES.len()) as f64;
    ((f64::from(k) + 0.5) * prime.sqrt()).fract()
}

/// Point k of the columns, each spread evenly over its bounds or levels.
fn point(columns: &[Column], k: u32) -> Vec<f64> {
    columns
        .iter()
        .enumerate()
        .map(|(j, column)| spread(column, share(k, u32::try_from(j).unwrap_or(0))))
        .collect()
}

/// The value at a share of a column's values, as a model sees it.
pub(crate) fn spread(column: &Column, share: f64) -> f64 {
    let (min, max) = column.range();
    match (column.kind(), column.scale()) {
        (Kind::Integer { .. }, Scale::None) | (Kind::Bool | Kind::Category { .. }, _) => {
            (min + (share * (max - min + 1.0)).floor()).min(max)
        }
        (Kind::Real { .. }, _) | (Kind::Integer { .. }, Scale::Bounds) => min * (1.0 - share) + max * share,
    }
}
