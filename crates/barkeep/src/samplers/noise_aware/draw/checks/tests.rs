//! Feeds answers that no posterior explains, and fits that do not move.

use super::*;
use crate::public_rng::PublicRng;
use crate::samplers::Asker;
use crate::samplers::noise_aware::example::{Echo, coordinates, plain, spec};
use crate::samplers::noise_aware::questions::shares::{LEARNING, ROUNDS, Shares};
use crate::samplers::noise_aware::synthetic::columns::Grid;
use crate::samplers::noise_aware::synthetic::copula::{Belief, absent};
use barkeep_accounting::Ratio;
use std::sync::Arc;

fn setup() -> Setup {
    let spec = plain("bernoulli");
    Setup {
        model: Arc::clone(spec.model()),
        coordinates: coordinates(&spec, Law::Logit),
        shares: Shares::new(Ratio::new(4.0).unwrap(), LEARNING, true, false, 3, false).unwrap(),
        records: 400.0,
        most_rows: 1,
        law: Law::Logit,
    }
}

fn settled(found: &Found, setup: &Setup) -> Check {
    found.checks(setup).into_iter().find(|check| check.key == "fit_settled").unwrap()
}

#[test]
fn a_fit_to_fewer_answers_than_were_given_is_not_to_be_trusted() {
    let (setup, mut rng) = (setup(), PublicRng::new(3, 0));
    // Columns, their products and eight rounds.
    for (lost_from, unused) in [(usize::MAX, 0), (9, 1), (7, 3)] {
        let (mut echo, spec) = (Echo::lost_from(lost_from), plain("bernoulli"));
        let ask = &mut Asker::plain(&mut echo, &**spec.likelihood());
        let learned = setup.learn(ask, &mut rng).unwrap();
        let found = setup.score(ask, learned).unwrap();
        let check = settled(&found, &setup);
        assert_eq!(found.answered.len(), ROUNDS.len() - unused);
        assert_eq!(found.fit.precision.len(), (3 * found.answered.len()).pow(2));
        assert_eq!(check.grade == Grade::NotToBeTrusted, unused > 0, "{check:?}");
        let words = format!("the first {} of 8 rounds", 8 - unused);
        assert_eq!(check.words.contains(&words), unused > 0, "{check:?}");
        assert_eq!(check.remedy.is_empty(), unused == 0);
    }
}

#[test]
fn a_fit_that_does_not_move_is_not_to_be_trusted() {
    let fit = Fit::at(&[0.5, -1.0]);
    let graded =
        |before: [f64; 2]| drift(&fit, &[vec![3.0, 3.0], before.to_vec(), fit.mode.clone()], 0).grade;
    assert_eq!(graded([0.5, -1.0]), Grade::NotToBeTrusted);
    assert_eq!(graded([0.5, -1.0 + 1e-9]), Grade::Trustworthy);
    assert_eq!(graded([0.5, 2.0]), Grade::Wide);
    assert_eq!(graded([5.0, -1.0]), Grade::NotToBeTrusted);
}

#[test]
fn wide_intervals_are_named_and_what_was_not_checked_is_never_green() {
    let names: Vec<String> = ["a", "b", "c", "d", "e"].map(str::to_owned).into();
    let graded = |ratios: [f64; 5]| width_of(&names, &ratios);
    let check = graded([1.0, 1.5, 1.9, 1.2, 4.0]);
    assert_eq!(check.grade, Grade::Trustworthy);
    assert!(check.words.contains("e (4 times)"), "{check:?}");
    let check = graded([1.0, 1.5, 1.9, 1.2, 20.0]);
    assert_eq!(check.grade, Grade::Wide);
    assert!(check.words.ends_with("those of e (20 times)"), "{check:?}");
    let check = graded([3.0, 4.0, 5.0, 6.0, 7.0]);
    assert!(check.grade == Grade::Wide && check.words.ends_with("c (5 times) and 2 more"), "{check:?}");
    let check = unchecked("family", "whether responses follow their family");
    assert!(check.grade == Grade::Wide && !check.remedy.is_empty());
    // Without a budget for a look, four hundred records are never green.
    let few = few_records(&setup()).unwrap();
    assert_eq!((few.key.as_ref(), few.grade), ("enough_records", Grade::Wide));
}

#[test]
fn a_level_that_may_have_no_record_keeps_its_prior_and_is_named() {
    let columns = "y = { kind = \"bool\", invalid = false }\nk = { kind = \"category\", levels = [\"a\", \"b\", \"c\"], invalid = \"a\" }";
    let spec = spec("bernoulli", columns, "k");
    let (raws, asked) = (&coordinates(&spec, Law::Logit).raws.clone(), coordinates(&spec, Law::Logit));
    let mut grids = vec![Grid::new(true), Grid::new(true)];
    grids[0].observe_moments(0.0, None, 0.01, 1e4);
    grids[1].observe_moments(-0.995, None, 0.01, 1e4);
    let absent = absent(raws, &grids, 1e4);
    assert_eq!(absent, [1]);
    assert_eq!(asked.name(&raws[1]), "k[c]");
    let rows = Belief::new(raws, &grids, None, None).without(&absent).rows(&asked, 3, 512);
    assert!(rows.chunks_exact(3).all(|row| row[2] == 0.0));
    assert!(rows.chunks_exact(3).filter(|row| row[1] == 1.0).count() > 200);
}
