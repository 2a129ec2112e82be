//! Sets the diffusions beside the best published samplers on all eight models of the thesis, with one rule for all of them, and shows
//! what a factor of two in each of the rule's constants does.
//!
//! Every chain has the whole budget, starts by the thesis' rule, and is judged by the thesis' MMD to 1000 exact draws; on the circle by
//! the distance of its mean from the origin, and its radius. A spec names the sampler and a starting point, nothing else.

use super::chains::{BUDGETS, CHAINS, Cases, DEFAULT, PUBLISHED, STORE, budgets, diffusion, pooled};
use super::distances::{best_published, empty};
use super::{Setting, by_mmd, circle};
use crate::experiment::{Cells, Comparison, Experiment, Row, Size, Task};
use crate::published::quartiles;
use barkeep_plot::{Axis, Figure, Mark, Panel, Shape, Style};
use serde::Deserialize;
use std::sync::LazyLock;

/// The experiment.
pub(crate) struct Gradients;

const SAMPLERS: [&str; 2] = [DEFAULT, "underdamped"];

/// Chains that show what a constant does a factor of two off.
const OFF_CHAINS: usize = 10;

/// A constant of the rule: its name, and what a spec says for its half and its double.
#[derive(Deserialize)]
struct Constant {
    name: String,
    halved: Change,
    doubled: Change,
}

/// How a constant is changed.
#[derive(Clone, Deserialize)]
#[serde(untagged)]
enum Change {
    /// By a line of the sampler's section.
    Line(String),
    /// The clip, by a factor: its rule depends on the model.
    Clip(f64),
}

/// Read once; a test says that the file says everything.
static CONSTANTS: LazyLock<Vec<Constant>> = LazyLock::new(|| {
    #[derive(Default, Deserialize)]
    struct All {
        constant: Vec<Constant>,
    }
    toml::from_str::<All>(include_str!("../../specs/thesis/constants.toml")).unwrap_or_default().constant
});

/// Every constant, halved and doubled.
fn changes() -> impl Iterator<Item = (String, Change)> {
    CONSTANTS.iter().flat_map(|Constant { name, halved, doubled }| {
        [("halved", halved), ("doubled", doubled)]
            .map(|(word, change)| (format!("{name} {word}"), change.clone()))
    })
}

fn changed(name: &str) -> String {
    format!("{DEFAULT}, {name}")
}

impl Experiment for Gradients {
    fn name(&self) -> &'static str {
        "gradient-samplers"
    }

    fn about(&self) -> &'static str {
        "langevin and underdamped by one rule beside the best published samplers, eight models; each constant a factor of two off"
    }

    fn store(&self) -> &'static str {
        STORE
    }

    fn tasks(&self, size: Size) -> Result<Vec<Task>, String> {
        let mut tasks: Vec<((usize, usize), Task)> = Vec::new();
        for setting in by_mmd().iter().chain([circle()]) {
            if size == Size::Quick && setting.dimension > 2 {
                continue;
            }
            let mut cases = Cases::default();
            for (round, sampler) in [0, 2].into_iter().zip(SAMPLERS) {
                // With momentum chains cost as much; the small models show how they fare.
                if round > 0 && setting.dimension > 2 {
                    continue;
                }
                for &budget in size.pick(&budgets(setting)[..1], budgets(setting)) {
                    let section = format!("name = '{sampler}'");
                    let chains = size.pick(2, CHAINS);
                    let task = diffusion(setting, (sampler, section, 1.0), budget, chains, &mut cases);
                    tasks.push(((setting.dimension, round), task));
                }
            }
            if setting.is_circle() || (size == Size::Quick && setting.name != "easy-2d") {
                continue;
            }
            for (name, change) in changes() {
                let (keys, clip) = match change {
                    Change::Line(line) => (format!("\n{line}"), 1.0),
                    Change::Clip(factor) => (String::new(), factor),
                };
                let section = format!("name = '{DEFAULT}'{keys}");
                let chains = size.pick(2, OFF_CHAINS);
                let name = changed(&name);
                let cell = (name.as_str(), section, clip);
                let task = diffusion(setting, cell, BUDGETS[0], chains, &mut cases);
                tasks.push(((setting.dimension, 1), task));
            }
        }
        // The small models first, for theirs are known in minutes.
        tasks.sort_by_key(|(place, _)| *place);
        Ok(tasks.into_iter().map(|(_, task)| task).collect())
    }

    fn show(&self, cells: &Cells) -> Result<(Figure, Comparison), String> {
        Ok((figure(cells), comparison(cells)))
    }
}

fn ours(cells: &Cells, setting: &Setting, sampler: &str, budget: f64) -> Option<[f64; 3]> {
    quartiles(&pooled(cells, setting, sampler, budget, kind(setting)))
}

/// What a model is judged by.
fn kind(setting: &Setting) -> &'static str {
    if setting.is_circle() { "error" } else { "mmd" }
}

/// With a constant off, or the rule itself by as many chains.
fn off(cells: &Cells, setting: &Setting, sampler: &str) -> Option<[f64; 3]> {
    let found = pooled(cells, setting, sampler, BUDGETS[0], kind(setting));
    quartiles(&found[..found.len().min(OFF_CHAINS)])
}

fn shown([low, median, high]: [f64; 3]) -> String {
    format!("{median:.3} [{low:.3}, {high:.3}]")
}

/// The radius a chain on the circle found, and that of the records, in root mean square.
fn radius(cells: &Cells, sampler: &str, budget: f64) -> Option<(f64, f64)> {
    let squares = pooled(cells, circle(), sampler, budget, "squares");
    let records = pooled(cells, circle(), sampler, budget, "records' square");
    let mean = squares.iter().sum::<f64>() / squares.len() as f64;
    Some((mean.sqrt(), records.first()?.sqrt()))
}

/// The best of the published samplers on the circle, as barkeep repeats them: the thesis has no numbers.
fn best_repeated(cells: &Cells, budget: f64) -> Option<(f64, &'static str)> {
    let medians = PUBLISHED.iter().filter_map(|(name, title)| {
        let found = quartiles(&pooled(cells, circle(), name, budget, "error"))?;
        Some((found[1], *title))
    });
    medians.min_by(|a, b| a.0.total_cmp(&b.0))
}

fn comparison(cells: &Cells) -> Comparison {
    let mut comparison = Comparison::new("barkeep: langevin", "barkeep: underdamped");
    for setting in by_mmd() {
        for &budget in budgets(setting) {
            let published =
                best_published(setting, budget).map(|(median, whose)| format!("{median:.3} {whose}"));
            let [langevin, underdamped] =
                SAMPLERS.map(|sampler| ours(cells, setting, sampler, budget).map(shown));
            let what = format!("{}, ε = {budget}, MMD", setting.name);
            comparison.rows.push(Row::new(what, published, langevin, underdamped));
        }
    }
    for &budget in budgets(circle()) {
        let published =
            best_repeated(cells, budget).map(|(median, whose)| format!("{median:.3} {whose} (repeated)"));
        let [langevin, underdamped] =
            SAMPLERS.map(|sampler| ours(cells, circle(), sampler, budget).map(shown));
        let what = format!("circle, ε = {budget}, distance of the mean");
        comparison.rows.push(Row::new(what, published, langevin, underdamped));
        let found = SAMPLERS.map(|sampler| radius(cells, sampler, budget));
        let [langevin, underdamped] = found.map(|found| found.map(|(found, _)| format!("{found:.3}")));
        let right = found.iter().flatten().next().map(|(_, right)| format!("right: {right:.3}"));
        comparison.rows.push(Row::new(format!("circle, ε = {budget}, radius"), right, langevin, underdamped));
    }
    for setting in by_mmd() {
        let rule = ("the rule itself".to_owned(), DEFAULT.to_owned());
        for (name, sampler) in
            [rule].into_iter().chain(changes().map(|(name, _)| (name.clone(), changed(&name))))
        {
            let what = format!("{}, ε = 1, {OFF_CHAINS} chains, {name}", setting.name);
            let published = best_published(setting, BUDGETS[0]).map(|(median, _)| format!("{median:.3}"));
            comparison.rows.push(Row::new(what, published, off(cells, setting, &sampler).map(shown), None));
        }
    }
    comparison.notes.push(
        "One rule for all models; a spec says the sampler's name and a starting point. The rule uses public facts alone: the number of \
         records n, the tempering T, ε and δ, the model's expected Fisher information of one record (at the start, or wherever the chain \
         is) and its prior. Nothing is tuned on records. Constants: clip √d + 1.5 in units of one record's share, wider where the budget \
         buys more than time 2000; step 1; burn-in time 10; midpoints are published."
            .to_owned(),
    );
    for sampler in SAMPLERS {
        comparison.notes.extend(largest(cells, sampler));
    }
    comparison.notes.extend(worst_change(cells));
    judge_circle(cells, &mut comparison);
    comparison
}

/// The largest medians over the seven models, beside what was aimed at.
fn largest(cells: &Cells, sampler: &str) -> Option<String> {
    let most = |budget: f64| -> Option<(f64, &str)> {
        let found =
            by_mmd().iter().map(|setting| Some((ours(cells, setting, sampler, budget)?[1], &*setting.name)));
        found.collect::<Option<Vec<_>>>()?.into_iter().max_by(|a, b| a.0.total_cmp(&b.0))
    };
    let below = by_mmd().iter().all(|setting| {
        budgets(setting).iter().all(|&budget| {
            let pair = ours(cells, setting, sampler, budget).zip(best_published(setting, budget));
            pair.is_some_and(|(ours, theirs)| ours[1] < theirs.0)
        })
    });
    let ((one, model_one), (four, model_four)) = (most(1.0)?, most(4.0)?);
    Some(format!(
        "{sampler}, largest median MMD of the seven models: {one:.3} ({model_one}) at ε = 1, {four:.3} ({model_four}) at ε = 4; {} the best \
         published median in every cell.",
        if below { "below" } else { "not below" }
    ))
}

/// Which constant a factor of two off hurts most.
fn worst_change(cells: &Cells) -> Option<String> {
    let mut found: Vec<(f64, String)> = Vec::new();
    for setting in by_mmd() {
        for (name, _) in changes() {
            let median = off(cells, setting, &changed(&name))?[1];
            found.push((median, format!("{}, {name}", setting.name)));
        }
    }
    let (median, what) = found.into_iter().max_by(|a, b| a.0.total_cmp(&b.0))?;
    Some(format!(
        "A constant a factor of two off: the largest median MMD of all at ε = 1 is {median:.3} ({what})."
    ))
}

fn judge_circle(cells: &Cells, comparison: &mut Comparison) {
    for &budget in budgets(circle()) {
        let Some((theirs, whose)) = best_repeated(cells, budget) else { continue };
        let medians = SAMPLERS
            .iter()
            .filter_map(|sampler| Some((ours(cells, circle(), sampler, budget)?[1], *sampler)));
        let Some((median, sampler)) = medians.min_by(|a, b| a.0.total_cmp(&b.0)) else { continue };
        let line = format!(
            "Distance of the mean on the circle (`gradient-samplers`), ε = {budget}: {median:.3} ({sampler}), best published sampler as \
             repeated {theirs:.3} ({whose})."
        );
        if median < theirs { comparison.better.push(line) } else { comparison.not_better.push(line) }
    }
}

fn figure(cells: &Cells) -> Figure {
    let mut panels: Vec<Panel> = Vec::new();
    for setting in by_mmd().iter().chain([circle()]) {
        let mut panel = if setting.is_circle() { circle_axes() } else { empty(setting) };
        let best = |&budget: &f64| match setting.is_circle() {
            true => Some((budget, best_repeated(cells, budget)?.0)),
            false => Some((budget, best_published(setting, budget)?.0)),
        };
        let points = budgets(setting).iter().filter_map(best).collect();
        let style = Style::published("best published (on the circle as repeated)", 1);
        panel.marks.push(Mark::Line { points, style });
        for (colour, (sampler, shape)) in
            [(0, (SAMPLERS[0], Shape::Square)), (2, (SAMPLERS[1], Shape::Triangle))]
        {
            let range = |&budget: &f64| {
                ours(cells, setting, sampler, budget).map(|[low, median, high]| (budget, low, median, high))
            };
            let points = budgets(setting).iter().filter_map(range).collect();
            panel.marks.push(Mark::Ranges { points, style: Style::points(sampler, colour, shape) });
        }
        panels.push(panel);
    }
    panels.push(off_panel(cells));
    let title = "Diffusions by one rule: distance to the posterior against ε (medians and quartiles)";
    Figure { size: (380.0, 300.0), ..Figure::new(title, 3, panels) }
}

fn circle_axes() -> Panel {
    let axis = Axis::new("ε (δ = 10⁻⁶)").from(0.4, 1.1).at(budgets(circle()));
    Panel::new("circle", axis, Axis::log("distance of the mean").from(0.01, 4.0))
}

/// For each constant the largest median of the seven models, with the constant halved, as it is, and doubled.
fn off_panel(cells: &Cells) -> Panel {
    let axis = Axis::log("factor on a constant").from(0.4, 2.5).at(&[0.5, 1.0, 2.0]);
    let mut panel =
        Panel::new("a factor of two off, ε = 1", axis, Axis::log("largest median MMD").from(0.008, 1.0));
    let most = |sampler: &str| {
        let medians = by_mmd().iter().filter_map(|setting| Some(off(cells, setting, sampler)?[1]));
        medians.max_by(f64::total_cmp)
    };
    for (index, constant) in CONSTANTS.iter().enumerate() {
        let of = |word: &str| most(&changed(&format!("{} {word}", constant.name)));
        let points = [(0.5, of("halved")), (1.0, most(DEFAULT)), (2.0, of("doubled"))];
        let points = points.into_iter().filter_map(|(factor, found)| Some((factor, found?))).collect();
        let shape = [Shape::Disc, Shape::Square, Shape::Triangle][index % 3];
        let style = Style::points(format!("langevin, {}", constant.name), 3 + index, shape);
        panel.marks.push(Mark::Line { points, style });
    }
    panel
}

#[cfg(test)]
mod tests;
