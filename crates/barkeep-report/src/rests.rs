//! What it rests on: premises, what was public, what left the curator, and the columns as declared.

use crate::html::{Node, h3, list, p, table};
use crate::{Context, grouped, sentence};
use barkeep::accounting::Neighbours;
use barkeep::data::{Column, Kind, Scale, Unit};

/// Levels of a column that are named at most.
const MOST_LEVELS: usize = 20;

/// The section.
pub(crate) fn content(context: &Context<'_>) -> Vec<Node> {
    let certificate = context.finished.certificate();
    let sentences = |clauses: &[String]| list(clauses.iter().map(|clause| sentence(clause)));
    let (unit, count) = (certificate.unit, grouped(certificate.records.0));
    let known = match certificate.neighbours {
        Some(Neighbours::AddRemove) => {
            format!("About {count} {} were declared; how many there are is protected.", unit.plural())
        }
        Some(Neighbours::Substitute) | None => {
            format!("There are {count} {}, which is public.", unit.plural())
        }
    };
    let whose = match unit {
        Unit::Record => {
            "What is protected is one record: a person with two of them is protected less.".to_owned()
        }
        Unit::Person { most_rows: None } => "What is protected is a person, with all their rows.".to_owned(),
        Unit::Person { most_rows: Some(most) } => {
            format!("What is protected is a person, of whom at most {most} rows count.")
        }
    };
    let columns = context.finished.spec().data().view().source().columns();
    let head = ["column", "kind", "bounds or levels", "a bad cell becomes", "seen by the model"];
    vec![
        p(format!("{known} {whose}")),
        h3("Premises"),
        sentences(&certificate.premises),
        h3("Taken as public"),
        sentences(&certificate.public),
        h3("What left the curator"),
        sentences(&certificate.released),
        h3("Columns, as declared"),
        p(
            "Values outside the bounds were moved to the nearer bound. Nothing here was found by looking at the records.",
        ),
        table("The columns that the model reads", &head, columns.iter().map(column_row).collect()),
    ]
}

fn column_row(column: &Column) -> Vec<String> {
    let (kind, range) = match column.kind() {
        Kind::Real { min, max } => ("real", format!("{min} to {max}")),
        Kind::Integer { min, max } => ("whole number", format!("{min} to {max}")),
        Kind::Bool => ("true or false", String::new()),
        Kind::Category { levels } => {
            let mut named: Vec<&str> = levels.iter().take(MOST_LEVELS).map(String::as_str).collect();
            named.extend((levels.len() > MOST_LEVELS).then_some("…"));
            ("category", named.join(", "))
        }
    };
    let invalid = column.written(column.invalid());
    let seen = match column.scale() {
        Scale::None => "as it is",
        Scale::Bounds => "mapped to −1 to 1",
    };
    vec![column.name().to_owned(), kind.to_owned(), range, invalid, seen.to_owned()]
}
