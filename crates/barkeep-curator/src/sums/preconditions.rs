//! Maps gradients by a public matrix before they are clipped, so that the clip is round where the posterior is.

use barkeep_num::vector::dispatch;

/// A public linear map of gradients.
///
/// **Privacy.** It is applied to each record on its own before the clip, so the sensitivity does not depend on it;
/// it must be chosen without the records, or paid for.
#[derive(Debug, Clone, Copy)]
pub enum Precondition<'a> {
    /// Leaves them as they are.
    Identity,
    /// Multiplies each coordinate by its entry.
    Diagonal(&'a [f64]),
    /// Multiplies by a d×d matrix, given row by row.
    Dense(&'a [f64]),
}

impl Precondition<'_> {
    /// Whether the map has the right size and only finite entries.
    pub(crate) fn fits(self, dimension: usize) -> bool {
        let (entries, length) = match self {
            Self::Identity => return true,
            Self::Diagonal(entries) => (entries, dimension),
            Self::Dense(entries) => (entries, dimension * dimension),
        };
        entries.len() == length && entries.iter().all(|entry| entry.is_finite())
    }
}

/// Multiplies each coordinate of coordinate-major `terms` by its entry.
pub(crate) fn stretch(entries: &[f64], terms: &mut [f64], records: usize) {
    for (coordinate, entry) in terms.chunks_exact_mut(records.max(1)).zip(entries) {
        coordinate.iter_mut().for_each(|term| *term *= entry);
    }
}

/// How many coordinates one pass over the records takes in: enough to save most of the output's traffic,
/// few enough for the registers.
const FUSED: usize = 4;

/// How many records are mixed at a time: with a few dozen coordinates they stay in the first cache.
const TILE: usize = 128;

/// Writes `matrix`·g to `mixed` for the gradient g of each record, both coordinate-major.
///
/// A coordinate's products are added in the order of the columns, one rounding each, on every machine.
pub(crate) fn mix(matrix: &[f64], terms: &[f64], mixed: &mut [f64], records: usize) {
    dispatch(
        #[inline(always)]
        || Mix { matrix, terms, mixed, records }.run(),
    );
}

/// The loop of [`mix`], compiled once per instruction set.
struct Mix<'a> {
    matrix: &'a [f64],
    terms: &'a [f64],
    mixed: &'a mut [f64],
    records: usize,
}

impl Mix<'_> {
    #[inline(always)]
    fn run(self) {
        let records = self.records.max(1);
        let dimension = (self.terms.len() / records).max(1);
        for start in (0..records).step_by(TILE) {
            let tile = start..(start + TILE).min(records);
            let rows = self.matrix.chunks_exact(dimension);
            for (row, out) in rows.zip(self.mixed.chunks_exact_mut(records)) {
                let out = &mut out[tile.clone()];
                out.fill(0.0);
                let mut columns = self.terms.chunks_exact(FUSED * records);
                let mut weights = row.chunks_exact(FUSED);
                for (group, weights) in (&mut columns).zip(&mut weights) {
                    // The matrix is public; that of a bent Gaussian is nearly all zeros.
                    if weights == [0.0; FUSED] {
                        continue;
                    }
                    let column = |k: usize| (&group[k * records..][tile.clone()], weights[k]);
                    add([column(0), column(1), column(2), column(3)], out);
                }
                let rest = columns.remainder().chunks_exact(records).zip(weights.remainder());
                for (column, &weight) in rest.filter(|(_, weight)| **weight != 0.0) {
                    add([(&column[tile.clone()], weight)], out);
                }
            }
        }
    }
}

/// Adds weighted columns to `out`, in order.
#[inline(always)]
fn add<const K: usize>(columns: [(&[f64], f64); K], out: &mut [f64]) {
    // Equal lengths, visible to the compiler: no bounds check survives in the loop.
    let length = columns.iter().fold(out.len(), |length, (column, _)| length.min(column.len()));
    let columns = columns.map(|(column, weight)| (&column[..length], weight));
    for (i, out) in out[..length].iter_mut().enumerate() {
        for (column, weight) in columns {
            *out += weight * column[i];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Products added one by one in the order of the columns, compiled for the baseline: the same bits.
    #[test]
    fn mixing_gives_the_bits_of_the_plain_loop() {
        for dimension in 1..10 {
            for records in [1, 7, 127, 128, 129, 300] {
                let value = |k: usize| ((k * k + 3 * k) as f64).sin() * 10_f64.powi((k % 7) as i32);
                let matrix: Vec<f64> = (0..dimension * dimension).map(value).collect();
                let terms: Vec<f64> = (0..dimension * records).map(|k| value(k + 50)).collect();
                let mut mixed = vec![f64::NAN; dimension * records];
                mix(&matrix, &terms, &mut mixed, records);
                for (k, row) in matrix.chunks_exact(dimension).enumerate() {
                    for i in 0..records {
                        let columns = row.iter().enumerate();
                        let plain =
                            columns.fold(0.0, |sum, (j, weight)| sum + weight * terms[j * records + i]);
                        assert_eq!(mixed[k * records + i].to_bits(), plain.to_bits());
                    }
                }
            }
        }
    }

    #[test]
    fn maps_of_the_wrong_size_or_without_an_end_do_not_fit() {
        assert!(Precondition::Identity.fits(3));
        assert!(Precondition::Diagonal(&[1.0; 3]).fits(3) && !Precondition::Diagonal(&[1.0; 2]).fits(3));
        assert!(Precondition::Dense(&[1.0; 9]).fits(3) && !Precondition::Dense(&[1.0; 3]).fits(3));
        assert!(
            !Precondition::Diagonal(&[f64::INFINITY]).fits(1) && !Precondition::Dense(&[f64::NAN]).fits(1)
        );
    }
}
