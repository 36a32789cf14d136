//! Messages a minute as a chart of bars.

use std::collections::BTreeMap;

use fixlog::orders::time;
use latency::report::{Cell, Table, Unit};

/// Bars of a chart at most: longer times become one bar.
const BARS_MAX: i64 = 30;
/// Columns of the longest bar, each of eight parts.
const BAR_COLUMNS: u64 = 24;
/// Minutes of a bar.
const MINUTES: [i64; 12] = [1, 2, 5, 10, 15, 30, 60, 120, 240, 480, 1440, 10_080];
const PARTS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
const MINUTE_NS: i64 = 60_000_000_000;

/// Each minute that has messages, for programs.
pub(super) fn minutes(minutes: &BTreeMap<i64, u64>) -> serde_json::Value {
    let each = minutes
        .iter()
        .map(|(minute, count)| (minute_text(*minute), (*count).into()));
    serde_json::Value::Object(each.collect())
}

/// The chart; `None` without messages.
pub(super) fn table(minutes: &BTreeMap<i64, u64>) -> Option<Table> {
    let (first, last) = (minutes.first_key_value()?.0, minutes.last_key_value()?.0);
    let fits = |each: &i64| last.div_euclid(*each) - first.div_euclid(*each) < BARS_MAX;
    let each = MINUTES.into_iter().find(fits);
    // Times that are wrong may be years away: only those with messages have a bar then.
    let (each, is_sparse) = each.map_or((1440, true), |each| (each, false));
    let mut bars: BTreeMap<i64, u64> = BTreeMap::new();
    if !is_sparse {
        bars.extend((first.div_euclid(each)..=last.div_euclid(each)).map(|bar| (bar, 0)));
    }
    for (minute, count) in minutes {
        *bars.entry(minute.div_euclid(each)).or_default() += count;
    }
    let most = bars.values().copied().max().unwrap_or(1).max(1);
    let columns = [
        ("from", Unit::Text),
        ("messages", Unit::Count),
        ("a_minute", Unit::Count),
        ("chart", Unit::Text),
    ];
    let mut chart = Table::new("messages a minute", &columns);
    for (bar, count) in &bars {
        chart.rows.push(vec![
            minute_text(bar.saturating_mul(each)).into(),
            (*count).into(),
            (count / each.unsigned_abs()).into(),
            Cell::from(drawn(*count, most).as_str()),
        ]);
    }
    Some(chart)
}

fn minute_text(minute: i64) -> String {
    let text = time(minute.saturating_mul(MINUTE_NS));
    text.get(..14).unwrap_or(&text).to_owned()
}

/// A bar.
fn drawn(count: u64, most: u64) -> String {
    let parts = u128::from(count) * u128::from(BAR_COLUMNS * 8) / u128::from(most);
    let parts = parts as u64;
    // What is there is seen.
    let parts = if count > 0 { parts.max(1) } else { 0 };
    let rest = PARTS.get((parts % 8) as usize).copied().unwrap_or("");
    format!("{}{rest}", "█".repeat((parts / 8) as usize))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_has_few_bars_and_all_its_messages() {
        for (count, each) in [(1, 1), (30, 1), (31, 2), (480, 30), (5000, 240)] {
            let minutes: BTreeMap<_, _> =
                (0..count).map(|minute| (29_544_480 + minute, 7)).collect();
            let chart = table(&minutes).expect("a chart");
            let rows = &chart.rows;
            assert!(rows.len() <= BARS_MAX as usize, "{count}: {}", rows.len());
            let counts = rows.iter().map(|row| match row[1] {
                Cell::Integer(count) => count,
                _ => 0,
            });
            assert_eq!(counts.sum::<i64>(), 7 * count, "{count}");
            let step = |row: &Vec<Cell>| match &row[0] {
                Cell::Text(text) => text.clone(),
                _ => String::new(),
            };
            let next = if each == 1 {
                29_544_480 + 1
            } else {
                29_544_480 + each
            };
            if let Some(second) = rows.get(1) {
                assert_eq!(step(second), minute_text(next), "{count}");
            }
            let all = super::minutes(&minutes);
            assert_eq!(
                all.as_object().map(serde_json::Map::len),
                Some(count as usize)
            );
        }
        // Two messages a lifetime apart.
        let far = BTreeMap::from([(-100_000_000, 1), (100_000_000, 1)]);
        assert_eq!(table(&far).map(|chart| chart.rows.len()), Some(2));
        assert!(table(&BTreeMap::new()).is_none());
    }

    #[test]
    fn bars_are_as_long_as_their_share() {
        assert_eq!(drawn(10, 10).chars().count(), 24);
        assert_eq!(drawn(5, 10), "█".repeat(12));
        assert_eq!(drawn(1, 100_000), "▏");
        assert_eq!(drawn(0, 10), "");
    }
}
