//! Figures 4.1 and 5.1: a trajectory of DP HMC on the circle, and the posteriors of the two-parameter models with the starts.

use super::{Case, Setting, Statistics, by_mmd, circle};
use crate::clip_counter::{ClipCounter, Clips};
use crate::contour::{Grid, contours};
use crate::experiment::{Cells, Comparison, Experiment, Row, Size, Task, values};
use crate::replicate::{plan, runs};
use barkeep::PublicRng;
use barkeep::accounting::Steps;
use barkeep::model::Likelihood;
use barkeep_plot::{Axis, Figure, Mark, Panel, Style};
use std::sync::Arc;

/// One of the figures.
pub(crate) enum Picture {
    /// Figure 4.1.
    Trajectory,
    /// Figure 5.1.
    Contours,
}

/// Regions that hold these shares of the posterior are outlined.
const SHARES: [f64; 3] = [0.5, 0.9, 0.99];

/// The models with two parameters.
fn models() -> impl Iterator<Item = &'static Setting> {
    by_mmd().iter().filter(|setting| setting.dimension == 2).chain([circle()])
}

fn case(setting: &Setting, chains: usize) -> Result<Case, String> {
    setting.published(setting.records, chains)
}

impl Experiment for Picture {
    fn name(&self) -> &'static str {
        match self {
            Self::Trajectory => "thesis-4.1",
            Self::Contours => "thesis-5.1",
        }
    }

    fn about(&self) -> &'static str {
        match self {
            Self::Trajectory => "a trajectory of DP HMC on the circle",
            Self::Contours => "posteriors of the two-parameter models and the 20 starts of every chain",
        }
    }

    fn tasks(&self, _: Size) -> Result<Vec<Task>, String> {
        Ok(match self {
            Self::Trajectory => {
                let sampler = hmc()?;
                vec![Task::new("trajectory", sampler.clone(), move || trajectory(&sampler))]
            }
            Self::Contours => models()
                .map(|setting| {
                    Task::new(&*setting.name, format!("{} thesis", setting.spec("")), move || {
                        let case = case(setting, 20)?;
                        let column = |j: usize| case.starts.iter().map(|start| start[j]).collect::<Vec<_>>();
                        Ok(values([
                            ("x", column(0)),
                            ("y", column(1)),
                            ("squares", vec![case.squares]),
                            ("means", case.means.clone()),
                            ("spread", vec![setting.spread(&case.reference)]),
                        ]))
                    })
                })
                .collect(),
        })
    }

    fn show(&self, cells: &Cells) -> Result<(Figure, Comparison), String> {
        match self {
            Self::Trajectory => Ok(show_trajectory(cells)),
            Self::Contours => Ok(show_contours(cells)),
        }
    }
}

/// The thesis' HMC on the circle.
fn hmc() -> Result<String, String> {
    let samplers = super::chains::samplers(circle())?;
    samplers
        .into_iter()
        .find(|(name, _)| name == "hmc")
        .map(|(_, section)| section)
        .ok_or_else(|| "no HMC".to_owned())
}

/// One proposal from a start on the circle: where gradients were asked for, which is every point of the path.
fn trajectory(section: &str) -> Result<crate::experiment::Values, String> {
    let case = case(circle(), 1)?;
    let radius = case.squares.sqrt();
    let plan = plan(&circle().spec(section), 1.0)?.stopping_after(Steps(1));
    let counter = Arc::new(
        ClipCounter::new(Arc::clone(plan.spec().likelihood()), Clips::default(), &case.columns).tracing(),
    );
    let observer = Some(Arc::<ClipCounter>::clone(&counter) as Arc<dyn Likelihood>);
    let angle = PublicRng::new(41, 0).open_uniform() * std::f64::consts::TAU;
    let start = vec![radius * angle.cos(), radius * angle.sin()];
    runs(&plan, &case.table, &[start], 41, observer)?;
    let path = counter.path();
    let column = |j: usize| path.iter().map(|theta| theta[j]).collect::<Vec<_>>();
    Ok(values([("x", column(0)), ("y", column(1)), ("squares", vec![case.squares])]))
}

fn show_trajectory(cells: &Cells) -> (Figure, Comparison) {
    let numbers = |name: &str| cells.numbers("trajectory", name).unwrap_or_default();
    let path: Vec<(f64, f64)> = numbers("x").iter().copied().zip(numbers("y").iter().copied()).collect();
    let squares = cells.number("trajectory", "squares").unwrap_or(10.0);
    let mut panels = Vec::new();
    let count = path.len().saturating_sub(1);
    for part in 0..6 {
        let reached = count * part / 5;
        let axis = |label: &str| Axis::new(label).from(-4.5, 4.5);
        let mut panel = Panel::new(format!("leapfrog step j = {reached}"), axis("x"), axis("y"));
        outline(&mut panel, &SHARES[1..2], 401, &|theta| {
            let apart = theta[0] * theta[0] + theta[1] * theta[1] - squares;
            // n = 10⁵ records of −10⁻⁵·(x² + y² − r²)².
            -apart * apart
        });
        let walked = path.iter().copied().take(reached + 1).collect();
        panel.marks.push(Mark::Line {
            points: walked,
            style: Style { width: 2.8, ..Style::line("leapfrog steps so far", 0) },
        });
        let style = Style::cloud("start", 1, 4.5, 1.0);
        panel.marks.push(Mark::Line { points: path.iter().copied().take(1).collect(), style });
        panels.push(panel);
    }
    let mut comparison = Comparison::new("this trajectory", "");
    let radii: Vec<f64> = path.iter().map(|(x, y)| x.hypot(*y)).collect();
    let most = radii.iter().map(|r| (r - squares.sqrt()).abs()).fold(0.0, f64::max);
    let along: f64 = path.windows(2).map(|w| (w[1].0 - w[0].0).hypot(w[1].1 - w[0].1)).sum();
    comparison.rows.push(Row::new("leapfrog steps", Some("40".to_owned()), Some(count.to_string()), None));
    comparison.rows.push(Row::new("length of the path", None, Some(format!("{along:.2}")), None));
    comparison.rows.push(Row::new("farthest from the circle", None, Some(format!("{most:.3}")), None));
    comparison.notes.push(
        "Noisy, clipped gradients with the thesis' settings; the published picture shows another draw."
            .to_owned(),
    );
    let title = "Thesis, figure 4.1: a proposal of DP HMC on the circular posterior";
    (Figure { size: (310.0, 300.0), ..Figure::new(title, 3, panels) }, comparison)
}

/// Outlines the regions that hold these shares of a posterior, within the panel's axes.
fn outline(panel: &mut Panel, shares: &[f64], nodes: usize, log_density: &dyn Fn([f64; 2]) -> f64) {
    let (Some(x), Some(y)) = (panel.x.range, panel.y.range) else { return };
    let grid = Grid::new(x, y, nodes, |x, y| log_density([x, y]));
    for (level, &share) in grid.levels_of_mass(shares).into_iter().zip(shares) {
        let label = format!("region of {:.0} % of the posterior", 100.0 * share);
        let colour = if share < 0.8 {
            6
        } else if share < 0.95 {
            2
        } else {
            5
        };
        let style = Style { width: 1.2, ..Style::line(label, colour) };
        panel.marks.push(Mark::Pieces { pieces: contours(&grid, level), style });
    }
}

fn show_contours(cells: &Cells) -> (Figure, Comparison) {
    let mut panels = Vec::new();
    let mut comparison = Comparison::new("spread of our starts", "");
    for setting in models() {
        let numbers = |name: &str| cells.numbers(&setting.name, name).unwrap_or_default();
        let starts: Vec<(f64, f64)> =
            numbers("x").iter().copied().zip(numbers("y").iter().copied()).collect();
        if starts.is_empty() {
            continue;
        }
        let range = |centre: f64, values: &[f64], reach: f64| {
            let most = values.iter().map(|x| (x - centre).abs()).fold(reach, f64::max);
            (centre - 1.1 * most, centre + 1.1 * most)
        };
        let spread = cells.number(&setting.name, "spread").unwrap_or(1.0);
        let (x, y) = match &*setting.name {
            "circle" => ((-4.5, 4.5), (-4.5, 4.5)),
            "hard-gauss-2d" => {
                (range(0.0, numbers("x"), 3.5 * spread), range(3.0, numbers("y"), 3.5 * spread))
            }
            // The bend lies below the centre, deeper the wider the first coordinate.
            _ => {
                let (low, high) = range(3.0, numbers("y"), 6.0 * spread);
                (range(0.0, numbers("x"), 3.5 * spread), (low, 0.5 * (high + 3.0)))
            }
        };
        let axis = |label: &str, (low, high): (f64, f64)| Axis::new(label).from(low, high);
        let mut panel = Panel::new(&*setting.name, axis("θ₁", x), axis("θ₂", y));
        // The arms of the narrow banana are a two-hundredth of its panel wide.
        let nodes = if setting.name == "hard-2d" { 1601 } else { 401 };
        let squares = cells.number(&setting.name, "squares").unwrap_or(0.0);
        let known = Statistics { means: numbers("means").to_vec(), squares };
        outline(&mut panel, &SHARES, nodes, &|theta| setting.log_posterior(&known, theta));
        panel
            .marks
            .push(Mark::Line { points: starts.clone(), style: Style::cloud("the 20 starts", 1, 3.0, 1.0) });
        panels.push(panel);
        let (mean, count) =
            (|values: &[f64]| values.iter().sum::<f64>() / values.len() as f64, starts.len() as f64);
        let squares =
            |values: &[f64]| values.iter().map(|x| (x - mean(values)).powi(2)).sum::<f64>() / (count - 1.0);
        let found = (0.5 * (squares(numbers("x")) + squares(numbers("y")))).sqrt();
        comparison.rows.push(Row::new(
            format!("{}, standard deviation of the starts", setting.name),
            None,
            Some(format!("{found:.5}")),
            None,
        ));
    }
    comparison
        .notes
        .push("Records and starts are the thesis' own, made again from the keys in its code.".to_owned());
    let title = "Thesis, figure 5.1: posterior densities of the two-parameter models and the starts";
    (Figure { size: (360.0, 310.0), ..Figure::new(title, 3, panels) }, comparison)
}
