//! What dominates what: smaller and faster, beyond noise.

use crate::candidate::Group;
use crate::measure::Row;

/// Times that differ by less than this say nothing.
pub(crate) const NOISE: f64 = 0.03;

/// The native level that is no larger and faster beyond noise by the widest margin of size, if any.
pub(crate) fn dominating<'r>(row: &Row, rows: &'r [Row]) -> Option<&'r Row> {
    rows.iter()
        .filter(|level| level.group == Group::Level && level.name != row.name)
        .filter(|level| level.compressed_bytes <= row.compressed_bytes)
        .filter(|level| (level.pass_ns as f64) < row.pass_ns as f64 * (1.0 - NOISE))
        .min_by_key(|level| level.compressed_bytes)
}

/// How much smaller the row is than what the native levels make in the same time: the smallest
/// size among the levels that are not slower, over its own, less 1. Positive is better. Without
/// a level as fast it is measured against the fastest.
pub(crate) fn margin(row: &Row, rows: &[Row]) -> f64 {
    let levels = || rows.iter().filter(|level| level.group == Group::Level);
    let as_fast = levels()
        .filter(|level| level.pass_ns as f64 <= row.pass_ns as f64 * (1.0 - NOISE))
        .map(|level| level.compressed_bytes)
        .min();
    let Some(fastest) = levels().min_by_key(|level| level.pass_ns) else {
        return 0.0;
    };
    let best = as_fast.unwrap_or(fastest.compressed_bytes);
    best as f64 / row.compressed_bytes as f64 - 1.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, group: Group, compressed_bytes: usize, pass_ns: u64) -> Row {
        Row {
            name: name.to_owned(),
            group,
            compressed_bytes,
            pass_ns,
            passes: 1,
            memory_bytes: 0,
        }
    }

    #[test]
    fn only_smaller_and_faster_dominates() {
        let mut rows = vec![
            row("level 1", Group::Level, 1000, 100),
            row("level 3", Group::Level, 900, 200),
        ];
        for (bytes, ns, by) in [
            (950, 150, None),
            (950, 202, None),
            (950, 250, Some("level 3")),
            (1000, 150, Some("level 1")),
            (800, 900, None),
        ] {
            let own = row("text", Group::Recipe, bytes, ns);
            rows.push(own.clone());
            let found = dominating(&own, &rows).map(|level| level.name.as_str());
            assert_eq!(found, by, "{bytes} {ns}");
            assert_eq!(margin(&own, &rows) <= 0.0, by.is_some(), "{bytes} {ns}");
            rows.pop();
        }
    }
}
