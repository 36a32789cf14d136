//! The commands by name: the one place where arguments know commands.

use clap::{ArgMatches, Args as _, FromArgMatches, Subcommand};
use files::conflicts::{Files, Stdout};

#[cfg(feature = "async")]
use crate::commands::zip_bench;
use crate::commands::{
    advise, betree, betree_bench, compare, compress, compress_bench, decompress, docs, env,
    explain, fix, fix_bench, report, rerun, stress, tour, unzip, zip,
};

/// The commands. The help text of each is the comment over its arguments; a comment here would
/// replace it.
#[derive(Debug, Clone, Subcommand)]
pub(crate) enum Command {
    Compress(Box<compress::flags::CompressArgs>),
    CompressBench(Box<compress_bench::flags::CompressBenchArgs>),
    #[command(visible_alias = "uncompress")]
    Decompress(Box<decompress::flags::DecompressArgs>),
    Zip(Box<zip::flags::ZipArgs>),
    Unzip(Box<unzip::flags::UnzipArgs>),
    #[cfg(feature = "async")]
    ZipBench(Box<zip_bench::flags::ZipBenchArgs>),
    Advise(Box<advise::flags::AdviseArgs>),
    Betree(Box<betree::flags::BetreeArgs>),
    BetreeBench(Box<betree_bench::flags::BetreeBenchArgs>),
    Fix(Box<fix::flags::FixArgs>),
    FixBench(Box<fix_bench::flags::FixBenchArgs>),
    Stress(Box<stress::flags::StressArgs>),
    Compare(Box<compare::flags::CompareArgs>),
    Report(Box<report::flags::RenderArgs>),
    Rerun(Box<rerun::flags::RerunArgs>),
    Env(Box<env::flags::EnvArgs>),
    Tour(Box<tour::flags::TourArgs>),
    Explain(explain::flags::ExplainArgs),
    Completions(docs::flags::CompletionsArgs),
    Man(docs::flags::ManArgs),
}

impl Command {
    /// The arguments of the command of this name alone. Those of all commands take longer to build than
    /// many a command runs.
    pub(crate) fn alone(name: &str) -> Option<clap::Command> {
        type Augment = fn(clap::Command) -> clap::Command;
        let (name, augment): (&'static str, Augment) = match name {
            "compress" => ("compress", compress::flags::CompressArgs::augment_args),
            "decompress" => (
                "decompress",
                decompress::flags::DecompressArgs::augment_args,
            ),
            "zip" => ("zip", zip::flags::ZipArgs::augment_args),
            "unzip" => ("unzip", unzip::flags::UnzipArgs::augment_args),
            "betree" => ("betree", betree::flags::BetreeArgs::augment_args),
            "fix" => ("fix", fix::flags::FixArgs::augment_args),
            "compare" => ("compare", compare::flags::CompareArgs::augment_args),
            "report" => ("report", report::flags::RenderArgs::augment_args),
            "env" => ("env", env::flags::EnvArgs::augment_args),
            _ => return None,
        };
        Some(augment(clap::Command::new(name)))
    }

    /// The name as typed.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Compress(_) => "compress",
            Self::CompressBench(_) => "compress-bench",
            Self::Decompress(_) => "decompress",
            Self::Zip(_) => "zip",
            Self::Unzip(_) => "unzip",
            #[cfg(feature = "async")]
            Self::ZipBench(_) => "zip-bench",
            Self::Advise(_) => "advise",
            Self::Betree(_) => "betree",
            Self::BetreeBench(_) => "betree-bench",
            Self::Fix(_) => "fix",
            Self::FixBench(_) => "fix-bench",
            Self::Stress(_) => "stress",
            Self::Compare(_) => "compare",
            Self::Report(_) => "report",
            Self::Rerun(_) => "rerun",
            Self::Env(_) => "env",
            Self::Tour(_) => "tour",
            Self::Explain(_) => "explain",
            Self::Completions(_) => "completions",
            Self::Man(_) => "man",
        }
    }

    /// Whether data goes to a terminal unchanged, with control characters that are otherwise escaped.
    pub(crate) fn wants_raw(&self) -> bool {
        match self {
            Self::Compress(args) => args.files_args.force,
            Self::Decompress(args) => args.files_args.force,
            Self::Zip(args) => args.force,
            Self::Unzip(args) => args.force,
            Self::Betree(args) => args.command.wants_raw(),
            Self::Fix(args) => args.command.wants_raw(),
            // These print only a report, or perfkit's own text.
            #[cfg(feature = "async")]
            Self::ZipBench(_) => false,
            Self::CompressBench(_)
            | Self::Advise(_)
            | Self::BetreeBench(_)
            | Self::FixBench(_)
            | Self::Stress(_)
            | Self::Compare(_)
            | Self::Report(_)
            | Self::Rerun(_)
            | Self::Env(_)
            | Self::Tour(_)
            | Self::Explain(_)
            | Self::Completions(_)
            | Self::Man(_) => false,
        }
    }
}

impl Command {
    /// What its command line reads and writes, for the guard that every command passes.
    pub(crate) fn files(&self) -> Files<'_> {
        match self {
            Self::Compress(args) => args.files(),
            Self::CompressBench(args) => args.files(),
            Self::Decompress(args) => args.files(),
            Self::Zip(args) => args.files(),
            Self::Unzip(args) => args.files(),
            #[cfg(feature = "async")]
            Self::ZipBench(args) => args.files(),
            Self::Advise(args) => args.files(),
            Self::Betree(args) => args.files(),
            Self::BetreeBench(args) => args.files(),
            Self::Fix(args) => args.files(),
            Self::FixBench(args) => args.files(),
            Self::Stress(args) => args.files(),
            Self::Compare(args) => args.files(),
            Self::Report(args) => args.files(),
            Self::Rerun(args) => args.files(),
            Self::Env(args) => args.output.files().stdout(Stdout::Report),
            Self::Tour(args) => args.output.files().stdout(Stdout::Report),
            // Pages are made of nothing but this binary.
            Self::Explain(_) | Self::Completions(_) | Self::Man(_) => Files::default(),
        }
    }
}

/// No commands, for a command line whose only command is added later.
#[derive(Debug, Clone)]
pub(crate) enum NoCommand {}

impl FromArgMatches for NoCommand {
    fn from_arg_matches(_: &ArgMatches) -> Result<Self, clap::Error> {
        Err(clap::Error::new(clap::error::ErrorKind::MissingSubcommand))
    }

    fn update_from_arg_matches(&mut self, _: &ArgMatches) -> Result<(), clap::Error> {
        match *self {}
    }
}

impl Subcommand for NoCommand {
    fn augment_subcommands(command: clap::Command) -> clap::Command {
        command
    }

    fn augment_subcommands_for_update(command: clap::Command) -> clap::Command {
        command
    }

    fn has_subcommand(_: &str) -> bool {
        false
    }
}
