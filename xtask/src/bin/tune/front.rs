//! What dominates what: smaller and faster, beyond noise.

use crate::candidate::TWIN;
use crate::table::{Group, Row};

/// The noise to go by where there is no control, and the most that controls are believed: what is
/// noisier than this has to be measured again.
pub(crate) const NOISE: f64 = 0.03;
/// No control is believed to say that times are better than this.
const NOISE_MIN: f64 = 0.01;

/// By how much the times of a candidate and its control differ at most, as a share of the larger:
/// what other times differ by less says nothing. Controls are looked for in each list by itself.
pub(crate) fn noise<'r>(lists: impl IntoIterator<Item = &'r [Row]>) -> f64 {
    lists
        .into_iter()
        .flat_map(differences)
        .reduce(f64::max)
        .map_or(NOISE, |most| most.clamp(NOISE_MIN, NOISE))
}

fn differences(rows: &[Row]) -> impl Iterator<Item = f64> {
    let controls = rows.iter().filter(|row| row.group == Group::Control);
    controls.filter_map(|control| {
        let name = control.name.strip_suffix(TWIN)?;
        let times = [
            rows.iter().find(|row| row.name == name)?.pass_ns as f64,
            control.pass_ns as f64,
        ];
        Some(1.0 - times[0].min(times[1]) / times[0].max(times[1]))
    })
}

/// The native level that is no larger and faster beyond noise by the widest margin of size, if any.
pub(crate) fn dominating<'r>(row: &Row, rows: &'r [Row], noise: f64) -> Option<&'r Row> {
    rows.iter()
        .filter(|level| level.group == Group::Level && level.name != row.name)
        .filter(|level| level.compressed_bytes <= row.compressed_bytes)
        .filter(|level| (level.pass_ns as f64) < row.pass_ns as f64 * (1.0 - noise))
        .min_by_key(|level| level.compressed_bytes)
}

/// How much smaller the row is than what the native levels make in the same time: the smallest
/// size among the levels that are not slower, over its own, less 1. Positive is better. Without
/// a level as fast it is measured against the fastest.
pub(crate) fn margin(row: &Row, rows: &[Row], noise: f64) -> f64 {
    let levels = || rows.iter().filter(|level| level.group == Group::Level);
    let as_fast = levels()
        .filter(|level| level.pass_ns as f64 <= row.pass_ns as f64 * (1.0 - noise))
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
            let found = dominating(&own, &rows, NOISE).map(|level| level.name.as_str());
            assert_eq!(found, by, "{bytes} {ns}");
            assert_eq!(
                margin(&own, &rows, NOISE) <= 0.0,
                by.is_some(),
                "{bytes} {ns}"
            );
            rows.pop();
        }
    }

    #[test]
    fn noise_is_the_widest_difference_of_a_pair() {
        let rows = [
            row("text", Group::Recipe, 1000, 100),
            row("text again", Group::Control, 1000, 98),
            row("fast", Group::Recipe, 2000, 39),
            row("fast again", Group::Control, 2000, 40),
        ];
        assert!((noise([&rows[..2]]) - 0.02).abs() < 1e-9);
        assert!((noise([&rows[..2], &rows[2..]]) - 0.025).abs() < 1e-9);
        assert!((noise([&rows[..1]]) - NOISE).abs() < 1e-9);
    }
}
