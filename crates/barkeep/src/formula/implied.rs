//! Declares columns that suit a formula and its family, for records simulated without a spec.

use super::{Atom, Formula, Function, TrialsOf};
use crate::keys::{Section, SpecError};
use barkeep_data::{Column, Schema};
use barkeep_model::Response;
use barkeep_model::families::FAMILIES;

/// The columns a formula names. The response is as its family wants it and trials are from 1 to 10. All others are in
/// [−1, 1], or in [1, 2] where the formula takes their logarithm or root.
///
/// # Errors
/// A formula that is missing or faulty.
pub(crate) fn implied_schema(section: &Section<'_>) -> Result<Schema, SpecError> {
    let text = section.require("formula", section.text("formula")?)?;
    let formula = Formula::parse(text).map_err(|error| section.error("formula", error.to_string()))?;
    let response = formula.response.column.as_str();
    let family = section.text("family")?;
    let family = FAMILIES.iter().find(|entry| Some(entry.name) == family);
    let trials = match formula.trials {
        Some(TrialsOf::Fixed(trials)) => Some(trials),
        Some(TrialsOf::Column(_)) | None => None,
    };
    // A family that is missing or unknown is refused when the model is built.
    let mut columns = vec![family.map_or(Response::Real, |entry| entry.response).implied(response, trials)];
    if let Some(TrialsOf::Column(atom)) = &formula.trials {
        columns.push(Column::integer(atom.column.as_str(), 1.0, 10.0, 1.0));
    }
    let atoms: Vec<&Atom> = formula.terms.iter().flat_map(|term| &term.0).chain(&formula.offset).collect();
    for atom in &atoms {
        let name = atom.column.as_str();
        if columns.iter().flatten().any(|column| column.name() == name) {
            continue;
        }
        let positive = atoms
            .iter()
            .any(|other| other.column == name && matches!(other.function, Function::Log | Function::Sqrt));
        columns.push(if positive {
            Column::real(name, 1.0, 2.0, 1.0)
        } else {
            Column::real(name, -1.0, 1.0, 0.0)
        });
    }
    let columns = columns.into_iter().collect::<Result<Vec<_>, _>>();
    columns.and_then(Schema::new).map_err(|error| section.error("formula", error.to_string()))
}
