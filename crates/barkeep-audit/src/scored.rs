//! Lists the questions of noise-aware scores one by one, each with the two records that move its answer farthest.

use crate::evidence::{Claim, Effort};
use crate::pair::{Company, Pair, Rows};
use crate::simple::{Case, Entry, Terms, means};
use barkeep::{Error, PublicRng, SpecError};
use barkeep_accounting::{Delta, Sampling};
use barkeep_curator::{Asked, Clip, Shape, Sum, Temper, Term, gram_width, shape_cost, shape_sensitivity};
use barkeep_data::{Column, Schema, Unit};
use barkeep_model::families::bernoulli::Logit;
use barkeep_model::families::gamma::Gamma;
use barkeep_model::families::gaussian::Gaussian;
use barkeep_model::terms::{
    self as model_terms, Centre, Coordinate, Curve, Precondition, powers_bound, powers_width,
};
use barkeep_model::{
    CentredScore, Design, Family, Likelihood, Nuisance, Prior, Regression, ScoreBlock, TextModel,
};
use std::sync::Arc;

/// Noise over sensitivity of every row.
const RATIO: f64 = 1.0;
/// δ of every row.
const DELTA: f64 = 1e-3;
/// Others of varied content around an attacked record.
const CROWD: usize = 1500;

/// Rows of an attacked person.
const ROWS: usize = 4;

/// Every question of the sampler.
pub(crate) const SCORED: &[Entry] = &[
    |effort| columns(RATIO, 1, effort),
    |effort| columns(RATIO, ROWS, effort),
    |effort| products(RATIO, 0, 1, effort),
    |effort| products(RATIO, CROWD, 1, effort),
    |effort| products(RATIO, CROWD, ROWS, effort),
    |effort| bounded_scores(RATIO, 0, 1, effort),
    |effort| bounded_scores(RATIO, CROWD, 1, effort),
    |effort| bounded_scores(RATIO, CROWD, ROWS, effort),
    |effort| skewed_scores(RATIO, effort),
    |effort| nuisance_scores(RATIO, 1, effort),
    |effort| nuisance_scores(RATIO, ROWS, effort),
    |effort| tails(RATIO, 1, effort),
    |effort| tails(RATIO, ROWS, effort),
    |effort| shifted_gradients(RATIO, effort),
    |effort| expected_gradients(RATIO, effort),
];

/// Two records, or persons, under a schema, among `crowd` others.
struct Stage {
    name: &'static str,
    likelihood: Arc<dyn Likelihood>,
    columns: Vec<Column>,
    records: [Rows; 2],
    unit: Unit,
    crowd: Vec<Rows>,
}

/// What differs between neighbours where a person has this number of rows.
fn unit(rows: usize) -> Unit {
    if rows == 1 { Unit::Record } else { Unit::Person { most_rows: Some(rows as u64) } }
}

/// Others of several sizes, at most `rows` rows each.
fn crowd(count: usize, rows: usize, mut row: impl FnMut(usize) -> Vec<f64>) -> Vec<Rows> {
    (0..count).map(|member| (0..=member % rows).map(|_| row(member)).collect()).collect()
}

impl Stage {
    /// The game of asking for `term` once.
    fn case(
        self,
        (ratio, clip): (f64, f64),
        effort: Effort,
        width: usize,
        term: impl FnOnce(&dyn Likelihood) -> Result<(barkeep_machine::Term, Shape), Error>,
    ) -> Result<Case, Error> {
        let terms = Terms::once(self.name, DELTA);
        let (premises, bound) = (terms.premises(), Clip::new(clip)?);
        let (asked, shape) = term(&*self.likelihood)?;
        let sensitivity = shape_sensitivity(shape, Temper::NONE, bound, premises.neighbours)?;
        let sigma = ratio * sensitivity.get();
        let cost = shape_cost(shape, Temper::NONE, bound, Sampling::Full, sigma, premises)?;
        let [first, second] = self.records;
        // A trial among many takes as long as many trials alone.
        let effort = match self.crowd.len() {
            0 => effort,
            _ => Effort { trials: (effort.trials / 5).max(10), ..effort },
        };
        let pair = Pair {
            other: second.clone(),
            first,
            second: Some(second),
            others: 0,
            company: Company::of(self.crowd),
            unit: self.unit,
            schema: Schema::new(self.columns)?,
        };
        let claim = Claim { delta: Delta::new(DELTA)?, gaussian: true };
        terms.staged(cost, pair, claim, effort, move |gate| {
            let mut out = vec![0.0; width];
            let (temper, batch) = (Temper::NONE, Sampling::Full);
            let term = Term::Program(Asked { term: &asked, shape });
            gate.sum(&Sum { term, temper, clip: bound, batch, sigma }, &mut out)
        })
    }
}

/// What a question that no program writes is refused with.
fn unwritten() -> Error {
    Error::Budget("no program writes this question".to_owned())
}

/// The centred score of a regression of responses up to `top`.
fn score(
    likelihood: &dyn Likelihood,
    top: f64,
    asked: CentredScore<'_>,
) -> Result<(barkeep_machine::Term, Shape), Error> {
    let regression = likelihood.regression().ok_or_else(unwritten)?;
    Ok((model_terms::centred(regression, asked, top).ok_or_else(unwritten)?, Shape::Ball))
}

/// Gradients at 0, shortened, less a centre.
fn shifted(
    likelihood: &dyn Likelihood,
    precondition: Precondition<'_>,
    clip: f64,
    centre: Centre<'_>,
) -> Result<(barkeep_machine::Term, Shape), Error> {
    let term = model_terms::shifted(likelihood, &[0.0], precondition, clip, centre);
    Ok((term.ok_or_else(unwritten)?, Shape::Ball))
}

fn line(column: usize, squared: bool) -> Coordinate {
    Coordinate { column, curve: Curve::Line, scale: 1.0, shift: 0.0, squared }
}

/// A regression without an intercept on one feature.
fn regression(family: Box<dyn Family>) -> Result<Arc<dyn Likelihood>, Error> {
    let wrong = |error: barkeep_model::Error| Error::Budget(error.to_string());
    let prior = Prior::Normal { mean: 0.0, sd: 2.5 };
    let design = Design::new("y", vec!["x".to_owned()], false, prior).map_err(wrong)?;
    Ok(Arc::new(Regression::new(design, family).map_err(wrong)?))
}

const UNKNOWN: Nuisance = Nuisance::Unknown(Prior::HalfNormal { scale: 1.0 });

/// Moments of a number and of a true-or-false value, from one end of both to the other: 2B apart.
///
/// A person goes from many rows at one end to a single row at the other: the number of rows is a coordinate too.
pub(crate) fn columns(ratio: f64, rows: usize, effort: Effort) -> Result<Case, Error> {
    let coordinates = || vec![line(0, true), Coordinate { scale: 2.0, shift: -1.0, ..line(1, false) }];
    let stage = Stage {
        name: if rows == 1 { "moments of columns" } else { "moments of columns, persons" },
        likelihood: means(2)?,
        columns: vec![Column::real("x", -1.0, 1.0, 0.0)?, Column::boolean("b", false)?],
        records: [vec![vec![1.0, 1.0]; rows], vec![vec![-1.0, 0.0]]],
        unit: unit(rows),
        crowd: Vec::new(),
    };
    let most = (rows > 1).then_some(rows as u64);
    let (bound, width) = (powers_bound(&coordinates(), most), powers_width(&coordinates(), most));
    stage.case((ratio, bound), effort, width, |_| {
        Ok((model_terms::columns(&coordinates(), most).map_err(|_| unwritten())?, Shape::Ball))
    })
}

/// Products of two columns. With ‖x‖ = ‖y‖ = R and x·y = −1 the vectors (1, x) and (1, y) are at right angles.
pub(crate) fn products(ratio: f64, others: usize, rows: usize, effort: Effort) -> Result<Case, Error> {
    const RADIUS: f64 = 3.0;
    let cosine = -1.0 / (RADIUS * RADIUS);
    let mut rng = PublicRng::new(17, 26);
    let mut any = || 2.0 * rng.uniform() - 1.0;
    let stage = Stage {
        name: match (others, rows) {
            (0, _) => "products of columns",
            (_, 1) => "products of columns among 1500 others",
            _ => "products of columns, persons among 1500",
        },
        likelihood: means(2)?,
        columns: vec![Column::real("x", -1.0, 1.0, 0.0)?, Column::real("z", -1.0, 1.0, 0.0)?],
        records: [vec![vec![1.0, 0.0]; rows], vec![vec![cosine, (1.0 - cosine * cosine).sqrt()]; rows]],
        unit: unit(rows),
        crowd: crowd(others, rows, |k| vec![any(), any() * f64::from(k as u32 % 2)]),
    };
    stage.case((ratio, RADIUS), effort, gram_width(2), |_| {
        let term = model_terms::standardised(&[line(0, true), line(1, true)], &[0.0; 2], &[0.1; 2]);
        Ok((term.map_err(|_| unwritten())?, Shape::Outer))
    })
}

/// Scores of a true-or-false response at even odds, clipped short of their length: y = 1 and y = 0 are 2c apart.
///
/// The scores of a person's rows are added, and their sum is clipped.
pub(crate) fn bounded_scores(ratio: f64, others: usize, rows: usize, effort: Effort) -> Result<Case, Error> {
    const CLIP: f64 = 0.2;
    let mut rng = PublicRng::new(18, 26);
    let stage = Stage {
        name: match (others, rows) {
            (0, _) => "centred scores",
            (_, 1) => "centred scores among 1500 others",
            _ => "centred scores, persons among 1500",
        },
        likelihood: regression(Box::new(Logit))?,
        columns: vec![Column::boolean("y", false)?, Column::real("x", -1.0, 1.0, 0.0)?],
        records: [vec![vec![1.0, 1.0]; rows], vec![vec![0.0, 1.0]; rows]],
        unit: unit(rows),
        crowd: crowd(others, rows, |_| {
            vec![f64::from(u8::from(rng.uniform() < 0.5)), 2.0 * rng.uniform() - 1.0]
        }),
    };
    // Half of what a person's rows come to.
    let clip = if rows == 1 { CLIP } else { 0.5 * CLIP * rows as f64 };
    stage.case((ratio, clip), effort, 1, |likelihood| {
        let block = ScoreBlock::Coefficients;
        score(likelihood, 1.0, CentredScore { theta: &[0.0], block, whitening: &[1.0], clip: CLIP })
    })
}

/// Scores of a positive response, whose centre is not 0: far out on either side of the feature they are 2c apart.
pub(crate) fn skewed_scores(ratio: f64, effort: Effort) -> Result<Case, Error> {
    const CLIP: f64 = 0.3;
    let stage = Stage {
        name: "centred scores of a skewed response",
        likelihood: regression(Box::new(Gamma { shape: UNKNOWN }))?,
        columns: vec![Column::real("y", 0.01, 1000.0, 1.0)?, Column::real("x", -1.0, 1.0, 0.0)?],
        records: [vec![vec![1000.0, 1.0]], vec![vec![1000.0, -1.0]]],
        unit: Unit::Record,
        crowd: Vec::new(),
    };
    stage.case((ratio, CLIP), effort, 1, |likelihood| {
        let block = ScoreBlock::Coefficients;
        score(likelihood, 1000.0, CentredScore { theta: &[0.0; 2], block, whitening: &[1.0], clip: CLIP })
    })
}

/// Scores of a spread: one record far out, one on the mean. A score is at least −1 there, so not all of 2c is reached by
/// one record; the sum of a person's rows is clipped again, and reaches it.
pub(crate) fn nuisance_scores(ratio: f64, rows: usize, effort: Effort) -> Result<Case, Error> {
    const CLIP: f64 = 1.0;
    let stage = Stage {
        name: if rows == 1 { "centred scores of a spread" } else { "centred scores of a spread, persons" },
        likelihood: regression(Box::new(Gaussian { sd: UNKNOWN }))?,
        columns: vec![Column::real("y", -1000.0, 1000.0, 0.0)?, Column::real("x", -1.0, 1.0, 0.0)?],
        records: [vec![vec![1000.0, 0.0]; rows], vec![vec![0.0, 0.0]; rows]],
        unit: unit(rows),
        crowd: Vec::new(),
    };
    // Half of what a person's rows come to.
    let clip = if rows == 1 { CLIP } else { 0.5 * CLIP * rows as f64 };
    stage.case((ratio, clip), effort, 1, |likelihood| {
        let block = ScoreBlock::Nuisance;
        score(likelihood, 1000.0, CentredScore { theta: &[0.0; 2], block, whitening: &[1.0], clip: CLIP })
    })
}

/// Bins of lengths: each record is where the other's law would put it, so that both entries move by almost 2.
pub(crate) fn tails(ratio: f64, rows: usize, effort: Effort) -> Result<Case, Error> {
    let stage = Stage {
        name: if rows == 1 { "centred bins of a tail" } else { "centred bins of a tail, persons" },
        likelihood: regression(Box::new(Gaussian { sd: UNKNOWN }))?,
        columns: vec![Column::real("y", -1000.0, 1000.0, 0.0)?, Column::real("x", -1.0, 1.0, 0.0)?],
        // W·x is 4 and 1000: the lengths 4000 and 5 lie in the second bin and in the first.
        records: [vec![vec![1000.0, 0.004]; rows], vec![vec![0.005, 1.0]; rows]],
        unit: unit(rows),
        crowd: Vec::new(),
    };
    stage.case((ratio, std::f64::consts::SQRT_2), effort, 2, |likelihood| {
        let block = ScoreBlock::Coefficients;
        let asked = CentredScore { theta: &[0.0; 2], block, whitening: &[1000.0], clip: 1.0 };
        let regression = likelihood.regression().ok_or_else(unwritten)?;
        let term = model_terms::tail(regression, asked, &[1.0, 10.0], 1000.0).ok_or_else(unwritten)?;
        Ok((term, Shape::Ball))
    })
}

/// Gradients less a public centre: far out on either side they are 2c apart, but for the centre.
pub(crate) fn shifted_gradients(ratio: f64, effort: Effort) -> Result<Case, Error> {
    const CLIP: f64 = 1.0;
    let stage = Stage {
        name: "gradients less a centre",
        likelihood: means(1)?,
        columns: vec![Column::real("x", -1000.0, 1000.0, 0.0)?],
        records: [vec![vec![1000.0]], vec![vec![-1000.0]]],
        unit: Unit::Record,
        crowd: Vec::new(),
    };
    stage.case((ratio, CLIP), effort, 1, |likelihood| {
        shifted(likelihood, Precondition::Identity, CLIP, Centre::Same(&[0.1]))
    })
}

/// Gradients of a text less what it expects of them: responses far out on either side are 2c apart.
pub(crate) fn expected_gradients(ratio: f64, effort: Effort) -> Result<Case, Error> {
    const CLIP: f64 = 1.0;
    const TEXT: &str = "parameters\n a ~ normal(0, 1)\nrecord\n y ~ normal(a + x, 1)\n";
    let columns = vec![Column::real("x", -1.0, 1.0, 0.0)?, Column::real("y", -1000.0, 1000.0, 0.0)?];
    let text = TextModel::new(TEXT, &Schema::new(columns.clone())?)
        .map_err(|error| SpecError::new("model.text", error.to_string()))?;
    let stage = Stage {
        name: "gradients less what a text expects",
        likelihood: Arc::new(text),
        columns,
        records: [vec![vec![0.5, 1000.0]], vec![vec![0.5, -1000.0]]],
        unit: Unit::Record,
        crowd: Vec::new(),
    };
    stage.case((ratio, CLIP), effort, 1, |likelihood| {
        shifted(likelihood, Precondition::Dense(&[1.0]), CLIP, Centre::Expected)
    })
}

#[cfg(test)]
mod tests;
