//! `barkeep ledger`: keeps the custodian's books.

mod date;
mod show;

use crate::exit::{Exit, print, say};
use barkeep::PublicKey;
use barkeep::accounting::{Delta, Epsilon, Neighbours};
use barkeep::custody::Holding;
use barkeep::ledger::{Error, Ledger, Unit, Whom};
use clap::{Args, Subcommand, ValueEnum};
pub(crate) use date::now;
pub(crate) use show::accounts;
pub(super) use show::{account_words, quoted};
use std::path::{Path, PathBuf};

/// The command.
#[derive(Args)]
pub(crate) struct LedgerCommand {
    #[command(subcommand)]
    action: Action,
}

/// What to do with a ledger.
#[derive(Subcommand)]
enum Action {
    /// Makes a ledger, and the custodian's key beside it.
    New {
        /// The file; must not exist.
        ledger: PathBuf,
    },
    /// Opens an account: a population of persons, and the total that may ever be spent on it.
    Open {
        /// The ledger.
        ledger: PathBuf,
        /// The account's name.
        account: String,
        #[command(flatten)]
        total: Total,
        /// Which data sets are hard to tell apart; runs must say the same.
        #[arg(long, value_enum, default_value = "substitute")]
        neighbours: Relation,
        /// What they differ in; runs must say the same.
        #[arg(long, value_enum, default_value = "record")]
        unit: Of,
        /// Why, in words: needed once an account was closed.
        #[arg(long)]
        reason: Option<String>,
    },
    /// Puts a data set, or its next version, under an account. All its records are read.
    Add {
        /// The ledger.
        ledger: PathBuf,
        /// The account.
        account: String,
        /// The data set, a TOML file, or a spec that declares its records itself. The ledger keeps keyed hashes of the records, which are
        /// shown nowhere, and how they are declared, to which runs are held.
        set: PathBuf,
        /// What the data set is called; its own name by default.
        #[arg(long, value_name = "NAME")]
        data: Option<String>,
        /// Why the same records are counted anew: needed where a closed account had them.
        #[arg(long)]
        reason: Option<String>,
    },
    /// Says for whom a public key signs: a request under that key is charged to the analyst's cap.
    Analyst {
        /// The ledger.
        ledger: PathBuf,
        /// The analyst.
        name: String,
        /// The public key, a file that `barkeep key new` made.
        #[arg(long, value_name = "PUB")]
        key: PathBuf,
    },
    /// Bounds what an analyst or a project may spend, runs so far included.
    Cap {
        /// The ledger.
        ledger: PathBuf,
        /// The account.
        account: String,
        /// The analyst.
        #[arg(long, value_name = "NAME", required_unless_present = "project", conflicts_with = "project")]
        analyst: Option<String>,
        /// The project.
        #[arg(long, value_name = "NAME")]
        project: Option<String>,
        #[command(flatten)]
        total: Total,
    },
    /// Shows what is spent and left, and what a run of a spec would cost.
    Show {
        /// The ledger.
        ledger: PathBuf,
        /// The account; all of them without it.
        account: Option<String>,
        /// A spec: what would its run cost, and would it be accepted?
        #[arg(long, value_name = "SPEC")]
        spec: Option<PathBuf>,
        /// Prints one JSON object.
        #[arg(long)]
        json: bool,
    },
    /// Lists every entry, the first one first.
    Log {
        /// The ledger.
        ledger: PathBuf,
        /// Prints one JSON object a line.
        #[arg(long)]
        json: bool,
    },
    /// Verifies every byte, every hash and every decision, and computes the price of every bill again.
    Check {
        /// The ledger.
        ledger: PathBuf,
        /// The hash of an entry, noted elsewhere: finds a ledger that was put back to before it.
        #[arg(long, value_name = "HASH")]
        head: Option<String>,
    },
    /// Closes an account for ever. What was spent stays spent.
    CloseAccount {
        /// The ledger.
        ledger: PathBuf,
        /// The account.
        account: String,
        /// Why, in words.
        #[arg(long)]
        reason: String,
    },
}

/// A total or a cap.
#[derive(Args)]
struct Total {
    /// Epsilon of all runs together.
    #[arg(long)]
    epsilon: f64,
    /// Delta of all runs together.
    #[arg(long)]
    delta: f64,
}

impl Total {
    fn checked(&self) -> Result<(Epsilon, Delta), Exit> {
        let refused = |error: barkeep::accounting::Error| Exit::Input(error.to_string());
        Ok((Epsilon::new(self.epsilon).map_err(refused)?, Delta::new(self.delta).map_err(refused)?))
    }
}

#[derive(Clone, Copy, ValueEnum)]
enum Relation {
    Substitute,
    AddRemove,
}

#[derive(Clone, Copy, ValueEnum)]
enum Of {
    Record,
    Person,
}

impl LedgerCommand {
    /// Runs it.
    pub(crate) fn run(self) -> Result<(), Exit> {
        match self.action {
            Action::New { ledger } => new(&ledger),
            Action::Open { ledger, account, total, neighbours, unit, reason } => {
                let neighbours = match neighbours {
                    Relation::Substitute => Neighbours::Substitute,
                    Relation::AddRemove => Neighbours::AddRemove,
                };
                let unit = match unit {
                    Of::Record => Unit::Record,
                    Of::Person => Unit::Person,
                };
                opened(&ledger)?.open_account(&account, total.checked()?, neighbours, unit, reason)?;
                say(&format!(
                    "Account \"{account}\" has a total of ({}, {:e}). Put its records under it by `barkeep ledger add`.",
                    total.epsilon, total.delta
                ));
                Ok(())
            }
            Action::Add { ledger, account, set, data, reason } => {
                let (ledger, held) = (opened(&ledger)?, Holding::read(&set)?);
                let data = data
                    .or_else(|| held.data().id().map(str::to_owned))
                    .ok_or_else(|| Exit::Input("the spec does not name its data: give --data".to_owned()))?;
                let version = held.add(&ledger, &account, &data, &held.inspect()?, reason)?;
                say(&format!("\"{data}\", version {version}, belongs to account \"{account}\"."));
                Ok(())
            }
            Action::Analyst { ledger, name, key } => {
                opened(&ledger)?.add_analyst(&name, &PublicKey::read(&key)?.digits())?;
                say(&format!("That key signs for \"{name}\"."));
                Ok(())
            }
            Action::Cap { ledger, account, analyst, project, total } => {
                let (whom, name) = match (analyst, project) {
                    (Some(analyst), _) => (Whom::Analyst, analyst),
                    (None, project) => (Whom::Project, project.unwrap_or_default()),
                };
                opened(&ledger)?.cap(&account, whom, &name, total.checked()?)?;
                let (epsilon, delta) = (total.epsilon, total.delta);
                say(&format!(
                    "In account \"{account}\" {whom} \"{name}\" may spend ({epsilon}, {delta:e}) at most."
                ));
                Ok(())
            }
            Action::Show { ledger, account, spec, json } => {
                show::run(&ledger, account.as_deref(), spec.as_deref(), json)
            }
            Action::Log { ledger, json } => show::log(&ledger, json),
            Action::Check { ledger, head } => {
                let checked = Ledger::open(&ledger)?.check(head.as_deref())?;
                print(&format!(
                    "whole: entries as barkeep wrote them: {}; bills whose price was computed again: {}",
                    checked.entries, checked.bills
                ))?;
                print(&format!("the last entry's hash is {}", checked.head))?;
                say(
                    "Note that hash elsewhere: `--head` then finds a ledger that was put back to an earlier state.",
                );
                Ok(())
            }
            Action::CloseAccount { ledger, account, reason } => {
                opened(&ledger)?.close_account(&account, &reason)?;
                say(&format!("Account \"{account}\" is closed. What was spent stays spent."));
                Ok(())
            }
        }
    }
}

/// A ledger that dates what it writes.
fn opened(path: &Path) -> Result<Ledger, Exit> {
    Ok(Ledger::open(path)?.dated(Some(now())))
}

fn new(path: &Path) -> Result<(), Exit> {
    Ledger::create(path)?;
    let shown = path.display();
    say(&format!(
        "{shown} is a new ledger. {shown}.key is its secret: keep it where analysts cannot read it, and keep a copy. Open an \
         account by `barkeep ledger open {shown} NAME --epsilon … --delta …`."
    ));
    Ok(())
}

impl From<Error> for Exit {
    fn from(error: Error) -> Self {
        let text = error.to_string();
        match error {
            Error::Budget(_) => Self::Budget(text),
            Error::Edited { .. } => Self::Check(text),
            Error::Request(_) | Error::Unusable { .. } | Error::Write(_) | Error::Accounting(_) => {
                Self::Input(text)
            }
        }
    }
}
