//! One cell as a file or a frame holds it, and which person it names: one rule for CSV, Parquet, frames and the partitions of a cluster.

use std::io::Write;

/// One cell, as a frame holds it.
///
/// **Privacy.** A record's value: no `Debug`, `Serialize` or `PartialEq`.
#[derive(Clone, Copy)]
pub enum Cell<'a> {
    /// Nothing, or something that is no number, no boolean and no text.
    Missing,
    /// True or false.
    Bool(bool),
    /// A whole number.
    Signed(i64),
    /// A whole number of at least 0.
    Unsigned(u64),
    /// A number of 32 bits.
    Single(f32),
    /// A number.
    Double(f64),
    /// Text, read as a cell of CSV is.
    Text(&'a [u8]),
}

/// Shows the canonical identifier of the person that a cell names; empty where it names none.
///
/// Text counts without the blanks around it, a whole number by its decimal digits: the text `" 42"` and the number 42 name one person.
/// A cell that is missing, blank, not UTF-8, true or false, or a floating-point number names nobody. Floating-point numbers beyond 2⁵³
/// stand for several whole numbers, so they would merge persons.
///
/// **Privacy.** A function of the cell alone. Whatever puts a person's rows together must go by it: an engine that shuffles rows by
/// the cells as they are would split a person between shards, and a certificate for "one person" would be wrong.
pub fn identifier<T>(cell: Cell<'_>, look: impl FnOnce(&[u8]) -> T) -> T {
    match cell {
        Cell::Missing | Cell::Bool(_) | Cell::Single(_) | Cell::Double(_) => look(b""),
        Cell::Signed(value) => with_digits(&value, look),
        Cell::Unsigned(value) => with_digits(&value, look),
        Cell::Text(text) => look(std::str::from_utf8(text).map_or("", str::trim).as_bytes()),
    }
}

/// Shows what a number looks like when written.
pub(crate) fn with_digits<T>(
    written: &(impl std::fmt::Display + ?Sized),
    look: impl FnOnce(&[u8]) -> T,
) -> T {
    // The longest f64 in plain digits has 327 characters; a longer one is no level anyone declared.
    let mut digits = [0_u8; 336];
    let mut rest = &mut digits[..];
    let _ = write!(rest, "{written}");
    let length = 336 - rest.len();
    look(digits.get(..length).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_person_has_one_identifier_whatever_holds_it() {
        let name = |cell: Cell<'_>| identifier(cell, <[u8]>::to_vec);
        for cell in [
            Cell::Text(b"42"),
            Cell::Text(b" 42\t"),
            Cell::Text("\u{a0}42".as_bytes()),
            Cell::Signed(42),
            Cell::Unsigned(42),
        ] {
            assert_eq!(name(cell), b"42");
        }
        assert_eq!(name(Cell::Text(b"042")), b"042");
        assert_eq!(name(Cell::Unsigned(u64::MAX)), b"18446744073709551615");
        // Neighbours beyond 2^53 stay apart.
        assert_ne!(name(Cell::Signed(9_007_199_254_740_993)), name(Cell::Signed(9_007_199_254_740_992)));
        for cell in [
            Cell::Missing,
            Cell::Text(b" "),
            Cell::Text(&[0xff]),
            Cell::Bool(true),
            Cell::Single(1.0),
            Cell::Double(1.0),
        ] {
            assert_eq!(name(cell), b"");
        }
    }
}
