//! Keeps the records: only this crate reads them back.

pub(crate) mod bands;
pub(crate) mod buffer;
pub(crate) mod faults;
pub(crate) mod layout;
pub(crate) mod persons;
pub(crate) mod stored;
