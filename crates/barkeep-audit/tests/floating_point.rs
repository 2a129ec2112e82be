//! Runs the published attacks on textbook noise, which fall to them, and on our own, which does not.
//!
//! A textbook sampler computes its noise in floating point and adds it to the secret. Which numbers can come out, and what
//! their last bits are, then depends on the secret (Mironov 2012; Jin et al. 2022).

#![expect(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

use barkeep::accounting::{Contract, Delta, Neighbours, Query, Ratio, Sampling, Steps};
use barkeep::curator::insecure::SharedTable;
use barkeep::curator::{
    Ask, Asked, Budget, Clip, Gate, LatticeSigma, NoiseRng, PrivacyModel, Shape, Sum, TableBuilder, Temper,
    Term, discrete_gaussian, rounded_normal, sum_cost,
};
use barkeep::data::{Column, Schema};
use barkeep::machine::{self, Output, Writer};
use barkeep_audit::{ALPHA, Claim, Each, Effort, Game, Source, World, attack};
use std::f64::consts::TAU;
use std::sync::{Arc, LazyLock};

/// ε at δ = 10⁻³ of noise as large as the sensitivity.
fn price() -> f64 {
    let query = Query::gaussian(Ratio::new(1.0).unwrap(), Sampling::Full, Neighbours::Substitute).unwrap();
    query.epsilon(Steps(1), Delta::new(1e-3).unwrap()).unwrap().bracket.upper
}

fn proved(game: &dyn Game, trials: u64) -> f64 {
    let source = Source::new(Some(1)).unwrap();
    let claim = Claim { delta: Delta::new(1e-3).unwrap(), gaussian: false };
    attack(game, claim, Effort { trials, alpha: ALPHA / 10.0, source }).unwrap()
}

/// The secret is 0 or 1.
fn secret(world: World) -> f64 {
    if world == World::First { 0.0 } else { 1.0 }
}

/// A multiple of 2^−53 in (0, 1].
fn uniform(rng: &mut NoiseRng) -> f64 {
    ((rng.next_u64() >> 11) + 1) as f64 / (1_u64 << 53) as f64
}

fn box_muller(first: f64, second: f64) -> [f64; 2] {
    let (radius, angle) = ((-2.0 * first.ln()).sqrt(), TAU * second);
    [radius * angle.cos(), radius * angle.sin()]
}

fn laplace(uniform: f64, negative: bool) -> f64 {
    if negative { uniform.ln() } else { -uniform.ln() }
}

/// Numbers from ¼ to ½ have 54 binary places; 1 plus noise there has 53. An odd last place gives 0 away.
fn last_place(y: f64) -> f64 {
    if (0.25..0.5).contains(&y) { (y.to_bits() & 1) as f64 } else { 0.0 }
}

#[test]
fn last_places_of_textbook_noise_tell_the_secret() {
    let gaussian = Each(|world, rng: &mut NoiseRng| {
        last_place(secret(world) + box_muller(uniform(rng), uniform(rng))[0])
    });
    let laplace = Each(|world, rng: &mut NoiseRng| {
        let negative = rng.next_u64() & 1 == 0;
        last_place(secret(world) + laplace(uniform(rng), negative))
    });
    assert!(proved(&gaussian, 200_000) > price());
    assert!(proved(&laplace, 200_000) > price());
}

/// Whether Laplace noise from any uniform number near the only possible one makes `y` of the secret.
fn laplace_reaches(secret: f64, y: f64) -> bool {
    let guess = (-(y - secret).abs()).exp() * (1_u64 << 53) as f64;
    (-32..=32).any(|step| {
        let candidate = (guess.round() + f64::from(step)) / (1_u64 << 53) as f64;
        candidate > 0.0 && candidate <= 1.0 && secret + laplace(candidate, y < secret) == y
    })
}

#[test]
fn reachable_values_of_textbook_laplace_tell_the_secret() {
    let broken = Each(|world, rng: &mut NoiseRng| {
        let negative = rng.next_u64() & 1 == 0;
        let y = secret(world) + laplace(uniform(rng), negative);
        f64::from(u8::from(laplace_reaches(0.0, y))) - f64::from(u8::from(laplace_reaches(1.0, y)))
    });
    assert!(proved(&broken, 50_000) > price());
}

/// Whether a pair of textbook normals from any two uniform numbers near the only possible ones makes `y` of the secret.
fn box_muller_reaches(secret: f64, y: [f64; 2]) -> bool {
    const GRID: f64 = (1_u64 << 53) as f64;
    let z = [y[0] - secret, y[1]];
    let first = (-(z[0] * z[0] + z[1] * z[1]) / 2.0).exp() * GRID;
    let turn = z[1].atan2(z[0]) / TAU;
    let second = if turn <= 0.0 { turn + 1.0 } else { turn } * GRID;
    (-12..=12).any(|i| {
        (-4..=4).any(|j| {
            let uniform = |guess: f64, step: i32| (guess.round() + f64::from(step)) / GRID;
            let (u, v) = (uniform(first, i), uniform(second, j));
            let made = box_muller(u, v);
            u > 0.0 && u <= 1.0 && secret + made[0] == y[0] && made[1] == y[1]
        })
    })
}

#[test]
fn reachable_pairs_of_textbook_gaussians_tell_the_secret() {
    let broken = Each(|world, rng: &mut NoiseRng| {
        let [a, b] = box_muller(uniform(rng), uniform(rng));
        let y = [secret(world) + a, b];
        f64::from(u8::from(box_muller_reaches(0.0, y))) - f64::from(u8::from(box_muller_reaches(1.0, y)))
    });
    assert!(proved(&broken, 20_000) > price());
}

/// A record's own number.
static NUMBER: LazyLock<machine::Term> = LazyLock::new(|| {
    let program = Writer::default().finish([Output::Dense(machine::Source::Column(0))]);
    machine::Term::of(program.unwrap())
});

/// A noisy sum as the curator answers it: one record at either end of the clip, so that 0 and 1 are the secrets' places.
fn answer(tables: &[SharedTable; 2], world: World, rng: NoiseRng, count: u64) -> Vec<f64> {
    let premises = PrivacyModel { neighbours: Neighbours::Substitute };
    let (clip, sigma, batch) = (Clip::new(0.5).unwrap(), 1.0, Sampling::Full);
    let cost = sum_cost(Temper::NONE, clip, batch, sigma, premises).unwrap();
    let budget = Budget::permits(&Contract::new(vec![(cost, Steps(count))]).unwrap());
    let curator = tables[world.index()].curator(premises, budget).unwrap();
    let mut gate = Gate::open(&Arc::new(curator), rng).unwrap();
    let term = Term::Program(Asked { term: &NUMBER, shape: Shape::Ball });
    let mut out = [0.0];
    (0..count)
        .map(|_| {
            gate.sum(&Sum { term, temper: Temper::NONE, clip, batch, sigma }, &mut out).unwrap();
            out[0] + 0.5
        })
        .collect()
}

/// Every last-bit test at once: of the f64, of the lattice integer, and whether it is on the lattice at all.
const LAST_BITS: [fn(f64) -> f64; 4] = [
    last_place,
    |y| f64::from(u8::from((y * (1_u64 << 31) as f64).fract() != 0.0)),
    |y| ((y * (1_u64 << 31) as f64) as i64 & 1) as f64,
    |y| ((y * (1_u64 << 31) as f64) as i64 & 15) as f64,
];

#[test]
fn the_same_attacks_find_nothing_in_the_curators_sums() {
    let schema = Schema::new(vec![Column::real("x", -10.0, 10.0, 0.0).unwrap()]).unwrap();
    let tables = [-10.0, 10.0].map(|record| {
        let mut builder = TableBuilder::new(schema.clone(), 1).unwrap();
        builder.push_row(&[record]).unwrap();
        SharedTable::from(builder.finish().unwrap())
    });
    struct Ours([SharedTable; 2], fn(f64) -> f64);
    impl Game for Ours {
        fn play(
            &self,
            world: World,
            trials: std::ops::Range<u64>,
            source: Source,
        ) -> Result<Vec<f64>, barkeep::Error> {
            let rng = source.noise(world, trials.start)?;
            Ok(answer(&self.0, world, rng, trials.end - trials.start).into_iter().map(self.1).collect())
        }
    }
    for (index, statistic) in LAST_BITS.into_iter().enumerate() {
        let bound = proved(&Ours(tables.clone(), statistic), 60_000);
        assert!(bound < 0.05, "statistic {index} proves {bound}");
    }
    // What a Laplace sampler could have reached depends on where an answer lies, which may reveal up to the price.
    let reached =
        |y| f64::from(u8::from(laplace_reaches(0.0, y))) - f64::from(u8::from(laplace_reaches(1.0, y)));
    assert!(proved(&Ours(tables, reached), 60_000) <= price());
}

#[test]
fn last_bits_of_our_noise_are_fair_whatever_is_added() {
    for sigma in [1.0, 1.5, 1000.3, 1e9] {
        let sigma = LatticeSigma::new(sigma).unwrap();
        for bits in 0..3 {
            // A secret that differs in just that bit.
            let place = |world: World| if world == World::First { 0_i128 } else { 1 << bits };
            let bit = move |value: i128| ((value >> bits) & 1) as f64;
            let normal =
                Each(move |world, rng: &mut NoiseRng| bit(place(world) + rounded_normal(rng, sigma)));
            let discrete =
                Each(move |world, rng: &mut NoiseRng| bit(place(world) + discrete_gaussian(rng, sigma)));
            // Noise narrower than the shift reveals it, as it must; wide noise reveals nothing.
            if sigma.to_f64() > f64::from(8 << bits) {
                assert!(proved(&normal, 40_000) < 0.06 && proved(&discrete, 40_000) < 0.06);
            }
        }
    }
}
