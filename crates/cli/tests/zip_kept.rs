//! Under the name `zip`: what an archive holds goes only when its file has taken its place, or is gone, and a file goes
//! only when the archive has its content.
#![cfg(unix)]

use std::fs::{File, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, SystemTime};

use crate::common::{Run, directory, feed, file, link_as};
use crate::zip_changes::{archive, held};

/// When the entries of an archive were made: before any of the files.
const MADE: u64 = 1_590_000_000;

/// A directory with files `a` and `b`, newer than what `d.zip` has of them, and `c` only there; runs a command line of
/// `zip` in it.
fn made() -> (tempfile::TempDir, impl Fn(&str) -> Run) {
    let programs = directory();
    let zip = link_as(programs.path(), "zip");
    let dir = directory();
    archive(
        dir.path(),
        "d.zip",
        &[("a", "old a"), ("b", "old b"), ("c", "old c")],
    );
    for name in ["a", "b"] {
        file(
            dir.path(),
            name,
            format!("new content of {name}").as_bytes(),
        );
    }
    let path = dir.path().to_owned();
    let run = move |line: &str| {
        let _ = &programs;
        let mut command = Command::new(&zip);
        command.args(line.split(' ')).current_dir(&path);
        feed(command, b"").into()
    };
    (dir, run)
}

fn date(path: &Path, seconds: u64) {
    let opened = File::open(path).expect("opened");
    let at = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
    opened.set_modified(at).expect("set");
}

/// Files that cannot be read: a socket, one without rights, and one that fails while it is read.
const UNREADABLE: [fn(&Path); 3] = [
    |path| drop(UnixListener::bind(path).expect("bound")),
    |path| {
        std::fs::write(path, b"nobody reads this").expect("written");
        std::fs::set_permissions(path, Permissions::from_mode(0o000)).expect("set");
    },
    |path| symlink("/proc/self/mem", path).expect("linked"),
];

#[test]
fn an_entry_goes_only_with_its_file() {
    for make in UNREADABLE {
        for line in [
            "-q d.zip a b",
            "-qu d.zip a b",
            "-qf d.zip",
            "-qFSr d.zip .",
            "-qm d.zip a b",
        ] {
            let (dir, run) = made();
            let b = dir.path().join("b");
            std::fs::remove_file(&b).expect("removed");
            make(&b);
            // Who may read everything is no test of rights.
            let reads = File::open(&b)
                .is_ok_and(|mut file| std::io::copy(&mut file, &mut std::io::sink()).is_ok());
            if reads {
                continue;
            }
            let ended = run(line);
            assert_eq!(ended.code, Some(18), "{line}: {}", ended.stderr);
            assert!(ended.stderr.contains("its entry stays"), "{}", ended.stderr);
            let kept = held(dir.path(), "d.zip");
            assert_eq!(kept[..2], ["a=new content of a", "b=old b"], "{line}");
            assert_eq!(
                kept.len(),
                if line.contains("FS") { 2 } else { 3 },
                "{line}"
            );
            assert!(b.symlink_metadata().is_ok(), "{line}");
            assert_eq!(dir.path().join("a").exists(), !line.contains('m'), "{line}");
        }
    }
}

/// Of several entries of one name all stay, or none.
#[test]
fn entries_of_one_name_stay_together() {
    let (dir, run) = made();
    archive(
        dir.path(),
        "d.zip",
        &[("b", "one"), ("a", "old a"), ("b", "two")],
    );
    std::fs::remove_file(dir.path().join("b")).expect("removed");
    drop(UnixListener::bind(dir.path().join("b")).expect("bound"));
    assert_eq!(run("-q d.zip b").code, Some(18));
    assert_eq!(held(dir.path(), "d.zip"), ["b=one", "a=old a", "b=two"]);
}

/// What is there and is left out of a run of `-FS` keeps its entry.
#[test]
fn filesync_deletes_no_entry_whose_file_is_there() {
    let fifo = |path: &Path| {
        let made = Command::new("mkfifo")
            .arg(path)
            .status()
            .expect("mkfifo runs");
        assert!(made.success());
    };
    let dangling = |path: &Path| symlink("nowhere", path).expect("linked");
    type Made<'a> = Option<&'a dyn Fn(&Path)>;
    let cases: [(&str, Made<'_>, &str); 9] = [
        ("-FSqr d.zip .", Some(&fifo), "b"),
        ("-FSq d.zip a b", Some(&fifo), "b"),
        ("-FSqr d.zip .", Some(&dangling), "b"),
        ("-FSq d.zip a b", Some(&dangling), "b"),
        ("-FSqr d.zip . -x b", None, "b"),
        ("-FSqr d.zip . -i a", None, "b"),
        ("-FSqr -t 2024-01-01 d.zip .", None, "b"),
        ("-FSqr -tt 2021-01-01 d.zip .", None, "a"),
        ("-FSqr d.zip .", None, ""),
    ];
    for (line, make, spared) in cases {
        let (dir, run) = made();
        let b = dir.path().join("b");
        match make {
            Some(make) => {
                std::fs::remove_file(&b).expect("removed");
                make(&b);
            }
            None if line.contains("-t") => date(&b, MADE + 1000),
            None => {}
        }
        let ended = run(line);
        assert_eq!((ended.code, &*ended.stderr), (Some(0), ""), "{line}");
        let wanted = ["a", "b"].map(|name| match name == spared {
            true => format!("{name}=old {name}"),
            false => format!("{name}=new content of {name}"),
        });
        assert_eq!(held(dir.path(), "d.zip"), wanted, "{line}");
    }
    let (_dir, run) = made();
    let said = run("-FSr d.zip . -x b").stderr;
    assert!(said.contains("left out: 1 entry"), "{said}");
}

/// A path that is out of reach says nothing of its file.
#[test]
fn filesync_deletes_nothing_while_something_cannot_be_looked_at() {
    let (dir, run) = made();
    // As of a directory without rights, for everybody.
    symlink("loop", dir.path().join("loop")).expect("linked");
    let ended = run("-FSq d.zip a loop/x");
    assert_eq!(ended.code, Some(18), "{}", ended.stderr);
    assert_eq!(
        held(dir.path(), "d.zip"),
        ["a=new content of a", "b=old b", "c=old c"]
    );
    std::fs::remove_file(dir.path().join("loop")).expect("removed");
    // A name of which DOS has nothing.
    file(dir.path(), "...", b"no name");
    let ended = run("-FSqk d.zip a ...");
    assert_eq!(ended.code, Some(18), "{}", ended.stderr);
    let kept = held(dir.path(), "d.zip");
    assert_eq!(
        kept,
        [
            "a=new content of a",
            "b=old b",
            "c=old c",
            "A=new content of a"
        ]
    );
    // Once all are known, what has no file goes.
    assert_eq!(run("-FSq d.zip a").code, Some(0));
    assert_eq!(held(dir.path(), "d.zip"), kept[..1]);
}

/// A file of the time and size of its entry may have another content.
#[test]
fn a_file_is_moved_only_into_an_archive_that_has_its_content() {
    let (dir, run) = made();
    for (name, content) in [("a", "old a"), ("b", "odd b")] {
        file(dir.path(), name, content.as_bytes());
        date(&dir.path().join(name), MADE);
    }
    let ended = run("-mu d.zip a b");
    assert_eq!(ended.code, Some(12), "{}", ended.stderr);
    assert!(
        ended.stderr.contains("'b' is not certainly"),
        "{}",
        ended.stderr
    );
    assert_eq!(held(dir.path(), "d.zip"), ["a=old a", "b=old b", "c=old c"]);
    assert!(!dir.path().join("a").exists() && dir.path().join("b").exists());
}

#[test]
fn named_pipes_are_read_on_request() {
    let (dir, run) = made();
    let fifo = dir.path().join("fifo");
    let made = Command::new("mkfifo")
        .arg(&fifo)
        .status()
        .expect("mkfifo runs");
    assert!(made.success());
    let writer = std::thread::spawn(move || std::fs::write(fifo, b"through it"));
    assert_eq!(run("-q -FI d.zip fifo").code, Some(0));
    writer.join().expect("ended").expect("written");
    assert_eq!(held(dir.path(), "d.zip")[3], "fifo=through it");
}

/// Names are bytes on Unix: those that are no UTF-8 are packed, found, changed and extracted as they are.
#[test]
fn names_of_any_bytes_come_back() {
    use std::os::unix::ffi::OsStringExt as _;
    let name = |bytes: &[u8]| std::ffi::OsString::from_vec(bytes.to_vec());
    let (dir, run) = made();
    let all = dir.path().join("all");
    std::fs::create_dir_all(all.join(name(b"d\xff"))).expect("made");
    let wanted = [
        &b"caf\xe9"[..],
        b"d\xff/in\xc3",
        "naïve".as_bytes(),
        b"\xf4\x8f\xbe\x80",
    ];
    for path in wanted {
        std::fs::write(all.join(name(path)), path).expect("written");
    }
    symlink(name(b"caf\xe9"), all.join("link")).expect("linked");
    assert_eq!(run("-qry all.zip all").code, Some(0));
    // An update finds the entry of its file.
    std::fs::write(all.join(name(b"caf\xe9")), b"longer than before").expect("written");
    assert_eq!(run("-qFSry all.zip all").code, Some(0));
    let unzip = |words: &[&str]| {
        let programs = directory();
        let mut command = Command::new(link_as(programs.path(), "unzip"));
        command.args(words).current_dir(dir.path());
        feed(command, b"")
    };
    let listed = unzip(&["-Z1", "all.zip"]);
    assert_eq!(
        listed
            .stdout
            .split(|byte| *byte == b'\n')
            .filter(|line| line.ends_with(b"caf\xe9"))
            .count(),
        1
    );
    let own = crate::common::run(dir.path(), ["unzip", "-qq", "all.zip", "-d", "own"]).expect(0);
    assert_eq!(own.stderr, "");
    assert_eq!(
        unzip(&["-q", "all.zip", "-d", "theirs"]).status.code(),
        Some(0)
    );
    for to in ["own", "theirs"] {
        let to = dir.path().join(to).join("all");
        for path in wanted {
            let content = std::fs::read(to.join(name(path))).expect("there");
            match path {
                b"caf\xe9" => assert_eq!(content, b"longer than before"),
                _ => assert_eq!(content, path),
            }
        }
        let link = std::fs::read_link(to.join("link")).expect("a link");
        assert_eq!(link.into_os_string(), name(b"caf\xe9"));
        assert_eq!(std::fs::read_dir(&to).expect("listed").count(), 5);
    }
}

/// The same for perfkit's own command.
#[cfg(target_os = "linux")]
#[test]
fn an_update_that_cannot_read_a_file_keeps_its_entry() {
    for flags in ["-u", "--freshen", "--filesync"] {
        let (dir, _) = made();
        let b = dir.path().join("b");
        std::fs::remove_file(&b).expect("removed");
        symlink("/proc/self/mem", &b).expect("linked");
        let line = [
            "zip",
            "-q",
            flags,
            "--symlinks",
            "follow",
            "d.zip",
            "a",
            "b",
        ];
        let ended = crate::common::run(dir.path(), line).expect(3);
        assert!(
            ended.stderr.contains("the entry 'b' stays"),
            "{}",
            ended.stderr
        );
        let mut kept = held(dir.path(), "d.zip");
        kept.sort_unstable();
        assert_eq!(kept[..2], ["a=new content of a", "b=old b"], "{flags}");
    }
}

#[test]
fn a_sync_of_our_own_keeps_what_is_there_and_left_out() {
    let (dir, _) = made();
    let line = [
        "zip",
        "-r",
        "--filesync",
        "d.zip",
        ".",
        "-x",
        "b",
        "-x",
        "*.zip",
    ];
    let ended = crate::common::run(dir.path(), line).expect(0);
    assert!(
        ended.stderr.contains("left out: 1 entry"),
        "{}",
        ended.stderr
    );
    let mut kept = held(dir.path(), "d.zip");
    kept.sort_unstable();
    assert_eq!(kept, ["a=new content of a", "b=old b"]);
}

#[test]
fn deleting_is_bounded_by_lists_and_dates() {
    for (line, left) in [
        ("-d d.zip * -x b", vec!["b=old b"]),
        ("-d d.zip * -i b", vec!["a=old a", "c=old c"]),
        (
            "-d d.zip * -i b -x b",
            vec!["a=old a", "b=old b", "c=old c"],
        ),
        // The entries are of May 2020.
        (
            "-d d.zip a -t 2020-06-01",
            vec!["a=old a", "b=old b", "c=old c"],
        ),
        ("-d d.zip a -t 2020-05-01", vec!["b=old b", "c=old c"]),
        (
            "-d d.zip a -tt 2020-05-01",
            vec!["a=old a", "b=old b", "c=old c"],
        ),
        ("-d d.zip a -tt 2020-06-01", vec!["b=old b", "c=old c"]),
        ("-d d.zip ./a", vec!["b=old b", "c=old c"]),
    ] {
        let (dir, zip) = made();
        let run = zip(line);
        let expected = if left.len() == 3 { 12 } else { 0 };
        assert_eq!(run.code, Some(expected), "{line}: {}", run.stderr);
        assert_eq!(held(dir.path(), "d.zip"), left, "{line}");
    }
}

#[test]
fn a_pattern_that_is_a_name_to_the_letter_means_that_name_alone() {
    for (line, left) in [
        ("-d d.zip a[1].txt", vec!["a1.txt=2", "b[=3"]),
        ("-d d.zip a?1].txt", vec!["a1.txt=2", "b[=3"]),
        ("-d d.zip a[12].txt", vec!["a[1].txt=1", "b[=3"]),
        ("-d d.zip b[", vec!["a[1].txt=1", "a1.txt=2"]),
        ("-U d.zip a[1].txt -O d.zip", vec!["a[1].txt=1"]),
    ] {
        let (dir, zip) = made();
        archive(
            dir.path(),
            "d.zip",
            &[("a[1].txt", "1"), ("a1.txt", "2"), ("b[", "3")],
        );
        let run = zip(line);
        assert_eq!(run.code, Some(0), "{line}: {}", run.stderr);
        assert_eq!(held(dir.path(), "d.zip"), left, "{line}");
    }
}

#[test]
fn where_nothing_is_found_to_pack_nothing_is_deleted() {
    for line in [
        "-FS d.zip gone",
        "-FSr d.zip . -x *",
        "-FS d.zip a b -i nothing",
        "-FS d.zip a -t 2099-01-01",
    ] {
        let (dir, zip) = made();
        let run = zip(line);
        assert_eq!(run.code, Some(12), "{line}: {}", run.stderr);
        let whole = ["a=old a", "b=old b", "c=old c"];
        assert_eq!(held(dir.path(), "d.zip"), whole, "{line}");
    }
}

#[test]
fn an_archive_without_entries_passes_no_test() {
    let (dir, zip) = made();
    archive(dir.path(), "empty.zip", &[]);
    let run = zip("-T empty.zip");
    assert_eq!(run.code, Some(8), "{}", run.stderr);
    assert!(run.stderr.contains("it has no entry"), "{}", run.stderr);
    // What would be left is nothing to test, either: the old archive stays.
    let run = zip("-T -d d.zip *");
    assert_eq!(run.code, Some(8), "{}", run.stderr);
    assert_eq!(held(dir.path(), "d.zip").len(), 3);
}

#[test]
fn a_name_that_is_no_path_everywhere_costs_no_other_file() {
    for name in ["a\\x2db", "c:d"] {
        let (dir, zip) = made();
        file(dir.path(), name, b"content");
        let run = zip("-r new.zip .");
        assert_eq!(run.code, Some(18), "{name}: {}", run.stderr);
        assert!(run.stderr.contains(name), "{name}: {}", run.stderr);
        let names: Vec<_> = held(dir.path(), "new.zip")
            .iter()
            .filter_map(|entry| Some(entry.split_once('=')?.0.to_owned()))
            .collect();
        assert_eq!(names, ["a", "b", "d.zip"], "{name}");
    }
}

#[test]
fn lists_are_about_whole_names_whatever_entries_are_called() {
    let (dir, zip) = made();
    std::fs::create_dir(dir.path().join("s")).expect("a directory");
    file(dir.path(), "s/x", b"1");
    let run = zip("-jr new.zip . -i s/*");
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert_eq!(held(dir.path(), "new.zip"), ["x=1"]);
    let run = zip("-jr other.zip s a -x s/*");
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert_eq!(held(dir.path(), "other.zip"), ["a=new content of a"]);
}

#[test]
fn an_update_without_names_adds_nothing() {
    let (dir, zip) = made();
    std::fs::create_dir(dir.path().join("s")).expect("a directory");
    assert_eq!(zip("-r d.zip s").code, Some(0));
    file(dir.path(), "s/x", b"1");
    let run = zip("-ur d.zip");
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(!held(dir.path(), "d.zip").contains(&"s/x=1".to_owned()));
}

#[test]
fn what_was_packed_without_fields_is_not_older_than_its_file() {
    let (dir, zip) = made();
    date(&dir.path().join("a"), MADE + 1);
    assert_eq!(zip("-X new.zip a").code, Some(0));
    let first = std::fs::read(dir.path().join("new.zip")).expect("read");
    assert_eq!(zip("-uX new.zip a").code, Some(12));
    assert_eq!(
        std::fs::read(dir.path().join("new.zip")).expect("read"),
        first
    );
}
