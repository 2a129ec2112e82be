//! Admits records in the order they come, a block at a time, and hands what a model sees of them to a sink.

use crate::{BLOCK, Count, Error, Faults, Noting, View};

/// Takes admitted records, up to [`BLOCK`] at a time.
///
/// **Privacy.** A sink sees every value. The curator's table is the one whose values nobody else reads.
pub trait Sink {
    /// Takes the next `records` records: `write` writes one feature of them, by its place in the view's schema, to a
    /// slice of that length.
    fn take(&mut self, records: usize, write: &mut dyn FnMut(usize, &mut [f64]));

    /// What it wants to know of bad cells.
    fn noting(&self) -> Noting {
        Noting::Nothing
    }

    /// Notes what is wrong with the next cells of one column of the file's schema: of records that are taken soon, in their order.
    fn note(&mut self, _column: usize, _faults: &Faults) {}

    /// Notes that the next row of a file has another number of cells than its header, or is too long: its cells are missing.
    fn note_odd_row(&mut self) {}
}

/// Turns cells into what a model sees, row by row or a stretch of columns at a time.
///
/// Every value is first admitted by its column: clamped, rounded, or replaced by `invalid`. The view's features are then
/// computed from a whole block of admitted records.
///
/// **Privacy.** Holds a block of records. There is no `Debug`, `Clone`, `Serialize` or `PartialEq`.
pub struct Admission {
    view: View,
    count: Count,
    /// Records handed on already.
    handed: usize,
    /// Records in their own units, column-major, not handed on yet.
    staged: Vec<f64>,
    staged_records: usize,
    /// How many of them are admitted and noted already; then others follow.
    settled: usize,
    spare: Vec<f64>,
    faults: Faults,
}

impl Admission {
    /// Prepares for as many records as are declared.
    ///
    /// # Errors
    /// [`Error::Data`] if the declared number is 0, [`Error::Memory`] if a block of them does not fit into memory.
    pub fn new(view: View, count: Count) -> Result<Self, Error> {
        let records = count.declared();
        if records == 0 {
            return Err(Error::Data { key: "records", requirement: "must be at least 1" });
        }
        let columns = view.source().width();
        let too_large = || Error::Memory { records, columns };
        let mut staged = Vec::new();
        let needed = count.left(0).min(BLOCK).checked_mul(columns).ok_or_else(too_large)?;
        staged.try_reserve_exact(needed).map_err(|_| too_large())?;
        staged.resize(needed, 0.0);
        let (spare, faults) = (Vec::new(), Faults::default());
        Ok(Self { view, count, handed: 0, staged, staged_records: 0, settled: 0, spare, faults })
    }

    /// Admits one record.
    ///
    /// # Errors
    /// [`Error::Width`] if the row's width is not the schema's, [`Error::Rows`] if all declared rows are there already.
    pub fn push_row(&mut self, row: &[f64], sink: &mut dyn Sink) -> Result<(), Error> {
        if row.len() != self.view.source().width() {
            return Err(Error::Width { columns: self.view.source().width() });
        }
        self.stage(1, sink, |admission| {
            let (length, position) = (admission.stride(), admission.staged_records);
            let slots = admission.staged.chunks_exact_mut(length);
            slots.zip(row).for_each(|(slots, value)| slots[position] = *value);
        })
    }

    /// Adds one record whose cells, as they are, `cell` gives by column.
    pub(crate) fn push_with(
        &mut self,
        sink: &mut dyn Sink,
        mut cell: impl FnMut(usize) -> f64,
    ) -> Result<(), Error> {
        self.stage(1, sink, |admission| {
            let (length, position) = (admission.stride(), admission.staged_records);
            for (index, slots) in admission.staged.chunks_exact_mut(length).enumerate() {
                slots[position] = cell(index);
            }
        })
    }

    /// Adds several records at once, at most [`room`](Self::room) of them: `fill` writes each column's values.
    pub(crate) fn push_columns(
        &mut self,
        count: usize,
        sink: &mut dyn Sink,
        mut fill: impl FnMut(usize, &mut [f64]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut filled = Ok(());
        self.stage(count, sink, |admission| {
            let (length, position) = (admission.stride(), admission.staged_records);
            for (index, slots) in admission.staged.chunks_exact_mut(length).enumerate() {
                let slots = slots.get_mut(position..).and_then(|slots| slots.get_mut(..count));
                filled = std::mem::replace(&mut filled, Ok(()))
                    .and_then(|()| slots.map_or(Ok(()), |slots| fill(index, slots)));
            }
        })?;
        filled
    }

    /// Adds several records that are admitted and noted already, at most [`room`](Self::room) of them.
    pub(crate) fn push_admitted(
        &mut self,
        count: usize,
        columns: &[&[f64]],
        sink: &mut dyn Sink,
    ) -> Result<(), Error> {
        if self.room() == BLOCK && count == BLOCK {
            // Without a copy between.
            self.hand_on(columns, BLOCK, sink);
            return Ok(());
        }
        self.settle(sink);
        let mut columns = columns.iter();
        self.stage(count, sink, |admission| {
            let (length, position) = (admission.stride(), admission.staged_records);
            for slots in admission.staged.chunks_exact_mut(length) {
                let slots = slots.get_mut(position..).and_then(|slots| slots.get_mut(..count));
                if let (Some(slots), Some(own)) = (slots, columns.next()) {
                    slots.copy_from_slice(own);
                }
            }
            admission.settled += count;
        })
    }

    /// How many records the next call may add at once; 0 when all declared ones are there.
    pub(crate) fn room(&self) -> usize {
        self.count.left(self.pushed()).min(BLOCK - self.staged_records)
    }

    /// The distance between two staged columns.
    fn stride(&self) -> usize {
        self.count.left(0).min(BLOCK)
    }

    /// Lets `write` write `count` records at the staged end, and hands a full block on.
    fn stage(
        &mut self,
        count: usize,
        sink: &mut dyn Sink,
        write: impl FnOnce(&mut Self),
    ) -> Result<(), Error> {
        if count > self.room() {
            return Err(self.wrong_count());
        }
        write(self);
        self.staged_records += count;
        if self.staged_records == BLOCK {
            self.hand_staged(sink);
        }
        Ok(())
    }

    /// Hands the staged records on.
    fn hand_staged(&mut self, sink: &mut dyn Sink) {
        self.settle(sink);
        let (length, records) = (self.stride(), self.staged_records);
        let staged = std::mem::take(&mut self.staged);
        let columns: Vec<&[f64]> = staged.chunks_exact(length).map(|slots| &slots[..records]).collect();
        self.hand_on(&columns, records, sink);
        (self.staged, self.staged_records, self.settled) = (staged, 0, 0);
    }

    /// Notes and admits the staged records for which that was not done yet.
    pub(crate) fn settle(&mut self, sink: &mut dyn Sink) {
        let (length, records) = (self.stride(), self.settled..self.staged_records);
        if records.is_empty() {
            return;
        }
        let columns = self.staged.chunks_exact_mut(length).zip(self.view.source().columns());
        for (index, (slots, column)) in columns.enumerate() {
            let slots = &mut slots[records.clone()];
            self.faults.clear();
            self.faults.admit(sink.noting(), column, slots);
            sink.note(index, &self.faults);
        }
        self.settled = self.staged_records;
    }

    /// Hands admitted records on.
    fn hand_on(&mut self, columns: &[&[f64]], records: usize, sink: &mut dyn Sink) {
        let (view, spare) = (&self.view, &mut self.spare);
        sink.take(records, &mut |index, out| view.fill(index, columns, out, spare));
        self.handed += records;
    }

    fn wrong_count(&self) -> Error {
        Error::Rows { declared: self.count.declared() }
    }

    /// The number of records declared.
    pub(crate) fn declared(&self) -> usize {
        self.count.declared()
    }

    /// The number of records admitted so far.
    pub(crate) fn pushed(&self) -> usize {
        self.handed + self.staged_records
    }

    /// Hands the last records on.
    ///
    /// # Errors
    /// [`Error::Rows`] if fewer records than declared were admitted.
    pub fn finish(mut self, sink: &mut dyn Sink) -> Result<(), Error> {
        if !self.count.admits(self.pushed()) {
            return Err(self.wrong_count());
        }
        if self.staged_records > 0 {
            self.hand_staged(sink);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Column, Fault, Schema};

    /// Keeps each column.
    struct Columns(Vec<Vec<f64>>);

    impl Sink for Columns {
        fn take(&mut self, records: usize, write: &mut dyn FnMut(usize, &mut [f64])) {
            for (index, column) in self.0.iter_mut().enumerate() {
                let start = column.len();
                column.resize(start + records, f64::NAN);
                write(index, &mut column[start..]);
            }
        }
    }

    #[test]
    fn every_record_reaches_the_sink_in_order() {
        for records in [1, 7, 1023, 1024, 1025, 3000] {
            let schema = Schema::unbounded(["a", "b"]).unwrap();
            let mut admission = Admission::new(View::all(schema), Count::Exactly(records)).unwrap();
            let mut sink = Columns(vec![Vec::new(); 2]);
            for i in 0..records {
                assert_eq!(admission.pushed(), i);
                admission.push_row(&[i as f64, -(i as f64)], &mut sink).unwrap();
            }
            assert_eq!(admission.push_row(&[0.0; 2], &mut sink), Err(Error::Rows { declared: records }));
            admission.finish(&mut sink).unwrap();
            assert!(sink.0[0].iter().enumerate().all(|(i, value)| *value == i as f64));
            assert!(sink.0[1].iter().enumerate().all(|(i, value)| *value == -(i as f64)));
            assert_eq!((sink.0[0].len(), sink.0[1].len()), (records, records));
        }
    }

    #[test]
    fn any_number_of_records_is_taken_where_it_is_secret() {
        for records in [0, 1, 7, 1023, 1024, 1025, 3000] {
            let view = View::all(Schema::unbounded(["a"]).unwrap());
            let mut admission = Admission::new(view, Count::About(7)).unwrap();
            let mut sink = Columns(vec![Vec::new()]);
            for i in 0..records {
                admission.push_row(&[i as f64], &mut sink).unwrap();
            }
            admission.finish(&mut sink).unwrap();
            assert!(sink.0[0].iter().copied().eq((0..records).map(|i| i as f64)));
        }
    }

    /// Keeps what was noted of the one column.
    struct Noted(Vec<Fault>, usize);

    impl Sink for Noted {
        fn take(&mut self, records: usize, _write: &mut dyn FnMut(usize, &mut [f64])) {
            self.1 += records;
        }

        fn noting(&self) -> Noting {
            Noting::Each
        }

        fn note(&mut self, _column: usize, faults: &Faults) {
            self.0.extend_from_slice(&faults.each);
        }
    }

    #[test]
    fn every_cell_is_noted_once_whoever_admits_it() {
        let column = Column::real("a", 0.0, 1.0, 0.5).unwrap();
        let view = View::all(Schema::new(vec![column.clone()]).unwrap());
        let value = |i: usize| [0.3, f64::NAN, 7.0][i % 3];
        // Rows of text, then columns that were admitted elsewhere, and so on.
        let pieces =
            [(false, 700), (true, 300), (true, 24), (true, BLOCK), (true, 5), (false, 2000), (true, 1)];
        let records = pieces.iter().map(|(_, count)| count).sum();
        let mut admission = Admission::new(view, Count::Exactly(records)).unwrap();
        let (mut sink, mut next) = (Noted(Vec::new(), 0), 0);
        for (is_admitted, count) in pieces {
            let mut values: Vec<f64> = (next..next + count).map(value).collect();
            next += count;
            if is_admitted {
                admission.settle(&mut sink);
                let mut faults = Faults::default();
                faults.admit(Noting::Each, &column, &mut values);
                sink.note(0, &faults);
                admission.push_admitted(count, &[&values], &mut sink).unwrap();
            } else {
                values.iter().for_each(|value| admission.push_row(&[*value], &mut sink).unwrap());
            }
        }
        admission.finish(&mut sink).unwrap();
        assert_eq!((sink.0.len(), sink.1), (records, records));
        assert!(sink.0.iter().enumerate().all(|(i, fault)| *fault == column.fault(value(i))));
    }

    #[test]
    fn refuses_wrong_counts_and_widths() {
        let view = View::all(Schema::unbounded(["a", "b"]).unwrap());
        assert!(matches!(
            Admission::new(view.clone(), Count::Exactly(0)),
            Err(Error::Data { key: "records", .. })
        ));
        let mut sink = Columns(vec![Vec::new(); 2]);
        let mut admission = Admission::new(view, Count::Exactly(2)).unwrap();
        assert_eq!(admission.push_row(&[1.0], &mut sink), Err(Error::Width { columns: 2 }));
        admission.push_row(&[1.0, 2.0], &mut sink).unwrap();
        assert_eq!(admission.finish(&mut sink), Err(Error::Rows { declared: 2 }));
    }
}
