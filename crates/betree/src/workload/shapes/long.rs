//! Shapes of long expressions: several audience lists, lists of 10,000 values, hundreds of tests.

use super::shape::shape;
use super::{Ask, Shape, Values};

/// The share of conjunctions that have a clause: all.
const ALWAYS: u64 = 1000;
/// Ranges of which one must hold.
const RANGES: Ask = Ask::Either(&[(1, Ask::Range(40)), (2, Ask::Range(60))]);
/// Other tests of which one must hold.
const OTHERS: Ask = Ask::Either(&[(0, Ask::Any(2)), (1, Ask::Any(2)), (2, Ask::Any(2))]);

/// Lengths of lists, and how they are written.
const LENGTHS: [(u64, &str); 5] = [
    (1, "1"),
    (10, "10"),
    (100, "100"),
    (1_000, "1,000"),
    (10_000, "10,000"),
];
/// The elements that these lists are drawn from.
const ELEMENTS: u64 = 100_000;

/// All long shapes. [`Shape::values`] says how many values an expression names, so that whoever builds many of them
/// knows what they take.
#[must_use]
pub fn long() -> Vec<Shape> {
    let mut out = audiences();
    out.extend(lists());
    out.extend(both_sides());
    out.extend(tests());
    out
}

/// Events of some hundred segments, and several lists of them.
fn audiences() -> Vec<Shape> {
    let segments = Values::List(600, 30_000);
    let country = Values::Text(50);
    let several = |name: &str, lists: &[u64]| {
        let clauses: Vec<_> = lists.iter().map(|n| (0, Ask::Long(*n), ALWAYS)).collect();
        shape(name, &[segments], &clauses)
    };
    vec![
        several("4 audience lists of 10", &[10; 4]),
        several("4 audience lists of 30", &[30; 4]),
        several("4 audience lists of 100", &[100; 4]),
        several("4 audience lists of 300", &[300; 4]),
        several("4 audience lists of 1,000", &[1_000; 4]),
        several(
            "6 audience lists of 10 to 1,000",
            &[1_000, 10, 300, 30, 100, 500],
        ),
        shape(
            "4 audience lists of 100, none of 50, country in",
            &[segments, country],
            &[
                (0, Ask::Long(100), ALWAYS),
                (0, Ask::Long(100), ALWAYS),
                (0, Ask::Long(100), ALWAYS),
                (0, Ask::Long(100), ALWAYS),
                (0, Ask::None(50), ALWAYS),
                (1, Ask::Any(5), ALWAYS),
            ],
        ),
    ]
}

fn lists() -> Vec<Shape> {
    let device = Values::Text(5);
    let of = |name: &str, values| {
        let clauses = [(0, Ask::Long(10_000), ALWAYS), (1, Ask::Any(2), ALWAYS)];
        shape(name, &[values, device], &clauses)
    };
    vec![
        of("list of 10,000 integers", Values::Integer(1_000_000)),
        of("list of 10,000 texts", Values::Text(1_000_000)),
        of("list of 10,000 elements", Values::List(100, 1_000_000)),
    ]
}

/// Lists of any length, and events with lists of any length.
fn both_sides() -> Vec<Shape> {
    let all = LENGTHS.iter().flat_map(|list| {
        LENGTHS.iter().map(move |event| {
            let (list, event) = (*list, *event);
            shape(
                &format!("lists of {}, events of {}", list.1, event.1),
                &[Values::List(event.0, ELEMENTS)],
                &[(0, Ask::Long(list.0), ALWAYS)],
            )
        })
    });
    all.collect()
}

/// Expressions of 50 to 500 tests.
fn tests() -> Vec<Shape> {
    let texts = [Values::Text(20); 100];
    let all = |count: usize| -> Vec<_> {
        let most = |at: usize| {
            if at.is_multiple_of(2) {
                Ask::Any(16)
            } else {
                Ask::None(3)
            }
        };
        (0..count).map(|at| (at, most(at), ALWAYS)).collect()
    };
    let mixed = [Values::Text(50), Values::Text(200), Values::Text(1_000)];
    let ranged = [
        Values::Integer(1_000),
        Values::Integer(10_000),
        Values::Float(500),
    ];
    let or = |count: u64, shape: Shape| Shape {
        conjunctions: (count, count),
        ..shape
    };
    vec![
        shape("and of 50 tests", &texts, &all(50)),
        shape("and of 100 tests", &texts, &all(100)),
        or(
            100,
            shape(
                "or of 100 conjunctions of 5 tests",
                &texts,
                &[
                    (0, Ask::Any(1), ALWAYS),
                    (1, Ask::Any(3), ALWAYS),
                    (2, Ask::Any(3), ALWAYS),
                    (3, Ask::None(3), ALWAYS),
                    (4, Ask::Any(6), ALWAYS),
                ],
            ),
        ),
        shape(
            "and of 20 ors of 3 tests",
            &mixed,
            &[(0, OTHERS, ALWAYS); 20],
        ),
        shape(
            "range and one of two ranges",
            &ranged,
            &[(0, Ask::Least, ALWAYS), (0, RANGES, ALWAYS)],
        ),
        shape("one of two ranges", &ranged, &[(0, RANGES, ALWAYS)]),
        shape(
            "only frequency caps",
            &[Values::Boolean],
            &[(0, Ask::Cap, ALWAYS)],
        ),
        shape(
            "frequency cap, country in",
            &[Values::Text(200)],
            &[(0, Ask::Cap, ALWAYS), (0, Ask::Any(4), ALWAYS)],
        ),
    ]
}
