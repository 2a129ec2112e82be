//! `barkeep verify`: computes the ε of a certificate again.

use crate::exit::{Exit, print};
use barkeep::Certificate;
use clap::Args;
use std::path::PathBuf;

/// The command.
#[derive(Args)]
pub(crate) struct Verify {
    /// The certificate.
    certificate: PathBuf,
}

impl Verify {
    /// Runs it.
    pub(crate) fn run(self) -> Result<(), Exit> {
        let certificate = Certificate::read(&self.certificate)?;
        let verified = certificate.verify()?;
        print(&format!(
            "verified: the bill costs epsilon {:.9}, within the stated {}",
            verified.epsilon.get(),
            certificate.epsilon.unwrap_or(f64::INFINITY)
        ))?;
        if let Some(not_planned) = verified.not_planned {
            print(&format!("not checked: {not_planned}"))?;
        }
        print(&certificate.statement)
    }
}
