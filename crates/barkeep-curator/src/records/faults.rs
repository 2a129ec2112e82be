//! Counts the cells that were invalid or clamped, as a secret lattice vector that only a paid question reads.
//!
//! A cell is one of three things: valid, invalid or clamped. A record says for each column (1, 0) if its cell was invalid,
//! (0, 1) if it was clamped, (0, 0) else. Those are the corners of a triangle with sides 1, 1 and √2. Its corners lie √½ from
//! the point (½, ½); so less that point a record's vector over c columns has norm √(c/2), whatever the record says.
//! **Replacing a record then moves the sum by at most √(2c)**, which is attained. Where the number of records is secret the
//! point cannot be added back, and is not taken off: a vector has norm at most √c, and adding or removing a record moves the
//! sum by at most that.
//!
//! A person's vector is the mean over the person's rows. It lies in the same triangles, which are convex: the same bounds hold,
//! for any number of rows.
//!
//! **Privacy.** On the lattice, half a cell (a cell where nothing is taken off) is the largest integer z with 2c·z² ≤ 2^60 (with
//! c·z² ≤ 2^60), found in integers. A person's mean is cut towards zero, which shortens a vector. So every vector has norm at
//! most 2^30, the bound of [`sum_sensitivity`](crate::sum_sensitivity), in exact arithmetic.

use crate::records::persons::Persons;
use crate::{Clip, Refused};
use barkeep_data::{Count, Fault, Faults};

/// The clip bound at which a sum of faults counts cells: √(c/2) where the number of records is public, else √c, a rounding apart.
///
/// # Errors
/// [`Refused::Question`] without columns, or with more than 2^39.
pub fn faults_clip(columns: usize, count: Count) -> Result<Clip, Refused> {
    let cell = match count {
        Count::Exactly(_) => 2 * steps(columns, count),
        Count::About(_) => steps(columns, count),
    };
    #[expect(clippy::cast_precision_loss, reason = "at most 2^31")]
    Clip::new((1_u64 << 30) as f64 / cell as f64)
}

/// What is taken off every record's two numbers of a column: to be added back once per record.
#[must_use]
pub fn faults_centre(count: Count) -> f64 {
    match count {
        Count::Exactly(_) => 0.5,
        Count::About(_) => 0.0,
    }
}

/// z: what half a cell, or a cell, is worth in lattice steps.
fn steps(columns: usize, count: Count) -> u64 {
    let columns = columns.max(1) as u64;
    match count {
        Count::Exactly(_) => ((1 << 59) / columns).isqrt(),
        Count::About(_) => ((1 << 60) / columns).isqrt(),
    }
}

/// Σ over records, or persons, of their vectors on the lattice: for each column the invalid cells, then the clamped ones.
///
/// **Privacy.** A secret sum. No `Debug`, `Clone`, `Serialize` or `PartialEq`.
pub(crate) struct FaultSums(Vec<i64>);

/// How many cells of each column were noted, were invalid and were clamped, counted as they come: what records need.
///
/// **Privacy.** Secret numbers. No `Debug`, `Clone`, `Serialize` or `PartialEq`.
pub(crate) struct FaultTally(Vec<[usize; 3]>);

impl FaultTally {
    /// Nothing yet, of a file of this many columns.
    pub(crate) fn new(columns: usize) -> Self {
        Self(vec![[0; 3]; columns])
    }

    /// Counts some cells of a column.
    pub(crate) fn add(&mut self, column: usize, faults: &Faults) {
        let Some([noted, invalid, clamped]) = self.0.get_mut(column) else { return };
        *noted += faults.cells;
        *invalid += faults.invalid;
        *clamped += faults.clamped;
    }
}

/// What one record's cell, or one person's share `found` of `rows` rows, is worth in lattice steps: less a half where that is
/// taken off, cut towards zero.
fn worth(found: usize, rows: usize, columns: usize, count: Count) -> i64 {
    let z = i128::from(steps(columns, count));
    let (found, rows) = (found as i128, (rows as i128).max(1));
    let share = match count {
        Count::Exactly(_) => (2 * found - rows) * z / rows,
        Count::About(_) => found * z / rows,
    };
    // Within 2^30 by construction.
    i64::try_from(share).unwrap_or(0)
}

impl FaultSums {
    /// Adds up the cells of records: those with a fault, and those without.
    pub(crate) fn of_records(tally: &FaultTally, count: Count) -> Self {
        let [with, without] = [1, 0].map(|found| worth(found, 1, tally.0.len(), count));
        // At most 2^32 records of 2^30 each.
        let sum = |noted: usize, found: usize| with * found as i64 + without * (noted - found) as i64;
        let sums =
            tally.0.iter().flat_map(|&[noted, invalid, clamped]| [sum(noted, invalid), sum(noted, clamped)]);
        Self(sums.collect())
    }

    /// Adds up what was noted of each column's cells, in file order, by person.
    ///
    /// `persons` gives whose rows they are, `places` the place in the file of each row that counts, by person.
    pub(crate) fn of_persons(
        noted: &[Vec<Fault>],
        persons: &Persons,
        places: &[usize],
        count: Count,
    ) -> Self {
        let mut sums = Self::new(noted.len());
        for (column, cells) in noted.iter().enumerate() {
            for person in 0..persons.len() {
                let rows = &places[persons.start(person)..persons.start(person + 1)];
                let of = |fault| rows.iter().filter(|row| cells.get(**row) == Some(&fault)).count();
                sums.add_person(column, [of(Fault::Invalid), of(Fault::Clamped)], rows.len(), count);
            }
        }
        sums
    }

    /// Nothing yet, of a file of this many columns.
    pub(crate) fn new(columns: usize) -> Self {
        Self(vec![0; 2 * columns])
    }

    /// Adds a person of this many rows, of which so many had an invalid and a clamped cell in a column.
    pub(crate) fn add_person(
        &mut self,
        column: usize,
        [invalid, clamped]: [usize; 2],
        rows: usize,
        count: Count,
    ) {
        let columns = self.0.len() / 2;
        if let Some([invalid_sum, clamped_sum]) =
            self.0.get_mut(2 * column..).and_then(|sums| sums.first_chunk_mut())
        {
            *invalid_sum += worth(invalid, rows, columns, count);
            *clamped_sum += worth(clamped, rows, columns, count);
        }
    }

    /// The number of sums.
    pub(crate) fn width(&self) -> usize {
        self.0.len()
    }

    /// Adds the sums to others.
    pub(crate) fn add_to(&self, sums: &mut [i64]) {
        sums.iter_mut().zip(&self.0).for_each(|(sum, counted)| *sum += counted);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use barkeep_data::Roster;
    use proptest::prelude::*;

    const KINDS: [Fault; 3] = [Fault::Valid, Fault::Invalid, Fault::Clamped];

    fn found(each: &[Fault]) -> Faults {
        let times = |one| each.iter().filter(|fault| **fault == one).count();
        let (invalid, clamped) = (times(Fault::Invalid), times(Fault::Clamped));
        Faults { cells: each.len(), invalid, clamped, each: Vec::new() }
    }

    /// The sums over persons whose cells, column by column, are given row by row.
    fn sums(persons: &[Vec<Vec<Fault>>], count: Count, columns: usize) -> Vec<i64> {
        let mut roster = Roster::new(Count::Exactly(persons.len()));
        let mut noted = vec![Vec::new(); columns];
        for (who, rows) in persons.iter().enumerate() {
            for row in rows {
                assert!(roster.push(format!("{who}").as_bytes()));
                noted.iter_mut().zip(row).for_each(|(column, fault)| column.push(*fault));
            }
        }
        let (persons, places) = Persons::sort(&roster, None);
        FaultSums::of_persons(&noted, &persons, &places, count).0
    }

    proptest! {
        /// Replacing all rows of a person moves the sum by no more than 2^31, and by as much at the worst.
        #[test]
        fn a_whole_person_stays_within_reach(
            columns in 1..6_usize,
            seed in prop::collection::vec(prop::collection::vec(0..3_usize, 6), 1..30),
            other in prop::collection::vec(prop::collection::vec(0..3_usize, 6), 1..9),
        ) {
            let row = |row: &Vec<usize>| row[..columns].iter().map(|kind| KINDS[*kind]).collect::<Vec<_>>();
            let mut persons: Vec<Vec<Vec<Fault>>> = seed.chunks(3).map(|rows| rows.iter().map(row).collect()).collect();
            for (count, reach) in [(Count::Exactly(1), 1_i128 << 62), (Count::About(1), 1 << 62)] {
                let before = sums(&persons, count, columns);
                let mut after = persons.clone();
                after[0] = other.iter().map(row).collect();
                let moved = |a: &[i64], b: &[i64]| a.iter().zip(b).map(|(a, b)| i128::from(a - b).pow(2)).sum::<i128>();
                prop_assert!(moved(&before, &sums(&after, count, columns)) <= reach);
                // Added or removed.
                if count == Count::About(1) && persons.len() > 1 {
                    prop_assert!(moved(&before, &sums(&persons[1..], count, columns)) <= 1 << 60);
                }
            }
            persons[0] = vec![vec![Fault::Invalid; columns]];
            let one = sums(&persons, Count::Exactly(1), columns);
            // A person of one row is a record.
            let mut tally = FaultTally::new(columns);
            for person in &persons {
                (0..columns).for_each(|column| {
                    tally.add(column, &found(&person[0][column..=column]));
                });
            }
            for count in [Count::Exactly(1), Count::About(1)] {
                let rows: Vec<Vec<Vec<Fault>>> = persons.iter().map(|rows| rows[..1].to_vec()).collect();
                prop_assert_eq!(FaultSums::of_records(&tally, count).0, sums(&rows, count, columns));
            }
            persons[0] = vec![vec![Fault::Clamped; columns]];
            let far: i128 = one.iter().zip(sums(&persons, Count::Exactly(1), columns)).map(|(a, b)| i128::from(a - b).pow(2)).sum();
            prop_assert!(far <= 1 << 62 && far as f64 > 0.999_999 * 2_f64.powi(62));
        }
    }

    #[test]
    fn counts_come_back() {
        let mut tally = FaultTally::new(1);
        tally.add(0, &found(&[Fault::Invalid, Fault::Invalid]));
        tally.add(0, &found(&[Fault::Valid, Fault::Clamped]));
        for count in [Count::Exactly(4), Count::About(4)] {
            let unit = faults_clip(1, count).unwrap().get() / (1_u64 << 30) as f64;
            let found: Vec<f64> = FaultSums::of_records(&tally, count)
                .0
                .iter()
                .map(|sum| *sum as f64 * unit + 4.0 * faults_centre(count))
                .collect();
            assert!((found[0] - 2.0).abs() < 1e-6 && (found[1] - 1.0).abs() < 1e-6, "{found:?}");
        }
    }
}
