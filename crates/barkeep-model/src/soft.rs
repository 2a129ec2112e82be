//! Evaluates the softplus ln(1 + eᵗ) and the sigmoid 1/(1 + e⁻ᵗ) over whole columns, in place.

/// Replaces each t by ln(1 + eᵗ), as max(t, 0) + ln(1 + e^(−|t|)), which neither overflows nor cancels.
pub(crate) fn softplus(values: &mut [f64]) {
    for value in values {
        *value = value.max(0.0) + libm::log1p(libm::exp(-value.abs()));
    }
}

/// Replaces each t in `to` by ln(1 + eᵗ) − ln(1 + eˢ), s the entry of `from`, with one logarithm for both.
pub(crate) fn softplus_difference(to: &mut [f64], from: &[f64]) {
    for (to, from) in to.iter_mut().zip(from) {
        let quotient = (1.0 + libm::exp(-to.abs())) / (1.0 + libm::exp(-from.abs()));
        *to = (to.max(0.0) - from.max(0.0)) + libm::log(quotient);
    }
}

/// Replaces each t by 1/(1 + e⁻ᵗ).
pub(crate) fn sigmoid(values: &mut [f64]) {
    for value in values {
        let e = libm::exp(-value.abs());
        let numerator = if *value < 0.0 { e } else { 1.0 };
        *value = numerator / (1.0 + e);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_and_known_values() {
        let mut values = [0.0, 1.0, -1.0, 800.0, -800.0, -40.0];
        softplus(&mut values);
        // ln 2; ln(1+e) = 1.3132616875182228; ln(1+1/e) = 0.31326168751822286; e^(−40) to one part in 2^53.
        let expected = [
            std::f64::consts::LN_2,
            1.313_261_687_518_222_8,
            0.313_261_687_518_222_86,
            800.0,
            0.0,
            (-40f64).exp(),
        ];
        for (found, expected) in values.iter().zip(expected) {
            assert!((found - expected).abs() <= 4e-16 * expected);
        }
        let mut values = [0.0, 3f64.ln(), -3f64.ln(), 800.0, -800.0];
        sigmoid(&mut values);
        for (found, expected) in values.iter().zip([0.5, 0.75, 0.25, 1.0, 0.0]) {
            assert!((found - expected).abs() <= 2e-16);
        }
        assert!(values[4] >= 0.0);
    }

    #[test]
    fn differences_are_those_of_the_softplus() {
        let from = [0.0, -3.0, 5.0, 700.0, -700.0, 1e300, 2.0];
        let mut to = [0.25, 4.0, -6.0, 700.5, 3.0, -1e300, 2.0];
        let (mut before, mut after) = (from, to);
        softplus(&mut before);
        softplus(&mut after);
        softplus_difference(&mut to, &from);
        for i in 0..from.len() {
            assert!(
                (to[i] - (after[i] - before[i])).abs() <= 4e-16 * (1.0 + after[i].abs() + before[i].abs())
            );
        }
        assert_eq!(to[6], 0.0);
    }
}
