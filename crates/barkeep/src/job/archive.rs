//! Writes and reads tar archives of a few files (POSIX.1-1988, ustar): headers of 512 bytes, contents padded with zeros.
//!
//! Archives have no dates, owners or folders, so that the same files give the same bytes. What is read must be such an archive:
//! anything else in it is refused, and nothing is ever unpacked to the disk.

use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Bytes of a block.
const BLOCK: usize = 512;
/// Where a header says what it is, and what it says there.
const MAGIC: (usize, &[u8]) = (257, b"ustar\x0000");

/// An archive of files by name; none where a file is too large for the format or a name too long.
pub(super) fn write<'a>(files: impl Iterator<Item = (&'a str, &'a [u8])>) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    for (name, bytes) in files {
        out.extend_from_slice(&header(name, bytes.len())?);
        out.extend_from_slice(bytes);
        out.resize(out.len().next_multiple_of(BLOCK), 0);
    }
    out.resize(out.len() + 2 * BLOCK, 0);
    Some(out)
}

/// A file's header.
fn header(name: &str, length: usize) -> Option<[u8; BLOCK]> {
    let mut header = [0; BLOCK];
    // Eleven octal digits: up to 8 GiB.
    if name.len() >= 100 || length >= 1 << 33 {
        return None;
    }
    put(&mut header, 0, name.as_bytes())?;
    put(&mut header, 100, b"0000644\0")?;
    put(&mut header, 108, b"0000000\0")?;
    put(&mut header, 116, b"0000000\0")?;
    put(&mut header, 124, format!("{length:011o}\0").as_bytes())?;
    put(&mut header, 136, b"00000000000\0")?;
    put(&mut header, 148, b"        ")?;
    put(&mut header, 156, b"0")?;
    put(&mut header, MAGIC.0, MAGIC.1)?;
    let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
    put(&mut header, 148, format!("{sum:06o}\0 ").as_bytes())?;
    Some(header)
}

/// Puts bytes into their place of a header.
fn put(header: &mut [u8; BLOCK], place: usize, bytes: &[u8]) -> Option<()> {
    header.get_mut(place..place + bytes.len())?.copy_from_slice(bytes);
    Some(())
}

/// The files of an archive that [`write`] made, to the byte; none for anything else.
pub(super) fn read(bytes: &[u8]) -> Option<Vec<(String, Vec<u8>)>> {
    let (mut files, mut rest) = (Vec::new(), bytes);
    while rest.first() != Some(&0) {
        let (header, content) = rest.split_at_checked(BLOCK)?;
        let name = header[..100].split(|byte| *byte == 0).next()?;
        let name = std::str::from_utf8(name).ok()?.to_owned();
        let length = usize::from_str_radix(std::str::from_utf8(&header[124..135]).ok()?, 8).ok()?;
        let (content, after) = content.split_at_checked(length.checked_next_multiple_of(BLOCK)?)?;
        files.push((name, content.get(..length)?.to_vec()));
        rest = after;
    }
    let again = write(files.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice())))?;
    (again == bytes).then_some(files)
}

/// Whether a file begins as an archive does.
pub(super) fn is_one(path: &Path) -> bool {
    let mut start = [0; BLOCK];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut start));
    read.is_ok() && start[MAGIC.0..].starts_with(MAGIC.1)
}
