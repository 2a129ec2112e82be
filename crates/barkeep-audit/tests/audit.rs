//! Attacks the attacker: broken mechanisms must be caught with the default effort, right ones must not.

#![expect(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

use barkeep::accounting::{Delta, Neighbours, Query, Rate, Ratio, Sampling, Steps};
use barkeep::curator::{LatticeSigma, NoiseRng, rounded_normal};
use barkeep::samplers::SAMPLERS;
use barkeep_audit::{ALPHA, Claim, Each, Effort, Game, Options, Source, TRIALS, World, attack, audit_all};

/// The effort of one row of `barkeep audit --all`, repeatable.
fn effort() -> Effort {
    Effort { trials: TRIALS, alpha: ALPHA / 30.0, source: Source::new(Some(2026)).unwrap() }
}

fn proved(game: &dyn Game, delta: f64) -> f64 {
    attack(game, Claim { delta: Delta::new(delta).unwrap(), gaussian: false }, effort()).unwrap()
}

fn certified(ratio: f64, sampling: Sampling, neighbours: Neighbours, delta: f64) -> f64 {
    let query = Query::gaussian(Ratio::new(ratio).unwrap(), sampling, neighbours).unwrap();
    query.epsilon(Steps(1), Delta::new(delta).unwrap()).unwrap().bracket.upper
}

/// Exact normal noise, on a lattice of 2^−30.
fn normal(rng: &mut NoiseRng, sigma: f64) -> f64 {
    const UNIT: f64 = (1_u64 << 30) as f64;
    rounded_normal(rng, LatticeSigma::new(sigma * UNIT).unwrap()) as f64 / UNIT
}

/// Uniform on [0, 1), as textbooks make it.
fn uniform(rng: &mut NoiseRng) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

/// A secret that differs by the sensitivity, 1.
fn secret(world: World) -> f64 {
    if world == World::First { 1.0 } else { 0.0 }
}

const FULL: f64 = 1e-3;

#[test]
fn an_honest_gaussian_is_neither_accused_nor_underrated() {
    let honest = Each(|world, rng: &mut NoiseRng| secret(world) + normal(rng, 1.0));
    let (bound, price) =
        (proved(&honest, FULL), certified(1.0, Sampling::Full, Neighbours::Substitute, FULL));
    assert!(bound <= price && bound > 0.8 * price, "{bound} of {price}");
    // The whole curve is claimed: one event refutes any smaller mu, so much more is proved at a small delta.
    let claim = |gaussian| Claim { delta: Delta::new(1e-9).unwrap(), gaussian };
    let price = certified(1.0, Sampling::Full, Neighbours::Substitute, 1e-9);
    let by_curve = attack(&honest, claim(true), effort()).unwrap();
    assert!(by_curve <= price && by_curve > 0.95 * price, "{by_curve} of {price}");
    assert!(attack(&honest, claim(false), effort()).unwrap() < 0.8 * price);
}

#[test]
fn nothing_is_proved_where_nothing_differs() {
    let same = Each(|_: World, rng: &mut NoiseRng| normal(rng, 1.0));
    assert!(proved(&same, FULL) < 0.01);
}

#[test]
fn halved_noise_is_caught() {
    let broken = Each(|world, rng: &mut NoiseRng| secret(world) + normal(rng, 0.5));
    let (bound, price) =
        (proved(&broken, FULL), certified(1.0, Sampling::Full, Neighbours::Substitute, FULL));
    assert!(bound > price, "{bound} of {price}");
}

#[test]
fn uniform_noise_of_the_same_variance_is_caught() {
    let broken = Each(|world, rng: &mut NoiseRng| secret(world) + 12_f64.sqrt() * (uniform(rng) - 0.5));
    let (bound, price) =
        (proved(&broken, FULL), certified(1.0, Sampling::Full, Neighbours::Substitute, FULL));
    assert!(bound > price, "{bound} of {price}");
}

/// A sum over a fifth of the records, drawn without replacement, in noise of the given ratio. All records but one are
/// equal, so only whether that one was drawn matters.
fn fixed_batch(ratio: f64) -> Each<impl Fn(World, &mut NoiseRng) -> f64 + Sync> {
    Each(move |world, rng: &mut NoiseRng| {
        let drawn = rng.below(5) == 0;
        let sum = if drawn { secret(world) } else { 0.0 };
        sum + normal(rng, ratio)
    })
}

/// Rényi accounting of fixed batches (Wang, Balle, Kasiviswanathan 2019), whose sum stops one term early.
fn without_the_last_term(rate: f64, ratio: f64, delta: f64) -> f64 {
    let renyi = |order: f64| order / (2.0 * ratio * ratio);
    let binomial = |n: u32, k: u32| (1..=k).map(|i| f64::from(n - k + i) / f64::from(i)).product::<f64>();
    (2..=64_u32)
        .map(|alpha| {
            let second = rate
                * rate
                * binomial(alpha, 2)
                * (4.0 * (renyi(2.0).exp() - 1.0)).min(2.0 * renyi(2.0).exp());
            let others = (3..alpha).map(|j| {
                let growth = (f64::from(j - 1) * renyi(f64::from(j))).exp();
                2.0 * rate.powi(j as i32) * binomial(alpha, j) * growth
            });
            let a = f64::from(alpha);
            let divergence = (1.0 + second + others.sum::<f64>()).ln() / (a - 1.0);
            divergence + (1.0 - 1.0 / a).ln() - (delta.ln() + a.ln()) / (a - 1.0)
        })
        .fold(f64::INFINITY, f64::min)
}

#[test]
fn a_dropped_last_term_is_caught() {
    // The setting that exposes it: a large rate and little noise, where the last term is most of the sum.
    let (rate, ratio, delta) = (0.2, 0.4, 3e-3);
    let bound = proved(&fixed_batch(ratio), delta);
    let broken = without_the_last_term(rate, ratio, delta);
    let sampling = Sampling::WithoutReplacement { batch: 1, records: 5 };
    let right = certified(ratio, sampling, Neighbours::Substitute, delta);
    assert!(bound > broken, "{bound} of {broken}");
    assert!(bound <= right, "{bound} of {right}");
}

#[test]
fn poisson_accounting_of_fixed_batches_is_caught() {
    let bound = proved(&fixed_batch(0.5), FULL);
    let poisson = Sampling::Poisson { rate: Rate::new(0.2).unwrap() };
    let broken = certified(0.5, poisson, Neighbours::Substitute, FULL);
    let sampling = Sampling::WithoutReplacement { batch: 1, records: 5 };
    let right = certified(0.5, sampling, Neighbours::Substitute, FULL);
    assert!(bound > broken, "{bound} of {broken}");
    assert!(bound <= right, "{bound} of {right}");
}

#[test]
fn a_forgotten_clip_is_caught() {
    // The bound is ½, so that neighbours differ by 1; this record lies at 5.
    let record = |world| if world == World::First { 5.0 } else { -0.5 };
    let broken = Each(move |world, rng: &mut NoiseRng| record(world) + normal(rng, 1.0));
    let clipped =
        Each(move |world, rng: &mut NoiseRng| f64::clamp(record(world), -0.5, 0.5) + normal(rng, 1.0));
    let price = certified(1.0, Sampling::Full, Neighbours::Substitute, FULL);
    assert!(proved(&broken, FULL) > price);
    assert!(proved(&clipped, FULL) <= price);
}

/// Records within ±1, added up in f64 in their order: `ones` of 1, one that differs, `small` of −2^−26.
fn float_sum(ones: u64, record: f64, small: u64) -> f64 {
    let mut sum = record;
    for _ in 0..ones {
        sum += 1.0;
    }
    for _ in 0..small {
        sum -= 1.0 / (1_u64 << 26) as f64;
    }
    sum
}

#[test]
fn a_sum_in_floating_point_is_caught() {
    // Above 2^27 neighbouring f64 are 2^−25 apart and every −2^−26 is rounded away; below, none is. Changing one record
    // from 1 to −1 thus moves the sum by 6, not by 2 (the effect of Casacuberta et al. 2022). As integers of 2^−30 the
    // same records move it by exactly 2.
    let (ones, small) = ((1_u64 << 27) + 1, 1_u64 << 28);
    let sums = [1.0, -1.0].map(|record| float_sum(ones, record, small));
    assert_eq!(sums[0] - sums[1], 6.0);
    let exact = [1.0, -1.0].map(|record| ((ones as f64 + record) * 1073741824.0) as i64 - 16 * small as i64);
    assert_eq!(exact[0] - exact[1], 2 << 30);
    // Noise of ratio 1 for the sensitivity it should have, 2.
    let broken = Each(move |world: World, rng: &mut NoiseRng| sums[world.index()] + normal(rng, 2.0));
    let right = Each(move |world: World, rng: &mut NoiseRng| {
        exact[world.index()] as f64 / 1073741824.0 + normal(rng, 2.0)
    });
    let price = certified(1.0, Sampling::Full, Neighbours::Substitute, FULL);
    assert!(proved(&broken, FULL) > price);
    assert!(proved(&right, FULL) <= price);
}

/// Terms of records that are centred by the mean of their block, then clipped at ½ and added: no record's term is its own.
fn centred_by_the_block(record: f64, others: usize) -> f64 {
    let block: Vec<f64> = std::iter::once(record).chain((0..others).map(|i| (i as f64).sin())).collect();
    let mean = block.iter().sum::<f64>() / block.len() as f64;
    block.iter().map(|value| (value - mean).clamp(-0.5, 0.5)).sum()
}

#[test]
fn a_model_that_centres_by_the_block_is_caught() {
    // A curator refuses such a model before it sees a record. Here the sum is made without one: neighbours should move it by
    // 1, and move it by a hundred, because one record far out moves the mean, and with it everybody's term.
    let sums = [1000.0, -1000.0].map(|record| centred_by_the_block(record, 400));
    let broken = Each(move |world: World, rng: &mut NoiseRng| sums[world.index()] + normal(rng, 1.0));
    let price = certified(1.0, Sampling::Full, Neighbours::Substitute, FULL);
    assert!(proved(&broken, FULL) > price);
}

/// A person's rows, each clipped at ½ by itself and then added, as if a row were a person.
#[test]
fn rows_clipped_one_by_one_are_caught() {
    let person = |world: World| vec![if world == World::First { 3.0 } else { -3.0 }; 5];
    let by_row = move |world: World| person(world).iter().map(|row| f64::clamp(*row, -0.5, 0.5)).sum::<f64>();
    let by_person = move |world: World| f64::clamp(person(world).iter().sum(), -0.5, 0.5);
    let broken = Each(move |world: World, rng: &mut NoiseRng| by_row(world) + normal(rng, 1.0));
    let right = Each(move |world: World, rng: &mut NoiseRng| by_person(world) + normal(rng, 1.0));
    let price = certified(1.0, Sampling::Full, Neighbours::Substitute, FULL);
    assert!(proved(&broken, FULL) > price);
    assert!(proved(&right, FULL) <= price);
}

#[test]
fn every_row_holds_at_a_small_effort() {
    let options = Options { trials: Some(300), seed: Some(7), ..Options::default() };
    let rows = audit_all(options, &mut |_| {}).unwrap();
    // Every sampler has a row but those that certify nothing.
    for sampler in SAMPLERS.iter().filter(|sampler| sampler.private) {
        let name = format!("sampler {}", sampler.name);
        assert!(rows.iter().any(|row| row.mechanism == name), "no row attacks {name}");
    }
    for row in &rows {
        assert!(row.holds(), "{row:?}");
    }
}

#[test]
#[ignore = "slow: cargo test -p barkeep-audit --release --test audit -- --ignored"]
fn simple_mechanisms_show_seven_tenths_of_their_price() {
    for row in audit_all(Options { seed: Some(1), ..Options::default() }, &mut |_| {}).unwrap() {
        assert!(row.holds(), "{row:?}");
        if row.priced_as_released && !row.mechanism.starts_with("sampler") && row.certified > 0.0 {
            assert!(row.audited >= 0.7 * row.certified, "{row:?}");
        }
    }
}

/// A model written as text is attacked like any other: at the corners of its columns, by record and by person.
#[test]
fn a_text_is_attacked_at_the_corners_of_its_columns() {
    let text = "text = '''\nparameters\n b[arm] ~ normal(1, 1)\n shape > 0 ~ half_normal(2)\nrecord\n t | censored(not event) ~ weibull(shape, exp(b[arm]))\n'''";
    for (rows, sampler) in [
        ("records = 10", "name = 'barker'\nproposal_sd = 0.3\nclip = 0.5\nstart = [1, 1, 0]"),
        ("records = 10", "name = 'langevin'\nclip = 2\nprecondition = [1, 1, 1]\nstart = [1, 1, 0]"),
        (
            "person = 'id'\npersons = 10\nmost_rows = 2",
            "name = 'barker'\nproposal_sd = 0.3\nclip = 0.5\nstart = [1, 1, 0]",
        ),
    ] {
        let spec = format!(
            "[data]\npath = 'none.csv'\n{rows}\n[data.columns]\nt = {{ min = 0.01, max = 10, invalid = 1 }}\n\
             event = {{ kind = 'bool', invalid = false }}\narm = {{ kind = 'category', levels = ['a', 'b'], invalid = 'a' }}\n\
             [model]\n{text}\n[privacy]\nepsilon = 3\ndelta = 1e-3\n[sampler]\n{sampler}\nsteps = 3\nseed = 4\n"
        );
        let spec = barkeep::Spec::parse(&spec, std::path::Path::new("")).unwrap();
        let plan = barkeep::Plan::new(spec).unwrap();
        let options = Options { trials: Some(20_000), seed: Some(7), watch: None };
        let row = barkeep_audit::audit_plan(&plan, options).unwrap();
        assert!(row.holds(), "{rows} {sampler}: {row:?}");
        // A few thousand trials prove a part of the price; an attacker who saw nothing of the text's terms would prove none.
        assert!(row.audited > 0.05 * row.certified, "{rows} {sampler}: {row:?}");
    }
}
