//! Knows both neighbouring data sets, as an attacker may, and computes what each would answer to a question.

use crate::game::World;
use crate::plain;
use barkeep::Error;
use barkeep_accounting::Sampling;
use barkeep_curator::insecure::SharedTable;
use barkeep_curator::{Choose, Decide, PersonsBuilder, Sum, TableBuilder, Term};
use barkeep_data::{Column, Count, Schema, Unit, View};
use barkeep_num::log_sum_exp;
use std::sync::{Mutex, PoisonError};

/// What one record says, or all rows of one person.
pub(crate) type Rows = Vec<Vec<f64>>;

/// Two neighbouring data sets: `others` equal records, a company of different ones, and one that differs or is missing in the
/// second. Where rows belong to persons, each of them is a person.
#[derive(Debug)]
pub(crate) struct Pair {
    /// The record that only the first data set holds.
    pub(crate) first: Rows,
    /// What the second holds in its place; nothing where neighbours add or remove.
    pub(crate) second: Option<Rows>,
    /// Each of the other records.
    pub(crate) other: Rows,
    /// How many others there are.
    pub(crate) others: u64,
    /// Records that differ from each other. Only questions that ask all records may be asked then.
    pub(crate) company: Company,
    /// What a neighbouring data set differs in.
    pub(crate) unit: Unit,
    /// What is publicly known of them all.
    pub(crate) schema: Schema,
}

/// Records of varied content around the one that differs.
#[derive(Debug, Default)]
pub(crate) struct Company {
    members: Vec<Rows>,
    /// What they add to the question asked last, by the bytes of its programs and its clip.
    last: Mutex<Option<(Vec<u8>, Vec<f64>)>>,
}

impl Company {
    /// Of these records.
    pub(crate) fn of(members: Vec<Rows>) -> Self {
        Self { members, last: Mutex::default() }
    }

    /// What all members add to a question that depends on `key`, one after the other in f64: not the curator's arithmetic.
    fn share(&self, key: Vec<u8>, width: usize, mut each: impl FnMut(&[Vec<f64>]) -> Vec<f64>) -> Vec<f64> {
        if self.members.is_empty() {
            return vec![0.0; width];
        }
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        match &*last {
            Some((known, share)) if *known == key => share.clone(),
            _ => {
                let mut share = vec![0.0; width];
                for member in &self.members {
                    share.iter_mut().zip(each(member)).for_each(|(sum, term)| *sum += term);
                }
                *last = Some((key, share.clone()));
                share
            }
        }
    }
}

/// What a record adds to a log-ratio, clipped, for each kind of record, and what the company adds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ratios {
    worlds: [f64; 2],
    other: f64,
    company: f64,
}

impl Pair {
    /// The two tables. The one record stands in the middle of its company, before the others; a person's first row does, and
    /// the rest at the end.
    pub(crate) fn tables(&self) -> Result<[SharedTable; 2], Error> {
        let table = |record: Option<&Rows>| -> Result<SharedTable, Error> {
            let (before, after) = self.company.members.split_at(self.company.members.len() / 2);
            let others = (0..self.others).map(|_| &self.other);
            let all: Vec<&Rows> = before.iter().chain(record).chain(after).chain(others).collect();
            let view = View::all(self.schema.clone());
            let count = match self.second {
                Some(_) => Count::Exactly(all.len()),
                None => Count::About(all.len().max(1)),
            };
            let built = match self.unit {
                Unit::Record => {
                    let mut builder = TableBuilder::viewed(view, count)?;
                    all.iter().flat_map(|rows| rows.iter()).try_for_each(|row| builder.push_row(row))?;
                    builder.finish()?
                }
                Unit::Person { most_rows } => {
                    let mut builder = PersonsBuilder::new(view, count, most_rows)?;
                    let longest = all.iter().map(|rows| rows.len()).max().unwrap_or(0);
                    for round in 0..longest {
                        for (who, rows) in all.iter().enumerate() {
                            if let Some(row) = rows.get(round) {
                                builder.push_row(&who.to_string(), row)?;
                            }
                        }
                    }
                    builder.finish()?
                }
            };
            Ok(SharedTable::from(built))
        };
        Ok([table(Some(&self.first))?, table(self.second.as_ref())?])
    }

    /// Every record's share of the log-ratio asked for.
    pub(crate) fn ratios(&self, asked: &Decide<'_>) -> Ratios {
        let share = |rows: &[Vec<f64>]| log_ratio(rows, asked);
        let first = share(&self.first);
        let second = self.second.as_ref().map_or(0.0, |second| share(second));
        let other = if self.others == 0 { 0.0 } else { share(&self.other) };
        let mut key = asked.ratio.to_bytes();
        key.extend(asked.clip.get().to_bits().to_le_bytes());
        let company = self.company.share(key, 1, |rows| vec![share(rows)]);
        Ratios { worlds: [first, second], other, company: company[0] }
    }

    /// Every record's share of the sum asked for.
    pub(crate) fn terms(&self, asked: &Sum<'_>) -> Terms {
        let mut share = |rows: &[Vec<f64>]| term(&self.schema, rows, asked);
        let first = share(&self.first);
        let nothing = || vec![0.0; first.len()];
        let second = self.second.as_ref().map_or_else(nothing, |second| share(second));
        let other = if self.others == 0 { nothing() } else { share(&self.other) };
        let mut key = match asked.term {
            Term::Program(asked) => asked.term.to_bytes(),
            Term::Faults => Vec::new(),
        };
        key.extend(asked.clip.get().to_bits().to_le_bytes());
        let company = self.company.share(key, first.len(), &mut share);
        let (others, absent) = (self.others, self.second.is_none());
        Terms { worlds: [first, second], other, others, company, absent }
    }

    /// ln of each candidate's probability in a world.
    pub(crate) fn choice(&self, world: World, asked: &Choose<'_>) -> Vec<f64> {
        let mut weights = asked.offsets.to_vec();
        let own = if world == World::First { Some(&self.first) } else { self.second.as_ref() };
        let mut add = |rows: &[Vec<f64>], times: f64| {
            let shares = shares(rows, asked);
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
                asked.temper.get() * (self.others as f64 * ratios.other + ratios.company + own)
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
    company: Vec<f64>,
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
                    .zip(self.other.iter().zip(&self.company))
                    .enumerate()
                    .map(|(entry, ((answer, own), (other, company)))| {
                        let mean = asked.temper.get() * (others * other + company + one * own);
                        plain::precision(asked, entry) * (answer - mean) * (answer - mean)
                    })
                    .sum();
                probability.ln() - squares / (2.0 * asked.sigma * asked.sigma)
            })
            .collect();
        log_sum_exp(&terms)
    }
}

/// The log-ratio of a record, or of a person's rows together, clipped.
pub(crate) fn log_ratio(rows: &[Vec<f64>], asked: &Decide<'_>) -> f64 {
    let (bound, ratio) = (asked.clip.get(), plain::sum(asked.ratio, rows));
    if ratio.is_nan() { 0.0 } else { ratio.clamp(-bound, bound) }
}

/// The log-ratios of a record, or of a person's rows together, to each candidate, cut to the range.
pub(crate) fn shares(rows: &[Vec<f64>], asked: &Choose<'_>) -> Vec<f64> {
    let (low, high) = asked.range;
    let cut = |ratio: f64| if ratio.is_nan() { 0.5 * (low + high) } else { ratio.clamp(low, high) };
    asked.ratios.iter().map(|program| cut(plain::sum(program, rows))).collect()
}

/// The term of a record in a sum, or of a person's rows together, cut to its shape; or the share of bad cells.
pub(crate) fn term(schema: &Schema, rows: &[Vec<f64>], asked: &Sum<'_>) -> Vec<f64> {
    match asked.term {
        Term::Program(program) => plain::term(program, rows, asked.clip.get()),
        // Half a cell is taken off each of the two numbers of a column; a person's is the mean over rows.
        Term::Faults => {
            let fault = |column: &Column, value: f64| match (value.is_nan(), column.bounds()) {
                (true, _) => [0.5, -0.5],
                (false, Some((min, max))) if value < min || value > max => [-0.5, 0.5],
                (false, _) => [-0.5, -0.5],
            };
            let mut out = vec![0.0; 2 * schema.width()];
            for row in rows {
                let noted =
                    schema.columns().iter().zip(row).flat_map(|(column, value)| fault(column, *value));
                out.iter_mut().zip(noted).for_each(|(sum, noted)| *sum += noted / rows.len() as f64);
            }
            out
        }
    }
}
