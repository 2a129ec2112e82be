//! Holds the records a posterior is about, and what is publicly known of them.
//!
//! Four nouns: a [`Schema`] is a person's public description of the columns (bounds, levels, and the value
//! standing for a bad cell); a [`TableBuilder`] admits rows under it; a [`Table`] keeps them in aligned
//! column-major blocks; a [`Block`] is a view of up to [`BLOCK`] records that a model computes on.
//!
//! **Privacy.** Nothing here depends on what a record says except the stored values: a cell that is missing,
//! unparsable or undeclared becomes its column's `invalid` value, a number outside the bounds is clamped, and
//! no record is dropped. Errors name files, headers, columns and spec keys, never a row, a position or a cell.

mod block;
mod csv;
mod error;
mod schema;
mod table;

pub use block::{BLOCK, Block};
pub use csv::{CsvOptions, read_csv, read_csv_with, read_header};
pub use error::Error;
pub use schema::{Column, Kind, Scale, Schema};
pub use table::{Blocks, Table, TableBuilder};
