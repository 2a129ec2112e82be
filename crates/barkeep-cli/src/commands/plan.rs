//! `barkeep plan`: says what a spec would cost and buy, without opening the records.

use crate::exit::{Exit, print, say};
use barkeep::diagnostics::shown;
use barkeep::{Plan, Privacy};
use clap::Args;
use std::path::PathBuf;

/// The command.
#[derive(Args)]
pub(crate) struct PlanCommand {
    /// The spec, a TOML file.
    spec: PathBuf,
    /// Prints one JSON object.
    #[arg(long)]
    json: bool,
    /// Solves for the least epsilon that is expected to bring the error of a mean down to this many posterior standard
    /// deviations, and plans with it.
    #[arg(long, value_name = "SD")]
    error: Option<f64>,
    /// Shows every constant and forecast too, by its name in the trade.
    #[arg(long, short)]
    verbose: bool,
}

impl PlanCommand {
    /// Runs it.
    pub(crate) fn run(self) -> Result<(), Exit> {
        let plan = match self.error {
            None => super::plan(&self.spec)?,
            Some(error) => Plan::for_error(super::spec(&self.spec)?, error)?,
        };
        let plan = plan.compare_levels()?;
        let alternatives = plan.alternatives();
        let risk = plan.meaning();
        if self.json {
            let mut json = plan.to_json();
            json["alternatives"] = serde_json::json!(alternatives);
            json["meaning"] = serde_json::json!(risk);
            if let (Some(to), Some(quote)) = (plan.spec().charged_to(), plan.quote()?) {
                json["account"] = super::ledger::quoted(&quote);
                json["account"]["name"] = serde_json::json!(to.account);
            }
            if let Some(error) = self.error {
                json["solved"] = serde_json::json!({ "error": error, "epsilon": budget(&plan) });
            }
            return print(&json.to_string());
        }
        if let (Some(error), Some(epsilon)) = (self.error, budget(&plan)) {
            print(&format!(
                "An error of {error} posterior sd takes epsilon {epsilon:.3}. The plan under it:"
            ))?;
        }
        plan.words().iter().try_for_each(|line| print(line))?;
        if let Some(account) = account(&plan)? {
            print(&account)?;
        }
        if !alternatives.is_empty() {
            print("\nWhat else would give")?;
        }
        for other in alternatives {
            let what = match other.epsilon == budget(&plan).unwrap_or(f64::NAN) {
                true => format!("{} {}", other.records, plan.spec().data().unit().plural()),
                false => format!("epsilon {}", (1e3 * other.epsilon).round() / 1e3),
            };
            let gives = match (other.expected_error, other.expected_width) {
                (Some(error), Some(width)) => format!("moved by {error:.2}, {width:.2} times as wide"),
                _ => "nothing can be bought".to_owned(),
            };
            let reason = other.reason.map_or_else(String::new, |reason| format!(": {reason}"));
            print(&format!("  {what:<22} {gives}{reason}"))?;
        }
        print("\nParameters, and where nine of ten values lie before any record is seen")?;
        for prior in plan.priors() {
            let range = prior.interval_89.map_or_else(
                || "anywhere: the prior is flat".to_owned(),
                |[low, high]| format!("{} to {}", shown(low, high - low), shown(high, high - low)),
            );
            print(format!("  {:<22} {range:<20} {}", prior.name, prior.unit).trim_end())?;
        }
        if let Some(risk) = risk {
            print("\nWhat the privacy means")?;
            risk.words().iter().try_for_each(|sentence| print(&format!("  {sentence}")))?;
        }
        if self.verbose {
            print("\nDetails")?;
            plan.details().iter().try_for_each(|line| print(line))?;
        }
        Ok(())
    }
}

/// ε of the budget.
fn budget(plan: &Plan) -> Option<f64> {
    match plan.spec().privacy() {
        Privacy::Budget { epsilon, .. } => Some(epsilon.get()),
        Privacy::NotPrivate => None,
    }
}

/// What the account that the spec names would make of the run.
///
/// # Errors
/// The ledger cannot be used, or the plan does not go with the account.
pub(super) fn account(plan: &Plan) -> Result<Option<String>, Exit> {
    let (Some(to), Some(quote)) = (plan.spec().charged_to(), plan.quote()?) else { return Ok(None) };
    Ok(Some(format!("  {:<10} {}", "account", super::ledger::account_words(&to.account, &quote))))
}

/// Describes the plan to a person who is about to run it.
pub(super) fn describe(plan: &Plan) {
    plan.words().iter().for_each(|line| say(line));
}
