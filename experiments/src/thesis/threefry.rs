//! Draws the normal numbers that the thesis' code drew from its fixed keys: JAX's generator, Threefry-2x32 of Salmon et al. 2011.
//!
//! Its records, starts and exact draws can so be made again from a handful of seeds. Public numbers throughout; nothing here is
//! used to protect anyone.

use barkeep::num::normal_quantile;

/// Rotations of four rounds each, in turn.
const ROTATIONS: [[u32; 4]; 2] = [[13, 15, 26, 6], [17, 29, 16, 24]];

/// What the third word of the key is made with.
const PARITY: u32 = 0x1BD1_1BDA;

/// A key: what a seed becomes, and what keys are split into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Key([u32; 2]);

impl Key {
    /// The key of a seed.
    #[expect(clippy::cast_possible_truncation, reason = "the two halves of a seed")]
    pub(crate) fn new(seed: u64) -> Self {
        Self([(seed >> 32) as u32, seed as u32])
    }

    /// Twenty rounds on one block.
    fn block(self, mut x: [u32; 2]) -> [u32; 2] {
        let [first, second] = self.0;
        let words = [first, second, first ^ second ^ PARITY];
        let add = |x: [u32; 2], turn: usize| {
            [x[0].wrapping_add(words[turn % 3]), x[1].wrapping_add(words[(turn + 1) % 3])]
        };
        x = add(x, 0);
        for (turn, count) in (1..=5_u32).enumerate() {
            for rotation in ROTATIONS[turn % 2] {
                x[0] = x[0].wrapping_add(x[1]);
                x[1] = x[1].rotate_left(rotation) ^ x[0];
            }
            x = add(x, turn + 1);
            x[1] = x[1].wrapping_add(count);
        }
        x
    }

    /// The first words of the stream of an even number of words: counters are encrypted in pairs, one from each half.
    fn words(self, half: u32) -> (Vec<u32>, Vec<u32>) {
        (0..half).map(|counter| self.block([counter, counter + half])).map(|[a, b]| (a, b)).unzip()
    }

    /// As many keys.
    pub(crate) fn split<const N: usize>(self) -> [Self; N] {
        let (first, second) = self.words(u32::try_from(N).unwrap_or(0));
        let all: Vec<u32> = first.into_iter().chain(second).collect();
        std::array::from_fn(|index| Self([all[2 * index], all[2 * index + 1]]))
    }

    /// Standard normal numbers, as many as asked for: the stream depends on how many that is.
    pub(crate) fn normals(self, count: usize) -> Vec<f64> {
        let (high, low) = self.words(u32::try_from(count).unwrap_or(u32::MAX));
        let normal = |(high, low): (u32, u32)| {
            let bits = u64::from(high) << 32 | u64::from(low);
            // 52 bits after the point of a number in [1, 2), then spread over (−1, 1).
            let unit = f64::from_bits(bits >> 12 | 1.0_f64.to_bits()) - 1.0;
            let least = -1.0 + 0.5 * f64::EPSILON;
            let spread = (unit * (1.0 - least) + least).max(least);
            normal_quantile(0.5 * (spread + 1.0))
        };
        high.into_iter().zip(low).map(normal).collect()
    }
}
