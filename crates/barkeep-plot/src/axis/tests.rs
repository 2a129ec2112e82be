//! Tests of `axis`.

use super::*;

#[test]
fn ticks_are_round_numbers_within_the_ends() {
    let axis = Axis::new("x").from(0.13, 0.97);
    let labels: Vec<String> = axis.fitted(std::iter::empty()).ticks().into_iter().map(|t| t.1).collect();
    assert_eq!(labels, ["0.2", "0.4", "0.6", "0.8"]);
    let axis = Axis::log("x").from(1e-4, 1e-1);
    let labels: Vec<String> = axis.fitted(std::iter::empty()).ticks().into_iter().map(|t| t.1).collect();
    assert_eq!(labels, ["10⁻⁴", "0.001", "0.01", "0.1"]);
}

#[test]
fn what_a_logarithm_cannot_show_has_no_place() {
    let axis = Axis::log("x").from(1.0, 100.0);
    let fitted = axis.fitted(std::iter::empty());
    assert_eq!(fitted.place(10.0), Some(0.5));
    assert_eq!(fitted.place(0.0), None);
    assert_eq!(fitted.place(f64::NAN), None);
}

#[test]
fn large_and_small_numbers_are_written_with_powers() {
    assert_eq!(spoken(2e6), "2·10⁶");
    assert_eq!(spoken(1e-10), "10⁻¹⁰");
    assert_eq!(spoken(-0.25), "−0.25");
}

#[test]
fn an_axis_without_width_has_no_ticks() {
    for (low, high) in
        [(1.0, 1.0), (1e300, 1e300 + 1.0), (0.0, 0.0), (1.0, 1.0 + 1e-16), (f64::MIN, f64::MAX)]
    {
        let axis = Axis::new("").from(low, high);
        assert!(axis.fitted(std::iter::empty()).ticks().len() <= 40, "{low} {high}");
    }
}
