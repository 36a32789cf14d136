//! What the guard makes of files. Whether every command declares its own is tested where commands are.

use std::path::Path;

use super::{Conflict, Files, Flagged, Stdout};
use crate::plan::{Destination, Job};

fn refuse(
    jobs: &[Job],
    joined: Option<&Path>,
    references: &[Flagged<'_>],
    exports: &[Flagged<'_>],
) -> Result<(), Conflict> {
    Files::default()
        .reads_all(references)
        .writes_all(exports.iter().copied())
        .jobs(jobs, joined)
        .check()
}

fn job(dir: &Path, source: &str, target: &str) -> Job {
    Job {
        source: dir.join(source),
        destination: Destination::File(dir.join(target)),
    }
}

#[test]
fn two_roles_of_one_file_are_found_under_any_spelling() {
    let directory = tempfile::tempdir().expect("a directory");
    let dir = directory.path();
    std::fs::create_dir(dir.join("sub")).expect("made");
    for name in ["a", "b"] {
        std::fs::write(dir.join(name), name).expect("written");
    }
    let message = |jobs: &[Job], export: Option<&Path>| {
        let exports: Vec<Flagged<'_>> = export
            .map(|path| ("--export-json", path))
            .into_iter()
            .collect();
        refuse(jobs, None, &[], &exports)
            .expect_err("refused")
            .to_string()
    };
    let same = [job(dir, "a", "x"), job(dir, "b", "sub/../x")];
    assert!(message(&same, None).contains("the target of"));
    let source = [job(dir, "a", "b"), job(dir, "b", "y")];
    assert!(message(&source, None).contains("is a source and the target"));
    assert!(message(&[job(dir, "a", "./a")], None).ends_with("would become itself"));
    let one = [job(dir, "a", "x")];
    assert!(message(&one, Some(&dir.join("sub/../x"))).contains("--export-json"));
    assert!(message(&one, Some(&dir.join("a"))).contains("a source and the file"));
    let apart = [
        job(dir, "a", "x"),
        job(dir, "b", "y"),
        job(dir, "gone", "z"),
    ];
    assert_eq!(
        refuse(&apart, None, &[], &[("--export-json", &dir.join("r"))]),
        Ok(())
    );
}

#[cfg(unix)]
#[test]
fn names_of_one_file_are_replaced_one_by_one_and_devices_take_all() {
    let directory = tempfile::tempdir().expect("a directory");
    let dir = directory.path();
    std::fs::write(dir.join("x"), "x").expect("written");
    std::fs::hard_link(dir.join("x"), dir.join("y")).expect("linked");
    assert_eq!(
        refuse(&[job(dir, "a", "x"), job(dir, "b", "y")], None, &[], &[]),
        Ok(())
    );
    std::os::unix::fs::symlink("x", dir.join("link")).expect("linked");
    let link = [job(dir, "a", "x"), job(dir, "b", "link")];
    assert!(refuse(&link, None, &[], &[]).is_err());
}

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
