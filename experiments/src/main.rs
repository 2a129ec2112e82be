//! Prints those comparisons of barkeep with the papers that `barkeep reproduce` does not have yet.

fn main() -> std::process::ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match experiments::measure(
        &arguments.iter().map(String::as_str).collect::<Vec<_>>(),
        &mut std::io::stdout(),
    ) {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(reason) => {
            use std::io::Write;
            // A closed standard error leaves nobody to tell.
            let _ = writeln!(std::io::stderr(), "{reason}");
            std::process::ExitCode::from(2)
        }
    }
}
