//! The live view of a run: lines of a terminal that are drawn again and again, or one line for a log.
//!
//! What is drawn depends on the numbers and the room alone. Terminals, clocks and threads are the caller's.

use std::time::Duration;

use latency::{LiveRow, Window};
use unicode_width::UnicodeWidthStr as _;

use super::line::{Line, Tone};
use super::sparks::{self, letters};
use crate::style::Palette;
use crate::units::{ABSENT, count, duration};

/// Columns of a rate, and of a time.
const RATE: usize = 11;
const TIME: usize = 9;
/// Columns of a label at least, and at most on a terminal of [`USUAL`] columns.
const LABEL_MIN: usize = 12;
const LABEL_MAX: usize = 22;
const USUAL: usize = 80;
/// Letters of a spark line: fewer say nothing.
const SPARK_MIN: usize = 6;
const SPARK_MAX: usize = 60;
/// Blanks before a spark line, and its name behind it.
const AROUND: usize = 2 + 5;
/// Windows after which a row whose values stopped says so.
const SILENT_WINDOWS: u64 = 3;

/// A run in progress.
#[derive(Debug, Clone, Copy)]
pub struct View<'v> {
    /// The command.
    pub what: &'v str,
    /// What it does now.
    pub now: &'v str,
    /// Time since the start of the rows.
    pub elapsed: Duration,
    /// The time that it will still take, where that is known.
    pub left: Option<Duration>,
    /// Its rows, the most important first.
    pub rows: &'v [LiveRow],
}

/// The terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Room {
    /// Columns that a line may take.
    pub columns: usize,
    /// Lines at most.
    pub lines: usize,
    /// The styles of words.
    pub palette: Palette,
    /// Whether spark lines are made of ASCII alone.
    pub ascii: bool,
}

/// The lines of a view: no more and no wider than there is room for.
#[must_use]
pub fn lines(view: &View<'_>, room: &Room) -> Vec<String> {
    let mut lines = vec![head(view)];
    if view.rows.is_empty() {
        lines.push(Line::of(Tone::Faint, "no interval is complete yet"));
    } else {
        rows(view, room, &mut lines);
    }
    lines.truncate(room.lines);
    let lines = lines.into_iter();
    lines
        .map(|line| shown(&line.cut(room.columns), room))
        .collect()
}

/// The same in one line, for a log: the first row.
#[must_use]
pub fn line(view: &View<'_>) -> String {
    let mut said = shown(&head(view), &Room::LOG);
    if let Some(row) = view.rows.first() {
        let [rate, p50, p99, max] = numbers(last(row, view.elapsed), row.told_from_ns);
        said += &format!("  {}: {rate}, p50 {p50}, p99 {p99}, max {max}", row.label);
    }
    said
}

impl Room {
    /// A line of a file.
    const LOG: Self = Self {
        columns: usize::MAX,
        lines: 1,
        palette: Palette::PLAIN,
        ascii: false,
    };
}

fn head(view: &View<'_>) -> Line {
    let mut line = Line::of(Tone::Heading, view.what).plain(format!("  {}", clock(view.elapsed)));
    if let Some(left) = view.left {
        line = line.plain(format!(", {} left", clock(left)));
    }
    match view.now {
        "" => line,
        now => line.plain("  ").and(Tone::Faint, now),
    }
}

fn rows(view: &View<'_>, room: &Room, lines: &mut Vec<Line>) {
    let widest = view.rows.iter().map(|row| row.label.width()).max();
    let most = LABEL_MAX + room.columns.saturating_sub(USUAL) / 2;
    let label = widest.unwrap_or(0).clamp(LABEL_MIN, most);
    let taken = label + RATE + 3 * TIME + AROUND;
    let spark = room.columns.saturating_sub(taken).min(SPARK_MAX);
    let headings = [("rate", RATE), ("p50", TIME), ("p99", TIME), ("max", TIME)];
    let headings = headings.map(|(heading, width)| format!("{heading:>width$}"));
    let head = format!("{:label$}{}", "", headings.concat());
    lines.push(Line::of(Tone::Faint, head));
    let fit = room.lines.saturating_sub(lines.len()) / 2;
    for row in view.rows.iter().take(fit) {
        let ([now, all], [rate, p99]) = (
            [last(row, view.elapsed), Some(row.all)]
                .map(|window| numbers(window, row.told_from_ns)),
            [rates(row, spark), p99s(row, spark)],
        );
        let part = |name: &str, tone: Tone, numbers: [String; 4], letters: String, of: &str| {
            let [per_s, p50, p99, max] = numbers;
            let name = Line::default().plain(name).cut(label);
            let blanks = " ".repeat(label.saturating_sub(name.width()));
            let numbers = format!("{blanks}{per_s:>RATE$}{p50:>TIME$}{p99:>TIME$}{max:>TIME$}");
            let line = name.and(tone, numbers);
            match spark >= SPARK_MIN {
                true => line
                    .and(Tone::Strong, format!("  {letters:spark$}"))
                    .and(Tone::Faint, of),
                false => line,
            }
        };
        lines.push(part(&row.label, Tone::Plain, now, rate, " rate"));
        lines.push(part("  in all", Tone::Faint, all, p99, " p99"));
    }
    let rest = view.rows.len().saturating_sub(fit);
    if rest > 0 && lines.len() < room.lines {
        lines.push(Line::of(Tone::Faint, format!("  and {rest} more")));
    }
}

/// The latest window of a row that still has values.
fn last(row: &LiveRow, elapsed: Duration) -> Option<Window> {
    let windows = row.windows.len() as u64;
    let until_ns = row
        .earlier
        .saturating_add(windows)
        .saturating_mul(row.window_ns);
    let silent_ns = elapsed.as_nanos().saturating_sub(u128::from(until_ns));
    let is_silent = silent_ns > u128::from(row.window_ns.saturating_mul(SILENT_WINDOWS));
    row.windows.last().copied().filter(|_| !is_silent)
}

/// Rate, median, 99th percentile, maximum. Of times below the least that can be told, no more is said.
fn numbers(window: Option<Window>, told_from_ns: u64) -> [String; 4] {
    let Some(window) = window else {
        return [ABSENT; 4].map(str::to_owned);
    };
    let time = |ns: Option<u64>| match ns {
        Some(ns) if ns < told_from_ns => format!("<{}", duration(told_from_ns as f64)),
        Some(ns) => duration(ns as f64),
        None => ABSENT.to_owned(),
    };
    let per_s = match window.per_s() {
        few if few < 9.95 => format!("{few:.1}/s"),
        many => format!("{}/s", count(many.round() as u64)),
    };
    let max = time(Some(window.max_ns).filter(|_| window.n > 0));
    [per_s, time(window.p50_ns), time(window.p99_ns), max]
}

/// The rates of the latest windows, from nothing to the greatest.
fn rates(row: &LiveRow, letters_max: usize) -> String {
    let windows = latest(row, letters_max);
    let most = windows.iter().map(Window::per_s).fold(0.0, f64::max);
    let heights = windows.iter().map(|window| match most > 0.0 {
        true => window.per_s() / most,
        false => 0.0,
    });
    letters(heights)
}

/// The 99th percentiles of the latest windows on a logarithmic scale, from the least to the greatest.
fn p99s(row: &LiveRow, letters_max: usize) -> String {
    let windows = latest(row, letters_max);
    let logs = windows
        .iter()
        .map(|window| window.p99_ns.map(|ns| (ns.max(1) as f64).ln()));
    let logs: Vec<Option<f64>> = logs.collect();
    let known = || logs.iter().flatten().copied();
    let (low, high) = (
        known().fold(f64::MAX, f64::min),
        known().fold(0.0, f64::max),
    );
    // Even the least one is seen.
    let height = |log: f64| 0.1 + 0.9 * (log - low) / (high - low).max(f64::MIN_POSITIVE);
    letters(logs.iter().map(|log| log.map_or(0.0, height)))
}

fn latest(row: &LiveRow, most: usize) -> &[Window] {
    &row.windows[row.windows.len().saturating_sub(most)..]
}

/// `12 s`, `3 min 05 s`, `2 h 03 min`.
fn clock(time: Duration) -> String {
    let seconds = time.as_secs_f64().round() as u64;
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7_200 => format!("{} min {:02} s", seconds / 60, seconds % 60),
        _ => format!("{} h {:02} min", seconds / 3_600, seconds / 60 % 60),
    }
}

fn shown(line: &Line, room: &Room) -> String {
    let mut out = Vec::new();
    // A vector takes everything.
    let _ = line.text(&room.palette, &mut out);
    let text = String::from_utf8_lossy(&out);
    let text = text.trim_end();
    match room.ascii {
        true => sparks::ascii(text),
        false => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use latency::{IntervalLog, LatencyName, LiveRows, Recorder, Spec};

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// Rows of `seconds` at 400 values each: 20 µs and a few of 90 µs, in the last second three times as long;
    /// a second row has a value in the first second alone.
    fn rows(seconds: u64) -> Vec<LiveRow> {
        let start = Instant::now();
        let rows = LiveRows::new(start, SECOND);
        let log = IntervalLog::watched(SECOND, std::io::empty(), rows.clone()).expect("a thread");
        let spec = Spec::new(LatencyName::Service, "block").intervals(Some(log.clone()));
        let recorder = |series: &str| Recorder::new(spec.clone().series(series), start);
        let (mut one, mut two) = (
            recorder("end to end"),
            recorder("a second one with a long name"),
        );
        for nth in 0..seconds * 400 {
            let end = start + Duration::from_micros(nth * 2_500 + 1_000);
            let slow = if nth / 400 + 1 == seconds { 3 } else { 1 };
            let micros = if nth % 50 == 0 { 90 } else { 20 };
            one.record_span(end - Duration::from_micros(slow * micros), end);
        }
        two.record_span(start, start + Duration::from_millis(3));
        // The end of the run lies beyond its last window.
        one.record_span(
            start + SECOND * seconds as u32,
            start + SECOND * seconds as u32,
        );
        drop((one.finish(), two.finish()));
        log.finish().expect("a log");
        rows.read()
    }

    fn view(rows: &[LiveRow], seconds: u64) -> View<'_> {
        View {
            what: "stress",
            now: "zstd:1 mutex",
            elapsed: Duration::from_secs(seconds),
            left: Some(Duration::from_secs(60 - seconds)),
            rows,
        }
    }

    fn room(columns: usize, lines: usize) -> Room {
        Room {
            columns,
            lines,
            palette: Palette::PLAIN,
            ascii: false,
        }
    }

    #[test]
    fn a_view_shows_rates_percentiles_and_their_history() {
        let rows = rows(5);
        assert_eq!(
            lines(&view(&rows, 5), &room(79, 10)),
            [
                "stress  5 s, 55 s left  zstd:1 mutex",
                "                             rate      p50      p99      max",
                "end to end service          400/s  60.2 µs   270 µs   270 µs  █████        rate",
                "  in all                    400/s  20.1 µs  90.1 µs   270 µs  ▁▁▁▁█        p99",
                "a second one with a lo          —        —        —        —  █            rate",
                "  in all                    333/s        —        —  3.00 ms               p99",
            ]
        );
    }

    #[test]
    fn no_line_is_wider_and_no_view_longer_than_the_terminal() {
        let rows = rows(70);
        for columns in [0, 1, 5, 20, 40, 59, 66, 67, 68, 79, 80, 120, 300] {
            for height in [0, 1, 2, 3, 4, 5, 24] {
                let found = lines(&view(&rows, 40), &room(columns, height));
                assert!(found.len() <= height, "{columns} {height}");
                for line in &found {
                    assert!(line.width() <= columns, "{columns}: {line:?}");
                }
            }
        }
        let cut = lines(&view(&rows, 40), &room(79, 5));
        assert_eq!(cut.last().map(String::as_str), Some("  and 1 more"));
        let wide = lines(&view(&rows, 40), &room(300, 5));
        assert!(wide[2].contains(&"█".repeat(SPARK_MAX)), "{wide:?}");
    }

    #[test]
    fn a_view_without_rows_or_room_says_what_it_can() {
        let empty = View {
            left: None,
            now: "",
            ..view(&[], 0)
        };
        assert_eq!(
            lines(&empty, &room(79, 10)),
            ["stress  0 s", "no interval is complete yet"]
        );
        assert_eq!(line(&empty), "stress  0 s");
        let steering = View {
            now: "a\u{1b}[2J\nb",
            ..empty
        };
        let found = lines(&steering, &room(79, 10));
        assert!(!found[0].contains(['\u{1b}', '\n']), "{found:?}");
    }

    #[test]
    fn a_log_has_one_line_without_escapes() {
        let rows = rows(5);
        assert_eq!(
            line(&view(&rows, 5)),
            "stress  5 s, 55 s left  zstd:1 mutex  end to end service: 400/s, p50 60.2 µs, p99 270 µs, max 270 µs"
        );
        assert!(line(&view(&rows, 30)).ends_with(": —, p50 —, p99 —, max —"));
    }

    #[test]
    fn colours_and_letters_are_those_of_the_terminal() {
        let rows = rows(5);
        let palette = Palette::ANSI;
        let coloured = lines(
            &view(&rows, 5),
            &Room {
                palette,
                ..room(79, 10)
            },
        );
        assert!(coloured[0].contains('\u{1b}'));
        let ascii = lines(
            &view(&rows, 5),
            &Room {
                ascii: true,
                ..room(79, 10)
            },
        );
        assert!(
            ascii[2].contains("@@@@@") && ascii[3].contains("....@"),
            "{ascii:?}"
        );
    }

    #[test]
    fn times_too_short_for_the_clock_are_not_told() {
        let mut rows = rows(5);
        rows[0].told_from_ns = 61_000;
        let [_, p50, p99, _] =
            numbers(last(&rows[0], Duration::from_secs(5)), rows[0].told_from_ns);
        assert_eq!([p50, p99], ["<61 µs", "270 µs"]);
    }

    #[test]
    fn times_are_told_as_people_do() {
        let said = |seconds| clock(Duration::from_secs(seconds));
        assert_eq!(
            [0, 119, 125, 7_199].map(said),
            ["0 s", "119 s", "2 min 05 s", "119 min 59 s"]
        );
        assert_eq!([7_200, 90_061].map(said), ["2 h 00 min", "25 h 01 min"]);
    }
}
