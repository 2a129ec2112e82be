//! Finds level lines of a function on a grid, by marching squares.

use barkeep_plot::Piece;

/// Values of a function of two variables on a regular grid.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Grid {
    /// Ends of the first variable.
    x: (f64, f64),
    /// Ends of the second.
    y: (f64, f64),
    nodes: usize,
    /// Row after row, the first variable running fastest.
    values: Vec<f64>,
}

impl Grid {
    /// Evaluates a function at `nodes`² places.
    pub(crate) fn new(x: (f64, f64), y: (f64, f64), nodes: usize, f: impl Fn(f64, f64) -> f64) -> Self {
        let nodes = nodes.max(2);
        let mut grid = Self { x, y, nodes, values: Vec::new() };
        grid.values = (0..nodes * nodes)
            .map(|k| {
                let (x, y) = grid.node(k % nodes, k / nodes);
                f(x, y)
            })
            .collect();
        grid
    }

    fn node(&self, i: usize, j: usize) -> (f64, f64) {
        let share =
            |i: usize, (low, high): (f64, f64)| low + (high - low) * i as f64 / (self.nodes - 1) as f64;
        (share(i, self.x), share(j, self.y))
    }

    /// The largest value.
    fn most(&self) -> f64 {
        self.values.iter().copied().fold(f64::NEG_INFINITY, f64::max)
    }

    /// For log-densities: the levels whose regions hold these shares of the mass.
    pub(crate) fn levels_of_mass(&self, shares: &[f64]) -> Vec<f64> {
        let mut sorted: Vec<f64> = self.values.clone();
        sorted.sort_by(|a, b| b.total_cmp(a));
        let most = self.most();
        let total: f64 = sorted.iter().map(|v| (v - most).exp()).sum();
        let level = |share: &f64| {
            let mut held = 0.0;
            let reached = sorted.iter().find(|v| {
                held += (**v - most).exp();
                held >= share * total
            });
            reached.copied().unwrap_or(most)
        };
        shares.iter().map(level).collect()
    }
}

/// The pieces of a function's level line.
pub(crate) fn contours(grid: &Grid, level: f64) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let value = |i: usize, j: usize| grid.values[j * grid.nodes + i];
    for j in 0..grid.nodes - 1 {
        for i in 0..grid.nodes - 1 {
            let corners = [(i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)];
            let mut crossings = Vec::with_capacity(4);
            for k in 0..4 {
                let (a, b) = (corners[k], corners[(k + 1) % 4]);
                let (at_a, at_b) = (value(a.0, a.1), value(b.0, b.1));
                if (at_a >= level) != (at_b >= level) {
                    let share = ((level - at_a) / (at_b - at_a)).clamp(0.0, 1.0);
                    let (a, b) = (grid.node(a.0, a.1), grid.node(b.0, b.1));
                    crossings.push((a.0 + share * (b.0 - a.0), a.1 + share * (b.1 - a.1)));
                }
            }
            // A saddle has four crossings; either way of joining them is right.
            pieces.extend(crossings.chunks_exact(2).map(|pair| (pair[0], pair[1])));
        }
    }
    pieces
}

#[cfg(test)]
mod tests;
