//! Holds made-up responses to the laws they stand for.

use super::*;
use crate::check::outputs;
use crate::{Centring, Likelihood, Model};
use barkeep_data::{Column, Schema};

/// One text for each law that can be centred, with its columns and θ. Where `x` follows a law too, it is picked beyond its bounds at times.
fn texts(is_joint: bool) -> Vec<(TextModel, Vec<f64>)> {
    let real = |name: &str, low: f64, high: f64| Column::real(name, low, high, 0.5 * (low + high)).unwrap();
    let count = |high: f64| Column::integer("y", 0.0, high, 0.0).unwrap();
    let level = |name: &str| Column::category(name, ["a", "b", "c"].map(String::from).to_vec(), "a").unwrap();
    let x = || real("x", -1.0, 1.0);
    let any = || real("y", -1e4, 1e4);
    let above = || real("y", 1e-9, 1e6);
    let of = |response: Column, law: &str, parameters: &str, theta: &[f64]| {
        let first = if is_joint { " x ~ normal(v, 0.5)\n" } else { "" };
        let text = format!("parameters\n{parameters}record\n{first} y ~ {law}\n");
        let schema = Schema::new(vec![response, x(), real("v", -1.0, 1.0)]).unwrap();
        (TextModel::new(&text, &schema).unwrap(), theta.to_vec())
    };
    let two = " a ~ normal(0, 1)\n s > 0 ~ half_normal(1)\n";
    let bool = || Column::boolean("y", false).unwrap();
    vec![
        of(any(), "normal(a + x, s)", two, &[0.3, 0.2]),
        of(any(), "student_t(4, a + x, s)", two, &[0.3, 0.2]),
        of(any(), "cauchy(a + x, s)", two, &[0.3, 0.2]),
        of(any(), "logistic(a + x, s)", two, &[0.3, 0.2]),
        of(any(), "laplace(a + x, s)", two, &[0.3, 0.2]),
        of(above(), "lognormal(a + x, s)", two, &[0.3, 0.2]),
        of(above(), "exponential(exp(a + x))", two, &[0.3, 0.2]),
        of(above(), "gamma(s, exp(a + x))", two, &[0.3, 0.2]),
        of(above(), "weibull(s, exp(a + x))", two, &[0.3, 0.2]),
        of(real("y", 1e-9, 1.0 - 1e-9), "beta(s, exp(a + x))", two, &[0.3, 0.2]),
        of(bool(), "bernoulli_logit(a + s * x)", two, &[0.3, 0.2]),
        of(count(40.0), "poisson_log(a + s * x)", two, &[0.3, 0.2]),
        of(count(4000.0), "poisson_log(6 + a + s * x)", two, &[0.3, 0.2]),
        of(count(400.0), "neg_binomial(exp(a + x), s)", two, &[0.3, 0.2]),
        of(count(20.0), "binomial_logit(20, a + s * x)", two, &[0.3, 0.2]),
        of(count(20.0), "beta_binomial(20, s, exp(a + x))", two, &[0.3, 0.2]),
        of(level("y"), "categorical_logit(0, a, s * x)", two, &[0.3, 0.2]),
        of(level("y"), "ordered_logistic(x, cut)", " ordered cut[2] ~ normal(0, 2)\n", &[-0.5, 0.3]),
        of(count(40.0), "mixture(inv_logit(a), point(0), poisson_log(s * x))", two, &[0.3, 0.2]),
        of(any(), "mixture(0.4, normal(a, 1), normal(a + 3, s))", two, &[0.3, 0.2]),
    ]
}

fn rows(model: &TextModel, count: usize) -> Vec<f64> {
    let columns = Likelihood::columns(model);
    let mut values = vec![0.0; columns * count];
    let covariate = columns - 1;
    if !model.drawn.contains(&covariate) {
        (0..count).for_each(|i| values[covariate * count + i] = -0.9 + 1.8 * i as f64 / count as f64);
    }
    values
}

/// Weights add up to 1 for every record, and over shifts the expected score is 0: the score identity.
#[test]
fn stand_ins_have_the_moments_of_their_law() {
    for (model, theta) in texts(false) {
        let (count, d) = (16, theta.len());
        let values = rows(&model, count);
        let given = Likelihood::given(&model).unwrap();
        let shifts: Vec<f64> = (0..count * given.shifts()).map(|k| share(k, 3)).collect();
        let mut out = StandIns::default();
        let mut scratch = Scratch::default();
        given.make_up(Block::over(&values, count, count), &theta, Some(&shifts), &mut out, &mut scratch);
        let all = count * given.stand_ins();
        let mut scores = vec![0.0; d * all];
        model.gradient(Block::over(&out.values, all, all), &theta, &mut scores, &mut scratch);
        let name = model.responses[0].law.names().join(" ");
        let each = given.stand_ins();
        for weights in out.weights.chunks_exact(each) {
            assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{name}");
        }
        for lane in scores.chunks_exact(all) {
            // Nodes without weight may be anywhere.
            let of = |power: i32| -> f64 {
                let counted = out.weights.iter().zip(lane).filter(|(weight, _)| **weight > 0.0);
                counted.map(|(weight, score)| weight * score.powi(power)).sum::<f64>() / count as f64
            };
            let (mean, square) = (of(1), of(2));
            assert!(mean.abs() < 0.01 * square.sqrt() + 1e-9, "{name}: {mean} {square}");
        }
    }
}

/// A centre is the mean of clipped scores of records that are drawn from the law.
#[test]
fn centres_are_means_of_clipped_scores() {
    const DRAWS: usize = 40_000;
    for (model, theta) in texts(false) {
        let d = theta.len();
        let whitening: Vec<f64> = (0..d * d).map(|k| if k % (d + 1) == 0 { 1.0 } else { 0.1 }).collect();
        let clip = 0.8;
        let centring = Centring { theta: &theta, whitening: &whitening, clip };
        let row = rows(&model, 1);
        let (mut centre, mut scratch) = (vec![0.0; d], Scratch::default());
        let given = Likelihood::given(&model).unwrap();
        centring.write((&model, given), Block::over(&row, 1, 1), &mut centre, &mut scratch);
        let mut state = 1_u64;
        let mut uniform = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((state >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
        };
        let mut mean = vec![0.0; d];
        for _ in 0..DRAWS {
            let (mut drawn, mut score) = (row.clone(), vec![0.0; d]);
            model.respond(&theta, &mut uniform, &mut drawn);
            model.gradient(Block::over(&drawn, 1, 1), &theta, &mut score, &mut scratch);
            let u: Vec<f64> = whitening
                .chunks_exact(d)
                .map(|row| row.iter().zip(&score).map(|(w, s)| w * s).sum())
                .collect();
            let length = u.iter().map(|x| x * x).sum::<f64>().sqrt();
            mean.iter_mut().zip(u).for_each(|(m, x)| *m += x * (clip / length).min(1.0) / DRAWS as f64);
        }
        let name = model.responses[0].law.names().join(" ");
        for (found, drawn) in centre.iter().zip(&mean) {
            // Five standard errors, and what nodes lack at the clip's kink.
            assert!(
                (found - drawn).abs() < 5.0 * clip / (DRAWS as f64).sqrt() + 0.02,
                "{name}: {centre:?} {mean:?}"
            );
        }
    }
}

#[test]
fn what_was_not_seen_as_it_is_has_no_expected_score() {
    let schema =
        Schema::new(vec![Column::real("y", 0.1, 9.0, 1.0).unwrap(), Column::boolean("seen", false).unwrap()])
            .unwrap();
    for record in [
        "y | censored(not seen) ~ weibull(exp(a), 1)",
        "y | censored ~ weibull(exp(a), 1)",
        "y | truncated ~ weibull(exp(a), 1)",
        "y ~ uniform(0, exp(a))",
        "log_density = -a * y",
    ] {
        let text = format!("parameters\n a ~ normal(0, 1)\nrecord\n {record}\n");
        let model = TextModel::new(&text, &schema).unwrap();
        assert!(Likelihood::given(&model).is_err(), "{record}");
    }
}

/// Texts with several responses: the examples, and one whose later responses follow from counts and levels.
fn joint_texts() -> Vec<(TextModel, Vec<f64>)> {
    let real = |name: &str, high: f64| Column::real(name, -high, high, 0.0).unwrap();
    let of = |text: &str, columns: Vec<Column>, theta: &[f64]| {
        (TextModel::new(text, &Schema::new(columns).unwrap()).unwrap(), theta.to_vec())
    };
    let examples = [
        include_str!("../../../../../../examples/models/banana.model"),
        include_str!("../../../../../../examples/models/measurement-error.model"),
    ];
    let counts = "parameters\n a ~ normal(0, 1)\n b ~ normal(0, 1)\n s > 0 ~ half_normal(1)\nrecord\n \
                  n ~ mixture(0.2, point(0), poisson_log(5 * v + b))\n g ~ categorical_logit(0, a, a * n)\n \
                  z ~ bernoulli_logit(a + b * n)\n m ~ neg_binomial(exp(a + z), s)\n y ~ gamma(s, exp(b * m / 9))\n";
    let level = ["a", "b", "c"].map(String::from).to_vec();
    let columns = vec![
        Column::integer("n", 0.0, 99.0, 0.0).unwrap(),
        Column::category("g", level, "a").unwrap(),
        Column::boolean("z", false).unwrap(),
        Column::integer("m", 0.0, 50.0, 0.0).unwrap(),
        Column::real("y", 1e-9, 1e3, 1.0).unwrap(),
        real("v", 1.0),
    ];
    let mut texts = texts(true);
    texts.push(of(examples[0], vec![real("x1", 50.0), real("x2", 50.0)], &[0.0, 3.0]));
    texts.push(of(examples[1], vec![real("w", 10.0), real("y", 20.0)], &[0.5, 1.0, 0.0, 0.0, -0.5]));
    texts.push(of(counts, columns, &[0.4, 0.3, 0.2]));
    texts
}

/// Programs that run the gradient over the law's nodes against synthetic records, for every law that can be centred.
#[test]
fn programs_take_off_what_made_up_records_do() {
    use crate::terms::{Centre, Precondition, shifted};
    const RECORDS: usize = 40;
    for (model, theta) in texts(false).into_iter().chain(joint_texts()) {
        let d = theta.len();
        let mut values = rows(&model, RECORDS);
        for response in &model.responses {
            let (low, high) = model.columns[response.column].range();
            let lane = &mut values[response.column * RECORDS..(response.column + 1) * RECORDS];
            lane.iter_mut().enumerate().for_each(|(i, y)| *y = ((i % 3) as f64).clamp(low, high));
        }
        let whitening: Vec<f64> = (0..d * d).map(|k| if k % (d + 1) == 0 { 1.3 } else { -0.4 }).collect();
        for clip in [0.2, 1.5] {
            let centring = Centring { theta: &theta, whitening: &whitening, clip };
            let tile = Block::over(&values, RECORDS, RECORDS);
            let (mut centres, mut scores) = (vec![f64::NAN; d * RECORDS], vec![f64::NAN; d * RECORDS]);
            centring.write((&model, &model), tile, &mut centres, &mut Scratch::new());
            model.gradient(tile, &theta, &mut scores, &mut Scratch::new());
            let precondition = Precondition::Dense(&whitening);
            let term = shifted(&model, &theta, precondition, clip, Centre::Expected).unwrap();
            let found = outputs(&term.row, tile);
            for i in 0..RECORDS {
                let entry = |row: &[f64]| (0..d).map(|j| row[j] * scores[j * RECORDS + i]).sum::<f64>();
                let own: Vec<f64> = whitening.chunks_exact(d).map(entry).collect();
                let length = own.iter().map(|x| x * x).sum::<f64>().sqrt();
                let factor = if length > clip { clip / length } else { 1.0 };
                for (j, x) in own.iter().enumerate() {
                    let (found, m) = (found[j * RECORDS + i], centres[j * RECORDS + i]);
                    let apart = (found - (x * factor - m)).abs();
                    let names: Vec<_> = model.scores.iter().map(|scores| scores.law.names()).collect();
                    // A thousandth of a step of the lattice.
                    assert!(apart <= clip * 1e-3 / (1_u64 << 30) as f64, "{names:?}: record {i}, {apart}");
                }
            }
        }
    }
}

/// Every law of a count takes more than 40 000 instructions, a hundred of them more than the machine runs.
#[test]
fn texts_too_large_for_a_program_have_no_expected_term() {
    use crate::terms::{Centre, Precondition, shifted};
    let names: Vec<String> = (0..100).map(|k| format!("y{k}")).collect();
    let columns = names.iter().map(|name| Column::integer(name, 0.0, 9.0, 0.0).unwrap()).collect();
    let laws: String = names.iter().map(|name| format!(" {name} ~ poisson_log(a)\n")).collect();
    let text = format!("parameters\n a ~ normal(0, 1)\nrecord\n{laws}");
    let model = TextModel::new(&text, &Schema::new(columns).unwrap()).unwrap();
    assert!(shifted(&model, &[0.3], Precondition::Dense(&[1.0]), 1.0, Centre::Expected).is_none());
}
