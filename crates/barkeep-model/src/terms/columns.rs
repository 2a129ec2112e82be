//! Maps single columns to [−1, 1] by public functions, and writes their first and second powers for each record.

use barkeep_data::Schema;
use barkeep_machine::{Binary, Fold, Output, Source, Term, Unary, Unsound, Writer};

use crate::Likelihood;

/// A public function of a record's column.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Curve {
    /// The value.
    Line,
    /// ln(value + plus).
    Log {
        /// What is added first.
        plus: f64,
    },
    /// √value.
    Root,
    /// (value + ½)/(trials + 1), the value being successes out of a fixed number of trials or of those in a column.
    Share {
        /// The column of the trials, if they differ between records.
        column: Option<usize>,
        /// The trials otherwise.
        fixed: f64,
    },
}

/// One coordinate of a record: z = scale·f(value) + shift, cut to [−1, 1]. Everything in it is public.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Coordinate {
    /// The table's column.
    pub column: usize,
    /// f.
    pub curve: Curve,
    /// The factor of f.
    pub scale: f64,
    /// What is added.
    pub shift: f64,
    /// Whether z² − 1 is written after z.
    pub squared: bool,
}

impl Coordinate {
    /// Writes z; not a number counts as 0.
    fn write(&self, w: &mut Writer) -> Source {
        let value = Source::Column(self.column as u32);
        let curve = match self.curve {
            Curve::Line => value,
            Curve::Log { plus } => {
                let moved = w.add(value, plus);
                w.unary(Unary::Ln, moved)
            }
            Curve::Root => w.unary(Unary::Sqrt, value),
            Curve::Share { column, fixed } => {
                let trials = match column {
                    Some(column) => Source::Column(column as u32),
                    None => w.number(fixed),
                };
                let successes = w.min(trials, value);
                let (above, below) = (w.add(successes, 0.5), w.add(trials, 1.0));
                w.div(above, below)
            }
        };
        let scaled = w.mul(self.scale, curve);
        let z = w.add(scaled, self.shift);
        write_cut(w, z)
    }

    /// Whether the columns it reads are among the first `width`, and its numbers are finite.
    #[must_use]
    pub fn fits(&self, width: usize) -> bool {
        let (other, numbers) = match self.curve {
            Curve::Line | Curve::Root => (0, 0.0),
            Curve::Log { plus } => (0, plus),
            Curve::Share { column, fixed } => (column.unwrap_or(0), fixed),
        };
        self.column.max(other) < width && (self.scale + self.shift + numbers).is_finite()
    }

    /// Entries it writes.
    fn width(&self) -> usize {
        if self.squared { 2 } else { 1 }
    }
}

/// z cut to [−1, 1]; not a number becomes 0.
fn write_cut(w: &mut Writer, z: Source) -> Source {
    let is_number = w.binary(Binary::Equal, z, z);
    let number = w.select(is_number, z, 0.0);
    let low = w.max(number, -1.0);
    w.min(low, 1.0)
}

/// z² − 1.
fn write_square(w: &mut Writer, z: Source) -> Source {
    let square = w.unary(Unary::Square, z);
    w.sub(square, 1.0)
}

/// Entries of a record's powers.
#[must_use]
pub fn powers_width(coordinates: &[Coordinate], most_rows: Option<u64>) -> usize {
    coordinates.iter().map(Coordinate::width).sum::<usize>() + if most_rows.is_some() { 2 } else { 0 }
}

/// B with ‖v‖ ≤ B for the powers v of every record: the root of the number of coordinates.
///
/// For |z| ≤ 1 both z² ≤ 1 and z² + (z² − 1)² = 1 − z²(1 − z²) ≤ 1. No other centre of the square does as well: z = ±1
/// are 2 apart, so that no ball around all (z, z² − c) has a radius below 1. z = 1 and z = −1 in every coordinate attain
/// the sensitivity 2B.
///
/// A person's powers are the mean over the person's rows, and a ball is convex: the same B, for any number of rows. The number
/// of rows is one more coordinate z with |z| ≤ 1, where it is asked for.
#[must_use]
pub fn powers_bound(coordinates: &[Coordinate], most_rows: Option<u64>) -> f64 {
    ((coordinates.len() + usize::from(most_rows.is_some())) as f64).sqrt()
}

/// z of a person's number of rows: 1 becomes −1 and `most` becomes 1, more count as `most`.
#[must_use]
pub fn rows_coordinate(rows: f64, most: u64) -> f64 {
    let z = 2.0 * (rows - 1.0) / (most.max(2) - 1) as f64 - 1.0;
    if z.is_nan() { 0.0 } else { z.clamp(-1.0, 1.0) }
}

/// z of every coordinate, and z² − 1 after it where it is asked for, averaged over a person's rows; then the same of a person's number of rows, if the most
/// there can be is given.
///
/// # Errors
/// [`Unsound`] for a program that is larger than the machine runs.
pub fn columns(coordinates: &[Coordinate], most_rows: Option<u64>) -> Result<Term, Unsound> {
    let mut w = Writer::default();
    let mut outputs = Vec::with_capacity(powers_width(coordinates, None));
    for one in coordinates {
        let z = one.write(&mut w);
        outputs.push(Output::Dense(z));
        if one.squared {
            outputs.push(Output::Dense(write_square(&mut w, z)));
        }
    }
    let own = outputs.len() as u32;
    let row = w.finish(outputs)?;
    let unit = most_rows.map(|most| {
        let mut w = Writer::default();
        let others = w.sub(Source::Column(own), 1.0);
        let twice = w.mul(2.0, others);
        let share = w.div(twice, (most.max(2) - 1) as f64);
        let z = w.sub(share, 1.0);
        let z = write_cut(&mut w, z);
        let square = write_square(&mut w, z);
        w.finish((0..own).map(Source::Column).chain([z, square]).map(Output::Dense))
    });
    Term::new(row, Fold::Mean, unit.transpose()?)
}

/// (z − centre)/spread of every coordinate: what products are taken of.
///
/// # Errors
/// [`Unsound`] for a program that is larger than the machine runs.
pub fn standardised(coordinates: &[Coordinate], centres: &[f64], spreads: &[f64]) -> Result<Term, Unsound> {
    let mut w = Writer::default();
    let mut outputs = Vec::with_capacity(coordinates.len());
    for (one, (centre, spread)) in coordinates.iter().zip(centres.iter().zip(spreads)) {
        let z = one.write(&mut w);
        outputs.push(Output::Dense(w.deviation(1.0 / spread, z, *centre)));
    }
    Term::new(w.finish(outputs)?, Fold::Mean, None)
}

/// The sufficient statistics of every record, added up over a person's rows.
///
/// # Errors
/// The reason why the likelihood has none.
pub fn statistics(likelihood: &dyn Likelihood, schema: &Schema) -> Result<Term, &'static str> {
    Ok(Term::of(likelihood.statistics_program(schema)?))
}
