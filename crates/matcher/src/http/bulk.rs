//! `POST /expressions`: many changes as lines.

use std::sync::Arc;
use std::time::Duration;

use betree::SubscriptionId;
use hyper::body::Incoming;
use hyper::header::{HeaderValue, RETRY_AFTER};
use hyper::{Response, StatusCode};
use serde::{Deserialize, Serialize};
use serde_json::error::Category;

use super::body::Body;
use super::changes::{Values, broken, changed, json};
use super::lines::{Line, Lines};
use super::problem::Problem;
use super::service::Service;
use crate::change::{CHANGES_MAX, Change, ChangeError, EXPRESSION_BYTES_MAX, Put};

/// Bytes of lines that are handed to the writer together, about.
const BATCH_BYTES: usize = 1 << 20;
/// Mistakes that an answer lists.
const MISTAKES_MAX: usize = 1_000;
/// A line has an expression, written as JSON, and some more.
const LINE_BYTES_MAX: usize = 2 * EXPRESSION_BYTES_MAX;
/// Pause before changes are handed over once more when too many wait.
const PAUSE: Duration = Duration::from_millis(5);

/// A line of `POST /expressions`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct BulkLine {
    id: u64,
    expr: Option<String>,
    #[serde(default)]
    delete: bool,
    #[serde(default)]
    constants: Values,
    #[serde(default)]
    priority: i64,
}

fn bulk_line(json: &[u8]) -> Result<Change, Problem> {
    let line: BulkLine = serde_json::from_slice(json).map_err(|error| {
        let mut problem = Problem::bad_request(
            "json",
            in_plain_words(&error),
            "a line is {\"id\":1,\"expr\":\"…\"} or {\"id\":1,\"delete\":true}",
        );
        problem.column = Some(error.column() as u64);
        problem
    })?;
    let id = SubscriptionId(line.id);
    match (line.expr, line.delete) {
        (Some(expression), false) => {
            let put = Put {
                expression: expression.into(),
                constants: line.constants.into(),
                priority: line.priority,
            };
            Ok(Change::Put(id, put))
        }
        (None, true) => Ok(Change::Delete(id)),
        (expression, _) => Err(Problem::bad_request(
            "json",
            match expression {
                Some(_) => "the line has both 'expr' and 'delete'",
                None => "the line has neither 'expr' nor 'delete'",
            },
            "a line is {\"id\":1,\"expr\":\"…\"} or {\"id\":1,\"delete\":true}",
        )),
    }
}

/// What is wrong, without the place that a message of serde_json ends with.
fn in_plain_words(error: &serde_json::Error) -> String {
    match error.classify() {
        Category::Syntax => return "the line is not JSON from this column on".to_owned(),
        Category::Eof => return "the line ends in the middle of its JSON".to_owned(),
        Category::Data | Category::Io => {}
    }
    let text = error.to_string();
    let cut = text.rfind(" at line ").unwrap_or(text.len());
    text[..cut].to_owned()
}

/// What becomes of the lines of a bulk request.
#[derive(Debug, Default, Serialize)]
struct Bulk {
    applied: u64,
    refused: u64,
    /// The number of the last change of the request; of the matcher if none was made.
    sequence: u64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    errors: Vec<Mistake>,
    /// A change was not made for a reason of the server's.
    #[serde(skip)]
    unavailable: bool,
}

#[derive(Debug, Serialize)]
struct Mistake {
    /// The line of the body.
    line: u64,
    error: Problem,
}

impl Bulk {
    fn refuse(&mut self, line: u64, error: Problem) {
        self.refused += 1;
        self.unavailable |= error.status == StatusCode::SERVICE_UNAVAILABLE;
        if self.errors.len() < MISTAKES_MAX {
            self.errors.push(Mistake { line, error });
        }
    }

    /// Hands over what was gathered.
    async fn make(
        &mut self,
        service: &Service,
        changes: &mut Vec<Change>,
        numbers: &mut Vec<u64>,
    ) -> Result<(), Problem> {
        if changes.is_empty() {
            return Ok(());
        }
        let mut waited = Duration::ZERO;
        let outcomes = loop {
            match changed(service, changes.clone()).await {
                Err(problem) if problem.kind == "busy" && waited < service.options.idle => {
                    tokio::time::sleep(PAUSE).await;
                    waited += PAUSE;
                }
                other => break other?,
            }
        };
        for (number, outcome) in numbers.drain(..).zip(outcomes) {
            match outcome {
                Ok(applied) => {
                    self.applied += 1;
                    self.sequence = applied.sequence;
                }
                Err(error) => self.refuse(number, error.into()),
            }
        }
        changes.clear();
        Ok(())
    }
}

/// `POST /expressions`.
pub(super) async fn answer(
    service: &Arc<Service>,
    body: Incoming,
) -> Result<Response<Body>, Problem> {
    let mut lines = Lines::new(body, LINE_BYTES_MAX, service);
    let mut bulk = Bulk::default();
    let (mut changes, mut numbers, mut bytes) = (Vec::new(), Vec::new(), 0);
    while let Some(line) = lines.next().await.map_err(broken)? {
        let number = lines.number();
        let change = match &line {
            Line::Text(json) => bulk_line(json),
            Line::TooLong => {
                let message = format!("the line has more than {LINE_BYTES_MAX} bytes");
                Err(Problem::too_large(message, "send less"))
            }
        };
        match change {
            // Refused here, so that it does not keep the others of its batch from being made.
            Ok(Change::Put(_, put)) if put.expression.len() > EXPRESSION_BYTES_MAX => {
                let bytes = put.expression.len();
                bulk.refuse(number, ChangeError::TooLong { bytes }.into());
            }
            Ok(change) => {
                bytes += change.bytes();
                changes.push(change);
                numbers.push(number);
            }
            Err(problem) => bulk.refuse(number, problem),
        }
        if changes.len() == CHANGES_MAX || bytes >= BATCH_BYTES {
            bulk.make(service, &mut changes, &mut numbers).await?;
            bytes = 0;
        }
    }
    bulk.make(service, &mut changes, &mut numbers).await?;
    if bulk.applied == 0 {
        bulk.sequence = service.matcher.status().sequence;
    }
    // In the order of lines: those that are no changes were known before the others were made.
    bulk.errors.sort_by_key(|mistake| mistake.line);
    let mut response = json(&bulk);
    if bulk.unavailable {
        *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
        let pause = HeaderValue::from_static("1");
        response.headers_mut().insert(RETRY_AFTER, pause);
    } else if bulk.refused > 0 {
        *response.status_mut() = StatusCode::BAD_REQUEST;
    }
    Ok(response)
}
