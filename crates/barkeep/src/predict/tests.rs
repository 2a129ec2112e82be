//! Checks predictions against means computed by hand from the draws, and the messages for profiles that do not suit.

use super::*;
use crate::run::draws::{Draws, Outcome};
use crate::{Plan, Run};
use barkeep_curator::TableBuilder;
use std::path::Path;

const COLUMNS: &str = r#"late = { kind = "bool", invalid = false }
delay = { min = -20, max = 180, invalid = 0, scale = "bounds" }
hour = { min = 5, max = 23, invalid = 12, scale = "bounds" }
stops = { kind = "integer", min = 0, max = 4, invalid = 0 }
origin = { kind = "category", levels = ["EWR", "JFK"], invalid = "EWR" }
"#;

fn spec(model: &str) -> Spec {
    let text = format!(
        "[data]\npath = \"r.csv\"\nrecords = 300\n[data.columns]\n{COLUMNS}\n[model]\n{model}\n[privacy]\nepsilon = 1.0\ndelta = 1e-6\n"
    );
    Spec::parse(&text, Path::new("")).unwrap()
}

/// A run whose draws are given.
fn finished(model: &str, draws: &[Vec<f64>]) -> Finished {
    let spec = spec(model);
    let plan = Plan::new(spec).unwrap();
    let mut table = TableBuilder::viewed(plan.view().clone(), plan.spec().count()).unwrap();
    let width = plan.view().source().width();
    for _ in 0..300 {
        table.push_row(&vec![0.0; width]).unwrap();
    }
    let mut run: Run = plan.run(table.finish().unwrap()).unwrap();
    let mut given = Draws::new(plan.spec().model().parameter_names().to_vec()).unwrap();
    let mut chain = given.chain();
    for theta in draws {
        chain.push(theta, Outcome::Moved).unwrap();
    }
    given.add(chain).unwrap();
    run.draws = given;
    run.forget_summary();
    Finished::of(&plan, &run)
}

#[test]
fn a_probability_is_the_mean_of_the_sigmoid_over_the_draws() {
    let draws: Vec<Vec<f64>> = (0..200).map(|k| vec![0.01 * f64::from(k) - 1.0, 0.5, 1.0]).collect();
    let finished = finished("formula = \"late ~ hour + origin\"\nfamily = \"bernoulli\"", &draws);
    let text = "profile,hour,origin\nnoon,14,EWR\nlate,23,JFK\n";
    let profiles = Profiles::parse(text, finished.spec()).unwrap();
    let found =
        Predictor::new(&finished).unwrap().along("origin", 2).along("hour", 3).predict(&profiles).unwrap();
    assert_eq!(found.what, "probability of late");
    let sigmoid = |x: f64| 1.0 / (1.0 + (-x).exp());
    let mean = |eta: &dyn Fn(&[f64]) -> f64| {
        draws.iter().map(|theta| sigmoid(eta(theta))).sum::<f64>() / draws.len() as f64
    };
    // Hour 14 is the middle, hour 23 the upper end.
    let (noon, late) = (mean(&|t| t[0]), mean(&|t| t[0] + t[1] + t[2]));
    assert!((found.predictions[0].expectation.mean - noon).abs() < 1e-12);
    assert!((found.predictions[1].expectation.mean - late).abs() < 1e-12);
    assert_eq!(found.predictions[0].predictive_89, None);
    let contrast = &found.contrasts[0];
    assert_eq!((contrast.profile.as_str(), contrast.against.as_str()), ("late", "noon"));
    assert!((contrast.difference.mean - (late - noon)).abs() < 1e-12);
    let ratio = contrast.ratio.unwrap();
    assert_eq!(ratio.what, "odds ratio");
    assert!((ratio.median - 1.5_f64.exp()).abs() < 1e-9);
    // The slope at the middle is β/h·p(1−p); at the upper end likewise.
    let slope = |eta: &dyn Fn(&[f64]) -> f64| {
        let at = |theta: &Vec<f64>| sigmoid(eta(theta)) * (1.0 - sigmoid(eta(theta))) * theta[1] / 9.0;
        draws.iter().map(at).sum::<f64>() / draws.len() as f64
    };
    let expected = 0.5 * (slope(&|t| t[0]) + slope(&|t| t[0] + t[1] + t[2]));
    let effect = found.effects.iter().find(|effect| effect.column == "hour").unwrap();
    assert!((effect.effect.mean - expected).abs() < 1e-6, "{} {expected}", effect.effect.mean);
    let curve =
        found.curves.iter().find(|curve| curve.column == "origin" && curve.profile == "noon").unwrap();
    assert_eq!(curve.points[0].0, "EWR");
    assert!((curve.points[0].1.mean - noon).abs() < 1e-12);
}

#[test]
fn a_mapped_response_is_predicted_in_its_own_unit() {
    let draws: Vec<Vec<f64>> = (0..2000).map(|_| vec![0.1, 0.0, 0.05_f64.ln()]).collect();
    let finished = finished("formula = \"delay ~ stops\"\nfamily = \"gaussian\"", &draws);
    let profiles = Profiles::parse("stops\n2\n", finished.spec()).unwrap();
    let found = Predictor::new(&finished).unwrap().predict(&profiles).unwrap();
    let prediction = &found.predictions[0];
    assert_eq!(prediction.profile, "1");
    // 80 + 100·0.1, and an sd of 100·0.05: 89 % lie within 1.598 of those.
    assert!((prediction.expectation.mean - 90.0).abs() < 1e-9);
    let [low, high] = prediction.predictive_89.unwrap();
    assert!((low - 82.01).abs() < 0.8 && (high - 97.99).abs() < 0.8, "{low} {high}");
    assert!(found.contrasts.is_empty());
}

#[test]
fn a_text_is_predicted_by_simulation() {
    let text = "text = '''\nparameters\n  a ~ normal(0, 1)\n  b ~ normal(0, 1)\nrecord\n  stops ~ poisson(exp(a + b * hour))\n'''";
    let draws: Vec<Vec<f64>> = (0..400).map(|_| vec![0.5, 0.25]).collect();
    let finished = finished(text, &draws);
    let profiles = Profiles::parse("hour\n23\n", finished.spec()).unwrap();
    let found = Predictor::new(&finished).unwrap().predict(&profiles).unwrap();
    // 128 simulated counts of mean e^0.75 have a standard error of 0.13.
    let mean = found.predictions[0].expectation.mean;
    assert!((mean - 0.75_f64.exp()).abs() < 0.4, "{mean}");
}

#[test]
fn profiles_that_do_not_suit_are_named_with_their_column() {
    let spec = spec("formula = \"late ~ hour + stops + origin\"\nfamily = \"bernoulli\"");
    for (text, words) in [
        (
            "profile,hour,stops,origin\na,24,1,EWR\n",
            "profile `a`, column `hour`: `24` lies outside the bounds 5 to 23",
        ),
        (
            "profile,hour,stops,origin\nx,6,1,LGA\n",
            "profile `x`, column `origin`: `LGA` is no declared level; the levels are EWR, JFK",
        ),
        ("profile,hour,stops,origin\nx,6,1.5,JFK\n", "column `stops`: `1.5` is not a whole number"),
        ("profile,hour,stops,origin\nx,soon,1,JFK\n", "column `hour`: `soon` is not a number"),
        ("profile,hour,stops\nx,6,1\n", "profile `x`: there is no column `origin`"),
        (
            "hour,stops,orgin\n6,1,JFK\n",
            "column `orgin`: the model reads no such column; did you mean `origin`?",
        ),
        ("profile,hour,stops,origin\nx,6,1,JFK\nx,7,1,JFK\n", "two profiles have this name"),
        ("hour,stops,origin\n", "there is no profile"),
        ("hour,hour,stops,origin\n6,6,1,JFK\n", "column `hour`: it is given twice"),
    ] {
        let shown = Profiles::parse(text, &spec).unwrap_err().to_string();
        assert!(shown.contains(words), "{shown}\n{words}");
    }
}

#[test]
fn suggested_profiles_suit_their_spec() {
    let spec = spec("formula = \"late ~ hour + stops + origin\"\nfamily = \"bernoulli\"");
    let names: Vec<String> = Profiles::suggested(&spec, 9).list().iter().map(|p| p.name.clone()).collect();
    assert_eq!(names, ["middle", "hour = 5", "hour = 23", "stops = 0", "stops = 4", "origin = JFK"]);
}
