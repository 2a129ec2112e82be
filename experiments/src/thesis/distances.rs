//! Figures 6.3 and 6.4 and the frontier: MMD to the exact posterior against ε, published chains repeated and ours added.

use super::Setting;
use super::chains::{CHAINS, OURS, PUBLISHED, STORE, bananas, budgets, harder, our_style, pooled, tasks};
use crate::experiment::{Cells, Comparison, Experiment, Row, Size, Task};
use crate::published::{Published, quartiles};
use barkeep_plot::{Axis, Figure, Mark, Panel, Shape, Style, spoken};

/// One of the figures.
pub(crate) enum Distances {
    /// Figure 6.3.
    Bananas,
    /// Figure 6.4.
    Harder,
    /// Ours: the best published sampler against the best of barkeep.
    Frontier,
}

/// Samplers whose published quartiles our medians must meet; others are judged apart, for their tests differ from the thesis' in detail.
const REPEATED: [&str; 3] = ["dpps", "dppa", "hmc"];

impl Distances {
    fn models(&self) -> Vec<&'static Setting> {
        match self {
            Self::Bananas => bananas(),
            Self::Harder => harder(),
            Self::Frontier => bananas().into_iter().chain(harder()).collect(),
        }
    }
}

/// Published quartiles.
fn published(model: &str, sampler: &str, budget: f64) -> Option<[f64; 3]> {
    let table = Published::new(include_str!("../../published/thesis-mmd.csv"));
    let row = table.rows().find(|row| {
        row.text("model") == model
            && row.text("sampler") == sampler
            && (sampler == "exact" || row.number("epsilon") == budget)
    })?;
    Some(["lower_quartile", "median", "upper_quartile"].map(|column| row.number(column)))
}

fn ours(cells: &Cells, setting: &Setting, sampler: &str, budget: f64) -> Option<[f64; 3]> {
    quartiles(&pooled(cells, setting, sampler, budget, "mmd"))
}

/// The best published median and whose it is.
pub(super) fn best_published(setting: &Setting, budget: f64) -> Option<(f64, &'static str)> {
    let medians = PUBLISHED
        .iter()
        .filter_map(|(name, title)| Some((published(&setting.name, name, budget)?[1], *title)));
    medians.min_by(|a, b| a.0.total_cmp(&b.0))
}

/// The best of our own samplers and which it is.
fn best_of_ours(cells: &Cells, setting: &Setting, budget: f64) -> Option<([f64; 3], &'static str)> {
    let medians = OURS.into_iter().filter_map(|name| Some((ours(cells, setting, name, budget)?, name)));
    medians.min_by(|a, b| a.0[1].total_cmp(&b.0[1]))
}

fn shown([low, median, high]: [f64; 3]) -> String {
    format!("{median:.3} [{low:.3}, {high:.3}]")
}

impl Experiment for Distances {
    fn name(&self) -> &'static str {
        match self {
            Self::Bananas => "thesis-6.3",
            Self::Harder => "thesis-6.4",
            Self::Frontier => "frontier",
        }
    }

    fn about(&self) -> &'static str {
        match self {
            Self::Bananas => {
                "MMD against ε, every sampler, flat and tempered bananas, d = 2 and 10; ours added"
            }
            Self::Harder => {
                "MMD against ε on the narrow banana, the correlated Gauss and the 30-d Gauss; ours added"
            }
            Self::Frontier => {
                "median MMD against ε, every model: the best published sampler against the best of barkeep"
            }
        }
    }

    fn store(&self) -> &'static str {
        STORE
    }

    fn tasks(&self, size: Size) -> Result<Vec<Task>, String> {
        match self {
            Self::Frontier => {
                let mut found = Vec::new();
                for name in OURS {
                    found.extend(tasks(&self.models(), size, Some(name))?);
                }
                Ok(found)
            }
            _ => tasks(&self.models(), size, None),
        }
    }

    fn show(&self, cells: &Cells) -> Result<(Figure, Comparison), String> {
        Ok(match self {
            Self::Frontier => (frontier_figure(cells, &self.models()), frontier(cells, &self.models())),
            _ => (self.figure(cells), self.comparison(cells)),
        })
    }
}

impl Distances {
    fn figure(&self, cells: &Cells) -> Figure {
        let mut panels = Vec::new();
        for setting in self.models() {
            let mut panel = empty(setting);
            for (colour, (name, title)) in PUBLISHED.into_iter().enumerate() {
                let shift = 0.06 * (colour as f64 - 2.5);
                let points =
                    |numbers: &dyn Fn(f64) -> Option<[f64; 3]>, shift: f64| -> Vec<(f64, f64, f64, f64)> {
                        let range = |&budget: &f64| {
                            numbers(budget).map(|[low, median, high]| (budget + shift, low, median, high))
                        };
                        budgets(setting).iter().filter_map(range).collect()
                    };
                let style = Style::published(format!("{title}, published"), colour);
                let range = points(&|budget| published(&setting.name, name, budget), shift);
                panel.marks.push(Mark::Ranges { points: range, style });
                let style = Style::points(format!("{title}, repeated"), colour, Shape::Disc);
                let range = points(&|budget| ours(cells, setting, name, budget), shift + 0.02);
                panel.marks.push(Mark::Ranges { points: range, style });
            }
            add_ours(&mut panel, cells, setting);
            panels.push(panel);
        }
        let title = match self {
            Self::Bananas => {
                "Thesis, figure 6.3: distance to the posterior, flat and tempered bananas (medians and quartiles)"
            }
            _ => "Thesis, figure 6.4: distance to the posterior, harder models (medians and quartiles)",
        };
        Figure { size: (560.0, 400.0), ..Figure::new(title, 2, panels) }
    }

    fn comparison(&self, cells: &Cells) -> Comparison {
        let mut comparison = Comparison::new("the same chain by barkeep", "barkeep's own samplers");
        let (mut check, mut apart) = (Check::default(), Check::default());
        for setting in self.models() {
            for (name, title) in PUBLISHED {
                for &budget in budgets(setting) {
                    let Some(theirs) = published(&setting.name, name, budget) else { continue };
                    let what = format!("{}, {title}, ε = {budget}", setting.name);
                    let judged = if REPEATED.contains(&name) { &mut check } else { &mut apart };
                    judged.add(&what, theirs, &pooled(cells, setting, name, budget, "mmd"));
                    let same = ours(cells, setting, name, budget);
                    let best = best_of_ours(cells, setting, budget)
                        .map(|(found, name)| format!("{} {name}", shown(found)));
                    comparison.rows.push(Row::new(what, Some(shown(theirs)), same.map(shown), best));
                }
            }
        }
        check.finish(self.name(), "DP penalty, OCU+GWMH and HMC at release level", &mut comparison);
        let label = "DP Barker and the minibatch samplers, as many steps as the thesis took";
        apart.finish(self.name(), label, &mut comparison);
        comparison
    }
}

/// Whether our medians of the samplers we repeat lie within the published quartiles.
#[derive(Default)]
struct Check {
    known: u32,
    within: u32,
    /// Of our medians below the published ones.
    below: u32,
    others: Vec<String>,
}

/// How far two medians of [`CHAINS`] chains are apart, in standard errors of their difference. That of a median is taken for 1.253/√n standard
/// deviations, and those from quartiles 1.349 apart, as of a normal law.
fn apart(theirs: [f64; 3], ours: [f64; 3]) -> f64 {
    let error = |[low, _, high]: [f64; 3]| 1.253 * (high - low) / (1.349 * (CHAINS as f64).sqrt());
    (ours[1] - theirs[1]).abs() / error(theirs).hypot(error(ours))
}

impl Check {
    /// Judges a cell by its chains.
    fn add(&mut self, what: &str, theirs: [f64; 3], chains: &[f64]) {
        let Some(found) = quartiles(chains) else { return };
        self.known += 1;
        if found[1] < theirs[1] {
            self.below += 1;
        }
        if (theirs[0]..=theirs[2]).contains(&found[1]) {
            self.within += 1;
            return;
        }
        let apart = apart(theirs, found);
        let reason = if (found[0]..=found[2]).contains(&theirs[1]) {
            "the published median lies within our quartiles: the spread of 20 chains".to_owned()
        } else if apart < 3.0 {
            format!(
                "the medians are {apart:.1} standard errors of their difference apart: the spread of 20 chains"
            )
        } else {
            format!("the medians are {apart:.1} standard errors of their difference apart: not explained")
        };
        self.others.push(format!("{what}: {} against {}; {reason}", shown(found), shown(theirs)));
    }

    fn finish(self, name: &str, label: &str, comparison: &mut Comparison) {
        let Self { known, within, below, others } = self;
        if known == 0 {
            return;
        }
        let share = 100.0 * f64::from(within) / f64::from(known);
        let line = format!(
            "{label}: our median is within the published quartiles in {within} of {known} cells \
             ({share:.1} %; 90 % is the aim), and below the published median in {below}."
        );
        if share < 90.0 {
            comparison.not_better.push(format!("The thesis' own chains (`{name}`): {line}"));
        }
        comparison.notes.push(line);
        if !others.is_empty() {
            comparison.notes.push(
                "The others, each with the reason; records and starts are the thesis' own, the chains' randomness is not:"
                    .to_owned(),
            );
            comparison.notes.extend(others);
        }
    }
}

/// Axes with the distance of exact draws as a band.
pub(super) fn empty(setting: &Setting) -> Panel {
    let axis = Axis::new(format!("ε (δ = {})", spoken(setting.delta()))).from(0.6, 6.4).at(budgets(setting));
    let mut panel = Panel::new(&*setting.name, axis, Axis::log("MMD").from(0.008, 1.0));
    if let Some([low, mean, high]) = published(&setting.name, "exact", 0.0) {
        let style = Style { width: 1.0, ..Style::line("ten exact samples: least, mean, largest", 9) };
        for level in [low, mean, high] {
            panel.marks.push(Mark::Line { points: vec![(0.6, level), (6.4, level)], style: style.clone() });
        }
    }
    panel
}

fn add_ours(panel: &mut Panel, cells: &Cells, setting: &Setting) {
    for (index, name) in OURS.into_iter().enumerate() {
        let range = |&budget: &f64| {
            ours(cells, setting, name, budget).map(|[low, median, high]| (budget, low, median, high))
        };
        let points: Vec<_> = budgets(setting).iter().filter_map(range).collect();
        if points.is_empty() {
            continue;
        }
        panel.marks.push(Mark::Ranges { points, style: our_style(index) });
    }
}

fn frontier_figure(cells: &Cells, models: &[&'static Setting]) -> Figure {
    let mut panels = Vec::new();
    for setting in models {
        let mut panel = empty(setting);
        let best = |&budget: &f64| Some((budget, best_published(setting, budget)?.0));
        let points = budgets(setting).iter().filter_map(best).collect();
        panel.marks.push(Mark::Line { points, style: Style::published("best published", 1) });
        add_ours(&mut panel, cells, setting);
        panels.push(panel);
    }
    let title =
        "Distance to the posterior: the best published sampler against barkeep's own (medians and quartiles)";
    Figure { size: (380.0, 300.0), ..Figure::new(title, 3, panels) }
}

fn frontier(cells: &Cells, models: &[&'static Setting]) -> Comparison {
    let mut comparison = Comparison::new("exact draws, 10 × 1000", "barkeep's own samplers");
    let mut ratios: Vec<(f64, String)> = Vec::new();
    for setting in models {
        for &budget in budgets(setting) {
            let Some((theirs, whose)) = best_published(setting, budget) else { continue };
            let found = best_of_ours(cells, setting, budget);
            let what = format!("{}, ε = {budget}", setting.name);
            if let Some(([_, median, _], _)) = found {
                ratios.push((theirs / median, what.clone()));
            }
            let exact = published(&setting.name, "exact", 0.0).map(|exact| format!("{:.3}", exact[1]));
            let best = found.map(|(found, name)| format!("{} {name}", shown(found)));
            comparison.rows.push(Row::new(what, Some(format!("{theirs:.3} {whose}")), exact, best));
        }
    }
    let (won, lost): (Vec<_>, Vec<_>) = ratios.iter().partition(|(ratio, _)| *ratio > 1.0);
    let ends = |list: &[&(f64, String)]| {
        let least = list.iter().min_by(|a, b| a.0.total_cmp(&b.0))?;
        let most = list.iter().max_by(|a, b| a.0.total_cmp(&b.0))?;
        Some(format!("by a factor of {:.1} ({}) to {:.1} ({})", least.0, least.1, most.0, most.1))
    };
    if let Some(ends) = ends(&won) {
        comparison.better.push(format!(
            "Distance to the posterior at equal ε and δ on the thesis' models (`frontier`): the median MMD of barkeep's diffusions is \
             smaller than the best published one in {} of {} cells, {ends}.",
            won.len(),
            ratios.len()
        ));
    }
    if !lost.is_empty() {
        let list: Vec<&str> = lost.iter().map(|(_, what)| what.as_str()).collect();
        comparison
            .not_better
            .push(format!("Distance to the posterior (`frontier`): not smaller at {}.", list.join("; ")));
    }
    comparison
}
