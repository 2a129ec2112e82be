//! Models of whole records that `coverage` measures beside regressions: gaussian, banana, mixture and bernoulli.

use super::laplace::{Posterior, Seen};
use super::score::{Pooled, kept, score};
use crate::experiment::{Cells, Values};
use crate::neurips::exact::{self, Range, moments};
use barkeep::curator::TableBuilder;
use barkeep::curator::insecure::SharedTable;
use barkeep::model::Mixture;
use barkeep::{Plan, PublicRng, Spec};
use std::path::Path;

/// Records of each.
const RECORDS: usize = 1000;
/// Runs of a cell.
const RUNS: u64 = 10;
/// Nodes of the mixture's quadrature.
const NODES: usize = 161;

/// A model, its columns, and the values its records are made with.
#[derive(Debug, Clone, Copy)]
pub(super) struct Named {
    pub(super) name: &'static str,
    columns: &'static str,
    model: &'static str,
    truth: &'static [f64],
}

const TWO: &str = "x1 = { min = -30, max = 30, invalid = 0 }\nx2 = { min = -30, max = 30, invalid = 0 }";

/// All of them; ε = 1.
pub(super) const ALL: [Named; 4] = [
    Named {
        name: "gaussian model",
        columns: TWO,
        model: "name = \"gaussian\"\ncovariance = [[1, 0.6], [0.6, 2]]",
        truth: &[0.6, -0.4],
    },
    Named {
        name: "banana model",
        columns: TWO,
        model: "name = \"banana\"\na = 0.5\nvariances = [1, 2]",
        truth: &[0.6, -0.4],
    },
    Named {
        name: "mixture model",
        columns: "x = { min = -30, max = 30, invalid = 0 }",
        model: "name = \"mixture\"",
        truth: &[0.0, 1.0],
    },
    Named {
        name: "bernoulli model",
        columns: "x = { kind = \"bool\", invalid = false }",
        model: "name = \"bernoulli\"",
        truth: &[-0.8],
    },
];

impl Named {
    pub(super) fn spec(&self) -> String {
        format!(
            "[data]\npath = \"simulated\"\nrecords = {RECORDS}\n[data.columns]\n{}\n[model]\n{}\n[privacy]\nepsilon = 1.0\n\
             delta = 1e-6\n[sampler]\nname = \"noise-aware\"\n",
            self.columns, self.model
        )
    }

    pub(super) fn plan(&self) -> Result<Plan, String> {
        let spec = Spec::parse(&self.spec(), Path::new("")).map_err(|error| error.to_string())?;
        Plan::new(spec).map_err(|error| error.to_string())
    }

    /// Records, for the curator and for the posterior without privacy.
    fn records(&self, plan: &Plan, rng: &mut PublicRng) -> Result<(SharedTable, Posterior), String> {
        let model = &**plan.spec().model();
        let fail = |error: barkeep::data::Error| error.to_string();
        let mut builder = TableBuilder::viewed(plan.view().clone(), plan.spec().count()).map_err(fail)?;
        let (mut seen, mut all) = (Seen::new(model.columns()), Vec::new());
        let mut row = vec![0.0; model.columns()];
        for _ in 0..RECORDS {
            model.simulate(self.truth, &mut || rng.open_uniform(), &mut row);
            builder.push_row(&row).map_err(fail)?;
            seen.push(&row);
            all.push(row[0]);
        }
        let table = SharedTable::from(builder.finish().map_err(fail)?);
        let posterior = match self.name.starts_with("mixture") {
            // Two modes: no single one has the mean.
            true => {
                let model = Mixture::new(2.0, [10.0, 1.0]).map_err(|error| error.to_string())?;
                let grid = exact::Posterior::new(&model, &all, RECORDS as f64).grid(NODES, Range::WHOLE);
                let [x, y, xx, yy] = moments(&grid, NODES, Range::WHOLE);
                Posterior { mean: vec![x, y], sd: vec![xx.sqrt(), yy.sqrt()] }
            }
            false => seen.posterior(plan, self.truth)?,
        };
        Ok((table, posterior))
    }

    pub(super) fn compute(&self, cell: u64, runs: u64) -> Result<Values, String> {
        let plan = self.plan()?;
        let mut scores = Vec::new();
        for run in cell * RUNS..cell * RUNS + runs {
            let (table, posterior) = self.records(&plan, &mut PublicRng::new(2027, run))?;
            scores.push(score(&plan, &table, &posterior, Some(self.truth), 1000 + run)?);
        }
        Ok(kept(&scores))
    }

    pub(super) fn key(&self, cell: u64) -> String {
        format!("{}, cell {cell}", self.name)
    }

    pub(super) fn pooled(&self, cells: &Cells, count: u64) -> Pooled {
        Pooled::of(cells, (0..count).map(|cell| self.key(cell)))
    }
}
