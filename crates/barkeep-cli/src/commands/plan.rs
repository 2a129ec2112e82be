//! `barkeep plan`: says what a spec would cost and buy, without opening the records.

use crate::exit::{Exit, print, say};
use barkeep::accounting::Risk;
use barkeep::data::Count;
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
            say(&format!("An error of {error} posterior sd takes epsilon {epsilon:.3}. The plan under it:"));
        }
        describe(&plan);
        describe_account(&plan)?;
        for other in alternatives {
            let what = match other.epsilon == budget(&plan).unwrap_or(f64::NAN) {
                true => format!("with {} {}", other.records, plan.spec().data().unit().plural()),
                false => format!("with epsilon {}", other.epsilon),
            };
            let gives = match (other.expected_error, other.expected_width) {
                (Some(error), Some(width)) => format!("error {error:.3} posterior sd, width {width:.2}"),
                _ => "nothing can be bought".to_owned(),
            };
            say(&format!("  {what:<28} {gives}"));
        }
        for sentence in risk.iter().flat_map(Risk::words) {
            say(&format!("  {sentence}"));
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

/// Says what the account that the spec names would make of the run.
///
/// # Errors
/// The ledger cannot be used, or the plan does not go with the account.
pub(super) fn describe_account(plan: &Plan) -> Result<(), Exit> {
    if let (Some(to), Some(quote)) = (plan.spec().charged_to(), plan.quote()?) {
        say(&format!("  {:<28} {}", "account", super::ledger::account_words(&to.account, &quote)));
    }
    Ok(())
}

/// Describes the plan to a person.
pub(super) fn describe(plan: &Plan) {
    say(&words(plan));
}

/// The plan as a person reads it, line by line.
pub(crate) fn words(plan: &Plan) -> String {
    let mut lines = Vec::new();
    let mut row = |name: &str, value: &str| lines.push(format!("  {name:<28} {value}"));
    let units = plan.spec().data().unit().plural();
    let records = match plan.spec().count() {
        Count::Exactly(records) => format!("{records} {units}"),
        Count::About(records) => format!("{units}, {records} declared, any number accepted,"),
    };
    let (model, sampler) = (plan.spec().model_name(), plan.sampler().name);
    let title = format!("Plan: {model} on {records} with sampler {sampler}");
    match plan.epsilon() {
        Some(epsilon) => {
            row("epsilon of the plan", &format!("at most {:.6}", epsilon.get()));
            row("protects", &plan.spec().data().unit().to_string());
        }
        None => row("privacy", "NOT PRIVATE: a baseline that protects nothing"),
    }
    row("chains", &plan.chains().to_string());
    row("steps of each chain", &plan.steps().0.to_string());
    for affordable in plan.affordable() {
        let name = format!("steps at {} level", affordable.level.name());
        let about = if affordable.estimated { "about " } else { "" };
        row(&name, &format!("{about}{} for all chains together", affordable.steps.0));
    }
    for fact in plan.facts() {
        row(fact.label, &fact.words);
    }
    row("left out of the summary", &format!("the first {} draws of each chain", plan.burn_in().0));
    lines.extend(plan.warnings().iter().map(|warning| format!("  warning: {warning}")));
    lines.insert(0, title);
    lines.join("\n")
}
