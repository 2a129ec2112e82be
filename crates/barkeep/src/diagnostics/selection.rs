//! Finds order statistics of numbers that do not fit into memory, exactly, digit by digit.

/// Bits of a digit.
const DIGIT: u32 = 11;
/// The positions of the digits of a key, the highest first.
pub(crate) const SHIFTS: [u32; 6] = [53, 42, 31, 20, 9, 0];

/// The order statistics of some ranks among numbers that come again in each of six passes, in any order.
///
/// A number's key is its bits, turned so that keys are ordered as numbers are. Pass k counts the k-th digits of keys whose
/// digits before are those of a wanted one: 2^11 counts for each wanted rank, whatever the number of numbers.
pub(crate) struct Selection {
    wanted: Vec<Wanted>,
    counts: Vec<Count>,
}

/// One rank.
struct Wanted {
    rank: u64,
    /// The key's digits that are known, and the rank among the keys that share them.
    prefix: u64,
    left: u64,
}

/// How often each digit comes after a prefix.
struct Count {
    prefix: u64,
    digits: Vec<u64>,
}

impl Selection {
    /// Prepares to find the numbers of these ranks, from 0.
    pub(crate) fn new(ranks: impl IntoIterator<Item = u64>) -> Self {
        let wanted: Vec<Wanted> =
            ranks.into_iter().map(|rank| Wanted { rank, prefix: 0, left: rank }).collect();
        let mut selection = Self { wanted, counts: Vec::new() };
        selection.prepare(SHIFTS[0]);
        selection
    }

    /// Shows a number in the pass of this shift.
    pub(crate) fn look(&mut self, shift: u32, number: f64) {
        let key = key(number);
        let (prefix, digit) = split(key, shift);
        if let Some(count) = self.counts.iter_mut().find(|count| count.prefix == prefix) {
            count.digits[digit] += 1;
        }
    }

    /// Ends the pass of a shift; the next one's, if there is one, can begin.
    pub(crate) fn end(&mut self, shift: u32, next: Option<u32>) {
        for wanted in &mut self.wanted {
            let Some(count) = self.counts.iter().find(|count| count.prefix == wanted.prefix) else {
                continue;
            };
            let mut digit = 0_u64;
            for counted in &count.digits {
                if wanted.left < *counted {
                    break;
                }
                wanted.left -= counted;
                digit += 1;
            }
            wanted.prefix = wanted.prefix << width(shift) | digit;
        }
        if let Some(next) = next {
            self.prepare(next);
        }
    }

    /// The number of a rank, after the last pass.
    pub(crate) fn at(&self, rank: u64) -> Option<f64> {
        self.wanted.iter().find(|wanted| wanted.rank == rank).map(|wanted| number(wanted.prefix))
    }

    fn prepare(&mut self, shift: u32) {
        let mut prefixes: Vec<u64> = self.wanted.iter().map(|wanted| wanted.prefix).collect();
        prefixes.sort_unstable();
        prefixes.dedup();
        let digits = || vec![0; 1 << width(shift)];
        self.counts = prefixes.into_iter().map(|prefix| Count { prefix, digits: digits() }).collect();
    }
}

/// Bits of the digit at a shift: the last one has fewer.
fn width(shift: u32) -> u32 {
    if shift == 0 { 9 } else { DIGIT }
}

/// The digits before a shift's, and the digit there.
fn split(key: u64, shift: u32) -> (u64, usize) {
    let above = key >> shift;
    let width = width(shift);
    (above >> width, (above & ((1 << width) - 1)) as usize)
}

const SIGN: u64 = 1 << 63;

/// Bits in the order of [`f64::total_cmp`].
fn key(number: f64) -> u64 {
    let bits = number.to_bits();
    if bits & SIGN == 0 { bits | SIGN } else { !bits }
}

fn number(key: u64) -> f64 {
    f64::from_bits(if key & SIGN == 0 { !key } else { key ^ SIGN })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn every_rank_is_that_of_sorting(
            mut numbers in prop::collection::vec(prop_oneof![prop::num::f64::ANY, -2.0..2.0, Just(0.5), Just(-0.0)], 1..80),
        ) {
            let mut selection = Selection::new(0..numbers.len() as u64);
            for (pass, shift) in SHIFTS.into_iter().enumerate() {
                numbers.iter().for_each(|number| selection.look(shift, *number));
                selection.end(shift, SHIFTS.get(pass + 1).copied());
            }
            numbers.sort_unstable_by(f64::total_cmp);
            for (rank, number) in (0..).zip(&numbers) {
                prop_assert_eq!(selection.at(rank).map(f64::to_bits), Some(number.to_bits()));
            }
            prop_assert_eq!(selection.at(numbers.len() as u64), None);
        }
    }
}
