//! Composes decisions too many for one dynamic program: blocks of them by their curves, through privacy-loss distributions.
//!
//! F_m is the curve of a pair of distributions that dominates every attack of m steps, whatever happened before them. Composing
//! such pairs is therefore an upper bound for any number of blocks, and for anything released between them. It is a little loose,
//! since no single attack attains F_m at every x: a quarter of the steps for blocks of one, 1 % for blocks of 50, less than
//! 0.2 % for blocks of 2048 (Barker, measured). Where the strongest coins are skewed it is more: of a penalty test with σ = 0.04
//! blocks of 2048 lose 4 %, blocks of 8192 about 1 %.

use super::profile::Profile;
use super::program::{Attacks, Kind, Program, Stretch};
use crate::pld::{Accuracy, Composition, DominatingPair};
use crate::{Delta, Epsilon, Error, Steps};
use std::cell::OnceCell;

/// Steps of the largest block. Larger ones have to run on coarser grids: the size that loses the least of both is taken.
const SIZES: [u64; 7] = [4096, 2048, 1024, 512, 256, 128, 64];

/// More steps than these get little work: no run takes them, and whoever asks should not wait.
const TAKEN: f64 = 1e9;

/// How little, as a part of the usual.
const HURRY: f64 = 0.05;

/// How close the composition's bracket shall be, and how close where there is a hurry.
const ACCURACY: [f64; 2] = [1e-4, 1e-3];

/// Losses up to which a block's curve can be handed over.
const LARGEST_LOSS: f64 = 690.0;

/// Parts of the largest block; curves are kept for whole numbers of them from half of it on.
const PARTS: u64 = 16;

/// The blocks of a program, largest first: of 2^i steps, and of parts of the largest.
pub(crate) struct Blocks {
    blocks: Vec<Block>,
    accuracy: Accuracy,
}

/// One block, and its curve once it was asked for: a composition takes few of them.
struct Block {
    steps: u64,
    profile: Profile,
    curve: OnceCell<DominatingPair>,
}

impl Block {
    fn curve(&self) -> Result<&DominatingPair, Error> {
        match self.curve.get() {
            Some(curve) => Ok(curve),
            None => {
                let curve = self.profile.block()?;
                Ok(self.curve.get_or_init(|| curve))
            }
        }
    }
}

impl Blocks {
    /// Blocks for a stretch of steps, with an eye on δ ≥ `smallest`.
    pub(super) fn new(kind: &Kind<'_>, stretch: Stretch, smallest: f64) -> Result<Self, Error> {
        let steps = stretch.last as f64;
        let (patience, accuracy) = if steps <= TAKEN { (1.0, ACCURACY[0]) } else { (HURRY, ACCURACY[1]) };
        let accuracy = Accuracy::new(accuracy)?;
        let mut failure = Error::Unresolved { what: "a composition of decisions", reason: "too many steps" };
        // The flat end of a block's curve is mass at infinity in every block.
        let share = |size: u64| (smallest * size as f64 / steps).max(1e-250);
        // A block is a part of the whole run.
        let run = kind.run(steps, smallest);
        let corners = kind.corners(run);
        let apart = kind.apart();
        let lost = |size: u64| {
            let added = kind.would_add(size as f64, share(size), corners, patience);
            added.map_or(f64::INFINITY, |added| added + apart / (size as f64).sqrt())
        };
        let mut sizes: Vec<(f64, u64)> =
            SIZES.into_iter().filter(|size| *size as f64 <= steps).map(|size| (lost(size), size)).collect();
        sizes.sort_by(|a, b| a.0.total_cmp(&b.0));
        for (_, size) in sizes {
            let (stretch, share) = (Stretch::of(size), share(size));
            match Program::within(kind, run, stretch, share, Attacks::Spared, patience, 0.0) {
                Ok(Some(program)) => return Self::run(program, size, accuracy),
                Ok(None) => {}
                Err(error) => failure = error,
            }
        }
        Err(failure)
    }

    fn run(mut program: Program, size: u64, accuracy: Accuracy) -> Result<Self, Error> {
        let mut blocks = Vec::new();
        while program.steps < size {
            program.advance()?;
            let part = program.steps.is_multiple_of((size / PARTS).max(1)) && 2 * program.steps >= size;
            if part || program.steps.is_power_of_two() {
                let profile = program.profile();
                if profile.reach() > LARGEST_LOSS {
                    break;
                }
                blocks.push(Block { steps: program.steps, profile, curve: OnceCell::new() });
            }
        }
        if blocks.is_empty() {
            return Err(Error::Unresolved {
                what: "a composition of decisions",
                reason: "a step reveals too much",
            });
        }
        blocks.reverse();
        Ok(Self { blocks, accuracy })
    }

    /// `steps` steps as blocks: as few and as equal as can be, for small ones lose most, and what is left as smaller ones.
    ///
    /// # Errors
    /// As [`Profile::curve`].
    pub(super) fn compose(&self, steps: Steps) -> Result<Composition, Error> {
        let mut left = steps.0;
        let mut whole = Composition::new();
        let largest = self.blocks.first().map_or(1, |block| block.steps);
        let (count, part) = (steps.0.div_ceil(largest).max(1), (largest / PARTS).max(1));
        let parts = steps.0 / part;
        for (blocks, size) in
            [(parts % count, (parts / count + 1) * part), (count - parts % count, parts / count * part)]
        {
            let known = self.blocks.iter().find(|known| known.steps == size);
            if let Some(block) = known.filter(|_| blocks > 0 && blocks * size <= left) {
                whole = whole.and(block.curve()?, Steps(blocks));
                left -= blocks * size;
            }
        }
        for block in &self.blocks {
            if left >= block.steps {
                whole = whole.and(block.curve()?, Steps(left / block.steps));
                left %= block.steps;
            }
        }
        Ok(whole)
    }

    /// ε of `steps` steps, from above.
    pub(super) fn epsilon(&self, steps: Steps, delta: Delta) -> Result<f64, Error> {
        Ok(self.compose(steps)?.epsilon(delta, self.accuracy)?.upper)
    }

    /// δ of `steps` steps, from above.
    pub(super) fn delta(&self, steps: Steps, epsilon: Epsilon) -> Result<f64, Error> {
        Ok(self.compose(steps)?.delta(epsilon, self.accuracy)?.upper)
    }
}
