//! Shapes of targeting as people have it.

use super::shape::shape;
use super::wide::wide;
use super::{Ask, Shape, Values};

/// The share of conjunctions that have a clause: all.
const ALWAYS: u64 = 1000;

/// All named shapes.
#[must_use]
pub fn named() -> Vec<Shape> {
    let mut out = campaigns();
    out.extend(mixed());
    out.extend(texts());
    out.extend(wide());
    for bound in [50, 129, 300, 1_000, 2_000, 5_000, 20_000] {
        let (site, device) = (Values::Text(bound), Values::Text(5));
        let clauses = [(0, Ask::Any(1), ALWAYS), (1, Ask::Any(2), ALWAYS)];
        out.push(shape(
            &format!("site = one of {bound}"),
            &[site, device],
            &clauses,
        ));
    }
    for bound in [100, 301, 1_000, 7_900] {
        let (list, device) = (Values::List(20, bound), Values::Text(5));
        let clauses = [(0, Ask::Any(1), ALWAYS), (1, Ask::Any(2), ALWAYS)];
        let name = format!("segments one of (1) of {bound}");
        out.push(shape(&name, &[list, device], &clauses));
    }
    out
}

fn campaigns() -> Vec<Shape> {
    let (country, age) = (Values::Text(200), Values::Integer(100));
    let segments = Values::List(40, 5_000);
    vec![
        shape(
            "country in, age >=, segments one of",
            &[country, age, segments],
            &[
                (0, Ask::Any(4), ALWAYS),
                (1, Ask::Least, ALWAYS),
                (2, Ask::Any(8), ALWAYS),
            ],
        ),
        shape(
            "conjunctions of in-lists",
            &[
                Values::Text(200),
                Values::Text(1_000),
                Values::Text(50),
                Values::Text(30),
            ],
            &[
                (0, Ask::Any(5), ALWAYS),
                (1, Ask::Any(8), ALWAYS),
                (2, Ask::Any(5), 700),
                (3, Ask::Any(4), 700),
            ],
        ),
        shape(
            "deal id = one of 20,000",
            &[Values::Text(20_000), country],
            &[(0, Ask::Any(1), ALWAYS), (1, Ask::Any(5), 500)],
        ),
        shape(
            "segments one / all / none of",
            &[segments, Values::List(20, 1_000), Values::List(20, 500)],
            &[
                (0, Ask::Any(6), ALWAYS),
                (1, Ask::All(2), 300),
                (2, Ask::None(4), 500),
            ],
        ),
        shape(
            "segments all of",
            &[Values::List(60, 1_000), age],
            &[(0, Ask::All(3), ALWAYS), (1, Ask::Least, 500)],
        ),
        shape(
            "ranges",
            &[
                Values::Integer(1_000),
                Values::Float(1_000),
                Values::Integer(100_000),
                Values::Float(50),
            ],
            &[
                (0, Ask::Range(50), ALWAYS),
                (1, Ask::Range(80), ALWAYS),
                (2, Ask::Range(30), 600),
                (3, Ask::Least, 600),
            ],
        ),
        shape(
            "radius and country",
            &[country],
            &[(0, Ask::Radius(50), ALWAYS), (0, Ask::Any(3), ALWAYS)],
        ),
        shape(
            "radius",
            &[age],
            &[(0, Ask::Radius(40), ALWAYS), (0, Ask::Least, 500)],
        ),
        Shape {
            conjunctions: (2, 5),
            ..shape(
                "or of 2-5 conjunctions",
                &[country, Values::Text(2_000), age, segments],
                &[
                    (0, Ask::Any(3), 800),
                    (1, Ask::Any(4), 700),
                    (2, Ask::Least, 500),
                    (3, Ask::Any(4), 600),
                ],
            )
        },
    ]
}

/// What an `or` is of: its name, attributes and clauses.
pub(super) type Alternatives = (
    &'static str,
    &'static [Values],
    &'static [(usize, Ask, u64)],
);

/// What an `or` can be of.
pub(super) const ALTERNATIVES: [Alternatives; 4] = [
    (
        "boxes",
        &[Values::Float(5_000), Values::Float(5_000)],
        &[(0, Ask::Range(10), ALWAYS), (1, Ask::Range(10), ALWAYS)],
    ),
    (
        "ranges",
        &[Values::Integer(300_000)],
        &[(0, Ask::Range(1), ALWAYS)],
    ),
    (
        "circles",
        &[Values::Boolean],
        &[(0, Ask::Radius(15), ALWAYS)],
    ),
    (
        "conjunctions",
        &[Values::Integer(30_000), Values::Text(60)],
        &[(0, Ask::Long(1), ALWAYS), (1, Ask::Long(1), ALWAYS)],
    ),
];

/// An `or` of exactly this many alternatives.
pub(super) fn alternatives(
    (_, attributes, clauses): Alternatives,
    count: u64,
    name: &str,
) -> Shape {
    Shape {
        conjunctions: (count, count),
        ..shape(name, attributes, clauses)
    }
}

fn mixed() -> Vec<Shape> {
    let (country, age) = (Values::Text(200), Values::Integer(100));
    let many = [Values::Text(300); 200];
    let sparse: Vec<_> = (0..200).map(|at| (at, Ask::Any(3), ALWAYS)).collect();
    let booleans = [Values::Boolean; 12];
    let flags: Vec<_> = (0..12)
        .map(|at| (at, if at % 2 == 0 { Ask::True } else { Ask::False }, 250))
        .collect();
    vec![
        shape(
            "mostly negations",
            &[
                country,
                Values::Text(50),
                Values::List(10, 300),
                Values::Text(20),
                Values::Text(1_000),
            ],
            &[
                (4, Ask::Any(3), ALWAYS),
                (0, Ask::None(4), ALWAYS),
                (1, Ask::None(5), ALWAYS),
                (2, Ask::None(5), ALWAYS),
                (3, Ask::None(3), ALWAYS),
            ],
        ),
        shape(
            "only negations",
            &[
                country,
                Values::Text(50),
                Values::List(10, 300),
                Values::Text(20),
            ],
            &[
                (0, Ask::None(30), ALWAYS),
                (1, Ask::None(30), ALWAYS),
                (2, Ask::None(60), ALWAYS),
                (3, Ask::None(15), ALWAYS),
            ],
        ),
        shape(
            "frequency caps",
            &[country, age],
            &[
                (0, Ask::Cap, ALWAYS),
                (0, Ask::Any(3), ALWAYS),
                (1, Ask::Least, 500),
            ],
        ),
        Shape {
            clauses_max: 5,
            ..shape("sparse: 5 of 200 attributes", &many, &sparse)
        },
        Shape {
            skew: 2,
            ..shape(
                "Zipf values",
                &[
                    Values::Text(500),
                    Values::Text(5_000),
                    Values::List(20, 3_000),
                ],
                &[
                    (0, Ask::Any(3), ALWAYS),
                    (1, Ask::Any(4), 700),
                    (2, Ask::Any(4), 700),
                ],
            )
        },
        shape(
            "12 % match",
            &[Values::Text(3), age, Values::Text(4), Values::Text(300)],
            &[
                (0, Ask::Any(2), 700),
                (1, Ask::Least, 800),
                (2, Ask::Any(3), 800),
                (3, Ask::None(4), 500),
            ],
        ),
        shape("flags", &booleans, &flags),
        Shape {
            skew: 1,
            ..shape(
                "a bit of everything",
                &[
                    country,
                    Values::Text(8),
                    age,
                    Values::Float(10),
                    segments_of(30, 2_000),
                    segments_of(8, 200),
                    Values::Boolean,
                    Values::Text(3_000),
                ],
                &[
                    (0, Ask::Any(4), 800),
                    (1, Ask::None(2), 400),
                    (2, Ask::Range(300), 700),
                    (3, Ask::Least, 400),
                    (4, Ask::Any(12), 500),
                    (5, Ask::None(4), 500),
                    (6, Ask::True, 300),
                    (7, Ask::Any(6), 300),
                ],
            )
        },
    ]
}

/// Patterns in the words of an address.
fn texts() -> Vec<Shape> {
    let address = Values::Words(9, 100_000);
    let one = |name: &str, ask| shape(name, &[address], &[(0, ask, ALWAYS)]);
    vec![
        one("starts with a word", Ask::Starts),
        one("ends with a word", Ask::Ends),
        one("contains a word", Ask::Contains),
        Shape {
            conjunctions: (5, 5),
            ..shape(
                "or of 5 contains without another",
                &[address],
                &[(0, Ask::Contains, ALWAYS), (0, Ask::Lacks, ALWAYS)],
            )
        },
        shape(
            "contains one of 1,000 words, country in",
            &[Values::Words(3, 1_000), Values::Text(50)],
            &[(0, Ask::Contains, ALWAYS), (1, Ask::Any(3), ALWAYS)],
        ),
    ]
}

fn segments_of(most: u64, bound: u64) -> Values {
    Values::List(most, bound)
}
