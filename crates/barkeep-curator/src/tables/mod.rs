//! Offers records to the gate, wherever they are: in memory, or in files that are read again at every pass.
//!
//! Read the files in this order.

/// The one way from a charged question to a secret sum.
pub(crate) mod sweep;

/// Records of a run, whoever keeps them.
pub(crate) mod table;

/// Reads records into memory.
pub(crate) mod builder;

/// Reads records again at every pass.
pub(crate) mod streamed;
