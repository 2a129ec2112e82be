//! Edits certificates, one part after the other: each edit that makes them say less than the run costs must be found out.

#![expect(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

use barkeep::curator::TableBuilder;
use barkeep::{CERTIFICATE, Certificate, Folder, JOURNAL, Plan, SigningKey, Spec};
use serde_json::{Value, json};
use std::path::Path;

/// A certificate as the program writes it, after a run of two steps.
fn certificate(sampler: &str) -> Value {
    let text = format!(
        "[data]\npath = 'records.csv'\nrecords = 40\n[data.columns]\nx = {{ min = -1, max = 1, invalid = 0 }}\n\
         [model]\nname = 'gaussian'\n[privacy]\nepsilon = 2\ndelta = 1e-4\n[sampler]\nstart = [0]\n{sampler}\n"
    );
    let plan = Plan::new(Spec::parse(&text, Path::new("")).unwrap()).unwrap();
    let mut certificate = Certificate::of(&plan);
    certificate.steps_used = Some(vec![plan.steps().0.min(2); usize::try_from(plan.chains()).unwrap()]);
    serde_json::to_value(certificate).unwrap()
}

fn verifies(certificate: &Value) -> bool {
    serde_json::from_value::<Certificate>(certificate.clone())
        .is_ok_and(|certificate| certificate.verify().is_ok())
}

/// Every way to a number, word or truth in a certificate, apart from what only informs and from the spec.
fn leaves(value: &Value, at: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                if !matches!(name.as_str(), "program" | "spec" | "steps_used" | "hashes" | "signature") {
                    leaves(member, &format!("{at}/{name}"), found);
                }
            }
        }
        Value::Array(members) => {
            members.iter().enumerate().for_each(|(i, member)| leaves(member, &format!("{at}/{i}"), found));
        }
        _ => found.push(at.to_owned()),
    }
}

/// Other values for one.
fn edits(value: &Value) -> Vec<Value> {
    match value {
        Value::Bool(truth) => vec![json!(!truth)],
        Value::String(words) => vec![json!(format!("{words} ")), json!("substitute"), json!("")],
        Value::Number(number) if number.is_u64() => {
            let number = number.as_u64().unwrap();
            vec![json!(number + 1), json!(number.saturating_sub(1)), json!(2 * number)]
        }
        Value::Number(number) => {
            let number = number.as_f64().unwrap();
            vec![json!(0.99 * number), json!(1.01 * number), json!(-number), json!(0.0)]
        }
        _ => vec![json!(0), json!("x")],
    }
}

#[test]
fn no_edited_part_verifies() {
    for sampler in [
        "name = 'langevin'\nstep = 0.01\nsteps = 20",
        "name = 'barker'\nproposal_sd = 0.1\nclip = 0.2\nsteps = 4\nproposal = 'gaussian'\nchains = 2",
        "name = 'ops'\nlow = -1\nhigh = 1\ngrid = 3",
        "name = 'statistics'\nsteps = 5",
    ] {
        let whole = certificate(sampler);
        assert!(verifies(&whole), "{sampler}");
        let mut paths = Vec::new();
        leaves(&whole, "", &mut paths);
        assert!(paths.len() > 20, "{paths:?}");
        for path in paths {
            for edit in edits(whole.pointer(&path).unwrap()) {
                let mut forged = whole.clone();
                let place = forged.pointer_mut(&path).unwrap();
                if *place == edit {
                    continue;
                }
                *place = edit.clone();
                assert!(!verifies(&forged), "{sampler}: {path} was made {edit}");
            }
        }
    }
}

#[test]
fn another_spec_does_not_verify() {
    let whole = certificate("name = 'langevin'\nstep = 0.01\nsteps = 20");
    for (from, to) in [
        ("records = 40", "records = 41"),
        ("delta = 1e-4", "delta = 1e-5"),
        ("delta = 1e-4", "delta = 1e-4\nneighbours = 'add-remove'"),
        ("name = 'gaussian'", "name = 'gaussian'\ntemper = 0.5"),
        ("step = 0.01", "step = 0.02"),
        ("steps = 20", "steps = 21"),
        ("steps = 20", "steps = 20\nchains = 2"),
        ("'langevin'", "'underdamped'"),
        ("[model]", "[modle]"),
        ("epsilon = 2\ndelta = 1e-4", "private = false"),
    ] {
        let mut forged = whole.clone();
        let spec = whole["spec"].as_str().unwrap();
        assert!(spec.contains(from), "{from}");
        forged["spec"] = json!(spec.replace(from, to));
        assert!(!verifies(&forged), "{from} was made {to}");
    }
}

#[test]
fn a_file_that_is_no_certificate_is_not_quoted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("records.json");
    for text in ["{\"format\": \"canary\"}", "{\"canary\": 1}", "[\"canary\"]", "canary"] {
        std::fs::write(&path, text).unwrap();
        let error = Certificate::read(&path).unwrap_err().to_string();
        assert!(error.contains("not a certificate: line 1") && !error.contains("canary"), "{error}");
    }
}

#[test]
fn a_certificate_holds_the_columns_of_its_schema_file() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("x.toml"), "[columns]\nx = { min = -1, max = 1, invalid = 0 }\n")
        .unwrap();
    let text = "[data]\npath = 'records.csv'\nrecords = 40\nschema = 'x.toml'\n[model]\nname = 'gaussian'\n\
        [privacy]\nepsilon = 2\ndelta = 1e-4\n[sampler]\nname = 'langevin'\nstart = [0]\nstep = 0.01\nsteps = 20\n";
    let plan = Plan::new(Spec::parse(text, folder.path()).unwrap()).unwrap();
    let whole = serde_json::to_value(Certificate::of(&plan)).unwrap();
    drop(folder);
    assert!(verifies(&whole), "the file is gone, and with it the bounds");
    let spec: toml::Table = whole["spec"].as_str().unwrap().parse().unwrap();
    assert_eq!(spec["data"]["columns"]["x"]["max"].as_integer(), Some(1));
}

#[test]
fn more_steps_than_certified_do_not_verify() {
    for sampler in ["name = 'langevin'\nstep = 0.01\nsteps = 20", "name = 'statistics'\nsteps = 20"] {
        let whole = certificate(sampler);
        for (used, holds) in [
            (json!([20]), true),
            (json!([21]), false),
            (json!([20, 1]), false),
            (json!([u64::MAX, u64::MAX]), false),
            (json!([]), false),
            (Value::Null, true),
        ] {
            let mut edited = whole.clone();
            edited["steps_used"] = used.clone();
            assert_eq!(verifies(&edited), holds, "{sampler}: {used}");
        }
    }
}

#[test]
fn a_larger_epsilon_in_words_and_numbers_is_true_and_a_smaller_one_is_not() {
    let whole = certificate("name = 'langevin'\nstep = 0.01\nsteps = 20");
    let stated = whole["epsilon"].as_f64().unwrap();
    for (epsilon, holds) in [(2.0 * stated, true), (0.999 * stated, false), (0.0, false), (-1.0, false)] {
        let mut edited = whole.clone();
        edited["epsilon"] = json!(epsilon);
        let statement = whole["statement"].as_str().unwrap();
        edited["statement"] = json!(statement.replace(&stated.to_string(), &epsilon.to_string()));
        assert_eq!(verifies(&edited), holds, "{epsilon}");
    }
}

/// A folder of a whole run, signed, and the key's file.
fn signed_run(place: &Path) -> std::path::PathBuf {
    let text = "[data]\npath = 'records.csv'\nid = 'the survey of 2019'\nrecords = 40\n[data.columns]\n\
                x = { min = -1, max = 1, invalid = 0 }\n[model]\nname = 'gaussian'\n[privacy]\nepsilon = 2\ndelta = 1e-4\n\
                [sampler]\nname = 'langevin'\nstep = 0.01\nsteps = 8\nstart = [0]\n";
    let plan = Plan::new(Spec::parse(text, Path::new("")).unwrap()).unwrap();
    let mut table = TableBuilder::new(plan.spec().data().schema().clone(), 40).unwrap();
    for record in 0..40 {
        table.push_row(&[0.02 * f64::from(record)]).unwrap();
    }
    let key = SigningKey::create(&place.join("key")).unwrap();
    let folder = Folder::claim(&place.join("out")).unwrap().signed_by(key);
    folder.run_on(plan.runner(), table.finish().unwrap()).unwrap();
    place.join("out")
}

/// All that `barkeep verify --key` checks.
fn verify(out: &Path) -> Result<Vec<&'static str>, barkeep::Error> {
    let key = barkeep::PublicKey::read(&out.with_file_name("key.pub"))?;
    let certificate = Certificate::read(&out.join(CERTIFICATE))?;
    certificate.check_signature(Some(&key))?;
    let absent = certificate.check_files(out)?;
    certificate.verify()?;
    Ok(absent)
}

#[test]
fn no_edited_byte_of_a_signed_run_verifies() {
    let place = tempfile::tempdir().unwrap();
    let out = signed_run(place.path());
    assert_eq!(verify(&out).unwrap(), [""; 0]);
    assert_eq!(
        Certificate::read(&out.join(CERTIFICATE)).unwrap().data_id.as_deref(),
        Some("the survey of 2019")
    );
    for name in [CERTIFICATE, "draws.csv", "draws.parquet", "summary.json", JOURNAL] {
        let path = out.join(name);
        let whole = std::fs::read(&path).unwrap();
        for place in 0..whole.len() {
            let mut edited = whole.clone();
            // One bit in turn, and blanks, which JSON would not notice.
            edited[place] = if whole[place] == b' ' { b'\n' } else { whole[place] ^ (1 << (place % 8)) };
            std::fs::write(&path, &edited).unwrap();
            assert!(verify(&out).is_err(), "{name}: byte {place} was edited unnoticed");
        }
        for shorter in [&whole[..whole.len() - 1], &[]] {
            std::fs::write(&path, shorter).unwrap();
            assert!(verify(&out).is_err(), "{name} was cut unnoticed");
        }
        std::fs::write(&path, [&whole[..], b"\n"].concat()).unwrap();
        assert!(verify(&out).is_err(), "{name} was lengthened unnoticed");
        std::fs::write(&path, whole).unwrap();
    }
    verify(&out).unwrap();
    std::fs::remove_file(out.join("draws.parquet")).unwrap();
    assert_eq!(verify(&out).unwrap(), ["draws.parquet"]);
}

#[test]
fn a_certificate_signed_by_another_or_by_nobody_is_not_the_custodians() {
    let place = tempfile::tempdir().unwrap();
    let out = signed_run(place.path());
    let path = out.join(CERTIFICATE);
    let text = std::fs::read_to_string(&path).unwrap();
    let whole: Value = serde_json::from_str(&text).unwrap();
    let unsigned = Certificate { signature: None, ..serde_json::from_value(whole).unwrap() };
    std::fs::write(&path, serde_json::to_string_pretty(&unsigned).unwrap() + "\n").unwrap();
    assert!(unsigned.check_signature(None).is_ok());
    assert!(verify(&out).unwrap_err().to_string().contains("not signed"));
    std::fs::write(&path, text).unwrap();
    SigningKey::create(&place.path().join("other")).unwrap();
    std::fs::rename(place.path().join("other.pub"), place.path().join("key.pub")).unwrap();
    assert!(verify(&out).unwrap_err().to_string().contains("another key"));
}

#[test]
fn no_file_that_a_certificate_names_is_opened() {
    let folder = tempfile::tempdir().unwrap();
    let secret = folder.path().join("secret.toml");
    std::fs::write(&secret, "[columns]\nx = { min = -1, max = 1, invalid = 0 }\n").unwrap();
    let mut forged = certificate("name = 'langevin'\nstep = 0.01\nsteps = 20");
    let spec = forged["spec"].as_str().unwrap().to_owned();
    let columns = "[data.columns]\nx = { min = -1, max = 1, invalid = 0 }\n";
    assert!(spec.contains(columns));
    // The same columns, by the name of a file that has them: only a reader who opens it could plan the spec.
    forged["spec"] = json!(spec.replace(columns, &format!("schema = '{}'\n", secret.display())));
    let certificate: Certificate = serde_json::from_value(forged).unwrap();
    let said = certificate.verify().unwrap_err().to_string();
    assert!(said.contains("data.schema") && said.contains("not opened"), "{said}");
    // A file of records that does not exist is no hindrance: it is never opened either.
    let whole = self::certificate("name = 'langevin'\nstep = 0.01\nsteps = 20");
    assert!(verifies(&whole));
}
