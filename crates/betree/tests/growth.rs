//! What a search does grows smoothly with the lengths of lists and the number of alternatives: counts, never times.

use betree::workload::shapes::{self, Drawer, Shape};
use betree::{BeTree, Budget, Buffers, Constants, Domain, Expression, SubscriptionId, Undefined};

/// What the reductions of neighbours may differ by, for each match; an event counts as some more.
const FACTOR_MAX: f64 = 2.5;
const EVENT_MATCHES: u64 = 16;
/// Expressions, and events.
const EXPRESSIONS: u64 = 150;
const EVENTS: usize = 20;

/// Reductions for each match.
fn reductions(shape: &Shape, in_one: bool) -> f64 {
    let mut drawer = Drawer::new(shape.clone(), 5);
    let mut tree = BeTree::new(Domain::parse(&shape.domains()).unwrap(), Undefined::False);
    for id in 0..EXPRESSIONS {
        let text = shapes::text(shape, &drawer.expression());
        let expression = Expression::parse(&text).unwrap();
        tree.insert(SubscriptionId(id), &expression, &Constants::default())
            .unwrap();
        // Or in parts that are merged, as changes come in.
        if !in_one && id % 10 == 0 {
            let _ = tree.snapshot();
        }
    }
    let snapshot = tree.snapshot();
    let mut buffers = Buffers::new();
    let (mut spent, mut matched) = (0, 0);
    for _ in 0..EVENTS {
        let json = shapes::json(shape, &drawer.event());
        let event = snapshot.event(&json).unwrap();
        let mut search = snapshot.search_iterator(&event, &mut buffers).unwrap();
        search.step(Budget::UNLIMITED);
        spent += search.reductions();
        matched += search.matched() + EVENT_MATCHES;
    }
    spent as f64 / matched as f64
}

#[test]
fn reductions_grow_smoothly_with_lengths_and_alternatives() {
    let mut checked = 0;
    for sweep in shapes::long_sweeps() {
        for in_one in [true, false] {
            let all = sweep.shapes.iter().map(|shape| reductions(shape, in_one));
            let all: Vec<f64> = all.collect();
            for (pair, shapes) in all.windows(2).zip(sweep.shapes.windows(2)) {
                let factor = pair[1] / pair[0];
                let names = (&shapes[0].name, &shapes[1].name);
                assert!(
                    factor < FACTOR_MAX,
                    "{names:?}, in one: {in_one}: {all:.0?}"
                );
                checked += 1;
            }
        }
    }
    assert!(checked > 100, "{checked}");
}
