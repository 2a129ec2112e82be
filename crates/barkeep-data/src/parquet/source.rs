//! Gives the Parquet reader bytes by their place, of an open file or of an object in a store.

use std::fs::File;
use std::io::{Error as IoError, ErrorKind, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;

use ::parquet::errors::Result as Parsed;
use ::parquet::file::reader::{ChunkReader, Length};
use bytes::Bytes;

use crate::Error;
use crate::location::{is_remote, unreadable};

#[cfg(feature = "object-store")]
use crate::location::Object;

/// What one thread reads.
#[derive(Clone)]
pub(super) struct Source(Arc<Held>);

enum Held {
    /// The place of the next byte belongs to the open file, and so to the thread.
    File(File, u64),
    #[cfg(feature = "object-store")]
    Object(Box<Object>),
}

impl Source {
    pub(super) fn open(path: &Path) -> Result<Self, Error> {
        let held = if is_remote(path) { Self::remote(path)? } else { Self::local(path)? };
        Ok(Self(Arc::new(held)))
    }

    fn local(path: &Path) -> Result<Held, Error> {
        let open = || {
            let file = File::open(path)?;
            let length = file.metadata()?.len();
            Ok(Held::File(file, length))
        };
        open().map_err(|error: IoError| match error.kind() {
            ErrorKind::NotFound => Error::Missing { path: path.to_path_buf() },
            _ => unreadable(path),
        })
    }

    #[cfg(feature = "object-store")]
    fn remote(path: &Path) -> Result<Held, Error> {
        Ok(Held::Object(Box::new(Object::open(path)?)))
    }

    #[cfg(not(feature = "object-store"))]
    fn remote(path: &Path) -> Result<Held, Error> {
        Err(Error::Store { path: path.to_path_buf() })
    }

    /// An object that is open already.
    #[cfg(all(test, feature = "object-store"))]
    pub(super) fn of(object: Object) -> Self {
        Self(Arc::new(Held::Object(Box::new(object))))
    }

    /// Says which bytes are read next, and which after them: an object's are fetched together, the latter ahead.
    #[cfg_attr(not(feature = "object-store"), expect(unused_variables, reason = "a file needs no fetching"))]
    pub(super) fn expect(&self, next: &[(u64, u64)], after: &[(u64, u64)]) {
        match &*self.0 {
            Held::File(..) => {}
            #[cfg(feature = "object-store")]
            Held::Object(object) => object.expect(next, after),
        }
    }
}

impl Held {
    /// Some bytes from a place on; none at the end.
    fn some(&self, start: u64, out: &mut [u8]) -> std::io::Result<usize> {
        match self {
            Self::File(file, _) => {
                let mut file = file;
                file.seek(SeekFrom::Start(start))?;
                file.read(out)
            }
            #[cfg(feature = "object-store")]
            Self::Object(object) => {
                let length = (out.len() as u64).min(object.length().saturating_sub(start));
                let bytes = object.bytes(start, length)?;
                out.iter_mut().zip(&bytes).for_each(|(out, byte)| *out = *byte);
                Ok(bytes.len())
            }
        }
    }

    /// All of so many bytes from a place on.
    fn all(&self, start: u64, length: usize) -> std::io::Result<Bytes> {
        match self {
            Self::File(file, _) => {
                let mut file = file;
                file.seek(SeekFrom::Start(start))?;
                let mut bytes = Vec::with_capacity(length);
                let read = file.take(length as u64).read_to_end(&mut bytes)?;
                if read == length { Ok(bytes.into()) } else { Err(ErrorKind::UnexpectedEof.into()) }
            }
            #[cfg(feature = "object-store")]
            Self::Object(object) => object.bytes(start, length as u64),
        }
    }
}

impl Length for Source {
    fn len(&self) -> u64 {
        match &*self.0 {
            Held::File(_, length) => *length,
            #[cfg(feature = "object-store")]
            Held::Object(object) => object.length(),
        }
    }
}

impl ChunkReader for Source {
    type T = Ahead;

    fn get_read(&self, start: u64) -> Parsed<Ahead> {
        Ok(Ahead { source: self.clone(), next: start, bytes: [0; AHEAD], from: 0, to: 0 })
    }

    fn get_bytes(&self, start: u64, length: usize) -> Parsed<Bytes> {
        Ok(self.0.all(start, length)?)
    }
}

/// Bytes that are read at once: more than most headers of a page have.
const AHEAD: usize = 256;

/// The bytes from a place on.
pub(super) struct Ahead {
    source: Source,
    /// The place after those that are here.
    next: u64,
    bytes: [u8; AHEAD],
    from: usize,
    to: usize,
}

impl Read for Ahead {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        if self.from == self.to {
            (self.from, self.to) = (0, self.source.0.some(self.next, &mut self.bytes)?);
            self.next += self.to as u64;
        }
        let here = self.bytes.get(self.from..self.to).unwrap_or_default();
        let count = here.len().min(out.len());
        out.iter_mut().zip(here).for_each(|(out, byte)| *out = *byte);
        self.from += count;
        Ok(count)
    }
}
