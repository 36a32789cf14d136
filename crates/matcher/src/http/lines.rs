//! The lines of a body as they come, each within a bound.

use std::pin::Pin;
use std::task::Poll;
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt as _;
use hyper::body::{Body as _, Frame, Incoming};
use tokio::sync::watch;

use super::service::Service;

/// Turns that the connection gets to hand over what the client sent already.
const TURNS: usize = 4;

/// Once the server closes, a body is over when nothing of it came for this time.
const QUIET: Duration = Duration::from_millis(100);

/// A piece of a body, `None` at its end.
type Piece = Option<Result<Frame<Bytes>, hyper::Error>>;

/// A line of a body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Line {
    Text(Bytes),
    /// Longer than allowed: its bytes were skipped.
    TooLong,
}

/// What comes of a body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Next {
    Line(Line),
    End,
    /// The client takes its time.
    NotYet,
}

/// Why a body ends before its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    /// The client sent nothing for too long.
    Idle,
    /// The server closes, and the client sends nothing more.
    Closing,
    /// The client is gone, or sent what is no body.
    Broken,
}

/// Splits a body into lines.
#[derive(Debug)]
pub(super) struct Lines {
    body: Incoming,
    splitter: Splitter,
    idle: Duration,
    closing: watch::Receiver<Option<Instant>>,
    ended: bool,
}

impl Lines {
    pub(super) fn new(body: Incoming, bytes_max: usize, service: &Service) -> Self {
        Self {
            body,
            splitter: Splitter::new(bytes_max),
            idle: service.options.idle,
            closing: service.closing.subscribe(),
            ended: false,
        }
    }

    /// The number of the last line, from 1.
    pub(super) fn number(&self) -> u64 {
        self.splitter.number
    }

    /// The next line that is not blank.
    pub(super) async fn next(&mut self) -> Result<Option<Line>, Stop> {
        match self.next_of(true).await? {
            Next::Line(line) => Ok(Some(line)),
            Next::End => Ok(None),
            Next::NotYet => Err(Stop::Idle),
        }
    }

    /// The same, if the client sent it already.
    pub(super) async fn next_if_there(&mut self) -> Result<Next, Stop> {
        self.next_of(false).await
    }

    async fn next_of(&mut self, waits: bool) -> Result<Next, Stop> {
        loop {
            let line = match self.splitter.next() {
                Some(line) => line,
                None if self.ended => return Ok(Next::End),
                None => {
                    let piece = match waits {
                        true => self.piece_in_time().await?,
                        false => self.piece_if_there().await,
                    };
                    match piece {
                        None => return Ok(Next::NotYet),
                        Some(Some(Err(_))) => return Err(Stop::Broken),
                        Some(Some(Ok(frame))) => {
                            if let Ok(data) = frame.into_data() {
                                self.splitter.push(data);
                            }
                            continue;
                        }
                        Some(None) => {
                            self.ended = true;
                            match self.splitter.end() {
                                Some(line) => line,
                                None => return Ok(Next::End),
                            }
                        }
                    }
                }
            };
            match &line {
                Line::Text(text) if text.iter().all(u8::is_ascii_whitespace) => {}
                _ => return Ok(Next::Line(line)),
            }
        }
    }
}

impl Lines {
    /// Whether the line after the last has begun.
    pub(super) fn has_begun(&self) -> bool {
        self.splitter.too_long || !self.splitter.begun.is_empty()
    }

    fn must_end(&self) -> bool {
        self.closing
            .borrow()
            .is_some_and(|until| until <= Instant::now())
    }

    /// The next piece of the body, unless the client sends nothing for too long: `None`.
    async fn piece_in_time(&mut self) -> Result<Option<Piece>, Stop> {
        if self.must_end() {
            return Err(Stop::Closing);
        }
        let waited = tokio::time::timeout(self.idle, self.body.frame());
        tokio::select! {
            biased;
            piece = waited => return Ok(piece.ok()),
            _ = self.closing.wait_for(Option::is_some) => {}
        }
        let last = tokio::time::timeout(QUIET, self.body.frame()).await;
        last.map(Some).map_err(|_| Stop::Closing)
    }

    /// The next piece of the body if the client sent it already.
    async fn piece_if_there(&mut self) -> Option<Piece> {
        if self.must_end() {
            return None;
        }
        for turn in 0..=TURNS {
            if self.body.is_end_stream() {
                return Some(None);
            }
            let poll = std::future::poll_fn(|context| {
                Poll::Ready(Pin::new(&mut self.body).poll_frame(context))
            });
            match poll.await {
                Poll::Ready(piece) => return Some(piece),
                // The connection may be about to read it.
                Poll::Pending if turn < TURNS => tokio::task::yield_now().await,
                Poll::Pending => {}
            }
        }
        None
    }
}

/// Splits pieces at line ends.
#[derive(Debug)]
struct Splitter {
    piece: Bytes,
    /// The start of a line whose end has not come.
    begun: BytesMut,
    too_long: bool,
    bytes_max: usize,
    number: u64,
}

impl Splitter {
    fn new(bytes_max: usize) -> Self {
        Self {
            piece: Bytes::new(),
            begun: BytesMut::new(),
            too_long: false,
            bytes_max,
            number: 0,
        }
    }

    /// Gives it the next piece; all lines of the one before were taken.
    fn push(&mut self, piece: Bytes) {
        self.piece = piece;
    }

    /// The next line, without its end.
    fn next(&mut self) -> Option<Line> {
        match self.piece.iter().position(|byte| *byte == b'\n') {
            Some(end) => {
                let rest = self.piece.split_to(end);
                let _end = self.piece.split_to(1);
                Some(self.line(rest))
            }
            None => {
                let rest = std::mem::take(&mut self.piece);
                self.too_long |= self.begun.len() + rest.len() > self.bytes_max;
                match self.too_long {
                    true => self.begun.clear(),
                    false => self.begun.extend_from_slice(&rest),
                }
                None
            }
        }
    }

    /// The last line, if it has no end.
    fn end(&mut self) -> Option<Line> {
        let some = self.too_long || !self.begun.is_empty();
        some.then(|| self.line(Bytes::new()))
    }

    fn line(&mut self, rest: Bytes) -> Line {
        self.number += 1;
        let too_long = std::mem::take(&mut self.too_long);
        if too_long || self.begun.len() + rest.len() > self.bytes_max {
            self.begun.clear();
            return Line::TooLong;
        }
        if self.begun.is_empty() {
            return Line::Text(rest);
        }
        self.begun.extend_from_slice(&rest);
        Line::Text(self.begun.split().freeze())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(pieces: &[&[u8]], bytes_max: usize) -> Vec<Option<Vec<u8>>> {
        let mut splitter = Splitter::new(bytes_max);
        let mut found = Vec::new();
        let plain = |line| match line {
            Line::Text(text) => Some(text.to_vec()),
            Line::TooLong => None,
        };
        for piece in pieces {
            splitter.push(Bytes::copy_from_slice(piece));
            while let Some(line) = splitter.next() {
                found.push(plain(line));
            }
        }
        found.extend(splitter.end().map(plain));
        assert_eq!(splitter.number, found.len() as u64);
        found
    }

    #[test]
    fn lines_are_the_same_in_any_cut_and_long_ones_are_skipped() {
        let text = b"ab\n\nabcde\nabcdef\nx\n\nabcdefghijklmn\nlast";
        let long = None;
        let some = |text: &[u8]| Some(text.to_vec());
        let expected = [
            some(b"ab"),
            some(b""),
            some(b"abcde"),
            long.clone(),
            some(b"x"),
            some(b""),
            long,
            some(b"last"),
        ];
        for size in 1..=text.len() {
            let pieces: Vec<&[u8]> = text.chunks(size).collect();
            assert_eq!(lines(&pieces, 5), expected, "pieces of {size}");
        }
        assert_eq!(lines(&[b"abcdef"], 5), [None]);
        assert_eq!(lines(&[], 5), []);
    }
}
