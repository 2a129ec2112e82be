//! Tests of `thesis`.

use super::*;

#[test]
fn models_are_read_whole() {
    let all: Vec<&Setting> = by_mmd().iter().chain([circle()]).collect();
    assert_eq!(all.len(), 8);
    for setting in all {
        assert!(setting.dimension >= 2 && setting.records >= 100_000, "{}", setting.name);
        assert!(setting.published_spread > 0.0, "{}", setting.name);
        crate::replicate::plan(&setting.spec("name = 'langevin'"), 1.0).unwrap();
    }
    let correlated = named("hard-gauss-2d").unwrap();
    assert!(matches!(correlated.family, Family::Gaussian { correlation: 0.999, prior_variance: 100.0 }));
    let tempered = named("tempered-10d").unwrap();
    assert!(matches!(tempered.family, Family::Banana { a: 20.0, n0: Some(1000.0) }));
}
