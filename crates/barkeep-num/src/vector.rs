//! Applies elementary functions to slices with the widest vector instructions of the machine, the same bits on all.
//!
//! A kernel is compiled once per instruction set and chosen at run time. All versions do the same IEEE operations per
//! element — no reassociation, and fused only where the source says so — so results agree bit for bit across machines, slice lengths
//! and positions, and with the functions of [`scalar`]. NaN is always the canonical one.

pub use fearless_simd;
use fearless_simd::{Level, Simd};

mod coefficients;
pub mod scalar;

/// Replaces every x by `eˣ`; see [`scalar::exp`].
pub fn exp(values: &mut [f64]) {
    each(values, scalar::exp);
}

/// Replaces every x by `eˣ − 1`; see [`scalar::exp_m1`].
pub fn exp_m1(values: &mut [f64]) {
    each(values, scalar::exp_m1);
}

/// Replaces every x by `ln x`; see [`scalar::ln`].
pub fn ln(values: &mut [f64]) {
    each(values, scalar::ln);
}

/// Replaces every x by `ln(1 + x)`; see [`scalar::ln_1p`].
pub fn ln_1p(values: &mut [f64]) {
    each(values, scalar::ln_1p);
}

/// Replaces every x by `1/(1 + e⁻ˣ)`; see [`scalar::sigmoid`].
pub fn sigmoid(values: &mut [f64]) {
    each(values, scalar::sigmoid);
}

/// Replaces every x by `ln(1/(1 + e⁻ˣ))`; see [`scalar::log_sigmoid`].
pub fn log_sigmoid(values: &mut [f64]) {
    each(values, scalar::log_sigmoid);
}

/// Runs a loop of the caller's with the widest vector instructions of the machine.
///
/// The body must be `#[inline(always)]`, and so must what it calls: only what is inlined is compiled anew for each
/// instruction set. The result does not depend on the instruction set, since Rust never fuses or reorders
/// floating-point operations by itself.
///
/// Every version adds to the program. Machines without AVX2 get what the compiler makes for all of their kind: SSE4.2 gains little
/// over that.
#[inline(always)]
pub fn dispatch<Output>(body: impl FnOnce() -> Output) -> Output {
    match Level::new() {
        #[cfg(target_arch = "aarch64")]
        Level::Neon(neon) => neon.vectorize(body),
        #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
        Level::Avx2(avx2) => avx2.vectorize(body),
        #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
        Level::Avx512(avx512) => avx512.vectorize(body),
        _ => body(),
    }
}

/// A loop that is written in vectors, where what the compiler makes of plain loops is slower.
///
/// Its results must be those of the plain operations on each element.
pub trait InVectors {
    /// Runs it on V vectors of eight f64 at a time: as many as the machine's registers hold. Must be `#[inline(always)]`, and so must
    /// what it calls.
    fn run<S: Simd, const V: usize>(self, simd: S);
}

/// Runs a loop with the widest vector instructions of the machine; says whether it has such.
#[inline(always)]
pub fn in_vectors(body: impl InVectors) -> bool {
    match Level::new() {
        #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
        Level::Avx2(avx2) => avx2.vectorize(
            #[inline(always)]
            || body.run::<_, 2>(avx2),
        ),
        #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
        Level::Avx512(avx512) => avx512.vectorize(
            #[inline(always)]
            || body.run::<_, 4>(avx512),
        ),
        _ => return false,
    }
    true
}

fn each(values: &mut [f64], function: impl Fn(f64) -> f64) {
    dispatch(
        #[inline(always)]
        || replace(values, function),
    );
}

#[inline(always)]
fn replace(values: &mut [f64], function: impl Fn(f64) -> f64) {
    for value in values {
        *value = function(*value);
    }
}
