//! Bitmaps and batches find what searches of single events find, in any steps and on every
//! instruction set.

use crate::common::generate::{event, expression};
use crate::common::{Random, domain, insert, tree};
use betree::{Batch, Budget, Buffers, ErrorKind, Event, Isa, OVERSHOOT_MAX, Progress};
use betree::{Snapshot, SubscriptionId, Undefined};

fn texts(random: &mut Random, count: usize) -> Vec<String> {
    let one = |_| {
        let leaves = 1 + random.below(10);
        expression(random, leaves).text()
    };
    (0..count).map(one).collect()
}

/// One part; several, with expressions that are gone.
fn snapshots(random: &mut Random, undefined: Undefined) -> [Snapshot; 2] {
    let texts = texts(random, 500);
    let mut tree = tree(domain(), undefined, &texts);
    let first = tree.snapshot();
    for (id, text) in (1_000..).zip(&texts[..90]) {
        insert(&mut tree, id, text);
    }
    for id in [3, 64, 65, 400, 1_050] {
        tree.delete(SubscriptionId(id)).expect("it is there");
    }
    [first, tree.snapshot()]
}

fn events(snapshot: &Snapshot, random: &mut Random, count: usize) -> Vec<Event> {
    let read = |_| {
        snapshot
            .event(&event(random).to_string())
            .expect("an event")
    };
    (0..count).map(read).collect()
}

fn bits(snapshot: &Snapshot, ids: &[SubscriptionId]) -> Vec<u64> {
    let all = snapshot.ids();
    let mut bits = vec![0; all.len().div_ceil(64)];
    for (at, id) in all.iter().enumerate() {
        bits[at / 64] |= u64::from(ids.contains(id)) << (at % 64);
    }
    bits
}

#[test]
fn a_batch_finds_what_searches_find() {
    let mut random = Random(21);
    for undefined in [Undefined::False, Undefined::Unknown] {
        for snapshot in snapshots(&mut random, undefined) {
            for isa in Isa::ALL.into_iter().filter(|isa| isa.is_available()) {
                let mut batch = snapshot.batch_with(isa);
                for count in [1, 63, 64, 130] {
                    let events = events(&snapshot, &mut random, count);
                    let mut search = batch.search(&events).expect("its own events");
                    assert_eq!(search.step(Budget::UNLIMITED), Progress::Done);
                    compare(&snapshot, &batch, &events);
                }
            }
        }
    }
}

fn compare(snapshot: &Snapshot, batch: &Batch, events: &[Event]) {
    let (mut ids, mut bitmap) = (Vec::new(), Vec::new());
    for (at, event) in events.iter().enumerate() {
        let right = snapshot.search(event).expect("its own event");
        ids.clear();
        batch.ids(at, &mut ids);
        assert_eq!(ids, right, "event {at}");
        assert_eq!(batch.count(at), right.len() as u64);
        batch.bitmap(at, &mut bitmap);
        assert_eq!(bitmap, bits(snapshot, &right));
    }
}

#[test]
fn no_split_of_a_batch_changes_what_it_finds_or_its_reductions() {
    let mut random = Random(22);
    let [_, snapshot] = snapshots(&mut random, Undefined::False);
    let mut batch = snapshot.batch();
    let events = events(&snapshot, &mut random, 100);
    let mut whole = None;
    for budget in [u64::MAX, 1, 7, 1_000] {
        let mut search = batch.search(&events).expect("its own events");
        loop {
            let before = search.reductions();
            let progress = search.step(Budget::reductions(budget));
            let done = search.reductions() - before;
            assert!(done <= budget.saturating_add(OVERSHOOT_MAX), "{done}");
            if progress == Progress::Done {
                break;
            }
        }
        let reductions = search.reductions();
        assert_eq!(*whole.get_or_insert(reductions), reductions, "{budget}");
        compare(&snapshot, &batch, &events);
    }
    // One that is given up leaves nothing behind.
    let mut search = batch.search(&events[..50]).expect("its own events");
    search.step(Budget::reductions(30_000));
    let mut search = batch.search(&events[50..]).expect("its own events");
    search.step(Budget::UNLIMITED);
    compare(&snapshot, &batch, &events[50..]);
}

#[test]
fn a_batch_refuses_too_many_events_and_foreign_ones() {
    let mut random = Random(23);
    let [before, after] = snapshots(&mut random, Undefined::False);
    let event = &events(&before, &mut random, 1)[0];
    let many = vec![event.clone(); Batch::EVENTS_MAX + 1];
    let mut batch = before.batch();
    let refused = batch
        .search(&many)
        .map(|_| ())
        .map_err(|error| error.kind());
    assert_eq!(refused, Err(ErrorKind::TooLarge));
    let same = before.event("{}").is_err() && after.len() > before.len();
    assert!(same, "another state");
    let other = tree(domain(), Undefined::False, &["b1".to_owned()]).snapshot();
    let refused = other
        .batch()
        .search(&many[..1])
        .map(|_| ())
        .map_err(|error| error.kind());
    assert_eq!(refused, Err(ErrorKind::ForeignEvent));
}

#[test]
fn bitmaps_are_the_ids_in_any_steps() {
    let mut random = Random(24);
    for snapshot in snapshots(&mut random, Undefined::Unknown) {
        let mut buffers = Buffers::new();
        for event in events(&snapshot, &mut random, 40) {
            let right = bits(&snapshot, &snapshot.search(&event).expect("its own event"));
            let mut whole = None;
            for budget in [u64::MAX, 1, 50] {
                let search = snapshot.search_bitmap(&event, &mut buffers);
                let mut search = search.expect("its own event");
                while search.step(Budget::reductions(budget)) == Progress::Yielded {}
                assert_eq!(search.bitmap(), right);
                let reductions = search.reductions();
                assert_eq!(*whole.get_or_insert(reductions), reductions);
            }
        }
    }
}
