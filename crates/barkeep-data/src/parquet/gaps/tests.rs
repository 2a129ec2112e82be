use super::*;
use proptest::prelude::*;

/// Levels as runs of the format: eights that are alike as a run of one level, others packed.
fn written(levels: &[bool]) -> Vec<u8> {
    let mut page = Vec::new();
    for eight in levels.chunks(8) {
        if eight.iter().all(|level| *level == eight[0]) {
            page.extend([(eight.len() << 1) as u8, u8::from(eight[0])]);
        } else {
            let byte = eight.iter().rev().fold(0, |byte, level| byte << 1 | u8::from(*level));
            page.extend([1 << 1 | 1, byte]);
        }
    }
    page
}

proptest! {
    #[test]
    fn every_value_finds_its_record(
        levels in prop::collection::vec(prop::bool::weighted(0.9), 1..400),
        cuts in prop::collection::vec(1_usize..150, 1..40),
        bits in any::<bool>(),
    ) {
        let page = if bits {
            levels.chunks(8).map(|eight| eight.iter().rev().fold(0, |byte, level| byte << 1 | u8::from(*level))).collect()
        } else {
            written(&levels)
        };
        let mut runs = if bits { Runs::bits(0, page.len()) } else { Runs::new(1, 0, page.len()) }.unwrap();
        let (mut there, mut start) = (There::default(), 0);
        for cut in cuts.into_iter().cycle() {
            let here = &levels[start..levels.len().min(start + cut)];
            let count = there.read(&mut runs, &page, here.len()).unwrap();
            prop_assert_eq!(count, here.iter().filter(|level| **level).count());
            let values: Vec<f64> = (0..count + 8).map(|k| k as f64).collect();
            let mut out = values[..count].to_vec();
            if count < here.len() {
                out = vec![-1.0; here.len()];
                there.spread(&values, &mut out).unwrap();
            }
            let mut next = 0.0;
            for (out, level) in out.into_iter().zip(here) {
                let is_right = if *level { out == next } else { out.is_nan() };
                prop_assert!(is_right);
                next += f64::from(u8::from(*level));
            }
            start += here.len();
            if start == levels.len() {
                break;
            }
        }
        // Seven records beyond may be what fills the last byte; no page says more.
        prop_assert!(there.read(&mut runs, &page, 8).is_none());
    }
}
