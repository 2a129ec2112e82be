//! Prints `src/rule/vcor/tables.rs`: the corrections for common noise variances, fitted anew.
//!
//! `cargo run --release -p barkeep-accounting --example make_corrections > tables.rs`, then put the file in its place and
//! run `cargo fmt`.

#![allow(clippy::print_stdout, reason = "the table is this program's output")]

use barkeep_accounting::vcor::Fit;
use barkeep_accounting::{Error, Variance};

fn main() -> Result<(), Error> {
    println!(
        "//! Holds corrections for common C, printed by examples/make_corrections.rs.

use super::Fit;

/// A stored correction: for each component of mean ≥ 0, the weight of it and its mirror image, its mean and sd.
pub(super) struct Entry {{
    pub(super) fit: Fit,
    pub(super) variance: f64,
    pub(super) least: Option<f64>,
    pub(super) halves: &'static [(f64, f64, f64)],
}}

pub(super) const TABLE: &[Entry] = &["
    );
    // Ridge is one linear system, faster than reading a table of its hundreds of atoms would be short.
    for fit in [Fit::Mixture, Fit::MixtureDensity, Fit::Minimax] {
        for variance in [1.0, 1.25, 1.5, 1.75, 2.0, 2.25, 2.5] {
            let fitted = fit.solve(Variance::new(variance)?)?;
            println!(
                "Entry {{ fit: Fit::{fit:?}, variance: {variance:?}, least: {:?}, halves: &[",
                fitted.least
            );
            for component in fitted.correction.components() {
                let weight = match component.mean {
                    0.0 => component.weight,
                    _ => 2.0 * component.weight,
                };
                if component.mean >= 0.0 {
                    println!("({weight:?}, {:?}, {:?}),", component.mean, component.sd);
                }
            }
            println!("] }},");
        }
    }
    println!("];");
    Ok(())
}
