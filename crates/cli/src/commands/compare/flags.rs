//! Flags of `compare`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use bench::programs;
use clap::Args;
use files::conflicts::{Files, Stdout};

use crate::args::limit::{Limit, PROVEN, limit, percent};
use crate::args::output::OutputArgs;
use crate::args::units;
use crate::failure::Failure;

/// Compare two runs, or two commands interleaved in one run.
///
/// Compares two report files (JSON) row by row over their buckets, two interval logs (.hlog) over their
/// intervals, two distributions (.hgrm) by percentiles, two files of another tool by their samples, or two files
/// of plain numbers (one per line) pair by pair. Two separate runs are unpaired: drift between them is not controlled, so the
/// result only suggests, and fails nothing without --fail-unpaired.
///
/// Two commands run in rounds of random order, and the baseline runs a second time in each as a control: it
/// shows how large a difference this machine reports where there is none. A command is one quoted word, which
/// is split as a shell would split it (no shell runs it: for pipes and the like, name one, as in "sh -c 'a | b'"), or
/// words after `--`. Two words that are no files, but
/// start with the name of a program, are commands, and so are two files that are programs. They run until the verdict
/// stands, for at most 30 s.
#[derive(Debug, Clone, Args)]
#[command(
    override_usage = "perfkit compare [OPTIONS] <BASELINE> <TARGET>
       perfkit compare [OPTIONS] '<CMD>...' '<CMD>...'
       perfkit compare [OPTIONS] -- <CMD>... -- <CMD>...",
    after_long_help = "Examples:
  perfkit compare before.json after.json --fail-on-regression 5% --fail-unpaired
  perfkit compare --max-time 60s 'zstd -qf3 data' 'perfkit compress -qq -f3 data'
  perfkit compare --interleave 20x1 -- zstd -qf3 data -- perfkit compress -qq -f3 data"
)]
pub(crate) struct CompareArgs {
    /// Two reports, files of numbers, or quoted commands
    #[arg(
        value_names = ["BASELINE", "TARGET"],
        num_args = 2,
        action = clap::ArgAction::Set,
        required_unless_present_any = ["commands", "interleave", "max_time"]
    )]
    pub(crate) files: Vec<PathBuf>,
    /// Run both commands in N rounds, M times per round
    ///
    /// Each round runs each command M times (1 by default), in a new random order. The median
    /// difference of the rounds has a 95 % interval if there are at least 6 rounds.
    #[arg(long, value_name = "N[xM]", value_parser = rounds)]
    pub(crate) interleave: Option<Rounds>,
    /// Add rounds until the verdict stands, for at most this time
    ///
    /// At least 6 rounds, or those of --interleave. The verdict is looked at up to six times, and the error of
    /// all looks together is 5 %: an early look must be surer than the last one.
    #[arg(long, value_name = "TIME", value_parser = units::duration)]
    pub(crate) max_time: Option<Duration>,
    /// Differences up to PCT % count as none
    ///
    /// The verdict "no difference" needs the whole interval within this margin, or within what the control
    /// shows if that is more (up to 5 %).
    #[arg(long, value_name = "PCT", default_value = "1", value_parser = percent)]
    pub(crate) margin: f64,
    /// Runs of each command before the first round
    #[arg(short = 'w', long, value_name = "N", default_value_t = 1)]
    pub(crate) warmup: u32,
    /// A shell command to run before each run, untimed
    ///
    /// To undo what the previous run changed, such as --prepare 'rm -rf out'.
    #[arg(long, value_name = "CMD", hide_short_help = true)]
    pub(crate) prepare: Option<OsString>,
    /// Seed of the random order
    #[arg(long, value_name = "N", default_value_t = 1, hide_short_help = true)]
    pub(crate) seed: u64,
    /// Continue when a run fails, and count such runs
    #[arg(short_alias = 'i', long)]
    pub(crate) ignore_failure: bool,
    /// Also put the numbers of every round into the report
    ///
    /// As the table 'rounds': wall and processor time (the sum of the runs of a round) and peak memory of the baseline,
    /// the target and the control. JSON has it, and --csv-table rounds.
    #[arg(long, overrides_with = "_no_samples", hide_short_help = true)]
    pub(crate) samples: bool,
    #[arg(long = "no-samples", overrides_with = "samples", hide = true)]
    _no_samples: bool,
    /// Exit 4 if the target's median is worse by more than LIMIT, such as 5%
    ///
    /// Of one row, or of another percentile, with its name: cpu:5%, p99:5% (p90, p99, p99.9 or p99.99), cpu.p99:5%; of
    /// files [SERIES].p99:5%. Two commands have the rows wall, cpu and, where a limit names it, rss (peak memory). The
    /// flag may be repeated. The whole interval decides. Where LIMIT lies inside it, or where a row of the baseline is not
    /// compared, the exit code is 5, and what would decide is said; with --slo-undecided pass it is 5 for such a row
    /// alone. Without a number, exit 4 for every verdict `worse`, and 0 if the target is not worse by more than 5 %. A
    /// limit that follows is the value, as in `--fail-on-regression 5%`: a file of that name is `./5`.
    #[arg(long, value_name = "LIMIT", num_args = 0..=1, require_equals = true, default_missing_value = PROVEN,
          value_parser = limit)]
    pub(crate) fail_on_regression: Vec<Limit>,
    /// Let --fail-on-regression fail for two separate runs, too
    ///
    /// Two files show what changed between two runs: the code, and the machine. Without this flag a
    /// regression between them is printed, and the exit code is 0.
    #[arg(long, requires = "fail_on_regression", hide_short_help = true)]
    pub(crate) fail_unpaired: bool,
    /// Two commands as words: baseline, `--`, target
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

/// Two commands to compare, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Commands {
    /// The words of the baseline and of the target.
    pub(crate) sides: [Vec<OsString>; 2],
    /// Rounds, or the least number of them.
    pub(crate) rounds: Rounds,
    /// Until when rounds are added; `None` for exactly that number.
    pub(crate) max_time: Option<Duration>,
}

/// How long two commands run at most if nothing says how often.
const TIME_MAX: Duration = Duration::from_secs(30);

impl CompareArgs {
    /// The commands to run; `None` for two files.
    pub(crate) fn to_run(&self) -> crate::failure::Result<Option<Commands>> {
        let sides = if !self.commands.is_empty() {
            split(&self.commands)?
        } else if self.runs_commands() {
            match self.files.as_slice() {
                [base, target] => [words(base)?, words(target)?],
                // It is only said how often.
                _ => split(&[])?,
            }
        } else {
            return Ok(None);
        };
        let least = Rounds {
            rounds: latency::compare::PAIRS_MIN as u32,
            batch: 1,
        };
        Ok(Some(Commands {
            sides,
            rounds: self.interleave.unwrap_or(least),
            max_time: match (self.interleave, self.max_time) {
                (None, None) => Some(TIME_MAX),
                (_, max_time) => max_time,
            },
        }))
    }

    /// Whether it runs commands: they are given as words, or it is said how often to run them, or they are programs, or
    /// no files and start with the names of programs.
    pub(crate) fn runs_commands(&self) -> bool {
        let is_command = |line: &PathBuf| {
            if line.as_os_str() == "-" || line.exists() {
                // A program in this place is to be run: it is no file of results.
                return programs::is_executable(line);
            }
            let words = line.to_str().and_then(|line| programs::words(line).ok());
            let program = words.as_ref().and_then(|words| words.first());
            program.is_some_and(|program| programs::is_program(program))
        };
        let says_how_often = self.interleave.is_some() || self.max_time.is_some();
        !self.commands.is_empty()
            || says_how_often
            || !self.files.is_empty() && self.files.iter().all(is_command)
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

/// The words of a quoted command, or the path of a program.
fn words(line: &Path) -> crate::failure::Result<Vec<OsString>> {
    if let Some(program) = own_program(line) {
        return Ok(vec![program]);
    }
    let shown = line.display();
    let text = line.to_str().ok_or_else(|| {
        Failure::usage(format!("the command '{shown}' is no text"))
            .help("give its words after `--`: perfkit compare --interleave 20 -- CMD... -- CMD...")
    })?;
    if let Some(sign) = programs::shell_sign(text) {
        let what = format!("the command '{shown}' has '{sign}', and no shell runs it");
        let script = ["sh", "-c", text].map(str::to_owned);
        return Err(Failure::usage(what).help(format!(
            "name the shell: {}; or quote the sign if it is for the program",
            programs::quoted(&[programs::quoted(&script)])
        )));
    }
    let words = programs::words(text).map_err(|error| Failure::usage(error.to_string()))?;
    match words.is_empty() {
        true => Err(Failure::usage("a command is empty").help("quote each: 'sleep 0.1'")),
        false => Ok(words.into_iter().map(OsString::from).collect()),
    }
}

/// The program that a path is, as it can be run. A bare name that is found in PATH is that one, as in a shell.
fn own_program(line: &Path) -> Option<OsString> {
    let is_bare = line.parent() == Some(Path::new(""));
    let in_path = is_bare && line.to_str().is_some_and(programs::is_program);
    match is_bare {
        _ if in_path || !programs::is_executable(line) => None,
        true => Some(Path::new(".").join(line).into_os_string()),
        false => Some(line.as_os_str().to_owned()),
    }
}

/// Splits the words after the first `--` at the second.
fn split(words: &[OsString]) -> crate::failure::Result<[Vec<OsString>; 2]> {
    let wrong = || {
        Failure::usage("two commands are needed: words, `--`, words")
            .help("perfkit compare --interleave 20x1 -- sleep 0.1 -- sleep 0.2")
    };
    let at = words
        .iter()
        .position(|word| word == "--")
        .ok_or_else(wrong)?;
    let (base, target) = (&words[..at], &words[at + 1..]);
    if base.is_empty() || target.is_empty() || target.iter().any(|word| word == "--") {
        return Err(wrong());
    }
    Ok([base.to_vec(), target.to_vec()])
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

    #[test]
    fn a_line_for_a_shell_is_refused_with_the_line_that_has_one() {
        let refused = words(Path::new("sort 'a b' | uniq")).expect_err("no shell runs it");
        let said = refused.message();
        assert!(said.contains("has '|', and no shell runs it"), "{said}");
        let line = programs::quoted(&["sh", "-c", "sort 'a b' | uniq"].map(str::to_owned));
        assert_eq!(words(Path::new(&line)).expect("a shell").len(), 3);
        assert_eq!(
            words(Path::new("grep '|' a")).expect("words"),
            ["grep", "|", "a"]
        );
    }

    #[test]
    fn two_commands_are_split_at_the_second_dashes() {
        let words: Vec<OsString> = ["a", "-x", "--", "b", "c"].map(OsString::from).to_vec();
        let [base, target] = split(&words).expect("two commands");
        assert_eq!((base.len(), target.len()), (2, 2));
        assert!(split(&words[..3]).is_err());
        assert!(split(&[]).is_err());
    }
}
