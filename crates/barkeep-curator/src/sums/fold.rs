//! Adds the terms of a person's rows up, so that a person is clipped, rounded and counted once.
//!
//! **Privacy.** Lemma (a person's term is its own). The folded term of a person is a function of that person's rows, in
//! their order in the file, and of public numbers: a row's term is a function of that row, and rows are added in file order in
//! f64, by one worker, from the first to the last. It does not depend on where the rows stand, in which block, beside whom, or
//! on the number of threads. So replacing all rows of a person changes one term of a sum, whatever they are and however many:
//! every proof in [`lattice`](crate::lattice) holds with "person" for "record", since each bounds a term whatever f64 did
//! inside it.
//!
//! Rows are added in f64 rather than on a lattice of their own. A person with one row then has the very term a record would
//! have, to the bit, and rows far beyond the clip may cancel before they are clipped. What is given up is this: the order of
//! one person's rows may change the last bit of that person's term. No guarantee depends on that.

/// What was added up so far of a person whose rows do not end in the block.
///
/// **Privacy.** Holds values computed from records. Not visible outside the crate.
#[derive(Default)]
pub(crate) struct Fold {
    carried: Vec<f64>,
    /// Whether a person is open, so that what is carried counts.
    is_open: bool,
}

/// Rows of a tile, and which of them are the last of a person.
#[derive(Clone, Copy)]
pub(crate) struct Ends<'a> {
    /// Positions after the last row of each person that ends there, ascending, counted from `start` before the tile.
    pub(crate) ends: &'a [u32],
    /// Where the tile starts on that count.
    pub(crate) start: u32,
    /// The number of rows.
    pub(crate) rows: usize,
}

impl<'a> Ends<'a> {
    /// The number of persons that end in the tile.
    pub(crate) fn persons(self) -> usize {
        self.ends.len()
    }

    /// The number of the tile's rows up to the last one of each person that ends in it.
    pub(crate) fn places(self) -> impl Iterator<Item = usize> + use<'a> {
        self.ends.iter().map(move |end| (*end - self.start) as usize)
    }

    /// The tile of `rows` rows from `start` on, of a block that starts at 0.
    pub(crate) fn tile(self, start: usize, rows: usize) -> Self {
        let up_to = |row: usize| self.ends.partition_point(|end| *end as usize <= row);
        Self { ends: &self.ends[up_to(start)..up_to(start + rows)], start: start as u32, rows }
    }
}

impl Fold {
    /// Makes room for `width` numbers per person, with nobody open.
    pub(crate) fn start(&mut self, width: usize) {
        self.carried.clear();
        self.carried.resize(width, 0.0);
        self.is_open = false;
    }

    /// Adds one number of each of a tile's rows up by person: `out` takes those of persons that end in the tile.
    ///
    /// What is left is carried to the next tile; [`Fold::pass`] follows after all numbers of the tile.
    pub(crate) fn add(&mut self, index: usize, terms: &[f64], tile: Ends<'_>, out: &mut [f64]) {
        let Some(carried) = self.carried.get_mut(index) else { return };
        let mut rest = &terms[..tile.rows];
        let mut sum = self.is_open.then_some(*carried);
        let mut from = tile.start;
        for (out, end) in out.iter_mut().zip(tile.ends) {
            let (own, others) = rest.split_at((end - from) as usize);
            *out = added(sum.take(), own).unwrap_or(0.0);
            (rest, from) = (others, *end);
        }
        if let Some(open) = added(sum, rest) {
            *carried = open;
        }
    }

    /// Moves on to the next tile.
    pub(crate) fn pass(&mut self, tile: Ends<'_>) {
        self.is_open = match tile.ends.last() {
            Some(last) => ((last - tile.start) as usize) < tile.rows,
            None => self.is_open || tile.rows > 0,
        };
    }

    /// Adds a tile's coordinate-major terms up by person, `width` numbers each, into `out`, coordinate-major too.
    pub(crate) fn add_all(&mut self, terms: &[f64], width: usize, tile: Ends<'_>, out: &mut [f64]) {
        let persons = tile.persons();
        for index in 0..width {
            let out = out.get_mut(index * persons..(index + 1) * persons).unwrap_or_default();
            self.add(index, &terms[index * tile.rows..], tile, out);
        }
        self.pass(tile);
    }
}

/// The sum of numbers from left to right, after what came before them; none of nothing.
fn added(before: Option<f64>, numbers: &[f64]) -> Option<f64> {
    match (before, numbers.split_first()) {
        (Some(before), _) => Some(numbers.iter().fold(before, |sum, number| sum + number)),
        (None, Some((first, others))) => Some(others.iter().fold(*first, |sum, number| sum + number)),
        (None, None) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Folds rows, `lengths` of them per person, in tiles of the given size.
    fn folded(terms: &[f64], lengths: &[usize], size: usize) -> Vec<u64> {
        let ends: Vec<u32> = lengths
            .iter()
            .scan(0, |end, length| {
                *end += *length as u32;
                Some(*end)
            })
            .collect();
        let all = Ends { ends: &ends, start: 0, rows: terms.len() };
        let mut fold = Fold::default();
        fold.start(1);
        let mut out = Vec::new();
        for start in (0..terms.len()).step_by(size) {
            let tile = all.tile(start, size.min(terms.len() - start));
            let mut persons = vec![0.0; tile.persons()];
            fold.add_all(&terms[start..], 1, tile, &mut persons);
            out.extend(persons.into_iter().map(f64::to_bits));
        }
        out
    }

    proptest! {
        /// Whatever the tiles are, a person's term has the bits of the plain sum of its rows.
        #[test]
        fn tiles_do_not_matter(
            persons in prop::collection::vec(prop::collection::vec(any::<f64>(), 1..9), 1..20),
            size in 1..12_usize,
        ) {
            let terms: Vec<f64> = persons.concat();
            let lengths: Vec<usize> = persons.iter().map(Vec::len).collect();
            let plain: Vec<u64> = persons
                .iter()
                .map(|rows| rows[1..].iter().fold(rows[0], |sum, row| sum + row).to_bits())
                .collect();
            let found = folded(&terms, &lengths, size);
            let same = |a: &u64, b: &u64| a == b || f64::from_bits(*a).is_nan() && f64::from_bits(*b).is_nan();
            prop_assert_eq!(found.len(), plain.len());
            prop_assert!(found.iter().zip(&plain).all(|(a, b)| same(a, b)));
        }
    }
}
