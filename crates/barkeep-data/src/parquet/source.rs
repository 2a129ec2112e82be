//! Gives the Parquet reader an open file's bytes by their place, without opening it again for every page.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::sync::Arc;

use ::parquet::errors::{ParquetError, Result};
use ::parquet::file::reader::{ChunkReader, Length};
use bytes::Bytes;

/// A file that one thread reads: the place of the next byte belongs to it.
pub(super) struct Source {
    file: Arc<File>,
    length: u64,
}

impl Source {
    pub(super) fn new(file: File) -> std::io::Result<Self> {
        let length = file.metadata()?.len();
        Ok(Self { file: Arc::new(file), length })
    }
}

impl Length for Source {
    fn len(&self) -> u64 {
        self.length
    }
}

impl ChunkReader for Source {
    type T = Ahead;

    fn get_read(&self, start: u64) -> Result<Ahead> {
        Ok(Ahead { file: Arc::clone(&self.file), next: start, bytes: [0; AHEAD], from: 0, to: 0 })
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        let mut file = &*self.file;
        file.seek(SeekFrom::Start(start))?;
        let mut bytes = Vec::with_capacity(length);
        if file.take(length as u64).read_to_end(&mut bytes)? != length {
            return Err(ParquetError::EOF(String::new()));
        }
        Ok(bytes.into())
    }
}

/// Bytes that are read at once: more than most headers of a page have.
const AHEAD: usize = 256;

/// The bytes from a place on.
pub(super) struct Ahead {
    file: Arc<File>,
    /// The place after those that are here.
    next: u64,
    bytes: [u8; AHEAD],
    from: usize,
    to: usize,
}

impl Read for Ahead {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        if self.from == self.to {
            let mut file = &*self.file;
            file.seek(SeekFrom::Start(self.next))?;
            (self.from, self.to) = (0, file.read(&mut self.bytes)?);
            self.next += self.to as u64;
        }
        let here = self.bytes.get(self.from..self.to).unwrap_or_default();
        let count = here.len().min(out.len());
        out.iter_mut().zip(here).for_each(|(out, byte)| *out = *byte);
        self.from += count;
        Ok(count)
    }
}
