//! Checks coefficients in original units against the model's own predictor on records in their own units.

use super::*;
use crate::PublicRng;
use std::path::Path;

fn spec(columns: &str, model: &str) -> Spec {
    let text = format!(
        "[data]\npath = \"r.csv\"\nrecords = 1000\n[data.columns]\n{columns}\n[model]\n{model}\n[privacy]\nepsilon = 1.0\ndelta = 1e-6\n"
    );
    Spec::parse(&text, Path::new("")).unwrap()
}

const COLUMNS: &str = r#"late = { kind = "bool", invalid = false }
delay = { min = -20, max = 180, invalid = 0, scale = "bounds" }
hour = { min = 5, max = 23, invalid = 12, scale = "bounds" }
distance = { min = 100, max = 3000, invalid = 500, scale = "bounds" }
age = { min = 1, max = 9, invalid = 5 }
origin = { kind = "category", levels = ["EWR", "JFK", "LGA"], invalid = "EWR" }
"#;

/// η of records by the model, from what it sees, and from coefficients per unit of raw columns.
fn compare(formula: &str, family: &str) {
    let spec = spec(COLUMNS, &format!("formula = \"{formula}\"\nfamily = \"{family}\""));
    let (units, view) = (Units::of(&spec), spec.data().view());
    let regression = spec.model().regression().unwrap();
    let (source, features) = (view.source().columns(), view.features());
    let mut rng = PublicRng::new(7, 0);
    for _ in 0..50 {
        let theta: Vec<f64> = spec.model().parameter_names().iter().map(|_| rng.normal()).collect();
        let raw: Vec<f64> = source
            .iter()
            .map(|column| match column.kind() {
                Kind::Real { min, max } | Kind::Integer { min, max } => min + (max - min) * rng.uniform(),
                Kind::Bool => 1.0,
                Kind::Category { levels } => rng.index(levels.len()) as f64,
            })
            .collect();
        let seen: Vec<f64> = features
            .iter()
            .map(|feature| feature.factors.iter().map(|f| f.at(&source[f.column], raw[f.column])).product())
            .collect();
        let eta = regression.predictor(&theta, &seen).0;
        let (centre, height) =
            if regression.law().unwrap().predictor_words().is_none() { (80.0, 100.0) } else { (0.0, 1.0) };
        // The name of a reading is a product of functions of raw columns: evaluated here from the name alone.
        let value = |name: &str| -> f64 {
            let single = |part: &str| -> f64 {
                let column = |name: &str| source.iter().position(|column| column.name() == name).unwrap();
                if let Some(inner) = part.strip_prefix("log(").and_then(|rest| rest.strip_suffix(')')) {
                    return raw[column(inner)].ln();
                }
                if let Some(inner) = part.strip_prefix("square(").and_then(|rest| rest.strip_suffix(')')) {
                    return raw[column(inner)].powi(2);
                }
                match part.split_once('[') {
                    Some((name, level)) => {
                        let place = column(name);
                        let Kind::Category { levels } = source[place].kind() else { panic!("{part}") };
                        let level = levels.iter().position(|l| format!("{l}]") == level).unwrap();
                        f64::from(u8::from(raw[place] == level as f64))
                    }
                    None => raw[column(part)],
                }
            };
            if name == "intercept" { 1.0 } else { name.split(':').map(single).product() }
        };
        let numbers = units.at(&theta);
        let coefficients = units.readings().iter().zip(&numbers).filter(|(reading, _)| reading.name != "sd");
        let sum: f64 = coefficients.map(|(reading, number)| number * value(&reading.name)).sum();
        let expected = centre + height * eta;
        assert!((sum - expected).abs() < 1e-9 * expected.abs().max(100.0), "{formula}: {sum} {expected}");
    }
}

#[test]
fn coefficients_per_unit_of_raw_columns_give_the_same_predictor() {
    compare("late ~ hour + distance", "bernoulli");
    compare("late ~ hour * distance + origin", "bernoulli");
    compare("late ~ hour:distance:origin", "bernoulli");
    compare("late ~ 0 + log(distance) * origin + square(hour) + age", "bernoulli");
    compare("delay ~ hour * origin + age:distance", "gaussian");
}

#[test]
fn readings_have_names_units_and_ratios() {
    let spec = spec(COLUMNS, "formula = \"late ~ hour + origin\"\nfamily = \"bernoulli\"");
    let units = Units::of(&spec);
    let shown: Vec<(&str, &str, Option<&str>)> = units
        .readings()
        .iter()
        .map(|reading| (reading.name.as_str(), reading.unit.as_str(), reading.ratio))
        .collect();
    assert_eq!(
        shown,
        [
            ("intercept", "log-odds of late", None),
            ("hour", "log-odds of late per 1 of hour", Some("odds ratio")),
            ("origin[JFK]", "log-odds of late where origin is JFK", Some("odds ratio")),
            ("origin[LGA]", "log-odds of late where origin is LGA", Some("odds ratio")),
        ]
    );
    // One hour is a ninth of half the range, and hour 0 lies 14 hours before its middle.
    assert_eq!(units.at(&[1.0, 9.0, 0.5, 0.0]), [1.0 - 14.0, 1.0, 0.5, 0.0]);
}

#[test]
fn a_spread_is_in_the_unit_of_its_response_and_no_logarithm() {
    let scaled = spec(COLUMNS, "formula = \"delay ~ age\"\nfamily = \"gaussian\"");
    let units = Units::of(&scaled);
    let sd = units.readings().last().unwrap();
    assert_eq!((sd.name.as_str(), sd.unit.as_str()), ("sd", "delay"));
    assert_eq!(units.at(&[0.0, 0.0, 0.1_f64.ln()]).last().map(|sd| (sd * 1e9).round() / 1e9), Some(10.0));
}

#[test]
fn other_models_are_read_by_what_they_say_of_their_parameters() {
    let mean = spec("x = { min = 0, max = 10, invalid = 0, scale = \"bounds\" }", "name = \"gaussian\"");
    let units = Units::of(&mean);
    assert!(units.differ());
    assert_eq!(units.at(&[-0.5]), [2.5]);
    assert_eq!(units.readings()[0].unit, "x");
    let plain = spec("x = { min = 0, max = 10, invalid = 0 }", "name = \"gaussian\"");
    assert!(!Units::of(&plain).differ());
    let rate = spec("x = { kind = \"bool\", invalid = false }", "name = \"bernoulli\"");
    assert_eq!(Units::of(&rate).at(&[0.0]), [0.5]);
    let text = "text = '''\nparameters\n  m ~ normal(0, 1)\n  s > 0 ~ exponential(1)\nrecord\n  x ~ normal(m, s)\n'''";
    let text = spec("x = { min = 0, max = 10, invalid = 0 }", text);
    let units = Units::of(&text);
    let names: Vec<&str> = units.readings().iter().map(|reading| reading.name.as_str()).collect();
    assert_eq!(names, ["m", "s"]);
    let values = units.at(&[0.25, 3_f64.ln()]);
    assert!((values[0] - 0.25).abs() < 1e-15 && (values[1] - 3.0).abs() < 1e-12, "{values:?}");
}
