//! How to check it: commands, versions, hashes, signature, and the spec word for word.

use crate::Context;
use crate::html::{Node, code, h3, p, table};

/// The section.
pub(crate) fn content(context: &Context<'_>) -> Vec<Node> {
    let (finished, certificate) = (context.finished, context.finished.certificate());
    let mut commands = vec!["barkeep verify certificate.json".to_owned()];
    if certificate.signature.is_some() {
        commands.push("barkeep verify certificate.json --key custodian.pub".to_owned());
    }
    if certificate.charged.is_some() {
        commands.push("barkeep verify certificate.json --ledger books".to_owned());
    }
    commands.push("barkeep predict . --at profiles.csv".to_owned());
    commands.push("barkeep audit --help      # attacks on this very program".to_owned());
    let mut rows = vec![
        vec!["program".to_owned(), certificate.program.to_string()],
        vec!["certificate, as it stands".to_owned(), certificate.digest()],
    ];
    if let Some(hashes) = &certificate.hashes {
        rows.push(vec!["draws.csv".to_owned(), hashes.draws_csv.clone()]);
        rows.push(vec!["draws.parquet".to_owned(), hashes.draws_parquet.clone()]);
        rows.push(vec!["summary.json".to_owned(), hashes.summary.clone()]);
        rows.extend(
            hashes.journal.clone().map(|digest| vec!["journal.bin, by its answers".to_owned(), digest]),
        );
    }
    rows.push(match &certificate.signature {
        Some(signature) => vec!["signed by".to_owned(), signature.key.clone()],
        None => vec![
            "signature".to_owned(),
            "none: whoever can write the certificate can write another one".to_owned(),
        ],
    });
    let mut content = vec![
        p(
            "This page proves nothing by itself. The certificate does, and anyone can compute it again, without the records, in the run's folder:",
        ),
        code("Commands", &commands.join("\n")),
        table("SHA-256 of the run's files", &["what", "value"], rows),
    ];
    if let Some(text) = finished.spec().model_text() {
        content.push(h3("The model, as written"));
        content.push(code("Model", text));
    }
    content.push(h3("The spec, word for word"));
    content.push(code("Spec", &certificate.spec));
    content
}
