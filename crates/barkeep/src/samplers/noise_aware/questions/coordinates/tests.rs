use super::*;
use crate::samplers::noise_aware::example::{coordinates, spec};

/// Made-up rows, asked about as the curator asks, give the raw coordinates back: through scaling, logarithms, roots and levels.
#[test]
fn a_made_up_row_gives_its_coordinates_back() {
    let columns = "y = { kind = \"bool\", invalid = false }\n\
                   a = { min = 2, max = 10, invalid = 3, scale = \"bounds\" }\n\
                   b = { min = 1, max = 50, invalid = 3 }\n\
                   c = { kind = \"category\", levels = [\"p\", \"q\", \"r\"], invalid = \"p\" }\n\
                   d = { kind = \"bool\", invalid = false }";
    let spec = spec("bernoulli", columns, "poly(a, 2) + log(b) + c + d + a:d");
    let found = coordinates(&spec, Law::Logit);
    assert_eq!(found.raws.iter().map(|raw| raw.source).collect::<Vec<_>>(), [1, 2, 3, 3, 4]);
    for z in [[0.3, -0.7, -1.0, 1.0, 1.0], [-1.0, 1.0, 1.0, -1.0, -1.0], [0.0, 0.1, -1.0, -1.0, 1.0]] {
        let mut row = vec![0.0; found.view.features().len()];
        found.push(&z, &mut Vec::new(), &mut row);
        for (asked, z) in found.asked.iter().zip(z) {
            assert_eq!(asked.curve, Curve::Line);
            let again = asked.scale * row[asked.column] + asked.shift;
            assert!((again - z).abs() < 1e-12, "{again} for {z}");
        }
    }
}

/// Features follow from raw columns by hand: a at z lies at 6 + 4z, Legendre's second polynomial is (3z² − 1)/2.
#[test]
fn features_follow_from_raw_columns() {
    let columns = "y = { kind = \"bool\", invalid = false }\na = { min = 2, max = 10, invalid = 3 }\n\
                   d = { kind = \"bool\", invalid = false }";
    let spec = spec("bernoulli", columns, "poly(a, 2) + a:d");
    let found = coordinates(&spec, Law::Logit);
    let mut row = vec![0.0; found.view.features().len()];
    found.push(&[0.4, 1.0], &mut Vec::new(), &mut row);
    let named = |name: &str| {
        let place = found.view.features().iter().position(|feature| feature.name == name).unwrap();
        row[place]
    };
    let names: Vec<&str> = found.view.features().iter().map(|feature| feature.name.as_str()).collect();
    assert!((row[1] - 7.6).abs() < 1e-12 && (row[2] - (3.0 * 0.16 - 1.0) / 2.0).abs() < 1e-12, "{names:?}");
    assert!((named("a:d") - 7.6).abs() < 1e-12, "{names:?}");
}
