//! `GET /metrics`.

use std::sync::Arc;

use hyper::Response;

use super::body::Body;
use super::service::Service;

pub(super) fn answer(_service: &Arc<Service>, _accept: &str) -> Response<Body> {
    Response::new(Body::Whole("".into()))
}
