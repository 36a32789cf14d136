//! What went wrong, as the user reads it: one line that says what and where, one that says what next.

use std::fmt;
use std::io;
use std::path::Path;

use crate::exit::ExitStatus;

/// An error on its way to the terminal and to the exit code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    message: String,
    help: Option<String>,
    status: ExitStatus,
}

/// Shorthand for results in this crate.
pub(crate) type Result<T> = std::result::Result<T, Failure>;

impl Failure {
    /// A runtime failure. `message` is lowercase and names the thing that it is about.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            help: None,
            status: ExitStatus::Failure,
        }
    }

    /// A mistake in the command line that the parser could not see.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self {
            status: ExitStatus::Usage,
            ..Self::new(message)
        }
    }

    /// Adds the next step.
    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Ends the process with another status than 1.
    pub(crate) fn status(mut self, status: ExitStatus) -> Self {
        self.status = status;
        self
    }

    /// An input or output error on a named file: `cannot VERB 'PATH': reason`.
    pub(crate) fn io(verb: &str, path: &Path, error: &io::Error) -> Self {
        let failure = Self::new(format!(
            "cannot {verb} '{}': {}",
            path.display(),
            reason(error)
        ));
        match error.kind() {
            io::ErrorKind::NotFound if verb == "read" || verb == "open" => {
                failure.help("check the path; `-` stands for standard input")
            }
            io::ErrorKind::NotFound => failure.help("create the directory first"),
            io::ErrorKind::PermissionDenied => {
                failure.help("change its permissions, or name another file with -o")
            }
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                failure.help("free some space, or name a file elsewhere with -o; nothing was left")
            }
            io::ErrorKind::FileTooLarge => {
                failure.help("raise the limit on file sizes (ulimit -f); nothing was left")
            }
            // The system's own interruptions are waited out: this one is the user's.
            io::ErrorKind::Interrupted => failure.status(ExitStatus::Interrupted),
            _ => failure,
        }
    }

    /// The line to print.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// The next step, if one is known.
    pub(crate) fn help_text(&self) -> Option<&str> {
        self.help.as_deref()
    }

    /// The status that this failure alone would end the process with.
    pub(crate) fn exit_status(&self) -> ExitStatus {
        self.status
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// The system's words for an error, lowercase and without the number.
pub(crate) fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or(&text);
    let mut chars = text.chars();
    match chars.next() {
        Some(first) => first.to_lowercase().chain(chars).collect(),
        None => "unknown error".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_file_reads_as_one_lowercase_line_with_a_next_step() {
        let error = io::Error::from_raw_os_error(2);
        let failure = Failure::io("read", Path::new("x.zst"), &error);
        assert_eq!(
            failure.message(),
            "cannot read 'x.zst': no such file or directory"
        );
        assert!(failure.help_text().is_some());
        assert_eq!(failure.exit_status(), ExitStatus::Failure);
    }
}
