//! What is seen of an extraction, and how it ends early.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use zipstream::extract::{
    Cancel, Context, ExtractObserver, ExtractOptions, ExtractWorker, Failed, Item, Stopped,
    extract_pipe_to, extract_to,
};
use zipstream::{ArchiveReader, ErrorKind, PipeReader, ReadOptions};

use super::{WAYS, archive, extract, file, names, nested, only};
use crate::common::sample;

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
        // Threads end in any order.
        seen.done.lock().unwrap().sort_unstable();
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
