//! Says which rows are one person's, once the rows lie one person after the other.

use barkeep_data::{Roster, Unit};

/// Whose the rows of a table are: each person's lie together, in file order, persons in the order of their first rows.
///
/// **Privacy.** How many rows a person has is secret. No `Debug`, `Clone`, `Serialize` or `PartialEq`.
pub(crate) struct Persons {
    /// Where each person's rows start, and where the last one's end.
    starts: Vec<usize>,
    most_rows: Option<u64>,
}

impl Persons {
    /// Sorts the rows of a roster by person: the persons, and the place in the file of each row that counts.
    ///
    /// A counting sort: persons in the order of their first rows, the rows of each in file order, at most the first
    /// `most_rows` of them.
    pub(crate) fn sort(roster: &Roster, most_rows: Option<u64>) -> (Self, Vec<usize>) {
        let most = most_rows.map_or(usize::MAX, |most| usize::try_from(most).unwrap_or(usize::MAX));
        let mut counts = vec![0_usize; roster.persons()];
        for person in roster.rows() {
            let count = &mut counts[*person as usize];
            *count = most.min(*count + 1);
        }
        let mut starts = Vec::with_capacity(counts.len() + 1);
        starts.push(0);
        let mut total = 0;
        starts.extend(counts.iter().map(|count| {
            total += count;
            total
        }));
        let mut places = vec![0; total];
        let mut next = starts.clone();
        for (row, person) in roster.rows().iter().enumerate() {
            let person = *person as usize;
            if next[person] < starts[person + 1] {
                places[next[person]] = row;
                next[person] += 1;
            }
        }
        (Self { starts, most_rows }, places)
    }

    /// Persons of whom each one's rows start at the next of these numbers, and the last one's end at the last.
    pub(crate) fn from_starts(starts: &[usize], most_rows: Option<u64>) -> Self {
        let first = starts.first().copied().unwrap_or(0);
        Self { starts: starts.iter().map(|start| start - first).collect(), most_rows }
    }

    /// Where each row goes that comes in the order of `whose`, to lie by person: for each place the row, counted as they come.
    pub(crate) fn places(&self, whose: &[u32]) -> Vec<usize> {
        let mut places = vec![0; whose.len()];
        let mut next = self.starts.clone();
        for (row, person) in whose.iter().enumerate() {
            if let Some(next) = next.get_mut(*person as usize)
                && let Some(place) = places.get_mut(*next)
            {
                *place = row;
                *next += 1;
            }
        }
        places
    }

    /// The number of persons.
    pub(crate) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// The unit of a table of persons.
    pub(crate) fn unit(&self) -> Unit {
        Unit::Person { most_rows: self.most_rows }
    }

    /// Where a person's rows start; past the last person, where all rows end.
    pub(crate) fn start(&self, person: usize) -> usize {
        self.starts.get(person).or(self.starts.last()).copied().unwrap_or(0)
    }

    /// The first person whose rows start at `row` or after it.
    pub(crate) fn first_from(&self, row: usize) -> usize {
        self.starts.partition_point(|start| *start < row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_gathered_by_person_in_file_order_and_cut() {
        let mut roster = Roster::new(barkeep_data::Count::About(1));
        for name in ["b", "a", "b", "c", "a", "b", "b"] {
            assert!(roster.push(name.as_bytes()));
        }
        let (persons, places) = Persons::sort(&roster, None);
        assert_eq!(places, [0, 2, 5, 6, 1, 4, 3]);
        assert_eq!(persons.starts, [0, 4, 6, 7]);
        assert_eq!((persons.len(), persons.start(1), persons.start(9)), (3, 4, 7));
        assert_eq!([0, 1, 4, 5, 7].map(|row| persons.first_from(row)), [0, 1, 1, 2, 3]);
        let (persons, places) = Persons::sort(&roster, Some(2));
        assert_eq!(places, [0, 2, 1, 4, 3]);
        assert_eq!(persons.starts, [0, 2, 4, 5]);
    }
}
