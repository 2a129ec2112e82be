//! Checks parsing, coding, ranges, faults with their carets, and that no text makes the parser panic.

use super::*;
use barkeep_data::{Column, Scale, Schema};
use barkeep_model::Model;
use proptest::prelude::*;
use std::sync::Arc;

fn schema() -> Schema {
    Schema::new(vec![
        Column::boolean("late", false).unwrap(),
        Column::real("hour", 5.0, 23.0, 12.0).unwrap().scaled(Scale::Bounds).unwrap(),
        Column::real("distance", 1.0, 3000.0, 500.0).unwrap(),
        Column::category("origin", ["EWR", "JFK", "LGA"].map(String::from).to_vec(), "EWR").unwrap(),
        Column::category("day", ["work", "rest"].map(String::from).to_vec(), "work").unwrap(),
        Column::integer("n", 0.0, 10.0, 1.0).unwrap(),
        Column::integer("count", 0.0, 50.0, 0.0).unwrap(),
        Column::real("log_n", -2.0, 2.0, 0.0).unwrap().scaled(Scale::Bounds).unwrap(),
    ])
    .unwrap()
}

fn layout(text: &str) -> Layout {
    Layout::new(&Formula::parse(text).unwrap(), &schema(), false).unwrap()
}

fn names(text: &str) -> Vec<String> {
    layout(text).features().iter().map(|column| column.name().to_owned()).collect()
}

fn fault(text: &str) -> String {
    Formula::parse(text)
        .and_then(|formula| Layout::new(&formula, &schema(), false).map(|_| ()))
        .unwrap_err()
        .to_string()
}

#[test]
fn terms_become_features_in_the_order_written() {
    assert_eq!(
        names("late ~ hour + distance + origin + hour:distance + poly(hour, 2) + offset(log_n)"),
        ["hour", "distance", "origin[JFK]", "origin[LGA]", "hour:distance", "poly(hour, 2)"]
    );
    assert_eq!(names("late ~ hour*day"), ["hour", "day[rest]", "hour:day[rest]"]);
    assert_eq!(
        names("late ~ (hour + log(distance)):day + day"),
        [
            "hour:day[work]",
            "hour:day[rest]",
            "log(distance):day[work]",
            "log(distance):day[rest]",
            "day[rest]"
        ]
    );
    assert_eq!(names("late ~ hour + distance - hour"), ["distance"]);
    assert_eq!(names("late ~ hour + hour:hour + `hour`"), ["hour"]);
    assert_eq!(names("late ~ poly(hour, 3) - hour"), ["poly(hour, 2)", "poly(hour, 3)"]);
    assert_eq!(names("late ~ 1"), Vec::<String>::new());
}

#[test]
fn levels_are_coded_so_that_nothing_is_counted_twice() {
    // With an intercept the first level is the reference; without one the first category has all its levels.
    assert_eq!(names("late ~ origin + day"), ["origin[JFK]", "origin[LGA]", "day[rest]"]);
    for text in ["late ~ 0 + origin + day", "late ~ origin + day - 1", "late ~ -1 + origin + day"] {
        let formula = Formula::parse(text).unwrap();
        assert!(!formula.intercept);
        // R gives day one level only here, since origin's three add up to the intercept that day needs; the rule by
        // margins alone gives it both, and the dependence is found.
        let shown = Layout::new(&formula, &schema(), false).map(|_| ()).unwrap_err().to_string();
        assert!(shown.contains("`day[rest]` follows from the terms before it"), "{shown}");
    }
    assert_eq!(names("late ~ 0 + origin"), ["origin[EWR]", "origin[JFK]", "origin[LGA]"]);
    // All combinations: 1 + 2 + 1 + 2 coefficients for six cells.
    assert_eq!(names("late ~ origin * day").len(), 5);
    // Without the main effects the interaction has every cell; the intercept is then one too many.
    assert!(fault("late ~ origin:day").contains("follows from"));
    assert_eq!(names("late ~ 0 + origin:day").len(), 6);
}

#[test]
fn ranges_are_those_of_the_bounds() {
    let layout = layout("late ~ hour + distance + log(distance) + hour:distance + origin + offset(log_n)");
    let ranges: Vec<(f64, f64)> = layout.features().iter().map(Column::range).collect();
    let log = 3000f64.ln();
    let expected = [(-1.0, 1.0), (1.0, 3000.0), (0.0, log), (-3000.0, 3000.0), (0.0, 1.0), (0.0, 1.0)];
    for (found, expected) in ranges.iter().zip(expected) {
        assert!((found.0 - expected.0).abs() < 1e-12 && (found.1 - expected.1).abs() < 1e-12, "{found:?}");
    }
    // An offset is added as it is, whatever its column's scale.
    assert_eq!(layout.view.schema().columns()[1].range(), (-2.0, 2.0));
    assert_eq!(layout.lead(), 2);
    // Even on [−2, 2]: mean 0, and E[e^o] = sinh(2)/2.
    let (mean, log_mean) = layout.offset.unwrap();
    assert!(mean.abs() < 1e-12 && (log_mean - (2f64.sinh() / 2.0).ln()).abs() < 1e-3);
}

#[test]
fn moments_are_those_of_an_even_spread() {
    let layout = layout("late ~ hour + origin + hour:origin");
    // 1, u, [JFK], [LGA], u·[JFK], u·[LGA] with u even on [−1, 1]: E u = 0, E u² = 1/3, E [JFK] = 1/3.
    assert_eq!(layout.means.len(), 6);
    let at = |i: usize, j: usize| layout.moments[i * 6 + j];
    for (found, expected) in [
        (at(0, 0), 1.0),
        (at(0, 1), 0.0),
        (at(1, 1), 1.0 / 3.0),
        (at(0, 2), 1.0 / 3.0),
        (at(2, 2), 1.0 / 3.0),
        (at(2, 3), 0.0),
        (at(1, 4), 1.0 / 9.0),
        (at(4, 4), 1.0 / 9.0),
        (at(4, 5), 0.0),
    ] {
        // The middles of 64 parts give E u² short of 1/3 by 1/3·64⁻².
        assert!((found - expected).abs() < 1e-4, "{found} {expected}");
    }
}

#[test]
fn corners_bound_every_record_in_any_coordinates() {
    let layout = layout("late ~ hour * origin + poly(hour, 2) + day");
    // hour: 2 ends, poly(hour, 2): 2 ends, origin: 3 levels, day: 2 levels.
    let k = layout.means.len();
    assert_eq!(layout.corners.len(), 24 * k);
    let mut state = 1_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 * (-53f64).exp2()
    };
    for _ in 0..20 {
        let matrix: Vec<f64> = (0..k * k).map(|_| 2.0 * next() - 1.0).collect();
        let length = |x: &[f64]| {
            let rows = matrix.chunks_exact(k);
            rows.map(|row| row.iter().zip(x).map(|(a, b)| a * b).sum::<f64>().powi(2)).sum::<f64>().sqrt()
        };
        let most = layout.corners.chunks_exact(k).map(length).fold(0.0, f64::max);
        for _ in 0..200 {
            let record: Vec<f64> = layout
                .view
                .source()
                .columns()
                .iter()
                .map(|column| match column.bounds() {
                    Some((min, max)) => min + (max - min) * next(),
                    None => (next() * (column.range().1 + 1.0)).floor(),
                })
                .collect();
            let mut x = vec![1.0];
            x.extend(layout.view.features()[layout.lead()..].iter().map(|feature| {
                let value = |factor: &barkeep_data::Factor| {
                    factor.at(&layout.view.source().columns()[factor.column], record[factor.column])
                };
                feature.factors.iter().map(value).product::<f64>()
            }));
            assert!(length(&x) <= most * (1.0 + 1e-12));
        }
    }
}

#[test]
fn faults_point_at_their_place() {
    for (text, expected) in [
        (
            "late ~ hourr",
            "there is no column `hourr` in data.columns; did you mean `hour`?\n  late ~ hourr\n         ^^^^^",
        ),
        (
            "late ~ hour +",
            "a column, a function or a number is missing here\n  late ~ hour +\n               ^",
        ),
        ("late hour", "a ~ must follow the response\n  late hour\n       ^^^^"),
        ("~ hour", "the response's column is missing here\n  ~ hour\n  ^"),
        (
            "late ~ hour % 2",
            "does not belong in a formula; put ` around a name with other characters\n  late ~ hour % 2\n              ^",
        ),
        ("late ~ sin(hour)", "there is no function `sin`"),
        ("late ~ sqr(hour)", "did you mean `sqrt`?"),
        ("late ~ log(hour", "a closing bracket is missing here\n  late ~ log(hour\n                 ^"),
        ("late ~ log(n)", "the column `n` must have min above 0 for log\n  late ~ log(n)\n         ^^^^^^"),
        ("late ~ sqrt(log_n)", "the column `log_n` must have min of at least 0 for sqrt"),
        ("late ~ log(origin)", "the column `origin` must not be a category here"),
        ("hour ~ square(late)", "which has bounds"),
        (
            "late ~ poly(hour)",
            "poly needs a degree, as in poly(x, 2)\n  late ~ poly(hour)\n                  ^",
        ),
        (
            "late ~ poly(hour, 99)",
            "a degree is a whole number from 1 to 20, not 99\n  late ~ poly(hour, 99)\n                    ^^",
        ),
        (
            "late ~ hour + 2",
            "only 0 and 1 may stand alone, for the intercept\n  late ~ hour + 2\n                ^",
        ),
        ("late ~ `hour", "this quote ` is never closed"),
        ("late ~ hour hour", "this should be + or -, or the end\n  late ~ hour hour\n              ^^^^"),
        ("late ~ offset(n) + offset(n)", "there is an offset already"),
        ("late ~ 0", "there is nothing to estimate"),
        ("late ~ hour + square(hour) + poly(hour, 2)", "`poly(hour, 2)` follows from the terms before it"),
        (
            "origin ~ hour",
            "a response must be a number, true or false, or a category of two levels\n  origin ~ hour\n  ^^^^^^",
        ),
        ("late | trails(n) ~ hour", "trials(…) must follow the |"),
        ("late | trials(0) ~ hour", "must be a whole number of at least 1"),
        ("late | trials(distance) ~ hour", "trials must be a column of kind \"integer\""),
    ] {
        let shown = fault(text);
        assert!(shown.contains(expected), "{text} gave\n{shown}");
    }
    let deep = format!("late ~ {}hour{}", "(".repeat(200), ")".repeat(200));
    assert!(fault(&deep).contains("too many brackets"));
    assert!(fault(&format!("late ~ {}", "hour + ".repeat(3000))).contains("at most 10000 characters"));
    assert!(fault("late ~ (hour+distance+n+count+log_n+origin+day)*(hour+distance+n+count+log_n+origin+day)*(hour+distance+n+count+log_n+origin+day)*(hour+distance+n+count+log_n+origin+day)").contains("more than 1000"));
}

fn built(text: &str) -> Result<(Arc<dyn Model>, barkeep_data::View), String> {
    let table: toml::Table = text.parse().unwrap();
    crate::models::build(&table, &schema())
        .map(|built| (built.model, built.view))
        .map_err(|error| error.to_string())
}

#[test]
fn every_family_is_built_from_its_keys() {
    for (text, parameters) in [
        ("formula = 'late ~ hour + origin'\nfamily = 'bernoulli'", "intercept hour origin[JFK] origin[LGA]"),
        ("formula = 'late ~ hour'\nfamily = 'bernoulli'\nlink = 'probit'", "intercept hour"),
        ("formula = 'day ~ hour'\nfamily = 'bernoulli'", "intercept hour"),
        ("formula = 'count | trials(50) ~ hour'\nfamily = 'binomial'", "intercept hour"),
        ("formula = 'count | trials(n) ~ hour'\nfamily = 'binomial'", "intercept hour"),
        ("formula = 'count ~ hour + offset(log_n)'\nfamily = 'poisson'", "intercept hour"),
        ("formula = 'count ~ hour'\nfamily = 'negative_binomial'", "intercept hour log_size"),
        ("formula = 'count ~ hour'\nfamily = 'negative_binomial'\nsize = 2", "intercept hour"),
        ("formula = 'distance ~ 0 + hour'\nfamily = 'gaussian'", "hour log_sd"),
        ("formula = 'distance ~ hour'\nfamily = 'gaussian'\nsd = 3", "intercept hour"),
        ("formula = 'distance ~ hour'\nfamily = 'student_t'\ndegrees = 3", "intercept hour log_scale"),
        ("formula = 'distance ~ hour'\nfamily = 'exponential'", "intercept hour"),
        ("name = 'regression'\nformula = 'distance ~ hour'\nfamily = 'gamma'", "intercept hour log_shape"),
    ] {
        let (model, view) = built(text).unwrap();
        assert_eq!(model.parameter_names().join(" "), parameters, "{text}");
        assert_eq!(model.column_names().len(), view.schema().width());
        let names: Vec<&str> = view.schema().columns().iter().map(Column::name).collect();
        assert_eq!(model.column_names(), names, "{text}");
        let d = model.dimension();
        let at = vec![0.1; d];
        assert!(model.log_prior(&at).is_finite());
        assert!(model.fisher(&at, &mut vec![0.0; d * d]));
    }
}

#[test]
fn priors_are_declared_by_name_by_term_or_for_all() {
    let (model, _) = built(
        "formula = 'late ~ hour + origin'\nfamily = 'bernoulli'\n[priors]\nintercept = 'cauchy(0, 1)'\n\
         coefficients = 'normal(0, 2)'\norigin = 'student_t(3, 0, 1)'\n'origin[LGA]' = 'normal(1, 0.5)'",
    )
    .unwrap();
    let at = [0.3, 0.4, 0.5, 0.6];
    let normal = |x: f64, mean: f64, sd: f64| {
        -0.5 * ((x - mean) / sd).powi(2) - sd.ln() - 0.5 * std::f64::consts::TAU.ln()
    };
    // t₃ at x: 2/(π√3)·(1 + x²/3)⁻².
    let student = (2.0 / (std::f64::consts::PI * 3f64.sqrt()) * (1.0f64 + 0.25 / 3.0).powi(-2)).ln();
    let cauchy = -(std::f64::consts::PI * (1.0f64 + 0.09)).ln();
    let expected = cauchy + normal(0.4, 0.0, 2.0) + student + normal(0.6, 1.0, 0.5);
    assert!((model.log_prior(&at) - expected).abs() < 1e-12);
    // The defaults follow the bounds: distance has half width 1499.5, hour is scaled.
    let (model, _) = built("formula = 'distance ~ hour'\nfamily = 'gaussian'\nsd = 1").unwrap();
    let unit = 0.5 * 2999.0;
    let expected = normal(0.0, 0.5 * 3001.0, 2.5 * unit) + normal(0.0, 0.0, 2.5 * unit);
    assert!((model.log_prior(&[0.0, 0.0]) - expected).abs() < 1e-9);
}

#[test]
fn faults_of_a_regression_name_their_key() {
    let good = "formula = 'late ~ hour'\nfamily = 'bernoulli'\n";
    for (text, expected) in [
        ("formula = 'late ~ hour'".to_owned(), "`model.family`: is required"),
        ("name = 'regression'\nfamily = 'poisson'".to_owned(), "`model.formula`: is required"),
        ("formula = 'late ~ hour'\nfamily = 'bernouli'".to_owned(), "did you mean `bernoulli`?"),
        (format!("{good}link = 'log'"), "`model.link`"),
        (format!("{good}sd = 1"), "`model.sd`: belongs to family \"gaussian\""),
        (format!("{good}degrees = 1"), "`model.degrees`"),
        (
            format!("{good}[priors]\nhuor = 'normal(0, 1)'"),
            "`model.priors.huor`: there is no such coefficient, term or constant; did you mean `hour`?",
        ),
        (format!("{good}[priors]\nhour = 'normal(0)'"), "`model.priors.hour`: must be normal(mean, sd)"),
        (format!("{good}[priors]\nhour = 'normal(0, -1)'"), "`model.priors.hour`: must have a finite scale"),
        (format!("{good}[priors]\nhour = 'half_normal(1)'"), "whole real line"),
        ("formula = 'count ~ hour'\nfamily = 'bernoulli'".to_owned(), "must be a column of kind \"bool\""),
        ("formula = 'distance ~ hour'\nfamily = 'poisson'".to_owned(), "kind \"integer\""),
        ("formula = 'count ~ hour'\nfamily = 'gamma'".to_owned(), "min above 0"),
        ("formula = 'count ~ hour'\nfamily = 'binomial'".to_owned(), "needs its trials"),
        ("formula = 'count | trials(9) ~ hour'\nfamily = 'binomial'".to_owned(), "at most the trials"),
        (
            "formula = 'count | trials(9) ~ hour'\nfamily = 'poisson'".to_owned(),
            "only family \"binomial\" has trials",
        ),
        ("formula = 'late ~ huor'\nfamily = 'bernoulli'".to_owned(), "\n  late ~ huor\n         ^^^^"),
        (
            "formula = 'distance ~ hour'\nfamily = 'gaussian'\nsd = 1\n[priors]\nsd = 'half_normal(1)'"
                .to_owned(),
            "either known or has a prior",
        ),
    ] {
        let shown = built(&text).err().unwrap_or_default();
        assert!(shown.contains(expected), "{text}\ngave {shown}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Any text is a layout whose features are distinct, or a fault whose caret stands in or right after the formula.
    #[test]
    fn any_text_is_parsed_or_refused(
        words in prop::collection::vec(prop::sample::select(vec![
            "late", "hour", "distance", "origin", "day", "n", "log_n", "poly(hour, 3)", "log(", "sqrt(", "square(",
            "poly(", "offset(", "~", "+", "-", "*", ":", "(", ")", ",", "|", "0", "1", "2", "trials(n)", "`", "é", " ",
        ]), 0..25),
        start in any::<bool>(),
    ) {
        let text = format!("{}{}", if start { "late ~ " } else { "" }, words.concat());
        let outcome = Formula::parse(&text).and_then(|formula| Layout::new(&formula, &schema(), false));
        match outcome {
            Ok(layout) => {
                let mut names: Vec<&str> = layout.features().iter().map(Column::name).collect();
                let count = names.len();
                names.sort_unstable();
                names.dedup();
                prop_assert_eq!(names.len(), count);
                prop_assert_eq!(layout.moments.len(), layout.means.len() * layout.means.len());
            }
            Err(error) => {
                prop_assert!(error.span.start <= text.chars().count());
                prop_assert!(error.to_string().contains('^'));
            }
        }
    }

    #[test]
    fn any_characters_are_parsed_or_refused(text in "\\PC{0,80}") {
        if let Err(error) = Formula::parse(&text) {
            prop_assert!(error.to_string().contains('^'));
        }
    }
}

/// What people who come from other languages write, and what to write here.
#[test]
fn habits_of_other_languages_get_the_right_hint() {
    for (text, hint) in [
        ("late ~ hour^2", "square(x)"),
        ("late ~ I(hour)", "poly(x, 2)"),
        ("late ~ .", "name the columns"),
        ("log(late) ~ hour", "the response is a column as it stands in the file"),
        ("late ~ hour + late", "cannot explain itself"),
        ("late ~ (1 | origin)", "`b[g] ~ normal(mu, tau)`"),
        ("late ~ hour + (hour | origin)", "`b[g] ~ normal(mu, tau)`"),
        ("late ~ poly(hour, 25)", "not 25"),
    ] {
        let said = Formula::parse(text).unwrap_err().to_string();
        assert!(said.contains(hint), "{said}");
    }
}
