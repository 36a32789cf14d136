//! Flags that say which messages are read, and how.

use std::path::PathBuf;

use clap::Args;
use files::conflicts::Files;
use fixcore::Isa;
use fixlog::Accept;

use crate::args::output::OutputArgs;
use crate::commands::fix::accept_flags::AcceptArgs;
use crate::commands::fix::dictionary_flags::DictionaryArgs;
use crate::commands::fix::values::{Separator, separator};
use crate::commands::fix::wanted::WantedArgs;

/// Which messages are read, and how.
#[derive(Debug, Clone, Args)]
pub(crate) struct MessagesArgs {
    /// Files of messages; `-` is standard input
    #[arg(value_name = "FILE", default_value = "-")]
    pub(crate) files: Vec<PathBuf>,
    /// auto, soh, pipe, caret or hex, or what stands between fields, such as '##'
    ///
    /// auto finds SOH (byte 1), | || ; , ~ ^A, a tab, \x01 \u0001 \001 \01 #001 %01 <SOH> [SOH] &#1; and U+2401, and
    /// before BodyLength (9) also ^ ! # * {SOH} <01> [01] <0x01> and others.
    /// Another text has at most 8 bytes, none of them a letter or a digit at its beginning; \t is a tab.
    #[arg(long, value_name = "NAME", value_parser = separator, default_value = "auto")]
    pub(crate) separator: Separator,
    #[command(flatten)]
    pub(crate) accept: AcceptArgs,
    #[command(flatten)]
    pub(crate) dictionaries: DictionaryArgs,
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
    /// Write messages of one or several logs in the order of time: parse and print; stats reads logs in that order
    ///
    /// The time of a message is its SendingTime (52); of equal times, messages of one log stay in their order. Lines of a
    /// log may be out of order by as much as 64 MiB of what is written. stats reads one log after the other, the one
    /// with the earliest first message first.
    #[arg(long)]
    pub(crate) by_time: bool,
    /// Wait for what is appended to the log, over rotation and truncation, until Ctrl-C or --limit
    #[arg(long, conflicts_with = "by_time")]
    pub(crate) follow: bool,
    #[command(flatten)]
    pub(crate) wanted: WantedArgs,
}

impl MessagesArgs {
    /// What may be wrong with messages.
    pub(crate) fn accepted(&self) -> Accept {
        self.accept.accepted()
    }

    pub(crate) fn files<'a>(&'a self, output: &'a OutputArgs) -> Files<'a> {
        let files = output.files().sources(&self.files, false);
        self.dictionaries.files(files)
    }
}
