//! Checks that every instruction set gives the same bits, and the edges.

use barkeep_num::vector::{dispatch, exp, exp_m1, ln, ln_1p, log_sigmoid, scalar, sigmoid};
use fearless_simd::{Level, Simd};

/// Inputs over the whole range, in an odd number, so that full vectors and the rest of a slice are both walked.
fn inputs() -> Vec<f64> {
    let mut all = vec![
        0.0,
        -0.0,
        1.0,
        -1.0,
        f64::NAN,
        -f64::NAN,
        f64::from_bits(0x7ff0_0000_0000_0001),
        f64::from_bits(0xfff8_0000_dead_beef),
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::MAX,
        f64::MIN,
        f64::MIN_POSITIVE,
        5e-324,
        -5e-324,
        709.782_712_893_384,
        709.782_712_893_385,
        -745.133_219_101_941,
        -745.133_219_101_942,
        -708.4,
    ];
    // A fixed linear congruence walks bit patterns of every exponent, then arguments of ordinary size.
    let mut state = 1_u64;
    for _ in 0..20_011 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        all.push(f64::from_bits(state));
        all.push((state >> 11) as f64 / (1_u64 << 53) as f64 * 1600.0 - 800.0);
        all.push((state >> 11) as f64 / (1_u64 << 53) as f64 * 4.0 - 2.0);
    }
    all
}

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|x| x.to_bits()).collect()
}

fn agrees(function: fn(f64) -> f64, sliced: fn(&mut [f64]), kernel: impl Fn(f64) -> f64 + Copy) {
    let inputs = inputs();
    let expected: Vec<u64> = inputs.iter().map(|&x| function(x).to_bits()).collect();
    let mut values = inputs.clone();
    sliced(&mut values);
    assert_eq!(bits(&values), expected, "best instruction set");
    // Inlined into what is compiled for each instruction set: called through a pointer, it would be the same code for all.
    macro_rules! under {
        ($level:literal, $instructions:expr) => {
            values.clone_from(&inputs);
            $instructions.vectorize(
                #[inline(always)]
                || values.iter_mut().for_each(|value| *value = kernel(*value)),
            );
            assert_eq!(bits(&values), expected, $level);
        };
    }
    values.clone_from(&inputs);
    values.iter_mut().for_each(|value| *value = kernel(*value));
    assert_eq!(bits(&values), expected, "no instructions of their own");
    #[cfg(target_arch = "x86_64")]
    {
        let level = Level::new();
        if let Some(instructions) = level.as_sse4_2() {
            under!("SSE4.2", instructions);
        }
        if let Some(instructions) = level.as_avx2() {
            under!("AVX2", instructions);
        }
        if let Some(instructions) = level.as_avx512() {
            under!("AVX-512", instructions);
        }
    }
    for offset in 1..9 {
        values.clone_from(&inputs);
        sliced(&mut values[offset..]);
        assert_eq!(bits(&values[offset..]), expected[offset..], "slice from {offset}");
    }
}

#[test]
fn every_level_gives_the_same_bits() {
    agrees(scalar::exp, exp, scalar::exp);
    agrees(scalar::exp_m1, exp_m1, scalar::exp_m1);
    agrees(scalar::ln, ln, scalar::ln);
    agrees(scalar::ln_1p, ln_1p, scalar::ln_1p);
    agrees(scalar::sigmoid, sigmoid, scalar::sigmoid);
    agrees(scalar::log_sigmoid, log_sigmoid, scalar::log_sigmoid);
    let normal =
        |values: &mut [f64]| dispatch(|| values.iter_mut().for_each(|x| *x = scalar::normal_cdf(*x)));
    agrees(scalar::normal_cdf, normal, scalar::normal_cdf);
    let short =
        |values: &mut [f64]| dispatch(|| values.iter_mut().for_each(|x| *x = scalar::short_sigmoid(*x)));
    agrees(scalar::short_sigmoid, short, scalar::short_sigmoid);
}

#[test]
fn edges_are_as_documented() {
    let infinity = f64::INFINITY;
    assert_eq!(scalar::exp(infinity), infinity);
    assert_eq!(scalar::exp(-infinity).to_bits(), 0);
    assert_eq!(scalar::exp(-0.0), 1.0);
    assert_eq!((scalar::ln(0.0), scalar::ln(-0.0), scalar::ln(infinity)), (-infinity, -infinity, infinity));
    assert_eq!(scalar::ln(1.0).to_bits(), 0);
    assert!(scalar::ln(-5e-324).is_nan() && scalar::ln(-infinity).is_nan());
    assert_eq!((scalar::ln_1p(-1.0), scalar::ln_1p(infinity)), (-infinity, infinity));
    assert_eq!((scalar::ln_1p(0.0).to_bits(), scalar::ln_1p(-0.0).to_bits()), (0, (-0.0_f64).to_bits()));
    assert_eq!((scalar::ln_1p(5e-324), scalar::ln_1p(-5e-324)), (5e-324, -5e-324));
    assert!(scalar::ln_1p((-1.0_f64).next_up()).is_finite() && scalar::ln_1p(-1.1).is_nan());
    assert_eq!(
        (scalar::sigmoid(infinity), scalar::sigmoid(-infinity), scalar::sigmoid(0.0)),
        (1.0, 0.0, 0.5)
    );
    assert_eq!((scalar::short_sigmoid(infinity), scalar::short_sigmoid(0.0)), (1.0, 0.5));
    let least = scalar::short_sigmoid(-infinity);
    assert_eq!(least, scalar::short_sigmoid(-708.0));
    assert!(least > 0.0 && least < 4e-308);
    assert_eq!((scalar::log_sigmoid(infinity), scalar::log_sigmoid(-infinity)), (0.0, -infinity));
    assert_eq!((scalar::normal_cdf(infinity), scalar::normal_cdf(-infinity)), (1.0, 0.0));
    assert_eq!((scalar::exp_m1(infinity), scalar::exp_m1(-infinity)), (infinity, -1.0));
    assert_eq!((scalar::exp_m1(0.0).to_bits(), scalar::exp_m1(-0.0).to_bits()), (0, (-0.0_f64).to_bits()));
    for function in [
        scalar::exp,
        scalar::exp_m1,
        scalar::ln,
        scalar::ln_1p,
        scalar::sigmoid,
        scalar::log_sigmoid,
        scalar::normal_cdf,
        scalar::short_sigmoid,
    ] {
        assert_eq!(function(-f64::NAN).to_bits(), f64::NAN.to_bits());
    }
}

#[test]
fn a_loop_of_the_callers_gives_the_same_bits() {
    let inputs = inputs();
    let mut sum = vec![0.0; inputs.len()];
    dispatch(
        #[inline(always)]
        || sum.iter_mut().zip(&inputs).for_each(|(out, &x)| *out = 0.5 * x * x - scalar::log_sigmoid(x)),
    );
    for (out, x) in sum.iter().zip(&inputs) {
        let expected = 0.5 * x * x - scalar::log_sigmoid(*x);
        assert!(out.to_bits() == expected.to_bits() || (out.is_nan() && expected.is_nan()));
    }
}
