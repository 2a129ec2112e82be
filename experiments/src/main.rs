//! Prints comparisons of barkeep with the papers, each by name.
//!
//! `thesis-iterations`, `minibatch-iterations`: how many iterations the thesis' settings allow. `easy-2d`: distances to the
//! posterior on the thesis' flat banana. `neurips-mixture`: errors of the minibatch Barker sampler on its authors' mixture.
//! `sgld-mixture`: those of stochastic-gradient Langevin dynamics on the same.
//! `gradient-samplers`: the diffusions beside the best published samplers on the thesis' models, one rule for all.

mod easy_2d;
mod gradient_samplers;
mod minibatch_iterations;
mod neurips_mixture;
mod replicate;
mod thesis;
mod thesis_iterations;

use std::io::Write;
use std::process::ExitCode;

const USAGE: &str = "usage: experiments thesis-iterations | minibatch-iterations | easy-2d [DATA-SEED START-SEED] | neurips-mixture [RUNS] | sgld-mixture | gradient-samplers [--quick] [--off-by-two] [MODEL…]";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let out = &mut std::io::stdout();
    let done = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["thesis-iterations"] => thesis_iterations::write(out),
        ["minibatch-iterations"] => minibatch_iterations::write(out),
        ["easy-2d"] => easy_2d::write(out, easy_2d::SEEDS),
        ["easy-2d", data, starts] => match (data.parse(), starts.parse()) {
            (Ok(data), Ok(starts)) => easy_2d::write(out, (&[data], &[starts])),
            _ => Err("seeds must be whole numbers".to_owned()),
        },
        ["neurips-mixture"] => neurips_mixture::write(out, 40),
        ["neurips-mixture", runs] => match runs.parse() {
            Ok(runs) => neurips_mixture::write(out, runs),
            Err(_) => Err("runs must be a whole number".to_owned()),
        },
        ["sgld-mixture"] => neurips_mixture::write_sgld(out, 10),
        ["gradient-samplers", ref options @ ..] => gradient_samplers::write(out, options),
        _ => Err(USAGE.to_owned()),
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
