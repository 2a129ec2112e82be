//! Holds the thesis' eight models: simulated records, starting points by its rule, exact posterior draws, published results.

pub(crate) mod chains;
pub(crate) mod clipping;
pub(crate) mod clips;
pub(crate) mod distances;
pub(crate) mod gradients;
pub(crate) mod iterations;
pub(crate) mod pictures;

use crate::replicate::{simulate, simulated_means};
use barkeep::PublicRng;
use barkeep::data::Table;
use barkeep::model::{Banana, Bend, Circle, GaussianMean, Model, cholesky::Cholesky};
use std::sync::Arc;

/// A model of the thesis with its hyperparameters (its table 5.1).
pub(crate) struct Setting {
    /// As in the thesis' code.
    pub(crate) name: &'static str,
    pub(crate) dimension: usize,
    pub(crate) records: usize,
    /// `[model]`, as a spec spells it.
    pub(crate) model: &'static str,
    /// The spread of the published starts.
    pub(crate) published_spread: f64,
    family: Family,
}

enum Family {
    Banana { a: f64, n0: Option<f64> },
    Gaussian,
    Circle,
}

const fn banana(
    name: &'static str,
    (dimension, records): (usize, usize),
    (a, n0): (f64, Option<f64>),
    model: &'static str,
    published_spread: f64,
) -> Setting {
    let family = Family::Banana { a, n0 };
    Setting { name, dimension, records, model, published_spread, family }
}

/// The seven models that are judged by MMD.
pub(crate) const BY_MMD: [Setting; 7] = [
    banana("easy-2d", (2, 100_000), (20.0, None), "name = 'banana'", 0.01243),
    banana("tempered-2d", (2, 100_000), (20.0, Some(1000.0)), "name = 'banana'\nn0 = 1000", 0.3496),
    banana("easy-10d", (10, 200_000), (20.0, None), "name = 'banana'", 0.0037),
    banana("tempered-10d", (10, 200_000), (20.0, Some(1000.0)), "name = 'banana'\nn0 = 1000", 0.0959),
    banana("gauss-30d", (30, 200_000), (0.0, None), "name = 'banana'\na = 0", 0.00254),
    banana("hard-2d", (2, 150_000), (350.0, None), "name = 'banana'\na = 350", 0.0558),
    Setting {
        name: "hard-gauss-2d",
        dimension: 2,
        records: 200_000,
        model: "name = 'gaussian'\ncovariance = [[1, 0.999], [0.999, 1]]\nprior_variance = 100",
        published_spread: 0.00227,
        family: Family::Gaussian,
    },
];

/// The model that is judged by the distance of its mean from the origin; the thesis shows it in a figure only.
pub(crate) const CIRCLE: Setting = Setting {
    name: "circle",
    dimension: 2,
    records: 100_000,
    model: "name = 'circle'",
    published_spread: 1.0,
    family: Family::Circle,
};

/// A setting with records.
pub(crate) struct Case {
    pub(crate) table: Arc<Table>,
    /// 1000 exact draws, row after row; empty for the circle.
    pub(crate) reference: Vec<f64>,
    pub(crate) starts: Vec<Vec<f64>>,
    /// The mean of the squared records, for the circle its squared radius.
    pub(crate) squares: f64,
    /// The mean of each column.
    pub(crate) means: Vec<f64>,
}

/// What the exact posterior depends on.
pub(crate) struct Statistics {
    /// The mean of each column.
    pub(crate) means: Vec<f64>,
    /// The mean of the squared records.
    pub(crate) squares: f64,
}

const REFERENCE: usize = 1000;

impl Setting {
    /// δ of the thesis: 0.1/n.
    pub(crate) fn delta(&self) -> f64 {
        0.1 / self.records as f64
    }

    /// A spec with this `[sampler]`; the budget's ε is filled in later.
    pub(crate) fn spec(&self, sampler: &str) -> String {
        let columns: String = match self.family {
            Family::Circle => "r = { min = -100, max = 100, invalid = 0 }\n".to_owned(),
            _ => (1..=self.dimension)
                .map(|j| format!("x{j} = {{ min = -1000, max = 1000, invalid = 0 }}\n"))
                .collect(),
        };
        let start: Vec<String> = self.centre().iter().map(|x| format!("{x:.1}")).collect();
        format!(
            "[data]\npath = 'simulated'\nrecords = {}\n[data.columns]\n{columns}[model]\n{}\n[privacy]\nepsilon = 1.0\ndelta = {:e}\n\
             [sampler]\n{sampler}\nstart = [{}]\n",
            self.records,
            self.model,
            self.delta(),
            start.join(", ")
        )
    }

    /// Where starts are drawn around: the parameters records are simulated from, for the circle (0, 1).
    fn centre(&self) -> Vec<f64> {
        let second = if matches!(self.family, Family::Circle) { 1.0 } else { 3.0 };
        (0..self.dimension).map(|j| if j == 1 { second } else { 0.0 }).collect()
    }

    /// Records, starts and exact draws from one seed, starts spread as the exact draws are.
    pub(crate) fn case(&self, chains: usize, seed: u64) -> Result<Case, String> {
        self.case_of(seed, (chains, seed), None)
    }

    /// Records, starts and exact draws; the starts' spread is given or that of the exact draws.
    pub(crate) fn case_of(
        &self,
        seed: u64,
        (chains, start_seed): (usize, u64),
        spread: Option<f64>,
    ) -> Result<Case, String> {
        let fail = |error: barkeep::model::Error| error.to_string();
        let n = self.records as f64;
        let theta = self.theta();
        let mut rng = PublicRng::new(start_seed, 1);
        let mut reference = vec![0.0; REFERENCE * self.dimension];
        let mean = |columns: &[Vec<f64>]| -> Vec<f64> {
            columns.iter().map(|column| column.iter().sum::<f64>() / n).collect()
        };
        let (table, columns) = match self.family {
            Family::Banana { a, n0 } => {
                let model = self.banana(a)?;
                let (table, columns) = simulate(&model, &theta, self.records, seed)?;
                let exact = model.posterior(n, n0.unwrap_or(n) / n, &mean(&columns));
                for draw in reference.chunks_exact_mut(self.dimension) {
                    exact.sample(&mut || rng.open_uniform(), draw);
                }
                (table, columns)
            }
            Family::Gaussian => {
                let model =
                    GaussianMean::new(&[1.0, 0.999, 0.999, 1.0], &[0.0; 2], &[100.0, 0.0, 0.0, 100.0])
                        .map_err(fail)?;
                let (table, columns) = simulate(&model, &theta, self.records, seed)?;
                let (centre, covariance) = model.posterior(n, 1.0, &mean(&columns)).ok_or("no posterior")?;
                let root = Cholesky::new(&covariance, 2).ok_or("no posterior")?;
                for draw in reference.chunks_exact_mut(2) {
                    root.correlate(&[rng.normal(), rng.normal()], draw);
                    draw.iter_mut().zip(&centre).for_each(|(draw, centre)| *draw += centre);
                }
                (table, columns)
            }
            Family::Circle => {
                let model = Circle::new(1e-5).map_err(fail)?;
                reference.clear();
                simulate(&model as &dyn Model, &theta, self.records, seed)?
            }
        };
        let spread = spread.unwrap_or_else(|| self.spread(&reference));
        let centre = self.centre();
        let start = |rng: &mut PublicRng| centre.iter().map(|x| x + spread * rng.normal()).collect();
        let starts = (0..chains).map(|_| start(&mut rng)).collect();
        let squares = columns.iter().flatten().map(|x| x * x).sum::<f64>() / n;
        Ok(Case { table, reference, starts, squares, means: mean(&columns) })
    }

    /// What records are simulated from.
    fn theta(&self) -> Vec<f64> {
        (0..self.dimension).map(|j| if j == 1 { 3.0 } else { 0.0 }).collect()
    }

    fn banana(&self, a: f64) -> Result<Banana, String> {
        let variances: Vec<f64> =
            [20.0, 2.5].into_iter().chain(std::iter::repeat(1.0)).take(self.dimension).collect();
        Banana::new(Bend { a, b: 0.0, m: 0.0 }, &variances, 1000.0).map_err(|error| error.to_string())
    }

    /// Records whose posterior is spread as the thesis' is, and starts with the published spread.
    ///
    /// `set` says which records, 0 for those of the closest seed, and the seed of the starts.
    pub(crate) fn matched(&self, set: (usize, u64), chains: usize, candidates: u64) -> Result<Case, String> {
        let seed = match self.family {
            Family::Banana { a, n0 } if a != 0.0 => {
                let (model, theta) = (self.banana(a)?, self.theta());
                let n = self.records as f64;
                let mut distances = Vec::new();
                for seed in 1..=candidates {
                    let exact = model.posterior(
                        n,
                        n0.unwrap_or(n) / n,
                        &simulated_means(&model, &theta, self.records, seed),
                    );
                    let (_, covariance) = exact.moments();
                    let sds = covariance.iter().step_by(self.dimension + 1).map(|variance| variance.sqrt());
                    let spread = sds.sum::<f64>() / self.dimension as f64;
                    distances.push(((spread - self.published_spread).abs(), seed));
                }
                distances.sort_by(|a, b| a.0.total_cmp(&b.0));
                distances.get(set.0).map_or(1, |(_, seed)| *seed)
            }
            // The spread is the same for all records.
            _ => set.0 as u64 + 1,
        };
        self.case_of(seed, (chains, set.1), Some(self.published_spread))
    }

    /// ln of the exact posterior up to a constant; two parameters.
    pub(crate) fn log_posterior(&self, case: &Statistics, at: [f64; 2]) -> f64 {
        let n = self.records as f64;
        let normal = |x: f64, mean: f64, variance: f64| -0.5 * n * (x - mean) * (x - mean) / variance;
        match self.family {
            Family::Banana { a, n0 } => {
                let bent = at[1] + a * at[0] * at[0];
                let prior = -0.5 * (at[0] * at[0] + bent * bent) / 1000.0;
                n0.unwrap_or(n) / n * (normal(at[0], case.means[0], 20.0) + normal(bent, case.means[1], 2.5))
                    + prior
            }
            Family::Gaussian => {
                // (x−m)ᵀΣ⁻¹(x−m) in the coordinates x ± y, which are independent with variances 2(1 ± 0.999).
                let (u, v) = (at[0] - case.means[0], at[1] - case.means[1]);
                normal(u + v, 0.0, 2.0 * 1.999) + normal(u - v, 0.0, 2.0 * 0.001)
                    - 0.5 * (at[0] * at[0] + at[1] * at[1]) / 100.0
            }
            Family::Circle => {
                let squared = at[0] * at[0] + at[1] * at[1];
                // Σ(s − r²)² = n(s − mean r²)² and a constant.
                -1e-5 * n * (squared - case.squares) * (squared - case.squares)
            }
        }
    }

    /// The thesis' spread of starts: the mean over coordinates of the standard deviation of the exact draws.
    fn spread(&self, reference: &[f64]) -> f64 {
        if reference.is_empty() {
            return 1.0;
        }
        let sd = |j: usize| {
            let column = || reference.iter().skip(j).step_by(self.dimension);
            let mean = column().sum::<f64>() / REFERENCE as f64;
            (column().map(|x| (x - mean) * (x - mean)).sum::<f64>() / REFERENCE as f64).sqrt()
        };
        (0..self.dimension).map(sd).sum::<f64>() / self.dimension as f64
    }
}
