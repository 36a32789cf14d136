//! Which answer a request gets.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use hyper::body::Incoming;
use hyper::header::{ACCEPT, CONTENT_TYPE, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};

use super::body::Body;
use super::problem::Problem;
use super::service::Service;
use super::{bulk, changes, explain, listing, matching, metrics};

/// Answers a request.
pub(super) async fn answer(
    service: Arc<Service>,
    request: Request<Incoming>,
) -> Result<Response<Body>, Infallible> {
    let counts = &service.counts;
    counts.requests.fetch_add(1, Relaxed);
    let response = routed(&service, request)
        .await
        .unwrap_or_else(|problem| problem.response());
    if response.status().is_client_error() || response.status().is_server_error() {
        counts.problems.fetch_add(1, Relaxed);
    }
    Ok(response)
}

async fn routed(
    service: &Arc<Service>,
    request: Request<Incoming>,
) -> Result<Response<Body>, Problem> {
    let (head, body) = request.into_parts();
    let query = head.uri.query().unwrap_or_default();
    let path = head.uri.path();
    let is_put = head.method == Method::PUT && path.starts_with("/expressions/");
    let is_list = path == "/expressions" && matches!(head.method, Method::GET | Method::HEAD);
    if !is_put && !is_list && (path == "/snapshot" || path.starts_with("/expressions")) {
        no_parameters(query)?;
    }
    match (&head.method, path) {
        (&Method::POST, "/match") => matching::answer(service, query, body).await,
        (_, "/match") => Err(method("use POST")),
        (&Method::POST, "/expressions") => bulk::answer(service, body).await,
        (&Method::GET | &Method::HEAD, "/expressions") => listing::answer(service, query),
        (_, "/expressions") => Err(method("use GET, HEAD, POST")),
        (&Method::POST, "/snapshot") => changes::snapshot(service).await,
        (_, "/snapshot") => Err(method("use POST")),
        (&Method::GET | &Method::HEAD, "/metrics") => {
            let accept = head.headers.get_all(ACCEPT).iter();
            let accept: Vec<&str> = accept.filter_map(|value| value.to_str().ok()).collect();
            metrics::answer(service, &accept.join(","))
        }
        (_, "/metrics") => Err(method("use GET, HEAD")),
        (&Method::GET | &Method::HEAD, "/healthz") => Ok(health(service)),
        (_, "/healthz") => Err(method("use GET, HEAD")),
        (method_of, path) => {
            let Some(id) = path.strip_prefix("/expressions/") else {
                return Err(Problem::new(
                    StatusCode::NOT_FOUND,
                    "unknown_path",
                    "there is nothing at this path",
                    "see /match, /expressions, /expressions/ID, /expressions/ID/explain, /snapshot, /metrics, /healthz",
                ));
            };
            if let Some(id) = id.strip_suffix("/explain") {
                let id = changes::id(id)?;
                return match head.method {
                    Method::POST => explain::answer(service, id, body).await,
                    _ => Err(method("use POST")),
                };
            }
            let id = changes::id(id)?;
            match *method_of {
                Method::GET | Method::HEAD => changes::get(service, id),
                Method::PUT => changes::put(service, id, query, body).await,
                Method::DELETE => changes::delete(service, id).await,
                _ => Err(method("use GET, HEAD, PUT, DELETE")),
            }
        }
    }
}

/// Refuses a query where there is nothing to choose.
fn no_parameters(query: &str) -> Result<(), Problem> {
    let Some(pair) = query.split('&').find(|pair| !pair.is_empty()) else {
        return Ok(());
    };
    let name = pair.split('=').next().unwrap_or(pair);
    Err(Problem::bad_request(
        "query",
        format!("unknown parameter '{name}' in the query"),
        "this request takes no parameters; PUT /expressions/ID takes advertiser_id, campaign_id, \
         campaign_group_id, flight_id, product_id and priority, GET /expressions after and limit, POST /match top",
    ))
}

fn method(hint: &'static str) -> Problem {
    let status = StatusCode::METHOD_NOT_ALLOWED;
    Problem::new(status, "method", "this path has no such method", hint)
}

/// Whether the matcher takes changes.
fn health(service: &Service) -> Response<Body> {
    let (status, text) = match service.matcher.status().log_failed {
        false => (StatusCode::OK, "ok\n"),
        true => (StatusCode::SERVICE_UNAVAILABLE, "the log failed\n"),
    };
    let mut response = Response::new(Body::Whole(text.into()));
    *response.status_mut() = status;
    let kind = HeaderValue::from_static("text/plain; charset=utf-8");
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}
