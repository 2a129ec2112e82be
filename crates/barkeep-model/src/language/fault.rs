//! Says what is wrong with a model's text, where, and what to do about it.

use std::fmt;

/// Where something stands in a text, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Span {
    /// The first byte.
    pub(crate) start: usize,
    /// One past the last.
    pub(crate) end: usize,
}

impl Span {
    /// From the first of one to the last of another.
    pub(crate) fn to(self, other: Self) -> Self {
        Self { start: self.start, end: other.end.max(self.end) }
    }
}

/// What is wrong at a place of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) span: Span,
    pub(crate) reason: String,
}

impl Fault {
    /// A fault at a place.
    pub(crate) fn new(span: Span, reason: impl Into<String>) -> Self {
        Self { span, reason: reason.into() }
    }
}

/// What is wrong with a model's text. Shows the line with a caret under the place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextError {
    /// What is wrong and what to do.
    pub reason: String,
    /// The line, from 1.
    pub line: usize,
    /// The character of the line, from 1.
    pub column: usize,
    /// The line itself, or the part of it around the place.
    shown: String,
    /// How many characters of it come before the place, and how many the place has.
    marked: (usize, usize),
}

/// Characters shown on either side of the place.
const AROUND: usize = 60;

impl TextError {
    /// A fault shown in its text.
    pub(crate) fn new(text: &str, fault: Fault) -> Self {
        let mut start = fault.span.start.min(text.len());
        while !text.is_char_boundary(start) {
            start -= 1;
        }
        let before = &text[..start];
        let line = before.matches('\n').count() + 1;
        let line_start = before.rfind('\n').map_or(0, |place| place + 1);
        let column = text[line_start..start].chars().count();
        let whole = text[line_start..].lines().next().unwrap_or("");
        let skipped = column.saturating_sub(AROUND);
        let shown: String = whole
            .chars()
            .skip(skipped)
            .take(2 * AROUND)
            .map(|letter| if letter.is_control() { ' ' } else { letter })
            .collect();
        let mut end = fault.span.end.clamp(start, text.len());
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let length = text[start..end].lines().next().unwrap_or("").chars().count().clamp(1, AROUND);
        Self { reason: fault.reason, line, column: column + 1, shown, marked: (column - skipped, length) }
    }
}

impl fmt::Display for TextError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { reason, line, column, shown, marked: (before, length) } = self;
        let (gap, carets) = (" ".repeat(*before), "^".repeat(*length));
        write!(out, "line {line}, column {column}: {reason}\n  {shown}\n  {gap}{carets}")
    }
}

impl std::error::Error for TextError {}

/// `; did you mean …?` with the nearest of `names`, or nothing when none is near.
pub(crate) fn suggestion<'n>(given: &str, names: impl Iterator<Item = &'n str>) -> String {
    names
        .map(|name| (distance(given, name), name))
        .min()
        .filter(|(distance, name)| *distance <= 1 + name.len().max(given.len()) / 3)
        .map(|(_, name)| format!("; did you mean `{name}`?"))
        .unwrap_or_default()
}

/// How many letters must be inserted, removed or replaced to turn one word into another (Levenshtein), of their first 40.
fn distance(one: &str, other: &str) -> usize {
    let letters = |word: &str| word.chars().take(40).collect::<Vec<char>>();
    let (one, other) = (letters(one), letters(other));
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (i, a) in one.iter().enumerate() {
        let mut corner = row[0];
        row[0] = i + 1;
        for (j, b) in other.iter().enumerate() {
            let replaced = corner + usize::from(a != b);
            corner = row[j + 1];
            row[j + 1] = replaced.min(corner + 1).min(row[j] + 1);
        }
    }
    row[other.len()]
}
