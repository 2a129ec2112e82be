//! `barkeep simulate`: writes simulated records of a model as CSV. They are public: nobody's.

use crate::exit::{Exit, say};
use barkeep::{Error, PublicRng, files::write_atomically, models};
use clap::Args;
use std::io::Write;
use std::path::PathBuf;

/// The command.
#[derive(Args)]
pub(crate) struct Simulate {
    /// The model; `barkeep models` lists them.
    model: String,
    /// How many records.
    #[arg(long)]
    records: u64,
    /// The parameters, separated by commas.
    #[arg(long, value_delimiter = ',', allow_hyphen_values = true, required = true)]
    theta: Vec<f64>,
    /// Settings of the model as in the model section of a spec, such as a=20; may be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    settings: Vec<String>,
    /// Seed.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// The CSV file to write.
    #[arg(long)]
    out: PathBuf,
}

impl Simulate {
    /// Runs it.
    pub(crate) fn run(self) -> Result<(), Exit> {
        if self.records == 0 {
            return Err(Exit::Input("--records must be at least 1".to_owned()));
        }
        let mut text = format!("name = \"{}\"\n", self.model.escape_default());
        for setting in &self.settings {
            text.push_str(setting);
            text.push('\n');
        }
        let table: toml::Table =
            text.parse().map_err(|_| Exit::Input("--set takes KEY=VALUE with a TOML value".to_owned()))?;
        let model = models::for_simulation(&table, self.theta.len()).map_err(Error::from)?;
        if self.theta.len() != model.dimension() {
            return Err(Exit::Input(format!(
                "--theta must hold {} numbers for model {}: {}",
                model.dimension(),
                self.model,
                model.parameter_names().join(", ")
            )));
        }
        if self.theta.iter().any(|value| !value.is_finite()) {
            return Err(Exit::Input("--theta must hold finite numbers".to_owned()));
        }
        let mut rng = PublicRng::new(self.seed, 0);
        write_atomically(&self.out, |file| {
            writeln!(file, "{}", model.column_names().join(","))?;
            let mut row = vec![0.0; model.columns()];
            for _ in 0..self.records {
                model.simulate(&self.theta, &mut || rng.open_uniform(), &mut row);
                let cells: Vec<String> = row.iter().map(f64::to_string).collect();
                writeln!(file, "{}", cells.join(","))?;
            }
            Ok(())
        })
        .map_err(Error::from)?;
        say(&format!("Wrote {} simulated records to {}", self.records, self.out.display()));
        Ok(())
    }
}
