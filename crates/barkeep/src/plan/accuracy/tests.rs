use super::*;
use std::path::Path;

fn spec(records: u64, epsilon: f64) -> Spec {
    let text = format!(
        "[data]\npath = 'x.csv'\nrecords = {records}\n[data.columns]\ny = {{ kind = 'bool', invalid = false }}\n\
         x = {{ min = 0, max = 100, invalid = 0, scale = 'bounds' }}\n[model]\nformula = 'y ~ x'\nfamily = 'bernoulli'\n\
         [privacy]\nepsilon = {epsilon}\ndelta = 1e-6\n[sampler]\nname = 'langevin'\n"
    );
    Spec::parse(&text, Path::new("")).unwrap()
}

#[test]
fn the_least_number_is_found_from_either_side() {
    for from in [0.01, 1.0, 70.0] {
        let found = least(from, (0.01, 100.0), |x| x >= 7.3).unwrap();
        assert!((7.3..=7.3 * 1.01).contains(&found), "{from}: {found}");
    }
    assert_eq!(least(1.0, (0.5, 100.0), |_| true), Some(0.5));
    assert_eq!(least(1.0, (0.5, 100.0), |_| false), None);
}

#[test]
fn accuracy_in_epsilon_out() {
    let plan = Plan::for_error(spec(20_000, 1.0), 0.5).unwrap();
    let Privacy::Budget { epsilon, .. } = plan.spec().privacy() else { panic!("no budget") };
    assert!(plan.expected().unwrap().error <= 0.5);
    // A slightly smaller budget does not do.
    let less = Plan::new(plan.spec().with_epsilon(Epsilon::new(0.97 * epsilon.get()).unwrap())).unwrap();
    assert!(less.expected().unwrap().error > 0.5, "{:?}", less.expected());
    assert!(plan.spec().text().contains(&format!("epsilon = {}", epsilon.get())), "{}", plan.spec().text());
    assert!(Plan::for_error(spec(20_000, 1.0), -1.0).is_err());
}

#[test]
fn more_budget_and_more_records_give_less_error() {
    let plan = Plan::new(spec(20_000, 1.0)).unwrap();
    let own = plan.expected().unwrap().error;
    let found = plan.alternatives();
    let errors: Vec<f64> = found.iter().map(|other| other.expected_error.unwrap()).collect();
    assert!(errors[0] > own && errors[1] < own && errors[2] < own, "{own} {errors:?}");
    assert_eq!((found[0].epsilon, found[1].epsilon, found[2].records), (0.5, 2.0, Records(200_000)));
}

#[test]
fn a_budget_that_buys_nothing_says_what_would_do() {
    let error = Plan::new(spec(100, 0.1)).err().unwrap().to_string();
    assert!(error.contains("it takes an epsilon of about") && error.contains(" records"), "{error}");
    for key in ["clip", "noise", "chains", "step "] {
        assert!(!error.contains(key), "{key} was not set: {error}");
    }
}

/// Families, and the response each is declared with.
const FAMILIES: [(&str, &str); 8] = [
    ("bernoulli", "y = { kind = 'bool', invalid = false }"),
    ("binomial", "y = { kind = 'integer', min = 0, max = 20, invalid = 0 }"),
    ("poisson", "y = { kind = 'integer', min = 0, max = 30, invalid = 0 }"),
    ("negative_binomial", "y = { kind = 'integer', min = 0, max = 30, invalid = 0 }"),
    ("gaussian", "y = { min = -6, max = 6, invalid = 0 }"),
    ("student_t", "y = { min = -6, max = 6, invalid = 0 }"),
    ("gamma", "y = { min = 0.001, max = 100, invalid = 1 }"),
    ("exponential", "y = { min = 0.001, max = 100, invalid = 1 }"),
];

/// What a plan of the default sampler foresees.
fn foreseen(family: (&str, &str), records: u64, epsilon: f64) -> Expected {
    let (response, trials) = match family.0 {
        "binomial" => ("y | trials(n)", "n = { kind = 'integer', min = 1, max = 20, invalid = 1 }\n"),
        _ => ("y", ""),
    };
    let text = format!(
        "[data]\npath = 'x.csv'\nrecords = {records}\n[data.columns]\n{}\n{trials}\
         x = {{ min = 0, max = 100, invalid = 0, scale = 'bounds' }}\n\
         g = {{ kind = 'category', levels = ['a', 'b', 'c'], invalid = 'a' }}\n\
         [model]\nformula = '{response} ~ x + g'\nfamily = '{}'\n[privacy]\nepsilon = {epsilon}\ndelta = 1e-8\n",
        family.1, family.0
    );
    Plan::new(Spec::parse(&text, Path::new("")).unwrap()).unwrap().expected().unwrap()
}

/// Holds each forecast to the one before it. The bill's search for its noise leaves a millionth.
fn falls(family: (&str, &str), settings: &[(u64, f64)]) {
    let all: Vec<Expected> = settings.iter().map(|(n, epsilon)| foreseen(family, *n, *epsilon)).collect();
    for pair in all.windows(2) {
        assert!(pair[1].error <= pair[0].error * (1.0 + 1e-6), "{} {settings:?} {all:?}", family.0);
        assert!(pair[1].width <= pair[0].width * (1.0 + 1e-6), "{} {settings:?} {all:?}", family.0);
    }
}

/// Across the change from scores to dynamics, too, but not to so many records that dynamics would take too long.
#[test]
fn a_forecast_never_grows_with_records_or_epsilon() {
    for family in [FAMILIES[0], FAMILIES[2], FAMILIES[4]] {
        falls(family, &[(300, 1.0), (10_000, 1.0), (1_000_000, 1.0), (5_000_000, 1.0)]);
        falls(family, &[(10_000, 0.1), (10_000, 2.0), (10_000, 10.0)]);
    }
}

/// Half a minute: `cargo test -p barkeep --lib plan::accuracy -- --ignored`.
#[test]
#[ignore = "slow"]
fn a_forecast_of_any_family_never_grows() {
    for family in FAMILIES {
        for epsilon in [0.1, 1.0, 8.0] {
            falls(family, &[3000, 100_000, 3_000_000].map(|n| (n, epsilon)));
            falls(family, &[10_000_000, 100_000_000].map(|n| (n, epsilon)));
        }
        for records in [100, 10_000, 1_000_000] {
            falls(family, &[0.1, 0.5, 2.0, 8.0].map(|epsilon| (records, epsilon)));
        }
    }
}

/// The mixture's information is singular at its prior's mean, and the prior rules where records are few.
#[test]
fn a_forecast_of_a_named_model_never_grows() {
    let error = |records: u64, epsilon: f64| {
        let text = format!(
            "[data]\npath = 'x.csv'\nrecords = {records}\n[data.columns]\nx = {{ min = -20, max = 20, invalid = 0 }}\n\
             [model]\nname = 'mixture'\n[privacy]\nepsilon = {epsilon}\ndelta = 1e-6\n[sampler]\nname = 'noise-aware'\n"
        );
        Plan::new(Spec::parse(&text, Path::new("")).unwrap()).unwrap().expected().unwrap().error
    };
    let errors =
        [(100, 0.3), (1000, 0.3), (10_000, 0.3), (10_000, 1.0), (100_000, 1.0)].map(|(n, e)| error(n, e));
    assert!(errors.windows(2).all(|pair| pair[1] <= pair[0]), "{errors:?}");
}

/// Polynomials of more degrees than a column has values say nearly the same, and the prior decides between them.
#[test]
fn a_forecast_knows_the_prior() {
    let text = "[data]\npath = 'x.csv'\nrecords = 300000\n[data.columns]\ny = { kind = 'bool', invalid = false }\n\
        x = { kind = 'integer', min = 5, max = 23, invalid = 12, scale = 'bounds' }\n[model]\n\
        formula = 'y ~ poly(x, 20)'\nfamily = 'bernoulli'\n[privacy]\nepsilon = 1\ndelta = 1e-6\n";
    let plan = Plan::new(Spec::parse(text, Path::new("")).unwrap()).unwrap();
    let branch = plan.facts().iter().find(|fact| fact.key == "expected_branch").unwrap();
    assert!(branch.words.contains("say nearly the same"), "{}", branch.words);
    let expected = plan.expected().unwrap();
    assert!(expected.error < 300.0 && expected.width < 300.0, "{expected:?}");
}

/// A diffusion that has no time says why more records look worse.
#[test]
fn a_forecast_that_grows_says_why() {
    let plan = Plan::new(spec(300, 1.0)).unwrap();
    let (own, found) = (plan.expected().unwrap().error, plan.alternatives());
    assert!(found[2].expected_error.unwrap() > own && found[2].reason.is_some(), "{own} {found:?}");
    assert!(found[0].reason.is_none() && found[1].reason.is_none(), "{found:?}");
}
