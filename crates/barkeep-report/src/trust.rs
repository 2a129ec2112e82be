//! Can it be trusted: everything that was looked at, and the paths of the chains, or of the fit where there are none.

use crate::html::{Node, element, figure, h3, p, table};
use crate::{Context, MOST_SHOWN, sentence};
use barkeep::diagnostics::{Check, Grade, shown};
use barkeep::run::ParameterSummary;
use barkeep_plot::{Axis, COLOURS, Figure, Mark, Panel, Shape, Style};

/// Chains in a picture at most.
const MOST_CHAINS: usize = 6;
/// Points of all paths together: they are most of a page's bytes.
const MOST_POINTS: usize = 12_000;
/// Standard deviations beyond which a fit's path is cut.
const FAR: f64 = 8.0;

/// The section.
pub(crate) fn content(context: &Context<'_>) -> Vec<Node> {
    let summary = context.finished.summary();
    let grade = |check: &Check| match check.grade {
        Grade::Trustworthy => "good",
        Grade::Wide => "fair",
        Grade::NotToBeTrusted => "bad",
    };
    let row = |check: &Check| {
        let value = check.value.map_or_else(String::new, |value| shown(value, value.abs()));
        vec![sentence(&check.words), grade(check).to_owned(), value, check.remedy.clone()]
    };
    let rows = summary.verdict.checks.iter().map(row).collect();
    let mut content = vec![
        crate::verdict(&summary.verdict),
        table("Everything that was looked at", &["found", "grade", "value", "remedy"], rows),
    ];
    let chains = summary.parameters.iter().any(|row| row.r_hat.is_some());
    if chains {
        content.push(convergence(&summary.parameters));
        content.push(h3("The paths of the chains"));
        content.push(p("Each line is a chain. Lines should lie on one another and look alike from the end of warm-up on."));
        content.push(element("div", &[("class", "pictures")], paths(context)));
        if summary.parameters.len() > MOST_SHOWN {
            content.push(p(format!(
                "Shown are the first {MOST_SHOWN} of {} parameters.",
                summary.parameters.len()
            )));
        }
    } else {
        content.push(h3("Fit diagnostics"));
        content.push(p(
            "The draws are independent, from a posterior fitted to a few noisy answers: there are no chains that could fail to \
             converge. What can fail is the fit, which the checks above look at: whether answers agree with one another and with \
             the model, whether the fit has settled, and how much wider than without privacy the posterior is.",
        ));
        content.extend(fit(context));
    }
    content
}

/// How the fit settled, round by round.
fn fit(context: &Context<'_>) -> Option<Node> {
    let summary = context.finished.summary();
    let (rounds, shown) = (&summary.fit_path, summary.parameters.len().min(COLOURS.len()));
    if rounds.len() < 2 {
        return None;
    }
    let mut panel = Panel::new(
        "",
        Axis::new("rounds of answers").at(&(0..rounds.len()).map(|round| round as f64).collect::<Vec<f64>>()),
        Axis::new("from the posterior's mean, in its sd"),
    );
    for (parameter, row) in summary.parameters.iter().enumerate().take(shown) {
        let (mean, sd) = (row.mean?, row.sd.filter(|sd| *sd > 0.0)?);
        // The fit before the first answers may lie anywhere, and would flatten the rest.
        let place = |value: f64| ((value - mean) / sd).clamp(-FAR, FAR);
        let points = rounds.iter().enumerate();
        let points = points.filter_map(|(round, fit)| Some((round as f64, place(*fit.get(parameter)?))));
        panel.marks.push(Mark::Line {
            points: points.collect(),
            style: Style::points(row.name.clone(), parameter, Shape::Disc),
        });
    }
    let mut picture = Figure::new("", 1, vec![panel]);
    picture.size = (520.0, 280.0);
    let alt = format!(
        "Where the fit of {shown} parameters stood after each of {} rounds of answers.",
        rounds.len() - 1
    );
    let words = format!(
        "The fit after each round of answers, cut at {FAR} standard deviations. It should have come to rest in the last rounds{}.",
        if shown < summary.parameters.len() {
            format!("; shown are the first {shown} parameters")
        } else {
            String::new()
        }
    );
    Some(figure(picture.inline("fit", &alt), &words))
}

/// R-hat and effective sizes.
fn convergence(rows: &[ParameterSummary]) -> Node {
    let number = |value: Option<f64>, digits: usize| {
        value.map_or_else(|| "–".to_owned(), |value| format!("{value:.digits$}"))
    };
    let cells = |row: &ParameterSummary| {
        vec![
            row.name.clone(),
            number(row.r_hat, 3),
            number(row.ess_bulk, 0),
            number(row.ess_tail, 0),
            row.mcse_mean.map_or_else(|| "–".to_owned(), |error| shown(error, error)),
        ]
    };
    let head = ["parameter", "R-hat", "ESS bulk", "ESS tail", "Monte Carlo error"];
    table("Convergence, as the model sees parameters", &head, rows.iter().map(cells).collect())
}

/// A picture for each parameter.
fn paths(context: &Context<'_>) -> Vec<Node> {
    let traces = context.finished.traces();
    let names = context.finished.spec().model().parameter_names();
    let shown = names.len().min(MOST_SHOWN);
    let chains = traces.len().min(MOST_CHAINS);
    let room = (MOST_POINTS / (shown * chains).max(1)).clamp(40, 400);
    let picture = |(parameter, name): (usize, &String)| {
        let mut panel = Panel::new(name.clone(), Axis::new("step"), Axis::new(""));
        for (chain, trace) in traces.iter().take(chains).enumerate() {
            let every = trace.steps.len().div_ceil(room).max(1);
            let points = trace.steps.iter().zip(&trace.states).step_by(every);
            #[expect(clippy::cast_precision_loss, reason = "a number of steps")]
            let points = points.filter_map(|(step, state)| Some((*step as f64, *state.get(parameter)?)));
            let style = Style { width: 0.9, opacity: 0.85, ..Style::line("", chain) };
            panel.marks.push(Mark::Line { points: points.collect(), style });
        }
        let mut picture = Figure::new("", 1, vec![panel]);
        picture.size = (360.0, 220.0);
        let r_hat = context.finished.summary().parameters.get(parameter).and_then(|row| row.r_hat);
        let r_hat = r_hat.map_or_else(String::new, |r_hat| format!(" R-hat is {r_hat:.3}."));
        let alt = format!("Path of {name} over the steps, {chains} chains.{r_hat}");
        figure(picture.inline(&format!("path{parameter}"), &alt), "")
    };
    names.iter().enumerate().take(shown).map(picture).collect()
}
