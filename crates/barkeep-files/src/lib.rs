//! Writes result files so that a reader finds the old content or the whole new one, never a part.

pub mod hex;

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// A result file could not be written; whatever stood under its name before still stands.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {}: {source}", path.display())]
pub struct WriteError {
    /// The file that was to be written.
    pub path: PathBuf,
    /// What the operating system, or the encoder of the content, said.
    pub source: io::Error,
}

/// Writes `path` in one indivisible and durable step.
///
/// `content` fills a temporary file in the same folder. The file is synchronised to the disk, renamed over
/// `path`, and on Unix the folder is synchronised too: once this returns, the file survives a power cut. A
/// process killed on the way leaves `path` as it was, at worst beside a hidden file that ends in `.partial`.
///
/// # Errors
/// [`WriteError`] when the folder does not exist or cannot be written, the disk is full, or
/// `content` fails; the temporary file is then removed. Should only the last step fail, the synchronisation of
/// the folder, `path` already holds the new content, but a power cut may still undo that.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// let path = folder.path().join("summary.json");
/// barkeep_files::write_atomically(&path, |file| std::io::Write::write_all(file, b"{}"))?;
/// assert_eq!(std::fs::read(&path)?, b"{}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write_atomically(
    path: &Path,
    content: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> Result<(), WriteError> {
    replace(path, content).map_err(|source| WriteError { path: path.to_owned(), source })
}

fn replace(path: &Path, content: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) -> io::Result<()> {
    let name = path.file_name().ok_or_else(|| io::Error::new(ErrorKind::InvalidInput, "not a file name"))?;
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let (partial, file) = Partial::create(folder, name.to_owned())?;
    let mut file = BufWriter::new(file);
    content(&mut file)?;
    let file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
    file.sync_all()?;
    drop(file);
    partial.rename(path)?;
    synchronise_folder(folder)
}

/// A temporary file that is removed again unless it was renamed, also when the writer fails or panics.
struct Partial {
    path: PathBuf,
    renamed: bool,
}

impl Partial {
    fn create(folder: &Path, name: OsString) -> io::Result<(Self, File)> {
        // The counter keeps two threads of this process apart, the process number two processes; whatever an
        // earlier, killed process of the same number left behind is stepped over.
        static NEXT: AtomicU64 = AtomicU64::new(0);
        loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let mut hidden = OsString::from(".");
            hidden.push(&name);
            hidden.push(format!(".{}-{number}.partial", std::process::id()));
            let path = folder.join(hidden);
            match OpenOptions::new().write(true).create_new(true).open(&path) {
                Ok(file) => return Ok((Self { path, renamed: false }, file)),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn rename(mut self, target: &Path) -> io::Result<()> {
        fs::rename(&self.path, target)?;
        self.renamed = true;
        Ok(())
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        if !self.renamed {
            // Nothing better can be done when even the removal fails; the first error is the one to report.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Makes the names in a folder survive a power cut.
#[cfg(unix)]
pub fn synchronise_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

#[cfg(not(unix))]
pub fn synchronise_folder(_folder: &Path) -> io::Result<()> {
    Ok(())
}

/// Writes `value` as indented JSON with a final line feed, by [`write_atomically`].
///
/// # Errors
/// As [`write_atomically`]; also when `value` cannot be written as JSON (a map with keys that are not
/// strings).
pub fn write_json(path: &Path, value: &impl serde::Serialize) -> Result<(), WriteError> {
    write_atomically(path, |file| {
        serde_json::to_writer_pretty(&mut *file, value)?;
        file.write_all(b"\n")
    })
}

#[cfg(test)]
mod tests;
