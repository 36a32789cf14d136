//! Shapes that differ only in how many values an attribute or a list has, or in how many alternatives an `or` has.

use super::long::long;
use super::names::{ALTERNATIVES, alternatives, named};
use super::shape::shape;
use super::{Ask, Shape, Values};

impl Shape {
    /// The shape of this name among [`named`], [`long`], [`sweeps`] and [`long_sweeps`].
    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        let swept = sweeps().into_iter().chain(long_sweeps());
        let swept = swept.flat_map(|sweep| sweep.shapes);
        named()
            .into_iter()
            .chain(long())
            .chain(swept)
            .find(|shape| shape.name == name)
    }
}

/// The numbers of values. Neighbours are at most 2.5 apart, and close to each other where an index could change its
/// mind.
const VALUES: [u64; 12] = [
    50, 100, 128, 129, 200, 300, 500, 1_000, 2_000, 5_000, 10_000, 20_000,
];

/// The lengths of lists, and the numbers of alternatives.
const LENGTHS: [u64; 12] = [15, 16, 17, 32, 63, 64, 65, 66, 130, 300, 500, 1_000];
const ALTERNATIVES_SWEPT: [u64; 10] = [8, 15, 16, 17, 18, 32, 63, 65, 130, 300];

/// Values of an attribute by their number.
type Swept = fn(u64) -> Values;

/// Shapes whose neighbours differ only in one number.
#[derive(Debug, Clone, PartialEq)]
pub struct Sweep {
    /// What is swept.
    pub name: &'static str,
    /// In ascending order of the number.
    pub shapes: Vec<Shape>,
}

/// Sweeps over texts, integers and the elements of lists.
#[must_use]
pub fn sweeps() -> Vec<Sweep> {
    let kinds: [(&str, Swept); 3] = [
        ("texts", Values::Text),
        ("integers", Values::Integer),
        ("elements", |bound| Values::List(20, bound)),
    ];
    let device = Values::Text(5);
    let clauses = [(0, Ask::Any(1), 1000), (1, Ask::Any(2), 1000)];
    kinds
        .into_iter()
        .map(|(name, values)| Sweep {
            name,
            shapes: VALUES
                .into_iter()
                .map(|count| {
                    let attributes = [values(count), device];
                    shape(&format!("sweep of {name}: {count}"), &attributes, &clauses)
                })
                .collect(),
        })
        .collect()
}

/// Sweeps over lengths of lists and numbers of alternatives. Their expressions are long: of the longest, 10,000 take
/// some hundred megabytes.
#[must_use]
pub fn long_sweeps() -> Vec<Sweep> {
    let mut out = Vec::from(lengths());
    out.extend(ALTERNATIVES.into_iter().map(|many| {
        let name = |count| format!("sweep of {}: {count}", many.0);
        let shapes = ALTERNATIVES_SWEPT.into_iter();
        Sweep {
            name: many.0,
            shapes: shapes
                .map(|count| alternatives(many, count, &name(count)))
                .collect(),
        }
    }));
    out
}

/// Sweeps over lengths of lists, alone and next to a test that most events pass.
fn lengths() -> [Sweep; 3] {
    let (city, text, list) = (
        Values::Integer(30_000),
        Values::Text(30_000),
        Values::List(50, 30_000),
    );
    let device = Values::Text(5);
    let lists: [(&str, Values, u64); 3] = [
        ("lengths of lists of integers", city, 0),
        ("lengths of lists of texts", text, 1000),
        ("lengths of lists of elements", list, 0),
    ];
    lists.map(|(name, values, share)| Sweep {
        name,
        shapes: LENGTHS
            .into_iter()
            .map(|count| {
                let clauses = [(0, Ask::Long(count), 1000), (1, Ask::None(1), share)];
                shape(
                    &format!("sweep of {name}: {count}"),
                    &[values, device],
                    &clauses,
                )
            })
            .collect(),
    })
}
