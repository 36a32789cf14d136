//! `POST /expressions/ID/explain`: an event in, and why it matches an expression or not.

use std::sync::Arc;

use betree::{Budget, Explanation, Snapshot, SubscriptionId};
use hyper::Response;
use hyper::body::Incoming;
use serde::Serialize;

use super::body::Body;
use super::changes::{json, whole};
use super::problem::Problem;
use super::service::Service;

/// An explanation in JSON.
#[derive(Serialize)]
struct Explained<'e> {
    id: u64,
    matches: bool,
    /// The tests that decide this.
    because: Vec<Because<'e>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_reason: Option<&'e str>,
    /// All tests, in the order in which they are evaluated.
    tests: Vec<Test<'e>>,
}

/// A test that decides, and what the event has for it.
#[derive(Serialize)]
struct Because<'e> {
    test: &'e str,
    event: &'e str,
}

#[derive(Serialize)]
struct Test<'e> {
    test: &'e str,
    /// `null` for an undefined attribute.
    outcome: Option<bool>,
    event: &'e str,
}

impl<'e> Explained<'e> {
    fn new(id: SubscriptionId, found: &'e Explanation) -> Self {
        let because = |test: &&betree::ExplainedTest| match found.matched {
            true => test.holding,
            false => test.failing,
        };
        let all = found.tests.iter();
        Self {
            id: id.0,
            matches: found.matched,
            because: all
                .clone()
                .filter(because)
                .map(|test| Because {
                    test: &test.text,
                    event: &test.event,
                })
                .collect(),
            last_reason: found.last_reason.as_deref(),
            tests: all
                .map(|test| Test {
                    test: &test.text,
                    outcome: test.outcome,
                    event: &test.event,
                })
                .collect(),
        }
    }
}

/// Answers a request.
pub(super) async fn answer(
    service: &Arc<Service>,
    id: SubscriptionId,
    body: Incoming,
) -> Result<Response<Body>, Problem> {
    let event = whole(service, body, service.options.event_bytes_max).await?;
    let snapshot = service.matcher.snapshot();
    let ignore_unknown = service.options.ignore_unknown;
    // It takes time in proportion to the expression and to the event, without a budget.
    let work = move || explain(&snapshot, id, &event, ignore_unknown);
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|_| {
        let message = "the explanation failed";
        let status = hyper::StatusCode::INTERNAL_SERVER_ERROR;
        Err(Problem::new(status, "failed", message, ""))
    })
}

fn explain(
    snapshot: &Snapshot,
    id: SubscriptionId,
    event: &[u8],
    ignore_unknown: bool,
) -> Result<Response<Body>, Problem> {
    let mut reader = snapshot.event_reader(event, ignore_unknown);
    reader.step(Budget::UNLIMITED)?;
    let event = reader.finish()?;
    let found = snapshot.explain(&event, id)?;
    Ok(json(&Explained::new(id, &found)))
}
