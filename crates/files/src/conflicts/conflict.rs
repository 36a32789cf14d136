//! What a run may not do with its files.

use std::path::PathBuf;

use crate::display::display;

/// Why a run is refused: a file that it would read and write, or write twice. Files are named as the
/// caller called them: by a flag, or a word such as `the log`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Conflict {
    /// A report goes where the data goes.
    #[error("{flag} - would mix the report with {data} on standard output")]
    Mixed {
        /// The report.
        flag: &'static str,
        /// What goes there.
        data: &'static str,
    },
    /// Two reports go to standard output.
    #[error("{first} and {second} would mix two reports on standard output")]
    TwoReports {
        /// One.
        first: &'static str,
        /// The other.
        second: &'static str,
    },
    /// A standard stream is redirected to a file that is read.
    #[error("{stream} goes to {}, which is also read", display(path))]
    StreamIsRead {
        /// The stream.
        stream: &'static str,
        /// The file.
        path: PathBuf,
    },
    /// A standard stream is redirected to a file that is written.
    #[error("{} is {what}, and {stream} goes to it as well", display(path))]
    StreamIsWritten {
        /// The file.
        path: PathBuf,
        /// What it is.
        what: &'static str,
        /// The stream.
        stream: &'static str,
    },
    /// A source is its own target.
    #[error("'{}' would become itself", path.display())]
    Itself {
        /// The file.
        path: PathBuf,
    },
    /// One file is two things to a job.
    #[error("'{}' is {first} and {second}", path.display())]
    TwoRoles {
        /// The file.
        path: PathBuf,
        /// What it is.
        first: String,
        /// What it is, too.
        second: String,
        /// Whether the second is the file of a report.
        report: bool,
    },
    /// Two flags name one file to be written.
    #[error("{} is named twice: by {first} and by {second}", display(path))]
    NamedTwice {
        /// The file.
        path: PathBuf,
        /// One.
        first: &'static str,
        /// The other.
        second: &'static str,
    },
    /// A file that is read would be written.
    #[error(
        "{} is read ({read}) and would be overwritten ({written})",
        display(path)
    )]
    Overwritten {
        /// The file.
        path: PathBuf,
        /// What it is as one that is read.
        read: &'static str,
        /// What it is as one that is written.
        written: &'static str,
    },
}

impl Conflict {
    /// What to do about it.
    #[must_use]
    pub fn help(&self) -> String {
        match self {
            Self::Mixed { flag, .. } => format!("name a file: {flag} FILE"),
            Self::TwoReports { .. } => "name a file for one of them".to_owned(),
            Self::StreamIsWritten { stream, .. } => format!("send {stream} to another file"),
            Self::StreamIsRead { .. }
            | Self::Overwritten {
                written: "standard output",
                ..
            } => "send it to another file".to_owned(),
            Self::NamedTwice { second: name, .. } | Self::Overwritten { written: name, .. } => {
                format!("name another file for {name}")
            }
            Self::TwoRoles { report: true, .. } => "name another file for the report".to_owned(),
            Self::Itself { .. } | Self::TwoRoles { .. } => {
                "name another target, or use separate runs".to_owned()
            }
        }
    }
}
