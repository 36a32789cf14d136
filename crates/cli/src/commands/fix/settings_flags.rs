//! Flags of `fix settings` and its parts.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use files::conflicts::{Files, Stdout};

use crate::args::output::{OutputArgs, TerminalArgs};

/// Explain QuickFIX settings files.
///
/// Files of QuickFIX for C++ and of QuickFIX/J are read as they are.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = "Examples:
  perfkit fix settings check acceptor.cfg
  perfkit fix settings check -q acceptor.cfg
  perfkit fix settings keys")]
pub(crate) struct SettingsArgs {
    /// What to do
    #[command(subcommand)]
    pub(crate) command: SettingsCommand,
}

/// The parts of `fix settings`.
#[derive(Debug, Clone, Subcommand)]
pub(crate) enum SettingsCommand {
    Check(Box<SettingsCheckArgs>),
    Keys(SettingsKeysArgs),
}

/// List every key, and what perfkit does with it, as Markdown
#[derive(Debug, Clone, Args)]
pub(crate) struct SettingsKeysArgs {
    #[command(flatten)]
    pub(crate) terminal: TerminalArgs,
}

/// Say what each line of a settings file does.
///
/// Each key is shown with the number of sessions that its value holds for; so are the defaults of keys that are not
/// stated. What is wrong stands below its line. With --report the report is there instead, with a row for each thing
/// that is wrong. The exit code is 1 if the file cannot be used; warnings do not change it.
#[derive(Debug, Clone, Args)]
pub(crate) struct SettingsCheckArgs {
    /// The settings file; `-` is standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

impl SettingsArgs {
    /// What it reads and writes.
    pub(crate) fn files(&self) -> Files<'_> {
        match &self.command {
            SettingsCommand::Check(args) => args
                .output
                .files()
                .reads("the settings", &args.file)
                .stdout(Stdout::Data),
            SettingsCommand::Keys(_) => Files::default().stdout(Stdout::Data),
        }
    }
}
