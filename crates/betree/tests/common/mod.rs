//! What the tests share: random expressions and events over the whole grammar, and an evaluator of
//! them that shares nothing with the crate.

#![allow(dead_code, reason = "each test binary uses its own part of this")]

pub(crate) mod generate;
pub(crate) mod oracle;
mod random;

pub(crate) use random::Random;

use betree::{BeTree, Constants, Domain, Expression, SubscriptionId, Undefined};

/// One attribute of each type, and those that the language names.
pub(crate) const DOMAIN: &str = "\
b1|boolean|true
b2|boolean|true
b3|boolean|false
i1|integer|true|-10|10
i2|integer|false
f1|float|true|-10|10
s1|string|true
s2|string|false||100
e1|integer enum|true||50
il|integer list|true|-100|100
sl|string list|true
seg|segments|true
segments_with_timestamp|segments|true
frequency_caps|frequency|true
latitude|float|true
longitude|float|true
now|integer|true
";

pub(crate) fn domain() -> Domain {
    Domain::parse(DOMAIN).expect("a domain")
}

/// The constants of every subscription.
pub(crate) const CONSTANTS: Constants = Constants {
    advertiser_id: Some(1),
    campaign_id: Some(2),
    campaign_group_id: Some(3),
    flight_id: Some(4),
    product_id: Some(5),
};

/// A tree with these expressions, ids from 1.
pub(crate) fn tree(domain: Domain, undefined: Undefined, texts: &[String]) -> BeTree {
    let mut tree = BeTree::new(domain, undefined);
    for (index, text) in texts.iter().enumerate() {
        insert(&mut tree, index as u64 + 1, text);
    }
    tree
}

pub(crate) fn insert(tree: &mut BeTree, id: u64, text: &str) {
    let expression = Expression::parse(text).unwrap_or_else(|error| panic!("{error}: {text}"));
    tree.insert(SubscriptionId(id), &expression, &CONSTANTS)
        .unwrap_or_else(|error| panic!("{error}: {text}"));
}
