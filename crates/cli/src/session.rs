//! One run of a measuring command: what the flags ask of it, its export files, and its report on the
//! terminal. What surrounds the measuring itself is [`report::Run`].

use std::ffi::OsString;
use std::time::Instant;

use latency::clock::FLOORS_MIN;
use latency::report::{Environment, LatencyName, Report};
use latency::{IntervalLog, LiveRows, Spec};
use report::{Detail, ExitStatus, Outcome, Run, RunOptions, gates, names};

use crate::args::output::{OutputArgs, ReportArgs, ReportFormat, TerminalArgs, Undecided};
use crate::built;
use crate::export::{self, Exports, Logged, MainStream, Printing};
use crate::failure::{Failure, Result};
use crate::term::message;

/// A run in progress.
#[derive(Debug)]
pub(crate) struct Session {
    run: Run,
    stream: MainStream,
    format: ReportFormat,
    wants_report: bool,
    lists: bool,
    detail: Detail,
    exports: Exports,
    /// Whether it says what its export files cannot keep.
    says_losses: bool,
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
    /// Whether one line says enough of the run, unless a report is asked for.
    pub(crate) brief: bool,
    /// Where its distributions are shown while it goes on.
    pub(crate) live: Option<LiveRows>,
    /// Whether it measures anything. What was measured before has floors of its own.
    pub(crate) measures: bool,
    /// Whether it shows times that another tool stated: gates can be about them, as service times.
    pub(crate) stated: bool,
}

impl Setup<'_> {
    fn wants_report(&self) -> bool {
        self.lists || self.terminal.wants_report()
    }

    /// How much is printed. The form of a report is named by those who want to read one.
    fn detail(&self) -> Detail {
        match self.terminal.detail() {
            Detail::Normal if self.brief && self.report.report.is_none() => Detail::Line,
            asked => asked,
        }
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
            brief: false,
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
            brief: true,
            live: None,
            measures: true,
            stated: false,
        }
    }

    /// The same as a listing when it is one: that is on standard output, and measures nothing.
    pub(crate) fn listing(self, is: bool) -> Self {
        match is {
            true => Self {
                stream: MainStream::Stdout,
                rows: &[],
                lists: true,
                brief: false,
                ..self
            },
            false => self,
        }
    }
}

impl Session {
    /// Opens the export files, pins, looks at the machine. Fails before any work is done.
    pub(crate) fn start(setup: &Setup<'_>) -> Result<Self> {
        let args = setup.report;
        check_rows(args, setup.rows, setup.stated)?;
        if setup.wants_report() {
            setup.stream.check()?;
        }
        let mut exports = Exports::open(args, setup.force)?;
        let mut options = RunOptions::new("", "", setup.subcommand);
        options.tool = built::tool();
        options.argv = setup.argv.iter().map(|word| names::word(word)).collect();
        options.seed = setup.seed;
        options.gates.clone_from(&args.slo);
        options.undecided_passes = args.slo_undecided == Undecided::Pass;
        // Of what was measured before, this machine says nothing.
        options.strict_environment = args.strict_env && setup.measures;
        options.cpus = args.cpu.as_ref().map(|cpus| cpus.0.clone());
        // Measured only for a report that somebody sees.
        let is_seen = setup.wants_report() && setup.detail() != Detail::Line;
        let is_kept = is_seen || !exports.is_empty() || setup.live.is_some();
        options.floors = setup.measures && is_kept;
        // The line of a filter says how long a call took at most, and no more.
        let is_filter = setup.stream == MainStream::Stderr;
        options.distributions = is_kept || !args.slo.is_empty() || !is_filter;
        let prepared = Run::prepare(options)?;
        // After pinning: its thread runs where this one does.
        let pictures = setup.wants_report() && setup.terminal.detail() == Detail::Full;
        let intervals = exports.start_intervals(pictures, setup.live.as_ref())?;
        let run = prepared.start(intervals);
        if let (Some(live), Some(floor)) = (&setup.live, run.environment().clock_floor_ns) {
            live.tell_from(floor.saturating_mul(FLOORS_MIN));
        }
        Ok(Self {
            run,
            stream: setup.stream,
            format: exports.main_format(),
            wants_report: setup.wants_report(),
            lists: setup.lists,
            detail: setup.detail(),
            exports,
            // What was read before says it when it is read.
            says_losses: setup.measures && setup.terminal.wants_warnings(),
        })
    }

    /// The run itself.
    pub(crate) fn run(&self) -> &Run {
        &self.run
    }

    /// When the measured part began: the zero of every recorder.
    pub(crate) fn run_start(&self) -> Instant {
        self.run.started()
    }

    /// The recorder settings that the exports of this run ask for.
    pub(crate) fn spec(&self, spec: Spec) -> Spec {
        self.run.spec(spec)
    }

    /// Where the exports of this run have intervals put.
    pub(crate) fn intervals(&self) -> Option<IntervalLog> {
        self.run.intervals()
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
        self.run.environment()
    }

    /// The same for a run whose output has been printed: only says how the process ends.
    pub(crate) fn finish_printed(mut self, outcome: Outcome) -> Result<ExitStatus> {
        self.wants_report = false;
        self.finish(outcome)
    }

    /// Turns the outcome into the report, writes and prints it, and says how the process ends.
    pub(crate) fn finish(self, outcome: Outcome) -> Result<ExitStatus> {
        self.finish_telling(outcome, |_| ())
    }

    /// The same for a run whose report others wait for: they get it first.
    pub(crate) fn finish_telling(
        mut self,
        outcome: Outcome,
        tell: impl FnOnce(&Report),
    ) -> Result<ExitStatus> {
        let mut finished = self.run.finish(outcome);
        tell(&finished.report);
        if self.says_losses {
            let lost = self.exports.losses(&finished.report);
            lost.iter().for_each(|line| message::remark(line));
        }
        let logged = self.exports.end_intervals(&mut finished.report);
        let status = finished.status;
        let print = Printing {
            format: self.format,
            stream: self.stream,
            detail: self.detail,
            lists: self.lists,
            table: self.exports.table(),
        };
        let print = self.wants_report.then_some(print);
        conclude(&finished.report, status, (self.exports, logged), print)
    }
}

/// Says which gates were missed, writes the export files, then prints the report if it is to be
/// printed: in this order, so that closing the pipe early can cost no file. A file that fails costs no
/// report either.
pub(crate) fn conclude(
    report: &Report,
    status: ExitStatus,
    (exports, logged): (Exports, Logged),
    print: Option<Printing>,
) -> Result<ExitStatus> {
    // Quiet or not.
    for reason in gates::reasons(report, status) {
        message::failure(&Failure::new(reason));
    }
    let written = exports.write_files(report, logged);
    let printed = match print {
        Some(printing) => export::print(report, printing),
        None => Ok(()),
    };
    match written.and(printed) {
        // What the work came to is told in full, and stands.
        Err(failure) if status != ExitStatus::Ok => message::failure(&failure),
        emitted => emitted?,
    }
    Ok(status)
}

/// Refuses gates and exports of rows that the run will not have, before it is run for nothing.
/// Times that another tool `stated` can be limited, but not exported.
pub(crate) fn check_rows(args: &ReportArgs, rows: &[LatencyName], stated: bool) -> Result<()> {
    let stated = stated.then_some(LatencyName::Service);
    let gated: Vec<LatencyName> = rows.iter().copied().chain(stated).collect();
    gates::check_rows(&args.slo, None, &gated)?;
    Ok(gates::check_rows(&[], args.row.as_deref(), rows)?)
}
