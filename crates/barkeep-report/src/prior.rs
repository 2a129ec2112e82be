//! Prior against posterior: what was believed of each number before, and after.

use crate::curves::{density, quantiles};
use crate::html::{Node, element, figure, p, table};
use crate::{Context, MOST_SHOWN};
use barkeep::diagnostics::shown;
use barkeep::{Finished, PublicRng};
use barkeep_plot::{Axis, Figure, Mark, Panel, Style};

/// Draws of the prior.
const DRAWS: usize = 4096;
/// Their seed: a report of the same run is the same.
const SEED: u64 = 11;

/// Draws from the prior; none where it is improper.
pub(crate) fn draws(finished: &Finished) -> Vec<Vec<f64>> {
    let model = finished.spec().model();
    let mut rng = PublicRng::new(SEED, 0);
    let mut draw = || {
        let mut theta = vec![0.0; model.dimension()];
        let proper = model.sample_prior(&mut || rng.open_uniform(), &mut theta);
        (proper && theta.iter().all(|value| value.is_finite())).then_some(theta)
    };
    let draws: Option<Vec<_>> = (0..DRAWS).map(|_| draw()).collect();
    draws.unwrap_or_default()
}

/// The section.
pub(crate) fn content(context: &Context<'_>) -> Vec<Node> {
    let finished = context.finished;
    let units = finished.units();
    let names: Vec<&str> = units.readings().iter().map(|reading| reading.name.as_str()).collect();
    let column = |draws: &[Vec<f64>], place: usize| -> Vec<f64> {
        draws.iter().map(|theta| units.at(theta)[place]).collect()
    };
    if context.prior.is_empty() {
        return vec![p(
            "At least one prior is flat, and so no law that could be drawn from: there is no picture of it.",
        )];
    }
    let (mut pictures, mut rows) = (Vec::new(), Vec::new());
    for (place, name) in names.iter().enumerate() {
        let (before, after) = (column(&context.prior, place), column(finished.draws(), place));
        let (Some(was), Some(is)) = (quantiles(before.clone()), quantiles(after.clone())) else { continue };
        let narrower = (was[2] - was[0]) / (is[2] - is[0]).max(f64::MIN_POSITIVE);
        let interval = |row: [f64; 3]| crate::curves::interval([row[0], row[2]], row[2] - row[0]);
        rows.push(vec![
            (*name).to_owned(),
            interval(was),
            interval(is),
            format!("{}×", shown(narrower, narrower)),
        ]);
        if pictures.len() < MOST_SHOWN {
            let alt = format!(
                "Prior and posterior density of {name}: the prior's central 89 % are {}, the posterior's {}.",
                interval(was),
                interval(is)
            );
            pictures.push(picture(place, name, &before, &after, (was, is), &alt));
        }
    }
    let mut content = vec![
        p(
            "Where the two look alike, the records taught little about that number; the conclusion is then the prior's. Each density is \
             drawn to its own height, over the posterior and some of the prior around it.",
        ),
        element("div", &[("class", "pictures")], pictures),
    ];
    if names.len() > MOST_SHOWN {
        content.push(p(format!("Pictures are of the first {MOST_SHOWN} of {} numbers.", names.len())));
    }
    let head = ["number", "prior, central 89 %", "posterior, central 89 %", "narrower by"];
    content.push(table("Before and after, in original units", &head, rows));
    content
}

/// Two densities, each to its own height.
fn picture(
    place: usize,
    name: &str,
    before: &[f64],
    after: &[f64],
    (was, is): ([f64; 3], [f64; 3]),
    alt: &str,
) -> Node {
    // Some of the prior around the posterior: all of a wide one would leave the posterior a needle.
    let scale = (was[2] - was[0]).abs().max(is[1].abs()).max(1e-300);
    let width = (is[2] - is[0]).max(1e-6 * scale);
    let low = (is[0] - 3.0 * width).max(was[0].min(is[0]) - 0.6 * width);
    let high = (is[2] + 3.0 * width).min(was[2].max(is[2]) + 0.6 * width);
    let mut panel = Panel::new(name, Axis::new("").from(low, high), Axis::new("").from(0.0, 1.08).at(&[]));
    panel.y.ticks = vec![(-1.0, String::new())];
    let prior = Style { width: 1.4, opacity: 0.22, ..Style::line("prior", 9) };
    panel.marks.push(Mark::Area { points: density(before, (low, high)), style: prior });
    let posterior = Style { width: 1.8, opacity: 0.25, ..Style::line("posterior", 0) };
    panel.marks.push(Mark::Area { points: density(after, (low, high)), style: posterior });
    let mut figure_of = Figure::new("", 1, vec![panel]);
    figure_of.size = (360.0, 200.0);
    figure(figure_of.inline(&format!("prior{place}"), alt), "")
}
