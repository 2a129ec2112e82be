//! Tests of a plan's words.

use super::*;
use crate::spec::Spec;

fn plan(model: &str, rest: &str) -> Plan {
    let text = format!(
        "[data]\npath = 'r.csv'\nrecords = 2000\n[data.columns]\nlate = {{ kind = 'bool', invalid = false }}\n\
         hour = {{ kind = 'integer', min = 5, max = 23, invalid = 12, scale = 'bounds' }}\n[model]\n{model}\n[privacy]\n{rest}"
    );
    Plan::new(Spec::parse(&text, "".as_ref()).unwrap()).unwrap()
}

#[test]
fn a_plan_says_what_it_buys_without_terms_of_the_trade() {
    let plan = plan("formula = 'late ~ hour'\nfamily = 'bernoulli'", "epsilon = 1\ndelta = 1e-6\n");
    let words = plan.words().join("\n");
    assert!(
        words.starts_with(
            "late ~ hour on 2000 records\n  privacy    epsilon 1.000000, delta 0.000001, for one record\n"
        ),
        "{words}"
    );
    assert!(
        words.contains("privacy moves a mean by about ")
            && words.contains("times as wide as without privacy"),
        "{words}"
    );
    for term in ["diffusion", "clip", "branch", "left out"] {
        assert!(!words.contains(term), "{term}: {words}");
    }
    assert!(plan.details().join("\n").contains("steps of each chain"));
}

/// The default prior of a coefficient is normal: ±1.598 sd hold 89 %, and hours are mapped by half their range, 9.
#[test]
fn priors_are_in_original_units() {
    let plan = plan(
        "formula = 'late ~ hour'\nfamily = 'bernoulli'\n[model.priors]\nintercept = 'flat'\ncoefficients = 'normal(0, 3)'",
        "epsilon = 1\ndelta = 1e-6\n",
    );
    assert_eq!(plan.priors()[1].interval_89, None, "with a flat one, none can be drawn");
    let plan = self::plan(
        "formula = 'late ~ hour'\nfamily = 'bernoulli'\n[model.priors]\ncoefficients = 'normal(0, 3)'",
        "epsilon = 1\ndelta = 1e-6\n",
    );
    let priors = plan.priors();
    assert_eq!(
        (priors[1].name.as_str(), priors[1].unit.as_str()),
        ("hour", "log-odds of late per 1 of hour")
    );
    let [low, high] = priors[1].interval_89.unwrap();
    let expected = 1.598 * 3.0 / 9.0;
    assert!((high - expected).abs() < 0.06 && (low + expected).abs() < 0.06, "{low} {high}");
}

#[test]
fn times_have_one_digit_and_grow_with_the_work() {
    assert_eq!(
        [1.0, 12.0, 100.0, 7000.0, 1e6].map(lasting),
        [
            "about a second",
            "up to about 20 seconds, on one core",
            "up to about 2 minutes, on one core",
            "up to about 2 hours, on one core",
            "up to about 20 days, on one core",
        ]
    );
    let chain = |steps: u64| {
        let keys = format!(
            "private = false\n[sampler]\nname = 'rwmh'\nsteps = {steps}\nproposal_sd = 0.1\nstart = [0, 0]\n"
        );
        plan("formula = 'late ~ hour'\nfamily = 'bernoulli'", &keys).seconds()
    };
    assert!((chain(2000) / chain(1000) - 2.0).abs() < 1e-9);
}
