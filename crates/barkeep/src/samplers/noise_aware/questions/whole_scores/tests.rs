//! Feeds answers that no mode explains.

use super::*;
use crate::diagnostics::Grade;
use crate::samplers::noise_aware::example::Echo;
use crate::samplers::noise_aware::fit::whole::source_of;

#[test]
fn modes_of_fewer_answers_than_were_given_are_not_to_be_trusted() {
    let source = source_of("x = { min = -30, max = 30, invalid = 0 }", "name = 'mixture'");
    let together = Ratio::new(4.0).unwrap();
    let rounds = rounds_of(together).unwrap();
    let start = vec![0.1, 0.4];
    let setup = Arc::new(WholeSetup { source, rounds, together, learning: None, start });
    for (lost_from, unused) in [(usize::MAX, 0), (7, 1), (6, 2)] {
        let mut echo = Echo::lost_from(lost_from);
        let ask = &mut Asker::plain(&mut echo, &*setup.source.likelihood);
        let found = setup.score(ask, &mut PublicRng::new(3, 0)).unwrap();
        assert_eq!(found.answered.len(), 8 - unused);
        assert_eq!(found.modes[0].fit.precision.len(), (2 * found.answered.len()).pow(2));
        let checks = WholeScores::new(Arc::clone(&setup)).checks(&found);
        let check = checks.into_iter().find(|check| check.key == "fit_settled").unwrap();
        assert_eq!(check.grade == Grade::NotToBeTrusted, unused > 0, "{check:?}");
    }
}
