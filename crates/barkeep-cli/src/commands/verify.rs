//! `barkeep verify`: computes the ε of a certificate again, and checks the files beside it and its signature.

use crate::exit::{Exit, print, say};
use barkeep::accounting::Risk;
use barkeep::job::Bundle;
use barkeep::ledger::Ledger;
use barkeep::{Certificate, PublicKey, Verified};
use clap::Args;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How often a long check says how far it is.
const EVERY: Duration = Duration::from_secs(3);

/// The command.
#[derive(Args)]
pub(crate) struct Verify {
    /// The certificate, or a bundle that `barkeep job run` wrote. Draws, summary and journal are checked too if they lie beside it.
    certificate: PathBuf,
    /// The public key of whoever must have signed it, a file that `barkeep key new` made.
    #[arg(long, value_name = "PUB")]
    key: Option<PathBuf>,
    /// The custodian's ledger: must hold this certificate's reservation.
    #[arg(long, value_name = "FILE")]
    ledger: Option<PathBuf>,
    /// Gives up the independent check of epsilon after this many seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    limit: u64,
}

impl Verify {
    /// Runs it.
    pub(crate) fn run(self) -> Result<(), Exit> {
        let key = self.key.as_deref().map(PublicKey::read).transpose()?;
        if Bundle::is_one(&self.certificate) {
            return self.bundle(key.as_ref());
        }
        let certificate = Certificate::read(&self.certificate)?;
        certificate.check_signature(key.as_ref())?;
        let verified = certificate.verify_while(&mut self.patience())?;
        let absent = certificate.check_files(self.certificate.parent().unwrap_or(Path::new("")))?;
        print(&format!(
            "verified: the bill costs epsilon {:.9}, within the stated {}",
            verified.epsilon.get(),
            certificate.epsilon.unwrap_or(f64::INFINITY)
        ))?;
        print(&independently(&verified))?;
        match (&certificate.signature, key) {
            (Some(_), Some(_)) => print("verified: signed by the given key")?,
            (Some(signature), None) => {
                print(&format!("signed by {}; --key checks whose key that must be", signature.key))?;
            }
            (None, _) => print("not signed: whoever can write the certificate can write another one")?,
        }
        match (&certificate.hashes, absent.as_slice()) {
            (Some(_), []) => print("verified: the files beside it are those the run left")?,
            (Some(_), absent) => print(&format!("not checked: {}, not beside it", absent.join(", ")))?,
            (None, _) => print("not checked: the files beside it, since the run has not ended")?,
        }
        match (&certificate.charged, &self.ledger) {
            (_, Some(ledger)) => {
                certificate.check_ledger(&Ledger::open(ledger)?)?;
                print("verified: the ledger holds its reservation")?;
            }
            (Some(charged), None) => print(&format!(
                "charged to account \"{}\" as run {}; --ledger checks that",
                charged.account, charged.run
            ))?,
            (None, None) => {}
        }
        if let Some(not_planned) = verified.not_planned {
            print(&format!("not checked: {not_planned}"))?;
        }
        print(&certificate.statement)?;
        // From the bill that was just verified, not from what the file says.
        verified.meaning.iter().flat_map(Risk::words).try_for_each(|sentence| print(&sentence))
    }

    /// Lets a check run until its time limit, and reports its progress every few seconds.
    fn patience(&self) -> impl FnMut(f64, f64) -> bool + use<> {
        let (start, limit) = (Instant::now(), Duration::from_secs(self.limit));
        let mut next = EVERY;
        move |done, _| {
            if start.elapsed() >= next {
                say(&format!("checking epsilon independently: {:.0} %", 100.0 * done));
                next += EVERY;
            }
            start.elapsed() < limit
        }
    }

    /// Verifies a bundle.
    fn bundle(&self, key: Option<&PublicKey>) -> Result<(), Exit> {
        let bundle = Bundle::read(&self.certificate)?;
        let (certificate, verified) = bundle.verify_while(key, &mut self.patience())?;
        print(&format!(
            "verified: the bill costs epsilon {:.9}, within the stated {}",
            verified.epsilon.get(),
            certificate.epsilon.unwrap_or(f64::INFINITY)
        ))?;
        print(&independently(&verified))?;
        match (key, bundle.signed_by()) {
            (Some(_), _) => print("verified: bundle and certificate are signed by the given key")?,
            (None, Some(signer)) => {
                print(&format!("signed by {signer}; --key checks whose key that must be"))?
            }
            (None, None) => {}
        }
        print("verified: request, draws, summary and report are those that were packed")?;
        if let Some(ledger) = &self.ledger {
            certificate.check_ledger(&Ledger::open(ledger)?)?;
            print("verified: the ledger holds its reservation")?;
        }
        print(&certificate.statement)?;
        verified.meaning.iter().flat_map(Risk::words).try_for_each(|sentence| print(&sentence))
    }
}

/// What the independent check showed.
fn independently(verified: &Verified) -> String {
    match &verified.checked {
        Ok(check) => format!("verified: computed independently, epsilon is at most {:.9}", check.epsilon),
        Err(reason) => format!("not checked independently: {reason}"),
    }
}
