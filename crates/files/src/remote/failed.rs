//! Why an object cannot be read or written, with the byte at which that was.

use std::error::Error;
use std::fmt;
use std::io;

use object_store::client::{HttpError, HttpErrorKind};

use super::answer::Answer;
use crate::object::ObjectError;

/// What went wrong. The caller adds the URL as the user spelled it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum RemoteError {
    /// The URL itself, or what the environment says about its store.
    Url { why: String },
    /// The server answered with this status.
    Status { code: u16, reason: &'static str },
    /// There was no answer.
    Unanswered { why: String },
    /// The store is reached without TLS, which nobody has allowed.
    Plain,
    /// The server does not say how large the object is.
    SizeUnknown,
    /// The server cannot give parts of the object.
    NoRanges,
    /// The server takes objects in one request only.
    NoParts,
    /// There is an object of this name already.
    Exists,
    /// The store cannot create an object on the condition that there is none.
    NoCondition { why: String },
    /// The stream broke before its end.
    Broken {
        at: u64,
        size: Option<u64>,
        why: String,
    },
    /// The user asked to stop.
    Interrupted,
}

impl RemoteError {
    /// Of a request that was not answered as asked; `answer` is the last that came.
    pub(super) fn of_request(error: &object_store::Error, answer: Option<Answer>) -> Self {
        match (answer, error) {
            (Some(answer), _) if answer.is_refusal() => Self::Status {
                code: answer.code,
                reason: answer.reason,
            },
            (_, object_store::Error::NotSupported { .. }) => Self::NoRanges,
            _ => Self::unanswered(error),
        }
    }

    fn unanswered(error: &(dyn Error + 'static)) -> Self {
        match innermost(error) {
            // So says the client of HTTP, of an `http://` that is not allowed.
            why if why.to_lowercase().contains("scheme is not allowed") => Self::Plain,
            why => Self::Unanswered { why },
        }
    }

    /// Of an upload; `answer` is the last that came.
    pub(super) fn of_upload(error: &ObjectError, answer: Option<Answer>) -> Self {
        match error {
            ObjectError::Store(error) => Self::of_request(error, answer),
            ObjectError::Exists => Self::Exists,
            ObjectError::NoParts { .. } => Self::NoParts,
            ObjectError::NoConditionalCreate { why } => Self::NoCondition { why: why.clone() },
            error => Self::unanswered(error),
        }
    }

    /// Of a stream that ended before its time, at byte `at`.
    pub(super) fn of_body(at: u64, size: Option<u64>, error: &object_store::Error) -> Self {
        match kind(error) {
            Some(HttpErrorKind::Timeout) => Self::Broken {
                at,
                size,
                why: "nothing came for too long".to_owned(),
            },
            _ => Self::Broken {
                at,
                size,
                why: innermost(error),
            },
        }
    }

    /// Of a stream that ended at byte `at` as if that were its end.
    pub(super) fn short(at: u64, size: Option<u64>) -> Self {
        Self::Broken {
            at,
            size,
            why: "no more came".to_owned(),
        }
    }
}

fn kind(error: &object_store::Error) -> Option<HttpErrorKind> {
    let mut error: &(dyn Error + 'static) = error;
    loop {
        if let Some(found) = error.downcast_ref::<HttpError>() {
            return Some(found.kind());
        }
        error = error.source()?;
    }
}

/// The error at the root of it, in one line.
pub(super) fn innermost(error: &(dyn Error + 'static)) -> String {
    let mut error = error;
    while let Some(source) = error.source() {
        error = source;
    }
    let text = error.to_string();
    text.lines().next().unwrap_or_default().trim().to_owned()
}

impl fmt::Display for RemoteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Url { why } => f.write_str(why),
            Self::Status { code, reason } => {
                write!(f, "the server answered {code} {}", reason.to_lowercase())
            }
            Self::Unanswered { why } => write!(f, "no answer: {}", why.to_lowercase()),
            Self::Plain => f.write_str(
                "the address of the store is http://, without TLS: set AWS_ALLOW_HTTP=true (GOOGLE_ALLOW_HTTP, \
                 AZURE_ALLOW_HTTP) if that is meant",
            ),
            Self::SizeUnknown => f.write_str("the server does not say how large it is"),
            Self::NoRanges => f.write_str("the server does not give parts of it"),
            Self::NoParts => f.write_str("the server takes no more than 8 MiB, in one request"),
            Self::Exists => f.write_str("it exists already"),
            Self::NoCondition { why } => write!(
                f,
                "the store cannot create it only if it does not exist ({}): allow it to be replaced",
                why.to_lowercase()
            ),
            Self::Broken { at, size, why } => {
                write!(f, "it broke off at byte {at}")?;
                if let Some(size) = size {
                    write!(f, " of {size}")?;
                }
                write!(f, ": {why}")
            }
            Self::Interrupted => f.write_str("interrupted"),
        }
    }
}

impl Error for RemoteError {}

impl From<RemoteError> for io::Error {
    fn from(error: RemoteError) -> Self {
        let kind = match &error {
            RemoteError::Url { .. } => io::ErrorKind::InvalidInput,
            RemoteError::Status {
                code: 404 | 410, ..
            } => io::ErrorKind::NotFound,
            RemoteError::Status {
                code: 401 | 403, ..
            } => io::ErrorKind::PermissionDenied,
            RemoteError::Exists => io::ErrorKind::AlreadyExists,
            RemoteError::NoCondition { .. } => io::ErrorKind::Unsupported,
            RemoteError::Broken { .. } => io::ErrorKind::UnexpectedEof,
            _ => io::ErrorKind::Other,
        };
        Self::new(kind, error)
    }
}
