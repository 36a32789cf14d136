//! The store compared with a model, and with truncated, corrupted, emptied and full files.

#![allow(
    clippy::unwrap_used,
    reason = "a test that unwraps fails with the place in hand"
)]

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::ops::ControlFlow;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use fixcore::store::{
    Damage, Durability, OnDamage, Options, Seen, Store, StoreError, Survey, survey, survey_bytes,
};
use proptest::prelude::*;

const SMALL: usize = 4096;

fn options(segment_bytes: usize, durability: Durability) -> Options {
    let mut options = Options::default();
    options.segment_bytes = segment_bytes;
    options.durability = durability;
    options
}

/// A directory, in memory if the system has that: these tests need no disk.
fn tempdir() -> tempfile::TempDir {
    let memory = tempfile::tempdir_in("/dev/shm");
    memory.or_else(|_| tempfile::tempdir()).unwrap()
}

fn small() -> Options {
    options(SMALL, Durability::None)
}

fn content(number: u64, bytes: usize) -> Vec<u8> {
    let word = number.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes();
    word.into_iter().cycle().take(bytes).collect()
}

fn segment(dir: &Path, number: u64) -> PathBuf {
    dir.join(format!("{number:010}.segment"))
}

/// Offsets of messages in a segment.
fn offsets(dir: &Path, of: &Path) -> Vec<(u64, u64)> {
    let mut found = Vec::new();
    let seen = survey(dir, &mut |path, seen| {
        if let Seen::Message { offset, number, .. } = seen
            && path == of
        {
            found.push((number, offset));
        }
        ControlFlow::Continue(())
    });
    seen.unwrap();
    found
}

fn last_segment(dir: &Path) -> PathBuf {
    let names = fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let segments = names.filter(|path| path.extension().is_some_and(|end| end == "segment"));
    segments.max().unwrap()
}

fn look(dir: &Path) -> Survey {
    survey(dir, &mut |_, _| ControlFlow::Continue(())).unwrap()
}

#[derive(Debug, Clone)]
enum Op {
    Append(usize),
    NextTarget(u64),
    SkipSender(u64),
    Reset(u64),
    Sync,
    Prepare,
    Reopen,
    /// Cuts the last segment within one of its messages.
    Cut(usize, usize),
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let op = prop_oneof![
        30 => (0usize..700).prop_map(Op::Append),
        4 => (1u64..1000).prop_map(Op::NextTarget),
        2 => prop_oneof![0u64..40, 5000u64..6000].prop_map(Op::SkipSender),
        1 => (1u64..50).prop_map(Op::Reset),
        2 => Just(Op::Sync),
        3 => Just(Op::Prepare),
        3 => Just(Op::Reopen),
        2 => (any::<usize>(), any::<usize>()).prop_map(|(of, at)| Op::Cut(of, at)),
    ];
    prop::collection::vec(op, 1..80)
}

/// What the store should hold after each record.
#[derive(Debug, Clone, Default)]
struct Model {
    log: Vec<(u64, u64, Option<Vec<u8>>)>,
    begin: (u64, u64),
}

impl Model {
    fn next(&self) -> (u64, u64) {
        self.log.last().map_or(self.begin, |last| (last.0, last.1))
    }

    fn messages(&self) -> BTreeMap<u64, Vec<u8>> {
        let messages = self.log.iter().filter_map(|(next, _, message)| {
            let message = message.as_ref()?;
            Some((next - 1, message.clone()))
        });
        messages.collect()
    }

    fn check(&self, store: &Store) {
        assert_eq!((store.next_sender(), store.next_target()), self.next());
        let messages = self.messages();
        for (number, message) in &messages {
            assert_eq!(store.get(*number).unwrap(), Some(&message[..]), "{number}");
        }
        let all = store
            .range(0..=u64::MAX)
            .map(|(number, found)| (number, found.unwrap().to_vec()));
        assert!(all.eq(messages));
        assert_eq!(store.get(store.next_sender()).unwrap(), None);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn a_store_is_its_model(ops in ops(), batch in any::<bool>()) {
        let dir = tempdir();
        let options = options(SMALL, if batch { Durability::Batch } else { Durability::None });
        let open = || Store::open(dir.path(), options.clone()).unwrap();
        let mut store = open();
        let mut model = Model { begin: (1, 1), ..Model::default() };
        for op in ops {
            let (sender, target) = model.next();
            match op {
                Op::Append(bytes) => {
                    let message = content(sender, bytes);
                    store.append(sender, &message).unwrap();
                    model.log.push((sender + 1, target, Some(message)));
                }
                Op::NextTarget(number) => {
                    store.set_next_target(number).unwrap();
                    model.log.push((sender, number, None));
                }
                Op::SkipSender(by) => {
                    store.set_next_sender(sender + by).unwrap();
                    model.log.push((sender + by, target, None));
                }
                Op::Reset(number) => {
                    store.reset(number, number + 1).unwrap();
                    model = Model { begin: (number, number + 1), ..Model::default() };
                }
                Op::Sync => store.sync().unwrap(),
                Op::Prepare => drop(store.prepare(SMALL).unwrap()),
                Op::Reopen => {
                    drop(store);
                    store = open();
                    prop_assert_eq!(store.opened(), &Default::default());
                }
                Op::Cut(of, at) => {
                    drop(store);
                    let last = last_segment(dir.path());
                    let found = offsets(dir.path(), &last);
                    if !found.is_empty() {
                        let (number, offset) = found[of % found.len()];
                        let index = model.log.iter().position(|entry| {
                            entry.2.is_some() && entry.0 == number + 1
                        });
                        let index = index.unwrap();
                        let bytes = 20 + model.log[index].2.as_ref().unwrap().len();
                        let whole = fs::read(&last).unwrap();
                        let cut = offset as usize + at % bytes;
                        let file = OpenOptions::new().write(true).open(&last).unwrap();
                        file.set_len(cut as u64).unwrap();
                        // What opens a short segment fills it with zeros: a message that lost only zeros is whole.
                        let lost = &whole[cut..offset as usize + bytes];
                        let kept = usize::from(lost.iter().all(|byte| *byte == 0));
                        model.log.truncate(index + kept);
                    }
                    store = open();
                }
            }
            model.check(&store);
        }
        let seen = look(dir.path());
        prop_assert_eq!(seen.messages, model.messages().len() as u64);
        prop_assert_eq!((seen.damaged, seen.torn_bytes), (0, 0));
        prop_assert_eq!((seen.next_sender, seen.next_target), model.next());
    }
}

/// A store with this many messages of 100 bytes.
fn filled(options: &Options, messages: u64) -> tempfile::TempDir {
    let dir = tempdir();
    let mut store = Store::open(dir.path(), options.clone()).unwrap();
    for number in 1..=messages {
        store.append(number, &content(number, 100)).unwrap();
    }
    dir
}

#[test]
fn cut_at_every_byte_it_keeps_what_is_whole() {
    let dir = filled(&small(), 4);
    let path = segment(dir.path(), 1);
    let whole = fs::read(&path).unwrap();
    let ends: Vec<u64> = offsets(dir.path(), &path)
        .iter()
        .map(|(_, offset)| offset + 120)
        .collect();
    let end = *ends.last().unwrap() as usize;
    for bytes in (0..end + 16).chain([SMALL - 1, SMALL]) {
        fs::write(&path, &whole[..bytes]).unwrap();
        if bytes < 128 {
            let error = Store::open(dir.path(), small()).unwrap_err();
            let is_header = matches!(
                error,
                StoreError::Damaged {
                    damage: Damage::Header,
                    ..
                }
            );
            assert!(is_header, "{error}");
            continue;
        }
        let kept = ends.iter().filter(|end| **end <= bytes as u64).count() as u64;
        let mut store = Store::open(dir.path(), small()).unwrap();
        assert_eq!(store.next_sender(), kept + 1, "cut at {bytes}");
        let begun = ends
            .get(kept as usize)
            .map_or(u64::MAX / 2, |end| end - 120);
        // At least the last byte of the header's first word is not zero.
        let is_torn = bytes as u64 > begun + 8;
        assert!(!is_torn || store.opened().torn.is_some(), "cut at {bytes}");
        store.append(kept + 1, b"another").unwrap();
        assert_eq!(store.range(1..=kept).count() as u64, kept);
        drop(store);
        let store = Store::open(dir.path(), small()).unwrap();
        assert_eq!(store.opened(), &Default::default());
        assert_eq!(store.verified(kept + 1).unwrap(), Some(&b"another"[..]));
    }
}

#[test]
fn no_flipped_bit_is_handed_out() {
    let messages = 3;
    let dir = filled(&small(), messages);
    let path = segment(dir.path(), 1);
    let mut bytes = fs::read(&path).unwrap();
    let (_, last) = *offsets(dir.path(), &path).last().unwrap();
    let end = last as usize + 120;
    let index = SMALL - 4 * messages as usize;
    for bit in 0..SMALL * 8 {
        let at = bit / 8;
        bytes[at] ^= 1 << (bit % 8);
        let mut seen_wrong = 0;
        let seen = survey_bytes(&bytes, &mut |_, seen| {
            match seen {
                Seen::Message { number, bytes, .. } => assert_eq!(bytes, content(number, 100)),
                _ => seen_wrong += 1,
            }
            ControlFlow::Continue(())
        });
        // The index of the last segment is rebuilt.
        assert_eq!(seen_wrong > 0, at < index, "bit {bit}");
        assert!(seen.messages <= messages);
        let near = at < end + 16 || at >= index - 8;
        if near && bit % 3 == 0 {
            fs::write(&path, &bytes).unwrap();
            match Store::open(dir.path(), small()) {
                Ok(store) => {
                    for (number, message) in store.range(1..=u64::MAX) {
                        assert_eq!(message.unwrap(), content(number, 100));
                    }
                    let is_whole = store.next_sender() == messages + 1;
                    assert!(is_whole || store.opened().torn.is_some(), "bit {bit}");
                    // Only the last message can look as if it were being written.
                    assert!(store.next_sender() >= messages, "bit {bit}");
                }
                Err(StoreError::Damaged { offset, .. }) => {
                    assert!(offset <= at as u64 && at < last as usize, "bit {bit}");
                }
                Err(error) => panic!("{error}"),
            }
        }
        bytes[at] ^= 1 << (bit % 8);
    }
}

/// Overwrites the message of a number in the first segment with zeros.
fn erase(dir: &Path, number: u64) -> u64 {
    let path = segment(dir, 1);
    let found = offsets(dir, &path);
    let (_, offset) = found.iter().find(|found| found.0 == number).unwrap();
    let file = OpenOptions::new().write(true).open(&path).unwrap();
    file.write_all_at(&[0; 120], *offset).unwrap();
    *offset
}

#[test]
fn what_was_synced_is_damaged_and_what_was_not_is_torn() {
    let batch = options(SMALL, Durability::Batch);
    let make = || {
        let dir = tempdir();
        let mut store = Store::open(dir.path(), batch.clone()).unwrap();
        for number in 1..=6 {
            store.append(number, &content(number, 100)).unwrap();
            if number == 3 {
                store.sync().unwrap();
            }
        }
        dir
    };
    // As after a power failure before the pages of message 4 were written.
    let dir = make();
    let offset = erase(dir.path(), 4);
    let store = Store::open(dir.path(), batch.clone()).unwrap();
    assert_eq!(store.next_sender(), 4);
    assert_eq!(store.opened().torn.as_ref().unwrap().offset, offset);
    // Only damage loses a synced message.
    let dir = make();
    let erased = erase(dir.path(), 2);
    match Store::open(dir.path(), batch.clone()).unwrap_err() {
        StoreError::Damaged { offset, damage, .. } => {
            assert_eq!((offset, damage), (erased, Damage::Missing));
        }
        error => panic!("{error}"),
    }
    assert_eq!(look(dir.path()).damaged, 1);
    let mut skipping = batch;
    skipping.on_damage = OnDamage::Skip;
    let mut store = Store::open(dir.path(), skipping).unwrap();
    assert_eq!(store.opened().damaged.len(), 1);
    assert_eq!((store.next_sender(), store.verified(2).unwrap()), (7, None));
    let left: Vec<_> = store.range(1..=9).map(|(number, _)| number).collect();
    assert_eq!(left, [1, 3, 4, 5, 6]);
    store.append(7, b"more").unwrap();
    assert_eq!(store.get(7).unwrap(), Some(&b"more"[..]));
}

/// Loses pages of a file that was never synced, as a power failure does: pages that the system had not
/// written are zeros, and if it had not written the length either, the file is shorter.
fn lose_pages(path: &Path, random: &mut impl FnMut(u64) -> u64) {
    const PAGE: u64 = 4096;
    let file = OpenOptions::new().write(true).open(path).unwrap();
    let pages = file.metadata().unwrap().len() / PAGE;
    match random(5) {
        0 => file.set_len(PAGE * random(pages)).unwrap(),
        1 => (0..random(3)).for_each(|_| {
            let page = random(pages);
            file.write_all_at(&[0; PAGE as usize], PAGE * page).unwrap();
        }),
        2 => (random(pages)..pages).for_each(|page| {
            file.write_all_at(&[0; PAGE as usize], PAGE * page).unwrap();
        }),
        _ => {}
    }
}

#[test]
fn without_a_policy_the_end_of_power_takes_messages_and_makes_up_none() {
    const MESSAGES: u64 = 500;
    let options = options(8 * SMALL, Durability::None);
    let mut skip = options.clone();
    skip.on_damage = OnDamage::Skip;
    let whole = filled(&options, MESSAGES);
    let mut state = 7_u64;
    let mut random = |below: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) % below.max(1)
    };
    let (mut ends_lost, mut refused, mut skipped, mut lost) = (0, 0, 0, 0);
    for _ in 0..300 {
        let dir = tempdir();
        for entry in fs::read_dir(whole.path()).unwrap() {
            let entry = entry.unwrap();
            let copy = dir.path().join(entry.file_name());
            fs::copy(entry.path(), &copy).unwrap();
            if entry.path().extension().is_some_and(|end| end == "segment") {
                lose_pages(&copy, &mut random);
            }
        }
        let seen = look(dir.path());
        let mut opened = Store::open(dir.path(), options.clone());
        if matches!(opened, Err(StoreError::Damaged { .. })) {
            refused += 1;
            assert!(seen.damaged > 0);
            opened = Store::open(dir.path(), skip.clone());
            skipped += u64::from(opened.is_ok());
        }
        let store = match opened {
            Ok(store) => store,
            Err(StoreError::Damaged { .. }) => continue,
            Err(error) => panic!("{error}"),
        };
        let next = store.next_sender();
        ends_lost += u64::from(next <= MESSAGES);
        for (number, found) in store.range(1..=u64::MAX) {
            assert!(number < next && number <= MESSAGES);
            match found {
                Ok(found) => assert_eq!(found, content(number, 100), "message {number}"),
                Err(StoreError::Damaged { .. }) => lost += 1,
                Err(error) => panic!("{error}"),
            }
        }
    }
    // Each of these outcomes occurs, so no more can be guaranteed.
    assert!(ends_lost > 0 && refused > skipped && skipped > 0 && lost > 0);
}

#[test]
fn a_segment_that_lost_its_first_page_is_not_taken_for_an_unused_one() {
    let dir = filled(&options(8 * SMALL, Durability::None), 500);
    let path = last_segment(dir.path());
    let file = OpenOptions::new().write(true).open(&path).unwrap();
    file.write_all_at(&[0; 4096], 0).unwrap();
    for on_damage in [OnDamage::Refuse, OnDamage::Skip] {
        let mut options = small();
        options.on_damage = on_damage;
        match Store::open(dir.path(), options).unwrap_err() {
            StoreError::Damaged {
                path: of, damage, ..
            } => assert_eq!((of, damage), (path.clone(), Damage::Header)),
            error => panic!("{error}"),
        }
    }
    assert!(path.exists());
    assert_eq!(look(dir.path()).damaged, 1);
}

#[test]
fn damage_to_what_was_synced_last_is_no_torn_end() {
    let batch = options(SMALL, Durability::Batch);
    let dir = tempdir();
    let mut store = Store::open(dir.path(), batch.clone()).unwrap();
    for number in 1..=6 {
        store.append(number, &content(number, 100)).unwrap();
    }
    store.sync().unwrap();
    let bytes = look(dir.path()).file_bytes;
    // Syncs without new messages add no records.
    for _ in 0..1000 {
        store.sync().unwrap();
    }
    assert_eq!((store.segments(), look(dir.path()).file_bytes), (1, bytes));
    drop(store);
    let erased = erase(dir.path(), 6);
    match Store::open(dir.path(), batch.clone()).unwrap_err() {
        StoreError::Damaged { offset, damage, .. } => {
            assert_eq!((offset, damage), (erased, Damage::Missing));
        }
        error => panic!("{error}"),
    }
    let mut skipping = batch;
    skipping.on_damage = OnDamage::Skip;
    let mut store = Store::open(dir.path(), skipping).unwrap();
    assert_eq!(store.next_sender(), 7, "a number is not given again");
    store.append(7, b"more").unwrap();
    let left: Vec<_> = store.range(1..=9).map(|(number, _)| number).collect();
    assert_eq!(left, [1, 2, 3, 4, 5, 7]);
}

#[test]
fn damage_in_full_segments_is_found_when_it_is_read() {
    let dir = filled(&small(), 100);
    let path = segment(dir.path(), 1);
    let (number, offset) = offsets(dir.path(), &path)[7];
    let file = OpenOptions::new().write(true).open(&path).unwrap();
    file.write_all_at(b"x", offset + 50).unwrap();
    let store = Store::open(dir.path(), small()).unwrap();
    match store.verified(number).unwrap_err() {
        StoreError::Damaged {
            offset: at, damage, ..
        } => {
            assert_eq!((at, damage), (offset, Damage::Checksum));
        }
        error => panic!("{error}"),
    }
    assert_eq!(
        store
            .range(1..=100)
            .filter(|(_, found)| found.is_err())
            .count(),
        1
    );
    assert_eq!(look(dir.path()).damaged, 1);
}

#[test]
fn an_index_that_is_lost_is_made_anew() {
    let dir = filled(&small(), 100);
    let path = segment(dir.path(), 1);
    let file = OpenOptions::new().write(true).open(&path).unwrap();
    file.write_all_at(&[0; 16], SMALL as u64 - 32).unwrap();
    assert_eq!(look(dir.path()).damaged, 4);
    let store = Store::open(dir.path(), small()).unwrap();
    assert_eq!(store.opened().indexes_rebuilt, 1);
    assert_eq!(
        store
            .range(1..=100)
            .filter(|(_, found)| found.is_ok())
            .count(),
        100
    );
    drop(store);
    assert_eq!(look(dir.path()).damaged, 0);
    // The loss of a full segment's end is detected.
    file.set_len(1000).unwrap();
    assert!(matches!(
        Store::open(dir.path(), small()),
        Err(StoreError::Damaged {
            offset: 1000,
            damage: Damage::Missing,
            ..
        })
    ));
    fs::remove_file(&path).unwrap();
    fs::write(segment(dir.path(), 1), b"").unwrap();
    assert!(Store::open(dir.path(), small()).is_err());
}

#[test]
fn numbers_are_given_once() {
    let dir = filled(&small(), 3);
    let mut store = Store::open(dir.path(), small()).unwrap();
    for given in [0, 3, 5, u64::MAX] {
        match store.append(given, b"x").unwrap_err() {
            StoreError::Order { next, .. } => assert_eq!(next, 4),
            error => panic!("{error}"),
        }
    }
    assert!(matches!(
        store.set_next_sender(3),
        Err(StoreError::Order { .. })
    ));
    store.set_next_sender(10).unwrap();
    store.set_next_sender(1 << 40).unwrap();
    store.append(1 << 40, b"far").unwrap();
    drop(store);
    let store = Store::open(dir.path(), small()).unwrap();
    assert_eq!(store.next_sender(), (1 << 40) + 1);
    let found: Vec<_> = store
        .range(0..=u64::MAX)
        .map(|(number, _)| number)
        .collect();
    assert_eq!(found, [1, 2, 3, 1 << 40]);
}

#[test]
fn a_reset_that_was_cut_short_is_finished() {
    let dir = filled(&small(), 60);
    let old: Vec<_> = (1..=2)
        .map(|number| fs::read(segment(dir.path(), number)).unwrap())
        .collect();
    let mut store = Store::open(dir.path(), small()).unwrap();
    store.set_next_target(9).unwrap();
    store.reset(1, 1).unwrap();
    store.append(1, b"new").unwrap();
    drop(store);
    // As if the process had ended before it removed the old files.
    for (number, bytes) in (1..).zip(old) {
        fs::write(segment(dir.path(), number), bytes).unwrap();
    }
    assert_eq!(look(dir.path()).messages, 1);
    let store = Store::open(dir.path(), small()).unwrap();
    assert_eq!((store.next_sender(), store.next_target()), (2, 1));
    assert_eq!(store.get(1).unwrap(), Some(&b"new"[..]));
    assert!(!segment(dir.path(), 1).exists());
}

#[test]
fn a_full_store_is_as_it_was_and_goes_on_when_there_is_room() {
    let mut limited = small();
    limited.segments_max = 2;
    let dir = tempdir();
    let mut store = Store::open(dir.path(), limited).unwrap();
    let mut number = 1;
    let full = loop {
        match store.append(number, &content(number, 100)) {
            Ok(()) => number += 1,
            Err(error) => break error,
        }
    };
    assert!(full.is_full(), "{full}");
    assert_eq!(store.next_sender(), number);
    assert_eq!(store.range(1..=number).count() as u64, number - 1);
    assert!(
        store
            .append(number, &content(number, 100))
            .unwrap_err()
            .is_full()
    );
    drop(store);
    let mut store = Store::open(dir.path(), small()).unwrap();
    store.append(number, &content(number, 100)).unwrap();
    assert_eq!(store.range(1..=number).count() as u64, number);
}

#[test]
fn messages_of_every_length_up_to_the_longest() {
    let dir = tempdir();
    let mut store = Store::open(dir.path(), small()).unwrap();
    let Err(StoreError::TooLong { bytes_max, .. }) = store.append(1, &[1; SMALL]) else {
        panic!("a message as long as a segment fits");
    };
    for (number, bytes) in (1..).zip((0..40).chain(bytes_max - 40..=bytes_max)) {
        store.append(number, &content(number, bytes)).unwrap();
    }
    let error = store
        .append(store.next_sender(), &vec![1; bytes_max + 1])
        .unwrap_err();
    assert!(matches!(error, StoreError::TooLong { .. }));
    drop(store);
    let store = Store::open(dir.path(), small()).unwrap();
    for (number, bytes) in (1..).zip((0..40).chain(bytes_max - 40..=bytes_max)) {
        assert_eq!(
            store.verified(number).unwrap(),
            Some(&content(number, bytes)[..])
        );
    }
}

#[test]
fn a_message_that_looks_like_a_record_is_none() {
    let dir = filled(&small(), 2);
    let record = fs::read(segment(dir.path(), 1)).unwrap();
    let (_, offset) = offsets(dir.path(), &segment(dir.path(), 1))[1];
    let record = &record[offset as usize..][..120];
    let other = tempdir();
    let mut store = Store::open(other.path(), small()).unwrap();
    store.append(1, &content(1, 100)).unwrap();
    // The content begins 20 bytes into its record: four more, and the copy is aligned.
    store.append(2, &[&[0; 4], record].concat()).unwrap();
    drop(store);
    let path = segment(other.path(), 1);
    let (_, at) = offsets(other.path(), &path)[1];
    let file = OpenOptions::new().write(true).open(&path).unwrap();
    file.write_all_at(b"x", at + 21).unwrap();
    let store = Store::open(other.path(), small()).unwrap();
    assert_eq!(store.next_sender(), 2, "a forged record was taken for one");
}
