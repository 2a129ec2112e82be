//! Clips the scores of made-up records and adds up their products.
//!
//! Scores lie one entry after the other: a lane holds one entry of all records.

use barkeep_num::vector;

/// Lanes whose products are added up together, in registers.
const ROWS: usize = 4;
const COLUMNS: usize = 8;

/// Shortens each record's vector to a norm of at most `clip`; one that is not finite becomes 0. Says whether any changed.
pub(crate) fn clip_each(terms: &mut [f64], count: usize, clip: f64) -> bool {
    let mut factors = vec![0.0; count];
    vector::dispatch(
        #[inline(always)]
        || {
            for lane in terms.chunks_exact(count.max(1)) {
                factors.iter_mut().zip(lane).for_each(|(square, x)| *square += x * x);
            }
            let mut changes = false;
            for factor in &mut factors {
                let length = factor.sqrt();
                *factor = if length <= clip { 1.0 } else { clip / length };
                changes |= *factor != 1.0;
            }
            if changes {
                for lane in terms.chunks_exact_mut(count.max(1)) {
                    // What is infinitely long has the factor 0, and no number as a product.
                    lane.iter_mut().zip(&factors).for_each(|(x, factor)| {
                        *x = if factor.is_nan() || *factor == 0.0 { 0.0 } else { *x * factor };
                    });
                }
            }
            changes
        },
    )
}

/// Takes centres off clipped vectors, by entry and record, and clips again, as the gate does. Says whether the clip changed any.
pub(crate) fn shift(
    terms: &mut [f64],
    count: usize,
    clip: f64,
    centre: impl Fn(usize, usize) -> f64,
) -> bool {
    for (j, lane) in terms.chunks_exact_mut(count).enumerate() {
        lane.iter_mut().enumerate().for_each(|(i, x)| *x -= centre(j, i));
    }
    clip_each(terms, count, clip)
}

/// Numbers, and 0 where one is not finite: made-up records that count nothing may be anywhere.
pub(crate) fn finite(mut numbers: Vec<f64>) -> Vec<f64> {
    numbers.iter_mut().filter(|number| !number.is_finite()).for_each(|number| *number = 0.0);
    numbers
}

/// Σ w·x.
pub(crate) fn mean(lane: &[f64], weights: &[f64]) -> f64 {
    lane.iter().zip(weights).map(|(x, weight)| x * weight).sum()
}

/// Σ w·a·bᵀ over records, row by row. Every entry is added up record by record.
pub(crate) fn second_moments(a: &[f64], b: &[f64], weights: &[f64]) -> Vec<f64> {
    Weighted::new(a, weights).products(&Lanes::new(b, weights.len()))
}

/// Lanes in groups, each record by record; 0 where there are no more lanes.
pub(crate) struct Lanes<const WIDTH: usize> {
    groups: Vec<[f64; WIDTH]>,
    /// Lanes and records.
    lanes: usize,
    count: usize,
}

/// Lanes on the right of a product.
pub(crate) type Right = Lanes<COLUMNS>;

/// Lanes on its left, with weights.
pub(crate) struct Weighted(Lanes<ROWS>);

impl<const WIDTH: usize> Lanes<WIDTH> {
    pub(crate) fn new(lanes: &[f64], count: usize) -> Self {
        let mut new = Self { groups: Vec::new(), lanes: 0, count };
        new.fill(lanes, None);
        new
    }

    /// Holds other lanes of as many records.
    pub(crate) fn fill(&mut self, lanes: &[f64], weights: Option<&[f64]>) {
        let count = self.count.max(1);
        self.lanes = lanes.len() / count;
        self.groups.clear();
        self.groups.reserve(self.lanes.div_ceil(WIDTH) * count);
        for group in lanes.chunks(WIDTH * count) {
            let first = self.groups.len();
            self.groups.resize(first + count, [0.0; WIDTH]);
            for (k, lane) in group.chunks_exact(count).enumerate() {
                let slots = self.groups[first..].iter_mut().map(|slot| &mut slot[k]);
                match weights {
                    Some(weights) => {
                        slots
                            .zip(lane.iter().zip(weights))
                            .for_each(|(slot, (x, weight))| *slot = x * weight);
                    }
                    None => slots.zip(lane).for_each(|(slot, x)| *slot = *x),
                }
            }
        }
    }
}

impl Weighted {
    pub(crate) fn new(lanes: &[f64], weights: &[f64]) -> Self {
        let mut new = Self(Lanes { groups: Vec::new(), lanes: 0, count: weights.len() });
        new.fill(lanes, weights);
        new
    }

    /// Holds other lanes of as many records.
    pub(crate) fn fill(&mut self, lanes: &[f64], weights: &[f64]) {
        self.0.fill(lanes, Some(weights));
    }

    /// Their products with others, row by row.
    pub(crate) fn products(&self, others: &Right) -> Vec<f64> {
        self.sums(others, |_, _| true)
    }

    /// Their products with themselves without weights: what is above the diagonal is copied from below.
    pub(crate) fn squares(&self, own: &Right) -> Vec<f64> {
        let mut out = self.sums(own, |row, column| column < row + ROWS);
        let d = own.lanes;
        for i in 0..d {
            for j in 0..i {
                out[j * d + i] = out[i * d + j];
            }
        }
        out
    }

    /// Products by groups, of which the first lanes say whether they are wanted.
    fn sums(&self, others: &Right, wanted: impl Fn(usize, usize) -> bool) -> Vec<f64> {
        let (count, columns) = (self.0.count.max(1), others.lanes);
        let mut out = vec![0.0; self.0.lanes * columns];
        for (i, left) in self.0.groups.chunks_exact(count).enumerate() {
            for (j, right) in others.groups.chunks_exact(count).enumerate() {
                if !wanted(i * ROWS, j * COLUMNS) {
                    continue;
                }
                let sums = vector::dispatch(
                    #[inline(always)]
                    || {
                        let mut sums = [[0.0; COLUMNS]; ROWS];
                        for (x, y) in left.iter().zip(right) {
                            for (sums, x) in sums.iter_mut().zip(x) {
                                sums.iter_mut().zip(y).for_each(|(sum, y)| *sum += x * y);
                            }
                        }
                        sums
                    },
                );
                for (row, sums) in out.chunks_exact_mut(columns.max(1)).skip(i * ROWS).zip(&sums) {
                    row.iter_mut().skip(j * COLUMNS).zip(sums).for_each(|(out, sum)| *out = *sum);
                }
            }
        }
        out
    }
}

#[cfg(test)]
mod tests;
