//! Describes gradients that are one number per record times columns: the curator sums them without writing them first.

/// A gradient r·x of a record: an intercept's coordinate is r, a feature's is r times its column, and a nuisance's is a number of
/// its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sloped {
    /// Whether the first coordinate is r itself.
    pub intercept: bool,
    /// The column of the first feature; the others follow.
    pub first: usize,
    /// The number of features.
    pub features: usize,
    /// Whether the last coordinate is a number of its own.
    pub nuisance: bool,
}

/// A linear predictor of a record: `start` and w_j·x_j of each of a block's first columns, added with one rounding each, in order. Columns
/// whose weight is 0 are left out.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Line {
    /// What the sum starts from.
    pub start: f64,
    /// w, one entry per column.
    pub weights: Vec<f64>,
}

impl Sloped {
    /// Whether it has `dimension` coordinates and reads at most `columns` columns.
    #[must_use]
    pub fn fits(&self, dimension: usize, columns: usize) -> bool {
        let others = usize::from(self.intercept) + usize::from(self.nuisance);
        self.features.checked_add(others) == Some(dimension)
            && self.first.checked_add(self.features).is_some_and(|last| last <= columns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_and_columns_must_be_there() {
        let sloped = Sloped { intercept: true, first: 2, features: 3, nuisance: true };
        assert!(sloped.fits(5, 5));
        assert!(!sloped.fits(4, 5) && !sloped.fits(6, 5) && !sloped.fits(5, 4));
        assert!(!Sloped { first: usize::MAX, ..sloped }.fits(5, 5));
        assert!(!Sloped { features: usize::MAX, ..sloped }.fits(5, 5));
    }
}
