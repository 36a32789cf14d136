//! Why command lines could not be measured.

use std::fmt;
use std::io;
use std::path::PathBuf;

/// Which run it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Before all runs of a command, or after them.
    Around,
    /// A run that is not measured, by its number.
    Warmup(u64),
    /// A measured run, by its number.
    Run(u64),
}

impl Step {
    /// The value of `HYPERFINE_ITERATION`, which commands may use.
    #[must_use]
    pub fn iteration(self) -> Option<String> {
        match self {
            Self::Around => None,
            Self::Warmup(number) => Some(format!("warmup-{number}")),
            Self::Run(number) => Some(number.to_string()),
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Around => f.write_str("a run that is not measured"),
            Self::Warmup(number) => write!(f, "warm-up run {}", number.saturating_add(1)),
            Self::Run(number) => write!(f, "run {}", number.saturating_add(1)),
        }
    }
}

/// Why command lines could not be measured.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The caller asked for it.
    #[error("interrupted")]
    Stopped,
    /// More names than commands, a range without values, and the like.
    #[error("{0}")]
    Settings(String),
    /// A command line that is not made of words: a quotation mark is left open.
    #[error("cannot split '{line}' into words: a quotation mark or a backslash is left open")]
    Words {
        /// The command line.
        line: String,
    },
    /// There is nothing to run.
    #[error("there is no command to run: the command line is empty")]
    Empty,
    /// The system could not start a command.
    #[error("cannot run '{line}': {error}")]
    Start {
        /// The command line.
        line: String,
        /// Why not.
        #[source]
        error: io::Error,
    },
    /// A command ended with an exit code that was not to be ignored.
    #[error("'{line}' {} in {step}", ended(*exit_code, *signalled))]
    Failed {
        /// The command line.
        line: String,
        /// Its exit code.
        exit_code: Option<i32>,
        /// Whether a signal ended it.
        signalled: bool,
        /// In which run.
        step: Step,
    },
    /// What goes before or after runs failed.
    #[error("the {role} command '{line}' {}", ended(*exit_code, *signalled))]
    Intermediate {
        /// Which: setup, prepare, conclude or cleanup.
        role: &'static str,
        /// The command line.
        line: String,
        /// Its exit code.
        exit_code: Option<i32>,
        /// Whether a signal ended it.
        signalled: bool,
    },
    /// The shell cannot be run, so its start-up cannot be measured.
    #[error("cannot measure how long the shell takes to start: '{shell} -c \"\"' does not run")]
    Shell {
        /// The shell.
        shell: String,
    },
    /// A file for the input or the output of commands cannot be opened.
    #[error("cannot {verb} '{}': {error}", path.display())]
    File {
        /// What was tried.
        verb: &'static str,
        /// With which file.
        path: PathBuf,
        /// Why not.
        #[source]
        error: io::Error,
    },
}

fn ended(exit_code: Option<i32>, signalled: bool) -> String {
    match exit_code {
        Some(code) if signalled => format!("was ended by signal {}", code.saturating_sub(128)),
        Some(code) => format!("ended with exit code {code}"),
        None => "was ended by a signal".to_owned(),
    }
}
