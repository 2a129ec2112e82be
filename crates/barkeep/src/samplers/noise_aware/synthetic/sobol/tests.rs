use super::*;
use barkeep_num::normal_quantile;

/// The first 2^k points put one point into each of 2^k equal intervals, coordinate by coordinate.
#[test]
fn every_interval_holds_one_point() {
    let (dimensions, count) = (37, 512);
    let sobol = Sobol::new(dimensions);
    let mut seen = vec![vec![0; count]; dimensions];
    let mut point = vec![0.0; dimensions];
    for i in 0..count {
        sobol.point(i, &mut point);
        point.iter().zip(&mut seen).for_each(|(x, seen)| seen[(x * count as f64) as usize] += 1);
    }
    assert!(seen.iter().flatten().all(|times| *times == 1));
}

/// The first coordinates before scrambling: ½, ¼, ¾ … and the points of a published table (Joe and Kuo 2008).
#[test]
fn directions_are_those_of_the_table() {
    let words = |j: usize| directions(DIRECTIONS[j].0, DIRECTIONS[j].1).map(|word| word >> 28);
    assert_eq!(words(0)[..4], [0b1000, 0b1100, 0b1010, 0b1111]);
    assert_eq!(words(1)[..4], [0b1000, 0b1100, 0b0110, 0b1001]);
}

/// Normals made of them have about the moments of independent normals, where a lattice misses by tenths.
#[test]
fn normals_are_uncorrelated() {
    let (dimensions, count) = (10, 512);
    let sobol = Sobol::new(dimensions);
    let mut products = vec![0.0; dimensions * dimensions];
    let mut point = vec![0.0; dimensions];
    for i in 0..count {
        sobol.point(i, &mut point);
        let z: Vec<f64> = point.iter().map(|u| normal_quantile(*u)).collect();
        for (k, sum) in products.iter_mut().enumerate() {
            *sum += z[k / dimensions] * z[k % dimensions] / count as f64;
        }
    }
    for (k, product) in products.iter().enumerate() {
        let expected = f64::from(u8::from(k / dimensions == k % dimensions));
        assert!((product - expected).abs() < 0.06, "{k}: {product}");
    }
}
