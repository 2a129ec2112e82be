//! Chooses steps by a private estimate of the posterior's precision and of the noise in a force, so that a Gaussian
//! posterior is sampled exactly whatever the step is (Fisher scoring: Ahn, Korattikara, Welling 2012).
//!
//! In whitened coordinates let P be the posterior's precision and f = −P·x + ξ a force whose noise ξ has covariance Q. The step
//! x' = x + 2(P + Q)⁻¹f leaves N(0, P⁻¹) as it is: with A = P + Q,
//! (I − 2A⁻¹P)P⁻¹(I − 2PA⁻¹) + 4A⁻¹QA⁻¹ = P⁻¹ − 4A⁻¹ + 4A⁻¹PA⁻¹ + 4A⁻¹(A − P)A⁻¹ = P⁻¹.
//! Here P = nT·V + the prior's precision and Q = (nT)²/b·(1 − b/n)·V + v·I, where V is the mean of the records' squared
//! gradients x·xᵀ, which under the model is one record's information; b the batch; v the variance of the noise that protects,
//! **all of it**: noise that the budget requires beyond the dynamics' own slows the chain but does not heat it.
//! Where v dominates a step is that of Langevin dynamics, (2/v)·f; where it does not, that of a normal approximation.
//!
//! **Privacy.** V is averaged over noisy answers that are paid for, then projected onto positive semidefinite matrices: all of
//! it is post-processing. The paper projects before it averages, which makes V too large by the noise of one answer.

use crate::samplers::kernels::flow::Asking;
use barkeep_model::terms::second_moments;
use barkeep_num::linear::{Cholesky, Spectrum};

/// V, as far as it is known.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Scoring {
    /// c, the weight of squares in a question.
    weight: f64,
    dimension: usize,
    /// The sum of the answers' estimates of V.
    total: Vec<f64>,
    answers: u64,
}

impl Scoring {
    /// Nothing known yet; squares will be asked for with this weight.
    #[must_use]
    pub(crate) fn new(weight: f64, dimension: usize) -> Self {
        Self { weight, dimension, total: vec![0.0; dimension * dimension], answers: 0 }
    }

    /// c.
    pub(crate) fn weight(&self) -> f64 {
        self.weight
    }

    /// Adds an answer of gradients and squares to the estimate.
    pub(crate) fn learn(&mut self, answer: &[f64], asking: &Asking) {
        let asked = asking.temper.get() * asking.batch.rate() * asking.records;
        let moments = second_moments(answer, self.dimension, self.weight);
        self.total.iter_mut().zip(moments).for_each(|(total, moment)| *total += moment / asked);
        self.answers += 1;
    }

    /// V: the average, its negative eigenvalues made 0; zero as long as nothing is known.
    fn information(&self) -> Option<Vec<f64>> {
        let average: Vec<f64> = self.total.iter().map(|entry| entry / self.answers.max(1) as f64).collect();
        Some(Spectrum::new(&average, self.dimension)?.map(|value| value.max(0.0)))
    }

    /// Replaces a force with noise of variance `variance` by the displacement 2(P + Q)⁻¹f; `prior` is the prior's precision in
    /// the same coordinates. Returns false, with `force` as it was, where there is no such displacement.
    ///
    /// Earlier answers alone enter, so that errors of V are independent of the noise in the force.
    #[must_use]
    pub(crate) fn displace(&self, force: &mut [f64], variance: f64, prior: &[f64], asking: &Asking) -> bool {
        let Asking { temper, records, batch, .. } = asking;
        let (counted, rate) = (records * temper.get(), batch.rate());
        let batch_noise = counted * temper.get() * (1.0 - rate) / rate;
        let Some(mut total) = self.information() else { return false };
        for (k, (entry, prior)) in total.iter_mut().zip(prior).enumerate() {
            let noise = if k % (self.dimension + 1) == 0 { variance } else { 0.0 };
            *entry = (counted + batch_noise) * *entry + prior + noise;
        }
        let Some(factor) = Cholesky::new(&total, self.dimension) else { return false };
        let inverse = factor.inverse();
        let displacement: Vec<f64> = inverse
            .chunks_exact(self.dimension)
            .map(|row| 2.0 * row.iter().zip(&*force).map(|(entry, force)| entry * force).sum::<f64>())
            .collect();
        force.copy_from_slice(&displacement);
        true
    }
}
