//! Draws one panel: axes, ticks and marks, clipped to its frame.

use super::axis::{Axis, Fitted};
use super::contour::Piece;
use super::{COLOURS, text};
use std::fmt::Write;

/// The form of a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// No point, only a line.
    None,
    /// A disc.
    Disc,
    /// A ring: published values.
    Ring,
    /// A square.
    Square,
    /// A triangle.
    Triangle,
}

/// How a mark looks, and its name in the legend; without a name it is not listed.
#[derive(Debug, Clone, PartialEq)]
pub struct Style {
    /// Name in the legend.
    pub label: String,
    /// Which of [`COLOURS`].
    pub colour: usize,
    /// The form of points.
    pub shape: Shape,
    /// Whether lines are broken.
    pub dashed: bool,
    /// Width of lines.
    pub width: f64,
    /// Radius of points.
    pub radius: f64,
    /// Opacity of points.
    pub opacity: f64,
}

impl Style {
    /// A line.
    #[must_use]
    pub fn line(label: impl Into<String>, colour: usize) -> Self {
        Self {
            label: label.into(),
            colour,
            shape: Shape::None,
            dashed: false,
            width: 1.8,
            radius: 3.0,
            opacity: 1.0,
        }
    }

    /// A broken line with rings, as published values are shown: wide enough to be seen around a point of ours.
    #[must_use]
    pub fn published(label: impl Into<String>, colour: usize) -> Self {
        Self { shape: Shape::Ring, dashed: true, width: 1.3, radius: 4.5, ..Self::line(label, colour) }
    }

    /// A line with points.
    #[must_use]
    pub fn points(label: impl Into<String>, colour: usize, shape: Shape) -> Self {
        Self { shape, ..Self::line(label, colour) }
    }

    /// Points without a line.
    #[must_use]
    pub fn cloud(label: impl Into<String>, colour: usize, radius: f64, opacity: f64) -> Self {
        Self { shape: Shape::Disc, width: 0.0, radius, opacity, ..Self::line(label, colour) }
    }

    fn colour(&self) -> &'static str {
        COLOURS[self.colour % COLOURS.len()]
    }

    /// A short piece of the mark for the legend.
    pub(crate) fn sample(&self, out: &mut String, (x, y): (f64, f64)) {
        if self.width > 0.0 {
            self.path(out, &[(x, y), (x + 28.0, y)]);
        }
        let radius = self.radius.max(2.5);
        Self { radius, opacity: self.opacity.max(0.7), ..self.clone() }.point(out, (x + 14.0, y));
    }

    fn path(&self, out: &mut String, points: &[(f64, f64)]) {
        let dash = if self.dashed { " stroke-dasharray='5 3'" } else { "" };
        let _ = write!(
            out,
            "<path fill='none' stroke='{}' stroke-width='{}'{dash} d='",
            self.colour(),
            self.width
        );
        for (index, (x, y)) in points.iter().enumerate() {
            let _ = write!(out, "{}{x:.1} {y:.1}", if index == 0 { "M" } else { "L" });
        }
        out.push_str("'/>\n");
    }

    fn point(&self, out: &mut String, (x, y): (f64, f64)) {
        let (colour, r) = (self.colour(), self.radius);
        let fill = if self.opacity < 1.0 {
            format!("fill='{colour}' fill-opacity='{}'", self.opacity)
        } else {
            format!("fill='{colour}'")
        };
        let _ = match self.shape {
            Shape::None => Ok(()),
            Shape::Disc => writeln!(out, "<circle cx='{x:.1}' cy='{y:.1}' r='{r}' {fill}/>"),
            Shape::Ring => writeln!(
                out,
                "<circle cx='{x:.1}' cy='{y:.1}' r='{r}' fill='white' stroke='{colour}' stroke-width='1.3'/>"
            ),
            Shape::Square => writeln!(
                out,
                "<rect x='{:.1}' y='{:.1}' width='{:.1}' height='{:.1}' {fill}/>",
                x - r,
                y - r,
                2.0 * r,
                2.0 * r
            ),
            Shape::Triangle => writeln!(
                out,
                "<path {fill} d='M{x:.1} {:.1}L{:.1} {:.1}L{:.1} {:.1}Z'/>",
                y - 1.2 * r,
                x - 1.1 * r,
                y + r,
                x + 1.1 * r,
                y + r
            ),
        };
    }
}

/// Something shown in a panel.
#[derive(Debug, Clone, PartialEq)]
pub enum Mark {
    /// Points joined by a line, or not, as the style says.
    Line {
        /// In order.
        points: Vec<(f64, f64)>,
        /// How.
        style: Style,
    },
    /// Values with a range: (x, lower, value, upper).
    Ranges {
        /// In order.
        points: Vec<(f64, f64, f64, f64)>,
        /// How.
        style: Style,
    },
    /// Level lines.
    Pieces {
        /// Of the lines.
        pieces: Vec<Piece>,
        /// How.
        style: Style,
    },
}

impl Mark {
    /// Its style.
    pub(crate) fn style(&self) -> Option<&Style> {
        match self {
            Self::Line { style, .. } | Self::Ranges { style, .. } | Self::Pieces { style, .. } => Some(style),
        }
    }

    /// Whether there is nothing to show.
    pub(crate) fn is_empty(&self) -> bool {
        match self {
            Self::Line { points, .. } => points.is_empty(),
            Self::Ranges { points, .. } => points.is_empty(),
            Self::Pieces { pieces, .. } => pieces.is_empty(),
        }
    }

    fn corners(&self) -> Vec<(f64, f64)> {
        match self {
            Self::Line { points, .. } => points.clone(),
            Self::Ranges { points, .. } => {
                points.iter().flat_map(|&(x, low, middle, high)| [(x, low), (x, middle), (x, high)]).collect()
            }
            Self::Pieces { pieces, .. } => pieces.iter().flat_map(|&(a, b)| [a, b]).collect(),
        }
    }
}

/// One pair of axes.
#[derive(Debug, Clone, PartialEq)]
pub struct Panel {
    /// Above the frame.
    pub title: String,
    /// Across.
    pub x: Axis,
    /// Upwards.
    pub y: Axis,
    /// In drawing order.
    pub marks: Vec<Mark>,
}

impl Panel {
    /// An empty panel.
    #[must_use]
    pub fn new(title: impl Into<String>, x: Axis, y: Axis) -> Self {
        Self { title: title.into(), x, y, marks: Vec::new() }
    }

    /// Draws it with its upper left corner at a place; `index` makes its clip path's name unique.
    pub(crate) fn draw(&self, out: &mut String, corner: (f64, f64), size: (f64, f64), index: usize) {
        let frame = Frame {
            left: corner.0 + 66.0,
            right: corner.0 + size.0 - 16.0,
            top: corner.1 + 26.0,
            bottom: corner.1 + size.1 - 48.0,
        };
        let corners: Vec<(f64, f64)> = self.marks.iter().flat_map(Mark::corners).collect();
        let x = self.x.fitted(corners.iter().map(|c| c.0));
        let y = self.y.fitted(corners.iter().map(|c| c.1));
        text(out, (0.5 * (frame.left + frame.right), frame.top - 8.0), 13.0, "middle", &self.title);
        frame.axes(out, (&x, &self.x.label), (&y, &self.y.label), corner.0);
        let _ = writeln!(
            out,
            "<clipPath id='p{index}'><rect x='{:.1}' y='{:.1}' width='{:.1}' height='{:.1}'/></clipPath>\n<g clip-path='url(#p{index})'>",
            frame.left,
            frame.top,
            frame.right - frame.left,
            frame.bottom - frame.top
        );
        for mark in &self.marks {
            frame.mark(out, mark, &x, &y);
        }
        out.push_str("</g>\n");
        let _ = writeln!(
            out,
            "<rect x='{:.1}' y='{:.1}' width='{:.1}' height='{:.1}' fill='none' stroke='#333'/>",
            frame.left,
            frame.top,
            frame.right - frame.left,
            frame.bottom - frame.top
        );
    }
}

/// Where the panel's axes are.
struct Frame {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

impl Frame {
    fn axes(&self, out: &mut String, x: (&Fitted<'_>, &str), y: (&Fitted<'_>, &str), edge: f64) {
        for (share, label) in x.0.ticks() {
            let at = self.left + share * (self.right - self.left);
            let _ = writeln!(
                out,
                "<path stroke='#ddd' d='M{at:.1} {:.1}V{:.1}'/><path stroke='#333' d='M{at:.1} {:.1}v4'/>",
                self.top, self.bottom, self.bottom
            );
            text(out, (at, self.bottom + 17.0), 11.0, "middle", &label);
        }
        for (share, label) in y.0.ticks() {
            let at = self.bottom - share * (self.bottom - self.top);
            let _ = writeln!(
                out,
                "<path stroke='#ddd' d='M{:.1} {at:.1}H{:.1}'/><path stroke='#333' d='M{:.1} {at:.1}h-4'/>",
                self.left, self.right, self.left
            );
            text(out, (self.left - 7.0, at + 4.0), 11.0, "end", &label);
        }
        text(out, (0.5 * (self.left + self.right), self.bottom + 36.0), 12.0, "middle", x.1);
        let (across, middle) = (edge + 13.0, 0.5 * (self.top + self.bottom));
        let _ = writeln!(
            out,
            "<text x='{across:.1}' y='{middle:.1}' font-size='12' text-anchor='middle' transform='rotate(-90 {across:.1} {middle:.1})'>{}</text>",
            super::escaped(y.1)
        );
    }

    fn place(&self, (x, y): (f64, f64), across: &Fitted<'_>, up: &Fitted<'_>) -> Option<(f64, f64)> {
        // Far outside the frame a renderer would overflow; what leaves it is cut off anyway.
        let share = |fitted: &Fitted<'_>, x| Some(fitted.place(x)?.clamp(-20.0, 20.0));
        let (x, y) = (share(across, x)?, share(up, y)?);
        Some((self.left + x * (self.right - self.left), self.bottom - y * (self.bottom - self.top)))
    }

    fn mark(&self, out: &mut String, mark: &Mark, x: &Fitted<'_>, y: &Fitted<'_>) {
        let place = |point| self.place(point, x, y);
        match mark {
            Mark::Line { points, style } => {
                let placed: Vec<(f64, f64)> = points.iter().filter_map(|&point| place(point)).collect();
                if style.width > 0.0 && placed.len() > 1 {
                    style.path(out, &placed);
                }
                placed.into_iter().for_each(|point| style.point(out, point));
            }
            Mark::Ranges { points, style } => {
                let middles: Vec<(f64, f64)> =
                    points.iter().filter_map(|&(x, _, middle, _)| place((x, middle))).collect();
                if style.width > 0.0 && middles.len() > 1 {
                    style.path(out, &middles);
                }
                for &(x, low, middle, high) in points {
                    if let (Some(low), Some(high)) = (place((x, low)), place((x, high))) {
                        let bar = Style { width: 1.1, dashed: false, ..style.clone() };
                        bar.path(out, &[low, high]);
                        for end in [low, high] {
                            bar.path(out, &[(end.0 - 3.0, end.1), (end.0 + 3.0, end.1)]);
                        }
                    }
                    if let Some(middle) = place((x, middle)) {
                        style.point(out, middle);
                    }
                }
            }
            Mark::Pieces { pieces, style } => {
                let _ = write!(
                    out,
                    "<path fill='none' stroke='{}' stroke-width='{}' d='",
                    style.colour(),
                    style.width
                );
                for (a, b) in pieces {
                    if let (Some(a), Some(b)) = (place(*a), place(*b)) {
                        let _ = write!(out, "M{:.1} {:.1}L{:.1} {:.1}", a.0, a.1, b.0, b.1);
                    }
                }
                out.push_str("'/>\n");
            }
        }
    }
}
