//! Extracting to a store of objects: each appears whole or not at all, and nothing else does.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::Mutex;

use zipstream::extract::{
    Destination, Existing, ExtractOptions, ExtractReport, NewObject, Objects, Reason, extract_into,
    extract_pipe_into,
};
use zipstream::{ArchiveReader, EntryOptions, ErrorKind, PipeReader, ReadOptions};

use super::{archive, file, renamed};

/// A store in memory.
#[derive(Default)]
struct Store {
    objects: Mutex<BTreeMap<String, Vec<u8>>>,
    replaces: bool,
    /// The path of an object that somebody else makes while it is written.
    raced: Option<&'static str>,
}

struct Growing<'a> {
    store: &'a Store,
    path: String,
    content: Vec<u8>,
}

impl Objects for Store {
    fn start(&self, path: &str) -> io::Result<Option<Box<dyn NewObject + '_>>> {
        if path == "refused" {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        let is_there = self.objects.lock().unwrap().contains_key(path);
        Ok((self.replaces || !is_there).then(|| {
            Box::new(Growing {
                store: self,
                path: path.to_owned(),
                content: Vec::new(),
            }) as Box<dyn NewObject>
        }))
    }
}

impl Write for Growing<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.content.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl NewObject for Growing<'_> {
    fn finish(self: Box<Self>) -> io::Result<()> {
        if self.store.raced == Some(&self.path) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let mut objects = self.store.objects.lock().unwrap();
        objects.insert(self.path, self.content);
        Ok(())
    }
}

impl Store {
    fn take(&self, archive: &[u8], existing: Existing) -> ExtractReport {
        let reader = ArchiveReader::open(archive).unwrap();
        let options = ExtractOptions::new().existing(existing).threads(2);
        extract_into(&reader, Destination::Objects(self), &options).unwrap()
    }

    fn has(&self) -> Vec<(String, Vec<u8>)> {
        let objects = self.objects.lock().unwrap();
        objects.clone().into_iter().collect()
    }
}

fn object(path: &str, content: &[u8]) -> (String, Vec<u8>) {
    (path.to_owned(), content.to_vec())
}

#[test]
fn files_become_objects_and_links_are_failures() {
    let large = vec![7; 3 << 20];
    let archive = archive(&[
        ("dir/", EntryOptions::directory(), b""),
        ("dir/one", file(), b"1"),
        ("dir/large", file(), &large),
        ("link", EntryOptions::symlink(), b"dir/one"),
        ("xx/outside", file(), b"x"),
        ("refused", file(), b"x"),
    ]);
    let archive = renamed(&archive, "xx/outside", "../outside");
    let store = Store::default();
    let report = store.take(&archive, Existing::Refuse);
    assert_eq!(
        store.has(),
        [object("dir/large", &large), object("dir/one", b"1")]
    );
    assert_eq!((report.entries, report.failed), (2, 3));
    let why = |name: &str| {
        let found = report.failures.iter().find(|failed| failed.entry == name);
        &found.unwrap().reason
    };
    assert!(matches!(why("link"), Reason::Link(_)));
    assert!(matches!(why("../outside"), Reason::Name(_)));
    assert!(matches!(why("refused"), Reason::Write(_)));
}

#[test]
fn damaged_entries_become_no_objects() {
    let content = vec![7; 3 << 20];
    let options = EntryOptions::new(zipstream::Method::Stored);
    let mut archive = archive(&[("whole", options, b"1"), ("torn", options, &content)]);
    let at = archive.len() / 2;
    archive[at] ^= 1;
    let store = Store::default();
    let report = store.take(&archive, Existing::Refuse);
    assert_eq!(store.has(), [object("whole", b"1")]);
    assert_eq!(
        (report.failed, report.failures[0].entry.as_str()),
        (1, "torn")
    );
}

#[test]
fn objects_that_exist_are_kept_or_replaced() {
    let archive = archive(&[("one", file(), b"1"), ("two", file(), b"2")]);
    let mut store = Store {
        raced: Some("two"),
        ..Store::default()
    };
    store
        .objects
        .lock()
        .unwrap()
        .insert("one".into(), b"0".into());
    let report = store.take(&archive, Existing::Refuse);
    let exist = |report: &ExtractReport| {
        let failures = report.failures.iter();
        failures
            .filter(|failed| matches!(failed.reason, Reason::Exists))
            .count()
    };
    assert_eq!((exist(&report), report.kept), (2, 0));
    let report = store.take(&archive, Existing::Skip);
    assert_eq!((exist(&report), report.kept), (0, 2));
    assert_eq!(store.has(), [object("one", b"0")]);
    (store.raced, store.replaces) = (None, true);
    assert!(store.take(&archive, Existing::Overwrite).is_complete());
    assert_eq!(store.has(), [object("one", b"1"), object("two", b"2")]);
}

#[test]
fn the_last_of_one_path_counts_and_a_pipe_is_refused() {
    let archive = archive(&[("one", file(), b"1"), ("two", file(), b"2")]);
    let twice = renamed(&archive, "two", "one");
    let store = Store::default();
    let report = store.take(&twice, Existing::Refuse);
    assert_eq!(
        (store.has(), report.repeats),
        (vec![object("one", b"2")], 1)
    );
    let mut pipe = PipeReader::new(&archive[..], &ReadOptions::default());
    let options = ExtractOptions::new();
    let refused = extract_pipe_into(&mut pipe, Destination::Objects(&store), &options);
    assert_eq!(refused.unwrap_err().kind(), ErrorKind::Unsupported);
}
