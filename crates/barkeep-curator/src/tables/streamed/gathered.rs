//! Gathers the rows of a band of persons as they come by, sorts them by person, and counts what is wrong with their cells.

use super::Stretches;
use crate::records::bands::{Bands, Next, Walk};
use crate::records::faults::FaultSums;
use crate::records::stored::{Filling, Stored};
use barkeep_data::{BLOCK, Count, Fault, Faults, Noting, Sink};

/// Gathers one band after the other, and hands each over as a stretch.
///
/// **Privacy.** Holds records. No `Debug`, `Clone`, `Serialize` or `PartialEq`.
pub(super) struct Gathered<'a> {
    stretches: Stretches<'a>,
    bands: &'a Bands,
    walk: Option<Walk<'a>>,
    width: usize,
    /// The rows that came by last, column by column.
    seen: Vec<f64>,
    /// Which of them are the band's.
    picked: Vec<usize>,
    /// The band's rows that no block holds yet, column by column.
    staged: Vec<f64>,
    staged_rows: usize,
    /// The band's other rows, in file order.
    filling: Option<Filling>,
    /// Whose each row of the band is.
    whose: Vec<u32>,
    /// A table that was sorted into another.
    spare: Option<Stored>,
    /// Whether there is no more memory, or nobody takes stretches any more.
    failed: bool,
}

impl<'a> Gathered<'a> {
    pub(super) fn new(stretches: Stretches<'a>, bands: &'a Bands) -> Self {
        let width = stretches.streamed.view.schema().width();
        Self {
            stretches,
            bands,
            walk: None,
            width,
            seen: Vec::new(),
            picked: Vec::new(),
            staged: vec![0.0; width * BLOCK],
            staged_rows: 0,
            filling: None,
            whose: Vec::new(),
            spare: None,
            failed: false,
        }
    }

    /// Turns to another reading.
    pub(super) fn start(&mut self, walk: Walk<'a>) {
        self.walk = Some(walk);
    }

    /// Whether all rows of the reading, and no others, came by and were handed over.
    pub(super) fn is_complete(&self) -> bool {
        !self.failed && self.walk.as_ref().is_some_and(Walk::is_complete)
    }

    fn try_take(&mut self, records: usize, write: &mut dyn FnMut(usize, &mut [f64])) -> Option<()> {
        let mut walk = self.walk.take()?;
        let mut is_here = false;
        for row in 0..records {
            let Next::Own { person, completes } = walk.next() else { continue };
            if !is_here {
                is_here = true;
                self.seen.resize(self.width * BLOCK, 0.0);
                for (column, seen) in self.seen.chunks_exact_mut(BLOCK).enumerate() {
                    write(column, seen.get_mut(..records)?);
                }
            }
            self.picked.push(row);
            self.whose.push(u32::try_from(person).ok()?);
            if let Some(band) = completes {
                self.stage()?;
                self.hand_over(band)?;
            }
        }
        self.stage()?;
        self.walk = Some(walk);
        Some(())
    }

    /// Adds the picked rows to the band, block by block.
    fn stage(&mut self) -> Option<()> {
        let mut picked = &self.picked[..];
        while !picked.is_empty() {
            let (now, later) = picked.split_at(picked.len().min(BLOCK - self.staged_rows));
            let columns = self.staged.chunks_exact_mut(BLOCK).zip(self.seen.chunks_exact(BLOCK));
            for (staged, seen) in columns {
                let staged = staged.get_mut(self.staged_rows..)?;
                staged.iter_mut().zip(now).for_each(|(out, row)| *out = seen[*row % BLOCK]);
            }
            self.staged_rows += now.len();
            picked = later;
            if self.staged_rows == BLOCK {
                flush(&mut self.filling, &mut self.stretches, &mut self.spare, &self.staged, BLOCK)?;
                self.staged_rows = 0;
            }
        }
        self.picked.clear();
        Some(())
    }

    /// Hands a band over, of which all rows are here.
    fn hand_over(&mut self, band: usize) -> Option<()> {
        flush(&mut self.filling, &mut self.stretches, &mut self.spare, &self.staged, self.staged_rows)?;
        self.staged_rows = 0;
        let (rows, persons) = (self.filling.take()?.finish().ok()?, self.bands.of(band));
        let stretch = if self.whose.is_sorted() {
            rows
        } else {
            let places = persons.places(&self.whose);
            let sorted = self.stretches.next()?;
            let sorted = rows.in_order(&places, sorted).ok()?;
            self.spare = Some(rows);
            sorted
        };
        self.whose.clear();
        self.stretches.hand_over(stretch.of(persons))
    }
}

/// Moves staged rows to the band's table.
fn flush(
    filling: &mut Option<Filling>,
    stretches: &mut Stretches<'_>,
    spare: &mut Option<Stored>,
    staged: &[f64],
    rows: usize,
) -> Option<()> {
    if filling.is_none() {
        *filling = match spare.take() {
            Some(spare) => Some(Filling::anew(spare, Count::About(1))),
            None => stretches.next(),
        };
    }
    let filling = filling.as_mut()?;
    if rows > 0 {
        filling.take(rows, &mut |column, out| {
            let own = staged.chunks_exact(BLOCK).nth(column).unwrap_or_default();
            out.iter_mut().zip(own).for_each(|(out, value)| *out = *value);
        });
    }
    Some(())
}

impl Sink for Gathered<'_> {
    fn take(&mut self, records: usize, write: &mut dyn FnMut(usize, &mut [f64])) {
        self.failed = self.failed || self.try_take(records, write).is_none();
    }
}

/// Counts the bad cells of each person of a reading's bands.
///
/// **Privacy.** Secret numbers. No `Debug`, `Clone`, `Serialize` or `PartialEq`.
pub(super) struct CountsByPerson<'a, 'b> {
    columns: Vec<Counted<'a>>,
    sums: &'b mut FaultSums,
    count: Count,
}

/// One column: cells of all columns come in the same order, but not at the same time.
struct Counted<'a> {
    walk: Walk<'a>,
    /// The invalid and the clamped cells of each person of the band.
    found: Vec<[usize; 2]>,
}

impl<'a, 'b> CountsByPerson<'a, 'b> {
    pub(super) fn new(walk: Walk<'a>, sums: &'b mut FaultSums, count: Count) -> Self {
        let columns = (0..sums.width() / 2).map(|_| Counted { walk: walk.clone(), found: Vec::new() });
        Self { columns: columns.collect(), sums, count }
    }

    /// Whether all rows of the reading, and no others, came by.
    pub(super) fn is_complete(&self) -> bool {
        self.columns.iter().all(|own| own.walk.is_complete())
    }
}

impl Sink for CountsByPerson<'_, '_> {
    fn take(&mut self, _records: usize, _write: &mut dyn FnMut(usize, &mut [f64])) {}

    fn noting(&self) -> Noting {
        Noting::Each
    }

    fn note(&mut self, column: usize, faults: &Faults) {
        let Some(Counted { walk, found }) = self.columns.get_mut(column) else { return };
        for fault in &faults.each {
            let Next::Own { person, completes } = walk.next() else { continue };
            if found.len() <= person {
                found.resize(person + 1, [0; 2]);
            }
            if let Some([invalid, clamped]) = found.get_mut(person) {
                *invalid += usize::from(*fault == Fault::Invalid);
                *clamped += usize::from(*fault == Fault::Clamped);
            }
            if let Some(band) = completes {
                for (found, rows) in found.iter().zip(walk.lengths(band)) {
                    self.sums.add_person(column, *found, rows, self.count);
                }
                found.clear();
            }
        }
    }
}
