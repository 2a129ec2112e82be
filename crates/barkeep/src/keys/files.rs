//! Opens the files that a spec names beside its records; for a spec out of a certificate it opens none.

use super::section::{Section, SpecError};
use std::path::Path;

/// Whether a spec may name files, and where their paths start.
#[derive(Clone, Copy)]
pub(crate) enum Files<'a> {
    /// A person's own spec: relative paths start from this folder.
    From(&'a Path),
    /// A spec out of a certificate, which holds what its files said. One that names a file was made up, perhaps to make
    /// its reader open that file.
    Closed,
}

impl<'a> Files<'a> {
    /// The folder that relative paths start from.
    pub(crate) fn folder(self) -> &'a Path {
        match self {
            Self::From(folder) => folder,
            Self::Closed => Path::new(""),
        }
    }

    /// The text of the file that a key names, and how messages name it.
    ///
    /// # Errors
    /// If no file may be opened, or this one cannot be read.
    pub(crate) fn read(
        self,
        section: &Section<'_>,
        key: &str,
        file: &str,
    ) -> Result<(String, String), SpecError> {
        match self {
            Self::From(folder) => {
                let path = folder.join(file);
                let shown = path.display().to_string();
                match std::fs::read_to_string(&path) {
                    Ok(text) => Ok((text, shown)),
                    Err(error) => Err(section.error(key, format!("cannot read {shown}: {}", error.kind()))),
                }
            }
            Self::Closed => {
                Err(section.error(key, "names a file, which certificates never do; it was not opened"))
            }
        }
    }
}
