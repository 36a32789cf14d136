//! Which of the programs this is, and the way to it.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use crate::term::message::{self, Voice};
use crate::term::signal::{self, Ending};
use crate::zip_compat::{shown, unzip, words, zip};

/// A name that the binary may be called by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Name {
    Zip,
    Unzip,
    Zipinfo,
}

impl Name {
    /// The name in the first argument of a command line.
    pub(crate) fn of(program: &OsStr) -> Option<Self> {
        let name = Path::new(program).file_name()?.to_str()?;
        Some(match name.strip_suffix(".exe").unwrap_or(name) {
            "zip" => Self::Zip,
            "unzip" => Self::Unzip,
            "zipinfo" => Self::Zipinfo,
            _ => return None,
        })
    }

    /// The start of messages.
    fn as_str(self) -> &'static str {
        match self {
            Self::Zip => "zip",
            Self::Unzip => "unzip",
            Self::Zipinfo => "zipinfo",
        }
    }

    /// The environment variables with options that precede those of the command line: the first that has any.
    fn variables(self) -> [&'static str; 2] {
        match self {
            Self::Zip => ["ZIPOPT", "ZIP"],
            Self::Unzip => ["UNZIP", "UNZIPOPT"],
            Self::Zipinfo => ["ZIPINFO", "ZIPINFOOPT"],
        }
    }
}

/// Runs a command line of one of these programs; returns its exit code.
pub(crate) fn run(name: Name, argv: &[OsString]) -> u8 {
    message::set_voice(Voice {
        name: name.as_str(),
        failures: true,
    });
    message::set_notation(shown::message);
    signal::install(Ending::BetweenSteps);
    let words = words::with_variables(name.variables(), argv.get(1..).unwrap_or_default());
    let ended = match name {
        Name::Zip => zip::run(&words),
        Name::Unzip => unzip::run(&words, false),
        Name::Zipinfo => unzip::run(&words, true),
    };
    match ended {
        Ok(code) => code,
        Err(stop) => {
            if let Some(failure) = &stop.failure {
                message::failure(failure);
            }
            stop.code
        }
    }
}
