//! Decomposes small symmetric matrices into eigenvalues and eigenvectors: roots, floors and projections of precisions.

/// A = Q·diag(λ)·Qᵀ with orthonormal Q, eigenvalues in no particular order.
#[derive(Debug, Clone, PartialEq)]
pub struct Spectrum {
    dimension: usize,
    values: Vec<f64>,
    /// Q, row-major: column k belongs to `values[k]`.
    vectors: Vec<f64>,
}

/// Sweeps after which Jacobi's method has long converged: it is quadratic, ten are plenty.
const SWEEPS: usize = 60;

impl Spectrum {
    /// Decomposes the symmetric part of `matrix`, given row by row; `None` unless it is square and finite.
    ///
    /// **Precision.** Jacobi's cyclic method: eigenvalues within a few d·2^-53 of the largest.
    #[must_use]
    pub fn new(matrix: &[f64], dimension: usize) -> Option<Self> {
        let d = dimension;
        if d == 0 || Some(matrix.len()) != d.checked_mul(d) {
            return None;
        }
        let mut a: Vec<f64> =
            (0..d * d).map(|k| 0.5 * matrix[k] + 0.5 * matrix[(k % d) * d + k / d]).collect();
        if !a.iter().all(|entry| entry.is_finite()) {
            return None;
        }
        let mut vectors: Vec<f64> = (0..d * d).map(|k| f64::from(u8::from(k / d == k % d))).collect();
        for _ in 0..SWEEPS {
            let off: f64 = (0..d * d).filter(|k| k / d != k % d).map(|k| a[k] * a[k]).sum();
            let all: f64 = a.iter().map(|entry| entry * entry).sum();
            if off <= 1e-34 * all {
                break;
            }
            for p in 0..d {
                for q in p + 1..d {
                    rotate(&mut a, &mut vectors, d, (p, q));
                }
            }
        }
        let values = a.iter().step_by(d + 1).copied().collect();
        Some(Self { dimension, values, vectors })
    }

    /// λ.
    #[must_use]
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The smallest and the largest eigenvalue.
    #[must_use]
    pub fn range(&self) -> (f64, f64) {
        self.values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
            (low.min(*value), high.max(*value))
        })
    }

    /// Q·diag(f(λ))·Qᵀ, row-major, exactly symmetric.
    #[must_use]
    pub fn map(&self, f: impl Fn(f64) -> f64) -> Vec<f64> {
        let d = self.dimension;
        let mapped: Vec<f64> = self.values.iter().map(|value| f(*value)).collect();
        let mut out = vec![0.0; d * d];
        for i in 0..d {
            for j in 0..=i {
                let (left, right) = (&self.vectors[i * d..(i + 1) * d], &self.vectors[j * d..(j + 1) * d]);
                let entry = left.iter().zip(right).zip(&mapped).map(|((x, y), value)| x * value * y).sum();
                out[i * d + j] = entry;
                out[j * d + i] = entry;
            }
        }
        out
    }
}

/// Turns coordinates p and q so that a_pq vanishes.
fn rotate(a: &mut [f64], vectors: &mut [f64], d: usize, (p, q): (usize, usize)) {
    let off = a[p * d + q];
    if off == 0.0 {
        return;
    }
    let slope = (a[q * d + q] - a[p * d + p]) / (2.0 * off);
    // The smaller root of t² + 2·slope·t − 1 = 0; a slope too large to square gives t = 1/(2·slope).
    let tangent = slope.signum() / (slope.abs() + slope.hypot(1.0));
    let cosine = 1.0 / tangent.hypot(1.0);
    let sine = tangent * cosine;
    let turn = |matrix: &mut [f64], x: usize, y: usize| {
        let (one, two) = (matrix[x], matrix[y]);
        matrix[x] = cosine * one - sine * two;
        matrix[y] = sine * one + cosine * two;
    };
    for k in 0..d {
        turn(a, k * d + p, k * d + q);
    }
    for k in 0..d {
        turn(a, p * d + k, q * d + k);
        turn(vectors, k * d + p, k * d + q);
    }
    a[p * d + q] = 0.0;
    a[q * d + p] = 0.0;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_matrix_worked_by_hand() {
        // [[2,1],[1,2]] has eigenvalues 1 and 3; its square root is [[√3+1, √3−1],[√3−1, √3+1]]/2.
        let spectrum = Spectrum::new(&[2.0, 1.0, 1.0, 2.0], 2).unwrap();
        let (low, high) = spectrum.range();
        assert!((low - 1.0).abs() < 1e-15 && (high - 3.0).abs() < 1e-15);
        let root = spectrum.map(f64::sqrt);
        let (sum, difference) = ((3f64.sqrt() + 1.0) / 2.0, (3f64.sqrt() - 1.0) / 2.0);
        for (found, expected) in root.iter().zip([sum, difference, difference, sum]) {
            assert!((found - expected).abs() < 1e-15);
        }
    }

    #[test]
    fn the_parts_give_the_matrix_back() {
        for d in [1, 3, 8, 30] {
            let entry =
                |i: usize, j: usize| ((i * j + i + j) as f64).sin() * 10_f64.powi((i % 3 + j % 3) as i32);
            let matrix: Vec<f64> = (0..d * d).map(|k| entry(k / d, k % d)).collect();
            let spectrum = Spectrum::new(&matrix, d).unwrap();
            let scale = spectrum.values().iter().fold(0.0_f64, |most, value| most.max(value.abs()));
            for (found, expected) in spectrum.map(|value| value).iter().zip(&matrix) {
                assert!((found - expected).abs() <= 1e-13 * scale.max(1.0), "{d}: {found} {expected}");
            }
            let trace: f64 = (0..d).map(|k| matrix[k * d + k]).sum();
            assert!(
                (spectrum.values().iter().sum::<f64>() - trace).abs() <= 1e-13 * scale.max(1.0) * d as f64
            );
        }
    }

    #[test]
    fn what_is_no_matrix_is_refused() {
        assert!(Spectrum::new(&[], 0).is_none());
        assert!(Spectrum::new(&[1.0, 2.0], 2).is_none());
        assert!(Spectrum::new(&[1.0, f64::NAN, 0.0, 1.0], 2).is_none());
    }
}
