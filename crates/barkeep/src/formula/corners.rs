//! Lists the corners of all feature vectors that bounds and levels allow, for a bound on gradients in any coordinates.
//!
//! A feature vector x is affine in each factor's value while the others stay. So ‖A·x‖ is convex in each, whatever the
//! matrix A, and largest where every factor is at an end of its range; of a category's indicators at most one is 1.

use super::layout::Layout;
use barkeep_data::{Factor, Kind, Shape};

/// The most corners listed; beyond, a coarser bound is used.
const MOST: usize = 4096;

/// One coordinate that factors of features share: a function of a column, or a whole category.
struct Coordinate {
    /// The functions it gives values to.
    factors: Vec<Factor>,
    /// Their values at each end.
    ends: Vec<Vec<f64>>,
}

/// Feature vectors, with a leading 1 for an intercept, one after the other; empty if there are too many.
pub(super) fn corners(layout: &Layout) -> Vec<f64> {
    let features = &layout.view.features()[layout.lead()..];
    let mut coordinates: Vec<Coordinate> = Vec::new();
    for factor in features.iter().flat_map(|feature| &feature.factors) {
        let column = &layout.view.source().columns()[factor.column];
        let levels = match (factor.shape, column.kind()) {
            (Shape::Level(_), Kind::Category { levels }) => levels.len(),
            _ => 0,
        };
        let home = coordinates.iter_mut().find(|coordinate| {
            let first = coordinate.factors[0];
            let both = matches!((first.shape, factor.shape), (Shape::Level(_), Shape::Level(_)));
            first.column == factor.column && (both || first == *factor)
        });
        let coordinate = match home {
            Some(coordinate) if coordinate.factors.contains(factor) => continue,
            Some(coordinate) => coordinate,
            None => {
                coordinates.push(Coordinate { factors: vec![], ends: vec![vec![]; levels.max(2)] });
                let Some(last) = coordinates.last_mut() else { continue };
                last
            }
        };
        coordinate.factors.push(*factor);
        let (low, high) = factor.range(column);
        for (end, values) in coordinate.ends.iter_mut().enumerate() {
            values.push(match levels {
                0 => [low, high][end],
                _ => factor.at(column, end as f64),
            });
        }
    }
    let count = coordinates.iter().try_fold(1_usize, |count, coordinate| {
        count.checked_mul(coordinate.ends.len()).filter(|count| *count <= MOST)
    });
    let mut corners = Vec::new();
    for corner in 0..count.unwrap_or(0) {
        let value = |factor: &Factor| {
            let mut rest = corner;
            for coordinate in &coordinates {
                let end = &coordinate.ends[rest % coordinate.ends.len()];
                rest /= coordinate.ends.len();
                if let Some(place) = coordinate.factors.iter().position(|there| there == factor) {
                    return end[place];
                }
            }
            1.0
        };
        corners.extend(layout.intercept.then_some(1.0));
        corners.extend(features.iter().map(|feature| feature.factors.iter().map(value).product::<f64>()));
    }
    corners
}
