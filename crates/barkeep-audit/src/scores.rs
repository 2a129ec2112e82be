//! Computes a record's terms of the noise-aware questions apart from the curator, in plain floating point.

use barkeep_curator::{Coordinate, Curve, Sum, Term};
use barkeep_data::{Block, Schema};
use barkeep_model::{CentredScore, Likelihood, NodeRoom, Scratch, StandIns};

/// z of a coordinate.
fn mapped(one: &Coordinate, record: &[f64]) -> f64 {
    let value = record.get(one.column).copied().unwrap_or(0.0);
    let share = |trials: f64| (value.min(trials) + 0.5) / (trials + 1.0);
    let seen = match one.curve {
        Curve::Line => value,
        Curve::Log { plus } => (value + plus).ln(),
        Curve::Root => value.sqrt(),
        Curve::Share { column: Some(column), .. } => share(record.get(column).copied().unwrap_or(0.0)),
        Curve::Share { column: None, fixed } => share(fixed),
    };
    (one.scale * seen + one.shift).clamp(-1.0, 1.0)
}

/// z, and z² − 1 where it is asked for.
pub(crate) fn powers(coordinates: &[Coordinate], record: &[f64]) -> Vec<f64> {
    let each = |one: &Coordinate| {
        let z = mapped(one, record);
        std::iter::once(z).chain(one.squared.then_some(z * z - 1.0))
    };
    coordinates.iter().flat_map(each).collect()
}

/// x and its products, x standardised and shortened to the radius.
pub(crate) fn products(
    coordinates: &[Coordinate],
    (centres, spreads): (&[f64], &[f64]),
    radius: f64,
    record: &[f64],
) -> Vec<f64> {
    let standard = coordinates.iter().zip(centres.iter().zip(spreads));
    let x: Vec<f64> =
        standard.map(|(one, (centre, spread))| (mapped(one, record) - centre) / spread).collect();
    let length = x.iter().map(|x| x * x).sum::<f64>().sqrt();
    let x: Vec<f64> = x.iter().map(|x| x * (radius / length).min(1.0)).collect();
    let pairs = (0..x.len()).flat_map(|j| x[j..].iter().map(|y| y * x[j]).collect::<Vec<f64>>());
    x.iter().copied().chain(pairs).collect()
}

/// How many times the answer's precision an entry has: 2 for products of different coordinates, which get less noise.
pub(crate) fn precision(asked: &Sum<'_>, entry: usize) -> f64 {
    let Term::Gram { coordinates, .. } = asked.term else { return 1.0 };
    let p = coordinates.len();
    let is_square = (0..p).scan(p, |first, j| {
        let here = *first;
        *first += p - j;
        Some(here)
    });
    if is_square.into_iter().any(|square| square == entry) { 1.0 } else { 2.0 }
}

/// A centred score, or which bin holds its length.
pub(crate) fn score(
    likelihood: &dyn Likelihood,
    schema: &Schema,
    record: &[f64],
    asked: CentredScore<'_>,
    edges: Option<&[f64]>,
    scratch: &mut Scratch,
) -> Vec<f64> {
    let top = schema.columns().first().map_or(f64::INFINITY, |response| response.range().1);
    let Some(scorer) = likelihood.regression().and_then(|regression| regression.scorer(asked, top)) else {
        // The curator refuses the question for the same reason.
        return Vec::new();
    };
    let (block, mut room) = (Block::over(record, 1, 1), NodeRoom::default());
    let mut out = vec![0.0; edges.map_or(scorer.width(), <[f64]>::len)];
    match edges {
        None => scorer.write(block, &mut out, scratch, &mut room),
        Some(edges) => scorer.write_tail(block, edges, &mut out, scratch, &mut room),
    }
    out
}

/// The records that stand for one, its responses made up, each with its weight.
pub(crate) fn made_up(likelihood: &dyn Likelihood, theta: &[f64], record: &[f64]) -> Vec<(f64, Vec<f64>)> {
    // The curator refuses the question for the same reason.
    let Ok(given) = likelihood.given() else { return Vec::new() };
    let mut out = StandIns::default();
    given.make_up(Block::over(record, 1, 1), theta, None, &mut out, &mut Scratch::default());
    given.admit(&mut out);
    let count = out.weights.len();
    let row = |k: usize| out.values.iter().skip(k).step_by(count).copied().collect();
    out.weights.iter().enumerate().map(|(k, weight)| (*weight, row(k))).collect()
}
