//! Says where files of records lie, in a folder or in an object store, and what tells a file from a changed one.

use std::path::Path;
use std::time::SystemTime;

use crate::Error;

/// Whether a path names an object in a store, as `s3://bucket/key.parquet` does.
#[must_use]
pub fn is_remote(path: &Path) -> bool {
    path.to_str().is_some_and(|text| text.starts_with("s3://"))
}

/// What tells a file from a changed one: its length and when it was written, and the tag that a store gives it.
#[derive(PartialEq, Eq)]
pub struct Seal {
    length: u64,
    modified: Option<SystemTime>,
    tag: Option<String>,
}

#[cfg(feature = "object-store")]
impl Seal {
    pub(crate) fn new(length: u64, modified: SystemTime, tag: Option<String>) -> Self {
        Self { length, modified: Some(modified), tag }
    }
}

/// What is known of a file without reading it; none where it is not found.
#[must_use]
pub fn seal(path: &Path) -> Option<Seal> {
    if is_remote(path) {
        #[cfg(feature = "object-store")]
        return Some(crate::object::Object::open(path).ok()?.seal());
        #[cfg(not(feature = "object-store"))]
        return None;
    }
    let facts = std::fs::metadata(path).ok()?;
    Some(Seal { length: facts.len(), modified: facts.modified().ok(), tag: None })
}

pub(crate) fn unreadable(path: &Path) -> Error {
    Error::Unreadable { path: path.to_path_buf() }
}
