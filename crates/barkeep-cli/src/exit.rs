//! Distinguishes the ways a command can end, each with its exit code.

use barkeep::diagnostics::{Grade, Verdict};
use std::fmt;
use std::io::{IsTerminal, Write};

/// Why a command did not succeed.
#[derive(Debug)]
pub(crate) enum Exit {
    /// A check failed: a certificate that does not verify, a posterior that is not to be trusted.
    Check(String),
    /// The user can fix it: a spec, a file, an argument.
    Input(String),
    /// The budget cannot pay for what was asked.
    Budget(String),
    /// Stopped by the user; what was written is valid.
    Interrupted(String),
}

impl Exit {
    /// The documented exit code.
    pub(crate) fn code(&self) -> u8 {
        match self {
            Self::Check(_) => 1,
            Self::Input(_) => 2,
            Self::Budget(_) => 3,
            Self::Interrupted(_) => 130,
        }
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Check(text) | Self::Input(text) | Self::Budget(text) | Self::Interrupted(text)) = self;
        out.write_str(text)
    }
}

/// Writes a line for people. A closed standard error is no reason to fail.
pub(crate) fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// Writes a run's verdict, the first line of its results; red on a terminal where it is not to be trusted.
///
/// # Errors
/// The standard output is full.
pub(crate) fn pronounce(verdict: &Verdict) -> Result<(), Exit> {
    let colours = std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    match verdict.grade {
        Grade::NotToBeTrusted if colours => print(&format!("\x1b[1;31m{verdict}\x1b[0m")),
        Grade::Trustworthy | Grade::Wide | Grade::NotToBeTrusted => print(&verdict.to_string()),
    }
}

/// Writes a line of results. A reader who has seen enough, as `head` has, is no error.
///
/// # Errors
/// The standard output is full.
pub(crate) fn print(line: &str) -> Result<(), Exit> {
    match writeln!(std::io::stdout(), "{line}") {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Exit::Input(format!("cannot write to the standard output: {}", error.kind())))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}
