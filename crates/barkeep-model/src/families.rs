//! Lists the families a regression's response can have, one file each.

use crate::family::FamilyEntry;

/// Declares the files and the list of their entries: a new family is a file and a word here.
macro_rules! families {
    ($($family:ident),+ $(,)?) => {
        $(pub mod $family;)+

        /// Every family, in the order shown to users.
        pub const FAMILIES: &[&FamilyEntry] = &[$(&$family::ENTRY),+];
    };
}

families![gaussian, student_t, bernoulli, binomial, poisson, negative_binomial, exponential, gamma];
