//! `GET /metrics`: the matcher and its server for Prometheus. Names, help texts and units are here.

use std::fmt;
use std::sync::Arc;

use hyper::header::{CONTENT_TYPE, HeaderValue, VARY};
use hyper::{Response, StatusCode};
use latency::{Buckets, environment};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::Registry;
use report::openmetrics::{Format, seconds};

use super::body::Body;
use super::counts::HttpStatus;
use super::problem::Problem;
use super::service::Service;
use crate::matcher::Status;
use crate::rows::Live;

/// Answers a request.
pub(super) fn answer(service: &Arc<Service>, accept: &str) -> Result<Response<Body>, Problem> {
    let format = Format::accepted(accept);
    let mut registry = Registry::with_prefix("perfkit_matcher");
    registry.register_collector(Box::new(Now {
        status: service.matcher.status(),
        http: service.counts.read(),
        live: service.matcher.live(),
        resident_bytes: environment::process().map(|process| process.rss_bytes),
    }));
    let text = format.text(&registry).map_err(|_| {
        let status = StatusCode::INTERNAL_SERVER_ERROR;
        Problem::new(status, "metrics", "the metrics could not be written", "")
    })?;
    let mut response = Response::new(Body::Whole(text.into()));
    let headers = response.headers_mut();
    headers.insert(
        CONTENT_TYPE,
        HeaderValue::from_static(format.content_type()),
    );
    headers.insert(VARY, HeaderValue::from_static("Accept"));
    Ok(response)
}

/// The numbers of one moment.
#[derive(Debug)]
struct Now {
    status: Status,
    http: HttpStatus,
    live: Live,
    resident_bytes: Option<u64>,
}

/// A counter or a gauge: its name, its help, and its value if there is one.
type Number = (&'static str, &'static str, fn(&Now) -> Option<u64>);

const COUNTERS: [Number; 14] = [
    ("requests", "Requests that came", |now| {
        Some(now.http.requests)
    }),
    (
        "request_errors",
        "Requests that were answered with an error",
        |now| Some(now.http.problems),
    ),
    ("connections", "Connections that were accepted", |now| {
        Some(now.http.connections)
    }),
    (
        "connections_turned_away",
        "Connections that were too many",
        |now| Some(now.http.connections_turned_away),
    ),
    ("events", "Events that were matched", |now| {
        Some(now.http.events)
    }),
    (
        "events_refused",
        "Events that were answered with an error",
        |now| Some(now.http.events_refused),
    ),
    (
        "events_late",
        "Events whose time was over before their search was",
        |now| Some(now.http.events_late),
    ),
    ("matches", "Ids that were found", |now| {
        Some(now.http.matches)
    }),
    ("changes", "Changes that were made", |now| {
        Some(now.status.changes)
    }),
    ("changes_refused", "Changes that were refused", |now| {
        Some(now.status.refused)
    }),
    ("publications", "States that were published", |now| {
        Some(now.status.publications)
    }),
    ("merges", "Merges of indexes", |now| Some(now.status.merges)),
    ("snapshots", "Snapshots that were written", |now| {
        Some(now.status.snapshots)
    }),
    (
        "snapshot_failures",
        "Snapshots that could not be written",
        |now| Some(now.status.snapshot_failures),
    ),
];

const GAUGES: [Number; 9] = [
    ("expressions", "Expressions that searches see", |now| {
        Some(now.status.expressions)
    }),
    ("connections_open", "Open connections", |now| {
        Some(now.http.connections_open)
    }),
    ("sequence", "The number of the last change", |now| {
        Some(now.status.sequence)
    }),
    (
        "saved_sequence",
        "The last change of the newest snapshot",
        |now| Some(now.status.saved_sequence),
    ),
    (
        "snapshot_timestamp_seconds",
        "When the newest snapshot was written, in seconds since 1970",
        |now| Some(now.status.snapshot_time).filter(|time| *time > 0),
    ),
    (
        "log_bytes",
        "How long the logs are that a start reads",
        |now| Some(now.status.log_bytes),
    ),
    ("waiting_bytes", "Changes that wait for the writer", |now| {
        Some(now.status.waiting_bytes)
    }),
    (
        "log_failed",
        "1 if the log failed and no change is taken",
        |now| Some(now.status.log_failed.into()),
    ),
    ("resident_bytes", "Resident memory of the process", |now| {
        now.resident_bytes
    }),
];

/// A distribution: its name, its help, and its source.
type Histogram = (&'static str, &'static str, fn(&Live) -> Buckets);

const HISTOGRAMS: [Histogram; 5] = [
    (
        "match_seconds",
        "A request for matches, until its answer is made",
        |live| live.response,
    ),
    (
        "search_hold_seconds",
        "How long a search kept its thread",
        |live| live.search,
    ),
    (
        "acknowledge_seconds",
        "Changes, until they are acknowledged",
        |live| live.acknowledge,
    ),
    (
        "publication_seconds",
        "Making and publishing a state",
        |live| live.publication,
    ),
    (
        "writer_hold_seconds",
        "How long one batch kept the writer",
        |live| live.writer,
    ),
];

impl Collector for Now {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        for (name, help, of) in COUNTERS {
            if let Some(value) = of(self) {
                encoder
                    .encode_descriptor(name, help, None, MetricType::Counter)?
                    .encode_counter::<NoLabelSet, _, u64>(&value, None)?;
            }
        }
        for (name, help, of) in GAUGES {
            if let Some(value) = of(self) {
                let value = i64::try_from(value).unwrap_or(i64::MAX);
                encoder
                    .encode_descriptor(name, help, None, MetricType::Gauge)?
                    .encode_gauge(&value)?;
            }
        }
        for (name, help, of) in HISTOGRAMS {
            let (sum, count, buckets) = seconds(of(&self.live));
            encoder
                .encode_descriptor(name, help, None, MetricType::Histogram)?
                .encode_histogram::<NoLabelSet>(sum, count, &buckets, None)?;
        }
        Ok(())
    }
}
