//! Divides persons into bands whose rows are gathered together, and says in which reading of the files each band comes by.
//!
//! Persons are numbered in the order of their first rows, as in memory, and a band is some persons that follow each other. Every person is
//! in exactly one band, with the rows that count in memory: the first `most_rows` in file order.
//!
//! A reading goes once through all rows and gathers one band after the other. A band follows in the same reading where all rows of the band
//! before have come by; else it needs another. Where rows lie person by person that is one reading, else as many as memory asks for.

use crate::records::persons::Persons;
use barkeep_data::{Error, Roster, Unit};
use std::ops::Range;

/// Whose row a row is that does not count.
const NOBODY: u32 = u32::MAX;

/// The persons of some files, in bands.
///
/// Memory is four bytes a row and eight a person.
///
/// **Privacy.** Says who has which rows, and how many. No `Debug`, `Clone`, `Serialize` or `PartialEq`.
pub(crate) struct Bands {
    /// The person of each row, in file order.
    rows: Vec<u32>,
    /// Where each person's rows start, were they sorted by person, and where the last one's end.
    starts: Vec<usize>,
    most_rows: Option<u64>,
    cut: Cut,
}

/// Where bands start.
struct Cut {
    /// Each band's first person, and behind them the number of persons.
    firsts: Vec<usize>,
    /// The bands of each reading.
    readings: Vec<Range<usize>>,
}

impl Bands {
    /// Bands of about as many rows as the first of `rooms` says, or the second where that takes fewer readings. A band has a person at least,
    /// however many rows that person has.
    ///
    /// # Errors
    /// [`Error::Room`] for 2^32 persons or more.
    pub(crate) fn new(roster: Roster, most_rows: Option<u64>, rooms: [usize; 2]) -> Result<Self, Error> {
        let persons = roster.persons();
        if persons >= NOBODY as usize {
            return Err(Error::Room);
        }
        let most = most_rows.map_or(usize::MAX, |most| usize::try_from(most).unwrap_or(usize::MAX));
        let mut rows = roster.into_rows();
        let mut seen = vec![Seen { rows: 0, first: 0, last: 0 }; persons];
        for (place, row) in rows.iter_mut().enumerate() {
            let Some(seen) = seen.get_mut(*row as usize) else { continue };
            if seen.rows == most {
                *row = NOBODY;
                continue;
            }
            if seen.rows == 0 {
                seen.first = place;
            }
            (seen.rows, seen.last) = (seen.rows + 1, place);
        }
        let [cut, longer] = rooms.map(|room| Cut::new(&seen, room));
        let cut = if longer.readings.len() < cut.readings.len() { longer } else { cut };
        let mut starts = Vec::with_capacity(persons + 1);
        starts.push(0);
        let mut total = 0;
        starts.extend(seen.iter().map(|seen| {
            total += seen.rows;
            total
        }));
        Ok(Self { rows, starts, most_rows, cut })
    }

    /// The number of persons.
    pub(crate) fn persons(&self) -> usize {
        self.starts.len() - 1
    }

    /// The most rows of a band.
    pub(crate) fn longest(&self) -> usize {
        (0..self.cut.firsts.len() - 1).map(|band| self.band_rows(band)).max().unwrap_or(0).max(1)
    }

    fn band_rows(&self, band: usize) -> usize {
        let starts = self.starts_of(band);
        starts.first().zip(starts.last()).map_or(0, |(first, last)| last - first)
    }

    /// The unit of the persons' table.
    pub(crate) fn unit(&self) -> Unit {
        Unit::Person { most_rows: self.most_rows }
    }

    /// A walk through the rows for each reading.
    pub(crate) fn walks(&self) -> impl Iterator<Item = Walk<'_>> {
        self.cut.readings.iter().map(|reading| {
            let left = self.band_rows(reading.start);
            Walk { bands: self, row: 0, band: reading.start, end: reading.end, left }
        })
    }

    /// The persons of a band, as those of a table.
    pub(crate) fn of(&self, band: usize) -> Persons {
        Persons::from_starts(self.starts_of(band), self.most_rows)
    }

    fn starts_of(&self, band: usize) -> &[usize] {
        let Some(&[first, end]) = self.cut.firsts.get(band..).and_then(|firsts| firsts.first_chunk()) else {
            return &[];
        };
        self.starts.get(first..=end).unwrap_or_default()
    }
}

/// What was seen of a person: how many rows count, and where the first and the last of them stand.
#[derive(Clone)]
struct Seen {
    rows: usize,
    first: usize,
    last: usize,
}

impl Cut {
    fn new(seen: &[Seen], room: usize) -> Self {
        let (mut firsts, mut readings, mut reading) = (Vec::new(), Vec::new(), 0);
        // Of the band that is cut.
        let (mut rows, mut last) = (0_usize, 0);
        for (person, own) in seen.iter().enumerate() {
            if person == 0 || rows.saturating_add(own.rows) > room {
                // Its first row comes before the other band's last: not in one reading.
                if person > 0 && last > own.first {
                    readings.push(reading..firsts.len());
                    reading = firsts.len();
                }
                firsts.push(person);
                (rows, last) = (0, 0);
            }
            rows += own.rows;
            last = last.max(own.last);
        }
        readings.push(reading..firsts.len());
        firsts.push(seen.len());
        Self { firsts, readings }
    }
}

/// Goes through the rows of one reading in file order.
#[derive(Clone)]
pub(crate) struct Walk<'a> {
    bands: &'a Bands,
    row: usize,
    band: usize,
    end: usize,
    /// Rows of the band that are still to come.
    left: usize,
}

/// Whose the next row is.
pub(crate) enum Next {
    /// Nobody's of the band that is gathered.
    Other,
    /// This person's, counted from the band's first. Where it is the band's last row, the band is named.
    Own { person: usize, completes: Option<usize> },
}

impl<'a> Walk<'a> {
    /// Turns to the next row.
    #[inline]
    pub(crate) fn next(&mut self) -> Next {
        let row = self.bands.rows.get(self.row).copied().unwrap_or(NOBODY);
        self.row += 1;
        let Some(&[first, end]) =
            self.bands.cut.firsts.get(self.band..).and_then(|firsts| firsts.first_chunk())
        else {
            return Next::Other;
        };
        let person = row as usize;
        if self.left == 0 || row == NOBODY || !(first..end).contains(&person) {
            return Next::Other;
        }
        self.left -= 1;
        let mut completes = None;
        if self.left == 0 {
            completes = Some(self.band);
            self.band += 1;
            self.left = if self.band < self.end { self.bands.band_rows(self.band) } else { 0 };
        }
        Next::Own { person: person - first, completes }
    }

    /// The number of rows of each person of a band.
    pub(crate) fn lengths(&self, band: usize) -> impl Iterator<Item = usize> + use<'a> {
        self.bands.starts_of(band).windows(2).map(|ends| ends[1] - ends[0])
    }

    /// Whether all rows, and only they, have come by.
    pub(crate) fn is_complete(&self) -> bool {
        self.band == self.end && self.row == self.bands.rows.len()
    }
}

#[cfg(test)]
mod tests;
