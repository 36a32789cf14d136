//! Snapshots: saved and read back, torn and forged, and searched by threads while a writer goes on.

use std::convert::Infallible;
use std::sync::mpsc::channel;

use crate::common::generate::{event, expression};
use crate::common::oracle::Ast;
use crate::common::{Random, domain, insert, tree};
use betree::{BeTree, ErrorKind, Name, Names, Place, Snapshot, SubscriptionId, Undefined};

fn saved(snapshot: &Snapshot) -> Vec<u8> {
    let mut bytes = Vec::new();
    let Ok(()) = snapshot.save(|piece| {
        bytes.extend_from_slice(piece);
        Ok::<(), Infallible>(())
    });
    bytes
}

fn texts(random: &mut Random, count: usize) -> Vec<String> {
    let one = |_| {
        let leaves = 1 + random.below(8);
        expression(random, leaves).text()
    };
    (0..count).map(one).collect()
}

/// Writes the checksums of a forged file anew, so that only its content is wrong.
fn resum(bytes: &mut [u8]) {
    let sum = crc32fast::hash(&bytes[..24]).to_le_bytes();
    bytes[24..28].copy_from_slice(&sum);
    let mut at = 28;
    while at + 16 <= bytes.len() {
        let mut length = [0; 8];
        length.copy_from_slice(&bytes[at + 4..at + 12]);
        let end = at
            .saturating_add(12)
            .saturating_add(u64::from_le_bytes(length) as usize);
        if end.saturating_add(4) > bytes.len() {
            return;
        }
        let sum = crc32fast::hash(&bytes[at..end]).to_le_bytes();
        bytes[end..end + 4].copy_from_slice(&sum);
        at = end + 4;
    }
}

#[test]
fn what_is_read_back_finds_the_same_and_goes_on() {
    let mut random = Random(11);
    for undefined in [Undefined::False, Undefined::Unknown] {
        let texts = texts(&mut random, 300);
        let mut tree = tree(domain(), undefined, &texts);
        // Several parts, some of whose expressions are gone.
        tree.snapshot();
        for (id, text) in (1_000..).zip(&texts[..40]) {
            insert(&mut tree, id, text);
        }
        tree.delete(SubscriptionId(7)).expect("it is there");
        tree.delete(SubscriptionId(1_003)).expect("it is there");
        let snapshot = tree.snapshot();
        let bytes = saved(&snapshot);
        let read = Snapshot::load(&bytes).expect("what was saved");
        assert!(saved(&read) == bytes, "the same state is the same bytes");
        assert_eq!((read.len(), read.undefined()), (338, undefined));
        assert_eq!(read.ids(), snapshot.ids());
        let mut onward = BeTree::from_snapshot(&read);
        insert(&mut onward, 7, &texts[3]);
        let onward = onward.snapshot();
        for _ in 0..30 {
            let json = event(&mut random).to_string();
            let search = |snapshot: &Snapshot| {
                let event = snapshot.event(&json).expect("an event");
                snapshot.search(&event).expect("its own event")
            };
            let found = search(&snapshot);
            assert_eq!(search(&read), found);
            let mut more = search(&onward);
            assert_eq!(
                more.contains(&SubscriptionId(7)),
                found.contains(&SubscriptionId(4))
            );
            more.retain(|id| id.0 != 7);
            assert_eq!(more, found);
        }
    }
    let empty = BeTree::new(domain(), Undefined::False).snapshot();
    let read = Snapshot::load(&saved(&empty)).expect("no expressions");
    assert!(read.is_empty());
}

#[test]
fn every_cut_and_every_flip_is_refused_at_a_byte_of_the_file() {
    let mut random = Random(12);
    let snapshot = tree(domain(), Undefined::False, &texts(&mut random, 20)).snapshot();
    let bytes = saved(&snapshot);
    let refused = |bytes: &[u8]| {
        let error = Snapshot::load(bytes).expect_err("it is not what was saved");
        let Place::Byte(at) = error.place() else {
            panic!("no byte: {error}");
        };
        assert!(at <= bytes.len(), "{error}");
        error.kind()
    };
    for length in 0..bytes.len() {
        let kind = refused(&bytes[..length]);
        let expected = match length {
            0 => ErrorKind::ForeignSnapshot,
            _ => ErrorKind::TornSnapshot,
        };
        assert_eq!(kind, expected, "{length}");
    }
    for at in 0..bytes.len() {
        let mut flipped = bytes.clone();
        flipped[at] ^= 1 << random.below(8);
        let kind = refused(&flipped);
        assert_eq!(kind == ErrorKind::ForeignSnapshot, at < 8, "{at}");
    }
    let mut newer = bytes.clone();
    newer[8] = 3;
    resum(&mut newer);
    assert_eq!(refused(&newer), ErrorKind::ForeignSnapshot);
}

fn saved_named(snapshot: &Snapshot, names: &Names) -> Vec<u8> {
    let mut bytes = Vec::new();
    let Ok(()) = snapshot.save_named(names, |piece| {
        bytes.extend_from_slice(piece);
        Ok::<(), Infallible>(())
    });
    bytes
}

#[test]
fn names_are_saved_and_read_back_and_files_without_them_stay_as_they_were() {
    let mut random = Random(21);
    let snapshot = tree(domain(), Undefined::False, &texts(&mut random, 6)).snapshot();
    let plain = saved(&snapshot);
    assert!(saved_named(&snapshot, &Names::new()) == plain);
    let (_, none) = Snapshot::load_named(&plain).expect("version 1");
    assert!(none.is_empty());
    let mut names = Names::new();
    let ids = snapshot.ids().to_vec();
    let texts = ["spring", "\0\n\"\u{1b}", "7", "-9"];
    for (id, text) in ids.iter().zip(texts) {
        names.push(*id, Name::parse(text)).expect("it is new");
    }
    let bytes = saved_named(&snapshot, &names);
    let (read, found) = Snapshot::load_named(&bytes).expect("version 2");
    assert_eq!(found, names);
    assert_eq!(found.find("7"), Some(ids[2]));
    assert!(saved(&read) == plain, "the names stand apart");
    // Names of what is not there are left out.
    let last = ids.last().expect("some").0;
    names
        .push(SubscriptionId(last + 1), Name::text("gone"))
        .expect("it is new");
    assert!(saved_named(&snapshot, &names) == bytes);
    for at in 0..bytes.len() {
        let mut flipped = bytes.clone();
        flipped[at] ^= 1 << random.below(8);
        Snapshot::load_named(&flipped).expect_err("it is not what was saved");
        Snapshot::load_named(&bytes[..at]).expect_err("it is torn");
    }
    let mut accepted = 0;
    for _ in 0..4_000 {
        let mut forged = bytes.clone();
        let at = plain.len() + random.below((bytes.len() - plain.len()) as u64) as usize;
        forged[at] ^= 1 << random.below(8);
        resum(&mut forged);
        if let Ok((read, names)) = Snapshot::load_named(&forged) {
            accepted += 1;
            assert!(
                saved_named(&read, &names) == forged,
                "what is accepted is a state"
            );
        }
    }
    assert!(accepted > 100, "{accepted} forged files were states");
}

/// Forged files with correct checksums: what is accepted can be searched and explained.
#[test]
fn forged_files_are_refused_or_do_no_harm() {
    let mut random = Random(13);
    let snapshot = tree(domain(), Undefined::False, &texts(&mut random, 12)).snapshot();
    let bytes = saved(&snapshot);
    let mut accepted = 0;
    for _ in 0..6_000 {
        let mut forged = bytes.clone();
        for _ in 0..=random.below(2) {
            let at = random.below(bytes.len() as u64) as usize;
            forged[at] = match random.below(3) {
                0 => random.next() as u8,
                1 => forged[at] ^ 1 << random.below(8),
                _ => [0, 1, 0x7f, 0xff][random.below(4) as usize],
            };
        }
        resum(&mut forged);
        let Ok(read) = Snapshot::load(&forged) else {
            continue;
        };
        accepted += 1;
        assert!(saved(&read) == forged, "what is accepted is a state");
        let json = event(&mut random).to_string();
        let Ok(event) = read.event(&json) else {
            continue;
        };
        let found = read.search(&event).expect("its own event");
        for id in read.ids().iter().copied() {
            let explained = read.explain(&event, id).expect("it is there");
            assert_eq!(explained.matched, found.contains(&id));
        }
    }
    assert!(accepted > 100, "{accepted} forged files were states");
}

#[test]
fn readers_keep_their_state_while_a_writer_makes_the_next() {
    let mut random = Random(14);
    let asts: Vec<Ast> = (0..200)
        .map(|_| {
            let leaves = 1 + random.below(6);
            expression(&mut random, leaves)
        })
        .collect();
    let events: Vec<_> = (0..20).map(|_| event(&mut random)).collect();
    std::thread::scope(|scope| {
        let mut senders = Vec::new();
        for _ in 0..3 {
            let (sender, states) = channel::<(Snapshot, usize)>();
            senders.push(sender);
            let (asts, events) = (&asts, &events);
            scope.spawn(move || {
                for (snapshot, count) in states {
                    for event in events {
                        let right: Vec<SubscriptionId> = (1..=count as u64)
                            .filter(|id| asts[*id as usize - 1].matches(event))
                            .map(SubscriptionId)
                            .collect();
                        let read = snapshot.event(&event.to_string()).expect("an event");
                        assert_eq!(snapshot.search(&read).as_deref(), Ok(&right[..]));
                    }
                }
            });
        }
        let mut tree = BeTree::new(domain(), Undefined::False);
        for (index, ast) in asts.iter().enumerate() {
            insert(&mut tree, index as u64 + 1, &ast.text());
            if index % 7 == 0 {
                // The tree changes on at once, whatever the readers have come to.
                let snapshot = tree.snapshot();
                for sender in &senders {
                    sender
                        .send((snapshot.clone(), index + 1))
                        .expect("a reader");
                }
            }
        }
        drop(senders);
    });
}
