//! Writes the specs that are measured, and simulates their records.

use barkeep::curator::TableBuilder;
use barkeep::curator::insecure::SharedTable;
use barkeep::insecure::Insecure;
use barkeep::{Plan, PublicRng, Spec};
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

/// What is run: a model with its records, a sampler, and the point records are simulated from.
#[derive(Clone)]
pub(crate) struct Setting {
    /// `[data.columns]`, a line each.
    pub(crate) schema: Vec<String>,
    /// `[model]`.
    pub(crate) model: String,
    pub(crate) records: usize,
    /// `[sampler]`, but for the start.
    pub(crate) sampler: String,
    pub(crate) theta: Vec<f64>,
}

/// Columns x1, x2, … of wide bounds.
pub(crate) fn numbers(count: usize) -> Vec<String> {
    (1..=count).map(|j| format!("x{j} = {{ min = -1000, max = 1000, invalid = 0 }}")).collect()
}

impl Setting {
    /// The thesis' flat banana (a = 20), or with a = 0 its 30-dimensional Gauss, at (0, 3, 0, …).
    pub(crate) fn banana(a: f64, dimension: usize, records: usize, sampler: &str) -> Self {
        Self {
            schema: numbers(dimension),
            model: format!("name = 'banana'\na = {a}"),
            records,
            sampler: sampler.to_owned(),
            theta: (0..dimension).map(|j| if j == 1 { 3.0 } else { 0.0 }).collect(),
        }
    }

    /// Independent unit Gaussians at 0.
    pub(crate) fn gaussian(dimension: usize, records: usize, sampler: &str) -> Self {
        Self {
            schema: numbers(dimension),
            model: "name = 'gaussian'\ncovariance = 1".to_owned(),
            records,
            sampler: sampler.to_owned(),
            theta: vec![0.0; dimension],
        }
    }

    /// A logistic regression with an intercept.
    pub(crate) fn logistic(dimension: usize, records: usize) -> Self {
        let features: Vec<String> = (1..dimension).map(|j| format!("x{j}")).collect();
        let mut schema = numbers(dimension - 1);
        schema.insert(0, "y = { kind = 'bool', invalid = false }".to_owned());
        Self {
            schema,
            model: format!("formula = 'y ~ {}'\nfamily = 'bernoulli'", features.join(" + ")),
            records,
            sampler: "name = 'barker'\nproposal_sd = 0.01\nclip = 0.01\nclip_scale = 'constant'".to_owned(),
            theta: (0..dimension).map(|j| 0.1 * j as f64 - 0.3).collect(),
        }
    }

    /// The number of columns.
    pub(crate) fn columns(&self) -> usize {
        self.schema.len()
    }

    /// The spec, in full.
    pub(crate) fn spec(&self, epsilon: f64, path: &str) -> String {
        let Self { schema, model, records, sampler, theta } = self;
        let columns = schema.join("\n");
        let delta = 0.1 / *records as f64;
        format!(
            "[data]\npath = '{path}'\nrecords = {records}\n[data.columns]\n{columns}\n[model]\n{model}\n\
             [privacy]\nepsilon = {epsilon:?}\ndelta = {delta:e}\n[sampler]\n{sampler}\nstart = {theta:?}\n"
        )
    }

    /// The spec, read.
    pub(crate) fn parsed(&self) -> Spec {
        self.within(6.0)
    }

    /// The spec with this budget, read.
    fn within(&self, epsilon: f64) -> Spec {
        Spec::parse(&self.spec(epsilon, "simulated"), Path::new("")).unwrap()
    }

    /// The plan of this many steps, on the first budget of 6, 12, 24, … that buys them: what a step costs is not what is
    /// timed, and a better accountant must not change what is.
    pub(crate) fn plan(&self, steps: u64) -> Plan {
        let mut setting = self.clone();
        let _ = write!(setting.sampler, "\nsteps = {steps}");
        (0..10)
            .filter_map(|doubled| Plan::new(setting.within(6.0 * f64::from(1 << doubled))).ok())
            .find(|plan| plan.steps().0 == steps)
            .expect("an epsilon of six thousand buys any setting's steps")
    }

    /// Shows made-up records one after the other, from a fixed seed.
    pub(crate) fn rows(&self, mut look: impl FnMut(&[f64])) {
        let model = Arc::clone(self.parsed().model());
        let mut rng = PublicRng::new(1, 0);
        let mut row = vec![0.0; self.columns()];
        for _ in 0..self.records {
            model.simulate(&self.theta, &mut || rng.open_uniform(), &mut row);
            look(&row);
        }
    }

    /// The records in memory.
    pub(crate) fn table(&self) -> SharedTable {
        let spec = self.parsed();
        let mut builder = TableBuilder::new(spec.data().schema().clone(), self.records).unwrap();
        self.rows(|row| builder.push_row(row).unwrap());
        builder.finish().unwrap().into()
    }

    /// The records as plain columns.
    pub(crate) fn plain_columns(&self) -> Vec<Vec<f64>> {
        let mut columns = vec![Vec::with_capacity(self.records); self.columns()];
        self.rows(|row| columns.iter_mut().zip(row).for_each(|(column, value)| column.push(*value)));
        columns
    }

    /// The records in a file.
    pub(crate) fn write_csv(&self, path: &Path) {
        use std::io::Write;
        let mut out = std::io::BufWriter::new(std::fs::File::create(path).unwrap());
        let names: Vec<&str> = self.schema.iter().filter_map(|line| line.split(' ').next()).collect();
        writeln!(out, "{}", names.join(",")).unwrap();
        self.rows(|row| {
            let cells: Vec<String> = row.iter().map(f64::to_string).collect();
            writeln!(out, "{}", cells.join(",")).unwrap();
        });
        out.flush().unwrap();
    }
}

/// Runs a plan once over these records.
pub(crate) fn run(plan: &Plan, table: &SharedTable) {
    let run = plan.runner().run_shared(table, Insecure::seed(1)).unwrap();
    assert_eq!(run.steps_used, [plan.steps().0], "every step timed was made");
}
