//! `barkeep completions` and `barkeep man`: what a shell and a manual reader want to know of the commands.

use crate::Arguments;
use crate::exit::{Exit, print};
use clap::{Args, CommandFactory};
use clap_complete::Shell;
use clap_mangen::Man;
use std::path::PathBuf;

/// Prints the file that lets a shell complete commands and options.
#[derive(Args)]
pub(crate) struct Completions {
    /// The shell that reads it.
    shell: Shell,
}

impl Completions {
    /// Runs it.
    pub(crate) fn run(self) -> Result<(), Exit> {
        let mut text = Vec::new();
        clap_complete::generate(self.shell, &mut Arguments::command(), "barkeep", &mut text);
        print(String::from_utf8_lossy(&text).trim_end())
    }
}

/// Prints the manual page, or writes one for each command.
#[derive(Args)]
pub(crate) struct Manual {
    /// Writes barkeep.1 and a page for each command into this folder instead.
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
}

impl Manual {
    /// Runs it.
    pub(crate) fn run(self) -> Result<(), Exit> {
        let command = Arguments::command();
        let Some(folder) = self.out else {
            let mut text = Vec::new();
            Man::new(command)
                .render(&mut text)
                .map_err(|error| Exit::Input(format!("cannot write the manual page: {}", error.kind())))?;
            return print(String::from_utf8_lossy(&text).trim_end());
        };
        let written =
            std::fs::create_dir_all(&folder).and_then(|()| clap_mangen::generate_to(command, &folder));
        written.map_err(|error| {
            Exit::Input(format!("cannot write manual pages into {}: {}", folder.display(), error.kind()))
        })
    }
}
