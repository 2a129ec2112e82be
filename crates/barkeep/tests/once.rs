//! Holds the samplers whose draws follow from one paid answer against posteriors known in closed form.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot set itself up has failed")]

mod written;

use barkeep::accounting::{Neighbours, Sampling};
use barkeep::curator::{
    Ask, Asked, Budget, Clip, Curator, Gate, NoiseRng, PrivacyModel, Shape, Sum, TableBuilder, Temper, Term,
};
use barkeep::data::{Column, Schema};
use barkeep::model::families::gaussian::Gaussian;
use barkeep::model::{Design, GaussianMean, Likelihood, Model, Nuisance, Prior, Regression};
use barkeep::{Bill, Certificate, PublicRng};
use std::sync::Arc;
use written::{moments, plan, refusal, run, series, simulated};

fn gaussian(records: usize, epsilon: f64, sampler: &str) -> String {
    format!(
        "[data]\npath = 'r.csv'\nrecords = {records}\n[data.columns]\n\
         x1 = {{ min = -30, max = 20, invalid = 0 }}\nx2 = {{ min = -20, max = 30, invalid = 0 }}\n\
         [model]\nname = 'gaussian'\ncovariance = [[1, 0.6], [0.6, 2]]\nprior_mean = [0.5, 0]\nprior_variance = 4\n\
         [privacy]\nepsilon = {epsilon}\ndelta = 1e-6\n[sampler]\n{sampler}\n"
    )
}

/// Pearson's chi-square; outcomes too rare for its law are put together with their neighbours.
///
/// P(χ²_k ≥ k + 2√(kx) + 2x) ≤ e^−x (Laurent and Massart 2000): a right sampler fails with probability 1e-6.
fn assert_counts(name: &str, counts: &[f64], probabilities: &[f64]) {
    let total: f64 = counts.iter().sum();
    let (mut statistic, mut bins) = (0.0, 0);
    let (mut count, mut chance) = (0.0, 0.0);
    for (k, (c, p)) in counts.iter().zip(probabilities).enumerate() {
        (count, chance) = (count + c, chance + p);
        let rest: f64 = probabilities[k + 1..].iter().sum();
        if total * chance >= 10.0 && (total * rest >= 10.0 || k + 1 == counts.len()) {
            statistic += (count - total * chance).powi(2) / (total * chance);
            (count, chance, bins) = (0.0, 0.0, bins + 1);
        }
    }
    assert!(bins >= 4, "{name}: too few bins to tell");
    let (freedom, evidence) = (f64::from(bins) - 1.0, 13.8155);
    let limit = freedom + 2.0 * (freedom * evidence).sqrt() + 2.0 * evidence;
    assert!(statistic < limit, "{name}: chi-square {statistic} with {freedom} degrees of freedom");
}

#[test]
fn noisy_statistics_give_the_posterior_of_the_records_where_noise_is_small() {
    let plan = plan(&gaussian(500, 10_000.0, "name = 'statistics'\nsteps = 20000")).unwrap();
    let (table, centre) = simulated(&plan, &[1.0, -1.0], 3);
    let model = GaussianMean::new(&[1.0, 0.6, 0.6, 2.0], &[0.5, 0.0], &[4.0, 0.0, 0.0, 4.0]).unwrap();
    let (mean, covariance) = model.posterior(500.0, 1.0, &centre).unwrap();
    let draws = series(&run(&plan, table, 5), 0);
    let n = 20_000_f64;
    for j in 0..2 {
        let (m, s) = moments(&draws[j]);
        let sd = covariance[3 * j].sqrt();
        // The noise, about 0.4 on a sum whose spread is 22, adds 0.02 of a posterior sd.
        assert!((m - mean[j]).abs() < sd * (5.0 / n.sqrt() + 0.1), "{m} {}", mean[j]);
        assert!((s / sd - 1.0).abs() < 5.0 / (2.0 * n).sqrt() + 0.001, "{s} {sd}");
    }
    let product: f64 = draws[0].iter().zip(&draws[1]).map(|(x, y)| (x - mean[0]) * (y - mean[1]) / n).sum();
    let error = ((covariance[0] * covariance[3] + covariance[1].powi(2)) / n).sqrt();
    assert!((product - covariance[1]).abs() < 5.0 * error + 0.01 * covariance[1].abs(), "{product}");
}

#[test]
fn a_true_parameter_ranks_anywhere_among_its_posterior_draws() {
    // If θ comes from the prior, its rank among draws from the exact posterior is uniform, whatever the noise. Here
    // noise and spread of the records are about equal.
    let plan = plan(&gaussian(50, 40.0, "name = 'statistics'\nsteps = 99")).unwrap();
    let model = Arc::clone(plan.spec().model());
    let mut counts = [[0.0; 10]; 2];
    for seed in 0..600 {
        let (mut rng, mut theta) = (PublicRng::new(seed, 3), [0.0; 2]);
        model.sample_prior(&mut || rng.open_uniform(), &mut theta);
        let (table, _) = simulated(&plan, &theta, 1000 + seed);
        for (j, draws) in series(&run(&plan, table, seed), 0).iter().enumerate() {
            let rank = draws.iter().filter(|draw| **draw < theta[j]).count();
            counts[j][rank / 10] += 1.0;
        }
    }
    for counts in counts {
        assert_counts("ranks", &counts, &[0.1; 10]);
    }
}

fn regression(sd: f64) -> (Regression, Schema) {
    let prior = Prior::Normal { mean: 0.25, sd: 1.5 };
    let design = Design::new("y", vec!["a".into(), "b".into()], true, prior).unwrap();
    let schema = Schema::new(vec![
        Column::real("y", -30.0, 25.0, 0.0).unwrap(),
        Column::real("a", -5.0, 5.0, 0.0).unwrap(),
        Column::real("b", -7.0, 6.0, 0.0).unwrap(),
    ]);
    (Regression::new(design, Box::new(Gaussian { sd: Nuisance::Known(sd) })).unwrap(), schema.unwrap())
}

/// Records of a regression as rows.
fn rows(model: &dyn Model, theta: &[f64], records: usize, seed: u64) -> Vec<Vec<f64>> {
    let mut rng = PublicRng::new(seed, 0);
    let mut row = vec![0.0; model.columns()];
    (0..records)
        .map(|_| {
            model.simulate(theta, &mut || rng.open_uniform(), &mut row);
            row.clone()
        })
        .collect()
}

#[test]
fn a_regression_without_noise_is_the_textbook_one() {
    let (model, schema) = regression(0.8);
    let rows = rows(&model, &[0.5, -1.0, 2.0], 300, 9);
    let mut builder = TableBuilder::new(schema.clone(), rows.len()).unwrap();
    rows.iter().for_each(|row| builder.push_row(row).unwrap());
    let model = Arc::new(model);
    let statistics = model.statistics(&schema).unwrap();
    let privacy_model = PrivacyModel { neighbours: Neighbours::Substitute };
    let gate = Curator::new(builder.finish().unwrap(), privacy_model, Budget::not_private());
    let mut gate = Gate::open(&Arc::new(gate.unwrap()), NoiseRng::insecure_seed(1)).unwrap();
    let mut sum = vec![0.0; statistics.width()];
    let clip = Clip::new(statistics.bound()).unwrap();
    let term = barkeep::model::terms::statistics(&*model, &schema).unwrap();
    let term = Term::Program(Asked { term: &term, shape: Shape::Ball });
    let question = Sum { term, temper: Temper::NONE, clip, batch: Sampling::Full, sigma: 0.0 };
    gate.sum(&question, &mut sum).unwrap();
    let (mean, covariance) = statistics.posterior(300.0, &sum, 1e-12).unwrap();
    // Precision XᵀX/s² + I/1.5², by plain sums; the mean solves precision·mean = Xᵀy/s² + 0.25/1.5².
    let mut precision = [[0.0; 3]; 3];
    let mut pull = [0.25 / 2.25; 3];
    for row in &rows {
        let x = [1.0, row[1], row[2]];
        for i in 0..3 {
            pull[i] += x[i] * row[0] / 0.64;
            (0..3).for_each(|j| precision[i][j] += x[i] * x[j] / 0.64);
        }
    }
    for i in 0..3 {
        precision[i][i] += 1.0 / 2.25;
        let row: f64 = (0..3).map(|j| precision[i][j] * mean[j]).sum();
        assert!((row / pull[i] - 1.0).abs() < 1e-4, "{row} {}", pull[i]);
        for j in 0..3 {
            let unit: f64 = (0..3).map(|k| precision[i][k] * covariance[k * 3 + j]).sum();
            assert!((unit - f64::from(u8::from(i == j))).abs() < 1e-4, "{unit}");
        }
    }
    assert!(gate.sum(&question, &mut [0.0; 3]).is_err(), "another length");
    assert!(statistics.neglects().is_some());
}

#[test]
fn a_noisy_regression_says_how_wrong_it_may_be() {
    // Coefficients drawn from the prior, noise as large as the spread of the sums: standardised errors have mean square
    // about 1. The posterior is approximate, so the comparison is a coarse one.
    let (model, schema) = regression(0.8);
    let (statistics, written) =
        (model.statistics(&schema).unwrap(), model.statistics_program(&schema).unwrap());
    for (noise, allowed) in [(0.3, 0.12), (2.0, 0.2)] {
        let (mut squares, repetitions) = ([0.0; 3], 400);
        for seed in 0..repetitions {
            let (mut rng, mut theta) = (PublicRng::new(seed, 5), [0.0; 3]);
            model.sample_prior(&mut || rng.open_uniform(), &mut theta);
            let mut out = vec![0.0; statistics.width() * 400];
            let rows = rows(&model, &theta, 400, 900 + seed);
            let columns: Vec<f64> = (0..3).flat_map(|j| rows.iter().map(move |row| row[j])).collect();
            let block = barkeep::data::Block::over(&columns, 400, 400);
            barkeep::machine::Machine::default().write_all(&written, block, &mut out);
            let noisy: Vec<f64> = out
                .chunks_exact(400)
                .map(|column| column.iter().sum::<f64>() + noise * rng.normal())
                .collect();
            let (mean, covariance) = statistics.posterior(400.0, &noisy, noise * noise).unwrap();
            for j in 0..3 {
                squares[j] += (mean[j] - theta[j]).powi(2) / covariance[4 * j] / repetitions as f64;
            }
        }
        // A mean of 400 squares of normals has standard error 0.07.
        assert!(
            squares.iter().all(|square| (square - 1.0).abs() < 5.0 * 0.0707 + allowed),
            "{noise}: {squares:?}"
        );
    }
}

fn bernoulli(epsilon: f64, sampler: &str) -> String {
    format!(
        "[data]\npath = 'r.csv'\nrecords = 60\n[data.columns]\nx = {{ kind = 'bool', invalid = false }}\n\
         [model]\nname = 'bernoulli'\nprior = [2, 1]\n[privacy]\nepsilon = {epsilon}\ndelta = 1e-6\n\
         [sampler]\nname = 'ops'\n{sampler}\n"
    )
}

/// How often each of the grid's points is drawn.
fn drawn(text: &str, theta: &[f64], grid: &[f64], repetitions: u64) -> (Vec<f64>, Vec<f64>) {
    let plan = plan(text).unwrap();
    let mut counts = vec![0.0; grid.len()];
    let (_, mean) = simulated(&plan, theta, 4);
    for seed in 0..repetitions {
        let run = run(&plan, simulated(&plan, theta, 4).0, seed);
        for draw in series(&run, 0)[0].iter() {
            let nearest =
                grid.iter().position(|point| (point - draw).abs() < 1e-9).expect("a point of the grid");
            counts[nearest] += 1.0;
        }
    }
    (counts, mean)
}

fn normalised(weights: Vec<f64>) -> Vec<f64> {
    let total: f64 = weights.iter().sum();
    weights.iter().map(|weight| weight / total).collect()
}

#[test]
fn a_rate_is_drawn_from_its_tempered_posterior_on_the_grid() {
    // Between log-odds −2 and 2 the log-ratios of 0 and 1 span ln r(2)/r(−2) = 2, so ε = 2·2·power and power = ε/4.
    let (epsilon, grid): (f64, Vec<f64>) = (1.2, (0..9).map(|k| -2.0 + 0.5 * f64::from(k)).collect());
    let text = bernoulli(epsilon, "low = -2\nhigh = 2\ngrid = 9");
    let (counts, mean) = drawn(&text, &[0.7], &grid, 3000);
    let power = epsilon / 4.0;
    let weight = |odds: &f64| {
        let rate = 1.0 / (1.0 + (-odds).exp());
        let (ones, zeros) = (2.0 + power * 60.0 * mean[0], 1.0 + power * 60.0 * (1.0 - mean[0]));
        rate.powf(ones) * (1.0 - rate).powf(zeros)
    };
    let probabilities = normalised(grid.iter().map(weight).collect());
    assert_counts("rates", &counts, &probabilities);
}

#[test]
fn a_mean_is_drawn_from_its_tempered_posterior_in_the_box() {
    let text = |sampler: &str| {
        format!(
            "[data]\npath = 'r.csv'\nrecords = 200\n[data.columns]\nx = {{ min = -4, max = 4, invalid = 0 }}\n\
             [model]\nname = 'gaussian'\nprior_variance = 100\n[privacy]\nepsilon = 2\ndelta = 1e-6\n\
             [sampler]\nname = 'ops'\n{sampler}\n"
        )
    };
    let grid: Vec<f64> = (0..6).map(|k| -1.0 + 0.4 * f64::from(k)).collect();
    let (counts, mean) = drawn(&text("low = -1\nhigh = 1\ngrid = 6\nsteps = 2"), &[0.2], &grid, 2000);
    // (x − θ/2)θ for |x| ≤ 4, |θ| ≤ 1 spans [−4.5, 3.5], so a draw at ε = 1 has power 1/16.
    let weight = |theta: &f64| {
        let fit = 200.0 / 16.0 * (mean[0] - 0.5 * theta) * theta;
        (fit - theta * theta / 200.0).exp()
    };
    let probabilities = normalised(grid.iter().map(weight).collect());
    assert_eq!(counts.iter().sum::<f64>(), 4000.0);
    assert_counts("means", &counts, &probabilities);
}

/// The forecast of exact statistics is measured: means scatter about those without privacy as much as it says.
#[test]
fn statistics_are_off_by_what_the_plan_expects() {
    let plan = plan(&gaussian(4000, 1.0, "name = 'statistics'\nsteps = 400")).unwrap();
    let expected = plan.expected().unwrap();
    let exact = with_little_noise();
    let mut squares = Vec::new();
    for seed in 0..40 {
        let means = [&plan, &exact].map(|plan| {
            let run = run(plan, simulated(plan, &[1.0, -1.0], seed).0, seed);
            series(&run, 0).iter().map(|draws| moments(draws)).collect::<Vec<_>>()
        });
        for (found, right) in means[0].iter().zip(&means[1]) {
            squares.push(((found.0 - right.0) / right.1).powi(2));
        }
    }
    let measured = moments(&squares).0.sqrt();
    // Eighty squares: within a third at four standard errors of their root.
    assert!((expected.error / measured - 1.0).abs() < 0.35, "{expected:?} where {measured} was measured");
    assert!((expected.width - expected.error.hypot(1.0)).abs() < 1e-9);
    // Nothing is promised where no formula says it.
    let unknown = barkeep::facts::Value::Absent;
    let grid = self::plan(&bernoulli(1.0, "low = -3\nhigh = 3\nsteps = 3")).unwrap();
    assert!(grid.expected().is_none() && grid.fact("expected_error").unwrap().value == unknown);
}

/// The same with a budget whose noise does not show.
fn with_little_noise() -> barkeep::Plan {
    plan(&gaussian(4000, 10_000.0, "name = 'statistics'\nsteps = 400")).unwrap()
}

#[test]
fn one_answer_is_certified_once() {
    for (text, theta) in [
        (gaussian(400, 1.0, "name = 'statistics'\nsteps = 500"), vec![1.0, -1.0]),
        (bernoulli(1.0, "low = -3\nhigh = 3\nsteps = 3"), vec![0.3]),
    ] {
        let plan = plan(&text).unwrap();
        let mut certificate = Certificate::of(&plan);
        let run = run(&plan, simulated(&plan, &theta, 2).0, 6);
        certificate.steps_used = Some(run.steps_used.clone());
        let epsilon = certificate.verify().unwrap().epsilon.get();
        assert!(epsilon <= 1.0 && epsilon > 0.99, "{epsilon}");
        match plan.bill().unwrap() {
            Bill::Once(contract) => {
                assert_eq!(contract.parts()[0].1.0, 1);
                assert_eq!(run.steps_used, [500]);
            }
            Bill::Contract(contract) => {
                assert_eq!(contract.parts()[0].1.0, 3);
                assert!(certificate.released.iter().any(|what| what.contains("public grid")));
            }
            Bill::Gaussian { .. } | Bill::Filter { .. } => panic!("a fixed price"),
        }
        assert_eq!(plan.burn_in().0, 0);
    }
}

#[test]
fn faults_are_refused_with_the_reason() {
    let banana = |sampler: &str| {
        gaussian(100, 1.0, sampler).replace(
            "name = 'gaussian'\ncovariance = [[1, 0.6], [0.6, 2]]\nprior_mean = [0.5, 0]\nprior_variance = 4",
            "name = 'banana'",
        )
    };
    let cases = [
        (banana("name = 'statistics'"), "posterior follows from sums over records"),
        (banana("name = 'ops'\nlow = 0\nhigh = 1"), "proven bound on a grid"),
        (bernoulli(1.0, "high = 1"), "`sampler.low`: is required"),
        (bernoulli(1.0, "low = 1\nhigh = 1"), "`sampler.high`: must be above low"),
        (bernoulli(1.0, "low = [0, 0]\nhigh = 1"), "`sampler.low`"),
        (bernoulli(1.0, "low = -1\nhigh = inf"), "`sampler.high`"),
        (bernoulli(1.0, "low = 0\nhigh = 1\ngrid = 1"), "`sampler.grid`"),
        (bernoulli(1.0, "low = 0\nhigh = 1\ngrid = 70000"), "`sampler.grid`"),
        (bernoulli(1e-12, "low = 0\nhigh = 1"), "has no price here"),
        (gaussian(100, 1.0, "name = 'statistics'\nchains = 2"), "`sampler.chains`"),
        (gaussian(100, 1.0, "name = 'statistics'\nclip = 1e30"), "`sampler.clip`"),
        (
            gaussian(100, 1.0, "name = 'statistics'").replace("prior_mean", "temper = 0.5\nprior_mean"),
            "needs temper = 1",
        ),
        (
            gaussian(100, 1.0, "name = 'statistics'").replace("1e-6", "1e-6\nneighbours = 'add-remove'"),
            "secret where neighbours",
        ),
    ];
    for (text, expected) in cases {
        let found = refusal(&text);
        assert!(found.contains(expected), "{found}");
    }
}

/// A few noisy scores of models without features: where much is spent, the posterior without privacy.
#[test]
fn scores_of_whole_records_give_their_posterior() {
    let plan = plan(&gaussian(3000, 30.0, "name = 'noise-aware'\nsteps = 2000")).unwrap();
    let (table, centre) = simulated(&plan, &[1.0, -1.0], 3);
    let model = GaussianMean::new(&[1.0, 0.6, 0.6, 2.0], &[0.5, 0.0], &[4.0, 0.0, 0.0, 4.0]).unwrap();
    let (mean, covariance) = model.posterior(3000.0, 1.0, &centre).unwrap();
    for (j, draws) in series(&run(&plan, table, 5), 0).iter().enumerate() {
        let (found, spread) = moments(draws);
        let sd = covariance[3 * j].sqrt();
        assert!((found - mean[j]).abs() < 0.8 * sd, "{j}: {found} {} {sd}", mean[j]);
        assert!((0.9..1.3).contains(&(spread / sd)), "{j}: {spread} {sd}");
    }
}

/// The mixture's two modes have the same records: draws are taken round both.
#[test]
fn scores_of_a_mixture_find_both_of_its_modes() {
    let text = "[data]\npath = 'r.csv'\nrecords = 20000\n[data.columns]\nx = { min = -20, max = 20, invalid = 0 }\n\
         [model]\nname = 'mixture'\n[privacy]\nepsilon = 4\ndelta = 1e-6\n[sampler]\nname = 'noise-aware'\nsteps = 2000\n";
    let plan = plan(text).unwrap();
    let (table, _) = simulated(&plan, &[0.0, 3.0], 3);
    let draws = series(&run(&plan, table, 5), 0);
    let (near, far): (Vec<f64>, Vec<f64>) = draws[1].iter().partition(|apart| **apart > 0.0);
    // Priors differ by (3² − 0)/20 in the logarithm: the mode at (3, −3) has a share of e^−0.45/(1 + e^−0.45) = 0.39.
    let share = far.len() as f64 / draws[1].len() as f64;
    assert!((0.25..0.55).contains(&share), "{share}");
    for (modes, truth) in [(near, 3.0), (far, -3.0)] {
        let (mean, sd) = moments(&modes);
        assert!((mean - truth).abs() < 4.0 * sd && sd < 0.2, "{mean} {sd}");
    }
}
