//! Holds a number together with the name of the accountant that found it.

use crate::{Bracket, Steps};

/// A number and how it was found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Answer {
    /// The value, from both sides where that is possible.
    pub bracket: Bracket,
    /// The accountant that found it, in words.
    pub method: &'static str,
}

/// The most steps within a budget and how they were found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Most {
    /// How many; 0 if not even one is.
    pub steps: Steps,
    /// The accountant that found them, in words.
    pub method: &'static str,
    /// Their ε, where the search came across it: what [`Contract::epsilon_above`](crate::Contract::epsilon_above) finds for them, to the bit.
    pub epsilon: Option<f64>,
}
