//! Keeps the records: only this crate reads them back.

mod bands;
pub(crate) mod builder;
pub(crate) mod faults;
pub(crate) mod layout;
pub(crate) mod persons;
pub(crate) mod rows;
pub(crate) mod stored;
pub(crate) mod streamed;
pub(crate) mod table;
