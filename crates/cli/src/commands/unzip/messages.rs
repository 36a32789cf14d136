//! What `unzip` says of what failed, with the flags that help.

use std::io;
use std::path::Path;

use zipstream::Warning;
use zipstream::extract::{ExtractReport, Failed, Reason};

use crate::args::glob::Asked;
use crate::commands::unzip::objects::Prefix;
use crate::failure::Failure;
use crate::term::message;

/// Turns an error of the archive into a failure.
pub(super) fn failed(error: &zipstream::Error) -> Failure {
    Failure::new(error.to_string()).archive_help(error)
}

/// Warns of what is odd about an archive.
pub(super) fn odd(warning: &Warning) {
    message::note(&warning.to_string(), "--strict refuses such archives");
}

/// Warns of bytes before an archive from a pipe, if there are any.
pub(super) fn preceded(bytes: u64) {
    if bytes > 0 {
        odd(&Warning::Prefix { bytes });
    }
}

/// Why nothing was extracted.
pub(super) fn not_started(error: &zipstream::Error) -> Failure {
    let failure = failed(error);
    match error.kind() {
        _ if error.offset().is_some() => failure,
        zipstream::ErrorKind::Io(io::ErrorKind::AlreadyExists | io::ErrorKind::NotADirectory) => {
            failure.help("it is not a directory: name another one with -d")
        }
        zipstream::ErrorKind::Io(kind) => failure.next_step("write", kind),
        _ => failure,
    }
}

/// Why an entry was not extracted, to a directory or to a prefix in a store.
pub(super) fn of_entry(failed_one: &Failed, prefix: Option<&Prefix<'_>>) -> Failure {
    let object = prefix.map(|prefix| prefix.name(&failed_one.path()));
    let failure = match (&failed_one.reason, &object) {
        (Reason::Write(error), Some(object)) => return Failure::io("write", object, error),
        (Reason::Exists, Some(object)) => {
            Failure::new(format!("{} exists already", files::display(object)))
        }
        _ => Failure::new(failed_one.to_string()),
    };
    match &failed_one.reason {
        Reason::Archive(error) => failed(error),
        Reason::Undelivered(error) => Failure::io("write", Path::new("standard output"), error),
        Reason::Name(_) => {
            failure.help("list the archive with -l; it may have been made to do harm")
        }
        Reason::SamePath => failure.help("extract them one at a time, with a GLOB and -p"),
        Reason::Exists => failure.help("add --overwrite, or -n to skip what exists"),
        Reason::Link(_) => failure.help("-p with its name prints where it leads"),
        Reason::Panicked => failure.help("please report this as a bug with the command line"),
        Reason::Write(error) => match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                failure.help("free some space, or use another directory")
            }
            io::ErrorKind::NotADirectory => {
                failure.help("nothing is written through links: extract into an empty directory")
            }
            _ => failure,
        },
        _ => failure,
    }
}

/// What is said of patterns that no entry of an archive matches.
pub(super) fn unmatched(asked: &Asked<'_>, archive: &Path) -> Vec<Failure> {
    let unmatched = |glob: &str| {
        let failure = Failure::new(format!("no entry matches '{glob}'"));
        // What came through a pipe is gone.
        match archive.as_os_str() == "-" {
            true => failure.help("-1 lists the names"),
            false => failure.help(format!(
                "list the names: perfkit unzip -1 {}",
                files::display(archive)
            )),
        }
    };
    asked.unmet().map(unmatched).collect()
}

/// Says what is odd about the archive and what was left as it was.
pub(super) fn warn(report: &ExtractReport) {
    for contradiction in &report.contradictions {
        message::note(
            &contradiction.to_string(),
            "the directory counts; --strict refuses such archives",
        );
    }
    let more = report.contradicted - report.contradictions.len() as u64;
    if more > 0 {
        message::remark(&format!(
            "{more} more local headers contradict the directory"
        ));
    }
    if report.kept > 0 {
        message::note(
            &format!("{} files exist already and were kept", report.kept),
            "--overwrite replaces them",
        );
    }
    if let Some(first) = report.repeated.first() {
        message::note(
            &match report.repeats {
                1 => format!("entry '{first}' is not extracted: another one has the same path"),
                count => format!(
                    "{count} entries are not extracted, as '{first}': others have the same paths"
                ),
            },
            "the last one counts, or with -n the first; --strict refuses such archives",
        );
    }
    if report.case_clashes > 0 {
        message::note(
            &format!(
                "{} names differ from another in case only",
                report.case_clashes
            ),
            "not every file system can hold both",
        );
    }
}
