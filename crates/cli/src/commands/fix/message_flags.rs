//! Flags that say which messages are read, and how.

use std::path::PathBuf;

use clap::Args;
use files::conflicts::Files;
use fixcore::Isa;

use crate::args::output::OutputArgs;
use crate::commands::fix::values::Separator;
use crate::commands::fix::wanted::WantedArgs;

/// Which messages are read, and how.
#[derive(Debug, Clone, Args)]
pub(crate) struct MessagesArgs {
    /// Files of messages; `-` is standard input
    #[arg(value_name = "FILE", default_value = "-")]
    pub(crate) files: Vec<PathBuf>,
    /// auto, soh, pipe, caret or hex
    #[arg(long, value_name = "NAME", value_enum, default_value_t = Separator::Auto,
          hide_possible_values = true)]
    pub(crate) separator: Separator,
    /// QuickFIX XML dictionary, instead of the built-in one of each message's version
    #[arg(long, value_name = "FILE")]
    pub(crate) dictionary: Option<PathBuf>,
    /// Number of threads; 0: one per CPU
    #[arg(
        short = 'T',
        long,
        value_name = "N",
        default_value_t = 0,
        hide_default_value = true
    )]
    pub(crate) threads: u32,
    /// Scan with one instruction set: scalar, neon, sse2, avx2, avx512bw or avx512vbmi2
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    pub(crate) isa: Option<Isa>,
    /// Read several logs in the order of time: parse and print message by message, stats log by log
    ///
    /// The time of a message is its SendingTime (52); the messages of one log stay in their order. stats reads one
    /// log after the other, the one with the earliest first message first.
    #[arg(long)]
    pub(crate) by_time: bool,
    /// Wait for what is appended to the log, over rotation and truncation, until Ctrl-C or --limit
    #[arg(long, conflicts_with = "by_time")]
    pub(crate) follow: bool,
    #[command(flatten)]
    pub(crate) wanted: WantedArgs,
}

impl MessagesArgs {
    pub(crate) fn files<'a>(&'a self, output: &'a OutputArgs) -> Files<'a> {
        output
            .files()
            .sources(&self.files, false)
            .reads_some("--dictionary", &self.dictionary)
    }
}
