//! Describes records publicly, and reads them from files into a sink that keeps them.
//!
//! Five nouns: a [`Schema`] is a person's public description of the columns (bounds, levels, and the value
//! standing for a bad cell); a [`View`] says which functions of them a model sees; an [`Admission`] turns cells into
//! what the model sees; a [`Sink`] takes it, in barkeep the curator's table; a [`Block`] is a view of up to [`BLOCK`]
//! records that a model computes on. [`read`] leads a CSV or Parquet file through all of them,
//! [`read_frame`] a [`Frame`] in memory.
//!
//! **Privacy.** What is refused depends on a file's structure and, where it is public, its number of records or persons, never on
//! what a cell says: a cell that is missing, unparsable or undeclared becomes its column's `invalid` value, and a number outside the
//! bounds is clamped. Errors name files, headers, columns and spec keys, never a row, a position or a cell.

mod admission;
mod cell;
mod csv;
mod error;
mod faults;
mod frame;
mod header;
mod identity;
mod inspection;
mod level_names;
mod location;
mod names;
mod parquet;
mod read;
mod reading;
mod records;
mod roster;
mod schema;
mod view;

pub use admission::{Admission, Sink};
pub use barkeep_machine::{BLOCK, Beside, Block, Levels, Place};
pub use cell::{Cell, identifier};
pub use csv::CsvOptions;
pub use error::Error;
pub use faults::{Faults, Noting};
pub use frame::{Frame, Unavailable, read_frame, read_frame_persons};
pub use identity::{Identified, Identity};
pub use inspection::{Inspection, inspect};
pub use location::{Seal, is_remote, seal};
pub use read::{read, read_files, read_files_persons, read_header, read_persons};
pub use records::{Count, Records};
pub use roster::{Roster, Unit};
pub use schema::{Column, Fault, Kind, Precision, Scale, Schema};
pub use view::{Factor, Feature, Shape, View};
