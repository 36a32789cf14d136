//! Seeds of the log of changes: whole, torn, damaged.

use betree::{Constants, SubscriptionId};
use matcher::log::{append, header};
use matcher::{Change, Put};

use crate::Seed;

pub(crate) fn seeds() -> Vec<Seed> {
    let put = Put {
        expression: "within_frequency_cap('flight', 'ns', 3, 60)".into(),
        constants: Constants {
            flight_id: Some(4),
            ..Constants::default()
        },
        priority: 0,
    };
    let first = [
        Change::put(SubscriptionId(1), "a and b"),
        Change::Delete(SubscriptionId(2)),
    ];
    let second = [Change::Put(SubscriptionId(u64::MAX), put)];
    let mut whole = header(0).to_vec();
    append(1, &first, &mut whole);
    let middle = whole.len();
    append(3, &second, &mut whole);
    let mut damaged = whole.clone();
    damaged[middle - 6] ^= 0x20;
    vec![
        Seed::new("matcher_log", "empty", header(41)),
        Seed::new("matcher_log", "whole", whole.clone()),
        Seed::new("matcher_log", "torn", &whole[..middle + 7]),
        Seed::new("matcher_log", "damaged", damaged),
        Seed::new("matcher_log", "records", &whole[header(0).len()..]),
    ]
}
