//! From a CSV file to a private posterior: declare what is public, plan, run, save.
//!
//! `cargo run --release -p barkeep --example csv_to_posterior`

#![expect(clippy::print_stdout, reason = "an example shows what it found")]

use barkeep::data::{Column, Records, Scale, Schema};
use barkeep::{BuiltIn, Data, Folder, Privacy, Simulation, Spec};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::temp_dir().join(format!("barkeep-csv-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let path = folder.join("people.csv");

    // Everything here is public: bounds, levels, the number of records. None of it was read from the file.
    let schema = Schema::new(vec![
        Column::boolean("smokes", false)?,
        Column::integer("age", 18.0, 90.0, 40.0)?.scaled(Scale::Bounds)?,
        Column::category("region", vec!["north".into(), "south".into()], "north")?,
    ])?;
    let data = Data::in_file(schema, Records(50_000), &path);
    let model =
        BuiltIn::named("regression").with("formula", "smokes ~ age + region").with("family", "bernoulli");
    let spec = Spec::built_in(&data, model, Privacy::budget(1.0, 1e-7)?)?;

    // You have a file; this example simulates one.
    Simulation::of_spec(&spec).write_csv(&path, b',', &[-0.5, 0.8, 0.3], data.records(), 1)?;

    let plan = spec.plan()?;
    println!(
        "{} steps for epsilon at most {:.4}",
        plan.steps().0,
        plan.epsilon().map_or(f64::NAN, |e| e.get())
    );
    plan.warnings().iter().for_each(|warning| println!("warning: {warning}"));
    let run = Folder::claim(&folder.join("results"))?.run(plan.runner())?;
    print!("{}", run.summary());
    println!("{}\nEverything is in {}.", run.certificate.statement, folder.display());
    Ok(())
}
