//! Knows both neighbouring data sets, as an attacker may, and computes what each would answer to a question.

use crate::game::World;
use crate::scores;
use barkeep::Error;
use barkeep_accounting::Sampling;
use barkeep_curator::insecure::SharedTable;
use barkeep_curator::{Choose, Clip, Decide, Precondition, Sum, TableBuilder, Term};
use barkeep_data::{Block, Count, Schema, View};
use barkeep_model::{Likelihood, Scratch};
use barkeep_num::log_sum_exp;

/// Two neighbouring data sets: `others` equal records, and one that differs or is missing in the second.
#[derive(Debug, Clone)]
pub(crate) struct Pair {
    /// The record that only the first data set holds.
    pub(crate) first: Vec<f64>,
    /// What the second holds in its place; nothing where neighbours add or remove.
    pub(crate) second: Option<Vec<f64>>,
    /// Each of the other records.
    pub(crate) other: Vec<f64>,
    /// How many others there are.
    pub(crate) others: u64,
    /// What is publicly known of them all.
    pub(crate) schema: Schema,
}

/// What a record adds to a log-ratio, clipped, for each kind of record.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ratios {
    worlds: [f64; 2],
    other: f64,
}

impl Pair {
    /// The two tables. The one record comes first.
    pub(crate) fn tables(&self) -> Result<[SharedTable; 2], Error> {
        let table = |record: Option<&Vec<f64>>| {
            let others = usize::try_from(self.others).unwrap_or(usize::MAX);
            let count = Count::About(others + 1);
            let mut builder = TableBuilder::viewed(View::all(self.schema.clone()), count)?;
            if let Some(record) = record {
                builder.push_row(record)?;
            }
            for _ in 0..others {
                builder.push_row(&self.other)?;
            }
            builder.finish().map(SharedTable::from)
        };
        Ok([table(Some(&self.first))?, table(self.second.as_ref())?])
    }

    /// Every record's share of the log-ratio asked for.
    pub(crate) fn ratios(
        &self,
        likelihood: &dyn Likelihood,
        asked: &Decide<'_>,
        scratch: &mut Scratch,
    ) -> Ratios {
        let mut share = |record: &[f64]| log_ratio(likelihood, record, asked, scratch);
        let first = share(&self.first);
        let second = self.second.as_ref().map_or(0.0, |second| share(second));
        let other = if self.others == 0 { 0.0 } else { share(&self.other) };
        Ratios { worlds: [first, second], other }
    }

    /// Every record's share of the sum asked for.
    pub(crate) fn terms(&self, likelihood: &dyn Likelihood, asked: &Sum<'_>, scratch: &mut Scratch) -> Terms {
        let mut share = |record: &[f64]| term(likelihood, &self.schema, record, asked, scratch);
        let first = share(&self.first);
        let nothing = || vec![0.0; first.len()];
        let second = self.second.as_ref().map_or_else(nothing, |second| share(second));
        let other = if self.others == 0 { nothing() } else { share(&self.other) };
        Terms { worlds: [first, second], other, others: self.others, absent: self.second.is_none() }
    }

    /// ln of each candidate's probability in a world.
    pub(crate) fn choice(
        &self,
        world: World,
        likelihood: &dyn Likelihood,
        asked: &Choose<'_>,
        scratch: &mut Scratch,
    ) -> Vec<f64> {
        let mut weights = asked.offsets.to_vec();
        let own = if world == World::First { Some(&self.first) } else { self.second.as_ref() };
        let mut add = |record: &[f64], times: f64| {
            let shares = shares(likelihood, record, asked, scratch);
            weights.iter_mut().zip(shares).for_each(|(weight, share)| *weight += times * asked.power * share);
        };
        own.into_iter().for_each(|own| add(own, 1.0));
        if self.others > 0 {
            add(&self.other, self.others as f64);
        }
        let total = log_sum_exp(&weights);
        weights.into_iter().map(|weight| weight - total).collect()
    }

    /// λ without its offset where all records are asked, or the one that differs is in the batch.
    fn log_ratio(&self, world: World, ratios: Ratios, asked: &Decide<'_>) -> f64 {
        let own = ratios.worlds[world.index()];
        match asked.batch {
            Sampling::WithoutReplacement { batch, records } => {
                scale(asked, batch, records) * ((batch as f64 - 1.0) * ratios.other + own)
            }
            Sampling::Full | Sampling::Poisson { .. } => {
                asked.temper.get() * (self.others as f64 * ratios.other + own)
            }
        }
    }

    /// The middle between the two worlds' log-ratios without offset, and the distance from the first to the second.
    pub(crate) fn span(&self, ratios: Ratios, asked: &Decide<'_>) -> (f64, f64) {
        let [first, second] = World::BOTH.map(|world| self.log_ratio(world, ratios, asked));
        (0.5 * (first + second), second - first)
    }

    /// The probability that a question with this offset is answered yes.
    pub(crate) fn acceptance(&self, world: World, ratios: Ratios, asked: &Decide<'_>, offset: f64) -> f64 {
        let inside = self.log_ratio(world, ratios, asked) + offset;
        match asked.batch {
            Sampling::WithoutReplacement { batch, records } => {
                let (b, scale) = (batch as f64, scale(asked, batch, records));
                let apart = ratios.worlds[world.index()] - ratios.other;
                // (nT)²/b times the variance of one value among b − 1 equal ones.
                let variance = b * scale * scale * (b - 1.0) / (b * b) * apart * apart;
                let rate = b / records as f64;
                let outside = scale * b * ratios.other + offset;
                rate * asked.rule.coin(inside, variance).accept()
                    + (1.0 - rate) * asked.rule.coin(outside, 0.0).accept()
            }
            // Decisions on Poisson batches are refused; there is nothing to distinguish.
            Sampling::Poisson { .. } => 0.5,
            Sampling::Full => asked.rule.coin(inside, 0.0).accept(),
        }
    }
}

/// nT/b.
fn scale(asked: &Decide<'_>, batch: u64, records: u64) -> f64 {
    records as f64 * asked.temper.get() / batch as f64
}

/// What a record adds to a sum, clipped, for each kind of record.
pub(crate) struct Terms {
    worlds: [Vec<f64>; 2],
    other: Vec<f64>,
    others: u64,
    absent: bool,
}

impl Terms {
    /// ln of the density of an answer in a world, up to a constant of both.
    pub(crate) fn log_density(&self, world: World, asked: &Sum<'_>, answer: &[f64]) -> f64 {
        let here = !(self.absent && world == World::Second);
        let own = &self.worlds[world.index()];
        // Each way the batch can fall: its probability, how many others are in it, whether the one is.
        let ways: Vec<(f64, f64, f64)> = match asked.batch {
            Sampling::Full => vec![(1.0, self.others as f64, 1.0)],
            Sampling::WithoutReplacement { batch, records } => {
                let (b, rate) = (batch as f64, batch as f64 / records as f64);
                vec![(rate, b - 1.0, 1.0), (1.0 - rate, b, 0.0)]
            }
            Sampling::Poisson { rate } => {
                let rate = rate.get();
                let others: &[(f64, f64)] =
                    if self.others == 0 { &[(1.0, 0.0)] } else { &[(rate, 1.0), (1.0 - rate, 0.0)] };
                let own: &[(f64, f64)] = if here { &[(rate, 1.0), (1.0 - rate, 0.0)] } else { &[(1.0, 0.0)] };
                let pairs = others.iter().flat_map(|(p, m)| own.iter().map(move |(q, k)| (p * q, *m, *k)));
                pairs.collect()
            }
        };
        let terms: Vec<f64> = ways
            .iter()
            .map(|&(probability, others, one)| {
                let squares: f64 = answer
                    .iter()
                    .zip(own)
                    .zip(&self.other)
                    .enumerate()
                    .map(|(entry, ((answer, own), other))| {
                        let mean = asked.temper.get() * (others * other + one * own);
                        scores::precision(asked, entry) * (answer - mean) * (answer - mean)
                    })
                    .sum();
                probability.ln() - squares / (2.0 * asked.sigma * asked.sigma)
            })
            .collect();
        log_sum_exp(&terms)
    }
}

/// A record's log-ratio, clipped.
pub(crate) fn log_ratio(
    likelihood: &dyn Likelihood,
    record: &[f64],
    asked: &Decide<'_>,
    scratch: &mut Scratch,
) -> f64 {
    let mut out = [0.0];
    likelihood.log_ratio(Block::over(record, 1, 1), asked.from, asked.to, &mut out, scratch);
    let bound = asked.clip.get();
    if out[0].is_nan() { 0.0 } else { out[0].clamp(-bound, bound) }
}

/// A record's log-ratios from the reference to each candidate, cut to the range.
pub(crate) fn shares(
    likelihood: &dyn Likelihood,
    record: &[f64],
    asked: &Choose<'_>,
    scratch: &mut Scratch,
) -> Vec<f64> {
    let mut out = [0.0];
    let (low, high) = asked.range;
    asked
        .candidates
        .chunks_exact(likelihood.dimension())
        .map(|candidate| {
            likelihood.log_ratio(Block::over(record, 1, 1), asked.reference, candidate, &mut out, scratch);
            if out[0].is_nan() { 0.5 * (low + high) } else { out[0].clamp(low, high) }
        })
        .collect()
}

/// A record's term of a sum, clipped: its gradient, preconditioned, with its squares or without, or its statistics.
pub(crate) fn term(
    likelihood: &dyn Likelihood,
    schema: &Schema,
    record: &[f64],
    asked: &Sum<'_>,
    scratch: &mut Scratch,
) -> Vec<f64> {
    let dimension = likelihood.dimension();
    let block = Block::over(record, 1, 1);
    let mut out = vec![0.0; dimension];
    match asked.term {
        Term::Gradient { theta, precondition } => {
            gradient(likelihood, block, (theta, precondition), &mut out, scratch)
        }
        Term::Score { theta, precondition, weight } => {
            gradient(likelihood, block, (theta, precondition), &mut out, scratch);
            for j in 0..dimension {
                for k in j..dimension {
                    // Both of a symmetric pair in one entry.
                    let pair = if j == k { 1.0 } else { std::f64::consts::SQRT_2 };
                    out.push(weight * pair * out[j] * out[k]);
                }
            }
        }
        Term::Statistics => match likelihood.record_statistics(schema) {
            Ok(statistics) => {
                out.resize(statistics.width(), 0.0);
                statistics.write(block, &mut out);
            }
            // The curator refuses the question for the same reason.
            Err(_) => out.clear(),
        },
        Term::Columns { coordinates } => out = scores::powers(coordinates, record),
        Term::Gram { coordinates, centres, spreads } => {
            return scores::products(coordinates, (centres, spreads), asked.clip.get(), record);
        }
        Term::Centred(score) => out = scores::score(likelihood, schema, record, score, None, scratch),
        Term::Tail { score, edges } => {
            out = scores::score(likelihood, schema, record, score, Some(edges), scratch);
        }
        Term::Shifted { theta, precondition, clip, centre } => {
            gradient(likelihood, block, (theta, precondition), &mut out, scratch);
            let norm = out.iter().map(|term| term * term).sum::<f64>().sqrt();
            let factor = if norm.is_finite() { (clip / norm).min(1.0) } else { 0.0 };
            out.iter_mut().zip(centre).for_each(|(term, centre)| *term = *term * factor - centre);
        }
    }
    clipped(out, asked.clip)
}

/// A record's preconditioned gradient.
fn gradient(
    likelihood: &dyn Likelihood,
    block: Block<'_>,
    (theta, precondition): (&[f64], Precondition<'_>),
    out: &mut Vec<f64>,
    scratch: &mut Scratch,
) {
    likelihood.gradient(block, theta, out, scratch);
    match precondition {
        Precondition::Identity => {}
        Precondition::Diagonal(entries) => {
            out.iter_mut().zip(entries).for_each(|(term, entry)| *term *= entry);
        }
        Precondition::Dense(matrix) => {
            let row = |row: &[f64]| row.iter().zip(&*out).map(|(entry, term)| entry * term).sum();
            *out = matrix.chunks_exact(likelihood.dimension()).map(row).collect();
        }
    }
}

fn clipped(mut vector: Vec<f64>, clip: Clip) -> Vec<f64> {
    let norm = vector.iter().map(|term| term * term).sum::<f64>().sqrt();
    if !norm.is_finite() {
        vector.fill(0.0);
    } else if norm > clip.get() {
        vector.iter_mut().for_each(|term| *term *= clip.get() / norm);
    }
    vector
}
