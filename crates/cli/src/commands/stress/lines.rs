//! A progress line every five seconds, and the same lines as a table of the report.

use std::time::Duration;

use latency::report::{Table, Unit};
use report::units;
use stress::Progress;

use crate::term::message;

const EVERY: Duration = Duration::from_secs(5);
/// Lines that the table keeps: those of the last hour.
const LINES_MAX: usize = 720;

/// One line.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Line {
    at: Duration,
    consumed: u64,
    ratio: Option<f64>,
    per_s: f64,
    bytes_per_s: f64,
    recent_per_s: f64,
    contexts: u64,
    codec_bytes: u64,
    threads: Option<u64>,
    rss_bytes: Option<u64>,
}

/// Prints how a run proceeds.
#[derive(Debug)]
pub(super) struct Lines {
    said: bool,
    label: Option<String>,
    next: Duration,
    /// When the last line was printed, and what had been consumed by then.
    last: (Duration, u64),
    lines: Vec<Line>,
}

impl Lines {
    /// `label` starts each line if there are several runs.
    pub(super) fn new(said: bool, label: Option<String>) -> Self {
        Self {
            said,
            label,
            next: EVERY,
            last: (Duration::ZERO, 0),
            lines: Vec::new(),
        }
    }

    /// Reads the current state of the run.
    pub(super) fn see(&mut self, progress: &Progress) {
        if progress.elapsed < self.next {
            return;
        }
        self.next = progress.elapsed + EVERY;
        let (at, consumed) = (progress.elapsed, progress.counts.received);
        let span = (at - self.last.0).as_secs_f64();
        let line = Line {
            at,
            consumed,
            ratio: progress.counts.ratio(),
            per_s: consumed as f64 / at.as_secs_f64(),
            bytes_per_s: progress.counts.decompressed_bytes as f64 / at.as_secs_f64(),
            recent_per_s: (consumed - self.last.1) as f64 / span,
            contexts: progress.held.contexts,
            codec_bytes: progress.held.codec_bytes,
            threads: progress.held.threads,
            rss_bytes: progress.held.rss_bytes,
        };
        if self.said {
            let before = self.lines.last().map(|line| line.recent_per_s);
            message::status(&self.text(&line, before));
        }
        self.last = (at, consumed);
        if self.lines.len() == LINES_MAX {
            self.lines.remove(0);
        }
        self.lines.push(line);
    }

    /// Memory of the lines that are kept.
    pub(super) fn held_bytes(&self) -> u64 {
        (self.lines.capacity() * size_of::<Line>()) as u64
    }

    fn text(&self, line: &Line, before: Option<f64>) -> String {
        let label = self.label.as_ref().map(|label| format!("{label}  "));
        let change = before.map(|before| line.recent_per_s / before - 1.0);
        let change = change.map(|change| format!(" {}", units::signed_percent(change)));
        let held = line.rss_bytes.unwrap_or(line.codec_bytes);
        // At most 80 columns; the rest is in the table.
        format!(
            "{}{:>4.0} s  {} blocks  {}/s{}  {}  contexts {}  memory {}",
            label.unwrap_or_default(),
            line.at.as_secs_f64(),
            units::count(line.consumed),
            units::count(line.recent_per_s as u64),
            change.unwrap_or_default(),
            units::rate(line.bytes_per_s),
            line.contexts,
            units::bytes(held as f64),
        )
    }

    /// The lines as a table, if there are any.
    pub(super) fn table(&self) -> Option<Table> {
        let columns = [
            ("at_ns", Unit::Nanoseconds),
            ("consumed", Unit::Count),
            ("blocks_per_s", Unit::PerSecond),
            ("recent_blocks_per_s", Unit::PerSecond),
            ("bytes_per_s", Unit::BytesPerSecond),
            ("ratio", Unit::Ratio),
            ("contexts", Unit::Count),
            ("threads", Unit::Count),
            ("codec_bytes", Unit::Bytes),
            ("rss_bytes", Unit::Bytes),
        ];
        let mut table = Table::new("over time", &columns);
        table.rows = self
            .lines
            .iter()
            .map(|line| {
                vec![
                    nanoseconds(line.at).into(),
                    line.consumed.into(),
                    line.per_s.into(),
                    line.recent_per_s.into(),
                    line.bytes_per_s.into(),
                    line.ratio.into(),
                    line.contexts.into(),
                    line.threads.into(),
                    line.codec_bytes.into(),
                    line.rss_bytes.into(),
                ]
            })
            .collect();
        (!table.rows.is_empty()).then_some(table)
    }
}

/// Time as shown in tables.
fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_reads_as_one() {
        let lines = Lines::new(true, None);
        let line = Line {
            at: Duration::from_secs(10),
            consumed: 420_000,
            ratio: Some(1.8612),
            per_s: 42_000.0,
            bytes_per_s: 86_016_000.0,
            recent_per_s: 41_000.0,
            contexts: 4,
            codec_bytes: 1 << 20,
            threads: Some(3),
            rss_bytes: Some(6 << 20),
        };
        assert_eq!(
            lines.text(&line, Some(40_000.0)),
            "  10 s  420,000 blocks  41,000/s +2.5 %  82.0 MiB/s  contexts 4  memory 6 MiB"
        );
    }
}
