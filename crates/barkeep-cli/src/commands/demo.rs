//! `barkeep demo`: a private posterior end to end, on real records that are public.

mod exact;
mod sketch;

use super::sample::{report, trusted};
use super::watch::Progress;
use crate::exit::{Exit, say};
use barkeep::{Error, Finished, Folder, run::files::write_atomically};
use barkeep_report::Report;
use clap::Args;
use std::io::Write;
use std::path::PathBuf;

/// The command.
#[derive(Args)]
pub(crate) struct Demo {
    /// The folder for records, spec and results; must be new or empty. By default the first free name among
    /// barkeep-out-demo, barkeep-out-demo-2, …
    #[arg(long)]
    out: Option<PathBuf>,
}

/// Flights from New York City in 2013 (CC0); source and licence stand beside the file.
const FLIGHTS: &[u8] = include_bytes!("../../data/flights.parquet");

/// What a user would write: no sampler is named, so that the default runs.
const SPEC: &str = r#"# Everything here is public: chosen without looking at the records.
[data]
path = "flights.parquet"
records = 336776
[data.columns]
late = { kind = "bool", invalid = false }                                        # 15 minutes or more
hour = { kind = "integer", min = 5, max = 23, invalid = 12, scale = "bounds" }   # of scheduled departure
distance = { min = 0, max = 3000, invalid = 1000, scale = "bounds" }             # miles
origin = { kind = "category", levels = ["EWR", "JFK", "LGA"], invalid = "EWR" }

[model]
formula = "late ~ hour + distance + origin"
family = "bernoulli"

[privacy]
epsilon = 1.0
delta = 1e-6
"#;

impl Demo {
    /// Runs it.
    pub(crate) fn run(self) -> Result<(), Exit> {
        let out = self.out.unwrap_or_else(free_name);
        let folder = Folder::claim(&out.join("results"))?;
        let write = |name: &str, bytes: &[u8]| {
            let path = out.join(name);
            write_atomically(&path, |file| file.write_all(bytes)).map(|()| path).map_err(Error::from)
        };
        let records = write("flights.parquet", FLIGHTS)?;
        say(&format!(
            "1. The records: 336776 flights from New York City in 2013, in {}. They are public (CC0);\n   \
             let us treat them as if they were not. Which flights arrive 15 minutes late or more?",
            records.display()
        ));
        let spec = write("spec.toml", SPEC.as_bytes())?;
        say(&format!("2. Planning {}. The records are not opened for this.\n", spec.display()));
        let plan = super::plan(&spec)?;
        super::plan::describe(&plan);
        say(
            "\n3. Drawing. Every question to the records is paid for before it is answered, and its answer is noisy.",
        );
        let progress = Progress::new(&plan)?;
        let result = folder.run(plan.runner().watch(&progress));
        progress.finish();
        let run = result?;
        let summary = run.summary();
        report(&plan, &run, &out.join("results"))?;
        if progress.stopped() {
            return Err(Exit::Interrupted("stopped by request; what was drawn is valid".to_owned()));
        }

        say(
            "\n4. These records are public, so the posterior without privacy may be shown beside the private one:\n\n   \
             coefficient   without privacy        private    off by, in sd",
        );
        let exact = exact::posterior(&plan)?;
        let mut close = 0;
        for (row, exact) in summary.parameters.iter().zip(&exact) {
            let distance = (row.mean.unwrap_or(f64::NAN) - exact.mean).abs() / exact.sd;
            close += usize::from(distance < 0.5);
            say(&format!(
                "   {:<11} {:>9.4} ± {:.4}  {:>9.4} ± {:.4}   {distance:>8.2}",
                row.name,
                exact.mean,
                exact.sd,
                row.mean.unwrap_or(f64::NAN),
                row.sd.unwrap_or(f64::NAN)
            ));
        }
        say(&format!(
            "\n   {close} of {} private means lie within half a posterior standard deviation of those without privacy.\n   Private draws \
             (bars) around the mean without privacy (|), from four sd below to four above:\n",
            exact.len()
        ));
        for (index, (row, exact)) in summary.parameters.iter().zip(&exact).enumerate() {
            let draws = run.series(index)?.concat();
            say(&format!("   {:<11} {}", row.name, sketch::histogram(&draws, exact.mean, exact.sd)));
        }
        let results = out.join("results");
        let page = Report::of(&Finished::read(&results)?).html()?;
        let page = write("results/report.html", page.as_bytes())?;
        say(&format!(
            "\n5. All of it on one page, for your browser: {}\n   Check the bill yourself: barkeep verify {}",
            page.display(),
            results.join(barkeep::CERTIFICATE).display()
        ));
        trusted(&run)
    }
}

fn free_name() -> PathBuf {
    let first = PathBuf::from("barkeep-out-demo");
    let later = (2..).map(|number| PathBuf::from(format!("barkeep-out-demo-{number}")));
    std::iter::once(first.clone()).chain(later).find(|path| !path.exists()).unwrap_or(first)
}
