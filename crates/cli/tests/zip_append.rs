//! `zip --append`: the archive goes on in its place, and is as it was when that fails.

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Command;

use crate::common::{Run, directory, file, names, perfkit, run, words};

/// Bytes that do not shrink much.
fn noise(bytes: u32) -> Vec<u8> {
    let mixed = |at: u32| at.wrapping_mul(2_654_435_761) ^ at.rotate_right(7);
    (0..bytes).map(|at| (mixed(at) >> 13) as u8).collect()
}

/// A stored archive of 1.4 MB, and its bytes.
fn packed(dir: &Path) -> Vec<u8> {
    file(dir, "large", &noise(1_400_000));
    file(dir, "small", b"first");
    run(dir, words("zip -0 a.zip large small")).expect(0);
    bytes(dir)
}

fn bytes(dir: &Path) -> Vec<u8> {
    std::fs::read(dir.join("a.zip")).expect("read")
}

/// The byte that the directory starts at, by an end record without a comment.
fn directory_at(archive: &[u8]) -> usize {
    let at = archive.len() - 22 + 16;
    u32::from_le_bytes(archive[at..at + 4].try_into().expect("four bytes")) as usize
}

#[test]
fn what_is_there_stays_where_it_is() {
    let dir = directory();
    let before = packed(dir.path());
    let at = |name: &str| {
        let metadata = std::fs::metadata(dir.path().join(name));
        metadata.expect("there").ino()
    };
    let inode = at("a.zip");
    file(dir.path(), "b", b"second");
    file(dir.path(), "c", &b"a line of text\n".repeat(200_000));
    std::os::unix::fs::symlink("a.zip", dir.path().join("link.zip")).expect("linked");
    for (line, entries) in [
        ("zip --append a.zip b --report json", 3),
        ("zip --append link.zip c -9 -T2 --report json", 4),
    ] {
        let held = bytes(dir.path()).len() as u64;
        let ended = run(dir.path(), words(line)).expect(0);
        let report: serde_json::Value = serde_json::from_str(&ended.stderr).expect("JSON");
        assert_eq!(report["workload"]["params"]["in_place"], true);
        assert_eq!(report["workload"]["params"]["kept_entries"], entries - 1);
        assert_eq!(report["tables"][0]["rows"][0][0], entries);
        // What is written is the new end, and not what was there.
        let written = report["throughput"]["bytes_out"]
            .as_u64()
            .unwrap_or(u64::MAX);
        assert!(written < held / 2, "{written} of {held}");
        run(dir.path(), words("unzip -t --strict a.zip")).expect(0);
    }
    assert_eq!(at("a.zip"), inode);
    let stays = directory_at(&before);
    assert!(before[..stays] == bytes(dir.path())[..stays]);
    let listed = ["a.zip", "b", "c", "large", "link.zip", "small"];
    assert_eq!(names(dir.path()), listed);
    let printed = run(dir.path(), words("unzip -qqp a.zip b")).expect(0);
    assert_eq!(printed.text(), "second");
}

#[test]
fn the_same_entries_make_the_same_archive_at_once_or_in_turns() {
    let dir = directory();
    packed(dir.path());
    // The large one goes from file to file, behind what is there.
    for (first, second) in [("large", "small"), ("small", "large")] {
        let at_once = format!("zip -0 --force a.zip {first} {second}");
        run(dir.path(), words(&at_once)).expect(0);
        let at_once = bytes(dir.path());
        std::fs::remove_file(dir.path().join("a.zip")).expect("removed");
        run(dir.path(), words(&format!("zip -0 --append a.zip {first}"))).expect(0);
        run(
            dir.path(),
            words(&format!("zip -0 --append a.zip {second}")),
        )
        .expect(0);
        assert!(at_once == bytes(dir.path()), "{first}");
    }
}

#[test]
fn what_adds_nothing_changes_nothing() {
    let dir = directory();
    let before = packed(dir.path());
    for (line, told) in [
        ("zip --append a.zip small", "is already in the archive"),
        ("zip --append a.zip missing", "cannot read 'missing'"),
        (
            "zip --append a.zip small missing",
            "is already in the archive",
        ),
    ] {
        let ended = run(dir.path(), words(line)).expect(3);
        assert!(ended.stderr.contains(told), "{line}: {}", ended.stderr);
        assert!(before == bytes(dir.path()), "{line}");
    }
    assert_eq!(names(dir.path()), ["a.zip", "large", "small"]);
}

#[test]
fn what_cannot_be_written_changes_nothing() {
    let dir = directory();
    let before = packed(dir.path());
    file(dir.path(), "b", &noise(2000));
    // In blocks of 512 bytes: there is room for the new end alone, and not behind the archive.
    for blocks in [before.len() / 512, before.len() / 512 + 1] {
        let script = format!("ulimit -f {blocks}; trap '' XFSZ; exec \"$0\" \"$@\"");
        let binary = perfkit();
        let mut command = Command::new("sh");
        command.arg("-c").arg(script).arg(binary.get_program());
        command.args(binary.get_args());
        command.args(["zip", "-0q", "--append", "a.zip", "b"]);
        let output = command.current_dir(dir.path()).output().expect("runs");
        let failed = Run::from(output).expect(1);
        let told = failed.stderr.contains("cannot change") && failed.stderr.contains("ulimit");
        assert!(told, "{}", failed.stderr);
        assert!(before == bytes(dir.path()));
        assert_eq!(names(dir.path()), ["a.zip", "b", "large", "small"]);
    }
}

#[test]
fn one_at_a_time_changes_an_archive() {
    let dir = directory();
    let before = packed(dir.path());
    let held = std::fs::File::open(dir.path().join("a.zip")).expect("opened");
    held.lock().expect("locked");
    file(dir.path(), "b", b"second");
    for line in [
        "zip --append a.zip b",
        "zip -u a.zip b",
        "zip --delete a.zip small",
    ] {
        let ended = run(dir.path(), words(line)).expect(1);
        let told = ended.stderr.contains("another process is changing it");
        assert!(told, "{line}: {}", ended.stderr);
    }
    assert!(before == bytes(dir.path()));
}

#[test]
fn an_interrupted_append_is_reported_and_undone() {
    let dir = directory();
    packed(dir.path());
    // Killed before anything was changed: what was to be kept is not whole.
    file(dir.path(), "a.zip.perfkit-undo", b"perfkit undo 1\n");
    let ended = run(dir.path(), words("unzip -t a.zip")).expect(0);
    assert!(ended.stderr.contains("was interrupted"), "{}", ended.stderr);
    file(dir.path(), "b", b"second");
    run(dir.path(), words("zip --append a.zip b")).expect(0);
    assert_eq!(names(dir.path()), ["a.zip", "b", "large", "small"]);
    // With what is to be verified before it appears a new archive is made.
    file(dir.path(), "c", b"third");
    let line = "zip --append --verify a.zip c --report json";
    let ended = run(dir.path(), words(line)).expect(0);
    let report: serde_json::Value = serde_json::from_str(&ended.stderr).expect("JSON");
    assert_eq!(report["workload"]["params"]["in_place"], false);
    run(dir.path(), words("unzip -t --strict a.zip")).expect(0);
}

#[test]
fn urls_name_files_here_and_objects_are_refused() {
    let dir = directory();
    packed(dir.path());
    file(dir.path(), "b", b"second");
    let url = format!("file://{}/a.zip", dir.path().display());
    run(dir.path(), words(&format!("zip --append {url} b"))).expect(0);
    run(dir.path(), words(&format!("zip --delete {url} large"))).expect(0);
    run(dir.path(), words("unzip -t --strict a.zip b small")).expect(0);
    run(dir.path(), words(&format!("zip --repair {url} c.zip"))).expect(0);
    for line in [
        "zip --append s3://bucket/a.zip b",
        "zip -u gs://bucket/a.zip b",
        "zip --delete az://bucket/a.zip b",
        "zip --repair s3://bucket/a.zip d.zip",
    ] {
        let ended = run(dir.path(), words(line)).expect(2);
        let told = ended.stderr.contains("cannot be changed in place")
            && ended.stderr.contains("copy it to a file");
        assert!(told, "{line}: {}", ended.stderr);
    }
}

#[test]
fn whoever_is_killed_while_the_end_is_replaced_leaves_what_undoes_it() {
    let dir = directory();
    let before = packed(dir.path());
    file(dir.path(), "b", &vec![7; 30_000_000]);
    let undo = dir.path().join("a.zip.perfkit-undo");
    let mut child = perfkit()
        .current_dir(dir.path())
        .args(words("zip -0qq --append a.zip b"))
        .spawn()
        .expect("runs");
    // It may be too fast to be met there.
    let ended = loop {
        match child.try_wait().expect("asked") {
            Some(status) => break status.success(),
            None if undo.exists() => {
                child.kill().expect("killed");
                break child.wait().expect("ended").success();
            }
            None => {}
        }
    };
    let line = "zip --repair a.zip saved.zip";
    run(dir.path(), words(line)).expect(0);
    assert!(!undo.exists());
    assert_eq!(before == bytes(dir.path()), !ended);
    run(dir.path(), words("unzip -t --strict a.zip")).expect(0);
}
