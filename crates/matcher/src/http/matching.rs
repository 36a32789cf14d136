//! `POST /match`: events in, ids out, line by line, in steps of a budget.

use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

use betree::{Budget, Buffers, Progress, SubscriptionId};
use bytes::Bytes;
use hyper::Response;
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use tokio::sync::mpsc::{Sender, channel};

use super::body::{Body, BrokenOff};
use super::lines::{Line, Lines, Next, Stop};
use super::problem::Problem;
use super::service::Service;
use crate::shared::Published;

/// Bytes of the answer that are gathered before they are sent. A shorter answer is sent whole.
const PIECE_BYTES: usize = 64 << 10;
/// Spans that are gathered before they are recorded.
const SPANS: usize = 256;
/// Ids that are written for one reduction.
const IDS_PER_REDUCTION: usize = 4;
/// Ids that are written at a time.
const IDS_AT_A_TIME: usize = 4_096;

/// How many matches of an event are wanted: all, or the best.
fn wanted(query: &str) -> Result<Option<usize>, Problem> {
    let mut top = None;
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let Some(value) = pair.strip_prefix("top=") else {
            let name = pair.split('=').next().unwrap_or(pair);
            let message = format!("unknown parameter '{name}' in the query");
            let hint =
                "top is known: /match?top=3 answers the three matches with the highest priorities";
            return Err(Problem::bad_request("query", message, hint));
        };
        top = Some(value.parse().map_err(|_| {
            let message = "top is not a number of matches";
            Problem::bad_request("query", message, "write it in decimal digits, as in ?top=3")
        })?);
    }
    Ok(top)
}

/// Answers a request.
pub(super) async fn answer(
    service: &Arc<Service>,
    query: &str,
    body: Incoming,
) -> Result<Response<Body>, Problem> {
    let top = wanted(query)?;
    let options = &service.options;
    let mut matching = Matching {
        lines: Lines::new(body, options.event_bytes_max, service),
        out: Vec::new(),
        work: Work::new(Arc::clone(service), top),
        arrived: Instant::now(),
        answered: false,
    };
    let body = match matching.piece().await {
        Ok(true) => Body::Whole(matching.end()),
        Ok(false) => {
            let (sender, receiver) = channel(1);
            tokio::spawn(matching.rest(sender));
            Body::Pieces(receiver)
        }
        Err(Stop::Idle) => {
            let message = "the body of the request did not come in time";
            return Err(Problem::new(
                hyper::StatusCode::REQUEST_TIMEOUT,
                "timeout",
                message,
                "send events as they are there, or end the body",
            ));
        }
        Err(Stop::Closing) => return Err(closing()),
        Err(Stop::Broken) => {
            let message = "the body of the request is broken";
            return Err(Problem::bad_request("body", message, "send it again"));
        }
    };
    let mut response = Response::new(body);
    let kind = HeaderValue::from_static("application/x-ndjson");
    response.headers_mut().insert(CONTENT_TYPE, kind);
    Ok(response)
}

fn closing() -> Problem {
    Problem::new(
        hyper::StatusCode::SERVICE_UNAVAILABLE,
        "closing",
        "the server closes before the whole event came",
        "connect again",
    )
}

struct Matching {
    lines: Lines,
    out: Vec<u8>,
    work: Work,
    arrived: Instant,
    /// An event was answered.
    answered: bool,
}

impl Matching {
    /// Answers events until there is a piece to send: enough, or all that the client sent so far. Returns whether
    /// that is the end.
    async fn piece(&mut self) -> Result<bool, Stop> {
        while self.out.len() < PIECE_BYTES {
            self.work.pause();
            let next = match self.out.is_empty() {
                true => match self.lines.next().await {
                    Ok(Some(line)) => Next::Line(line),
                    Ok(None) => Next::End,
                    Err(Stop::Closing) if self.answered => {
                        self.close();
                        Next::End
                    }
                    Err(stop) => return Err(stop),
                },
                false => self.lines.next_if_there().await?,
            };
            self.work.resume();
            self.answered |= matches!(next, Next::Line(_));
            let number = self.lines.number();
            match next {
                Next::NotYet => return Ok(false),
                Next::End => {
                    self.work.finish();
                    return Ok(true);
                }
                Next::Line(Line::Text(json)) => {
                    self.work.event(number, &json, &mut self.out).await;
                }
                Next::Line(Line::TooLong) => {
                    let most = self.work.service.options.event_bytes_max;
                    let message = format!("the event has more than {most} bytes");
                    let problem = Problem::too_large(message, "see --event-bytes");
                    self.work.refuse(number, &problem, &mut self.out);
                }
            }
        }
        Ok(false)
    }

    /// The server closes: an event that came in part is not answered with ids.
    fn close(&mut self) {
        if self.lines.has_begun() {
            let number = self.lines.number() + 1;
            self.work.refuse(number, &closing(), &mut self.out);
        }
    }

    /// All that was not sent yet; the request is done.
    fn end(self) -> Bytes {
        let span = (self.arrived, Instant::now());
        let rows = &self.work.service.matcher.shared.rows;
        rows.response.record([span]);
        self.out.into()
    }

    /// Sends pieces until the end.
    async fn rest(mut self, sender: Sender<Result<Bytes, BrokenOff>>) {
        let idle = self.work.service.options.idle;
        loop {
            let piece = Bytes::from(std::mem::take(&mut self.out));
            if !piece.is_empty() {
                // A client that takes nothing for so long, or is gone, gets no more.
                match tokio::time::timeout(idle, sender.send(Ok(piece))).await {
                    Ok(Ok(())) => {}
                    Ok(Err(_)) | Err(_) => return,
                }
            }
            match self.piece().await {
                Ok(false) => {}
                Ok(true) => {
                    let last = self.end();
                    if !last.is_empty() {
                        let _ = tokio::time::timeout(idle, sender.send(Ok(last))).await;
                    }
                    return;
                }
                Err(_) => {
                    let _ = tokio::time::timeout(idle, sender.send(Err(BrokenOff))).await;
                    return;
                }
            }
        }
    }
}

/// Work on events, cut into steps.
struct Work {
    service: Arc<Service>,
    /// How many of the best matches are wanted, if not all.
    top: Option<usize>,
    /// Reductions of this step.
    spent: u64,
    /// When it began.
    since: Instant,
    spans: Vec<(Instant, Instant)>,
}

impl Work {
    fn new(service: Arc<Service>, top: Option<usize>) -> Self {
        Self {
            service,
            top,
            spent: 0,
            since: Instant::now(),
            spans: Vec::new(),
        }
    }

    /// The thread is about to wait for the client.
    fn pause(&mut self) {
        if self.spent > 0 {
            self.spans.push((self.since, Instant::now()));
            self.spent = 0;
            if self.spans.len() >= SPANS {
                self.finish();
            }
        }
    }

    fn resume(&mut self) {
        self.since = Instant::now();
    }

    fn finish(&mut self) {
        let rows = &self.service.matcher.shared.rows;
        rows.search.record(self.spans.drain(..));
    }

    fn budget(&self) -> Budget {
        Budget::reductions(self.service.options.budget.saturating_sub(self.spent))
    }

    /// Lets other requests go on if this step used its budget.
    async fn breathe(&mut self) {
        if self.spent >= self.service.options.budget {
            self.pause();
            tokio::task::yield_now().await;
            self.resume();
        }
    }

    /// Appends the answer to an event.
    async fn event(&mut self, number: u64, json: &[u8], out: &mut Vec<u8>) {
        let published = self.service.matcher.published();
        let mut buffers = self.service.buffers();
        let found = self.search(&published, json, &mut buffers).await;
        let counts = &self.service.counts;
        match found {
            Ok(()) => {
                let ids = buffers.ids();
                // Without priorities the best are those with the lowest ids.
                let ids = self.top.and_then(|top| ids.get(..top)).unwrap_or(ids);
                counts.events.fetch_add(1, Relaxed);
                counts.matches.fetch_add(ids.len() as u64, Relaxed);
                self.write(number, ids, out).await;
            }
            Err(error) => self.refuse(number, &error.into(), out),
        }
        self.service.give_back(buffers);
    }

    async fn search(
        &mut self,
        Published {
            snapshot,
            priorities,
        }: &Published,
        json: &[u8],
        buffers: &mut Buffers,
    ) -> betree::Result<()> {
        let ignore_unknown = self.service.options.ignore_unknown;
        let mut reader = snapshot.event_reader(json, ignore_unknown);
        let mut before = 0;
        loop {
            let progress = reader.step(self.budget());
            self.spent += reader.reductions() - before;
            before = reader.reductions();
            if progress? == Progress::Done {
                break;
            }
            self.breathe().await;
        }
        let event = reader.finish()?;
        let mut search = match (self.top, priorities) {
            (Some(top), Some(priorities)) => snapshot.top_k(&event, top, priorities, buffers)?,
            _ => snapshot.search_iterator(&event, buffers)?,
        };
        let mut before = 0;
        loop {
            let progress = search.step(self.budget());
            self.spent += search.reductions() - before;
            before = search.reductions();
            if progress == Progress::Done {
                break;
            }
            self.breathe().await;
        }
        Ok(())
    }

    async fn write(&mut self, number: u64, ids: &[SubscriptionId], out: &mut Vec<u8>) {
        // Writing into memory does not fail.
        let _ = write!(out, "{{\"event\":{number},\"ids\":[");
        let mut comma = "";
        for ids in ids.chunks(IDS_AT_A_TIME) {
            for id in ids {
                let _ = write!(out, "{comma}{}", id.0);
                comma = ",";
            }
            self.spent += (ids.len() / IDS_PER_REDUCTION) as u64;
            self.breathe().await;
        }
        out.extend_from_slice(b"]}\n");
    }

    fn refuse(&mut self, number: u64, problem: &Problem, out: &mut Vec<u8>) {
        self.spent += 1;
        let counts = &self.service.counts;
        counts.events_refused.fetch_add(1, Relaxed);
        let _ = write!(out, "{{\"event\":{number},\"error\":");
        let _ = serde_json::to_writer(&mut *out, problem);
        out.extend_from_slice(b"}\n");
    }
}
