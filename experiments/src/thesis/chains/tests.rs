//! Tests of `chains`.

use super::*;
use crate::thesis::by_mmd;

#[test]
fn every_published_sampler_buys_the_published_steps() {
    for setting in by_mmd().iter().filter(|setting| setting.dimension == 2) {
        for (name, section) in samplers(setting).unwrap() {
            if !matches!(name.as_str(), "dpps" | "dppa" | "hmc") {
                continue;
            }
            for budget in [1.0, 4.0] {
                let plan = planned(setting, &section, budget).unwrap();
                let published = published_steps(&setting.name, &name, budget).unwrap();
                assert_eq!(plan.steps().0, published, "{} {name} {budget}", setting.name);
            }
        }
    }
}

#[test]
fn settings_cover_every_published_cell() {
    let published = crate::published::Published::new(include_str!("../../../published/thesis-mmd.csv"));
    for row in published.rows().filter(|row| row.text("sampler") != "exact") {
        let setting = named(row.text("model")).unwrap();
        assert!(samplers(setting).unwrap().iter().any(|(name, _)| name == row.text("sampler")));
        assert!(budgets(setting).contains(&row.number("epsilon")));
    }
}
