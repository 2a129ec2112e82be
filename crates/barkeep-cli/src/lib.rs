//! The program `barkeep` as a function: reads arguments, calls the engine, and maps every outcome to an exit code.
//!
//! A function, so that the Python package holds the program without a second copy of the engine. Human words go to the
//! standard error, results to files or the standard output.

mod commands;
mod exit;

use barkeep::ledger::Ledger;
use clap::{CommandFactory, Parser};
use std::ffi::OsString;
use std::path::Path;

/// Posterior draws over private records, with a certificate of differential privacy.
#[derive(Parser)]
#[command(
    name = "barkeep",
    version,
    after_help = "Exit codes: 0 done, 1 a check failed or a posterior not to be trusted, 2 bad input, 3 budget refused, 130 interrupted."
)]
struct Arguments {
    #[command(subcommand)]
    command: commands::Command,
}

/// Runs the program on its arguments, the first of which is its own name, and returns its exit code.
#[must_use]
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    hide_panics();
    let arguments = match Arguments::try_parse_from(without_help(arguments.into_iter().collect())) {
        Ok(arguments) => arguments,
        Err(error) => {
            // Help and version are no errors. Where nobody reads them there is nobody to inform.
            let _ = error.print();
            return u8::try_from(error.exit_code()).unwrap_or(u8::MAX);
        }
    };
    match arguments.command.run() {
        Ok(()) => 0,
        Err(exit) => {
            exit::say(&format!("barkeep: {exit}"));
            exit.code()
        }
    }
}

/// `help spec SECTION` is `spec SECTION`: sections are no commands, so help does not know them.
fn without_help(mut arguments: Vec<OsString>) -> Vec<OsString> {
    if arguments.len() == 4 && arguments[1] == "help" && arguments[2] == "spec" {
        arguments.remove(1);
    }
    arguments
}

/// Lets a panic say where it happened and nothing else: its own words may carry a value derived from records.
pub fn hide_panics() {
    std::panic::set_hook(Box::new(|info| {
        let place = info.location().map_or_else(String::new, |at| format!(" at {}:{}", at.file(), at.line()));
        exit::say(&format!("barkeep: internal error{place}; please report it"));
    }));
}

/// Why a command gave no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failed {
    /// The exit code the program would have.
    pub code: u8,
    /// What the program would say.
    pub words: String,
}

impl From<exit::Exit> for Failed {
    fn from(exit: exit::Exit) -> Self {
        Self { code: exit.code(), words: exit.to_string() }
    }
}

/// The arguments of `barkeep account`.
#[derive(Parser)]
#[command(name = "account", no_binary_name = true)]
struct AccountArguments {
    #[command(flatten)]
    account: commands::account::Account,
}

/// What `barkeep account … --json` prints, by the arguments after `account`.
///
/// # Errors
/// What the program would say instead.
pub fn account(arguments: impl IntoIterator<Item = OsString>) -> Result<serde_json::Value, Failed> {
    let parsed = AccountArguments::try_parse_from(arguments).map_err(|error| {
        // The first line says what is wrong; the others how to type it.
        let text = error.to_string();
        let words = text.lines().next().unwrap_or_default().trim_start_matches("error: ");
        Failed { code: 2, words: words.to_owned() }
    })?;
    Ok(parsed.account.to_json()?)
}

/// The mechanisms of `barkeep account`: each one's name and what it is.
#[must_use]
pub fn mechanisms() -> Vec<(String, String)> {
    let command = AccountArguments::command();
    let about = |command: &clap::Command| {
        let words = command.get_about().map(ToString::to_string).unwrap_or_default();
        let arguments = command.get_arguments().filter_map(|argument| {
            let name = argument.get_long()?.replace('-', "_");
            Some(format!("{name}: {}", argument.get_help().map(ToString::to_string).unwrap_or_default()))
        });
        std::iter::once(words).chain(arguments).collect::<Vec<_>>().join("\n")
    };
    command.get_subcommands().map(|each| (each.get_name().to_owned(), about(each))).collect()
}

/// What `barkeep predict` prints of predictions.
#[must_use]
pub fn prediction_words(found: &barkeep::predict::Predictions) -> String {
    commands::predict::show(found)
}

/// The accounts of a ledger, or one of them, as `barkeep ledger show --json` prints them.
///
/// # Errors
/// What the program would say instead.
pub fn ledger_accounts(path: &Path, account: Option<&str>) -> Result<serde_json::Value, Failed> {
    let books = Ledger::open(path).map_err(exit::Exit::from)?.books().map_err(exit::Exit::from)?;
    Ok(serde_json::Value::Array(commands::ledger::accounts(path, &books, account)?))
}

/// What a ledger's entries are dated with.
#[must_use]
pub fn now() -> String {
    commands::ledger::now()
}
