//! A likelihood for tests whose per-record terms are the record itself, with codes for values no table would admit.

use crate::{Table, TableBuilder};
use barkeep_data::{Block, Schema};
use barkeep_model::{Likelihood, Scratch};

/// What a record cannot hold but a term can be: not-a-number, infinities, subnormals, numbers whose squares overflow.
pub(crate) const EXTREMES: [f64; 10] =
    [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e308, -1e308, f64::MAX, 5e-324, -2e-310, 1e160, -0.0];

/// A column value of `CODE` + k stands for the k-th extreme.
const CODE: f64 = 1e6;

/// The column value that makes [`Echo`] see `term`, an ordinary number or an extreme.
pub(crate) fn encode(term: f64) -> f64 {
    let same = |extreme: &f64| extreme.to_bits() == term.to_bits();
    EXTREMES.iter().position(same).map_or(term, |k| CODE + k as f64)
}

fn decode(value: f64) -> f64 {
    if value < CODE { value } else { EXTREMES[(value - CODE) as usize % EXTREMES.len()] }
}

/// ln p(x|θ') − ln p(x|θ) = x₁, and the gradient is x, whatever the parameters are.
pub(crate) struct Echo(usize);

impl Echo {
    pub(crate) fn new(dimension: usize) -> Self {
        Self(dimension)
    }
}

/// A table of records with the given terms, one row each.
pub(crate) fn table(rows: &[Vec<f64>]) -> Table {
    let names = (0..rows[0].len()).map(|j| format!("x{j}"));
    let mut builder = TableBuilder::new(Schema::unbounded(names).unwrap(), rows.len()).unwrap();
    for row in rows {
        builder.push_row(&row.iter().map(|&term| encode(term)).collect::<Vec<_>>()).unwrap();
    }
    builder.finish().unwrap()
}

impl Likelihood for Echo {
    fn dimension(&self) -> usize {
        self.0
    }

    fn columns(&self) -> usize {
        self.0
    }

    fn log_density(&self, block: Block<'_>, _theta: &[f64], out: &mut [f64], _scratch: &mut Scratch) {
        out.iter_mut().zip(block.column(0)).for_each(|(out, &value)| *out = decode(value));
    }

    fn log_ratio(&self, block: Block<'_>, from: &[f64], _to: &[f64], out: &mut [f64], scratch: &mut Scratch) {
        self.log_density(block, from, out, scratch);
    }

    fn has_gradient(&self) -> bool {
        true
    }

    fn gradient(&self, block: Block<'_>, _theta: &[f64], out: &mut [f64], _scratch: &mut Scratch) {
        for (column, out) in out.chunks_exact_mut(block.len()).enumerate() {
            out.iter_mut().zip(block.column(column)).for_each(|(out, &value)| *out = decode(value));
        }
    }
}
