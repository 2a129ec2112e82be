//! Simulates records that break a model's assumptions the way real ones do: skewed columns, rare levels, long tails.

use super::laplace::{Posterior, Seen};
use barkeep::curator::TableBuilder;
use barkeep::curator::insecure::SharedTable;
use barkeep::{Plan, PublicRng};

/// A regression on simulated records that do not follow it.
pub(crate) struct LookAlike {
    pub(crate) name: &'static str,
    /// The spec.
    pub(crate) text: &'static str,
    /// One record, in the order of the file's columns.
    pub(crate) record: fn(&mut PublicRng) -> Vec<f64>,
    /// The values that the model draws responses with, whatever the record says; `None` where the record has its own.
    pub(crate) truth: Option<&'static [f64]>,
}

/// All of them.
pub(crate) const ALL: [LookAlike; 4] = [
    LookAlike {
        name: "wages: gaussian, long right tail, two factors",
        text: include_str!("../../specs/accuracy/wages.toml"),
        record: wage,
        truth: None,
    },
    LookAlike {
        name: "visits: poisson, counts spread three times as far",
        text: include_str!("../../specs/accuracy/visits.toml"),
        record: visit,
        truth: None,
    },
    LookAlike {
        name: "defaults: logistic, rare level, skewed column",
        text: include_str!("../../specs/accuracy/defaults.toml"),
        record: default,
        truth: None,
    },
    LookAlike {
        name: "prices: gamma, a curve fitted by a line",
        text: include_str!("../../specs/accuracy/prices.toml"),
        record: price,
        truth: None,
    },
];

/// Exp(1).
pub(super) fn exponential(rng: &mut PublicRng) -> f64 {
    -rng.open_uniform().ln()
}

/// The place of a level, given cumulative shares.
pub(super) fn level(rng: &mut PublicRng, shares: &[f64]) -> f64 {
    let u = rng.open_uniform();
    shares.iter().filter(|share| u > **share).count() as f64
}

/// wage, age, region, schooling.
fn wage(rng: &mut PublicRng) -> Vec<f64> {
    let age = (40.0 + 12.0 * rng.normal()).clamp(18.0, 70.0);
    let schooling = (13.0 + 2.5 * rng.normal()).clamp(0.0, 20.0).round();
    let region = level(rng, &[0.2, 0.5, 0.8]);
    let log = 1.4 + 0.008 * age + 0.08 * schooling - 0.1 * region + 0.5 * rng.normal();
    vec![log.exp().clamp(0.0, 80.0), age, region, schooling]
}

/// visits, ill, age, insured.
fn visit(rng: &mut PublicRng) -> Vec<f64> {
    let ill = (6.0 * (exponential(rng) + exponential(rng))).clamp(0.0, 60.0);
    let age = (18.0 + 50.0 * rng.open_uniform()).clamp(0.0, 70.0);
    let insured = f64::from(u8::from(rng.open_uniform() < 0.7));
    // A gamma of shape 1 around the mean: the counts' variance is μ + μ².
    let mean = (0.2 + 0.03 * ill + 0.003 * age + 0.2 * insured).exp() * exponential(rng);
    // Poisson by multiplication of uniforms.
    let (mut count, mut product, limit) = (0.0, rng.open_uniform(), (-mean).exp());
    while product > limit && count < 80.0 {
        product *= rng.open_uniform();
        count += 1.0;
    }
    vec![count, ill, age, insured]
}

/// defaulted, debt, income, group.
fn default(rng: &mut PublicRng) -> Vec<f64> {
    let income = (0.5 * rng.normal()).exp().clamp(0.0, 10.0);
    let debt = (0.6 * exponential(rng) * income.sqrt()).clamp(0.0, 5.0);
    let group = level(rng, &[0.6, 0.95, 0.985]);
    let eta = -1.5 + 0.9 * debt - 0.6 * income + 0.3 * group;
    vec![f64::from(u8::from(rng.open_uniform() < 1.0 / (1.0 + (-eta).exp()))), debt, income, group]
}

/// price, weight, cut.
fn price(rng: &mut PublicRng) -> Vec<f64> {
    let weight = (0.3 + 0.45 * exponential(rng)).clamp(0.1, 5.0);
    let cut = level(rng, &[0.4, 0.7, 0.9]);
    let log = 8.4 + 1.7 * weight.ln() - 0.05 * cut + 0.25 * rng.normal();
    vec![log.exp().clamp(100.0, 20_000.0), weight, cut]
}

impl LookAlike {
    /// Records for the curator, and the posterior without privacy.
    ///
    /// # Errors
    /// A posterior without a mode.
    pub(crate) fn records(&self, plan: &Plan, seed: u64) -> Result<(SharedTable, Posterior), String> {
        let fail = |error: barkeep::data::Error| error.to_string();
        let model = &**plan.spec().model();
        let view = plan.view();
        let columns = view.source().columns();
        let mut builder = TableBuilder::viewed(view.clone(), plan.spec().count()).map_err(fail)?;
        let (low, high) = columns[0].range();
        let (mut rng, mut seen) = (PublicRng::new(seed, 0), Seen::new(model.columns()));
        for _ in 0..plan.spec().count().declared() {
            let mut cells = (self.record)(&mut rng);
            let feature = |feature: &barkeep::data::Feature| -> f64 {
                let factors = feature.factors.iter();
                factors.map(|factor| factor.at(&columns[factor.column], cells[factor.column])).product()
            };
            let mut row: Vec<f64> = view.features()[..model.columns()].iter().map(feature).collect();
            if let Some(truth) = self.truth {
                // The response is the first column, in its own unit.
                model.respond(truth, &mut || rng.open_uniform(), &mut row);
                row[0] = row[0].clamp(low, high);
                cells[0] = row[0];
            }
            builder.push_row(&cells).map_err(fail)?;
            seen.push(&row);
        }
        let table = SharedTable::from(builder.finish().map_err(fail)?);
        let mut start = self.truth.map_or_else(|| vec![0.0; model.parameter_names().len()], <[f64]>::to_vec);
        if let Some(first) = start.first_mut() {
            *first = if self.name.starts_with("prices") { 8.0 } else { *first };
        }
        Ok((table, seen.posterior(plan, &start)?))
    }
}
