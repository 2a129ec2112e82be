//! Holds the thesis' eight models: simulated records, starting points by its rule, exact posterior draws, published results.

pub(crate) mod chains;
pub(crate) mod clipping;
pub(crate) mod clips;
pub(crate) mod distances;
pub(crate) mod gradients;
pub(crate) mod iterations;
pub(crate) mod pictures;

use crate::published::Published;
use crate::replicate::{simulate, simulated_means};
use barkeep::PublicRng;
use barkeep::curator::insecure::SharedTable;
use barkeep::model::{Banana, Bend, Circle, GaussianMean, Model};
use barkeep::num::linear::Cholesky;
use rayon::prelude::*;
use std::sync::{LazyLock, OnceLock};

/// A model of the thesis with its hyperparameters.
pub(crate) struct Setting {
    /// As in the thesis' code.
    pub(crate) name: String,
    pub(crate) dimension: usize,
    pub(crate) records: usize,
    /// `[model]`, as a spec spells it.
    model: String,
    /// The spread of the published starts.
    pub(crate) published_spread: f64,
    family: Family,
    /// The seed of records whose posterior is spread most like the thesis'.
    closest: OnceLock<Result<u64, String>>,
}

enum Family {
    Banana { a: f64, n0: Option<f64> },
    Gaussian { correlation: f64, prior_variance: f64 },
    Circle,
}

struct Models {
    by_mmd: Vec<Setting>,
    circle: Setting,
}

/// Read once. A missing value stays empty; a test checks that none is missing.
static MODELS: LazyLock<Models> = LazyLock::new(|| {
    let all: toml::Table = include_str!("../specs/thesis/models.toml").parse().unwrap_or_default();
    let list = all.get("by_mmd").and_then(toml::Value::as_array);
    Models {
        by_mmd: list.into_iter().flatten().map(Setting::read).collect(),
        circle: all.get("circle").map_or_else(|| Setting::read(&"".into()), Setting::read),
    }
});

/// The seven models that are judged by MMD.
pub(crate) fn by_mmd() -> &'static [Setting] {
    &MODELS.by_mmd
}

/// The model that is judged by the distance of its mean from the origin; the thesis shows it in a figure only.
pub(crate) fn circle() -> &'static Setting {
    &MODELS.circle
}

/// One of the seven by its name.
pub(crate) fn named(name: &str) -> Option<&'static Setting> {
    by_mmd().iter().find(|setting| setting.name == name)
}

/// A setting with records.
pub(crate) struct Case {
    pub(crate) table: SharedTable,
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

/// Seeds tried in search of records that resemble the thesis'.
const CANDIDATES: u64 = 40;

impl Setting {
    fn read(from: &toml::Value) -> Self {
        let text = |key: &str| from.get(key).and_then(toml::Value::as_str).unwrap_or("").to_owned();
        let count = |key: &str| {
            let number = from.get(key).and_then(toml::Value::as_integer);
            number.and_then(|number| usize::try_from(number).ok()).unwrap_or(0)
        };
        let (name, model) = (text("name"), text("model"));
        let keys: toml::Table = model.parse().unwrap_or_default();
        let float = |value: &toml::Value| value.as_float().or(value.as_integer().map(|x| x as f64));
        let number = |key: &str| keys.get(key).and_then(float);
        let family = match keys.get("name").and_then(toml::Value::as_str) {
            Some("circle") => Family::Circle,
            Some("gaussian") => Family::Gaussian {
                correlation: keys
                    .get("covariance")
                    .and_then(|rows| float(rows.get(0)?.get(1)?))
                    .unwrap_or(f64::NAN),
                prior_variance: number("prior_variance").unwrap_or(f64::NAN),
            },
            // 20 as in barkeep's banana.
            _ => Family::Banana { a: number("a").unwrap_or(20.0), n0: number("n0") },
        };
        let starts = Published::new(include_str!("../published/thesis-starts.csv"));
        let published_spread =
            starts.rows().find(|row| row.text("model") == name).map_or(f64::NAN, |row| row.number("spread"));
        let (dimension, records) = (count("dimension"), count("records"));
        Self { name, dimension, records, model, published_spread, family, closest: OnceLock::new() }
    }

    /// Whether it is judged by the distance of its mean.
    pub(crate) fn is_circle(&self) -> bool {
        matches!(self.family, Family::Circle)
    }

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

    /// Records, exact draws and starts from one seed; starts by the thesis' rule, around its centre and spread as the exact draws are.
    pub(crate) fn drawn(&self, chains: usize, seed: u64) -> Result<Case, String> {
        self.case(seed, (chains, seed), None)
    }

    /// The same of records whose posterior is spread as the thesis' is, starts with the published spread.
    pub(crate) fn matched(&self, chains: usize) -> Result<Case, String> {
        let seed = match self.family {
            Family::Banana { a, n0 } if a != 0.0 => {
                self.closest.get_or_init(|| self.find_closest(a, n0)).clone()?
            }
            // The spread is the same for all records.
            _ => 1,
        };
        self.case(seed, (chains, 1), Some(self.published_spread))
    }

    fn find_closest(&self, a: f64, n0: Option<f64>) -> Result<u64, String> {
        let (model, theta, n) = (self.banana(a)?, self.theta(), self.records as f64);
        let distance = |seed: u64| {
            let means = simulated_means(&model, &theta, self.records, seed);
            let (_, covariance) = model.posterior(n, n0.unwrap_or(n) / n, &means).moments();
            let sds = covariance.iter().step_by(self.dimension + 1).map(|variance| variance.sqrt());
            let spread = sds.sum::<f64>() / self.dimension as f64;
            ((spread - self.published_spread).abs(), seed)
        };
        let closest = (1..=CANDIDATES).into_par_iter().map(distance).min_by(|a, b| a.0.total_cmp(&b.0));
        closest.map(|(_, seed)| seed).ok_or_else(|| "no seed".to_owned())
    }

    /// Records, starts and exact draws; the starts' spread is given or that of the exact draws.
    fn case(
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
            Family::Gaussian { correlation: r, prior_variance: v } => {
                let model =
                    GaussianMean::new(&[1.0, r, r, 1.0], &[0.0; 2], &[v, 0.0, 0.0, v]).map_err(fail)?;
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

    /// ln of the exact posterior up to a constant; two parameters.
    pub(crate) fn log_posterior(&self, case: &Statistics, theta: [f64; 2]) -> f64 {
        let n = self.records as f64;
        let normal = |x: f64, mean: f64, variance: f64| -0.5 * n * (x - mean) * (x - mean) / variance;
        match self.family {
            Family::Banana { a, n0 } => {
                let bent = theta[1] + a * theta[0] * theta[0];
                let prior = -0.5 * (theta[0] * theta[0] + bent * bent) / 1000.0;
                n0.unwrap_or(n) / n
                    * (normal(theta[0], case.means[0], 20.0) + normal(bent, case.means[1], 2.5))
                    + prior
            }
            Family::Gaussian { correlation, prior_variance } => {
                // (x−m)ᵀΣ⁻¹(x−m) in the coordinates x ± y, which are independent with variances 2(1 ± correlation).
                let (u, v) = (theta[0] - case.means[0], theta[1] - case.means[1]);
                normal(u + v, 0.0, 2.0 * (1.0 + correlation)) + normal(u - v, 0.0, 2.0 * (1.0 - correlation))
                    - 0.5 * (theta[0] * theta[0] + theta[1] * theta[1]) / prior_variance
            }
            Family::Circle => {
                let squared = theta[0] * theta[0] + theta[1] * theta[1];
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

#[cfg(test)]
mod tests;
