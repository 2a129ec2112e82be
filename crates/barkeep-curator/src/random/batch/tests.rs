use super::*;
use crate::random::rng::Script;
use crate::test_support::statistics::{NORMAL_LIMIT, assert_fits};

fn rate(value: f64) -> Rate {
    Rate::new(value).expect("a rate")
}

/// The members as bits of an integer.
fn mask(batch: &Batch) -> usize {
    batch.members().iter().fold(0, |mask, &record| mask | 1 << record)
}

#[test]
fn every_subset_of_the_size_is_equally_likely() {
    let mut rng = NoiseRng::insecure_seed(21);
    let mut batch = Batch::new();
    for size in 1..=6 {
        let mut counts = vec![0; 1 << 6];
        for _ in 0..40_000 {
            batch.draw_without_replacement(&mut rng, size, 6).unwrap();
            counts[mask(&batch)] += 1;
        }
        let (of_size, others): (Vec<usize>, _) =
            (0..1 << 6).partition(|mask: &usize| u64::from(mask.count_ones()) == size);
        assert!(others.iter().all(|&mask| counts[mask] == 0));
        let counts: Vec<u64> = of_size.iter().map(|&mask| counts[mask]).collect();
        if counts.len() > 1 {
            assert_fits(&counts, &vec![1.0 / counts.len() as f64; counts.len()], &format!("size {size}"));
        }
    }
}

#[test]
fn batches_are_of_the_size_and_hold_no_record_twice() {
    let mut rng = NoiseRng::insecure_seed(22);
    let mut batch = Batch::new();
    let sizes =
        [(1, 1), (1, 2), (2, 2), (1000, 1_000_000), (50_000, 100_000), (99_999, 100_000), (10, 1 << 32)];
    for (size, records) in sizes {
        batch.draw_without_replacement(&mut rng, size, records).unwrap();
        assert_eq!(batch.members().len() as u64, size);
        let mut members = batch.members().to_vec();
        members.sort_unstable();
        assert!(members.windows(2).all(|pair| pair[0] < pair[1]));
        assert!(members.iter().all(|&record| u64::from(record) < records));
    }
}

#[test]
fn each_record_is_as_often_in_a_large_batch() {
    // 1000 of 10⁵ at a time, 1000 times: members by block of 1000 records. Batches make the counts a little more
    // even than independent draws, so the chi-square limit holds the more.
    let mut rng = NoiseRng::insecure_seed(23);
    let mut batch = Batch::new();
    let mut counts = vec![0; 100];
    for _ in 0..1000 {
        batch.draw_without_replacement(&mut rng, 1000, 100_000).unwrap();
        batch.members().iter().for_each(|&record| counts[record as usize / 1000] += 1);
    }
    assert_fits(&counts, &[0.01; 100], "blocks");
}

#[test]
fn repetitions_are_drawn_again_and_marks_are_cleared() {
    // Of eight records the words draw 5, 2, 5, then 2 again, then 7.
    let word = |record: u64| record << 61;
    let mut script = Script::new([5, 2, 5, 2, 7].map(word));
    let mut batch = Batch::new();
    batch.draw_subset(&mut script, 3, 8);
    assert_eq!(batch.members(), [5, 2, 7]);
    assert!(batch.marks.iter().all(|marks| *marks == 0));
    batch.complement(8);
    assert_eq!(batch.members(), [0, 1, 3, 4, 6]);
    assert!(batch.marks.iter().all(|marks| *marks == 0));
}

#[test]
fn poisson_batches_have_independent_members() {
    let mut rng = NoiseRng::insecure_seed(24);
    let mut batch = Batch::new();
    for (q, draws) in [(0.5, 40_000), (0.3, 40_000), (0.0625, 400_000), (0.9, 400_000)] {
        let mut counts = [0; 1 << 4];
        for _ in 0..draws {
            batch.draw_poisson(&mut rng, rate(q), 4).unwrap();
            counts[mask(&batch)] += 1;
        }
        // Subsets of equal size are kept apart where enough of them are expected, else all of them merged.
        let probability = |mask: usize| {
            let members = mask.count_ones() as i32;
            q.powi(members) * (1.0 - q).powi(4 - members)
        };
        let (frequent, rare): (Vec<usize>, Vec<usize>) =
            (0..1 << 4).partition(|&mask| draws as f64 * probability(mask) >= 10.0);
        let mut observed: Vec<u64> = frequent.iter().map(|&mask| counts[mask]).collect();
        let mut expected: Vec<f64> = frequent.iter().map(|&mask| probability(mask)).collect();
        if rare.iter().map(|&mask| draws as f64 * probability(mask)).sum::<f64>() >= 10.0 {
            observed.push(rare.iter().map(|&mask| counts[mask]).sum());
            expected.push(rare.iter().map(|&mask| probability(mask)).sum());
        } else {
            let last = expected.len() - 1;
            observed[last] += rare.iter().map(|&mask| counts[mask]).sum::<u64>();
            expected[last] += rare.iter().map(|&mask| probability(mask)).sum::<f64>();
        }
        assert_fits(&observed, &expected, &format!("rate {q}"));
    }
}

#[test]
fn poisson_batches_of_many_records_have_the_binomial_size_and_no_favourites() {
    let mut rng = NoiseRng::insecure_seed(25);
    let mut batch = Batch::new();
    for (q, records, draws) in [(1e-3, 1_000_000_u64, 300), (0.37, 10_000, 100), (1e-6, 1 << 32, 50)] {
        let mut counts = vec![0; 64];
        let mut size = 0;
        for _ in 0..draws {
            batch.draw_poisson(&mut rng, rate(q), records).unwrap();
            assert!(batch.members().windows(2).all(|pair| pair[0] < pair[1]));
            size += batch.members().len();
            batch
                .members()
                .iter()
                .for_each(|&record| counts[(u64::from(record) * 64 / records) as usize] += 1);
        }
        let trials = draws as f64 * records as f64;
        let score = (size as f64 - trials * q) / (trials * q * (1.0 - q)).sqrt();
        assert!(score.abs() < NORMAL_LIMIT, "rate {q}: size off by {score:.2} sd");
        assert_fits(&counts, &[1.0 / 64.0; 64], &format!("rate {q}"));
    }
}

#[test]
fn the_ends_of_the_rates() {
    let mut rng = NoiseRng::insecure_seed(26);
    let mut batch = Batch::new();
    batch.draw_poisson(&mut rng, rate(1.0), 1000).unwrap();
    assert!(batch.members().iter().copied().eq(0..1000));
    for tiny in [f64::from_bits(1), f64::MIN_POSITIVE, 1e-40] {
        batch.draw_poisson(&mut rng, rate(tiny), 1 << 32).unwrap();
        assert!(batch.members().is_empty());
    }
}

#[test]
fn impossible_batches_are_refused() {
    let mut rng = NoiseRng::insecure_seed(27);
    let mut batch = Batch::new();
    for (size, records) in [(0, 10), (11, 10), (1, 0), (1, (1 << 32) + 1)] {
        assert!(matches!(
            batch.draw_without_replacement(&mut rng, size, records),
            Err(Refused::Question { .. })
        ));
    }
    batch.draw_poisson(&mut rng, rate(0.5), 0).unwrap();
    assert!(batch.members().is_empty());
    assert!(batch.draw_poisson(&mut rng, rate(0.5), (1 << 32) + 1).is_err());
}
