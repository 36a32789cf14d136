//! What went wrong, as the user reads it: one line that says what and where, one that says what next.

use std::fmt;
use std::io;
use std::path::Path;

pub(crate) use files::reason;

use report::ExitStatus;

/// An error on its way to the terminal and to the exit code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    message: String,
    help: Option<String>,
    status: ExitStatus,
    code: u8,
}

/// Options of zipstream that its help names, and what this program calls them.
const ARCHIVE_FLAGS: [(&str, &str); 7] = [
    ("Limits::entry_bytes", "--max-entry"),
    ("Limits::total_bytes", "--max-size"),
    ("Limits::ratio", "--max-ratio"),
    ("Limits::entries", "--max-entries"),
    ("(Decryption::release_early)", "(unzip -p --unverified)"),
    ("with combine::Parts", "first, as with `zip -s 0`"),
    // There are no flags for these.
    ("Limits::", "the limit of "),
];

/// Shorthand for results in this crate.
pub(crate) type Result<T> = std::result::Result<T, Failure>;

impl Failure {
    /// A runtime failure. `message` is lowercase and names the thing that it is about.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            help: None,
            status: ExitStatus::Failure,
            code: 1,
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

    /// Adds the next step of an error of an archive, with the flags of `unzip` in place of the library's options.
    pub(crate) fn archive_help(self, error: &zipstream::Error) -> Self {
        let Some(help) = error.help_text() else {
            return self;
        };
        let with_flags = |help: String, (option, flag): &(&str, &str)| help.replace(option, flag);
        self.help(ARCHIVE_FLAGS.iter().fold(help.to_owned(), with_flags))
    }

    /// Adds to the next step.
    pub(crate) fn more_help(self, more: &str) -> Self {
        let help = match &self.help {
            Some(help) => format!("{help}; {more}"),
            None => more.to_owned(),
        };
        self.help(help)
    }

    /// Ends the process with another status than 1.
    pub(crate) fn status(mut self, status: ExitStatus) -> Self {
        self.status = status;
        self
    }

    /// Ends the process with this code under the name of another program that has one for this failure.
    pub(crate) fn code(mut self, code: u8) -> Self {
        self.code = code;
        self
    }

    /// The exit code under the name of another program: 1, unless it was set.
    pub(crate) fn named_code(&self) -> u8 {
        self.code
    }

    /// An error of the system on a named file: `cannot VERB 'PATH': reason`. `-` and the names of
    /// the standard streams stand for these.
    pub(crate) fn io(verb: &str, path: &Path, error: &io::Error) -> Self {
        let name = match path.to_str() {
            Some("-") => "standard input".to_owned(),
            Some(stream @ ("standard output" | "standard error")) => stream.to_owned(),
            _ => format!("'{}'", path.display()),
        };
        let failure = Self::new(format!("cannot {verb} {name}: {}", reason(error)));
        let failure = match files::is_cancelled(error) {
            true => failure.status(ExitStatus::Interrupted),
            false => failure,
        };
        match files::url::of(path).filter(|url| files::url::local(url).is_none()) {
            Some(url) => match object_step(url, verb, error.kind()) {
                Some(help) => failure.help(help),
                None => failure,
            },
            None => failure.next_step(verb, error.kind()),
        }
    }

    /// A program that cannot be run: `cannot run the ROLE 'PROGRAM'`.
    pub(crate) fn program(role: &str, program: &Path, error: &io::Error) -> Self {
        let name = program.display();
        let failure = Self::new(format!("cannot run the {role} '{name}': {}", reason(error)));
        failure.next_step("run", error.kind())
    }

    /// Adds what to do about an error of the system of this kind, where that is known.
    pub(crate) fn next_step(self, verb: &str, kind: io::ErrorKind) -> Self {
        match next_step(verb, kind) {
            Some(help) => self.help(help),
            None => self,
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

impl From<bench::Error> for Failure {
    fn from(error: bench::Error) -> Self {
        Self::from(&error)
    }
}

impl From<&bench::Error> for Failure {
    fn from(error: &bench::Error) -> Self {
        use bench::Error;
        let failure = Self::new(error.to_string());
        match error {
            Error::Stopped => failure.status(ExitStatus::Interrupted),
            Error::Settings { .. } => failure.status(ExitStatus::Usage),
            Error::Io { verb, path, error } => Self::io(verb, path, error),
            Error::Failed {
                help: Some(help), ..
            } => failure.help(help),
            _ => failure,
        }
    }
}

impl From<report::Error> for Failure {
    fn from(error: report::Error) -> Self {
        use report::{Asked, Error};
        let failure = match &error {
            Error::NoRow { asked, .. } => Self::usage(match asked {
                Asked::Gate(gate) => format!("--slo '{gate}': {error}"),
                Asked::Row(row) => format!("--row '{row}': {error}"),
                _ => error.to_string(),
            }),
            Error::NoSeries { gate, .. } => Self::usage(format!("--slo '{gate}': {error}")),
            Error::Pin { .. } => Self::usage(error.to_string()),
            Error::Unfit { .. } => Self::new(error.to_string()).status(ExitStatus::Environment),
            _ => Self::new(error.to_string()),
        };
        let help = match &error {
            Error::Malformed { .. } => Some(
                "it reads what --export-json, --export-hgrm and --export-hlog write, and files of hyperfine, oha, wrk2, k6, criterion, Google Benchmark, JMH and pytest-benchmark".into(),
            ),
            Error::Merge { .. } => Some("leave out --merge to show the files side by side".into()),
            error => error.help(),
        };
        match help {
            Some(help) => failure.help(help),
            None => failure,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}

/// What to do about what a server says of an object, if known.
fn object_step(url: &str, verb: &str, kind: io::ErrorKind) -> Option<String> {
    use io::ErrorKind as Kind;
    let scheme = url.split_once("://").map_or("", |(scheme, _)| scheme);
    let keys = match scheme.to_ascii_lowercase().as_str() {
        "http" | "https" => None,
        "gs" => Some("GOOGLE_APPLICATION_CREDENTIALS is set"),
        "s3" | "s3a" => Some("AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are set"),
        _ => Some("AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY are set"),
    };
    match (kind, keys) {
        (Kind::PermissionDenied, Some(keys)) => Some(format!(
            "see that {keys}, that they are of this store, and that this user may {verb} it"
        )),
        (Kind::PermissionDenied, None) => Some(
            "perfkit shows no credentials to web servers: pipe it through another program"
                .to_owned(),
        ),
        (Kind::NotFound, Some(_)) => Some("check the bucket and the key".to_owned()),
        (Kind::NotFound, None) => Some("check the URL".to_owned()),
        _ => None,
    }
}

/// What to do about a system error, if known.
fn next_step(verb: &str, kind: io::ErrorKind) -> Option<&'static str> {
    use io::ErrorKind as Kind;
    Some(match (verb, kind) {
        ("run", Kind::NotFound) => "check its name, and that its directory is on PATH",
        ("run", Kind::PermissionDenied) => "make it executable: chmod +x",
        ("read", Kind::NotConnected) => "name a file, or pipe data in",
        ("write", Kind::NotConnected) => "redirect it to a file or a pipe; 2>&1 is standard error",
        ("change", Kind::NotFound) => "check the path",
        ("read", Kind::NotFound) => "check the path; `-` stands for standard input",
        ("read", Kind::PermissionDenied) => {
            "ask for permission to read it, or run this as its owner"
        }
        ("write", Kind::NotFound) => "create its directory first",
        ("write", Kind::PermissionDenied | Kind::ReadOnlyFilesystem) => {
            "choose a directory that you may write to"
        }
        ("remove", Kind::PermissionDenied) => {
            "the target is complete; remove the source as its owner"
        }
        (_, Kind::NotADirectory) => "a part of the path is a file: check the path",
        (_, Kind::StorageFull | Kind::QuotaExceeded) => "free some space, or use another directory",
        (_, Kind::FileTooLarge) => "raise the limit for file sizes (ulimit -f)",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(verb: &str, path: &str, code: i32) -> (String, Option<String>) {
        let failure = Failure::io(verb, Path::new(path), &io::Error::from_raw_os_error(code));
        assert_eq!(failure.exit_status(), ExitStatus::Failure);
        (failure.message, failure.help)
    }

    #[test]
    fn help_about_archives_speaks_of_flags() {
        use zipstream::{ArchiveReader, ArchiveWriter, EntryOptions, Limits, ReadOptions};

        let mut writer = ArchiveWriter::new(Vec::new());
        for name in ["a", "b"] {
            let options = EntryOptions::default();
            writer.add(name, &options, &mut &b"content"[..]).unwrap();
        }
        let (archive, _) = writer.finish().unwrap();
        let options = |limits| ReadOptions::default().limits(limits);
        let open = |limits| ArchiveReader::open_with(&archive[..], &options(limits));
        let entries = open(Limits::default().entries(1)).unwrap_err();
        let reader = open(Limits::default().entry_bytes(6)).unwrap();
        let bytes = reader
            .read(&reader.find("a").unwrap().unwrap())
            .unwrap_err();
        for (error, flags) in [
            (entries, "raise --max-entries if the source is trusted"),
            (
                bytes,
                "raise --max-entry or --max-size if the source is trusted",
            ),
        ] {
            let help = error.help_text().unwrap();
            assert!(help.contains("Limits::") && !help.contains("--"), "{help}");
            let failure = Failure::new("").archive_help(&error);
            assert_eq!(failure.help_text(), Some(flags));
        }
    }

    #[test]
    fn a_missing_file_reads_as_one_lowercase_line_with_a_next_step() {
        let (message, help) = told("read", "x.zst", 2);
        assert_eq!(message, "cannot read 'x.zst': no such file or directory");
        assert!(help.is_some());
    }

    #[cfg(unix)]
    #[test]
    fn the_next_step_fits_what_was_tried() {
        let help = |verb, code| told(verb, "x", code).1.unwrap_or_default();
        assert!(help("run", 2).contains("PATH"));
        assert!(help("run", 13).contains("executable"));
        assert!(help("write", 2).contains("directory"));
        assert!(!help("read", 13).contains("-o"));
        assert!(help("read", 20).contains("is a file"));
        assert!(help("write", 28).contains("space"));
    }

    #[test]
    fn streams_are_not_quoted_as_files_are() {
        let start = |path| told("write", path, 28).0;
        assert!(start("standard output").starts_with("cannot write standard output: "));
        assert!(start("-").starts_with("cannot write standard input: "));
        assert!(start("out").starts_with("cannot write 'out': "));
    }
}
