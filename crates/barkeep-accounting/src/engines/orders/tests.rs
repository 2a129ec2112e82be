//! Checks that the search over orders finds the bottom of a valley.

use super::{smallest_over_real_orders, smallest_over_whole_orders};

#[test]
fn finds_the_bottom_of_a_valley() {
    for bottom in [1.000_1_f64, 1.5, 2.0, 17.3, 4000.7, 1e9] {
        let distance = |x: f64| ((x - 1.0) / (bottom - 1.0)).ln().powi(2);
        assert!(smallest_over_real_orders(|order| distance(order.get())) < 1e-12);
    }
    for bottom in [2_u32, 3, 7, 31, 100, 999, 1000] {
        let distance = |order: u32| (f64::from(order) - f64::from(bottom)).abs();
        assert_eq!(smallest_over_whole_orders(1000, distance), 0.0);
    }
}

#[test]
fn no_order_and_no_number_prove_nothing() {
    assert_eq!(smallest_over_whole_orders(1, |_| 0.0), f64::INFINITY);
    assert_eq!(smallest_over_real_orders(|_| f64::NAN), f64::INFINITY);
}
