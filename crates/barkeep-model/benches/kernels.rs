//! Times every model's programs over a whole table against a plain streaming sum of the same columns.
//!
//! `cargo bench -p barkeep-model`; divide the bytes per second by those of `streaming_sum` of the same width.

#![expect(clippy::expect_used, reason = "a benchmark that cannot set up has failed")]

use barkeep_data::{BLOCK, Block};
use barkeep_machine::{Machine, Program};
use barkeep_model::families::bernoulli::{Logit, Probit};
use barkeep_model::families::binomial::Binomial;
use barkeep_model::families::gamma::Gamma;
use barkeep_model::families::gaussian::Gaussian;
use barkeep_model::families::negative_binomial::NegativeBinomial;
use barkeep_model::families::poisson::Poisson;
use barkeep_model::families::student_t::StudentT;
use barkeep_model::{
    Banana, Bend, Circle, Design, Family, GaussianMean, Likelihood, Mixture, Model, Nuisance, Prior,
    Regression,
};
use divan::Bencher;
use divan::counter::BytesCount;

fn main() {
    divan::main();
}

const RECORDS: usize = 100_000;

fn uniform() -> impl FnMut() -> f64 {
    let mut state = 1_u64;
    move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 12) as f64 + 0.5) * (-52f64).exp2()
    }
}

const NAMES: [&str; 15] = [
    "gaussian-2",
    "gaussian-30",
    "correlated-2",
    "banana-2",
    "banana-10",
    "circle",
    "mixture",
    "linear-10",
    "logistic-10",
    "probit-10",
    "poisson-10",
    "student-10",
    "negative-binomial-10",
    "gamma-10",
    "binomial-10",
];

/// Both sides of a model.
trait Whole: Model + Likelihood {}

impl<M: Model + Likelihood> Whole for M {}

fn build(name: &str) -> Box<dyn Whole> {
    let variances = |d: usize| {
        let mut variances = vec![1.0; d];
        variances[..2].copy_from_slice(&[20.0, 2.5]);
        variances
    };
    let bend = Bend { a: 20.0, b: 0.0, m: 0.0 };
    let design = || {
        let features = (1..=9).map(|j| format!("x{j}")).collect();
        Design::new("y", features, true, Prior::Normal { mean: 0.0, sd: 1.0 }).expect("a design")
    };
    match name {
        "gaussian-2" => Box::new(GaussianMean::independent(&variances(2), 1000.0).expect("a model")),
        "gaussian-30" => Box::new(GaussianMean::independent(&variances(30), 1000.0).expect("a model")),
        "correlated-2" => {
            let covariance = [1.0, 0.999, 0.999, 1.0];
            Box::new(GaussianMean::new(&covariance, &[0.0; 2], &[100.0, 0.0, 0.0, 100.0]).expect("a model"))
        }
        "banana-2" => Box::new(Banana::new(bend, &variances(2), 1000.0).expect("a model")),
        "banana-10" => Box::new(Banana::new(bend, &variances(10), 1000.0).expect("a model")),
        "circle" => Box::new(Circle::new(1e-5).expect("a model")),
        "mixture" => Box::new(Mixture::new(2.0, [10.0, 1.0]).expect("a model")),
        name => {
            let unknown = Nuisance::Unknown(Prior::Exponential { rate: 1.0 });
            let family: Box<dyn Family> = match name {
                "linear-10" => Box::new(Gaussian { sd: Nuisance::Known(1.0) }),
                "probit-10" => Box::new(Probit),
                "poisson-10" => Box::new(Poisson),
                "student-10" => Box::new(StudentT { degrees: 4.0, scale: unknown }),
                "negative-binomial-10" => Box::new(NegativeBinomial { size: unknown }),
                "gamma-10" => Box::new(Gamma { shape: unknown }),
                "binomial-10" => Box::new(Binomial),
                _ => Box::new(Logit),
            };
            Box::new(Regression::new(design(), family).expect("a model"))
        }
    }
}

/// Records in blocks, laid out as the curator's table lays them out.
struct Records {
    values: Vec<f64>,
    width: usize,
}

impl Records {
    /// The distance between columns: a cache line more than a block.
    const STRIDE: usize = BLOCK + 8;

    fn simulate(model: &dyn Model, theta: &[f64]) -> Self {
        let width = model.columns();
        let mut values = vec![0.0; RECORDS.div_ceil(BLOCK) * width * Self::STRIDE];
        let (mut row, mut uniform) = (vec![0.0; width], uniform());
        for i in 0..RECORDS {
            model.simulate(theta, &mut uniform, &mut row);
            let start = i / BLOCK * width * Self::STRIDE + i % BLOCK;
            row.iter().enumerate().for_each(|(j, value)| values[start + j * Self::STRIDE] = *value);
        }
        Self { values, width }
    }

    fn blocks(&self) -> impl Iterator<Item = Block<'_>> {
        let blocks = self.values.chunks_exact(self.width * Self::STRIDE).enumerate();
        blocks.map(|(index, values)| Block::over(values, Self::STRIDE, (RECORDS - index * BLOCK).min(BLOCK)))
    }
}

fn records(model: &dyn Model) -> (Records, Vec<f64>, Vec<f64>) {
    let theta: Vec<f64> = (0..model.dimension()).map(|j| if j == 1 { 3.0 } else { 0.25 }).collect();
    let to = theta.iter().map(|theta| theta + 0.01).collect();
    (Records::simulate(model, &theta), theta, to)
}

#[divan::bench(args = [1, 2, 10, 30])]
fn streaming_sum(bencher: Bencher, width: usize) {
    let model = GaussianMean::independent(&vec![1.0; width], 1.0).expect("a model");
    let (table, ..) = records(&model);
    bencher.counter(BytesCount::new(RECORDS * width * 8)).bench_local(|| {
        let mut sums = [0.0; 32];
        for block in table.blocks() {
            for j in 0..width {
                for chunk in block.column(j).chunks_exact(32) {
                    sums.iter_mut().zip(chunk).for_each(|(sum, x)| *sum += x);
                }
            }
        }
        sums
    });
}

/// Runs a program over the table.
fn time(bencher: Bencher, table: &Records, program: &Program) {
    let (mut out, mut machine) = (vec![0.0; BLOCK * program.width()], Machine::default());
    bencher.counter(BytesCount::new(RECORDS * table.width * 8)).bench_local(|| {
        for block in table.blocks() {
            machine.write_all(program, block, &mut out);
            divan::black_box(&mut out);
        }
    });
}

#[divan::bench(args = NAMES)]
fn log_ratio(bencher: Bencher, name: &str) {
    let model = build(name);
    let (table, from, to) = records(&*model);
    time(bencher, &table, &model.ratio_program(&from, &to).expect("a program"));
}

#[divan::bench(args = NAMES)]
fn gradient(bencher: Bencher, name: &str) {
    let model = build(name);
    let (table, from, _) = records(&*model);
    time(bencher, &table, &model.gradient_program(&from).expect("a program"));
}
