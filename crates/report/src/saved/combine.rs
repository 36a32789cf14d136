//! Several reports as one: laid side by side, or their like rows added up.
//!
//! What comes out claims no more than every file that went in: it is complete when all are, and of
//! a load model when all are of that one. A table says what it was made from.

use latency::compare::{self, Options};
use latency::foreign;
use latency::hlog;
use latency::report::{
    Cell, Comparison, Environment, Latency, Load, LoadModel, SlowSample, Stated, Table, Unit,
    Validation,
};

use super::load::{FileKind, Saved};
use crate::outcome::Before;
use crate::units::moment;
use crate::{Error, Outcome, verdicts};

/// Lays the files side by side. With more than one, everything is labelled by its file.
#[must_use]
pub fn overlay(files: Vec<Saved>) -> Outcome {
    let mut outcome = Outcome::new("report");
    let several = files.len() > 1;
    let sources = describe(&files, "read from", &mut outcome);
    let before = outcome.done_before.as_ref();
    let start = before.and_then(|before| before.started_at.clone());
    let found = compared(&files);
    if !found.is_empty() {
        // The answer stands first.
        let notes = std::mem::replace(&mut outcome.findings, verdicts::findings(&found));
        outcome.findings.extend(notes);
        outcome.comparisons = found;
    }
    for mut file in files {
        let name = std::mem::take(&mut file.name);
        later(&mut file, start.as_deref());
        if several {
            for row in &mut file.latencies {
                row.series = Some(under(&name, row.series.as_deref()));
            }
            if let FileKind::Report(report) = &mut file.kind {
                // As the rows that they are of.
                for sample in std::mem::take(&mut report.slowest) {
                    let series = Some(under(&name, sample.series.as_deref()));
                    outcome.slowest.push(SlowSample { series, ..sample });
                }
            }
        }
        outcome.latencies.append(&mut file.latencies);
        further(file, several.then_some(&name), &mut outcome);
    }
    outcome.latencies.sort_by_key(|row| row.name);
    outcome.tables.push(sources);
    outcome
}

/// The like rows of two files compared: two runs, one after the other.
fn compared(files: &[Saved]) -> Vec<Comparison> {
    let [base, target] = files else {
        return Vec::new();
    };
    let names = [base.name.as_str(), target.name.as_str()];
    let (ours, theirs) = (&base.latencies, &target.latencies);
    let options = Options::default();
    let mut found = match (&base.kind, &target.kind) {
        (FileKind::Report(a), FileKind::Report(b)) if a.workload.kind == b.workload.kind => {
            compare::rows(ours, theirs, names, options)
        }
        (
            FileKind::Log | FileKind::Distribution,
            FileKind::Log | FileKind::Distribution | FileKind::Report(_),
        )
        | (FileKind::Report(_), FileKind::Log | FileKind::Distribution) => {
            compare::logs(ours, theirs, names, options)
        }
        (FileKind::Foreign(a), FileKind::Foreign(b)) => {
            compare::benchmarks(&a.benchmarks(), &b.benchmarks(), names, options)
        }
        _ => Vec::new(),
    };
    found.retain(|one| one.pairs > 0 || !one.tails.is_empty());
    // Two times that are the same, such as service and hold, have one answer.
    found.dedup_by(|later, kept| {
        let numbers = |one: &Comparison| (one.baseline_median_ns, one.target_median_ns, one.pairs);
        numbers(later) == numbers(kept)
            && later.difference == kept.difference
            && later.tails == kept.tails
    });
    found
}

/// Adds like rows up. What does not add up (tables, comparisons) is kept, labelled by its file.
///
/// # Errors
///
/// [`Error::Merge`] where rows that are of the same thing do not add up.
pub fn merge(files: Vec<Saved>) -> Result<Outcome, Error> {
    let mut outcome = Outcome::new("report, merged");
    let sources = describe(&files, "merged from", &mut outcome);
    let mut rows: Vec<Row> = Vec::new();
    for mut file in files {
        let origin = Origin::of(&file.kind);
        for latency in std::mem::take(&mut file.latencies) {
            add(&mut rows, Row { latency, origin })?;
        }
        let name = std::mem::take(&mut file.name);
        further(file, Some(&name), &mut outcome);
    }
    outcome.latencies = rows.into_iter().map(|row| row.latency).collect();
    outcome.latencies.sort_by_key(|row| row.name);
    outcome.tables.push(sources);
    Ok(outcome)
}

/// Counts the intervals of a file from the start of the first one.
fn later(file: &mut Saved, first: Option<&str>) {
    let time = |start: Option<&str>| start?.parse::<jiff::Timestamp>().ok();
    let own = time(file.started_at.as_deref());
    let Some((own, first)) = own.zip(time(first)) else {
        return;
    };
    let by_ns = u64::try_from(own.duration_since(first).as_nanos()).unwrap_or(0);
    let rows = file.latencies.iter_mut();
    for interval in rows.flat_map(|row| &mut row.intervals) {
        // A run of centuries: the length still adds up.
        interval.start_ns = interval.start_ns.saturating_add(by_ns).min(u64::MAX / 2);
    }
}

/// `FILE: LABEL`, or the file alone.
fn under(file: &str, label: Option<&str>) -> String {
    match label {
        Some(label) => format!("{file}: {label}"),
        None => file.to_owned(),
    }
}

/// Slowest samples, tables and comparisons of a file, labelled by it if there are several.
fn further(file: Saved, name: Option<&String>, outcome: &mut Outcome) {
    let labelled = |label: String| match name {
        Some(name) => under(name, Some(&label)),
        None => label,
    };
    let tables = match &file.kind {
        FileKind::Report(_) | FileKind::Log => Vec::new(),
        FileKind::Foreign(read) => read.tables(),
        FileKind::Distribution => foreign::rates_table(&file.stated.rates)
            .into_iter()
            .collect(),
    };
    outcome.tables.extend(tables.into_iter().map(|table| Table {
        name: labelled(table.name),
        ..table
    }));
    keep_stated(file.stated, name, outcome);
    let FileKind::Report(report) = file.kind else {
        return;
    };
    let sample = |sample: SlowSample| SlowSample {
        what: labelled(sample.what),
        ..sample
    };
    outcome
        .slowest
        .extend(report.slowest.into_iter().map(sample));
    outcome
        .tables
        .extend(report.tables.into_iter().map(|table| Table {
            name: labelled(table.name),
            // Of several files no single table is what was asked for.
            asked_for: table.asked_for && name.is_none(),
            ..table
        }));
    for mut comparison in report.comparisons {
        comparison.row = labelled(comparison.row);
        outcome.comparisons.push(comparison);
    }
}

/// When and where the files were measured, as far as all of them say the same.
fn before(files: &[Saved]) -> Before {
    // RFC 3339 in UTC is in the order of time. Where one file does not say, the whole does not.
    let starts: Option<Vec<&String>> = files.iter().map(|file| file.started_at.as_ref()).collect();
    let environments = files.iter().map(Saved::environment);
    let environment = environments.reduce(|one, other| one.common(&other));
    let stated = |environment| Environment {
        stated: true,
        ..environment
    };
    Before {
        started_at: starts.and_then(|starts| starts.into_iter().min().cloned()),
        duration_ns: match files {
            [one] => one.duration_ns(),
            // Of several runs there is no one time.
            _ => None,
        },
        environment: environment.map_or_else(Environment::unknown, stated),
        resources: None,
    }
}

/// What another tool stated, labelled by the file if there are several.
fn keep_stated(mut stated: Stated, file: Option<&String>, outcome: &mut Outcome) {
    if let Some(file) = file {
        let times = stated.times.iter_mut().map(|row| &mut row.name);
        let names = times.chain(stated.rates.iter_mut().map(|row| &mut row.name));
        for name in names {
            *name = under(file, Some(name));
        }
    }
    outcome.stated.times.append(&mut stated.times);
    outcome.stated.rates.append(&mut stated.rates);
}

/// What the files say of themselves, as fields of the outcome and as a table.
fn describe(files: &[Saved], title: &str, outcome: &mut Outcome) -> Table {
    outcome.workload.inputs = files.iter().map(|file| file.input.clone()).collect();
    outcome.workload.inputs_total = files.len() as u64;
    outcome.load = load(files);
    outcome.done_before = Some(before(files));
    outcome.validation = validation(files);
    let mut table = Table::new(title, &SOURCES);
    for file in files {
        let said = file.notes.iter().map(|note| match files.len() {
            1 => note.clone(),
            _ => under(&file.name, Some(note)),
        });
        outcome.findings.extend(said);
        let row: Vec<Cell> = match &file.kind {
            FileKind::Report(report) => {
                outcome.complete &= report.complete;
                vec![
                    file.name.as_str().into(),
                    report.workload.kind.as_str().into(),
                    report.started_at.as_deref().map(moment).into(),
                    if report.complete { "yes" } else { "NO" }.into(),
                    model(report.load.model).into(),
                    report.environment.cpu_model.clone().into(),
                    report.exit_code.to_string().into(),
                ]
            }
            FileKind::Log => unknown(file, "interval log"),
            FileKind::Distribution => unknown(file, "percentile distribution"),
            FileKind::Foreign(read) => unknown(file, read.source.as_str()),
        };
        table.rows.push(row);
    }
    table
}

const SOURCES: [(&str, Unit); 7] = [
    ("file", Unit::Text),
    ("what", Unit::Text),
    ("started_at", Unit::Text),
    ("complete", Unit::Text),
    ("loop", Unit::Text),
    ("processor", Unit::Text),
    ("exit_code", Unit::Text),
];

/// The column of the processor.
const PROCESSOR: usize = 5;

/// A file that says little of how it came about.
fn unknown(file: &Saved, what: &str) -> Vec<Cell> {
    let mut row = vec![
        file.name.as_str().into(),
        what.into(),
        file.started_at.as_deref().map(moment).into(),
    ];
    row.resize(SOURCES.len(), Cell::Null);
    row[PROCESSOR] = file.environment().cpu_model.into();
    row
}

fn model(model: LoadModel) -> &'static str {
    match model {
        LoadModel::Closed => "closed",
        LoadModel::Open => "open",
        LoadModel::Unknown => "not known",
    }
}

/// The load that all files had, or that there was no such one. Rates of several runs are no rate.
fn load(files: &[Saved]) -> Load {
    let loads: Vec<Option<&Load>> = files
        .iter()
        .map(|file| match &file.kind {
            FileKind::Report(report) => Some(&report.load),
            FileKind::Log | FileKind::Distribution | FileKind::Foreign(_) => None,
        })
        .collect();
    let first = loads.first().copied().flatten();
    let like_first = |load: &Option<&Load>| {
        let what = |load: &Load| (load.model, load.arrivals);
        load.map(what) == first.map(what)
    };
    let known = loads.iter().flatten();
    Load {
        model: first
            .filter(|_| loads.iter().all(like_first))
            .map_or(LoadModel::Unknown, |load| load.model),
        arrivals: first
            .filter(|_| loads.iter().all(like_first))
            .and_then(|load| load.arrivals),
        backlog_max: known.clone().filter_map(|load| load.backlog_max).max(),
        saturated: known.clone().any(|load| load.saturated),
        ..Load::closed()
    }
}

/// Right when every file was checked and right; wrong when any was wrong; else not known.
fn validation(files: &[Saved]) -> Option<Validation> {
    let found: Vec<Option<&Validation>> = files
        .iter()
        .map(|file| match &file.kind {
            FileKind::Report(report) => report.validation.as_ref(),
            FileKind::Log | FileKind::Distribution | FileKind::Foreign(_) => None,
        })
        .collect();
    let known: Vec<&Validation> = found.iter().copied().flatten().collect();
    let ok = known.iter().all(|validation| validation.ok);
    if known.is_empty() || (ok && known.len() < found.len()) {
        return None;
    }
    let mut methods: Vec<&str> = known.iter().map(|found| found.method.as_str()).collect();
    methods.sort_unstable();
    methods.dedup();
    let sum = |of: fn(&Validation) -> u64| {
        let all = known.iter().map(|found| of(found));
        all.fold(0, u64::saturating_add)
    };
    Some(Validation {
        checked: sum(|found| found.checked),
        method: methods.join("; "),
        ok,
        wrong: sum(|found| found.wrong),
        wrong_by_faults: sum(|found| found.wrong_by_faults),
    })
}

/// What kind of file a row is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Origin {
    Report,
    Log,
    Distribution,
    Foreign,
}

impl Origin {
    fn of(kind: &FileKind) -> Self {
        match kind {
            FileKind::Report(_) => Self::Report,
            FileKind::Log => Self::Log,
            FileKind::Distribution => Self::Distribution,
            FileKind::Foreign(_) => Self::Foreign,
        }
    }
}

/// A row of the sum.
struct Row {
    latency: Latency,
    origin: Origin,
}

impl Row {
    /// Whether both are of the same thing. A log knows a row by its tag alone.
    fn is_like(&self, other: &Self) -> bool {
        let (ours, theirs) = (&self.latency, &other.latency);
        match (self.origin, other.origin) {
            (Origin::Report, Origin::Log) | (Origin::Log, Origin::Report) => {
                hlog::tag(ours) == hlog::tag(theirs)
            }
            (a, b) if a != b => false,
            _ => {
                (ours.name, &ours.series, &ours.operation)
                    == (theirs.name, &theirs.series, &theirs.operation)
                    && (ours.timing, ours.batch) == (theirs.timing, theirs.batch)
            }
        }
    }

    /// Says of itself what `known` does.
    fn become_like(&mut self, known: &Self) {
        let (ours, theirs) = (&mut self.latency, &known.latency);
        ours.series.clone_from(&theirs.series);
        ours.operation.clone_from(&theirs.operation);
        (ours.timing, ours.batch) = (theirs.timing, theirs.batch);
        self.origin = known.origin;
    }
}

/// Adds a row to the one that it is like, or as a new one.
fn add(rows: &mut Vec<Row>, mut row: Row) -> Result<(), Error> {
    let Some(sum) = rows.iter_mut().find(|sum| sum.is_like(&row)) else {
        rows.push(row);
        return Ok(());
    };
    // What the log leaves open the report says.
    match (sum.origin, row.origin) {
        (Origin::Report, Origin::Log) => row.become_like(sum),
        (Origin::Log, Origin::Report) => sum.become_like(&row),
        _ => {}
    }
    sum.latency
        .merge(&row.latency)
        .map_err(|error| Error::Merge {
            row: row.latency.label(),
            reason: error.to_string(),
        })
}
