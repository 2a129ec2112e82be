//! The program `barkeep`.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(barkeep_cli::run(std::env::args_os()))
}
