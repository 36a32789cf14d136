//! The flag that says which invalid messages count.

use clap::Args;
use fixlog::Accept;

use crate::commands::fix::values::{Accepted, accept};

/// What may be wrong with messages that are read all the same.
#[derive(Debug, Default, Clone, Args)]
pub(crate) struct AcceptArgs {
    /// Also count messages with a wrong checksum, or with a wrong checksum and length, as masked ones have them
    ///
    /// checksum: CheckSum (10) may be wrong, as in a message with a masked value of the same length. length: BodyLength
    /// (9) may be wrong; such a message ends with its first CheckSum and with its line. What else is wrong with a message
    /// makes it invalid as before.
    #[arg(
        long,
        value_name = "WHAT,…",
        value_enum,
        value_delimiter = ',',
        num_args = 1,
        hide_possible_values = true
    )]
    accept: Vec<Accepted>,
}

impl AcceptArgs {
    /// What may be wrong with messages.
    pub(crate) fn accepted(&self) -> Accept {
        accept(&self.accept)
    }
}
