//! Everything that searches equals the slow, obvious evaluator, over the whole grammar.

use crate::common::generate::{event, expression};
use crate::common::oracle::Ast;
use crate::common::{self, Random, domain, insert, tree};
use betree::{Budget, Buffers, Isa, Progress, Snapshot, SubscriptionId, Undefined};
use serde_json::Value;

const MODES: [Undefined; 2] = [Undefined::False, Undefined::Unknown];

fn expected(asts: &[Ast], undefined: Undefined, event: &Value) -> Vec<SubscriptionId> {
    let matches = |ast: &Ast| match undefined {
        Undefined::False => ast.matches(event),
        Undefined::Unknown => ast.three_valued(event) == Some(true),
    };
    let ids = asts.iter().enumerate().filter(|(_, ast)| matches(ast));
    ids.map(|(index, _)| SubscriptionId(index as u64 + 1))
        .collect()
}

fn asts(random: &mut Random, count: usize) -> Vec<Ast> {
    let one = |_| {
        let leaves = 1 + random.below(10);
        expression(random, leaves)
    };
    (0..count).map(one).collect()
}

fn explain_difference(
    asts: &[Ast],
    found: &[SubscriptionId],
    right: &[SubscriptionId],
    event: &Value,
) {
    let wrong = (1..=asts.len() as u64)
        .map(SubscriptionId)
        .find(|id| found.contains(id) != right.contains(id));
    if let Some(id) = wrong {
        let text = asts[id.0 as usize - 1].text();
        panic!("{id:?} matches: {}\n{text}\n{event}", right.contains(&id));
    }
    assert_eq!(found, right);
}

/// Pairs of an expression and an event that one test looks at.
fn pairs() -> usize {
    let asked = std::env::var("PERFKIT_BETREE_PAIRS").ok();
    asked.and_then(|text| text.parse().ok()).unwrap_or(60_000)
}

#[test]
fn searches_equal_the_oracle_on_every_path_in_both_modes() {
    let mut random = Random(1);
    let rounds = pairs().div_ceil(600 * 10);
    for round in 0..rounds {
        let count = if round % 3 == 2 { 30 } else { 600 };
        let asts = asts(&mut random, count);
        let texts: Vec<String> = asts.iter().map(Ast::text).collect();
        for undefined in MODES {
            let snapshot = tree(domain(), undefined, &texts).snapshot();
            for _ in 0..10 {
                let event = event(&mut random);
                let right = expected(&asts, undefined, &event);
                let read = snapshot.event(&event.to_string()).expect("an event");
                for isa in Isa::ALL.into_iter().filter(|isa| isa.is_available()) {
                    let mut buffers = Buffers::with_isa(isa);
                    let mut search = snapshot
                        .search_iterator(&read, &mut buffers)
                        .expect("a search");
                    assert_eq!(search.step(Budget::UNLIMITED), Progress::Done);
                    explain_difference(&asts, search.ids(), &right, &event);
                }
            }
        }
    }
}

#[test]
fn no_split_changes_ids_or_reductions() {
    let mut random = Random(2);
    for round in 0..6 {
        let asts = asts(&mut random, 300);
        let texts: Vec<String> = asts.iter().map(Ast::text).collect();
        let snapshot = tree(domain(), MODES[round % 2], &texts).snapshot();
        let mut buffers = Buffers::new();
        for _ in 0..5 {
            let event = event(&mut random).to_string();
            let event = snapshot.event(&event).expect("an event");
            let names: Vec<SubscriptionId> =
                (0..40).map(|_| SubscriptionId(random.below(320))).collect();
            for kind in 0..3 {
                check_splits(&snapshot, &event, &names, kind, &mut random, &mut buffers);
            }
        }
    }
}

fn check_splits(
    snapshot: &Snapshot,
    event: &betree::Event,
    names: &[SubscriptionId],
    kind: u32,
    random: &mut Random,
    buffers: &mut Buffers,
) {
    let mut whole = None;
    for budget in [u64::MAX, 1, 2, 7, 100, 0] {
        let mut search = match kind {
            0 => snapshot.search_iterator(event, buffers),
            1 => snapshot.first_n(event, 5, buffers),
            _ => snapshot.search_ids(event, names, buffers),
        }
        .expect("a search");
        // A search that is dropped half way leaves nothing behind.
        if random.chance(30) {
            search.step(Budget::reductions(random.below(200)));
            search = match kind {
                0 => snapshot.search_iterator(event, buffers),
                1 => snapshot.first_n(event, 5, buffers),
                _ => snapshot.search_ids(event, names, buffers),
            }
            .expect("a search");
        }
        let reductions = search_to_the_end(&mut search, budget, random);
        let found = (search.ids().to_vec(), reductions, search.matched());
        match &whole {
            None => whole = Some(found),
            Some(whole) => assert_eq!(&found, whole, "budget {budget}, kind {kind}"),
        }
    }
}

/// Searches in steps of a budget (0: random ones), checks the overshoot of each, and gives the
/// reductions in all.
fn search_to_the_end(search: &mut betree::Search<'_>, budget: u64, random: &mut Random) -> u64 {
    loop {
        let before = search.reductions();
        let step = match budget {
            0 => 1 + random.below(300),
            budget => budget,
        };
        let progress = search.step(Budget::reductions(step));
        let done = search.reductions() - before;
        assert!(done <= step.saturating_add(betree::OVERSHOOT_MAX));
        if progress == Progress::Done {
            return search.reductions();
        }
    }
}

#[test]
fn named_searches_and_first_ones_are_parts_of_the_whole() {
    let mut random = Random(3);
    let asts = asts(&mut random, 400);
    let texts: Vec<String> = asts.iter().map(Ast::text).collect();
    let snapshot = tree(domain(), Undefined::False, &texts).snapshot();
    let mut buffers = Buffers::new();
    for _ in 0..40 {
        let event = event(&mut random);
        let all = expected(&asts, Undefined::False, &event);
        let event = snapshot.event(&event.to_string()).expect("an event");
        assert_eq!(snapshot.search(&event).as_deref(), Ok(&all[..]));
        assert_eq!(snapshot.exists(&event, &mut buffers), Ok(!all.is_empty()));
        let names: Vec<SubscriptionId> = (0..100)
            .map(|_| SubscriptionId(random.below(500)))
            .collect();
        let mut search = snapshot
            .search_ids(&event, &names, &mut buffers)
            .expect("a search");
        let named = search.run_to_end(Budget::reductions(50), || {});
        let right: Vec<_> = all
            .iter()
            .filter(|id| names.contains(id))
            .copied()
            .collect();
        assert_eq!(named, right);
        let count = random.below(20);
        let mut search = snapshot
            .first_n(&event, count, &mut buffers)
            .expect("a search");
        let first = search.search_all(Budget::UNLIMITED, || {});
        assert_eq!(first.len() as u64, count.min(all.len() as u64));
        assert!(first.iter().all(|id| all.contains(id)));
    }
}

#[test]
fn insert_update_and_delete_in_any_order_keep_the_answers_right() {
    let mut random = Random(4);
    for undefined in MODES {
        let mut tree = betree::BeTree::new(domain(), undefined);
        let mut there: std::collections::BTreeMap<u64, Ast> = std::collections::BTreeMap::new();
        for round in 0..60 {
            for _ in 0..random.below(60) {
                change(&mut random, &mut tree, &mut there);
            }
            assert_eq!(tree.len(), there.len());
            let snapshot = tree.snapshot();
            assert_eq!(snapshot.len(), there.len(), "round {round}");
            let event = event(&mut random);
            let matches = |ast: &Ast| match undefined {
                Undefined::False => ast.matches(&event),
                Undefined::Unknown => ast.three_valued(&event) == Some(true),
            };
            let right: Vec<SubscriptionId> = there
                .iter()
                .filter(|(_, ast)| matches(ast))
                .map(|(id, _)| SubscriptionId(*id))
                .collect();
            let read = snapshot.event(&event.to_string()).expect("an event");
            assert_eq!(snapshot.search(&read).as_deref(), Ok(&right[..]));
        }
    }
}

fn change(
    random: &mut Random,
    tree: &mut betree::BeTree,
    there: &mut std::collections::BTreeMap<u64, Ast>,
) {
    let id = random.below(300);
    let leaves = 1 + random.below(8);
    let ast = expression(random, leaves);
    let text = ast.text();
    let parsed = betree::Expression::parse(&text).expect("an expression");
    match (random.below(3), there.contains_key(&id)) {
        (0 | 1, false) => {
            insert(tree, id, &text);
            there.insert(id, ast);
        }
        (0, true) => {
            let error = tree.insert(SubscriptionId(id), &parsed, &common::CONSTANTS);
            let kind = error.expect_err("it is taken").kind();
            assert_eq!(kind, betree::ErrorKind::DuplicateId);
        }
        (1, true) => {
            tree.update(SubscriptionId(id), &parsed, &common::CONSTANTS)
                .expect("it is there");
            there.insert(id, ast);
        }
        (_, present) => {
            assert_eq!(tree.delete(SubscriptionId(id)).is_ok(), present);
            there.remove(&id);
        }
    }
}

/// Expressions that ask for a value which hardly any event has stand in the tree, apart from others.
#[test]
fn selective_expressions_are_found_by_their_values() {
    let mut random = Random(5);
    let asts = asts(&mut random, 200);
    let mut tree = betree::BeTree::new(domain(), Undefined::False);
    for id in 0..4_000u64 {
        let text = match id % 4 {
            0 => format!("s1 = 'v{id}'"),
            1 => format!(
                "s1 in ('v{id}', 'v{}') and ({})",
                id + 7,
                asts[id as usize % 200].text()
            ),
            2 => format!(
                "sl one of ('v{id}') and il one of ({}, {})",
                id % 90,
                id % 7
            ),
            _ => format!("s1 = 'v{id}' or sl one of ('v{}', 'v{id}')", id + 2),
        };
        insert(&mut tree, id, &text);
    }
    let snapshot = tree.snapshot();
    let mut buffers = Buffers::new();
    let mut found_in_all = 0;
    for _ in 0..60 {
        let mut event = event(&mut random);
        let value = |random: &mut Random| Value::from(format!("v{}", random.below(4_000)));
        event["s1"] = value(&mut random);
        event["sl"] = Value::from(vec![value(&mut random), value(&mut random)]);
        event["il"] = Value::from((0..50).collect::<Vec<i64>>());
        let s1 = event["s1"].as_str().unwrap_or("").to_owned();
        let sl = format!("{} ", event["sl"]);
        let is = |id: u64| s1 == format!("v{id}");
        let has = |id: u64| sl.contains(&format!("\"v{id}\""));
        let right: Vec<SubscriptionId> = (0..4_000)
            .filter(|id| match id % 4 {
                0 => is(*id),
                1 => (is(*id) || is(id + 7)) && asts[*id as usize % 200].matches(&event),
                2 => has(*id) && (id % 90 < 50 || id % 7 < 50),
                _ => is(*id) || has(id + 2) || has(*id),
            })
            .map(SubscriptionId)
            .collect();
        found_in_all += right.len();
        let read = snapshot.event(&event.to_string()).expect("an event");
        let all: Vec<SubscriptionId> = (0..4_000).map(SubscriptionId).collect();
        for names in [None, Some(all.as_slice())] {
            for budget in [1, u64::MAX] {
                let search = match names {
                    None => snapshot.search_iterator(&read, &mut buffers),
                    Some(names) => snapshot.search_ids(&read, names, &mut buffers),
                };
                let mut search = search.expect("its own event");
                let ids = search.run_to_end(Budget::reductions(budget), || {});
                assert_eq!(ids, right, "{event}");
            }
        }
    }
    assert!(found_in_all > 100, "{found_in_all}");
}

/// Rows of bits tell the values on both sides of a constant apart, the zeros among them not.
#[test]
fn bounds_of_rows_are_those_of_tests() {
    let domain = || betree::Domain::parse("f|float|true\ni|integer|true\n").expect("a domain");
    let mut texts = Vec::new();
    for sign in ["<", "<=", ">", ">=", "=", "<>"] {
        for value in ["0.0", "-0.5", "2.5"] {
            texts.push(format!("f {sign} {value}"));
            texts.push(format!("not (f {sign} {value})"));
            texts.push(format!("f {sign} {value} and i > 3"));
        }
        for value in [i64::MIN + 1, -1, 0, 7, i64::MAX] {
            texts.push(format!("i {sign} {value}"));
            texts.push(format!("not (i {sign} {value}) and f < 100.0"));
        }
    }
    let snapshot = tree(domain(), Undefined::False, &texts).snapshot();
    let alone: Vec<Snapshot> = texts
        .iter()
        .map(|text| tree(domain(), Undefined::False, std::slice::from_ref(text)).snapshot())
        .collect();
    for f in [
        "null", "0.0", "-0.0", "-0.5", "-5e-324", "5e-324", "2.5", "1e300",
    ] {
        for i in [i64::MIN, -1, 0, 3, 4, 7, 8, i64::MAX] {
            let json = format!("{{\"f\":{f},\"i\":{i}}}");
            let event = snapshot.event(&json).expect("an event");
            let found = snapshot.search(&event).expect("its own event");
            for (at, alone) in alone.iter().enumerate() {
                let id = SubscriptionId(at as u64 + 1);
                let event = alone.event(&json).expect("an event");
                // What is explained is evaluated test by test, without any rows.
                let explained = alone
                    .explain(&event, SubscriptionId(1))
                    .expect("it is there");
                assert_eq!(
                    found.contains(&id),
                    explained.matched,
                    "{} over {json}",
                    texts[at]
                );
            }
        }
    }
}

/// The value that stands for all others in a row of bits is none of those that have a row themselves.
#[test]
fn what_stands_for_all_other_values_is_none_of_those_asked_for() {
    let least = i64::MIN;
    let texts = [
        format!("e = {least}"),
        "e in (0, 1, 9223372036854775807)".to_owned(),
        format!("not (e <> {least}) and f <= -5e-324"),
        "f > -5e-324".to_owned(),
        "f = -5e-324".to_owned(),
    ];
    let domain = betree::Domain::parse("e|integer|false\nf|float|false\n").expect("a domain");
    let snapshot = tree(domain, Undefined::False, &texts).snapshot();
    for (e, f, right) in [
        (2, "0", &[4][..]),
        (least, "-0.0", &[1, 4]),
        (least, "-5e-324", &[1, 3, 5]),
        (i64::MAX, "5e-324", &[2, 4]),
        (1, "-1e-323", &[2]),
    ] {
        let event = snapshot.event(&format!("{{\"e\":{e},\"f\":{f}}}"));
        let event = event.expect("an event");
        let found = snapshot.search(&event).expect("its own event");
        let right: Vec<SubscriptionId> = right.iter().copied().map(SubscriptionId).collect();
        assert_eq!(found, right, "{e} {f}");
    }
}

#[test]
fn what_must_be_defined_needs_one_test_in_either_mode() {
    let names: Vec<String> = (0..100).map(|at| format!("p{at}")).collect();
    let lines = names.iter().map(|name| format!("{name}|boolean|false\n"));
    let domain = betree::Domain::parse(&lines.collect::<String>()).unwrap();
    for undefined in MODES {
        let mut tree = betree::BeTree::new(domain.clone(), undefined);
        for id in 0..300 {
            let (a, b, c) = (id % 100, (id * 7 + 1) % 100, (id * 3 + 2) % 100);
            let text = format!("p{a} and not p{b} or not (p{c} or not p{b})");
            let expression = betree::Expression::parse(&text).unwrap();
            let id = SubscriptionId(id);
            tree.insert(id, &expression, &betree::Constants::default())
                .unwrap();
        }
        assert_eq!(tree.snapshot().lockstep_len(), 300, "{undefined:?}");
    }
}
