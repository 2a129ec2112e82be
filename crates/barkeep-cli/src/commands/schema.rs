//! `barkeep schema`: drafts a data set's declaration from the header of a file, for a person to fill in. No record is read.

use crate::exit::{Exit, print, say};
use barkeep::Error;
use clap::Args;
use std::path::PathBuf;

/// The command.
#[derive(Args)]
pub(crate) struct SchemaCommand {
    /// The CSV or Parquet file. Its first row, or its list of columns, is read and nothing else.
    file: PathBuf,
    /// The character between the cells of a CSV file.
    #[arg(long, default_value_t = ',')]
    delimiter: char,
    /// The columns to draft, separated by commas; all where absent.
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    columns: Option<Vec<String>>,
}

impl SchemaCommand {
    /// Runs it.
    pub(crate) fn run(self) -> Result<(), Exit> {
        let delimiter = u8::try_from(self.delimiter)
            .ok()
            .filter(u8::is_ascii)
            .ok_or_else(|| Exit::Input("--delimiter must be one ASCII character".to_owned()))?;
        let draft = barkeep::spec::draft_schema(&self.file, delimiter, self.columns.as_deref())
            .map_err(Error::from)?;
        print(draft.trim_end())?;
        say(
            "Save it, say as records.dataset.toml, fill in every \"?\", check it by `barkeep dataset check records.dataset.toml`, and name it in the \
             spec: [data] set = \"records.dataset.toml\"",
        );
        Ok(())
    }
}
