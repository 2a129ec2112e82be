//! Maps single columns to [−1, 1] by public functions, and writes their first and second powers for each record.

use barkeep_data::Block;

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
    /// Whether z² − 1 is written beside z.
    pub squared: bool,
}

impl Coordinate {
    /// Writes z for each record of a block to `out`; not a number counts as 0.
    pub(crate) fn write(&self, block: Block<'_>, out: &mut [f64]) {
        // Whatever a block lacks counts as 0, never as what the buffer held.
        out.fill(0.0);
        let values = block.column(self.column);
        let each = |out: &mut [f64], f: &dyn Fn(f64) -> f64| {
            out.iter_mut().zip(values).for_each(|(out, value)| *out = f(*value));
        };
        match self.curve {
            Curve::Line => each(out, &|value| value),
            Curve::Log { plus } => each(out, &|value| libm::log(value + plus)),
            Curve::Root => each(out, &f64::sqrt),
            Curve::Share { column: None, fixed } => {
                each(out, &|value| (value.min(fixed) + 0.5) / (fixed + 1.0))
            }
            Curve::Share { column: Some(trials), .. } => {
                for ((out, value), trials) in out.iter_mut().zip(values).zip(block.column(trials)) {
                    *out = (value.min(*trials) + 0.5) / (trials + 1.0);
                }
            }
        }
        for out in out {
            let z = self.scale * *out + self.shift;
            *out = if z.is_nan() { 0.0 } else { z.clamp(-1.0, 1.0) };
        }
    }

    /// Whether the columns it reads are among the first `width`, and its numbers are finite.
    pub(crate) fn fits(&self, width: usize) -> bool {
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
pub(crate) fn rows_coordinate(rows: f64, most: u64) -> f64 {
    let z = 2.0 * (rows - 1.0) / (most.max(2) - 1) as f64 - 1.0;
    if z.is_nan() { 0.0 } else { z.clamp(-1.0, 1.0) }
}

/// Writes z, and z² − 1 after it where it is asked for, coordinate by coordinate.
pub(crate) fn write_powers(coordinates: &[Coordinate], block: Block<'_>, out: &mut [f64]) {
    let mut rest = out;
    for one in coordinates {
        let (first, others) = rest.split_at_mut(block.len());
        one.write(block, first);
        rest = others;
        if one.squared {
            let (second, others) = rest.split_at_mut(block.len());
            second.iter_mut().zip(first.iter()).for_each(|(square, z)| *square = z * z - 1.0);
            rest = others;
        }
    }
}

#[cfg(test)]
mod tests;
