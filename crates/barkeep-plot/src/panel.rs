//! Draws one panel: axes, ticks and marks, clipped to its frame.

use super::axis::{Axis, Fitted};
use super::paint::Paint;
use super::{CHARACTER, text};
use std::fmt::Write;

/// The two ends of a piece of a line.
pub type Piece = ((f64, f64), (f64, f64));

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
    /// Which colour of the palette.
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

    /// A short piece of the mark for the legend.
    pub(crate) fn sample(&self, out: &mut String, (x, y): (f64, f64), paint: &Paint<'_>) {
        if self.width > 0.0 {
            // A thin pale line would not be seen; a bar is shown as it is.
            let opacity = if self.width < 4.0 { 1.0 } else { self.opacity };
            Self { opacity, ..self.clone() }.path(out, &[(x, y), (x + 28.0, y)], paint);
        }
        let radius = self.radius.max(2.5);
        Self { radius, opacity: self.opacity.max(0.7), ..self.clone() }.point(out, (x + 14.0, y), paint);
    }

    fn path(&self, out: &mut String, points: &[(f64, f64)], paint: &Paint<'_>) {
        let fade = match self.shape == Shape::None && self.opacity < 1.0 {
            true => format!(" stroke-opacity='{}'", self.opacity),
            false => String::new(),
        };
        let dash = if self.dashed { " stroke-dasharray='5 3'" } else { "" };
        let _ = write!(
            out,
            "<path fill='none' stroke='{}' stroke-width='{}'{dash}{fade} d='",
            paint.colour(self.colour),
            self.width
        );
        for (index, (x, y)) in points.iter().enumerate() {
            let _ = write!(out, "{}{x:.1} {y:.1}", if index == 0 { "M" } else { "L" });
        }
        out.push_str("'/>\n");
    }

    fn point(&self, out: &mut String, (x, y): (f64, f64), paint: &Paint<'_>) {
        let (colour, r, paper) = (paint.colour(self.colour), self.radius, paint.paper());
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
                "<circle cx='{x:.1}' cy='{y:.1}' r='{r}' fill='{paper}' stroke='{colour}' stroke-width='1.3'/>"
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

impl Style {
    /// A filled outline.
    fn area(&self, out: &mut String, outline: &[(f64, f64)], paint: &Paint<'_>) {
        let _ = write!(
            out,
            "<path stroke='none' fill='{}' fill-opacity='{}' d='",
            paint.colour(self.colour),
            self.opacity
        );
        for (index, (x, y)) in outline.iter().enumerate() {
            let _ = write!(out, "{}{x:.1} {y:.1}", if index == 0 { "M" } else { "L" });
        }
        out.push_str("Z'/>\n");
    }
}

/// A name that fits into the room of a number of characters.
fn shortened(name: &str, room: f64) -> String {
    if (name.chars().count() as f64) <= room.max(7.0) {
        return name.to_owned();
    }
    let kept = (room.max(7.0) as usize).saturating_sub(1);
    name.chars().take(kept).chain(['…']).collect()
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
    /// Bars that lie: (height, left end, right end).
    Bars {
        /// In order.
        rows: Vec<(f64, f64, f64)>,
        /// How: bars are as thick as its width.
        style: Style,
    },
    /// The area between a curve and 0.
    Area {
        /// Of the curve, in order.
        points: Vec<(f64, f64)>,
        /// How.
        style: Style,
    },
    /// The area between two curves: (x, lower, upper).
    Band {
        /// In order.
        points: Vec<(f64, f64, f64)>,
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
            Self::Line { style, .. }
            | Self::Ranges { style, .. }
            | Self::Bars { style, .. }
            | Self::Area { style, .. }
            | Self::Band { style, .. }
            | Self::Pieces { style, .. } => Some(style),
        }
    }

    /// Whether there is nothing to show.
    pub(crate) fn is_empty(&self) -> bool {
        match self {
            Self::Line { points, .. } | Self::Area { points, .. } => points.is_empty(),
            Self::Bars { rows: points, .. } | Self::Band { points, .. } => points.is_empty(),
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
            Self::Bars { rows, .. } => {
                rows.iter().flat_map(|&(y, low, high)| [(low, y), (high, y)]).collect()
            }
            Self::Area { points, .. } => points.iter().flat_map(|&(x, y)| [(x, y), (x, 0.0)]).collect(),
            Self::Band { points, .. } => {
                points.iter().flat_map(|&(x, low, high)| [(x, low), (x, high)]).collect()
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
    pub(crate) fn draw(
        &self,
        out: &mut String,
        corner: (f64, f64),
        size: (f64, f64),
        index: usize,
        paint: &Paint<'_>,
    ) {
        let frame = Frame {
            left: corner.0 + self.margin(size.0),
            right: corner.0 + size.0 - 16.0,
            top: corner.1 + 26.0,
            bottom: corner.1 + size.1 - 48.0,
        };
        let corners: Vec<(f64, f64)> = self.marks.iter().flat_map(Mark::corners).collect();
        let x = self.x.fitted(corners.iter().map(|c| c.0));
        let y = self.y.fitted(corners.iter().map(|c| c.1));
        text(out, (0.5 * (frame.left + frame.right), frame.top - 8.0), 13.0, "middle", &self.title);
        frame.axes(out, (&x, &self.x.label), (&y, &self.y.label), corner.0, paint);
        let name = paint.name(&format!("p{index}"));
        let _ = writeln!(
            out,
            "<clipPath id='{name}'><rect x='{:.1}' y='{:.1}' width='{:.1}' height='{:.1}'/></clipPath>\n<g clip-path='url(#{name})'>",
            frame.left,
            frame.top,
            frame.right - frame.left,
            frame.bottom - frame.top
        );
        for mark in &self.marks {
            frame.mark(out, mark, (&x, &y), paint);
        }
        out.push_str("</g>\n");
        let _ = writeln!(
            out,
            "<rect x='{:.1}' y='{:.1}' width='{:.1}' height='{:.1}' fill='none' stroke='{}'/>",
            frame.left,
            frame.top,
            frame.right - frame.left,
            frame.bottom - frame.top,
            paint.frame()
        );
    }

    /// Room left of the frame: for numbers always the same, for names what the longest takes, up to nearly half the panel.
    fn margin(&self, width: f64) -> f64 {
        (28.0 + 11.0 * CHARACTER * self.y.longest_name() as f64).clamp(66.0, (0.45 * width).max(66.0))
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
    fn axes(
        &self,
        out: &mut String,
        x: (&Fitted<'_>, &str),
        y: (&Fitted<'_>, &str),
        edge: f64,
        paint: &Paint<'_>,
    ) {
        let (grid, ink) = (paint.grid(), paint.frame());
        for (share, label) in x.0.ticks() {
            let at = self.left + share * (self.right - self.left);
            let _ = writeln!(
                out,
                "<path stroke='{grid}' d='M{at:.1} {:.1}V{:.1}'/><path stroke='{ink}' d='M{at:.1} {:.1}v4'/>",
                self.top, self.bottom, self.bottom
            );
            text(out, (at, self.bottom + 17.0), 11.0, "middle", &label);
        }
        for (share, label) in y.0.ticks() {
            let at = self.bottom - share * (self.bottom - self.top);
            let _ = writeln!(
                out,
                "<path stroke='{grid}' d='M{:.1} {at:.1}H{:.1}'/><path stroke='{ink}' d='M{:.1} {at:.1}h-4'/>",
                self.left, self.right, self.left
            );
            let room = (self.left - edge - 24.0) / (11.0 * CHARACTER);
            let label = if y.0.is_named() { shortened(&label, room) } else { label };
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

    fn mark(&self, out: &mut String, mark: &Mark, (x, y): (&Fitted<'_>, &Fitted<'_>), paint: &Paint<'_>) {
        let place = |point| self.place(point, x, y);
        match mark {
            Mark::Line { points, style } => {
                let placed: Vec<(f64, f64)> = points.iter().filter_map(|&point| place(point)).collect();
                if style.width > 0.0 && placed.len() > 1 {
                    style.path(out, &placed, paint);
                }
                placed.into_iter().for_each(|point| style.point(out, point, paint));
            }
            Mark::Ranges { points, style } => {
                let middles: Vec<(f64, f64)> =
                    points.iter().filter_map(|&(x, _, middle, _)| place((x, middle))).collect();
                if style.width > 0.0 && middles.len() > 1 {
                    style.path(out, &middles, paint);
                }
                for &(x, low, middle, high) in points {
                    if let (Some(low), Some(high)) = (place((x, low)), place((x, high))) {
                        let bar = Style { width: 1.1, dashed: false, ..style.clone() };
                        bar.path(out, &[low, high], paint);
                        for end in [low, high] {
                            bar.path(out, &[(end.0 - 3.0, end.1), (end.0 + 3.0, end.1)], paint);
                        }
                    }
                    if let Some(middle) = place((x, middle)) {
                        style.point(out, middle, paint);
                    }
                }
            }
            Mark::Bars { rows, style } => {
                for &(y, low, high) in rows {
                    if let (Some(low), Some(high)) = (place((low, y)), place((high, y))) {
                        style.path(out, &[low, high], paint);
                    }
                }
            }
            Mark::Area { points, style } => {
                let base = points.iter().rev().map(|&(x, _)| (x, 0.0));
                let placed = points.iter().copied().chain(base).filter_map(place);
                style.area(out, &placed.collect::<Vec<_>>(), paint);
                let curve: Vec<(f64, f64)> = points.iter().filter_map(|&point| place(point)).collect();
                if curve.len() > 1 {
                    Style { opacity: 1.0, ..style.clone() }.path(out, &curve, paint);
                }
            }
            Mark::Band { points, style } => {
                let upper = points.iter().rev().map(|&(x, _, high)| (x, high));
                let lower = points.iter().map(|&(x, low, _)| (x, low));
                style.area(out, &lower.chain(upper).filter_map(place).collect::<Vec<_>>(), paint);
            }
            Mark::Pieces { pieces, style } => {
                let _ = write!(
                    out,
                    "<path fill='none' stroke='{}' stroke-width='{}' d='",
                    paint.colour(style.colour),
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
