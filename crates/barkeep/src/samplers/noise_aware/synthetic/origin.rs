//! Makes records up at θ: whole ones by inversion, or responses given columns as they are believed to be.

use crate::samplers::noise_aware::synthetic::sobol::Sobol;
use barkeep_data::Block;
use barkeep_model::{Likelihood, Model, Scratch, StandIns};
use std::sync::Arc;

/// Made-up records that levels are taken over, and those that follow a move away from the reference.
pub(crate) const MANY: usize = 1 << 14;
pub(crate) const FEW: usize = 1 << 11;
/// The fewest and the most rows of columns.
const ROWS: (usize, usize) = (1 << 8, 1 << 12);
/// Rows for each one that follows a move.
const FOLLOWED: usize = MANY / FEW;

/// How records are made up.
#[derive(Clone)]
pub(crate) enum Origin {
    /// Whole, so many of them, by inversion from so many uniforms each.
    Whole { uniforms: usize, count: usize },
    /// Responses given the other columns, each record's with a weight.
    Given(Arc<Columns>),
}

/// Columns that responses are given.
pub(crate) struct Columns {
    /// As they are believed to be.
    pub(crate) believed: Rows,
    /// As they might be.
    pub(crate) others: Vec<Rows>,
    /// Whether there are any; without them all rows look the same.
    pub(crate) has_columns: bool,
    /// Dimensions of the sequence that the believed rows took.
    pub(crate) used: usize,
}

/// Rows of made-up columns.
pub(crate) struct Rows {
    /// Column by column; what stands in responses' places does not matter.
    values: Vec<f64>,
    pub(crate) count: usize,
}

/// Made-up records with weights.
pub(crate) struct Sample {
    /// Column by column.
    pub(crate) values: Vec<f64>,
    /// The same as the table would hold them, where bounds move some.
    admitted: Option<Vec<f64>>,
    /// Weights, which add up to 1.
    pub(crate) weights: Vec<f64>,
    /// Records that follow a move: the first ones.
    pub(crate) few: usize,
    /// Records for each row of columns.
    pub(crate) each: usize,
}

impl Sample {
    /// As the table would hold them.
    pub(crate) fn seen(&self) -> &[f64] {
        self.admitted.as_ref().unwrap_or(&self.values)
    }

    /// Whether bounds move any.
    pub(crate) fn is_admitted(&self) -> bool {
        self.admitted.is_some()
    }

    /// Weights of those that follow a move, which add up to 1.
    pub(crate) fn few_weights(&self) -> Vec<f64> {
        let factor = self.weights.len() as f64 / self.few as f64;
        self.weights[..self.few].iter().map(|weight| weight * factor).collect()
    }
}

impl Rows {
    /// From rows one after the other.
    pub(crate) fn new(rows: &[f64], columns: usize) -> Self {
        let count = rows.len() / columns.max(1);
        let values = (0..columns).flat_map(|j| rows.iter().skip(j).step_by(columns).copied()).collect();
        Self { values, count }
    }

    /// How many rows suit a model with so many made-up responses for a row.
    pub(crate) fn suitable(each: usize) -> usize {
        (MANY / each.max(1)).next_power_of_two().clamp(ROWS.0, ROWS.1)
    }

    pub(crate) fn block(&self) -> Block<'_> {
        Block::over(&self.values, self.count, self.count)
    }

    /// The first of them.
    pub(crate) fn first(&self, count: usize) -> Self {
        let values = self.values.chunks_exact(self.count.max(1)).flat_map(|lane| &lane[..count]);
        Self { values: values.copied().collect(), count }
    }

    /// Responses at θ given the rows; `None` if the model cannot say.
    pub(crate) fn sample(
        &self,
        likelihood: &dyn Likelihood,
        theta: &[f64],
        shifts: Option<&[f64]>,
    ) -> Option<Sample> {
        let given = likelihood.given().ok()?;
        let mut made_up = StandIns::default();
        given.make_up(self.block(), theta, shifts, &mut made_up, &mut Scratch::default());
        let values = made_up.values.clone();
        given.admit(&mut made_up);
        let StandIns { values: admitted, mut weights } = made_up;
        weights.iter_mut().for_each(|weight| *weight /= self.count as f64);
        let each = given.stand_ins();
        let admitted = (admitted != values).then_some(admitted);
        let few = (self.count / FOLLOWED).max(1) * each;
        Some(Sample { values, admitted, weights, few, each })
    }
}

impl Origin {
    /// Whole records, as many as runs make up.
    pub(crate) fn whole(uniforms: usize) -> Self {
        Self::Whole { uniforms, count: MANY }
    }

    /// With no more records than those that follow a move: for a forecast, which need not be as close as a run.
    pub(crate) fn few(&self) -> Self {
        match self {
            Self::Whole { uniforms, .. } => Self::Whole { uniforms: *uniforms, count: FEW },
            Self::Given(columns) => {
                let believed = columns.believed.first((columns.believed.count / FOLLOWED).max(1));
                let Columns { has_columns, used, .. } = **columns;
                Self::Given(Arc::new(Columns { believed, others: Vec::new(), has_columns, used }))
            }
        }
    }

    /// Whether responses are given columns.
    pub(crate) fn has_columns(&self) -> bool {
        match self {
            Self::Whole { .. } => false,
            Self::Given(columns) => columns.has_columns,
        }
    }

    /// Made-up records at θ; `None` if the model cannot say how.
    pub(crate) fn sample(
        &self,
        model: &dyn Model,
        likelihood: &dyn Likelihood,
        theta: &[f64],
    ) -> Option<Sample> {
        match self {
            Self::Whole { uniforms, count } => {
                let values = whole(model, (*uniforms, *count), theta);
                let weights = vec![1.0 / *count as f64; *count];
                Some(Sample { values, admitted: None, weights, few: FEW, each: 1 })
            }
            Self::Given(columns) => {
                let (rows, dimensions) = (&columns.believed, likelihood.given().ok()?.shifts());
                let sobol = Sobol::new(columns.used + dimensions);
                let (mut point, mut shifts) = (vec![0.5; columns.used + dimensions], Vec::new());
                for i in 0..rows.count {
                    sobol.point(i, &mut point);
                    shifts.extend_from_slice(&point[columns.used..]);
                }
                rows.sample(likelihood, theta, Some(&shifts))
            }
        }
    }

    /// What is taken off clipped scores: their mean, or that of each row's.
    pub(crate) fn centres(&self, terms: &[f64], sample: &Sample) -> Vec<f64> {
        let Sample { weights, each, .. } = sample;
        let together = if self.has_columns() { *each } else { weights.len() };
        let mean = |(lane, weights): (&[f64], &[f64])| {
            let sum: f64 = lane.iter().zip(weights).map(|(x, weight)| x * weight).sum();
            if !self.has_columns() {
                return sum;
            }
            // A row whose responses have no weight has no centre.
            let total: f64 = weights.iter().sum();
            if total > 0.0 { sum / total } else { 0.0 }
        };
        let lanes = terms.chunks_exact(weights.len());
        lanes
            .flat_map(|lane| lane.chunks_exact(together).zip(weights.chunks_exact(together)).map(mean))
            .collect()
    }
}

/// Whole records, column by column.
fn whole(model: &dyn Model, (uniforms, count): (usize, usize), theta: &[f64]) -> Vec<f64> {
    let (sobol, columns) = (Sobol::new(uniforms), model.columns());
    let (mut uniforms, mut row) = (vec![0.5; uniforms], vec![0.0; columns]);
    let mut values = vec![0.0; columns * count];
    for i in 0..count {
        sobol.point(i, &mut uniforms);
        let mut next = uniforms.iter().copied();
        model.simulate(theta, &mut || next.next().unwrap_or(0.5), &mut row);
        row.iter().enumerate().for_each(|(j, x)| values[j * count + i] = *x);
    }
    values
}
