//! Holds the records a posterior is about, and what is publicly known of them.
//!
//! Five nouns: a [`Schema`] is a person's public description of the columns (bounds, levels, and the value
//! standing for a bad cell); a [`View`] says which functions of them a model sees; a [`TableBuilder`] admits rows;
//! a [`Table`] keeps what the model sees in aligned column-major blocks; a [`Block`] is a view of up to [`BLOCK`]
//! records that a model computes on. [`read`] turns a CSV or Parquet file into a table.
//!
//! **Privacy.** Nothing here depends on what a record says except the stored values: a cell that is missing,
//! unparsable or undeclared becomes its column's `invalid` value, a number outside the bounds is clamped, and
//! no record is dropped. Errors name files, headers, columns and spec keys, never a row, a position or a cell.

mod block;
mod csv;
mod error;
mod header;
mod parquet;
mod read;
mod records;
mod schema;
mod table;
mod view;

pub use block::{BLOCK, Block};
pub use csv::CsvOptions;
pub use error::Error;
pub use read::{read, read_header};
pub use records::Records;
pub use schema::{Column, Kind, Scale, Schema};
pub use table::{Blocks, Table, TableBuilder};
pub use view::{Factor, Feature, Shape, View};
