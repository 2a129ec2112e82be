//! Keeps the records: only this crate reads them back.

pub(crate) mod builder;
pub(crate) mod table;
