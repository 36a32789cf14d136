//! `/expressions/ID` and `/snapshot`, and what changes have in common.

use betree::{Constants, SubscriptionId};
use bytes::Bytes;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::{Response, StatusCode};
use serde::{Deserialize, Serialize};
use tokio::sync::oneshot;

use super::body::Body;
use super::lines::Stop;
use super::problem::Problem;
use super::service::Service;
use crate::change::{Change, ChangeError, EXPRESSION_BYTES_MAX, Put};
use crate::shared::Outcomes;

/// An answer of a value as JSON.
pub(super) fn json(value: &impl Serialize) -> Response<Body> {
    let mut bytes = serde_json::to_vec(value).unwrap_or_default();
    bytes.push(b'\n');
    let mut response = Response::new(Body::Whole(bytes.into()));
    let kind = HeaderValue::from_static("application/json");
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}

/// The id of a path.
pub(super) fn id(text: &str) -> Result<SubscriptionId, Problem> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    match text.parse().ok().filter(|_| digits) {
        Some(id) => Ok(SubscriptionId(id)),
        None => Err(Problem::bad_request(
            "id",
            "the id of an expression is an integer from 0 to 18446744073709551615",
            "write it in decimal digits, as in /expressions/7",
        )),
    }
}

/// The constants and the priority of a query.
fn constants(query: &str) -> Result<(Constants, i64), Problem> {
    let (mut constants, mut priority) = (Constants::default(), 0);
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let integer = value.parse().map_err(|_| {
            let message = format!("{name} is not an integer");
            Problem::bad_request("query", message, "write it in decimal digits")
        });
        let place = match name {
            "priority" => {
                priority = integer?;
                continue;
            }
            "advertiser_id" => &mut constants.advertiser_id,
            "campaign_id" => &mut constants.campaign_id,
            "campaign_group_id" => &mut constants.campaign_group_id,
            "flight_id" => &mut constants.flight_id,
            "product_id" => &mut constants.product_id,
            _ => {
                return Err(Problem::bad_request(
                    "query",
                    format!("unknown parameter '{name}' in the query"),
                    "advertiser_id, campaign_id, campaign_group_id, flight_id, product_id and priority are known",
                ));
            }
        };
        *place = Some(integer?);
    }
    Ok((constants, priority))
}

/// A whole body within a bound.
pub(super) async fn whole(
    service: &Service,
    body: Incoming,
    bytes_max: usize,
) -> Result<Bytes, Problem> {
    let limited = Limited::new(body, bytes_max).collect();
    match tokio::time::timeout(service.options.idle, limited).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => {
            let message = format!("the body has more than {bytes_max} bytes");
            Err(Problem::too_large(message, "send less"))
        }
        Ok(Err(_)) => Err(broken(Stop::Broken)),
        Err(_) => Err(broken(Stop::Idle)),
    }
}

pub(super) fn broken(stop: Stop) -> Problem {
    match stop {
        Stop::Idle => Problem::new(
            StatusCode::REQUEST_TIMEOUT,
            "timeout",
            "the body of the request did not come in time",
            "send it in one go",
        ),
        Stop::Closing => Problem::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "closing",
            "the server closes before the whole body came; changes of earlier lines may have been made",
            "connect again",
        ),
        Stop::Broken => Problem::bad_request("body", "the body is broken", "send it again"),
    }
}

/// Hands changes to the writer and waits for it.
pub(super) async fn changed(service: &Service, changes: Vec<Change>) -> Result<Outcomes, Problem> {
    let (sender, receiver) = oneshot::channel();
    service
        .matcher
        .submit(changes, move |outcomes| drop(sender.send(outcomes)))?;
    receiver.await.map_err(|_| ChangeError::Closed.into())
}

async fn one(service: &Service, change: Change) -> Result<Response<Body>, Problem> {
    let id = change.id();
    let outcome = changed(service, vec![change]).await?.pop();
    let applied = outcome.unwrap_or(Err(ChangeError::Closed))?;
    Ok(json(&Made {
        id: id.0,
        sequence: applied.sequence,
        created: applied.created,
    }))
}

#[derive(Serialize)]
struct Made {
    id: u64,
    sequence: u64,
    created: bool,
}

/// `PUT /expressions/ID`.
pub(super) async fn put(
    service: &Service,
    id: SubscriptionId,
    query: &str,
    body: Incoming,
) -> Result<Response<Body>, Problem> {
    let (constants, priority) = constants(query)?;
    let bytes = whole(service, body, EXPRESSION_BYTES_MAX).await?;
    let text = std::str::from_utf8(&bytes).map_err(|error| {
        let message = format!(
            "the expression is not UTF-8 from byte {}",
            error.valid_up_to()
        );
        let mut problem = Problem::bad_request("utf8", message, "send it as UTF-8");
        problem.byte = Some(error.valid_up_to() as u64);
        problem
    })?;
    let put = Put {
        // A file's last line end is no part of the expression.
        expression: text.trim_end_matches(['\n', '\r']).into(),
        constants,
        priority,
    };
    one(service, Change::Put(id, put)).await
}

/// `DELETE /expressions/ID`.
pub(super) async fn delete(
    service: &Service,
    id: SubscriptionId,
) -> Result<Response<Body>, Problem> {
    one(service, Change::Delete(id)).await
}

/// `GET /expressions/ID`.
pub(super) fn get(service: &Service, id: SubscriptionId) -> Result<Response<Body>, Problem> {
    let put = service.matcher.expression(id).ok_or_else(|| {
        let message = format!("subscription {} does not exist", id.0);
        Problem::new(StatusCode::NOT_FOUND, "unknown_id", message, "")
    })?;
    Ok(json(&Known::new(id, put.as_ref())))
}

/// What is known of a subscription.
#[derive(Serialize)]
pub(super) struct Known<'t> {
    id: u64,
    /// `null`: it came from a snapshot, which keeps no text.
    expr: Option<&'t str>,
    #[serde(skip_serializing_if = "Values::is_empty")]
    constants: Values,
    #[serde(skip_serializing_if = "is_usual")]
    priority: i64,
}

/// Whether a priority is that of expressions without one.
#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_usual(priority: &i64) -> bool {
    *priority == 0
}

impl<'t> Known<'t> {
    pub(super) fn new(id: SubscriptionId, put: Option<&'t Put>) -> Self {
        Self {
            id: id.0,
            expr: put.map(|put| &*put.expression),
            constants: put.map(|put| put.constants.into()).unwrap_or_default(),
            priority: put.map_or(0, |put| put.priority),
        }
    }
}

/// Constants in JSON.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Values {
    #[serde(skip_serializing_if = "Option::is_none")]
    advertiser_id: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    campaign_id: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    campaign_group_id: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    flight_id: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    product_id: Option<i64>,
}

impl Values {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl From<Constants> for Values {
    fn from(from: Constants) -> Self {
        Self {
            advertiser_id: from.advertiser_id,
            campaign_id: from.campaign_id,
            campaign_group_id: from.campaign_group_id,
            flight_id: from.flight_id,
            product_id: from.product_id,
        }
    }
}

impl From<Values> for Constants {
    fn from(from: Values) -> Self {
        Self {
            advertiser_id: from.advertiser_id,
            campaign_id: from.campaign_id,
            campaign_group_id: from.campaign_group_id,
            flight_id: from.flight_id,
            product_id: from.product_id,
        }
    }
}

/// `POST /snapshot`.
pub(super) async fn snapshot(service: &Service) -> Result<Response<Body>, Problem> {
    #[derive(Serialize)]
    struct Written {
        sequence: u64,
        bytes: u64,
    }
    let (sender, receiver) = oneshot::channel();
    service
        .matcher
        .save(move |saved| drop(sender.send(saved)))?;
    let saved = receiver
        .await
        .unwrap_or(Err(crate::shared::SaveError::Closed))?;
    Ok(json(&Written {
        sequence: saved.sequence,
        bytes: saved.bytes,
    }))
}
