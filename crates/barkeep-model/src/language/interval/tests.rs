//! Holds intervals to sampled values: no value of any random model may leave its interval.

use barkeep_data::{Column, Schema};

mod texts;

use super::super::derivative::tests::{WIDTH, random};
use super::*;
use crate::check::uniform;
use crate::language::TextModel;
use crate::{Likelihood, Model, Scratch};
use barkeep_data::Block;

/// A random interval around 0 or beside it, sometimes a point.
fn interval(next: &mut dyn FnMut() -> f64) -> Interval {
    let low = 6.0 * next() - 3.0;
    let width = if next() < 0.1 { 0.0 } else { 4.0 * next() };
    Interval::new(low, low + width)
}

fn inside(interval: Interval, next: &mut dyn FnMut() -> f64) -> f64 {
    match (4.0 * next()) as u32 {
        0 => interval.low,
        1 => interval.high,
        _ => (interval.low + (interval.high - interval.low) * next()).clamp(interval.low, interval.high),
    }
}

#[test]
fn no_value_of_ten_thousand_random_models_leaves_its_interval() {
    let next = &mut uniform(55);
    let (mut bounded, mut checked) = (0, 0);
    for round in 0..10_000 {
        let (mut graph, root) = random(next, 3 + round % 15);
        let slopes = graph.gradient(root, WIDTH);
        graph.difference(root, WIDTH);
        let mut columns: Vec<Interval> = (0..WIDTH).map(|_| interval(next)).collect();
        columns.push(Interval::new(0.0, 2.0));
        // θ is unbounded in one half of the rounds, as a bound on gradients has it.
        let theta: Vec<Interval> =
            if round % 2 == 0 { Vec::new() } else { (0..2 * WIDTH).map(|_| interval(next)).collect() };
        let found = graph.intervals(&theta, &columns);
        let bound = if theta.is_empty() { graph.gradient_bound(&slopes, &columns) } else { None };
        bounded += usize::from(bound.is_some());
        for _ in 0..4 {
            let record: Vec<f64> = columns
                .iter()
                .enumerate()
                .map(|(j, column)| if j == WIDTH { (3.0 * next()).floor() } else { inside(*column, next) })
                .collect();
            let at: Vec<f64> = match theta.is_empty() {
                true => {
                    (0..2 * WIDTH).map(|_| libm::exp(6.0 * next() - 3.0) * (2.0 * next() - 1.0)).collect()
                }
                false => theta.iter().map(|range| inside(*range, next)).collect(),
            };
            let values = graph.values(&at, &record);
            for (id, (value, range)) in values.iter().zip(&found).enumerate() {
                if value.is_finite() {
                    // A computed value is off by its own roundings, which the interval need not hold.
                    let slack = 1e-9 * (1.0 + value.abs());
                    assert!(
                        range.low - slack <= *value && *value <= range.high + slack,
                        "round {round}, node {id} {:?}: {value} outside {range:?}",
                        graph.node(Id::try_from(id).unwrap())
                    );
                    checked += 1;
                }
            }
            let norm = slopes.iter().map(|id| values[*id as usize].powi(2)).sum::<f64>().sqrt();
            if let Some(bound) = bound {
                assert!(
                    !norm.is_finite() || norm <= bound * (1.0 + 1e-12),
                    "round {round}: {norm} above {bound}"
                );
            }
        }
    }
    assert!(bounded > 500 && checked > 500_000, "{bounded} bounded, {checked} values");
}

/// Texts whose gradients are bounded, over random schemas and θ: the bound holds every sampled gradient, and is not idle.
#[test]
fn bounds_of_texts_hold_their_gradients_and_are_tight() {
    let next = &mut uniform(56);
    for (text, tight) in [
        ("y ~ bernoulli_logit(a + b * x)", 1.0 + 1e-9),
        ("y ~ bernoulli(inv_logit(a + b * x + c[g]))", 1.0 + 1e-9),
        ("z ~ student_t(4, a + b * x, 1.5)", 1.0 + 1e-9),
        ("z ~ cauchy(a + b * x, 2)", 1.0 + 1e-9),
        ("z ~ laplace(a + b * x, 0.5)", 1.0 + 1e-9),
        ("z ~ logistic(c[g] + b * x, 0.5)", 1.0 + 1e-9),
    ] {
        for _ in 0..50 {
            let (low, width) = (8.0 * next() - 6.0, 0.1 + 5.0 * next());
            let columns = vec![
                Column::boolean("y", false).unwrap(),
                Column::real("z", -10.0, 10.0, 0.0).unwrap(),
                Column::real("x", low, low + width, low).unwrap(),
                Column::category("g", vec!["p".into(), "q".into(), "r".into()], "p").unwrap(),
            ];
            let schema = Schema::new(columns).unwrap();
            let whole = format!("parameters\n a\n b\n c[g]\nrecord\n {text}\n");
            let model = TextModel::new(&whole, &schema).unwrap();
            let bound = model.lipschitz(&schema).unwrap();
            let mut largest: f64 = 0.0;
            for _ in 0..300 {
                let record: Vec<f64> = model
                    .places()
                    .iter()
                    .map(|place| {
                        let (low, high) = schema.columns()[*place].range();
                        match place {
                            0 => (2.0 * next()).floor(),
                            3 => (3.0 * next()).floor(),
                            _ => inside(Interval::new(low, high), next),
                        }
                    })
                    .collect();
                let size = libm::exp(8.0 * next() - 4.0);
                let theta: Vec<f64> = (0..5).map(|_| size * (2.0 * next() - 1.0)).collect();
                let mut out = [0.0; 5];
                model.gradient(Block::over(&record, 1, 1), &theta, &mut out, &mut Scratch::new());
                largest = largest.max(out.iter().map(|x| x * x).sum::<f64>().sqrt());
            }
            assert!(largest <= bound * tight, "{text}: {largest} above {bound}");
            assert!(largest >= 0.5 * bound, "{text}: {largest} far below {bound}");
        }
    }
}

/// The range of a log ratio holds every sampled ratio.
#[test]
fn ranges_of_ratios_hold_the_ratios() {
    let next = &mut uniform(57);
    let schema = Schema::new(vec![
        Column::real("x", -3.0, 2.0, 0.0).unwrap(),
        Column::real("y", 0.1, 5.0, 1.0).unwrap(),
    ])
    .unwrap();
    let text = "parameters\n a\n s > 0\nrecord\n x ~ normal(a, s)\n y ~ weibull(s, exp(a * x))";
    let model = TextModel::new(text, &schema).unwrap();
    for _ in 0..200 {
        let mut point = || [2.0 * next() - 1.0, next() - 0.5];
        let (from, to) = (point(), point());
        let (low, high) = model.log_ratio_range(&schema, &from, &to).unwrap();
        for _ in 0..50 {
            let record = [5.0 * next() - 3.0, 0.1 + 4.9 * next()];
            let mut out = [0.0];
            model.log_ratio(Block::over(&record, 1, 1), &from, &to, &mut out, &mut Scratch::new());
            assert!(low <= out[0] && out[0] <= high, "{} outside {low} {high}", out[0]);
        }
    }
}
