//! Checks that a reader finds the old content or the new one.

use super::*;

fn names(folder: &Path) -> Vec<OsString> {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect()
}

#[test]
fn replaces_the_old_content_and_leaves_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("certificate.json");
    write_json(&path, &[1, 2]).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "[\n  1,\n  2\n]\n");
    write_atomically(&path, |file| file.write_all(b"new")).unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"new");
    assert_eq!(names(folder.path()), ["certificate.json"]);
}

#[test]
fn keeps_the_old_content_when_writing_fails() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("draws.csv");
    fs::write(&path, "old").unwrap();
    let error = write_atomically(&path, |file| {
        file.write_all(b"half of the")?;
        Err(io::Error::other("no more"))
    })
    .unwrap_err();
    assert_eq!(error.to_string(), format!("cannot write {}: no more", path.display()));
    assert_eq!(fs::read(&path).unwrap(), b"old");
    assert_eq!(names(folder.path()), ["draws.csv"]);
}

#[test]
fn keeps_the_old_content_when_the_writer_panics() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("draws.csv");
    fs::write(&path, "old").unwrap();
    let outcome = std::panic::catch_unwind(|| write_atomically(&path, |_| panic!("in the middle")));
    assert!(outcome.is_err());
    assert_eq!(fs::read(&path).unwrap(), b"old");
    assert_eq!(names(folder.path()), ["draws.csv"]);
}

#[test]
fn the_old_content_is_readable_until_the_new_is_complete() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("draws.csv");
    fs::write(&path, "old").unwrap();
    write_atomically(&path, |file| {
        file.write_all(b"new")?;
        file.flush()?;
        assert_eq!(fs::read(&path)?, b"old");
        Ok(())
    })
    .unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"new");
}

#[test]
fn refuses_what_is_no_file_in_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    assert!(write_json(&folder.path().join("absent/summary.json"), &1).is_err());
    assert!(write_json(Path::new("/"), &1).is_err());
    assert!(write_json(folder.path(), &1).is_err(), "a folder must not be replaced");
    assert!(folder.path().is_dir());
}

#[test]
fn threads_that_write_one_file_leave_one_whole_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("summary.json");
    std::thread::scope(|scope| {
        for writer in 0..4_u8 {
            let path = &path;
            scope.spawn(move || {
                for _ in 0..8 {
                    write_atomically(path, |file| file.write_all(&[writer; 100_000])).unwrap();
                }
            });
        }
    });
    let content = fs::read(&path).unwrap();
    assert_eq!(content.len(), 100_000);
    assert!(content.iter().all(|byte| *byte == content[0]));
    assert_eq!(names(folder.path()), ["summary.json"]);
}

#[cfg(unix)]
#[test]
fn a_written_file_has_the_rights_of_any_new_file() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let (ours, plain) = (folder.path().join("ours"), folder.path().join("plain"));
    write_atomically(&ours, |_| Ok(())).unwrap();
    File::create(&plain).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode();
    assert_eq!(mode(&ours), mode(&plain));
}
