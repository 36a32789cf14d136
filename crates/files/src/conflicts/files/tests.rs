//! What the guard makes of files. Whether every command declares its own is tested where commands are.

use super::*;

#[test]
fn two_reports_to_one_place_are_refused_but_for_devices() {
    let directory = tempfile::tempdir().expect("a directory");
    let new = directory.path().join("new");
    let two = |one: &Path, other: &Path| {
        Files::default()
            .writes("--a", one)
            .writes("--b", other)
            .check()
    };
    assert!(two(&new, &new).is_err());
    assert!(two(Path::new("-"), Path::new("/dev/stdout")).is_err());
    assert_eq!(two(&new, &directory.path().join("another")), Ok(()));
    assert_eq!(two(Path::new("/dev/null"), Path::new("/dev/null")), Ok(()));
    let data = Files::default()
        .stdout(Stdout::Data)
        .writes("--a", Path::new("-"));
    assert!(data.check().is_err());
}
