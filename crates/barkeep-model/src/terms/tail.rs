//! Writes how far the slopes of records reach, less how far the law says they do.

use barkeep_machine::{Binary, Fold, Output, Source, Term, Unary, Writer};

use super::law_nodes::{Own, Pass, WrittenLaw};
use crate::Regression;
use crate::regression::{CentredScore, ScoreBlock, Scorer};

/// Which of the bins between `edges` (the last one open) holds |r|·‖a‖/√width of a record, less the
/// probability of each bin under the law given the record's features; averaged over a person's rows. `None` as for
/// [`centred`](super::centred()), or without edges.
///
/// One entry of a term is at most 1 − p and the others are −p with probabilities that add up to at most 1: its norm is
/// at most √2.
#[must_use]
pub fn tail(regression: &Regression, asked: CentredScore<'_>, edges: &[f64], top: f64) -> Option<Term> {
    let scorer = regression.scorer(asked, top)?;
    let mut w = Writer::default();
    let (law, Own { length, slope, .. }) = WrittenLaw::new(regression, &scorer, top, &mut w)?;
    let unit = 1.0 / (scorer.width() as f64).sqrt();
    let size = w.unary(Unary::Abs, slope);
    let size = w.mul(size, length);
    let size = w.mul(size, unit);
    let scale = w.mul(length, unit);
    let is_discrete = regression.law()?.is_discrete();
    let beyond: Vec<Source> = match asked.block {
        _ if is_discrete => {
            let prepare = |w: &mut Writer, slope: Source| {
                let size = w.unary(Unary::Abs, slope);
                w.mul(size, scale)
            };
            let values = |w: &mut Writer, size: Source| {
                edges.iter().map(|edge| w.binary(Binary::Less, *edge, size)).collect()
            };
            law.expect(&mut w, false, &Pass { prepare: &prepare, values: &values, width: edges.len() })?.1
        }
        ScoreBlock::Coefficients => write_shares_beyond(&scorer, scale, edges, &mut w),
        ScoreBlock::Nuisance => {
            let shares = scorer.free_shares_beyond(asked.whitening[0].abs() * unit, edges);
            shares.into_iter().map(|share| w.number(share)).collect()
        }
    };
    let above: Vec<Source> = edges.iter().map(|edge| w.binary(Binary::Less, *edge, size)).collect();
    let mut outputs = Vec::with_capacity(edges.len());
    for k in 0..edges.len() {
        let (within, probability) = match k + 1 {
            next if next < edges.len() => (w.sub(above[k], above[next]), w.sub(beyond[k], beyond[next])),
            _ => (above[k], beyond[k]),
        };
        let probability = w.max(0.0, probability);
        outputs.push(Output::Dense(w.sub(within, probability)));
    }
    Term::new(w.finish(outputs).ok()?, Fold::Mean, None).ok()
}

/// P(|r|·scale > edge) for each edge, where the law of r is free of η and between two nodes |r| runs about straight.
fn write_shares_beyond(scorer: &Scorer<'_>, scale: Source, edges: &[f64], w: &mut Writer) -> Vec<Source> {
    let (slopes, weights) = scorer.free_nodes();
    let cells: Vec<(f64, f64)> = slopes
        .windows(2)
        .map(|pair| (pair[0].abs(), pair[1].abs()))
        .map(|(one, other)| if one < other { (one, other) } else { (other, one) })
        .collect();
    let highs: Vec<f64> = cells.iter().map(|(_, high)| *high).collect();
    let slants: Vec<f64> = cells.iter().map(|(low, high)| 1.0 / (high - low).max(1e-300)).collect();
    let masses: Vec<f64> = weights.windows(2).map(|pair| 0.5 * (pair[0] + pair[1])).collect();
    let [highs, slants, masses] = [highs, slants, masses].map(|list| Source::Node(w.constants(&list)));
    let zero = w.number(0.0);
    w.repeat_all(cells.len() as u32, &vec![zero; edges.len()], |w, sums| {
        let mut next = Vec::with_capacity(edges.len());
        for (edge, sum) in edges.iter().zip(sums) {
            let reached = w.div(*edge, scale);
            let left = w.sub(highs, reached);
            let share = w.mul(left, slants);
            let share = w.max(0.0, share);
            let share = w.min(share, 1.0);
            next.push(w.fused(masses, share, *sum));
        }
        next
    })
}
