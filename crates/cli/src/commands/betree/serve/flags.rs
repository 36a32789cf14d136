//! Flags of `betree serve`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgAction, Args};
use matcher::Sync;
use matcher::http::Address;

use crate::args::expressions::{ExpressionsForm, UndefinedMode};
use crate::args::output::OutputArgs;
use crate::args::units;
use files::conflicts::Files;

/// Match events and change expressions over HTTP.
///
/// Answers until it gets SIGTERM or SIGINT, or for --duration. POST /match takes events, one JSON object
/// per line, and answers one line per event. PUT and DELETE /expressions/ID change one expression, POST
/// /expressions many. A change that was acknowledged is seen by every match that starts afterwards.
/// With --log it is also there after the process was killed, and --sync says what the machine may
/// forget. GET /metrics is for Prometheus, GET /healthz for a supervisor, POST /snapshot writes a snapshot.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = "Examples:
  perfkit betree serve --domains ad/domains --listen 127.0.0.1:8080
  perfkit betree serve --snapshot ad.snap --log state --listen 127.0.0.1:8080
  perfkit betree serve --log state --sync interval:10ms --listen unix:/tmp/betree.sock")]
pub(crate) struct ServeArgs {
    /// Where to listen: ADDRESS:PORT (port 0 is any free one) or unix:PATH; repeatable
    #[arg(long, value_name = "WHERE", required = true, action = ArgAction::Append)]
    pub(crate) listen: Vec<Address>,
    /// Keep a snapshot and a log of changes in DIR, and start from those that are there
    #[arg(long, value_name = "DIR")]
    pub(crate) log: Option<PathBuf>,
    /// When changes are durable: always, interval:TIME or never
    ///
    /// Whatever is acknowledged survives the end of the process. If the machine stops, always keeps
    /// everything, interval:10ms loses at most what was acknowledged in the last 10 ms, and never what the
    /// system had not written yet.
    #[arg(long, value_name = "POLICY", default_value = "always", value_parser = sync)]
    pub(crate) sync: Sync,
    /// Write a snapshot when the log is longer than SIZE
    #[arg(long, value_name = "SIZE", default_value = "64M", value_parser = units::size)]
    pub(crate) snapshot_every: u64,
    /// Begin with this snapshot from `betree build`
    #[arg(long, value_name = "SNAP", conflicts_with_all = ["domains", "expressions", "constants", "undefined"])]
    pub(crate) snapshot: Option<PathBuf>,
    /// Begin with these attributes, one per line: name|type|allow_undefined|min|max
    #[arg(long, value_name = "FILE")]
    pub(crate) domains: Option<PathBuf>,
    /// Begin with these expressions, one per line; ids must be integers
    #[arg(long, value_name = "FILE")]
    pub(crate) expressions: Option<PathBuf>,
    /// Format of --expressions: auto, plain, tab, json or erlang
    #[arg(long, value_name = "FORM", value_enum, default_value_t = ExpressionsForm::Auto,
          hide_possible_values = true, hide_short_help = true)]
    pub(crate) expressions_form: ExpressionsForm,
    /// Ids for frequency caps, as CSV
    #[arg(long, value_name = "FILE", requires = "expressions")]
    pub(crate) constants: Option<PathBuf>,
    /// How to evaluate a test of an undefined attribute: false or three-valued
    #[arg(long, value_name = "MODE", value_enum, default_value_t = UndefinedMode::False,
          hide_possible_values = true)]
    pub(crate) undefined: UndefinedMode,
    /// Pass over attributes of events that the domains lack
    #[arg(long)]
    pub(crate) ignore_unknown: bool,
    /// Reductions after which a search lets others go on
    #[arg(long, value_name = "N", default_value_t = 20_000,
          value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) budget: u64,
    /// Answer an event with an error if its search is not done in this time
    ///
    /// `?timeout_ms=` of a request is heard first. It is looked at after each --budget of reductions.
    #[arg(long, value_name = "TIME", value_parser = units::duration)]
    pub(crate) timeout: Option<Duration>,
    /// Threads that answer; by default one per CPU
    #[arg(short = 'T', long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
    /// The most open connections
    #[arg(long, value_name = "N", default_value_t = 4096,
          value_parser = clap::value_parser!(u32).range(1..), hide_short_help = true)]
    pub(crate) connections: u32,
    /// The longest event
    #[arg(long, value_name = "SIZE", default_value = "1M", value_parser = units::size, hide_short_help = true)]
    pub(crate) event_bytes: u64,
    /// Close a connection that sends or takes nothing for this time
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = units::duration, hide_short_help = true)]
    pub(crate) idle: Duration,
    /// Time for requests in progress once a signal asks to stop
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = units::duration)]
    pub(crate) grace: Duration,
    /// Stop after this time
    #[arg(long, value_name = "TIME", value_parser = units::duration)]
    pub(crate) duration: Option<Duration>,
    /// Write the addresses to FILE, one per line, once they answer, and remove it at the end
    #[arg(long, value_name = "FILE")]
    pub(crate) ready_file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

impl ServeArgs {
    /// What it reads and writes. Only it has files in the directory of --log.
    pub(crate) fn files(&self) -> Files<'_> {
        let files = self
            .output
            .files()
            .reads_some("--snapshot", &self.snapshot)
            .reads_some("--domains", &self.domains)
            .reads_some("--expressions", &self.expressions)
            .reads_some("--constants", &self.constants);
        match &self.ready_file {
            Some(path) => files.writes("--ready-file", path),
            None => files,
        }
    }
}

/// Parses a policy.
fn sync(text: &str) -> Result<Sync, String> {
    match (text, text.strip_prefix("interval:")) {
        ("always", _) => Ok(Sync::Always),
        ("never", _) => Ok(Sync::Never),
        (_, Some(time)) => units::duration(time).map(Sync::Interval),
        _ => Err("expected always, never, or interval: and a time, as in interval:10ms".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policies_are_words_or_an_interval() {
        assert_eq!(sync("always"), Ok(Sync::Always));
        assert_eq!(sync("never"), Ok(Sync::Never));
        let interval = Sync::Interval(Duration::from_millis(10));
        assert_eq!(sync("interval:10ms"), Ok(interval));
        for wrong in [
            "",
            "interval",
            "interval:",
            "interval:0s",
            "interval:x",
            "sometimes",
        ] {
            assert!(sync(wrong).is_err(), "{wrong}");
        }
    }
}
