//! Nothing is written outside of a confined directory.

use super::*;

#[test]
fn links_on_the_way_are_not_followed() {
    let dir = tempfile::tempdir().expect("a directory");
    let outside = tempfile::tempdir().expect("another");
    std::os::unix::fs::symlink(outside.path(), dir.path().join("link")).expect("made");
    let mut root = Beneath::open(dir.path(), true, &Context::default()).expect("opened");
    let plain = Attributes::default();
    assert!(root.file("link/a", b"x", plain).is_err());
    assert!(root.part("link/deep/a").is_err());
    assert!(root.directory("link/b").is_err());
    assert!(
        root.set(
            "link",
            Attributes {
                mode: Some(0),
                ..plain
            }
        )
        .is_err()
    );
    assert_eq!(
        std::fs::read_dir(outside.path()).expect("listed").count(),
        0
    );
    assert_eq!(
        root.file("a/b/c", b"x", plain).expect("written"),
        Placed::Done
    );
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_in_the_making_has_no_name_that_a_killed_run_could_leave() {
    let dir = tempfile::tempdir().expect("a directory");
    let here = std::fs::File::open(dir.path()).expect("opened");
    if temporary::unnamed_in(here.as_fd(), 0o600).is_none() {
        return; // Not on this file system.
    }
    let count = || std::fs::read_dir(dir.path()).expect("listed").count();
    for replace in [false, true] {
        let mut root = Beneath::open(dir.path(), replace, &Context::default()).expect("opened");
        let mut part = root.part("a").expect("started");
        part.file.write_all(b"content").expect("written");
        assert_eq!(count(), usize::from(replace));
        part.finish(Attributes::default()).expect("finished");
        assert_eq!(count(), 1);
    }
}

#[test]
fn existing_files_are_kept_or_replaced_and_no_part_is_left() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("a");
    let attributes = Attributes {
        mode: Some(0o6755),
        modified: Some(SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000)),
        owner: None,
    };
    for (replace, content) in [(false, "first"), (false, "kept"), (true, "third")] {
        let mut root = Beneath::open(dir.path(), replace, &Context::default()).expect("opened");
        let placed = root
            .file("a", content.as_bytes(), attributes)
            .expect("tried");
        assert_eq!(placed == Placed::Kept, content == "kept");
        let mut part = root.part("a").expect("started");
        part.file.write_all(content.as_bytes()).expect("written");
        let kept = part.finish(attributes).expect("tried") == Placed::Kept;
        assert_eq!(kept, !replace);
    }
    assert_eq!(std::fs::read(&path).expect("read"), b"third");
    assert_eq!(std::fs::read_dir(dir.path()).expect("listed").count(), 1);
    use std::os::unix::fs::MetadataExt as _;
    let metadata = std::fs::metadata(&path).expect("there");
    assert_eq!(metadata.mode() & 0o7000, 0, "no set-user-id");
    assert_eq!(metadata.mtime(), 1_000_000_000);
}

#[test]
fn times_before_1970_are_seconds_and_a_part_of_one() {
    use std::os::unix::fs::MetadataExt as _;

    let dir = tempfile::tempdir().expect("a directory");
    let mut root = Beneath::open(dir.path(), true, &Context::default()).expect("opened");
    for nanoseconds in [0, 1, 999_999_999, 1_000_000_000, 1_500_000_000] {
        let before = std::time::Duration::from_nanos(nanoseconds);
        let modified = Some(SystemTime::UNIX_EPOCH - before);
        let attributes = Attributes {
            modified,
            ..Attributes::default()
        };
        root.file("file", b"", attributes).expect("written");
        root.link("link", "file", modified).expect("made");
        for name in ["file", "link"] {
            let metadata = std::fs::symlink_metadata(dir.path().join(name)).expect("there");
            let found = metadata.mtime() * 1_000_000_000 + metadata.mtime_nsec();
            assert_eq!(found, -(nanoseconds as i64), "{name}");
        }
    }
}

#[test]
fn directories_are_made_in_any_order_and_at_any_depth() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut root = Beneath::open(dir.path(), false, &Context::default()).expect("opened");
    // A path that is missing altogether, as long as a system takes it; then what lies on its way.
    let deep = vec!["d"; 300].join("/");
    root.directory(&deep).expect("made");
    for depth in (1..=300).rev() {
        let file = format!("{}/f{depth}", vec!["d"; depth].join("/"));
        root.file(&file, b"x", Attributes::default())
            .expect("written");
        assert!(root.exists(&file).expect("looked at"));
    }
    // Names that begin like the directory used last, and one that leads back.
    for path in [
        "d/da",
        "d/d/e/f/g",
        "d/d/e",
        "da/b",
        "da",
        "d/d/e/f/h/i/j/k/l",
    ] {
        root.directory(path).expect("made");
        assert!(root.is_directory(path), "{path}");
        assert!(dir.path().join(path).is_dir(), "{path}");
    }
    // A file or a link anywhere on the way is named.
    root.file("d/d/file", b"x", Attributes::default())
        .expect("written");
    root.link("d/d/link", "e", None).expect("made");
    for part in ["file", "link"] {
        let error = root
            .directory(format!("d/d/{part}/a/b/c"))
            .expect_err("in the way");
        assert_eq!(error.kind(), io::ErrorKind::NotADirectory);
        assert!(error.to_string().contains(part), "{error}");
    }
}
