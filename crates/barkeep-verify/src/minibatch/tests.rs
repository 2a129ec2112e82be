//! Pairs of normals of different variance lie just above their integrals, and stairs above any batch.

use super::*;

#[test]
fn normals_of_two_variances_lie_just_above_their_integrals() {
    let mut seen = 0;
    for row in include_str!("../../tests/tables/curves.csv").lines() {
        let fields: Vec<&str> = row.split(';').collect();
        let number = |i: usize| fields[i].parse::<f64>().unwrap();
        let (g, e, l, value) = (number(1), number(2), number(3), number(4) + number(5));
        let found = match fields[0] {
            "first" => first_wide(g, e, l),
            "second" => second_wide(g, e, l),
            _ => continue,
        };
        assert!(found >= value && found <= value * (1.0 + 1e-10) + 1e-14, "{row}: {found}");
        seen += 1;
    }
    assert_eq!(seen, 12);
}

#[test]
fn stairs_lie_above_batches_that_can_be_drawn() {
    // The changed record's two values and the others' mean, all others at ±1: the pair of normals as the test releases it.
    let b = 50.0;
    let test = Minibatch::new(b, 1.0);
    for (m, u1, u2) in
        [(0.0, 1.0, -1.0), (0.5, 1.0, -1.0), (0.96, 1.0, -1.0), (-0.96, 0.9, 0.0), (0.3, -1.0, 0.2)]
    {
        let law = |u: f64| {
            let mean: f64 = m + u / b;
            (b.sqrt() * mean, 2.0 - ((b - 1.0 + u * u) / b - mean * mean))
        };
        let ((m1, v1), (m2, v2)) = (law(u1), law(u2));
        for l in [0.0, 0.1, 0.5, 1.0] {
            // A Riemann sum of max(0, p − xq) at 20 points a unit of standard deviation.
            let density = |x: f64, m: f64, v: f64| {
                (-(x - m) * (x - m) / (2.0 * v)).exp() / (2.0 * std::f64::consts::PI * v).sqrt()
            };
            let sum: f64 = (-4000..4000)
                .map(|k| m1 + 0.005 * f64::from(k))
                .map(|x| 0.005 * (density(x, m1, v1) - f64::exp(l) * density(x, m2, v2)).max(0.0))
                .sum();
            assert!(test.curve(l) >= sum - 1e-9, "{m} {u1} {u2} at {l}: {} below {sum}", test.curve(l));
        }
    }
}
