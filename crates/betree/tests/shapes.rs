//! Every shape of workload, named and drawn, equals a simple inverted index that shares no code with the matcher:
//! on every instruction set, in steps of any size, by name, and after changes.

use betree::workload::shapes::{
    self, Conjunctions, CountingIndex, Drawer, Plain, Shape, SimpleIndex,
};
use betree::{
    BeTree, Budget, Buffers, Constants, Domain, Expression, Isa, Progress, Snapshot,
    SubscriptionId, Undefined,
};

fn put(tree: &mut BeTree, shape: &Shape, id: usize, expression: &Conjunctions) {
    let constants = Constants {
        campaign_id: shapes::campaign(expression),
        ..Constants::default()
    };
    let text = shapes::text(shape, expression);
    let parsed = Expression::parse(&text).unwrap();
    let id = SubscriptionId(id as u64);
    match tree.contains(id) {
        true => tree.update(id, &parsed, &constants).unwrap(),
        false => tree.insert(id, &parsed, &constants).unwrap(),
    }
}

/// The ids that a search in steps finds, and its reductions.
fn found(snapshot: &Snapshot, json: &str, buffers: &mut Buffers, step: u64) -> (Vec<u64>, u64) {
    let event = snapshot.event(json).unwrap();
    let mut search = snapshot.search_iterator(&event, buffers).unwrap();
    while search.step(Budget::reductions(step)) == Progress::Yielded {}
    (
        search.ids().iter().map(|id| id.0).collect(),
        search.reductions(),
    )
}

fn named(snapshot: &Snapshot, json: &str, buffers: &mut Buffers) -> Vec<u64> {
    let event = snapshot.event(json).unwrap();
    let ids: Vec<SubscriptionId> = snapshot.ids().iter().copied().step_by(7).collect();
    let mut search = snapshot.search_ids(&event, &ids, buffers).unwrap();
    search.step(Budget::UNLIMITED);
    search.ids().iter().map(|id| id.0).collect()
}

/// Priorities with many equal ones and the extremes.
fn priority(id: SubscriptionId) -> i64 {
    match id.0.wrapping_mul(0x9e37_79b9) % 17 {
        0 => i64::MIN,
        1 => i64::MAX,
        other => other as i64 - 8,
    }
}

/// The best of `right` by priority, then by id.
fn check_best(snapshot: &Snapshot, json: &str, right: &[u64], buffers: &mut Buffers) {
    let priorities = snapshot.priorities(priority);
    let event = snapshot.event(json).unwrap();
    let mut ordered = right.to_vec();
    ordered.sort_by_key(|id| (std::cmp::Reverse(priority(SubscriptionId(*id))), *id));
    let mut all = 0;
    for count in [usize::MAX, 50, 3, 1, 0] {
        let mut whole = None;
        for step in [u64::MAX, 1, 37, 2_000] {
            let mut search = snapshot.top_k(&event, count, &priorities, buffers).unwrap();
            while search.step(Budget::reductions(step)) == Progress::Yielded {}
            let ids: Vec<u64> = search.ids().iter().map(|id| id.0).collect();
            let right = ordered.get(..count).unwrap_or(&ordered);
            assert!(ids == right, "the best {count} in steps of {step}: {json}");
            let counts = (search.reductions(), search.evaluated());
            assert_eq!(*whole.get_or_insert(counts), counts);
            if count == usize::MAX {
                all = search.evaluated();
            }
            assert!(search.evaluated() <= all, "more work for fewer");
        }
    }
}

fn check(shape: &Shape, expressions: &[Conjunctions], snapshot: &Snapshot, events: &[Plain]) {
    let mut simple = SimpleIndex::new(expressions);
    let mut right = Vec::new();
    let mut buffers: Vec<Buffers> = Isa::ALL.into_iter().map(Buffers::with_isa).collect();
    for event in events {
        let json = shapes::json(shape, event);
        simple.search(event, &mut right);
        right.sort_unstable();
        let right: Vec<u64> = right.iter().map(|id| u64::from(*id)).collect();
        let mut whole = None;
        for buffers in &mut buffers {
            for step in [u64::MAX, 1, 37, 2_000] {
                let (ids, reductions) = found(snapshot, &json, buffers, step);
                assert!(ids == right, "{}, steps of {step}: {json}", shape.name);
                assert_eq!(
                    *whole.get_or_insert(reductions),
                    reductions,
                    "{}",
                    shape.name
                );
            }
        }
        check_best(snapshot, &json, &right, &mut buffers[0]);
        let last = buffers.len() - 1;
        check_best(snapshot, &json, &right, &mut buffers[last]);
        let some: Vec<u64> = right.into_iter().filter(|id| id % 7 == 0).collect();
        assert_eq!(
            named(snapshot, &json, &mut buffers[0]),
            some,
            "{}: {json}",
            shape.name
        );
    }
}

fn run(shape: &Shape, seed: u64, count: usize, events: usize) {
    let mut drawer = Drawer::new(shape.clone(), seed);
    let mut expressions: Vec<_> = (0..count).map(|_| drawer.expression()).collect();
    let mut tree = BeTree::new(Domain::parse(&shape.domains()).unwrap(), Undefined::False);
    for (id, expression) in expressions.iter().enumerate() {
        put(&mut tree, shape, id, expression);
    }
    let plain: Vec<_> = (0..events).map(|_| drawer.event()).collect();
    check(shape, &expressions, &tree.snapshot(), &plain);
    // Some change, one by one and in a bunch.
    for id in (0..count).step_by(count / 9 + 1) {
        expressions[id] = drawer.expression();
        put(&mut tree, shape, id, &expressions[id]);
        if id % 2 == 0 {
            let _ = tree.snapshot();
        }
    }
    check(
        shape,
        &expressions,
        &tree.snapshot(),
        &plain[..events.min(4)],
    );
}

#[test]
#[ignore = "long: cargo xtask ci runs it"]
fn named_shapes_equal_a_simple_index() {
    for shape in shapes::named() {
        run(&shape, 3, 5_000, 6);
    }
}

/// Expressions of a long shape: not more than a test has time for.
fn few(shape: &Shape) -> usize {
    (30_000 / shape.values() as usize).clamp(12, 300)
}

#[test]
fn long_shapes_equal_a_simple_index() {
    for shape in shapes::long() {
        run(&shape, 3, few(&shape), 2);
    }
}

#[test]
fn two_simple_indexes_find_the_same() {
    for shape in shapes::named().into_iter().chain(shapes::long()) {
        let mut drawer = Drawer::new(shape.clone(), 11);
        let expressions: Vec<_> = (0..few(&shape)).map(|_| drawer.expression()).collect();
        let mut simple = SimpleIndex::new(&expressions);
        let mut counting = CountingIndex::new(&expressions);
        let (mut one, mut other) = (Vec::new(), Vec::new());
        for _ in 0..20 {
            let event = drawer.event();
            simple.search(&event, &mut one);
            counting.search(&event, &mut other);
            one.sort_unstable();
            other.sort_unstable();
            assert_eq!(one, other, "{}", shape.name);
        }
    }
}

#[test]
fn a_search_that_ends_early_leaves_nothing_to_the_next() {
    let shape = Shape::by_name("4 audience lists of 300").unwrap();
    let mut drawer = Drawer::new(shape.clone(), 5);
    let mut tree = BeTree::new(Domain::parse(&shape.domains()).unwrap(), Undefined::False);
    for id in 0..200 {
        put(&mut tree, &shape, id, &drawer.expression());
    }
    let snapshot = tree.snapshot();
    let mut buffers = Buffers::new();
    let mut most = 0;
    for number in 0..30 {
        let json = shapes::json(&shape, &drawer.event());
        let (right, reductions) = found(&snapshot, &json, &mut Buffers::new(), u64::MAX);
        most = most.max(right.len());
        let event = snapshot.event(&json).unwrap();
        // Dropped anywhere, or with enough matches.
        let mut search = snapshot.search_iterator(&event, &mut buffers).unwrap();
        search.step(Budget::reductions(1 + reductions * number / 30));
        assert_eq!(
            found(&snapshot, &json, &mut buffers, 50),
            (right.clone(), reductions)
        );
        let mut search = snapshot.first_n(&event, 2, &mut buffers).unwrap();
        while search.step(Budget::reductions(70)) == Progress::Yielded {}
        assert_eq!(search.ids().len(), right.len().min(2));
        assert_eq!(
            found(&snapshot, &json, &mut buffers, u64::MAX),
            (right, reductions)
        );
    }
    assert!(most > 50, "{most}");
}

#[test]
fn several_lists_cost_what_an_event_meets_of_them() {
    // Twice as many lists, or lists twice as long, cost about twice as much: a program would go through whole lists.
    let reductions = |name: &str| {
        let shape = Shape::by_name(name).unwrap();
        let mut drawer = Drawer::new(shape.clone(), 5);
        let mut tree = BeTree::new(Domain::parse(&shape.domains()).unwrap(), Undefined::False);
        for id in 0..300 {
            put(&mut tree, &shape, id, &drawer.expression());
        }
        let snapshot = tree.snapshot();
        let all = (0..20).map(|_| {
            let json = shapes::json(&shape, &drawer.event());
            found(&snapshot, &json, &mut Buffers::new(), u64::MAX).1
        });
        all.sum::<u64>() / 20
    };
    let found =
        ["10", "30", "100", "300"].map(|count| reductions(&format!("4 audience lists of {count}")));
    assert!(found.iter().all(|spent| *spent < 12_000), "{found:?}");
}

#[test]
#[ignore = "long: cargo xtask ci runs it"]
fn drawn_shapes_equal_a_simple_index() {
    for seed in 0..60 {
        let count = [1, 2, 63, 64, 65, 500, 2_049, 4_500][seed as usize % 8];
        run(&shapes::drawn(seed), seed, count, 8);
    }
}

/// FNV-1a, 64 bits.
fn hash(text: &str, start: u64) -> u64 {
    text.bytes().fold(start, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[test]
fn a_seed_gives_the_same_bytes_everywhere() {
    let swept = shapes::sweeps().into_iter().flat_map(|sweep| sweep.shapes);
    let all = shapes::named().into_iter().chain(swept);
    let mut found = 0xcbf2_9ce4_8422_2325;
    for shape in all.chain((0..40).map(shapes::drawn)) {
        let mut drawer = Drawer::new(shape.clone(), 7);
        found = hash(&shape.domains(), found);
        for _ in 0..5 {
            let expression = drawer.expression();
            let campaign = shapes::campaign(&expression);
            let text = shapes::text(&shape, &expression);
            let json = shapes::json(&shape, &drawer.event());
            found = hash(&format!("{text}\n{json}\n{campaign:?}\n"), found);
        }
    }
    assert_eq!(found, 0x8ca1_2145_144c_2843, "{found:#x}");
}

#[test]
fn a_shape_is_found_by_its_name_and_says_what_it_is_made_of() {
    let mut names = std::collections::BTreeSet::new();
    let swept = shapes::sweeps().into_iter().flat_map(|sweep| sweep.shapes);
    for shape in shapes::named().into_iter().chain(swept) {
        assert_eq!(Shape::by_name(&shape.name).as_ref(), Some(&shape));
        assert!(shape.summary().contains(" values"), "{}", shape.summary());
        assert!(names.insert(shape.name));
    }
    assert_eq!(Shape::by_name("no such shape"), None);
    let caps = Shape::by_name("frequency caps").unwrap();
    assert_eq!(
        caps.summary(),
        "1 text, 1 integer, at most 200 values, frequency cap"
    );
}

#[test]
fn priorities_of_another_snapshot_are_refused() {
    let mut tree = BeTree::new(Domain::parse("a|boolean|true").unwrap(), Undefined::False);
    let expression = Expression::parse("a").unwrap();
    for id in 0..10 {
        let id = SubscriptionId(id);
        tree.insert(id, &expression, &Constants::default()).unwrap();
    }
    let before = tree.snapshot();
    let priorities = before.priorities(|id| id.0 as i64);
    let id = SubscriptionId(10);
    tree.insert(id, &expression, &Constants::default()).unwrap();
    let after = tree.snapshot();
    let mut buffers = Buffers::new();
    let event = before.event(r#"{"a": true}"#).unwrap();
    let mut search = before.top_k(&event, 2, &priorities, &mut buffers).unwrap();
    search.step(Budget::UNLIMITED);
    assert_eq!(search.ids(), [SubscriptionId(9), SubscriptionId(8)]);
    let event = after.event(r#"{"a": true}"#).unwrap();
    let refused = after
        .top_k(&event, 2, &priorities, &mut buffers)
        .unwrap_err();
    assert!(
        refused.to_string().contains("another snapshot"),
        "{refused}"
    );
}
