//! Moves chains by asking the curator; never sees a record.

pub mod proposal;
