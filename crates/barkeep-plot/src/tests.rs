//! Tests of `svg`.

use super::*;

#[test]
fn a_figure_names_its_axes_and_every_series_once() {
    let line =
        |colour| Mark::Line { points: vec![(1.0, 1.0), (2.0, 4.0)], style: Style::line("a < b", colour) };
    let panel = |title: &str| Panel {
        marks: vec![line(0), line(1)],
        ..Panel::new(title, Axis::new("time (s)"), Axis::log("ε"))
    };
    let svg = Figure::new("two panels", 2, vec![panel("left"), panel("right")]).svg();
    assert_eq!(svg.matches("a &lt; b").count(), 1);
    assert_eq!(svg.matches("time (s)").count(), 2);
    assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n"));
    assert!(!svg.contains("NaN") && !svg.contains("inf"));
    let nothing = Mark::Line { points: Vec::new(), style: Style::line("nothing", 2) };
    let mut with_nothing = panel("left");
    with_nothing.marks.push(nothing);
    assert!(!Figure::new("", 1, vec![with_nothing]).svg().contains("nothing"));
}

#[test]
fn long_titles_are_broken_into_lines() {
    let lines = wrapped("one two three four five six seven", 15.0, 120.0);
    assert!(lines.len() > 1 && lines.iter().all(|line| line.chars().count() <= 14));
    assert_eq!(lines.join(" "), "one two three four five six seven");
}
