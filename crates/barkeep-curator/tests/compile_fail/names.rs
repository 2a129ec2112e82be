//! Must not compile: names that are not there for others.

pub fn secret_pattern(secret: barkeep_curator::Secret<i64>) -> i64 {
    let barkeep_curator::Secret(value) = secret; //~ error[E0532]: cannot match against a tuple struct which contains private fields
    value
}

pub use barkeep_curator::gate; //~ error[E0603]: module `gate` is private
pub use barkeep_curator::sums; //~ error[E0603]: module `sums` is private
