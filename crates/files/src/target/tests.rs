//! Targets appear whole or not at all.

use super::*;

#[test]
fn a_target_that_is_dropped_leaves_nothing_and_one_committed_appears_whole() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = directory.path().join("out");
    let target = Target::create(&path, false, None, &Context::default()).expect("a target");
    target.writer().write_all(b"half").expect("written");
    drop(target);
    assert_eq!(
        std::fs::read_dir(directory.path()).expect("listed").count(),
        0
    );

    let target = Target::create(&path, false, None, &Context::default()).expect("a target");
    target.writer().write_all(b"whole").expect("written");
    assert!(!path.exists());
    target.commit().expect("committed");
    assert_eq!(std::fs::read(&path).expect("read"), b"whole");
    assert!(
        Target::create(&path, false, None, &Context::default()).is_err(),
        "it exists now"
    );
    let again = Target::create(&path, true, None, &Context::default()).expect("forced");
    drop(again);
    assert_eq!(
        std::fs::read(&path).expect("read"),
        b"whole",
        "untouched until committed"
    );
}

#[test]
fn a_file_that_appears_meanwhile_is_not_overwritten() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = directory.path().join("out");
    let target = Target::create(&path, false, None, &Context::default()).expect("a target");
    std::fs::write(&path, b"theirs").expect("written");
    let failure = target.commit().expect_err("refused");
    assert!(failure.to_string().ends_with("exists already"), "{failure}");
    assert_eq!(std::fs::read(&path).expect("read"), b"theirs");
}
