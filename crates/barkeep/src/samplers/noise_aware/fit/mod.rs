//! The posterior given the answers: expected scores at any θ, their variance, and the mode.

pub(crate) mod expectation;
pub(crate) mod persons;
pub(crate) mod posterior;
pub(crate) mod rivals;
pub(crate) mod tail;
pub(crate) mod terms;
pub(crate) mod whole;
