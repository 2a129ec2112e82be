//! Several rows a person: five visits each, and the guarantee is about a person's visits together.
//!
//! `cargo run --release -p barkeep --example persons`

#![expect(clippy::print_stdout, reason = "an example shows what it found")]

use barkeep::curator::PersonsBuilder;
use barkeep::data::{Column, Records, Schema, Unit};
use barkeep::{BuiltIn, Data, Privacy, PublicRng, Spec};

const PERSONS: u64 = 20_000;
const VISITS: u64 = 5;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Public: bounds, the number of patients, the most visits of one that count. The number of visits in all is not.
    let schema = Schema::new(vec![Column::real("pressure", -4.0, 4.0, 0.0)?])?;
    let data = Data::new(schema, Records(PERSONS)).by_person("patient_id").most_rows(VISITS);
    let model = BuiltIn::named("gaussian").with("covariance", vec![vec![1.0]]).with("prior_variance", 4.0);
    let plan = Spec::built_in(&data, model, Privacy::budget(1.0, 1e-6)?)?.plan()?;
    let unit = plan.spec().data().unit();
    println!("{} steps on {PERSONS} {}; what is protected is {unit}", plan.steps().0, unit.plural());

    // Rows may come in any order; a CSV or Parquet file has the name in a column of its own.
    let Unit::Person { most_rows } = unit else { return Err("these are persons".into()) };
    let mut visits = PersonsBuilder::new(plan.spec().data().view().clone(), plan.spec().count(), most_rows)?;
    let mut rng = PublicRng::new(1, 0);
    for visit in 0..VISITS * PERSONS {
        let patient = format!("patient {}", visit % PERSONS);
        visits.push_row(&patient, &[0.3 + rng.normal()])?;
    }

    let run = plan.run(visits.finish()?)?;
    print!("{}", run.summary());
    println!("{}", run.certificate.statement);
    Ok(())
}
