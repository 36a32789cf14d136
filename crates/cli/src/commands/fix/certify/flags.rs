//! Flags of `fix certify`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use files::conflicts::{Files, Stdout};
use fixcore::dict::Version;

use crate::args::output::OutputArgs;
use crate::args::units;

/// What the application behind the engine does with orders.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum EngineApp {
    /// It returns NewOrderSingle as it came
    Echo,
    /// Anything else
    None,
}

/// How the numbers of both sides come to 1 before a scenario.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Reset {
    /// The engine begins at 1 with each connection (ResetOnLogon=Y)
    Engine,
    /// By ResetSeqNumFlag (141) of this side; the engine keeps its numbers
    Flag,
}

impl From<Reset> for fixsession::certify::Reset {
    fn from(reset: Reset) -> Self {
        match reset {
            Reset::Engine => Self::Engine,
            Reset::Flag => Self::Flag,
        }
    }
}

/// Drive scenarios against any FIX engine: an acceptor at HOST:PORT, or an initiator with --listen.
///
/// Plays each scenario of a table in each version of FIX, right and wrong messages alike, and compares what
/// comes back by fields. The report has a verdict for each scenario and version, and the messages of each
/// scenario that failed. The engine needs a session per version with the names of --sender and --target,
/// swapped; an application that returns orders as they came, such as `perfkit fix acceptor --app echo`, or
/// --app none; and ResetOnLogon=Y, or --reset flag. An initiator needs ResetOnLogon=Y, ReconnectInterval=1,
/// for it has to connect again for each scenario, and a HeartBtInt of about 5 seconds, which the scenarios
/// of timers wait for. The exit code is 4 if a scenario fails, 1 if there is no connection.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = "Examples:
  perfkit fix certify 127.0.0.1:5001 --sender CERTIFY --target ENGINE
  perfkit fix certify 127.0.0.1:5001 --sender CERTIFY --target ENGINE --versions 4.4 --only resend --texts
  perfkit fix certify 127.0.0.1:5001 --sender CERTIFY --target ENGINE --app none --junit certify.xml
  perfkit fix certify --listen 127.0.0.1:5001 --versions 4.2,4.4 --junit certify.xml")]
pub(crate) struct CertifyArgs {
    /// Where the engine listens
    #[arg(value_name = "HOST:PORT", conflicts_with = "listen")]
    pub(crate) address: Option<String>,
    /// Listen here for an engine that connects; port 0: any
    #[arg(long, value_name = "ADDR:PORT")]
    pub(crate) listen: Option<String>,
    /// How long to wait for each connection of the engine
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = units::duration,
          requires = "listen")]
    pub(crate) wait: Duration,
    /// Write the address to FILE once connections are accepted, and remove it at the end
    #[arg(long, value_name = "FILE", requires = "listen")]
    pub(crate) ready_file: Option<PathBuf>,
    /// SenderCompID of this side
    #[arg(long, value_name = "NAME", default_value = "CERTIFY")]
    pub(crate) sender: String,
    /// TargetCompID of this side: the name of the engine
    #[arg(long, value_name = "NAME", default_value = "ENGINE")]
    pub(crate) target: String,
    /// Versions: 4.0, 4.1, 4.2, 4.3, 4.4, 5.0, 5.0sp1, 5.0sp2 [default: all]
    #[arg(long, value_name = "LIST", value_delimiter = ',', num_args = 1)]
    pub(crate) versions: Vec<Version>,
    /// Only these scenarios: names, or their first part as `resend`
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', num_args = 1)]
    pub(crate) only: Vec<String>,
    /// Not these scenarios
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', num_args = 1)]
    pub(crate) skip: Vec<String>,
    /// List the scenarios and what they demand
    #[arg(short, long)]
    pub(crate) list: bool,
    /// What the engine's application does with orders: echo or none
    #[arg(long, value_name = "APP", value_enum, default_value_t = EngineApp::Echo,
          hide_possible_values = true)]
    pub(crate) app: EngineApp,
    /// How numbers come to 1 before each scenario: engine or flag
    ///
    /// engine: the engine resets them at each Logon (ResetOnLogon=Y). flag: this side sends ResetSeqNumFlag
    /// (141), and the engine keeps its numbers otherwise; scenarios over several connections need this. FIX
    /// 4.0 has no such flag. Not with --listen.
    #[arg(long, value_name = "WHO", value_enum, default_value_t = Reset::Engine,
          hide_possible_values = true, conflicts_with = "listen")]
    pub(crate) reset: Reset,
    /// The engine has no dictionaries: leave out what needs them
    #[arg(long)]
    pub(crate) no_dictionary: bool,
    /// Compare texts (58), too
    #[arg(long)]
    pub(crate) texts: bool,
    /// How long an answer may take
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = units::duration)]
    pub(crate) timeout: Duration,
    /// Pause before connecting again, for the engine to notice that a connection ended
    #[arg(long, value_name = "TIME", default_value = "100ms", value_parser = units::duration,
          hide_short_help = true)]
    pub(crate) pause: Duration,
    /// Sessions at a time; the versions of FIXT are one session, and three with --listen
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=64))]
    pub(crate) parallel: u32,
    /// Write verdicts and messages as JUnit's XML to FILE
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

impl CertifyArgs {
    /// What it reads and writes.
    pub(crate) fn files(&self) -> Files<'_> {
        let mut files = self.output.files().stdout(Stdout::Report);
        for (flag, path) in [("--junit", &self.junit), ("--ready-file", &self.ready_file)] {
            if let Some(path) = path {
                files = files.writes(flag, path);
            }
        }
        files
    }
}
