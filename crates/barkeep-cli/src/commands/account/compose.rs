//! Reads bills and certificates of one data set, and prices them together.
//!
//! What was fixed in advance is composed exactly, as one contract. What was chosen in view of earlier answers is composed by a filter
//! that holds under full adaptivity: the sum of squared μ where every part has one, else the sum of ρ (Feldman and Zrnic 2021;
//! Smith and Thakurta 2022).

use super::Exit;
use barkeep::accounting::mechanisms::Concentrated;
use barkeep::accounting::{
    Bracket, CoinError, Contract, Cost, Delta, Epsilon, Error, GaussianRun, Mu, Neighbours, PrivacyCurve,
    Rho, Sampling, Steps,
};
use barkeep::{Bill, Certificate};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Bills, together.
pub(super) struct Composed {
    parts: Vec<(Cost, Steps)>,
    /// Of decisions that were charged to a filter by their ρ.
    coins: CoinError,
    adaptive: bool,
}

impl Composed {
    /// # Errors
    /// [`Exit::Input`] for a file that is none of the three, without a guarantee, or of another data set.
    pub(super) fn read(files: &[PathBuf], adaptive: bool) -> Result<Self, Exit> {
        let mut composed = Self { parts: Vec::new(), coins: CoinError::NONE, adaptive };
        let mut records = None;
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
            composed.add(bill).map_err(super::refused)?;
        }
        // Different neighbours are refused here, once for all files.
        Contract::new(composed.parts.clone()).map_err(super::refused)?;
        Ok(composed)
    }

    fn add(&mut self, bill: Bill) -> Result<(), Error> {
        match bill {
            Bill::Contract(contract) | Bill::Once(contract) => self.parts.extend_from_slice(contract.parts()),
            Bill::Filter { rho, coins, decision } => {
                let cost = Cost::new(Concentrated { rho }, Sampling::Full, decision.neighbours())?;
                self.parts.push((cost, Steps(1)));
                self.coins = self.coins.and(CoinError::of(&decision).times(coins));
            }
        }
        Ok(())
    }

    fn contract(&self) -> Result<Contract, Error> {
        Contract::new(self.parts.clone())
    }

    /// What the filter has charged.
    fn charged(&self) -> Result<Charged, Error> {
        let coins = self
            .parts
            .iter()
            .fold(self.coins, |sum, (cost, steps)| sum.and(CoinError::of(cost).times(*steps)));
        // Squares and sums of positive numbers, each rounded to nearest: a few units for every part.
        let slack = 1.0 + 4.0 * f64::EPSILON * (self.parts.len() as f64 + 2.0);
        let squares = |(cost, steps): &(Cost, Steps)| Ok(cost.mu()?.get().powi(2) * steps.0 as f64);
        let sum: Result<f64, Error> = self.parts.iter().map(squares).sum();
        if let Ok(square) = sum {
            let run = GaussianRun::from_mu(Mu::new((square * slack).sqrt() * (1.0 + f64::EPSILON))?)?;
            return Ok(Charged::Gaussian(run, coins));
        }
        let all = |(cost, steps): &(Cost, Steps)| Ok(cost.rho()?.get() * steps.0 as f64);
        let sum: f64 = self.parts.iter().map(all).sum::<Result<f64, Error>>()?;
        Ok(Charged::Concentrated(Rho::new(sum * slack)?, coins))
    }

    pub(super) fn epsilon(&self, delta: Delta) -> Result<(Bracket, &'static str), Error> {
        if self.adaptive {
            let charged = self.charged()?;
            let bracket = match &charged {
                Charged::Gaussian(run, coins) => coins.epsilon(delta, |delta| Ok(run.epsilon(delta)))?,
                Charged::Concentrated(rho, coins) => coins.epsilon(delta, |delta| Ok(rho.epsilon(delta)))?,
            };
            return Ok((Bracket::at_most(bracket.upper), charged.method()));
        }
        let contract = self.contract()?;
        let bracket = self.coins.epsilon(delta, |delta| contract.epsilon(delta))?;
        Ok((bracket, contract.method()?))
    }

    pub(super) fn delta(&self, epsilon: Epsilon) -> Result<(Bracket, &'static str), Error> {
        if self.adaptive {
            let charged = self.charged()?;
            let bracket = match &charged {
                Charged::Gaussian(run, coins) => coins.delta(epsilon, |epsilon| Ok(run.delta(epsilon)))?,
                Charged::Concentrated(rho, coins) => {
                    coins.delta(epsilon, |epsilon| Ok(rho.delta(epsilon)))?
                }
            };
            return Ok((Bracket::at_most(bracket.upper), charged.method()));
        }
        let contract = self.contract()?;
        let bracket = self.coins.delta(epsilon, |epsilon| contract.delta(epsilon))?;
        Ok((bracket, contract.method()?))
    }

    pub(super) fn curve(&self) -> Result<PrivacyCurve, Error> {
        if !self.adaptive && self.coins == CoinError::NONE {
            return self.contract()?.curve();
        }
        PrivacyCurve::new(
            |delta| Ok(self.epsilon(delta)?.0.upper),
            |epsilon| Ok(self.delta(epsilon)?.0.upper),
        )
    }
}

/// What a filter has charged, and the coins beside it.
enum Charged {
    Gaussian(GaussianRun, CoinError),
    Concentrated(Rho, CoinError),
}

impl Charged {
    fn method(&self) -> &'static str {
        match self {
            Self::Gaussian(..) => "a filter of squared mu, chosen adaptively",
            Self::Concentrated(..) => "a filter of rho, chosen adaptively",
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
