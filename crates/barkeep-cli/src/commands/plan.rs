//! `barkeep plan`: says what a spec would cost and buy, without opening the records.

use crate::exit::{Exit, print, say};
use barkeep::Plan;
use barkeep::data::Count;
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
}

impl PlanCommand {
    /// Runs it.
    pub(crate) fn run(self) -> Result<(), Exit> {
        let plan = super::plan(&self.spec)?.compare_levels()?;
        if self.json {
            return print(&plan.to_json().to_string());
        }
        describe(&plan);
        Ok(())
    }
}

/// Describes the plan to a person.
pub(super) fn describe(plan: &Plan) {
    let row = |name: &str, value: &str| say(&format!("  {name:<28} {value}"));
    let units = plan.spec().data().unit().plural();
    let records = match plan.spec().count() {
        Count::Exactly(records) => format!("{records} {units}"),
        Count::About(records) => format!("{units}, {records} declared, any number accepted,"),
    };
    let (model, sampler) = (plan.spec().model_name(), plan.sampler().name);
    say(&format!("Plan: {model} on {records} with sampler {sampler}"));
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
    for warning in plan.warnings() {
        say(&format!("  warning: {warning}"));
    }
}
