//! Tests of `clip_counter`.

use super::*;
use barkeep::model::GaussianMean;

#[test]
fn shares_beyond_the_bounds_are_counted() {
    let model = Arc::new(GaussianMean::independent(&[1.0], 10.0).unwrap());
    let clips = Clips { log_ratio: Some(1.0), by_distance: true, gradient: Some(1.5) };
    let counter = ClipCounter::new(model, clips);
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
