//! Says from the schema alone in how few bytes a feature can be kept.

use super::Width;
use barkeep_data::{Column, Factor, Feature, Kind, Schema, Shape, View};
use barkeep_machine::MOST_LEVELS;

/// The categories, and bools, of which a feature says by 1 that a record is at one level of each, and the levels.
pub(super) fn levels(feature: &Feature, source: &Schema) -> Option<(Vec<usize>, Vec<usize>)> {
    let has_level = feature.factors.iter().any(|factor| matches!(factor.shape, Shape::Level(_)));
    let at = |factor: &Factor| match factor.shape {
        Shape::Level(level) => Some((factor.column, level)),
        Shape::Value | Shape::Log | Shape::Sqrt | Shape::Square | Shape::Legendre(_) => {
            is_bit(factor, source).then_some((factor.column, 1))
        }
    };
    if has_level { feature.factors.iter().map(at).collect() } else { None }
}

/// The bytes of an index of this many columns.
pub(super) fn index_width(columns: usize) -> Option<Width> {
    // 0 is of no column.
    [(1 << 8, Width::One), (1 << 16, Width::Two), (MOST_LEVELS + 1, Width::Four)]
        .into_iter()
        .find_map(|(end, width)| (columns < end).then_some(width))
}

/// The columns whose product a feature is, where both are kept: two functions of columns, or one and all its factors of 0 and 1.
pub(super) fn product(feature: &Feature, view: &View) -> Option<(usize, usize)> {
    let (bits, others): (Vec<Factor>, Vec<Factor>) =
        feature.factors.iter().partition(|factor| is_bit(factor, view.source()));
    let (first, second) = match (&others[..], &bits[..]) {
        ([first, second], []) => (std::slice::from_ref(first), std::slice::from_ref(second)),
        ([_], [_, ..]) => (&others[..], &bits[..]),
        _ => return None,
    };
    // Neither is a product itself: one is a single function of a column, the other that or a product of bits.
    let kept = |factors: &[Factor]| view.features().iter().position(|feature| feature.factors == factors);
    Some((kept(first)?, kept(second)?))
}

/// Whether every value of a feature is a number of 32 bits.
pub(super) fn is_single(feature: &Feature, source: &Schema) -> bool {
    let [factor] = &feature.factors[..] else { return false };
    source.columns().get(factor.column).is_some_and(|column| factor.is_single(column))
}

/// Whether every result is 0 or 1.
fn is_bit(factor: &Factor, source: &Schema) -> bool {
    match (factor.shape, source.columns().get(factor.column).map(Column::kind)) {
        (Shape::Level(_), _) | (Shape::Value, Some(Kind::Bool)) => true,
        (Shape::Value | Shape::Log | Shape::Sqrt | Shape::Square | Shape::Legendre(_), _) => false,
    }
}

/// The bytes that hold every value of a feature, if all are whole numbers.
pub(super) fn whole(feature: &Feature, source: &Schema) -> Option<Width> {
    if feature.factors.iter().all(|factor| is_bit(factor, source)) {
        return Some(Width::One);
    }
    let [factor] = &feature.factors[..] else { return None };
    let (Shape::Value, column) = (factor.shape, source.columns().get(factor.column)?) else { return None };
    match column.kind() {
        Kind::Real { .. } => None,
        Kind::Bool | Kind::Integer { .. } | Kind::Category { .. } => {
            (factor.scaling(column) == (0.0, 1.0)).then(|| Width::of(factor.range(column))).flatten()
        }
    }
}
