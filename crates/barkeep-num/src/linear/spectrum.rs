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
