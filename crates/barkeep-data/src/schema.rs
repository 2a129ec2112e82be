//! Describes records publicly: every column's name, kind, bounds or levels, and what stands for a bad cell.

use std::collections::BTreeSet;

use barkeep_num::vector::dispatch;
use serde::{Deserialize, Serialize};

use crate::Error;

mod cells;
#[cfg(test)]
mod tests;

pub(crate) use self::cells::Cells;

/// What a column holds, with its public bounds or levels.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum Kind {
    /// A real number in `[min, max]`; values outside are clamped.
    Real {
        /// The smallest value kept.
        min: f64,
        /// The largest value kept.
        max: f64,
    },
    /// A whole number in `[min, max]`; other numbers are rounded, then clamped.
    Integer {
        /// The smallest value kept.
        min: f64,
        /// The largest value kept.
        max: f64,
    },
    /// True (1) or false (0).
    Bool,
    /// One of the declared levels, held as its index from 0.
    Category {
        /// The levels' names, in the order of their indices.
        levels: Vec<String>,
    },
}

/// How a column's values are mapped before a model sees them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scale {
    /// Values are kept as they are.
    #[default]
    None,
    /// `[min, max]` is mapped linearly to `[−1, 1]`.
    Bounds,
}

/// How precisely a real column's values are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Precision {
    /// In 64 bits, as they are read.
    #[default]
    #[serde(rename = "f64")]
    Double,
    /// In 32 bits: rounded to the nearest such number within the bounds as they are read, some seven digits.
    #[serde(rename = "f32")]
    Single,
}

impl Precision {
    fn is_double(&self) -> bool {
        *self == Self::Double
    }
}

/// The number of 32 bits nearest to a value.
#[expect(clippy::cast_possible_truncation, reason = "rounds")]
#[inline]
pub(crate) fn single(value: f64) -> f64 {
    f64::from(value as f32)
}

/// The least and the largest number of 32 bits within bounds.
fn singles_within((min, max): (f64, f64)) -> (f64, f64) {
    #[expect(clippy::cast_possible_truncation, reason = "rounds, and is mended by the next number")]
    let (low, high) = (min as f32, max as f32);
    let low = if f64::from(low) < min { low.next_up() } else { low };
    let high = if f64::from(high) > max { high.next_down() } else { high };
    (f64::from(low), f64::from(high))
}

/// One column: its name, kind, and the value that stands for a missing, unparsable or undeclared cell.
///
/// **Privacy.** Everything here is public and comes from a person, never from the records.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Described", into = "Described")]
pub struct Column {
    name: String,
    kind: Kind,
    invalid: f64,
    scale: Scale,
    typical: Option<(f64, f64)>,
    precision: Precision,
}

/// The serialised form of a [`Column`]; reading it back validates it.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Described {
    name: String,
    kind: Kind,
    invalid: f64,
    #[serde(default)]
    scale: Scale,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    typical: Option<(f64, f64)>,
    #[serde(default, skip_serializing_if = "Precision::is_double")]
    precision: Precision,
}

impl TryFrom<Described> for Column {
    type Error = Error;

    fn try_from(column: Described) -> Result<Self, Error> {
        let plain = Self::new(column.name, column.kind, column.invalid)?
            .scaled(column.scale)?
            .kept_in(column.precision)?;
        match column.typical {
            Some((low, high)) => plain.typically(low, high),
            None => Ok(plain),
        }
    }
}

impl From<Column> for Described {
    fn from(Column { name, kind, invalid, scale, typical, precision }: Column) -> Self {
        Self { name, kind, invalid, scale, typical, precision }
    }
}

/// What is wrong with a cell.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Nothing.
    Valid,
    /// It is missing, unreadable or undeclared: the column's `invalid` stands in.
    Invalid,
    /// It lies outside the bounds, and was moved to the nearer one.
    Clamped,
}

impl Column {
    /// A column of any kind, unscaled.
    ///
    /// # Errors
    /// If a bound is not finite, `min ≥ max`, an integer bound is not whole, levels are missing or
    /// repeated, or `invalid` is not a value the column can hold (for a category: a level's index).
    pub fn new(name: impl Into<String>, kind: Kind, invalid: f64) -> Result<Self, Error> {
        let name = name.into().trim().to_owned();
        let invalid = if matches!(kind, Kind::Real { .. }) { invalid } else { invalid + 0.0 };
        let (scale, precision) = (Scale::None, Precision::Double);
        let column = Self { name, kind, invalid, scale, typical: None, precision };
        let refuse = |key, requirement| Err(Error::Column { column: column.name.clone(), key, requirement });
        if column.name.is_empty() {
            return Err(Error::Data { key: "columns", requirement: "must name every column" });
        }
        match &column.kind {
            Kind::Real { min, max } | Kind::Integer { min, max } => {
                if !min.is_finite() {
                    return refuse("min", "must be a finite number");
                }
                if !max.is_finite() {
                    return refuse("max", "must be a finite number");
                }
                if min >= max {
                    return refuse("min", "must be less than max");
                }
                if matches!(column.kind, Kind::Integer { .. }) {
                    if min.fract() != 0.0 {
                        return refuse("min", "must be a whole number");
                    }
                    if max.fract() != 0.0 {
                        return refuse("max", "must be a whole number");
                    }
                    if invalid.fract() != 0.0 {
                        return refuse("invalid", "must be a whole number");
                    }
                }
                if !(*min..=*max).contains(&invalid) {
                    return refuse("invalid", "must be a number from min to max");
                }
            }
            Kind::Bool => {
                if invalid != 0.0 && invalid != 1.0 {
                    return refuse("invalid", "must be true or false");
                }
            }
            Kind::Category { levels } => {
                if levels.is_empty() {
                    return refuse("levels", "must name at least one level");
                }
                if levels.iter().any(|level| level.trim() != level) {
                    return refuse("levels", "must not begin or end with a space");
                }
                if levels.iter().collect::<BTreeSet<_>>().len() != levels.len() {
                    return refuse("levels", "must be distinct");
                }
                if !(0..levels.len()).any(|level| invalid == level as f64) {
                    return refuse("invalid", "must be one of the levels");
                }
            }
        }
        Ok(column)
    }

    /// A real column in `[min, max]`.
    ///
    /// # Errors
    /// As [`Column::new`].
    pub fn real(name: impl Into<String>, min: f64, max: f64, invalid: f64) -> Result<Self, Error> {
        Self::new(name, Kind::Real { min, max }, invalid)
    }

    /// A whole-number column in `[min, max]`.
    ///
    /// # Errors
    /// As [`Column::new`].
    pub fn integer(name: impl Into<String>, min: f64, max: f64, invalid: f64) -> Result<Self, Error> {
        Self::new(name, Kind::Integer { min, max }, invalid)
    }

    /// A true/false column.
    ///
    /// # Errors
    /// If the name is empty.
    pub fn boolean(name: impl Into<String>, invalid: bool) -> Result<Self, Error> {
        Self::new(name, Kind::Bool, f64::from(u8::from(invalid)))
    }

    /// A column of declared levels; `invalid` names the level that stands for any other cell.
    ///
    /// # Errors
    /// As [`Column::new`].
    pub fn category(name: impl Into<String>, levels: Vec<String>, invalid: &str) -> Result<Self, Error> {
        let index = levels.iter().position(|level| level == invalid).map_or(-1.0, |index| index as f64);
        Self::new(name, Kind::Category { levels }, index)
    }

    /// The same column, its values mapped as `scale` says.
    ///
    /// # Errors
    /// If it has no bounds to scale by.
    pub fn scaled(self, scale: Scale) -> Result<Self, Error> {
        if scale == Scale::Bounds && matches!(self.kind, Kind::Bool | Kind::Category { .. }) {
            let requirement = "needs a real or integer column, which has bounds";
            return Err(Error::Column { column: self.name, key: "scale", requirement });
        }
        Ok(Self { scale, ..self })
    }

    /// The same column, its values rounded as they are read.
    ///
    /// # Errors
    /// For fewer bits than 64 if it is not real, or fewer than two such numbers lie within its bounds.
    pub fn kept_in(self, precision: Precision) -> Result<Self, Error> {
        let requirement = match (precision, &self.kind) {
            (Precision::Double, _) => return Ok(Self { precision, ..self }),
            (Precision::Single, Kind::Real { min, max }) => {
                let (low, high) = singles_within((*min, *max));
                if low < high && low.is_finite() && high.is_finite() {
                    return Ok(Self { precision, ..self });
                }
                "needs wider bounds, or \"f64\": no two numbers of 32 bits lie within them"
            }
            (Precision::Single, Kind::Integer { .. } | Kind::Bool | Kind::Category { .. }) => {
                "needs a real column: whole numbers are kept as narrow as they are"
            }
        };
        Err(Error::Column { column: self.name, key: "precision", requirement })
    }

    /// How precisely values are kept.
    pub fn precision(&self) -> Precision {
        self.precision
    }

    /// The same column, nine of ten values of which lie from `low` to `high`, as far as anybody knows without the records.
    /// It shapes forecasts, whitening and simulated records, and changes no value that is read.
    ///
    /// # Errors
    /// If it has no bounds, or the interval is empty, reversed or not within them.
    pub fn typically(self, low: f64, high: f64) -> Result<Self, Error> {
        let requirement = match self.bounds() {
            None => "needs a real or integer column, which has bounds",
            // Not a number is in no order.
            Some(_) if !matches!(low.partial_cmp(&high), Some(std::cmp::Ordering::Less)) => {
                "must be two numbers, the smaller first"
            }
            Some((min, max)) if low < min || high > max => "must lie within min and max",
            Some(_)
                if matches!(self.kind, Kind::Integer { .. })
                    && (low.fract() != 0.0 || high.fract() != 0.0) =>
            {
                "must be whole numbers"
            }
            Some(_) => return Ok(Self { typical: Some((low, high)), ..self }),
        };
        Err(Error::Column { column: self.name, key: "typical", requirement })
    }

    /// Where nine of ten values are known to lie, in the column's own unit; absent where nobody says.
    pub fn typical(&self) -> Option<(f64, f64)> {
        self.typical
    }

    /// The column's name, as in the header.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What the column holds.
    pub fn kind(&self) -> &Kind {
        &self.kind
    }

    /// The value standing for a missing, unparsable or undeclared cell (a level's index for a category).
    pub fn invalid(&self) -> f64 {
        self.invalid
    }

    /// How values are mapped before a model sees them.
    pub fn scale(&self) -> Scale {
        self.scale
    }

    /// `min` and `max` of a real or integer column, in its own unit.
    pub fn bounds(&self) -> Option<(f64, f64)> {
        match self.kind {
            Kind::Real { min, max } | Kind::Integer { min, max } => Some((min, max)),
            Kind::Bool | Kind::Category { .. } => None,
        }
    }

    /// The interval in which every value lies that a model can see, after scaling.
    pub fn range(&self) -> (f64, f64) {
        match (&self.kind, self.scale) {
            (Kind::Real { .. } | Kind::Integer { .. }, Scale::Bounds) => (-1.0, 1.0),
            (Kind::Real { min, max } | Kind::Integer { min, max }, Scale::None) => (*min, *max),
            (Kind::Bool, _) => (0.0, 1.0),
            (Kind::Category { levels }, _) => (0.0, (levels.len() - 1) as f64),
        }
    }

    /// A value of this column that a person wrote, in the column's own unit; read as a cell of a file is.
    ///
    /// **Privacy.** For public values only: the error says what is wrong with it.
    ///
    /// # Errors
    /// What keeps it from being a value of the column.
    pub fn public_value(&self, cell: &str) -> Result<f64, String> {
        let value = Cells::new(self).parse(cell.as_bytes());
        match &self.kind {
            Kind::Real { .. } | Kind::Integer { .. } if value.is_nan() => Err("is not a number".to_owned()),
            Kind::Real { min, max } | Kind::Integer { min, max } if !(*min..=*max).contains(&value) => {
                Err(format!("lies outside the bounds {min} to {max}"))
            }
            Kind::Integer { .. } if value.fract() != 0.0 => Err("is not a whole number".to_owned()),
            Kind::Bool if self.kept(value).is_none() => Err("is neither true nor false".to_owned()),
            Kind::Category { levels } if value.is_nan() => {
                let mut known: Vec<&str> = levels.iter().take(MOST_NAMED).map(String::as_str).collect();
                known.extend((levels.len() > MOST_NAMED).then_some("…"));
                Err(format!("is no declared level; the levels are {}", known.join(", ")))
            }
            Kind::Real { .. } | Kind::Integer { .. } | Kind::Bool | Kind::Category { .. } => Ok(value),
        }
    }

    /// A value of this column as a person writes it: [`public_value`](Self::public_value) reads it back.
    ///
    /// **Privacy.** For public values only.
    pub fn written(&self, value: f64) -> String {
        match &self.kind {
            Kind::Real { .. } | Kind::Integer { .. } => value.to_string(),
            Kind::Bool => (value != 0.0).to_string(),
            Kind::Category { levels } => levels.get(value as usize).cloned().unwrap_or_default(),
        }
    }

    /// `value` as the kind admits it, or else `invalid`, in the column's own unit. Never non-finite.
    #[cfg(test)]
    pub(crate) fn admit(&self, value: f64) -> f64 {
        let value = self.kept(value).unwrap_or(self.invalid);
        match (self.precision, self.bounds()) {
            (Precision::Single, Some((min, max))) => {
                // The nearest of all numbers of 32 bits within the bounds.
                let near = value as f32;
                let within = [near, near.next_up(), near.next_down()].map(f64::from);
                let within = within.into_iter().filter(|near| (min..=max).contains(near));
                let distance = |near: &f64| (near - value).abs();
                within.min_by(|a, b| distance(a).total_cmp(&distance(b))).unwrap()
            }
            (Precision::Single | Precision::Double, _) => value,
        }
    }

    /// What is wrong with a value.
    pub(crate) fn fault(&self, value: f64) -> Fault {
        match (self.kept(value), &self.kind) {
            (None, _) => Fault::Invalid,
            (Some(_), Kind::Real { min, max }) if !(*min..=*max).contains(&value) => Fault::Clamped,
            (Some(_), Kind::Integer { min, max }) if !(*min..=*max).contains(&value.round()) => {
                Fault::Clamped
            }
            (Some(_), Kind::Real { .. } | Kind::Integer { .. } | Kind::Bool | Kind::Category { .. }) => {
                Fault::Valid
            }
        }
    }

    /// Replaces each value by what the kind admits of it, or else by `invalid`, in the column's own unit: never non-finite. Counts
    /// those that were invalid, and those that were clamped.
    ///
    /// Loops without jumps: a machine does several values at once, and takes the same time whatever they are.
    pub(crate) fn admit_all(&self, values: &mut [f64]) -> [usize; 2] {
        match &self.kind {
            Kind::Real { min, max } => {
                let found = admit_within(
                    values,
                    (*min, *max),
                    self.invalid,
                    #[inline(always)]
                    |value| value,
                );
                if self.precision == Precision::Single {
                    let (low, high) = singles_within((*min, *max));
                    values.iter_mut().for_each(|value| *value = single(*value).clamp(low, high));
                }
                found
            }
            Kind::Integer { min, max } => admit_within(
                values,
                (*min, *max),
                self.invalid,
                #[inline(always)]
                |value| round(value) + 0.0,
            ),
            Kind::Bool => admit_only(values, self.invalid, is_bool),
            Kind::Category { levels } => {
                let count = levels.len() as f64;
                admit_only(
                    values,
                    self.invalid,
                    #[inline(always)]
                    move |value| is_level(value, count),
                )
            }
        }
    }

    /// `value` as the kind admits it; none where it is invalid.
    fn kept(&self, value: f64) -> Option<f64> {
        match &self.kind {
            Kind::Real { min, max } => (!value.is_nan()).then(|| value.clamp(*min, *max)),
            // A sum with 0 has no negative zero: a whole number is one value, however it is kept.
            Kind::Integer { min, max } => (!value.is_nan()).then(|| value.round().clamp(*min, *max) + 0.0),
            Kind::Bool => (value == 0.0 || value == 1.0).then_some(value + 0.0),
            Kind::Category { levels } => {
                (value >= 0.0 && value < levels.len() as f64 && value.fract() == 0.0).then_some(value + 0.0)
            }
        }
    }
}

/// Clamps what `read` makes of values. Counts those that are NaN, and those outside the bounds.
#[inline(always)]
fn admit_within(
    values: &mut [f64],
    (min, max): (f64, f64),
    invalid: f64,
    read: impl Fn(f64) -> f64,
) -> [usize; 2] {
    admit_each(
        values,
        #[inline(always)]
        move |value| {
            let value = read(value);
            let (is_low, is_high) = (value < min, value > max);
            let raised = if is_low { min } else { value };
            let clamped = if is_high { max } else { raised };
            let admitted = if value.is_nan() { invalid } else { clamped };
            (admitted, value.is_nan(), is_low | is_high)
        },
    )
}

/// Replaces values that are none of a kind's own, and counts them. A sum with 0 has no negative zero.
#[inline(always)]
fn admit_only(values: &mut [f64], invalid: f64, is_own: impl Fn(f64) -> bool) -> [usize; 2] {
    admit_each(
        values,
        #[inline(always)]
        move |value| {
            let is_own = is_own(value);
            (if is_own { value + 0.0 } else { invalid }, !is_own, false)
        },
    )
}

/// Replaces each value by the first of what `admit` makes of it. Counts how often the second is true, and the third.
///
/// Closures own what they compare with: a loop that reads it anew for each value is not done in vectors.
#[inline(always)]
fn admit_each(values: &mut [f64], admit: impl Fn(f64) -> (f64, bool, bool)) -> [usize; 2] {
    dispatch(
        #[inline(always)]
        move || {
            let mut counts = [0; 2];
            for value in values {
                let (admitted, is_one, is_other) = admit(*value);
                *value = admitted;
                counts[0] += usize::from(is_one);
                counts[1] += usize::from(is_other);
            }
            counts
        },
    )
}

#[inline(always)]
fn is_bool(value: f64) -> bool {
    (value == 0.0) | (value == 1.0)
}

#[inline(always)]
fn is_level(value: f64, count: f64) -> bool {
    (value >= 0.0) & (value < count) & (round(value) == value)
}

/// The nearest whole number, halves away from zero: [`f64::round`], which is a call on machines of the oldest kind.
#[inline(always)]
fn round(value: f64) -> f64 {
    /// Above this every f64 is whole.
    const WHOLE: f64 = 4_503_599_627_370_496.0;
    let size = value.abs();
    // Ties to even, exactly; then the ties that went down go up.
    let even = (size + WHOLE) - WHOLE;
    let away = if size - even == 0.5 { even + 1.0 } else { even };
    (if size < WHOLE { away } else { size }).copysign(value)
}

/// Levels that a message names at most.
const MOST_NAMED: usize = 12;

/// The public description of a table: its columns, in the order in which a model reads them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Vec<Column>", into = "Vec<Column>")]
pub struct Schema {
    columns: Vec<Column>,
}

impl TryFrom<Vec<Column>> for Schema {
    type Error = Error;

    fn try_from(columns: Vec<Column>) -> Result<Self, Error> {
        Self::new(columns)
    }
}

impl From<Schema> for Vec<Column> {
    fn from(schema: Schema) -> Self {
        schema.columns
    }
}

impl Schema {
    /// A schema of these columns.
    ///
    /// # Errors
    /// If there are none or two share a name.
    pub fn new(columns: Vec<Column>) -> Result<Self, Error> {
        if columns.is_empty() {
            return Err(Error::Data { key: "columns", requirement: "must declare at least one column" });
        }
        let mut seen = BTreeSet::new();
        for column in &columns {
            if !seen.insert(column.name.as_str()) {
                let column = column.name.clone();
                return Err(Error::Column { column, key: "name", requirement: "must not be declared twice" });
            }
        }
        Ok(Self { columns })
    }

    /// Real columns that keep every finite value, for simulated records, which are public.
    ///
    /// # Errors
    /// As [`Schema::new`].
    pub fn unbounded<Name: Into<String>>(names: impl IntoIterator<Item = Name>) -> Result<Self, Error> {
        let column = |name| Column::real(name, f64::MIN, f64::MAX, 0.0);
        Self::new(names.into_iter().map(column).collect::<Result<_, _>>()?)
    }

    /// The same columns without scales, as a file holds them.
    pub(crate) fn unscaled(&self) -> Result<Self, Error> {
        let columns = self.columns.iter().cloned().map(|column| column.scaled(Scale::None));
        Self::new(columns.collect::<Result<_, _>>()?)
    }

    /// The columns, in order.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The number of columns, at least 1.
    pub fn width(&self) -> usize {
        self.columns.len()
    }
}
