//! Shapes drawn at random.

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::SeedableRng as _;

use super::random::{below, between};
use super::{Fault, Item, Shape, Tag, Value};

const BEGIN_STRINGS: [&str; 6] = [
    "FIX.4.0", "FIX.4.1", "FIX.4.2", "FIX.4.3", "FIX.4.4", "FIXT.1.1",
];
/// Tags of orders and market data.
const TAGS: [u32; 14] = [1, 11, 38, 40, 44, 54, 55, 58, 60, 207, 269, 270, 271, 1020];
/// Most fields of a message, and the longest value, as powers of two.
const FIELDS_BITS: u32 = 12;
const VALUE_BITS: u32 = 13;
/// What the values of a message come to at most.
const BYTES_MAX: u32 = 1 << 16;

/// A shape that depends on nothing but the seed: 1 to 5,000 fields with tags of one to nine digits, values of 1 to
/// 8,192 bytes, groups, data fields, any version, and sometimes faults.
#[must_use]
pub fn drawn(seed: u64) -> Shape {
    let mut random = SplitMix64::seed_from_u64(seed ^ 0x6472_6177);
    let random = &mut random;
    let mut items = Vec::new();
    for _ in 0..=below(random, 2) {
        // About as often a few fields as thousands.
        let most = log_uniform(random, FIELDS_BITS) * 5 / 4;
        let members = members(random, (BYTES_MAX / most).max(1));
        let most = most.div_ceil(members.len() as u32);
        let count = (most / (1 + below(random, 3) as u32), most);
        items.push(match below(random, 4) {
            0 => Item::Group(268, count, members),
            _ => Item::Times(count, members),
        });
    }
    if below(random, 3) == 0 {
        let at = below(random, items.len() as u64 + 1) as usize;
        items.insert(at, data(random, 1 << VALUE_BITS));
    }
    let faults = match below(random, 4) {
        0 => Fault::ALL
            .into_iter()
            .filter(|_| below(random, 2) == 0)
            .collect(),
        _ => Vec::new(),
    };
    let share = [10, 100, 500, 1000][below(random, 4) as usize];
    Shape {
        name: format!("drawn {seed}"),
        begin_string: BEGIN_STRINGS[below(random, 6) as usize],
        msg_type: ["D", "8", "AE", "W"][below(random, 4) as usize],
        has_header: below(random, 8) > 0,
        items,
        faulty: if faults.is_empty() { 0 } else { share },
        faults,
    }
}

/// A number from 1 to 2 to the power of `bits`, whose number of bits is uniform.
fn log_uniform(random: &mut SplitMix64, bits: u32) -> u32 {
    let bits = below(random, u64::from(bits)) as u32;
    (1 << bits) + below(random, 1 << bits) as u32
}

/// One to six fields, all of which have at most this many bytes.
fn members(random: &mut SplitMix64, bytes_max: u32) -> Vec<Item> {
    let mut out = Vec::new();
    for _ in 0..=below(random, 6) {
        let digits = 1 + below(random, 9) as u32;
        let tag = match below(random, 4) {
            0 => Tag::Digits(digits.min(between(random, (1, 9)))),
            1 => Tag::From(100),
            _ => Tag::Is(TAGS[below(random, TAGS.len() as u64) as usize]),
        };
        let value = match below(random, 8) {
            0..3 => {
                let most = log_uniform(random, VALUE_BITS).min(bytes_max);
                Value::Text(1 + below(random, u64::from(most)) as u32, most)
            }
            3 => Value::Text(1, 12.min(bytes_max)),
            4 => Value::Number(1, 9),
            5 => Value::Price,
            6 => Value::Time,
            _ => Value::Is("1"),
        };
        out.push(match below(random, 24) {
            0 => data(random, bytes_max.min(200)),
            _ => Item::Field(tag, value),
        });
    }
    out
}

/// A data field of at most this many bytes.
fn data(random: &mut SplitMix64, bytes_max: u32) -> Item {
    let most = log_uniform(random, VALUE_BITS).min(bytes_max);
    let (length_tag, tag) = [(95, 96), (354, 355), (348, 349)][below(random, 3) as usize];
    Item::Data(length_tag, tag, (1 + most / 2, most.max(1)))
}
