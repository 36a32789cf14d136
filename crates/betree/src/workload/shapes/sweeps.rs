//! Shapes that differ only in how many values an attribute has.

use super::names::{named, shape};
use super::{Ask, Shape, Values};

impl Shape {
    /// The shape of this name among [`named`] and [`sweeps`].
    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        let swept = sweeps().into_iter().flat_map(|sweep| sweep.shapes);
        named()
            .into_iter()
            .chain(swept)
            .find(|shape| shape.name == name)
    }
}

/// The numbers of values. Neighbours are at most 2.5 apart, and close to each other where an index could change its
/// mind.
const VALUES: [u64; 12] = [
    50, 100, 128, 129, 200, 300, 500, 1_000, 2_000, 5_000, 10_000, 20_000,
];

/// Values of an attribute by their number.
type Swept = fn(u64) -> Values;

/// Shapes whose neighbours differ only in the number of values of one attribute.
#[derive(Debug, Clone, PartialEq)]
pub struct Sweep {
    /// What is swept.
    pub name: &'static str,
    /// In ascending order of the number of values.
    pub shapes: Vec<Shape>,
}

/// All sweeps: over texts, integers and the elements of lists.
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
