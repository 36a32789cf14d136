//! Messages in a stream: found by their stated length, whatever pieces the stream comes in.
//!
//! A message begins with `8=FIX`, says how long it is, and has `10=` where it should end. Whatever
//! does not is skipped up to the next `8=FIX` and told of. Whether a frame is a valid message is the
//! decoder's to say.

use crate::decoder::{TRAILER_BYTES, body_length};
use crate::error::ErrorKind;
use crate::scan::{MESSAGE_BYTES_MAX, SOH};

/// What a message begins with.
const START: &[u8] = b"8=FIX";
/// BeginString and BodyLength with their tags have fewer bytes than this.
const HEAD_BYTES_MAX: usize = 40;
/// Bytes that a message may have, unless told otherwise.
const LIMIT_BYTES: usize = 1 << 20;
/// Bytes that were given out are moved over when there are as many.
const KEPT_BYTES: usize = 1 << 16;

/// The most bytes that a framer of messages of up to `limit_bytes` keeps, when as many as
/// `pushed_bytes` come between two looks for messages.
#[cfg(all(feature = "io", target_os = "linux"))]
pub(crate) fn kept_bytes_max(limit_bytes: usize, pushed_bytes: usize) -> usize {
    // A buffer that grows may have twice the room that it needs.
    2 * (KEPT_BYTES + limit_bytes + pushed_bytes)
}

/// What comes next in a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Frame<'b> {
    /// A message as far as its length and its end go.
    Message {
        /// Where in the stream it begins.
        offset: u64,
        /// All of it.
        bytes: &'b [u8],
    },
    /// Bytes that are no message.
    Skipped {
        /// Where in the stream they begin.
        offset: u64,
        /// How many there are.
        bytes: u64,
        /// What is wrong with them, if they begin as a message does.
        why: Option<ErrorKind>,
    },
}

/// What there is at a place where a message begins.
enum Look {
    Message(usize),
    NeedMore,
    Wrong(ErrorKind),
}

/// Cuts a stream into messages.
#[derive(Debug)]
pub struct Framer {
    buffer: Vec<u8>,
    /// What of the buffer was given out, and where in the stream the rest is.
    start: usize,
    offset: u64,
    limit: usize,
    ended: bool,
    /// Bytes that were skipped so far and not told of; what is wrong with them.
    skipped: u64,
    why: Option<ErrorKind>,
    seeking: bool,
    skipped_total: u64,
}

impl Default for Framer {
    fn default() -> Self {
        Self::new()
    }
}

impl Framer {
    /// A framer of messages of up to 1 MiB.
    #[must_use]
    pub fn new() -> Self {
        Self::with_limit(LIMIT_BYTES)
    }

    /// A framer of messages of up to so many bytes: [`MESSAGE_BYTES_MAX`] at most.
    #[must_use]
    pub fn with_limit(limit_bytes: usize) -> Self {
        Self {
            buffer: Vec::new(),
            start: 0,
            offset: 0,
            limit: limit_bytes.min(MESSAGE_BYTES_MAX - 1),
            ended: false,
            skipped: 0,
            why: None,
            seeking: false,
            skipped_total: 0,
        }
    }

    /// Takes the next bytes of the stream. What it holds is bounded by what is pushed between calls
    /// of [`next_frame`](Self::next_frame) and the longest message.
    pub fn push(&mut self, bytes: &[u8]) {
        if self.start == self.buffer.len() {
            self.buffer.clear();
            self.start = 0;
        } else if self.start >= KEPT_BYTES {
            self.buffer.drain(..self.start);
            self.start = 0;
        }
        self.buffer.extend_from_slice(bytes);
    }

    /// Says that the stream has ended: what is incomplete will not be completed.
    pub fn end(&mut self) {
        self.ended = true;
    }

    /// Bytes that were skipped and told of.
    #[must_use]
    pub fn skipped_bytes(&self) -> u64 {
        self.skipped_total
    }

    /// The next message, or what was skipped up to it. `None`: more has to be pushed first, or the
    /// stream has ended and all of it was given out.
    pub fn next_frame(&mut self) -> Option<Frame<'_>> {
        loop {
            if self.seeking || !self.at_start()? {
                self.seeking = true;
                if let Some(skipped) = self.seek()? {
                    return Some(skipped);
                }
                continue;
            }
            match self.look() {
                Look::NeedMore if !self.ended => return None,
                Look::NeedMore => self.skip(ErrorKind::Truncated),
                Look::Wrong(why) => self.skip(why),
                Look::Message(length) => {
                    let (at, offset) = (self.start, self.offset);
                    self.take(length);
                    let bytes = self.buffer.get(at..at + length)?;
                    return Some(Frame::Message { offset, bytes });
                }
            }
        }
    }

    fn rest(&self) -> &[u8] {
        self.buffer.get(self.start..).unwrap_or(&[])
    }

    fn take(&mut self, bytes: usize) {
        self.start += bytes;
        self.offset += bytes as u64;
    }

    /// Whether a message begins here. `None`: that is not known yet, or there is nothing.
    fn at_start(&self) -> Option<bool> {
        let rest = self.rest();
        match rest.len() {
            0 => None,
            some if some >= START.len() => Some(rest.starts_with(START)),
            _ if self.ended || !START.starts_with(rest) => Some(false),
            _ => None,
        }
    }

    /// Passes over the beginning of a message that is none.
    fn skip(&mut self, why: ErrorKind) {
        self.why = Some(why);
        self.take(1);
        self.skipped = 1;
        self.seeking = true;
    }

    /// Passes over bytes up to the next start. `None`: it is not there yet. `Some(None)`: it is here,
    /// and nothing was skipped.
    fn seek(&mut self) -> Option<Option<Frame<'static>>> {
        let rest = self.rest();
        let found = rest.windows(START.len()).position(|bytes| bytes == START);
        let over = match found {
            Some(at) => at,
            None if self.ended => rest.len(),
            // What may be the beginning of a start stays.
            None => rest.len().saturating_sub(START.len() - 1),
        };
        self.take(over);
        self.skipped += over as u64;
        if found.is_none() && !(self.ended && self.skipped > 0) {
            return None;
        }
        self.seeking = false;
        let bytes = std::mem::take(&mut self.skipped);
        self.skipped_total += bytes;
        let why = self.why.take();
        let offset = self.offset - bytes;
        Some((bytes > 0).then_some(Frame::Skipped { offset, bytes, why }))
    }

    /// What begins here with `8=FIX`.
    fn look(&self) -> Look {
        let rest = self.rest();
        let head = rest.get(..HEAD_BYTES_MAX).unwrap_or(rest);
        let missing = |kind| match head.len() {
            HEAD_BYTES_MAX => Look::Wrong(kind),
            _ => Look::NeedMore,
        };
        let in_begin = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'.';
        let begin = head.iter().skip(2).position(|byte| !in_begin(byte));
        let Some(begin) = begin.map(|at| at + 2) else {
            return missing(ErrorKind::HeaderOrder);
        };
        if head.get(begin) != Some(&SOH) {
            return Look::Wrong(ErrorKind::HeaderOrder);
        }
        let length = &head[begin + 1..];
        let is_length = length.iter().zip(b"9=").all(|(a, b)| a == b);
        if !is_length {
            return Look::Wrong(ErrorKind::HeaderOrder);
        }
        let digits = length.get(2..).unwrap_or(&[]);
        let Some(end) = digits.iter().position(|byte| *byte == SOH) else {
            return match digits.len() <= 9 && digits.iter().all(u8::is_ascii_digit) {
                true => missing(ErrorKind::BodyLength),
                false => Look::Wrong(ErrorKind::BodyLength),
            };
        };
        let Some(body) = body_length(&digits[..end]) else {
            return Look::Wrong(ErrorKind::BodyLength);
        };
        let whole = begin + 1 + 2 + end + 1 + body + TRAILER_BYTES;
        if whole > self.limit {
            return Look::Wrong(ErrorKind::TooLong);
        }
        let Some(trailer) = rest.get(whole - TRAILER_BYTES..whole) else {
            return Look::NeedMore;
        };
        match trailer {
            [b'1', b'0', b'=', _, _, _, SOH] => Look::Message(whole),
            _ => Look::Wrong(ErrorKind::BodyLength),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &[u8] = b"8=FIX.4.4\x019=5\x0135=0\x0110=163\x01";

    fn frames(pieces: &[&[u8]], limit: usize) -> Vec<(u64, u64, Option<ErrorKind>, bool)> {
        let mut framer = Framer::with_limit(limit);
        let mut out = Vec::new();
        let mut drain = |framer: &mut Framer| {
            while let Some(frame) = framer.next_frame() {
                out.push(match frame {
                    Frame::Message { offset, bytes } => (offset, bytes.len() as u64, None, true),
                    Frame::Skipped { offset, bytes, why } => (offset, bytes, why, false),
                });
            }
        };
        for piece in pieces {
            framer.push(piece);
            drain(&mut framer);
        }
        framer.end();
        drain(&mut framer);
        out
    }

    #[test]
    fn every_cut_gives_the_same_frames() {
        let mut stream = b"noise 8=F 8=FIX".to_vec();
        stream.extend_from_slice(ONE);
        stream.extend_from_slice(b"8=FIX.4.4\x019=500\x0135=0\x0110=163\x01");
        stream.extend_from_slice(ONE);
        stream.extend_from_slice(b"8=FIX.4.4\x019=5\x0135=0\x0111=163\x01");
        stream.extend_from_slice(&[ONE, ONE, b"8=FIX.4.4\x01"].concat());
        let whole = frames(&[&stream], 200);
        assert_eq!(whole.iter().filter(|frame| frame.3).count(), 4);
        let whys: Vec<_> = whole
            .iter()
            .filter(|frame| !frame.3)
            .map(|frame| frame.2)
            .collect();
        let why = [None, Some(ErrorKind::HeaderOrder), Some(ErrorKind::TooLong)];
        assert_eq!(whys[..3], why);
        assert_eq!(
            whys[3..],
            [Some(ErrorKind::BodyLength), Some(ErrorKind::Truncated)]
        );
        for cut in 0..=stream.len() {
            let (left, right) = stream.split_at(cut);
            assert_eq!(frames(&[left, right], 200), whole, "cut at {cut}");
        }
        let bytes: Vec<&[u8]> = stream.chunks(1).collect();
        assert_eq!(frames(&bytes, 200), whole);
        let told: u64 = whole.iter().map(|frame| frame.1).sum();
        assert_eq!(told, stream.len() as u64, "every byte is told of once");
    }
}
