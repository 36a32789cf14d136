//! What is wrong with a request, as JSON: a kind for programs, a text for people, the place, and what to do.

use std::borrow::Cow;

use betree::{ErrorKind, Place};
use hyper::header::{ALLOW, CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use hyper::{Response, StatusCode};
use serde::Serialize;

use super::body::Body;
use crate::change::ChangeError;
use crate::shared::SaveError;

/// Something wrong with a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Problem {
    #[serde(skip)]
    pub(super) status: StatusCode,
    pub(super) kind: &'static str,
    pub(super) message: String,
    /// Of an expression, or of a body of lines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) line: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) column: Option<u64>,
    /// Of an event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) byte: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) hint: Option<Cow<'static, str>>,
}

impl Problem {
    pub(super) fn new(
        status: StatusCode,
        kind: &'static str,
        message: impl Into<String>,
        hint: &'static str,
    ) -> Self {
        Self {
            status,
            kind,
            message: message.into(),
            line: None,
            column: None,
            byte: None,
            hint: (!hint.is_empty()).then_some(Cow::Borrowed(hint)),
        }
    }

    pub(super) fn bad_request(
        kind: &'static str,
        message: impl Into<String>,
        hint: &'static str,
    ) -> Self {
        Self::new(StatusCode::BAD_REQUEST, kind, message, hint)
    }

    pub(super) fn too_large(message: impl Into<String>, hint: &'static str) -> Self {
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", message, hint)
    }

    /// The answer to a whole request.
    pub(super) fn response(&self) -> Response<Body> {
        #[derive(Serialize)]
        struct Whole<'p> {
            error: &'p Problem,
        }
        let mut bytes = serde_json::to_vec(&Whole { error: self }).unwrap_or_default();
        bytes.push(b'\n');
        let mut response = Response::new(Body::Whole(bytes.into()));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if self.status == StatusCode::SERVICE_UNAVAILABLE {
            headers.insert(RETRY_AFTER, HeaderValue::from_static("1"));
        }
        if self.status == StatusCode::METHOD_NOT_ALLOWED
            && let Some(allowed) = self
                .hint
                .as_deref()
                .and_then(|hint| hint.strip_prefix("use "))
            && let Ok(allowed) = HeaderValue::from_str(allowed)
        {
            headers.insert(ALLOW, allowed);
        }
        response
    }
}

impl From<betree::Error> for Problem {
    fn from(error: betree::Error) -> Self {
        let (kind, hint) = match error.kind() {
            ErrorKind::Syntax => ("syntax", "correct the expression at this place"),
            ErrorKind::UnknownAttribute => (
                "unknown_attribute",
                "use an attribute of the domain; events may have others with --ignore-unknown",
            ),
            ErrorKind::Type => ("type", "use a value of the attribute's type"),
            ErrorKind::Bounds => ("bounds", "use a value within the bounds of the domain"),
            ErrorKind::Undefined => ("undefined", "give the event all required attributes"),
            ErrorKind::Constants => (
                "constants",
                "state the id that the frequency cap needs, as in ?flight_id=4",
            ),
            ErrorKind::Json => ("json", "send one JSON object per line"),
            ErrorKind::UnknownId => ("unknown_id", ""),
            ErrorKind::TooLarge => ("too_large", ""),
            _ => ("refused", ""),
        };
        let status = match error.kind() {
            ErrorKind::UnknownId => StatusCode::NOT_FOUND,
            ErrorKind::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            _ => StatusCode::BAD_REQUEST,
        };
        let mut problem = Self::new(status, kind, error.message(), hint);
        if let Some(hint) = error.hint() {
            problem.hint = Some(Cow::Owned(hint.to_owned()));
        }
        match error.place() {
            Place::None => {}
            Place::Text { line, column } => {
                problem.line = Some(line.into());
                problem.column = Some(column.into());
            }
            Place::Byte(byte) => problem.byte = Some(byte as u64),
        }
        problem
    }
}

impl From<ChangeError> for Problem {
    fn from(error: ChangeError) -> Self {
        let unavailable = |kind, hint| {
            let status = StatusCode::SERVICE_UNAVAILABLE;
            Self::new(status, kind, error.to_string(), hint)
        };
        match error {
            ChangeError::Refused(error) => error.into(),
            ChangeError::TooLong { .. } => Self::too_large(error.to_string(), "split it"),
            ChangeError::Busy => unavailable("busy", "try again later"),
            ChangeError::LogFailed(_) => unavailable("log_failed", "restart the matcher"),
            ChangeError::Closed => unavailable("closing", "connect again"),
        }
    }
}

impl From<SaveError> for Problem {
    fn from(error: SaveError) -> Self {
        let of = |status, kind, hint| Self::new(status, kind, error.to_string(), hint);
        match error {
            SaveError::NoDirectory => of(
                StatusCode::CONFLICT,
                "no_directory",
                "start the server with --log DIR",
            ),
            SaveError::Busy => of(StatusCode::CONFLICT, "busy", "try again later"),
            SaveError::Failed(_) => of(
                StatusCode::INTERNAL_SERVER_ERROR,
                "snapshot_failed",
                "see that the directory has room and can be written",
            ),
            SaveError::Closed => of(StatusCode::SERVICE_UNAVAILABLE, "closing", "connect again"),
        }
    }
}
