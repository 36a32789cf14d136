//! `GET /expressions`: the expressions in the order of their ids, page by page.

use betree::SubscriptionId;
use hyper::Response;
use hyper::header::{CONTENT_TYPE, HeaderValue};

use super::body::Body;
use super::changes::{Known, id};
use super::problem::Problem;
use super::service::Service;

/// Expressions of a page, unless a request asks for fewer.
const PAGE: usize = 1_000;
/// A page of this length gets no further expression.
const PAGE_BYTES: usize = 1 << 20;

/// Which page is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Wanted {
    after: Option<SubscriptionId>,
    limit: usize,
}

/// Answers a request.
pub(super) fn answer(service: &Service, query: &str) -> Result<Response<Body>, Problem> {
    let wanted = wanted(query)?;
    let ids = service
        .matcher
        .snapshot()
        .ids_after(wanted.after, wanted.limit);
    let mut out = Vec::new();
    for (id, put) in ids.iter().zip(service.matcher.texts(&ids)) {
        if out.len() >= PAGE_BYTES {
            break;
        }
        // Writing into memory does not fail.
        let _ = serde_json::to_writer(&mut out, &Known::new(*id, put.as_ref()));
        out.push(b'\n');
    }
    let mut response = Response::new(Body::Whole(out.into()));
    let kind = HeaderValue::from_static("application/x-ndjson");
    response.headers_mut().insert(CONTENT_TYPE, kind);
    Ok(response)
}

fn wanted(query: &str) -> Result<Wanted, Problem> {
    let mut wanted = Wanted {
        after: None,
        limit: PAGE,
    };
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        match name {
            "after" => wanted.after = Some(id(value)?),
            "limit" => {
                let limit = value
                    .parse()
                    .ok()
                    .filter(|limit| (1..=PAGE).contains(limit));
                wanted.limit = limit.ok_or_else(|| {
                    let message = format!("limit is not an integer from 1 to {PAGE}");
                    Problem::bad_request("query", message, "ask for the next page with after")
                })?;
            }
            _ => {
                let message = format!("unknown parameter '{name}' in the query");
                let hint = "after and limit are known, as in /expressions?after=7&limit=100";
                return Err(Problem::bad_request("query", message, hint));
            }
        }
    }
    Ok(wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_a_beginning_and_a_bound() {
        let page = |after, limit| Wanted {
            after: Option::map(after, SubscriptionId),
            limit,
        };
        assert_eq!(wanted(""), Ok(page(None, PAGE)));
        assert_eq!(wanted("after=0"), Ok(page(Some(0), PAGE)));
        let last = format!("limit=1&after={}", u64::MAX);
        assert_eq!(wanted(&last), Ok(page(Some(u64::MAX), 1)));
        for wrong in [
            "after=",
            "after=-1",
            "limit=0",
            "limit=1001",
            "limit=x",
            "first=3",
        ] {
            assert!(wanted(wrong).is_err(), "{wrong}");
        }
    }
}
