//! Flags of `fix validate`.

use clap::{Args, ValueEnum};
use files::conflicts::{Files, Stdout};
use fixcore::dict::Version;
use fixlog::Checks;

use crate::args::output::OutputArgs;
use crate::commands::fix::message_flags::MessagesArgs;

/// Write invalid messages, and all that is wrong with each, as lines of JSON.
///
/// A line has the first fault as "error", and all of them in "faults", each with the SessionRejectReason (373) or
/// BusinessRejectReason (380) that a reject would have. Beyond the dictionary, messages are held to what the
/// standard makes conditional: OrigSendingTime (122) with 43=Y, MsgSeqNum 1 with 141=Y, Price of limit orders,
/// StopPx of stop orders, ExpireDate or ExpireTime of orders good till date, LastQty and LastPx of trades.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = "Examples:
  perfkit fix validate day.log | jq -r '.faults[].error'
  perfkit fix validate --warnings --custom-tags refuse day.log
  perfkit fix validate --transport-dictionary FIXT11.xml --application-dictionary FIX50SP2.xml day.log")]
pub(crate) struct ValidateArgs {
    #[command(flatten)]
    pub(crate) messages: MessagesArgs,
    /// Version of messages of FIXT 1.1 without ApplVerID (1128): 4.0 to 4.4, 5.0, 5.0sp1 or 5.0sp2
    ///
    /// What DefaultApplVerID (1137) of their Logon says, in the names of versions or as its value, 2 to 9.
    #[arg(
        long,
        value_name = "VERSION",
        value_parser = version,
        default_value = "5.0sp2",
        help_heading = "Checks"
    )]
    pub(crate) default_appl_ver_id: Version,
    /// allow or refuse tags from 5000 on that no dictionary has
    #[arg(
        long,
        value_name = "allow|refuse",
        value_enum,
        default_value_t = Custom::Allow,
        hide_possible_values = true,
        help_heading = "Checks"
    )]
    pub(crate) custom_tags: Custom,
    /// Also write messages whose values contradict each other
    ///
    /// ExecType (150) and OrdStatus (39) of which one excludes the other, LeavesQty (151) of an open order that is
    /// not OrderQty (38) less CumQty (14), and PossResend (97) in messages of the session. Engines accept such
    /// messages: warnings are in "warnings", and leave the exit code as it is.
    #[arg(long, help_heading = "Checks", overrides_with = "no_warnings")]
    pub(crate) warnings: bool,
    /// Write no warnings (default)
    #[arg(long, overrides_with = "warnings", hide = true)]
    pub(crate) no_warnings: bool,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// What becomes of custom tags.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Custom {
    /// They are passed over
    Allow,
    /// They are faults
    Refuse,
}

/// Parses an application version, by its name or as a value of 1137.
fn version(text: &str) -> Result<Version, String> {
    let lower = text.to_ascii_lowercase();
    let name = lower
        .strip_prefix("fix")
        .map_or(lower.as_str(), |name| name.trim_start_matches('.'));
    let named = Version::ALL
        .into_iter()
        .find(|version| version.name() == name);
    named
        .filter(|version| *version != Version::Fixt11)
        .or_else(|| Version::of_appl_ver_id(text.as_bytes()))
        .ok_or_else(|| "expected a version such as 4.4, 5.0sp2 or, as in 1137, 9".to_owned())
}

impl ValidateArgs {
    /// What messages are held to, but for the dictionaries.
    pub(super) fn checks(&self) -> Checks<'static> {
        Checks::new()
            .default_version(Some(self.default_appl_ver_id))
            .refuse_custom(self.custom_tags == Custom::Refuse)
            .warn(self.warnings)
    }

    /// What it reads and writes.
    pub(super) fn files(&self) -> Files<'_> {
        self.messages.files(&self.output).stdout(Stdout::Data)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_have_names_and_values() {
        for text in ["5.0sp1", "FIX.5.0SP1", "fix5.0sp1", "8"] {
            assert_eq!(version(text), Ok(Version::Fix50Sp1), "{text}");
        }
        for text in ["", "fixt1.1", "5.1", "10"] {
            assert!(version(text).is_err(), "{text}");
        }
    }
}
