//! Curves lie above values integrated from their definition, and close to them.

use super::*;

#[test]
fn curves_lie_just_above_their_integrals() {
    let mut seen = 0;
    for row in include_str!("../../tests/tables/curves.csv").lines() {
        let fields: Vec<&str> = row.split(';').collect();
        let number = |i: usize| fields[i].parse::<f64>().unwrap();
        let (a, b, l, value) = (number(1), number(2), number(3), number(4) + number(5));
        let found = match fields[0] {
            "gaussian" => gaussian(a, l).hi,
            "removed" => poisson_removed(a, b, l),
            "added" => mirrored(l, poisson_removed(a, b, -l)),
            "substituted" => poisson_substituted(a, b, l),
            "first" | "second" => continue,
            other => panic!("{other} is not a curve"),
        };
        assert!(found >= value, "{row}: {found}");
        assert!(found <= value * (1.0 + 1e-10) + 1e-14, "{row}: {found}");
        seen += 1;
    }
    assert_eq!(seen, 42);
}

#[test]
fn a_bit_is_the_sum_of_its_outcomes() {
    let (p, q, x) = (0.7, 0.2, 1.5_f64);
    let exact = (p - x * q).max(0.0) + ((1.0 - p) - x * (1.0 - q)).max(0.0);
    assert!(bit(p, q, x.ln()) >= exact && bit(p, q, x.ln()) < exact + 1e-12);
}
