//! Checks that a record's term is its own, the lemma under every sensitivity proof, on made-up records.
//!
//! **Lemma (a record's term is its own).** What a likelihood writes for record i is a function of record i, of θ and of
//! public numbers alone: the same bits wherever the record stands, and whatever stands beside it.
//!
//! Every sensitivity proof uses it. A neighbouring change then moves one term of a sum and no other, and a bound on one
//! term, [`reach`](super::lattice::reach), bounds the move of the sum. A model that centred records by the mean of their
//! block would let one record move a thousand terms.
//!
//! Built-in models have the property by construction: they read and write column by column, record by record. No type can
//! hold a model of one's own to it, so each is tried: records made up from the public schema are evaluated as a whole
//! block, in reverse, one by one, and among other records. Where a bit differs the model is refused. That finds a mistake;
//! it does not prove the lemma, and does not withstand malice: a model is trusted code. Terms that barkeep writes itself,
//! coordinates, their products, centred scores and their bins, are tried in the same way.

use crate::error::question;
use crate::records::rows::Rows;
use crate::sums::coordinates::{Coordinate, Curve};
use crate::sums::lattice::{Columns, add_clipped};
use crate::sums::passes::Worker;
use crate::sums::scores::score_width;
use crate::sums::terms::Terms;
use crate::{Centre, Clip, Precondition, Refused, Term};
use barkeep_data::{Block, Column, Kind, Scale, Schema, Unit};
use barkeep_model::{Affine, CentredScore, Likelihood, Line, ScoreBlock, Sloped};

/// How many records are evaluated in each arrangement: vectors of the widest kind and a few more, fewer where terms are wide.
const MOST: usize = 131;
const FEWEST: usize = 11;
/// About as many numbers are written for an arrangement.
const WORK: usize = 1 << 15;
/// Records whose scores are centred over nodes of their response: each takes as long as a hundred others.
const SCORED: usize = 35;
/// Columns that are multiplied with each other, at most.
const MULTIPLIED: usize = 16;

/// Refuses a likelihood whose terms depend on where a record stands or on what stands beside it.
///
/// # Errors
/// [`Refused::Question`] if a bit differs.
pub(crate) fn check_own_terms(likelihood: &dyn Likelihood, schema: &Schema) -> Result<(), Refused> {
    let dimension = likelihood.dimension();
    let thetas = [0.5, 1.0 / 1024.0].map(|size| made_up_theta(dimension, size));
    let count = (WORK / score_width(dimension).max(1)).clamp(FEWEST, MOST);
    let records = MadeUp::new(schema, schema.width(), count);
    let scored = MadeUp::new(schema, schema.width(), count.min(SCORED));
    let public = Public::new(likelihood, schema);
    let mut worker = Worker::default();
    let [from, to] = &thetas;
    let log_ratio = |block: Block<'_>, worker: &mut Worker| {
        likelihood.log_ratio(block, from, to, worker.terms.sized(block.len()), &mut worker.scratch);
    };
    let mut own = records.agree(1, &mut worker, &log_ratio);
    let mut affine = Affine::default();
    if likelihood.affine_log_ratio(from, to, &mut affine) {
        // Some records of a table are asked in this form and some in the other.
        own &= records.are_written(&affine, &mut worker, &log_ratio);
    }
    for theta in &thetas {
        for term in public.every_term(theta) {
            // What a model does not have nobody can ask for.
            let Ok(terms) = Terms::new(term, likelihood, schema, Unit::Record) else { continue };
            if let Some((gram, one)) = terms.gram(Clip::UNIT) {
                own &= records.sums_agree(|block| {
                    worker.sums = vec![0; terms.width()];
                    gram.add(block, Clip::UNIT.get(), one, &mut worker);
                    worker.sums.clone()
                });
                continue;
            }
            let write = |block: Block<'_>, worker: &mut Worker| {
                terms.write(block, None, worker);
            };
            let records = match term {
                Term::Centred(_) | Term::Tail { .. } | Term::Shifted { centre: Centre::Expected, .. } => {
                    &scored
                }
                Term::Gradient { .. }
                | Term::Score { .. }
                | Term::Statistics
                | Term::Shifted { centre: Centre::Same(_), .. }
                | Term::Columns { .. }
                | Term::Gram { .. }
                | Term::Faults
                | Term::Program(_) => &records,
            };
            own &= records.agree(terms.width(), &mut worker, &write);
            let mut affine = Affine::default();
            own &= !terms.affine(&mut affine)
                || records.sums_agree(|block| affine_sums(&affine, block, &mut worker));
            own &= terms.sloped().is_none_or(|sloped| {
                records.sums_agree(|block| sloped_sums(&terms, sloped, block, &mut worker))
            });
        }
    }
    if own {
        Ok(())
    } else {
        Err(question(
            "model",
            "one whose term of a record depends on that record alone; among other records, or elsewhere in a block, this \
             model's differ",
        ))
    }
}

/// Public numbers that questions are made of: maps of every column, and matrices of a regression's size.
pub(crate) struct Public {
    powers: Vec<Coordinate>,
    products: Vec<Coordinate>,
    centres: Vec<f64>,
    spreads: Vec<f64>,
    whitening: Vec<f64>,
    /// Of the model's dimension.
    matrix: Vec<f64>,
}

/// Edges of the bins that are tried.
const EDGES: [f64; 4] = [0.3, 0.7, 1.5, 4.0];

impl Public {
    pub(crate) fn new(likelihood: &dyn Likelihood, schema: &Schema) -> Self {
        let width = schema.width();
        let lines: Vec<Coordinate> = schema
            .columns()
            .iter()
            .enumerate()
            .map(|(column, described)| {
                let length = described.range().1 - described.range().0;
                let scale = if length > 0.0 && length < ORDINARY { 1.9 / length } else { 0.2 };
                Coordinate { column, curve: Curve::Line, scale, shift: 0.1, squared: true }
            })
            .collect();
        let curves = lines.iter().flat_map(|line| {
            let other = (line.column + 1) % width.max(1);
            [
                Curve::Log { plus: 0.5 },
                Curve::Root,
                Curve::Share { column: Some(other), fixed: 0.0 },
                Curve::Share { column: None, fixed: 3.0 },
            ]
            .map(|curve| Coordinate { curve, squared: false, ..*line })
        });
        let products: Vec<Coordinate> = lines.iter().take(MULTIPLIED).copied().collect();
        let d = likelihood.regression().map_or(0, |regression| regression.parts().0);
        let matrix =
            |d: usize| (0..d * d).map(|k| if k % (d + 1) == 0 { 1.3 } else { 0.2 / d as f64 }).collect();
        Self {
            powers: lines.iter().copied().chain(curves).collect(),
            centres: vec![0.05; products.len()],
            // Some records lie within the radius and some beyond.
            spreads: vec![(products.len() as f64).sqrt(); products.len()],
            products,
            whitening: matrix(d),
            matrix: matrix(likelihood.dimension()),
        }
    }

    /// One term of each kind a sum can ask for, at θ: the list of what is tried. The match below names every kind, so that
    /// a new one is brought here.
    pub(crate) fn every_term<'a>(&'a self, theta: &'a [f64]) -> Vec<Term<'a>> {
        let coefficients = CentredScore {
            theta,
            block: ScoreBlock::Coefficients,
            whitening: &self.whitening,
            clip: 0.8 * (self.whitening.len().max(1) as f64).sqrt().sqrt(),
        };
        let nuisance =
            CentredScore { block: ScoreBlock::Nuisance, whitening: &[0.9], clip: 0.8, ..coefficients };
        let every = vec![
            Term::Gradient { theta, precondition: Precondition::Identity },
            Term::Score { theta, precondition: Precondition::Identity, weight: 0.125 },
            Term::Statistics,
            Term::Shifted {
                theta,
                precondition: Precondition::Identity,
                clip: 1.0,
                centre: Centre::Same(theta),
            },
            Term::Shifted {
                theta,
                precondition: Precondition::Dense(&self.matrix),
                clip: 0.8 * (theta.len() as f64).sqrt(),
                centre: Centre::Expected,
            },
            Term::Columns { coordinates: &self.powers, most_rows: None },
            Term::Columns { coordinates: &self.powers, most_rows: Some(3) },
            Term::Gram { coordinates: &self.products, centres: &self.centres, spreads: &self.spreads },
            Term::Centred(coefficients),
            Term::Centred(nuisance),
            Term::Tail { score: coefficients, edges: &EDGES },
            Term::Tail { score: nuisance, edges: &EDGES },
        ];
        for term in &every {
            match term {
                Term::Gradient { .. }
                | Term::Score { .. }
                | Term::Statistics
                | Term::Shifted { .. }
                | Term::Columns { .. }
                | Term::Gram { .. }
                | Term::Centred(_)
                | Term::Tail { .. } => {}
                // Counted as the records were read.
                Term::Faults => {}
                // A program's are each record's own by its construction.
                Term::Program(_) => {}
            }
        }
        every
    }
}

/// The integer sums of gradients that are computed as they are added.
fn affine_sums(affine: &Affine, block: Block<'_>, worker: &mut Worker) -> Vec<i64> {
    let width = affine.weights.len();
    let mut sums = vec![0; width];
    let gradients = Columns::new(Rows::Block(block), affine);
    add_clipped(&gradients, &mut worker.room_to_clip, &mut sums, Clip::UNIT);
    sums
}

/// The same of slopes times columns.
fn sloped_sums(terms: &Terms<'_>, sloped: Sloped, block: Block<'_>, worker: &mut Worker) -> Vec<i64> {
    worker.sums = vec![0; terms.width()];
    let mut line = Line::default();
    let on_line = terms.slope_line(&mut line);
    terms.add_sloped((sloped, on_line.then_some(&line)), Rows::Block(block), Clip::UNIT, worker);
    worker.sums.clone()
}

/// Records from nowhere, column by column: twice as many as are compared.
struct MadeUp {
    columns: Vec<Vec<f64>>,
    count: usize,
}

impl MadeUp {
    fn new(schema: &Schema, columns: usize, count: usize) -> Self {
        let columns = schema.columns().iter().take(columns).enumerate();
        let values = |(j, column): (usize, &Column)| {
            (0..2 * count).map(|i| made_up_value(column, i, j)).collect::<Vec<f64>>()
        };
        Self { columns: columns.map(values).collect(), count }
    }

    /// The records at these positions, in this order, and the distance between two columns.
    fn arranged(&self, positions: impl Iterator<Item = usize> + Clone) -> Vec<f64> {
        self.columns.iter().flat_map(|column| positions.clone().map(|i| column[i])).collect()
    }

    /// The arrangements, beside the records as they are: each with the place of record i, if it is in it.
    fn arrangements(&self) -> [(Vec<f64>, Place); 2] {
        let count = self.count;
        [
            (self.arranged((0..count).rev()), |i, count| Some(count - 1 - i)),
            (self.arranged((0..count).map(|i| if i % 2 == 0 { i } else { count + i })), |i, _| {
                (i % 2 == 0).then_some(i)
            }),
        ]
    }

    /// Whether every record has the same term, `width` numbers of it, in every arrangement.
    fn agree(&self, width: usize, worker: &mut Worker, write: &dyn Fn(Block<'_>, &mut Worker)) -> bool {
        let count = self.count;
        let values = self.arranged(0..count);
        let whole = Block::over(&values, count, count);
        write(whole, worker);
        let expected = worker.terms.to_vec();
        let arranged = self.arrangements().into_iter().all(|(values, place)| {
            write(Block::over(&values, count, count), worker);
            (0..count).filter_map(|i| place(i, count).map(|at| (i, at))).all(|(i, at)| {
                (0..width).all(|j| same(expected[j * count + i], worker.terms[j * count + at]))
            })
        });
        arranged
            && whole.tiles(1).enumerate().all(|(i, one)| {
                write(one, worker);
                (0..width).all(|j| same(expected[j * count + i], worker.terms[j]))
            })
    }

    /// Whether log-ratios of an affine form are those that are written.
    fn are_written(
        &self,
        affine: &Affine,
        worker: &mut Worker,
        write: &dyn Fn(Block<'_>, &mut Worker),
    ) -> bool {
        let values = self.arranged(0..self.count);
        write(Block::over(&values, self.count, self.count), worker);
        worker.terms.iter().enumerate().all(|(i, term)| {
            let terms = self.columns.iter().zip(affine.weights.iter().zip(&affine.centres));
            let read = terms.filter(|(_, (weight, _))| **weight != 0.0);
            same(*term, read.fold(0.0, |sum, (column, (w, centre))| w.mul_add(column[i] - centre, sum)))
        })
    }

    /// Whether the integer sums of every arrangement are those of its single records.
    fn sums_agree(&self, mut sum: impl FnMut(Block<'_>) -> Vec<i64>) -> bool {
        let count = self.count;
        let whole = (self.arranged(0..count), (|i, _| Some(i)) as Place);
        std::iter::once(whole).chain(self.arrangements()).all(|(values, _)| {
            let block = Block::over(&values, count, count);
            let mut singles = sum(block.part(0, 1));
            for one in block.tiles(1).skip(1) {
                singles.iter_mut().zip(sum(one)).for_each(|(total, share)| *total += share);
            }
            sum(block) == singles
        })
    }
}

/// Whether two terms have the same bits. What is not a number counts as 0, whatever its bits.
fn same(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan())
}

/// Where record i of a number of records stands.
type Place = fn(usize, usize) -> Option<usize>;

/// Columns longer than this have no bound worth the name, and get ordinary numbers.
const ORDINARY: f64 = 1e6;

/// A value that the column admits, by its record and its column: the ends of the range first, then any.
fn made_up_value(column: &Column, record: usize, place: usize) -> f64 {
    let (low, high) = column.range();
    let wide = high - low > ORDINARY;
    let (low, length) = if wide { ((-4.0_f64).clamp(low, high - 8.0), 8.0) } else { (low, high - low) };
    let share = match (record + place) % 16 {
        0 => 0.0,
        1 => 1.0,
        _ => scattered(record as u64, place as u64),
    };
    let value = low + share * length;
    match (column.kind(), column.scale()) {
        (Kind::Real { .. }, _) | (Kind::Integer { .. }, Scale::Bounds) => value,
        (Kind::Integer { .. }, Scale::None) | (Kind::Bool | Kind::Category { .. }, _) => value.round(),
    }
}

/// A state with coordinates within ±`size`.
pub(crate) fn made_up_theta(dimension: usize, size: f64) -> Vec<f64> {
    (0..dimension as u64).map(|j| size * (2.0 * scattered(j, u64::MAX) - 1.0)).collect()
}

/// A number in [0, 1) for each pair: the finalizer of SplitMix64 (Steele, Lea and Flood 2014).
fn scattered(a: u64, b: u64) -> f64 {
    let mut z = a.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ b.wrapping_mul(0xd1b5_4a32_d192_ed03);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests;
