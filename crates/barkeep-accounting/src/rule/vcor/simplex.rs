//! Solves small dense linear programs by the simplex method, with the dual solution that proves the optimum.

/// A solved program: the maximum, where it is attained, and the price of each constraint.
pub(super) struct Solution {
    /// x at the maximum.
    pub(super) variables: Vec<f64>,
    /// The multipliers of the rows: by how much the maximum grows per unit of right-hand side.
    pub(super) prices: Vec<f64>,
}

/// Below this a pivot or a reduced cost counts as zero; the programs solved here have entries of order one.
const ZERO: f64 = 1e-13;

/// Maximises c·x subject to Ax ≤ b and x ≥ 0, for b ≥ 0.
///
/// Rows of `matrix` are rows of A. None if the program is unbounded or takes more than 50 pivots per row and column.
///
/// The largest reduced cost enters (Dantzig); while the maximum stalls, the first one does (Bland), which cannot cycle.
pub(super) fn maximise(objective: &[f64], matrix: &[Vec<f64>], right: &[f64]) -> Option<Solution> {
    let (rows, columns) = (matrix.len(), objective.len());
    let width = columns + rows + 1;
    let mut tableau: Vec<Vec<f64>> = Vec::with_capacity(rows);
    for (i, row) in matrix.iter().enumerate() {
        let mut line = vec![0.0; width];
        line[..columns].copy_from_slice(row);
        line[columns + i] = 1.0;
        line[width - 1] = right[i];
        tableau.push(line);
    }
    let mut costs = vec![0.0; width];
    costs[..columns].copy_from_slice(objective);
    let mut basis: Vec<usize> = (columns..columns + rows).collect();
    let mut stalled = 0_usize;
    for _ in 0..50 * (rows + columns) {
        let entering = if stalled > rows {
            costs[..width - 1].iter().position(|&cost| cost > ZERO)
        } else {
            let best = (0..width - 1).max_by(|&a, &b| costs[a].total_cmp(&costs[b]));
            best.filter(|&column| costs[column] > ZERO)
        };
        let Some(entering) = entering else {
            let mut variables = vec![0.0; columns];
            for (line, &variable) in tableau.iter().zip(&basis) {
                if variable < columns {
                    variables[variable] = line[width - 1].max(0.0);
                }
            }
            let prices = costs[columns..width - 1].iter().map(|&cost| (-cost).max(0.0)).collect();
            return Some(Solution { variables, prices });
        };
        let leaving = leaving_row(&tableau, &basis, entering)?;
        let step = tableau[leaving][width - 1] / tableau[leaving][entering];
        stalled = if step * costs[entering] > ZERO { 0 } else { stalled + 1 };
        pivot(&mut tableau, &mut costs, leaving, entering);
        basis[leaving] = entering;
    }
    None
}

/// The row that reaches zero first; ties go to the variable of least index.
fn leaving_row(tableau: &[Vec<f64>], basis: &[usize], entering: usize) -> Option<usize> {
    let mut best: Option<(f64, usize)> = None;
    for (i, line) in tableau.iter().enumerate() {
        if line[entering] > ZERO {
            let ratio = line[line.len() - 1].max(0.0) / line[entering];
            let closer = match best {
                None => true,
                Some((least, row)) => ratio < least || (ratio == least && basis[i] < basis[row]),
            };
            if closer {
                best = Some((ratio, i));
            }
        }
    }
    best.map(|(_, row)| row)
}

fn pivot(tableau: &mut [Vec<f64>], costs: &mut [f64], row: usize, column: usize) {
    let scale = 1.0 / tableau[row][column];
    for entry in &mut tableau[row] {
        *entry *= scale;
    }
    let chosen = tableau[row].clone();
    let eliminate = |line: &mut [f64]| {
        let factor = line[column];
        if factor != 0.0 {
            for (entry, &other) in line.iter_mut().zip(&chosen) {
                *entry -= factor * other;
            }
            line[column] = 0.0;
        }
    };
    for (i, line) in tableau.iter_mut().enumerate() {
        if i != row {
            eliminate(line);
        }
    }
    eliminate(costs);
}

#[cfg(test)]
mod tests;
