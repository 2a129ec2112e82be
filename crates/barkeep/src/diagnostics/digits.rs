//! Writes numbers with no more digits than mean something.

/// From here on numbers have an exponent.
const LARGE: f64 = 1e9;

/// A last place that several numbers share; without one they have an exponent.
pub(crate) struct Grid(Option<usize>);

impl Grid {
    /// The place of the last of `digits` significant digits of `unit`, for numbers up to `largest`.
    pub(crate) fn of(unit: f64, digits: i32, largest: f64) -> Self {
        Self(decimals(unit, digits).filter(|_| largest < LARGE))
    }

    /// A number to that place.
    pub(crate) fn show(&self, value: f64) -> String {
        match self.0 {
            Some(decimals) => format!("{value:.decimals$}"),
            None => format!("{value:.3e}"),
        }
    }
}

/// A number with as many decimals as show the second digit of `unit`, such as its standard deviation or the width of its
/// interval. Where that would take more than eight, small numbers have an exponent, others six decimals.
#[must_use]
pub fn shown(value: f64, unit: f64) -> String {
    let unit = if unit > 0.0 && unit.is_finite() { unit } else { value };
    let places = decimals(unit, 2).or((value.abs() >= 1e-3).then_some(6));
    Grid(places.filter(|_| value.abs() < LARGE)).show(value)
}

/// A number with this many significant digits.
pub(crate) fn significant(value: f64, digits: i32) -> String {
    match decimals(value, digits) {
        Some(decimals) => format!("{value:.decimals$}"),
        None => format!("{value:.1e}"),
    }
}

/// How many decimals show `digits` significant ones of a positive `value`; `None` if an exponent is better.
fn decimals(value: f64, digits: i32) -> Option<usize> {
    if value == 0.0 {
        return Some(0);
    }
    let places = f64::from(digits - 1) - value.abs().log10().floor();
    (value.is_finite() && (-6.0..=8.0).contains(&places)).then_some(places.max(0.0) as usize)
}
