//! Reads cells of text under the column that declares them.

use super::{Column, Kind};
use crate::level_names::LevelNames;

/// Reads cells of text.
///
/// Numbers are in Rust's decimal notation; true is `true`, `t`, `yes`, `y` or 1, false likewise, in any case; a level
/// is matched exactly. Space around a cell is ignored.
pub(crate) struct Cells<'a> {
    column: &'a Column,
    levels: LevelNames<'a>,
}

impl<'a> Cells<'a> {
    pub(crate) fn new(column: &'a Column) -> Self {
        let levels = match &column.kind {
            Kind::Category { levels } => &levels[..],
            Kind::Real { .. } | Kind::Integer { .. } | Kind::Bool => &[],
        };
        Self { column, levels: LevelNames::new(levels) }
    }

    pub(crate) fn column(&self) -> &'a Column {
        self.column
    }

    /// Whether a cell names a level, even one that is a number.
    pub(crate) fn are_levels(&self) -> bool {
        matches!(self.column.kind, Kind::Category { .. })
    }

    /// What the cell says in the column's own unit, not admitted yet; not-a-number where it is missing, unreadable or undeclared.
    pub(crate) fn parse(&self, cell: &[u8]) -> f64 {
        let plain = match self.column.kind {
            Kind::Real { .. } | Kind::Integer { .. } => plain_decimal(cell),
            Kind::Bool => None,
            Kind::Category { .. } => self.levels.find(cell),
        };
        plain.unwrap_or_else(|| self.parse_any(cell))
    }

    /// What [`parse`](Self::parse) says, of any cell.
    fn parse_any(&self, cell: &[u8]) -> f64 {
        let value = std::str::from_utf8(cell).ok().map(str::trim).and_then(|cell| match self.column.kind {
            Kind::Real { .. } | Kind::Integer { .. } => cell.parse::<f64>().ok(),
            Kind::Bool => parse_bool(cell),
            Kind::Category { .. } => self.levels.find(cell.as_bytes()),
        });
        value.unwrap_or(f64::NAN)
    }
}

/// Powers of ten that are f64 exactly.
const TENS: [f64; 16] =
    [1.0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];

/// A number of at most fifteen digits, with or without a sign and a point.
///
/// Its digits and the power of ten below them are f64 exactly, so that one division rounds to the nearest f64: the bits of Rust's own
/// parser.
fn plain_decimal(cell: &[u8]) -> Option<f64> {
    let (sign, digits) = match cell {
        [b'-', rest @ ..] => (-1.0, rest),
        _ => (1.0, cell),
    };
    if digits.len() > TENS.len() {
        return None;
    }
    let (mut number, mut point) = (0_u64, None);
    for (place, byte) in digits.iter().enumerate() {
        match byte {
            b'0'..=b'9' => number = number * 10 + u64::from(byte - b'0'),
            b'.' if point.is_none() => point = Some(place),
            _ => return None,
        }
    }
    let count = digits.len() - usize::from(point.is_some());
    let below = point.map_or(0, |place| digits.len() - place - 1);
    #[expect(clippy::cast_precision_loss, reason = "below 10^15")]
    (1..TENS.len()).contains(&count).then(|| sign * (number as f64 / TENS[below]))
}

fn parse_bool(cell: &str) -> Option<f64> {
    let is = |words: &[&str]| words.iter().any(|word| cell.eq_ignore_ascii_case(word));
    if is(&["true", "t", "yes", "y"]) {
        Some(1.0)
    } else if is(&["false", "f", "no", "n"]) {
        Some(0.0)
    } else {
        cell.parse().ok()
    }
}
