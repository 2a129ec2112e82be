//! Writes centred, twice clipped scores of single records.
//!
//! Let a = W·x be the whitened features of a record, r = ∂ℓ/∂η its slope at a public θ, and κ = c/‖a‖. Its score W·∇ℓ is r·a, and
//! clipping that at c clips r at κ. The term is a·clip_κ(clip_κ(r) − m), where m solves E_θ[clip_κ(clip_κ(r) − m) | x] = 0
//! up to three Newton steps over the nodes of the response's law. So at θ its mean is about 0 whatever the law of the
//! features. For the nuisance a is one public number, and r is ∂ℓ/∂ ln nuisance.

use barkeep_machine::{Binary, Output, Source, Term, Writer};

use super::law_nodes::{Own, Pass, WrittenLaw};
use crate::Regression;
use crate::regression::CentredScore;

/// Newton steps to the centre: the same number for every record.
const STEPS: usize = 3;

/// The centred scores of one block of parameters for responses of at most `top`; `None` where the family states no law, there is
/// no such block, or the program is larger than the machine runs.
#[must_use]
pub fn centred(regression: &Regression, asked: CentredScore<'_>, top: f64) -> Option<Term> {
    let scorer = regression.scorer(asked, top)?;
    let mut w = Writer::default();
    let (law, Own { features, length, slope }) = WrittenLaw::new(regression, &scorer, top, &mut w)?;
    let length = w.max(length, 1e-300);
    let bound = w.div(asked.clip, length);
    let minus = w.minus(bound);
    // Not a number becomes −κ: a choice of the machine keeps its first operand where the comparison fails.
    let cut = |w: &mut Writer, value: Source| {
        let low = w.max(minus, value);
        w.min(low, bound)
    };
    let centre = match scorer.constant_centre() {
        Some(centre) => w.number(centre),
        None => {
            let mean = Pass { prepare: &cut, values: &|_, slope| vec![slope], width: 1 };
            let (nodes, mean) = law.expect(&mut w, true, &mean)?;
            let mut centre = *mean.first()?;
            for _ in 0..STEPS {
                let values = |w: &mut Writer, slope: Source| {
                    let rest = w.sub(slope, centre);
                    let inside = cut(w, rest);
                    // Whether the clip leaves it as it is.
                    vec![inside, w.binary(Binary::Equal, inside, rest)]
                };
                let sums = nodes.expect(&mut w, &Pass { prepare: &cut, values: &values, width: 2 });
                let [left, mass] = sums[..] else { return None };
                let mass = w.max(mass, 0.02);
                let step = w.div(left, mass);
                centre = w.add(centre, step);
            }
            centre
        }
    };
    let slope = cut(&mut w, slope);
    let rest = w.sub(slope, centre);
    let factor = cut(&mut w, rest);
    let outputs: Vec<Output> = features.iter().map(|entry| Output::Dense(w.mul(*entry, factor))).collect();
    Some(Term::of(w.finish(outputs).ok()?))
}
