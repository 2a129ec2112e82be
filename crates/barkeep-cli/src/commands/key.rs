//! `barkeep key`: makes the keys that certificates are signed with.

use crate::exit::{Exit, print, say};
use barkeep::SigningKey;
use barkeep::signature::public_path;
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// The command.
#[derive(Args)]
pub(crate) struct Key {
    #[command(subcommand)]
    action: Action,
}

/// What to do with keys.
#[derive(Subcommand)]
enum Action {
    /// Makes a new ed25519 key: KEYFILE is secret, KEYFILE.pub is for everyone. The public key is printed.
    New {
        /// The file for the secret key; must not exist.
        keyfile: PathBuf,
    },
}

impl Key {
    /// Runs it.
    pub(crate) fn run(self) -> Result<(), Exit> {
        match self.action {
            Action::New { keyfile } => {
                let key = SigningKey::create(&keyfile)?;
                say(&format!(
                    "Sign with `barkeep sample … --sign {0}`. Give {1} to whoever is to verify, and {0} to nobody.",
                    keyfile.display(),
                    public_path(&keyfile).display()
                ));
                print(&key.public().digits())
            }
        }
    }
}
