//! Compares MMD estimates with a direct NumPy computation (tests/tables/make_mmd.py).

use barkeep::diagnostics::{Points, mmd::squared_mmd};

#[derive(serde::Deserialize)]
struct Entry {
    name: String,
    dimension: usize,
    width: f64,
    unbiased: f64,
    biased: f64,
    x: Vec<f64>,
    y: Vec<f64>,
}

#[test]
fn estimates_agree_with_numpy() {
    let entries: Vec<Entry> = serde_json::from_str(include_str!("tables/mmd.json")).unwrap();
    assert_eq!(entries.len(), 10);
    let mut worst = 0.0_f64;
    for entry in &entries {
        let x = Points::new(&entry.x, entry.dimension).unwrap();
        let y = Points::new(&entry.y, entry.dimension).unwrap();
        let found = squared_mmd(&x, &y, entry.width).unwrap();
        for (found, expected) in [(found.unbiased.unwrap(), entry.unbiased), (found.biased, entry.biased)] {
            // Kernel means are of size 1: a few of their roundings, whatever remains after subtraction.
            assert!((found - expected).abs() < 4e-15, "{}: {found} against {expected}", entry.name);
            worst = worst.max((found - expected).abs());
        }
    }
    println!("worst difference {worst:.1e}");
}
