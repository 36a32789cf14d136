//! Kinds of text.

use std::io::Write;

use super::{Random, filled};

/// Appends formatted text, which cannot fail.
macro_rules! put {
    ($out:expr, $($words:tt)*) => {
        write!($out, $($words)*).expect("memory")
    };
}

/// Each byte is one of these.
pub(super) fn alphabet(seed: u64, bytes: usize, of: &[u8]) -> Vec<u8> {
    let mut random = Random(seed);
    (0..bytes).map(|_| of[random.below(of.len())]).collect()
}

/// A vocabulary of made-up words.
fn vocabulary(random: &mut Random, count: usize) -> Vec<String> {
    const SYLLABLES: &[&str] = &[
        "an", "be", "con", "de", "er", "fa", "ge", "hin", "in", "ka", "lo", "men", "no", "on",
        "per", "qui", "ra", "ste", "ti", "un", "ver", "wa", "xi", "ya", "zo", "th", "sch", "ing",
        "ed", "ly",
    ];
    let word = |_| {
        let syllables = 1 + random.below(4);
        (0..syllables).map(|_| random.pick(SYLLABLES)).collect()
    };
    (0..count).map(word).collect()
}

pub(super) fn prose(seed: u64, bytes: usize) -> Vec<u8> {
    let mut random = Random(seed);
    let words = vocabulary(&mut random, 6000);
    let mut first = true;
    filled(bytes, |out| {
        let nth = random.skewed(words.len());
        let word = &words[random.below(nth + 1)];
        let mut text = word.clone();
        if first {
            text[..1].make_ascii_uppercase();
        }
        put!(out, "{text}");
        first = random.below(14) == 0;
        let ends = if random.below(5) == 0 { ".\n" } else { ". " };
        put!(out, "{}", if first { ends } else { " " });
    })
}

pub(super) fn utf16(seed: u64, bytes: usize) -> Vec<u8> {
    let text = prose(seed, bytes / 2 + 1);
    let wide = text.iter().flat_map(|byte| [*byte, 0]);
    wide.take(bytes).collect()
}

pub(super) fn sorted_words(seed: u64, bytes: usize) -> Vec<u8> {
    let mut random = Random(seed);
    let words = bytes / 9 + 100;
    let mut all = vocabulary(&mut random, words);
    for word in &mut all {
        word.push_str(&random.below(100).to_string());
    }
    all.sort();
    let mut at = 0;
    filled(bytes, |out| {
        put!(out, "{}\n", all[at % all.len()]);
        at += 1;
    })
}

const NAMES: &[&str] = &[
    "Anna Berg",
    "Carl Dahl",
    "Eva Frank",
    "Georg Huber",
    "Ida Jansen",
    "Karl Lang",
    "Maria Novak",
    "Otto Peters",
    "Paula Quint",
    "Rosa Stein",
    "Tom Ulrich",
    "Vera Wolf",
    "Xaver Young",
    "Zoe Adler",
];
const PLACES: &[&str] = &[
    "Berlin", "Paris", "London", "Madrid", "Rome", "Vienna", "Prague", "Warsaw", "Lisbon", "Oslo",
    "Helsinki", "Dublin", "Athens", "Budapest", "Zagreb", "Sofia",
];
const STATES: &[&str] = &["open", "paid", "shipped", "cancelled", "returned"];

pub(super) fn csv(seed: u64, bytes: usize) -> Vec<u8> {
    let mut random = Random(seed);
    let mut id = 100_000;
    filled(bytes, |out| {
        id += 1 + random.skewed(4);
        let (cents, count) = (random.skewed(100_000), 1 + random.skewed(9));
        let (day, month) = (1 + random.below(28), 1 + random.below(12));
        let (name, place, state) = (random.pick(NAMES), random.pick(PLACES), random.pick(STATES));
        put!(
            out,
            "{id},2026-{month:02}-{day:02},{name},{place},{count},{}.{:02},{state}\n",
            cents / 100,
            cents % 100
        );
    })
}

pub(super) fn sql(seed: u64, bytes: usize) -> Vec<u8> {
    let mut random = Random(seed);
    let mut id = 1;
    filled(bytes, |out| {
        id += 1;
        let (name, place, state) = (random.pick(NAMES), random.pick(PLACES), random.pick(STATES));
        put!(
            out,
            "INSERT INTO `orders` (`id`, `customer`, `city`, `state`, `total`) VALUES ({id}, '{name}', \
             '{place}', '{state}', {});\n",
            random.skewed(1_000_000)
        );
    })
}

pub(super) fn xml(seed: u64, bytes: usize) -> Vec<u8> {
    let mut random = Random(seed);
    let words = vocabulary(&mut random, 800);
    let mut id = 7_000;
    filled(bytes, |out| {
        id += 1 + random.skewed(3);
        let (name, state) = (random.pick(NAMES), random.pick(STATES));
        put!(
            out,
            "  <order id=\"{id}\" state=\"{state}\">\n    <customer>{name}</customer>\n"
        );
        for _ in 0..1 + random.below(4) {
            let (article, count) = (&words[random.skewed(words.len())], 1 + random.skewed(5));
            let cents = random.skewed(50_000);
            put!(
                out,
                "    <item article=\"{article}\" count=\"{count}\" price=\"{}.{:02}\"/>\n",
                cents / 100,
                cents % 100
            );
        }
        put!(out, "  </order>\n");
    })
}

pub(super) fn json_api(seed: u64, bytes: usize) -> Vec<u8> {
    let mut random = Random(seed);
    let words = vocabulary(&mut random, 1500);
    filled(bytes, |out| {
        let user = random.below(100_000);
        let (name, place) = (random.pick(NAMES), random.pick(PLACES));
        let hash = random.next();
        let text: Vec<&str> = (0..6)
            .map(|_| words[random.skewed(words.len())].as_str())
            .collect();
        let (text, likes) = (text.join(" "), random.skewed(5000));
        let seen = 1_790_000_000 + random.below(10_000_000);
        put!(
            out,
            "{{\"id\":\"{hash:016x}\",\"user\":{{\"id\":{user},\"name\":\"{name}\",\"city\":\"{place}\",\
             \"verified\":{}}},\"text\":\"{text}\",\"likes\":{likes},\"created_at\":{seen},\"tags\":[\"{}\",\
             \"{}\"]}},\n",
            random.below(3) == 0,
            words[random.skewed(200)],
            words[random.skewed(200)]
        );
    })
}

pub(super) fn hexdump(seed: u64, bytes: usize) -> Vec<u8> {
    let mut random = Random(seed);
    let mut at = 0_usize;
    filled(bytes, |out| {
        put!(out, "{at:08x} ");
        for _ in 0..16 {
            let byte = if random.below(3) == 0 {
                0
            } else {
                random.skewed(256)
            };
            put!(out, " {byte:02x}");
        }
        put!(out, "\n");
        at += 16;
    })
}

pub(super) fn fix_messages(seed: u64, bytes: usize) -> Vec<u8> {
    let mut random = Random(seed);
    let mut number = 1;
    filled(bytes, |out| {
        number += 1;
        let (order, price) = (random.next() % 100_000_000, 1_000 + random.skewed(9_000));
        let (side, count) = (1 + random.below(2), 100 * (1 + random.skewed(20)));
        let (second, milli) = (random.below(60), random.below(1000));
        let symbol = random.pick(&["MSFT", "AAPL", "SAP", "BMW", "IBM", "ORCL", "SIE", "ALV"]);
        put!(
            out,
            "8=FIX.4.4\x019=178\x0135=D\x0149=CLIENT\x0156=BROKER\x0134={number}\x0152=20261123-10:15:{second:02}.\
             {milli:03}\x0111={order:08}\x0155={symbol}\x0154={side}\x0138={count}\x0144={}.{:02}\x0140=2\x0159=0\x01\
             10={:03}\x01\n",
            price / 100,
            price % 100,
            random.below(256)
        );
    })
}

/// Four letters with repeats: copies of earlier parts in which some letters changed.
pub(super) fn genome(seed: u64, bytes: usize) -> Vec<u8> {
    let mut random = Random(seed);
    filled(bytes, |out| {
        let length = 20 + random.below(400);
        if out.len() < 1000 || random.below(3) > 0 {
            out.extend((0..length).map(|_| b"ACGT"[random.below(4)]));
            return;
        }
        let back = 1 + random.below(out.len().min(30_000));
        for _ in 0..length {
            let byte = out[out.len() - back];
            let changed = random.below(50) == 0;
            out.push(if changed {
                b"ACGT"[random.below(4)]
            } else {
                byte
            });
        }
    })
}
