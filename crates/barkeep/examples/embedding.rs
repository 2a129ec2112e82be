//! The engine inside a program: a spec in text, records from memory, progress on the way, a folder of results.
//!
//! `cargo run --release -p barkeep --example embedding`

#![expect(clippy::print_stdout, reason = "an example shows what it found")]

use barkeep::curator::TableBuilder;
use barkeep::{Outcome, PublicRng, Spec, Watch};
use std::sync::atomic::{AtomicU64, Ordering};

const SPEC: &str = r#"
[data]
path = "in memory"
records = 100000
[data.columns]
dose = { min = 0, max = 10, invalid = 5, scale = "bounds" }
group = { kind = "category", levels = ["control", "treated"], invalid = "control" }
recovered = { kind = "bool", invalid = false }
[model]
formula = "recovered ~ dose * group"
family = "bernoulli"
[privacy]
epsilon = 2.0
delta = 1e-7
[sampler]
name = "langevin"
start = [0, 0, 0, 0]
"#;

/// Reports progress. All it learns is public, so it may print it.
struct Percent {
    steps: u64,
    done: AtomicU64,
}

impl Watch for Percent {
    fn step(&self, _chain: usize, _outcome: Outcome) {
        let done = 1 + self.done.fetch_add(1, Ordering::Relaxed);
        if done == self.steps || done.is_multiple_of(self.steps.div_ceil(4)) {
            println!("{} % of the steps", 100 * done / self.steps);
        }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let plan = Spec::parse(SPEC, ".".as_ref())?.plan()?;
    let steps = plan.steps().0 * plan.chains();
    println!("{steps} steps for epsilon at most {:.3}", plan.epsilon().map_or(f64::NAN, |upper| upper.get()));

    // The view says which columns are read, in which order: those of the spec that the formula uses.
    let mut table = TableBuilder::viewed(plan.spec().data().view().clone(), plan.spec().count())?;
    let mut rng = PublicRng::new(1, 0);
    for _ in 0..100_000 {
        let (dose, treated) = (10.0 * rng.open_uniform(), rng.open_uniform() < 0.5);
        let predictor = if treated { 0.4 * (dose - 5.0) + 0.5 } else { 0.1 * (dose - 5.0) };
        let recovered = rng.open_uniform() < 1.0 / (1.0 + f64::exp(-predictor));
        table.push_row(&[dose, f64::from(treated), f64::from(recovered)])?;
    }

    let progress = Percent { steps, done: AtomicU64::new(0) };
    let run = plan.runner().watch(&progress).run(table.finish()?)?;
    print!("{}", run.summary());
    let folder = std::env::temp_dir().join(format!("barkeep-embedding-{}", std::process::id()));
    run.save(&folder)?;
    println!("{}\nDraws, summary and certificate are in {}.", run.certificate.statement, folder.display());
    Ok(())
}
