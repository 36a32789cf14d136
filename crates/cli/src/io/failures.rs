//! What the program says of errors of the library `files`, with the flags that help.

use files::Error;
use files::conflicts::Conflict;
use report::ExitStatus;

use crate::args::advised;
use crate::failure::Failure;

/// What to do where URLs are unknown: those of web servers, and those of stores.
const WEB: &str =
    "pipe it in (curl -fsSL URL, with - for its name here), or build perfkit with --features web";
const CLOUD: &str = "build perfkit with --features cloud, or use a pipe";

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::from(&error)
    }
}

impl From<&Error> for Failure {
    fn from(error: &Error) -> Self {
        let failure = Failure::new(error.to_string());
        match error {
            Error::Io {
                operation,
                path,
                source,
            } => Failure::io(operation.verb(), path, source),
            Error::Exists { .. } => failure.help(match advised().force {
                Some(force) => format!("add {force} to overwrite it, or name another file"),
                None => "name another file".to_owned(),
            }),
            Error::IsDirectory { operation, .. } => failure.help(match operation {
                files::Operation::Read => "name the files in it",
                _ => "name a file",
            }),
            Error::Unnamed => failure
                .status(ExitStatus::Usage)
                .help(match advised().output {
                    true => "name a file with -o",
                    false => "name a file",
                }),
            Error::BlockDevice { .. } => failure.help(match advised().force {
                Some(force) => format!("add {force} to do it"),
                None => "name a file".to_owned(),
            }),
            Error::OneTarget { sources } => {
                Failure::usage(format!("-o names one file for {sources} inputs"))
                    .help("leave out -o to write one target per input, or use -c to join them")
            }
            Error::OnlySuffix { .. } | Error::NoSuffix { .. } | Error::UrlUnnamed { .. } => {
                failure.help("name the target with -o, or use -c")
            }
            Error::LeadsUp { .. } => failure.help("name it without '..'"),
            Error::UrlUnsupported { operation, url } => {
                let (feature, help) = match files::url::is_web(url) {
                    true => ("web", WEB),
                    false => ("cloud", CLOUD),
                };
                Failure::new(format!(
                    "cannot {operation} '{url}': built without the feature '{feature}'"
                ))
                .help(help)
            }
            Error::Conflict(conflict) => conflict.clone().into(),
            _ => failure,
        }
    }
}

impl From<Conflict> for Failure {
    fn from(conflict: Conflict) -> Self {
        let help = match &conflict {
            Conflict::Itself { .. } | Conflict::TwoRoles { report: false, .. }
                if advised().output =>
            {
                "name another target with -o, or use separate runs".to_owned()
            }
            other => other.help(),
        };
        Failure::usage(conflict.to_string()).help(help)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_files_come_with_the_flags_that_help() {
        let directory = tempfile::tempdir().expect("a directory");
        let context = files::Context::default();
        let read = files::source::Source::open(directory.path(), &context).expect_err("refused");
        let failure = Failure::from(read);
        assert_eq!(failure.help_text(), Some("name the files in it"));
        let written = files::target::Target::create(directory.path(), true, None, &context);
        let failure = Failure::from(written.expect_err("refused"));
        assert_eq!(failure.help_text(), Some("name a file"));
        let two = Failure::from(Error::OneTarget { sources: 2 });
        assert_eq!(two.message(), "-o names one file for 2 inputs");
        assert_eq!(two.exit_status(), ExitStatus::Usage);
    }
}
