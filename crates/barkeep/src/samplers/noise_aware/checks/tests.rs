//! Feeds answers that no posterior explains, and fits that do not move.

use super::super::example::{Echo, coordinates, plain};
use super::super::shares::{LEARNING, ROUNDS, Shares};
use super::*;
use crate::public_rng::PublicRng;
use crate::samplers::Asker;
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
