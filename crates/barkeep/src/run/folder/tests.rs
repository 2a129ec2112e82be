//! Checks that a folder holds one run and loses none.

use super::*;

#[test]
fn a_folder_is_claimed_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out");
    let claimed = Folder::claim(&path).unwrap();
    let error = Folder::claim(&path).err().unwrap().to_string();
    assert!(error.contains("not empty"), "{error}");
    claimed.release();
    assert!(!path.exists());
}

#[test]
fn an_earlier_result_is_never_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("draws.csv"), "precious").unwrap();
    assert!(Folder::claim(folder.path()).is_err());
    assert_eq!(fs::read_to_string(folder.path().join("draws.csv")).unwrap(), "precious");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "a refused claim leaves nothing behind");
}
