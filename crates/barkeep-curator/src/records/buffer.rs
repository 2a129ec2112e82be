//! Provides working memory that is reused from block to block.

/// Working memory that starts at a cache line: a vector across two of them takes twice as long to store.
///
/// **Privacy.** Holds values computed from records; no `Debug`.
#[derive(Default)]
pub(crate) struct Buffer<T> {
    values: Vec<T>,
    start: usize,
    length: usize,
}

impl<T: Copy + Default> Buffer<T> {
    /// Room for `length` entries, their contents unspecified; grows once.
    pub(crate) fn sized(&mut self, length: usize) -> &mut [T] {
        /// Bytes of a cache line.
        const LINE: usize = 64;
        let line = LINE / size_of::<T>().max(1);
        if self.values.len() < length + line {
            self.values.resize(length + line, T::default());
        }
        self.start = self.values.as_ptr().align_offset(LINE).min(line);
        self.length = length;
        &mut self.values[self.start..self.start + length]
    }
}

impl<T> std::ops::Deref for Buffer<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.values[self.start..self.start + self.length]
    }
}
