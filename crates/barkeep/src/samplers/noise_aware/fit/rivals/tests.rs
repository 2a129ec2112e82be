use crate::{Plan, Spec};
use std::path::Path;

fn expected(records: usize, epsilon: f64, model: &str) -> f64 {
    let text = format!(
        "[data]\npath = 'x.csv'\nrecords = {records}\n[data.columns]\nx = {{ min = -30, max = 30, invalid = 0 }}\n[model]\n{model}\n\
         [privacy]\nepsilon = {epsilon}\ndelta = 1e-6\n[sampler]\nname = 'noise-aware'\n"
    );
    Plan::new(Spec::parse(&text, Path::new("")).unwrap()).unwrap().expected().unwrap().error
}

/// A mixture's labels can be swapped, a normal mean cannot: errors within a mode are small beside the distance of two.
#[test]
fn an_error_is_small_beside_the_distance_of_modes() {
    let (mixture, one) = ("name = 'mixture'", "name = 'gaussian'\ncovariance = [[1]]");
    let (few, many) = (expected(1000, 1.0, mixture), expected(10_000, 1.0, mixture));
    assert!(few < 0.5 * expected(1000, 1.0, one), "{few}");
    // Ten times the records: each mode is narrower by √10 and the error in it smaller; the distance stays.
    assert!(many < 0.5 * few && expected(1000, 3.0, mixture) <= few, "{few} {many}");
}
