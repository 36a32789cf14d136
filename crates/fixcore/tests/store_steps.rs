//! Changes of a store that are one step: a reply with what was received, a reset with its time.

use std::fs;
use std::ops::ControlFlow;

use fixcore::Timestamp;
use fixcore::store::{Options, Seen, Store, StoreError, survey};

fn small() -> Options {
    Options::default().segment_bytes(4096)
}

#[test]
fn when_the_numbers_began_is_kept_until_a_reset() {
    let dir = tempfile::tempdir().unwrap();
    let first = Timestamp(1_767_225_600_000_000_001);
    let mut store = Store::open(dir.path(), small().created(first)).unwrap();
    for number in 1..100 {
        store.append(number, &[b'x'; 100]).unwrap();
    }
    assert!(store.segments() > 1);
    drop(store);
    let later = small().created(Timestamp(9));
    let mut store = Store::open(dir.path(), later.clone()).unwrap();
    assert_eq!(store.created(), Some(first));
    store.reset_at(Timestamp(-5), 1, 1).unwrap();
    assert_eq!(store.created(), Some(Timestamp(-5)));
    drop(store);
    let mut store = Store::open(dir.path(), later).unwrap();
    let state = (store.created(), store.next_sender());
    assert_eq!(state, (Some(Timestamp(-5)), 1));
    store.reset(1, 1).unwrap();
    assert_eq!(store.created(), None);
    let survey = survey(dir.path(), &mut |_, _| ControlFlow::Continue(()));
    assert_eq!(survey.unwrap().created, None);
}

#[test]
fn a_reply_and_what_it_answers_are_kept_together() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = Store::open(dir.path(), small()).unwrap();
    for number in 1..200_u64 {
        let message = vec![number as u8; number as usize];
        match number % 3 {
            0 => store.append(number, &message).unwrap(),
            _ => store
                .append_and_receive(number, &message, 10 * number)
                .unwrap(),
        }
    }
    let wrong = store.append_and_receive(5, b"x", 1).unwrap_err();
    assert!(matches!(
        wrong,
        StoreError::Order {
            given: 5,
            next: 200
        }
    ));
    let check = |store: &Store| {
        assert_eq!((store.next_sender(), store.next_target()), (200, 1990));
        for number in 1..200_u64 {
            let message = vec![number as u8; number as usize];
            assert_eq!(store.get(number).unwrap(), Some(&message[..]));
            assert_eq!(store.verified(number).unwrap(), Some(&message[..]));
        }
    };
    check(&store);
    drop(store);
    let store = Store::open(dir.path(), small()).unwrap();
    check(&store);
    let mut bytes = 0;
    let survey = survey(dir.path(), &mut |_, seen| {
        if let Seen::Message { bytes: message, .. } = seen {
            bytes += message.len();
        }
        ControlFlow::Continue(())
    });
    let survey = survey.unwrap();
    assert_eq!((survey.messages, survey.next_target), (199, 1990));
    assert_eq!((bytes, survey.damaged), ((1..200).sum(), 0));
}

#[test]
fn a_step_that_was_cut_short_is_not_there_at_all() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = Store::open(dir.path(), small()).unwrap();
    store.append_and_receive(1, b"first", 7).unwrap();
    store
        .append_and_receive(2, b"second, and longer", 8)
        .unwrap();
    drop(store);
    let path = dir.path().join("0000000001.segment");
    let bytes = fs::read(&path).unwrap();
    let at = bytes.windows(6).position(|part| part == b"second").unwrap();
    for cut in at - 28..at + 18 {
        let mut torn = bytes.clone();
        torn[cut..at + 18].fill(0);
        fs::write(&path, &torn).unwrap();
        let store = Store::open(dir.path(), small()).unwrap();
        assert_eq!((store.next_sender(), store.next_target()), (2, 7), "{cut}");
        assert_eq!(store.get(1).unwrap(), Some(&b"first"[..]));
    }
}

#[test]
fn a_reset_of_much_leaves_one_file_and_an_open_store() {
    let dir = tempfile::tempdir().unwrap();
    let options = Options::default().segment_bytes(1 << 20);
    let segments = || {
        let names = fs::read_dir(dir.path()).unwrap().flatten();
        let names = names.map(|entry| entry.file_name().into_string().unwrap());
        names.filter(|name| name.ends_with(".segment")).count()
    };
    for round in 0..5 {
        let mut store = Store::open(dir.path(), options.clone()).unwrap();
        // Two resets, one right after the other: memory of the first may still be in use then.
        for _ in 0..2 {
            for number in 1..=400 {
                store.append(number, &[round; 10_000]).unwrap();
            }
            assert_eq!(store.segments(), 4);
            store.reset(1, 1).unwrap();
            assert_eq!((store.segments(), segments()), (1, 1));
        }
        store.append(1, b"new").unwrap();
        assert_eq!(store.get(1).unwrap(), Some(&b"new"[..]));
        // The lock is free as soon as the store is closed, whatever still has memory of it.
        drop(store);
        let mut store = Store::open(dir.path(), options.clone()).unwrap();
        assert_eq!(store.next_sender(), 2);
        store.reset(1, 1).unwrap();
    }
}
