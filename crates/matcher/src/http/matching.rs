//! `POST /match`: events in, ids out, line by line, in steps of a budget.

use std::io::Write as _;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

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

/// What a request asks for besides its events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Wanted {
    /// How many of the best matches, if not all.
    top: Option<usize>,
    /// How long the search for an event may take.
    timeout: Option<Duration>,
}

impl Wanted {
    /// By a query, or as the server is set.
    fn of(query: &str, timeout: Option<Duration>) -> Result<Self, Problem> {
        let mut wanted = Self { top: None, timeout };
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            match name {
                "top" => wanted.top = Some(number(name, value, "of matches", "?top=3")?),
                "timeout_ms" => {
                    let millis = number(name, value, "of milliseconds", "?timeout_ms=5")?;
                    wanted.timeout = Some(Duration::from_millis(millis));
                }
                _ => {
                    let message = format!("unknown parameter '{name}' in the query");
                    let hint = "known are top and timeout_ms: /match?top=3&timeout_ms=5 answers the three matches \
                                with the highest priorities, or an error if they are not found in 5 ms";
                    return Err(Problem::bad_request("query", message, hint));
                }
            }
        }
        Ok(wanted)
    }
}

fn number<T: FromStr>(name: &str, value: &str, of: &str, like: &'static str) -> Result<T, Problem> {
    value.parse().map_err(|_| {
        let message = format!("{name} is not a number {of}: '{value}'");
        let mut problem = Problem::bad_request("query", message, "");
        problem.hint = Some(format!("write it in decimal digits, as in {like}").into());
        problem
    })
}

/// Answers a request.
pub(super) async fn answer(
    service: &Arc<Service>,
    query: &str,
    body: Incoming,
) -> Result<Response<Body>, Problem> {
    let options = &service.options;
    let wanted = Wanted::of(query, options.timeout)?;
    let mut matching = Matching {
        lines: Lines::new(body, options.event_bytes_max, service),
        out: Vec::new(),
        work: Work::new(Arc::clone(service), wanted),
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
    /// that is the end. Whatever is waited for next is not part of a step.
    async fn piece(&mut self) -> Result<bool, Stop> {
        let ended = self.gather().await;
        self.work.pause();
        if matches!(ended, Ok(true)) {
            self.work.finish();
        }
        ended
    }

    async fn gather(&mut self) -> Result<bool, Stop> {
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
                Next::End => return Ok(true),
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

/// Why an event has no ids.
#[derive(Debug)]
enum Missed {
    Unreadable(betree::Error),
    /// Its time was over before the search was.
    Deadline,
}

impl From<betree::Error> for Missed {
    fn from(error: betree::Error) -> Self {
        Self::Unreadable(error)
    }
}

/// Work on events, cut into steps.
struct Work {
    service: Arc<Service>,
    wanted: Wanted,
    /// Reductions of this step.
    spent: u64,
    /// When it began.
    since: Instant,
    spans: Vec<(Instant, Instant)>,
}

impl Work {
    fn new(service: Arc<Service>, wanted: Wanted) -> Self {
        Self {
            service,
            wanted,
            spent: 0,
            since: Instant::now(),
            spans: Vec::new(),
        }
    }

    /// The step ends: the thread is about to do or to wait for something else.
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

    /// The same within the time of an event.
    async fn breathe_until(&mut self, deadline: Option<Instant>) -> Result<(), Missed> {
        self.breathe().await;
        match deadline.is_some_and(|deadline| deadline <= Instant::now()) {
            true => Err(Missed::Deadline),
            false => Ok(()),
        }
    }

    /// Appends the answer to an event.
    async fn event(&mut self, number: u64, json: &[u8], out: &mut Vec<u8>) {
        let published = self.service.matcher.published();
        let mut buffers = self.service.buffers();
        let deadline = self.wanted.timeout.map(|timeout| Instant::now() + timeout);
        let found = self.search(&published, json, deadline, &mut buffers).await;
        let counts = &self.service.counts;
        match found {
            Ok(()) => {
                let ids = buffers.ids();
                // Without priorities the best are those with the lowest ids.
                let top = self.wanted.top;
                let ids = top.and_then(|top| ids.get(..top)).unwrap_or(ids);
                counts.events.fetch_add(1, Relaxed);
                counts.matches.fetch_add(ids.len() as u64, Relaxed);
                self.write(number, ids, out).await;
            }
            Err(Missed::Unreadable(error)) => self.refuse(number, &error.into(), out),
            Err(Missed::Deadline) => {
                counts.events_late.fetch_add(1, Relaxed);
                let timeout = self.wanted.timeout.unwrap_or_default();
                let message = format!("the search was not done within {timeout:?}");
                let hint =
                    "send the event again with a longer timeout_ms, or ask for fewer matches: top";
                let status = hyper::StatusCode::GATEWAY_TIMEOUT;
                let problem = Problem::new(status, "deadline", message, hint);
                self.refuse(number, &problem, out);
            }
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
        deadline: Option<Instant>,
        buffers: &mut Buffers,
    ) -> Result<(), Missed> {
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
            self.breathe_until(deadline).await?;
        }
        let event = reader.finish()?;
        let mut search = match (self.wanted.top, priorities) {
            (Some(top), Some(priorities)) => snapshot.top_k(&event, top, priorities, buffers)?,
            _ => snapshot.search_iterator(&event, buffers)?,
        };
        let mut before = 0;
        loop {
            let progress = search.step(self.budget());
            self.spent += search.reductions() - before;
            before = search.reductions();
            if progress == Progress::Done {
                return Ok(());
            }
            self.breathe_until(deadline).await?;
        }
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
