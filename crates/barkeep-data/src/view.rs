//! Says what a model sees of a record: products of public functions of single columns, each with a public range.

use crate::schema::single;
use crate::{Column, Error, Kind, Precision, Scale, Schema};

/// A function of one column, of its value in the column's own unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// The value.
    Value,
    /// ln of a value that is above 0.
    Log,
    /// √ of a value that is at least 0.
    Sqrt,
    /// The value's square.
    Square,
    /// The Legendre polynomial of this degree of the value mapped to [−1, 1] by its bounds. Polynomials of different
    /// degrees are uncorrelated under values spread evenly over the bounds, and none exceeds 1.
    Legendre(u8),
    /// 1 where a category is at this level, else 0.
    Level(usize),
}

/// One function of one column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Factor {
    /// The column's place in the schema of the file.
    pub column: usize,
    /// The function.
    pub shape: Shape,
    /// Whether the result is mapped to [−1, 1] where the column declares [`Scale::Bounds`].
    pub scaled: bool,
}

impl Factor {
    /// What makes the function undefined on the column's bounds, if anything does.
    pub fn fault(&self, column: &Column) -> Option<&'static str> {
        let bounds = column.bounds();
        match (self.shape, bounds) {
            (Shape::Value, _) => None,
            (Shape::Level(level), _) => match column.kind() {
                Kind::Category { levels } if level < levels.len() => None,
                Kind::Category { .. } | Kind::Real { .. } | Kind::Integer { .. } | Kind::Bool => {
                    Some("must be a category with that level")
                }
            },
            (_, None) => Some("must be a real or integer column, which has bounds"),
            (Shape::Log, Some((min, _))) if min <= 0.0 => Some("must have min above 0 for log"),
            (Shape::Sqrt, Some((min, _))) if min < 0.0 => Some("must have min of at least 0 for sqrt"),
            (Shape::Square, Some((min, max))) if !(min * min).is_finite() || !(max * max).is_finite() => {
                Some("must have smaller bounds for square")
            }
            (Shape::Log | Shape::Sqrt | Shape::Square | Shape::Legendre(_), Some(_)) => None,
        }
    }

    /// The interval of results over the column's bounds, before they are scaled.
    fn plain_range(&self, column: &Column) -> (f64, f64) {
        let (min, max) = column.bounds().unwrap_or_else(|| column.range());
        match self.shape {
            Shape::Value => (min, max),
            Shape::Log => (libm::log(min), libm::log(max)),
            Shape::Sqrt => (min.sqrt(), max.sqrt()),
            Shape::Square => {
                let least = if min <= 0.0 && max >= 0.0 { 0.0 } else { (min * min).min(max * max) };
                (least, (min * min).max(max * max))
            }
            Shape::Legendre(_) => (-1.0, 1.0),
            Shape::Level(_) => (0.0, 1.0),
        }
    }

    fn is_scaled(&self, column: &Column) -> bool {
        let has_unit = !matches!(self.shape, Shape::Legendre(_) | Shape::Level(_));
        self.scaled && has_unit && column.scale() == Scale::Bounds
    }

    /// Whether every result is a number of 32 bits: the value itself, scaled or not, of a column that is kept so.
    pub fn is_single(&self, column: &Column) -> bool {
        self.shape == Shape::Value && column.precision() == Precision::Single
    }

    /// Centre c and half width h of the map from a function's value f to the result (f − c)/h; (0, 1) where the result is
    /// the function's value.
    pub fn scaling(&self, column: &Column) -> (f64, f64) {
        if self.is_scaled(column) { middle(self.plain_range(column)) } else { (0.0, 1.0) }
    }

    /// The interval in which every result lies.
    pub fn range(&self, column: &Column) -> (f64, f64) {
        if self.is_scaled(column) { (-1.0, 1.0) } else { self.plain_range(column) }
    }

    /// The result for a value the column admits.
    pub fn at(&self, column: &Column, value: f64) -> f64 {
        let mut out = [0.0];
        self.fill(column, &[value], &mut out);
        out[0]
    }

    /// Writes the results for a column of admitted values. Every result lies in [`range`](Self::range).
    fn fill(&self, column: &Column, values: &[f64], out: &mut [f64]) {
        match self.shape {
            Shape::Value => out.copy_from_slice(values),
            Shape::Log => each(values, out, libm::log),
            Shape::Sqrt => each(values, out, f64::sqrt),
            Shape::Square => each(values, out, |value| value * value),
            Shape::Legendre(degree) => {
                let (min, max) = column.bounds().unwrap_or((-1.0, 1.0));
                each(values, out, |value| legendre(degree, unit(value, min, max)));
            }
            Shape::Level(level) => each(values, out, |value| f64::from(u8::from(value == level as f64))),
        }
        let (low, high) = self.plain_range(column);
        if self.is_scaled(column) {
            out.iter_mut().for_each(|out| *out = unit(*out, low, high));
            if self.is_single(column) {
                // Neither end of [−1, 1] is passed by rounding.
                out.iter_mut().for_each(|out| *out = single(*out));
            }
        } else if self.shape != Shape::Value {
            // The range bounds a gradient's length, so that not even a rounding may leave it.
            out.iter_mut().for_each(|out| *out = out.clamp(low, high));
        }
    }
}

/// Writes a function of each value.
#[inline]
fn each(values: &[f64], out: &mut [f64], function: impl Fn(f64) -> f64) {
    out.iter_mut().zip(values).for_each(|(out, value)| *out = function(*value));
}

/// [low, high] to [−1, 1].
fn unit(value: f64, low: f64, high: f64) -> f64 {
    let (centre, half_width) = middle((low, high));
    ((value - centre) / half_width).clamp(-1.0, 1.0)
}

/// Centre and half width. Halves first: high − low may overflow, their half difference cannot.
fn middle((low, high): (f64, f64)) -> (f64, f64) {
    (0.5 * low + 0.5 * high, 0.5 * high - 0.5 * low)
}

/// P_k(x) by Bonnet's recurrence: (j+1)·P_{j+1} = (2j+1)·x·P_j − j·P_{j−1}.
fn legendre(degree: u8, x: f64) -> f64 {
    let (mut before, mut now) = (1.0, x);
    for j in 1..degree {
        let j = f64::from(j);
        (before, now) = (now, ((2.0 * j + 1.0) * x * now - j * before) / (j + 1.0));
    }
    if degree == 0 { 1.0 } else { now }
}

/// A product of functions of columns, with a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Feature {
    /// The name, as in `hour:distance`.
    pub name: String,
    /// The factors, at least one.
    pub factors: Vec<Factor>,
}

impl Feature {
    /// A column as its schema declares it, scaled or not.
    pub fn column(name: impl Into<String>, column: usize) -> Self {
        Self { name: name.into(), factors: vec![Factor { column, shape: Shape::Value, scaled: true }] }
    }

    /// The interval in which every value lies: the product of the factors' intervals.
    fn range(&self, source: &Schema) -> Option<(f64, f64)> {
        let columns = source.columns();
        self.factors.iter().try_fold((1.0, 1.0), |(low, high): (f64, f64), factor| {
            let (least, most) = factor.range(columns.get(factor.column)?);
            let ends = [low * least, low * most, high * least, high * most];
            Some((
                ends.into_iter().fold(f64::INFINITY, f64::min),
                ends.into_iter().fold(f64::NEG_INFINITY, f64::max),
            ))
        })
    }
}

/// How a model sees the records of a file: features computed once, at reading, from admitted cells.
///
/// **Privacy.** Features are functions of one record and of public facts; what a bad cell becomes is decided before.
#[derive(Debug, Clone, PartialEq)]
pub struct View {
    source: Schema,
    features: Vec<Feature>,
    schema: Schema,
}

impl View {
    /// Every column as its schema declares it.
    pub fn all(source: Schema) -> Self {
        let columns = source.columns().iter().enumerate();
        let features = columns.map(|(index, column)| Feature::column(column.name(), index)).collect();
        Self { schema: source.clone(), features, source }
    }

    /// These features of records of this schema. Columns no feature uses are not read.
    ///
    /// # Errors
    /// If there are no features, two share a name, or a function is undefined on its column's bounds.
    pub fn new(source: Schema, features: Vec<Feature>) -> Result<Self, Error> {
        let mut columns = Vec::with_capacity(features.len());
        for feature in &features {
            for factor in &feature.factors {
                let column = source
                    .columns()
                    .get(factor.column)
                    .ok_or(Error::Data { key: "columns", requirement: "must hold every feature's column" })?;
                if let Some(requirement) = factor.fault(column) {
                    return Err(Error::Column { column: column.name().to_owned(), key: "kind", requirement });
                }
            }
            columns.push(feature.as_column(&source)?);
        }
        let mut used: Vec<usize> =
            features.iter().flat_map(|feature| feature.factors.iter().map(|factor| factor.column)).collect();
        used.sort_unstable();
        used.dedup();
        let place = |column: usize| used.binary_search(&column).unwrap_or(0);
        let mut features = features;
        for factor in features.iter_mut().flat_map(|feature| &mut feature.factors) {
            factor.column = place(factor.column);
        }
        let kept = used.iter().filter_map(|&index| source.columns().get(index).cloned()).collect();
        Ok(Self { schema: Schema::new(columns)?, source: Schema::new(kept)?, features })
    }

    /// The columns read from the file.
    pub fn source(&self) -> &Schema {
        &self.source
    }

    /// The features, in the order in which a model reads them; their columns are places in [`source`](Self::source).
    pub fn features(&self) -> &[Feature] {
        &self.features
    }

    /// What is publicly known of the features, in the order in which a model reads them.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// Writes feature `index` of admitted records in their own units.
    pub(crate) fn fill(&self, index: usize, records: &[&[f64]], out: &mut [f64], spare: &mut Vec<f64>) {
        let Some(feature) = self.features.get(index) else { return };
        for (place, factor) in feature.factors.iter().enumerate() {
            let Some(column) = self.source.columns().get(factor.column) else { return };
            let Some(values) = records.get(factor.column) else { return };
            if place == 0 {
                factor.fill(column, values, out);
            } else {
                spare.resize(values.len(), 0.0);
                factor.fill(column, values, spare);
                out.iter_mut().zip(spare.iter()).for_each(|(out, factor)| *out *= factor);
            }
        }
    }
}

impl Feature {
    /// The feature as a column of what a model sees: a lone, unchanged column keeps its kind.
    fn as_column(&self, source: &Schema) -> Result<Column, Error> {
        if let [Factor { column, shape: Shape::Value, scaled }] = self.factors[..]
            && let Some(column) = source.columns().get(column)
        {
            let scale = if scaled { column.scale() } else { Scale::None };
            let seen = Column::new(self.name.clone(), column.kind().clone(), column.invalid())?;
            return seen.scaled(scale)?.kept_in(column.precision());
        }
        let empty = Error::Data { key: "columns", requirement: "must make every feature vary" };
        let (low, high) = self.range(source).ok_or(empty)?;
        Column::real(self.name.clone(), low, high, low)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn factor(shape: Shape) -> Factor {
        Factor { column: 0, shape, scaled: true }
    }

    #[test]
    fn functions_are_those_of_the_value_in_its_own_unit() {
        let plain = Column::real("x", 1.0, 9.0, 1.0).unwrap();
        let scaled = plain.clone().scaled(Scale::Bounds).unwrap();
        for (shape, value, expected, mapped) in [
            (Shape::Value, 3.0, 3.0, -0.5),
            (Shape::Log, 3.0, 3f64.ln(), 0.0),
            (Shape::Sqrt, 4.0, 2.0, 0.0),
            (Shape::Square, 5.0, 25.0, -0.4),
            // P₂(½) = (3·¼ − 1)/2 = −1/8 at the value 7; P₃(½) = (5/8 − 3/2)/2 = −7/16.
            (Shape::Legendre(2), 7.0, -0.125, -0.125),
            (Shape::Legendre(3), 7.0, -0.4375, -0.4375),
        ] {
            assert!((factor(shape).at(&plain, value) - expected).abs() < 1e-15, "{shape:?}");
            assert!((factor(shape).at(&scaled, value) - mapped).abs() < 1e-15, "{shape:?}");
            let own = Factor { scaled: false, ..factor(shape) };
            assert!((own.at(&scaled, value) - expected).abs() < 1e-15, "{shape:?}");
        }
    }

    #[test]
    fn ranges_hold_every_value() {
        let columns = [
            Column::real("x", 0.5, 7.0, 1.0).unwrap(),
            Column::integer("x", 1.0, 5.0, 1.0).unwrap().scaled(Scale::Bounds).unwrap(),
            Column::real("x", 1e-300, 1e150, 1.0).unwrap(),
        ];
        for column in columns {
            let (min, max) = column.bounds().unwrap();
            for shape in [Shape::Value, Shape::Log, Shape::Sqrt, Shape::Square, Shape::Legendre(5)] {
                let (low, high) = factor(shape).range(&column);
                for k in 0..=100 {
                    let value = (min + (max - min) * f64::from(k) / 100.0).clamp(min, max);
                    assert!((low..=high).contains(&factor(shape).at(&column, value)), "{shape:?}");
                }
            }
        }
        let crossing = Column::real("x", -2.0, 1.0, 0.0).unwrap();
        assert_eq!(factor(Shape::Square).range(&crossing), (0.0, 4.0));
        let schema = Schema::new(vec![crossing, Column::real("y", -3.0, 5.0, 0.0).unwrap()]).unwrap();
        let product = Feature {
            name: "x:y".into(),
            factors: vec![factor(Shape::Value), Factor { column: 1, ..factor(Shape::Value) }],
        };
        assert_eq!(product.range(&schema), Some((-10.0, 6.0)));
    }

    #[test]
    fn what_is_undefined_on_the_bounds_is_refused() {
        let schema = Schema::new(vec![
            Column::real("x", 0.0, 1.0, 0.5).unwrap(),
            Column::boolean("b", true).unwrap(),
            Column::category("c", vec!["p".into(), "q".into()], "p").unwrap(),
        ])
        .unwrap();
        let refused = |column, shape| {
            let feature = Feature { name: "f".into(), factors: vec![Factor { column, shape, scaled: true }] };
            View::new(schema.clone(), vec![feature]).map(|_| ()).unwrap_err().to_string()
        };
        assert!(refused(0, Shape::Log).contains("min above 0 for log"));
        assert!(refused(1, Shape::Square).contains("which has bounds"));
        assert!(refused(2, Shape::Level(2)).contains("that level"));
        assert!(refused(9, Shape::Value).contains("every feature's column"));
    }

    #[test]
    fn columns_nobody_uses_are_not_read() {
        let schema = Schema::unbounded(["a", "b", "c"]).unwrap();
        let view = View::new(schema, vec![Feature::column("c", 2), Feature::column("a", 0)]).unwrap();
        let names: Vec<&str> = view.source().columns().iter().map(Column::name).collect();
        assert_eq!(names, ["a", "c"]);
        assert_eq!(view.features()[0].factors[0].column, 1);
    }
}
