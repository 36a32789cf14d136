//! Extracting into a directory: nothing leaves it, nothing damaged gets a name, and every way of reading
//! gives the same tree.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use tempfile::TempDir;
#[cfg(unix)]
use zipstream::extract::Links;
use zipstream::extract::{
    Cancel, CaseClashes, Context, Destination, Existing, ExtractObserver, ExtractOptions,
    ExtractReport, ExtractWorker, Failed, Item, Reason, Stopped, extract_into, extract_pipe_into,
    extract_pipe_to, extract_to,
};
use zipstream::name::NameFault;
use zipstream::{
    ArchiveReader, ArchiveWriter, EntryOptions, ErrorKind, Method, PipeReader, ReadOptions,
};

use crate::common::sample;

const MODIFIED: i64 = 1_700_000_000;

/// An archive of these entries.
fn archive(entries: &[(&str, EntryOptions, &[u8])]) -> Vec<u8> {
    let mut writer = ArchiveWriter::new(Vec::new());
    for (name, options, content) in entries {
        let options = options.modified(MODIFIED);
        writer.add(name, &options, &mut &content[..]).unwrap();
    }
    writer.finish().unwrap().0
}

/// The same where a name is another one of the same length, which no writer would take.
fn renamed(archive: &[u8], from: &str, to: &str) -> Vec<u8> {
    assert_eq!(from.len(), to.len());
    let mut renamed = archive.to_vec();
    let mut count = 0;
    for at in 0..=archive.len() - from.len() {
        if &archive[at..at + from.len()] == from.as_bytes() {
            renamed[at..at + from.len()].copy_from_slice(to.as_bytes());
            count += 1;
        }
    }
    assert_eq!(
        count, 2,
        "once before the content and once in the directory"
    );
    renamed
}

fn file() -> EntryOptions {
    EntryOptions::default()
}

/// Both ways to read an archive.
const WAYS: [bool; 2] = [false, true];

fn extract(archive: &[u8], piped: bool, to: &Path, options: &ExtractOptions<'_>) -> ExtractReport {
    if piped {
        let mut pipe = PipeReader::new(archive, &ReadOptions::default());
        return extract_pipe_to(&mut pipe, to, options).unwrap();
    }
    extract_to(&ArchiveReader::open(archive).unwrap(), to, options).unwrap()
}

/// A directory to extract into, in one of its own: whatever leaves it is seen there.
fn nested() -> (TempDir, std::path::PathBuf) {
    let outer = tempfile::tempdir().unwrap();
    let inner = outer.path().join("inner");
    (outer, inner)
}

/// What a path is: its content or the target of a link, its permission bits and its time.
#[derive(Debug, PartialEq, Eq)]
enum Node {
    Directory(u32, i64),
    File(Vec<u8>, u32, i64),
    Link(String),
}

fn tree(root: &Path) -> BTreeMap<String, Node> {
    fn walk(at: &Path, name: &str, tree: &mut BTreeMap<String, Node>) {
        for entry in std::fs::read_dir(at).unwrap() {
            let entry = entry.unwrap();
            let path = entry.path();
            let name = format!("{name}/{}", entry.file_name().to_str().unwrap());
            let metadata = std::fs::symlink_metadata(&path).unwrap();
            #[cfg(unix)]
            let (mode, modified) = {
                use std::os::unix::fs::MetadataExt as _;
                (metadata.mode() & 0o7777, metadata.mtime())
            };
            #[cfg(not(unix))]
            let (mode, modified) = (0, 0);
            if metadata.is_dir() {
                walk(&path, &name, tree);
                tree.insert(name, Node::Directory(mode, modified));
            } else if metadata.is_symlink() {
                let target = std::fs::read_link(&path).unwrap();
                tree.insert(name, Node::Link(target.to_str().unwrap().to_owned()));
            } else {
                let content = std::fs::read(&path).unwrap();
                tree.insert(name, Node::File(content, mode, modified));
            }
        }
    }
    let mut found = BTreeMap::new();
    walk(root, "", &mut found);
    found
}

fn names(root: &Path) -> Vec<String> {
    tree(root).into_keys().collect()
}

fn only(report: &ExtractReport) -> &Failed {
    assert_eq!((report.failed, report.failures.len()), (1, 1), "{report:?}");
    &report.failures[0]
}

#[test]
fn names_that_lead_elsewhere_are_refused_and_the_rest_is_extracted() {
    for (name, fault) in [
        ("../evil", NameFault::Traversal),
        ("a/../../evil", NameFault::Traversal),
        ("..\\evil", NameFault::Traversal),
        ("/tmp/evil", NameFault::Absolute),
        ("\\evil", NameFault::Absolute),
        ("C:\\evil", NameFault::Drive),
        ("c:evil", NameFault::Drive),
        ("a\0evil", NameFault::Nul),
    ] {
        let placeholder = "q".repeat(name.len());
        let good = archive(&[(&placeholder, file(), b"evil"), ("good", file(), b"good")]);
        let archive = renamed(&good, &placeholder, name);
        for piped in WAYS {
            let (outer, inner) = nested();
            let report = extract(&archive, piped, &inner, &ExtractOptions::default());
            let failed = only(&report);
            assert!(
                matches!(failed.reason, Reason::Name(found) if found == fault),
                "{name:?}: {failed:?}"
            );
            assert_eq!(failed.entry, name);
            assert!(!report.is_complete());
            assert_eq!(names(outer.path()), ["/inner", "/inner/good"], "{name:?}");
        }
    }
}

#[cfg(unix)]
#[test]
fn nothing_is_written_through_a_link_of_the_same_archive_or_one_that_lies_there() {
    for existing in [Existing::Refuse, Existing::Skip, Existing::Overwrite] {
        for piped in WAYS {
            let (outer, inner) = nested();
            let outside = outer.path().join("outside");
            std::fs::create_dir(&outside).unwrap();
            let target = outside.to_str().unwrap().as_bytes();
            let archive = archive(&[
                ("link", EntryOptions::symlink(), target),
                ("link/x", file(), b"evil"),
                ("lying/x", file(), b"evil"),
                ("lying/dir/", EntryOptions::directory(), b""),
            ]);
            std::fs::create_dir(&inner).unwrap();
            std::os::unix::fs::symlink(&outside, inner.join("lying")).unwrap();
            let options = ExtractOptions::default().existing(existing);
            let report = extract(&archive, piped, &inner, &options);
            assert!(report.failed >= 3, "{report:?}");
            assert_eq!(names(&outside), [""; 0]);
            assert!(inner.join("lying").is_symlink(), "{existing:?}");
        }
    }
}

#[cfg(unix)]
#[test]
fn links_lead_inside_or_are_not_made() {
    let link = EntryOptions::symlink;
    let long = "x".repeat(5000);
    let archive = archive(&[
        ("dir/", EntryOptions::directory(), b""),
        ("dir/file", file(), b"content"),
        ("inside", link(), b"dir/file"),
        ("dir/up", link(), b"../dir/file"),
        ("absolute", link(), b"/etc/passwd"),
        ("above", link(), b"../secret"),
        ("dir/above", link(), b"../../secret"),
        ("around", link(), b"dir/../../secret"),
        ("long", link(), long.as_bytes()),
    ]);
    for piped in WAYS {
        let (_outer, inner) = nested();
        let report = extract(&archive, piped, &inner, &ExtractOptions::default());
        assert_eq!(report.failed, 5, "{report:?}");
        for failed in &report.failures {
            assert!(matches!(failed.reason, Reason::Link(_)), "{failed:?}");
        }
        let expected = ["/dir", "/dir/file", "/dir/up", "/inside"];
        assert_eq!(names(&inner), expected);
        assert_eq!(std::fs::read(inner.join("dir/up")).unwrap(), b"content");

        for (links, skipped, failed) in [(Links::Skip, 7, 0), (Links::Refuse, 0, 7)] {
            let (_outer, inner) = nested();
            let options = ExtractOptions::default().links(links);
            let report = extract(&archive, piped, &inner, &options);
            assert_eq!((report.links_skipped, report.failed), (skipped, failed));
            assert_eq!(names(&inner), ["/dir", "/dir/file"]);
        }
    }
}

#[test]
fn one_path_is_given_to_one_entry() {
    let two = archive(&[("same0", file(), b"first"), ("same1", file(), b"second")]);
    let two = renamed(&two, "same1", "same0");
    let alike = archive(&[("Readme", file(), b"first"), ("README", file(), b"second")]);
    for piped in WAYS {
        let (_outer, inner) = nested();
        let report = extract(&two, piped, &inner, &ExtractOptions::default());
        assert!(matches!(only(&report).reason, Reason::SamePath));
        assert_eq!(std::fs::read(inner.join("same0")).unwrap(), b"first");

        let (_outer, inner) = nested();
        let options = ExtractOptions::default().case_clashes(CaseClashes::Refuse);
        let report = extract(&alike, piped, &inner, &options);
        assert!(matches!(only(&report).reason, Reason::CaseClash));
        assert_eq!(std::fs::read(inner.join("Readme")).unwrap(), b"first");

        let (_outer, inner) = nested();
        let report = extract(&alike, piped, &inner, &ExtractOptions::default());
        assert_eq!(report.case_clashes, 1);
        if cfg!(target_os = "linux") {
            assert!(report.is_complete());
            assert_eq!(names(&inner), ["/README", "/Readme"]);
        }
    }
}

#[test]
fn a_damaged_entry_has_no_name_and_leaves_nothing() {
    // Of one piece, and of many.
    for bytes in [1000, 3 << 20] {
        let content = sample(7, bytes);
        for method in [Method::Stored, Method::Deflate] {
            let options = EntryOptions::new(method);
            let mut archive = archive(&[
                ("before", file(), b"1"),
                ("dir/damaged", options, &content),
                ("dir/after", file(), b"2"),
            ]);
            // In the middle of what is damaged.
            let whole = ArchiveReader::open(&archive[..]).unwrap();
            let entry = whole.find("dir/damaged").unwrap().unwrap();
            let middle = entry.offset() + 30 + entry.compressed_bytes() * 9 / 10;
            archive[usize::try_from(middle).unwrap()] ^= 0x20;
            for piped in WAYS {
                for existing in [Existing::Refuse, Existing::Overwrite] {
                    let (_outer, inner) = nested();
                    let options = ExtractOptions::default().existing(existing);
                    let report = extract(&archive, piped, &inner, &options);
                    let failed = only(&report);
                    assert_eq!(failed.entry, "dir/damaged");
                    assert!(matches!(failed.reason, Reason::Archive(_)), "{failed:?}");
                    assert!(!names(&inner).contains(&"/dir/damaged".to_owned()));
                    let parts = names(&inner)
                        .iter()
                        .filter(|name| name.contains(".part"))
                        .count();
                    assert_eq!(parts, 0);
                    assert_eq!(std::fs::read(inner.join("before")).unwrap(), b"1");
                    if !piped {
                        assert_eq!(names(&inner), ["/before", "/dir", "/dir/after"]);
                    }
                }
            }
            // A file that is there keeps its content.
            let (_outer, inner) = nested();
            std::fs::create_dir_all(inner.join("dir")).unwrap();
            std::fs::write(inner.join("dir/damaged"), "old").unwrap();
            let options = ExtractOptions::default().existing(Existing::Overwrite);
            extract(&archive, false, &inner, &options);
            assert_eq!(std::fs::read(inner.join("dir/damaged")).unwrap(), b"old");
        }
    }
}

#[test]
fn files_that_exist_are_refused_kept_or_replaced() {
    let large = sample(3, 2 << 20);
    let archive = archive(&[("small", file(), b"new"), ("large", file(), &large)]);
    for piped in WAYS {
        for (existing, failed, kept, replaced) in [
            (Existing::Refuse, 2, 0, false),
            (Existing::Skip, 0, 2, false),
            (Existing::Overwrite, 0, 0, true),
        ] {
            let (_outer, inner) = nested();
            std::fs::create_dir(&inner).unwrap();
            for name in ["small", "large"] {
                std::fs::write(inner.join(name), "old").unwrap();
            }
            let options = ExtractOptions::default().existing(existing);
            let report = extract(&archive, piped, &inner, &options);
            assert_eq!((report.failed, report.kept), (failed, kept), "{existing:?}");
            for failed in &report.failures {
                assert!(matches!(failed.reason, Reason::Exists));
            }
            let small = std::fs::read(inner.join("small")).unwrap();
            let expected: &[u8] = if replaced { b"new" } else { b"old" };
            assert_eq!(small, expected);
            let found = std::fs::read(inner.join("large")).unwrap();
            assert!(found == if replaced { &large[..] } else { b"old" });
            assert_eq!(names(&inner), ["/large", "/small"]);
        }
    }
}

/// Many entries of every kind.
fn many() -> Vec<u8> {
    let large = sample(1, (2 << 20) + 5);
    let small: Vec<(String, Vec<u8>)> = (0..300_u32)
        .map(|at| {
            (
                format!("d{}/e{}/f{at}", at % 7, at % 3),
                sample(at, at as usize * 10),
            )
        })
        .collect();
    let mut entries: Vec<(&str, EntryOptions, &[u8])> = vec![
        ("d1/", EntryOptions::directory().mode(0o750), b""),
        ("d1/e1/", EntryOptions::directory().mode(0o555), b""),
        (
            "large",
            EntryOptions::new(Method::Stored).mode(0o640),
            &large,
        ),
        ("run.sh", file().mode(0o4755), b"#!/bin/sh\n"),
        ("empty", file().mode(0o444), b""),
    ];
    if cfg!(unix) {
        entries.push(("d2/link", EntryOptions::symlink(), b"../large"));
    }
    for (at, (name, content)) in small.iter().enumerate() {
        let mode = if at % 2 == 0 { 0o644 } else { 0o600 };
        entries.push((name, file().mode(mode), content));
    }
    archive(&entries)
}

#[test]
fn every_number_of_threads_and_a_pipe_give_the_same_tree() {
    let archive = many();
    let whole = ArchiveReader::open(&archive[..]).unwrap();
    let mut trees = Vec::new();
    for (piped, threads) in [(false, 1), (false, 4), (true, 1)] {
        let (outer, inner) = nested();
        let options = ExtractOptions::default().threads(threads);
        let report = extract(&archive, piped, &inner, &options);
        assert!(report.is_complete(), "{report:?}");
        assert_eq!(report.entries, whole.len());
        trees.push(tree(&inner));
        // So that the directory can be removed.
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let open = std::fs::Permissions::from_mode(0o755);
            std::fs::set_permissions(inner.join("d1/e1"), open).unwrap();
        }
        drop(outer);
    }
    assert!(trees[0] == trees[1], "1 and 4 threads");
    assert!(trees[0] == trees[2], "file and pipe");
    #[cfg(unix)]
    {
        assert_eq!(trees[0]["/d1"], Node::Directory(0o750, MODIFIED));
        assert_eq!(trees[0]["/d1/e1"], Node::Directory(0o555, MODIFIED));
        let run = Node::File(b"#!/bin/sh\n".to_vec(), 0o755, MODIFIED);
        assert_eq!(trees[0]["/run.sh"], run, "without set-user-ID");
        assert_eq!(trees[0]["/d2/link"], Node::Link("../large".to_owned()));
    }
}

#[cfg(unix)]
#[test]
fn modes_and_times_may_be_left_to_the_system() {
    use std::os::unix::fs::PermissionsExt as _;

    let archive = archive(&[
        ("dir/", EntryOptions::directory().mode(0o700), b""),
        ("dir/file", file().mode(0o700), b"content"),
    ]);
    for piped in WAYS {
        let (outer, inner) = nested();
        let plain = outer.path().join("plain");
        std::fs::write(&plain, "").unwrap();
        let expected = plain.metadata().unwrap().permissions().mode();
        let options = ExtractOptions::default().modes(false).times(false);
        let report = extract(&archive, piped, &inner, &options);
        assert!(report.is_complete());
        let found = inner.join("dir/file").metadata().unwrap();
        assert_eq!(found.permissions().mode(), expected);
        for node in tree(&inner).values() {
            let (Node::File(_, mode, modified) | Node::Directory(mode, modified)) = node else {
                panic!("{node:?}");
            };
            assert!(*mode != 0o700 && *modified != MODIFIED, "{node:?}");
        }

        // A file without a stated mode is no more readable than the archive.
        std::fs::set_permissions(&plain, std::fs::Permissions::from_mode(0o600)).unwrap();
        let (_outer, inner) = nested();
        let options = ExtractOptions::default().modes(false);
        let options = options.readable_as(&plain.metadata().unwrap());
        extract(&archive, piped, &inner, &options);
        let found = inner.join("dir/file").metadata().unwrap();
        assert_eq!(found.permissions().mode() & 0o777, 0o600);
    }
}

/// Counts what it sees.
#[derive(Default)]
struct Seen {
    workers: AtomicU64,
    decoded: AtomicU64,
    written: AtomicU64,
    done: Mutex<Vec<String>>,
    failed: Mutex<Vec<String>>,
}

struct Worker<'a>(&'a Seen, Option<String>);

impl ExtractObserver for Seen {
    fn worker(&self) -> Box<dyn ExtractWorker + '_> {
        self.workers.fetch_add(1, Ordering::Relaxed);
        Box::new(Worker(self, None))
    }
}

impl ExtractWorker for Worker<'_> {
    fn started(&mut self, item: Item<'_>) {
        self.1 = Some(item.name().into_owned());
    }

    fn decoded(&mut self, item: Item<'_>, bytes: u64) {
        assert_eq!(self.1.as_deref(), Some(&*item.name()));
        self.0.decoded.fetch_add(bytes, Ordering::Relaxed);
    }

    fn written(&mut self, _: Item<'_>, bytes: u64) {
        self.0.written.fetch_add(bytes, Ordering::Relaxed);
    }

    fn done(&mut self, item: Item<'_>, _: u64) {
        self.0.done.lock().unwrap().push(item.name().into_owned());
    }

    fn failed(&mut self, failed: &Failed) {
        self.0.failed.lock().unwrap().push(failed.entry.clone());
    }
}

#[test]
fn a_filter_picks_entries_and_an_observer_sees_them() {
    let content = sample(5, 3 << 20);
    let archive = archive(&[
        ("a.txt", file(), b"first"),
        ("b.bin", file(), b"not asked for"),
        ("c.txt", file(), &content),
        ("d.txt", file(), b"there already"),
    ]);
    for piped in WAYS {
        let (_outer, inner) = nested();
        std::fs::create_dir(&inner).unwrap();
        std::fs::write(inner.join("d.txt"), "").unwrap();
        let seen = Seen::default();
        let options = ExtractOptions::default()
            .filter(|name| name.ends_with(".txt"))
            .observer(&seen);
        let report = extract(&archive, piped, &inner, &options);
        assert_eq!(only(&report).entry, "d.txt");
        assert_eq!(names(&inner), ["/a.txt", "/c.txt", "/d.txt"]);
        assert!(seen.workers.load(Ordering::Relaxed) >= 1);
        assert_eq!(*seen.done.lock().unwrap(), ["a.txt", "c.txt", "d.txt"]);
        assert_eq!(*seen.failed.lock().unwrap(), ["d.txt"]);
        let written = seen.written.load(Ordering::Relaxed);
        assert_eq!(written, seen.decoded.load(Ordering::Relaxed));
        assert_eq!(written, report.content_bytes);
    }
}

#[test]
fn a_flag_stops_it_and_nothing_half_done_stays() {
    /// Sets the flag once something is written.
    struct Stops(Arc<AtomicBool>);
    struct StopsWorker<'a>(&'a AtomicBool);
    impl ExtractObserver for Stops {
        fn worker(&self) -> Box<dyn ExtractWorker + '_> {
            Box::new(StopsWorker(&self.0))
        }
    }
    impl ExtractWorker for StopsWorker<'_> {
        fn written(&mut self, _: Item<'_>, _: u64) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
    let content = sample(5, 3 << 20);
    let archive = archive(&[("large", file(), &content), ("next", file(), b"")]);
    for piped in WAYS {
        let (_outer, inner) = nested();
        let flag = Arc::new(AtomicBool::new(false));
        let stops = Stops(Arc::clone(&flag));
        let options = ExtractOptions::default()
            .threads(1)
            .observer(&stops)
            .context(Context::default().cancel(Cancel::new(flag)));
        let report = extract(&archive, piped, &inner, &options);
        assert_eq!(report.stopped, Some(Stopped::Cancelled));
        assert_eq!((report.failed, report.is_complete()), (0, false));
        assert_eq!(names(&inner), [""; 0]);
    }
}

#[cfg(unix)]
#[test]
fn the_archive_that_is_read_is_not_replaced_by_an_entry() {
    let (_outer, inner) = nested();
    std::fs::create_dir(&inner).unwrap();
    let path = inner.join("a.zip");
    let bytes = archive(&[("a.zip", file(), b"evil"), ("b", file(), b"good")]);
    std::fs::write(&path, &bytes).unwrap();
    let options = ExtractOptions::default()
        .existing(Existing::Overwrite)
        .protect(&path);
    let report = extract(&bytes, false, &inner, &options);
    assert_eq!(only(&report).entry, "a.zip");
    assert_eq!(std::fs::read(&path).unwrap(), bytes);
}

#[test]
fn what_is_no_directory_is_an_error_before_anything_else() {
    let outer = tempfile::tempdir().unwrap();
    let path = outer.path().join("file");
    std::fs::write(&path, "").unwrap();
    let archive = archive(&[("a", file(), b"1")]);
    let reader = ArchiveReader::open(&archive[..]).unwrap();
    let error = extract_to(&reader, &path, &ExtractOptions::default()).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Io(_)), "{error:?}");
    assert!(error.to_string().starts_with("cannot write '"), "{error}");
    let mut pipe = PipeReader::new(&archive[..], &ReadOptions::default());
    assert!(extract_pipe_to(&mut pipe, &path, &ExtractOptions::default()).is_err());
}

#[test]
fn contents_go_to_a_writer_in_order_or_are_verified() {
    let mut archive = many();
    let reader = ArchiveReader::open(&archive[..]).unwrap();
    let options = ExtractOptions::default().filter(|name| !name.ends_with('/'));
    let mut printed = Vec::new();
    let report = extract_into(&reader, Destination::Writer(&mut printed), &options).unwrap();
    assert!(report.is_complete());
    let mut piped = Vec::new();
    let mut pipe = PipeReader::new(&archive[..], &ReadOptions::default());
    extract_pipe_into(&mut pipe, Destination::Writer(&mut piped), &options).unwrap();
    assert!(printed == piped);
    assert_eq!(printed.len() as u64, report.content_bytes);

    let report = extract_into(&reader, Destination::Nowhere, &options).unwrap();
    assert!(report.is_complete());
    let entry = reader.find("large").unwrap().unwrap();
    let at = usize::try_from(entry.offset()).unwrap() + 100;
    archive[at] ^= 1;
    let reader = ArchiveReader::open(&archive[..]).unwrap();
    let report = extract_into(&reader, Destination::Nowhere, &options).unwrap();
    assert_eq!(only(&report).entry, "large");
}

#[test]
fn the_first_thousand_failures_are_kept_and_all_are_counted() {
    let names: Vec<String> = (0..1500).map(|at| format!("f{at}")).collect();
    let entries: Vec<_> = names
        .iter()
        .map(|name| (&**name, file(), &b""[..]))
        .collect();
    let archive = archive(&entries);
    let (_outer, inner) = nested();
    extract(&archive, false, &inner, &ExtractOptions::default());
    let again = extract(&archive, false, &inner, &ExtractOptions::default());
    assert_eq!((again.failed, again.failures.len()), (1500, 1000));
}
