//! Reports on their way out: the export files of a run, and what is printed.
//!
//! Export files are created before the work starts, so that a run of an hour cannot end in a name
//! that cannot be written, and appear under their names when the report is complete. How a report looks
//! is in [`report::formats`].

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufWriter, IsTerminal as _, Write};
use std::path::Path;
use std::time::Duration;

use files::standard;
use files::target::{self, Target};
use latency::report::Report;
use latency::{IntervalLog, LiveRows, LoggedIntervals};
use report::formats::{self, csv, hdr, html, json, junit, markdown};
use report::saved::{self, Form};
use report::style::Palette;
use report::{Detail, Format, Look};

use crate::args::output::{ReportArgs, ReportFormat, Undecided};
use crate::failure::{Failure, Result};
use crate::io::context;
use crate::term::{color, message, page};

/// The length of an interval of `.hlog`.
const INTERVAL: Duration = Duration::from_secs(1);
/// The length of an interval of a picture, where no `.hlog` needs the other one.
const SHORT_INTERVAL: Duration = Duration::from_millis(250);
/// Intervals of a row in a report: a picture shows no more, and a report stays small. An `.hlog` has all.
const INTERVALS_MAX: usize = 256;

/// Which stream the report of a command belongs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MainStream {
    /// Analysing commands: the report is their output.
    Stdout,
    /// Filters: standard output belongs to the data.
    Stderr,
}

impl MainStream {
    pub(crate) fn is_terminal(self) -> bool {
        match self {
            Self::Stdout => io::stdout().is_terminal(),
            Self::Stderr => io::stderr().is_terminal(),
        }
    }

    /// Refuses a stream that nothing can be written to, before work is done for it.
    pub(crate) fn check(self) -> Result<()> {
        match self {
            Self::Stdout => standard::check_output()
                .map_err(|error| Failure::io("write", Path::new("standard output"), &error)),
            Self::Stderr => Ok(()),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FileFormat {
    Json,
    Csv,
    Markdown,
    Hgrm,
    Hlog,
    Html,
    Junit,
}

impl FileFormat {
    /// What to do when the file could not be written although the work is done.
    fn rescue(self) -> &'static str {
        match self {
            Self::Json => {
                "name a place that can be written with --export-json; --report json prints the same"
            }
            Self::Csv => {
                "name a place that can be written with --export-csv; --report csv prints the same"
            }
            Self::Markdown => {
                "name a place that can be written with --export-markdown; --report markdown prints \
                 the same"
            }
            Self::Hgrm => {
                "name a place that can be written with --export-hgrm, and a row that the report \
                 has with --row"
            }
            Self::Hlog => "name a place that can be written with --export-hlog",
            Self::Html => "name a place that can be written with --export-html",
            Self::Junit => "name a place that can be written with --export-junit",
        }
    }
}

/// The export files of a run, opened.
#[derive(Debug)]
pub(crate) struct Exports {
    main: ReportFormat,
    row: Option<String>,
    /// The table that is written as CSV.
    table: Option<String>,
    /// Whether what the samples cannot decide passes.
    undecided_passes: bool,
    files: Vec<(FileFormat, Target)>,
    /// What time lines are made of, while the run goes on.
    intervals: Option<IntervalLog>,
}

/// The log of the intervals of a run that has ended, if there was one.
pub(crate) type Logged = Option<io::Result<LoggedIntervals>>;

impl Exports {
    /// Creates every file that was asked for; `force` allows replacing existing ones.
    pub(crate) fn open(args: &ReportArgs, force: bool) -> Result<Self> {
        let mut files = Vec::new();
        for (format, path) in formats(args) {
            let target = if target::is_stdout(path) {
                Target::stdout(context())?
            } else {
                Target::create(path, force, None, context()).map_err(Failure::from)?
            };
            files.push((format, target));
        }
        Ok(Self {
            main: args.form(),
            row: args.row.clone(),
            table: args.csv_table.clone(),
            undecided_passes: args.slo_undecided == Undecided::Pass,
            files,
            intervals: None,
        })
    }

    /// The file of this form, if one was asked for.
    fn target(&self, wanted: FileFormat) -> Option<&Target> {
        let mut files = self.files.iter();
        files.find_map(|(format, target)| (*format == wanted).then_some(target))
    }

    /// Whether no file was asked for.
    pub(crate) fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Whether somebody will read hashes of the inputs.
    pub(crate) fn wants_hashes(&self) -> bool {
        self.is_json() || self.target(FileFormat::Json).is_some()
    }

    fn is_json(&self) -> bool {
        matches!(self.main, ReportFormat::Json | ReportFormat::Jsonl)
    }

    /// Starts the log of the intervals of this run, where a time line is asked for: by an `.hlog`, or by a report in
    /// JSON or with pictures. It stands on a file of no name: beside the `.hlog`, whose disk has to have room for it
    /// anyway, or beside another file. A run without a time line is a run, too, so that only an `.hlog` fails for it.
    /// What is shown `live` is the same log, or one that keeps nothing.
    pub(crate) fn start_intervals(
        &mut self,
        pictures: bool,
        live: Option<&LiveRows>,
    ) -> Result<Option<IntervalLog>> {
        let start = |spool: io::Result<File>, length| match live {
            Some(rows) => IntervalLog::watched(length, spool?, rows.clone()),
            None => IntervalLog::new(length, spool?),
        };
        let other = || {
            let html = self.target(FileFormat::Html);
            html.or_else(|| self.target(FileFormat::Json))
        };
        let log = match (self.target(FileFormat::Hlog), other()) {
            (Some(target), _) => {
                let log = start(target.spool(), INTERVAL);
                Some(log.map_err(|error| target.error(error))?)
            }
            (None, Some(target)) => start(target.spool(), SHORT_INTERVAL).ok(),
            (None, None) if pictures || self.is_json() => {
                start(tempfile::tempfile(), SHORT_INTERVAL).ok()
            }
            // They are looked at, and not kept.
            (None, None) => {
                live.and_then(|rows| IntervalLog::watched(INTERVAL, io::empty(), rows.clone()).ok())
            }
        };
        self.intervals.clone_from(&log);
        Ok(log)
    }

    /// Ends the log, and gives the rows of the report their time lines.
    pub(crate) fn end_intervals(&mut self, report: &mut Report) -> Logged {
        let log = self.intervals.take()?;
        Some(log.finish().and_then(|mut logged| {
            logged.attach(&mut report.latencies, INTERVALS_MAX)?;
            Ok(logged)
        }))
    }

    /// What the files of this run cannot keep of its distributions, a line each.
    pub(crate) fn losses(&self, report: &Report) -> Vec<String> {
        let form = |format: &FileFormat| match format {
            // A row that was chosen is all that was asked for.
            FileFormat::Hgrm if self.row.is_none() => Some(Form::Hgrm),
            FileFormat::Hlog => Some(Form::Hlog),
            _ => None,
        };
        let forms = self.files.iter().filter_map(|(format, _)| form(format));
        forms
            .flat_map(|form| saved::losses_of_rows(report.latencies.iter(), form))
            .collect()
    }

    /// Writes every export file and makes it appear. One that fails does not keep the others from
    /// being written; the first failure is told.
    pub(crate) fn write_files(self, report: &Report, mut logged: Logged) -> Result<()> {
        let which = Which {
            row: self.row.as_deref(),
            table: self.table.as_deref(),
            undecided_passes: self.undecided_passes,
        };
        let mut result = Ok(());
        for (format, target) in self.files {
            let written = write_file(format, target, which, &mut logged, report);
            result = result.and(written.map_err(|failure| failure.help(format.rescue())));
        }
        result
    }

    /// The table that is written as CSV, if one was named.
    pub(crate) fn table(&self) -> Option<String> {
        self.table.clone()
    }

    /// The form of the report on the main stream.
    pub(crate) fn main_format(&self) -> ReportFormat {
        self.main
    }
}

/// The part of a report that goes to a file.
#[derive(Debug, Clone, Copy)]
struct Which<'a> {
    row: Option<&'a str>,
    table: Option<&'a str>,
    undecided_passes: bool,
}

fn write_file(
    format: FileFormat,
    target: Target,
    which: Which<'_>,
    logged: &mut Logged,
    report: &Report,
) -> Result<()> {
    let mut file = BufWriter::new(target.writer());
    let rendered = match format {
        FileFormat::Json => json::pretty(report, &mut file),
        FileFormat::Csv => write_csv(report, which.table, &mut file),
        FileFormat::Markdown => markdown::write(report, &mut file),
        FileFormat::Hgrm => hdr::hgrm(report, which.row, &mut file),
        FileFormat::Hlog => match logged.take().transpose() {
            Ok(mut logged) => hdr::hlog(report, logged.as_mut(), &mut file),
            Err(error) => Err(error),
        },
        FileFormat::Html => html::write(report, &mut file),
        FileFormat::Junit => junit::write(report, which.undecided_passes, &mut file),
    };
    match rendered.and_then(|()| file.flush()) {
        // The reader has read enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        Err(error) => Err(target.error(error).into()),
        Ok(()) => Ok(target.commit()?),
    }
}

/// Writes what became of a run that has no report, where test cases of it are wanted: those of an earlier run would be
/// taken for its own. What keeps the file from being written is not told: the run has failed anyway.
pub(crate) fn broke(args: &ReportArgs, force: bool, subcommand: &str, failure: &Failure) {
    let Some(path) = args.export_junit.as_deref() else {
        return;
    };
    if target::is_stdout(path) {
        return;
    }
    if let Ok(target) = Target::create(path, force, None, context()) {
        let mut file = BufWriter::new(target.writer());
        let written = junit::broke(subcommand, &failure.to_string(), &mut file);
        if written.and_then(|()| file.flush()).is_ok() {
            drop(file);
            let _ = target.commit();
        }
    }
}

/// Writes a report as CSV, or the table of this name.
fn write_csv(report: &Report, table: Option<&str>, out: &mut dyn Write) -> io::Result<()> {
    let Some(name) = table else {
        return csv::write(report, out);
    };
    if !csv::named(report, name, out)? {
        let names: Vec<_> = report.tables.iter().map(|table| &table.name[..]).collect();
        let has = match names.is_empty() {
            true => "it has no tables".to_owned(),
            false => format!("it has {}", names.join(", ")),
        };
        message::note(&format!("the report has no table '{name}'"), &has);
    }
    Ok(())
}

fn formats(args: &ReportArgs) -> impl Iterator<Item = (FileFormat, &Path)> {
    [
        (FileFormat::Json, &args.export_json),
        (FileFormat::Csv, &args.export_csv),
        (FileFormat::Markdown, &args.export_markdown),
        (FileFormat::Hgrm, &args.export_hgrm),
        (FileFormat::Hlog, &args.export_hlog),
        (FileFormat::Html, &args.export_html),
        (FileFormat::Junit, &args.export_junit),
    ]
    .into_iter()
    .filter_map(|(format, path)| Some((format, path.as_deref()?)))
}

/// How a report is printed.
#[derive(Debug, Clone)]
pub(crate) struct Printing {
    pub(crate) format: ReportFormat,
    pub(crate) stream: MainStream,
    pub(crate) detail: Detail,
    /// Whether its rows are what was asked for.
    pub(crate) lists: bool,
    /// The table that is written as CSV, if one was named.
    pub(crate) table: Option<String>,
}

/// Prints the report on its stream. A closed pipe is no error.
pub(crate) fn print(report: &Report, printing: Printing) -> Result<()> {
    let Printing {
        format,
        stream,
        detail,
        lists,
        table,
    } = printing;
    let mut bytes = Vec::new();
    let painted = matches!(format, ReportFormat::Text | ReportFormat::Markdown);
    // People read it there: what is between its quotes must not start lines of its own either.
    let shown = match format == ReportFormat::Csv && stream.is_terminal() {
        true => formats::visible(report),
        false => Ok(Cow::Borrowed(report)),
    };
    let palette = Palette::ANSI;
    let look = Look {
        detail,
        palette,
        ascii: !color::has_blocks(),
        page: page::of(stream, detail, lists),
    };
    let rendered = shown.and_then(|report| match format {
        ReportFormat::Csv => write_csv(&report, table.as_deref(), &mut bytes),
        _ => formats::write(&report, format.into(), look, &mut bytes),
    });
    let result = rendered.and_then(|()| match stream {
        MainStream::Stdout if painted => color::write_stdout(&bytes),
        MainStream::Stdout => color::write_stdout_plain(&bytes),
        MainStream::Stderr if painted => color::write_stderr(&bytes),
        MainStream::Stderr => color::write_stderr_plain(&bytes),
    });
    match result {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            let name = match stream {
                MainStream::Stdout => "standard output",
                MainStream::Stderr => "standard error",
            };
            Err(Failure::io("write", Path::new(name), &error))
        }
        _ => Ok(()),
    }
}

impl From<ReportFormat> for Format {
    fn from(format: ReportFormat) -> Self {
        match format {
            ReportFormat::Text => Self::Text,
            ReportFormat::Json => Self::Json,
            ReportFormat::Jsonl => Self::Jsonl,
            ReportFormat::Csv => Self::Csv,
            ReportFormat::Markdown => Self::Markdown,
        }
    }
}
