//! Neighbours of a sweep that are too far apart.

use fixcore::Isa;

use super::{Operation, Row};

/// What the cost of neighbours may differ by: more is a cliff.
pub const FACTOR_MAX: f64 = 3.0;
/// Messages that are closer than this are not told apart, in nanoseconds.
const NOISE_NS: f64 = 60.0;

/// Two neighbours of a sweep.
#[derive(Debug, Clone, PartialEq)]
pub struct Cliff {
    /// The names of the shapes, in the order of the sweep.
    pub shapes: [String; 2],
    /// What was done.
    pub operation: Operation,
    /// By which instruction set.
    pub isa: Isa,
    /// Nanoseconds a message.
    pub message_ns: [f64; 2],
    /// Nanoseconds a byte.
    pub byte_ns: [f64; 2],
    /// How many times the lesser cost of a byte the greater is.
    pub factor: f64,
}

impl Cliff {
    /// Whether the neighbours are too far apart.
    #[must_use]
    pub fn is_cliff(&self) -> bool {
        let [a, b] = self.message_ns;
        self.factor > FACTOR_MAX && (a - b).abs() > NOISE_NS
    }
}

/// All neighbours that were measured, the farthest apart first.
#[must_use]
pub fn cliffs(rows: &[Row]) -> Vec<Cliff> {
    let mut out: Vec<Cliff> = Vec::new();
    for row in rows.iter().filter(|row| row.operation.is_by_byte()) {
        let Some((sweep, at)) = row.place else {
            continue;
        };
        let next = rows.iter().find(|next| {
            next.place == Some((sweep, at + 1))
                && (next.operation, next.isa) == (row.operation, row.isa)
        });
        out.extend(next.map(|next| neighbours(row, next)));
    }
    out.sort_by(|a, b| b.factor.total_cmp(&a.factor));
    out
}

fn neighbours(from: &Row, to: &Row) -> Cliff {
    let byte_ns = [from, to].map(|row| row.fixcore_ns / row.bytes.max(1.0));
    let [a, b] = byte_ns;
    Cliff {
        shapes: [from.shape.clone(), to.shape.clone()],
        operation: from.operation,
        isa: from.isa,
        message_ns: [from.fixcore_ns, to.fixcore_ns],
        byte_ns,
        factor: a.max(b) / a.min(b).max(f64::MIN_POSITIVE),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(at: usize, operation: Operation, bytes: f64, fixcore_ns: f64) -> Row {
        Row {
            shape: format!("fields: {at}"),
            operation,
            isa: Isa::Scalar,
            place: Some(("fields", at)),
            fields: 10.0,
            bytes,
            fixcore_ns,
            rivals_ns: Vec::new(),
            ratio: None,
            control: None,
        }
    }

    #[test]
    fn neighbours_of_one_operation_are_compared_by_the_byte() {
        use Operation::{Encode, Late, Parse};
        // Twice the bytes in twice the time, then in ten times the time.
        let rows = [
            row(0, Parse, 100.0, 100.0),
            row(2, Parse, 400.0, 2_000.0),
            row(1, Parse, 200.0, 200.0),
            row(1, Encode, 200.0, 9_000.0),
            row(0, Late, 100.0, 10.0),
            row(1, Late, 100.0, 900.0),
        ];
        let found = cliffs(&rows);
        assert_eq!(found.len(), 2);
        assert!(found[0].is_cliff());
        assert_eq!(found[0].shapes, ["fields: 1", "fields: 2"]);
        assert!((found[0].factor - 5.0).abs() < 1e-9);
        assert!(!found[1].is_cliff(), "{:?}", found[1]);
        // Both are as fast as can be told apart.
        let close = cliffs(&[row(0, Parse, 100.0, 10.0), row(1, Parse, 100.0, 50.0)]);
        assert!(close[0].factor > FACTOR_MAX && !close[0].is_cliff());
    }
}
