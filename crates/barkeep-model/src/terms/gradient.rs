//! Writes the gradient of a record's log density, mapped by a matrix.

use std::ops::Range;

use barkeep_machine::{Output, Source, Term, Unsound, Writer};

use super::Precondition;
use crate::{Gradient, Likelihood};

/// The gradient of every record at θ.
///
/// `levels` names the columns that stand for one category each, in ascending order: 0 or 1, at most one of them 1. Where the gradient is
/// a slope times columns and nothing maps it, they leave the program as one value and the place of the 1.
///
/// # Errors
/// [`Unsound`] for a program that is larger than the machine runs.
pub fn gradient(
    likelihood: &dyn Likelihood,
    theta: &[f64],
    precondition: Precondition<'_>,
    levels: &[Range<u32>],
) -> Result<Term, Unsound> {
    let mut w = Writer::default();
    let gradient = likelihood.write_gradient(theta, &mut w);
    let outputs = match (precondition, gradient) {
        (Precondition::Identity, Gradient::Sloped { slope, intercept, first, features, nuisance }) => {
            let mut outputs: Vec<Output> = intercept.then_some(Output::Dense(slope)).into_iter().collect();
            let (mut column, end) = (first, first + features);
            while column < end {
                match levels
                    .iter()
                    .find(|range| range.start == column && range.end <= end && !range.is_empty())
                {
                    Some(range) => {
                        outputs.push(Output::Levels { value: slope, column, count: range.len() as u32 });
                        column = range.end;
                    }
                    None => {
                        outputs.push(Output::Dense(w.mul(slope, Source::Column(column))));
                        column += 1;
                    }
                }
            }
            outputs.extend(nuisance.map(Output::Dense));
            outputs
        }
        (precondition, gradient) => {
            precondition.write(gradient, &mut w).into_iter().map(Output::Dense).collect()
        }
    };
    Ok(Term::of(w.finish(outputs)?))
}
