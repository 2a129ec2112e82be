//! Feeds specs, schemas, formulas, models, records and certificates any bytes there are: an answer or a typed error, never a panic or an endless loop.
//!
//! The same entry points as the targets in `fuzz/`, with a bounded number of cases.

#![expect(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

use barkeep::curator::Table;
use barkeep::data::{Block, Column, Count, CsvOptions, Schema, View};
use barkeep::formula::{Formula, Layout};
use barkeep::model::{Centring, Likelihood, Model, Scratch, TextModel};
use barkeep::{Certificate, Plan, Spec};
use proptest::prelude::*;
use std::path::Path;
use std::sync::LazyLock;

const SPEC: &str = "[data]\npath = 'records.csv'\nrecords = 20\ndelimiter = ','\n[data.columns]\n\
    x = { min = -10, max = 10, invalid = 0 }\n\
    c = { kind = 'category', levels = ['a', 'b'], invalid = 'b' }\n\
    [model]\nname = 'gaussian'\ncovariance = 1\ntemper = 0.5\n\
    [privacy]\nepsilon = 1.0\ndelta = 1e-6\nneighbours = 'substitute'\n\
    [sampler]\nname = 'barker'\nproposal_sd = 0.05\nclip = 1.0\nstart = [0, 0]\nchains = 1\nsteps = 10\nseed = 4\n";

/// What a person or a machine might write for a value, good or bad.
fn value() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<u64>().prop_map(|bits| format!("{:e}", f64::from_bits(bits))),
        (-320.0..310.0_f64).prop_map(|exponent| format!("1e{exponent:.0}")),
        any::<i64>().prop_map(|number| number.to_string()),
        prop::sample::select(vec![
            "nan",
            "inf",
            "-inf",
            "0",
            "-0.0",
            "true",
            "''",
            "'x'",
            "[]",
            "[[]]",
            "[1, 'a']",
            "[[1, 2], [3]]",
            "{}",
            "'prior'",
            "'fit'",
            "'release'",
            "'add-remove'",
            "'gaussian'",
            "'uniform'",
            "'penalty'",
            "'langevin'",
            "'dp-hmc'",
            "9223372036854775807",
            "1979-05-27",
        ])
        .prop_map(str::to_owned),
        "[a-z'\\[\\]{}=., 0-9]{0,12}",
    ]
}

/// The good spec with up to three values replaced, lines dropped, or lines repeated.
fn mutated() -> impl Strategy<Value = String> {
    let change = (0..SPEC.lines().count(), 0..4_u8, value());
    prop::collection::vec(change, 1..4).prop_map(|changes| {
        let mut lines: Vec<String> = SPEC.lines().map(str::to_owned).collect();
        for (index, kind, value) in changes {
            let line = lines[index].clone();
            lines[index] = match (kind, line.split_once(" = ")) {
                (0 | 1, Some((key, _))) => format!("{key} = {value}"),
                (2, _) => String::new(),
                (3, _) => format!("{line}\n{line}"),
                _ => format!("{line}{value}"),
            };
        }
        lines.join("\n")
    })
}

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { failure_persistence: None, cases, ..ProptestConfig::default() }
}

fn schema() -> Schema {
    let levels = vec!["a".to_owned(), "b".to_owned()];
    let columns = [Column::real("x", -1.0, 1.0, 0.0), Column::category("c", levels, "b")];
    Schema::new(columns.into_iter().collect::<Result<_, _>>().unwrap()).unwrap()
}

/// Columns of every kind, for formulas.
fn wide() -> Schema {
    let levels = |names: &str| names.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let columns = [
        Column::real("a", -1.0, 3.0, 0.0),
        Column::integer("b", 1.0, 9.0, 1.0),
        Column::boolean("c", false),
        Column::category("z", levels("p q r s"), "p"),
        Column::category("one", levels("only"), "only"),
    ];
    Schema::new(columns.into_iter().collect::<Result<_, _>>().unwrap()).unwrap()
}

/// Pieces of formulas.
const PARTS: &[&str] = &[
    "a",
    "b",
    "c",
    "z",
    "one",
    "log(b)",
    "sqrt(b)",
    "log(a)",
    "square(a)",
    "poly(b, 3)",
    "poly(a, 20)",
    "(a + z)",
    "(b - 1)",
    "offset(b)",
    "offset(log(b))",
    "1",
    "0",
    "nobody",
    "(a * b * c * z)",
    "`a`",
];
/// What stands between them.
const JOINTS: &[&str] = &[" + ", " - ", ":", " * ", " | ", " ~ "];

/// Reads bytes as a file with the given ending.
fn read_bytes(bytes: &[u8], ending: &str) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(format!("records.{ending}"));
    std::fs::write(&path, bytes).unwrap();
    if let Err(error) =
        Table::read(&path, &View::all(schema()), Count::Exactly(3), CsvOptions::default(), &mut |_| {})
    {
        assert!(!error.to_string().is_empty());
    }
}

/// The columns of the target `model`.
fn model_columns() -> Schema {
    let levels = ["p", "q", "r", "s"].map(str::to_owned).to_vec();
    let columns = [
        Column::real("x", -1.0, 3.0, 0.0),
        Column::real("y", 0.1, 9.0, 1.0),
        Column::integer("k", 0.0, 9.0, 1.0),
        Column::boolean("event", false),
        Column::category("g", levels, "p"),
    ];
    Schema::new(columns.into_iter().collect::<Result<_, _>>().unwrap()).unwrap()
}

/// The texts that fuzzing starts from.
static SEEDS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/seeds/model"));
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|path| std::fs::read_to_string(path).unwrap()).collect()
});

/// Reads a text as the target does, and asks everything of what it accepts once.
fn read_model(text: &str) -> Result<(), String> {
    let schema = model_columns();
    let model = TextModel::new(text, &schema).map_err(|error| error.to_string())?;
    let d = Likelihood::dimension(&model);
    let (record, theta) = (vec![1.0; Likelihood::columns(&model)], vec![0.5; d]);
    let (mut out, mut matrix) = (vec![0.0; d], vec![0.0; d * d]);
    let (block, scratch) = (Block::over(&record, 1, 1), &mut Scratch::new());
    model.gradient(block, &theta, &mut out, scratch);
    model.log_ratio(block, &theta, &theta, &mut out[..1], scratch);
    let _ = (model.lipschitz(&schema), model.log_ratio_range(&schema, &theta, &theta));
    let _ = (model.fisher(&theta, &mut matrix), model.quantities(&theta));
    if let Ok(given) = model.given() {
        let centring = Centring { theta: &theta, whitening: &matrix, clip: 1.0 };
        centring.write((&model, given), block, &mut out, scratch);
        model.prior_precision(&theta, &mut matrix);
    }
    Ok(())
}

#[test]
fn every_seed_of_the_model_target_is_a_model() {
    assert!(SEEDS.len() >= 12);
    for text in SEEDS.iter() {
        read_model(text).unwrap_or_else(|error| panic!("{text}{error}"));
    }
}

proptest! {
    #![proptest_config(config(256))]

    #[test]
    fn any_change_of_a_model_is_a_model_or_an_error(
        seed in 0..12_usize,
        changes in prop::collection::vec((any::<u32>(), 0..9_usize, "\\PC{0,3}"), 0..4),
    ) {
        let mut letters: Vec<char> = SEEDS[seed].chars().collect();
        for (place, length, with) in changes {
            let from = place as usize % (letters.len() + 1);
            let to = (from + length).min(letters.len());
            letters.splice(from..to, with.chars()).for_each(drop);
        }
        if let Err(error) = read_model(&letters.into_iter().collect::<String>()) {
            prop_assert!(error.starts_with("line ") && error.contains('^'), "{error}");
        }
    }

    #[test]
    fn any_text_is_a_model_or_an_error(text in "\\PC{0,200}") {
        prop_assert!(read_model(&text).is_err());
    }

    #[test]
    fn any_text_is_a_spec_or_an_error(text in "\\PC{0,200}") {
        let _ = Spec::parse(&text, Path::new(""));
    }

    #[test]
    fn any_bytes_are_records_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        read_bytes(&bytes, "csv");
        read_bytes(&[&b"x,c\n"[..], &bytes].concat(), "csv");
        read_bytes(&[&[0x1f, 0x8b][..], &bytes].concat(), "csv");
        read_bytes(&bytes, "parquet");
        read_bytes(&[&b"PAR1"[..], &bytes, &b"PAR1"[..]].concat(), "parquet");
    }

    #[test]
    fn any_cells_are_admitted(cells in prop::collection::vec("[^\r\n\",]{0,12}", 6)) {
        let rows: String = cells.chunks(2).map(|row| format!("{}|,{}\n", row[0], row[1])).collect();
        read_bytes(format!("x,c\n{rows}").as_bytes(), "csv");
    }

    #[test]
    fn any_text_is_a_formula_or_an_error(text in "\\PC{0,80}", signs in "[abcz01+*:~|()^, -]{0,120}") {
        for text in [&text, &signs, &format!("c ~ {signs}"), &format!("a ~ b * {signs}")] {
            match Formula::parse(text) {
                Ok(formula) => drop(Layout::new(&formula, &wide(), true)),
                Err(error) => prop_assert!(!error.to_string().is_empty()),
            }
        }
    }

    #[test]
    fn a_formula_of_real_parts_is_laid_out_or_refused(
        parts in prop::collection::vec((prop::sample::select(PARTS), prop::sample::select(JOINTS)), 1..14),
    ) {
        let right: String = parts.iter().map(|(part, joint)| format!("{part}{joint}")).collect();
        if let Ok(formula) = Formula::parse(&format!("a ~ {right}b")) {
            drop(Layout::new(&formula, &wide(), false));
        }
    }

    #[test]
    fn any_bytes_are_a_schema_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = serde_json::from_slice::<Schema>(&bytes);
    }

    #[test]
    fn a_mutated_schema_keeps_its_bounds(index in any::<prop::sample::Index>(), value in value()) {
        let text = serde_json::to_string_pretty(&wide()).unwrap();
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let place = index.index(lines.len());
        let replaced = lines[place].split_once(": ").map(|(key, _)| format!("{key}: {value},"));
        lines[place] = replaced.unwrap_or(value);
        if let Ok(schema) = serde_json::from_str::<Schema>(&lines.join("\n")) {
            for column in schema.columns() {
                let (low, high) = column.range();
                prop_assert!(low <= high && low.is_finite() && high.is_finite());
            }
        }
    }

    #[test]
    fn any_bytes_are_a_certificate_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = serde_json::from_slice::<Certificate>(&bytes);
    }
}

proptest! {
    #![proptest_config(config(48))]

    #[test]
    fn a_mutated_spec_is_planned_or_refused(text in mutated()) {
        if let Ok(spec) = Spec::parse(&text, Path::new("")) {
            match Plan::new(spec) {
                Ok(plan) => prop_assert!(!plan.is_private() || plan.epsilon().is_some()),
                Err(error) => prop_assert!(!error.to_string().is_empty()),
            }
        }
    }

    #[test]
    fn a_mutated_certificate_verifies_or_fails(index in any::<prop::sample::Index>(), value in value()) {
        static TEXT: LazyLock<String> = LazyLock::new(|| {
            let plan = Plan::new(Spec::parse(SPEC, Path::new("")).unwrap()).unwrap();
            serde_json::to_string_pretty(&Certificate::of(&plan)).unwrap()
        });
        let mut lines: Vec<String> = TEXT.lines().map(str::to_owned).collect();
        let place = index.index(lines.len());
        let replaced = lines[place].split_once(": ").map(|(key, _)| format!("{key}: {value},"));
        lines[place] = replaced.unwrap_or(value);
        if let Ok(certificate) = serde_json::from_str::<Certificate>(&lines.join("\n")) {
            let _ = certificate.verify();
        }
    }
}
