//! Runs over whole columns of a block in loops the compiler turns into vector instructions.

use barkeep_data::Block;

/// How many columns one pass over the records adds up: enough to spare `out` most of its traffic, few enough
/// for the registers.
const FUSED: usize = 4;

/// Writes out_i = start + Σ_j term(w_j, x_ij − m_j), where (w_j, m_j) = `terms(j)` for each of `columns`.
///
/// A column with w_j = 0 is not read: the caller's term must be zero there. Additions are in the order of the
/// columns, so the bits do not depend on how columns are grouped.
#[inline(always)]
pub(crate) fn sum_columns(
    block: Block<'_>,
    columns: usize,
    start: f64,
    out: &mut [f64],
    terms: impl Fn(usize) -> (f64, f64),
    term: impl Fn(f64, f64) -> f64 + Copy,
) {
    let mut active = (0..columns).map(|j| (block.column(j), terms(j))).filter(|(_, (w, _))| *w != 0.0);
    let mut first = true;
    loop {
        let mut group = [(&[] as &[f64], (0.0, 0.0)); FUSED];
        let mut count = 0;
        for (slot, column) in group.iter_mut().zip(&mut active) {
            *slot = column;
            count += 1;
        }
        let [a, b, c, _] = group;
        match count {
            0 if first => out.fill(start),
            0 => {}
            1 => add([a], first, start, out, term),
            2 => add([a, b], first, start, out, term),
            3 => add([a, b, c], first, start, out, term),
            _ => add(group, first, start, out, term),
        }
        if count < FUSED {
            return;
        }
        first = false;
    }
}

#[inline(always)]
fn add<const K: usize>(
    group: [(&[f64], (f64, f64)); K],
    first: bool,
    start: f64,
    out: &mut [f64],
    term: impl Fn(f64, f64) -> f64 + Copy,
) {
    // Equal lengths, visible to the compiler: no bounds check survives in the loops.
    let length = group.iter().fold(out.len(), |length, (column, _)| length.min(column.len()));
    let out = &mut out[..length];
    let columns = group.map(|(column, _)| &column[..length]);
    let weights = group.map(|(_, (weight, _))| weight);
    let centres = group.map(|(_, (_, centre))| centre);
    if first {
        out.fill(start);
    }
    for i in 0..length {
        let mut sum = out[i];
        for k in 0..K {
            sum += term(weights[k], columns[k][i] - centres[k]);
        }
        out[i] = sum;
    }
}
