//! Says where files of records lie, in a folder or in an object store, and what tells a file from a changed one.

#[cfg(feature = "object-store")]
mod object;

#[cfg(feature = "object-store")]
pub(crate) use self::object::Object;
use std::fs::Metadata;
use std::path::Path;

use crate::Error;

/// Whether a path names an object in a store, as `s3://bucket/key.parquet` does.
#[must_use]
pub fn is_remote(path: &Path) -> bool {
    path.to_str().is_some_and(|text| text.starts_with("s3://"))
}

/// What tells a file from a changed one: its length and when it was written, and the tag that a store gives it.
pub struct Seal(Known);

enum Known {
    File(Metadata),
    #[cfg(feature = "object-store")]
    Object {
        length: u64,
        written: String,
        tag: Option<String>,
    },
}

#[cfg(feature = "object-store")]
impl Seal {
    fn new(length: u64, written: String, tag: Option<String>) -> Self {
        Self(Known::Object { length, written, tag })
    }
}

impl PartialEq for Seal {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Known::File(a), Known::File(b)) => (a.len(), a.modified().ok()) == (b.len(), b.modified().ok()),
            #[cfg(feature = "object-store")]
            (
                Known::Object { length, written, tag },
                Known::Object { length: other_length, written: other_written, tag: other_tag },
            ) => (length, written, tag) == (other_length, other_written, other_tag),
            #[cfg(feature = "object-store")]
            (Known::File(_), Known::Object { .. }) | (Known::Object { .. }, Known::File(_)) => false,
        }
    }
}

/// What is known of a file without reading it; none where it is not found.
#[must_use]
pub fn seal(path: &Path) -> Option<Seal> {
    if is_remote(path) {
        #[cfg(feature = "object-store")]
        return Some(Object::open(path).ok()?.seal());
        #[cfg(not(feature = "object-store"))]
        return None;
    }
    Some(Seal(Known::File(std::fs::metadata(path).ok()?)))
}

pub(crate) fn unreadable(path: &Path) -> Error {
    Error::Unreadable { path: path.to_path_buf() }
}
