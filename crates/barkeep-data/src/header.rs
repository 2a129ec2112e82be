//! Finds declared columns in a file's header, without showing a first row that may be a record.

use std::collections::BTreeMap;
use std::path::Path;

use crate::{Error, Schema};

/// Where in the header each declared column stands.
pub(crate) fn locate(path: &Path, schema: &Schema, header: &[String]) -> Result<Vec<usize>, Error> {
    let mut places = BTreeMap::new();
    let mut twice = None;
    for (position, name) in header.iter().enumerate() {
        if places.insert(name.as_str(), position).is_some() && !name.is_empty() {
            twice = Some(name);
        }
    }
    let mut positions = Vec::with_capacity(schema.width());
    for column in schema.columns() {
        match places.get(column.name()) {
            Some(&position) => positions.push(position),
            None => return Err(absent(path, column.name(), header)),
        }
    }
    // Only now is the first row known to be a header, so that its names may be shown.
    match twice {
        Some(name) => Err(Error::DuplicateHeader { path: path.to_path_buf(), column: name.clone() }),
        None => Ok(positions),
    }
}

/// Where in the header the column stands that says whose row it is; asked after [`locate`], which found a header.
pub(crate) fn locate_person(path: &Path, column: &str, header: &[String]) -> Result<usize, Error> {
    header.iter().position(|name| name == column).ok_or_else(|| Error::UnknownPerson {
        path: path.to_path_buf(),
        column: column.to_owned(),
        nearest: nearest(column, header),
    })
}

fn absent(path: &Path, column: &str, header: &[String]) -> Error {
    let (path, name) = (path.to_path_buf(), column.to_owned());
    // A first row with numbers is a record, not a header: none of it may be shown.
    if header.iter().any(|cell| looks_like_a_value(cell)) {
        Error::Header { path, column: name }
    } else if let [only] = header
        && only.contains(['\t', ';', '|', ','])
    {
        Error::Undelimited { path, column: name }
    } else {
        Error::UnknownColumn { path, column: name, nearest: nearest(column, header) }
    }
}

pub(crate) fn looks_like_a_value(cell: &str) -> bool {
    cell.is_empty() || cell.parse::<f64>().is_ok()
}

/// How alike two names must be, from 0 to 1, for one to be suggested for the other.
///
/// High, so that a text file without a header does not show a cell that happens to stand in its first row.
const ALIKE: f64 = 0.8;

fn nearest(column: &str, header: &[String]) -> Option<String> {
    let column = column.to_lowercase();
    let likeness = |name: &String| strsim::jaro_winkler(&column, &name.to_lowercase());
    let alike = header.iter().map(|name| (likeness(name), name)).filter(|(likeness, _)| *likeness >= ALIKE);
    alike.max_by(|(a, _), (b, _)| a.total_cmp(b)).map(|(_, name)| name.clone())
}
