//! One run of a measuring command: what surrounds the work, and the one report that comes of it.
//!
//! A [`Session`] captures the machine before the work, counts resources during it, and at the end
//! turns an [`Outcome`] into a report, decides the gates, writes the exports, prints, and says how
//! the process ends. Commands do their work and nothing of this.

use std::ffi::OsString;
use std::time::{Duration, Instant};

use latency::environment::{self, Meter};
use latency::report::{
    Comparison, Done, Environment, GateVerdict, Latency, LatencyName, Load, Report, SCHEMA,
    SlowSample, Table, Throughput, Tool, Validation, Workload, finite,
};
use latency::{Gate, IntervalLog, Recording, Spec};

use crate::args::output::{OutputArgs, ReportArgs, ReportFormat, TerminalArgs};
use crate::exit::ExitStatus;
use crate::export::{self, Detail, Exports, MainStream};
use crate::failure::{Failure, Result};
use crate::term::message;

/// Samples that a report names among the slowest, over all rows.
const SLOWEST: usize = 10;
/// Inputs that a report lists by name.
pub(crate) const INPUTS_LISTED: usize = 1000;

/// A run in progress.
#[derive(Debug)]
pub(crate) struct Session {
    argv: Vec<String>,
    subcommand: &'static str,
    seed: Option<u64>,
    stream: MainStream,
    format: ReportFormat,
    wants_report: bool,
    detail: Detail,
    gates: Vec<Gate>,
    require_verdict: bool,
    exports: Exports,
    intervals: Option<IntervalLog>,
    environment: Environment,
    meter: Meter,
    started_at: jiff::Timestamp,
    started: Instant,
}

/// What a command found.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// How the work alone would end the process.
    pub(crate) status: ExitStatus,
    /// Whether all of it was done.
    pub(crate) complete: bool,
    /// What was worked on.
    pub(crate) workload: Workload,
    /// How the answer was checked.
    pub(crate) validation: Option<Validation>,
    /// The load model.
    pub(crate) load: Load,
    /// Bytes read.
    pub(crate) bytes_in: u64,
    /// Bytes written.
    pub(crate) bytes_out: u64,
    /// Uncompressed bytes, the measure of work.
    pub(crate) bytes_content: u64,
    /// Operations done, for the rate.
    pub(crate) ops: Option<u64>,
    /// The distributions, the most important first.
    pub(crate) latencies: Vec<Latency>,
    /// Candidates for the slowest samples of the run, in any order.
    pub(crate) slowest: Vec<SlowSample>,
    /// Further results.
    pub(crate) tables: Vec<Table>,
    /// Comparisons.
    pub(crate) comparisons: Vec<Comparison>,
}

impl Outcome {
    /// An outcome of `kind` without numbers.
    pub(crate) fn new(kind: &str) -> Self {
        Self {
            status: ExitStatus::Ok,
            complete: true,
            workload: Workload {
                kind: kind.to_owned(),
                ..Workload::default()
            },
            validation: None,
            load: Load::closed(),
            bytes_in: 0,
            bytes_out: 0,
            bytes_content: 0,
            ops: None,
            latencies: Vec::new(),
            slowest: Vec::new(),
            tables: Vec::new(),
            comparisons: Vec::new(),
        }
    }

    /// Adds a count of something that was done to the summary.
    pub(crate) fn did(&mut self, count: u64, [one, several]: [&str; 2]) {
        self.workload.done.push(Done {
            count,
            what: if count == 1 { one } else { several }.to_owned(),
        });
    }

    /// Adds a distribution with its slowest samples.
    pub(crate) fn add(&mut self, recording: &Recording) {
        self.latencies.push(recording.latency());
        self.slowest.extend(recording.slowest());
    }
}

/// What a session needs to know of the command line.
pub(crate) struct Setup<'a> {
    /// Every word of it.
    pub(crate) argv: &'a [OsString],
    /// The subcommand.
    pub(crate) subcommand: &'static str,
    /// Where the report belongs.
    pub(crate) stream: MainStream,
    /// Report flags.
    pub(crate) report: &'a ReportArgs,
    /// Terminal flags.
    pub(crate) terminal: &'a TerminalArgs,
    /// Whether files may be replaced.
    pub(crate) force: bool,
    /// Seed of the run.
    pub(crate) seed: Option<u64>,
    /// The times that the run's distributions will be of.
    pub(crate) rows: &'a [LatencyName],
    /// Whether the report is a listing: that is what was asked for, and printed with `-qq` too.
    pub(crate) lists: bool,
}

impl Setup<'_> {
    fn wants_report(&self) -> bool {
        self.lists || self.terminal.wants_report()
    }
}

impl<'a> Setup<'a> {
    /// A command whose report is its product: standard output is the report's. Without a seed and
    /// without distributions, until the caller says otherwise.
    pub(crate) fn analysis(
        subcommand: &'static str,
        argv: &'a [OsString],
        args: &'a OutputArgs,
    ) -> Self {
        Self {
            stream: MainStream::Stdout,
            ..Self::filter_of(subcommand, argv, args)
        }
    }

    /// A filter by the flags that all of them share.
    pub(crate) fn filter_of(
        subcommand: &'static str,
        argv: &'a [OsString],
        args: &'a OutputArgs,
    ) -> Self {
        Self::filter(subcommand, argv, &args.report, &args.terminal, args.force)
    }

    /// A command whose product is data: its report goes to standard error. Without a seed and without
    /// distributions, until the caller says otherwise.
    pub(crate) fn filter(
        subcommand: &'static str,
        argv: &'a [OsString],
        report: &'a ReportArgs,
        terminal: &'a TerminalArgs,
        force: bool,
    ) -> Self {
        Self {
            argv,
            subcommand,
            stream: MainStream::Stderr,
            report,
            terminal,
            force,
            seed: None,
            rows: &[],
            lists: false,
        }
    }

    /// The same as a listing when it is one: that is on standard output, and measures nothing.
    pub(crate) fn listing(self, is: bool) -> Self {
        match is {
            true => Self {
                stream: MainStream::Stdout,
                rows: &[],
                lists: true,
                ..self
            },
            false => self,
        }
    }
}

impl Session {
    /// Opens the export files, pins, looks at the machine. Fails before any work is done.
    pub(crate) fn start(setup: &Setup<'_>) -> Result<Self> {
        check_rows(setup.report, setup.rows)?;
        if setup.wants_report() {
            setup.stream.check()?;
        }
        let mut exports = Exports::open(setup.report, setup.force)?;
        if let Some(cpus) = &setup.report.cpu {
            latency::pin::pin(&cpus.0).map_err(|error| {
                Failure::usage(format!("cannot pin to processors {:?}: {error}", cpus.0)).help(
                    format!("this process may use {:?}", latency::pin::available()),
                )
            })?;
        }
        let mut environment = environment::capture();
        if let Some(cpus) = &setup.report.cpu {
            environment.pinned_cpus.clone_from(&cpus.0);
            environment
                .warnings
                .retain(|warning| warning.code != "no_pin");
        }
        if setup.report.strict_env && !environment.warnings.is_empty() {
            return Err(unfit(&environment));
        }
        // After pinning: its thread runs where this one does.
        let intervals = exports.start_intervals()?;
        // Measured only for a report that somebody sees.
        environment.clock_floor_ns =
            (setup.wants_report() || !exports.is_empty()).then(|| latency::clock::floor().p50_ns);
        Ok(Self {
            argv: setup
                .argv
                .iter()
                .map(|word| export::names::word(word))
                .collect(),
            subcommand: setup.subcommand,
            seed: setup.seed,
            stream: setup.stream,
            format: exports.main_format(),
            wants_report: setup.wants_report(),
            detail: if setup.terminal.verbose {
                Detail::Full
            } else {
                Detail::Normal
            },
            gates: setup.report.slo.clone(),
            require_verdict: setup.report.require_verdict,
            exports,
            intervals,
            environment,
            meter: Meter::start(),
            started_at: jiff::Timestamp::now(),
            started: Instant::now(),
        })
    }

    /// When the measured part began: the zero of every recorder.
    pub(crate) fn run_start(&self) -> Instant {
        self.started
    }

    /// The recorder settings that the exports of this run ask for.
    pub(crate) fn spec(&self, spec: Spec) -> Spec {
        spec.intervals(self.intervals())
    }

    /// Where the exports of this run have intervals put.
    pub(crate) fn intervals(&self) -> Option<IntervalLog> {
        self.intervals.clone()
    }

    /// Whether inputs shall be hashed.
    pub(crate) fn wants_hashes(&self) -> bool {
        self.exports.wants_hashes()
    }

    /// Whether anybody will read a report of this run.
    pub(crate) fn has_report(&self) -> bool {
        self.wants_report || !self.exports.is_empty()
    }

    /// Whether a report comes of this run as text alone, so that a long table may be printed as it
    /// comes.
    pub(crate) fn is_text_alone(&self) -> bool {
        self.wants_report && self.format == ReportFormat::Text && self.exports.is_empty()
    }

    /// The machine as it was before the work.
    pub(crate) fn environment(&self) -> &Environment {
        &self.environment
    }

    /// Turns the outcome into the report, writes and prints it, and says how the process ends.
    pub(crate) fn finish(mut self, outcome: Outcome) -> Result<ExitStatus> {
        let duration = self.started.elapsed();
        let resources = self.meter.finish(&mut self.environment);
        let done = done(&outcome);
        let mut report = Report {
            schema: SCHEMA.to_owned(),
            complete: outcome.complete,
            tool: tool(),
            command: latency::report::Command {
                argv: std::mem::take(&mut self.argv),
                subcommand: self.subcommand.to_owned(),
                seed: self.seed,
            },
            started_at: self.started_at.to_string(),
            duration_ns: u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX),
            environment: self.environment,
            workload: Workload {
                done,
                ..outcome.workload
            },
            validation: outcome.validation,
            load: outcome.load,
            throughput: Throughput {
                bytes_in: outcome.bytes_in,
                bytes_out: outcome.bytes_out,
                ..Throughput::default()
            },
            latencies: outcome.latencies,
            slowest: slowest(outcome.slowest),
            resources,
            tables: outcome.tables,
            comparisons: outcome.comparisons,
            gates: Vec::new(),
            exit_code: 0,
        };
        rates(&mut report, outcome.ops, outcome.bytes_content, duration);
        report.gates = self
            .gates
            .iter()
            .map(|gate| gate.decide(&report.latencies))
            .collect();
        let status = match outcome.status {
            ExitStatus::Ok => gate_status(&report, self.require_verdict),
            other => other,
        };
        report.exit_code = status.code();
        let print = (self.format, self.stream, self.detail);
        say_gates(&report, status);
        match emit(&report, self.exports, self.wants_report.then_some(print)) {
            // What the work came to is told in full, and stands.
            Err(failure) if status != ExitStatus::Ok => message::failure(&failure),
            emitted => emitted?,
        }
        Ok(status)
    }
}

/// Refuses gates and exports of rows that the run will not have, before it is run for nothing.
pub(crate) fn check_rows(args: &ReportArgs, rows: &[LatencyName]) -> Result<()> {
    let names: Vec<&str> = rows.iter().map(|row| row.as_str()).collect();
    let help = || match names.as_slice() {
        [] => "this measures no latencies".to_owned(),
        names => format!("the rows are: {}", names.join(", ")),
    };
    let lacks = |flag: &str, given: &str, row: Option<&str>| {
        let what = row.map_or("latency row".to_owned(), |row| format!("row '{row}'"));
        Failure::usage(format!("{flag} '{given}': there is no {what}")).help(help())
    };
    for gate in &args.slo {
        let name = gate.name().map(LatencyName::as_str);
        if names.is_empty() || name.is_some_and(|name| !names.contains(&name)) {
            return Err(lacks("--slo", &gate.to_string(), name));
        }
    }
    match args.row.as_deref() {
        Some(row) if !names.contains(&row) => Err(lacks("--row", row, Some(row))),
        _ => Ok(()),
    }
}

/// Writes the export files, then prints the report if it is to be printed: in this order, so that
/// nobody who closes the pipe early can cost a file. A file that fails costs no report either.
pub(crate) fn emit(
    report: &Report,
    exports: Exports,
    print: Option<(ReportFormat, MainStream, Detail)>,
) -> Result<()> {
    let written = exports.write_files(report);
    let printed = match print {
        Some((format, stream, detail)) => export::print(report, format, stream, detail),
        None => Ok(()),
    };
    written.and(printed)
}

/// What the gates make of a run that went well.
pub(crate) fn gate_status(report: &Report, require_verdict: bool) -> ExitStatus {
    let any = |verdict| report.gates.iter().any(|gate| gate.verdict == verdict);
    if any(GateVerdict::Fail) {
        ExitStatus::Gate
    } else if require_verdict && any(GateVerdict::Inconclusive) {
        ExitStatus::Inconclusive
    } else {
        ExitStatus::Ok
    }
}

/// Says on standard error, quiet or not, which gates made the run end as it does: what was asked, and
/// what was found.
pub(crate) fn say_gates(report: &Report, status: ExitStatus) {
    let (verdict, how) = match status {
        ExitStatus::Gate => (GateVerdict::Fail, "missed"),
        ExitStatus::Inconclusive => (GateVerdict::Inconclusive, "not decided"),
        _ => return,
    };
    for gate in report.gates.iter().filter(|gate| gate.verdict == verdict) {
        let text = format!("{} {how}: {}", gate.gate, gate.reason);
        message::failure(&Failure::new(text));
    }
}

/// What was done, in the nouns of the command: what it says itself, or its operations.
fn done(outcome: &Outcome) -> Vec<Done> {
    let said = outcome.workload.done.clone();
    let nouns = export::nouns::of(&outcome.workload.kind);
    match (said.is_empty(), nouns.ops, outcome.ops) {
        (true, Some([one, several]), Some(count)) => vec![Done {
            count,
            what: if count == 1 { one } else { several }.to_owned(),
        }],
        _ => said,
    }
}

fn rates(report: &mut Report, ops: Option<u64>, content: u64, duration: Duration) {
    let seconds = duration.as_secs_f64();
    let throughput = &mut report.throughput;
    throughput.ops_per_s = ops.and_then(|ops| finite(ops as f64 / seconds));
    throughput.bytes_in_per_s = finite(throughput.bytes_in as f64 / seconds);
    throughput.bytes_out_per_s = finite(throughput.bytes_out as f64 / seconds);
    let cpu = report
        .resources
        .cpu_user_ns
        .zip(report.resources.cpu_system_ns);
    throughput.bytes_per_cpu_s = cpu
        .filter(|_| content > 0)
        .and_then(|(user, system)| finite(content as f64 * 1e9 / (user + system) as f64));
    if report.load.model == latency::report::LoadModel::Closed {
        report.load.rate_achieved_per_s = throughput.ops_per_s;
    }
}

fn slowest(mut samples: Vec<SlowSample>) -> Vec<SlowSample> {
    samples.sort_by_key(|sample| std::cmp::Reverse(sample.value_ns));
    samples.truncate(SLOWEST);
    samples
}

/// This build.
pub(crate) fn tool() -> Tool {
    let known = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    Tool {
        name: env!("CARGO_PKG_NAME").to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        commit: known(env!("PERFKIT_COMMIT")),
        dirty: known(env!("PERFKIT_DIRTY")).map(|dirty| dirty == "true"),
        rustc: known(env!("PERFKIT_RUSTC")),
        target: env!("PERFKIT_TARGET").to_owned(),
        profile: env!("PERFKIT_PROFILE").to_owned(),
        features: Vec::new(),
    }
}

fn unfit(environment: &Environment) -> Failure {
    let warnings: Vec<String> = environment
        .warnings
        .iter()
        .map(|warning| format!("{} ({})", warning.message, warning.code))
        .collect();
    let first = environment
        .warnings
        .first()
        .map_or("", |warning| warning.help.as_str());
    Failure::new(format!(
        "this machine is unfit to measure on: {}",
        warnings.join("; ")
    ))
    .help(first.to_owned())
    .status(ExitStatus::Environment)
}
