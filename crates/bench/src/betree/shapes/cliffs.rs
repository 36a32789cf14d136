//! Neighbours of a sweep that are too far apart.

use super::Row;

/// What the cost of neighbours may differ by: more is a cliff.
pub const FACTOR_MAX: f64 = 3.0;
/// What every event costs, in matching expressions.
const EVENT_MATCHES: f64 = 16.0;
/// Medians that are closer than this are not told apart.
const NOISE_NS: u64 = 1_000;

/// Two neighbours of a sweep.
#[derive(Debug, Clone, PartialEq)]
pub struct Cliff {
    /// The names of the shapes, in the order of the sweep.
    pub shapes: [String; 2],
    /// How many expressions.
    pub expressions: u32,
    /// The medians of a search in nanoseconds.
    pub p50_ns: [u64; 2],
    /// Nanoseconds per matching expression, an event counted as sixteen more.
    pub cost_ns: [f64; 2],
    /// How many times the lesser cost the greater is.
    pub factor: f64,
}

impl Cliff {
    /// Whether the neighbours are too far apart.
    #[must_use]
    pub fn is_cliff(&self) -> bool {
        let [a, b] = self.p50_ns;
        self.factor > FACTOR_MAX && a.abs_diff(b) > NOISE_NS
    }
}

/// All neighbours that were measured, the farthest apart first.
#[must_use]
pub fn cliffs(rows: &[Row]) -> Vec<Cliff> {
    let mut out: Vec<Cliff> = Vec::new();
    for row in rows {
        let Some((sweep, at)) = row.place else {
            continue;
        };
        let next = rows.iter().find(|next| {
            next.place == Some((sweep, at + 1)) && next.expressions == row.expressions
        });
        if let Some(next) = next {
            out.extend(neighbours(row, next));
        }
    }
    out.sort_by(|a, b| b.factor.total_cmp(&a.factor));
    out
}

fn neighbours(from: &Row, to: &Row) -> Option<Cliff> {
    let p50_ns = [from.betree.p50_ns?, to.betree.p50_ns?];
    let cost = |row: &Row, ns: u64| ns.max(1) as f64 / (row.matched + EVENT_MATCHES);
    let cost_ns = [cost(from, p50_ns[0]), cost(to, p50_ns[1])];
    let factor = cost_ns[0].max(cost_ns[1]) / cost_ns[0].min(cost_ns[1]);
    Some(Cliff {
        shapes: [from.shape.clone(), to.shape.clone()],
        expressions: from.expressions,
        p50_ns,
        cost_ns,
        factor,
    })
}

#[cfg(test)]
mod tests {
    use super::super::{Changes, Times};
    use super::*;

    fn row(at: usize, expressions: u32, p50_ns: u64, matched: f64) -> Row {
        let times = Times {
            p50_ns: Some(p50_ns),
            ..Times::default()
        };
        Row {
            shape: format!("texts: {at}"),
            expressions,
            place: Some(("texts", at)),
            matched,
            betree: times,
            rivals: Vec::new(),
            build_ns: 0,
            bytes: 0,
            changes: Changes::default(),
            hold: Times::default(),
            answers: (0, 0),
        }
    }

    #[test]
    fn neighbours_of_one_size_are_compared_by_what_they_match() {
        // As many matches, ten times the time; then the time falls with the matches.
        let rows = [
            row(0, 10, 2_000, 84.0),
            row(2, 10, 2_000, 4.0),
            row(1, 10, 20_000, 84.0),
            row(0, 20, 90_000, 84.0),
        ];
        let found = cliffs(&rows);
        assert_eq!(found.len(), 2);
        assert!(found[0].is_cliff());
        assert_eq!(found[0].shapes, ["texts: 0", "texts: 1"]);
        assert!((found[0].factor - 10.0).abs() < 1e-9);
        assert!(!found[1].is_cliff(), "{:?}", found[1]);
        // Both are as fast as can be told apart.
        let close = cliffs(&[row(0, 10, 100, 0.0), row(1, 10, 900, 0.0)]);
        assert!(close[0].factor > FACTOR_MAX && !close[0].is_cliff());
    }
}
