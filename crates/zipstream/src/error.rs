//! Errors: a kind, the place, the entry, and the next step.
//!
//! I/O errors have the kind [`ErrorKind::Io`], with their `io::ErrorKind`.

use std::borrow::Cow;
use std::{fmt, io};

use crate::name::of_bytes;

/// What went wrong, for programs. More kinds may be added.
///
/// A server that reads archives of its clients may answer:
///
/// | kind | status |
/// |---|---|
/// | [`NotZip`](Self::NotZip), [`Unsupported`](Self::Unsupported) | 415 Unsupported Media Type |
/// | [`Limit`](Self::Limit), [`TooLarge`](Self::TooLarge) | 413 Content Too Large |
/// | [`Truncated`](Self::Truncated), [`Corrupt`](Self::Corrupt), [`Mismatch`](Self::Mismatch), [`Overlap`](Self::Overlap), [`Checksum`](Self::Checksum), [`Size`](Self::Size), [`Name`](Self::Name), [`Duplicate`](Self::Duplicate) | 422 Unprocessable Content |
/// | [`Password`](Self::Password), [`Authentication`](Self::Authentication) | 422, or 403 Forbidden if the client states the password |
/// | [`Index`](Self::Index), [`StaleIndex`](Self::StaleIndex) | 409 Conflict for an index of the client's, 500 for one of the server's |
/// | [`Io`](Self::Io) | 500 Internal Server Error, or 502 Bad Gateway where the archive comes from another server |
/// | [`Order`](Self::Order), [`Setting`](Self::Setting), [`Internal`](Self::Internal) | 500: the program is wrong |
///
/// [`Error::help_text`] speaks of options of this crate, so it is for the server's log and not for its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// Calls in the wrong order, for example content without an open entry.
    Order,
    /// An option with an invalid value.
    Setting,
    /// A name that an archive must not contain, or that cannot be decoded.
    Name,
    /// A name that the archive already contains.
    Duplicate,
    /// More content than the header, which is already written, can describe.
    TooLarge,
    /// Not a ZIP archive.
    NotZip,
    /// The archive ends too early.
    Truncated,
    /// A record contradicts the format.
    Corrupt,
    /// Two records contradict each other.
    Mismatch,
    /// Two entries share bytes of the archive.
    Overlap,
    /// The checksum of the content differs from the stated one.
    Checksum,
    /// The entry is encrypted, and the password is missing or wrong.
    Password,
    /// The authentication code of encrypted content differs from the stated one.
    Authentication,
    /// The size of the content differs from the stated one.
    Size,
    /// A method, an encryption or a feature that this build does not support.
    Unsupported,
    /// A limit of the reader was exceeded.
    Limit,
    /// An index that contradicts its format, or that is damaged.
    Index,
    /// An index of another content than that which it is used for.
    StaleIndex,
    /// Reading or writing failed.
    Io(io::ErrorKind),
    /// A bug of this crate or of a library below it.
    Internal,
}

/// An error of this crate. Its text is one line in lower case and includes the place.
#[derive(Debug, Clone)]
pub struct Error(Box<Inner>);

#[derive(Debug, Clone)]
struct Inner {
    kind: ErrorKind,
    what: Cow<'static, str>,
    offset: Option<u64>,
    entry: Option<String>,
    local_name: Option<String>,
    help: Option<&'static str>,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, what: impl Into<Cow<'static, str>>) -> Self {
        Self(Box::new(Inner {
            kind,
            what: what.into(),
            offset: None,
            entry: None,
            local_name: None,
            help: None,
        }))
    }

    pub(crate) fn corrupt(offset: u64, what: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorKind::Corrupt, what).at(offset)
    }

    pub(crate) fn truncated(offset: u64, what: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorKind::Truncated, what)
            .at(offset)
            .help("the archive was cut off: fetch or copy it again")
    }

    /// The error of a source or sink.
    pub fn from_io(error: &io::Error) -> Self {
        Self::io(error)
    }

    pub(crate) fn io(error: &io::Error) -> Self {
        let text = error.to_string();
        let text = text.split(" (os error").next().unwrap_or(&text);
        Self::new(ErrorKind::Io(error.kind()), text.to_lowercase())
    }

    pub(crate) fn at(mut self, offset: u64) -> Self {
        self.0.offset.get_or_insert(offset);
        self
    }

    pub(crate) fn entry(mut self, name: impl Into<String>) -> Self {
        self.0.entry.get_or_insert_with(|| name.into());
        self
    }

    pub(crate) fn of_local_name(mut self, name: &[u8]) -> Self {
        self.0.local_name = Some(of_bytes(name).into_owned());
        self
    }

    pub(crate) fn help(mut self, help: &'static str) -> Self {
        self.0.help = Some(help);
        self
    }

    /// What went wrong.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The byte of the archive where it happened, if known.
    pub fn offset(&self) -> Option<u64> {
        self.0.offset
    }

    /// The entry it is about, if any.
    pub fn entry_name(&self) -> Option<&str> {
        self.0.entry.as_deref()
    }

    /// The other name that the local header of the entry has, if it is about that.
    pub fn local_name(&self) -> Option<&str> {
        self.0.local_name.as_deref()
    }

    /// Its text without the entry: what went wrong, and where.
    pub fn detail(&self) -> Cow<'_, str> {
        match self.0.offset {
            Some(offset) => Cow::Owned(format!("{} at byte {offset}", self.0.what)),
            None => Cow::Borrowed(&self.0.what),
        }
    }

    /// What to do next, if known.
    pub fn help_text(&self) -> Option<&'static str> {
        self.0.help
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(entry) = &self.0.entry {
            write!(f, "entry '{}': ", entry.escape_debug())?;
        }
        f.write_str(&self.detail())
    }
}

impl std::error::Error for Error {}

impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        let kind = match error.kind() {
            ErrorKind::Io(kind) => kind,
            ErrorKind::Truncated => io::ErrorKind::UnexpectedEof,
            ErrorKind::Order | ErrorKind::Setting => io::ErrorKind::InvalidInput,
            ErrorKind::Unsupported => io::ErrorKind::Unsupported,
            _ => io::ErrorKind::InvalidData,
        };
        Self::new(kind, error)
    }
}

/// The refusal of a word that names none of `known`.
pub(crate) fn unknown(what: &str, text: &str, known: &str) -> Error {
    let text = text.escape_debug();
    Error::new(
        ErrorKind::Setting,
        format!("unknown {what} '{text}': use one of {known}"),
    )
}

/// A bug of this crate or of a library below it: the input is not to blame.
pub(crate) fn internal(what: &'static str) -> Error {
    Error::new(ErrorKind::Internal, what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_place_and_entry_stay() {
        let error = Error::corrupt(7, "wrong signature").at(9).entry("a\nb");
        let error = error.entry("c");
        assert_eq!(
            error.to_string(),
            "entry 'a\\nb': wrong signature at byte 7"
        );
        assert_eq!(error.offset(), Some(7));
        assert_eq!(io::Error::from(error).kind(), io::ErrorKind::InvalidData);
    }
}
