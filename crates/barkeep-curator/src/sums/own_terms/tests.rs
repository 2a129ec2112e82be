//! Hands the curator models that look beyond a record, and right ones.

use super::*;
use crate::{Budget, Curator, PrivacyModel, TableBuilder};
use barkeep_accounting::Neighbours;
use barkeep_model::families::bernoulli::Logit;
use barkeep_model::families::gaussian::Gaussian;
use barkeep_model::families::negative_binomial::NegativeBinomial;
use barkeep_model::families::poisson::Poisson;
use barkeep_model::{Design, Family, GaussianMean, Nuisance, Prior, RecordStatistics, Regression, Scratch};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What a model may get wrong.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Fault {
    None,
    /// Log-ratios centred by the mean of the block.
    CentredRatio,
    /// Gradients centred by the mean of the block.
    CentredGradient,
    /// Statistics centred by the mean of the block.
    CentredStatistics,
    /// Only the last bit differs, only in the last record of a block.
    Tail,
    /// Depends on the place in the block.
    Place,
    /// Depends on the record before.
    Before,
    /// Depends on what an earlier call left behind.
    Left,
    /// Depends on how often it was called.
    Calls,
    /// An affine form of the log-ratio that differs in its last bit from what is written.
    OtherForm,
}

/// ln p(x|θ) = −(x − θ)²/2, but for the fault.
struct Model {
    fault: Fault,
    calls: AtomicU64,
}

impl Model {
    /// The record's value, as the fault has it.
    fn seen(&self, block: Block<'_>, scratch: &mut Scratch, centred: Fault) -> Vec<f64> {
        let values = block.column(0);
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let [buffer] = scratch.buffers(1);
        let left = std::mem::replace(&mut buffer[0], values[0]);
        let calls = self.calls.fetch_add(1, Ordering::Relaxed);
        let fault = |i: usize, x: f64| match self.fault {
            fault if fault == centred => x - mean,
            Fault::None
            | Fault::CentredRatio
            | Fault::CentredGradient
            | Fault::CentredStatistics
            | Fault::OtherForm => x,
            Fault::Tail if i + 1 == values.len() => x.next_up(),
            Fault::Tail => x,
            Fault::Place => x + i as f64,
            Fault::Before => x + if i == 0 { 0.0 } else { 1e-9 * values[i - 1] },
            Fault::Left => x + left,
            Fault::Calls => x + calls as f64,
        };
        values.iter().enumerate().map(|(i, x)| fault(i, *x)).collect()
    }
}

impl Likelihood for Model {
    fn dimension(&self) -> usize {
        1
    }

    fn columns(&self) -> usize {
        1
    }

    fn log_density(&self, block: Block<'_>, theta: &[f64], out: &mut [f64], scratch: &mut Scratch) {
        let seen = self.seen(block, scratch, Fault::CentredRatio);
        out.iter_mut().zip(seen).for_each(|(out, x)| *out = -0.5 * (x - theta[0]).powi(2));
    }

    fn log_ratio(&self, block: Block<'_>, from: &[f64], to: &[f64], out: &mut [f64], scratch: &mut Scratch) {
        let seen = self.seen(block, scratch, Fault::CentredRatio);
        let step = to[0] - from[0];
        out.iter_mut().zip(seen).for_each(|(out, x)| *out = step * (x - 0.5 * (to[0] + from[0])));
    }

    fn affine_log_ratio(&self, from: &[f64], to: &[f64], out: &mut Affine) -> bool {
        let step = to[0] - from[0];
        let weight = if self.fault == Fault::OtherForm { step.next_up() } else { step };
        out.replace(std::iter::once((weight, 0.5 * (to[0] + from[0]))));
        matches!(self.fault, Fault::None | Fault::OtherForm)
    }

    fn has_gradient(&self) -> bool {
        true
    }

    fn gradient(&self, block: Block<'_>, theta: &[f64], out: &mut [f64], scratch: &mut Scratch) {
        let seen = self.seen(block, scratch, Fault::CentredGradient);
        out.iter_mut().zip(seen).for_each(|(out, x)| *out = x - theta[0]);
    }

    fn record_statistics(&self, _schema: &Schema) -> Result<Box<dyn RecordStatistics + '_>, &'static str> {
        Ok(Box::new(Sums(self)))
    }
}

struct Sums<'a>(&'a Model);

impl RecordStatistics for Sums<'_> {
    fn width(&self) -> usize {
        1
    }

    fn write(&self, block: Block<'_>, out: &mut [f64]) {
        out.copy_from_slice(&self.0.seen(block, &mut Scratch::default(), Fault::CentredStatistics));
    }
}

fn accepted(likelihood: Arc<dyn Likelihood>, columns: Vec<Column>) -> Result<(), Refused> {
    let mut table = TableBuilder::new(Schema::new(columns).unwrap(), 1).unwrap();
    table.push_row(&vec![0.0; likelihood.columns()]).unwrap();
    let privacy_model = PrivacyModel { neighbours: Neighbours::Substitute };
    Curator::new(table.finish().unwrap(), likelihood, privacy_model, Budget::not_private()).map(drop)
}

/// Kinds of a column, each with its own made-up values.
fn columns() -> [Column; 5] {
    [
        Column::real("x", -1.0, 3.0, 0.0).unwrap(),
        Column::real("x", f64::MIN, f64::MAX, 0.0).unwrap(),
        Column::integer("x", 5.0, 1e9, 7.0).unwrap(),
        Column::boolean("x", false).unwrap(),
        Column::category("x", ["a", "b", "c"].map(str::to_owned).to_vec(), "a").unwrap(),
    ]
}

#[test]
fn a_model_whose_terms_are_not_its_records_own_is_refused() {
    let model = |fault| Arc::new(Model { fault, calls: AtomicU64::new(0) });
    for column in columns() {
        assert_eq!(accepted(model(Fault::None), vec![column.clone()]), Ok(()));
        for fault in [
            Fault::CentredRatio,
            Fault::CentredGradient,
            Fault::CentredStatistics,
            Fault::Tail,
            Fault::Place,
            Fault::Before,
            Fault::Left,
            Fault::Calls,
            Fault::OtherForm,
        ] {
            let refused = accepted(model(fault), vec![column.clone()]);
            assert!(matches!(refused, Err(Refused::Question { name: "model", .. })), "{fault:?} {column:?}");
        }
    }
}

/// Gradients that are added as they are read, wide and narrow.
#[test]
fn models_with_affine_gradients_pass() {
    for d in [1, 2, 3, 40, 200] {
        let model = Arc::new(GaussianMean::independent(&vec![1.0; d], 1.0).unwrap());
        let columns = (0..d).map(|j| Column::real(format!("x{j}"), -1.0, 1.0, 0.0).unwrap()).collect();
        assert_eq!(accepted(model, columns), Ok(()));
    }
}

#[test]
fn made_up_records_are_admissible_and_varied() {
    for column in columns() {
        let (low, high) = column.range();
        let values: Vec<f64> = (0..200).map(|i| made_up_value(&column, i, 3)).collect();
        assert!(values.iter().all(|x| (low..=high).contains(x)), "{column:?}");
        let whole = !matches!(column.kind(), Kind::Real { .. });
        assert!(!whole || values.iter().all(|x| x.fract() == 0.0), "{column:?}");
        assert!(values.iter().any(|x| *x != values[0]), "{column:?}");
    }
}

/// Each kind of law passes with its scores, bins, coordinates and products.
#[test]
fn regressions_pass_with_all_that_is_asked_of_them() {
    let unknown = Nuisance::Unknown(Prior::HalfNormal { scale: 1.0 });
    let families: [Box<dyn Family>; 4] = [
        Box::new(Logit),
        Box::new(Poisson),
        Box::new(Gaussian { sd: unknown }),
        Box::new(NegativeBinomial { size: unknown }),
    ];
    for family in families {
        let prior = Prior::Normal { mean: 0.0, sd: 2.5 };
        let design = Design::new("y", vec!["a".into(), "b".into()], true, prior).unwrap();
        let model = Arc::new(Regression::new(design, family).unwrap());
        let columns = vec![
            Column::integer("y", 0.0, 40.0, 0.0).unwrap(),
            Column::real("a", -1.0, 1.0, 0.0).unwrap(),
            Column::boolean("b", false).unwrap(),
        ];
        let schema = Schema::new(columns.clone()).unwrap();
        // Both blocks of a regression with a nuisance are tried, and none is skipped as impossible.
        let public = Public::new(&*model, &schema);
        let theta = made_up_theta(model.dimension(), 0.5);
        let possible = |term: &Term<'_>| Terms::new(*term, &*model, &schema, Unit::Record).is_ok();
        let tried = public.every_term(&theta).iter().filter(|term| possible(term)).count();
        // Statistics are those of a normal response with a known sd alone; a nuisance has two terms of its own, columns two.
        assert_eq!(tried, if model.parts().1 { 10 } else { 8 });
        assert_eq!(accepted(model, columns), Ok(()));
    }
}

/// Sums in integers that look at the block, as products must not.
#[test]
fn sums_that_are_not_those_of_single_records_are_caught() {
    let schema = Schema::new(columns()[..1].to_vec()).unwrap();
    let records = MadeUp::new(&schema, 1, 20);
    let whole = |x: f64| (1e6 * x) as i64;
    assert!(records.sums_agree(|block| vec![block.column(0).iter().map(|x| whole(*x)).sum()]));
    let centred = |block: Block<'_>| {
        let mean = block.column(0).iter().sum::<f64>() / block.len() as f64;
        vec![block.column(0).iter().map(|x| whole(x - mean)).sum()]
    };
    assert!(!records.sums_agree(centred));
    // Only the company differs, only in one record, only by one step.
    let last = |block: Block<'_>| {
        let values = block.column(0);
        vec![values.iter().map(|x| whole(*x)).sum::<i64>() + i64::from(values.len() > 1)]
    };
    assert!(!records.sums_agree(last));
}
