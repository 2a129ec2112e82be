//! Says how much the strongest coins gain an adversary on the way of a run: no corner needs to gain less.
//!
//! With j steps to go and ln x = u, a pair of coins gains E_P F_j(u − L) − F_j(u), L its privacy loss. After many steps F_j is nearly
//! the curve of Gaussian noise, μ² = jI, I the information of a step, and around u, with λ = −(ln F)' and c = −(ln F)'',
//!
//! > F(u − l) ≈ F(u)·e^{λl − cl²/2}.
//!
//! On the way from ln x = ε with k steps to go, u stays within some √(jI) of εj/k. A corner that gains no more there than the
//! strongest coins gains an adversary nothing, however far it lies from the curve: the envelope may be loose there, and has
//! few corners. All of this steers the choice of corners only: every polygon that encloses is sound.

use super::envelope::Envelope;
use super::pair::Pair;
use barkeep_num::normal_cdf;
use std::f64::consts::PI;

/// How far from the way of a run it is looked at, in √(jI).
const ASIDE: [f64; 6] = [-2.4, -1.2, 0.0, 1.2, 2.4, 3.6];

/// By how much corners may exceed the strongest coins at most, where a run is unlikely to be.
const MOST_EXCESS: f64 = 0.03;

/// Sections by which a largest gain between two places is refined.
const SECTIONS: usize = 6;
const GOLDEN: f64 = 0.381_966_011_250_105;

/// A place on the way of a run.
#[derive(Debug, Clone, Copy)]
struct Place {
    /// −(ln F)' and −(ln F)''.
    slope: f64,
    bend: f64,
}

impl Place {
    /// At ln x = u, with Gaussian noise of this μ to go.
    fn new(u: f64, mu: f64) -> Self {
        let x = libm::exp(u);
        let (hit, alarm) = (normal_cdf(0.5 * mu - u / mu), x * normal_cdf(-0.5 * mu - u / mu));
        let value = (hit - alarm).max(f64::MIN_POSITIVE);
        // x·φ(μ/2 + u/μ)/μ.
        let density = libm::exp(u - 0.5 * (0.5 * mu + u / mu).powi(2)) / (mu * (2.0 * PI).sqrt());
        let slope = alarm / value;
        Self { slope, bend: (slope * slope + slope - density / value).max(0.0) }
    }

    /// The gain by a pair in either order, as a part of F.
    fn gain(self, pair: Pair) -> f64 {
        self.one_way(pair).max(self.one_way(pair.exchanged()))
    }

    fn one_way(self, pair: Pair) -> f64 {
        let (toward, away) = pair.masses();
        // F does not fall as x does.
        let risen = pair.toward.min(self.slope / self.bend);
        let rise = libm::expm1(risen * (self.slope - 0.5 * self.bend * risen));
        toward * rise + away * libm::expm1(-pair.away * (self.slope + 0.5 * self.bend * pair.away))
    }
}

/// The largest gains that an adversary can reach.
///
/// At each place the largest gain, and how seldom a run comes there.
#[derive(Debug, Clone)]
pub(super) struct Peak(Vec<(Place, f64, f64)>);

/// A run of k steps of information I that reaches ln x = ε.
#[derive(Debug, Clone, Copy)]
pub(super) struct Run {
    pub(super) steps: f64,
    pub(super) information: f64,
    pub(super) epsilon: f64,
}

impl Peak {
    /// The strongest coins of a curve of which an envelope is known, where so many steps are to go.
    pub(super) fn new(
        envelope: &Envelope,
        run: Run,
        (least, most): (f64, f64),
        reached: impl Fn(f64, bool) -> Pair,
    ) -> Self {
        let to_go = [least, (least * most).sqrt(), most];
        let looks = to_go.into_iter().flat_map(|to_go| ASIDE.map(|aside| (to_go, aside)));
        let look = |(to_go, aside): (f64, f64)| {
            let mu = (to_go * run.information).sqrt();
            let place = Place::new((run.epsilon * to_go / run.steps + aside * mu).abs(), mu);
            (place, highest(envelope, &reached, |pair| place.gain(pair)), libm::exp(0.5 * aside * aside))
        };
        Self(looks.map(look).collect())
    }

    /// The information of Gaussian noise that gains as much at the first place of a run: it gains I(λ + λ² − c)/2.
    pub(super) fn information(&self) -> f64 {
        let on_its_way = self.0.iter().find(|(_, _, rare)| *rare == 1.0);
        on_its_way.map_or(0.0, |(place, most, _)| {
            2.0 * most / (place.slope + place.slope * place.slope - place.bend)
        })
    }

    /// Whether a pair gains more than the strongest coins by more than this part.
    pub(super) fn is_exceeded(&self, pair: Pair, excess: f64) -> bool {
        self.0
            .iter()
            .any(|(place, most, rare)| place.one_way(pair) > (1.0 + (excess * rare).min(MOST_EXCESS)) * most)
    }
}

/// The variance of the privacy loss, or twice its mean.
pub(super) fn strength(pair: Pair) -> f64 {
    let finite = Pair { toward: pair.toward.min(700.0), away: pair.away.min(700.0) };
    let (mean, variance) = finite.moments();
    variance.max(2.0 * mean)
}

/// The largest value on the curve: at the places of the envelope, and between those next to the best of them by golden sections.
fn highest(envelope: &Envelope, reached: &impl Fn(f64, bool) -> Pair, value: impl Fn(Pair) -> f64) -> f64 {
    let (mut most, mut index) = (f64::MIN, 0);
    // The pairs reached at places come first.
    for (place, pair) in envelope.inner.iter().take(envelope.places.len()).enumerate() {
        let found = value(*pair);
        if found > most {
            (most, index) = (found, place);
        }
    }
    let Some(&(middle, mirrored)) = envelope.places.get(index) else { return most };
    let beside = |index: Option<usize>| {
        let next = index.and_then(|index| envelope.places.get(index));
        next.filter(|(_, side)| *side == mirrored).map_or(middle, |(t, _)| *t)
    };
    let (mut low, mut high) = (beside(Some(index + 1)), beside(index.checked_sub(1)));
    let at = |t: f64| value(reached(t, mirrored));
    let (mut left, mut right) = (low + GOLDEN * (high - low), high - GOLDEN * (high - low));
    let (mut on_left, mut on_right) = (at(left), at(right));
    for _ in 1..SECTIONS {
        most = most.max(on_left).max(on_right);
        // One of the two places is a golden section of what is left, too.
        if on_left > on_right {
            (high, right, on_right) = (right, left, on_left);
            left = low + GOLDEN * (high - low);
            on_left = at(left);
        } else {
            (low, left, on_left) = (left, right, on_right);
            right = high - GOLDEN * (high - low);
            on_right = at(right);
        }
    }
    most = most.max(on_left).max(on_right);
    most
}
