//! Shows a share as dots out of a hundred: what a coin gives, what comes on top, and the rest.

use super::paint::Paint;
use std::fmt::Write;

/// A hundred dots, the first `certain` of which are filled, then `more` in another colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dots {
    /// Filled dots.
    pub certain: u32,
    /// Dots that come on top.
    pub more: u32,
}

/// Dots in a row.
const ACROSS: u32 = 20;
/// Dots in all.
const ALL: u32 = 100;
/// Room for a dot.
const ROOM: f64 = 17.0;

impl Dots {
    /// The picture as a part of an HTML page, as [`Figure::inline`](crate::Figure::inline).
    #[must_use]
    pub fn inline(&self, id: &str, alt: &str) -> String {
        let paint = Paint::inline(id, alt);
        let mut out = String::new();
        paint.open(&mut out, f64::from(ACROSS) * ROOM, f64::from(ALL / ACROSS) * ROOM);
        for dot in 0..ALL {
            let (x, y) = (f64::from(dot % ACROSS) * ROOM + 8.5, f64::from(dot / ACROSS) * ROOM + 8.5);
            let (fill, stroke) = if dot < self.certain {
                (paint.colour(9), paint.colour(9))
            } else if dot < self.certain + self.more {
                (paint.colour(1), paint.colour(1))
            } else {
                ("none".to_owned(), paint.frame().to_owned())
            };
            let _ = writeln!(
                out,
                "<circle cx='{x}' cy='{y}' r='6' fill='{fill}' stroke='{stroke}' stroke-width='1.2'/>"
            );
        }
        out.push_str("</svg>\n");
        out
    }
}
