//! Colours a figure for a file of its own, or as a part of a page whose colours it takes.

use super::{COLOURS, escaped, quoted};
use std::fmt::Write;

/// Where a figure goes.
pub(crate) struct Paint<'a> {
    /// Its name in a page, and what is seen in it; none for a file of its own.
    page: Option<(&'a str, &'a str)>,
}

impl<'a> Paint<'a> {
    pub(crate) fn file() -> Self {
        Self { page: None }
    }

    pub(crate) fn inline(id: &'a str, alt: &'a str) -> Self {
        Self { page: Some((id, alt)) }
    }

    pub(crate) fn is_inline(&self) -> bool {
        self.page.is_some()
    }

    /// A file's title needs some room.
    pub(crate) fn least_width(&self) -> f64 {
        if self.is_inline() { 0.0 } else { 460.0 }
    }

    /// Of lines around a panel.
    pub(crate) fn frame(&self) -> &'static str {
        if self.is_inline() { "var(--ink)" } else { "#333" }
    }

    /// Of lines behind marks.
    pub(crate) fn grid(&self) -> &'static str {
        if self.is_inline() { "var(--grid)" } else { "#ddd" }
    }

    /// Of the ground.
    pub(crate) fn paper(&self) -> &'static str {
        if self.is_inline() { "var(--paper)" } else { "white" }
    }

    /// Of a series.
    pub(crate) fn colour(&self, number: usize) -> String {
        let number = number % COLOURS.len();
        if self.is_inline() { format!("var(--c{number})") } else { COLOURS[number].to_owned() }
    }

    /// A name that no other picture of the page uses.
    pub(crate) fn name(&self, part: &str) -> String {
        match self.page {
            Some((id, _)) => format!("{}-{part}", quoted(id)),
            None => part.to_owned(),
        }
    }

    /// The opening tag and the ground.
    pub(crate) fn open(&self, out: &mut String, width: f64, height: f64) {
        // Writing to a string does not fail; so below.
        let _ = match self.page {
            None => write!(
                out,
                "<svg xmlns='http://www.w3.org/2000/svg' width='{width:.0}' height='{height:.0}' viewBox='0 0 {width:.0} {height:.0}' \
                 font-family='DejaVu Sans, Helvetica, sans-serif'>\n<rect width='100%' height='100%' fill='white'/>\n"
            ),
            Some((_, alt)) => writeln!(
                out,
                "<svg xmlns='http://www.w3.org/2000/svg' role='img' aria-labelledby='{name}' width='{width:.0}' \
                 height='{height:.0}' viewBox='0 0 {width:.0} {height:.0}' fill='currentColor'><title id='{name}'>{}</title>",
                escaped(alt),
                name = self.name("t"),
            ),
        };
    }
}
