//! A model of one's own: waits t for events of rate e^θ, θ ~ N(0, 2²); where none was seen, the wait was longer.
use barkeep::data::{Column, Records, Schema};
use barkeep::model::{Gradient, Likelihood, Model};
use barkeep::{Data, Privacy, PublicRng, Sampler, Spec, curator::TableBuilder, machine};
use std::io::Write;
struct Waiting(Vec<String>, Vec<String>);
#[rustfmt::skip]
impl Likelihood for Waiting {
    fn dimension(&self) -> usize { 1 }    fn columns(&self) -> usize { 2 }
    fn has_gradient(&self) -> bool { true }
    fn write_density(&self, theta: &[f64], w: &mut machine::Writer) -> machine::Source {
        w.dot(0.0, [(theta[0], machine::Source::Column(1)), (-theta[0].exp(), machine::Source::Column(0))])
    }
    fn write_gradient(&self, theta: &[f64], w: &mut machine::Writer) -> Gradient {
        Gradient::Entries(vec![w.dot(0.0, [(1.0, machine::Source::Column(1)), (-theta[0].exp(), machine::Source::Column(0))])])
    }
}
#[rustfmt::skip]
impl Model for Waiting {
    fn parameter_names(&self) -> &[String] { &self.0 }
    fn column_names(&self) -> &[String] { &self.1 }
    fn log_prior(&self, theta: &[f64]) -> f64 { -theta[0] * theta[0] / 8.0 }
    fn prior_gradient(&self, theta: &[f64], out: &mut [f64]) { out[0] = -theta[0] / 4.0; }
    fn fisher(&self, theta: &[f64], out: &mut [f64]) -> bool { out[0] = 1.0 - (-2.0 * theta[0].exp()).exp(); true }
    fn simulate(&self, theta: &[f64], uniform: &mut dyn FnMut() -> f64, row: &mut [f64]) { row[0] = -uniform().ln() / theta[0].exp(); row[1] = f64::from(row[0] < 2.0); }
}
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let model = Waiting(vec!["log_rate".into()], vec!["time".into(), "seen".into()]);
    let schema = Schema::new(vec![Column::real("time", 0.0, 2.0, 1.0)?, Column::boolean("seen", false)?])?;
    let mut table = TableBuilder::new(schema.clone(), 50_000)?;
    let (mut rng, mut row) = (PublicRng::new(1, 0), [0.0; 2]);
    for _ in 0..50_000 {
        model.simulate(&[0.5], &mut || rng.open_uniform(), &mut row);
        table.push_row(&row)?;
    }
    let spec = Spec::new(Data::new(schema, Records(50_000)), model, Privacy::budget(1.0, 1e-6)?);
    let sampler = Sampler::named("langevin").with("start", vec![0.0]).with("clip", 4);
    let run = spec.sampler(sampler).plan()?.run(table.finish()?)?;
    Ok(writeln!(std::io::stdout(), "{}\n{}", run.summary(), serde_json::to_string_pretty(&run.certificate)?)?)
}
