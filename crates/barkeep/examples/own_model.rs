//! A model of one's own: waiting times, some of them censored, drawn from privately through the curator's gate.
//!
//! `cargo run --release -p barkeep --example own_model`

#![expect(clippy::print_stdout, reason = "an example shows what it found")]

use barkeep::PublicRng;
use barkeep::accounting::{Contract, Delta, Epsilon, Neighbours, Query, Rule, Sampling, Steps};
use barkeep::curator::{Budget, Clip, Curator, Gate, Level, NoiseRng, PrivacyModel, Temper, decide_cost};
use barkeep::data::{Block, Column, Schema, TableBuilder};
use barkeep::model::{Likelihood, Model, Scratch};
use barkeep::samplers::kernels::metropolis::{Acceptance, ClipBound, Judgement, Metropolis};
use barkeep::samplers::parts::proposal::{Direction, Length, Scale, Walk};
use barkeep::samplers::{Kernel, State};
use std::sync::Arc;

/// Times t until an event, of rate e^θ; where it was not seen (0), only that it took longer than t is known.
struct Waiting {
    parameters: Vec<String>,
    columns: Vec<String>,
}

impl Likelihood for Waiting {
    fn dimension(&self) -> usize {
        1
    }
    fn columns(&self) -> usize {
        2
    }
    /// ln p = seen·θ − e^θ·t.
    fn log_density(&self, block: Block<'_>, theta: &[f64], out: &mut [f64], _: &mut Scratch) {
        let rate = theta[0].exp();
        for ((out, time), seen) in out.iter_mut().zip(block.column(0)).zip(block.column(1)) {
            *out = seen * theta[0] - rate * time;
        }
    }
    fn gradient(&self, block: Block<'_>, theta: &[f64], out: &mut [f64], _: &mut Scratch) {
        let rate = theta[0].exp();
        for ((out, time), seen) in out.iter_mut().zip(block.column(0)).zip(block.column(1)) {
            *out = seen - rate * time;
        }
    }
}

impl Model for Waiting {
    fn parameter_names(&self) -> &[String] {
        &self.parameters
    }
    fn column_names(&self) -> &[String] {
        &self.columns
    }
    /// θ ~ N(0, 2²).
    fn log_prior(&self, theta: &[f64]) -> f64 {
        -theta[0] * theta[0] / 8.0
    }
    fn prior_gradient(&self, theta: &[f64], out: &mut [f64]) {
        out[0] = -theta[0] / 4.0;
    }
    /// Watched for two units of time.
    fn simulate(&self, theta: &[f64], uniform: &mut dyn FnMut() -> f64, row: &mut [f64]) {
        let time = -uniform().ln() / theta[0].exp();
        row.copy_from_slice(&[time.min(2.0), f64::from(u8::from(time < 2.0))]);
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let model = Arc::new(Waiting { parameters: names(&["log_rate"]), columns: names(&["time", "seen"]) });

    // Records; yours would come from a file by `barkeep::data::read`.
    let records = 200_000;
    let schema = Schema::new(vec![Column::real("time", 0.0, 2.0, 1.0)?, Column::boolean("seen", false)?])?;
    let mut table = TableBuilder::new(schema, records)?;
    let (mut rng, mut row) = (PublicRng::new(1, 0), [0.0; 2]);
    for _ in 0..records {
        model.simulate(&[0.5], &mut || rng.open_uniform(), &mut row);
        table.push_row(&row)?;
    }

    // A step is one decision; the largest number that ε = 1 pays for.
    let (temper, clip) = (Temper::new(1.0)?, 0.02);
    let premises = PrivacyModel { neighbours: Neighbours::Substitute };
    let cost =
        decide_cost(temper, Clip::new(clip)?, Sampling::Full, &Rule::Barker, Level::Decision, premises)?;
    let step = Query::new(vec![(cost.clone(), Steps(1))])?;
    let steps = step.largest_steps(Epsilon::new(1.0)?, Delta::new(1e-6)?)?;
    let budget = Budget::permits(&Contract::new(vec![(cost, steps)])?);
    let curator = Arc::new(Curator::new(table.finish()?, Arc::<Waiting>::clone(&model), premises, budget)?);
    let mut tab = Gate::open(&curator, NoiseRng::from_os()?);

    let walk = (Scale::Diagonal(vec![0.004]), Length::Uniform { cap: 0.005 }, Direction::Full);
    let walk = Walk::new(walk.0, walk.1, walk.2, &mut rng);
    let judgement = Judgement {
        clip: ClipBound::Constant(clip),
        acceptance: Acceptance::Fixed(Rule::Barker),
        temper,
        batch: Sampling::Full,
        neighbours: premises.neighbours,
        level: Level::Decision,
    };
    let mut kernel = Metropolis::new(Arc::<Waiting>::clone(&model), walk, judgement);
    let mut state = State { theta: vec![0.5], log_prior: model.log_prior(&[0.5]) };
    let mut draws = Vec::new();
    for _ in 0..steps.0 {
        kernel.step(&mut state, &mut tab, &mut rng)?;
        draws.push(state.theta[0]);
    }
    let half = &draws[draws.len() / 2..];
    println!(
        "{} steps for ε = 1; log rate about {:.4}",
        steps.0,
        half.iter().sum::<f64>() / half.len() as f64
    );
    Ok(())
}
