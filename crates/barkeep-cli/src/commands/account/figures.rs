//! Writes curves as CSV for programs or as SVG for people, by the file's ending.

use super::Exit;
use barkeep::accounting::PrivacyCurve;
use barkeep_plot::{Axis, Figure, Mark, Panel, Style};
use std::fmt::Write;
use std::path::Path;

/// False-positive rates of a trade-off curve, from 10⁻⁵ to 1.
const RATES: u32 = 200;

/// δ at every ε.
pub(super) fn write_curve(path: &Path, curve: &PrivacyCurve) -> Result<(), Exit> {
    let figure = |points: Vec<(f64, f64)>| {
        let mut panel = Panel::new("", Axis::new("epsilon"), Axis::log("delta, at most"));
        panel.marks.push(Mark::Line { points, style: Style::line("delta at epsilon", 0) });
        Figure::new("What the run costs", 1, vec![panel])
    };
    let positive = |points: &[(f64, f64)]| points.iter().copied().filter(|(_, delta)| *delta > 0.0).collect();
    write(path, ("epsilon", "delta"), curve.points(), || figure(positive(curve.points())))
}

/// The most true positives at every false-positive rate.
pub(super) fn write_trade_off(path: &Path, curve: &PrivacyCurve) -> Result<(), Exit> {
    let rate = |step: u32| 10_f64.powf(-5.0 * (1.0 - f64::from(step) / f64::from(RATES)));
    let points: Vec<(f64, f64)> =
        (0..=RATES).map(rate).map(|rate| (rate, curve.true_positives(rate))).collect();
    let figure = || {
        let axis = |label: &str| Axis::log(label).from(1e-5, 1.0);
        let mut panel = Panel::new("", axis("false positives"), axis("true positives, at most"));
        let blind = vec![(1e-5, 1e-5), (1.0, 1.0)];
        panel.marks.push(Mark::Line { points: points.clone(), style: Style::line("any attack", 0) });
        panel
            .marks
            .push(Mark::Line { points: blind, style: Style { dashed: true, ..Style::line("guessing", 9) } });
        Figure::new("What an attack can tell of one record", 1, vec![panel])
    };
    write(path, ("false_positives", "true_positives"), &points, figure)
}

fn write(
    path: &Path,
    (x, y): (&str, &str),
    points: &[(f64, f64)],
    figure: impl FnOnce() -> Figure,
) -> Result<(), Exit> {
    let text = match path.extension().and_then(|ending| ending.to_str()) {
        Some("csv") => {
            let mut text = format!("{x},{y}\n");
            for (x, y) in points {
                // Writing to a string does not fail.
                let _ = writeln!(text, "{x:e},{y:e}");
            }
            text
        }
        Some("svg") => figure().svg(),
        _ => return Err(Exit::Input(format!("{}: a curve is written as .csv or .svg", path.display()))),
    };
    std::fs::write(path, text)
        .map_err(|error| Exit::Input(format!("cannot write {}: {}", path.display(), error.kind())))
}
