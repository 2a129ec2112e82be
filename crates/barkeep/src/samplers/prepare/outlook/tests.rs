use super::*;

const START: Outlook = Outlook { friction: 2.0, distance: 100.0, rates: &GUESSED, tail: 50.0 };

/// Autoregressions x' = (1 − λh/2)x + √h·z from D, averaged over the kept steps, have the error and the spread that are foreseen.
#[test]
fn a_simulated_diffusion_is_off_by_what_is_foreseen() {
    let outlook = Outlook { rates: &KNOWN, tail: 0.0, ..START };
    let mut rng = crate::public_rng::PublicRng::new(3, 0);
    for (rate, time, left_out) in
        [(1.0, 30.0, 10.0), (0.37, 60.0, 20.0), (1.0, 200.0, 10.0), (0.2, 12.0, 4.0)]
    {
        let step = 0.1;
        let (mut off, mut wide) = (0.0, 0.0);
        let repeats = 400;
        for _ in 0..repeats {
            // In units of the direction's own sd, 1/√λ of the guessed one.
            let (mut x, mut kept) = (outlook.distance, Vec::new());
            for k in 0..(time / step) as usize {
                x += -0.5 * rate * step * x + (rate * step).sqrt() * rng.normal();
                if k as f64 * step >= left_out {
                    kept.push(x);
                }
            }
            let mean = kept.iter().sum::<f64>() / kept.len() as f64;
            off += mean * mean / f64::from(repeats);
            wide +=
                kept.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / kept.len() as f64 / f64::from(repeats);
        }
        let (error, spread) = outlook.direction(rate, 1.0, left_out, time);
        let near = |found: f64, stated: f64| (found / stated).sqrt();
        assert!((0.7..1.4).contains(&near(off, error)), "{rate} {time}: {off} {error}");
        assert!((0.7..1.4).contains(&near(wide, spread)), "{rate} {time}: {wide} {spread}");
    }
}

#[test]
fn the_clip_balances_bias_and_time() {
    let best = START.best_width(4.0, 20_000.0);
    let error = |width: f64| {
        let time = 20_000.0 / (width * width);
        START.expected(width, time / 3.0, time).error
    };
    assert!(best > 4.0, "{best}");
    assert!(error(best) <= error(1.2 * best) && error(best) <= error(best / 1.2), "{best}");
    // Without a tail time is all that counts.
    assert_eq!(Outlook { tail: 0.0, ..START }.best_width(4.0, 20_000.0), 4.0);
}

#[test]
fn slow_columns_are_the_far_end_of_the_range() {
    let expected = START.expected(10.0, 30.0, 90.0);
    assert!(expected.range.0 < expected.error && expected.error < expected.range.1, "{expected:?}");
    let known = Outlook { rates: &KNOWN, tail: 0.0, distance: 0.0, ..START }.expected(10.0, 10.0, 90.0);
    assert_eq!(known.range.0, known.range.1);
    assert!((known.error - (4.0_f64 / 80.0).sqrt()).abs() < 1e-12);
}
