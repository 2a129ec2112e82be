//! Holds what is expected of a model's answers to plain averages over records simulated at θ.

use super::*;
use crate::public_rng::PublicRng;
use crate::samplers::noise_aware::questions::coordinates::Coordinates;
use crate::samplers::noise_aware::questions::whole_scores::believed;
use crate::spec::Spec;
use std::path::Path;

pub(crate) fn source(columns: &str, model: &str) -> Source {
    let text = format!(
        "[data]\npath = 'nothing'\nrecords = 400\n[data.columns]\n{columns}\n[model]\n{model}\n[privacy]\nepsilon = 1.0\ndelta = 1e-5\n"
    );
    let spec = Spec::parse(&text, Path::new("")).unwrap();
    let (model, likelihood) = (Arc::clone(spec.model()), Arc::clone(spec.likelihood()));
    let origin = match model.uniforms() {
        Some(uniforms) => Origin::whole(uniforms),
        None => believed(&*likelihood, Coordinates::given(spec.data().view(), model.responses()).as_ref()),
    };
    Source { origin, model, likelihood, records: 400.0 }
}

/// Records simulated at θ, column by column; their columns that are no responses are made up in turn.
fn simulated(source: &Source, theta: &[f64], count: usize) -> Vec<f64> {
    let mut rng = PublicRng::new(3, 9);
    let columns = source.likelihood.columns();
    let (mut values, mut row) = (vec![0.0; columns * count], vec![0.0; columns]);
    for i in 0..count {
        match &source.origin {
            Origin::Whole { .. } => source.model.simulate(theta, &mut || rng.open_uniform(), &mut row),
            Origin::Given(given) => {
                let rows = given.believed.block();
                (0..columns).for_each(|j| row[j] = rows.column(j)[i % given.believed.count]);
                source.model.respond(theta, &mut || rng.open_uniform(), &mut row);
            }
        }
        row.iter().enumerate().for_each(|(j, x)| values[j * count + i] = *x);
    }
    values
}

/// The widest clip of the grid whose cost, computed here from the definition, is within a quarter of the least and within twice what
/// the least adds.
#[test]
fn the_widest_clip_of_nearly_equal_cost_is_taken() {
    let model = "text = \"parameters\\n b0 ~ normal(0, 1)\\n b1 ~ normal(0, 1)\\n s > 0 ~ half_normal(2)\\nrecord\\n y ~ normal(b0 + b1 * a, s)\"";
    let source =
        source("y = { min = -30, max = 30, invalid = 0 }\na = { min = -1, max = 1, invalid = 0 }", model);
    for per_clip in [2.0, 8.0, 30.0] {
        let noise = Noise { per_clip, records: 400.0 };
        let clips = source.clips(&[0.3, 0.5, 0.2]).unwrap().0;
        let costs: Vec<f64> = GRID
            .into_iter()
            .zip(&clips.tried)
            .map(|(narrow, (slope, spread))| clips.cost(slope, spread, narrow, noise).unwrap())
            .collect();
        let least = costs.iter().copied().fold(f64::INFINITY, f64::min);
        let is_near = |cost: f64| cost <= 1.25 * least && cost <= 2.0 * least - 0.98;
        let widest = costs.iter().rposition(|cost| is_near(*cost)).unwrap();
        let cheapest = costs.iter().position(|cost| *cost == least).unwrap();
        assert!(widest > cheapest, "{per_clip}: {costs:?}");
        assert_eq!(clips.chosen(noise).unwrap(), (costs[widest], GRID[widest]));
    }
}

/// For each model: at another θ than the round's and the reference, and its slope by differences.
#[test]
fn expected_answers_are_those_of_simulated_records() {
    let one = "x = { min = -30, max = 30, invalid = 0 }";
    let two = "x1 = { min = -30, max = 30, invalid = 0 }\nx2 = { min = -30, max = 30, invalid = 0 }";
    let bool = "x = { kind = 'bool', invalid = false }";
    let cases = [
        (source(one, "name = 'mixture'"), vec![0.1, 1.4], vec![0.2, 1.2], vec![-0.1, 1.6]),
        (
            source(two, "name = 'gaussian'\ncovariance = [[1, 0.6], [0.6, 2]]"),
            vec![0.3, -0.2],
            vec![0.1, 0.2],
            vec![0.6, 0.1],
        ),
        (
            source(two, "name = 'banana'\na = 0.5\nvariances = [1, 2]"),
            vec![0.3, 0.5],
            vec![0.5, 0.3],
            vec![0.1, 0.6],
        ),
        (source(bool, "name = 'bernoulli'"), vec![-0.4], vec![-0.2], vec![0.1]),
        (
            source(
                "y = { kind = 'integer', min = 0, max = 6, invalid = 0 }\na = { min = -1, max = 1, invalid = 0 }",
                "text = \"parameters\\n b0 ~ normal(0, 1)\\n b1 ~ normal(0, 1)\\nrecord\\n y ~ poisson_log(b0 + b1 * a)\"",
            ),
            vec![0.3, 0.5],
            vec![0.4, 0.4],
            vec![0.3, 0.6],
        ),
        (
            source(
                "t = { min = 1e-3, max = 50, invalid = 1 }\ng = { kind = 'category', levels = ['a', 'b', 'c'], invalid = 'a' }",
                "text = \"parameters\\n b[g] ~ normal(0, 1)\\n s > 0 ~ half_normal(2)\\nrecord\\n t ~ weibull(s, exp(b[g]))\"",
            ),
            vec![0.3, -0.2, 0.1, 0.2],
            vec![0.2, 0.1, 0.1, 0.3],
            vec![0.3, 0.0, 0.2, 0.2],
        ),
        (
            source(
                &format!("{two}\nk = {{ kind = 'bool', invalid = false }}"),
                "text = \"parameters\\n a ~ normal(0, 1)\\n b ~ normal(0, 1)\\nrecord\\n x1 ~ normal(a, 1)\\n k ~ bernoulli_logit(b * x1)\\n x2 ~ student_t(4, a, 2)\"",
            ),
            vec![0.3, 0.6],
            vec![0.2, 0.5],
            vec![0.4, 0.6],
        ),
    ];
    for (source, at, reference, theta) in cases {
        let d = source.dimension();
        let noise = Noise { per_clip: 8.0, records: 400.0 };
        let round = source.round(&at, noise).unwrap();
        let (cost, narrow) = source.clips(&at).unwrap().0.chosen(noise).unwrap();
        assert_eq!(narrow, round.narrowness.0);
        assert!(cost > 1.0 && cost < 10.0, "{cost}");
        let clip = round.clips().0;
        let answered = [source.answered(round.clone())];
        let whole = Whole::new(&source, &answered, &reference).unwrap();
        let found = whole.expected(&answered, &theta, 0, Wanted::Covariance).unwrap();
        let count = 50_000;
        let mut values = simulated(&source, &theta, count);
        let mut centres = round.centre.clone();
        if let Origin::Given(_) = &source.origin {
            let given = source.likelihood.given().unwrap();
            let mut read = barkeep_model::StandIns { values, weights: vec![0.0; count] };
            given.admit(&mut read);
            values = read.values;
            if source.origin.has_columns() {
                // As the gate computes them.
                let centring = Centring { theta: &round.theta, whitening: &round.whitening, clip };
                centres = vec![0.0; d * count];
                let (sides, block) = ((&*source.likelihood, given), Block::over(&values, count, count));
                centring.write(sides, block, &mut centres, &mut Scratch::default());
            }
        }
        let each = centres.len() / d;
        let mut terms = source.whitened(&round.theta, &round.whitening, &values, count);
        clip_each(&mut terms, count, clip);
        shift(&mut terms, count, clip, |j, i| centres[j * each + i * each / count]);
        for j in 0..d {
            let lane = &terms[j * count..(j + 1) * count];
            let level = lane.iter().sum::<f64>() / count as f64;
            let spread = lane.iter().map(|x| (x - level).powi(2)).sum::<f64>() / count as f64;
            // Five standard errors of the simulation, and a hundredth for the few records.
            let slack = 5.0 * (spread / count as f64).sqrt() + 0.01 * clip;
            assert!((found.mean[j] - level).abs() < slack, "{j}: {} {level}", found.mean[j]);
            assert!((found.covariance[j * (d + 1)] / spread - 1.0).abs() < 0.05, "{j}");
        }
        for k in 0..d {
            let moved = |by: f64| {
                let mut moved = theta.clone();
                moved[k] += by;
                whole.expected(&answered, &moved, 0, Wanted::Mean).unwrap().mean
            };
            let (more, less) = (moved(1e-4), moved(-1e-4));
            for j in 0..d {
                let slope = (more[j] - less[j]) / 2e-4;
                assert!((found.slopes[j * d + k] - slope).abs() < 1e-5 * (1.0 + slope.abs()), "{j} {k}");
            }
        }
        // At the reference the mean is that over many records, whatever the few say.
        let home = whole.expected(&answered, &reference, 0, Wanted::Mean).unwrap();
        let sample = source.made_up(&reference).unwrap();
        let terms = source.terms(&round, &answered[0].held.centres, &sample);
        for (lane, level) in terms.chunks_exact(sample.weights.len()).zip(&home.mean) {
            assert!((mean(lane, &sample.weights) - level).abs() < 1e-9 * clip.max(1.0));
        }
    }
}

/// Searches start at points of the prior, too: where it is wide they lie far out, and must not be taken for modes.
#[test]
fn a_wide_prior_leaves_the_mode_that_the_answers_show() {
    let text = "[data]\npath = 'nothing'\nrecords = 1000\n[data.columns]\nx1 = { min = -30, max = 30, invalid = 0 }\n\
                x2 = { min = -30, max = 30, invalid = 0 }\n[model]\nname = 'gaussian'\ncovariance = [[1, 0.6], [0.6, 2]]\n\
                [privacy]\nepsilon = 1.0\ndelta = 1e-6\n[sampler]\nname = 'noise-aware'\nsteps = 200\n";
    let plan = crate::Plan::new(Spec::parse(text, Path::new("")).unwrap()).unwrap();
    let model = Arc::clone(plan.spec().model());
    let (mut rng, mut row) = (PublicRng::new(2027, 0), vec![0.0; 2]);
    let mut builder =
        barkeep_curator::TableBuilder::viewed(plan.view().clone(), plan.spec().count()).unwrap();
    for _ in 0..1000 {
        model.simulate(&[0.6, -0.4], &mut || rng.open_uniform(), &mut row);
        builder.push_row(&row).unwrap();
    }
    let table = barkeep_curator::insecure::SharedTable::from(builder.finish().unwrap());
    let run = plan.runner().run_shared(&table, crate::insecure::Insecure::seed(1000)).unwrap();
    for (row, truth) in run.summary().parameters.iter().zip([0.6, -0.4]) {
        let (mean, sd) = (row.mean.unwrap(), row.sd.unwrap());
        assert!((mean - truth).abs() < 0.3 && sd < 0.2, "{mean} {sd}");
    }
}

/// Texts with columns, from their answers alone: near the truth, and not much wider than without privacy.
#[test]
fn a_text_is_fitted_from_its_answers() {
    let text = "[data]\npath = 'nothing'\nrecords = 4000\n[data.columns]\ny = { kind = 'integer', min = 0, max = 30, invalid = 0 }\n\
                x = { min = -2, max = 2, invalid = 0 }\n[model]\ntext = \"\"\"\nparameters\n  b0 ~ normal(0, 2)\n  b1 ~ normal(0, 1)\n\
                record\n  y ~ poisson_log(b0 + b1 * x)\n\"\"\"\n[privacy]\nepsilon = 2.0\ndelta = 1e-6\n[sampler]\nname = 'noise-aware'\nsteps = 200\n";
    let plan = crate::Plan::new(Spec::parse(text, Path::new("")).unwrap()).unwrap();
    let model = Arc::clone(plan.spec().model());
    let (mut rng, mut row) = (PublicRng::new(2028, 0), vec![0.0; 2]);
    let mut builder =
        barkeep_curator::TableBuilder::viewed(plan.view().clone(), plan.spec().count()).unwrap();
    for _ in 0..4000 {
        row[1] = (0.8 * rng.normal()).clamp(-2.0, 2.0);
        model.respond(&[0.7, 0.5], &mut || rng.open_uniform(), &mut row);
        builder.push_row(&row).unwrap();
    }
    let table = barkeep_curator::insecure::SharedTable::from(builder.finish().unwrap());
    let run = plan.runner().run_shared(&table, crate::insecure::Insecure::seed(1001)).unwrap();
    for (row, truth) in run.summary().parameters.iter().zip([0.7, 0.5]) {
        let (mean, sd) = (row.mean.unwrap(), row.sd.unwrap());
        assert!((mean - truth).abs() < 4.0 * sd && sd < 0.06, "{mean} {sd}");
    }
}

/// A text with the columns it reads, what its covariates are drawn from, and the truth.
struct Case {
    name: &'static str,
    columns: &'static str,
    text: &'static str,
    truth: &'static [f64],
    covariates: fn(&mut PublicRng, &mut [f64]),
}

const CASES: [Case; 6] = [
    Case {
        name: "poisson",
        columns: "y = { kind = 'integer', min = 0, max = 60, invalid = 0 }\nx = { min = -3, max = 3, invalid = 0 }\n\
                  g = { kind = 'category', levels = ['a', 'b', 'c'], invalid = 'a' }",
        text: "parameters\n b[g] ~ normal(0, 2)\n s ~ normal(0, 1)\nrecord\n y ~ poisson_log(b[g] + s * x)\n",
        truth: &[0.8, 0.3, 1.2, 0.4],
        covariates: |rng, row| {
            row[1] = (0.9 * rng.normal() + 0.2).clamp(-3.0, 3.0);
            let level = rng.uniform();
            row[2] = if level < 0.5 { 0.0 } else { 1.0 + f64::from(u8::from(level > 0.8)) };
        },
    },
    Case {
        name: "weibull",
        columns: "t = { min = 1e-3, max = 100, invalid = 1 }\narm = { kind = 'bool', invalid = false }\n\
                  age = { min = 20, max = 80, invalid = 50, scale = 'bounds' }",
        text: "parameters\n b0 ~ normal(1, 1)\n b1 ~ normal(0, 1)\n b2 ~ normal(0, 1)\n shape > 0 ~ half_normal(2)\n\
               record\n t ~ weibull(shape, exp(b0 + b1 * arm + b2 * age))\n",
        truth: &[0.8, 0.5, -0.4, 0.4],
        covariates: |rng, row| {
            row[1] = f64::from(u8::from(rng.uniform() < 0.4));
            row[2] = (55.0 + 12.0 * rng.normal()).clamp(20.0, 80.0);
        },
    },
    Case {
        name: "student_t",
        columns: "y = { min = -40, max = 40, invalid = 0 }\na = { min = -2, max = 2, invalid = 0 }\n\
                  b = { min = -2, max = 2, invalid = 0 }",
        text: "parameters\n c0 ~ normal(0, 3)\n c1 ~ normal(0, 2)\n c2 ~ normal(0, 2)\n s > 0 ~ half_normal(3)\n\
               record\n y ~ student_t(4, c0 + c1 * a + c2 * a * b, s)\n",
        truth: &[1.0, -0.7, 0.5, 0.3],
        covariates: |rng, row| {
            row[1] = (0.8 * rng.normal()).clamp(-2.0, 2.0);
            row[2] = (0.5 * row[1] + 0.6 * rng.normal()).clamp(-2.0, 2.0);
        },
    },
    Case {
        name: "ordered_logistic",
        columns: "answer = { kind = 'category', levels = ['1', '2', '3', '4'], invalid = '1' }\n\
                  x = { min = -3, max = 3, invalid = 0 }\ntreated = { kind = 'bool', invalid = false }",
        text: "parameters\n b ~ normal(0, 2)\n effect ~ normal(0, 2)\n ordered cut[3] ~ normal(0, 2)\n\
               record\n answer ~ ordered_logistic(b * x + effect * treated, cut)\n",
        truth: &[0.8, -0.5, -1.0, 0.1, 0.3],
        covariates: |rng, row| {
            row[1] = rng.normal().clamp(-3.0, 3.0);
            row[2] = f64::from(u8::from(rng.uniform() < 0.5));
        },
    },
    Case {
        name: "zero-inflated",
        columns: "k = { kind = 'integer', min = 0, max = 40, invalid = 0 }\nx = { min = -1, max = 1, invalid = 0 }",
        text: "parameters\n z ~ normal(0, 1.5)\n a ~ normal(0, 1)\n b ~ normal(0, 1)\n\
               record\n k ~ mixture(inv_logit(z), point(0), poisson_log(a + b * x))\n",
        truth: &[-0.8, 1.0, 0.6],
        covariates: |rng, row| row[1] = 2.0 * rng.uniform() - 1.0,
    },
    Case {
        name: "mixture",
        columns: "x = { min = -30, max = 30, invalid = 0 }",
        text: "parameters\n theta1 ~ normal(0, 3.16227766)\n theta2 ~ normal(0, 1)\n\
               record\n x ~ mixture(0.5, normal(theta1, 1.41421356), normal(theta1 + theta2, 1.41421356))\n",
        truth: &[0.0, 1.0],
        covariates: |_, _| {},
    },
];

/// Shares of 95 % intervals that hold the truth over fresh data sets, and widths over those without privacy.
#[test]
#[ignore = "ten minutes: cargo test -p barkeep --lib coverage_of_texts -- --ignored --nocapture"]
fn coverage_of_texts() {
    let number =
        |name: &str, usual: u64| std::env::var(name).ok().and_then(|x| x.parse().ok()).unwrap_or(usual);
    let (runs, records, only) =
        (number("BARKEEP_RUNS", 50), number("BARKEEP_RECORDS", 3000), std::env::var("BARKEEP_TEXT").ok());
    for case in CASES.iter().filter(|case| only.as_ref().is_none_or(|only| only == case.name)) {
        let text = format!(
            "[data]\npath = 'nothing'\nrecords = {records}\n[data.columns]\n{}\n[model]\ntext = \"\"\"\n{}\"\"\"\n[privacy]\n\
             epsilon = 1.0\ndelta = 1e-6\n[sampler]\nname = 'noise-aware'\n",
            case.columns, case.text
        );
        let plan = crate::Plan::new(Spec::parse(&text, Path::new("")).unwrap()).unwrap();
        let model = Arc::clone(plan.spec().model());
        let d = case.truth.len();
        let (mut held, mut widths, mut errors) = (vec![0; d], Vec::new(), Vec::new());
        for run in 0..runs {
            let (mut rng, mut row) = (PublicRng::new(40_000 + run, 7), vec![0.0; model.columns()]);
            let mut builder =
                barkeep_curator::TableBuilder::viewed(plan.view().clone(), plan.spec().count()).unwrap();
            let (mut information, mut seen) = (vec![0.0; d * d], vec![0.0; model.columns()]);
            let mut score = vec![0.0; d];
            for _ in 0..records {
                (case.covariates)(&mut rng, &mut row);
                seen.copy_from_slice(&row);
                for (x, column) in seen.iter_mut().zip(plan.spec().data().schema().columns()) {
                    if let (barkeep_data::Scale::Bounds, Some((low, high))) =
                        (column.scale(), column.bounds())
                    {
                        *x = (2.0 * *x - low - high) / (high - low);
                    }
                }
                model.respond(case.truth, &mut || rng.open_uniform(), &mut seen);
                model.responses().iter().for_each(|place| row[*place] = seen[*place]);
                builder.push_row(&row).unwrap();
                let block = Block::over(&seen, 1, 1);
                plan.spec().likelihood().gradient(block, case.truth, &mut score, &mut Scratch::default());
                (0..d * d).for_each(|k| information[k] += score[k / d] * score[k % d]);
            }
            let own = Cholesky::new(&information, d).unwrap().inverse();
            let table = barkeep_curator::insecure::SharedTable::from(builder.finish().unwrap());
            let seed = crate::insecure::Insecure::seed(50_000 + run);
            let drawn = match plan.runner().run_shared(&table, seed) {
                Ok(drawn) => drawn,
                Err(error) => {
                    println!("{} {run}: {error}", case.name);
                    continue;
                }
            };
            for (j, row) in drawn.summary().parameters.iter().take(d).enumerate() {
                let mut draws: Vec<f64> = drawn.draws.chains()[0].series(j, 0);
                draws.sort_by(f64::total_cmp);
                let at = |share: f64| draws[(share * (draws.len() - 1) as f64).round() as usize];
                held[j] += u64::from(at(0.025) <= case.truth[j] && case.truth[j] <= at(0.975));
                let sd = own[j * d + j].sqrt();
                widths.push(row.sd.unwrap() / sd);
                errors.push((row.mean.unwrap() - case.truth[j]).abs() / sd);
            }
        }
        widths.sort_by(f64::total_cmp);
        errors.sort_by(f64::total_cmp);
        let total: u64 = held.iter().sum();
        let coverage = total as f64 / (runs * d as u64) as f64;
        println!(
            "{}: coverage {coverage:.3} of {} intervals {held:?}, median width {:.2}, median error {:.2}",
            case.name,
            runs * d as u64,
            widths[widths.len() / 2],
            errors[errors.len() / 2],
        );
        // The modes of a mixture are missed more often, as docs/model-language.md says.
        let least = if case.name.contains("mixture") { 0.8 } else { 0.9 };
        assert!(coverage >= least, "{}", case.name);
    }
}
