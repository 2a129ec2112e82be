//! Computes a posterior's mode and curvature without privacy, for records that are public anyway.

use crate::exit::Exit;
use barkeep::accounting::{Neighbours, Sampling};
use barkeep::curator::{
    Ask, Asked, Budget, Clip, Curator, Gate, NoiseRng, PrivacyModel, Shape, Sum, Temper, Term,
};
use barkeep::model::terms::{Precondition, gradient};
use barkeep::num::linear::Cholesky;
use barkeep::{Error, Plan};
use std::sync::Arc;

/// A coefficient's posterior by Laplace's approximation: at this many records it is normal for the eye.
pub(crate) struct Exact {
    pub(crate) mean: f64,
    pub(crate) sd: f64,
}

/// Climbs to the mode by exact gradients, asked of a curator who keeps no secrets.
pub(crate) fn posterior(plan: &Plan) -> Result<Vec<Exact>, Exit> {
    let model = plan.spec().model();
    let table = plan.read_records(&mut |_| {})?;
    let premises = PrivacyModel { neighbours: Neighbours::Substitute };
    let curator = Curator::new(table, premises, Budget::not_private()).map_err(Error::from)?;
    let mut gate = Gate::open(&Arc::new(curator), NoiseRng::insecure_seed(0)).map_err(Error::from)?;
    let bound = model.lipschitz(plan.spec().data().schema()).unwrap_or(f64::NAN);
    let clip = Clip::new(bound).map_err(Error::from)?;
    let temper = Temper::new(1.0).map_err(Error::from)?;
    let d = model.dimension();
    let mut slope = |theta: &[f64]| -> Result<Vec<f64>, Exit> {
        let (mut sum, mut prior) = (vec![0.0; d], vec![0.0; d]);
        let term = gradient(&**plan.spec().likelihood(), theta, Precondition::Identity, &[])
            .map_err(|error| Exit::Input(error.to_string()))?;
        let term = Term::Program(Asked { term: &term, shape: Shape::Ball });
        gate.sum(&Sum { term, temper, clip, batch: Sampling::Full, sigma: 0.0 }, &mut sum)
            .map_err(Error::from)?;
        model.prior_gradient(theta, &mut prior);
        Ok(sum.iter().zip(prior).map(|(sum, prior)| sum + prior).collect())
    };
    let singular = || Exit::Input("the posterior without privacy has no curvature".to_owned());
    let mut theta = vec![0.0; d];
    let mut covariance = Vec::new();
    // Newton's method doubles the digits at each step; eight steps leave none to gain.
    for _ in 0..8 {
        let here = slope(&theta)?;
        let mut information = vec![0.0; d * d];
        for j in 0..d {
            // Far above the lattice of the sums, far below the scale on which a logit bends.
            let width = 1e-3;
            let mut to = theta.clone();
            to[j] = theta[j] + width;
            let up = slope(&to)?;
            to[j] = theta[j] - width;
            let down = slope(&to)?;
            (0..d).for_each(|i| information[i * d + j] = (down[i] - up[i]) / (2.0 * width));
        }
        let symmetric: Vec<f64> =
            (0..d * d).map(|k| 0.5 * (information[k] + information[(k % d) * d + k / d])).collect();
        covariance = Cholesky::new(&symmetric, d).ok_or_else(singular)?.inverse();
        for (theta, row) in theta.iter_mut().zip(covariance.chunks_exact(d)) {
            *theta += row.iter().zip(&here).map(|(entry, slope)| entry * slope).sum::<f64>();
        }
    }
    let variances = covariance.iter().step_by(d + 1);
    Ok(theta.into_iter().zip(variances).map(|(mean, variance)| Exact { mean, sd: variance.sqrt() }).collect())
}
