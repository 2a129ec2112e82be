//! Attacks the lattice sums with every kind of f64, and checks the stated sensitivities from both sides.

use super::*;
use crate::Secret;
use crate::test_support::echo::EXTREMES;
use barkeep_accounting::{Neighbours, Ratio, Sampling};
use proptest::collection::vec;
use proptest::prelude::*;

/// Any f64 at all, ordinary ones and extremes more often.
fn any_term() -> impl Strategy<Value = f64> {
    prop_oneof![
        3 => -2.0..2.0_f64,
        2 => prop::num::f64::ANY,
        1 => prop::sample::select(EXTREMES.to_vec()),
        1 => prop::sample::select(vec![-1.0, 1.0, 0.0]),
    ]
}

fn any_clip() -> impl Strategy<Value = Clip> {
    (-40.0..40.0_f64).prop_map(|power| Clip::new(power.exp2()).unwrap())
}

fn any_temper() -> impl Strategy<Value = Temper> {
    (-40.0..=0.0_f64).prop_map(|power| Temper::new(power.exp2()).unwrap())
}

fn moments(terms: &[f64], clip: Clip) -> Moments {
    let mut moments = Moments::default();
    moments.add_with_squares(terms, clip);
    moments
}

/// A record's share by the plain definition, one careful step at a time.
fn share(term: f64, clip: Clip) -> i128 {
    let steps = term * (2_f64.powi(30) / clip.get());
    if steps.is_nan() { 0 } else { steps.clamp(-2_f64.powi(30), 2_f64.powi(30)).round_ties_even() as i128 }
}

fn log_ratio(moments: Moments, unit: f64, offset: f64, variance: BatchVariance) -> f64 {
    coin_input(Secret::seal(moments), unit, offset, variance).open().log_ratio
}

proptest! {
    #[test]
    fn both_kernels_add_the_shares_of_the_definition(terms in vec(any_term(), 0..300), clip in any_clip()) {
        let mut plain = Moments::default();
        plain.add(&terms, clip);
        let full = moments(&terms, clip);
        let shares: Vec<i128> = terms.iter().map(|&term| share(term, clip)).collect();
        prop_assert_eq!(i128::from(plain.sum()), shares.iter().sum::<i128>());
        prop_assert_eq!(full.sum(), plain.sum());
        prop_assert_eq!(full.squares() as i128, shares.iter().map(|share| share * share).sum::<i128>());
    }

    #[test]
    fn no_record_moves_the_sum_by_more_than_the_reach(
        terms in vec(any_term(), 1..100), at in any::<prop::sample::Index>(), other in any_term(), clip in any_clip(),
    ) {
        let at = at.index(terms.len());
        let mut substituted = terms.clone();
        substituted[at] = other;
        let mut removed = terms.clone();
        removed.remove(at);
        let sum = |terms: &[f64]| moments(terms, clip).sum() as f64;
        prop_assert!((sum(&terms) - sum(&substituted)).abs() <= reach(Neighbours::Substitute));
        prop_assert!((sum(&terms) - sum(&removed)).abs() <= reach(Neighbours::AddRemove));
    }

    #[test]
    fn no_record_moves_the_log_ratio_by_more_than_the_sensitivity(
        terms in vec(any_term(), 1..100), at in any::<prop::sample::Index>(), other in any_term(),
        clip in any_clip(), temper in any_temper(), offset in prop_oneof![-200.0..200.0, -1e300..1e300_f64],
    ) {
        let at = at.index(terms.len());
        let unit = full_unit(temper, clip);
        let answer = |terms: &[f64]| log_ratio(moments(terms, clip), unit, offset, BatchVariance::None);
        let bound = |neighbours| decide_sensitivity(temper, clip, Sampling::Full, neighbours).unwrap().get();
        let mut neighbour = terms.clone();
        neighbour[at] = other;
        prop_assert!((answer(&terms) - answer(&neighbour)).abs() <= bound(Neighbours::Substitute));
        neighbour.remove(at);
        prop_assert!((answer(&terms) - answer(&neighbour)).abs() <= bound(Neighbours::AddRemove));
    }

    /// Batches whose other records sit at the ends are the worst for the variance, so most are drawn there.
    #[test]
    fn no_record_moves_a_batchs_log_ratio_by_more_than_the_sensitivity(
        end in prop::sample::select(vec![-1.0, 1.0]), size in 1_usize..200, some in vec(any_term(), 0..5),
        first in any_term(), other in any_term(), share in 0.5..20.0_f64, scale in 0.01..3.0_f64, offset in -50.0..50.0_f64,
    ) {
        let clip = Clip::new(scale).unwrap();
        let mut terms = vec![end * scale; size];
        terms.extend(some);
        terms.push(first);
        let batch = terms.len() as u64;
        let records = (batch as f64 * share.max(1.0)) as u64;
        let temper = Temper::new(0.5 / (share * scale)).unwrap_or(Temper::NONE);
        let unit = batch_unit(temper, clip, batch, records);
        let sampling = Sampling::WithoutReplacement { batch, records };
        let bound = decide_sensitivity(temper, clip, sampling, Neighbours::Substitute).unwrap().get();
        let answer = |terms: &[f64]| {
            log_ratio(moments(terms, clip), unit, offset, BatchVariance::Subtracted { batch })
        };
        let before = answer(&terms);
        *terms.last_mut().unwrap() = other;
        prop_assert!((before - answer(&terms)).abs() <= bound, "{} > {}", (before - answer(&terms)).abs(), bound);
    }

    #[test]
    fn sensitivities_grow_with_the_clip(temper in any_temper(), small in any_clip(), factor in 1.0..2.0_f64, batch in 1_u64..5000) {
        let large = Clip::new((small.get() * factor).min(2_f64.powi(40))).unwrap();
        for sampling in [Sampling::Full, Sampling::WithoutReplacement { batch, records: 5000 }] {
            let of = |clip| decide_sensitivity(temper, clip, sampling, Neighbours::Substitute).unwrap();
            prop_assert!(of(small) <= of(large));
        }
    }

    #[test]
    fn recommended_noise_is_charged_at_the_wanted_ratio_or_cheaper(
        ratio in 1e-3..1e6_f64, temper in any_temper(), clip in any_clip(),
    ) {
        let ratio = Ratio::new(ratio).unwrap();
        let sensitivity = decide_sensitivity(temper, clip, Sampling::Full, Neighbours::Substitute).unwrap();
        let charged = noise_ratio(sigma_for(ratio, sensitivity), sensitivity).unwrap();
        prop_assert!(charged >= ratio && charged.get() <= ratio.get() * (1.0 + 1e-14));
    }

    #[test]
    fn the_subsampled_barker_clip_is_allowed_and_the_published_one_is_not(
        temper in any_temper(), batch in 1_u64..5000, more in 0_u64..1_000_000,
    ) {
        let records = batch + more;
        if let Ok(clip) = barker_minibatch_clip(temper, batch, records) {
            prop_assert!(check_barker_minibatch(temper, clip, batch, records).is_ok());
            let published = Clip::new((batch as f64).sqrt() / (records as f64 * temper.get())).unwrap();
            prop_assert!(check_barker_minibatch(temper, published, batch, records).is_err());
            prop_assert!(clip.get() > published.get() * (1.0 - 1e-5));
        }
    }
}

#[test]
fn the_full_sensitivity_is_attained() {
    let (temper, clip) = (Temper::new(0.3).unwrap(), Clip::new(0.7).unwrap());
    let unit = full_unit(temper, clip);
    let answer = |term: f64| log_ratio(moments(&[term], clip), unit, 0.25, BatchVariance::None);
    let bound = decide_sensitivity(temper, clip, Sampling::Full, Neighbours::Substitute).unwrap().get();
    let moved = answer(f64::INFINITY) - answer(f64::NEG_INFINITY);
    // 2TB up to the roundings the bound pays for.
    assert!((moved - 0.42).abs() < 1e-13 && moved <= bound && bound < moved * (1.0 + 1e-12));
}

#[test]
fn a_batchs_sensitivity_is_attained_up_to_its_own_rounding() {
    // Others at the lower end, one record from the lower end to the upper: λ* rises by 2e, and the variance
    // term rises from 0 by the most it can; from the other side λ* and the variance term move apart.
    let (temper, clip, batch, records) = (Temper::NONE, Clip::new(0.02).unwrap(), 50, 1000);
    let unit = batch_unit(temper, clip, batch, records);
    let answer = |end: f64, last: f64| {
        let mut terms = vec![end; 49];
        terms.push(last);
        log_ratio(moments(&terms, clip), unit, 0.0, BatchVariance::Subtracted { batch })
    };
    let sampling = Sampling::WithoutReplacement { batch, records };
    let bound = decide_sensitivity(temper, clip, sampling, Neighbours::Substitute).unwrap().get();
    // Others at the upper end: towards the lower end λ* falls and so does −½σ_b².
    let moved = answer(0.02, 0.02) - answer(0.02, -0.02);
    assert!(moved <= bound && bound < moved * 1.000_001, "{moved} {bound}");
}

#[test]
fn a_batch_of_everything_gives_the_textbook_log_ratio_and_variance() {
    let terms: Vec<f64> = (0..100).map(|i| 0.01 * ((i * 37 % 100) as f64 - 31.0)).collect();
    let (n, temper) = (100.0, 0.4);
    let mean = terms.iter().sum::<f64>() / n;
    let variance = terms.iter().map(|term| (term - mean).powi(2)).sum::<f64>() / n;
    let batch_variance = (n * temper) * (n * temper) / n * variance;
    let clip = Clip::new(1.0).unwrap();
    let unit = batch_unit(Temper::new(temper).unwrap(), clip, 100, 100);
    let input = |variance| coin_input(Secret::seal(moments(&terms, clip)), unit, 1.5, variance).open();
    let expected = n * temper * mean + 1.5;
    let penalty = input(BatchVariance::Subtracted { batch: 100 }).log_ratio;
    assert!((penalty - (expected - 0.5 * batch_variance)).abs() < 1e-7);
    let barker = input(BatchVariance::Handed { batch: 100 });
    assert!((barker.log_ratio - expected).abs() < 1e-7);
    // Here s² exceeds 1, which the subsampled Barker's clip forbids: it is cut there.
    assert!(batch_variance > 1.0 && barker.batch_variance == 1.0);
    let unit = batch_unit(Temper::new(0.1 * temper).unwrap(), clip, 100, 100);
    let input =
        coin_input(Secret::seal(moments(&terms, clip)), unit, 0.0, BatchVariance::Handed { batch: 100 });
    assert!((input.open().batch_variance - 0.01 * batch_variance).abs() < 1e-8);
}

#[test]
fn the_log_ratio_is_odd_and_clamped() {
    let clip = Clip::new(1.0).unwrap();
    let unit = full_unit(Temper::NONE, clip);
    let terms = [0.3, -0.9, 0.123_456_789, 0.5];
    let back: Vec<f64> = terms.iter().map(|term| -term).collect();
    let there = log_ratio(moments(&terms, clip), unit, 0.777, BatchVariance::None);
    assert_eq!(there, -log_ratio(moments(&back, clip), unit, -0.777, BatchVariance::None));
    for offset in [65.0, 1e200, f64::MAX] {
        assert_eq!(log_ratio(moments(&terms, clip), unit, offset, BatchVariance::None), 64.0);
        assert_eq!(log_ratio(moments(&terms, clip), unit, -offset, BatchVariance::None), -64.0);
    }
}

#[test]
fn units_out_of_range_are_refused() {
    for value in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-13, 1e13] {
        assert!(Clip::new(value).is_err(), "{value}");
    }
    for value in [0.0, -1.0, f64::NAN, 1.000_001, 1e-13] {
        assert!(Temper::new(value).is_err(), "{value}");
    }
    let (clip, all) = (Clip::new(1.0).unwrap(), Neighbours::Substitute);
    let refused =
        |sampling, neighbours| decide_sensitivity(Temper::NONE, clip, sampling, neighbours).is_err();
    for (batch, records) in [(0, 10), (11, 10), (1, (1 << 32) + 1)] {
        assert!(refused(Sampling::WithoutReplacement { batch, records }, all));
    }
    assert!(refused(Sampling::WithoutReplacement { batch: 5, records: 10 }, Neighbours::AddRemove));
    assert!(refused(Sampling::Poisson { rate: barkeep_accounting::Rate::new(0.5).unwrap() }, all));
}
