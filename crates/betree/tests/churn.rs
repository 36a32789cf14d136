//! A tree whose expressions come and go for long: the memory of those that are gone is given back, and so are their
//! names that are not used again. Bytes and answers, never times.

use std::collections::BTreeMap;

use crate::common::Random;
use betree::{
    BeTree, Constants, Domain, ErrorKind, Expression, Snapshot, SubscriptionId, Undefined,
};

const DOMAIN: &str = "deal|string|true\nsite|string|true||40\nids|integer list|true\ntags|string list|true\n\
                      n|integer|true\nsegments_with_timestamp|segments|true\nfrequency_caps|frequency|true\n\
                      title|string|true\n";
/// Expressions that stay, and expressions that come and go together.
const STAY: u64 = 300;
const GENERATION: u64 = 400;
const GENERATIONS: u64 = 30;

/// An expression with names that no other has.
fn text(number: u64) -> String {
    let many: Vec<String> = (0..20).map(|at| format!("'m{number}-{at}'")).collect();
    match number % 6 {
        0 => format!("deal = 'deal {number}' and n <> {number}"),
        1 => format!(
            "ids one of ({number}, {}) or deal = 'd{number}'",
            number + 1_000_000
        ),
        2 => format!(
            "tags all of ('tag {number}', 'both') and not deal in ({})",
            many.join(", ")
        ),
        3 => format!("segment_within({number}, 60) or tags none of ('t{number}', 'x{number}')"),
        4 => format!(
            "within_frequency_cap('flight', 'space {number}', 3, 60) and n in (1, {number})"
        ),
        _ => format!(
            "contains(title, 'part {number} of') or deal in ({}, 'z')",
            many.join(", ")
        ),
    }
}

/// An event that some of the expressions match.
fn event(random: &mut Random, last: u64) -> String {
    let mut number = || random.below(last + 10);
    format!(
        "{{\"deal\": \"deal {}\", \"ids\": [{}, {}], \"tags\": [\"tag {}\", \"both\"], \"n\": {}, \"now\": 100, \
         \"segments_with_timestamp\": [[{}, 90000000]], \"title\": \"part {} of many\", \
         \"frequency_caps\": [[\"flight\", {}, \"space {}\", 4, 90000000]]}}",
        number(),
        number(),
        number(),
        number(),
        number(),
        number(),
        number(),
        number(),
        number()
    )
}

fn insert(tree: &mut BeTree, id: u64, text: &str) -> betree::Result<()> {
    let constants = Constants {
        flight_id: Some(id as i64 % 7),
        ..Constants::default()
    };
    let expression = Expression::parse(text)?;
    tree.insert(SubscriptionId(id), &expression, &constants)
}

fn tree() -> BeTree {
    BeTree::new(Domain::parse(DOMAIN).expect("a domain"), Undefined::False)
}

fn search(snapshot: &Snapshot, json: &str) -> Vec<SubscriptionId> {
    let event = snapshot.event(json).expect("an event");
    snapshot.search(&event).expect("its own event")
}

fn check(snapshot: &Snapshot, model: &BTreeMap<u64, String>, random: &mut Random, last: u64) {
    let mut fresh = tree();
    for (id, text) in model {
        insert(&mut fresh, *id, text).expect("an expression");
    }
    let fresh = fresh.snapshot();
    assert_eq!(snapshot.len(), model.len());
    let mut matched = 0;
    for _ in 0..20 {
        let json = event(random, last);
        let found = search(snapshot, &json);
        assert_eq!(found, search(&fresh, &json), "{json}");
        matched += found.len();
        for id in found.iter().take(3) {
            let event = snapshot.event(&json).expect("an event");
            let why = snapshot.explain(&event, *id).expect("it is there");
            assert!(why.matched);
        }
    }
    assert!(matched > 0);
    let mut file = Vec::new();
    let saved: Result<(), ()> = snapshot.save(|piece| {
        file.extend_from_slice(piece);
        Ok(())
    });
    saved.expect("into memory");
    let loaded = Snapshot::load(&file).expect("what was saved");
    let json = event(random, last);
    assert_eq!(search(&loaded, &json), search(&fresh, &json));
}

/// The memory after each generation, by a way to make snapshots.
fn churn(mut settle: impl FnMut(&mut BeTree) -> Snapshot) -> Vec<usize> {
    let mut random = Random(7);
    let mut tree = tree();
    let mut model: BTreeMap<u64, String> = BTreeMap::new();
    let (mut bytes, mut next) = (Vec::new(), 0);
    for generation in 0..GENERATIONS {
        let count = if generation == 0 { STAY } else { GENERATION };
        let first = next;
        while next < first + count {
            let text = text(next);
            insert(&mut tree, next, &text).expect("an expression");
            model.insert(next, text);
            next += 1;
            if next % 50 == 0 {
                settle(&mut tree);
            }
        }
        if generation % 7 == 1 {
            check(&settle(&mut tree), &model, &mut random, next);
        }
        if generation > 0 {
            for id in first..next {
                tree.delete(SubscriptionId(id)).expect("it is there");
                model.remove(&id);
                if id % 60 == 0 {
                    settle(&mut tree);
                }
            }
        }
        bytes.push(settle(&mut tree).memory_bytes());
        if generation % 7 == 2 {
            check(&settle(&mut tree), &model, &mut random, next);
        }
    }
    bytes
}

fn assert_bounded(bytes: &[usize]) {
    let (early, late) = bytes.split_at(bytes.len() / 2);
    let (early, late) = (early.iter().max(), late.iter().max());
    assert!(late <= early, "{bytes:?}");
}

#[test]
fn snapshots_give_the_memory_of_what_is_gone_back() {
    assert_bounded(&churn(BeTree::snapshot));
}

#[test]
fn merges_elsewhere_give_the_memory_of_what_is_gone_back() {
    // A merge ends one snapshot later than it began, and the tree has changed by then.
    let mut under_way = None;
    assert_bounded(&churn(|tree| {
        match under_way.take() {
            None => under_way = tree.merge(),
            Some(merge) => assert!(tree.adopt(betree::Merge::run(merge))),
        }
        tree.prompt_snapshot(30)
    }));
}

#[test]
fn a_tree_that_gets_empty_is_as_small_as_it_was() {
    let mut tree = tree();
    for id in 0..3_000 {
        insert(&mut tree, id, &text(id)).expect("an expression");
    }
    let full = tree.snapshot().memory_bytes();
    for id in 0..3_000 {
        tree.delete(SubscriptionId(id)).expect("it is there");
    }
    let empty = tree.snapshot().memory_bytes();
    assert!(empty * 50 < full, "{empty} of {full}");
    insert(&mut tree, 1, "deal = 'x'").expect("an expression");
    let snapshot = tree.snapshot();
    assert_eq!(search(&snapshot, r#"{"deal": "x"}"#), [SubscriptionId(1)]);
}

#[test]
fn names_of_a_bounded_attribute_count_although_they_are_gone() {
    // What is refused must not depend on when names are dropped: a log of changes is repeated from its start.
    let mut tree = tree();
    for id in 0..40 {
        insert(&mut tree, id, &format!("site = 'site {id}'")).expect("within the bound");
        tree.delete(SubscriptionId(id)).expect("it is there");
    }
    for id in 0..2_000 {
        insert(&mut tree, 1_000 + id, &text(id)).expect("an expression");
        if id % 100 == 0 {
            tree.snapshot();
        }
        tree.delete(SubscriptionId(1_000 + id))
            .expect("it is there");
    }
    tree.snapshot();
    insert(&mut tree, 1, "site in ('site 0', 'site 39')").expect("known values");
    let refused = insert(&mut tree, 2, "site = 'one more'").unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Bounds);
    let snapshot = tree.snapshot();
    assert_eq!(
        search(&snapshot, r#"{"site": "site 39"}"#),
        [SubscriptionId(1)]
    );
}
