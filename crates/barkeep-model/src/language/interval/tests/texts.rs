//! Holds bounds to sampled maxima on random (text, schema, θ): models as people write them, not graphs.

use barkeep_data::{Block, Column, Schema};

use super::{Interval, inside};
use crate::check::uniform;
use crate::language::TextModel;
use crate::{Likelihood, Model, Scratch};

type Next<'a> = &'a mut dyn FnMut() -> f64;

fn pick<'c>(choices: &[&'c str], next: Next<'_>) -> &'c str {
    choices[(next() * choices.len() as f64) as usize]
}

/// An expression of parameters and columns, the response's own left out.
fn expression(depth: usize, own: &str, next: Next<'_>) -> String {
    if depth == 0 || next() < 0.2 {
        let number = format!("{:.3}", 4.0 * next() - 2.0).replace('-', "0 - ");
        let atom = pick(&["a", "c", "b[g]", "u", "v", "k", "e", "p", "s", "(g == \"q\")", "#"], next);
        return if atom == "#" || atom == own { format!("({number})") } else { atom.to_owned() };
    }
    let (one, other) = (expression(depth - 1, own, next), expression(depth - 1, own, next));
    match (12.0 * next()) as u32 {
        0..4 => format!("({one} + {other})"),
        4 => format!("({one} - {other})"),
        5 => format!("{one} * {other}"),
        6 => format!("tanh({one})"),
        7 => format!("inv_logit({one} + {other})"),
        8 => format!("log1p(square({one}))"),
        9 => format!("where({one} > 0, {other}, {one})"),
        10 => format!("{one} / sqrt(1 + square({other}))"),
        _ => pick(&["max", "min", "log_sum_exp"], next).to_owned() + &format!("({one}, {other})"),
    }
}

/// A text whose response is drawn among the laws, some of which have bounded gradients.
fn text(next: Next<'_>) -> String {
    let own = pick(&["e", "e", "u", "u", "u", "u", "t", "k", "g", "none"], next);
    let line = match (3.0 * next()) as u32 {
        0 if own != "g" => "a + c * v + b[g]".to_owned(),
        1 if own != "g" => "a + b[g] * v".to_owned(),
        _ if own == "g" => "a + c * v".to_owned(),
        _ => expression(3, own, next),
    };
    let scale = pick(&["0.7", "2", "s", "exp(0.1 * c)"], next);
    let record = match own {
        "e" => format!("e ~ bernoulli_logit({line})"),
        "u" => match (6.0 * next()) as u32 {
            0 => format!("u ~ student_t(4, {line}, {scale})"),
            1 => format!("u ~ cauchy({line}, {scale})"),
            2 => format!("u ~ laplace({line}, {scale})"),
            3 => format!("u | truncated ~ logistic({line}, {scale})"),
            4 => format!("u | censored ~ normal({line}, {scale})"),
            _ => format!("u ~ mixture(p, normal({line}, {scale}), cauchy(c, 2))"),
        },
        "t" => format!("t | censored(not e) ~ weibull({scale}, exp(tanh(a + c * v)))"),
        "k" => format!("k ~ poisson_log({line})"),
        "g" => format!("g ~ categorical_logit(0, {line}, {scale})"),
        _ => format!("log_density = log_inv_logit({line}) - {scale} * tanh({line})"),
    };
    format!("parameters\n a\n c\n b[g]\n s > 0\n 0 < p < 1\nrecord\n {record}\n")
}

fn schema(next: Next<'_>) -> Schema {
    let mut real = |name: &str| {
        let (low, width) = (8.0 * next() - 6.0, 0.1 + 6.0 * next());
        Column::real(name, low, low + width, low).unwrap()
    };
    let columns = vec![
        real("u"),
        real("v"),
        Column::real("t", 0.1, 4.0, 1.0).unwrap(),
        Column::integer("k", 0.0, 6.0, 0.0).unwrap(),
        Column::boolean("e", false).unwrap(),
        Column::category("g", vec!["o".into(), "q".into(), "r".into()], "o").unwrap(),
    ];
    Schema::new(columns).unwrap()
}

/// The bounds of `count` random texts hold what is sampled; returns how many texts were read, how many have a bound, and how
/// many ranges of ratios were compared.
fn hold(count: usize, seed: u64) -> [usize; 3] {
    let next = &mut uniform(seed);
    let (mut read, mut bounded, mut ranges) = (0, 0, 0);
    for _ in 0..count {
        let (text, schema) = (text(next), schema(next));
        let Ok(model) = TextModel::new(&text, &schema) else { continue };
        read += 1;
        let d = Likelihood::dimension(&model);
        let bound = model.lipschitz(&schema);
        bounded += usize::from(bound.is_some());
        let matrix: Vec<f64> = (0..d * d).map(|_| 2.0 * next() - 1.0).collect();
        let reach = model.lipschitz_through(&schema, &matrix);
        assert_eq!(bound.is_some(), reach.is_some(), "{text}");
        let (mut gradient, mut ratio) = (vec![0.0; d], [0.0]);
        let size = libm::exp(5.0 * next() - 3.0);
        let mut point = || -> Vec<f64> { (0..d).map(|_| size * (2.0 * next() - 1.0)).collect() };
        let (from, to) = (point(), point());
        let range = model.log_ratio_range(&schema, &from, &to);
        for _ in 0..8 {
            let record: Vec<f64> = model
                .places()
                .iter()
                .map(|place| {
                    let (low, high) = schema.columns()[*place].range();
                    let value = inside(Interval::new(low, high), next);
                    if *place < 3 { value } else { value.round() }
                })
                .collect();
            let block = Block::over(&record, 1, 1);
            model.gradient(block, &from, &mut gradient, &mut Scratch::new());
            let norm = |vector: &[f64]| vector.iter().map(|x| x * x).sum::<f64>().sqrt();
            if let (Some(bound), Some(reach)) = (bound, reach) {
                let through: Vec<f64> = matrix
                    .chunks_exact(d)
                    .map(|row| row.iter().zip(&gradient).map(|(a, x)| a * x).sum())
                    .collect();
                // Computed gradients are off by their own roundings.
                assert!(norm(&gradient) <= bound * (1.0 + 1e-9), "{text}{} above {bound}", norm(&gradient));
                assert!(norm(&through) <= reach * (1.0 + 1e-9), "{text}{} above {reach}", norm(&through));
            }
            model.log_ratio(block, &from, &to, &mut ratio, &mut Scratch::new());
            if let Some((low, high)) = range {
                let slack = 1e-9 * (1.0 + low.abs().max(high.abs()));
                assert!(
                    low - slack <= ratio[0] && ratio[0] <= high + slack,
                    "{text}{ratio:?} outside {low} {high}"
                );
                ranges += 1;
            }
        }
    }
    [read, bounded, ranges]
}

#[test]
fn bounds_hold_what_random_texts_reach() {
    let [read, bounded, ranges] = hold(600, 90);
    assert!(read > 300 && bounded > 60 && ranges > 1000, "{read} read, {bounded} bounded, {ranges} ranges");
}

#[test]
#[ignore = "half a minute: cargo test -p barkeep-model --lib texts -- --ignored"]
fn bounds_hold_what_ten_thousand_random_texts_reach() {
    let [read, bounded, ranges] = hold(16_000, 91);
    assert!(
        read >= 10_000 && bounded > 1000 && ranges > 20_000,
        "{read} read, {bounded} bounded, {ranges} ranges"
    );
}
