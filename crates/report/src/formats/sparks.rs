//! Pictures of one line for a terminal: the histogram of counts and the time line of a distribution.

use latency::report::Latency;

use super::bins;
use super::line::{Line, Tone};
use super::spans::{self, Span};
use crate::units::duration;

/// Letters of a picture: with its margin and its words it fits into 80 columns.
const WIDE: usize = 44;
/// Heights of a letter, from nothing to all.
const HEIGHTS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// How many values there are of each, on a logarithmic scale of values: a height of the square root of the count, so
/// that few are seen next to many.
pub(super) fn counts(row: &Latency) -> Vec<Line> {
    let Some(histogram) = row.histogram().ok().filter(|found| found.len() > 1) else {
        return Vec::new();
    };
    let low = row.min_ns.unwrap_or_else(|| histogram.min()).max(1) as f64;
    let high = row.max_ns.unwrap_or_else(|| histogram.max());
    let high = (histogram.max().min(high) as f64).max(low);
    let bounds = bins::bounds(low, high, WIDE);
    let counts = bins::counts(&histogram, &bounds);
    let most = counts.iter().copied().max().unwrap_or(0).max(1) as f64;
    let heights = counts.iter().map(|count| (*count as f64 / most).sqrt());
    let title = format!(
        "counts of {}, log scale, heights by square root",
        row.label()
    );
    let ends = format!("{} to {}", duration(low), duration(high));
    vec![
        Line::of(Tone::Faint, title),
        Line::default()
            .plain("             ")
            .and(Tone::Strong, letters(heights))
            .plain("  ")
            .and(Tone::Faint, ends),
    ]
}

/// A value of some intervals.
type Value = fn(&Span) -> Option<u64>;

/// Median, 99th percentile and maximum over time, on one logarithmic scale; nothing without a time line.
pub(super) fn time_line(row: &Latency) -> Vec<Line> {
    let spans = spans::of(row, 0, WIDE);
    let ends = spans.iter().map(|span| (span.least_ns(), span.max_ns));
    let Some((low, high)) = ends.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))) else {
        return Vec::new();
    };
    let (low, high) = ((low as f64).ln(), (high as f64).ln());
    let until = spans.last().map_or(0, |span| span.to_ns);
    let title = format!("{} over {}, log scale", row.label(), duration(until as f64));
    let mut lines = vec![Line::of(Tone::Faint, title)];
    let rows: [(&str, Value); 3] = [
        ("p50", |span| span.p50_ns),
        ("p99", |span| span.p99_ns),
        ("max", |span| Some(span.max_ns)),
    ];
    for (name, value) in rows {
        let known: Vec<u64> = spans.iter().filter_map(value).collect();
        let (Some(least), Some(most)) = (known.iter().min(), known.iter().max()) else {
            continue;
        };
        let heights = spans.iter().map(|span| match value(span) {
            // Even the least one is seen.
            Some(ns) => {
                0.1 + 0.9 * ((ns.max(1) as f64).ln() - low) / (high - low).max(f64::MIN_POSITIVE)
            }
            None => 0.0,
        });
        let ends = format!("{} to {}", duration(*least as f64), duration(*most as f64));
        lines.push(
            Line::default()
                .plain(format!("{name:>11}  "))
                .and(Tone::Strong, letters(heights))
                .plain("  ")
                .and(Tone::Faint, ends),
        );
    }
    lines
}

/// Heights from 0 to 1 as letters; whatever is above 0 is seen.
pub(super) fn letters(heights: impl Iterator<Item = f64>) -> String {
    let most = HEIGHTS.len() - 1;
    let letter = |height: f64| {
        let eighths = (height.clamp(0.0, 1.0) * most as f64).round() as usize;
        let least = usize::from(height > 0.0);
        HEIGHTS[eighths.clamp(least, most)]
    };
    heights.map(letter).collect()
}

/// The letters of a picture for a terminal that has no others than ASCII.
pub(super) fn ascii(picture: &str) -> String {
    const INSTEAD: [char; 9] = [' ', '.', ':', '-', '=', '+', '*', '#', '@'];
    let letter = |letter: char| match HEIGHTS.iter().position(|height| *height == letter) {
        Some(height) => INSTEAD[height],
        None if letter == '▪' => '#',
        None => letter,
    };
    picture.chars().map(letter).collect()
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use latency::{IntervalLog, LatencyName, Recorder, Spec};
    use unicode_width::UnicodeWidthStr as _;

    use super::*;
    use crate::style::Palette;

    /// A run of `seconds`, twice as slow in the second half.
    fn row(seconds: u64) -> Latency {
        let (start, length) = (Instant::now(), Duration::from_secs(1));
        let log = IntervalLog::new(length, std::io::Cursor::new(Vec::new())).expect("a thread");
        let spec = Spec::new(LatencyName::Service, "call").intervals(Some(log.clone()));
        let mut recorder = Recorder::new(spec, start);
        for nth in 0..seconds * 400 {
            let end = start + Duration::from_micros(nth * 2_500 + 1_000);
            let slow = if nth >= seconds * 200 { 8 } else { 1 };
            recorder.record_span(end - Duration::from_micros(slow * (20 + nth % 20)), end);
        }
        let mut row = recorder.finish().latency();
        let mut logged = log.finish().expect("a log");
        let rows = std::slice::from_mut(&mut row);
        logged.attach(rows, usize::MAX).expect("read");
        row
    }

    fn text(lines: &[Line]) -> String {
        let mut out = Vec::new();
        for line in lines {
            line.text(&Palette::PLAIN, &mut out).expect("written");
        }
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn counts_show_both_modes_and_nothing_between_them() {
        let text = text(&counts(&row(2)));
        let picture = text.lines().nth(1).expect("a picture");
        let from = picture.find(&HEIGHTS[1..]).expect("something");
        let to = picture.rfind(&HEIGHTS[1..]).expect("something");
        assert!(picture[from..to].contains("     "), "{picture}");
        assert!(
            picture.contains('█') && picture.ends_with("20 µs to 312 µs"),
            "{picture}"
        );
        assert!(text.lines().all(|line| line.width() <= 78), "{text}");
    }

    #[test]
    fn the_time_line_rises_with_the_run() {
        for seconds in [2, 10, 200] {
            let text = text(&time_line(&row(seconds)));
            assert_eq!(text.lines().count(), 4, "{text}");
            assert!(text.lines().all(|line| line.width() <= 78), "{text}");
            for line in text.lines().skip(1) {
                let picture: Vec<char> =
                    line.chars().filter(|c| HEIGHTS[1..].contains(c)).collect();
                let height = |c: &char| HEIGHTS.iter().position(|other| other == c);
                assert!(
                    height(&picture[0]) < height(&picture[picture.len() - 1]),
                    "{line}"
                );
                assert!(
                    picture.len() <= WIDE && picture.len() as u64 >= seconds.min(40),
                    "{line}"
                );
            }
        }
        assert!(time_line(&row(1)).is_empty());
    }

    #[test]
    fn pictures_have_an_ascii_form() {
        assert_eq!(ascii("p50  ▁▅█ ▪▪ 20 µs"), "p50  .+@ ## 20 µs");
    }
}
