//! Flags of hyperfine, and those that it lacks.

use std::path::{Path, PathBuf};

use bench::programs::{Export, Sorted, TimeUnit};
use clap::{Parser, ValueEnum};
use files::conflicts::{Files, Stdout};

/// Measure command lines and compare them.
///
/// Runs each command line several times, by default in a shell, whose own start-up is measured first and taken
/// off. The command lines, texts and files are those of hyperfine. --interleave runs all commands in rounds of
/// random order, which hyperfine lacks: drift of the machine then falls on all of them alike.
#[derive(Debug, Clone, Parser)]
#[command(
    name = "hyperfine",
    bin_name = "hyperfine",
    version,
    max_term_width = 80,
    after_long_help = "Examples:
  hyperfine 'sleep 0.1' 'sleep 0.11'
  hyperfine -N -w 3 --interleave 'zstd -qf3 data' 'perfkit compress -qqf3 data'
  hyperfine -P threads 1 4 -p 'make clean' 'make -j {threads}' --export-json make.json"
)]
pub(crate) struct HyperfineArgs {
    /// Command lines to measure
    #[arg(value_name = "COMMAND", required = true, value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub(super) commands: Vec<String>,
    /// Runs of each command before those that are measured
    #[arg(
        short,
        long,
        value_name = "NUM",
        default_value_t = 0,
        hide_default_value = true
    )]
    pub(super) warmup: u64,
    /// Measure at least NUM runs of each command (10 by default)
    #[arg(short, long, value_name = "NUM", value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) min_runs: Option<u64>,
    /// Measure at most NUM runs of each command
    #[arg(short = 'M', long, value_name = "NUM", value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) max_runs: Option<u64>,
    /// Measure NUM runs of each command; by default as many as fit into 3 s
    #[arg(short, long, value_name = "NUM", value_parser = clap::value_parser!(u64).range(1..),
          conflicts_with_all = ["max_runs", "min_runs"])]
    pub(super) runs: Option<u64>,
    /// Run all commands in rounds of random order, with a control
    ///
    /// In each round every command runs once, and the reference (or the first command) once more: that is the
    /// control, which shows how large a difference this machine reports where there is none. What --setup does
    /// is done for all commands before the first round, and --cleanup after the last one.
    #[arg(long)]
    pub(super) interleave: bool,
    /// Seed of the random orders
    #[arg(long, value_name = "NUM", default_value_t = 1, hide_short_help = true)]
    pub(super) seed: u64,
    /// Run CMD before all runs of a command
    #[arg(short, long, value_name = "CMD")]
    pub(super) setup: Option<String>,
    /// Compare with CMD, which is run first; with parameters, with the benchmark of this name
    #[arg(long, value_name = "CMD")]
    pub(super) reference: Option<String>,
    /// Name of the reference
    #[arg(
        long,
        value_name = "NAME",
        requires = "reference",
        hide_short_help = true
    )]
    pub(super) reference_name: Option<String>,
    /// Run CMD before each run; once for all commands, or once for each
    #[arg(short, long, value_name = "CMD", num_args = 1)]
    pub(super) prepare: Vec<String>,
    /// Run CMD after each run; once for all commands, or once for each
    #[arg(short = 'C', long, value_name = "CMD", num_args = 1)]
    pub(super) conclude: Vec<String>,
    /// Run CMD after all runs of a command
    #[arg(short, long, value_name = "CMD")]
    pub(super) cleanup: Option<String>,
    /// Measure for each value from MIN to MAX: '{VAR}' in commands stands for it
    #[arg(short = 'P', long, value_names = ["VAR", "MIN", "MAX"], num_args = 3, allow_hyphen_values = true)]
    pub(super) parameter_scan: Option<Vec<String>>,
    /// Step of --parameter-scan
    #[arg(
        short = 'D',
        long,
        value_name = "DELTA",
        requires = "parameter_scan",
        allow_hyphen_values = true
    )]
    pub(super) parameter_step_size: Option<String>,
    /// Measure for each value of a list (a,b,c); repeatable, for all combinations
    #[arg(short = 'L', long, value_names = ["VAR", "VALUES"], num_args = 2, allow_hyphen_values = true,
          action = clap::ArgAction::Append, conflicts_with_all = ["parameter_scan", "parameter_step_size"])]
    pub(super) parameter_list: Vec<String>,
    /// Shell that runs the commands: a name, a command line, default or none
    #[arg(short = 'S', long, value_name = "SHELL", overrides_with = "shell")]
    pub(super) shell: Option<String>,
    /// Run commands without a shell; as --shell=none
    #[arg(short = 'N', conflicts_with = "shell")]
    pub(super) no_shell: bool,
    /// Go on when a command fails; -i=1,2 for these exit codes only
    #[arg(short, long, value_name = "CODES", num_args = 0..=1, require_equals = true,
          default_missing_value = "all-non-zero")]
    pub(super) ignore_failure: Option<String>,
    /// What is printed: auto, basic, full, nocolor, color or none
    #[arg(long, value_name = "TYPE", value_enum, default_value_t = Style::Auto, hide_default_value = true,
          hide_possible_values = true)]
    pub(super) style: Style,
    /// Order of the summary and of tables: auto, command or mean-time
    #[arg(long, value_name = "METHOD", value_enum, default_value_t = Sort::Auto, hide_default_value = true,
          hide_possible_values = true)]
    pub(super) sort: Sort,
    /// Unit of times: microsecond, millisecond, second, minute or hour
    #[arg(short = 'u', long, value_name = "UNIT")]
    pub(super) time_unit: Option<TimeUnit>,
    /// Write statistics and every run to FILE, in seconds
    #[arg(long, value_name = "FILE")]
    pub(super) export_json: Option<PathBuf>,
    /// Write statistics to FILE, in seconds
    #[arg(long, value_name = "FILE")]
    pub(super) export_csv: Option<PathBuf>,
    /// Write a table of Markdown to FILE
    #[arg(long, value_name = "FILE")]
    pub(super) export_markdown: Option<PathBuf>,
    /// Write a table of AsciiDoc to FILE
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub(super) export_asciidoc: Option<PathBuf>,
    /// Write a table of org-mode to FILE
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub(super) export_orgmode: Option<PathBuf>,
    /// Write a page with pictures of all runs, a table and the verdicts to FILE
    ///
    /// One file that needs no network: the distributions of all commands over each other, their statistics, the
    /// comparison with its interval, and the machine.
    #[arg(long, value_name = "FILE")]
    pub(super) export_html: Option<PathBuf>,
    /// Print what commands print
    #[arg(long, conflicts_with = "style")]
    pub(super) show_output: bool,
    /// Where output goes: null, pipe, inherit or ./FILE; once, or once for each command
    #[arg(long, value_name = "WHERE", conflicts_with = "show_output")]
    pub(super) output: Vec<String>,
    /// Where input comes from: null or FILE
    #[arg(long, value_name = "WHERE")]
    pub(super) input: Option<PathBuf>,
    /// Name of a command in what is printed; once for each
    #[arg(short = 'n', long, value_name = "NAME", num_args = 1)]
    pub(super) command_name: Vec<String>,
    /// Seconds that the runs of one command should fill
    #[arg(long, value_name = "SECONDS", hide = true)]
    pub(super) min_benchmarking_time: Option<f64>,
}

/// What is printed, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Style {
    /// As the terminal allows
    Auto,
    /// Neither colours nor a progress bar
    Basic,
    /// Both
    Full,
    /// A progress bar without colours
    #[value(name = "nocolor")]
    NoColor,
    /// Colours without a progress bar
    Color,
    /// Nothing is printed
    None,
}

/// An order of results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Sort {
    /// The summary by mean time, tables by command
    Auto,
    /// As given
    Command,
    /// By mean time
    MeanTime,
}

/// A form of file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// One of hyperfine.
    Of(Export),
    /// The page, which hyperfine lacks.
    Page,
}

impl HyperfineArgs {
    /// Whether all commands run in rounds.
    pub(super) fn interleaves(&self) -> bool {
        self.interleave
    }

    /// Whether the terminal belongs to the commands.
    pub(super) fn shows_output(&self) -> bool {
        self.show_output || self.output.iter().any(|place| place == "inherit")
    }

    /// Whether the summary is in the order of times.
    pub(super) fn sorts_summary(&self) -> bool {
        self.sort != Sort::Command
    }

    /// The order of exported tables.
    pub(super) fn sorted(&self) -> Sorted {
        match self.sort {
            Sort::MeanTime => Sorted::ByMean,
            Sort::Auto | Sort::Command => Sorted::ByCommand,
        }
    }

    /// The files to write; `-` is standard output.
    pub(super) fn exports(&self) -> impl Iterator<Item = (&'static str, Form, &Path)> {
        let asciidoc = Form::Of(Export::Asciidoc);
        let markdown = Form::Of(Export::Markdown);
        let orgmode = Form::Of(Export::Orgmode);
        [
            ("--export-asciidoc", asciidoc, &self.export_asciidoc),
            ("--export-json", Form::Of(Export::Json), &self.export_json),
            ("--export-csv", Form::Of(Export::Csv), &self.export_csv),
            ("--export-markdown", markdown, &self.export_markdown),
            ("--export-orgmode", orgmode, &self.export_orgmode),
            ("--export-html", Form::Page, &self.export_html),
        ]
        .into_iter()
        .filter_map(|(flag, form, path)| Some((flag, form, path.as_deref()?)))
    }

    /// The files that commands write their output to, each once.
    fn output_files(&self) -> impl Iterator<Item = &Path> {
        let is_file = |place: &&String| !matches!(place.as_str(), "null" | "pipe" | "inherit");
        let first = |(at, place): &(usize, &String)| !self.output[..*at].contains(*place);
        let places = self.output.iter().enumerate().filter(first);
        places
            .map(|(_, place)| place)
            .filter(is_file)
            .map(Path::new)
    }

    /// What it reads and writes itself.
    pub(super) fn files(&self) -> Files<'_> {
        let null = |path: &&PathBuf| path.as_os_str() != "null";
        let exports = self
            .exports()
            .filter(|(_, _, path)| *path != Path::new("-"));
        let files = Files::default()
            .writes_all(exports.map(|(flag, _, path)| (flag, path)))
            .writes_all(self.output_files().map(|path| ("--output", path)))
            .stdout(Stdout::Report);
        match self.input.as_ref().filter(null) {
            Some(path) => files.reads("--input", path),
            None => files,
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        HyperfineArgs::command().debug_assert();
        let help = HyperfineArgs::command()
            .term_width(80)
            .render_help()
            .to_string();
        assert!(
            help.lines().all(|line| line.chars().count() <= 80),
            "{help}"
        );
    }
}
