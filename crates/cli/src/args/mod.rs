//! The command line, in two stages: words to plain data here, plain data to a plan in each file.
//!
//! Nothing in this module opens a file or looks at the machine. Each command has its own file (the
//! small analysing ones share [`analyse`]); flags that several commands share are in [`output`].

pub(crate) mod analyse;
pub(crate) mod compress;
pub(crate) mod decompress;
mod fingers;
pub(crate) mod output;
pub(crate) mod units;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueEnum};

use crate::exit::ExitStatus;

/// The hot path of a data system, done and measured.
///
/// Each command does its real job on your data and prints an honest latency report: service time,
/// hold time, percentiles that the sample has earned, and the clock floor they stand on.
#[derive(Debug, Clone, Parser)]
#[command(
    name = "perfkit",
    version,
    max_term_width = 100,
    propagate_version = true,
    args_override_self = true
)]
#[command(after_help = exit_help())]
pub(crate) struct Cli {
    /// Colour in text output
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto, value_name = "WHEN")]
    pub(crate) color: Color,
    /// What to do
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// When to use colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless NO_COLOR is set or TERM is dumb
    Auto,
    /// Also into files and pipes
    Always,
    /// Nowhere
    Never,
}

/// The commands.
#[derive(Debug, Clone, Subcommand)]
pub(crate) enum Command {
    /// Compress files, directories or standard input to zstd
    Compress(Box<compress::CompressArgs>),
    /// Decompress, test or list zstd files
    #[command(visible_alias = "uncompress")]
    Decompress(Box<decompress::DecompressArgs>),
    /// Compare two runs, or two commands interleaved in one run
    Compare(Box<analyse::CompareArgs>),
    /// Render, merge or overlay reports
    Report(Box<analyse::RenderArgs>),
    /// Show this machine as reports see it
    Env(Box<analyse::EnvArgs>),
    /// Run every component on generated data and print the reports
    Tour(Box<analyse::TourArgs>),
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page of perfkit or of a command, or write all of them
    Man {
        /// The command
        #[arg(value_name = "COMMAND", conflicts_with = "dir")]
        page: Option<String>,
        /// Write every page into DIR
        #[arg(long, value_name = "DIR")]
        dir: Option<PathBuf>,
    },
}

impl Command {
    /// The name as typed.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Compress(_) => "compress",
            Self::Decompress(_) => "decompress",
            Self::Compare(_) => "compare",
            Self::Report(_) => "report",
            Self::Env(_) => "env",
            Self::Tour(_) => "tour",
            Self::Completions { .. } => "completions",
            Self::Man { .. } => "man",
        }
    }
}

/// Parses the command line. Help and version print and end with status 0, mistakes with 2.
pub(crate) fn parse(argv: &[OsString]) -> Result<Cli, ExitStatus> {
    Cli::try_parse_from(fingers::normalise(argv)).map_err(|error| {
        // A closed pipe under `perfkit --help | head -1` is nothing to complain about.
        let _ = error.print();
        if error.use_stderr() {
            ExitStatus::Usage
        } else {
            ExitStatus::Ok
        }
    })
}

fn exit_help() -> String {
    use std::fmt::Write as _;
    let mut text = String::from("Exit codes:\n");
    for status in ExitStatus::ALL {
        let _ = writeln!(text, "  {:>3}  {}", status.code(), status.meaning());
    }
    text.push_str("\nTry `perfkit tour` first, then `perfkit COMMAND --help`.");
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn the_last_of_two_opposite_flags_wins() {
        let parse = |line: &str| {
            let argv: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            match parse(&argv).map(|cli| cli.command) {
                Ok(Command::Compress(args)) => args.plan().ok(),
                _ => None,
            }
        };
        let plan = |line| parse(line).unwrap_or_else(|| panic!("{line} does not parse"));
        assert!(
            !plan("perfkit compress --check --no-check f")
                .encoder
                .checksum
        );
        assert!(
            plan("perfkit compress --no-check --check f")
                .encoder
                .checksum
        );
        assert_eq!(plan("perfkit compress -1 -19 f").encoder.level, 19);
        assert_eq!(plan("perfkit compress -19 --fast=5 f").encoder.level, -5);
        assert_eq!(plan("perfkit compress --fast -7 f").encoder.level, 7);
        assert_eq!(plan("perfkit compress --ultra -22 f").encoder.level, 22);
        assert!(parse("perfkit compress -20 f").is_none());
        assert_eq!(
            plan("perfkit compress --long f").encoder.window_log,
            Some(27)
        );
        assert_eq!(
            plan("perfkit compress --long --no-long f")
                .encoder
                .window_log,
            None
        );
    }
}
