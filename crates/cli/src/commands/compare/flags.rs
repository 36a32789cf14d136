//! Flags of `compare`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use files::conflicts::{Files, Stdout};

use crate::args::output::OutputArgs;
use crate::args::units;

/// Compare two runs, or two commands interleaved in one run.
///
/// Compares two report files (JSON) row by row over their buckets, or two files of plain numbers (one
/// per line) pair by pair. Two separate runs are unpaired: drift between them is not controlled, so the
/// result only suggests, and fails nothing without --fail-unpaired.
///
/// With --interleave or --max-time, both commands run in random order, and the baseline runs a second time as a
/// control: it shows how large a difference this machine reports where there is none.
#[derive(Debug, Clone, Args)]
#[command(
    override_usage = "perfkit compare [OPTIONS] <BASELINE> <TARGET>
       perfkit compare [OPTIONS] --interleave <N[xM]> -- <CMD>... -- <CMD>...
       perfkit compare [OPTIONS] --max-time <TIME> -- <CMD>... -- <CMD>...",
    after_long_help = "Examples:
  perfkit compare before.json after.json --fail-on-regression --fail-unpaired
  perfkit compare --max-time 60s -- zstd -qf3 data -- perfkit compress -qq -f3 data
  perfkit compare --interleave 20x1 -- zstd -qf3 data -- perfkit compress -qq -f3 data"
)]
pub(crate) struct CompareArgs {
    /// Two reports (.json), or two files of plain numbers
    #[arg(
        value_names = ["BASELINE", "TARGET"],
        num_args = 2,
        action = clap::ArgAction::Set,
        required_unless_present_any = ["interleave", "max_time"]
    )]
    pub(crate) files: Vec<PathBuf>,
    /// Run both commands in N rounds, M times per round
    ///
    /// Each round runs each command M times (1 by default), in a new random order. The median
    /// difference of the rounds has a 95 % interval if there are at least 6 rounds.
    #[arg(long, value_name = "N[xM]", value_parser = rounds, conflicts_with = "files")]
    pub(crate) interleave: Option<Rounds>,
    /// Add rounds until the verdict stands, for at most this time
    ///
    /// At least 6 rounds, or those of --interleave. The verdict is looked at up to six times, and the error of
    /// all looks together is 5 %: an early look must be surer than the last one.
    #[arg(long, value_name = "TIME", value_parser = units::duration, conflicts_with = "files")]
    pub(crate) max_time: Option<Duration>,
    /// Differences up to PCT % count as none
    ///
    /// The verdict "no difference" needs the whole interval within this margin, or within what the control
    /// shows if that is more (up to 5 %).
    #[arg(long, value_name = "PCT", default_value_t = 1.0)]
    pub(crate) margin: f64,
    /// Runs of each command before the first round
    #[arg(short = 'w', long, value_name = "N", default_value_t = 1)]
    pub(crate) warmup: u32,
    /// A shell command to run before each run, untimed
    ///
    /// To undo what the previous run changed, such as --prepare 'rm -rf out'.
    #[arg(
        long,
        value_name = "CMD",
        conflicts_with = "files",
        hide_short_help = true
    )]
    pub(crate) prepare: Option<OsString>,
    /// Seed of the random order
    #[arg(long, value_name = "N", default_value_t = 1, hide_short_help = true)]
    pub(crate) seed: u64,
    /// Continue when a run fails, and count such runs
    #[arg(short, long)]
    pub(crate) ignore_failure: bool,
    /// Exit 4 if the target is worse by more than PCT %
    ///
    /// Without a number, exit 4 for every verdict `worse`.
    #[arg(long, value_name = "PCT", num_args = 0..=1, require_equals = true, default_missing_value = "0")]
    pub(crate) fail_on_regression: Option<f64>,
    /// Let --fail-on-regression fail for two separate runs, too
    ///
    /// Two files show what changed between two runs: the code, and the machine. Without this flag a
    /// regression between them is printed, and the exit code is 0.
    #[arg(long, requires = "fail_on_regression", hide_short_help = true)]
    pub(crate) fail_unpaired: bool,
    /// With --interleave or --max-time: baseline, `--`, target
    #[arg(
        last = true,
        value_name = "COMMAND",
        allow_hyphen_values = true,
        conflicts_with = "files"
    )]
    pub(crate) commands: Vec<OsString>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// How often an interleaved comparison runs each side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rounds {
    /// Rounds, each of which is one bucket per side.
    pub(crate) rounds: u32,
    /// Runs per side and round.
    pub(crate) batch: u32,
}

fn rounds(text: &str) -> Result<Rounds, String> {
    let wrong = || format!("'{text}' is not ROUNDS or ROUNDSxBATCH (such as 20 or 100x10)");
    let (rounds, batch) = text.split_once('x').unwrap_or((text, "1"));
    let rounds: u32 = rounds.parse().map_err(|_| wrong())?;
    let batch: u32 = batch.parse().map_err(|_| wrong())?;
    if !(1..=100_000).contains(&rounds) || !(1..=100_000).contains(&batch) {
        return Err(wrong());
    }
    Ok(Rounds { rounds, batch })
}

impl CompareArgs {
    /// The rounds to run; `None` for two files.
    pub(crate) fn rounds(&self) -> Option<Rounds> {
        let least = || Rounds {
            rounds: latency::compare::PAIRS_MIN as u32,
            batch: 1,
        };
        self.interleave.or_else(|| self.max_time.map(|_| least()))
    }

    /// How strict the verdict is.
    pub(crate) fn options(&self) -> latency::compare::Options {
        latency::compare::Options::default().margin(self.margin / 100.0)
    }

    /// What it reads and writes.
    pub(crate) fn files(&self) -> Files<'_> {
        self.output
            .files()
            .sources(&self.files, false)
            .stdout(Stdout::Report)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_are_bounded() {
        assert_eq!(
            rounds("20"),
            Ok(Rounds {
                rounds: 20,
                batch: 1
            })
        );
        assert_eq!(
            rounds("100x1000"),
            Ok(Rounds {
                rounds: 100,
                batch: 1000
            })
        );
        assert!(rounds("0x1").is_err());
        assert!(rounds("1x").is_err());
    }
}
