//! Bounds the best adaptive attack from below: attacks that can be carried out, found by the same dynamic program.
//!
//! For each node x_i = e^{ih} a test is kept by its two rates: it says "P" with probability α under P and β under Q, so
//! F_j(x) ≥ α − xβ for **every** x. One step earlier the adversary flips a coin pair and then plays the test kept at the node
//! nearest to where the outcome leads; the rates combine linearly. Stored are α rounded down and b = x_i·β rounded
//! up. Left of x = 1 the adversary, with P and Q exchanged, says "P" where the mirrored test does not: rates (1 − β, 1 − α).
//! Nodes beyond the grid keep the test that never says "P".

use super::pair::Pair;
use barkeep_num::vector;

/// 2^−48, 32 units of rounding: one step costs at most 16.
const ROOM: f64 = 1.0 / (1_u64 << 48) as f64;

/// Outcomes further than this many nodes are not tried.
const FURTHEST: f64 = 16_384.0;

/// Nodes worked on together, so that a piece of every array stays in the first cache.
const CHUNK: usize = 512;

/// A reachable pair: where its outcomes lead on the grid, and their weights in α and in b.
#[derive(Clone)]
struct Move {
    left: usize,
    right: usize,
    hit_weights: (f64, f64),
    alarm_weights: (f64, f64),
}

impl Move {
    fn new(pair: Pair, step: f64) -> Option<Self> {
        let left = (pair.toward / step).round();
        let right = (pair.away / step).round();
        if !(left < FURTHEST && right < FURTHEST) {
            return None;
        }
        let (toward, away) = pair.masses();
        // x_i·β = (x_i/x_a)(q/p)·p·b_a; the distances are differences of numbers of the size of the ratios.
        let room = 1.0 + ROOM + f64::EPSILON * (pair.toward + pair.away);
        let on_left = libm::exp(left * step - pair.toward) * room;
        let on_right = libm::exp(pair.away - right * step) * room;
        Some(Self {
            left: left as usize,
            right: right as usize,
            hit_weights: (toward * (1.0 - ROOM), away * (1.0 - ROOM)),
            alarm_weights: (toward * on_left, away * on_right),
        })
    }

    /// Replaces those of the first `count` tests, which start at place `origin` of the padded arrays, that this move beats.
    #[inline(always)]
    fn improve(&self, best: &mut Tests, count: usize, hits: &[f64], alarms: &[f64], origin: usize) {
        let (left, right) = (origin - self.left, origin + self.right);
        let (left_hits, left_alarms) = (&hits[left..left + count], &alarms[left..left + count]);
        let (right_hits, right_alarms) = (&hits[right..right + count], &alarms[right..right + count]);
        let (best_hits, best_alarms) = (&mut best.hits[..count], &mut best.alarms[..count]);
        for i in 0..count {
            let hit = self.hit_weights.0 * left_hits[i] + self.hit_weights.1 * right_hits[i];
            let alarm = self.alarm_weights.0 * left_alarms[i] + self.alarm_weights.1 * right_alarms[i];
            let wins = hit - alarm > best_hits[i] - best_alarms[i];
            best_hits[i] = if wins { hit } else { best_hits[i] };
            best_alarms[i] = if wins { alarm } else { best_alarms[i] };
        }
    }
}

/// The tests of one chunk, on the stack, so that the compiler sees that no input overlaps them.
struct Tests {
    hits: [f64; CHUNK],
    alarms: [f64; CHUNK],
}

/// The running bound: one attack of j steps for each node.
#[derive(Clone)]
pub(super) struct Lower {
    moves: Vec<Move>,
    reach: (usize, usize),
    /// e^{−gh}, rounded up, for g = 0, 1, …, up to the reach to the left.
    decays: Vec<f64>,
    /// α and b = x_i·β at the nodes kept.
    hits: Vec<f64>,
    alarms: Vec<f64>,
    padded_hits: Vec<f64>,
    padded_alarms: Vec<f64>,
}

impl Lower {
    pub(super) fn new(reachable: &[Pair], step: f64) -> Self {
        let moves: Vec<Move> = reachable.iter().filter_map(|&pair| Move::new(pair, step)).collect();
        let left = moves.iter().map(|m| m.left).max().unwrap_or(0);
        let right = moves.iter().map(|m| m.right).max().unwrap_or(0);
        let rounded_up = |exponent: f64| libm::exp(-exponent) * (1.0 + ROOM * (1.0 + exponent));
        let decays = (0..=left).map(|g| rounded_up(g as f64 * step)).collect();
        let (hits, alarms) = (vec![0.0], vec![0.0]);
        let (padded_hits, padded_alarms) = (Vec::new(), Vec::new());
        Self { moves, reach: (left, right), decays, hits, alarms, padded_hits, padded_alarms }
    }

    /// Takes one more step, keeping `nodes` nodes; returns the number of moves tried.
    pub(super) fn advance(&mut self, nodes: usize) -> u64 {
        let (left, right) = self.reach;
        self.padded_hits.clear();
        self.padded_alarms.clear();
        for g in (1..=left).rev() {
            let decay = self.decays[g];
            let hit = self.hits.get(g).copied().unwrap_or(0.0);
            let alarm = self.alarms.get(g).copied().unwrap_or(0.0);
            // Absolute room for the subtractions, relative room for the products.
            self.padded_hits.push((1.0 - decay * alarm - f64::EPSILON).max(0.0));
            self.padded_alarms.push((1.0 - hit + f64::EPSILON) * decay);
        }
        self.padded_hits.extend_from_slice(&self.hits);
        self.padded_alarms.extend_from_slice(&self.alarms);
        let length = left + nodes.max(self.hits.len()) + right;
        self.padded_hits.resize(length, 0.0);
        self.padded_alarms.resize(length, 0.0);
        self.hits.resize(nodes, 0.0);
        self.alarms.resize(nodes, 0.0);
        let chunks = self.hits.chunks_mut(CHUNK).zip(self.alarms.chunks_mut(CHUNK));
        for (chunk, (hits, alarms)) in chunks.enumerate() {
            let count = hits.len();
            let mut best = Tests { hits: [0.0; CHUNK], alarms: [0.0; CHUNK] };
            best.hits[..count].copy_from_slice(hits);
            best.alarms[..count].copy_from_slice(alarms);
            let (all_hits, all_alarms) = (&self.padded_hits[..], &self.padded_alarms[..]);
            vector::dispatch(
                #[inline(always)]
                || {
                    for step in &self.moves {
                        step.improve(&mut best, count, all_hits, all_alarms, left + chunk * CHUNK);
                    }
                },
            );
            hits.copy_from_slice(&best.hits[..count]);
            alarms.copy_from_slice(&best.alarms[..count]);
        }
        (nodes * self.moves.len()) as u64
    }

    /// α and b = x_i·β of the attacks found.
    pub(super) fn tests(&self) -> (&[f64], &[f64]) {
        (&self.hits, &self.alarms)
    }
}
