//! Reads ranges of one object in an S3-like store, those of the next row group while one is decoded.
//!
//! **Privacy.** What the store's owner sees is which ranges are fetched and when: a file's structure and the number of passes,
//! never what a cell says. Errors of the store are replaced, because they may quote credentials or contents.

use std::io::{Error as IoError, ErrorKind};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use object_store::aws::AmazonS3Builder;
use object_store::path::Path as Key;
use object_store::{Error as StoreError, ObjectMeta, ObjectStore, ObjectStoreExt};
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;

use super::{Seal, unreadable};
use crate::Error;

/// Bytes and where they start.
type Pieces = Vec<(u64, Bytes)>;

/// An object that one thread reads.
pub(crate) struct Object {
    store: Arc<dyn ObjectStore>,
    meta: ObjectMeta,
    runtime: Runtime,
    fetched: Mutex<Fetched>,
}

#[derive(Default)]
struct Fetched {
    here: Pieces,
    ahead: Option<Ahead>,
}

/// What is on its way.
struct Ahead {
    ranges: Vec<(u64, u64)>,
    coming: JoinHandle<Option<Pieces>>,
}

impl Object {
    /// Finds `s3://bucket/key`; region, endpoint and credentials are those that the environment's `AWS_…` say.
    ///
    /// # Errors
    /// [`Error::Missing`] if there is no such object, [`Error::Unreadable`] if the store cannot be asked.
    pub(crate) fn open(path: &Path) -> Result<Self, Error> {
        let url = path.to_str().ok_or_else(|| unreadable(path))?;
        let key = url.strip_prefix("s3://").and_then(|rest| rest.split_once('/'));
        let (_, key) = key.ok_or_else(|| unreadable(path))?;
        let key = Key::parse(key).map_err(|_| unreadable(path))?;
        let store = AmazonS3Builder::from_env().with_url(url).build().map_err(|_| unreadable(path))?;
        Self::of(path, Arc::new(store), &key)
    }

    /// Finds an object of a store.
    ///
    /// # Errors
    /// As [`Object::open`].
    pub(crate) fn of(path: &Path, store: Arc<dyn ObjectStore>, key: &Key) -> Result<Self, Error> {
        // One thread beside: it fetches while this one decodes.
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.map_err(|_| unreadable(path))?;
        let meta = runtime.block_on(store.head(key)).map_err(|error| match error {
            StoreError::NotFound { .. } => Error::Missing { path: path.to_path_buf() },
            _ => unreadable(path),
        })?;
        Ok(Self { store, meta, runtime, fetched: Mutex::default() })
    }

    pub(crate) fn length(&self) -> u64 {
        self.meta.size
    }

    pub(crate) fn seal(&self) -> Seal {
        Seal::new(self.meta.size, self.meta.last_modified.to_rfc3339(), self.meta.e_tag.clone())
    }

    /// Fetches ranges, each a start and a length, in as few requests as they lie.
    fn fetch(&self, ranges: &[(u64, u64)]) -> JoinHandle<Option<Pieces>> {
        let (store, key) = (Arc::clone(&self.store), self.meta.location.clone());
        let size = self.meta.size;
        let ranges: Vec<_> = ranges
            .iter()
            .map(|(start, length)| *start..start.saturating_add(*length).min(size))
            .filter(|range| !range.is_empty())
            .collect();
        self.runtime.spawn(async move {
            let bytes = store.get_ranges(&key, &ranges).await.ok()?;
            Some(ranges.iter().map(|range| range.start).zip(bytes).collect())
        })
    }

    /// Fetches what is read next, unless that is on its way, and what is read after it.
    pub(crate) fn expect(&self, next: &[(u64, u64)], after: &[(u64, u64)]) {
        let mut fetched = self.fetched.lock().unwrap_or_else(PoisonError::into_inner);
        // Frees what was read before.
        fetched.here = Vec::new();
        let coming = match fetched.ahead.take() {
            Some(Ahead { ranges, coming }) if ranges == next => coming,
            _ => self.fetch(next),
        };
        // What did not come is asked for when it is read, and fails then.
        let here = self.runtime.block_on(coming).ok().flatten();
        fetched.here = here.unwrap_or_default();
        if !after.is_empty() {
            fetched.ahead = Some(Ahead { ranges: after.to_vec(), coming: self.fetch(after) });
        }
    }

    /// So many bytes from a place on.
    pub(crate) fn bytes(&self, start: u64, length: u64) -> std::io::Result<Bytes> {
        let end = start.checked_add(length).filter(|end| *end <= self.meta.size);
        let end = end.ok_or(ErrorKind::UnexpectedEof)?;
        let fetched = self.fetched.lock().unwrap_or_else(PoisonError::into_inner);
        for (from, bytes) in &fetched.here {
            if start >= *from && end <= from.saturating_add(bytes.len() as u64) {
                let place = |at: u64| usize::try_from(at - from).map_err(IoError::other);
                return Ok(bytes.slice(place(start)?..place(end)?));
            }
        }
        let get = self.store.get_range(&self.meta.location, start..end);
        let bytes = self.runtime.block_on(get).map_err(|_| IoError::from(ErrorKind::Other))?;
        if bytes.len() as u64 == length { Ok(bytes) } else { Err(ErrorKind::UnexpectedEof.into()) }
    }
}

#[cfg(test)]
mod tests;
