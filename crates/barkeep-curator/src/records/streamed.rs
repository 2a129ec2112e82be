//! Reads records anew at every pass, a stretch at a time, where they are too many for the memory.
//!
//! **Privacy.** A pass adds the integers of every stretch up: the sums of one table, to the bit, since neither order nor division
//! matters to them (`partials` has the lemma). What is read is refused by structure and number alone, as at the start: a pass fails
//! if the files are no longer what they were, never by what a cell says. Then the run stops, and its journal can be continued.
//!
//! A batch takes a pass over all records too, of which each stretch asks its members. So what is read from a disk or a store never shows
//! who was drawn: amplification by subsampling relies on that.
//!
//! **Memory.** Two stretches: one is read by a thread of its own while the other is asked. A stretch and the working memory of its
//! columns are reused, so that a pass allocates twice, whatever the number of records is.

use crate::error::unasked;
use crate::records::faults::{FaultSums, FaultTally};
use crate::records::layout::Layout;
use crate::records::stored::{Filling, Stored};
use crate::records::table::Table;
use crate::sums::passes::Worker;
use crate::sums::sweep::{Summed, Sweep};
use crate::{MOST_RECORDS, Refused};
use barkeep_data::{
    BLOCK, Count, CsvOptions, Error, Faults, Noting, Seal, Sink, Unit, View, read_files, seal,
};
use barkeep_model::Likelihood;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, Sender, SyncSender};

/// The most records of a stretch: more do not make a pass faster.
const LONGEST: usize = 256 * BLOCK;
/// Stretches that are in memory at a time.
const STRETCHES: usize = 2;

impl Table {
    /// The bytes that as many records take in memory as are declared, of what a model sees by this view.
    #[must_use]
    pub fn bytes(view: &View, count: Count) -> u128 {
        count.declared() as u128 * Layout::of(view, count).record() as u128
    }

    /// Files of records that stay where they are and are read anew at every pass, in about `memory` bytes: CSV or Parquet, as
    /// [`barkeep_data::read_files`] reads them. They are read once here, so that what is wrong is found before anything is charged.
    ///
    /// **Privacy.** As [`Table::read_files`]. The files must stay as they are until the run has ended; their lengths and times are
    /// compared at every pass.
    ///
    /// # Errors
    /// Those of [`barkeep_data::read_files`]; [`Error::Room`] for more than 2^32 records.
    pub fn stream_files(
        paths: &[impl AsRef<Path>],
        view: &View,
        count: Count,
        options: CsvOptions,
        memory: u64,
        progress: &mut dyn FnMut(usize),
    ) -> Result<Self, Error> {
        let paths: Vec<PathBuf> = paths.iter().map(|path| path.as_ref().to_path_buf()).collect();
        let seals = sealed(&paths);
        let mut first = Look { records: 0, tally: FaultTally::new(view.source().width()) };
        read_files(&paths, view, count, options, &mut first, progress)?;
        if first.records as u64 > MOST_RECORDS {
            return Err(Error::Room);
        }
        // Stretches are asked once: nothing is gained by making them narrow.
        let record = Layout::wide(view.schema()).record().max(1) as u128;
        let stretch = u128::from(memory) / STRETCHES as u128 / record / BLOCK as u128;
        let stretch = usize::try_from(stretch).unwrap_or(usize::MAX).saturating_mul(BLOCK);
        let streamed = Streamed {
            paths,
            seals,
            view: view.clone(),
            count,
            options,
            stretch: stretch.clamp(BLOCK, LONGEST),
            records: first.records,
            faults: FaultSums::of_records(&first.tally, count),
        };
        Ok(Self::held(view.schema().clone(), streamed))
    }
}

/// Counts records and their faults, and keeps none.
struct Look {
    records: usize,
    tally: FaultTally,
}

impl Sink for Look {
    fn take(&mut self, records: usize, _write: &mut dyn FnMut(usize, &mut [f64])) {
        self.records += records;
    }

    fn noting(&self) -> Noting {
        Noting::Count
    }

    fn note(&mut self, column: usize, faults: &Faults) {
        self.tally.add(column, faults);
    }
}

/// What the system, or a store, says of files; none where it says nothing.
fn sealed(paths: &[PathBuf]) -> Vec<Option<Seal>> {
    paths.iter().map(|path| seal(path)).collect()
}

/// Records in files.
struct Streamed {
    paths: Vec<PathBuf>,
    seals: Vec<Option<Seal>>,
    view: View,
    count: Count,
    options: CsvOptions,
    /// Records that are in memory at a time, twice.
    stretch: usize,
    records: usize,
    faults: FaultSums,
}

/// Fills stretches and hands them over.
struct Cutter<'a> {
    streamed: &'a Streamed,
    filling: Option<Filling>,
    full: SyncSender<Stored>,
    /// Tables whose memory is free again.
    empty: Receiver<Stored>,
    made: usize,
    read: usize,
    /// Whether there is no more memory, or nobody takes stretches any more.
    failed: bool,
}

impl Cutter<'_> {
    /// An empty stretch, in new memory or in that of an earlier one.
    fn next(&mut self) -> Option<Filling> {
        let count = Count::About(self.streamed.stretch);
        if self.made < STRETCHES {
            self.made += 1;
            return Filling::reserve(self.streamed.view.schema(), count).ok();
        }
        self.empty.recv().ok().map(|table| Filling::anew(table, count))
    }

    /// Hands a stretch over.
    fn hand_over(&mut self) -> Option<()> {
        let Some(filling) = self.filling.take() else { return Some(()) };
        self.full.send(filling.finish().ok()?).ok()
    }

    fn try_take(&mut self, records: usize, write: &mut dyn FnMut(usize, &mut [f64])) -> Option<()> {
        let mut filling = match self.filling.take() {
            Some(filling) => filling,
            None => self.next()?,
        };
        filling.take(records, write);
        let is_full = filling.records() >= self.streamed.stretch;
        self.filling = Some(filling);
        if is_full { self.hand_over() } else { Some(()) }
    }
}

impl Sink for Cutter<'_> {
    fn take(&mut self, records: usize, write: &mut dyn FnMut(usize, &mut [f64])) {
        self.read += records;
        self.failed |= self.failed || self.try_take(records, write).is_none();
    }
}

impl Streamed {
    /// Reads all records into stretches; whether they are as many as at the start.
    fn read(&self, full: SyncSender<Stored>, empty: Receiver<Stored>) -> bool {
        let mut cutter =
            Cutter { streamed: self, filling: None, full, empty, made: 0, read: 0, failed: false };
        let Self { paths, view, count, options, .. } = self;
        read_files(paths, view, *count, *options, &mut cutter, &mut |_| {}).is_ok()
            && cutter.hand_over().is_some()
            && !cutter.failed
            && cutter.read == self.records
    }

    /// Shows every stretch to `look` while the next is read.
    ///
    /// # Errors
    /// [`Refused::Unasked`].
    fn each(&self, mut look: impl FnMut(&Stored) -> Result<(), Refused>) -> Result<(), Refused> {
        let changed =
            || unasked("the file of records is no longer what it was when the run began, or cannot be read");
        if self.seals != sealed(&self.paths) {
            return Err(changed());
        }
        std::thread::scope(|scope| {
            let (full, stretches) = mpsc::sync_channel(0);
            let (back, empty): (Sender<Stored>, Receiver<Stored>) = mpsc::channel();
            let reader = scope.spawn(move || self.read(full, empty));
            // Ends when the reader has: it holds the other end.
            for stretch in stretches {
                look(&stretch)?;
                // Where the reader has ended nobody needs the memory.
                let _ = back.send(stretch);
            }
            match reader.join() {
                Ok(true) => Ok(()),
                Ok(false) | Err(_) => Err(changed()),
            }
        })
    }
}

/// Records in files, asked a stretch at a time.
impl Sweep for Streamed {
    fn unit(&self) -> Unit {
        Unit::Record
    }

    fn records(&self) -> usize {
        self.records
    }

    fn rows(&self) -> usize {
        self.stretch
    }

    fn faults(&self) -> Option<usize> {
        Some(self.faults.width())
    }

    fn takes_batches(&self) -> bool {
        true
    }

    fn add(
        &self,
        summed: Summed<'_>,
        likelihood: &dyn Likelihood,
        positions: Option<&[u32]>,
        workers: &mut [Worker],
    ) -> Result<(), Refused> {
        if let Summed::Terms { terms, .. } = summed
            && terms.is_counted()
        {
            self.faults.add_to(workers);
            return Ok(());
        }
        let Some(positions) = positions else {
            return self.each(|stretch| stretch.add(summed, likelihood, None, workers));
        };
        let mut members = positions.to_vec();
        members.sort_unstable();
        let (mut start, mut rest) = (0, &mut members[..]);
        self.each(|stretch| {
            // Members are numbers of 32 bits: none lies in a stretch that starts beyond.
            let end = start + stretch.rows() as u64;
            let here = rest.partition_point(|member| u64::from(*member) < end);
            let (own, after) = std::mem::take(&mut rest).split_at_mut(here);
            let first = u32::try_from(start).unwrap_or(u32::MAX);
            own.iter_mut().for_each(|member| *member -= first);
            (start, rest) = (end, after);
            stretch.add(summed, likelihood, Some(own), workers)
        })
    }
}
