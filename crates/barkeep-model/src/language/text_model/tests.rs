//! Holds texts to the built-in models, and what a text promises to what it does.

use barkeep_data::Block;

use super::*;
use crate::check::{any_values, columns as simulated, prior_draws, slack, slopes, uniform};
use crate::{Banana, Bend, Circle, Design, Mixture, Prior, Regression, Scratch};

fn schema(columns: Vec<Column>) -> Schema {
    Schema::new(columns).unwrap()
}

fn real(name: &str, low: f64, high: f64) -> Column {
    Column::real(name, low, high, low).unwrap()
}

/// The same densities, ratios, gradients and priors, to 1e-11 of their sizes, at random points near `near`.
fn same(text: &TextModel, built_in: &(impl Model + Likelihood), near: &[f64], spread: f64) {
    let next = &mut uniform(4);
    let d = near.len();
    assert_eq!(Likelihood::dimension(text), d);
    let (mut a, mut b) = (Scratch::new(), Scratch::new());
    for round in 0..20 {
        let mut point = || -> Vec<f64> { near.iter().map(|x| x + spread * (2.0 * next() - 1.0)).collect() };
        let (from, to) = (point(), point());
        let count = 1 + 37 * round;
        let values = simulated(built_in, &from, count, round as u64);
        let block = Block::over(&values, count, count);
        let compare_to = |slack: f64, found: &[f64], expected: &[f64], what: &str| {
            for (found, expected) in found.iter().zip(expected) {
                assert!(
                    (found - expected).abs() <= 1e-11 + (1e-11 + slack) * expected.abs(),
                    "{what}: {found} {expected}"
                );
            }
        };
        let compare = |found: &[f64], expected: &[f64], what: &str| compare_to(0.0, found, expected, what);
        let (mut found, mut expected) = (vec![0.0; d * count], vec![0.0; d * count]);
        text.log_density(block, &from, &mut found[..count], &mut a);
        built_in.log_density(block, &from, &mut expected[..count], &mut b);
        compare(&found[..count], &expected[..count], "density");
        text.log_ratio(block, &from, &to, &mut found[..count], &mut a);
        built_in.log_ratio(block, &from, &to, &mut expected[..count], &mut b);
        compare(&found[..count], &expected[..count], "ratio");
        text.gradient(block, &from, &mut found, &mut a);
        built_in.gradient(block, &from, &mut expected, &mut b);
        compare_to(slack(built_in), &found, &expected, "gradient");
        compare(&[text.log_prior(&from)], &[built_in.log_prior(&from)], "prior");
        text.prior_gradient(&from, &mut found[..d]);
        built_in.prior_gradient(&from, &mut expected[..d]);
        compare(&found[..d], &expected[..d], "prior gradient");
    }
}

pub(crate) const BANANA: &str = "parameters
  theta1 ~ normal(0, sqrt(1000))
  theta2 ~ normal(-20 * theta1^2, sqrt(1000))
record
  x1 ~ normal(theta1, sqrt(20))
  x2 ~ normal(theta2 + 20 * theta1^2, sqrt(2.5))
";

pub(crate) const MIXTURE: &str = "parameters
  theta1 ~ normal(0, sqrt(10))
  theta2 ~ normal(0, 1)
record
  x ~ mixture(0.5, normal(theta1, sqrt(2)), normal(theta1 + theta2, sqrt(2)))
";

#[test]
fn the_papers_models_as_text_are_the_built_in_ones() {
    let two = schema(vec![real("x1", -50.0, 50.0), real("x2", -50.0, 50.0)]);
    let banana = TextModel::new(BANANA, &two).unwrap();
    let built_in = Banana::new(Bend { a: 20.0, b: 0.0, m: 0.0 }, &[20.0, 2.5], 1000.0).unwrap();
    same(&banana, &built_in, &[0.0, 3.0], 0.5);
    let one = schema(vec![real("x", -50.0, 50.0)]);
    let mixture = TextModel::new(MIXTURE, &one).unwrap();
    same(&mixture, &Mixture::new(2.0, [10.0, 1.0]).unwrap(), &[0.0, 1.0], 1.0);
    let text = "parameters\n x ~ flat()\n y\nrecord\n log_density = -(1e-5) * (x^2 + y^2 - r^2)^2";
    let circle = TextModel::new(text, &schema(vec![real("r", -50.0, 50.0)])).unwrap();
    same(&circle, &Circle::new(1e-5).unwrap(), &[0.0, 3.0], 1.0);
    assert!(!circle.simulates() && mixture.simulates());
}

#[test]
fn a_logistic_regression_as_text_is_the_family() {
    let columns = vec![Column::boolean("y", false).unwrap(), real("x1", -1.0, 1.0), real("x2", -1.0, 1.0)];
    let text = "parameters\n a ~ normal(0, 2.5)\n b1 ~ normal(0, 2.5)\n b2 ~ normal(0, 2.5)\nrecord\n y ~ bernoulli_logit(a + b1 * x1 + b2 * x2)";
    let model = TextModel::new(text, &schema(columns)).unwrap();
    let prior = Prior::Normal { mean: 0.0, sd: 2.5 };
    let design = Design::new("y", vec!["x1".into(), "x2".into()], true, prior).unwrap();
    let family = (crate::families::FAMILIES.iter().find(|family| family.name == "bernoulli").unwrap().build)(
        &crate::Choice {
            link: crate::Link::Logit,
            nuisance: crate::Nuisance::Known(1.0),
            settings: &crate::check::Defaults,
        },
    )
    .unwrap();
    same(&model, &Regression::new(design, family).unwrap(), &[0.2, -0.4, 0.6], 1.0);
    // √3 is the norm of (1, x1, x2) at a corner.
    let bound = model.lipschitz(&schema(model.columns.clone())).unwrap();
    assert!(bound >= 3f64.sqrt() && bound <= 3f64.sqrt() * (1.0 + 1e-12), "{bound}");
}

const SURVIVAL: &str = "parameters
  b0     ~ normal(0, 2)
  b[arm] ~ normal(0, 1)                 # one per declared level
  b_age  ~ normal(0, 1)
  shape  > 0 ~ half_normal(1)
record
  eta = b0 + b[arm] + b_age * age
  t | censored(not event) ~ weibull(shape, exp(eta))
";

fn survival() -> TextModel {
    let columns = vec![
        real("t", 0.01, 10.0),
        Column::boolean("event", false).unwrap(),
        Column::category("arm", vec!["control".into(), "drug".into()], "control").unwrap(),
        real("age", -1.0, 1.0),
        real("unused", 0.0, 1.0),
    ];
    TextModel::new(SURVIVAL, &schema(columns)).unwrap()
}

#[test]
fn a_censored_regression_is_what_the_text_says() {
    let model = survival();
    assert_eq!(model.names, ["b0", "b[control]", "b[drug]", "b_age", "log_shape"]);
    assert_eq!(
        (model.column_names.join(","), model.places.clone()),
        ("t,event,arm,age".to_owned(), vec![0, 1, 2, 3])
    );
    assert_eq!(model.quantity_names(), ["shape"]);
    let theta = [0.5, -0.2, 0.3, 0.4, 0.25];
    assert!((model.quantities(&theta)[0] - 0.25f64.exp()).abs() < 1e-15);
    // By hand: ln k + z − ln t − eᶻ where the event was seen, −eᶻ where not.
    let mut out = [0.0; 2];
    let values = [2.0, 2.0, 1.0, 0.0, 1.0, 1.0, 0.5, 0.5];
    model.log_density(Block::over(&values, 2, 2), &theta, &mut out, &mut Scratch::new());
    let (k, eta) = (0.25f64.exp(), 0.5 + 0.3 + 0.4 * 0.5);
    let z = k * (2f64.ln() - eta);
    assert!((out[0] - (0.25 + z - 2f64.ln() - z.exp())).abs() < 1e-14);
    assert!((out[1] + z.exp()).abs() < 1e-14);
    slopes(&model, &theta);
    information_is_that_of_the_records(&model, &theta, SURVIVAL);
    prior_draws(&model);
    any_values(&model, &theta);
    assert_eq!(model.lipschitz(&schema(model.columns.clone())), None);
}

#[test]
fn every_kind_of_observation_and_constraint_has_the_scores_of_its_records() {
    let count = |name: &str, high: f64| Column::integer(name, 0.0, high, 0.0).unwrap();
    for (text, columns, theta) in [
        (
            "parameters\n m ~ normal(0, 5)\n s > 0 ~ half_normal(3)\nrecord\n y | truncated ~ normal(m, s)",
            vec![real("y", -1.0, 2.0)],
            vec![0.3, 0.1],
        ),
        (
            "parameters\n ordered cut[2] ~ normal(0, 2)\n b ~ normal(0, 1)\nrecord\n grade ~ ordered_logistic(b * x, cut)",
            vec![
                Column::category("grade", vec!["low".into(), "mid".into(), "high".into()], "low").unwrap(),
                real("x", -2.0, 2.0),
            ],
            vec![-0.5, 0.2, 0.8],
        ),
        (
            "parameters\n 0 < p < 1 ~ beta(2, 2)\n m ~ normal(1, 1)\nrecord\n k ~ mixture(p, point(0), poisson_log(m + 0.2 * x))",
            vec![count("k", 60.0), real("x", -1.0, 1.0)],
            vec![-0.4, 1.2],
        ),
        (
            "parameters\n simplex w[3] ~ dirichlet(2)\nrecord\n c ~ categorical_logit(log(w[1]), log(w[2]), log(w[3]))",
            vec![Column::integer("c", 4.0, 6.0, 4.0).unwrap()],
            vec![0.3, -0.2],
        ),
        (
            "parameters\n mu ~ normal(0, 1)\n tau > 0 ~ half_normal(1)\n b[g] ~ normal(mu, tau)\nrecord\n y ~ student_t(4, b[g], 0.7)",
            vec![
                real("y", -100.0, 100.0),
                Column::category("g", vec!["a".into(), "b".into(), "c".into()], "a").unwrap(),
            ],
            vec![0.2, -0.3, 0.5, 0.1, -0.4],
        ),
        (
            "parameters\n a > 0 ~ gamma(2, 1)\n c > 0 ~ gamma(2, 1)\nrecord\n k ~ beta_binomial(n, a, c)",
            vec![count("k", 12.0), Column::integer("n", 1.0, 12.0, 1.0).unwrap()],
            vec![0.4, -0.2],
        ),
        (
            "parameters\n m ~ normal(0, 2)\n b ~ normal(0, 1)\nrecord\n k | truncated ~ poisson_log(m + b * x)",
            vec![Column::integer("k", 1.0, 20.0, 1.0).unwrap(), real("x", -1.0, 1.0)],
            vec![0.4, 0.5],
        ),
        (
            "parameters\n s > 0 ~ half_normal(2)\nrecord\n y | censored ~ half_normal(s)\n z | truncated ~ half_cauchy(s)",
            vec![real("y", 0.0, 2.0), real("z", 0.5, 4.0)],
            vec![0.3],
        ),
        (
            "parameters\n m ~ normal(0, 2)\n size > 0 ~ half_cauchy(2)\nrecord\n mu = exp(m)\n k ~ neg_binomial(mu, size)",
            vec![count("k", 300.0)],
            vec![1.0, 0.5],
        ),
        (
            "parameters\n a ~ normal(0, 1)\n b ~ normal(0, 1)\nrecord\n w ~ normal(a, 1)\n y ~ laplace(a + b * w, 0.5)",
            vec![real("w", -20.0, 20.0), real("y", -50.0, 50.0)],
            vec![0.3, 0.7],
        ),
        (
            "parameters\n k > 0 ~ gamma(2, 1)\n m ~ normal(0, 1)\nrecord\n t | censored(not seen) ~ gamma(k, exp(m))\n y | truncated ~ student_t(5, m, 0.8)",
            vec![real("t", 0.01, 6.0), Column::boolean("seen", false).unwrap(), real("y", -1.0, 2.0)],
            vec![0.6, 0.3],
        ),
        (
            "parameters\n m ~ normal(0, 1)\n s > 0 ~ half_normal(3)\nrecord\n k | censored ~ mixture(0.2, point(0), poisson_log(m))\n j | truncated ~ neg_binomial(exp(m) * 20, s)",
            vec![count("k", 4.0), Column::integer("j", 3.0, 600.0, 3.0).unwrap()],
            vec![1.0, 0.7],
        ),
        (
            "parameters\n a > 0 ~ gamma(2, 1)\n c > 0 ~ gamma(2, 1)\n e ~ normal(0, 1)\nrecord\n y | censored ~ beta(a, c)\n k | censored(stopped) ~ binomial_logit(30, e)",
            vec![real("y", 0.2, 0.9), count("k", 30.0), Column::boolean("stopped", false).unwrap()],
            vec![0.7, 0.4, -0.5],
        ),
    ] {
        let model = TextModel::new(text, &schema(columns)).unwrap_or_else(|error| panic!("{error}"));
        slopes(&model, &theta);
        information_is_that_of_the_records(&model, &theta, text);
        prior_draws(&model);
        any_values(&model, &theta);
    }
}

/// E[∇ℓ] = 0 within five standard errors, and E[∇ℓ·∇ℓᵀ] within five and a tenth: covariates are points, not a sample.
fn information_is_that_of_the_records(model: &TextModel, theta: &[f64], text: &str) {
    let (records, d) = (20_000, theta.len());
    let values = simulated(model, theta, records, 23);
    let mut gradient = vec![0.0; d * records];
    model.gradient(Block::over(&values, records, records), theta, &mut gradient, &mut Scratch::new());
    let mut fisher = vec![f64::NAN; d * d];
    assert!(model.fisher(theta, &mut fisher));
    let mean = |term: &dyn Fn(usize) -> f64| {
        let n = records as f64;
        let mean = (0..records).map(term).sum::<f64>() / n;
        let variance = (0..records).map(|i| (term(i) - mean).powi(2)).sum::<f64>() / n;
        (mean, (variance / n).sqrt())
    };
    for j in 0..d {
        let (score, error) = mean(&|i| gradient[j * records + i]);
        assert!(score.abs() <= 5.0 * error + 1e-12, "{text}: score {j} {score} {error}");
        for k in 0..d {
            let (found, error) = mean(&|i| gradient[j * records + i] * gradient[k * records + i]);
            let size = (fisher[j * d + j] * fisher[k * d + k]).sqrt();
            assert!(
                (found - fisher[j * d + k]).abs() <= 5.0 * error + 0.1 * size,
                "{text}: {j} {k}: {found} {}",
                fisher[j * d + k]
            );
        }
    }
}

#[test]
fn information_moves_smoothly_with_theta() {
    let model = survival();
    let theta = [0.5, -0.2, 0.3, 0.4, 0.25];
    let fisher = |by: f64| {
        let mut moved = theta;
        moved[0] += by;
        let mut out = vec![0.0; 25];
        assert!(model.fisher(&moved, &mut out));
        out
    };
    let (before, here, after) = (fisher(-1e-4), fisher(0.0), fisher(1e-4));
    for k in 0..25 {
        let bend = (before[k] - 2.0 * here[k] + after[k]).abs();
        assert!(bend <= 1e-6 * (1.0 + here[k].abs()), "{k}: {bend}");
    }
}

/// The families' hand-written programs and the same regressions as text, held to each other.
#[test]
fn regressions_as_text_are_the_families() {
    use crate::{Choice, Link, Nuisance};
    let covariates = [("x1", -1.0, 1.0), ("x2", -1.0, 1.0)];
    let half = Prior::HalfNormal { scale: 2.0 };
    let line = "a + b1 * x1 + b2 * x2";
    let count = || Column::integer("y", 0.0, 1e6, 0.0).unwrap();
    // Binomial regressions have a test of their own: their texts name trials.
    let mut held = std::collections::BTreeSet::from(["binomial"]);
    for (family, link, response, law, nuisance) in [
        ("gaussian", Link::Identity, real("y", -100.0, 100.0), format!("normal({line}, s)"), true),
        ("student_t", Link::Identity, real("y", -100.0, 100.0), format!("student_t(4, {line}, s)"), true),
        ("poisson", Link::Log, count(), format!("poisson_log({line})"), false),
        ("poisson", Link::Log, count(), format!("poisson(exp({line}))"), false),
        ("negative_binomial", Link::Log, count(), format!("neg_binomial(exp({line}), s)"), true),
        ("gamma", Link::Log, real("y", 1e-9, 1e6), format!("gamma(s, s / exp({line}))"), true),
        ("exponential", Link::Log, real("y", 0.0, 1e6), format!("exponential(1 / exp({line}))"), false),
        (
            "bernoulli",
            Link::Logit,
            Column::boolean("y", false).unwrap(),
            format!("bernoulli(inv_logit({line}))"),
            false,
        ),
        ("bernoulli", Link::Probit, Column::boolean("y", false).unwrap(), format!("PROBIT({line})"), false),
    ] {
        let entry = crate::families::FAMILIES.iter().find(|entry| entry.name == family);
        let entry = entry.unwrap_or_else(|| panic!("{family}"));
        let mut columns = vec![response];
        columns.extend(covariates.map(|(name, low, high)| real(name, low, high)));
        let scale = if nuisance { " s > 0 ~ half_normal(2)\n" } else { "" };
        let record = match law.strip_prefix("PROBIT") {
            Some(predictor) => format!("log_density = log_normal_cdf((2 * y - 1) * {predictor})"),
            None => format!("y ~ {law}"),
        };
        let text = format!(
            "parameters\n a ~ normal(0, 1)\n b1 ~ normal(0, 1)\n b2 ~ normal(0, 1)\n{scale}record\n {record}\n"
        );
        let model = TextModel::new(&text, &schema(columns)).unwrap_or_else(|error| panic!("{error}"));
        let choice = Choice { link, nuisance: Nuisance::Unknown(half), settings: &crate::check::Defaults };
        let design =
            Design::new("y", vec!["x1".into(), "x2".into()], true, Prior::Normal { mean: 0.0, sd: 1.0 })
                .unwrap();
        let built_in = Regression::new(design, (entry.build)(&choice).unwrap()).unwrap();
        let near: Vec<f64> = [0.2, -0.4, 0.6, 0.3][..3 + usize::from(nuisance)].to_vec();
        same(&model, &built_in, &near, 0.5);
        held.insert(family);
    }
    assert_eq!(held, crate::families::FAMILIES.iter().map(|family| family.name).collect());
}

/// A binomial regression with a column of trials, and with a fixed number of them.
#[test]
fn binomial_regressions_as_text_are_the_family() {
    use crate::families::binomial::Binomial;
    let count = |name: &str| Column::integer(name, 0.0, 40.0, 0.0).unwrap();
    let names = || vec!["x1".to_owned(), "x2".to_owned()];
    let prior = Prior::Normal { mean: 0.0, sd: 1.0 };
    let design = || Design::new("y", names(), true, prior).unwrap();
    for trials in ["n", "12"] {
        for law in ["binomial_logit(TRIALS, LINE)", "binomial(TRIALS, inv_logit(LINE))"] {
            let law = law.replace("TRIALS", trials).replace("LINE", "a + b1 * x1 + b2 * x2");
            let text = format!(
                "parameters\n a ~ normal(0, 1)\n b1 ~ normal(0, 1)\n b2 ~ normal(0, 1)\nrecord\n y ~ {law}\n"
            );
            let mut columns = vec![count("y")];
            columns.extend((trials == "n").then(|| count("n")));
            columns.extend([real("x1", -1.0, 1.0), real("x2", -1.0, 1.0)]);
            let model = TextModel::new(&text, &schema(columns)).unwrap_or_else(|error| panic!("{error}"));
            let design = match trials {
                "n" => design().with_trials("n", 17.0).unwrap(),
                _ => design().with_fixed_trials(12.0).unwrap(),
            };
            let built_in = Regression::new(design, Box::new(Binomial)).unwrap();
            same(&model, &built_in, &[0.2, -0.4, 0.6], 0.5);
        }
    }
}

/// I(x) = (1, x)(1, x)ᵀ times ¼ for fair coins and for normals of variance 4: steepest where |x| is largest.
#[test]
fn the_steepest_corner_of_the_columns_is_found() {
    let steepest = |text: &str, columns: Vec<Column>, theta: &[f64], matrix: &[f64]| {
        let model = TextModel::new(text, &schema(columns)).unwrap();
        model.stiffness_through(&schema(model.columns.clone()), theta, matrix)
    };
    let identity = [1.0, 0.0, 0.0, 1.0];
    let line = "parameters\n a\n b\nrecord\n y ~ LAW";
    let logistic = line.replace("LAW", "bernoulli_logit(a + b * x)");
    let coin = || vec![Column::boolean("y", false).unwrap(), real("x", -1.0, 1.0)];
    let found = steepest(&logistic, coin(), &[0.0, 0.0], &identity).unwrap();
    assert!((found - 0.25 * 2.0).abs() < 1e-12, "{found}");
    // Through A = (1 2; 0 3) the vector (1, x) becomes (1 + 2x, 3x).
    let found = steepest(&logistic, coin(), &[0.0, 0.0], &[1.0, 2.0, 0.0, 3.0]).unwrap();
    assert!((found - 0.25 * 18.0).abs() < 1e-12, "{found}");
    let normal = line.replace("LAW", "normal(a + b * x, 2)");
    let columns = vec![real("y", -100.0, 100.0), real("x", -3.0, 1.0)];
    let found = steepest(&normal, columns, &[0.5, 0.2], &identity).unwrap();
    assert!((found - 0.25 * 10.0).abs() < 1e-6, "{found}");
    // Nothing is guessed of columns that all follow a law.
    assert_eq!(steepest(MIXTURE, vec![real("x", -50.0, 50.0)], &[0.0, 1.0], &identity), None);
}
