//! Adds up products of entries a lag apart, for all lags of several sequences at once.

use std::sync::Arc;

use realfft::num_complex::Complex;
use realfft::{ComplexToReal, RealFftPlanner, RealToComplex};

/// Σᵢ xᵢ·xᵢ₊ₗ for every lag l below the length, added up over sequences x of that length.
///
/// Through the Fourier transform: the power spectra of the zero-padded sequences are summed and transformed back once.
///
/// **Precision.** Absolute error of about 10⁻¹⁵ times the entry of lag 0.
pub struct LaggedProducts {
    length: usize,
    forward: Arc<dyn RealToComplex<f64>>,
    inverse: Arc<dyn ComplexToReal<f64>>,
    signal: Vec<f64>,
    spectrum: Vec<Complex<f64>>,
    power: Vec<Complex<f64>>,
}

impl LaggedProducts {
    /// For sequences of this length; none if it is too large to be padded.
    #[must_use]
    pub fn new(length: usize) -> Option<Self> {
        let padded = length.checked_mul(2)?.checked_next_power_of_two()?;
        let mut planner = RealFftPlanner::<f64>::new();
        let (forward, inverse) = (planner.plan_fft_forward(padded), planner.plan_fft_inverse(padded));
        let (signal, spectrum) = (forward.make_input_vec(), forward.make_output_vec());
        Some(Self { length, power: spectrum.clone(), forward, inverse, signal, spectrum })
    }

    /// Adds a sequence; none if it has another length.
    pub fn add(&mut self, sequence: &[f64]) -> Option<()> {
        if sequence.len() != self.length {
            return None;
        }
        let (head, tail) = self.signal.split_at_mut_checked(self.length)?;
        head.copy_from_slice(sequence);
        tail.fill(0.0);
        self.forward.process(&mut self.signal, &mut self.spectrum).ok()?;
        for (sum, term) in self.power.iter_mut().zip(&self.spectrum) {
            sum.re += term.norm_sqr();
        }
        Some(())
    }

    /// The sums, by lag.
    #[must_use]
    pub fn sums(mut self) -> Option<Vec<f64>> {
        self.inverse.process(&mut self.power, &mut self.signal).ok()?;
        // The transforms are not normalised: there and back multiplies by the padded length, a power of two.
        let padded = self.signal.len() as f64;
        self.signal.truncate(self.length);
        self.signal.iter_mut().for_each(|value| *value /= padded);
        Some(self.signal)
    }
}
