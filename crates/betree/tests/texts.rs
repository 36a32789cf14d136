//! Patterns of texts: each search finds what the methods of strings say, and does no more work with more patterns.

use betree::{
    BeTree, Budget, Buffers, Constants, Domain, Event, Expression, Progress, Snapshot,
    SubscriptionId, Undefined,
};

use crate::common::Random;

const DOMAINS: &str = "s|string|true\nt|string|true\nb|boolean|true\n";
const FUNCTIONS: [&str; 3] = ["contains", "starts_with", "ends_with"];

/// A test of a text: its attribute, its function, its pattern, and whether it is negated.
#[derive(Debug, Clone)]
struct Part(usize, usize, String, bool);

/// Parts joined by `and`, joined by `or`.
type Alternatives = Vec<Vec<Part>>;

fn expression(all: &Alternatives) -> String {
    let part = |Part(at, function, pattern, negated): &Part| {
        let name = ["s", "t"][*at];
        let not = if *negated { "not " } else { "" };
        format!("{not}{}({name}, \"{pattern}\")", FUNCTIONS[*function])
    };
    let one = |parts: &Vec<Part>| parts.iter().map(part).collect::<Vec<_>>().join(" and ");
    let all: Vec<String> = all
        .iter()
        .map(|parts| format!("({})", one(parts)))
        .collect();
    all.join(" or ")
}

/// What the language says; `None` is unknown, where that is asked for.
fn right(all: &Alternatives, texts: [Option<&str>; 2], undefined: Undefined) -> bool {
    let part = |Part(at, function, pattern, negated): &Part| match texts[*at] {
        Some(text) => {
            let found = match function {
                0 => text.contains(pattern.as_str()),
                1 => text.starts_with(pattern.as_str()),
                _ => text.ends_with(pattern.as_str()),
            };
            found != *negated
        }
        None => *negated && undefined == Undefined::False,
    };
    all.iter().any(|parts| parts.iter().all(part))
}

fn put(tree: &mut BeTree, id: u64, all: &Alternatives) {
    let text = expression(all);
    let parsed = Expression::parse(&text).unwrap();
    let (id, constants) = (SubscriptionId(id), Constants::default());
    match tree.contains(id) {
        true => tree.update(id, &parsed, &constants).unwrap(),
        false => tree.insert(id, &parsed, &constants).unwrap(),
    }
}

fn event(snapshot: &Snapshot, texts: [Option<&str>; 2]) -> Event {
    let field = |(name, text): (&str, Option<&str>)| {
        let text = serde_json::to_string(text?).unwrap();
        Some(format!("\"{name}\":{text}"))
    };
    let fields: Vec<String> = ["s", "t"]
        .into_iter()
        .zip(texts)
        .filter_map(field)
        .collect();
    snapshot
        .event(&format!("{{{}}}", fields.join(",")))
        .unwrap()
}

/// The ids of all ways of searching, and the reductions and programs of a search.
fn found(snapshot: &Snapshot, event: &Event, buffers: &mut Buffers) -> (Vec<u64>, u64, u64) {
    let mut whole = None;
    for step in [u64::MAX, 1, 3, 50] {
        if step == 3 {
            // One that is dropped leaves nothing behind.
            let mut search = snapshot.search_iterator(event, buffers).unwrap();
            search.step(Budget::reductions(40));
        }
        let mut search = snapshot.search_iterator(event, buffers).unwrap();
        while search.step(Budget::reductions(step)) == Progress::Yielded {}
        let ids: Vec<u64> = search.ids().iter().map(|id| id.0).collect();
        let counts = (ids, search.reductions(), search.evaluated());
        assert_eq!(
            *whole.get_or_insert(counts.clone()),
            counts,
            "steps of {step}"
        );
    }
    let (ids, reductions, evaluated) = whole.unwrap();
    let mut search = snapshot.search_ids(event, snapshot.ids(), buffers).unwrap();
    search.step(Budget::UNLIMITED);
    let named: Vec<u64> = search.ids().iter().map(|id| id.0).collect();
    assert_eq!(named, ids, "by name");
    let mut first = snapshot.first_n(event, 3, buffers).unwrap();
    first.step(Budget::UNLIMITED);
    assert_eq!(first.ids().len(), ids.len().min(3));
    (ids, reductions, evaluated)
}

/// Patterns and texts of a few letters, so that they overlap, with some of more bytes than characters.
fn text(random: &mut Random, most: u64) -> String {
    let count = random.below(most + 1);
    let letter = |random: &mut Random| random.pick(&["a", "a", "b", "é", "日"]);
    (0..count).map(|_| letter(random)).collect()
}

fn alternatives(random: &mut Random) -> Alternatives {
    let part = |random: &mut Random, negated| {
        let most = [4, 12, 30][random.below(3) as usize];
        Part(
            random.below(2) as usize,
            random.below(3) as usize,
            text(random, most),
            negated,
        )
    };
    let one = |random: &mut Random| {
        let negated = random.chance(10);
        let mut parts = vec![part(random, negated)];
        if random.chance(40) {
            let negated = random.chance(50);
            parts.push(part(random, negated));
        }
        parts
    };
    let count = match random.below(20) {
        0..14 => 1,
        // More than the tree has keys for.
        14 => 60 + random.below(60),
        _ => 1 + random.below(5),
    };
    (0..count).map(|_| one(random)).collect()
}

#[test]
fn every_search_finds_what_strings_say() {
    let mut random = Random(11);
    for (round, count) in [(0, 3), (1, 40), (2, 700), (3, 700)] {
        let undefined = [Undefined::False, Undefined::Unknown][round % 2];
        let mut tree = BeTree::new(Domain::parse(DOMAINS).unwrap(), undefined);
        let mut all: Vec<Alternatives> = (0..count).map(|_| alternatives(&mut random)).collect();
        for (id, one) in all.iter().enumerate() {
            put(&mut tree, id as u64, one);
        }
        let mut buffers = Buffers::new();
        let mut check = |snapshot: &Snapshot, all: &[Alternatives], random: &mut Random| {
            let mut batch = snapshot.batch();
            for turn in 0..12 {
                // A whole pattern, a pattern in the middle, or any text.
                let pattern = &all[random.below(all.len() as u64) as usize][0][0].2;
                let near = [String::new(), text(random, 3)];
                let near = format!("{}{pattern}{}", near[turn % 2], near[turn / 2 % 2]);
                let other = text(random, 40);
                let some = |random: &mut Random, text| random.chance(85).then_some(text);
                let texts = [some(random, near.as_str()), some(random, other.as_str())];
                let event = event(snapshot, texts);
                let expected: Vec<u64> = (0..all.len())
                    .filter(|id| right(&all[*id], texts, undefined))
                    .map(|id| id as u64)
                    .collect();
                let (ids, ..) = found(snapshot, &event, &mut buffers);
                assert_eq!(ids, expected, "{texts:?}");
                let mut search = batch.search(std::slice::from_ref(&event)).unwrap();
                while search.step(Budget::reductions(100)) == Progress::Yielded {}
                let mut ids = Vec::new();
                batch.ids(0, &mut ids);
                let ids: Vec<u64> = ids.iter().map(|id| id.0).collect();
                assert_eq!(ids, expected, "in a batch");
            }
        };
        check(&tree.snapshot(), &all, &mut random);
        // Several indexes, with dead expressions.
        for id in (0..count).step_by(5) {
            all[id] = alternatives(&mut random);
            put(&mut tree, id as u64, &all[id]);
            if id % 2 == 0 {
                let _ = tree.snapshot();
            }
        }
        check(&tree.snapshot(), &all, &mut random);
        let mut bytes = Vec::new();
        let saved: Result<(), ()> = tree.snapshot().save(|piece| {
            bytes.extend_from_slice(piece);
            Ok(())
        });
        saved.unwrap();
        check(&Snapshot::load(&bytes).unwrap(), &all, &mut random);
    }
}

fn one(at: usize, function: usize, pattern: &str) -> Alternatives {
    vec![vec![Part(at, function, pattern.to_owned(), false)]]
}

fn tree_of(all: impl Iterator<Item = Alternatives>) -> BeTree {
    let mut tree = BeTree::new(Domain::parse(DOMAINS).unwrap(), Undefined::False);
    for (id, one) in all.enumerate() {
        put(&mut tree, id as u64, &one);
    }
    tree
}

/// Words without a common end: hexadecimal digits, mixed up.
fn word(number: u64) -> String {
    format!("{:06x}", number.wrapping_mul(0x9e_3779) & 0xff_ffff)
}

#[test]
fn more_patterns_are_no_more_work() {
    let words = [7, 40_007, 500_009, 11].map(word).join("/");
    for function in 0..FUNCTIONS.len() {
        let mut works = Vec::new();
        for count in [2_000, 20_000] {
            let tree = &mut tree_of((0..count).map(|number| one(0, function, &word(number))));
            let snapshot = tree.snapshot();
            let event = event(&snapshot, [Some(&words), None]);
            let (ids, reductions, evaluated) = found(&snapshot, &event, &mut Buffers::new());
            let expected: &[u64] = [&[7, 11][..], &[7], &[11]][function];
            assert_eq!(ids, expected);
            // What is found by a key needs no program.
            assert_eq!(evaluated, 0, "{} of {count}", FUNCTIONS[function]);
            works.push(reductions);
        }
        assert!(works[1] <= works[0] + 50, "{works:?}");
        assert!(works[1] < 1_500, "{works:?}");
    }
}

#[test]
fn patterns_with_a_common_start_are_told_apart() {
    let address = |number| format!("https://www.example.com/{}/index.html", word(number));
    for function in 0..FUNCTIONS.len() {
        let tree = &mut tree_of((0..5_000).map(|number| one(0, function, &address(number))));
        let snapshot = tree.snapshot();
        let event = event(&snapshot, [Some(&address(4_711)), None]);
        let (ids, reductions, _) = found(&snapshot, &event, &mut Buffers::new());
        assert_eq!(ids, [4_711]);
        assert!(reductions < 2_000, "{reductions}");
    }
}

#[test]
fn patterns_that_cannot_be_told_apart_take_no_more_than_one_look_each() {
    let tree = &mut tree_of((8..800).map(|length| one(0, 0, &"a".repeat(length))));
    let snapshot = tree.snapshot();
    for length in [60_000, 500] {
        let text = "a".repeat(length);
        let event = event(&snapshot, [Some(&text), None]);
        let (ids, reductions, _) = found(&snapshot, &event, &mut Buffers::new());
        assert_eq!(ids.len(), length.min(799) - 7);
        let each = 100 + length as u64 / 64;
        assert!(reductions < 800 * each + 4 * length as u64, "{reductions}");
    }
}
