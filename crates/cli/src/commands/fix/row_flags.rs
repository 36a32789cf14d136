//! Flags that say which parts of each message are written, and how.

use clap::{Args, ValueEnum};

/// The form of messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum RowFormat {
    /// A line of JSON per message
    Json,
    /// A line of comma-separated values per message, after one with the names of columns
    Csv,
    /// Messages as the log has them
    Raw,
}

impl From<RowFormat> for fixlog::RowForm {
    fn from(format: RowFormat) -> Self {
        match format {
            RowFormat::Json => Self::Json,
            RowFormat::Csv => Self::Csv,
            RowFormat::Raw => Self::Raw,
        }
    }
}

/// Parses what messages have to contain.
fn text(text: &str) -> Result<String, String> {
    match text.is_empty() || text.contains(['\n', '\r']) {
        true => Err("expected a text without line breaks, such as an order's id".to_owned()),
        false => Ok(text.to_owned()),
    }
}

/// How many messages are written, and which parts of them.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Messages")]
pub(crate) struct RowsArgs {
    /// Write only these fields, such as 11,OrdStatus
    ///
    /// Fields are tags, or names of the standard or of --dictionary. Lines of JSON and CSV have file, line, byte
    /// offset, SendingTime and type of the message, too.
    #[arg(long, value_name = "FIELD,…", value_delimiter = ',', num_args = 1)]
    pub(crate) fields: Vec<String>,
    /// Only look at messages that contain TEXT, such as an order's id: as fast as grep
    ///
    /// TEXT is a part of a field as the log has it, such as ORD1 or 11=ORD1; upper and lower case differ. Other messages are
    /// not read: they are neither checked nor counted, and of invalid ones only those with TEXT are reported. The other
    /// filters are for what is found.
    #[arg(long, value_name = "TEXT", value_parser = text, conflicts_with = "context")]
    pub(crate) find: Option<String>,
    /// Stop after N messages
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) limit: Option<u64>,
    /// Also write N messages of the log before and after each
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true,
          value_parser = clap::value_parser!(u32).range(..=10_000))]
    pub(crate) context: u32,
}
