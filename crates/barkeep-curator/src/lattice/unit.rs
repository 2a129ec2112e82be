//! Fixes the lattice of a question: what one step is worth, and how far one neighbouring change moves a sum.
//!
//! Everything here is a pure function of public numbers, so that the planner computes the very constants the
//! curator charges. All of them grow with the clip bound (each is a chain of correctly rounded additions and
//! multiplications of positive numbers), so a plan made for the largest bound covers every smaller one.

use crate::Refused;
use crate::error::question;
use barkeep_accounting::{CLAMP, Neighbours, Ratio, Sampling, Sensitivity};
use barkeep_num::{down, up_by};

/// One record contributes an integer of size at most 2^30, or an integer vector of at most that norm.
pub(crate) const RECORD: i64 = 1 << 30;

/// The most records a table may hold: 2^32 contributions of 2^30 stay within 2^62, inside an i64.
pub const MOST_RECORDS: u64 = 1 << 32;

/// η, a bound on |λ̂ − cK|, the one rounding between the integers and the coin.
///
/// λ̂ = fl(c·fl(K)) with |cK| ≤ 64(1 + 2^-53): two roundings of relative error 2^-53 each, so the error is
/// below 64·2^-51 = 2^-45. The clamp after it is 1-Lipschitz.
const LAST_ROUNDING: f64 = CLAMP / (1_u64 << 51) as f64;

const SMALLEST: f64 = 1.0 / (1_u64 << 40) as f64;
const LARGEST: f64 = (1_u64 << 40) as f64;

/// Tempering T: the likelihood is raised to this power.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Temper(f64);

impl Temper {
    /// T = 1, the posterior itself.
    pub const NONE: Self = Self(1.0);

    /// Checks the range.
    ///
    /// # Errors
    /// [`Refused::Question`] unless 2^-40 ≤ `value` ≤ 1.
    pub fn new(value: f64) -> Result<Self, Refused> {
        if (SMALLEST..=1.0).contains(&value) {
            Ok(Self(value))
        } else {
            Err(question("temper", "between 2^-40 and 1"))
        }
    }

    /// The number itself.
    #[must_use]
    pub fn get(self) -> f64 {
        self.0
    }
}

/// Clip bound B: a record's log-ratio or gradient counts with at most this size.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Clip(f64);

impl Clip {
    /// The smallest bound: below it, all bounds are alike at any price worth asking.
    pub const SMALLEST: Self = Self(SMALLEST);
    /// The largest bound: one lattice step is then worth 2^10.
    pub const LARGEST: Self = Self(LARGEST);

    /// Checks the range.
    ///
    /// # Errors
    /// [`Refused::Question`] unless 2^-40 ≤ `value` ≤ 2^40.
    pub fn new(value: f64) -> Result<Self, Refused> {
        if (SMALLEST..=LARGEST).contains(&value) {
            Ok(Self(value))
        } else {
            Err(question("clip", "between 2^-40 and 2^40"))
        }
    }

    /// The number itself.
    #[must_use]
    pub fn get(self) -> f64 {
        self.0
    }

    /// What a record's term is multiplied by to be counted in lattice steps: fl(2^30/B).
    pub(crate) fn steps_per_one(self) -> f64 {
        RECORD as f64 / self.0
    }
}

/// How far one neighbouring change moves a sum of contributions, in lattice steps.
///
/// A record's contribution is its own, since a program reads one record at a time (`barkeep_machine`): the change moves no other. It lies
/// within 2^30 of zero. Replacing it moves the sum by at most 2·2^30; adding or removing it, by
/// at most 2^30. Both are powers of two, so products with them are exact. The same holds of a person with any number of rows,
/// whose added terms are clipped and rounded once: [`fold`](crate::sums::fold) proves that they are the person's own.
pub(crate) fn reach(neighbours: Neighbours) -> f64 {
    match neighbours {
        Neighbours::Substitute => 2.0 * RECORD as f64,
        Neighbours::AddRemove => RECORD as f64,
    }
}

/// c = fl(T·B·2^-30): what one lattice step of a full-data log-ratio, or of any sum, is worth.
pub(crate) fn full_unit(temper: Temper, clip: Clip) -> f64 {
    temper.get() * clip.get() / RECORD as f64
}

/// c = fl(fl(fl(nT)/b)·B·2^-30): what one lattice step is worth where a batch of b stands for all n records.
pub(crate) fn batch_unit(temper: Temper, clip: Clip, batch: u64, records: u64) -> f64 {
    records as f64 * temper.get() / batch as f64 * clip.get() / RECORD as f64
}

/// The sensitivity of the log-ratio behind a decision, as it is charged.
///
/// All records: Δ' = c·2^31 + 2η under substitution, c·2^30 + 2η under adding or removing, with
/// c = fl(T·B·2^-30) and η = 2^-45.
///
/// A batch of b without replacement, deciding on λ* − ½σ_b² (the penalty sampler): with e = c·2^30 and
/// c = fl(nT/b·B·2^-30), Δ' = 2e + 2e²(1 − 1/b) + c + 2^-49·e²b + 2η.
///
/// **Privacy.** Proof, with "person" for "record" where rows belong to persons. A record's contribution is an integer within ±2^30 *whatever* its log-ratio is, and the
/// public offset is the same integer on both data sets; so the integer sum K moves by at most 2^31 (2^30),
/// the clamp to ±64 is 1-Lipschitz, and λ̂ is within η of cK on either side. With a batch, the variance term is
/// ½c²V/b, V = bΣu² − (Σu)². Let a record move from u to u' and the others sum to S: V changes by
/// (b−1)(u² − u'²) − 2S(u − u'), which over |S| ≤ (b−1)·2^30 is largest at an end, where it is
/// ±(b−1)[(u + 2^30)² − (u' + 2^30)²], at most 4(b−1)2^60. So ½c²V/b moves by at most 2e²(1 − 1/b). It is
/// put on the lattice by one rounding, half a step on either side, after three f64 roundings of relative error
/// 2^-53 each of a number worth at most ½e²b: together at most c + 2^-51·e²b, of which the second is charged
/// four times. ∎
///
/// **Precision.** Rounded up; the result is above the real value by less than 2^-48 of itself.
///
/// # Errors
/// [`Refused::Question`] if the sampling is Poisson (the batch's size, hence its variance, would be
/// random), the batch is empty or larger than the records, or adding and removing is combined with a batch.
pub fn decide_sensitivity(
    temper: Temper,
    clip: Clip,
    sampling: Sampling,
    neighbours: Neighbours,
) -> Result<Sensitivity, Refused> {
    let lattice = lattice_sensitivity(temper, clip, sampling, neighbours)?;
    Ok(Sensitivity::new(up_by(lattice.get() + 2.0 * LAST_ROUNDING, 2))?)
}

/// The sensitivity of the integer behind a decision, in units of the log-ratio: what [`decide_sensitivity`] says without
/// its 2η, since noise is added before the last rounding.
///
/// # Errors
/// As [`decide_sensitivity`].
pub(crate) fn lattice_sensitivity(
    temper: Temper,
    clip: Clip,
    sampling: Sampling,
    neighbours: Neighbours,
) -> Result<Sensitivity, Refused> {
    let real = match sampling {
        // Exact: a power of two times the unit.
        Sampling::Full => return Ok(Sensitivity::new(full_unit(temper, clip) * reach(neighbours))?),
        Sampling::WithoutReplacement { batch, records } => {
            check_batch(batch, records)?;
            if neighbours == Neighbours::AddRemove {
                return Err(question("batch", "all records where neighbours add or remove one"));
            }
            let unit = batch_unit(temper, clip, batch, records);
            let record = unit * RECORD as f64;
            let size = batch as f64;
            let variance = 2.0 * record * record * (1.0 - 1.0 / size);
            let rounding = unit + record * record * size / (1_u64 << 49) as f64;
            2.0 * record + variance + rounding
        }
        Sampling::Poisson { .. } => {
            return Err(question("batch", "all records, or a fixed number of them, to decide on"));
        }
    };
    Ok(Sensitivity::new(up_by(real, 8))?)
}

/// The Euclidean sensitivity of a clipped sum, as it is charged: c·2^31 under substitution, c·2^30 under adding
/// or removing, with c = fl(T·B·2^-30).
///
/// **Privacy.** Exact, in every dimension: a record's contribution is an integer vector of norm at most 2^30
/// whatever its term was, so the triangle inequality bounds the move of the integer sum, and c times a power
/// of two is exact. For a batch it is the sensitivity given that the record is in it.
///
/// # Errors
/// None for a [`Temper`] and a [`Clip`]; the type keeps the caller from unwrapping.
pub fn sum_sensitivity(temper: Temper, clip: Clip, neighbours: Neighbours) -> Result<Sensitivity, Refused> {
    Ok(Sensitivity::new(full_unit(temper, clip) * reach(neighbours))?)
}

/// The smallest σ this crate recommends for a wanted ratio σ/Δ: a question asked with it is charged at that
/// ratio or a larger, cheaper one, so a permit for `ratio` covers it.
///
/// **Precision.** A few units in the last place above ratio·Δ: enough that the division the curator makes,
/// rounded down, cannot fall below `ratio`.
#[must_use]
pub fn sigma_for(ratio: Ratio, sensitivity: Sensitivity) -> f64 {
    up_by(ratio.get() * sensitivity.get(), 8)
}

/// A batch holds at least one record and at most all of them, of which there are at most [`MOST_RECORDS`].
pub(crate) fn check_batch(batch: u64, records: u64) -> Result<(), Refused> {
    if batch == 0 || batch > records || records > MOST_RECORDS {
        return Err(question("batch", "at least 1 and at most the number of records, itself at most 2^32"));
    }
    Ok(())
}

/// The ratio σ/Δ a decision is charged at: rounded down.
pub(crate) fn noise_ratio(sigma: f64, sensitivity: Sensitivity) -> Result<Ratio, Refused> {
    Ok(Ratio::new(down(sigma / sensitivity.get()))?)
}

/// How far below the theorem's bound the subsampled Barker test clips.
const BARKER_SLACK: f64 = 1.0 / (1_u64 << 18) as f64;

/// The largest clip bound for the subsampled Barker test, to be charged as `Mechanism::BarkerMinibatch`:
/// (1 − 2^-18)·√b/(nT), less a rounding.
///
/// # Errors
/// [`Refused::Question`] for an impossible batch, or a bound out of [`Clip`]'s range.
///
/// Heikkilä et al. 2019, theorem 2: b = `batch`, N₀ = nT.
pub fn barker_minibatch_clip(temper: Temper, batch: u64, records: u64) -> Result<Clip, Refused> {
    check_batch(batch, records)?;
    let bound = (batch as f64).sqrt() / (records as f64 * temper.get());
    Clip::new(bound * (1.0 - BARKER_SLACK) * (1.0 - BARKER_SLACK * BARKER_SLACK))
}

/// Checks that the theorem behind the subsampled Barker test speaks of the program that runs.
///
/// **Privacy.** The theorem needs |Δ* − Δ*'| ≤ 2/√b, |s² − s'²| ≤ 4(b−1)/b² and s² ≤ 1. Tested is e√b ≤ 1 − 2^-18, e = c·2^30
/// being the most a record adds to Δ*; the test rounds twice, so e√b ≤ 1 − 2^-19. In real numbers Δ* then moves by
/// at most 2e and s² = c²V/b by at most 4e²(1 − 1/b) (V is bounded in [`decide_sensitivity`]'s proof), and s² ≤ e²b < 1.
/// That stays below the theorem's bounds by 2^-18/√b ≥ 2^-34 and, for 2 ≤ b ≤ 2^32, by 2^-17(b−1)/b² ≥ 2^-50 (V = 0 if
/// b = 1), which is room for the program's roundings: 2^-45 in λ̂ and 2^-51 in s² on either data set.
pub(crate) fn check_barker_minibatch(
    temper: Temper,
    clip: Clip,
    batch: u64,
    records: u64,
) -> Result<(), Refused> {
    check_batch(batch, records)?;
    let record = batch_unit(temper, clip, batch, records) * RECORD as f64;
    if record * (batch as f64).sqrt() <= 1.0 - BARKER_SLACK {
        Ok(())
    } else {
        Err(question("clip", "at most that of barker_minibatch_clip for a corrected rule on a batch"))
    }
}
