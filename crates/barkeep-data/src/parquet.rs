//! Reads records from a Parquet file, a block of all columns at a time, and lets no message say what a record says.

mod gaps;
mod leaf;
mod pages;
mod runs;
mod source;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::mpsc::{self, Receiver, SyncSender};

use ::parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};

use crate::header::{locate, locate_person};
use crate::location::unreadable;
use crate::reading::{Naming, Reading};
use crate::schema::Cells;
use crate::{BLOCK, Error, Faults, Noting, View};

use leaf::Leaf;
pub(crate) use leaf::named;
use pages::Decoder;
use source::Source;

/// Reads a Parquet file; see [`read`](crate::read).
pub(crate) fn read_parquet(
    path: &Path,
    view: &View,
    mut naming: Option<&mut Naming<'_>>,
    reading: Reading<'_>,
) -> Result<(), Error> {
    let Reading { admission, count, last, sink, progress } = reading;
    contained(path, || {
        let file = open(path)?;
        let columns = file.metadata().file_metadata().schema_descr().columns();
        let header = names(&file);
        let positions = locate(path, view.source(), &header)?;
        let mut decoders = Vec::with_capacity(positions.len());
        for (&position, column) in positions.iter().zip(view.source().columns()) {
            let descriptor = columns.get(position).ok_or_else(|| unreadable(path))?;
            let leaf = Leaf::new(path, column.name(), position, descriptor)?;
            decoders.push(Decoder::new(Cells::new(column), leaf));
        }
        let mut named = match &naming {
            None => None,
            Some(naming) => {
                let position = locate_person(path, naming.column, &header)?;
                let descriptor = columns.get(position).ok_or_else(|| unreadable(path))?;
                Some(Leaf::identifying(path, naming.column, position, descriptor)?)
            }
        };
        let wrong = || Error::Count { path: path.to_path_buf(), declared: count.declared() };
        let held = file.metadata().row_groups().iter().map(|group| usize::try_from(group.num_rows()));
        let held = held.sum::<Result<usize, _>>().map_err(|_| unreadable(path))?;
        let held = admission.pushed().saturating_add(held);
        if !(count.admits(held) || !last && count.left(held) > 0) {
            return Err(wrong());
        }
        admission.settle(sink);
        let noting = sink.noting();
        // Columns are decoded and admitted by other threads, a stretch ahead of the one that is taken here.
        let stretch = stretch(decoders.len());
        let share = decoders.len().div_ceil(threads()).max(1);
        std::thread::scope(|scope| {
            let lanes = decoders.chunks_mut(share).map(|decoders| {
                let (full, stretches) = mpsc::sync_channel(1);
                let (back, empty) = mpsc::channel();
                scope.spawn(move || Lane { path, decoders, noting, stretch, full, empty }.decode());
                (stretches, back)
            });
            let lanes: Vec<_> = lanes.collect();
            for group in 0..file.num_row_groups() {
                let group = file.get_row_group(group).map_err(|_| unreadable(path))?;
                if let Some(leaf) = &mut named {
                    let pages = leaf.pages(path, &*group)?;
                    leaf.open(pages).ok_or_else(|| unreadable(path))?;
                }
                for length in stretches(path, &*group, stretch)? {
                    let received = lanes.iter().map(|(stretches, _)| stretches.recv());
                    let received = received.map(|decoded| decoded.unwrap_or_else(|_| Err(unreadable(path))));
                    let decoded = received.collect::<Result<Vec<_>, _>>()?;
                    for (index, faults) in decoded.iter().flat_map(|own| &own.faults).enumerate() {
                        sink.note(index, faults);
                    }
                    let mut next = 0;
                    while next < length {
                        let chunk = admission.room().min(length - next);
                        if chunk == 0 {
                            return Err(wrong());
                        }
                        let columns = decoded.iter().flat_map(|own| &own.columns);
                        let columns = columns.map(|own| own.get(next..next + chunk));
                        let columns: Option<Vec<&[f64]>> = columns.collect();
                        admission.push_admitted(chunk, &columns.ok_or_else(|| unreadable(path))?, sink)?;
                        if let (Some(leaf), Some(naming)) = (&mut named, &mut naming)
                            && !leaf.name_rows(path, chunk, naming.roster)?
                        {
                            return Err(naming.wrong_count(path));
                        }
                        next += chunk;
                        count.shown(admission.pushed()).into_iter().for_each(&mut *progress);
                    }
                    for ((_, back), decoded) in lanes.iter().zip(decoded) {
                        // Who has decoded everything needs no memory.
                        let _ = back.send(decoded);
                    }
                }
            }
            Ok(())
        })
    })
}

/// Columns that one thread decodes, from a file it opens for itself: the place of the next byte belongs to an open file.
struct Lane<'a, 'b> {
    path: &'a Path,
    decoders: &'a mut [Decoder<'b>],
    noting: Noting,
    stretch: usize,
    full: SyncSender<Result<Decoded, Error>>,
    /// Those whose memory is free again.
    empty: Receiver<Decoded>,
}

/// A stretch of some columns, admitted, and what was wrong with it.
#[derive(Default)]
struct Decoded {
    columns: Vec<Vec<f64>>,
    faults: Vec<Faults>,
}

impl Lane<'_, '_> {
    /// Decodes all stretches, or as many as are taken.
    fn decode(self) {
        let Self { path, decoders, noting, stretch, full, empty } = self;
        let decoded = contained(path, || {
            let source = Source::open(path)?;
            let file = opened(path, source.clone())?;
            for group in 0..file.num_row_groups() {
                let ranges = [group, group + 1].map(|group| ranges(&file, group, decoders));
                source.expect(&ranges[0], &ranges[1]);
                let group = file.get_row_group(group).map_err(|_| unreadable(path))?;
                for decoder in &mut *decoders {
                    decoder.start(path, &*group)?;
                }
                for length in stretches(path, &*group, stretch)? {
                    let mut decoded: Decoded = empty.try_recv().unwrap_or_default();
                    decoded.columns.resize_with(decoders.len(), Vec::new);
                    decoded.faults.resize_with(decoders.len(), Faults::default);
                    let own = decoded.columns.iter_mut().zip(&mut decoded.faults);
                    for (decoder, (column, faults)) in decoders.iter_mut().zip(own) {
                        column.resize(length, 0.0);
                        faults.clear();
                        // In parts that stay in the first cache.
                        for part in column.chunks_mut(BLOCK) {
                            decoder.fill(path, part)?;
                            faults.admit(noting, decoder.column(), part);
                        }
                    }
                    if full.send(Ok(decoded)).is_err() {
                        return Ok(());
                    }
                }
            }
            Ok(())
        });
        if let Err(error) = decoded {
            // Where nobody listens, another error was found first.
            let _ = full.send(Err(error));
        }
    }
}

/// How many threads decode columns.
fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Records that are decoded at a time: some eight megabytes of all columns at most, three times.
fn stretch(columns: usize) -> usize {
    ((1 << 20) / columns.max(1)).clamp(BLOCK, 16 * BLOCK)
}

/// The lengths of a row group's stretches.
fn stretches(
    path: &Path,
    group: &dyn RowGroupReader,
    stretch: usize,
) -> Result<impl Iterator<Item = usize> + use<>, Error> {
    let rows = usize::try_from(group.metadata().num_rows()).map_err(|_| unreadable(path))?;
    Ok((0..rows).step_by(stretch).map(move |start| stretch.min(rows - start)))
}

/// The column names of a Parquet file; see [`read_header`](crate::read_header).
pub(crate) fn parquet_header(path: &Path) -> Result<Vec<String>, Error> {
    contained(path, || Ok(names(&open(path)?)))
}

/// A damaged file may make the Parquet reader panic: it then cannot be read, like any other.
fn contained<T>(path: &Path, read: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(|_| Err(unreadable(path)))
}

fn open(path: &Path) -> Result<SerializedFileReader<Source>, Error> {
    opened(path, Source::open(path)?)
}

fn opened(path: &Path, source: Source) -> Result<SerializedFileReader<Source>, Error> {
    SerializedFileReader::new(source).map_err(|_| unreadable(path))
}

/// Where a row group keeps some columns: the start and the length of each.
fn ranges(file: &SerializedFileReader<Source>, group: usize, decoders: &[Decoder<'_>]) -> Vec<(u64, u64)> {
    let Some(group) = file.metadata().row_groups().get(group) else { return Vec::new() };
    decoders
        .iter()
        .filter_map(|own| group.columns().get(own.position()))
        .map(|own| own.byte_range())
        .collect()
}

/// Every leaf's name; a nested one is the path to it.
fn names(file: &SerializedFileReader<Source>) -> Vec<String> {
    let columns = file.metadata().file_metadata().schema_descr().columns();
    columns.iter().map(|column| column.path().string()).collect()
}

#[cfg(test)]
#[cfg(feature = "object-store")]
mod tests;
