//! Prints comparisons of barkeep with the papers. `thesis-iterations`: how many iterations the thesis' settings allow.

mod thesis_iterations;

use std::io::Write;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let text = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["thesis-iterations"] => thesis_iterations::table(),
        _ => Err("usage: experiments thesis-iterations".to_owned()),
    };
    let written = match &text {
        Ok(text) => write!(std::io::stdout(), "{text}"),
        Err(reason) => writeln!(std::io::stderr(), "{reason}"),
    };
    match (text, written) {
        (Ok(_), Ok(())) => ExitCode::SUCCESS,
        _ => ExitCode::from(2),
    }
}
