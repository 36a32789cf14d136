//! Reports on their way out: the export files of a run, and what is printed.
//!
//! Export files are created before the work starts, so that a run of an hour cannot end in a name
//! that cannot be written, and appear under their names when the report is complete. How a report looks
//! is in [`report::formats`].

use std::borrow::Cow;
use std::io::{self, BufWriter, IsTerminal as _, Write};
use std::path::Path;
use std::time::Duration;

use files::standard;
use files::target::{self, Target};
use latency::IntervalLog;
use latency::report::Report;
use report::formats::{self, csv, hdr, json, markdown};
use report::style::Palette;
use report::{Detail, Format, Look};

use crate::args::output::{ReportArgs, ReportFormat};
use crate::failure::{Failure, Result};
use crate::io::context;
use crate::term::color;

/// The length of an interval of `.hlog`.
const INTERVAL: Duration = Duration::from_secs(1);

/// Which stream the report of a command belongs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MainStream {
    /// Analysing commands: the report is their output.
    Stdout,
    /// Filters: standard output belongs to the data.
    Stderr,
}

impl MainStream {
    fn is_terminal(self) -> bool {
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
        }
    }
}

/// The export files of a run, opened.
#[derive(Debug)]
pub(crate) struct Exports {
    main: ReportFormat,
    row: Option<String>,
    files: Vec<(FileFormat, Target)>,
    /// What `.hlog` is made of, once the run has started.
    intervals: Option<IntervalLog>,
}

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
            main: args.report,
            row: args.row.clone(),
            files,
            intervals: None,
        })
    }

    /// Whether no file was asked for.
    pub(crate) fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Whether somebody will read hashes of the inputs.
    pub(crate) fn wants_hashes(&self) -> bool {
        matches!(self.main, ReportFormat::Json | ReportFormat::Jsonl)
            || self
                .files
                .iter()
                .any(|(format, _)| *format == FileFormat::Json)
    }

    /// Starts the log of the intervals of this run, where distributions by seconds are asked for. It
    /// stands on a file of no name beside the target, whose disk has to have room for it anyway.
    pub(crate) fn start_intervals(&mut self) -> Result<Option<IntervalLog>> {
        let hlog = self.files.iter();
        let mut hlog = hlog.filter(|(format, _)| *format == FileFormat::Hlog);
        let Some((_, target)) = hlog.next() else {
            return Ok(None);
        };
        let log = target
            .spool()
            .and_then(|spool| IntervalLog::new(INTERVAL, spool))
            .map_err(|error| target.error(error))?;
        self.intervals = Some(log.clone());
        Ok(Some(log))
    }

    /// Writes every export file and makes it appear. One that fails does not keep the others from
    /// being written; the first failure is told.
    pub(crate) fn write_files(mut self, report: &Report) -> Result<()> {
        let row = self.row.as_deref();
        let mut result = Ok(());
        for (format, target) in self.files {
            let written = write_file(format, target, (row, &mut self.intervals), report);
            result = result.and(written.map_err(|failure| failure.help(format.rescue())));
        }
        result
    }

    /// The form of the report on the main stream.
    pub(crate) fn main_format(&self) -> ReportFormat {
        self.main
    }
}

fn write_file(
    format: FileFormat,
    target: Target,
    (row, intervals): (Option<&str>, &mut Option<IntervalLog>),
    report: &Report,
) -> Result<()> {
    let mut file = BufWriter::new(target.writer());
    let rendered = match format {
        FileFormat::Json => json::pretty(report, &mut file),
        FileFormat::Csv => csv::write(report, &mut file),
        FileFormat::Markdown => markdown::write(report, &mut file),
        FileFormat::Hgrm => hdr::hgrm(report, row, &mut file),
        FileFormat::Hlog => hdr::hlog(report, intervals.take(), &mut file),
    };
    match rendered.and_then(|()| file.flush()) {
        // The reader has read enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        Err(error) => Err(target.error(error).into()),
        Ok(()) => Ok(target.commit()?),
    }
}

fn formats(args: &ReportArgs) -> impl Iterator<Item = (FileFormat, &Path)> {
    [
        (FileFormat::Json, &args.export_json),
        (FileFormat::Csv, &args.export_csv),
        (FileFormat::Markdown, &args.export_markdown),
        (FileFormat::Hgrm, &args.export_hgrm),
        (FileFormat::Hlog, &args.export_hlog),
    ]
    .into_iter()
    .filter_map(|(format, path)| Some((format, path.as_deref()?)))
}

/// Prints the report on its stream. A closed pipe is nobody's fault.
pub(crate) fn print(
    report: &Report,
    format: ReportFormat,
    stream: MainStream,
    detail: Detail,
) -> Result<()> {
    let mut bytes = Vec::new();
    let painted = matches!(format, ReportFormat::Text | ReportFormat::Markdown);
    // People read it there: what is between its quotes must not start lines of its own either.
    let shown = match format == ReportFormat::Csv && stream.is_terminal() {
        true => formats::visible(report),
        false => Ok(Cow::Borrowed(report)),
    };
    let palette = Palette::ANSI;
    let look = Look { detail, palette };
    let rendered =
        shown.and_then(|report| formats::write(&report, format.into(), look, &mut bytes));
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
