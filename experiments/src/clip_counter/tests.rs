//! Tests of `clip_counter`.

use super::*;
use barkeep::model::GaussianMean;

#[test]
fn shares_beyond_the_bounds_are_counted() {
    let model = Arc::new(GaussianMean::independent(&[1.0], 10.0).unwrap());
    let clips = Clips { log_ratio: Some(1.0), by_distance: true, gradient: Some(1.5) };
    let counter = ClipCounter::new(model, clips).tracing();
    // Records 0, 1, 2, 3 of a normal law: gradients x − θ; log-ratios from 0 to ½ are x/2 − 1/8, bound ½.
    let records = [0.0, 1.0, 2.0, 3.0];
    let block = Block::over(&records, 4, 4);
    let (mut out, mut scratch) = (vec![0.0; 4], Scratch::default());
    counter.log_ratio(block, &[0.0], &[0.5], &mut out, &mut scratch);
    assert_eq!(counter.clipped_log_ratios(), Some(0.5));
    counter.gradient(block, &[0.0], &mut out, &mut scratch);
    counter.gradient(block, &[0.0], &mut out, &mut scratch);
    counter.gradient(block, &[1.0], &mut out, &mut scratch);
    assert_eq!(counter.clipped_gradients(), Some(5.0 / 12.0));
    assert_eq!(counter.path(), [[0.0], [1.0]]);
}

/// One question in [`COUNTED`] is written and counted, the first one too; a counter that traces wants them all.
#[test]
fn some_gradients_are_counted_and_the_others_stay_quick() {
    let model = Arc::new(GaussianMean::independent(&[1.0], 10.0).unwrap());
    let clips = Clips { gradient: Some(1.5), ..Clips::default() };
    let quick = |counter: &ClipCounter| {
        (0..2 * COUNTED).filter(|_| counter.affine_gradient(&[0.5], &mut Affine::default())).count() as u64
    };
    let counter = ClipCounter::new(Arc::clone(&model) as Arc<dyn Likelihood>, clips);
    assert!(!counter.affine_gradient(&[0.5], &mut Affine::default()));
    assert_eq!(quick(&ClipCounter::new(Arc::clone(&model) as Arc<dyn Likelihood>, clips)), 2 * COUNTED - 2);
    assert_eq!(
        quick(&ClipCounter::new(Arc::clone(&model) as Arc<dyn Likelihood>, Clips::default())),
        2 * COUNTED
    );
    assert_eq!(quick(&ClipCounter::new(model, clips).tracing()), 0);
}
