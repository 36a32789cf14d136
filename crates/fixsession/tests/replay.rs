//! The plan of a replay, for any request and any mix of messages, and how much of it a call does.

use std::collections::HashSet;

use fixsession::{Echo, ReplayStep, plan_replay};
use proptest::prelude::{ProptestConfig, any, proptest};
use proptest::{collection, prop_assert, prop_assert_eq};

use crate::common::{at, from_buyer, logged_on, seller, taken};

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn covers_each_number_once_and_in_order(
        begin in 0_u64..40,
        end in 0_u64..60,
        next_out in 1_u64..40,
        resent in collection::hash_set(1_u64..40, 0..40),
        extreme in any::<bool>(),
    ) {
        let end = if extreme { u64::MAX - end } else { end };
        let plan = plan_replay(begin, end, next_out, |number| resent.contains(&number));
        let first = begin.max(1);
        let last = match end {
            0 => next_out - 1,
            end => end.min(next_out - 1),
        };
        let mut next = first;
        let mut gaps = HashSet::new();
        for step in &plan {
            match *step {
                ReplayStep::Message(number) => {
                    prop_assert_eq!(number, next);
                    prop_assert!(resent.contains(&number));
                    next += 1;
                }
                ReplayStep::Gap { number, next: new } => {
                    prop_assert_eq!(number, next);
                    prop_assert!(new > number && new <= next_out);
                    prop_assert!((number..new).all(|number| !resent.contains(&number)));
                    // Two gaps never follow each other.
                    prop_assert!(!gaps.contains(&number));
                    gaps.insert(new);
                    next = new;
                }
            }
        }
        prop_assert_eq!(next, if first > last { first } else { last + 1 });
    }
}

#[test]
fn a_call_resends_no_more_than_a_piece_whatever_is_asked_for() {
    let mut seller = logged_on(seller());
    let body = "148=x\x0133=1\x0158=y\x01".replace('y', &"y".repeat(100));
    let last = 2_001;
    for _ in 2..=last {
        seller.send(b"B", body.as_bytes(), at(1), &mut ()).unwrap();
    }
    seller.sent(seller.output().len());
    // A storm: every request asks for everything, and no two are alike.
    let mut storm = Vec::new();
    for number in 2..50 {
        let asks = format!("7={}|16=0|", number - 1);
        storm.extend(from_buyer("2", number, &asks, at(1)));
    }
    let piece = (16 << 10) + 512;
    let (mut longest, mut next) = (0, 0);
    let mut input = storm.as_slice();
    loop {
        seller.bytes(input, 64, at(1), &mut Echo::default());
        input = &[];
        longest = longest.max(seller.output().len());
        let messages = taken(&mut seller);
        if messages.is_empty() {
            break;
        }
        for (kind, number, text) in messages {
            assert!(text.contains("|43=Y|"), "{text}");
            next = match kind.as_str() {
                "4" => {
                    let (_, new) = text.split_once("|36=").unwrap();
                    new.split('|').next().unwrap().parse().unwrap()
                }
                _ => number + 1,
            };
        }
    }
    assert_eq!(next, last + 1, "all of it came in the end");
    assert!(longest <= piece, "{longest} bytes by one call");
}
