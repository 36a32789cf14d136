//! Gates as text: `p99.9<=2ms`, `[level 3].hold.max<1ms`, `throughput.ops_per_s>=1000`, `ratio>=2.5`.
//!
//! Not here: what a gate decides.

use std::str::FromStr;

use super::number::{Measure, SECTIONS};
use super::{Bound, Gate, ParseGateError, RowTarget, Statistic, Target};
use crate::report::LatencyName;
use crate::units;

impl ParseGateError {
    /// What to write instead.
    #[must_use]
    pub fn help(&self) -> &'static str {
        "write [response.|service.|hold.](p99.9|mean|min|max)(<=|<)LIMIT, the limit in \
         ns, us, ms, s or h: p99.9<=2ms; a series in brackets before it: [level 3].p99<=2ms; or a number \
         of the report and <=, <, >= or >: ratio>=2, rss<=100M, throughput.ops_per_s>=1000"
    }
}

impl FromStr for Gate {
    type Err = ParseGateError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = |why| ParseGateError {
            text: text.chars().take(80).collect(),
            why,
        };
        let (left, bound, limit) =
            split(text).ok_or_else(|| wrong("it has no `<=`, `<`, `>=` or `>`"))?;
        let target = match measure(left) {
            Some(measure) => {
                let limit = units::parse_number(limit, measure.unit()).ok_or_else(|| {
                    wrong("the limit must be a number, with a unit that fits: 1000, 2.5, 1 %, 100M, 2ms")
                })?;
                Target::Number(measure, limit)
            }
            None => {
                let row = row(left).map_err(wrong)?;
                if !matches!(bound, Bound::Most | Bound::Below) {
                    return Err(wrong("a time is limited from above, by `<=` or `<`"));
                }
                let limit = units::parse_duration(limit)
                    .ok_or_else(|| wrong("the limit must be a time in ns, us, ms, s or h"))?;
                Target::Row(row, limit)
            }
        };
        Ok(Self {
            text: text.trim().to_owned(),
            bound,
            target,
        })
    }
}

/// What is limited, how, and the limit. A series in brackets may hold any of the signs.
fn split(text: &str) -> Option<(&str, Bound, &str)> {
    let series = match text.trim_start().starts_with('[') {
        true => text.find(']')?,
        false => 0,
    };
    let at = series + text[series..].find(['<', '>'])?;
    let right = &text[at + 1..];
    let below = text[at..].starts_with('<');
    let (bound, limit) = match (right.strip_prefix('='), below) {
        (Some(limit), true) => (Bound::Most, limit),
        (Some(limit), false) => (Bound::Least, limit),
        (None, true) => (Bound::Below, right),
        (None, false) => (Bound::Above, right),
    };
    Some((text[..at].trim(), bound, limit.trim()))
}

/// A number of the report by its short name or its path.
fn measure(left: &str) -> Option<Measure> {
    let named = Measure::NAMED.into_iter().find(|(name, _)| *name == left);
    if let Some((_, measure)) = named {
        return Some(measure);
    }
    let (first, rest) = left.split_once('.').unwrap_or((left, ""));
    let known = SECTIONS.contains(&first) || first == "duration_ns";
    let whole =
        !rest.ends_with('.') && left.len() <= 300 && (rest.is_empty() == (first == "duration_ns"));
    (known && whole).then(|| Measure::Path(left.to_owned()))
}

fn row(left: &str) -> Result<RowTarget, &'static str> {
    let (series, left) = match left.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((series, rest)) => {
            let rest = rest
                .strip_prefix('.')
                .ok_or("expected a `.` after the `]`")?;
            (Some(series.trim().to_owned()), rest)
        }
        None => (None, left),
    };
    let named = LatencyName::ALL.into_iter().find_map(|name| {
        let rest = left.strip_prefix(name.as_str())?.strip_prefix('.')?;
        Some((name, rest))
    });
    let (name, statistic) = match named {
        Some((name, rest)) => (Some(name), rest),
        None => (None, left),
    };
    let statistic = match statistic {
        "mean" => Statistic::Mean,
        "min" => Statistic::Min,
        "max" | "p100" => Statistic::Max,
        other => parse_percentile(other).map(Statistic::Percentile).ok_or(
            "expected a percentile (p50, p99.9), mean, min or max, or a number of the report",
        )?,
    };
    Ok(RowTarget {
        name,
        series,
        statistic,
    })
}

/// `p99.9`: more than 0, less than 100, at most six decimals.
fn parse_percentile(text: &str) -> Option<f64> {
    let number = text.strip_prefix('p')?;
    let plain = number
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'.');
    let decimals = number
        .split_once('.')
        .map_or(0, |(_, decimals)| decimals.len());
    let starts_well = number.starts_with(|c: char| c.is_ascii_digit());
    if !plain || !starts_well || decimals > 6 || number.ends_with('.') {
        return None;
    }
    number.parse().ok().filter(|p| *p > 0.0 && *p < 100.0)
}
