//! `barkeep demo`: a private posterior end to end, on simulated records.

use super::sample::report;
use super::watch::Progress;
use crate::exit::{Exit, say};
use barkeep::{Error, Folder, PublicRng, files::write_atomically};
use clap::Args;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The command.
#[derive(Args)]
pub(crate) struct Demo {
    /// The folder for records, spec and results; must be new or empty. By default the first free name among
    /// barkeep-out-demo, barkeep-out-demo-2, …
    #[arg(long)]
    out: Option<PathBuf>,
}

/// What the records are simulated with; a run over real records would not know it.
const TRUTH: [f64; 2] = [1.3, -0.6];
const RECORDS: u32 = 500_000;

/// The start is 0.01 from the truth, seven posterior standard deviations: a public guess, rounded.
const SPEC: &str = r#"[data]
path = "records.csv"
records = 500000
[data.columns]
x1 = { min = -10, max = 10, invalid = 0 }
x2 = { min = -10, max = 10, invalid = 0 }

[model]
name = "gaussian"
covariance = [1, 1]
prior_variance = 100

[privacy]
epsilon = 1.0
delta = 1e-6

[sampler]
name = "barker"
proposal_sd = 0.0013
clip = 3.0
start = [1.31, -0.61]
"#;

impl Demo {
    /// Runs it.
    pub(crate) fn run(self) -> Result<(), Exit> {
        let out = self.out.unwrap_or_else(free_name);
        let folder = Folder::claim(&out.join("results"))?;
        say(&format!(
            "1. Simulating {RECORDS} records, normal around {TRUTH:?} with variance 1, into {}.",
            out.join("records.csv").display()
        ));
        let mean = simulate(&out.join("records.csv"))?;
        let spec = out.join("spec.toml");
        write_atomically(&spec, |file| file.write_all(SPEC.as_bytes())).map_err(Error::from)?;
        say(&format!("2. Planning {}. The records are not opened for this.\n", spec.display()));
        let plan = super::plan(&spec)?;
        super::plan::describe(&plan);
        say("\n3. Drawing. Each step asks the records one question and pays before it is answered.");
        let progress = Progress::new(&plan)?;
        let result = folder.run(&plan, None, &progress);
        progress.finish();
        let (run, summary) = result?;
        report(&plan, &run, &summary, &out.join("results"))?;
        if progress.stopped() {
            return Err(Exit::Interrupted("stopped by request; what was drawn is valid".to_owned()));
        }

        say(
            "\n4. These records are simulated and nobody's, so the exact posterior may be shown beside the private one:",
        );
        say("   parameter   exact mean   private mean   exact sd   private sd   distance in exact sd");
        // A normal prior of variance 100 and records of variance 1: the posterior precision is n + 1/100.
        let precision = f64::from(RECORDS) + 0.01;
        let sd = precision.sqrt().recip();
        for (row, mean) in summary.parameters.iter().zip(mean) {
            let exact = mean * f64::from(RECORDS) / precision;
            let private = row.mean.unwrap_or(f64::NAN);
            say(&format!(
                "   {:<11} {exact:>10.5}   {private:>12.5}   {sd:>8.5}   {:>10.5}   {:>20.2}",
                row.name,
                row.sd.unwrap_or(f64::NAN),
                (private - exact).abs() / sd
            ));
        }
        say(&format!(
            "\n5. Check the bill yourself: barkeep verify {}",
            out.join("results").join(barkeep::CERTIFICATE).display()
        ));
        Ok(())
    }
}

fn free_name() -> PathBuf {
    let first = PathBuf::from("barkeep-out-demo");
    let later = (2..).map(|number| PathBuf::from(format!("barkeep-out-demo-{number}")));
    std::iter::once(first.clone()).chain(later).find(|path| !path.exists()).unwrap_or(first)
}

/// Writes the records and returns their mean, which is public here.
fn simulate(path: &Path) -> Result<[f64; 2], Exit> {
    let mut rng = PublicRng::new(2026, 0);
    let mut sums = [0.0; 2];
    write_atomically(path, |file| {
        writeln!(file, "x1,x2")?;
        for _ in 0..RECORDS {
            // Three decimals, as a file of measurements would have; the exact posterior uses the same ones.
            let row = TRUTH.map(|centre| ((centre + rng.normal()) * 1000.0).round() / 1000.0);
            writeln!(file, "{},{}", row[0], row[1])?;
            sums.iter_mut().zip(row).for_each(|(sum, x)| *sum += x);
        }
        Ok(())
    })
    .map_err(Error::from)?;
    Ok(sums.map(|sum| sum / f64::from(RECORDS)))
}
