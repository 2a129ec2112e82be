//! Tests of `clip_counter`.

use super::*;
use barkeep::model::GaussianMean;

#[test]
fn shares_beyond_the_bounds_are_counted() {
    let model = Arc::new(GaussianMean::independent(&[1.0], 10.0).unwrap());
    let clips = Clips { log_ratio: Some(1.0), by_distance: true, gradient: Some(1.5) };
    // Records 0, 1, 2, 3 of a normal law: gradients x − θ; log-ratios from 0 to ½ are x/2 − 1/8, bound ½.
    let counter = ClipCounter::new(model, clips, &[vec![0.0, 1.0, 2.0, 3.0]]).tracing();
    let w = &mut Writer::default();
    counter.write_ratio(&[0.0], &[0.5], w);
    assert_eq!(counter.clipped_log_ratios(), Some(0.5));
    // One question in so many is looked at, the first one too; all are traced.
    for _ in 0..COUNTED {
        counter.write_gradient(&[0.0], w);
    }
    assert_eq!(counter.clipped_gradients(), Some(0.5));
    counter.write_gradient(&[1.0], w);
    assert_eq!(counter.clipped_gradients(), Some(3.0 / 8.0));
    assert_eq!(counter.path(), [[0.0], [1.0]]);
}
