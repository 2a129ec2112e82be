//! Signs and verifies with the real program: keys, edited files, certificates that name files.

mod program;

use program::{Folder, GOOD_SPEC};

fn ready() -> Folder {
    let folder = Folder::new();
    folder.write("spec.toml", &GOOD_SPEC.replace("[data]", "[data]\nid = 'the survey of 2019'"));
    let rows: String =
        (0..20).map(|i| format!("{},{}\n", 0.1 * f64::from(i), 1.0 - 0.05 * f64::from(i))).collect();
    folder.write("records.csv", &format!("x1,x2\n{rows}"));
    folder
}

/// The exit code of a check, and what it said.
fn check(folder: &Folder, arguments: &[&str]) -> (i32, String) {
    let shown = folder.barkeep(arguments);
    (shown.code, shown.stdout + &shown.stderr)
}

#[test]
fn a_signed_run_verifies_and_an_edited_one_does_not() {
    let folder = ready();
    let made = folder.barkeep(&["key", "new", "custodian"]);
    assert_eq!(made.code, 0, "{}", made.stderr);
    let public = made.stdout.trim().to_owned();
    assert!(folder.read("custodian.pub").contains(&public));
    assert!(!made.stderr.contains(folder.read("custodian").split(' ').nth(1).unwrap().trim()));
    assert_eq!(check(&folder, &["key", "new", "custodian"]).0, 2, "keys are never replaced");
    assert_eq!(check(&folder, &["key", "new", "stranger"]).0, 0);

    let shown = folder.barkeep(&["sample", "spec.toml", "--out", "out", "--sign", "custodian"]);
    assert!(matches!(shown.code, 0 | 1), "{}", shown.stderr);
    assert!(folder.read("out/certificate.json").contains("\"data_id\": \"the survey of 2019\""));
    let verify = ["verify", "out/certificate.json", "--key", "custodian.pub"];
    let (code, said) = check(&folder, &verify);
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("signed by the given key") && said.contains("those the run left"), "{said}");
    let (code, said) = check(&folder, &verify[..2]);
    assert!(code == 0 && said.contains(&public), "{said}");
    let (code, said) = check(&folder, &["verify", "out/certificate.json", "--key", "stranger.pub"]);
    assert!(code == 1 && said.contains("another key"), "{said}");
    // A secret key is no public one, and a faulty one is not quoted.
    let (code, said) = check(&folder, &["verify", "out/certificate.json", "--key", "custodian"]);
    assert!(code == 2 && said.contains("no barkeep public key"), "{said}");
    let draws = folder.read("out/draws.csv");
    folder.write("out/draws.csv", &draws.replacen("0.0", "0.1", 1));
    let (code, said) = check(&folder, &verify);
    assert!(code == 1 && said.contains("draws.csv"), "{said}");
    folder.write("out/draws.csv", &draws);
    let certificate = folder.read("out/certificate.json");
    folder.write("out/certificate.json", &certificate.replacen("of 2019", "of 2020", 2));
    let (code, said) = check(&folder, &verify);
    assert!(code == 1 && said.contains("signature does not fit"), "{said}");
}

#[test]
fn an_unsigned_certificate_says_so_and_a_bad_key_costs_nothing() {
    let folder = ready();
    let shown = folder.barkeep(&["sample", "spec.toml", "--out", "out", "--sign", "nothing"]);
    assert!(shown.code == 2 && shown.stderr.contains("nothing"), "{}", shown.stderr);
    assert!(!folder.exists("out"), "a folder was left");
    folder.sample("spec.toml", "out");
    let (code, said) = check(&folder, &["verify", "out/certificate.json"]);
    assert!(code == 0 && said.contains("not signed"), "{said}");
    check(&folder, &["key", "new", "custodian"]);
    let (code, said) = check(&folder, &["verify", "out/certificate.json", "--key", "custodian.pub"]);
    assert!(code == 1 && said.contains("not signed"), "{said}");
}

#[test]
fn a_signed_run_is_resumed_with_its_key_only() {
    let folder = ready();
    check(&folder, &["key", "new", "custodian"]);
    check(&folder, &["key", "new", "stranger"]);
    let run = |out: &str| {
        ["sample", "spec.toml", "--sign", "custodian", "--insecure-seed", "4", "--out", out]
            .map(str::to_owned)
    };
    let words =
        |arguments: &[String]| check(&folder, &arguments.iter().map(String::as_str).collect::<Vec<_>>()).0;
    assert!(matches!(words(&run("out")), 0 | 1));
    let whole = folder.read("out/certificate.json");
    // As a machine left it that died before the last answers: neither the journal nor the certificate is complete.
    let path = folder.path().join("out/journal.bin");
    let journal = std::fs::read(&path).unwrap();
    std::fs::write(&path, &journal[..journal.len() - 100]).unwrap();
    std::fs::remove_file(folder.path().join("out/certificate.json")).unwrap();
    for (arguments, why) in [
        (&["resume", "out"][..], "begun with the signing key"),
        (&["resume", "out", "--sign", "stranger"], "begun with the signing key"),
    ] {
        let (code, said) = check(&folder, arguments);
        assert!(code == 2 && said.contains(why), "{said}");
    }
    assert!(matches!(check(&folder, &["resume", "out", "--sign", "custodian"]).0, 0 | 1));
    assert!(folder.read("out/certificate.json") == whole, "signed again, the certificate is another");
}

/// A certificate that names a pipe would make its reader wait for ever, if the reader opened it.
#[cfg(unix)]
#[test]
fn a_strangers_certificate_opens_no_file() {
    let folder = ready();
    folder.sample("spec.toml", "out");
    let pipe = folder.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let text = folder.read("out/certificate.json");
    let mut forged: serde_json::Value = serde_json::from_str(&text).unwrap();
    let spec = forged["spec"].as_str().unwrap().to_owned();
    let lines = spec.lines().filter(|line| !line.starts_with('x') && *line != "[data.columns]");
    let spec: String = lines.map(|line| format!("{line}\n")).collect();
    let columns = "columns = { x1 = { min = -10, max = 10, invalid = 0 } }";
    for (data, model, named) in
        [("schema = 'pipe'", "name = \"gaussian\"", "data.schema"), (columns, "file = 'pipe'", "model.file")]
    {
        let spec = spec.replace("path = \"records.csv\"", &format!("path = 'pipe'\n{data}"));
        forged["spec"] = spec.replace("name = \"gaussian\"", model).into();
        // Written as barkeep writes certificates, field by field.
        let written = text.replace(
            &serde_json::to_string(&serde_json::from_str::<serde_json::Value>(&text).unwrap()["spec"])
                .unwrap(),
            &serde_json::to_string(&forged["spec"]).unwrap(),
        );
        assert_ne!(written, text);
        folder.write("forged.json", &written);
        let (code, said) = check(&folder, &["verify", "forged.json"]);
        assert!(code == 1 && said.contains(named) && said.contains("not opened"), "{said}");
    }
}
