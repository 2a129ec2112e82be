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
