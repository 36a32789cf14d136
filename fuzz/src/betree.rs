//! Bodies of the targets over expressions and events.

use betree::{BeTree, Budget, Buffers, Constants, Domain, Event, Expression};
use betree::{OVERSHOOT_MAX, Place, Progress, Snapshot, SubscriptionId, Undefined};

const DOMAIN: &str = "\
b|boolean|true
c|boolean|true
i|integer|true|-100|100
f|float|true
s|string|true||3
e|integer enum|true
l|integer list|true
t|string list|true
g|segments|true
segments_with_timestamp|segments|true
frequency_caps|frequency|true
latitude|float|true
longitude|float|true
";

const EVENTS: [&str; 3] = [
    "{}",
    r#"{"b":true,"c":false,"i":4,"f":1.5,"s":"a","l":[1,2],"t":["a"],"now":100}"#,
    r#"{"c":true,"i":-3,"g":[[1,99000000]],"frequency_caps":[["flight:ip",4,"ns",1,2]],"now":9}"#,
];

fn domain() -> Domain {
    Domain::parse(DOMAIN).expect("a domain")
}

const CONSTANTS: Constants = Constants {
    advertiser_id: Some(1),
    campaign_id: Some(2),
    campaign_group_id: Some(3),
    flight_id: Some(4),
    product_id: None,
};

/// Any bytes as an expression: refused with a line and a column of it, or matched; then its negation
/// matches where it does not, and no split of the work changes the answer.
pub fn betree_expression(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let expression = match Expression::parse(text) {
        Ok(expression) => expression,
        Err(error) => return check_place(text, error.place()),
    };
    for undefined in [Undefined::False, Undefined::Unknown] {
        let mut tree = BeTree::new(domain(), undefined);
        if let Err(error) = tree.insert(SubscriptionId(1), &expression, &CONSTANTS) {
            check_place(text, error.place());
            assert!(tree.is_empty(), "what was refused left something");
            continue;
        }
        let negated = format!("not ({text}\n)");
        let negated = Expression::parse(&negated).expect("the negation parses");
        tree.insert(SubscriptionId(2), &negated, &CONSTANTS)
            .expect("the negation is allowed");
        let snapshot = tree.snapshot();
        for json in EVENTS {
            let event = snapshot.event(json).expect("an event");
            let found = search(&snapshot, &event);
            match undefined {
                Undefined::False => assert_eq!(found.len(), 1, "{json}"),
                Undefined::Unknown => assert!(found.len() <= 1, "{json}"),
            }
            for id in [1, 2].map(SubscriptionId) {
                let explained = snapshot.explain(&event, id).expect("an explanation");
                assert_eq!(explained.matched, found.contains(&id));
            }
        }
    }
}

/// Searches at once, one reduction at a time and by name, which must be the same.
fn search(snapshot: &Snapshot, event: &Event) -> Vec<SubscriptionId> {
    let mut buffers = Buffers::new();
    let whole = snapshot.search(event).expect("its own event");
    let mut search = snapshot
        .search_iterator(event, &mut buffers)
        .expect("its own event");
    while search.step(Budget::reductions(1)) == Progress::Yielded {}
    assert_eq!(search.ids(), whole);
    let names = [2, 1, 7].map(SubscriptionId);
    let mut named = snapshot
        .search_ids(event, &names, &mut buffers)
        .expect("its own event");
    named.step(Budget::UNLIMITED);
    assert_eq!(named.ids(), whole);
    whole
}

fn check_place(text: &str, place: Place) {
    let Place::Text { line, column } = place else {
        panic!("an error without a line and a column");
    };
    let lines: Vec<&str> = text.split('\n').collect();
    let row = lines.get(line as usize - 1).expect("a line of the text");
    assert!((1..=row.chars().count() + 1).contains(&(column as usize)));
}

/// Any bytes as an event: refused with a byte of it, or read; read in steps of one reduction it is
/// the same, and no step does more than it may. What is no JSON is never read.
pub fn betree_event(data: &[u8]) {
    let mut tree = BeTree::new(domain(), Undefined::False);
    let texts = [
        "b or i > 3 or l one of (1, 2)",
        "contains(s, 'a') or t all of ('a', 'b') or e in (1, 2)",
        "segment_within(g, 1, 20) or segment_before(1, 2)",
        "within_frequency_cap('flight:ip', 'ns', 3, 60)",
    ];
    for (id, text) in (1..).zip(texts) {
        let expression = Expression::parse(text).expect("an expression");
        tree.insert(SubscriptionId(id), &expression, &CONSTANTS)
            .expect("it is allowed");
    }
    let snapshot = tree.snapshot();
    for ignore_unknown in [false, true] {
        let whole = read(&snapshot, data, ignore_unknown, u64::MAX);
        let steps = read(&snapshot, data, ignore_unknown, 1);
        assert_eq!(whole, steps, "the split changed what was read");
        if let Ok(event) = whole {
            let value = serde_json::from_slice::<serde_json::Value>(data);
            if !ignore_unknown {
                assert!(value.is_ok_and(|value| value.is_object()), "it is no JSON");
            }
            search(&snapshot, &event);
        }
    }
}

fn read(
    snapshot: &Snapshot,
    data: &[u8],
    ignore_unknown: bool,
    budget: u64,
) -> betree::Result<Event> {
    let mut reader = snapshot.event_reader(data, ignore_unknown);
    loop {
        let before = reader.reductions();
        let progress = reader
            .step(Budget::reductions(budget))
            .inspect_err(|error| {
                let Place::Byte(offset) = error.place() else {
                    panic!("an error without a byte: {error}");
                };
                assert!(offset <= data.len());
            })?;
        assert!(reader.reductions() - before <= budget.saturating_add(OVERSHOOT_MAX));
        if progress == Progress::Done {
            return reader.finish();
        }
    }
}

/// Any bytes as a snapshot, as they are and with all checksums made right: refused with a byte of
/// them, or a state that is written as the same bytes, searched in every way and explained.
pub fn betree_snapshot(data: &[u8]) {
    snapshot(data);
    let mut forged = data.to_vec();
    resum(&mut forged);
    snapshot(&forged);
}

fn snapshot(data: &[u8]) {
    let (snapshot, names) = match Snapshot::load_named(data) {
        Ok(found) => found,
        Err(error) => {
            let Place::Byte(at) = error.place() else {
                panic!("an error without a byte: {error}");
            };
            return assert!(at <= data.len());
        }
    };
    let mut again = Vec::new();
    let Ok(()) = snapshot.save_named(&names, |piece| {
        again.extend_from_slice(piece);
        Ok::<(), std::convert::Infallible>(())
    });
    assert!(again == data, "what is accepted is a state");
    for json in EVENTS {
        let reader = read(&snapshot, json.as_bytes(), true, 1);
        let Ok(event) = reader else { continue };
        let found = snapshot.search(&event).expect("its own event");
        let mut buffers = Buffers::new();
        let mut steps = snapshot
            .search_iterator(&event, &mut buffers)
            .expect("its own event");
        while steps.step(Budget::reductions(1)) == Progress::Yielded {}
        assert_eq!(steps.ids(), found);
        for id in snapshot.ids().iter().copied().take(20) {
            let explained = snapshot.explain(&event, id).expect("it is there");
            assert_eq!(explained.matched, found.contains(&id));
        }
    }
}

/// Writes the checksums that the bytes should have, as far as they have the form of a snapshot.
fn resum(bytes: &mut [u8]) {
    const HEADER: usize = 24;
    if bytes.len() < HEADER + 4 {
        return;
    }
    let length = (bytes.len() as u64).to_le_bytes();
    bytes[16..HEADER].copy_from_slice(&length);
    let mut start = 0;
    let mut end = HEADER;
    while end.checked_add(4).is_some_and(|end| end <= bytes.len()) {
        let sum = crc32fast::hash(&bytes[start..end]).to_le_bytes();
        bytes[end..end + 4].copy_from_slice(&sum);
        start = end + 4;
        let Some(length) = bytes.get(start + 4..start + 12) else {
            return;
        };
        let length = length.try_into().map_or(0, u64::from_le_bytes);
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        end = (start + 12).saturating_add(length);
    }
}
