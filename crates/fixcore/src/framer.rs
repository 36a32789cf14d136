//! Messages in a stream: found by their stated length, whatever pieces the stream comes in.
//!
//! A message begins with `8=FIX`, says how long it is, and has `10=` where it should end. Whatever
//! does not is skipped up to the next `8=FIX` and told of. Whether a frame is a valid message is the
//! decoder's to say. A [`FrameScanner`] finds frames in bytes that somebody else keeps, a [`Framer`] keeps
//! what it is given.

use memchr::memmem;

use crate::error::ErrorKind;
use crate::frame::{START, TRAILER_BYTES, body_length};
use crate::scan::{MESSAGE_BYTES_MAX, SOH};

/// BeginString and BodyLength with their tags have fewer bytes than this.
const HEAD_BYTES_MAX: usize = 40;
/// A CheckSum of as many bytes without an end ends no message. It should have three.
const CHECK_SUM_BYTES_MAX: usize = 16;
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

/// What a [`FrameScanner`] finds next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// A message: the bytes that were taken.
    Message,
    /// The end of bytes that are no message. Some of them may have been taken before.
    Skipped {
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

/// Finds messages in bytes that somebody else keeps.
#[derive(Debug)]
pub struct FrameScanner {
    limit: usize,
    /// Bytes that were skipped so far and not told of; what is wrong with them.
    skipped: u64,
    why: Option<ErrorKind>,
    seeking: bool,
    /// What the last message had in front of its length: most have the same.
    head: Vec<u8>,
    finder: memmem::Finder<'static>,
}

impl Default for FrameScanner {
    fn default() -> Self {
        Self::new()
    }
}

impl FrameScanner {
    /// A scanner of messages of up to 1 MiB.
    #[must_use]
    pub fn new() -> Self {
        Self::with_limit(LIMIT_BYTES)
    }

    /// A scanner of messages of up to so many bytes: [`MESSAGE_BYTES_MAX`] at most.
    #[must_use]
    pub fn with_limit(limit_bytes: usize) -> Self {
        Self {
            limit: limit_bytes.min(MESSAGE_BYTES_MAX - 1),
            skipped: 0,
            why: None,
            seeking: false,
            head: Vec::new(),
            finder: memmem::Finder::new(START),
        }
    }

    /// Looks at the next bytes of a stream: how many of them are taken, and what they end. Without an
    /// end the rest has to be given again with more behind it; when the stream has `ended`, all of it
    /// was taken then.
    ///
    /// ```
    /// use fixcore::{Found, FrameScanner};
    ///
    /// let stream = b"in: 8=FIX.4.4\x019=5\x0135=0\x0110=163\x01\n8=F";
    /// let mut scanner = FrameScanner::new();
    /// let before = Found::Skipped { bytes: 4, why: None };
    /// assert_eq!(scanner.next(stream, false), (4, Some(before)));
    /// assert_eq!(scanner.next(&stream[4..], false), (26, Some(Found::Message)));
    /// ```
    #[inline]
    pub fn next(&mut self, rest: &[u8], ended: bool) -> (usize, Option<Found>) {
        if !self.seeking
            && let Look::Message(length) = self.look_as_before(rest)
        {
            return (length, Some(Found::Message));
        }
        self.next_of_any(rest, ended)
    }

    fn next_of_any(&mut self, rest: &[u8], ended: bool) -> (usize, Option<Found>) {
        let mut taken = 0;
        loop {
            let here = rest.get(taken..).unwrap_or(&[]);
            if self.seeking || !starts(here, ended).unwrap_or(true) {
                self.seeking = true;
                let (over, skipped) = self.seek(here, ended);
                taken += over;
                match skipped {
                    None => return (taken, None),
                    Some(None) => continue,
                    Some(found) => return (taken, found),
                }
            }
            if starts(here, ended).is_none() {
                return (taken, None);
            }
            let why = match self.look(here) {
                Look::Message(length) => return (taken + length, Some(Found::Message)),
                Look::NeedMore if !ended => return (taken, None),
                Look::NeedMore => ErrorKind::Truncated,
                Look::Wrong(why) => why,
            };
            // The beginning of a message that is none is passed over.
            self.why = Some(why);
            self.skipped = 1;
            self.seeking = true;
            taken += 1;
        }
    }

    /// Passes over bytes up to the next start; how many. `None`: it is not there yet. `Some(None)`:
    /// it is here, and nothing was skipped.
    fn seek(&mut self, rest: &[u8], ended: bool) -> (usize, Option<Option<Found>>) {
        let found = self.finder.find(rest);
        let over = match found {
            Some(at) => at,
            None if ended => rest.len(),
            // What may be the beginning of a start stays.
            None => rest.len().saturating_sub(START.len() - 1),
        };
        self.skipped += over as u64;
        if found.is_none() && !(ended && self.skipped > 0) {
            return (over, None);
        }
        self.seeking = false;
        let bytes = std::mem::take(&mut self.skipped);
        let why = self.why.take();
        (
            over,
            Some((bytes > 0).then_some(Found::Skipped { bytes, why })),
        )
    }

    /// A message that begins as the last one did, and is there whole.
    #[inline]
    fn look_as_before(&self, rest: &[u8]) -> Look {
        let head = self.head.len();
        if head == 0 || !rest.starts_with(&self.head) {
            return Look::NeedMore;
        }
        let mut body = 0_usize;
        for (at, byte) in rest.iter().enumerate().skip(head).take(9) {
            match byte {
                b'0'..=b'9' => body = body * 10 + usize::from(byte - b'0'),
                &SOH if at > head => return self.whole(rest, at + 1 + body + TRAILER_BYTES),
                _ => break,
            }
        }
        Look::NeedMore
    }

    /// Whether a message of so many bytes, if CheckSum is as long as it should be, ends with one.
    #[inline]
    fn whole(&self, rest: &[u8], bytes: usize) -> Look {
        if bytes > self.limit {
            return Look::Wrong(ErrorKind::TooLong);
        }
        match rest.get(bytes - TRAILER_BYTES..bytes) {
            Some([b'1', b'0', b'=', digits @ .., SOH]) if digits.iter().all(u8::is_ascii_digit) => {
                Look::Message(bytes)
            }
            _ => self.otherwise(rest, bytes),
        }
    }

    /// The same of bytes with another end: CheckSum of another length, which ends a message all the
    /// same, something else, or not all of either yet.
    #[cold]
    fn otherwise(&self, rest: &[u8], bytes: usize) -> Look {
        let tail = rest.get(bytes - TRAILER_BYTES..).unwrap_or(&[]);
        let Some(value) = tail.strip_prefix(b"10=") else {
            return match rest.get(..bytes) {
                None => Look::NeedMore,
                Some(stated) => Look::Wrong(self.wrong_length(stated)),
            };
        };
        let value = value.get(..CHECK_SUM_BYTES_MAX).unwrap_or(value);
        // A line or a message that ends what has no end itself. It is told by what is before it, so
        // that it is the same wherever the stream is cut.
        let begins = |at: usize| value[at] == b'\n' || value[at..].starts_with(b"8=");
        for (at, byte) in value.iter().enumerate() {
            if *byte == SOH {
                let bytes = bytes - TRAILER_BYTES + b"10=".len() + at + 1;
                return match bytes > self.limit {
                    true => Look::Wrong(ErrorKind::TooLong),
                    false => Look::Message(bytes),
                };
            }
            if begins(at) {
                return Look::Wrong(ErrorKind::Truncated);
            }
        }
        match value.len() < CHECK_SUM_BYTES_MAX {
            true => Look::NeedMore,
            false => Look::Wrong(ErrorKind::CheckSum),
        }
    }

    /// What is wrong with bytes that do not end as their length says: a message that another one, or a
    /// line, begins in before it has a trailer was cut off.
    #[cold]
    fn wrong_length(&self, stated: &[u8]) -> ErrorKind {
        let behind = stated.get(START.len()..).unwrap_or(&[]);
        let start = self.finder.find(behind);
        let line = memchr::memchr(b'\n', behind);
        let end = start.into_iter().chain(line).min();
        let own = end.and_then(|at| behind.get(..at));
        match own.map(|own| memmem::find(own, b"\x0110=").is_some()) {
            Some(false) => ErrorKind::Truncated,
            Some(true) | None => ErrorKind::BodyLength,
        }
    }

    /// What begins here with `8=FIX`.
    fn look(&mut self, rest: &[u8]) -> Look {
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
            // Logs for people have something else in its place, of a byte or more.
            return match head.get(begin..begin + 3) {
                Some([b'^' | b'\\' | b'<', ..] | [_, b'9', b'=']) => {
                    Look::Wrong(ErrorKind::Separator)
                }
                Some(_) => Look::Wrong(ErrorKind::HeaderOrder),
                None => missing(ErrorKind::HeaderOrder),
            };
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
        let found = self.whole(rest, begin + 1 + 2 + end + 1 + body + TRAILER_BYTES);
        if matches!(found, Look::Message(_)) {
            self.head.clear();
            self.head.extend_from_slice(&head[..begin + 3]);
        }
        found
    }
}

/// Whether a message begins here. `None`: that is not known yet, or there is nothing.
fn starts(rest: &[u8], ended: bool) -> Option<bool> {
    match rest.len() {
        0 => None,
        some if some >= START.len() => Some(rest.starts_with(START)),
        _ if ended || !START.starts_with(rest) => Some(false),
        _ => None,
    }
}

/// Cuts a stream into messages.
#[derive(Debug)]
pub struct Framer {
    scanner: FrameScanner,
    buffer: Vec<u8>,
    /// What of the buffer was given out, and where in the stream the rest is.
    start: usize,
    offset: u64,
    ended: bool,
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
            scanner: FrameScanner::with_limit(limit_bytes),
            buffer: Vec::new(),
            start: 0,
            offset: 0,
            ended: false,
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
        let rest = self.buffer.get(self.start..).unwrap_or(&[]);
        let (taken, found) = self.scanner.next(rest, self.ended);
        let offset = self.offset;
        self.start += taken;
        self.offset += taken as u64;
        match found? {
            Found::Message => Some(Frame::Message {
                offset,
                bytes: rest.get(..taken).unwrap_or(&[]),
            }),
            Found::Skipped { bytes, why } => {
                self.skipped_total += bytes;
                let offset = self.offset - bytes;
                Some(Frame::Skipped { offset, bytes, why })
            }
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

    /// What CheckSum states is for the decoder to judge, however long it is.
    #[test]
    fn a_message_ends_with_its_checksum_whatever_that_states() {
        let with = |sum: &str| format!("8=FIX.4.4\x019=5\x0135=0\x0110={sum}").into_bytes();
        for sum in [
            "",
            "1",
            "16",
            "256",
            "1x3",
            "1=3",
            "abc",
            "0163",
            "000000000000163",
        ] {
            let message = [with(sum), vec![SOH]].concat();
            let stream = [&message[..], ONE, b"\n", &message].concat();
            let whole = frames(&[&stream], 200);
            let lengths: Vec<_> = whole.iter().map(|frame| (frame.1, frame.3)).collect();
            let own = (message.len() as u64, true);
            assert_eq!(lengths, [own, (26, true), (1, false), own], "{sum}");
            for cut in 0..=stream.len() {
                let (left, right) = stream.split_at(cut);
                assert_eq!(frames(&[left, right], 200), whole, "{sum}, cut at {cut}");
            }
        }
        // One without an end.
        for (sum, why) in [
            ("", ErrorKind::Truncated),
            ("16\n", ErrorKind::Truncated),
            ("16", ErrorKind::Truncated),
            ("0000000000000163", ErrorKind::CheckSum),
        ] {
            let stream = [&with(sum)[..], ONE].concat();
            let whole = frames(&[&stream], 200);
            assert_eq!(whole[0].2, Some(why), "{sum}");
            assert!(whole.last().unwrap().3, "{sum}: the next one is found");
            let bytes: Vec<&[u8]> = stream.chunks(1).collect();
            assert_eq!(frames(&bytes, 200), whole, "{sum}");
        }
    }
}
