//! Adds outer products of records up in integers, with one record's share bounded by an exact check.
//!
//! A program writes a vector x of each record, which is shortened to ‖x‖ ≤ R. Let M be the integer that stands for
//! 1, a = (M, q) with q the integers nearest to M·x towards zero, and G² = 2^30. What is summed is a·aᵀ without its first
//! entry: M·q_j, q_j² and q_j·q_k for j < k.
//!
//! **Privacy.** Each q is checked exactly: where ‖q‖² + M² > G² it becomes 0. So ‖a‖² ≤ G² for any f64 coordinates,
//! and for two records ‖aaᵀ − bbᵀ‖²_F = ‖a‖⁴ + ‖b‖⁴ − 2(a·b)² ≤ 2G⁴. A matrix counts each pair j < k twice in that
//! norm. So let every diagonal entry be released with noise σ and every pair once with noise of at least σ/√2: then
//! Σ_j (move of jj)²/σ² + Σ_{j<k} (move of jk)²/(σ²/2) ≤ ‖aaᵀ − bbᵀ‖²_F/σ² ≤ (√2·G²/σ)². That is a Gaussian mechanism of
//! ratio σ/(√2·G²), after a public scaling of coordinates. The first entry is M² whatever the record is. Adding or
//! removing a record moves the matrix by ‖aaᵀ‖_F = ‖a‖² ≤ G². ∎
//!
//! **Persons.** What is summed of a person is the mean P of a·aᵀ over the person's rows, each entry rounded down to an integer.
//! Rows are checked for ‖a‖² ≤ G² − s, with s = p + 1 the size of a. P is positive semidefinite with trace at most G² − s, so
//! ‖P‖_F ≤ G² − s, and ⟨P, Q⟩ ≥ 0 for two of them: ‖P − Q‖_F ≤ √2(G² − s), for any numbers of any rows. Rounding down moves each
//! entry of P − Q by less than 1, and the matrix by less than s. √2(G² − s) + s ≤ √2·G²: the same reach as a record's. One person
//! alone has a norm below G² − s + s = G². ∎

use crate::Refused;
use crate::error::question;
use barkeep_accounting::{Neighbours, Sensitivity};
use barkeep_num::up_by;

/// G²: 2^32 records of it stay within 2^62.
const SQUARE: i64 = 1 << 30;

/// Entries of a gram of p coordinates: p for the sums, p(p+1)/2 for the products.
#[must_use]
pub fn gram_width(coordinates: usize) -> usize {
    coordinates + coordinates * (coordinates + 1) / 2
}

/// M for a radius R: ⌊2^15/√(R² + 1)⌋.
pub(crate) fn one(radius: f64) -> Result<i64, Refused> {
    let steps = (32768.0 / (radius * radius + 1.0).sqrt()).floor();
    // Fewer steps to 1 than this would make the rounding of coordinates visible.
    if steps >= 64.0 {
        Ok(steps as i64)
    } else {
        Err(question("clip", "at most 500 for products of coordinates"))
    }
}

/// What one lattice step of a gram is worth: 1/M², rounded.
pub(crate) fn gram_unit(radius: f64) -> Result<f64, Refused> {
    let steps = one(radius)? as f64;
    Ok(1.0 / (steps * steps))
}

/// How far one neighbouring change moves a gram, in lattice steps and weighted as the module says. Rounded up.
pub(crate) fn gram_reach(neighbours: Neighbours) -> f64 {
    match neighbours {
        Neighbours::Substitute => up_by(std::f64::consts::SQRT_2 * SQUARE as f64, 2),
        Neighbours::AddRemove => SQUARE as f64,
    }
}

/// The sensitivity of a gram of radius `radius`, as it is charged: √2·G²/M² under substitution, G²/M² under adding or
/// removing; about √2(R² + 1) and R² + 1. Rounded up.
///
/// **Privacy.** Proved in this module: no record's outer product exceeds G² in norm, exactly.
///
/// # Errors
/// [`Refused::Question`] for a radius above 500.
pub fn gram_sensitivity(radius: f64, neighbours: Neighbours) -> Result<Sensitivity, Refused> {
    Ok(Sensitivity::new(up_by(gram_unit(radius)? * gram_reach(neighbours), 2))?)
}

/// Adds the outer products of records' x, written entry by entry, to `sums`. The work is the same whatever the records say.
pub(crate) fn add(values: &[f64], records: usize, (radius, one): (f64, i64), sums: &mut [i64]) {
    let p = values.len() / records.max(1);
    each(values, records, (radius, SQUARE), one, |_, whole| {
        let (firsts, mut products) = sums.split_at_mut(p);
        firsts.iter_mut().zip(whole).for_each(|(sum, q)| *sum += one * q);
        for (j, left) in whole.iter().enumerate() {
            let (row, rest) = products.split_at_mut(p - j);
            row.iter_mut().zip(&whole[j..]).for_each(|(sum, right)| *sum += left * right);
            products = rest;
        }
    });
}

/// Adds the means over rows of the persons that end in a tile to `sums`; what is left stays open. `ends` are the numbers of rows up to the last of
/// each person.
pub(crate) fn add_persons(
    values: &[f64],
    (rows, ends): (usize, impl Iterator<Item = usize>),
    (radius, one): (f64, i64),
    open: &mut OpenProducts,
    sums: &mut [i64],
) {
    let square = SQUARE - ((values.len() / rows.max(1)) as i64 + 1);
    let mut ends = ends.peekable();
    // Rows at the radius itself pass the check, rounded as they are.
    each(values, rows, (radius * (1.0 - NARROWER), square), one, |i, whole| {
        let pairs = whole.iter().enumerate().flat_map(|(j, left)| whole[j..].iter().map(move |y| left * y));
        let own = whole.iter().map(|q| one * q).chain(pairs);
        open.sums.iter_mut().zip(own).for_each(|(sum, product)| *sum += i128::from(product));
        open.rows += 1;
        if ends.next_if_eq(&(i + 1)).is_some() {
            for (sum, own) in sums.iter_mut().zip(&mut open.sums) {
                // A mean of numbers within ±2^30.
                *sum += i64::try_from(own.div_euclid(open.rows)).unwrap_or(0);
                *own = 0;
            }
            open.rows = 0;
        }
    });
}

/// Shows the integers q of each row's x: shortened to the radius, and 0 where ‖q‖² + M² exceeds `square`.
fn each(
    values: &[f64],
    records: usize,
    (radius, square): (f64, i64),
    one: i64,
    mut show: impl FnMut(usize, &[i64]),
) {
    let mut whole = vec![0_i64; values.len() / records.max(1)];
    for i in 0..records {
        let squares: f64 = values.iter().skip(i).step_by(records).map(|x| x * x).sum();
        let length = squares.sqrt();
        let factor = if length > radius { radius / length } else { 1.0 } * one as f64;
        let mut norm = one * one;
        for (whole, x) in whole.iter_mut().zip(values.iter().skip(i).step_by(records)) {
            // Saturates, and not a number becomes 0; then cut, so that squares cannot overflow.
            *whole = ((x * factor) as i64).clamp(-(1 << 16), 1 << 16);
            norm = norm.saturating_add(*whole * *whole);
        }
        let counts = i64::from(norm <= square);
        whole.iter_mut().for_each(|whole| *whole *= counts);
        show(i, &whole);
    }
}

/// What rows of persons are shortened by beyond the radius. From R = 0.6 on R²M² is at least 2^28, and 2^−15 of that exceeds the
/// s ≤ 4097 that the check takes off.
const NARROWER: f64 = 1.0 / 32768.0;

/// The products of a person whose rows do not end in the block.
///
/// **Privacy.** Holds values computed from records. Not visible outside the crate.
#[derive(Default)]
pub(crate) struct OpenProducts {
    sums: Vec<i128>,
    rows: i128,
}

impl OpenProducts {
    /// Makes room for `width` sums, with nobody open.
    pub(crate) fn start(&mut self, width: usize) {
        self.sums.clear();
        self.sums.resize(width, 0);
        self.rows = 0;
    }
}

/// Whether entry `k` of a gram of p coordinates is on the diagonal.
pub(crate) fn is_square(k: usize, p: usize) -> bool {
    let mut first = p;
    for j in 0..p {
        if k == first {
            return true;
        }
        first += p - j;
    }
    false
}

#[cfg(test)]
mod tests;
