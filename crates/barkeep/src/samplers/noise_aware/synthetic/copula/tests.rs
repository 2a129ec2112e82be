use super::*;
use crate::samplers::noise_aware::example::{coordinates, spec};
use barkeep_model::Law;

const COLUMNS: &str = "y = { kind = \"bool\", invalid = false }\n\
                       a = { min = -1, max = 1, invalid = 0 }\n\
                       d = { kind = \"bool\", invalid = false }\n\
                       c = { kind = \"category\", levels = [\"p\", \"q\", \"r\"], invalid = \"p\" }";

/// Corr(sign(Z − c), Z) by a sum over a fine grid of the normal density.
#[test]
fn the_biserial_factor_is_that_of_a_cut_normal() {
    let raw = Raw { source: 0, kind: RawKind::Bool };
    for share in [0.05, 0.3, 0.5, 0.8] {
        let cut = normal_quantile(1.0 - share);
        let (mut above, mut cross, step) = (0.0, 0.0, 1e-4);
        for k in -80_000..80_000 {
            let z = (f64::from(k) + 0.5) * step;
            let mass = (-0.5 * z * z).exp() / std::f64::consts::TAU.sqrt() * step;
            if z > cut {
                above += mass;
                cross += z * mass;
            }
        }
        let correlation = cross / (above * (1.0 - above)).sqrt();
        assert!((biserial(&raw, 2.0 * share - 1.0) * correlation - 1.0).abs() < 1e-3, "{share}");
    }
}

#[test]
fn a_floored_matrix_is_a_correlation_matrix() {
    let floor = floored(&[1.0, 0.99, 0.9, 0.99, 1.0, -0.5, 0.9, -0.5, 1.0], 3);
    assert!((0..3).all(|j| (floor[j * 4] - 1.0).abs() < 1e-12));
    assert!(Spectrum::new(&floor, 3).unwrap().range().0 > 0.02);
}

/// Records made up from precise moments and products have them: means, shares of levels and a correlation.
#[test]
fn made_up_records_look_like_what_is_believed() {
    let spec = spec("bernoulli", COLUMNS, "a + d + c");
    let coordinates = coordinates(&spec, Law::Logit);
    let raws = &coordinates.raws;
    assert_eq!(raws.len(), 4);
    let means = [0.2, -0.4, -0.4, -0.8];
    let mut grids: Vec<Grid> = raws.iter().map(|raw| Grid::new(raw.is_binary())).collect();
    grids[0].observe_moments(0.2, Some(0.04 + 0.09 - 1.0), 1e-3, 1e6);
    for j in 1..4 {
        grids[j].observe_moments(means[j], None, 1e-3, 1e6);
    }
    let spreads = [0.3, (1.0_f64 - 0.16).sqrt(), (1.0_f64 - 0.16).sqrt(), (1.0_f64 - 0.64).sqrt()];
    let mut seconds = vec![0.0; 16];
    (0..4).for_each(|j| seconds[j * 5] = 1.0);
    (seconds[1], seconds[4]) = (0.4, 0.4);
    let products = Products {
        centres: means.to_vec(),
        spreads: spreads.to_vec(),
        firsts: vec![0.0; 4],
        seconds,
        noise: (1e-3, 1e-3, 1e-3),
        radius: 10.0,
    };
    let belief = Belief::new(raws, &grids, Some(&products), None);
    let count = 4096;
    let rows = belief.rows(&coordinates, 5, count);
    let column = |j: usize| rows.chunks_exact(5).map(move |row| row[j]).sum::<f64>() / count as f64;
    // Features: response, a, d, c[q], c[r].
    assert!((column(1) - 0.2).abs() < 0.02, "{}", column(1));
    for (j, share) in [(2, 0.3), (3, 0.3), (4, 0.1)] {
        assert!((column(j) - share).abs() < 0.02, "{j}: {}", column(j));
    }
    assert!(rows.chunks_exact(5).all(|row| row[3] + row[4] <= 1.0));
    let cross = rows.chunks_exact(5).map(|row| (row[1] - 0.2) * (row[2] - 0.3)).sum::<f64>() / count as f64;
    let correlation = cross / (0.3 * (0.3 * 0.7_f64).sqrt());
    assert!((correlation - 0.4).abs() < 0.05, "{correlation}");
}

/// The mean of 1/p over the simplex above the floor, by midpoints of p's Beta(1, L − 1) density.
#[test]
fn unknown_shares_have_the_mean_of_their_inverse() {
    for levels in [2, 3, 4, 8] {
        let shares = shares(levels);
        assert!(
            (shares.iter().sum::<f64>() - 1.0).abs() < 1e-12 && shares.is_sorted_by(|a, b| a > b),
            "{shares:?}"
        );
        let (count, points) = (levels as f64, 200_000);
        let step = (1.0 - RAREST) / f64::from(points);
        let place = |i: i32| RAREST + step * (f64::from(i) + 0.5);
        let mean: f64 =
            (0..points).map(|i| step * (count - 1.0) * (1.0 - place(i)).powf(count - 2.0) / place(i)).sum();
        let own = shares.iter().map(|share| 1.0 / share).sum::<f64>() / count;
        assert!((own / mean - 1.0).abs() < 0.05, "{levels}: {own} {mean}");
    }
}

/// A value of one record in a hundred lies ten standard deviations out, where products shorten it: its count rests on the moments alone.
#[test]
fn products_do_not_count_what_they_shorten() {
    let raws = [Raw { source: 0, kind: RawKind::Bool }];
    let mut grids = [Grid::new(true)];
    grids[0].observe_moments(-0.98, None, 0.01, 1e4);
    let before = grids[0].known();
    let products = Products {
        centres: vec![before.mean],
        spreads: vec![(before.square + before.variance).sqrt()],
        firsts: vec![-0.08],
        seconds: vec![1.0],
        noise: (1e-3, 1e-3, 1e-3),
        radius: 1.7,
    };
    products.update(&mut grids, &raws);
    assert_eq!(grids[0].known().mean, before.mean);
    let products = Products { radius: 20.0, ..products };
    products.update(&mut grids, &raws);
    assert!(grids[0].known().mean < before.mean);
}
