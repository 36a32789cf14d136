//! Flags that every measuring command shares: which report goes where, and what it must satisfy.

use std::path::PathBuf;

use clap::{ArgAction, Args, ValueEnum};
use files::conflicts::{Files, Flagged};
use latency::Gate;
use report::Detail;

use crate::args::units::{self, CpuList};

/// The form of the report on the main stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// Tables for people
    Text,
    /// One pretty-printed JSON document (schema perfkit.report/1)
    Json,
    /// One line of JSON
    Jsonl,
    /// One line a comparison, a setting or a distribution
    Csv,
    /// Tables for an issue or a README
    Markdown,
}

/// What becomes of a limit that the samples cannot decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Undecided {
    /// It passes
    Pass,
    /// Exit 5
    Fail,
}

/// Where reports go. Flattened into every measuring command.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Report")]
pub(crate) struct ReportArgs {
    /// Report in full: text, json, jsonl, csv, markdown
    ///
    /// Without it, commands that do a job (compress, decompress, zip, unzip, fix, betree match) end with one
    /// line, and commands that measure print text. The report goes to standard error where standard output carries data: in compress, decompress,
    /// zip, unzip, betree and fix. In all other commands it goes to standard output;
    /// so do listings (-l), fix stats and fix store stats. text is tables for people, markdown the same for an
    /// issue or a README; json is one document of the schema perfkit.report/1, jsonl the same on one
    /// line; csv is what --export-csv writes.
    #[arg(
        long,
        value_name = "FORMAT",
        hide_possible_values = true,
        overrides_with = "report"
    )]
    pub(crate) report: Option<ReportFormat>,
    /// Also write the report as JSON to FILE
    #[arg(long, value_name = "FILE")]
    pub(crate) export_json: Option<PathBuf>,
    /// Also write the report as CSV to FILE
    ///
    /// One line per comparison of compare, per setting of compress-bench, and per distribution of any other command. The
    /// table in their place if it is what was asked for (fix stats --group-by, fix fills), or if there are no
    /// distributions, or if --csv-table names it.
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub(crate) export_csv: Option<PathBuf>,
    /// The table that --report csv and --export-csv write
    ///
    /// Tables have the names that stand above them in a report, such as sessions or gaps. If the report has no such
    /// table, nothing is written, and a note names those that it has.
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    pub(crate) csv_table: Option<String>,
    /// Also write Markdown tables to FILE
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub(crate) export_markdown: Option<PathBuf>,
    /// Also write the first distribution (see --row) for HdrHistogram plotters to FILE
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub(crate) export_hgrm: Option<PathBuf>,
    /// Also write an HdrHistogram interval log, a line per second and tag, to FILE
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub(crate) export_hlog: Option<PathBuf>,
    /// Also write the report with its pictures as one HTML page to FILE
    ///
    /// The page needs no network and no other file. It shows the percentile spectrum, the histogram of counts and the
    /// time line of every distribution, and all tables. Without scripts it shows the same pictures, without values
    /// under the pointer.
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub(crate) export_html: Option<PathBuf>,
    /// Also write gates and limits as JUnit XML to FILE
    ///
    /// Forges show it with their tests: a test case for each --slo, and for each row that --fail-on-regression limits. What
    /// is missed fails, with the reason; so does what is not decided, unless --slo-undecided pass. What only suggests a
    /// regression is skipped.
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub(crate) export_junit: Option<PathBuf>,
    /// The distribution that --export-hgrm writes: response, service or hold
    #[arg(long, value_name = "NAME", value_parser = ["response", "service", "hold"], hide_short_help = true)]
    pub(crate) row: Option<String>,
    /// Exit 4 if missed: 'p99<=2ms', 'ratio>=2'; repeatable
    ///
    /// Limits a percentile, min, max or mean. A name before it, as in 'hold.max<1ms', chooses the
    /// time; without a name it is the response time if there is one, else service, else hold. A series goes in
    /// brackets: '[level 3].p99<=2ms'. Every such row must meet the limit. Other numbers are throughput
    /// (operations a second), ratio, rss, cpu, error_rate, and any in the JSON report by its path:
    /// 'throughput.bytes_in_per_s>=100M', 'tables.codecs and pools.ratio>=1.1'. A limit that the samples cannot
    /// decide is exit 5.
    #[arg(long, value_name = "GATE", action = ArgAction::Append)]
    pub(crate) slo: Vec<Gate>,
    /// Whether a limit that the samples cannot decide fails (exit 5, the default) or passes
    ///
    /// A limit on a row or a number that the report does not have always fails.
    #[arg(
        long,
        value_name = "pass|fail",
        default_value = "fail",
        hide_default_value = true,
        hide_possible_values = true,
        hide_short_help = true,
        overrides_with = "slo_undecided"
    )]
    pub(crate) slo_undecided: Undecided,
    /// Exit 5 when a comparison cannot be decided
    #[arg(long, overrides_with = "_no_require_verdict", hide_short_help = true)]
    pub(crate) require_verdict: bool,
    #[arg(
        long = "no-require-verdict",
        overrides_with = "require_verdict",
        hide = true
    )]
    _no_require_verdict: bool,
    /// Exit 6, before any work, if this machine is unfit for measuring
    #[arg(long, overrides_with = "_no_strict_env", hide_short_help = true)]
    pub(crate) strict_env: bool,
    #[arg(long = "no-strict-env", overrides_with = "strict_env", hide = true)]
    _no_strict_env: bool,
    /// Pin the process to these CPUs (such as 0, 0,2 or 0-3)
    #[arg(long, value_name = "LIST", value_parser = units::cpu_list, hide_short_help = true)]
    pub(crate) cpu: Option<CpuList>,
}

impl ReportArgs {
    /// The form of the report on the main stream.
    pub(crate) fn form(&self) -> ReportFormat {
        self.report.unwrap_or(ReportFormat::Text)
    }

    /// The files that exports go to, each with the flag that names it.
    pub(crate) fn exported(&self) -> impl Iterator<Item = Flagged<'_>> {
        [
            ("--export-json", &self.export_json),
            ("--export-csv", &self.export_csv),
            ("--export-markdown", &self.export_markdown),
            ("--export-hgrm", &self.export_hgrm),
            ("--export-hlog", &self.export_hlog),
            ("--export-html", &self.export_html),
            ("--export-junit", &self.export_junit),
        ]
        .into_iter()
        .filter_map(|(flag, path)| Some((flag, path.as_deref()?)))
    }
}

/// Flags of commands that write only reports to files. Flattened into them.
#[derive(Debug, Clone, Args)]
pub(crate) struct OutputArgs {
    /// Overwrite exported files
    ///
    /// Control characters in data that goes to a terminal are shown as escapes, such as \u{1b}; with
    /// this flag they are written unchanged.
    #[arg(short, long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) report: ReportArgs,
    #[command(flatten)]
    pub(crate) terminal: TerminalArgs,
}

impl OutputArgs {
    /// The files that a report goes to.
    pub(crate) fn files(&self) -> Files<'_> {
        Files::default()
            .writes_all(self.report.exported())
            .stderr(self.terminal.wants_report())
    }
}

/// What appears on the terminal in addition to the report. Flattened into every command.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Terminal")]
pub(crate) struct TerminalArgs {
    /// No progress and warnings; -qq: no report either
    ///
    /// A listing (-l) is not a report: it is always printed.
    #[arg(short, long, action = ArgAction::Count, overrides_with = "verbose")]
    pub(crate) quiet: u8,
    /// Report in full, with spectra, all columns, environment
    #[arg(short, long, overrides_with = "quiet")]
    pub(crate) verbose: bool,
    /// Show progress even with -q, if standard error is a terminal
    #[arg(long, overrides_with = "no_progress", hide_short_help = true)]
    pub(crate) progress: bool,
    /// Never show progress
    #[arg(long, overrides_with = "progress", hide_short_help = true)]
    pub(crate) no_progress: bool,
}

impl TerminalArgs {
    /// Whether to draw progress if standard error is a terminal.
    pub(crate) fn wants_progress(&self) -> bool {
        !self.no_progress && (self.progress || self.quiet == 0)
    }

    /// Whether warnings are printed.
    pub(crate) fn wants_warnings(&self) -> bool {
        self.quiet == 0
    }

    /// How much of the report is printed.
    pub(crate) fn detail(&self) -> Detail {
        match self.verbose {
            true => Detail::Full,
            false => Detail::Normal,
        }
    }

    /// Whether the report is printed on the main stream.
    pub(crate) fn wants_report(&self) -> bool {
        self.quiet < 2
    }
}
