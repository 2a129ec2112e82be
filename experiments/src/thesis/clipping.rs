//! Figures 6.5, 6.6 and 6.8 (how much is clipped) and 6.7 (the circle).

use super::chains::{OURS, PUBLISHED, STORE, bananas, budgets, harder, our_style, pooled, tasks};
use super::{Setting, circle};
use crate::experiment::{Cells, Comparison, Experiment, Row, Size, Task};
use crate::published::quartiles;
use barkeep_plot::{Axis, Figure, Mark, Panel, Shape, Style, spoken};

/// One of the figures.
pub(crate) enum Clipping {
    /// Figure 6.5.
    Bananas,
    /// Figure 6.6.
    Harder,
    /// Figure 6.7.
    Circle,
    /// Figure 6.8.
    Gradients,
}

impl Clipping {
    fn models(&self) -> Vec<&'static Setting> {
        match self {
            Self::Bananas => bananas(),
            Self::Harder => harder(),
            Self::Circle => vec![circle()],
            Self::Gradients => bananas().into_iter().chain(harder()).chain([circle()]).collect(),
        }
    }

    fn title(&self) -> &'static str {
        match self {
            Self::Bananas => {
                "Thesis, figure 6.5: clipped log-likelihood ratios, bananas (medians and quartiles over chains)"
            }
            Self::Harder => {
                "Thesis, figure 6.6: clipped log-likelihood ratios, harder models (medians and quartiles over chains)"
            }
            Self::Circle => "Thesis, figure 6.7: the circle (medians and quartiles over chains)",
            Self::Gradients => {
                "Thesis, figure 6.8: clipped gradients of DP HMC (medians and quartiles over chains)"
            }
        }
    }
}

impl Experiment for Clipping {
    fn name(&self) -> &'static str {
        match self {
            Self::Bananas => "thesis-6.5",
            Self::Harder => "thesis-6.6",
            Self::Circle => "thesis-6.7",
            Self::Gradients => "thesis-6.8",
        }
    }

    fn about(&self) -> &'static str {
        match self {
            Self::Bananas => "share of clipped log-likelihood ratios against ε, bananas",
            Self::Harder => "share of clipped log-likelihood ratios against ε, harder models",
            Self::Circle => {
                "the circle: error of the mean and share of clipped log-likelihood ratios; ours added"
            }
            Self::Gradients => "share of clipped gradients of DP HMC against ε",
        }
    }

    fn store(&self) -> &'static str {
        STORE
    }

    fn tasks(&self, size: Size) -> Result<Vec<Task>, String> {
        tasks(&self.models(), size, matches!(self, Self::Gradients).then_some("hmc"))
    }

    fn show(&self, cells: &Cells) -> Result<(Figure, Comparison), String> {
        let figure = match self {
            Self::Circle => circle_figure(cells),
            _ => self.shares(cells),
        };
        Ok((Figure { title: self.title().to_owned(), ..figure }, self.comparison(cells)))
    }
}

/// Quartiles against the budget.
fn ranges(cells: &Cells, setting: &Setting, sampler: &str, kind: &str) -> Vec<(f64, f64, f64, f64)> {
    let range = |&budget: &f64| {
        let [low, median, high] = quartiles(&pooled(cells, setting, sampler, budget, kind))?;
        Some((budget, low, median, high))
    };
    budgets(setting).iter().filter_map(range).collect()
}

fn percent((x, low, median, high): (f64, f64, f64, f64)) -> (f64, f64, f64, f64) {
    (x, 100.0 * low, 100.0 * median, 100.0 * high)
}

impl Clipping {
    fn shares(&self, cells: &Cells) -> Figure {
        let (kind, columns) = match self {
            Self::Gradients => ("clipped_gradients", 4),
            _ => ("clipped", 2),
        };
        let mut panels = Vec::new();
        for setting in self.models() {
            let (budgets, circle) = (budgets(setting), setting.is_circle());
            let ends = if circle { (0.4, 1.1) } else { (0.6, 6.4) };
            let axis =
                Axis::new(format!("ε (δ = {})", spoken(setting.delta()))).from(ends.0, ends.1).at(budgets);
            let mut panel = Panel::new(&*setting.name, axis, Axis::new("clipped (%)").from(0.0, 100.0));
            for (colour, (name, title)) in PUBLISHED.into_iter().enumerate() {
                // Side by side where there are several.
                let shift = if columns == 4 { 0.0 } else { 0.06 * (colour as f64 - 2.5) };
                let points: Vec<_> = ranges(cells, setting, name, kind).into_iter().map(percent).collect();
                let points =
                    points.into_iter().map(|(x, low, median, high)| (x + shift, low, median, high)).collect();
                panel.marks.push(Mark::Ranges { points, style: Style::points(title, colour, Shape::Disc) });
            }
            panel.marks.retain(|mark| !matches!(mark, Mark::Ranges { points, .. } if points.is_empty()));
            panels.push(panel);
        }
        let size = if columns == 4 { (280.0, 260.0) } else { (460.0, 310.0) };
        Figure { size, ..Figure::new("", columns, panels) }
    }

    fn comparison(&self, cells: &Cells) -> Comparison {
        let mut comparison = Comparison::new("the same chain by barkeep", "barkeep's own samplers");
        let shown = |found: &[f64]| {
            quartiles(found).map(|[low, median, high]| format!("{median:.4} [{low:.4}, {high:.4}]"))
        };
        for setting in self.models() {
            for (name, title) in PUBLISHED {
                if matches!(self, Self::Gradients) && name != "hmc" {
                    continue;
                }
                for &budget in budgets(setting) {
                    let what = |kind: &str| format!("{}, {title}, ε = {budget}, {kind}", setting.name);
                    let found =
                        |sampler: &str, kind: &str| shown(&pooled(cells, setting, sampler, budget, kind));
                    let mut add = |kind: &str, column: &str, best: Option<String>| {
                        let method = found(name, column);
                        if method.is_some() {
                            comparison.rows.push(Row::new(what(kind), None, method, best));
                        }
                    };
                    match self {
                        Self::Gradients => add("gradients clipped", "clipped_gradients", None),
                        Self::Circle => {
                            add("error of the mean", "error", found(OURS[0], "error"));
                            add("log-ratios clipped", "clipped", None);
                        }
                        _ => add("log-ratios clipped", "clipped", None),
                    }
                }
            }
        }
        comparison.notes.push(
            "The thesis shows these as curves without numbers. Records are simulated, so shares may be shown; over real records they are \
             secret and barkeep never publishes them."
                .to_owned(),
        );
        comparison.notes.extend(self.agreement(cells));
        comparison
    }

    /// What the thesis says of the figure in words, and whether it is so here.
    fn agreement(&self, cells: &Cells) -> Option<String> {
        let kind = if matches!(self, Self::Gradients) { "clipped_gradients" } else { "clipped" };
        let (mut known, mut above) = (0, Vec::new());
        let mut ranges: Vec<String> = Vec::new();
        for setting in self.models() {
            for (name, title) in PUBLISHED {
                let median = |&budget: &f64| {
                    let [_, median, _] = quartiles(&pooled(cells, setting, name, budget, kind))?;
                    Some((budget, median))
                };
                let medians: Vec<(f64, f64)> = budgets(setting).iter().filter_map(median).collect();
                let ends = [f64::min, f64::max]
                    .map(|end| medians.iter().map(|(_, share)| *share).reduce(end).unwrap_or(f64::NAN));
                if !medians.is_empty() {
                    let [low, high] = ends.map(|share| 100.0 * share);
                    ranges.push(format!("{}, {title}: {low:.1} to {high:.1} %", setting.name));
                }
                if name == "barker" {
                    continue;
                }
                known += medians.len();
                let far = medians.iter().filter(|(_, share)| *share >= 0.1);
                above.extend(far.map(|(budget, share)| {
                    format!("{}, {title}, ε = {budget}: {:.0} %", setting.name, 100.0 * share)
                }));
            }
        }
        if ranges.is_empty() {
            return None;
        }
        let list = if above.is_empty() { "none".to_owned() } else { above.join("; ") };
        let below = known - above.len();
        Some(match self {
            Self::Bananas => format!(
                "The thesis reports less than 10 % for almost all runs, DP Barker's aside, and up to nearly 20 % on the tempered banana of two dimensions. Here the \
                 median is below 10 % in {below} of {known} cells without DP Barker; the others: {list}."
            ),
            Self::Harder => format!(
                "The thesis reports less than 10 % for almost all runs, some on the narrow banana aside, at ε = 1 above all. Here the median is below 10 % in \
                 {below} of {known} cells; the others: {list}."
            ),
            Self::Circle => format!(
                "The thesis finds that both algorithms do well on average and clip little. Shares here, least to largest median: {}.",
                ranges.join("; ")
            ),
            Self::Gradients => format!(
                "The thesis finds shares that hardly depend on ε, differ between models and spread widely on the narrow banana. Medians here, least to largest \
                 over ε: {}.",
                ranges.join("; ")
            ),
        })
    }
}

fn circle_figure(cells: &Cells) -> Figure {
    let axis = || Axis::new("ε (δ = 10⁻⁶)").from(0.4, 1.1).at(budgets(circle()));
    let mut errors = Panel::new("error of the mean", axis(), Axis::new("distance from the origin"));
    let mut clipped = Panel::new("clipped log-likelihood ratios", axis(), Axis::new("clipped (%)"));
    for (colour, (name, title)) in PUBLISHED.into_iter().enumerate() {
        let style = Style::points(title, colour, Shape::Disc);
        let points = ranges(cells, circle(), name, "error");
        if points.is_empty() {
            continue;
        }
        errors.marks.push(Mark::Ranges { points, style: style.clone() });
        let points = ranges(cells, circle(), name, "clipped").into_iter().map(percent).collect();
        clipped.marks.push(Mark::Ranges { points, style });
    }
    for (index, name) in OURS.into_iter().enumerate() {
        let points = ranges(cells, circle(), name, "error");
        if points.is_empty() {
            continue;
        }
        errors.marks.push(Mark::Ranges { points, style: our_style(index) });
    }
    Figure { size: (430.0, 320.0), ..Figure::new("", 2, vec![errors, clipped]) }
}
