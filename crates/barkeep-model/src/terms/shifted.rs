//! Writes gradients shortened to a clip, less a centre.

use barkeep_machine::{Binary, Fold, Output, Source, Term, Writer};

use super::Precondition;
use crate::{Centring, Likelihood};

/// What is taken off a shortened gradient.
#[derive(Debug, Clone, Copy)]
pub enum Centre<'a> {
    /// The same for all units.
    Same(&'a [f64]),
    /// What the model expects of a record, given its other columns than the responses.
    Expected,
}

/// Gradients shortened to a norm of at most `clip`, less a centre; one that is not finite counts as 0. A centre that is the same for all is taken
/// off a unit's sum, one that is expected off each row, and needs a dense map. `None` where the program is larger than the machine runs, or the
/// model has no responses whose laws are known.
#[must_use]
pub fn shifted(
    likelihood: &dyn Likelihood,
    theta: &[f64],
    precondition: Precondition<'_>,
    clip: f64,
    centre: Centre<'_>,
) -> Option<Term> {
    match centre {
        Centre::Same(centre) => {
            let row = super::gradient(likelihood, theta, precondition, &[]).ok()?.row;
            let mut w = Writer::default();
            let entries: Vec<Source> = (0..row.width()).map(|k| Source::Column(k as u32)).collect();
            let shortened = write_shortened(&mut w, &entries, clip);
            let outputs: Vec<Output> = shortened
                .into_iter()
                .zip(centre)
                .map(|(entry, centre)| Output::Dense(w.sub(entry, *centre)))
                .collect();
            Term::new(row, Fold::Sum, Some(w.finish(outputs).ok()?)).ok()
        }
        Centre::Expected => {
            let Precondition::Dense(whitening) = precondition else { return None };
            let mut w = Writer::default();
            let gradient = likelihood.write_gradient(theta, &mut w);
            let entries = precondition.write(gradient, &mut w);
            let own = write_shortened(&mut w, &entries, clip);
            let centring = Centring { theta, whitening, clip };
            let centre = likelihood.given().ok()?.write_expected(centring, &mut w)?;
            let outputs: Vec<Output> =
                own.into_iter().zip(centre).map(|(own, centre)| Output::Dense(w.sub(own, centre))).collect();
            Some(Term::of(w.finish(outputs).ok()?))
        }
    }
}

/// A vector shortened to a norm of at most `clip`; 0 where its norm is not finite.
pub(crate) fn write_shortened(w: &mut Writer, entries: &[Source], clip: f64) -> Vec<Source> {
    let length = w.length(entries);
    let is_long = w.binary(Binary::Less, clip, length);
    let shorter = w.div(clip, length);
    let factor = w.select(is_long, shorter, 1.0);
    let is_finite = w.binary(Binary::Less, length, f64::INFINITY);
    let mut shorten = |entry: &Source| {
        let scaled = w.mul(*entry, factor);
        w.select(is_finite, scaled, 0.0)
    };
    entries.iter().map(&mut shorten).collect()
}
