//! Ranges that are wide, and events that lack attributes.

use super::shape::shape;
use super::{Ask, Shape, Values};

/// Ranges over some of these attributes, each over a share of it, in thousandths. Of a thousand events `absent` lack an
/// attribute.
fn ranges(name: &str, (some, all): (usize, usize), share: u64, absent: u64) -> Shape {
    let clauses: Vec<_> = (0..all).map(|at| (at, Ask::Range(share), 1000)).collect();
    let mut out = shape(name, &vec![Values::Integer(1_000_000); all], &clauses);
    out.clauses_max = some;
    for (_, lacking) in &mut out.attributes {
        *lacking = absent;
    }
    out
}

pub(super) fn wide() -> Vec<Shape> {
    vec![
        ranges("ranges over 10 %: 3 of 5 attributes", (3, 5), 100, 0),
        ranges("ranges over half of both attributes", (2, 2), 500, 0),
        ranges("ranges over half: 3 of 20 attributes", (3, 20), 500, 0),
        ranges("ranges over 90 %: 3 of 20 attributes", (3, 20), 900, 0),
        ranges(
            "ranges over half, events lack 9 of 10 attributes",
            (3, 20),
            500,
            900,
        ),
        ranges("ranges over half, empty events", (2, 2), 500, 1000),
        ranges(
            "ranges over half: 3 of 200, empty events",
            (3, 200),
            500,
            1000,
        ),
    ]
}
