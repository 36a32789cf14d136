//! Finds messages by their stated length, in bytes that the caller keeps, whatever pieces the stream
//! arrives in.
//!
//! A message begins with `8=FIX`, states its length, and has `10=` where it should end. Everything else
//! is skipped up to the next `8=FIX` and reported. The decoder says whether a frame is a valid message.

use memchr::memmem;

use crate::error::ErrorKind;
use crate::frame::{MESSAGE_BYTES_MAX, SOH, START, TRAILER_BYTES, body_length};

/// BeginString and BodyLength with their tags are shorter than this.
const HEAD_BYTES_MAX: usize = 40;
/// A CheckSum without a separator within this many bytes does not end a message. It should have three.
const CHECK_SUM_BYTES_MAX: usize = 16;
/// The default limit of a message's length.
pub(crate) const LIMIT_BYTES: usize = 1 << 20;
/// What a [`FrameScanner`] finds next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// A message: the bytes that this call took.
    Message,
    /// The end of bytes that are not a message. Earlier calls may have taken some of them.
    Skipped {
        /// How many there are in all.
        bytes: u64,
        /// What is wrong with them, if they begin like a message.
        why: Option<ErrorKind>,
    },
}

/// What is found at a place where a message begins.
enum Look {
    Message(usize),
    NeedMore,
    Wrong(ErrorKind),
}

/// Finds messages in bytes that the caller keeps. A [`Framer`](crate::Framer) keeps them itself.
#[derive(Debug)]
pub struct FrameScanner {
    limit: usize,
    /// How many bytes were skipped and not reported yet, and what is wrong with them.
    skipped: u64,
    why: Option<ErrorKind>,
    seeking: bool,
    /// The bytes of the last message before its length: most messages have the same.
    head: Vec<u8>,
    finder: memmem::Finder<'static>,
}

impl Default for FrameScanner {
    fn default() -> Self {
        Self::new()
    }
}

impl FrameScanner {
    /// A scanner for messages of up to 1 MiB.
    #[must_use]
    pub fn new() -> Self {
        Self::with_limit(LIMIT_BYTES)
    }

    /// A scanner for messages of up to `limit_bytes`, which is reduced to less than
    /// [`MESSAGE_BYTES_MAX`].
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

    /// Scans the next bytes of a stream. Returns how many of them it took, and what ends there.
    ///
    /// If nothing ends there, pass the bytes that were not taken again with more after them. At the end
    /// of the stream (`ended`) everything has been taken then.
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

    /// Passes over whole messages that begin as the last one that [`next`](Self::next) found, and over what stands before
    /// and between them, for a caller who does not want them. Returns how many bytes that are, up to the end of a message;
    /// [`next`](Self::next) goes on there, with whatever is unusual. 0 if something bad is to be reported first.
    ///
    /// ```
    /// use fixcore::{Found, FrameScanner};
    ///
    /// let message = b"8=FIX.4.4\x019=5\x0135=0\x0110=163\x01\n";
    /// let mut scanner = FrameScanner::new();
    /// assert_eq!(scanner.pass_over(&message.repeat(3)), 0);
    /// assert_eq!(scanner.next(message, false), (26, Some(Found::Message)));
    /// assert_eq!(scanner.pass_over(&message.repeat(3)), 3 * 27 - 1);
    /// ```
    pub fn pass_over(&mut self, bytes: &[u8]) -> usize {
        if self.why.is_some() {
            return 0;
        }
        let (mut at, mut end) = (0, 0);
        while let Some(rest) = bytes.get(at..) {
            if let Look::Message(length) = self.look_as_before(rest) {
                at += length;
                end = at;
                continue;
            }
            at += match rest {
                [b'\n', b'8', ..] => 1,
                _ if rest.starts_with(START) => break,
                _ => match self.finder.find(rest) {
                    Some(over) => over,
                    None => break,
                },
            };
        }
        if end > 0 {
            (self.skipped, self.seeking) = (0, false);
        }
        end
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
            // Not a message: skips its beginning.
            self.why = Some(why);
            self.skipped = 1;
            self.seeking = true;
            taken += 1;
        }
    }

    /// Skips bytes up to the next start. Returns how many, and `None` if the start has not arrived yet,
    /// or `Some(None)` if nothing was skipped before it.
    fn seek(&mut self, rest: &[u8], ended: bool) -> (usize, Option<Option<Found>>) {
        let found = self.finder.find(rest);
        let over = match found {
            Some(at) => at,
            None if ended => rest.len(),
            // Bytes that may be the beginning of a start stay.
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

    /// A complete message that begins like the last one.
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

    /// Whether a message of this length, with a CheckSum of three digits, ends with one.
    #[inline]
    fn whole(&self, rest: &[u8], bytes: usize) -> Look {
        if bytes > self.limit {
            return Look::Wrong(ErrorKind::TooLong);
        }
        match rest.get(bytes - TRAILER_BYTES - 1..bytes) {
            Some([SOH, b'1', b'0', b'=', digits @ .., SOH])
                if digits.iter().all(u8::is_ascii_digit) =>
            {
                Look::Message(bytes)
            }
            _ => self.otherwise(rest, bytes),
        }
    }

    /// The same for bytes with another end: a CheckSum of another length, which also ends a message,
    /// something else, or an incomplete message.
    #[cold]
    fn otherwise(&self, rest: &[u8], bytes: usize) -> Look {
        // `10=` within a field, as the end of `110=`, ends no message.
        let tail = rest.get(bytes - TRAILER_BYTES - 1..).unwrap_or(&[]);
        let Some(value) = tail.strip_prefix(b"\x0110=") else {
            return match rest.get(..bytes) {
                None => Look::NeedMore,
                Some(stated) => Look::Wrong(self.wrong_length(stated)),
            };
        };
        let value = value.get(..CHECK_SUM_BYTES_MAX).unwrap_or(value);
        // The next line or message ends a message without an end. Both are detected at their first
        // bytes, so the result does not depend on how the stream is split.
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

    /// What is wrong with bytes that do not end where their length says: if another message or a line
    /// begins before a trailer, the message was truncated.
    #[cold]
    fn wrong_length(&self, stated: &[u8]) -> ErrorKind {
        let behind = stated.get(START.len()..).unwrap_or(&[]);
        // Only up to the next message: further bytes are looked at from there, and those of many starts in a row not
        // once for each of them.
        let start = self.finder.find(behind);
        let upto = start.and_then(|at| behind.get(..at)).unwrap_or(behind);
        let line = memchr::memchr(b'\n', upto);
        let end = line.or(start);
        let own = end.and_then(|at| behind.get(..at));
        match own.map(|own| memmem::find(own, b"\x0110=").is_some()) {
            Some(false) => ErrorKind::Truncated,
            Some(true) | None => ErrorKind::BodyLength,
        }
    }

    /// What is found here, where `8=FIX` begins.
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
            // Logs for people write something else in its place: one byte or more.
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

/// Whether a message begins here. `None` if there are too few bytes to tell.
fn starts(rest: &[u8], ended: bool) -> Option<bool> {
    match rest.len() {
        0 => None,
        some if some >= START.len() => Some(rest.starts_with(START)),
        _ if ended || !START.starts_with(rest) => Some(false),
        _ => None,
    }
}
