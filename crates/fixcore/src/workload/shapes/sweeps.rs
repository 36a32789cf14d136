//! Shapes that differ in one number only.

use super::names::{data, entry, field, order, shape, snapshot, times};
use super::{Fault, Item, Shape, Tag, Value, named};

impl Shape {
    /// The shape of this name among all [`named`] and swept ones.
    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        let swept = sweeps().into_iter().flat_map(|sweep| sweep.shapes);
        let mut all = named().into_iter().chain(swept);
        all.find(|shape| shape.name == name)
    }
}

/// Shapes whose neighbours differ only in one number, by a factor of two at most or by one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sweep {
    /// What is swept.
    pub name: &'static str,
    /// In ascending order of the number.
    pub shapes: Vec<Shape>,
}

/// Numbers of fields, and of bytes: powers of two, and close to each other where code could change its mind.
const FIELDS: [u32; 19] = [
    1, 2, 4, 8, 15, 16, 17, 32, 64, 128, 255, 256, 257, 300, 600, 1_200, 2_400, 4_800, 5_000,
];
const BYTES: [u32; 26] = [
    1, 2, 4, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 256, 512, 1_023, 1_024, 1_025,
    2_048, 4_095, 4_096, 4_097, 8_192,
];

/// All sweeps: over fields, bytes of values and of data, digits of tags, entries, and shares of faults.
#[must_use]
pub fn sweeps() -> Vec<Sweep> {
    vec![
        sweep("fields", &FIELDS, |count| {
            shape(
                "",
                "8",
                vec![times(count, Tag::From(100), Value::Text(1, 10))],
            )
        }),
        sweep("bytes of 10 values", &BYTES, |bytes| {
            let value = Value::Text(bytes, bytes);
            shape("", "8", vec![times(10, Tag::Digits(3), value)])
        }),
        sweep("bytes of data", &BYTES, |bytes| {
            let mut items = order();
            items.push(data((354, 355), bytes));
            shape("", "D", items)
        }),
        sweep(
            "digits of 50 tags",
            &[1, 2, 3, 4, 5, 6, 7, 8, 9],
            |digits| {
                shape(
                    "",
                    "8",
                    vec![times(50, Tag::Digits(digits), Value::Text(1, 8))],
                )
            },
        ),
        sweep(
            "entries",
            &[1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_000],
            |count| shape("", "W", snapshot(count)),
        ),
        sweep(
            "entries of 100 with data",
            &[0, 1, 2, 10, 50, 100],
            |count| {
                let mut with_data = entry();
                with_data.push(data((354, 355), 20));
                let items = vec![
                    Item::Times((count, count), with_data),
                    Item::Times((100 - count, 100 - count), entry()),
                ];
                shape("", "W", items)
            },
        ),
        sweep(
            "tags of 5 digits among 100",
            &[0, 1, 2, 10, 50, 100],
            |count| {
                let value = Value::Text(1, 8);
                let items = vec![
                    times(count, Tag::Digits(5), value),
                    times(100 - count, Tag::Digits(3), value),
                ];
                shape("", "8", items)
            },
        ),
        faults("wrong sums of a thousand", Fault::CheckSum),
        faults("invalid tags of a thousand", Fault::Tag),
    ]
}

fn faults(name: &'static str, fault: Fault) -> Sweep {
    sweep(name, &[0, 10, 100, 300, 600, 1_000], |share| {
        let mut items = order();
        items.push(field(58, Value::Text(20, 40)));
        shape("", "D", items).with_faults(share, &[fault])
    })
}

fn sweep(name: &'static str, numbers: &[u32], of: impl Fn(u32) -> Shape) -> Sweep {
    let named = |number: &u32| Shape {
        name: format!("sweep of {name}: {number}"),
        ..of(*number)
    };
    Sweep {
        name,
        shapes: numbers.iter().map(named).collect(),
    }
}
