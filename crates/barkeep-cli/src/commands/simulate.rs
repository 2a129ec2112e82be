//! `barkeep simulate`: writes simulated records of a model as CSV. They are public: nobody's.

use crate::exit::{Exit, say};
use barkeep::data::{Records, Unit};
use barkeep::{Error, Simulation};
use clap::Args;
use std::path::{Path, PathBuf};

/// The command.
#[derive(Args)]
pub(crate) struct Simulate {
    /// The model; `barkeep models` lists them. Or a spec, a file ending in .toml: records of its model in its columns, those
    /// beside a response spread evenly over their typical values, or over their bounds or levels.
    model: String,
    /// How many records.
    #[arg(long)]
    records: u64,
    /// The parameters, separated by commas.
    #[arg(long, value_delimiter = ',', allow_hyphen_values = true, required = true)]
    theta: Vec<f64>,
    /// Settings of the model as in the model section of a spec, such as a=20 or 'formula="y ~ x"'; may be repeated.
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
        let (simulation, delimiter, units) = self.simulation()?;
        let model = simulation.model();
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
        if !model.simulates() {
            let reason = "a model with a bare `log_density` cannot be simulated; write distributions by name, as in `y ~ normal(m, s)`";
            return Err(Exit::Input(reason.to_owned()));
        }
        simulation
            .write_csv(&self.out, delimiter, &self.theta, Records(self.records), self.seed)
            .map_err(Error::from)?;
        say(&format!("Wrote {} simulated {units} to {}", self.records, self.out.display()));
        let filling = simulation.filling_bounds();
        if !filling.is_empty() {
            say(&format!(
                "  warning: {} fill their bounds here. Real columns seldom do, so that a rehearsal on these records flatters; say \
                 where most values lie: typical = [low, high] in the column's entry",
                filling.join(", ")
            ));
        }
        Ok(())
    }

    /// What is simulated, the character between cells, and what is counted.
    fn simulation(&self) -> Result<(Simulation, u8, &'static str), Exit> {
        let path = Path::new(&self.model);
        if path.extension().is_some_and(|ending| ending == "toml") {
            if !self.settings.is_empty() {
                return Err(Exit::Input(
                    "--set and a spec say the same thing; write it in the spec".to_owned(),
                ));
            }
            let spec = super::spec(path)?;
            let data = spec.data();
            return Ok((Simulation::of_spec(&spec), data.csv_options().delimiter, data.unit().plural()));
        }
        let mut text = format!("name = \"{}\"\n", self.model.escape_default());
        for setting in &self.settings {
            text.push_str(setting);
            text.push('\n');
        }
        let table: toml::Table =
            text.parse().map_err(|_| Exit::Input("--set takes KEY=VALUE with a TOML value".to_owned()))?;
        let simulation = Simulation::of_model(&table, self.theta.len()).map_err(Error::from)?;
        Ok((simulation, b',', Unit::Record.plural()))
    }
}
