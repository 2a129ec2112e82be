//! Distributions of levels.

use barkeep_machine::{Binary, Source, Unary};
use barkeep_num::log_sum_exp;
use barkeep_num::vector::scalar::sigmoid;

use super::expected::levels;
use super::{Domain, LawEntry, Support, Weighted};
use crate::language::graph::Id;

/// The level at which a running sum of probabilities passes a uniform variate.
fn pick(probabilities: &[f64], uniform: &mut dyn FnMut() -> f64) -> f64 {
    let mut level = uniform();
    for (place, probability) in probabilities.iter().enumerate() {
        level -= probability;
        if level < 0.0 {
            return place as f64;
        }
    }
    probabilities.len().saturating_sub(1) as f64
}

fn nodes_of(probabilities: &[f64], out: &mut Vec<Weighted>) {
    out.extend(
        probabilities
            .iter()
            .enumerate()
            .map(|(place, weight)| Weighted { value: place as f64, weight: *weight }),
    );
}

/// P(y = k) = σ(c_k − η) − σ(c_(k−1) − η).
fn ordered(a: &[f64]) -> Vec<f64> {
    let below = |k: usize| if k == a.len() { 1.0 } else { sigmoid(a[k] - a[0]) };
    (1..=a.len()).map(|k| below(k) - if k == 1 { 0.0 } else { below(k - 1) }).collect()
}

pub(super) const ORDERED_LOGISTIC: LawEntry = LawEntry {
    name: "ordered_logistic",
    arguments: &[("logit", Domain::Real)],
    rest: Some("cuts"),
    support: Support::Levels,
    density: |graph, y, a| {
        // σ(u) − σ(l) = σ(u)·σ(−l)·(1 − e^(l−u)): nothing cancels, and the last factor depends on the cuts alone.
        let (low, high) = (graph.constant(f64::NEG_INFINITY), graph.constant(f64::INFINITY));
        let zero = graph.constant(0.0);
        let cuts = &a[1..];
        let uppers: Vec<Id> = cuts.iter().copied().chain([high]).collect();
        let lowers: Vec<Id> = std::iter::once(low).chain(cuts.iter().copied()).collect();
        let mut gaps = vec![zero];
        for pair in cuts.windows(2) {
            let gap = graph.sub(pair[0], pair[1]);
            gaps.push(graph.unary(Unary::Log1mExp, gap));
        }
        gaps.push(zero);
        let (upper, lower) = (graph.gather(y, &uppers), graph.gather(y, &lowers));
        let gap = graph.gather(y, &gaps);
        let (above, below) = (graph.sub(upper, a[0]), graph.sub(a[0], lower));
        let (first, second) = (graph.unary(Unary::LogSigmoid, above), graph.unary(Unary::LogSigmoid, below));
        let sum = graph.add(first, second);
        graph.add(sum, gap)
    },
    cumulative: None,
    draw: |a, uniform| pick(&ordered(a), uniform),
    nodes: |a, _, out| nodes_of(&ordered(a), out),
    write_nodes: |w, a, _| {
        let below: Vec<Source> = a[1..]
            .iter()
            .map(|cut| {
                let apart = w.sub(*cut, a[0]);
                w.unary(Unary::Sigmoid, apart)
            })
            .collect();
        let mut shares = Vec::with_capacity(a.len());
        for k in 0..a.len() {
            let upper = below.get(k).copied().unwrap_or_else(|| w.number(1.0));
            let lower = if k == 0 { w.number(0.0) } else { below[k - 1] };
            shares.push(w.sub(upper, lower));
        }
        levels(w, shares)
    },
};

fn softmax(a: &[f64]) -> Vec<f64> {
    let total = log_sum_exp(a);
    a.iter().map(|logit| libm::exp(logit - total)).collect()
}

pub(super) const CATEGORICAL_LOGIT: LawEntry = LawEntry {
    name: "categorical_logit",
    arguments: &[],
    rest: Some("logits"),
    support: Support::Levels,
    density: |graph, y, a| {
        let (mut chosen, mut total) = (a[0], a[0]);
        for (place, logit) in a.iter().enumerate().skip(1) {
            let place = graph.constant(place as f64);
            let here = graph.binary(Binary::Equal, y, place);
            chosen = graph.select(here, *logit, chosen);
            total = graph.binary(Binary::LogAddExp, total, *logit);
        }
        graph.sub(chosen, total)
    },
    cumulative: None,
    draw: |a, uniform| pick(&softmax(a), uniform),
    nodes: |a, _, out| nodes_of(&softmax(a), out),
    write_nodes: |w, a, _| {
        let largest = a[1..].iter().fold(a[0], |largest, logit| w.max(largest, *logit));
        let mut share = |logit: &Source| {
            let apart = w.sub(*logit, largest);
            w.unary(Unary::Exp, apart)
        };
        let shares = a.iter().map(&mut share).collect();
        levels(w, shares)
    },
};
