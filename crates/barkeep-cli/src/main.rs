//! The program `barkeep`: reads arguments, calls the engine, and maps every outcome to an exit code.
//!
//! Human words go to the standard error, results to files or the standard output.

mod commands;
mod exit;

use clap::Parser;
use std::process::ExitCode;

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

fn main() -> ExitCode {
    // A panic message may carry a value derived from records; its place in the source cannot.
    std::panic::set_hook(Box::new(|info| {
        let place = info.location().map_or_else(String::new, |at| format!(" at {}:{}", at.file(), at.line()));
        exit::say(&format!("barkeep: internal error{place}; please report it"));
    }));
    match Arguments::parse().command.run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(exit) => {
            exit::say(&format!("barkeep: {exit}"));
            ExitCode::from(exit.code())
        }
    }
}
