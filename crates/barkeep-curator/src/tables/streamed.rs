//! Reads records anew at every pass, a stretch at a time, where they are too many for the memory.
//!
//! **Privacy.** A pass adds the integers of every stretch up: the sums of one table, to the bit, since neither order nor division
//! matters to them (`partials` has the lemma). What is read is refused by structure and number alone, as at the start: a pass fails
//! if the files are no longer what they were, never by what a cell says. Then the run stops, and its journal can be continued.
//!
//! Rows of persons are gathered first, band by band (`bands`): a stretch is a band, and holds all rows of its persons, sorted as in memory.
//! **Lemma** (the same function of the records). A person's term is a function of that person's rows in file order (`sums/fold.rs`). A person
//! is in exactly one band, with the very rows that count in memory, wherever in the files they stand. So a pass adds the same
//! term of every person once, and its sums are those of the table in memory, for neighbours too: what one person's rows can change
//! is what they can change there, and every proof holds as it is. Rows in another order change bands and how often the files are read in a pass.
//! That is seen in time and in what is read from the disk, as the number of rows is; no answer and no message shows it.
//!
//! A batch takes a pass over all records too, of which each stretch asks its members. So what is read from a disk or a store never shows
//! who was drawn: amplification by subsampling relies on that.
//!
//! **Memory.** Two stretches: one is read by a thread of its own while the other is asked. A stretch and the working memory of its
//! columns are reused, so that a pass allocates twice, whatever the number of records is. A band whose rows do not come person by person is
//! sorted into the other stretch, once that was asked. Rows of persons take four bytes each beside the stretches, persons eight, and
//! while the files are opened their identifiers, each once.

mod gathered;

use crate::error::unasked;
use crate::records::bands::Bands;
use crate::records::faults::{FaultSums, FaultTally};
use crate::records::layout::Layout;
use crate::records::stored::{Filling, Stored};
use crate::sums::passes::{Worker, first_sums};
use crate::sums::terms::Summed;
use crate::tables::sweep::Sweep;
use crate::tables::table::Table;
use crate::{MOST_RECORDS, Refused};
use barkeep_data::{
    BLOCK, Count, CsvOptions, Error, Faults, Noting, Seal, Sink, Unit, View, read_files, read_files_persons,
    seal,
};
use gathered::{CountsByPerson, Gathered};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, Sender, SyncSender};

/// The most records of a stretch: more do not make a pass faster.
const LONGEST: usize = 256 * BLOCK;
/// Stretches that are in memory at a time.
const STRETCHES: usize = 2;
/// Bytes that a row takes beside its stretches while it is sorted by person.
const SORTING: u128 = 12;

impl Table {
    /// The bytes that as many records take in memory as are declared, of the columns that programs read by this view.
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
        let faults = FaultSums::of_records(&first.tally, count);
        let held = Held::Records { records: first.records, faults };
        let stretch = room(view, memory, 0).min(LONGEST);
        let streamed = Streamed { paths, seals, view: view.clone(), count, options, stretch, held };
        Ok(Self::held(view.schema().clone(), streamed))
    }

    /// Files whose rows belong to persons, as [`Table::read_files_persons`] reads them, that stay where they are as those of
    /// [`Table::stream_files`] do. Rows of a person may stand anywhere in the files. Where a person's stand together a pass reads the files
    /// once, else about as many times as all rows are more than half of `memory` holds.
    ///
    /// **Privacy.** As [`Table::read_files_persons`].
    ///
    /// # Errors
    /// Those of [`barkeep_data::read_files_persons`]; [`Error::Room`] for 2^32 persons or more.
    pub fn stream_files_persons(
        paths: &[impl AsRef<Path>],
        view: &View,
        person: &str,
        count: Count,
        most_rows: Option<u64>,
        options: CsvOptions,
        memory: u64,
    ) -> Result<Self, Error> {
        let paths: Vec<PathBuf> = paths.iter().map(|path| path.as_ref().to_path_buf()).collect();
        let seals = sealed(&paths);
        let roster = read_files_persons(&paths, view, person, count, options, &mut Unseen)?;
        let most = room(view, memory, SORTING);
        let bands = Bands::new(roster, most_rows, [most.min(LONGEST), most])?;
        let (stretch, held) = (bands.longest(), Held::Persons(bands));
        let streamed = Streamed { paths, seals, view: view.clone(), count, options, stretch, held };
        Ok(Self::held(view.schema().clone(), streamed))
    }
}

/// The records of a stretch, whole blocks of them, one at least, where each takes so many bytes `beside`.
fn room(view: &View, memory: u64, beside: u128) -> usize {
    // Stretches are asked once: nothing is gained by making them narrow.
    let record = Layout::wide(view.schema()).record().max(1) as u128;
    let blocks = u128::from(memory) / (STRETCHES as u128 * record + beside) / BLOCK as u128;
    usize::try_from(blocks).unwrap_or(usize::MAX).max(1).saturating_mul(BLOCK)
}

/// Lets rows pass.
struct Unseen;

impl Sink for Unseen {
    fn take(&mut self, _records: usize, _write: &mut dyn FnMut(usize, &mut [f64])) {}
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
    held: Held,
}

/// What was found when the files were opened.
enum Held {
    Records { records: usize, faults: FaultSums },
    Persons(Bands),
}

/// Stretches on their way to be asked, and their memory on its way back.
struct Stretches<'a> {
    streamed: &'a Streamed,
    full: SyncSender<Stored>,
    /// Tables whose memory is free again.
    empty: Receiver<Stored>,
    made: usize,
}

impl Stretches<'_> {
    /// An empty stretch, in new memory or in that of an earlier one.
    fn next(&mut self) -> Option<Filling> {
        let count = Count::About(self.streamed.stretch);
        if self.made < STRETCHES {
            self.made += 1;
            return Filling::reserve(self.streamed.view.schema(), count).ok();
        }
        self.empty.recv().ok().map(|table| Filling::anew(table, count))
    }

    fn hand_over(&mut self, stretch: Stored) -> Option<()> {
        self.full.send(stretch).ok()
    }
}

/// Cuts records into stretches as they come.
struct Cutter<'a> {
    stretches: Stretches<'a>,
    filling: Option<Filling>,
    read: usize,
    /// Whether there is no more memory, or nobody takes stretches any more.
    failed: bool,
}

impl Cutter<'_> {
    /// Hands a stretch over.
    fn hand_over(&mut self) -> Option<()> {
        let Some(filling) = self.filling.take() else { return Some(()) };
        self.stretches.hand_over(filling.finish().ok()?)
    }

    fn try_take(&mut self, records: usize, write: &mut dyn FnMut(usize, &mut [f64])) -> Option<()> {
        let mut filling = match self.filling.take() {
            Some(filling) => filling,
            None => self.stretches.next()?,
        };
        filling.take(records, write);
        let is_full = filling.records() >= self.stretches.streamed.stretch;
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
        let stretches = Stretches { streamed: self, full, empty, made: 0 };
        match &self.held {
            Held::Records { records, .. } => {
                let mut cutter = Cutter { stretches, filling: None, read: 0, failed: false };
                self.read_into(self.count, &mut cutter)
                    && cutter.hand_over().is_some()
                    && !cutter.failed
                    && cutter.read == *records
            }
            Held::Persons(bands) => {
                let mut gathered = Gathered::new(stretches, bands);
                bands.walks().all(|walk| {
                    gathered.start(walk);
                    self.read_rows(&mut gathered) && gathered.is_complete()
                })
            }
        }
    }

    /// Goes through the rows of persons, of which there may be any number.
    fn read_rows(&self, sink: &mut dyn Sink) -> bool {
        self.read_into(Count::About(self.count.declared()), sink)
    }

    fn read_into(&self, count: Count, sink: &mut dyn Sink) -> bool {
        let Self { paths, view, options, .. } = self;
        read_files(paths, view, count, *options, sink, &mut |_| {}).is_ok()
    }

    /// Adds up what is wrong with the cells of all records, or persons.
    ///
    /// # Errors
    /// [`Refused::Unasked`].
    fn add_faults(&self, workers: &mut [Worker]) -> Result<(), Refused> {
        match &self.held {
            Held::Records { faults, .. } => faults.add_to(first_sums(workers)),
            Held::Persons(bands) => {
                self.check_seals()?;
                let mut counted = FaultSums::new(self.view.source().width());
                for walk in bands.walks() {
                    let mut counts = CountsByPerson::new(walk, &mut counted, self.count);
                    if !(self.read_rows(&mut counts) && counts.is_complete()) {
                        return Err(changed());
                    }
                }
                counted.add_to(first_sums(workers));
            }
        }
        Ok(())
    }

    fn check_seals(&self) -> Result<(), Refused> {
        if self.seals == sealed(&self.paths) { Ok(()) } else { Err(changed()) }
    }

    /// Shows every stretch to `look` while the next is read.
    ///
    /// # Errors
    /// [`Refused::Unasked`].
    fn each(&self, mut look: impl FnMut(&Stored) -> Result<(), Refused>) -> Result<(), Refused> {
        self.check_seals()?;
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

fn changed() -> Refused {
    unasked("the file of records is no longer what it was when the run began, or cannot be read")
}

/// Records in files, asked a stretch at a time.
impl Sweep for Streamed {
    fn unit(&self) -> Unit {
        match &self.held {
            Held::Records { .. } => Unit::Record,
            Held::Persons(bands) => bands.unit(),
        }
    }

    fn records(&self) -> usize {
        match &self.held {
            Held::Records { records, .. } => *records,
            Held::Persons(bands) => bands.persons(),
        }
    }

    fn rows(&self) -> usize {
        self.stretch
    }

    fn faults(&self) -> Option<usize> {
        Some(2 * self.view.source().width())
    }

    fn takes_batches(&self) -> bool {
        true
    }

    fn add(
        &self,
        summed: Summed<'_>,
        positions: Option<&[u32]>,
        workers: &mut [Worker],
    ) -> Result<(), Refused> {
        if let Summed::Faults = summed {
            return self.add_faults(workers);
        }
        let Some(positions) = positions else {
            return self.each(|stretch| stretch.add(summed, None, workers));
        };
        let mut members = positions.to_vec();
        members.sort_unstable();
        let (mut start, mut rest) = (0, &mut members[..]);
        self.each(|stretch| {
            // Members are numbers of 32 bits: none lies in a stretch that starts beyond.
            let end = start + stretch.records() as u64;
            let here = rest.partition_point(|member| u64::from(*member) < end);
            let (own, after) = std::mem::take(&mut rest).split_at_mut(here);
            let first = u32::try_from(start).unwrap_or(u32::MAX);
            own.iter_mut().for_each(|member| *member -= first);
            (start, rest) = (end, after);
            stretch.add(summed, Some(own), workers)
        })
    }
}
