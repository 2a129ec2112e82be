//! Reads bills and certificates of one data set, and prices them together.
//!
//! What was fixed in advance is composed exactly, as one contract. What was chosen in view of earlier answers is composed by the
//! filter that a ledger uses ([`Runs`]).

use super::Exit;
use barkeep::accounting::mechanisms::Concentrated;
use barkeep::accounting::{
    Bracket, CoinError, Contract, Cost, Delta, Epsilon, Error, Neighbours, PrivacyCurve, Risk, Runs,
    Sampling, Steps,
};
use barkeep::{Bill, Certificate};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// How a filter's answer was found.
const FILTER: &str = "a filter of squared mu and Rényi divergences, chosen adaptively";

/// Bills, together.
pub(super) enum Composed {
    /// Fixed in advance.
    Fixed {
        contract: Contract,
        /// Of decisions that were charged to a filter by their ρ.
        coins: CoinError,
    },
    /// Each chosen in view of earlier answers.
    Adaptive(Runs),
}

impl Composed {
    /// # Errors
    /// [`Exit::Input`] for a file that is none of the three, without a guarantee, or of another data set.
    pub(super) fn read(files: &[PathBuf], adaptive: bool) -> Result<Self, Exit> {
        let (mut bills, mut records) = (Vec::new(), None);
        for path in files {
            let (bill, of) = read(path)?;
            if let Some(of) = of
                && *records.get_or_insert(of) != of
            {
                return Err(Exit::Input(format!(
                    "{} is a certificate of another data set: the numbers of records differ",
                    path.display()
                )));
            }
            bills.push(bill);
        }
        // Different neighbours are refused here, once for all files.
        let composed = if adaptive { Runs::of(&bills).map(Self::Adaptive) } else { Self::fixed(&bills) };
        composed.map_err(super::refused)
    }

    fn fixed(bills: &[Bill]) -> Result<Self, Error> {
        let (mut parts, mut flipped) = (Vec::new(), CoinError::NONE);
        for bill in bills {
            match bill {
                Bill::Contract(contract) | Bill::Once(contract) => parts.extend_from_slice(contract.parts()),
                Bill::Gaussian { whole } => parts.push((whole.clone(), Steps(1))),
                Bill::Filter { rho, coins, decision } => {
                    let cost = Cost::new(Concentrated { rho: *rho }, Sampling::Full, decision.neighbours())?;
                    parts.push((cost, Steps(1)));
                    flipped = flipped.and(CoinError::of(decision).times(*coins));
                }
            }
        }
        Ok(Self::Fixed { contract: Contract::new(parts)?, coins: flipped })
    }

    pub(super) fn epsilon(&self, delta: Delta) -> Result<(Bracket, &'static str), Error> {
        match self {
            Self::Adaptive(runs) => Ok((Bracket::at_most(runs.epsilon(delta)?), FILTER)),
            Self::Fixed { contract, coins } => {
                Ok((coins.epsilon(delta, |delta| contract.epsilon(delta))?, contract.method()?))
            }
        }
    }

    pub(super) fn delta(&self, epsilon: Epsilon) -> Result<(Bracket, &'static str), Error> {
        match self {
            Self::Adaptive(runs) => Ok((Bracket::at_most(runs.delta(epsilon)), FILTER)),
            Self::Fixed { contract, coins } => {
                Ok((coins.delta(epsilon, |epsilon| contract.delta(epsilon))?, contract.method()?))
            }
        }
    }

    /// What they mean for one person, composed for this δ.
    pub(super) fn risk(&self, delta: Delta) -> Result<Risk, Error> {
        match self {
            Self::Fixed { contract, coins } if *coins == CoinError::NONE => contract.risk(delta),
            Self::Fixed { .. } | Self::Adaptive(_) => Ok(self.curve()?.risk()),
        }
    }

    pub(super) fn curve(&self) -> Result<PrivacyCurve, Error> {
        match self {
            Self::Fixed { contract, coins } if *coins == CoinError::NONE => contract.curve(),
            Self::Fixed { .. } | Self::Adaptive(_) => PrivacyCurve::new(
                |delta| Ok(self.epsilon(delta)?.0.upper),
                |epsilon| Ok(self.delta(epsilon)?.0.upper),
            ),
        }
    }
}

/// A bill, and the records and neighbours of the certificate it stands in.
fn read(path: &Path) -> Result<(Bill, Option<(u64, Neighbours)>), Exit> {
    let fail = |reason: &str| Exit::Input(format!("{}: {reason}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|error| fail(&error.kind().to_string()))?;
    // By place, not by content: a file named by mistake may hold records.
    let place = |error: serde_json::Error| {
        fail(&format!("not a bill: line {}, column {}", error.line(), error.column()))
    };
    let value: Value = serde_json::from_str(&text).map_err(place)?;
    if value.is_array() {
        let contract: Contract = serde_json::from_str(&text).map_err(place)?;
        return Ok((Bill::Contract(contract), None));
    }
    if value.get("bill").is_none() {
        return Ok((serde_json::from_str(&text).map_err(place)?, None));
    }
    let certificate = Certificate::read(path).map_err(|error| Exit::Input(error.to_string()))?;
    match (certificate.bill, certificate.neighbours) {
        (Some(bill), Some(neighbours)) if certificate.private && !certificate.insecure_seed => {
            Ok((bill, Some((certificate.records.0, neighbours))))
        }
        _ => Err(fail("a certificate without a guarantee has no price")),
    }
}
