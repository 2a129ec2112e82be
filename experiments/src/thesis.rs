//! Holds the thesis' eight models: its records, starts and exact draws by its own keys, others by its rule, published results.

pub(crate) mod chains;
pub(crate) mod clipping;
pub(crate) mod clips;
pub(crate) mod distances;
pub(crate) mod gradients;
pub(crate) mod iterations;
pub(crate) mod pictures;
mod threefry;

use crate::replicate::{simulate, table};
use barkeep::PublicRng;
use barkeep::curator::insecure::SharedTable;
use barkeep::model::{Banana, Bend, Circle, GaussianMean, Model};
use barkeep::num::linear::Cholesky;
use std::sync::LazyLock;
use threefry::Key;

/// A model of the thesis with its hyperparameters.
pub(crate) struct Setting {
    /// As in the thesis' code.
    pub(crate) name: String,
    pub(crate) dimension: usize,
    pub(crate) records: usize,
    /// `[model]`, as a spec spells it.
    model: String,
    family: Family,
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
    /// The records by column.
    pub(crate) columns: Vec<Vec<f64>>,
}

/// What the exact posterior depends on.
pub(crate) struct Statistics {
    /// The mean of each column.
    pub(crate) means: Vec<f64>,
    /// The mean of the squared records.
    pub(crate) squares: f64,
}

const REFERENCE: usize = 1000;

/// The seeds in the thesis' code: of records by family, of exact draws by family, of the first start, and of exact draws for figure 6.2.
const BANANA_RECORDS: u64 = 43_247;
const GAUSSIAN_RECORDS: u64 = 46_283_648;
const CIRCLE_RECORDS: u64 = 742_983;
const BANANA_DRAWS: u64 = 56_437;
const GAUSSIAN_DRAWS: u64 = 434_927;
const STARTS: u64 = 4_236_482;
const CLIPPING_DRAWS: u64 = 46_237;

/// Of the bananas' likelihood in each coordinate, and of their prior.
const VARIANCES: [f64; 3] = [20.0, 2.5, 1.0];
const PRIOR_VARIANCE: f64 = 1000.0;

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
        let (dimension, records) = (count("dimension"), count("records"));
        Self { name, dimension, records, model, family }
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
    pub(crate) fn centre(&self) -> Vec<f64> {
        let second = if matches!(self.family, Family::Circle) { 1.0 } else { 3.0 };
        (0..self.dimension).map(|j| if j == 1 { second } else { 0.0 }).collect()
    }

    /// The thesis' own records, exact draws and first starts. `records` is the model's number in all figures but 6.2: whoever draws
    /// another number draws other ones.
    pub(crate) fn published(&self, records: usize, chains: usize) -> Result<Case, String> {
        let columns = self.published_columns(records);
        let means: Vec<f64> =
            columns.iter().map(|column| column.iter().sum::<f64>() / records as f64).collect();
        let reference = self.published_draws(records, &means)?;
        let spread = self.spread(&reference);
        let start = |chain: u64| {
            let normals = Key::new(STARTS + chain).normals(self.dimension);
            self.centre().iter().zip(normals).map(|(x, normal)| x + spread * normal).collect()
        };
        let squares = columns.iter().flatten().map(|x| x * x).sum::<f64>() / records as f64;
        let names = match self.family {
            Family::Circle => vec!["r".to_owned()],
            _ => (1..=self.dimension).map(|j| format!("x{j}")).collect(),
        };
        Ok(Case {
            table: table(&names, &columns)?,
            reference,
            starts: (0..).take(chains).map(start).collect(),
            squares,
            means,
            columns,
        })
    }

    fn published_columns(&self, records: usize) -> Vec<Vec<f64>> {
        let scaled = |normals: Vec<f64>, sd: f64, mean: f64| -> Vec<f64> {
            normals.into_iter().map(|normal| normal * sd + mean).collect()
        };
        match self.family {
            Family::Banana { .. } => {
                let [first, second, rest] = Key::new(BANANA_RECORDS).split();
                let others = self.dimension - 2;
                let rest = rest.normals(records * others);
                let column = |j: usize| rest.iter().skip(j).step_by(others).copied().collect();
                [(first, 0.0), (second, 3.0)]
                    .into_iter()
                    .zip(VARIANCES)
                    .map(|((key, mean), variance)| scaled(key.normals(records), variance.sqrt(), mean))
                    .chain((0..others).map(column))
                    .collect()
            }
            Family::Gaussian { correlation, .. } => {
                let normals = Key::new(GAUSSIAN_RECORDS).normals(2 * records);
                let rest = (1.0 - correlation * correlation).sqrt();
                let first = |pair: &[f64]| pair[0];
                let second = |pair: &[f64]| 3.0 + correlation * pair[0] + rest * pair[1];
                vec![
                    normals.chunks_exact(2).map(first).collect(),
                    normals.chunks_exact(2).map(second).collect(),
                ]
            }
            Family::Circle => {
                let [_, radii] = Key::new(CIRCLE_RECORDS).split();
                vec![scaled(radii.normals(records), 1.0, 3.0)]
            }
        }
    }

    fn published_draws(&self, records: usize, means: &[f64]) -> Result<Vec<f64>, String> {
        let seed = if matches!(self.family, Family::Banana { .. }) { BANANA_DRAWS } else { GAUSSIAN_DRAWS };
        self.exact_draws(Key::new(seed), records, means)
    }

    /// Nine more samples of the posterior, by the keys with which the thesis draws the lines of figure 6.2.
    pub(crate) fn more_draws(&self, records: usize, means: &[f64]) -> Result<Vec<Vec<f64>>, String> {
        let keys: [Key; 10] = Key::new(CLIPPING_DRAWS).split();
        keys[1..].iter().map(|key| self.exact_draws(*key, records, means)).collect()
    }

    fn exact_draws(&self, key: Key, records: usize, means: &[f64]) -> Result<Vec<f64>, String> {
        let n = records as f64;
        let mut draws = vec![0.0; REFERENCE * self.dimension];
        match self.family {
            Family::Banana { a, n0 } => {
                let keys: [Key; 3] = key.split();
                let others = self.dimension - 2;
                let rest = keys[2].normals(REFERENCE * others);
                let (first, second) = (keys[0].normals(REFERENCE), keys[1].normals(REFERENCE));
                for (row, draw) in draws.chunks_exact_mut(self.dimension).enumerate() {
                    let normals = [first[row], second[row]].into_iter();
                    let normals = normals.chain(rest.iter().skip(row * others).take(others).copied());
                    for (j, (x, normal)) in draw.iter_mut().zip(normals).enumerate() {
                        let weight = n0.unwrap_or(n) / VARIANCES[j.min(2)];
                        let precision = weight + 1.0 / PRIOR_VARIANCE;
                        *x = weight * means[j] / precision + normal / precision.sqrt();
                    }
                    draw[1] -= a * draw[0] * draw[0];
                }
            }
            Family::Gaussian { correlation, prior_variance } => {
                let (centre, root) = gaussian_posterior(correlation, prior_variance, n, means)?;
                let normals = key.normals(2 * REFERENCE);
                for (draw, pair) in draws.chunks_exact_mut(2).zip(normals.chunks_exact(2)) {
                    root.correlate(pair, draw);
                    draw.iter_mut().zip(&centre).for_each(|(draw, centre)| *draw += centre);
                }
            }
            Family::Circle => draws.clear(),
        }
        Ok(draws)
    }

    /// Records, exact draws and starts from one seed; starts by the thesis' rule, around its centre and spread as the exact draws are.
    pub(crate) fn drawn(&self, chains: usize, seed: u64) -> Result<Case, String> {
        let fail = |error: barkeep::model::Error| error.to_string();
        let n = self.records as f64;
        let theta = self.theta();
        let mut rng = PublicRng::new(seed, 1);
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
                let (table, columns) = simulate(&gaussian(r, v)?, &theta, self.records, seed)?;
                let (centre, root) = gaussian_posterior(r, v, n, &mean(&columns))?;
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
        let spread = self.spread(&reference);
        let centre = self.centre();
        let start = |rng: &mut PublicRng| centre.iter().map(|x| x + spread * rng.normal()).collect();
        let starts = (0..chains).map(|_| start(&mut rng)).collect();
        let squares = columns.iter().flatten().map(|x| x * x).sum::<f64>() / n;
        Ok(Case { table, reference, starts, squares, means: mean(&columns), columns })
    }

    /// What records are simulated from.
    fn theta(&self) -> Vec<f64> {
        (0..self.dimension).map(|j| if j == 1 { 3.0 } else { 0.0 }).collect()
    }

    fn banana(&self, a: f64) -> Result<Banana, String> {
        let variances: Vec<f64> = (0..self.dimension).map(|j| VARIANCES[j.min(2)]).collect();
        Banana::new(Bend { a, b: 0.0, m: 0.0 }, &variances, PRIOR_VARIANCE).map_err(|error| error.to_string())
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
    pub(crate) fn spread(&self, reference: &[f64]) -> f64 {
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

fn gaussian(correlation: f64, prior_variance: f64) -> Result<GaussianMean, String> {
    let (r, v) = (correlation, prior_variance);
    GaussianMean::new(&[1.0, r, r, 1.0], &[0.0; 2], &[v, 0.0, 0.0, v]).map_err(|error| error.to_string())
}

/// The mean of the posterior, and a root of its covariance.
fn gaussian_posterior(
    correlation: f64,
    prior_variance: f64,
    records: f64,
    means: &[f64],
) -> Result<(Vec<f64>, Cholesky), String> {
    let model = gaussian(correlation, prior_variance)?;
    let (centre, covariance) = model.posterior(records, 1.0, means).ok_or("no posterior")?;
    Ok((centre, Cholesky::new(&covariance, 2).ok_or("no posterior")?))
}

#[cfg(test)]
mod tests;
