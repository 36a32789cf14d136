//! Arguments of the commands that print documents: `completions` and `man`.

use std::path::PathBuf;

use clap::Args;

use crate::args::output::TerminalArgs;

/// Print a completion script for a shell.
///
/// The script completes commands, flags and their values. Put it where your shell looks for
/// completions, or source it when the shell starts.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = "Examples:
  perfkit completions bash > ~/.local/share/bash-completion/completions/perfkit
  perfkit completions zsh > ~/.zfunc/_perfkit
  perfkit completions fish > ~/.config/fish/completions/perfkit.fish")]
pub(crate) struct CompletionsArgs {
    /// The shell
    pub(crate) shell: clap_complete::Shell,
    #[command(flatten)]
    pub(crate) terminal: TerminalArgs,
}

/// Print a manual page, or write all of them.
///
/// Without COMMAND, prints the page of perfkit itself; `fix parse` or `fix-parse` is the page of `perfkit fix parse`. gzip, xz,
/// zstd, lz4, hyperfine, zipinfo and the other names that perfkit may be called by have pages, too; info-zip is that of zip
/// and unzip. Pages are in the format of `man`. --dir writes one file per page and replaces files of the same name.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = "Examples:
  perfkit man compress | man -l -
  perfkit man fix parse | man -l -
  perfkit man --dir ~/.local/share/man/man1")]
pub(crate) struct ManArgs {
    /// The command, and the one below it if it has such
    #[arg(value_name = "COMMAND", num_args = 0..=3, conflicts_with = "dir")]
    pub(crate) page: Vec<String>,
    /// Write every page into DIR
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) terminal: TerminalArgs,
}
