//! What a table can do without when it is wider than the terminal.
//!
//! A column is worth as much as a reader would miss it: names and verdicts most, then ratios and speeds,
//! then the tail, then the middle, then what the process held. It is stated by the keys of columns, so
//! that a report that is read back is cut as it was when it was made.

use latency::report::{Column, Unit};

/// Never the first to go.
pub(super) const ESSENTIAL: u8 = 100;
/// No value in any row.
pub(super) const EMPTY: u8 = 0;
/// Where something is, if it is the same in all rows.
const WHERE: [&str; 2] = ["begin_string", "file"];
const SAME: u8 = 10;
/// Keys that the rules below do not know.
const OTHER: u8 = 50;

/// Whole keys, and what they are worth.
const KEYS: [(&str, u8); 41] = [
    ("rank", ESSENTIAL),
    ("level", ESSENTIAL),
    ("size_bytes", 96),
    ("ratio", 95),
    ("cpu_bytes_per_s", 94),
    ("compress_bytes_per_s", 93),
    ("decompress_bytes_per_s", 92),
    ("stored_bytes", 91),
    ("bytes_per_s", 78),
    ("spread", 76),
    ("async_verdict", 74),
    ("data", 58),
    ("sent", 49),
    ("blocks_per_s", 45),
    ("n", 44),
    ("rounds", 44),
    ("slowest_bytes_per_s", 32),
    ("fastest_bytes_per_s", 31),
    ("memory_bytes", 30),
    ("one_shot_memory_bytes", 29),
    ("stream_memory_bytes", 28),
    ("contexts_max", 24),
    ("codec_bytes_max", 23),
    ("rss_bytes_max", 22),
    ("threads", 21),
    ("involuntary_switches", 20),
    ("checked", 20),
    ("expected", 99),
    ("got", 98),
    ("took_ns", 97),
    ("requests", 96),
    ("down_before_ns", 95),
    ("by", 80),
    ("end", 60),
    ("before", 48),
    ("first", 46),
    ("logon_answered", 40),
    ("count", 97),
    ("duplicates", 79),
    ("overdue", 77),
    ("resent", 75),
];

/// Parts of keys, in the order in which they are looked for.
const PARTS: [(&str, u8); 8] = [
    ("p99_9", 40),
    ("p99", 88),
    ("p50", 70),
    ("max", 66),
    ("min", 35),
    ("stdev", 30),
    ("low", 48),
    ("high", 48),
];

/// What a column of a table is worth; `is_same` if all rows have the same value in it.
pub(super) fn of(column: &Column, is_same: bool) -> u8 {
    let key = column.key.as_str();
    if is_same && WHERE.contains(&key) {
        return SAME;
    }
    if let Some((_, worth)) = KEYS.iter().find(|(known, _)| *known == key) {
        return *worth;
    }
    if column.unit == Unit::Text {
        return ESSENTIAL;
    }
    let part = PARTS.iter().find(|(part, _)| key.contains(part));
    part.map_or(OTHER, |(_, worth)| *worth)
}

/// What the headings of distributions and comparisons are worth.
pub(super) fn of_heading(heading: &str) -> u8 {
    match heading {
        "p50" => 90,
        "p99" => 88,
        "max" => 86,
        "p99.9" => 80,
        "baseline" | "target" => 78,
        "mean" => 70,
        "p90" => 60,
        "pairs" | "better" => 50,
        "min" => 45,
        "control" => 42,
        "p99.99" => 40,
        "stdev" => 35,
        "range" => 30,
        "Δ99th" => 20,
        _ => ESSENTIAL,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn worth(key: &str, unit: Unit) -> u8 {
        let column = Column {
            key: key.to_owned(),
            unit,
        };
        of(&column, false)
    }

    #[test]
    fn names_and_verdicts_go_last_and_what_was_held_goes_first() {
        let order = [
            worth("codec", Unit::Text),
            worth("ratio", Unit::Ratio),
            worth("compress_p99_ns", Unit::Nanoseconds),
            worth("compress_p50_ns", Unit::Nanoseconds),
            worth("unheard_of", Unit::Count),
            worth("compress_p99_9_ns", Unit::Nanoseconds),
            worth("rss_bytes_max", Unit::Bytes),
        ];
        assert!(order.is_sorted_by(|a, b| a > b), "{order:?}");
        assert_eq!(worth("verdict", Unit::Text), ESSENTIAL);
        // Where all rows are the same, that says nothing.
        let file = Column {
            key: "file".to_owned(),
            unit: Unit::Text,
        };
        assert_eq!(
            [false, true].map(|is_same| of(&file, is_same)),
            [ESSENTIAL, SAME]
        );
    }
}
