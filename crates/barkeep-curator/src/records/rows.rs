//! Views columns of f64 of many records as they lie in memory: one block, or a run of full ones that a loop goes through in one call.

use crate::records::stored::STRIDE;
use barkeep_data::{BLOCK, Block};

/// The most blocks of a [`Run`]: 2^16 records, half of what one sum of clipped terms may have.
pub(crate) const RUN: usize = 64;

/// Some records.
#[derive(Clone, Copy)]
pub(crate) enum Rows<'a> {
    /// Of one block, wherever its columns are.
    Block(Block<'a>),
    /// Of several.
    Run(Run<'a>),
}

impl<'a> Rows<'a> {
    /// The number of records.
    pub(crate) fn len(self) -> usize {
        match self {
            Self::Block(block) => block.len(),
            Self::Run(run) => run.blocks() * BLOCK,
        }
    }

    /// Column `index`.
    #[inline(always)]
    pub(crate) fn column(self, index: usize) -> Stacked<'a> {
        match self {
            Self::Block(block) => Stacked { values: block.column(index), pitch: 0 },
            Self::Run(run) => run.column(index),
        }
    }
}

/// Consecutive full blocks of f64.
#[derive(Clone, Copy)]
pub(crate) struct Run<'a> {
    values: &'a [f64],
    /// The distance between two blocks.
    pitch: usize,
}

impl<'a> Run<'a> {
    /// Of blocks that are `pitch` apart; `None` for no block, and for more than [`RUN`]. Whoever adds up a run relies on that: a sum
    /// of more records could leave its integers.
    pub(crate) fn new(values: &'a [f64], pitch: usize) -> Option<Self> {
        let run = Self { values, pitch };
        (1..=RUN).contains(&run.blocks()).then_some(run)
    }

    /// The number of blocks.
    pub(crate) fn blocks(self) -> usize {
        self.values.len().checked_div(self.pitch).unwrap_or(0)
    }

    /// Block `index`.
    pub(crate) fn block(self, index: usize) -> Block<'a> {
        let values = self.values.chunks_exact(self.pitch.max(1)).nth(index).unwrap_or_default();
        Block::over(values, STRIDE, BLOCK)
    }

    /// Column `index`.
    #[inline(always)]
    pub(crate) fn column(self, index: usize) -> Stacked<'a> {
        Stacked { values: self.values.get(index * STRIDE..).unwrap_or_default(), pitch: self.pitch }
    }
}

/// A column in pieces of [`BLOCK`] records.
#[derive(Clone, Copy)]
pub(crate) struct Stacked<'a> {
    values: &'a [f64],
    /// The distance between two pieces.
    pitch: usize,
}

impl<'a> Stacked<'a> {
    /// From record `start` on; unless that is 0, of `length` records, which are in one piece.
    #[inline(always)]
    pub(crate) fn from(self, start: usize, length: usize) -> Self {
        if start == 0 { self } else { Self { values: self.part(start, length), pitch: 0 } }
    }

    /// The values of `length` records from `start` on, which are in one piece.
    #[inline(always)]
    pub(crate) fn part(self, start: usize, length: usize) -> &'a [f64] {
        &self.values[start / BLOCK * self.pitch + start % BLOCK..][..length]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_never_longer_than_what_one_sum_may_have() {
        for (blocks, allowed) in [(0, false), (1, true), (RUN, true), (RUN + 1, false), (4 * RUN, false)] {
            let values = vec![0.0; blocks * STRIDE];
            assert_eq!(Run::new(&values, STRIDE).map(Run::blocks), allowed.then_some(blocks));
        }
        assert!(Run::new(&[1.0], 0).is_none(), "blocks that lie on each other");
    }
}
