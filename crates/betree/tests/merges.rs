//! Snapshots that leave merging to others: any order of changes, merges and snapshots finds what a tree that was
//! built at once finds.

use std::collections::BTreeMap;

use crate::common::generate::{event, expression};
use crate::common::{Random, domain, insert, tree};
use betree::{BeTree, Merge, Snapshot, SubscriptionId, Undefined};

fn search(snapshot: &Snapshot, json: &str) -> Vec<SubscriptionId> {
    let event = snapshot.event(json).expect("an event");
    snapshot.search(&event).expect("its own event")
}

#[test]
fn merges_elsewhere_lose_no_change_that_comes_meanwhile() {
    for seed in 0..6 {
        let mut random = Random(seed + 50);
        let mut tree = tree(domain(), Undefined::False, &[]);
        let mut model: BTreeMap<u64, String> = BTreeMap::new();
        let mut under_way: Option<Merge> = None;
        let mut merges = 0;
        for round in 0..400 {
            let id = random.below(120);
            let exists = model.contains_key(&id);
            assert_eq!(tree.contains(SubscriptionId(id)), exists);
            let leaves = 1 + random.below(4);
            let text = expression(&mut random, leaves).text();
            if exists && random.below(2) == 0 {
                tree.delete(SubscriptionId(id)).expect("it is there");
                model.remove(&id);
            } else {
                if exists {
                    tree.delete(SubscriptionId(id)).expect("it is there");
                }
                insert(&mut tree, id, &text);
                model.insert(id, text);
            }
            if random.below(3) > 0 {
                continue;
            }
            let snapshot = match random.below(10) {
                0 => tree.snapshot(),
                _ => tree.prompt_snapshot(random.below(12) as usize),
            };
            if under_way.is_none() {
                under_way = tree.merge();
            } else if random.below(3) == 0
                && let Some(merge) = under_way.take()
            {
                let most = merge.len();
                assert!(tree.merge().is_none(), "one is under way");
                assert!(tree.adopt(merge.run()), "round {round}: of {most}");
                merges += 1;
            }
            assert_eq!((snapshot.len(), tree.len()), (model.len(), model.len()));
            check(&snapshot, &model, &mut random);
            let next = tree.prompt_snapshot(4);
            check(&next, &model, &mut random);
        }
        assert!(merges > 3, "{merges}");
    }
}

fn check(snapshot: &Snapshot, model: &BTreeMap<u64, String>, random: &mut Random) {
    let mut fresh = tree(domain(), Undefined::False, &[]);
    for (id, text) in model {
        insert(&mut fresh, *id, text);
        assert!(snapshot.contains(SubscriptionId(*id)));
    }
    assert!(!snapshot.contains(SubscriptionId(1_000)));
    let fresh = fresh.snapshot();
    for _ in 0..3 {
        let json = event(random).to_string();
        assert_eq!(search(snapshot, &json), search(&fresh, &json), "{json}");
    }
}

#[test]
fn a_merge_of_another_tree_or_an_earlier_state_changes_nothing() {
    let texts: Vec<String> = (0..40).map(|_| "true".to_owned()).collect();
    let due = |tree: &mut BeTree| {
        for id in 0..9 {
            insert(tree, 1_000 + id, "true");
            tree.prompt_snapshot(1);
        }
        tree.merge().expect("nine of one").run()
    };
    let mut one = tree(domain(), Undefined::False, &texts);
    let mut other = tree(domain(), Undefined::False, &texts);
    let merged = due(&mut one);
    assert!(!other.adopt(merged));
    assert_eq!((one.len(), other.len()), (49, 40));
    // Given up: another is due.
    one.abandon_merge();
    let merged = due_again(&mut one);
    for id in 0..9 {
        one.delete(SubscriptionId(1_000 + id)).expect("it is there");
    }
    assert!(one.adopt(merged));
    assert_eq!(one.snapshot().len(), 40);
}

fn due_again(tree: &mut BeTree) -> betree::Merged {
    tree.merge().expect("still due").run()
}
