//! A row as a comment in the formats of the HdrHistogram family: what a report says of a row beyond its histogram,
//! so that the row comes back whole. Other tools skip comments.
//!
//! A comment is believed only where it holds for the histograms that stand in the same file.

use std::fmt::Write as _;
use std::io;

use crate::check;
use crate::report::Latency;

/// How such a comment begins.
const MARK: &str = "#[perfkit row ";

/// Writes a row. Everything beyond ASCII is escaped: no name may steer a terminal.
pub(crate) fn write(w: &mut impl io::Write, row: &Latency) -> io::Result<()> {
    let json = serde_json::to_string(row)?;
    let mut line = String::with_capacity(json.len() + MARK.len() + 2);
    line.push_str(MARK);
    for letter in json.chars() {
        match letter {
            ' '..='~' => line.push(letter),
            letter => {
                for unit in letter.encode_utf16(&mut [0; 2]) {
                    // Writing to a string cannot fail.
                    let _ = write!(line, "\\u{unit:04x}");
                }
            }
        }
    }
    writeln!(w, "{line}]")
}

/// The row without its histograms, for files that have them in their own way.
pub(crate) fn without_histograms(row: &Latency) -> Latency {
    Latency {
        series: row.series.clone(),
        operation: row.operation.clone(),
        floors: row.floors.clone(),
        percentiles: row.percentiles.clone(),
        buckets: row.buckets.clone(),
        histogram_v2_deflate_b64: String::new(),
        intervals: Vec::new(),
        log_parts: Vec::new(),
        ..*row
    }
}

/// Whether a line is such a comment.
pub(crate) fn is_row(line: &str) -> bool {
    line.starts_with(MARK)
}

/// The row of a line that is such a comment. One of another version is no more than a comment.
pub(crate) fn read(line: &str) -> Option<Latency> {
    let json = line.trim().strip_prefix(MARK)?.strip_suffix(']')?;
    serde_json::from_str(json).ok()
}

/// The rows of all such comments in a file.
pub(crate) fn read_all(bytes: &[u8]) -> impl Iterator<Item = Latency> {
    let lines = bytes.split(|byte| *byte == b'\n');
    let lines = lines.filter(|line| line.starts_with(MARK.as_bytes()));
    lines.filter_map(|line| read(std::str::from_utf8(line).ok()?))
}

/// Whether what a row says holds for its histograms.
pub(crate) fn holds(row: &Latency) -> bool {
    check::row(row).is_ok()
}

/// Has `row`, which was made from histograms alone, say what `said` does, if that holds for these histograms.
pub(crate) fn adopt(row: &mut Latency, said: Latency) {
    let own = Latency {
        histogram_v2_deflate_b64: std::mem::take(&mut row.histogram_v2_deflate_b64),
        intervals: std::mem::take(&mut row.intervals),
        ..said
    };
    if holds(&own) {
        *row = own;
    } else {
        row.histogram_v2_deflate_b64 = own.histogram_v2_deflate_b64;
        row.intervals = own.intervals;
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;
    use crate::{LatencyName, Recorder, Spec};

    fn row(values: u64) -> Latency {
        let spec = Spec::new(LatencyName::Hold, "größe\u{202e} ]\n,").series("a b, \u{1f600}");
        let mut recorder = Recorder::new(spec, Instant::now());
        (1..=values).for_each(|value| recorder.record_ns(value * 7));
        recorder.finish().latency()
    }

    fn written(row: &Latency) -> String {
        let mut bytes = Vec::new();
        write(&mut bytes, row).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn any_row_comes_back_from_one_plain_line() {
        for values in [0, 1, 1_000] {
            let line = written(&row(values));
            assert!(line.is_ascii() && line.ends_with("]\n"));
            assert_eq!(line.matches(char::is_control).count(), 1);
            assert_eq!(read(&line), Some(row(values)));
        }
    }

    #[test]
    fn a_comment_is_believed_where_it_holds() {
        let whole = row(1_000);
        let histogram = whole.histogram().unwrap();
        let bare = Latency::from_histogram(whole.name, "operation", whole.timing, &histogram);
        let mut adopted = bare.clone();
        adopt(&mut adopted, whole.clone());
        assert_eq!(adopted, whole);
        for wrong in [
            Latency {
                n: 999,
                ..whole.clone()
            },
            Latency {
                max_ns: Some(9),
                ..whole.clone()
            },
            row(1),
        ] {
            let mut kept = bare.clone();
            adopt(&mut kept, wrong);
            assert_eq!(kept, bare);
        }
    }

    #[test]
    fn other_comments_say_nothing() {
        let cut = written(&row(10));
        for line in [
            "",
            "#[perfkit row ]",
            "#[perfkit row {}]",
            "#[Mean = 1]",
            &cut[..90],
        ] {
            assert_eq!(read(line), None, "{line}");
        }
    }
}
