//! Holds what is expected of a model's answers to plain averages over records simulated at θ.

use super::*;
use crate::public_rng::PublicRng;
use crate::samplers::noise_aware::expectation::Held;
use crate::spec::Spec;
use std::path::Path;

fn source(columns: &str, model: &str) -> Source {
    let text = format!(
        "[data]\npath = 'nothing'\nrecords = 400\n[data.columns]\n{columns}\n[model]\n{model}\n[privacy]\nepsilon = 1.0\ndelta = 1e-5\n"
    );
    let spec = Spec::parse(&text, Path::new("")).unwrap();
    let (model, likelihood) = (Arc::clone(spec.model()), Arc::clone(spec.likelihood()));
    Source { uniforms: model.uniforms().unwrap(), model, likelihood, records: 400.0 }
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
    ];
    for (source, at, reference, theta) in cases {
        let d = source.dimension();
        let (round, cost) = source.round(&at, Noise { per_clip: 8.0, records: 400.0 }).unwrap();
        assert!(cost > 1.0 && cost < 10.0, "{cost}");
        let clip = round.clips().0;
        let answered = [Answered { round: round.clone(), held: Held::default(), others: Vec::new() }];
        let whole = Whole::new(&source, &answered, &reference);
        let found = whole.expected(&answered, &theta, FEW, Wanted::Covariance).unwrap();
        let mut rng = PublicRng::new(3, 9);
        let count = 200_000;
        let mut values = vec![0.0; source.likelihood.columns() * count];
        let mut row = vec![0.0; source.likelihood.columns()];
        for i in 0..count {
            source.model.simulate(&theta, &mut || rng.open_uniform(), &mut row);
            row.iter().enumerate().for_each(|(j, x)| values[j * count + i] = *x);
        }
        let mut terms = source.whitened(&round.theta, &round.whitening, &values, count);
        clip_each(&mut terms, count, clip);
        shift(&mut terms, count, &round.centre, clip);
        for j in 0..d {
            let lane = &terms[j * count..(j + 1) * count];
            let mean = lane.iter().sum::<f64>() / count as f64;
            let spread = lane.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / count as f64;
            // Five standard errors of the simulation, and a hundredth for the few records.
            let slack = 5.0 * (spread / count as f64).sqrt() + 0.01 * clip;
            assert!((found.mean[j] - mean).abs() < slack, "{j}: {} {mean}", found.mean[j]);
            assert!((found.covariance[j * (d + 1)] / spread - 1.0).abs() < 0.05, "{j}");
        }
        for k in 0..d {
            let moved = |by: f64| {
                let mut moved = theta.clone();
                moved[k] += by;
                whole.expected(&answered, &moved, FEW, Wanted::Mean).unwrap().mean
            };
            let (more, less) = (moved(1e-4), moved(-1e-4));
            for j in 0..d {
                let slope = (more[j] - less[j]) / 2e-4;
                assert!((found.slopes[j * d + k] - slope).abs() < 1e-5 * (1.0 + slope.abs()), "{j} {k}");
            }
        }
        // At the reference the mean is that over many records, whatever the few say.
        let home = whole.expected(&answered, &reference, FEW, Wanted::Mean).unwrap();
        let values = source.made_up(&reference, MANY);
        let mut terms = source.whitened(&round.theta, &round.whitening, &values, MANY);
        clip_each(&mut terms, MANY, clip);
        shift(&mut terms, MANY, &round.centre, clip);
        for (lane, level) in terms.chunks_exact(MANY).zip(&home.mean) {
            assert!((lane.iter().sum::<f64>() / MANY as f64 - level).abs() < 1e-12 * clip.max(1.0));
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
