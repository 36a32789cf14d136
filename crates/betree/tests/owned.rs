//! Searches that own what they need find what borrowing searches find, in the same reductions.

use crate::common::generate::{event, expression};
use crate::common::{Random, domain, insert, tree};
use betree::{BeTree, Budget, Buffers, Domain, ErrorKind, OwnedSearch, Progress, Search};
use betree::{Snapshot, SubscriptionId, Undefined};

/// Several parts, with expressions that are gone.
fn snapshot(random: &mut Random) -> Snapshot {
    let mut one = || {
        let leaves = 1 + random.below(10);
        expression(random, leaves).text()
    };
    let texts: Vec<String> = (0..600).map(|_| one()).collect();
    let mut tree = tree(domain(), Undefined::False, &texts[..500]);
    let _first = tree.snapshot();
    for (id, text) in (1_000..).zip(&texts[500..]) {
        insert(&mut tree, id, text);
    }
    for id in [3, 64, 65, 400, 1_050] {
        tree.delete(SubscriptionId(id)).expect("it is there");
    }
    tree.snapshot()
}

/// Ids, reductions, matches and evaluated programs.
type Found = (Vec<SubscriptionId>, [u64; 3]);

fn borrowed(snapshot: &Snapshot, json: &str) -> Found {
    let event = snapshot.event(json).unwrap();
    let mut buffers = Buffers::new();
    let mut search: Search<'_> = snapshot.search_iterator(&event, &mut buffers).unwrap();
    search.step(Budget::UNLIMITED);
    let counts = [search.reductions(), search.matched(), search.evaluated()];
    (search.ids().to_vec(), counts)
}

fn found(search: &OwnedSearch) -> Found {
    let counts = [search.reductions(), search.matched(), search.evaluated()];
    (search.ids().to_vec(), counts)
}

#[test]
fn any_budget_finds_what_a_search_finds() {
    let mut random = Random(31);
    let snapshot = snapshot(&mut random);
    let mut buffers = Buffers::new();
    for _ in 0..40 {
        let json = event(&mut random).to_string();
        let expected = borrowed(&snapshot, &json);
        for budget in [1, 37, 2_000] {
            let event = snapshot.event(&json).unwrap();
            let mut search = OwnedSearch::new(snapshot.clone(), event, buffers).unwrap();
            while search.step(Budget::reductions(budget)) == Progress::Yielded {}
            assert_eq!(found(&search), expected, "budget {budget}");
            // More steps change nothing.
            assert_eq!(search.step(Budget::reductions(budget)), Progress::Done);
            assert_eq!(found(&search), expected, "budget {budget}");
            (_, buffers) = search.into_parts();
        }
    }
}

#[test]
fn a_search_moves_between_threads_and_outlives_its_tree() {
    let mut random = Random(32);
    let snapshot = snapshot(&mut random);
    let json = event(&mut random).to_string();
    let expected = borrowed(&snapshot, &json);
    let event = snapshot.event(&json).unwrap();
    let mut search = OwnedSearch::new(snapshot, event, Buffers::new()).unwrap();
    loop {
        let moved = std::thread::spawn(move || (search.step(Budget::reductions(50)), search));
        let (progress, back) = moved.join().unwrap();
        search = back;
        if progress == Progress::Done {
            break;
        }
    }
    assert_eq!(found(&search), expected);
}

#[test]
fn buffers_of_a_search_that_was_given_up_are_used_again() {
    let mut random = Random(33);
    let snapshot = snapshot(&mut random);
    let mut buffers = Buffers::new();
    for steps in 0..60 {
        let json = event(&mut random).to_string();
        let event = snapshot.event(&json).unwrap();
        let mut search = OwnedSearch::new(snapshot.clone(), event, buffers).unwrap();
        for _ in 0..steps {
            search.step(Budget::reductions(20));
        }
        (_, buffers) = search.into_parts();

        let expected = borrowed(&snapshot, &json);
        let event = snapshot.event(&json).unwrap();
        let mut search = OwnedSearch::new(snapshot.clone(), event, buffers).unwrap();
        search.step(Budget::UNLIMITED);
        assert_eq!(found(&search), expected, "after {steps} steps");
        (_, buffers) = search.into_parts();
    }
}

#[test]
fn an_event_of_another_tree_is_refused() {
    let snapshot = snapshot(&mut Random(34));
    let domain = Domain::parse("a|boolean|true\n").unwrap();
    let other = BeTree::new(domain, Undefined::False).snapshot();
    let event = other.event("{}").unwrap();
    let error = OwnedSearch::new(snapshot, event, Buffers::new()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ForeignEvent);
}
