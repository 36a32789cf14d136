//! What is read at once is what the tokens would read: values, errors with their place, and reductions.

use crate::budget::{Budget, Progress};
use crate::domain::Domain;
use crate::error::Result;
use crate::event::Event;
use crate::{BeTree, Constants, Expression, Snapshot, SubscriptionId, Undefined};

const DOMAIN: &str = "b|boolean|true
i|integer|true|-9223372036854775808|9223372036854775807
now|integer|true
f|float|true
s|string|true
text|string|true
e|integer enum|true
ints|integer list|true
strings|string list|true
seg|segments|true
frequency_caps|frequency|true
";

const EXPRESSIONS: [&str; 7] = [
    "b or i in (0, 1, -5, 9223372036854775807) or f > 0.5",
    "s in (\"a\", \"\", \"caf\u{e9}\") or e = 7",
    "contains(text, \"needle\")",
    "ints one of (1, 2, 3)",
    "strings all of (\"x\", \"y\")",
    "segment_within(seg, 5, 20)",
    "within_frequency_cap(\"flight\", \"ns\", 100, 0)",
];

/// Values in usual and unusual forms, right and wrong.
const VALUES: [&str; 58] = [
    "true",
    "false",
    "null",
    "tru",
    "0",
    "-0",
    "1",
    "-5",
    "7",
    "01",
    "-",
    "00",
    "1.",
    ".5",
    "0.5",
    "-0.0",
    "0.0",
    "1.25",
    "123456789012345.5",
    "12345678901234567",
    "999999999999999999",
    "9223372036854775807",
    "-9223372036854775808",
    "9223372036854775808",
    "1e3",
    "1E-2",
    "1-2",
    "3.14159265358979",
    "0.1",
    "0.30000000000000004",
    "\"\"",
    "\"a\"",
    "\"abcdefgh\"",
    "\"abcdefg\"",
    "\"abcdefghi\"",
    "\"caf\u{e9}\"",
    "\"caf\u{e9} and more \u{1f600}\"",
    "\"q\\\"q\"",
    "\"a\\u0061\"",
    "\"a needle here\"",
    "\"tab\there\"",
    "\"open",
    "[]",
    "[1]",
    "[1,2,3]",
    "[ 1 , 2 ]",
    "[1,]",
    "[\"x\",\"y\"]",
    "[\"x\", \"z\"]",
    "[[5,20000000]]",
    "[[5, 1], [6,2000000], [5,9]]",
    "[[5]]",
    "[[5,1,2]]",
    "[[[\"flight\",0,\"ns\"],3,4000000]]",
    "[[\"flight\",0,\"ns\",3,4]]",
    "{\"x\":[1,{}]}",
    "[1,\"x\"]",
    "-9",
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
}

fn snapshot() -> Snapshot {
    let mut tree = BeTree::new(Domain::parse(DOMAIN).unwrap(), Undefined::False);
    let constants = Constants {
        flight_id: Some(0),
        ..Constants::default()
    };
    for (id, text) in EXPRESSIONS.iter().enumerate() {
        let expression = Expression::parse(text).unwrap();
        let id = SubscriptionId(id as u64);
        if let Err(error) = tree.insert(id, &expression, &constants) {
            panic!("{text}: {error}");
        }
    }
    tree.snapshot()
}

/// An event of members with values that mostly suit, and sometimes a byte too few, too many, or another.
fn draw(draws: &mut Draws) -> Vec<u8> {
    let names: Vec<&str> = DOMAIN
        .lines()
        .filter_map(|line| line.split('|').next())
        .collect();
    let signs = [",", ",", ",", ", ", " ,", ",  "];
    let colons = [":", ":", ":", ": ", " :", ":\t"];
    let mut json = String::from("{");
    for at in 0..draws.below(9) {
        if at > 0 {
            json += signs[draws.below(signs.len())];
        }
        let name = match draws.below(40) {
            0 => "unknown",
            1 => "\\u0062",
            _ => names[draws.below(names.len())],
        };
        json += &format!("\"{name}\"");
        json += colons[draws.below(colons.len())];
        let value = VALUES[draws.below(VALUES.len())];
        json += match (name, draws.below(4)) {
            ("b", 1..) => ["true", "false"][draws.below(2)],
            ("i" | "now" | "e", 1..) => ["1", "-5", "7", "0", "123456"][draws.below(5)],
            ("f", 1..) => ["1", "0.5", "-2.25", "1e3"][draws.below(4)],
            ("s" | "text", 1..) => ["\"a\"", "\"a needle\"", "\"something else\""][draws.below(3)],
            ("ints", 1..) => ["[1,2]", "[7]", "[]", "[1, 2,3]"][draws.below(4)],
            ("strings", 1..) => ["[\"x\",\"y\"]", "[\"x\"]", "[]"][draws.below(3)],
            ("seg", 1..) => ["[[5,1000000]]", "[[5,1],[6,2]]", "[]"][draws.below(3)],
            ("frequency_caps", 1..) => [
                "[[[\"flight\",0,\"ns\"],3,4000000],[[\"flight:ip\",0,\"ns\"],5,1]]",
                "[[[\"flight\",0,\"other\"],3,4]]",
                "[[\"flight\",0,\"ns\",3,4]]",
                "[[[\"flight\",0,\"ns\"],3]]",
            ][draws.below(4)],
            _ => value,
        };
    }
    json.push('}');
    let mut json = json.into_bytes();
    if draws.below(4) == 0 {
        let at = draws.below(json.len());
        match draws.below(3) {
            0 => json.truncate(at),
            1 => json[at] = b"\"{}[]:,0-.e \\\x01\xff"[draws.below(15)],
            _ => json.insert(at, b"\"{}[]:,0-.e \\\x01\xff"[draws.below(15)]),
        }
    }
    json
}

fn read(
    snapshot: &Snapshot,
    json: &[u8],
    old: Option<Event>,
    budget: u64,
    at_once: bool,
) -> (Result<Event>, u64) {
    let mut reader = match old {
        Some(old) => snapshot.event_reader_reusing(json, true, old),
        None => snapshot.event_reader(json, true),
    };
    loop {
        match reader.read(Budget::reductions(budget), at_once) {
            Ok(Progress::Yielded) => {}
            Ok(Progress::Done) => break,
            Err(error) => return (Err(error), reader.reductions()),
        }
    }
    let reductions = reader.reductions();
    (reader.finish(), reductions)
}

#[test]
fn what_is_read_at_once_is_what_tokens_read() {
    let snapshot = snapshot();
    let mut draws = Draws(20_261_122);
    let mut old = None;
    let (mut right, mut wrong) = (0, 0);
    for _ in 0..40_000 {
        let json = draw(&mut draws);
        let what = String::from_utf8_lossy(&json).into_owned();
        let (expected, spent) = read(&snapshot, &json, None, u64::MAX, false);
        for budget in [u64::MAX, 1, 37] {
            let (found, reductions) = read(&snapshot, &json, None, budget, true);
            assert_eq!(found, expected, "{what}");
            assert_eq!(reductions, spent, "{what}");
        }
        let (found, reductions) = read(&snapshot, &json, old.take(), u64::MAX, true);
        assert_eq!(found, expected, "in used memory: {what}");
        assert_eq!(reductions, spent, "{what}");
        old = found.ok();
        match expected {
            Ok(_) => right += 1,
            Err(_) => wrong += 1,
        }
    }
    assert!(
        right > 5_000 && wrong > 5_000,
        "{right} right, {wrong} wrong"
    );
}

#[test]
fn the_end_of_a_string_is_found_at_every_length() {
    use crate::event::json::{PLAIN_BYTES_MAX, plain_text};
    for length in (0..70).chain([PLAIN_BYTES_MAX - 1, PLAIN_BYTES_MAX, PLAIN_BYTES_MAX + 1]) {
        let mut text = vec![b'x'; length];
        text.extend_from_slice(b"\"!");
        let known = (length < PLAIN_BYTES_MAX).then_some((length, true));
        assert_eq!(plain_text(&text), known, "{length}");
        for (at, byte) in (0..length.min(70))
            .flat_map(|at| [0, 0x1f, b'\\', 0x7f, 0x80, 0xff].map(|byte| (at, byte)))
        {
            let mut text = text.clone();
            text[at] = byte;
            let known = match byte {
                0x7f => known,
                0x80.. => known.map(|(length, _)| (length, false)),
                _ => None,
            };
            assert_eq!(plain_text(&text), known, "{byte} at {at} of {length}");
        }
        text.truncate(length);
        assert_eq!(plain_text(&text), None);
    }
}
