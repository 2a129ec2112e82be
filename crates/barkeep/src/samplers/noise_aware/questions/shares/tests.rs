use super::*;

/// Gaussian answers compose by Σμ²: all shares together are the whole.
#[test]
fn the_questions_cost_the_whole_budget() {
    let whole = Ratio::new(4.0).unwrap();
    for (columns, tail, nuisance) in
        [(true, true, true), (true, false, false), (false, true, false), (false, false, true)]
    {
        let shares = Shares::new(whole, LEARNING, columns, tail, 6, nuisance).unwrap();
        let questions = shares.questions(Neighbours::Substitute).unwrap();
        let spent: f64 = questions
            .iter()
            .map(|(cost, times)| match cost.mechanism() {
                Mechanism::Gaussian(gaussian) => times.0 as f64 / gaussian.ratio.get().powi(2),
                other => panic!("{other:?}"),
            })
            .sum();
        assert!((spent * 16.0 - 1.0).abs() < 1e-9, "{spent}");
    }
}
