//! Tests of `thesis`.

use super::*;

#[test]
fn models_are_read_whole() {
    let all: Vec<&Setting> = by_mmd().iter().chain([circle()]).collect();
    assert_eq!(all.len(), 8);
    for setting in all {
        assert!(setting.dimension >= 2 && setting.records >= 100_000, "{}", setting.name);
        crate::replicate::plan(&setting.spec("name = 'langevin'"), 1.0).unwrap();
    }
    let correlated = named("hard-gauss-2d").unwrap();
    assert!(matches!(correlated.family, Family::Gaussian { correlation: 0.999, prior_variance: 100.0 }));
    let tempered = named("tempered-10d").unwrap();
    assert!(matches!(tempered.family, Family::Banana { a: 20.0, n0: Some(1000.0) }));
}

/// `published/thesis-data.csv` was written from what the thesis' code made with JAX: some records, starts and exact draws of every model it
/// keeps, and the means of all columns.
#[test]
fn records_starts_and_draws_are_the_thesis_own() {
    let published = crate::published::Published::new(include_str!("../../published/thesis-data.csv"));
    let mut compared = 0;
    for setting in by_mmd().iter().chain([circle()]) {
        let columns = setting.published_columns(setting.records);
        let means: Vec<f64> =
            columns.iter().map(|column| column.iter().sum::<f64>() / setting.records as f64).collect();
        let draws = setting.published_draws(setting.records, &means).unwrap();
        let spread = setting.spread(&draws);
        for row in published.rows().filter(|row| row.text("model") == setting.name) {
            let index = row.number("index") as usize;
            let expected = row.text("values").split(' ').map(|word| word.parse::<f64>().unwrap());
            let found: Vec<f64> = match row.text("what") {
                "mean" => means.clone(),
                "record" => columns.iter().map(|column| column[index]).collect(),
                "draw" => draws.chunks_exact(setting.dimension).nth(index).unwrap().to_vec(),
                "start" => {
                    let normals = Key::new(STARTS + index as u64).normals(setting.dimension);
                    setting.centre().iter().zip(normals).map(|(x, normal)| x + spread * normal).collect()
                }
                other => panic!("{other}"),
            };
            for (found, expected) in found.iter().zip(expected) {
                assert!(
                    (found - expected).abs() < 1e-9,
                    "{} {}: {found} {expected}",
                    setting.name,
                    row.text("what")
                );
                compared += 1;
            }
        }
    }
    assert!(compared > 400, "{compared}");
}
