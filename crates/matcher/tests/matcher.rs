//! The matcher: changes are seen by whoever searches after them, and are there after a restart.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::time::Duration;

use betree::{BeTree, Domain, ErrorKind, SubscriptionId, Undefined};
use matcher::{
    Change, ChangeError, Error, First, Matcher, Observer, Options, Recovery, SaveError, Sync,
    Texts, Trouble,
};

const DOMAIN: &str = "i|integer|true|-1000000|1000000\ns|string|true\nb|boolean|true\n";

fn first() -> Result<First, Error> {
    let domain = Domain::parse(DOMAIN).unwrap();
    Ok(First {
        tree: BeTree::new(domain, Undefined::False),
        texts: Texts::default(),
    })
}

fn options(directory: Option<&Path>, sync: Sync) -> Options {
    let mut options = Options::default();
    options.directory = directory.map(Path::to_path_buf);
    options.sync = sync;
    options
}

fn open(directory: &Path) -> (Matcher, Recovery) {
    Matcher::open(options(Some(directory), Sync::Never), first).unwrap()
}

fn found(matcher: &Matcher, json: &str) -> Vec<u64> {
    let snapshot = matcher.snapshot();
    let event = snapshot.event(json).unwrap();
    let ids = snapshot.search(&event).unwrap();
    ids.into_iter().map(|id| id.0).collect()
}

fn put(matcher: &Matcher, id: u64, text: &str) {
    let outcomes = matcher.change(vec![Change::put(SubscriptionId(id), text)]);
    outcomes[0].as_ref().unwrap();
}

#[test]
fn a_change_is_seen_by_every_search_after_it() {
    let (matcher, _) = Matcher::open(options(None, Sync::Always), first).unwrap();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for writer in 0..2u64 {
            let (matcher, stop) = (matcher.clone(), &stop);
            scope.spawn(move || {
                for round in 0..300u64 {
                    let id = writer * 1000 + round % 50;
                    put(&matcher, id, &format!("i = {}", writer * 1_000 + round));
                    let json = format!("{{\"i\":{}}}", writer * 1_000 + round);
                    assert_eq!(found(&matcher, &json), [id]);
                    if round % 3 == 0 {
                        let change = vec![Change::Delete(SubscriptionId(id))];
                        assert!(matcher.change(change)[0].is_ok());
                        assert!(found(&matcher, &json).is_empty());
                    }
                }
                stop.store(true, Ordering::Relaxed);
            });
        }
        let (matcher, stop) = (matcher.clone(), &stop);
        scope.spawn(move || {
            while !stop.load(Ordering::Relaxed) {
                found(&matcher, "{\"i\":5}");
            }
        });
    });
    let status = matcher.status();
    assert_eq!((status.changes, status.refused), (800, 0));
    assert!(status.merges > 0, "{status:?}");
    assert!(matcher.close().unwrap().len() >= 3);
    let late = matcher.change(vec![Change::put(SubscriptionId(1), "b")]);
    assert_eq!(late, [Err(ChangeError::Closed)]);
}

#[test]
fn what_is_refused_changes_nothing_and_the_rest_is_made() {
    let (matcher, _) = Matcher::open(options(None, Sync::Always), first).unwrap();
    let outcomes = matcher.change(vec![
        Change::put(SubscriptionId(1), "b"),
        Change::put(SubscriptionId(2), "i = "),
        Change::Delete(SubscriptionId(3)),
        Change::put(SubscriptionId(1), "not b"),
    ]);
    let kinds: Vec<_> = outcomes
        .iter()
        .map(|outcome| match outcome {
            Ok(applied) => Ok((applied.sequence, applied.created)),
            Err(ChangeError::Refused(error)) => Err(error.kind()),
            Err(other) => panic!("{other}"),
        })
        .collect();
    assert_eq!(
        kinds,
        [
            Ok((1, true)),
            Err(ErrorKind::Syntax),
            Err(ErrorKind::UnknownId),
            Ok((2, false))
        ]
    );
    assert_eq!(found(&matcher, "{\"b\":false}"), [1]);
    let text = matcher.expression(SubscriptionId(1)).unwrap().unwrap();
    assert_eq!(&*text.expression, "not b");
    assert_eq!(matcher.expression(SubscriptionId(2)), None);
    let long = "b".repeat(matcher::EXPRESSION_BYTES_MAX + 1);
    let long = matcher.change(vec![Change::put(SubscriptionId(5), &long)]);
    assert!(matches!(long[0], Err(ChangeError::TooLong { .. })));
    let (sender, receiver) = channel();
    let refused = matcher.save(move |saved| drop(sender.send(saved)));
    assert_eq!(refused, Err(SaveError::NoDirectory));
    assert!(receiver.recv().is_err());
    matcher.close().unwrap();
}

#[test]
fn a_restart_has_every_change_with_and_without_a_snapshot() {
    let directory = tempfile::tempdir().unwrap();
    let mut model: BTreeMap<u64, u64> = BTreeMap::new();
    for run in 0..6u64 {
        let (matcher, recovery) = open(directory.path());
        assert_eq!((recovery.found, recovery.cut), (run > 0, None));
        let check = |matcher: &Matcher, model: &BTreeMap<u64, u64>| {
            assert_eq!(matcher.status().expressions, model.len() as u64);
            for (id, value) in model {
                let ids = found(matcher, &format!("{{\"i\":{value}}}"));
                let expected = model.iter().filter(|(_, other)| *other == value);
                assert_eq!(ids, expected.map(|(id, _)| *id).collect::<Vec<_>>());
                let text = matcher.expression(SubscriptionId(*id)).unwrap().unwrap();
                assert_eq!(&*text.expression, format!("i = {value}"));
            }
        };
        check(&matcher, &model);
        for round in 0..40u64 {
            let id = (run * 7 + round * 3) % 50;
            match round % 4 {
                3 if model.remove(&id).is_some() => {
                    assert!(matcher.change(vec![Change::Delete(SubscriptionId(id))])[0].is_ok());
                }
                _ => {
                    let value = run * 100 + round;
                    put(&matcher, id, &format!("i = {value}"));
                    model.insert(id, value);
                }
            }
            if round == 20 && run % 2 == 0 {
                let (sender, receiver) = channel();
                matcher.save(move |saved| drop(sender.send(saved))).unwrap();
                let saved = receiver.recv().unwrap().unwrap();
                assert!(saved.bytes > 0);
                assert_eq!(matcher.status().saved_sequence, saved.sequence);
            }
        }
        check(&matcher, &model);
        match run % 3 {
            // As a kill would leave it: nothing is closed.
            0 => leave(directory.path(), matcher),
            _ => drop(matcher.close().unwrap()),
        }
        let files = std::fs::read_dir(directory.path()).unwrap().count();
        assert!(files <= 6, "{files} files");
    }
}

/// Gives up a matcher without closing it. Its lock is in this process, so the next run gets a copy.
fn leave(directory: &Path, matcher: Matcher) {
    let copy = directory.with_extension("copy");
    std::fs::create_dir(&copy).unwrap();
    for entry in std::fs::read_dir(directory).unwrap() {
        let entry = entry.unwrap();
        std::fs::copy(entry.path(), copy.join(entry.file_name())).unwrap();
    }
    matcher.close().unwrap();
    std::fs::remove_dir_all(directory).unwrap();
    std::fs::rename(&copy, directory).unwrap();
}

#[test]
fn a_log_that_is_cut_anywhere_gives_the_changes_before_and_says_so() {
    let directory = tempfile::tempdir().unwrap();
    let (matcher, _) = open(directory.path());
    // Where each change ends.
    let mut ends = vec![matcher.status().log_bytes];
    for id in 1..=3 {
        put(&matcher, id, &format!("i={id}"));
        ends.push(matcher.status().log_bytes);
    }
    leave(directory.path(), matcher);
    let log = directory.path().join(format!("changes-{:020}", 0));
    let bytes = std::fs::read(&log).unwrap();
    assert_eq!(bytes.len() as u64, ends[3]);
    let saved: Vec<_> = std::fs::read_dir(directory.path())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.clone(), std::fs::read(path).unwrap()))
        .collect();
    for cut in 0..=bytes.len() {
        std::fs::remove_dir_all(directory.path()).unwrap();
        std::fs::create_dir(directory.path()).unwrap();
        for (path, bytes) in &saved {
            std::fs::write(path, bytes).unwrap();
        }
        std::fs::write(&log, &bytes[..cut]).unwrap();
        let (matcher, recovery) = open(directory.path());
        let whole = ends.iter().filter(|end| **end <= cut as u64).count();
        let changes = whole.saturating_sub(1) as u64;
        assert_eq!(recovery.replayed, changes, "cut at {cut}");
        let clean = cut == 0 || ends.contains(&(cut as u64));
        assert_eq!(recovery.cut.is_none(), clean, "cut at {cut}");
        assert_eq!(matcher.status().expressions, changes);
        // It goes on after the cut.
        put(&matcher, 77, "b");
        matcher.close().unwrap();
        let (matcher, _) = open(directory.path());
        assert_eq!(matcher.status().expressions, changes + 1);
        matcher.close().unwrap();
    }
    // Damaged before its end.
    let mut damaged = bytes.clone();
    damaged[ends[1] as usize + 25] ^= 1;
    std::fs::remove_dir_all(directory.path()).unwrap();
    std::fs::create_dir(directory.path()).unwrap();
    for (path, bytes) in &saved {
        std::fs::write(path, bytes).unwrap();
    }
    std::fs::write(&log, &damaged).unwrap();
    let refused = Matcher::open(options(Some(directory.path()), Sync::Never), first);
    let text = refused.unwrap_err().to_string();
    assert!(
        text.contains(&format!("at byte {} is damaged", ends[1])),
        "{text}"
    );
}

#[test]
fn one_process_at_a_time_has_a_directory() {
    let directory = tempfile::tempdir().unwrap();
    let (matcher, _) = open(directory.path());
    let second = Matcher::open(options(Some(directory.path()), Sync::Never), first);
    assert!(matches!(second, Err(Error::Locked { .. })));
    matcher.close().unwrap();
    open(directory.path()).0.close().unwrap();
}

fn until(what: &str, is: impl Fn() -> bool) {
    let begun = std::time::Instant::now();
    while !is() {
        assert!(begun.elapsed() < Duration::from_secs(120), "never: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_log_that_grows_is_replaced_by_a_snapshot() {
    let directory = tempfile::tempdir().unwrap();
    let mut options = options(
        Some(directory.path()),
        Sync::Interval(Duration::from_millis(1)),
    );
    options.snapshot_log_bytes = Some(4_000);
    let (matcher, _) = Matcher::open(options, first).unwrap();
    for id in 0..500 {
        put(&matcher, id, &format!("i = {id} or s = 'text {id}'"));
    }
    // A thread of its own writes it.
    until("a snapshot", || matcher.status().snapshots > 0);
    matcher.close().unwrap();
    let (matcher, recovery) = open(directory.path());
    assert_eq!((recovery.replayed, matcher.status().expressions), (0, 500));
    matcher.close().unwrap();
}

#[test]
fn a_snapshot_that_failed_is_tried_again_by_itself() {
    let directory = tempfile::tempdir().unwrap();
    let mut options = options(Some(directory.path()), Sync::Never);
    options.snapshot_log_bytes = Some(1_000);
    options.snapshot_retry = Duration::from_millis(30);
    let (sender, told) = channel();
    let sender = std::sync::Mutex::new(sender);
    options.observer = Some(Observer::new(move |trouble: &Trouble| {
        let _ = sender.lock().unwrap().send(trouble.clone());
    }));
    let (matcher, _) = Matcher::open(options, first).unwrap();
    let blocks: Vec<_> = (1..=100)
        .map(|number| directory.path().join(format!("expressions-{number:020}")))
        .collect();
    for block in &blocks {
        std::fs::create_dir(block).unwrap();
    }
    for id in 0..100 {
        put(&matcher, id, &format!("i = {id}"));
    }
    // No change comes any more: the retries are of its own accord, each after a longer pause.
    let mut pauses = Vec::new();
    while pauses.len() < 3 {
        match told.recv_timeout(Duration::from_secs(120)).unwrap() {
            Trouble::Snapshot { retry, .. } => pauses.push(retry.unwrap().as_millis()),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(pauses, [30, 60, 120]);
    let status = matcher.status();
    assert!(status.snapshot_failures >= 3 && status.log_bytes > 1_000);
    assert!(!status.log_failed);
    for block in &blocks {
        std::fs::remove_dir(block).unwrap();
    }
    until("a snapshot", || matcher.status().snapshots > 0);
    let status = matcher.status();
    assert_eq!(status.saved_sequence, 100);
    assert!(status.log_bytes < 100, "{status:?}");
    matcher.close().unwrap();
    let (matcher, recovery) = open(directory.path());
    assert_eq!((matcher.status().expressions, recovery.replayed), (100, 0));
}

#[test]
fn expressions_that_come_and_go_leave_no_memory() {
    let (matcher, _) = Matcher::open(options(None, Sync::Never), first).unwrap();
    let mut bytes = Vec::new();
    for generation in 0..30u64 {
        let ids = generation * 400..(generation + 1) * 400;
        let name = |id: u64| format!("s = 'a name that no other has {id}' or i = {id}");
        let puts = ids
            .clone()
            .map(|id| Change::put(SubscriptionId(id), &name(id)));
        let made = matcher.change(puts.collect());
        assert!(made.iter().all(std::result::Result::is_ok));
        let json = format!("{{\"i\":{}}}", ids.start);
        assert_eq!(found(&matcher, &json), [ids.start]);
        let deletes = ids.map(|id| Change::Delete(SubscriptionId(id)));
        let made = matcher.change(deletes.collect());
        assert!(made.iter().all(std::result::Result::is_ok));
        assert!(matcher.snapshot().is_empty());
        // A thread merges; the writer adopts that before long.
        for _ in 0..200 {
            if matcher.snapshot().memory_bytes() < 200_000 {
                break;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        bytes.push(matcher.snapshot().memory_bytes());
    }
    assert!(bytes.iter().all(|bytes| *bytes < 200_000), "{bytes:?}");
    matcher.close().unwrap();
}
