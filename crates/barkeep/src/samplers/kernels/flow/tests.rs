//! Holds every diffusion against posteriors known in closed form, through the curator's gate.
//!
//! The budget charges nothing, so that chains can be long. Each comparison allows five standard errors (level
//! 6e-7 a side under the normal law); seeds are fixed.

use crate::PublicRng;
use crate::accounting::{Contract, Delta, Neighbours, Sampling, Steps};
use crate::curator::{
    Budget, Clip, Curator, Gate, NoiseRng, PrivacyModel, Table, TableBuilder, Temper, sum_cost,
};
use crate::data::Schema;
use crate::model::{Banana, Bend, Circle, GaussianMean, Likelihood, Model};
use crate::samplers::kernels::closed_form::{RECORDS, assert_moments, records, within};
use crate::samplers::kernels::flow::{Asking, Flow, Integrator};
use crate::samplers::parts::scoring::Scoring;
use crate::samplers::parts::whitening::{Whitening, WhiteningChoice};
use crate::samplers::{Asker, Kernel, State};
use std::sync::Arc;

const STEPS: usize = 60_000;
const AUTO: WhiteningChoice = WhiteningChoice::Fisher { local: None, scale: 1.0 };

struct Chain {
    model: Arc<dyn Model>,
    likelihood: Arc<dyn Likelihood>,
    start: Vec<f64>,
    temper: f64,
    whitening: WhiteningChoice,
    integrator: Integrator,
    midpoints: bool,
    batch: Sampling,
    clip: f64,
    inflation: f64,
    seed: u64,
}

impl Chain {
    fn new(
        model: Arc<impl Model + Likelihood + 'static>,
        start: &[f64],
        integrator: Integrator,
        seed: u64,
    ) -> Self {
        Self {
            likelihood: Arc::clone(&model) as Arc<dyn Likelihood>,
            model,
            start: start.to_vec(),
            temper: 1.0,
            whitening: AUTO,
            integrator,
            midpoints: true,
            batch: Sampling::Full,
            // No whitened gradient of these records comes near it: clipping is not active.
            clip: 50.0,
            inflation: 1.0,
            seed,
        }
    }

    /// Each parameter's series.
    fn run(&self, table: Table) -> Vec<Vec<f64>> {
        self.run_on(table, RECORDS)
    }

    /// Each parameter's series, on another number of records.
    fn run_on(&self, table: Table, records: usize) -> Vec<Vec<f64>> {
        let privacy_model = PrivacyModel { neighbours: Neighbours::Substitute };
        let curator = Curator::new(table, privacy_model, Budget::not_private()).unwrap();
        let mut gate = Gate::open(&Arc::new(curator), NoiseRng::insecure_seed(self.seed)).unwrap();
        let asking = Asking {
            temper: Temper::new(self.temper).unwrap(),
            clip: Clip::new(self.clip).unwrap(),
            records: records as f64,
            batch: self.batch,
            inflation: self.inflation,
        };
        let mut kernel = Flow::new(
            Arc::clone(&self.model),
            self.whitening.clone(),
            self.integrator.clone(),
            asking,
            self.midpoints,
        );
        let mut state = State { theta: self.start.clone(), log_prior: self.model.log_prior(&self.start) };
        let mut rng = PublicRng::new(self.seed, 0);
        let mut series = vec![Vec::with_capacity(STEPS); self.start.len()];
        for _ in 0..STEPS {
            kernel.step(&mut state, &mut Asker::plain(&mut gate, &*self.likelihood), &mut rng).unwrap();
            let published = kernel.published(&state);
            series.iter_mut().zip(published).for_each(|(series, x)| series.push(*x));
        }
        series
    }
}

fn overdamped(step: f64) -> Integrator {
    Integrator::Overdamped { step }
}

fn underdamped(step: f64, friction: f64, dimension: usize) -> Integrator {
    Integrator::Underdamped { step, friction, velocity: vec![0.0; dimension] }
}

fn gaussian() -> GaussianMean {
    GaussianMean::new(&[1.0, 0.6, 0.6, 2.0], &[0.5, 0.0], &[4.0, 0.0, 0.0, 4.0]).unwrap()
}

#[test]
fn midpoints_have_a_gaussian_posterior_exactly_whatever_the_step() {
    let (_, data_mean) = records(&gaussian(), &[1.0, -1.0]);
    let (mean, covariance) = gaussian().posterior(RECORDS as f64, 1.0, &data_mean).unwrap();
    let integrators = [overdamped(1.0), overdamped(0.4), underdamped(1.0, 2.0, 2), underdamped(0.7, 1.0, 2)];
    let given = WhiteningChoice::Given(vec![0.2, 0.0, 0.05, 0.18]);
    for (seed, integrator) in (1..).zip(integrators) {
        for whitening in [AUTO, given.clone()] {
            let mut chain = Chain::new(Arc::new(gaussian()), &mean, integrator.clone(), seed);
            chain.whitening = whitening;
            let series = chain.run(records(&gaussian(), &[1.0, -1.0]).0);
            assert_moments(&format!("{integrator:?}"), &series, &mean, &covariance);
        }
    }
}

#[test]
fn states_are_biased_by_the_step_which_is_free_to_shrink() {
    let (_, data_mean) = records(&gaussian(), &[1.0, -1.0]);
    let (mean, covariance) = gaussian().posterior(RECORDS as f64, 1.0, &data_mean).unwrap();
    for step in [1.0, 0.25] {
        let mut chain = Chain::new(Arc::new(gaussian()), &mean, overdamped(step), 11);
        chain.midpoints = false;
        let series = chain.run(records(&gaussian(), &[1.0, -1.0]).0);
        // θ' = (1−h/2)θ + √h·z has variance h/(1 − (1−h/2)²) = 1/(1−h/4).
        let biased: Vec<f64> = covariance.iter().map(|entry| entry / (1.0 - step / 4.0)).collect();
        assert_moments(&format!("states at step {step}"), &series, &mean, &biased);
    }
    let epsilon = |step: f64, steps: u64| {
        let privacy_model = PrivacyModel { neighbours: Neighbours::Substitute };
        let clip = Clip::new(0.01).unwrap();
        let cost =
            sum_cost(Temper::NONE, clip, Sampling::Full, overdamped(step).noise(), privacy_model).unwrap();
        let contract = Contract::new(vec![(cost, Steps(steps))]).unwrap();
        contract.epsilon(Delta::new(1e-6).unwrap()).unwrap().upper
    };
    assert!((epsilon(1.0, 1000) / epsilon(0.25, 4000) - 1.0).abs() < 1e-12);
}

#[test]
fn a_frame_that_follows_the_position_straightens_a_banana() {
    let model = || Arc::new(Banana::new(Bend { a: 3.0, b: 0.1, m: 0.2 }, &[2.0, 1.0, 0.5], 25.0).unwrap());
    let (_, data_mean) = records(&*model(), &[0.4, 1.0, 0.0]);
    let (mean, covariance) = model().posterior(RECORDS as f64, 0.5, &data_mean).moments();
    let frame = Whitening::new(&AUTO, &(model() as Arc<dyn Model>), 20.0, &mean).unwrap();
    assert!(frame.is_local());
    for (seed, integrator) in (30..).zip([overdamped(1.0), underdamped(1.0, 2.0, 3)]) {
        let mut chain = Chain::new(model(), &mean, integrator, seed);
        chain.temper = 0.5;
        let series = chain.run(records(&*model(), &[0.4, 1.0, 0.0]).0);
        assert_moments("banana", &series, &mean, &covariance);
    }
}

#[test]
fn a_frame_with_a_floor_goes_round_a_circle() {
    let model = || Arc::new(Circle::new(0.02).unwrap());
    let mut rng = PublicRng::new(99, 0);
    let mut squares = 0.0;
    for _ in 0..RECORDS {
        let mut row = [0.0];
        model().simulate(&[0.0, 3.0], &mut || rng.open_uniform(), &mut row);
        squares += row[0] * row[0] / RECORDS as f64;
    }
    for (seed, integrator) in (50..).zip([overdamped(0.05), underdamped(0.1, 2.0, 2)]) {
        let chain = Chain::new(model(), &[0.0, 3.0], integrator, seed);
        let series = chain.run(records(&*model(), &[0.0, 3.0]).0);
        // The area element is half of ds·dφ in s = x² + y²: s is normal with variance 1/(2na), the angle uniform.
        let s: Vec<f64> = series[0].iter().zip(&series[1]).map(|(x, y)| x * x + y * y).collect();
        let variance = 1.0 / (2.0 * RECORDS as f64 * 0.02);
        within("mean of x", series[0].clone(), 0.0);
        within("mean of y", series[1].clone(), 0.0);
        within("mean of the squared radius", s.clone(), squares);
        within("its variance", s.iter().map(|s| (s - squares) * (s - squares)).collect(), variance);
    }
}

#[test]
fn batches_add_the_variance_they_must_and_no_more() {
    let model = || Arc::new(GaussianMean::independent(&[2.0], 100.0).unwrap());
    let mut rng = PublicRng::new(99, 0);
    let values: Vec<f64> = (0..RECORDS)
        .map(|_| {
            let mut row = [0.0];
            model().simulate(&[1.0], &mut || rng.open_uniform(), &mut row);
            row[0]
        })
        .collect();
    let n = RECORDS as f64;
    let centre = values.iter().sum::<f64>() / n;
    let spread = values.iter().map(|x| (x - centre) * (x - centre)).sum::<f64>() / (n - 1.0);
    let (mean, covariance) = model().posterior(n, 1.0, &[centre]).unwrap();
    // θ' = θ − ηλ(θ − m) + noise of variance 2η + η²V, V = n²/b·(1 − b/n)·s²/σ⁴ for a batch without replacement: the
    // middle of a step has variance (1 + ηV/2)/λ.
    let (eta, b) = (0.3 * covariance[0], 10.0);
    let batch_variance = n * n / b * (1.0 - b / n) * spread / 4.0;
    let expected = covariance[0] * (1.0 + 0.5 * eta * batch_variance);
    assert!(expected > 1.3 * covariance[0], "or the test would not see the batch");
    let mut chain = Chain::new(model(), &mean, overdamped(2.0 * eta), 70);
    chain.whitening = WhiteningChoice::Given(vec![1.0]);
    chain.batch = Sampling::WithoutReplacement { batch: 10, records: RECORDS as u64 };
    let series = chain.run(records(&*model(), &[1.0]).0);
    assert_moments("sgld", &series, &mean, &[expected]);
}

#[test]
fn a_thermostat_takes_up_the_noise_of_batches() {
    let (_, data_mean) = records(&gaussian(), &[1.0, -1.0]);
    let (mean, covariance) = gaussian().posterior(RECORDS as f64, 1.0, &data_mean).unwrap();
    let integrator =
        Integrator::Thermostat { step: 0.05, diffusion: 1.0, momentum: vec![0.0; 2], friction: 1.0 };
    let mut chain = Chain::new(Arc::new(gaussian()), &mean, integrator, 80);
    chain.batch = Sampling::WithoutReplacement { batch: 20, records: RECORDS as u64 };
    let series = chain.run(records(&gaussian(), &[1.0, -1.0]).0);
    assert_moments("sgnht", &series, &mean, &covariance);
}

/// Records at the corners of a tilted square, whose mean is (1, −1) and whose covariance is exactly the model's.
fn corners(records: usize) -> Table {
    let mut builder = TableBuilder::new(Schema::unbounded(["x1", "x2"]).unwrap(), records).unwrap();
    // The lower root of [[1, 0.6], [0.6, 2]].
    let (low, root) = (0.6, 1.64_f64.sqrt());
    for k in 0..records {
        let (a, b) = [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)][k % 4];
        builder.push_row(&[1.0 + a, -1.0 + low * a + root * b]).unwrap();
    }
    builder.finish().unwrap()
}

/// Fisher scoring learns from the records what covariance their gradients have. Where that is the model's information, a
/// Gaussian posterior is exact at any step, on any batch, and with more noise than the dynamics needs.
#[test]
fn scoring_has_a_gaussian_posterior_whatever_the_step_the_batch_and_the_noise() {
    let records = 4000;
    let (mean, covariance) = gaussian().posterior(records as f64, 1.0, &[1.0, -1.0]).unwrap();
    // A whitened gradient has norm √(2/n) here: far from being clipped.
    let bound = 5.0 / (records as f64).sqrt();
    let none = WhiteningChoice::Given(vec![0.02, 0.0, 0.0, 0.02]);
    let cases = [(2.0, 1.0, 200, AUTO), (0.5, 2.0, 400, AUTO), (1.0, 1.0, 400, none)];
    for (seed, (step, inflation, batch, whitening)) in (90..).zip(cases) {
        let integrator = Integrator::Scoring { step, scoring: Scoring::new(1.0 / (7.0 * bound), 2) };
        let mut chain = Chain::new(Arc::new(gaussian()), &mean, integrator, seed);
        chain.batch = Sampling::WithoutReplacement { batch, records: records as u64 };
        (chain.whitening, chain.inflation, chain.midpoints) = (whitening, inflation, false);
        chain.clip = 1.02 * bound;
        let series = chain.run_on(corners(records), records);
        // While the covariance is being learnt a step is too long or too short.
        let learnt: Vec<Vec<f64>> = series.iter().map(|series| series[2000..].to_vec()).collect();
        assert_moments(&format!("sgfs, step {step}, batch {batch}"), &learnt, &mean, &covariance);
    }
}
