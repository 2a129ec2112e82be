//! Reads profiles: public values of the columns that a model predicts from.

use crate::Error;
use crate::keys::suggestion;
use crate::spec::Spec;
use barkeep_data::{Column, Kind};
use std::path::Path;

/// The column of a file that names profiles.
const NAME: &str = "profile";
/// Profiles of one file at most: beyond it is a mistake, such as a file of records.
const MOST: usize = 10_000;

/// One profile.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Profile {
    /// Its name.
    pub name: String,
    /// A value for each column that the spec's view reads, in the column's own unit; of a response it is never used.
    pub values: Vec<f64>,
}

/// Profiles that suit a spec: every value within its column's bounds or levels.
///
/// **Privacy.** Profiles are public. A row of somebody's record is none.
#[derive(Debug, Clone, PartialEq)]
pub struct Profiles {
    list: Vec<Profile>,
}

impl Profiles {
    /// Reads a CSV file: a header of column names, a line for each profile. A column `profile` names them.
    ///
    /// # Errors
    /// [`Error::Read`] if it cannot be read; [`Error::Profile`] as [`Profiles::parse`].
    pub fn read(path: &Path, spec: &Spec) -> Result<Self, Error> {
        let fail = |error: std::io::Error| Error::Read {
            path: path.display().to_string(),
            reason: error.kind().to_string(),
        };
        Self::parse(&std::fs::read_to_string(path).map_err(fail)?, spec)
    }

    /// Reads the text of such a file.
    ///
    /// # Errors
    /// [`Error::Profile`] names the column and the profile: a column that is unknown, missing or the response, a value outside
    /// the bounds, an unknown level.
    pub fn parse(text: &str, spec: &Spec) -> Result<Self, Error> {
        let malformed = |error: csv::Error| Error::Profile(format!("the profiles are no CSV: {error}"));
        let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(text.as_bytes());
        let header: Vec<String> = reader
            .headers()
            .map_err(malformed)?
            .iter()
            .map(|name| name.trim_start_matches('\u{feff}').to_owned())
            .collect();
        let mut rows = Vec::new();
        for row in reader.records() {
            let row = row.map_err(malformed)?;
            let name = header.iter().position(|name| name == NAME).and_then(|place| row.get(place));
            let name = name
                .filter(|name| !name.is_empty())
                .map_or_else(|| (rows.len() + 1).to_string(), str::to_owned);
            let cells = header.iter().zip(row.iter()).filter(|(column, _)| *column != NAME);
            rows.push((name, cells.map(|(column, cell)| (column.clone(), cell.to_owned())).collect()));
            if rows.len() > MOST {
                return Err(Error::Profile(format!("there are more than {MOST} profiles")));
            }
        }
        Self::new(rows, spec)
    }

    /// Profiles by name, each with cells by column.
    ///
    /// # Errors
    /// As [`Profiles::parse`].
    pub fn new(rows: Vec<(String, Vec<(String, String)>)>, spec: &Spec) -> Result<Self, Error> {
        let refuse = |reason: String| Err(Error::Profile(reason));
        if rows.is_empty() {
            return refuse("there is no profile".to_owned());
        }
        let columns = spec.data().view().source().columns();
        let predicted = predicted(spec);
        let mut list: Vec<Profile> = Vec::new();
        for (name, cells) in rows {
            if list.iter().any(|profile| profile.name == name) {
                return refuse(format!("profile `{name}`: two profiles have this name"));
            }
            for (place, (column, _)) in cells.iter().enumerate() {
                if cells[..place].iter().any(|(earlier, _)| earlier == column) {
                    return refuse(format!("profile `{name}`, column `{column}`: it is given twice"));
                }
                if !columns.iter().any(|known| known.name() == column) {
                    let nearest = suggestion(column, columns.iter().map(Column::name));
                    return refuse(format!("column `{column}`: the model reads no such column{nearest}"));
                }
            }
            let mut values = Vec::with_capacity(columns.len());
            for (place, column) in columns.iter().enumerate() {
                let cell = cells.iter().find(|(given, _)| given == column.name());
                values.push(match cell {
                    _ if predicted.contains(&place) => column.invalid(),
                    None => {
                        return refuse(format!("profile `{name}`: there is no column `{}`", column.name()));
                    }
                    Some((_, cell)) => match column.public_value(cell) {
                        Ok(value) => value,
                        Err(reason) => {
                            return refuse(format!(
                                "profile `{name}`, column `{}`: `{cell}` {reason}",
                                column.name()
                            ));
                        }
                    },
                });
            }
            list.push(Profile { name, values });
        }
        Ok(Self { list })
    }

    /// Profiles that the spec itself suggests: the middle of every column, or its first level, and for each column its low and
    /// its high end, or its other levels, all else in the middle. At most `most`.
    #[must_use]
    pub fn suggested(spec: &Spec, most: usize) -> Self {
        let columns = spec.data().view().source().columns();
        let predicted = predicted(spec);
        let middle: Vec<f64> = columns.iter().map(middle).collect();
        let mut list = vec![Profile { name: "middle".to_owned(), values: middle.clone() }];
        for (place, column) in columns.iter().enumerate().filter(|(place, _)| !predicted.contains(place)) {
            let ends = match column.kind() {
                Kind::Real { min, max } | Kind::Integer { min, max } => {
                    let (low, high) = column.typical().unwrap_or((*min, *max));
                    vec![low, high]
                }
                Kind::Bool => vec![1.0],
                Kind::Category { levels } => (1..levels.len()).map(|level| level as f64).collect(),
            };
            for end in ends.into_iter().filter(|end| *end != middle[place]) {
                let mut values = middle.clone();
                values[place] = end;
                let name = format!("{} = {}", column.name(), written(column, end));
                list.push(Profile { name, values });
            }
        }
        list.truncate(most.max(1));
        Self { list }
    }

    /// The profiles, in order.
    #[must_use]
    pub fn list(&self) -> &[Profile] {
        &self.list
    }

    /// The place of a column among those the model reads, if predictions may follow it.
    pub(super) fn place(&self, name: &str, spec: &Spec) -> Result<usize, Error> {
        let columns = spec.data().view().source().columns();
        let place = columns.iter().position(|column| column.name() == name);
        match place {
            Some(place) if predicted(spec).contains(&place) => {
                Err(Error::Profile(format!("column `{name}` is what is predicted")))
            }
            Some(place) => Ok(place),
            None => {
                let nearest = suggestion(name, columns.iter().map(Column::name));
                Err(Error::Profile(format!("column `{name}`: the model reads no such column{nearest}")))
            }
        }
    }
}

/// The places of responses among the columns that are read.
fn predicted(spec: &Spec) -> Vec<usize> {
    let features = spec.data().view().features();
    let behind = |place: &usize| features.get(*place)?.factors.first().map(|factor| factor.column);
    spec.model().responses().iter().filter_map(behind).collect()
}

/// The middle of what is typical of a column, or of its bounds; its first level.
fn middle(column: &Column) -> f64 {
    match column.kind() {
        Kind::Real { min, max } => {
            let (low, high) = column.typical().unwrap_or((*min, *max));
            0.5 * low + 0.5 * high
        }
        Kind::Integer { min, max } => {
            let (low, high) = column.typical().unwrap_or((*min, *max));
            (0.5 * low + 0.5 * high).round().clamp(*min, *max)
        }
        Kind::Bool | Kind::Category { .. } => 0.0,
    }
}

/// A value as a person writes it, to a thousandth of its column's range.
pub(crate) fn written(column: &Column, value: f64) -> String {
    let rounded = column.bounds().map(|(min, max)| {
        let scale = libm::pow(10.0, (3.0 - (max - min).log10().floor()).clamp(0.0, 12.0));
        (value * scale).round() / scale
    });
    column.written(rounded.unwrap_or(value))
}
