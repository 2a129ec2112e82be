//! Hands gradients to the clip a coordinate of a few records at a time: written before, or computed on the spot.

use super::vector::each;
use barkeep_data::Block;
use barkeep_model::Affine;

/// How many records are clipped at a time: eight of the widest registers. A machine that starts two products a cycle and has
/// each after four is then never idle, and what is written stays in the first cache up to a few dozen coordinates.
pub(crate) const CHUNK: usize = 64;

/// The gradients of some records.
pub(crate) trait Gradients {
    /// The number of coordinates.
    fn dimension(&self) -> usize;

    /// The number of records, at most 2^17.
    fn records(&self) -> usize;

    /// Coordinate `j` of the records from `start` on. They are `CHUNK` or more if `WHOLE`; else zeros follow the last.
    fn coordinate<const WHOLE: bool>(&self, j: usize, start: usize) -> [f64; CHUNK];
}

/// Gradients that a model wrote, coordinate-major.
pub(crate) struct Written<'a> {
    terms: &'a [f64],
    records: usize,
}

impl<'a> Written<'a> {
    /// For at most 2^17 records.
    pub(crate) fn new(terms: &'a [f64], records: usize) -> Self {
        Self { terms, records }
    }
}

impl Gradients for Written<'_> {
    fn dimension(&self) -> usize {
        self.terms.len().checked_div(self.records).unwrap_or(0)
    }

    fn records(&self) -> usize {
        self.records
    }

    #[inline(always)]
    fn coordinate<const WHOLE: bool>(&self, j: usize, start: usize) -> [f64; CHUNK] {
        let left = self.records - start;
        chunk::<WHOLE>(self.terms.get(j * self.records + start..).unwrap_or(&[]), left)
    }
}

/// Gradients that are affine in the columns, never written as a whole.
pub(crate) struct Columns<'a> {
    block: Block<'a>,
    affine: &'a Affine,
}

impl<'a> Columns<'a> {
    /// For a block of the model that `affine` comes from.
    pub(crate) fn new(block: Block<'a>, affine: &'a Affine) -> Self {
        Self { block, affine }
    }
}

impl Gradients for Columns<'_> {
    fn dimension(&self) -> usize {
        self.affine.weights.len()
    }

    fn records(&self) -> usize {
        self.block.len()
    }

    #[inline(always)]
    fn coordinate<const WHOLE: bool>(&self, j: usize, start: usize) -> [f64; CHUNK] {
        let Affine { weights, centres, lean } = self.affine;
        let left = self.block.len() - start;
        let column = |j: usize| chunk::<WHOLE>(self.block.column(j).get(start..).unwrap_or(&[]), left);
        let (values, weight, centre) = (column(j), weights[j], centres[j]);
        let mut terms = if j == 0 && *lean != 0.0 {
            let (others, other) = (column(1), centres[1]);
            each(
                #[inline(always)]
                |i| lean.mul_add(others[i] - other, weight * (values[i] - centre)),
            )
        } else {
            each(
                #[inline(always)]
                |i| weight * (values[i] - centre),
            )
        };
        if !WHOLE {
            terms[left..].fill(0.0);
        }
        terms
    }
}

/// The first values of a slice, or as many of them as are `left` and zeros.
#[inline(always)]
fn chunk<const WHOLE: bool>(values: &[f64], left: usize) -> [f64; CHUNK] {
    if WHOLE && let Some(chunk) = values.first_chunk() {
        return *chunk;
    }
    let mut chunk = [0.0; CHUNK];
    chunk.iter_mut().zip(values.iter().take(left)).for_each(|(slot, value)| *slot = *value);
    chunk
}
