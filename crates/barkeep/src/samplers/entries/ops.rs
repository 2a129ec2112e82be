//! `ops`: single draws from the posterior on a public grid, the likelihood's power lowered until they are private with δ = 0
//! (Wang, Fienberg and Smola 2015).
//!
//! With log-ratios of admissible records within a range of length R over the grid, a draw at power c costs ε = 2cR under
//! substitution. The paper has 4cB, |ln p| ≤ B; R ≤ 2B, and is half of it where the ends mirror each other.

use crate::Error;
use crate::facts::{Fact, Facts, Value};
use crate::keys::{Key, Section, key};
use crate::public_rng::PublicRng;
use crate::samplers::Kernel;
use crate::samplers::entry::{Prepared, Price, SamplerEntry, Setting, StartRule};
use crate::samplers::example::{BERNOULLI, Example};
use crate::samplers::kernels::grid::{Draw, Grid};
use crate::samplers::prepare::judged::needs_budget;
use crate::spec::{Privacy, SpecError};
use barkeep_accounting::{Neighbours, Steps};
use barkeep_curator::{LARGEST_CHOICE, MOST_CANDIDATES, PrivacyModel, Refused, choose_cost, choose_epsilon};
use barkeep_model::Model;
use std::sync::Arc;

const KEYS: [Key; 3] = [
    key("low", "", "lower end of the box that holds the grid: a number, or one per parameter"),
    key("high", "", "upper end of the box"),
    key(
        "grid",
        "the largest that makes 65536 points, at most 1000",
        "points along each parameter, the ends included",
    ),
];

/// The sampler.
pub(crate) const ENTRY: SamplerEntry = SamplerEntry {
    name: "ops",
    summary: "single posterior draws on a public grid, tempered to be private with delta = 0; gaussian and bernoulli only",
    keys: &[&KEYS],
    start: StartRule::Independent,
    private: true,
    gradients: false,
    examples: &[
        Example::small(20, "low = -1\nhigh = 1\ngrid = 3"),
        Example::large(BERNOULLI, "low = -3\nhigh = 3\ngrid = 61"),
    ],
    prepare,
};

fn prepare(section: &Section<'_>, setting: &Setting<'_>) -> Result<Prepared, Error> {
    let neighbours = needs_budget(section, setting)?;
    let Privacy::Budget { epsilon, .. } = setting.privacy else {
        return Err(section.error("name", "needs a budget").into());
    };
    let grid = Grid::parse(section, &**setting.model)?;
    if setting.rows().is_none() {
        let reason = "needs data.most_rows: a draw is priced by the range of a person's log-ratio";
        return Err(section.error("name", reason).into());
    }
    let range = grid.range(setting).ok_or_else(|| {
        let reason = "is for models whose log-ratios have a proven bound on a grid: \"gaussian\" and \"bernoulli\", with \
                      bounded columns; elsewhere a single draw has no known price";
        section.error("name", reason)
    })?;
    // Several draws share the budget equally.
    let draws = section.count("steps")?.unwrap_or(1).saturating_mul(section.count("chains")?.unwrap_or(1));
    #[expect(clippy::cast_precision_loss, reason = "a count of draws is small")]
    let share = (epsilon.get() / draws as f64).min(LARGEST_CHOICE) * (1.0 - 1e-9);
    let factor = if neighbours == Neighbours::Substitute { 2.0 } else { 1.0 };
    let power = setting.temper.get().min(share / (factor * (range.1 - range.0)));
    let privacy_model = PrivacyModel { neighbours };
    let priced = |error: Refused| section.error("name", format!("has no price here: {error}"));
    let pure = choose_epsilon(range, power, privacy_model).map_err(priced)?;
    let cost = choose_cost(range, power, privacy_model).map_err(priced)?;

    let facts: Facts = vec![
        Fact::count("grid_points", "points of the grid", grid.offsets.len() as u64),
        Fact::new(
            "log_ratio_range",
            "range of a log-ratio",
            Value::Numbers(vec![range.0, range.1]),
            format!("{:.6} to {:.6}", range.0, range.1),
        ),
        Fact::number("power", "power of the likelihood", power, format!("{power:.6e}")),
        Fact::number("draw_epsilon", "epsilon of a draw with delta = 0", pure, format!("{pure:.9}")),
    ];
    let model = Arc::clone(setting.model);
    let grid = Arc::new(grid);
    let kernel = Box::new(move |_: &mut PublicRng| {
        Box::new(Draw { model: Arc::clone(&model), grid: Arc::clone(&grid), range, power }) as Box<dyn Kernel>
    });
    let price = Price::PerDraw(vec![(cost, Steps(1))]);
    Ok(Prepared { kernel, price, alternative: None, facts, burn_in: Some(0), forecast: None, view: None })
}

impl Grid {
    fn parse(section: &Section<'_>, model: &dyn Model) -> Result<Self, SpecError> {
        let d = model.dimension();
        let (low, high) = (ends(section, "low", d)?, ends(section, "high", d)?);
        if low.iter().zip(&high).any(|(low, high)| low >= high) {
            return Err(section.error("high", "must be above low"));
        }
        let usual = (2..=1000).rev().find(|n| size(*n, d).is_some());
        let along = match section.count("grid")? {
            Some(along) => along,
            None => usual.ok_or_else(|| {
                section.error(
                    "name",
                    "is for few parameters: a grid over all of them would have too many points",
                )
            })?,
        };
        let count = size(along, d).filter(|_| along >= 2).ok_or_else(|| {
            section.error("grid", format!("must be at least 2 and make at most {MOST_CANDIDATES} points"))
        })?;
        let mut points = Vec::with_capacity(count * d);
        for index in 0..count as u64 {
            let mut rest = index;
            for (low, high) in low.iter().zip(&high) {
                #[expect(clippy::cast_precision_loss, reason = "a grid has few points")]
                let share = (rest % along) as f64 / (along - 1) as f64;
                points.push(low + share * (high - low));
                rest /= along;
            }
        }
        let offsets: Vec<f64> = points.chunks_exact(d).map(|point| model.log_prior(point)).collect();
        if offsets.iter().any(|offset| !offset.is_finite()) {
            return Err(section.error("low", "and high must span points of positive prior density"));
        }
        let middle = low.iter().zip(&high).map(|(low, high)| 0.5 * (low + high)).collect();
        Ok(Self { points, offsets, middle })
    }

    /// The range of log-ratios between grid and middle, over all admissible records.
    fn range(&self, setting: &Setting<'_>) -> Option<(f64, f64)> {
        let (mut least, mut largest) = (f64::INFINITY, f64::NEG_INFINITY);
        for point in self.points.chunks_exact(self.middle.len()) {
            let (low, high) = setting.log_ratio_range(&self.middle, point)?;
            (least, largest) = (least.min(low), largest.max(high));
        }
        // The slack keeps the rounding of a record's ratio inside.
        let slack = 1e-9 * (largest - least);
        let range = (least - slack, largest + slack);
        (range.1 - range.0).is_finite().then_some(range)
    }
}

/// The number of points of a grid, if it is not too large.
fn size(along: u64, dimension: usize) -> Option<usize> {
    let points = along.checked_pow(u32::try_from(dimension).ok()?)?;
    usize::try_from(points).ok().filter(|points| *points <= MOST_CANDIDATES)
}

/// One end of the box: a number for all parameters, or one each.
fn ends(section: &Section<'_>, key: &str, dimension: usize) -> Result<Vec<f64>, SpecError> {
    let ends = match section.require(key, section.value(key))? {
        toml::Value::Array(_) => section.numbers(key)?.unwrap_or_default(),
        _ => vec![section.number(key)?.unwrap_or(f64::NAN); dimension],
    };
    if ends.len() == dimension && ends.iter().all(|end| end.is_finite()) {
        Ok(ends)
    } else {
        Err(section.error(key, format!("must be a finite number, or {dimension} of them")))
    }
}
