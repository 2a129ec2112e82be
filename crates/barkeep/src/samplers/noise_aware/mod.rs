//! Noise-aware scores: a few noisy answers are data about θ, and the posterior given them is drawn from for free.
//!
//! Five rooms: `questions` asks, in a fixed order and at prices fixed in advance; `synthetic` learns from two answers how
//! columns are distributed and draws synthetic records; `fit` computes which answers any θ lets one expect over those records,
//! and finds the posterior; `draw` draws from it and judges the draws; `policy` decides before money is spent. Models of whole
//! records and texts take the same way through `whole` and `whole_scores`. After Künsch, Stefanski and Carroll (1989) and
//! Alrawajfeh, Jälkö and Honkela (2024).

mod draw;
#[cfg(test)]
mod example;
mod fit;
mod policy;
mod questions;
mod synthetic;

pub(crate) use draw::draws::NoiseAware;
pub(crate) use policy::rule::{Branch, Dynamics, ENOUGH, OwnClip, Rule, WORTH, Weighing};
pub(crate) use questions::ask::Setup;
pub(crate) use questions::whole_scores::{LookedAt, WholeScores, WholeSetup};

use self::questions::coordinates::Coordinates;
use self::questions::shares::{LEARNING, Shares};
use crate::samplers::entry::{Questions, Setting};
use barkeep_accounting::{Neighbours, Ratio};
use barkeep_data::{Unit, View};
use barkeep_model::Regression;
use std::sync::Arc;

impl Setup {
    /// Prepares the method for a budget that allows one answer at ratio `whole`.
    ///
    /// # Errors
    /// The reason why the model is not served.
    pub(crate) fn new(setting: &Setting<'_>, whole: Ratio) -> Result<Self, &'static str> {
        let regression = setting.model.regression().ok_or("needs a regression by formula")?;
        let law = regression.law().ok_or("needs a family that states its law")?;
        let coordinates = Coordinates::new(setting.view, regression, law)
            .ok_or("needs columns that can be read beside the features")?;
        let (coefficients, has_nuisance) = regression.parts();
        let has_columns = !coordinates.raws.is_empty();
        let shares =
            Shares::new(whole, LEARNING, has_columns, law.has_long_scores(), coefficients, has_nuisance)
                .map_err(|_| "needs a larger budget")?;
        let most_rows = match setting.unit {
            Unit::Record => 1,
            Unit::Person { most_rows } => {
                most_rows.ok_or("needs data.most_rows: how many rows persons have is part of its model")?
            }
        };
        let model = Arc::clone(setting.model);
        Ok(Self { model, coordinates, shares, records: setting.records, most_rows, law })
    }

    /// The same with another share of the budget for the columns.
    pub(crate) fn learning(self, share: f64) -> Result<Self, barkeep_accounting::Error> {
        let (coefficients, has_nuisance) = self.model.regression().map_or((0, false), Regression::parts);
        let has_columns = !self.coordinates.raws.is_empty();
        let (whole, has_tail) = (self.shares.whole, self.law.has_long_scores());
        let shares = Shares::new(whole, share, has_columns, has_tail, coefficients, has_nuisance)?;
        Ok(Self { shares, ..self })
    }

    /// What is read of the records: the model's features, and raw columns beside them.
    pub(crate) fn view(&self) -> &View {
        &self.coordinates.view
    }

    /// Diffusion time that the budget buys after the columns, for gradients of length 1 of a record or person.
    pub(crate) fn time_at_unit_width(&self) -> f64 {
        self.shares.left * self.records / (self.shares.whole.get() * self.shares.whole.get())
    }

    /// What is asked, as it is paid for.
    ///
    /// # Errors
    /// As [`barkeep_accounting::Cost::new`].
    pub(crate) fn questions(&self) -> Result<Questions, barkeep_accounting::Error> {
        self.shares.questions(Neighbours::Substitute)
    }
}
