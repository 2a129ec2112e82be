//! Simulates records of a model as cells of a file. They are public: nobody's.

use crate::models;
use crate::public_rng::PublicRng;
use crate::spec::{Dataset, Spec, SpecError};
use barkeep_data::{Column, Factor, Kind, Records, Scale, Unit, View};
use barkeep_files::{WriteError, write_atomically};
use barkeep_model::Model;
use std::path::Path;
use std::sync::Arc;

/// A model whose records can be simulated.
///
/// A model of whole records draws them itself. Of a regression or a text, the other columns are spread evenly over their typical
/// values, their bounds or their levels, independently. Responses are drawn by their laws, unclamped: reading clamps them as
/// the schema says.
pub struct Simulation {
    model: Arc<dyn Model>,
    /// What the model sees of a file's columns; absent where the file has the model's own.
    view: Option<View>,
    /// The column that says whose row it is, and the rows of each person.
    person: Option<(String, u64)>,
}

impl Simulation {
    /// Of a spec's model and columns: files that the spec can read. Each person has as many rows as may count.
    #[must_use]
    pub fn of_spec(spec: &Spec) -> Self {
        let data = spec.data();
        let rows = match data.unit() {
            Unit::Record => 1,
            Unit::Person { most_rows } => most_rows.unwrap_or(1),
        };
        let person = data.person().map(|column| (column.to_owned(), rows));
        Self { model: Arc::clone(spec.model()), view: Some(data.view().clone()), person }
    }

    /// Of a `[model]` section alone, for parameters of a given number. A regression's columns then lie in [−1, 1], or, where
    /// its formula takes their logarithm or root, in [1, 2].
    ///
    /// # Errors
    /// An unknown name or key, or parameters the model refuses.
    pub fn of_model(table: &toml::Table, dimension: usize) -> Result<Self, SpecError> {
        models::for_simulation(table, dimension).map(|(model, view)| Self { model, view, person: None })
    }

    /// The model.
    #[must_use]
    pub fn model(&self) -> &dyn Model {
        &*self.model
    }

    /// Names of the columns that fill their bounds in simulated records because nobody declared what is typical of them. Real
    /// columns seldom do: a rehearsal on such records flatters.
    #[must_use]
    pub fn filling_bounds(&self) -> Vec<&str> {
        let Some(view) = &self.view else { return Vec::new() };
        // A model of whole records draws them itself.
        if self.model.responses().is_empty() {
            return Vec::new();
        }
        let drawn: Vec<usize> = self.drawn(view).map(|(_, factor)| factor.column).collect();
        let fills = |column: &Column| column.bounds().is_some() && column.typical().is_none();
        let columns = view.source().columns().iter().enumerate();
        columns
            .filter(|(place, column)| !drawn.contains(place) && fills(column))
            .map(|(_, column)| column.name())
            .collect()
    }

    /// The responses' places among what the model sees, and the columns behind them.
    fn drawn<'v>(&'v self, view: &'v View) -> impl Iterator<Item = (usize, &'v Factor)> {
        let behind = |place: usize| view.features().get(place)?.factors.first().map(|factor| (place, factor));
        self.model.responses().iter().filter_map(move |place| behind(*place))
    }

    /// The names of the file's columns.
    fn header(&self) -> Vec<String> {
        match &self.view {
            Some(view) => view.source().columns().iter().map(|column| column.name().to_owned()).collect(),
            None => self.model.column_names().to_vec(),
        }
    }

    /// Writes a CSV file of simulated records at θ, or of persons: the names, then one line per record, or the first rows of all
    /// persons, then the second ones.
    ///
    /// # Errors
    /// [`WriteError`]; the file is then as it was before.
    pub fn write_csv(
        &self,
        path: &Path,
        delimiter: u8,
        theta: &[f64],
        records: Records,
        seed: u64,
    ) -> Result<(), WriteError> {
        let mut rng = PublicRng::new(seed, 0);
        write_atomically(path, |file| {
            let mut writer = csv::WriterBuilder::new().delimiter(delimiter).from_writer(file);
            let (column, rows) =
                self.person.as_ref().map_or((None, 1), |(column, rows)| (Some(column), *rows));
            writer.write_record(self.header().iter().chain(column))?;
            for _ in 0..rows {
                for person in 0..records.0 {
                    let mut cells = self.record(theta, &mut rng);
                    cells.extend(column.map(|_| person.to_string()));
                    writer.write_record(cells)?;
                }
            }
            writer.flush()
        })
    }

    /// The cells of one record at θ.
    fn record(&self, theta: &[f64], rng: &mut PublicRng) -> Vec<String> {
        let mut row = vec![0.0; self.model.columns()];
        let Some(view) = &self.view else {
            self.model.simulate(theta, &mut || rng.open_uniform(), &mut row);
            return row.iter().map(f64::to_string).collect();
        };
        let columns = view.source().columns();
        let mut values: Vec<f64> = columns.iter().map(|column| anywhere(column, rng)).collect();
        for (seen, feature) in row.iter_mut().zip(view.features()) {
            let factors = feature.factors.iter();
            *seen = factors.map(|factor| factor.at(&columns[factor.column], values[factor.column])).product();
        }
        if self.model.responses().is_empty() {
            self.model.simulate(theta, &mut || rng.open_uniform(), &mut row);
            for ((value, seen), column) in values.iter_mut().zip(&row).zip(columns) {
                *value = own_unit(column, *seen, column.scale() == Scale::Bounds);
            }
        } else {
            self.model.respond(theta, &mut || rng.open_uniform(), &mut row);
            for (place, factor) in self.drawn(view) {
                let column = &columns[factor.column];
                let scaled = factor.scaled && column.scale() == Scale::Bounds;
                values[factor.column] = own_unit(column, row[place], scaled);
            }
        }
        values.iter().zip(columns).map(|(value, column)| column.written(*value)).collect()
    }
}

/// Writes a CSV file of synthetic records from what a data set makes public, to write specs against: every column by itself, each typical
/// value, or each within the bounds, as likely as any other. Each person has as many rows as may count. They are nobody's.
///
/// # Errors
/// [`WriteError`]; the file is then as it was before.
pub fn rehearsal(set: &Dataset, path: &Path, units: Records, seed: u64) -> Result<(), WriteError> {
    let (data, mut rng) = (set.data(), PublicRng::new(seed, 0));
    let columns = data.declared().columns();
    let rows = match data.unit() {
        Unit::Record => 1,
        Unit::Person { most_rows } => most_rows.unwrap_or(1),
    };
    write_atomically(path, |file| {
        let mut writer = csv::Writer::from_writer(file);
        writer.write_record(columns.iter().map(Column::name).chain(data.person()))?;
        for unit in (0..rows).flat_map(|_| 0..units.0) {
            let cells = columns.iter().map(|column| column.written(anywhere(column, &mut rng)));
            writer.write_record(cells.chain(data.person().map(|_| unit.to_string())))?;
        }
        writer.flush()
    })
}

/// A value of the column, each typical one as likely as any other; of all where nobody says what is typical.
fn anywhere(column: &Column, rng: &mut PublicRng) -> f64 {
    let share = rng.open_uniform();
    match column.kind() {
        Kind::Real { min, max } => {
            let (min, max) = column.typical().unwrap_or((*min, *max));
            min * (1.0 - share) + max * share
        }
        Kind::Integer { min, max } => {
            let (min, max) = column.typical().unwrap_or((*min, *max));
            (min + (share * (max - min + 1.0)).floor()).min(max)
        }
        Kind::Bool => f64::from(u8::from(share < 0.5)),
        Kind::Category { levels } => (share * levels.len() as f64).floor().min(levels.len() as f64 - 1.0),
    }
}

/// What a model saw, in the column's own unit.
fn own_unit(column: &Column, value: f64, scaled: bool) -> f64 {
    match column.bounds() {
        Some((min, max)) if scaled => (0.5 * min + 0.5 * max) + value * (0.5 * max - 0.5 * min),
        _ => value,
    }
}
