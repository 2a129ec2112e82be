//! Public points to plan with, known before anything is asked.

use crate::keys::Section;
use barkeep_model::Model;
use barkeep_num::linear::Cholesky;

/// A public point to plan with: the first start that is given, or else the prior's mode.
pub(crate) fn reference(section: &Section<'_>, model: &dyn Model) -> Vec<f64> {
    let given = match section.value("start") {
        Some(toml::Value::Array(rows)) if rows.iter().any(toml::Value::is_array) => {
            let first = toml::Table::from_iter(rows.first().map(|row| ("start".to_owned(), row.clone())));
            Section::open("sampler", &first).numbers("start").ok().flatten()
        }
        _ => section.numbers("start").ok().flatten(),
    };
    // What is wrong with a start is said where it is read to be used.
    given.filter(|theta| theta.len() == model.dimension()).unwrap_or_else(|| prior_mode(model))
}

/// The prior's mode, or what Newton's method finds on the way there from the origin: exact after one step for
/// normal priors, and the origin itself where the prior is flat.
pub(crate) fn prior_mode(model: &dyn Model) -> Vec<f64> {
    const STEPS: usize = 50;
    let d = model.dimension();
    let (mut theta, mut slope, mut precision) = (vec![0.0; d], vec![0.0; d], vec![0.0; d * d]);
    let mut height = model.log_prior(&theta);
    for _ in 0..STEPS {
        model.prior_gradient(&theta, &mut slope);
        model.prior_precision(&theta, &mut precision);
        let Some(factor) = Cholesky::new(&precision, d) else { break };
        let inverse = factor.inverse();
        let leap = inverse.chunks_exact(d).map(|row| row.iter().zip(&slope).map(|(a, b)| a * b).sum::<f64>());
        let next: Vec<f64> = leap.zip(&theta).map(|(leap, x)| x + leap).collect();
        let higher = model.log_prior(&next);
        // Not a number is no gain.
        if higher > height {
            (theta, height) = (next, higher);
        } else {
            break;
        }
    }
    theta
}
