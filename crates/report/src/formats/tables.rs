//! The grids of a report and the picture of a distribution, for the terminal and Markdown alike.

use latency::report::{Cell, Comparison, Design, Latency, Report, Timing, Unit, Verdict};

use super::floors::{of_singles, row_told_from, table_told_from, timed};
use super::grid::Grid;
use super::line::{Line, Tone};
use super::worth;
use crate::units::{
    ABSENT, cell, count, duration, number, percent, percentile_name, signed_percent,
};

/// Fewest pairs whose 99th percentile is not their greatest value.
const P99_PAIRS_MIN: u64 = 100;
/// Lines of a spectrum at most.
const SPECTRUM_LINES: i32 = 20;

/// The same values under another name: where a call is a whole operation, its service time is the time
/// for which it held the thread.
pub(super) fn repeats(earlier: &[Latency], row: &Latency) -> bool {
    earlier.iter().any(|other| same_values(other, row))
}

/// Whether two rows hold the same values under two names.
pub(super) fn same_values(a: &Latency, b: &Latency) -> bool {
    let values = |row: &Latency| (row.n, row.min_ns, row.max_ns, row.saturated, row.batch);
    a.name != b.name
        && a.series == b.series
        && a.n > 0
        && a.timing == b.timing
        && values(a) == values(b)
        && a.histogram_v2_deflate_b64 == b.histogram_v2_deflate_b64
}

/// Of how many operations each value of a row is the mean.
pub(super) fn mean_of(latency: &Latency) -> String {
    latency
        .batch
        .map_or_else(|| "many".to_owned(), |batch| batch.to_string())
}

/// The table of distributions; equal ones have one row.
pub(super) fn latency_grid(report: &Report) -> Grid {
    let latencies = report.latencies.as_slice();
    let with_series = latencies.iter().any(|latency| latency.series.is_some());
    let ladder: Vec<f64> = latencies
        .first()
        .map(|l| l.percentiles.iter().map(|p| p.p).collect())
        .unwrap_or_default();
    let mut header = vec!["time".to_owned(), "of one".to_owned()];
    if with_series {
        header.insert(0, "series".to_owned());
    }
    let left = header.len();
    header.extend(["n", "min"].map(str::to_owned));
    header.extend(ladder.iter().map(|p| percentile_name(*p)));
    header.extend(["max", "mean", "stdev"].map(str::to_owned));
    let worth = header.iter().map(|heading| worth::of_heading(heading));
    let worth = worth.collect();
    let mut grid = Grid::new(header, left, worth);
    for (place, latency) in latencies.iter().enumerate() {
        if repeats(&latencies[..place], latency) {
            continue;
        }
        let mut row = Vec::new();
        if with_series {
            row.push(latency.series.clone().unwrap_or_default());
        }
        let mut name = latency.name.as_str().to_owned();
        let like = latencies[place..].iter();
        for other in like.filter(|other| same_values(latency, other)) {
            name += " = ";
            name += other.name.as_str();
        }
        row.push(match latency.timing {
            Timing::Modelled => format!("{name} (modelled)"),
            _ => name,
        });
        row.push(match latency.timing {
            Timing::BatchMean => format!("{}, mean of {}", latency.operation, mean_of(latency)),
            _ => latency.operation.clone(),
        });
        let least = row_told_from(latency);
        let shown = |ns: Option<f64>| ns.map_or_else(|| ABSENT.to_owned(), |ns| timed(ns, least));
        let whole = |ns: Option<u64>| shown(ns.map(|ns| ns as f64));
        row.push(count(latency.n));
        row.push(whole(latency.min_ns));
        row.extend(ladder.iter().map(|p| whole(latency.percentile(*p))));
        row.push(whole(latency.max_ns));
        row.push(shown(latency.mean_ns));
        row.push(latency.stdev_ns.map_or_else(|| ABSENT.to_owned(), duration));
        grid.push(row);
    }
    grid
}

/// Value by percentile, each line halving what is left, as far as the sample earns it; nothing when
/// there is no tail to draw.
pub(super) fn spectrum(latency: &Latency) -> Vec<Line> {
    let drawn = latency.timing != Timing::BatchMean && latency.saturated == 0;
    let mut levels = vec![0.0];
    levels.extend((1..=SPECTRUM_LINES).map(|step| 100.0 - 100.0 / 2_f64.powi(step)));
    levels.retain(|p| *p == 0.0 || latency::percentile::earned_n(*p) <= latency.n);
    if !drawn || levels.len() < 3 {
        return Vec::new();
    }
    let Some(histogram) = latency.histogram().ok().filter(|h| !h.is_empty()) else {
        return Vec::new();
    };
    let value = |p: f64| histogram.value_at_quantile(p / 100.0);
    let low = (value(0.0).max(1) as f64).ln();
    let high = (latency.max_ns.unwrap_or(1).max(2) as f64).ln();
    let title = format!("spectrum of {}, log scale", latency.label());
    let mut lines = vec![Line::of(Tone::Faint, title)];
    let line = |name: &str, ns: u64| {
        let share = ((ns.max(1) as f64).ln() - low) / (high - low).max(f64::MIN_POSITIVE);
        let bar = "▪".repeat(1 + (share.clamp(0.0, 1.0) * 39.0) as usize);
        let value = timed(ns as f64, row_told_from(latency));
        Line::default()
            .plain(format!("{name:>10}  {value:>8}  "))
            .and(Tone::Faint, bar)
    };
    for p in levels {
        let name = format!("{p:.5}");
        let name = name.trim_end_matches('0').trim_end_matches('.');
        lines.push(line(&format!("{name} %"), value(p)));
    }
    lines.push(line("max", latency.max_ns.unwrap_or(0)));
    lines
}

/// A report table.
pub(super) fn table_grid(table: &latency::report::Table) -> Grid {
    let told_from_ns = table_told_from(table);
    let left = table
        .columns
        .iter()
        .take_while(|column| column.unit == Unit::Text)
        .count();
    let columns = table.columns.iter().enumerate();
    let worth = columns.map(|(at, column)| {
        let mut cells = table.rows.iter().map(|row| row.get(at));
        let first = cells.next();
        let is_same = table.rows.len() > 1 && cells.all(|cell| Some(cell) == first);
        worth::of(column, is_same)
    });
    let worth = worth.collect();
    let mut grid = Grid::new(titles(table), left, worth);
    for row in &table.rows {
        let mut shown = table_row(table, row);
        let cells = row.iter().zip(&table.columns).zip(&mut shown);
        for ((value, _), shown) in cells.filter(|((_, column), _)| of_singles(column)) {
            match value {
                Cell::Integer(ns) => *shown = timed(*ns as f64, told_from_ns),
                Cell::Number(ns) => *shown = timed(*ns, told_from_ns),
                Cell::Null | Cell::Text(_) => {}
            }
        }
        grid.push(shown);
    }
    grid
}

/// The headings of a report table.
pub(super) fn titles(table: &latency::report::Table) -> Vec<String> {
    let columns = table.columns.iter();
    columns.map(|column| title(&column.key)).collect()
}

/// A row of a report table as it is shown.
pub(super) fn table_row(table: &latency::report::Table, row: &[Cell]) -> Vec<String> {
    let cells = row.iter().zip(&table.columns);
    let shown = cells.map(|(value, column)| cell(value, column.unit));
    shown.collect()
}

/// `wall_p50_ns` as a heading: `wall p50`.
fn title(key: &str) -> String {
    let mut words: Vec<&str> = key.split('_').collect();
    let unit = matches!(words.last(), Some(&("ns" | "bytes")));
    if unit && words.len() > 1 {
        words.pop();
    }
    for tail in [&["bytes", "per", "s"][..], &["per", "s"]] {
        if words.len() > tail.len() && words.ends_with(tail) {
            words.truncate(words.len() - tail.len());
        }
    }
    let mut title = String::new();
    for word in words {
        // The decimals of a percentile: p99_9 is p99.9.
        let decimals = word.bytes().all(|byte| byte.is_ascii_digit());
        title += match (title.is_empty(), decimals) {
            (true, _) => "",
            (_, true) => ".",
            (_, false) => " ",
        };
        title += word;
    }
    title
}

/// The table of comparisons.
pub(super) fn comparison_grid(comparisons: &[Comparison]) -> Grid {
    let header = [
        "row",
        "baseline",
        "target",
        "pairs",
        "range",
        "median",
        "95 % interval",
        "Δ99th",
        "better",
        "control",
        "verdict",
    ];
    let worth = header.map(worth::of_heading).to_vec();
    let mut grid = Grid::new(header.map(str::to_owned).to_vec(), 1, worth);
    for comparison in comparisons {
        let difference = comparison.difference.as_ref();
        // Of distributions the median is one of the percentiles.
        let mut tails = comparison.tails.iter();
        let of_distributions = tails.find(|tail| tail.p == 50.0);
        let absent = || ABSENT.to_owned();
        // The unit of plain numbers is unknown.
        let median = |ns: Option<f64>, plain: Option<f64>| {
            let plain = || plain.map_or_else(absent, number);
            ns.map_or_else(plain, duration)
        };
        let interval = |interval: Option<[f64; 2]>| {
            interval.map_or_else(absent, |[low, high]| {
                format!("{}…{}", signed_percent(low), signed_percent(high))
            })
        };
        grid.push(vec![
            comparison.row.clone(),
            median(comparison.baseline_median_ns, comparison.baseline_median),
            median(comparison.target_median_ns, comparison.target_median),
            count(comparison.pairs),
            interval(difference.map(|found| found.range)),
            difference
                .map(|found| found.median)
                .or(of_distributions.map(|median| median.difference))
                .map_or_else(absent, signed_percent),
            interval(
                difference
                    .and_then(|found| found.median_ci95)
                    .or(of_distributions.map(|median| median.interval)),
            ),
            // Of fewer pairs it would be the greatest.
            difference
                .filter(|_| comparison.pairs >= P99_PAIRS_MIN)
                .map_or_else(absent, |found| signed_percent(found.p99)),
            difference.map_or_else(absent, |found| percent(found.better)),
            interval(
                comparison
                    .control
                    .as_ref()
                    .and_then(|control| control.median_ci95),
            ),
            verdict(comparison),
        ]);
    }
    grid
}

/// The table of the percentiles above the median.
pub(super) fn tails_grid(comparisons: &[Comparison]) -> Grid {
    let header = [
        "row",
        "percentile",
        "baseline",
        "target",
        "difference",
        "interval",
        "verdict",
    ];
    let worth = header.map(worth::of_heading).to_vec();
    let mut grid = Grid::new(header.map(str::to_owned).to_vec(), 2, worth);
    for comparison in comparisons {
        for tail in &comparison.tails {
            let time = |ns: Option<f64>| ns.map_or_else(|| ABSENT.to_owned(), duration);
            let [low, high] = tail.interval.map(signed_percent);
            grid.push(vec![
                comparison.row.clone(),
                percentile_name(tail.p),
                time(tail.baseline_ns),
                time(tail.target_ns),
                signed_percent(tail.difference),
                format!("{low}…{high}"),
                suggested(
                    comparison,
                    tail.verdict,
                    verdict_name(tail.verdict).to_owned(),
                ),
            ]);
        }
    }
    grid
}

/// `no difference (within ±1.00 %)`.
fn verdict(comparison: &Comparison) -> String {
    let name = verdict_name(comparison.verdict);
    let word = match (comparison.verdict, comparison.margin) {
        (Verdict::NoDifference, Some(margin)) => {
            format!("{name} (within ±{:.2} %)", margin * 100.0)
        }
        _ => name.to_owned(),
    };
    // No verdict on the median alone where the tail's differs.
    let tails = comparison.tails.iter().filter(|tail| {
        tail.verdict != comparison.verdict
            && matches!(tail.verdict, Verdict::Better | Verdict::Worse)
    });
    let tails: String = tails
        .map(|tail| {
            format!(
                "; {} {}",
                percentile_name(tail.p),
                verdict_name(tail.verdict)
            )
        })
        .collect();
    suggested(comparison, comparison.verdict, word + &tails)
}

/// What tables call a verdict.
pub(super) fn verdict_name(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Better => "better",
        Verdict::Worse => "worse",
        Verdict::NoDifference => "no difference",
        Verdict::Small => "not beyond drift",
        Verdict::Inconclusive => "inconclusive",
    }
}

/// Two separate runs prove nothing.
fn suggested(comparison: &Comparison, verdict: Verdict, word: String) -> String {
    match (comparison.design, verdict) {
        (Design::Interleaved, _) | (_, Verdict::Inconclusive) => word,
        (Design::Sequential, _) => format!("suggests: {word}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_of_a_number_that_is_not_known_are_of_many() {
        let spec = latency::Spec::new(latency::LatencyName::Service, "call");
        let row = |spec| {
            latency::Recorder::new(spec, std::time::Instant::now())
                .finish()
                .latency()
        };
        assert_eq!(
            mean_of(&row(spec.clone().timing(Timing::BatchMean))),
            "many"
        );
        assert_eq!(mean_of(&row(spec.batch(100))), "100");
    }

    #[test]
    fn headings_leave_the_unit_to_the_cells() {
        assert_eq!(title("wall_p50_ns"), "wall p50");
        assert_eq!(title("compress_bytes_per_s"), "compress");
        assert_eq!(title("ops_per_s"), "ops");
        assert_eq!(title("size_bytes"), "size");
        assert_eq!(title("bytes"), "bytes");
        assert_eq!(title("compress_p99_9_ns"), "compress p99.9");
    }
}
