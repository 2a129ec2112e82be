//! Checks what `[data]` admits and how its faults are named.

use super::*;
use crate::spec::{Dataset, draft_schema};
use barkeep_data::Column;

fn parse(text: &str) -> Result<Data, String> {
    Data::parse(&text.parse().unwrap(), Files::From(Path::new("/folder"))).map_err(|error| error.to_string())
}

#[test]
fn reads_every_kind_of_column_in_the_order_written() {
    let data = parse(
        r#"
        path = "r.csv"
        records = 10
        delimiter = ";"
        [columns]
        z = { min = -1, max = 2.5, invalid = 0 }
        a = { kind = "integer", min = 0, max = 9, invalid = 3, scale = "bounds" }
        m = { kind = "bool", invalid = false }
        c = { kind = "category", levels = ["x", "y"], invalid = "y" }
        "#,
    )
    .unwrap();
    assert_eq!(data.path(), Path::new("/folder/r.csv"));
    assert_eq!(data.options.delimiter, b';');
    let names: Vec<&str> = data.schema().columns().iter().map(Column::name).collect();
    assert_eq!(names, ["z", "a", "m", "c"]);
}

#[test]
fn a_store_is_in_no_folder() {
    let column = "records = 10\n[columns]\nz = { min = -1, max = 2.5, invalid = 0 }";
    let data = parse(&format!("path = 's3://bucket/r.parquet'\n{column}")).unwrap();
    assert_eq!(data.path(), Path::new("s3://bucket/r.parquet"));
}

#[test]
fn each_fault_is_named_by_its_key() {
    let good = "path = 'r.csv'\nrecords = 10\n[columns]\n";
    for (text, expected) in [
        ("records = 10", "`data.path`: is required"),
        ("path = 'r.csv'", "`data.records`: is required"),
        ("path = 'r.csv'\nrecords = 0", "`data.records`: must be a whole number of at least 1"),
        ("path = 'r.csv'\nrecords = 5000000000", "`data.records`: must be at most 2^32"),
        ("path = 'r.csv'\nrecords = 10", "`data.columns`: is required, or set"),
        ("path = 'r.csv'\nrecord = 10", "`data.record`: unknown key; did you mean `records`?"),
        ("path = 'r.csv'\nrecords = 10\ndelimiter = 'ab'", "`data.delimiter`"),
        (good, "`data.columns`"),
        (&format!("{good}x = 3"), "`data.columns.x`: must be a table"),
        (&format!("{good}x = {{ max = 1, invalid = 0 }}"), "`data.columns.x.min`: is required"),
        (&format!("{good}x = {{ min = 0, max = 1 }}"), "`data.columns.x.invalid`: is required"),
        (&format!("{good}x = {{ min = 1, max = 1, invalid = 1 }}"), "`data.columns.x.min`"),
        (&format!("{good}x = {{ min = 0, max = 1, invalid = 7 }}"), "`data.columns.x.invalid`"),
        (
            &format!("{good}x = {{ kind = 'bool', min = 0, invalid = true }}"),
            "`data.columns.x.min`: does not apply",
        ),
        (&format!("{good}x = {{ kind = 'bool', invalid = 3 }}"), "`data.columns.x.invalid`"),
        (
            &format!("{good}x = {{ kind = 'category', invalid = 'a' }}"),
            "`data.columns.x.levels`: is required",
        ),
        (
            &format!("{good}x = {{ kind = 'category', levels = ['a'], invalid = 'b' }}"),
            "`data.columns.x.invalid`",
        ),
    ] {
        let error = parse(text).unwrap_err();
        assert!(error.contains(expected), "{text}\n gave {error}\n not {expected}");
    }
}

#[test]
fn a_schema_may_stand_in_a_file_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let write = |text: &str| std::fs::write(folder.path().join("a.schema.toml"), text).unwrap();
    let parse = |more: &str| {
        let text = format!("path = 'r.csv'\nrecords = 1\nschema = 'a.schema.toml'\n{more}");
        Data::parse(&text.parse().unwrap(), Files::From(folder.path())).map_err(|error| error.to_string())
    };
    assert!(parse("").unwrap_err().contains("cannot read"));
    write("[columns]\nx = { min = 0, max = 1, invalid = 0 }");
    assert_eq!(parse("").unwrap().schema().columns()[0].name(), "x");
    assert!(parse("[columns]\n").unwrap_err().contains("give one of them"));
    write("[colums]\n");
    assert!(parse("").unwrap_err().contains("did you mean `columns`?"));
    write("x =");
    assert!(parse("").unwrap_err().contains("line 1 is not TOML"));
    write("x = 1");
    assert!(parse("").is_err());
}

#[test]
fn a_draft_knows_the_header_only_and_is_refused_until_filled_in() {
    let folder = tempfile::tempdir().unwrap();
    let records = folder.path().join("people.csv");
    std::fs::write(&records, "age,\"city, \"\"here\"\"\"\n71234,Oslo\n").unwrap();
    let draft = draft_schema(&records, b',', None).unwrap();
    assert!(!draft.contains("71234") && !draft.contains("Oslo"));
    let table: toml::Table = draft.parse().unwrap();
    let columns = table["columns"].as_table().unwrap();
    assert_eq!(columns.keys().collect::<Vec<_>>(), ["age", "city, \"here\""]);
    let file = folder.path().join("a.dataset.toml");
    let read = |text: &str| {
        std::fs::write(&file, text).unwrap();
        Dataset::read(&file).map_err(|error| error.to_string())
    };
    let error = read(&draft).unwrap_err();
    assert!(error.contains("`records`") && error.contains("fill it in"), "{error}");
    let units = draft
        .replace("records = \"?\"", "records = 1")
        .replace("person = \"?\"", "#")
        .replace("persons = \"?\"", "#")
        .replace("most_rows = \"?\"", "#");
    let error = read(&units).unwrap_err();
    assert!(error.contains("data.columns.age.kind") && error.contains("fill it in"), "{error}");
    // Filled in, it is a data set.
    let filled = units
        .replacen("kind = \"?\"", "kind = \"integer\"", 1)
        .replacen("min = \"?\"", "min = 0", 1)
        .replacen("max = \"?\"", "max = 120", 1)
        .replacen("levels = \"?\"", "#", 1)
        .replace("typical = \"?\"", "#")
        .replacen("invalid = \"?\"", "invalid = 40", 1)
        .replacen("kind = \"?\"", "kind = \"category\"", 1)
        .replacen("min = \"?\"", "#", 1)
        .replacen("max = \"?\"", "#", 1)
        .replacen("levels = \"?\"", "levels = [\"Oslo\", \"Rome\"]", 1)
        .replacen("invalid = \"?\"", "invalid = \"Rome\"", 1);
    let last = filled.rfind("scale").unwrap();
    let set = read(&filled[..last]).unwrap();
    assert_eq!((set.name(), set.data().schema().width(), set.data().path()), ("a", 2, &*records));
}
