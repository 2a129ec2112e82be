//! Guesses the moments of features from bounds, typical values and levels alone: columns independent, each spread evenly.
//!
//! The guess is public. It shapes a preconditioner, which changes how fast a chain moves and never where it goes.

use barkeep_data::{Column, Factor, Feature, Kind, Schema};

/// E[x] and E[x·xᵀ], with a leading 1 for an intercept.
pub(super) struct Moments {
    pub(super) means: Vec<f64>,
    /// Row by row.
    pub(super) moments: Vec<f64>,
}

/// Points that stand for a column's bounds: the middles of equal parts.
const POINTS: u32 = 64;

impl Moments {
    /// Of features over columns. A product's mean is the product of its columns' means, the columns being independent.
    pub(super) fn new(source: &Schema, features: &[Feature], intercept: bool) -> Self {
        let columns = source.columns();
        let points: Vec<Vec<f64>> = columns.iter().map(points).collect();
        // Each feature's factor of each column at the column's points; absent where the column has no part in it.
        let tables: Vec<Vec<(usize, Vec<f64>)>> = features
            .iter()
            .map(|feature| {
                let mut table: Vec<(usize, Vec<f64>)> = Vec::new();
                for factor in &feature.factors {
                    let place = factor.column;
                    let values = points[place].iter().map(|value| factor.at(&columns[place], *value));
                    match table.iter_mut().find(|(column, _)| *column == place) {
                        Some((_, table)) => {
                            table.iter_mut().zip(values).for_each(|(all, value)| *all *= value)
                        }
                        None => table.push((place, values.collect())),
                    }
                }
                table
            })
            .collect();
        let one = Vec::new();
        let all: Vec<&Vec<(usize, Vec<f64>)>> =
            intercept.then_some(&one).into_iter().chain(&tables).collect();
        let means = all.iter().map(|feature| expectation(feature, &one)).collect();
        let mut moments = Vec::with_capacity(all.len() * all.len());
        for row in &all {
            moments.extend(all.iter().map(|other| expectation(row, other)));
        }
        Self { means, moments }
    }
}

/// The mean of a function of a column, and the logarithm of its exponential's mean.
pub(super) fn typical(factor: &Factor, column: &Column) -> (f64, f64) {
    let values: Vec<f64> = points(column).into_iter().map(|value| factor.at(column, value)).collect();
    let (count, largest) = (values.len() as f64, values.iter().copied().fold(f64::NEG_INFINITY, f64::max));
    let exponentials: f64 = values.iter().map(|value| libm::exp(value - largest)).sum();
    (values.iter().sum::<f64>() / count, largest + libm::log(exponentials / count))
}

fn points(column: &Column) -> Vec<f64> {
    match column.kind() {
        Kind::Real { min, max } | Kind::Integer { min, max } => {
            let (min, max) = &column.typical().unwrap_or((*min, *max));
            let at = |k: u32| {
                let share = (f64::from(k) + 0.5) / f64::from(POINTS);
                (min * (1.0 - share) + max * share).clamp(*min, *max)
            };
            (0..POINTS).map(at).collect()
        }
        Kind::Bool => vec![0.0, 1.0],
        Kind::Category { levels } => (0..levels.len()).map(|level| level as f64).collect(),
    }
}

/// E of a product of two features.
fn expectation(one: &[(usize, Vec<f64>)], other: &[(usize, Vec<f64>)]) -> f64 {
    let mean = |values: &mut dyn Iterator<Item = f64>, count: usize| values.sum::<f64>() / count as f64;
    let mut product = 1.0;
    for (column, values) in one {
        product *= match other.iter().find(|(there, _)| there == column) {
            Some((_, theirs)) => mean(&mut values.iter().zip(theirs).map(|(a, b)| a * b), values.len()),
            None => mean(&mut values.iter().copied(), values.len()),
        };
    }
    for (_, values) in other.iter().filter(|(column, _)| !one.iter().any(|(there, _)| there == column)) {
        product *= mean(&mut values.iter().copied(), values.len());
    }
    product
}

/// The first coefficient whose feature is a linear combination of those before it.
///
/// Found by a pivot of Cholesky's factorisation that vanishes beside the entry it came from.
pub(super) fn dependent(moments: &[f64], size: usize) -> Option<usize> {
    /// What rounding leaves of a pivot that is zero; a genuine one is larger unless bounds are narrow and far from 0.
    const NOTHING: f64 = 1e-13;
    let mut lower = vec![0.0; size * size];
    for i in 0..size {
        for j in 0..=i {
            let dot: f64 = (0..j).map(|k| lower[i * size + k] * lower[j * size + k]).sum();
            let rest = moments[i * size + j] - dot;
            if i == j {
                if rest <= NOTHING * moments[i * size + i] {
                    return Some(i);
                }
                lower[i * size + i] = rest.sqrt();
            } else {
                lower[i * size + j] = rest / lower[j * size + j];
            }
        }
    }
    None
}
