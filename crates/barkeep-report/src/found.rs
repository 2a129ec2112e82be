//! What was found: effects beside their priors, the table in original units, predictions.

use crate::curves::{interval, quantiles};
use crate::html::{Node, element, figure, h3, p, table, text};
use crate::{Context, MOST_SHOWN};
use barkeep::Error;
use barkeep::diagnostics::shown;
use barkeep::predict::{Estimate, Predictor, Profiles};
use barkeep::run::{OriginalSummary, ParameterSummary};
use barkeep_plot::{Axis, Figure, Mark, Panel, Shape, Style};

/// Rows of the forest plot at most.
const MOST_ROWS: usize = 40;
/// Suggested profiles at most.
const MOST_PROFILES: usize = 12;

/// The section.
pub(crate) fn content(context: &Context<'_>) -> Result<Vec<Node>, Error> {
    let mut content = vec![forest(context)];
    let summary = context.finished.summary();
    if summary.original_units.is_empty() {
        let rows = summary.parameters.iter().chain(&summary.quantities).map(scaled_row).collect();
        let head = ["parameter", "mean", "sd", "89 % interval"];
        content.push(table("Posterior of every parameter", &head, rows));
    } else {
        content.push(original(&summary.original_units));
        let rows = summary.parameters.iter().map(scaled_row).collect();
        let head = ["parameter", "mean", "sd", "89 % interval"];
        let caption = "The same as the model sees columns and parameters: scaled columns run from −1 to 1";
        content.push(table(caption, &head, rows));
    }
    if let Some(faults) = &summary.faults {
        content.push(h3("Bad cells, as far as was paid for"));
        content.push(p(faults.to_string()));
    }
    content.extend(predictions(context)?);
    Ok(content)
}

fn scaled_row(row: &ParameterSummary) -> Vec<String> {
    let unit = row.sd.unwrap_or(0.0);
    let number = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), |value| shown(value, unit));
    let ends = row.interval_89;
    let range = ends.map_or_else(|| "–".to_owned(), |ends| interval(ends, unit));
    vec![row.name.clone(), number(row.mean), number(row.sd), range]
}

/// The table that people read.
fn original(rows: &[OriginalSummary]) -> Node {
    let ratio = rows.iter().find_map(|row| row.ratio.as_ref()).map(|ratio| ratio.what.clone());
    // What all coefficients count is said once.
    let counted = rows.iter().find(|row| row.summary.name == "intercept").map_or("", |row| row.unit.as_str());
    let mut head = vec!["number", "mean", "sd", "89 % interval"];
    let ratio_head = ratio.map(|what| format!("{what} (89 % interval)"));
    head.extend(ratio_head.as_deref());
    head.push(if counted.is_empty() { "counts" } else { "for" });
    let cells = |row: &OriginalSummary| {
        let mut cells = scaled_row(&row.summary);
        if ratio_head.is_some() {
            cells.push(match &row.ratio {
                Some(ratio) => match (ratio.q50, ratio.interval_89) {
                    (Some(median), Some([low, high])) => {
                        format!("{} ({})", shown(median, high - low), interval([low, high], high - low))
                    }
                    _ => "–".to_owned(),
                },
                None => String::new(),
            });
        }
        cells.push(match (row.summary.name.as_str(), row.unit.strip_prefix(counted)) {
            ("intercept", _) => "numbers at 0, categories at their first level".to_owned(),
            (_, Some(change)) => change.trim_start().to_owned(),
            (_, None) => row.unit.clone(),
        });
        cells
    };
    let caption = match counted.is_empty() {
        true => "In original units".to_owned(),
        false => format!("In original units: {counted}"),
    };
    table(&caption, &head, rows.iter().map(cells).collect())
}

/// Effects over each feature's whole range, so that they can be compared, beside what was believed of them before.
fn forest(context: &Context<'_>) -> Node {
    let finished = context.finished;
    let model = finished.spec().model();
    let (names, widths, label): (Vec<String>, Vec<(usize, f64)>, String) = match model.regression() {
        Some(regression) => {
            let skip = usize::from(regression.has_intercept());
            let coefficients = regression.parts().0;
            let columns = finished.spec().data().view().schema().columns();
            let lead = columns.len() - (coefficients - skip).min(columns.len());
            let names = model.parameter_names().iter().skip(skip).take(coefficients - skip).cloned();
            let widths = columns.iter().skip(lead).enumerate().map(|(place, column)| {
                let (low, high) = column.range();
                (place + skip, high - low)
            });
            let counted = regression.law().and_then(|law| law.predictor_words());
            let response = columns.first().map(|column| column.name().to_owned()).unwrap_or_default();
            let counted = counted.map_or(response, str::to_owned);
            let label = format!("{counted}, lowest to highest value");
            (names.collect(), widths.collect(), label)
        }
        None => {
            let units = finished.units();
            let names = units.readings().iter().map(|reading| reading.name.clone()).collect();
            (names, Vec::new(), "value".to_owned())
        }
    };
    let units = finished.units();
    let rows_of = |draws: &[Vec<f64>]| -> Vec<[f64; 3]> {
        let number = |place: usize, theta: &Vec<f64>| match widths.get(place) {
            Some((parameter, width)) => theta[*parameter] * width,
            None => units.at(theta)[place],
        };
        (0..names.len())
            .filter_map(|place| quantiles(draws.iter().map(|theta| number(place, theta)).collect()))
            .collect()
    };
    let (posterior, prior) = (rows_of(finished.draws()), rows_of(&context.prior));
    if names.is_empty() || posterior.len() != names.len() {
        return p(
            "There is no effect to show: the model has no coefficient beside its intercept, or no draws are left.",
        );
    }
    let shown_rows = names.len().min(MOST_ROWS);
    let height = |place: usize| -(place as f64);
    let bars = |rows: &[[f64; 3]]| {
        rows.iter().take(shown_rows).enumerate().map(|(place, row)| (height(place), row[0], row[2])).collect()
    };
    let mut panel =
        Panel::new("", Axis::new(label), Axis::new("").names(names.iter().take(shown_rows).cloned()));
    // The axis is the posterior's: a wide prior leaves it on both sides, and that is what is to be seen.
    let ends = posterior
        .iter()
        .take(shown_rows)
        .fold((0.0_f64, 0.0_f64), |(low, high), row| (low.min(row[0]), high.max(row[2])));
    let room = if ends.1 > ends.0 { 0.35 * (ends.1 - ends.0) } else { 1.0 };
    panel.x = panel.x.from(ends.0 - room, ends.1 + room);
    if !prior.is_empty() {
        let style = Style { width: 15.0, opacity: 0.28, ..Style::line("prior, central 89 %", 9) };
        panel.marks.push(Mark::Bars { rows: bars(&prior), style });
    }
    let zero = Style { width: 1.0, dashed: true, ..Style::line("", 6) };
    let line = vec![(0.0, 1.0), (0.0, -(shown_rows as f64))];
    panel.marks.push(Mark::Line { points: line, style: zero });
    let style = Style { width: 3.0, ..Style::line("posterior, central 89 %, and median", 0) };
    panel.marks.push(Mark::Bars { rows: bars(&posterior), style });
    let medians = posterior.iter().take(shown_rows).enumerate().map(|(place, row)| (row[1], height(place)));
    let points = Style { width: 0.0, radius: 4.5, ..Style::points("", 0, Shape::Disc) };
    panel.marks.push(Mark::Line { points: medians.collect(), style: points });
    let mut picture = Figure::new("", 1, vec![panel]);
    picture.size = (500.0, 92.0 + 24.0 * shown_rows as f64);
    let words: Vec<String> = names
        .iter()
        .zip(&posterior)
        .take(MOST_SHOWN)
        .map(|(name, row)| format!("{name} {}", interval([row[0], row[2]], row[2] - row[0])))
        .collect();
    let alt = format!("Forest plot of posterior intervals beside prior bands. {}.", words.join("; "));
    let caption = match (names.len() > shown_rows, model.regression().is_some()) {
        (true, _) => format!("The first {shown_rows} of {} effects.", names.len()),
        (false, true) => {
            "Each effect over the whole declared range of its column, so that they compare; the table below counts per unit.".to_owned()
        }
        (false, false) => String::new(),
    };
    figure(picture.inline("forest", &alt), &caption)
}

/// Predictions at public profiles, where the model predicts anything.
fn predictions(context: &Context<'_>) -> Result<Vec<Node>, Error> {
    let finished = context.finished;
    let Ok(predictor) = Predictor::new(finished) else { return Ok(Vec::new()) };
    let suggested;
    let (profiles, words) = match context.profiles {
        Some(profiles) => (profiles, "Profiles are public: nobody's record."),
        None => {
            suggested = Profiles::suggested(finished.spec(), MOST_PROFILES);
            (&suggested, "Every other column is in the middle of its declared range, or at its first level.")
        }
    };
    let found = predictor.predict(profiles)?;
    let ratio = found.contrasts.iter().find_map(|contrast| contrast.ratio).map(|ratio| ratio.what);
    let has_responses = found.predictions.iter().any(|row| row.predictive_89.is_some());
    let what = found.what.clone();
    let against = found.contrasts.first().map(|contrast| format!("difference to {}", contrast.against));
    let mut head = vec!["profile", what.as_str()];
    head.extend(has_responses.then_some("89 % of responses"));
    head.extend(against.as_deref());
    head.extend(ratio);
    let with = |estimate: &Estimate| {
        let [low, high] = estimate.interval_89;
        format!("{} ({})", shown(estimate.mean, high - low), interval([low, high], high - low))
    };
    let rows = found.predictions.iter().map(|row| {
        let mut cells = vec![row.profile.clone(), with(&row.expectation)];
        if has_responses {
            cells.push(row.predictive_89.map_or_else(String::new, |ends| interval(ends, ends[1] - ends[0])));
        }
        let contrast = found.contrasts.iter().find(|contrast| contrast.profile == row.profile);
        if against.is_some() {
            cells.push(contrast.map_or_else(|| "–".to_owned(), |contrast| with(&contrast.difference)));
        }
        if ratio.is_some() {
            let words = contrast.and_then(|contrast| contrast.ratio).map(|ratio| {
                let [low, high] = ratio.interval_89;
                format!("{} ({})", shown(ratio.median, high - low), interval([low, high], high - low))
            });
            cells.push(words.unwrap_or_else(|| "–".to_owned()));
        }
        cells
    });
    let caption = format!("The {what} at public profiles, with 89 % intervals");
    Ok(vec![
        h3("Predictions"),
        table(&caption, &head, rows.collect()),
        element("p", &[("class", "note")], [text(words)]),
    ])
}
