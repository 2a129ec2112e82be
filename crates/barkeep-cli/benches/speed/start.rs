//! Times the whole program from start to exit: plans, accounts, and a first step over a file.

use crate::machine::race;
use crate::setting::Setting;
use std::path::Path;
use std::process::{Command, Stdio};

/// The program under test, built with the same settings.
pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_barkeep");

/// Runs the program in a folder and waits for it. A run of one step gives a posterior that is not to be trusted: exit code 1.
fn call(folder: &Path, arguments: &str) {
    let done = Command::new(PROGRAM)
        .args(arguments.split(' '))
        .current_dir(folder)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    let code = done.unwrap().code();
    let has_verdict = arguments.starts_with("sample");
    assert!(code == Some(0) || has_verdict && code == Some(1), "barkeep {arguments}: {code:?}");
}

/// Prints the table.
pub(crate) fn print() {
    println!("The whole program, from start to exit.");
    println!();
    let folder = tempfile::tempdir().unwrap();
    let sampler = "name = 'barker'\nproposal_sd = 0.005\nclip = 0.02\nclip_scale = 'constant'";
    let setting = Setting::banana(20.0, 2, 100_000, sampler);
    setting.write_csv(&folder.path().join("records.csv"));
    let write = |name: &str, keys: &str| {
        let mut setting = setting.clone();
        setting.sampler.push_str(keys);
        std::fs::write(folder.path().join(name), setting.spec(1.0, "records.csv")).unwrap();
    };
    write("plan.toml", "");
    write("first.toml", "\nsteps = 1");
    let mut count = 0;
    for arguments in [
        "plan plan.toml",
        "account gaussian --ratio 10 --steps 100 --delta 1e-6",
        "account subsampled-gaussian --ratio 1 --rate 0.01 --sampling poisson --neighbours add-remove --steps 1000 --delta 1e-6",
        "sample first.toml --out first",
    ] {
        let mut once = || {
            count += 1;
            let fresh = format!("{arguments}{count}");
            call(folder.path(), if arguments.starts_with("sample") { &fresh } else { arguments });
        };
        let time = race(15, &mut [&mut once])[0];
        println!("{:>8.1} ms   barkeep {arguments}", time * 1e3);
    }
    println!("              (the last reads 100000 rows of two columns from a CSV file and makes one step)");
}
