//! Draws figures as SVG: panels in a grid, axes with units, one legend below that no curve can hide.

mod axis;
mod dots;
mod paint;
mod panel;

pub use axis::{Axis, spoken};
pub use dots::Dots;
pub use panel::{Mark, Panel, Piece, Shape, Style};

use paint::Paint;
use std::fmt::Write;

/// Colours that people who see few colours can distinguish (Okabe and Ito), and three more for what differs in shape besides.
pub const COLOURS: [&str; 10] = [
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#8c6d1f", "#6a3d9a",
    "#999999",
];

/// Width of a character of the given height, on average and on the safe side.
const CHARACTER: f64 = 0.61;

/// A figure.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// Above everything.
    pub title: String,
    /// Row after row.
    pub panels: Vec<Panel>,
    /// Panels in a row.
    pub columns: usize,
    /// Width and height of one panel with its axes.
    pub size: (f64, f64),
}

impl Figure {
    /// A figure of panels of the usual size.
    #[must_use]
    pub fn new(title: impl Into<String>, columns: usize, panels: Vec<Panel>) -> Self {
        Self { title: title.into(), panels, columns: columns.max(1), size: (360.0, 280.0) }
    }

    /// The picture, for a file of its own.
    #[must_use]
    pub fn svg(&self) -> String {
        self.painted(&Paint::file())
    }

    /// The picture as a part of an HTML page. Its colours are the page's: CSS variables `--c0` to `--c9`, `--ink`, `--grid` and
    /// `--paper`. `id` must differ from that of every other picture of the page; `alt` says what is seen, for those who do
    /// not see it.
    #[must_use]
    pub fn inline(&self, id: &str, alt: &str) -> String {
        self.painted(&Paint::inline(id, alt))
    }

    fn painted(&self, paint: &Paint<'_>) -> String {
        let columns = self.columns.min(self.panels.len().max(1));
        let rows = self.panels.len().div_ceil(columns);
        let width = (columns as f64 * self.size.0 + 20.0).max(paint.least_width());
        let title = match paint.is_inline() && self.title.is_empty() {
            true => Vec::new(),
            false => wrapped(&self.title, 15.0, width - 20.0),
        };
        let top = if title.is_empty() { 4.0 } else { 14.0 + 19.0 * title.len() as f64 };
        let below = top + rows as f64 * self.size.1;
        let legend = self.legend(width - 20.0);
        let height = below + 10.0 + 20.0 * legend.len() as f64;
        let mut out = String::new();
        paint.open(&mut out, width, height);
        for (line, words) in title.iter().enumerate() {
            text(&mut out, (width / 2.0, 20.0 + 19.0 * line as f64), 15.0, "middle", words);
        }
        for (index, panel) in self.panels.iter().enumerate() {
            let corner =
                (10.0 + (index % columns) as f64 * self.size.0, top + (index / columns) as f64 * self.size.1);
            panel.draw(&mut out, corner, self.size, index, paint);
        }
        for (row, entries) in legend.iter().enumerate() {
            let y = below + 14.0 + 20.0 * row as f64;
            let total: f64 = entries.iter().map(|(label, _)| entry_width(label)).sum();
            let mut x = (width - total) / 2.0;
            for (label, style) in entries {
                style.sample(&mut out, (x, y), paint);
                text(&mut out, (x + 34.0, y + 4.0), 12.0, "start", label);
                x += entry_width(label);
            }
        }
        out.push_str("</svg>\n");
        out
    }

    /// Every label of something that is shown once, in lines that fit.
    fn legend(&self, width: f64) -> Vec<Vec<(&str, &Style)>> {
        let mut lines: Vec<Vec<(&str, &Style)>> = Vec::new();
        let (mut seen, mut used) = (Vec::new(), 0.0);
        let marks = self.panels.iter().flat_map(|panel| &panel.marks).filter(|mark| !mark.is_empty());
        for style in marks.filter_map(Mark::style).filter(|style| !style.label.is_empty()) {
            if seen.contains(&style.label.as_str()) {
                continue;
            }
            seen.push(&style.label);
            let needed = entry_width(&style.label);
            match lines.last_mut() {
                Some(line) if used + needed <= width => line.push((&style.label, style)),
                _ => {
                    lines.push(vec![(&style.label, style)]);
                    used = 0.0;
                }
            }
            used += needed;
        }
        lines
    }
}

fn entry_width(label: &str) -> f64 {
    34.0 + 12.0 * CHARACTER * label.chars().count() as f64 + 18.0
}

/// Words in lines of at most this width.
fn wrapped(words: &str, height: f64, width: f64) -> Vec<String> {
    let most = (width / (height * CHARACTER)) as usize;
    let mut lines = vec![String::new()];
    for word in words.split(' ') {
        let line = lines.len() - 1;
        if lines[line].chars().count() + word.chars().count() >= most && !lines[line].is_empty() {
            lines.push(word.to_owned());
        } else {
            let gap = if lines[line].is_empty() { "" } else { " " };
            lines[line] = format!("{}{gap}{word}", lines[line]);
        }
    }
    lines
}

fn text(out: &mut String, at: (f64, f64), height: f64, anchor: &str, words: &str) {
    let _ = writeln!(
        out,
        "<text x='{:.1}' y='{:.1}' font-size='{height}' text-anchor='{anchor}'>{}</text>",
        at.0,
        at.1,
        escaped(words)
    );
}

/// Words between tags.
fn escaped(words: &str) -> String {
    words.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Words within quotes.
fn quoted(words: &str) -> String {
    escaped(words).replace('\'', "&#39;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests;
