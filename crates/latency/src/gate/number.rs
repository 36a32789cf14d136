//! Gates on numbers of the report that are no latency: throughput, ratio, memory, processor time, shares of
//! errors, and any other by its path in the JSON form.
//!
//! A share of errors is judged by the exact binomial test. Every other number is judged as this run showed it.

use serde_json::Value;

use super::stated::of_kind;
use super::{Bound, Gate};
use crate::binomial::lower_quantile;
use crate::report::{Cell, GateResult, GateVerdict, RateKind, Report, Table};
use crate::units::{self, Kind};

/// Parts of the report that a path may start with.
pub(super) const SECTIONS: [&str; 10] = [
    "comparisons",
    "environment",
    "latencies",
    "load",
    "resources",
    "stated",
    "tables",
    "throughput",
    "validation",
    "workload",
];

/// Chance of a wrong verdict on a share of errors, on each side.
const ERROR: f64 = 0.025;

/// A number, where it is known, and the row that it is of.
type Found = (Option<String>, Option<f64>);

/// A number of the report.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Measure {
    /// Operations a second.
    Throughput,
    /// Uncompressed over compressed bytes.
    Ratio,
    /// Peak resident memory.
    Rss,
    /// Processor time, user and system.
    Cpu,
    /// Wrong answers over checked ones.
    Errors,
    /// The number, or all numbers of a table's column, at a path.
    Path(String),
}

impl Measure {
    /// Numbers with a name of their own.
    pub(super) const NAMED: [(&'static str, Self); 5] = [
        ("throughput", Self::Throughput),
        ("ratio", Self::Ratio),
        ("rss", Self::Rss),
        ("cpu", Self::Cpu),
        ("error_rate", Self::Errors),
    ];

    /// The unit that its limit is written in.
    pub(super) fn unit(&self) -> Kind {
        match self {
            Self::Throughput | Self::Ratio | Self::Errors => Kind::Plain,
            Self::Rss => Kind::Bytes,
            Self::Cpu => Kind::Time,
            Self::Path(path) => {
                let has = |word: &str| path.split(['.', '_']).any(|part| part == word);
                match (path.ends_with("_ns"), has("bytes")) {
                    (true, _) => Kind::Time,
                    (false, true) => Kind::Bytes,
                    (false, false) => Kind::Plain,
                }
            }
        }
    }

    /// The numbers, each with the row it is of, which may not have one; a text says why there is none.
    fn values(&self, report: &Report) -> Result<Vec<Found>, String> {
        let one = |value: Option<f64>, what: &str| match value.filter(|value| value.is_finite()) {
            Some(value) => Ok(vec![(None, Some(value))]),
            None => Err(format!("the report has no {what}")),
        };
        let resources = &report.resources;
        match self {
            Self::Throughput => match report.throughput.ops_per_s {
                None => stated_throughput(report),
                known => one(known, "operations a second"),
            },
            Self::Ratio => one(ratio(report), "ratio"),
            // Where programs were run, the limit is about them: not about what ran them.
            Self::Rss => match of_programs(report, &["rss_max_bytes"]) {
                Some(found) => Ok(found),
                None => one(
                    resources.rss_max_bytes.map(|bytes| bytes as f64),
                    "peak memory",
                ),
            },
            Self::Cpu if report.tables.iter().any(runs_programs) => {
                let medians = of_programs(report, &["cpu_p50_ns"]);
                let found = medians.or_else(|| of_programs(report, &["user_ns", "system_ns"]));
                found.ok_or_else(|| "the report has no processor time of the programs".to_owned())
            }
            Self::Cpu => {
                let times = resources.cpu_user_ns.zip(resources.cpu_system_ns);
                one(
                    times.map(|(user, system)| user as f64 + system as f64),
                    "processor time",
                )
            }
            Self::Errors if report.validation.is_none() && !failed_runs(report).is_empty() => {
                let share = |(name, [failed, of]): (Option<String>, [u64; 2])| {
                    (name, Some(failed as f64 / of as f64))
                };
                Ok(failed_runs(report).into_iter().map(share).collect())
            }
            Self::Errors => {
                let checked = report.validation.as_ref().filter(|found| found.checked > 0);
                let share = checked.map(|found| found.wrong as f64 / found.checked as f64);
                one(share, "checked answers")
            }
            Self::Path(path) => {
                let json = serde_json::to_value(report).map_err(|error| error.to_string())?;
                let found = at_path(&json, path)?;
                match found.is_empty() {
                    true => Err(format!("'{path}' is not known in this run")),
                    false => Ok(found),
                }
            }
        }
    }
}

/// The parameter of a run that says up to which peak the memory of its programs is not known: that much may be the pages
/// of what started them.
pub const RSS_FLOOR_PARAM: &str = "rss_floor_bytes";

/// Up to which peak the memory of programs is not known, where this run started them.
fn rss_floor(report: &Report) -> Option<f64> {
    let stated = report.workload.params.get(RSS_FLOOR_PARAM);
    let own = report.resources.rss_max_bytes.map(|own| own as f64);
    stated.and_then(Value::as_f64).or(own)
}

/// Whether a table is about programs that were run, each with its peak memory.
fn runs_programs(table: &Table) -> bool {
    place(table, "rss_max_bytes").is_some()
}

fn place(table: &Table, key: &str) -> Option<usize> {
    table.columns.iter().position(|column| column.key == key)
}

/// The program that is run beside the others to see how much a machine adds: no limit is about it.
const CONTROL: &str = "control";

/// The sum of these columns for each program that was run, by its name. `None` if there are no such columns.
fn of_programs(report: &Report, keys: &[&str]) -> Option<Vec<Found>> {
    let table = report.tables.iter().find(|table| runs_programs(table))?;
    let places: Option<Vec<usize>> = keys.iter().map(|key| place(table, key)).collect();
    let places = places?;
    let number = |cell: &Cell| match cell {
        Cell::Integer(number) => Some(*number as f64),
        Cell::Number(number) => Some(*number),
        Cell::Null | Cell::Text(_) => None,
    };
    let found = table.rows.iter().map(|row| {
        let name = row.iter().find_map(|cell| match cell {
            Cell::Text(text) => Some(text.clone()),
            _ => None,
        });
        let values = places.iter().map(|at| row.get(*at).and_then(number));
        (name, values.sum())
    });
    let found = found.filter(|(name, _)| name.as_deref() != Some(CONTROL));
    Some(found.collect())
}

/// What the target is compared with: that it fails is no error of the target.
const BASELINE: &str = "baseline";

/// How many runs of each program failed that a limit is about, and of how many.
fn failed_runs(report: &Report) -> Vec<(Option<String>, [u64; 2])> {
    let tables = report.tables.iter();
    let found = tables
        .filter(|table| runs_programs(table))
        .find_map(|table| {
            let [failed, of] = ["failures", "runs"].map(|key| place(table, key));
            Some((table, [failed?, of?]))
        });
    let Some((table, places)) = found else {
        return Vec::new();
    };
    let rows = table.rows.iter().filter_map(|row| {
        let name = row.iter().find_map(|cell| match cell {
            Cell::Text(text) => Some(text.clone()),
            _ => None,
        });
        let [failed, of] = places.map(|at| match row.get(at) {
            Some(Cell::Integer(number)) => u64::try_from(*number).ok(),
            _ => None,
        });
        let counts = [failed?, of.filter(|of| *of > 0)?];
        let is_judged = !matches!(name.as_deref(), Some(CONTROL | BASELINE));
        is_judged.then_some((name, counts))
    });
    rows.collect()
}

/// The rates of operations that another tool stated.
fn stated_throughput(report: &Report) -> Result<Vec<Found>, String> {
    let rates: Vec<Found> = of_kind(report, RateKind::Operations)
        .map(|rate| {
            (
                Some(format!("{} as {} states it", rate.name, rate.source)),
                rate.per_s,
            )
        })
        .collect();
    match rates.is_empty() {
        true => Err("the report has no operations a second".to_owned()),
        false => Ok(rates),
    }
}

/// Uncompressed over compressed bytes of a whole run.
fn ratio(report: &Report) -> Option<f64> {
    let (read, written) = (report.throughput.bytes_in, report.throughput.bytes_out);
    let kind = report.workload.kind.as_str();
    let quotient = match kind.starts_with("decompress") || kind.starts_with("unzip") {
        true => written as f64 / read as f64,
        false => read as f64 / written as f64,
    };
    quotient.is_finite().then_some(quotient)
}

/// The numbers at a path. A part in an array is an index, or the `name`, `row` or `series` of an element; in a
/// table it is a column, which has a number a row.
fn at_path(json: &Value, path: &str) -> Result<Vec<Found>, String> {
    let missing = |part: &str| Err(format!("'{path}': the report has no '{part}'"));
    let mut at = json;
    let mut rest = path;
    while !rest.is_empty() {
        // Names may hold dots: the longest part that there is counts.
        let ends = rest.match_indices('.').map(|(end, _)| end);
        let mut ends: Vec<usize> = ends.chain([rest.len()]).collect();
        ends.reverse();
        let found = ends.iter().find_map(|end| {
            let part = &rest[..*end];
            child(at, part).map(|found| (found, *end))
        });
        if let Some((found, end)) = found {
            at = found;
            rest = rest.get(end + 1..).unwrap_or("");
            continue;
        }
        if let Some(column) = column(at, rest) {
            return Ok(column);
        }
        return missing(rest);
    }
    match at {
        Value::Null => Ok(Vec::new()),
        Value::Number(number) => Ok(number
            .as_f64()
            .map(|value| (None, Some(value)))
            .into_iter()
            .collect()),
        Value::Bool(value) => Ok(vec![(None, Some(f64::from(u8::from(*value))))]),
        _ => Err(format!("'{path}' is no number")),
    }
}

fn child<'a>(at: &'a Value, part: &str) -> Option<&'a Value> {
    match at {
        Value::Object(object) => object.get(part),
        Value::Array(elements) => {
            let index = part.parse::<usize>().ok();
            index.and_then(|index| elements.get(index)).or_else(|| {
                let is = |element: &&Value| {
                    let keys = ["name", "row", "series"];
                    keys.iter()
                        .any(|key| element.get(key).and_then(Value::as_str) == Some(part))
                };
                elements.iter().find(is)
            })
        }
        _ => None,
    }
}

/// A column of a table: the numbers of all rows, each with the text of the row's first text cell.
fn column(table: &Value, key: &str) -> Option<Vec<Found>> {
    let columns = table.get("columns")?.as_array()?;
    let at = columns
        .iter()
        .position(|column| column.get("key").and_then(Value::as_str) == Some(key))?;
    let rows = table.get("rows")?.as_array()?;
    let number = |row: &Value| {
        let cells = row.as_array()?;
        let name = cells.iter().find_map(Value::as_str).map(str::to_owned);
        Some((name, cells.get(at)?.as_f64()))
    };
    Some(rows.iter().filter_map(number).collect())
}

impl Gate {
    /// Decides a gate on a number of the report.
    pub(super) fn decide_number(
        &self,
        measure: &Measure,
        limit: f64,
        report: &Report,
    ) -> GateResult {
        let unknown = |why| self.number_result(limit, None, (GateVerdict::Inconclusive, why));
        if *measure == Measure::Errors
            && report.validation.is_none()
            && let Some((rate, share, decided)) = self.stated_failures(report, limit)
        {
            let found = (Some(rate.name.clone()), share);
            return self.number_result(limit, Some(found), decided);
        }
        let mut values = match measure.values(report) {
            Ok(values) => values,
            Err(why) => return unknown(why),
        };
        // The memory of a program is measured from that of what started it on: below, nothing is known but that.
        if *measure == Measure::Rss {
            let most = rss_floor(report);
            let holds = |most: &f64| {
                let (verdict, _) = self.as_measured(measure.unit(), None, *most, limit);
                matches!(self.bound, Bound::Most | Bound::Below) && verdict == GateVerdict::Pass
            };
            let most = most.filter(holds);
            for (_, value) in &mut values {
                *value = value.or(most);
            }
        }
        // The one that is furthest on the wrong side.
        let low = matches!(self.bound, Bound::Least | Bound::Above);
        let absent = values.iter().find(|(_, value)| value.is_none());
        let absent = absent.map(|(row, _)| row.clone());
        let worst = values
            .into_iter()
            .filter_map(|(row, value)| Some((row, value?)))
            .max_by(|(_, a), (_, b)| if low { b.total_cmp(a) } else { a.total_cmp(b) });
        let Some((row, value)) = worst else {
            let why = match measure {
                Measure::Rss if rss_floor(report).is_some() => {
                    "the programs take no more memory than what started them may, so that theirs is not known"
                }
                Measure::Rss => "the report states no peak memory of the programs",
                _ => "there are no numbers to judge",
            };
            return unknown(why.to_owned());
        };
        let decided = match (measure, &report.validation) {
            (Measure::Errors, Some(found)) => self.share(
                found.wrong,
                found.checked,
                "checked answers were wrong",
                limit,
            ),
            (Measure::Errors, None) => match failed_runs(report)
                .into_iter()
                .find(|(name, _)| *name == row)
            {
                Some((name, [failed, of])) => {
                    let whose = name.as_deref().unwrap_or("the program");
                    self.share(failed, of, &format!("runs of the {whose} failed"), limit)
                }
                None => self.as_measured(measure.unit(), row.as_deref(), value, limit),
            },
            _ => self.as_measured(measure.unit(), row.as_deref(), value, limit),
        };
        // The others pass: that says nothing of the one that has no number.
        if let (Some(row), GateVerdict::Pass) = (absent, decided.0) {
            let row = row.map(|row| format!(" of {row}")).unwrap_or_default();
            return unknown(format!("the number{row} is not known; {}", decided.1));
        }
        self.number_result(limit, Some((row, value)), decided)
    }

    /// The result of a gate on a number: the row and the value found, and the verdict with its reason.
    pub(super) fn number_result(
        &self,
        limit: f64,
        found: Option<(Option<String>, f64)>,
        (verdict, reason): (GateVerdict, String),
    ) -> GateResult {
        let (row, value) = match found {
            Some((row, value)) => (row, Some(value)),
            None => (None, None),
        };
        GateResult {
            gate: self.text.clone(),
            row,
            value_ns: None,
            ci95_ns: None,
            limit_ns: None,
            value,
            limit: Some(limit),
            verdict,
            reason,
        }
    }

    pub(super) fn as_measured(
        &self,
        unit: Kind,
        row: Option<&str>,
        value: f64,
        limit: f64,
    ) -> (GateVerdict, String) {
        let holds = match self.bound {
            Bound::Most => value <= limit,
            Bound::Below => value < limit,
            Bound::Least => value >= limit,
            Bound::Above => value > limit,
        };
        let of = row.map(|row| format!(" of {row}")).unwrap_or_default();
        let says = if holds { "as wanted" } else { "not as wanted" };
        let sign = self.bound.sign();
        let mut said = [value, limit].map(|number| units::number(number, unit));
        // Numbers on two sides of a limit must not read alike.
        if said[0] == said[1] && value != limit {
            said = [value, limit].map(|number| number.to_string());
        }
        let [value, limit] = said;
        let reason = format!("found {value}{of}, {says} {sign} {limit}; this run only");
        let verdict = match holds {
            true => GateVerdict::Pass,
            false => GateVerdict::Fail,
        };
        (verdict, reason)
    }

    /// `wrong` of `checked`, against a limit on the true share; `what` says what the wrong ones did.
    pub(super) fn share(
        &self,
        wrong: u64,
        checked: u64,
        what: &str,
        limit: f64,
    ) -> (GateVerdict, String) {
        let share = wrong as f64 / checked as f64;
        if limit <= 0.0 || limit >= 1.0 {
            return self.as_measured(Kind::Plain, None, share, limit);
        }
        let [below, above] = sides(wrong, checked, limit);
        let wants_low = matches!(self.bound, Bound::Most | Bound::Below);
        let verdict = match (below, above) {
            (true, _) if wants_low => GateVerdict::Pass,
            (_, true) if !wants_low => GateVerdict::Pass,
            (true, _) | (_, true) => GateVerdict::Fail,
            (false, false) => GateVerdict::Inconclusive,
        };
        let (says, more) = match verdict {
            GateVerdict::Inconclusive => (
                "which proves neither side of",
                match needed(share, checked, limit) {
                    Some(needed) => format!(" (at this share about {needed} would in most runs)"),
                    None => String::new(),
                },
            ),
            _ => ("which proves the side of", String::new()),
        };
        let reason = format!("{wrong} of {checked} {what}, {says} {limit}{more}");
        (verdict, reason)
    }
}

/// Whether `wrong` of `checked` are fewer than is likely at the limit, and whether they are more.
fn sides(wrong: u64, checked: u64, limit: f64) -> [bool; 2] {
    let below =
        lower_quantile(checked, limit, 1.0 - limit, ERROR).is_some_and(|most| wrong <= most);
    let right = checked - wrong.min(checked);
    let above =
        lower_quantile(checked, 1.0 - limit, limit, ERROR).is_some_and(|most| right <= most);
    [below, above]
}

/// Steps in which a number of checked answers is looked for, a tenth more each: up to 10,000 times as many.
const STEPS: u32 = 97;

/// The share of runs that are to be decided.
const POWER: f64 = 0.8;

/// About how many checked answers would be on one side of the limit in most runs, if this is their true share; `None`
/// where it is too near.
fn needed(share: f64, checked: u64, limit: f64) -> Option<u64> {
    let (mut few, mut enough) = (checked, checked);
    for step in 0..=STEPS {
        if step == STEPS {
            return None;
        }
        enough = (few as f64 * 1.1).ceil() as u64;
        if decides(share, enough, limit) {
            break;
        }
        few = enough;
    }
    while enough - few > 1 {
        let middle = few + (enough - few) / 2;
        match decides(share, middle, limit) {
            true => enough = middle,
            false => few = middle,
        }
    }
    Some(enough)
}

/// Whether [`POWER`] of all runs of this many answers are on one side of the limit.
fn decides(share: f64, checked: u64, limit: f64) -> bool {
    // The most answers of that share that so many of all runs have.
    let at_most = |share: f64| match share > 0.0 {
        true => lower_quantile(checked, share, 1.0 - share, POWER).map_or(0, |most| most + 1),
        false => 0,
    };
    let wrong = match share <= limit {
        true => at_most(share),
        false => checked - at_most(1.0 - share).min(checked),
    };
    sides(wrong, checked, limit).contains(&true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SplitMix64;

    #[test]
    fn as_many_answers_as_are_said_decide_most_runs_and_fewer_do_not() {
        assert_eq!(needed(0.0, 100, 0.01), Some(368));
        assert_eq!(needed(0.01, 300, 0.01), None);
        let mut rng = SplitMix64::new(1);
        let mut decided = |share: f64, checked: u64| {
            let runs = 200;
            let right = (0..runs).filter(|_| {
                let wrong = (0..checked).filter(|_| rng.unit() < share).count() as u64;
                sides(wrong, checked, 0.05).contains(&true)
            });
            right.count() as f64 / f64::from(runs)
        };
        for share in [0.01, 0.02, 0.03, 0.08, 0.12] {
            let needed = needed(share, 50, 0.05).expect("not near the limit");
            let (with, without) = (decided(share, needed), decided(share, needed * 2 / 3));
            assert!((0.7..0.95).contains(&with), "{share} of {needed}: {with}");
            assert!(without < with, "{share} of {needed}: {without}");
        }
    }
}
