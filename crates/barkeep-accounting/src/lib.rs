//! Computes what a differentially private run costs: from both sides where that is possible, and never too little.
//!
//! Pure: no data, no randomness, no clock. Useful on its own.
//!
//! # The nouns
//! A **[`Mechanism`]** is what leaves the curator in one step and how it is protected: a noisy value, a bit. Each has a file in
//! [`mechanisms`] that answers everything below. A **[`Cost`]** is a mechanism together with the records it touches
//! ([`Sampling`]) and the pairs of data sets it must not tell apart ([`Neighbours`]). A combination without a proof is refused
//! when the cost is made. A **[`Contract`]** is a list of costs and how often each may be paid, in any order, later steps chosen
//! in view of earlier answers. It is fixed before a run, written into its certificate as a **[`Bill`]**, and priced here. A **[`Query`]** repeats
//! one step: any two of steps, ε and δ give the third.
//!
//! Every answer is a **[`Bracket`]**: `upper` is what may be certified, `lower` says how much of it is real.
//!
//! ```
//! use barkeep_accounting::{Delta, Epsilon, Neighbours, Query, Ratio, Sampling, Steps};
//!
//! // One noisy gradient with noise 50 times the sensitivity: how often at (1, 1e-6)?
//! let step = Query::gaussian(Ratio::new(50.0)?, Sampling::Full, Neighbours::Substitute)?;
//! let (epsilon, delta) = (Epsilon::new(1.0)?, Delta::new(1e-6)?);
//! assert_eq!(step.largest_steps(epsilon, delta)?, Steps(140));
//!
//! // What do a thousand cost?
//! let answer = step.epsilon(Steps(1000), delta)?;
//! assert!((answer.bracket.upper - 2.921_600_590_427).abs() < 1e-12);
//! # Ok::<(), barkeep_accounting::Error>(())
//! ```
//!
//! # The engines
//! * [`gaussian`]: the closed form, exact for any mixture of Gaussian mechanisms.
//! * [`pld`]: privacy-loss distributions, composed by FFT and bracketed from both sides; for anything with a privacy curve.
//! * [`decision`]: bits of acceptance tests, by the optimal adaptive attack on them.
//! * [`renyi`]: Rényi divergences, order by order; upper bounds for everything.
//!
//! A [`Contract`] picks the tightest one that is valid for all its parts.
//!
//! # Around them
//! A [`PrivacyCurve`] holds δ at every ε at once: what it means for one person ([`Risk`]), and what it costs where several
//! records change together.
//! [`Rho`], [`Mu`] and [`Renyi`] translate between measures of privacy. [`ZcdpFilter`] and [`GdpFilter`]
//! serve runs that choose their costs as they go; a [`RunFilter`] serves runs of which each was chosen in view of
//! the last one's answers. [`calibration`] solves for the smallest noise a budget allows.
//! [`Rule`] is the acceptance test of a sampler, the same function by which the curator flips its coins. [`theorems`] states
//! what the papers prove, by name and equation, with errata fixed.
//!
//! # Rounding
//! Sums of costs are rounded up and budgets down. A search returns a point at which the claim was checked. Any bits given as
//! arguments yield an answer or a typed [`Error`] after bounded work.

mod engines;
mod error;
pub mod mechanisms;
mod price;
mod query;
mod rule;
pub mod theorems;

pub use engines::gaussian::GaussianRun;
pub use engines::{decision, gaussian, pld, renyi};
pub use error::Error;
pub use mechanisms::Mechanism;
pub use price::{
    Answer, Bill, Bracket, CoinError, Contract, Cost, Delta, Epsilon, Exhausted, GdpFilter, Most, Mu,
    Neighbours, Order, PrivacyCurve, Probability, Rate, Ratio, Renyi, Rho, Risk, RunCharge, RunFilter, Runs,
    Sampling, Sensitivity, SpentOut, Steps, Variance, ZcdpFilter, calibration,
};
pub use query::{Bought, Query};
pub use rule::{CLAMP, Coin, Component, Correction, LARGEST_SIGMA, Rule, SMALLEST_SIGMA, Side, vcor};
pub use theorems::barker::BarkerBound;
