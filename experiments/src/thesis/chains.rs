//! Runs the chains behind the thesis' figures 6.3 to 6.8: every model, sampler and budget, as published and with our samplers.
//!
//! Published samplers, and ours beside them, run on the thesis' own records and from its own starts, which its code's keys fix; diffusions on
//! records drawn anew by its rule. The first half of a published sampler's chain is dropped, of ours what its own rule says.

use super::iterations::published_steps;
use super::{Case, Setting, named};
use crate::clip_counter::{ClipCounter, Clips};
use crate::experiment::{Cells, Size, Task, Values, values};
use crate::replicate::{plan, runs};
use barkeep::accounting::{Epsilon, Steps};
use barkeep::diagnostics::{Points, mmd::mmd};
use barkeep::model::Likelihood;
use barkeep::{Fact, Plan, PublicRng};
use barkeep_plot::{Shape, Style};
use std::sync::{Arc, OnceLock};

/// Where these cells are kept, whichever figure asks for them.
pub(crate) const STORE: &str = "thesis-chains";

/// `[sampler]` sections by model and sampler.
const SAMPLERS: &str = include_str!("../../specs/thesis/samplers.toml");

/// The published samplers, as its code and as its text names them.
pub(crate) const PUBLISHED: [(&str, &str); 6] = [
    ("dpps", "DP penalty"),
    ("dppa", "DP penalty, OCU+GWMH"),
    ("mdpps", "minibatch DP penalty"),
    ("mdppa", "minibatch DP penalty, OCU+GWMH"),
    ("barker", "DP Barker"),
    ("hmc", "DP HMC"),
];

/// Ours: diffusions, which need no settings but a start, and tests of which only the bit is paid for.
pub(crate) const OURS: [&str; 4] = ["langevin", "barker-bit", "penalty-bit", "underdamped"];

/// How figures show the samplers of [`OURS`], in their order.
pub(crate) fn our_style(index: usize) -> Style {
    let (colour, shape) =
        [(6, Shape::Square), (7, Shape::Triangle), (7, Shape::Square), (8, Shape::Triangle)][index % 4];
    let label = format!("{}, barkeep", OURS[index % 4]);
    Style { width: 2.2, radius: 4.0, dashed: index == 2, ..Style::points(label, colour, shape) }
}

/// The diffusion that every figure shows.
pub(crate) const DEFAULT: &str = "langevin";

/// Where records and starts come from.
#[derive(Clone, Copy, PartialEq)]
enum Source {
    /// A seed, by the thesis' rule.
    Drawn(u64),
    /// The thesis' own.
    Thesis,
}

/// What diffusions are judged on.
const FRESH: Source = Source::Drawn(2026);

pub(crate) const BUDGETS: [f64; 4] = [1.0, 2.0, 4.0, 6.0];
const CIRCLE_BUDGETS: [f64; 3] = [0.5, 0.75, 1.0];

/// Chains of a source.
pub(crate) const CHAINS: usize = 20;

/// The budgets a model is shown at.
pub(crate) fn budgets(setting: &Setting) -> &'static [f64] {
    if setting.is_circle() { &CIRCLE_BUDGETS } else { &BUDGETS }
}

/// Where a sampler's records and starts come from.
fn source(sampler: &str) -> Source {
    if is_diffusion(sampler) { FRESH } else { Source::Thesis }
}

/// Whether this names a diffusion, by its rule or with a constant off.
fn is_diffusion(sampler: &str) -> bool {
    [DEFAULT, "underdamped"].iter().any(|name| sampler.starts_with(name))
}

/// The samplers a model is published with, and ours.
pub(crate) fn samplers(setting: &Setting) -> Result<Vec<(String, String)>, String> {
    let all: toml::Table = SAMPLERS.parse().map_err(|_| "samplers.toml is not TOML".to_owned())?;
    let mut found = Vec::new();
    if let Some(toml::Value::Table(of_model)) = all.get(&setting.name) {
        for name in PUBLISHED.iter().map(|(name, _)| *name).chain(OURS) {
            if let Some(toml::Value::Table(section)) = of_model.get(name) {
                found.push((name.to_owned(), section.to_string()));
            }
        }
    }
    found.push((DEFAULT.to_owned(), format!("name = '{DEFAULT}'")));
    Ok(found)
}

fn key(model: &str, sampler: &str, budget: f64, source: Source) -> String {
    let source = match source {
        Source::Drawn(seed) => format!("seed={seed}"),
        Source::Thesis => "thesis".to_owned(),
    };
    format!("{model} {sampler} ε={budget} {source}")
}

/// All numbers of one kind for a model, sampler and budget.
pub(crate) fn pooled(cells: &Cells, setting: &Setting, sampler: &str, budget: f64, kind: &str) -> Vec<f64> {
    let key = key(&setting.name, sampler, budget, source(sampler));
    cells.numbers(&key, kind).unwrap_or_default().to_vec()
}

/// Records, starts and exact draws, made when the first cell needs them.
type Shared = Arc<OnceLock<Result<Case, String>>>;

/// Those of one model, by their source.
#[derive(Default)]
pub(crate) struct Cases(Vec<(Source, Shared)>);

impl Cases {
    fn of(&mut self, source: Source) -> Shared {
        if let Some((_, shared)) = self.0.iter().find(|(known, _)| *known == source) {
            return Arc::clone(shared);
        }
        let shared = Shared::default();
        self.0.push((source, Arc::clone(&shared)));
        shared
    }
}

/// The cells of these models: the small ones first.
pub(crate) fn tasks(
    models: &[&'static Setting],
    size: Size,
    only: Option<&str>,
) -> Result<Vec<Task>, String> {
    let mut tasks: Vec<(usize, Task)> = Vec::new();
    for &setting in models {
        if size == Size::Quick && setting.dimension > 2 {
            continue;
        }
        let mut cases = Cases::default();
        for (sampler, section) in samplers(setting)? {
            if only.is_some_and(|only| only != sampler) {
                continue;
            }
            for &budget in size.pick(&budgets(setting)[..1], budgets(setting)) {
                let (sampler, section, source) = (sampler.clone(), section.clone(), source(&sampler));
                let chains = size.pick(2, CHAINS);
                let cell = Chains { setting, sampler, section, clip: 1.0, budget, source, chains };
                tasks.push((setting.dimension, cell.task(&mut cases)));
            }
        }
    }
    tasks.sort_by_key(|(place, _)| *place);
    Ok(tasks.into_iter().map(|(_, task)| task).collect())
}

/// A cell of a diffusion: `sampler` names it among cells, `section` is its `[sampler]`, and its clip is that of the rule times `clip`.
pub(crate) fn diffusion(
    setting: &'static Setting,
    (sampler, section, clip): (&str, String, f64),
    budget: f64,
    chains: usize,
    cases: &mut Cases,
) -> Task {
    let (sampler, source) = (sampler.to_owned(), FRESH);
    Chains { setting, sampler, section, clip, budget, source, chains }.task(cases)
}

/// One cell: a chain from each of the first `chains` starts.
struct Chains {
    setting: &'static Setting,
    sampler: String,
    section: String,
    clip: f64,
    budget: f64,
    source: Source,
    chains: usize,
}

impl Chains {
    fn task(self, cases: &mut Cases) -> Task {
        let Self { setting, chains, clip, .. } = self;
        let mut settings = format!("{} {chains}", setting.spec(&self.section));
        if clip != 1.0 {
            settings += &format!(" clip × {clip}");
        }
        if self.keeps_squares() {
            settings += " with squares";
        }
        let shared = cases.of(self.source);
        Task::new(key(&setting.name, &self.sampler, self.budget, self.source), settings, move || {
            let made = shared.get_or_init(|| match self.source {
                Source::Drawn(seed) => setting.drawn(CHAINS, seed),
                Source::Thesis => setting.published(setting.records, CHAINS),
            });
            self.run(made.as_ref().map_err(Clone::clone)?)
        })
    }

    /// Whether the mean of ‖θ‖² is kept: a mean at the origin says little of a circle without its radius.
    fn keeps_squares(&self) -> bool {
        is_diffusion(&self.sampler) && self.setting.is_circle()
    }

    fn plan(&self) -> Result<Plan, String> {
        let found = plan(&self.setting.spec(&self.section), self.budget)?;
        if self.clip == 1.0 {
            return Ok(found);
        }
        let rule = found.fact("clip").and_then(Fact::as_number).ok_or("the plan states no clip")?;
        let section = format!("{}\nclip = {:?}", self.section, self.clip * rule);
        plan(&self.setting.spec(&section), self.budget)
    }

    fn run(&self, case: &Case) -> Result<Values, String> {
        let mut plan = match self.plan() {
            Ok(plan) => plan,
            // A budget that does not buy a step leaves a cell without chains.
            Err(reason) if reason.contains("budget") => return Ok(values([("steps", vec![0.0])])),
            Err(reason) => return Err(reason),
        };
        let diffusion = is_diffusion(&self.sampler);
        let ours = diffusion || OURS.contains(&self.sampler.as_str());
        if let Some(published) = published_steps(&self.setting.name, &self.sampler, self.budget) {
            // As many as the thesis took, where our accountant would allow more.
            plan = plan.stopping_after(Steps(published));
        }
        let dropped = if diffusion { plan.burn_in().0 } else { plan.steps().0.saturating_sub(1) / 2 };
        let dropped = usize::try_from(dropped).unwrap_or(usize::MAX);
        let clips = if ours { Clips::default() } else { clips(&self.section)? };
        let likelihood = Arc::clone(plan.spec().likelihood());
        let (mut distances, mut squares, mut accepted) = (Vec::new(), Vec::new(), Vec::new());
        let (mut ratios, mut gradients) = (Vec::new(), Vec::new());
        let (source, first) = match self.source {
            Source::Drawn(seed) if diffusion => (seed, seed),
            Source::Drawn(seed) => (seed, 1000 * seed),
            Source::Thesis => (1, 1000),
        };
        let mut rng = PublicRng::new(source, 2);
        for (seed, start) in (first..).zip(&case.starts).take(self.chains) {
            if diffusion {
                rng = PublicRng::new(seed, 2);
            }
            let counter = Arc::new(ClipCounter::new(Arc::clone(&likelihood), clips, &case.columns));
            let observer = (!ours).then(|| Arc::<ClipCounter>::clone(&counter) as Arc<dyn Likelihood>);
            let draws = runs(&plan, &case.table, std::slice::from_ref(start), seed, observer)?;
            let kept = draws.first().map(|draws| draws.pooled(dropped)).unwrap_or_default();
            distances.extend(self.distance(&kept, case, &mut rng));
            if self.keeps_squares() {
                squares.push(kept.iter().map(|x| x * x).sum::<f64>() / (kept.len() / 2) as f64);
            }
            accepted.extend(draws.first().and_then(|draws| draws.acceptance(0)));
            ratios.extend(counter.clipped_log_ratios());
            gradients.extend(counter.clipped_gradients());
        }
        let mut found = values([
            (if case.reference.is_empty() { "error" } else { "mmd" }, distances),
            ("accepted", accepted),
            ("clipped", ratios),
            ("clipped_gradients", gradients),
            ("steps", vec![plan.steps().0 as f64]),
            ("epsilon", plan.epsilon().map(Epsilon::get).into_iter().collect()),
        ]);
        if self.keeps_squares() {
            found.extend(values([("squares", squares), ("records' square", vec![case.squares])]));
        }
        Ok(found)
    }

    /// MMD to exact draws; where there are none, the circle's, the distance of the mean from the origin.
    ///
    /// A single state has no MMD; where a budget buys no more, the thesis shows none either.
    fn distance(&self, kept: &[f64], case: &Case, rng: &mut PublicRng) -> Option<f64> {
        let points = Points::new(kept, self.setting.dimension)?;
        if case.reference.is_empty() {
            let mean = |j: usize| kept.iter().skip(j).step_by(2).sum::<f64>() / points.len() as f64;
            return Some(mean(0).hypot(mean(1)));
        }
        let reference = Points::new(&case.reference, self.setting.dimension)?;
        mmd(&points, &reference, rng)
    }
}

/// What a sampler's section clips.
pub(crate) fn clips(section: &str) -> Result<Clips, String> {
    let section: toml::Table = section.parse().map_err(|_| "a sampler that is not TOML".to_owned())?;
    let number = |key: &str| {
        section.get(key).and_then(|value| value.as_float().or(value.as_integer().map(|n| n as f64)))
    };
    let name = section.get("name").and_then(toml::Value::as_str).unwrap_or("");
    Ok(Clips {
        log_ratio: number("clip"),
        by_distance: name.starts_with("penalty") || name == "dp-hmc",
        gradient: number("clip_gradient"),
    })
}

/// What a plan takes and costs, for tests.
#[cfg(test)]
pub(crate) fn planned(setting: &Setting, section: &str, budget: f64) -> Result<Plan, String> {
    plan(&setting.spec(section), budget)
}

/// The models of figure 6.3, in its order.
pub(crate) fn bananas() -> Vec<&'static Setting> {
    ["easy-2d", "tempered-2d", "easy-10d", "tempered-10d"].into_iter().filter_map(named).collect()
}

/// The models of figure 6.4, the quick ones first.
pub(crate) fn harder() -> Vec<&'static Setting> {
    ["hard-2d", "hard-gauss-2d", "gauss-30d"].into_iter().filter_map(named).collect()
}

#[cfg(test)]
mod tests;
