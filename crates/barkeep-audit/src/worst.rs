//! Chooses the two neighbouring records a sampler's questions distinguish best, among the corners of the public bounds.

use crate::pair::{Company, Pair, Rows, log_ratio, shares, term};
use barkeep::Error;
use barkeep::PublicRng;
use barkeep::plan::Plan;
use barkeep::run::rehearse::Rehearsal;
use barkeep::spec::Privacy;
use barkeep_accounting::{Neighbours, Sampling};
use barkeep_curator::{Ask, Choose, Decide, Refused, Sum};
use barkeep_data::{Schema, Unit};

/// Questions overheard before the records are chosen.
const OVERHEARD: usize = 48;

/// Corners of the bounds that are considered: all of them up to seven columns. Beyond, this number whose columns go up and
/// down independently of each other, and those where one column goes alone.
const CORNERS: u64 = 128;

/// Rows of an attacked person, where the spec does not bound them, and the most it is given.
const ROWS: u64 = 5;
const MOST_ROWS: usize = 64;

/// The worst pair found for a plan: each candidate's answers to a chain's first questions are compared.
///
/// # Errors
/// Those of the chain; a plan without a budget has nothing to audit.
pub(crate) fn worst_pair(plan: &Plan, schema: &Schema, seed: u64) -> Result<Pair, Error> {
    let Privacy::Budget { neighbours, .. } = plan.spec().privacy() else {
        return Err(crate::nothing_to_audit());
    };
    let unit = plan.spec().data().unit();
    let rows = match unit {
        Unit::Record => 1,
        Unit::Person { most_rows } => usize::try_from(most_rows.unwrap_or(ROWS)).unwrap_or(1).min(MOST_ROWS),
    };
    // A whole person is attacked: all rows at one corner.
    let candidates: Vec<Rows> = corners(schema).into_iter().map(|corner| vec![corner; rows]).collect();
    let mut rng = PublicRng::new(seed, u64::MAX);
    let mut ear = Ear {
        schema,
        candidates: &candidates,
        heard: Vec::new(),
        batch: Sampling::Full,
        rng: PublicRng::new(seed, u64::MAX - 1),
    };
    match Rehearsal::of(plan).perform(0, &mut ear, &mut rng) {
        Ok(()) | Err(Error::Refused(Refused::Exhausted)) => {}
        Err(error) => return Err(error),
    }
    let (heard, batch) = (ear.heard, ear.batch);
    let apart = |i: usize, j: Option<usize>| -> f64 {
        heard
            .iter()
            .map(|question| {
                let other = |k: usize| j.map_or(0.0, |j| question[j][k]);
                question[i].iter().enumerate().map(|(k, share)| (share - other(k)).powi(2)).sum::<f64>()
            })
            .sum()
    };
    let all = 0..candidates.len();
    let best = match neighbours {
        Neighbours::Substitute => all
            .clone()
            .flat_map(|i| all.clone().map(move |j| (i, Some(j))))
            .max_by(|a, b| apart(a.0, a.1).total_cmp(&apart(b.0, b.1))),
        Neighbours::AddRemove => {
            all.clone().map(|i| (i, None)).max_by(|a, b| apart(a.0, None).total_cmp(&apart(b.0, None)))
        }
    };
    let (first, second) = best.unwrap_or((0, None));
    // On a batch the others equal the second's record, so that its world looks the same whoever is drawn.
    let (other, others) = match (batch, second) {
        (Sampling::WithoutReplacement { records, .. }, Some(second)) => (second, records - 1),
        (_, Some(second)) => (second, 0),
        // A table is never empty; the record both hold is the one that says least.
        (_, None) => (all.min_by(|a, b| apart(*a, None).total_cmp(&apart(*b, None))).unwrap_or(0), 1),
    };
    Ok(Pair {
        first: candidates[first].clone(),
        second: second.map(|second| candidates[second].clone()),
        other: candidates[other].clone(),
        others,
        company: Company::default(),
        unit,
        schema: schema.clone(),
    })
}

/// Corners of the box of values a model can see, and its centre.
fn corners(schema: &Schema) -> Vec<Vec<f64>> {
    let ranges: Vec<(f64, f64)> = schema.columns().iter().map(|column| column.range()).collect();
    let width = ranges.len();
    let at = |high: &dyn Fn(usize) -> bool| -> Vec<f64> {
        ranges
            .iter()
            .enumerate()
            .map(|(column, (least, most))| if high(column) { *most } else { *least })
            .collect()
    };
    let mut corners: Vec<Vec<f64>> = if CORNERS.checked_ilog2().is_some_and(|bits| width <= bits as usize) {
        (0..1_u64 << width).map(|number| at(&|column| number >> column & 1 == 1)).collect()
    } else {
        let mut rng = PublicRng::new(CORNERS, width as u64);
        let drawn = (0..CORNERS).map(|_| (0..width).map(|_| rng.uniform() < 0.5).collect::<Vec<bool>>());
        let drawn: Vec<Vec<f64>> = drawn.map(|high| at(&|column| high[column])).collect();
        let alone = (0..width).flat_map(|one| [at(&|column| column == one), at(&|column| column != one)]);
        [at(&|_| true), at(&|_| false)].into_iter().chain(drawn).chain(alone).collect()
    };
    corners.push(ranges.iter().map(|(low, high)| 0.5 * low + 0.5 * high).collect());
    corners
}

/// Hears questions and answers at random, so that a chain goes somewhere.
struct Ear<'a> {
    schema: &'a Schema,
    candidates: &'a [Rows],
    /// For each question, each candidate's share in units of the clip bound.
    heard: Vec<Vec<Vec<f64>>>,
    batch: Sampling,
    rng: PublicRng,
}

impl Ear<'_> {
    fn hear(
        &mut self,
        batch: Sampling,
        bound: f64,
        share: impl Fn(&[Vec<f64>]) -> Vec<f64>,
    ) -> Result<(), Refused> {
        if self.heard.len() >= OVERHEARD {
            return Err(Refused::Exhausted);
        }
        if matches!(batch, Sampling::WithoutReplacement { .. }) {
            self.batch = batch;
        }
        let scaled = |shares: Vec<f64>| shares.into_iter().map(|share| share / bound).collect();
        let all = self.candidates.iter().map(|record| scaled(share(record)));
        self.heard.push(all.collect());
        Ok(())
    }
}

impl Ask for Ear<'_> {
    fn decide(&mut self, asked: &Decide<'_>) -> Result<bool, Refused> {
        self.hear(asked.batch, asked.clip.get(), |record| vec![log_ratio(record, asked)])?;
        Ok(self.rng.uniform() < 0.5)
    }

    fn sum(&mut self, asked: &Sum<'_>, out: &mut [f64]) -> Result<(), Refused> {
        let schema = self.schema;
        self.hear(asked.batch, asked.clip.get(), |record| term(schema, record, asked))?;
        out.iter_mut().for_each(|out| *out = asked.sigma * self.rng.normal());
        Ok(())
    }

    fn choose(&mut self, asked: &Choose<'_>) -> Result<usize, Refused> {
        let bound = 0.5 * (asked.range.1 - asked.range.0);
        self.hear(Sampling::Full, bound, |record| shares(record, asked))?;
        Ok(self.rng.index(asked.offsets.len().max(1)))
    }
}
