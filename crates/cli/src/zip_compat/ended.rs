//! How a run under one of these names ends: the exit codes that scripts know.

use crate::failure::Failure;

/// Exit codes of `zip`.
pub(super) mod zip {
    /// The archive is not one.
    pub(crate) const STRUCTURE: u8 = 3;
    /// A test of the archive failed.
    pub(crate) const TEST: u8 = 8;
    /// Interrupted.
    pub(crate) const INTERRUPTED: u8 = 9;
    /// There is no room for what replaces the archive.
    pub(crate) const TEMPORARY: u8 = 10;
    /// Reading failed.
    pub(crate) const READ: u8 = 11;
    /// There was nothing to do.
    pub(crate) const NOTHING: u8 = 12;
    /// Writing failed.
    pub(crate) const WRITE: u8 = 14;
    /// The archive cannot be created.
    pub(crate) const CREATE: u8 = 15;
    /// The command line was wrong.
    pub(crate) const USAGE: u8 = 16;
    /// A file cannot be read.
    pub(crate) const OPEN: u8 = 18;
}

/// Exit codes of `unzip` and `zipinfo`.
pub(super) mod unzip {
    /// Done, with warnings.
    pub(crate) const WARNING: u8 = 1;
    /// The archive has errors.
    pub(crate) const DAMAGED: u8 = 2;
    /// The archive has errors that many entries may suffer from.
    pub(crate) const STRUCTURE: u8 = 3;
    /// No password can be asked for.
    pub(crate) const NO_PASSWORD: u8 = 5;
    /// There is no archive.
    pub(crate) const NOT_FOUND: u8 = 9;
    /// The command line was wrong.
    pub(crate) const USAGE: u8 = 10;
    /// No entry matches.
    pub(crate) const NO_MATCH: u8 = 11;
    /// Writing failed.
    pub(crate) const DISK: u8 = 50;
    /// Interrupted.
    pub(crate) const INTERRUPTED: u8 = 80;
    /// A method or an encryption is not supported.
    pub(crate) const UNSUPPORTED: u8 = 81;
    /// No password fits.
    pub(crate) const WRONG_PASSWORD: u8 = 82;
}

/// Why a run ends early.
#[derive(Debug)]
pub(super) struct Stop {
    /// The exit code.
    pub(super) code: u8,
    /// What is printed.
    pub(super) failure: Option<Failure>,
}

impl Stop {
    pub(super) fn new(code: u8, failure: Failure) -> Self {
        Self {
            code,
            failure: Some(failure),
        }
    }

    /// Ends without a word.
    pub(super) fn silent(code: u8) -> Self {
        Self {
            code,
            failure: None,
        }
    }
}

/// What a run comes to.
pub(super) type Ended<T> = Result<T, Stop>;
