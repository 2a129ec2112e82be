//! Times texts against the built-in models they write down: nanoseconds a record, and their ratio.
//!
//! `cargo bench -p barkeep-model --bench language`. A ratio is the median of many passes over the same records, both models in
//! turn, so that a busy machine slows both alike.

#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a benchmark that cannot set up has failed; its output is the result"
)]

use barkeep_data::{BLOCK, Block, Column, Schema};
use barkeep_machine::{Machine, Program};
use barkeep_model::families::bernoulli::Logit;
use barkeep_model::{Banana, Bend, Design, Likelihood, Mixture, Model, Prior, Regression, TextModel};
use std::time::Instant;

const BANANA: &str = include_str!("../../../examples/models/banana.model");
const MIXTURE: &str = include_str!("../../../examples/models/mixture.model");

/// Blocks of records, a few dozen that stay in the second cache.
const BLOCKS: usize = 32;
const PASSES: usize = 400;

fn uniform() -> impl FnMut() -> f64 {
    let mut state = 1_u64;
    move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 12) as f64 + 0.5) * (-52f64).exp2()
    }
}

fn logistic(features: usize) -> (TextModel, Regression, Vec<f64>) {
    let mut columns = vec![Column::boolean("y", false).expect("a column")];
    let names: Vec<String> = (1..=features).map(|j| format!("x{j}")).collect();
    columns.extend(names.iter().map(|name| Column::real(name, -1.0, 1.0, 0.0).expect("a column")));
    let (mut parameters, mut sum) = ("parameters\n b0 ~ normal(0, 2.5)\n".to_owned(), "b0".to_owned());
    for name in &names {
        parameters.push_str(&format!(" b_{name} ~ normal(0, 2.5)\n"));
        sum.push_str(&format!(" + b_{name} * {name}"));
    }
    let text = format!("{parameters}record\n y ~ bernoulli_logit({sum})\n");
    let model = TextModel::new(&text, &Schema::new(columns).expect("a schema")).expect("a model");
    let design = Design::new("y", names, true, Prior::Normal { mean: 0.0, sd: 2.5 }).expect("a design");
    let theta = (0..=features).map(|j| 0.1 * j as f64 - 0.2).collect();
    (model, Regression::new(design, Box::new(Logit)).expect("a model"), theta)
}

/// Prints the times of ratio and gradient of a text and its built-in twin.
fn compare(name: &str, text: &dyn Likelihood, built_in: &(impl Model + Likelihood), theta: &[f64]) {
    let width = Likelihood::columns(built_in);
    let mut next = uniform();
    let mut row = vec![0.0; width];
    let blocks: Vec<Vec<f64>> = (0..BLOCKS)
        .map(|_| {
            let mut values = vec![0.0; width * BLOCK];
            for i in 0..BLOCK {
                built_in.simulate(theta, &mut next, &mut row);
                row.iter().enumerate().for_each(|(j, value)| values[j * BLOCK + i] = *value);
            }
            values
        })
        .collect();
    let to: Vec<f64> = theta.iter().map(|value| value + 0.01).collect();
    let mut out = vec![0.0; theta.len() * BLOCK];
    let mut machine = Machine::default();
    for gradient in [false, true] {
        let program = |model: &dyn Likelihood| -> Program {
            let program =
                if gradient { model.gradient_program(theta) } else { model.ratio_program(theta, &to) };
            program.expect("a program")
        };
        let programs = [program(text), program(built_in)];
        let mut times = [Vec::new(), Vec::new()];
        for _ in 0..PASSES {
            for (program, times) in programs.iter().zip(&mut times) {
                let start = Instant::now();
                for values in &blocks {
                    machine.write_all(program, Block::over(values, BLOCK, BLOCK), &mut out);
                    std::hint::black_box(&mut out);
                }
                times.push(start.elapsed().as_secs_f64() * 1e9 / (BLOCKS * BLOCK) as f64);
            }
        }
        let median = |times: &mut Vec<f64>| {
            times.sort_by(f64::total_cmp);
            times[times.len() / 2]
        };
        let [text, built_in] = times.each_mut().map(median);
        let what = if gradient { "gradient" } else { "log ratio" };
        println!(
            "{name:<12} {what:<10} text {text:6.2} ns, built-in {built_in:6.2} ns a record: {:.2} times",
            text / built_in
        );
    }
}

fn main() {
    let real = |name: &str| Column::real(name, -50.0, 50.0, 0.0).expect("a column");
    let schema =
        |names: &[&str]| Schema::new(names.iter().map(|name| real(name)).collect()).expect("a schema");
    let banana = TextModel::new(BANANA, &schema(&["x1", "x2"])).expect("a model");
    let built_in = Banana::new(Bend { a: 20.0, b: 0.0, m: 0.0 }, &[20.0, 2.5], 1000.0).expect("a model");
    compare("banana", &banana, &built_in, &[0.1, 3.0]);
    let mixture = TextModel::new(MIXTURE, &schema(&["x"])).expect("a model");
    compare("mixture", &mixture, &Mixture::new(2.0, [10.0, 1.0]).expect("a model"), &[0.1, 1.0]);
    for features in [4, 32] {
        let (text, built_in, theta) = logistic(features);
        compare(&format!("logistic-{features}"), &text, &built_in, &theta);
    }
}
