//! The exit codes of every command, as one documented type.

use std::process::ExitCode;

/// Why the process ended. The numbers are part of the interface: scripts rely on them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum ExitStatus {
    /// 0: everything asked for was done; also when the reader of a pipe went away.
    Ok = 0,
    /// 1: a runtime error, or corrupt data, and nothing of value was done.
    Failure = 1,
    /// 2: the command line was wrong.
    Usage = 2,
    /// 3: some inputs failed; the rest is done and reported.
    Partial = 3,
    /// 4: a gate failed (`--slo`, `--fail-on-regression`).
    Gate = 4,
    /// 5: the samples cannot decide a gate, or a comparison with `--require-verdict`.
    Inconclusive = 5,
    /// 6: the environment is unfit, and `--strict-env` asked for a fit one.
    Environment = 6,
    /// 130: interrupted by a signal, after a valid partial report. After SIGINT (Ctrl-C) the process ends by that signal and
    /// not by this code: a shell has 130 in `$?` and ends its loop, and a parent sees the signal (`WTERMSIG`). After SIGTERM,
    /// SIGHUP and SIGXCPU it is the exit code.
    Interrupted = 130,
}

impl ExitStatus {
    /// Every status, for documentation and tests.
    pub const ALL: [Self; 8] = [
        Self::Ok,
        Self::Failure,
        Self::Usage,
        Self::Partial,
        Self::Gate,
        Self::Inconclusive,
        Self::Environment,
        Self::Interrupted,
    ];

    /// The number that the system sees.
    #[must_use]
    pub fn code(self) -> u8 {
        self as u8
    }

    /// One line on what it means, as the manual has it.
    #[must_use]
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Ok => "everything asked for was done, or the reader of a pipe went away",
            Self::Failure => "runtime error or corrupt data",
            Self::Usage => "wrong command line",
            Self::Partial => "some inputs failed, the rest is done and reported",
            Self::Gate => "a gate failed (--slo, --fail-on-regression)",
            Self::Inconclusive => {
                "the samples cannot decide a gate (see --slo-undecided), or a comparison with --require-verdict"
            }
            Self::Environment => "the environment is unfit, and --strict-env asked for a fit one",
            Self::Interrupted => {
                "interrupted, after a valid partial report (SIGINT: by that signal)"
            }
        }
    }
}

impl From<ExitStatus> for ExitCode {
    fn from(status: ExitStatus) -> Self {
        Self::from(status.code())
    }
}
