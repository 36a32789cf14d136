//! The plan of a replay, for any request and any mix of messages.

use std::collections::HashSet;

use fixsession::{ReplayStep, plan_replay};
use proptest::prelude::{ProptestConfig, any, proptest};
use proptest::{collection, prop_assert, prop_assert_eq};

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
