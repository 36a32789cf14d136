//! What lint says of random expressions, compared with their matches over all events of a small world.

use betree::{
    BeTree, Constants, Domain, Expression, Oddity, Progress, Snapshot, SubscriptionId, Undefined,
};

const DOMAIN: &str = "b|boolean|true
i|integer|true
r|integer|false
s|string|true
l|integer list|true
f|float|true
";

/// Tests over values of which the events have each, and values between them.
const TESTS: [&str; 38] = [
    "b",
    "not b",
    "b is null",
    "b is not null",
    "i = 0",
    "i = 1",
    "i <> 1",
    "i > 0",
    "i >= 1",
    "i < 2",
    "i <= 1",
    "i in (0, 1)",
    "i not in (0, 1, 2)",
    "i is null",
    "r = 1",
    "r > 0",
    "r >= 0 or r < 0",
    "r <> 2",
    "r in (0, 2)",
    "s = 'a'",
    "s <> 'a'",
    "s in ('a', 'b')",
    "s not in ('a', 'b')",
    "l one of (1, 2)",
    "l one of (1)",
    "l none of (1, 3)",
    "l none of (2)",
    "l all of (1, 2)",
    "l all of (1, 2, 3)",
    "l is empty",
    "not (l is empty)",
    "2 in l",
    "3 not in l",
    "f > 0.5",
    "f >= 0.0",
    "f = -0.0",
    "f < 1",
    "f <= 0.5",
];

struct Draws(u64);

impl Draws {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) as usize % bound
    }

    fn expression(&mut self, depth: usize) -> String {
        match self.below(if depth == 0 { 1 } else { 5 }) {
            0 => TESTS[self.below(TESTS.len())].to_owned(),
            1 => format!("not ({})", self.expression(depth - 1)),
            kind => {
                let word = if kind == 2 { "or" } else { "and" };
                let (a, b) = (self.expression(depth - 1), self.expression(depth - 1));
                format!("({a}) {word} ({b})")
            }
        }
    }
}

/// Every event of the world, as JSON.
fn events() -> Vec<String> {
    let of = |name: &str, values: &[&str]| -> Vec<String> {
        let value = |value: &&str| match *value {
            "" => String::new(),
            value => format!("\"{name}\":{value},"),
        };
        values.iter().map(value).collect()
    };
    let mut lists = vec![String::new()];
    for bits in 0..16 {
        let all = ["1", "2", "3", "9"].iter().enumerate();
        let some: Vec<&str> = all
            .filter(|(at, _)| bits >> at & 1 == 1)
            .map(|(_, value)| *value)
            .collect();
        lists.push(format!("\"l\":[{}],", some.join(",")));
    }
    let all = [
        of("b", &["", "true", "false"]),
        of("i", &["", "-1", "0", "1", "2", "3"]),
        of("s", &["", "\"a\"", "\"b\"", "\"z\""]),
        of("f", &["", "-1", "0", "0.25", "0.5", "0.75", "1", "2"]),
        lists,
        of("r", &["-1", "0", "1", "2"]),
    ];
    let mut out = vec![String::from("{")];
    for values in all {
        let more = |text: &String| -> Vec<String> {
            values
                .iter()
                .map(|value| format!("{text}{value}"))
                .collect()
        };
        out = out.iter().flat_map(more).collect();
    }
    let close = |text: String| format!("{}}}", text.trim_end_matches(','));
    out.into_iter().map(close).collect()
}

/// The matches of each expression: a bit an event.
fn matches(snapshot: &Snapshot, events: &[String], count: usize) -> Vec<Vec<u64>> {
    let mut matches = vec![vec![0u64; events.len().div_ceil(64)]; count];
    for (at, json) in events.iter().enumerate() {
        let event = snapshot.event(json).unwrap();
        for id in snapshot.search(&event).unwrap() {
            matches[id.0 as usize][at / 64] |= 1 << (at % 64);
        }
    }
    matches
}

fn check(undefined: Undefined, seed: u64, events: &[String]) -> [(u64, u64); 4] {
    let mut draws = Draws(seed);
    let mut tree = BeTree::new(Domain::parse(DOMAIN).unwrap(), undefined);
    let count = 400;
    let texts: Vec<String> = (0..count).map(|at| draws.expression(at % 4)).collect();
    for (id, text) in texts.iter().enumerate() {
        let id = SubscriptionId(id as u64);
        let expression = Expression::parse(text).unwrap();
        tree.insert(id, &expression, &Constants::default()).unwrap();
    }
    let snapshot = tree.snapshot();
    let matches = matches(&snapshot, events, count);
    let mut lint = snapshot.lint();
    while lint.step(7) == Progress::Yielded {}
    let none = |at: usize| matches[at].iter().all(|word| *word == 0);
    let all = |at: usize| {
        let ones: u32 = matches[at].iter().map(|word| word.count_ones()).sum();
        ones as usize == events.len()
    };
    let within = |at: usize, other: usize| {
        let mut words = matches[at].iter().zip(&matches[other]);
        words.all(|(own, other)| own & !other == 0)
    };
    let mut said = vec![None; count];
    for found in lint.findings() {
        let at = found.id.0 as usize;
        let right = match found.oddity {
            Oddity::Never => none(at),
            Oddity::Always => all(at),
            Oddity::Duplicate(other) => matches[at] == matches[other.0 as usize],
            Oddity::Subsumed(other) => within(at, other.0 as usize),
            _ => false,
        };
        assert!(right, "{}: {:?}", texts[at], found.oddity);
        assert!(said[at].replace(found.oddity).is_none(), "{}", texts[at]);
    }
    // How many there are of each kind, and how many of them it found.
    let mut counts = [(0, 0); 4];
    for at in 0..count {
        let earlier = (0..at).any(|other| matches[other] == matches[at]);
        let larger = (0..count)
            .any(|other| matches[other] != matches[at] && within(at, other) && !all(other));
        let kind = match () {
            () if none(at) => 0,
            () if all(at) => 1,
            () if earlier => 2,
            () if larger => 3,
            () => continue,
        };
        counts[kind].0 += 1;
        counts[kind].1 += u64::from(said[at].is_some());
    }
    counts
}

#[test]
fn what_lint_says_is_so_and_it_misses_little() {
    let events = events();
    let mut counts = [(0, 0); 4];
    for seed in 0..3 {
        for undefined in [Undefined::False, Undefined::Unknown] {
            let found = check(undefined, seed, &events);
            for (sum, more) in counts.iter_mut().zip(found) {
                *sum = (sum.0 + more.0, sum.1 + more.1);
            }
        }
    }
    let [never, always, duplicate, subsumed] = counts;
    assert!(never.0 > 50 && never.0 == never.1, "never: {never:?}");
    assert!(always.0 > 20 && always.0 == always.1, "always: {always:?}");
    for (name, (there, found)) in [("duplicate", duplicate), ("subsumed", subsumed)] {
        assert!(
            there > 100 && found * 10 >= there * 9,
            "{name}: {found} of {there}"
        );
    }
}

/// What explain says of a test means what the test means, for events without the attribute, too.
#[test]
fn explained_tests_mean_what_was_written() {
    let events: Vec<String> = events().into_iter().step_by(37).collect();
    for undefined in [Undefined::False, Undefined::Unknown] {
        let written = TESTS.iter().flat_map(|test| {
            let not = |test: &str| format!("not ({test})");
            [(*test).to_owned(), not(test), not(&not(test))]
        });
        let written: Vec<String> = written.collect();
        let tree = |texts: &[String]| {
            let mut tree = BeTree::new(Domain::parse(DOMAIN).unwrap(), undefined);
            for (id, text) in texts.iter().enumerate() {
                let id = SubscriptionId(id as u64);
                let expression = Expression::parse(text).unwrap();
                tree.insert(id, &expression, &Constants::default()).unwrap();
            }
            tree.snapshot()
        };
        let snapshot = tree(&written);
        let event = snapshot.event(&events[0]).unwrap();
        let said: Vec<(usize, String)> = (0..written.len())
            .filter_map(|at| {
                let id = SubscriptionId(at as u64);
                let explained = snapshot.explain(&event, id).unwrap();
                let [test] = explained.tests.as_slice() else {
                    return None;
                };
                Some((at, test.text.clone()))
            })
            .collect();
        assert!(said.len() * 10 > written.len() * 9);
        let texts: Vec<String> = said.iter().map(|(_, text)| text.clone()).collect();
        let own = matches(&snapshot, &events, written.len());
        let again = matches(&tree(&texts), &events, texts.len());
        for ((at, text), matches) in said.iter().zip(&again) {
            assert_eq!(
                own[*at], *matches,
                "{} is explained as {text}",
                written[*at]
            );
        }
    }
}

#[test]
fn the_tightest_is_named_of_several_that_subsume_and_what_is_skipped_has_its_id() {
    let mut tree = BeTree::new(
        Domain::parse("age|integer|true\ntags|string list|true\n").unwrap(),
        Undefined::False,
    );
    let parts: Vec<String> = (0..10)
        .map(|at| format!("(age = {at} or tags one of ('{at}'))"))
        .collect();
    let large = parts.join(" and ");
    for (id, text) in [
        (1, "age >= 1"),
        (9, &large),
        (3, "age >= 20"),
        (4, "age >= 10"),
    ] {
        let expression = Expression::parse(text).unwrap();
        tree.insert(SubscriptionId(id), &expression, &Constants::default())
            .unwrap();
    }
    let snapshot = tree.snapshot();
    let mut lint = snapshot.lint();
    while lint.step(1) == Progress::Yielded {}
    let found = lint
        .findings()
        .iter()
        .map(|found| (found.id.0, found.oddity));
    let by = |id| Oddity::Subsumed(SubscriptionId(id));
    assert_eq!(found.collect::<Vec<_>>(), [(3, by(4)), (4, by(1))]);
    assert_eq!(lint.too_large(), [SubscriptionId(9)]);
    assert_eq!(lint.not_compared(), []);
}

/// Expressions over texts and places, and whether an event matches.
const MEANINGS: [(&str, bool); 26] = [
    ("url = 'x' and starts_with(url, 'y')", false),
    ("url = 'yx' and starts_with(url, 'y')", true),
    (
        "starts_with(url, 'ab') and not (starts_with(url, 'a'))",
        false,
    ),
    (
        "starts_with(url, 'a') and not (starts_with(url, 'ab'))",
        true,
    ),
    ("starts_with(url, 'ab') and starts_with(url, 'ac')", false),
    ("starts_with(url, 'ab') and starts_with(url, 'abc')", true),
    ("ends_with(url, 'ab') and ends_with(url, 'cb')", false),
    ("ends_with(url, 'ab') and ends_with(url, 'b')", true),
    ("ends_with(url, 'b') and not (ends_with(url, 'ab'))", true),
    ("ends_with(url, 'ab') and not (ends_with(url, 'b'))", false),
    ("contains(url, 'abc') and not (contains(url, 'b'))", false),
    ("contains(url, 'b') and not (contains(url, 'abc'))", true),
    (
        "starts_with(url, 'abc') and not (contains(url, 'bc'))",
        false,
    ),
    ("ends_with(url, 'abc') and not (contains(url, 'd'))", true),
    ("starts_with(url, 'a') and ends_with(url, 'b')", true),
    ("contains(url, 'a') and not (starts_with(url, 'a'))", true),
    ("ends_with(url, 'xyz') and url in ('a', 'b')", false),
    ("ends_with(url, 'b') and url in ('a', 'b')", true),
    (
        "url in ('a', 'b') and not (contains(url, 'a')) and not (contains(url, 'b'))",
        false,
    ),
    ("url not in ('a', 'b') and starts_with(url, 'a')", true),
    (
        "(starts_with(url, 'a') or starts_with(url, 'b')) and starts_with(url, 'c')",
        false,
    ),
    (
        "geo_within_radius(52.5, 13.4, 10) and geo_within_radius(48.1, 11.6, 10)",
        false,
    ),
    (
        "geo_within_radius(52.5, 13.4, 300) and geo_within_radius(48.1, 11.6, 300)",
        true,
    ),
    (
        "geo_within_radius(52.5, 13.4, 10) and not (geo_within_radius(48.1, 11.6, 10))",
        true,
    ),
    (
        "geo_within_radius(0.0, 179.9, 20) and geo_within_radius(0.0, -179.9, 20)",
        true,
    ),
    (
        "geo_within_radius(0.0, 179.9, 5) and geo_within_radius(0.0, -179.9, 5)",
        false,
    ),
];

/// What has these patterns, and what lies in these circles.
fn meant() -> Vec<String> {
    let letters = [
        "", "a", "b", "c", "d", "x", "y", "z", "ab", "abc", "yx", "xyz",
    ];
    let texts = letters
        .iter()
        .flat_map(|a| letters.map(|b| format!("{a}{b}")));
    let url = texts.map(|text| format!("{{\"url\": \"{text}\"}}"));
    let places = [
        (52.5, 13.4),
        (50.3, 12.5),
        (48.1, 11.6),
        (0.0, 179.9),
        (0.0, 180.0),
    ];
    let place = |(latitude, longitude)| {
        format!("{{\"latitude\": {latitude:?}, \"longitude\": {longitude:?}}}")
    };
    url.chain(places.map(place)).collect()
}

#[test]
fn contradictions_of_patterns_and_circles_are_found_and_no_others() {
    for undefined in [Undefined::False, Undefined::Unknown] {
        let domain = "url|string|true\nlatitude|float|true\nlongitude|float|true\n";
        let mut tree = BeTree::new(Domain::parse(domain).unwrap(), undefined);
        for (id, (text, _)) in MEANINGS.iter().enumerate() {
            let expression = Expression::parse(text).unwrap();
            let id = SubscriptionId(id as u64);
            tree.insert(id, &expression, &Constants::default()).unwrap();
        }
        let snapshot = tree.snapshot();
        let matches = matches(&snapshot, &meant(), MEANINGS.len());
        let mut lint = snapshot.lint();
        while lint.step(3) == Progress::Yielded {}
        for (at, (text, can)) in MEANINGS.iter().enumerate() {
            let never = lint
                .findings()
                .iter()
                .any(|found| found.id.0 == at as u64 && found.oddity == Oddity::Never);
            assert_eq!(never, !can, "{text}");
            let matched = matches[at].iter().any(|word| *word != 0);
            assert_eq!(matched, *can, "no event shows it: {text}");
        }
    }
}
