//! Holds every family against dual numbers, a table by mpmath, and records simulated from it.

mod programs;

use barkeep_data::{Block, Column, Scale};
use num_dual::{Dual64, DualNum};

use super::*;
use crate::check::Defaults;
use crate::families::FAMILIES;
use crate::families::bernoulli::{Logit, Probit};
use crate::families::binomial::Binomial;
use crate::families::gamma::Gamma;
use crate::families::gaussian::Gaussian;
use crate::families::negative_binomial::NegativeBinomial;
use crate::families::poisson::Poisson;
use crate::families::student_t::StudentT;
use crate::{Choice, Link, Prior, Response, Scratch, check};

const SPREAD: Prior = Prior::Exponential { rate: 0.5 };

fn design(intercept: bool) -> Design {
    let features = (1..=5).map(|j| format!("x{j}")).collect();
    Design::new("y", features, intercept, Prior::Normal { mean: 0.0, sd: 3.0 }).unwrap()
}

fn constant(value: f64) -> Dual64 {
    Dual64::new(value, 0.0)
}

fn log_normal(x: Dual64, sd: Dual64) -> Dual64 {
    (x / sd).powi(2) * -0.5 - sd.ln() - 0.5 * std::f64::consts::TAU.ln()
}

fn softplus(t: Dual64) -> Dual64 {
    (t.exp() + 1.0).ln()
}

/// ln Γ by many more lifts than the machine's and the first terms of Stirling's series.
fn ln_gamma_oracle(x: Dual64) -> Dual64 {
    let lifts = 60;
    let y = x + f64::from(lifts);
    let series = y.recip() / 12.0 - y.powi(-3) / 360.0 + y.powi(-5) / 1260.0;
    let stirling = (y - 0.5) * y.ln() - y + 0.5 * std::f64::consts::TAU.ln() + series;
    (0..lifts).fold(stirling, |sum, k| sum - (x + f64::from(k)).ln())
}

/// ln (r)(r+1)…(r+y−1) = ln Γ(y+r) − ln Γ(r) for a whole y.
fn rising(r: Dual64, y: f64) -> Dual64 {
    (0..y as u32).fold(constant(0.0), |sum, k| sum + (r + f64::from(k)).ln())
}

fn ln_factorial(y: f64) -> f64 {
    (1..=y as u32).map(|k| f64::from(k).ln()).sum()
}

type Make = fn() -> Box<dyn Family>;
type Density = fn(f64, Dual64, Dual64) -> Dual64;

/// A family, whether its nuisance is a parameter, and ln p(y|η, nuisance) written plainly.
fn families() -> Vec<(Make, Density)> {
    vec![
        (|| Box::new(Gaussian { sd: Nuisance::Known(0.7) }), |y, eta, _| log_normal(-eta + y, constant(0.7))),
        (|| Box::new(Gaussian { sd: Nuisance::Unknown(SPREAD) }), |y, eta, sd| log_normal(-eta + y, sd)),
        (
            || Box::new(StudentT { degrees: 4.0, scale: Nuisance::Unknown(SPREAD) }),
            |y, eta, scale| {
                // Γ(5/2)/(Γ(2)·√(4π)) = 3/8.
                (((-eta + y) / scale).powi(2) / 4.0 + 1.0).ln() * -2.5 - scale.ln() + 0.375f64.ln()
            },
        ),
        (|| Box::new(Logit), |y, eta, _| eta * y - softplus(eta)),
        (
            || Box::new(Probit),
            |y, eta, _| {
                let t = eta * (2.0 * y - 1.0);
                let share = 0.5 * libm::erfc(-t.re / 2f64.sqrt());
                let slope = (-0.5 * t.re * t.re).exp() / std::f64::consts::TAU.sqrt() / share;
                Dual64::new(share.ln(), slope * t.eps)
            },
        ),
        (|| Box::new(Poisson), |y, eta, _| eta * y - eta.exp() - ln_factorial(y)),
        (
            || Box::new(NegativeBinomial { size: Nuisance::Unknown(SPREAD) }),
            |y, eta, size| {
                let all = eta.exp() + size;
                rising(size, y) - ln_factorial(y) + (eta - all.ln()) * y + (size / all).ln() * size
            },
        ),
        (
            || Box::new(NegativeBinomial { size: Nuisance::Known(2.5) }),
            |y, eta, _| {
                let (size, all) = (constant(2.5), eta.exp() + 2.5);
                rising(size, y) - ln_factorial(y) + (eta - all.ln()) * y + (size / all).ln() * size
            },
        ),
        (
            || Box::new(Gamma { shape: Nuisance::Unknown(SPREAD) }),
            |y, eta, shape| {
                shape * (shape.ln() - eta) + (shape - 1.0) * y.ln()
                    - shape * y / eta.exp()
                    - ln_gamma_oracle(shape)
            },
        ),
        (|| Box::new(Gamma { shape: Nuisance::Known(1.0) }), |y, eta, _| -eta - (-eta).exp() * y),
    ]
}

fn is_unknown(family: &dyn Family) -> bool {
    matches!(family.nuisance(), Some((_, Nuisance::Unknown(_))))
}

/// The sum of the coefficients' normal priors and of the nuisance's exponential one, as a density of its logarithm.
fn prior(theta: &[Dual64], coefficients: usize) -> Dual64 {
    let sum = theta[..coefficients]
        .iter()
        .fold(constant(0.0), |sum, theta| sum + log_normal(*theta, constant(3.0)));
    theta[coefficients..].iter().fold(sum, |sum, log| sum + 0.5f64.ln() - log.exp() * 0.5 + *log)
}

#[test]
fn every_family_agrees_with_dual_numbers() {
    for (family, density) in families() {
        for intercept in [true, false] {
            let model = Regression::new(design(intercept), family()).unwrap();
            let k = 5 + usize::from(intercept);
            let mut near = vec![0.2, -0.4, 0.0, 0.5, 0.1, 0.3][..k].to_vec();
            if is_unknown(&*family()) {
                near.push(0.3);
            }
            let oracle = |row: &[f64], theta: &[Dual64]| {
                let start = if intercept { theta[0] } else { constant(0.0) };
                let slopes = &theta[usize::from(intercept)..k];
                let eta = slopes.iter().zip(&row[1..]).fold(start, |sum, (theta, x)| sum + *theta * *x);
                density(row[0], eta, theta.get(k).map_or(constant(1.0), |log| log.exp()))
            };
            check::against_oracle(&model, &near, 0.4, oracle, |theta| prior(theta, k));
        }
    }
}

#[test]
fn trials_and_offsets_enter_as_declared() {
    let density = |y: f64, trials: f64, eta: Dual64| {
        let ways = ln_factorial(trials) - ln_factorial(y) - ln_factorial(trials - y);
        eta * y - softplus(eta) * trials + ways
    };
    let near = [0.2, -0.4, 0.0, 0.5, 0.1, 0.3];
    let predictor = |row: &[f64], theta: &[Dual64]| {
        theta[1..6].iter().zip(row).fold(theta[0], |sum, (theta, x)| sum + *theta * *x)
    };
    let fixed = Regression::new(design(true).with_fixed_trials(9.0).unwrap(), Box::new(Binomial)).unwrap();
    let oracle = |row: &[f64], theta: &[Dual64]| density(row[0], 9.0, predictor(&row[1..], theta));
    check::against_oracle(&fixed, &near, 0.4, oracle, |theta| prior(theta, 6));
    let columns = design(true).with_trials("n", 7.0).unwrap().with_offset("o", (0.0, 0.0)).unwrap();
    assert_eq!(columns.columns(), ["y", "n", "o", "x1", "x2", "x3", "x4", "x5"]);
    let model = Regression::new(columns, Box::new(Binomial)).unwrap();
    assert_eq!(model.parameter_names(), ["intercept", "x1", "x2", "x3", "x4", "x5"]);
    let oracle =
        |row: &[f64], theta: &[Dual64]| density(row[0], row[1], predictor(&row[3..], theta) + row[2]);
    check::against_oracle(&model, &near, 0.4, oracle, |theta| prior(theta, 6));
    // An offset shifts η: the same record with the intercept moved instead.
    let plain = Regression::new(design(true), Box::new(Poisson)).unwrap();
    let shifted =
        Regression::new(design(true).with_offset("o", (0.0, 0.0)).unwrap(), Box::new(Poisson)).unwrap();
    let (mut one, mut other) = ([0.0], [0.0]);
    let scratch = &mut Scratch::new();
    let theta = [0.7, -0.4, 0.0, 0.5, 0.1, 0.3];
    plain.log_density(Block::over(&[3.0, 1.0, 2.0, 3.0, 4.0, 5.0], 1, 1), &theta, &mut one, scratch);
    shifted.log_density(Block::over(&[3.0, 0.5, 1.0, 2.0, 3.0, 4.0, 5.0], 1, 1), &near, &mut other, scratch);
    assert!((one[0] - other[0]).abs() < 1e-12);
    // More successes than trials count as all trials having succeeded.
    let record = [[8.0, 7.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0], [7.0, 7.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0]];
    model.log_density(Block::over(&record[0], 1, 1), &near, &mut one, scratch);
    model.log_density(Block::over(&record[1], 1, 1), &near, &mut other, scratch);
    assert_eq!(one, other);
}

#[test]
fn densities_and_derivatives_agree_with_the_table() {
    let table = include_str!("../../tests/tables/families.csv");
    let scratch = &mut Scratch::new();
    let mut rows = 0;
    for line in table.lines().skip(1) {
        let (name, rest) = line.split_once(',').unwrap();
        let row: Vec<f64> = rest.split(',').map(|cell| cell.parse().unwrap()).collect();
        let [y, eta, nuisance, log_density, by_eta, by_log] = row[..] else { unreachable!() };
        let unknown = Nuisance::Unknown(SPREAD);
        let family: Box<dyn Family> = match name {
            "logit" => Box::new(Logit),
            "probit" => Box::new(Probit),
            name => {
                let entry = FAMILIES.iter().find(|entry| entry.name == name).unwrap();
                let choice = Choice { link: entry.links[0], nuisance: unknown, settings: &Defaults };
                (entry.build)(&choice).unwrap()
            }
        };
        let design =
            Design::new("y", vec![], true, Prior::Flat).unwrap().with_fixed_trials(nuisance).unwrap();
        let model = Regression::new(design, family).unwrap();
        let theta = [eta, nuisance.ln()];
        let theta = &theta[..model.dimension()];
        let (mut value, mut gradient) = ([f64::NAN], [f64::NAN; 2]);
        model.log_density(Block::over(&[y], 1, 1), theta, &mut value, scratch);
        model.gradient(Block::over(&[y], 1, 1), theta, &mut gradient[..theta.len()], scratch);
        let close = |found: f64, expected: f64| (found - expected).abs() <= 2e-13 * (1.0 + expected.abs());
        // Terms of the size of μ and of y ln y cancel.
        let size = 1e-15 * (eta.exp() + y.abs() * (y.abs() + 2.0).ln());
        assert!(
            close(value[0], log_density) || (value[0] - log_density).abs() < size,
            "{line}: {}",
            value[0]
        );
        let slack = check::slack(&model) * by_eta.abs();
        assert!(
            close(gradient[0], by_eta) || (gradient[0] - by_eta).abs() <= slack,
            "{line}: {}",
            gradient[0]
        );
        if theta.len() == 2 {
            assert!(
                close(gradient[1], by_log) || (gradient[1] - by_log).abs() < size,
                "{line}: {}",
                gradient[1]
            );
        }
        rows += 1;
    }
    assert!(rows > 200);
}

/// Every family of the registry with each of its links and, where it has a nuisance, an unknown and a known one.
fn registered() -> Vec<(Link, Box<dyn Family>)> {
    let mut all = Vec::new();
    for entry in FAMILIES {
        let known = [Nuisance::Unknown(SPREAD), Nuisance::Known(1.5)];
        for link in entry.links {
            for nuisance in &known[..1 + usize::from(entry.nuisance.is_some())] {
                let choice = Choice { link: *link, nuisance: *nuisance, settings: &Defaults };
                all.push((*link, (entry.build)(&choice).unwrap()));
            }
        }
    }
    all
}

#[test]
fn every_registered_family_behaves_as_a_model_must() {
    for (link, family) in registered() {
        // The stated information is exact where η does not vary, and for probabilities at η = 0.
        let start = match link {
            Link::Logit | Link::Probit => 0.0,
            Link::Identity | Link::Log => 0.5,
        };
        let (mut theta, mut level) = (vec![0.5, -0.3, 0.0, 0.6, 0.1, 0.2], vec![0.0; 6]);
        level[0] = start;
        if is_unknown(&*family) {
            theta.push(0.3);
            level.push(0.3);
        }
        let model = Regression::new(design(true).with_trials("n", 7.0).unwrap(), family).unwrap();
        check::slopes(&model, &theta);
        check::one_component_moves(&model, &theta);
        check::any_values(&model, &theta);
        check::prior_draws(&model);
        check::scores(&model, &level, true);
    }
}

#[test]
fn entries_name_each_thing_once() {
    let mut names: Vec<&str> = FAMILIES.iter().map(|entry| entry.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), FAMILIES.len());
    assert!(FAMILIES.iter().all(|entry| !entry.links.is_empty()));
    for (entry, family) in FAMILIES.iter().map(|entry| {
        let choice =
            Choice { link: entry.links[0], nuisance: Nuisance::Unknown(SPREAD), settings: &Defaults };
        (entry, (entry.build)(&choice).unwrap())
    }) {
        assert_eq!(family.counts_trials(), entry.response == Response::Successes, "{}", entry.name);
        if let Some(nuisance) = entry.nuisance {
            assert_eq!(family.nuisance().map(|(own, _)| own.key), Some(nuisance.key), "{}", entry.name);
        }
    }
}

#[test]
fn no_gradient_is_longer_than_the_lipschitz_bound() {
    let feature = |j: i32| Column::real(format!("x{j}"), -f64::from(j), 3.0, 0.0).unwrap();
    let schema = |response: Column, scale| {
        let features = (1..=5).map(|j| feature(j).scaled(scale).unwrap());
        Schema::new(std::iter::once(response).chain(features).collect()).unwrap()
    };
    let truth = || Column::boolean("y", false).unwrap();
    let count = || Column::integer("y", 0.0, 20.0, 0.0).unwrap();
    let real = || Column::real("y", -50.0, 50.0, 0.0).unwrap();
    // 1 + 9 + 9 + 9 + 16 + 25 = 69 unscaled, 6 scaled.
    let cases: [(Box<dyn Family>, Column, f64); 5] = [
        (Box::new(Logit), truth(), 1.0),
        (Box::new(Binomial), count(), 20.0),
        (Box::new(NegativeBinomial { size: Nuisance::Known(3.0) }), count(), 20.0),
        (Box::new(NegativeBinomial { size: Nuisance::Known(30.0) }), count(), 30.0),
        (Box::new(StudentT { degrees: 4.0, scale: Nuisance::Known(0.5) }), real(), 2.5),
    ];
    for (family, response, slope) in cases {
        let name = format!("{family:?}");
        let design = design(true).with_fixed_trials(20.0).unwrap();
        let model = Regression::new(design, family).unwrap();
        let bound = model.lipschitz(&schema(response.clone(), Scale::None)).unwrap();
        let exact = slope * 69f64.sqrt();
        assert!(bound >= exact && bound < exact * (1.0 + 1e-13), "{name}: {bound} {exact}");
        let scaled = model.lipschitz(&schema(response.clone(), Scale::Bounds)).unwrap();
        assert!((scaled / slope - 6f64.sqrt()).abs() < 1e-12);
        // The longest gradient found comes near it and never beyond.
        let (low, high) = response.range();
        let mut longest = 0.0f64;
        for y in [low, high, 1.0f64.clamp(low, high)] {
            for step in -400..=400 {
                let eta = f64::from(step) * 0.125;
                let record = [y, 3.0, 3.0, 3.0, -4.0, -5.0];
                let mut gradient = [0.0; 6];
                let theta = [eta, 0.0, 0.0, 0.0, 0.0, 0.0];
                model.gradient(Block::over(&record, 1, 1), &theta, &mut gradient, &mut Scratch::new());
                longest = longest.max(gradient.iter().map(|entry| entry * entry).sum::<f64>().sqrt());
            }
        }
        assert!(longest <= bound && longest > 0.9999 * bound, "{name}: {longest} {bound}");
        assert!(model.lipschitz(&Schema::unbounded(["y"]).unwrap()).is_none());
    }
    let unknown = Nuisance::Unknown(SPREAD);
    let unbounded: [Box<dyn Family>; 6] = [
        Box::new(Probit),
        Box::new(Poisson),
        Box::new(Gaussian { sd: Nuisance::Known(1.0) }),
        Box::new(StudentT { degrees: 4.0, scale: unknown }),
        Box::new(NegativeBinomial { size: unknown }),
        Box::new(Gamma { shape: Nuisance::Known(1.0) }),
    ];
    for family in unbounded {
        let name = format!("{family:?}");
        let model = Regression::new(design(true), family).unwrap();
        assert!(model.lipschitz(&schema(truth(), Scale::Bounds)).is_none(), "{name}");
    }
}

#[test]
fn declared_moments_make_the_information() {
    let design = Design::new("y", vec!["x".into()], true, Prior::Flat).unwrap();
    let design = design.with_moments(&[1.0, 0.5], &[1.0, 0.5, 0.5, 2.0]).unwrap();
    let model = Regression::new(design, Box::new(Gaussian { sd: Nuisance::Known(0.5) })).unwrap();
    let (mut fisher, mut precision) = ([f64::NAN; 4], [f64::NAN; 4]);
    assert!(model.fisher(&[0.0, 0.0], &mut fisher));
    for (found, expected) in fisher.iter().zip([4.0, 2.0, 2.0, 8.0]) {
        assert!((found - expected).abs() < 1e-14);
    }
    model.prior_precision(&[0.0, 0.0], &mut precision);
    assert_eq!(precision, [0.0; 4]);
    assert!(!model.sample_prior(&mut check::uniform(1), &mut [0.0; 2]));
}

#[test]
fn nonsense_is_refused() {
    let prior = Prior::Normal { mean: 0.0, sd: 1.0 };
    let built = |family: Box<dyn Family>| Regression::new(design(true), family).map(|_| ()).err();
    let message = |error: Option<Error>| error.map(|error| error.to_string());
    let cases = [
        (
            Design::new("y", vec![], false, prior).err(),
            "model.features must name at least one column, or intercept be true",
        ),
        (design(true).with_priors(&[prior]).err(), "model.priors must have 6 entries"),
        (
            Design::new("y", vec![], true, Prior::HalfNormal { scale: 1.0 }).err(),
            "model.priors must be a prior on the whole real line",
        ),
        (design(false).with_moments(&[0.0; 5], &[1.0]).err(), "model.moments must have 25 entries"),
        (
            design(false).with_moments(&[0.0; 5], &[0.0; 25]).err(),
            "model.moments must be symmetric and positive definite",
        ),
        (design(false).with_fixed_trials(0.0).err(), "model.trials must be finite and above 0"),
        (built(Box::new(Gaussian { sd: Nuisance::Known(0.0) })), "model.sd must be finite and above 0"),
        (
            built(Box::new(Gaussian { sd: Nuisance::Unknown(Prior::Exponential { rate: 0.0 }) })),
            "model.sd must have a finite scale (and degrees of freedom) above 0",
        ),
        (
            built(Box::new(StudentT { degrees: -1.0, scale: Nuisance::Known(1.0) })),
            "model.degrees must be finite and above 0",
        ),
    ];
    for (error, expected) in cases {
        assert_eq!(message(error).as_deref(), Some(expected));
    }
}
