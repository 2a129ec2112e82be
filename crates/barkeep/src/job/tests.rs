//! Checks that a bundle verifies as it was packed and that no changed byte passes.

use super::*;
use crate::{Folder, PublicRng};
use barkeep_curator::TableBuilder;

const SET: &str = "path = 'nowhere.csv'\nrecords = 60\n[columns]\nx = { min = 0, max = 4, invalid = 0 }\n";
const SPEC: &str = "[data]\nset = 'people.dataset.toml'\n[model]\nname = 'gaussian'\n[privacy]\nepsilon = 20\ndelta = 1e-6\n\
    [sampler]\nname = 'langevin'\nstart = [0]\nsteps = 40\n";

/// A bundle of a small run, and the key that signed it.
fn bundle(scratch: &Path) -> (Bundle, SigningKey) {
    std::fs::write(scratch.join("people.dataset.toml"), SET).unwrap();
    let set = Dataset::read(&scratch.join("people.dataset.toml")).unwrap();
    let request = Request::pack(&Spec::parse(SPEC, scratch).unwrap(), None).unwrap();
    let plan = Plan::new(request.spec(&set).unwrap()).unwrap();
    let mut table = TableBuilder::viewed(plan.view().clone(), plan.spec().count()).unwrap();
    (0..60).for_each(|k| table.push_row(&[f64::from(k % 5)]).unwrap());
    let key = SigningKey::create(&scratch.join("key")).unwrap();
    let folder = Folder::claim(&scratch.join("out"))
        .unwrap()
        .signed_by(SigningKey::read(&scratch.join("key")).unwrap());
    folder.run_on(plan.runner(), table.finish().unwrap()).unwrap();
    (Bundle::pack(&scratch.join("out"), &request, "<p>page</p>", &key).unwrap(), key)
}

#[test]
fn a_bundle_is_what_was_packed_and_any_tar_reads_it() {
    let scratch = tempfile::tempdir().unwrap();
    let (bundle, key) = bundle(scratch.path());
    let path = scratch.path().join("bundle.tar");
    bundle.write(&path).unwrap();
    assert!(Bundle::is_one(&path) && !Bundle::is_one(&scratch.path().join("key")));
    let read = Bundle::read(&path).unwrap();
    let (certificate, _) = read.verify(Some(&key.public())).unwrap();
    assert_eq!(certificate.records.0, 60);
    assert!(read.verify(None).is_ok());
    let other = SigningKey::create(&scratch.path().join("other")).unwrap();
    assert!(read.verify(Some(&other.public())).is_err());
    if let Ok(listed) = std::process::Command::new("tar").arg("-tf").arg(&path).output() {
        let listed = String::from_utf8(listed.stdout).unwrap();
        assert_eq!(listed.lines().collect::<Vec<_>>(), [&[MANIFEST][..], &FILES[..]].concat());
    }
}

#[test]
fn no_flipped_byte_passes() {
    let scratch = tempfile::tempdir().unwrap();
    let (bundle, key) = bundle(scratch.path());
    let path = scratch.path().join("bundle.tar");
    bundle.write(&path).unwrap();
    let whole = std::fs::read(&path).unwrap();
    let mut rng = PublicRng::new(3, 0);
    for _ in 0..150 {
        let (place, bit) = (rng.index(whole.len()), rng.index(8));
        let mut edited = whole.clone();
        edited[place] ^= 1 << bit;
        std::fs::write(&path, edited).unwrap();
        let passed = Bundle::read(&path).and_then(|bundle| bundle.verify(Some(&key.public())));
        assert!(passed.is_err(), "byte {place}, bit {bit}");
    }
    for length in [0, 1, 511, 512, whole.len() / 2, whole.len() - 1] {
        std::fs::write(&path, &whole[..length]).unwrap();
        assert!(Bundle::read(&path).is_err(), "{length}");
    }
}

#[test]
fn a_folder_of_another_spec_or_key_is_not_packed() {
    let scratch = tempfile::tempdir().unwrap();
    let (_, key) = bundle(scratch.path());
    let spec = Spec::parse(&SPEC.replace("steps = 40", "steps = 39"), scratch.path()).unwrap();
    let other = Request::pack(&spec, None).unwrap();
    assert!(Bundle::pack(&scratch.path().join("out"), &other, "", &key).is_err());
    let request = Request::pack(&Spec::parse(SPEC, scratch.path()).unwrap(), None).unwrap();
    let stranger = SigningKey::create(&scratch.path().join("stranger")).unwrap();
    assert!(Bundle::pack(&scratch.path().join("out"), &request, "", &stranger).is_err());
}

#[test]
fn what_is_no_request_is_refused() {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("request");
    let refused = |text: &str| {
        std::fs::write(&path, text).unwrap();
        Request::read(&path).unwrap_err().to_string()
    };
    assert!(refused("x,y\n1,2\n").contains("no request that `barkeep job pack` made"));
    assert!(
        refused("{\"kind\":\"barkeep-request\",\"format\":9,\"spec\":\"\",\"signature\":null}")
            .contains("another version")
    );
    std::fs::write(scratch.path().join("people.dataset.toml"), SET).unwrap();
    let key = SigningKey::create(&scratch.path().join("key")).unwrap();
    let spec = |text: &str| Spec::parse(text, scratch.path()).unwrap();
    let request = Request::pack(&spec(SPEC), Some(&key)).unwrap();
    request.write(&path).unwrap();
    assert_eq!(Request::read(&path).unwrap(), request);
    assert_eq!(request.signed_by().unwrap(), Some(&*key.public().digits()));
    let edited = request.text().replace("steps = 40", "steps = 41");
    std::fs::write(&path, edited).unwrap();
    assert!(Request::read(&path).unwrap().signed_by().is_err());
    let broken = spec(&SPEC.replace("epsilon = 20", "epsilon = 1e-9"));
    assert!(matches!(Request::pack(&broken, None), Err(Error::Budget(_))));
    // A spec that declares its records itself is nobody's request.
    let inline = SPEC.replace(
        "set = 'people.dataset.toml'",
        "path = 'a.csv'\nrecords = 60\ncolumns = { x = { min = 0, max = 4, invalid = 0 } }",
    );
    let said = Request::pack(&spec(&inline), None).unwrap_err().to_string();
    assert!(said.contains("data.set"), "{said}");
}
