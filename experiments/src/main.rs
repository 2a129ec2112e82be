//! Prints comparisons of barkeep with the papers. `thesis-iterations`: how many iterations the thesis' settings allow.

mod thesis_iterations;

use std::io::Write;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let done = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["thesis-iterations"] => thesis_iterations::write(&mut std::io::stdout()),
        _ => Err("usage: experiments thesis-iterations".to_owned()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            // A closed standard error leaves nobody to tell.
            let _ = writeln!(std::io::stderr(), "{reason}");
            ExitCode::from(2)
        }
    }
}
