//! What is asked, in which order and at which price: columns, rounds of scores, checks.

pub(crate) mod ask;
pub(crate) mod coordinates;
pub(crate) mod shares;
pub(crate) mod whole_scores;
