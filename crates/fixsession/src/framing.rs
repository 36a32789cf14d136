//! Finds messages in the bytes of a connection.
//!
//! A message whose BodyLength is wrong vanishes together with what it swallows: it ends at the first
//! `10=` field at or behind the end that it states. A log is framed differently, by `fixcore::Framer`,
//! which looks for the next message at once; a session would find that one's number too high.

use fixcore::SOH;
use memchr::{memchr, memmem};

/// BeginString and BodyLength with their tags are shorter than this.
const HEAD_BYTES_MAX: usize = 64;
/// How many used bytes are kept before the rest is moved to the front.
const KEPT_BYTES: usize = 1 << 16;
/// `8=FIX`, by which a message is found among other bytes.
const START_BYTES: usize = 5;
/// A CheckSum field has an end within this many bytes.
const CHECK_SUM_BYTES_MAX: usize = 64;

/// What comes next.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Framed<'b> {
    /// The bytes of a message, valid or not.
    Message(&'b [u8]),
    /// More bytes have to come first.
    NeedMore,
    /// A message is longer than the limit.
    TooLong,
}

/// The bytes of a connection that were not handled yet.
#[derive(Debug)]
pub(crate) struct SessionFramer {
    buffer: Vec<u8>,
    start: usize,
    /// The bytes from `start` on belong to no message.
    is_seeking: bool,
    /// How many bytes behind `start` hold no end of the message.
    searched: usize,
    limit: usize,
}

impl SessionFramer {
    /// A framer for messages of up to this many bytes.
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            buffer: Vec::new(),
            start: 0,
            is_seeking: false,
            searched: 0,
            limit,
        }
    }

    /// The longest message.
    pub(crate) fn limit(&self) -> usize {
        self.limit
    }

    /// Adds what came.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        if self.start == self.buffer.len() {
            self.buffer.clear();
            self.start = 0;
        } else if self.start >= KEPT_BYTES {
            self.buffer.drain(..self.start);
            self.start = 0;
        }
        self.buffer.extend_from_slice(bytes);
    }

    /// Forgets everything, and gives back what a long message took.
    pub(crate) fn clear(&mut self) {
        self.buffer.clear();
        self.buffer.shrink_to(KEPT_BYTES);
        (self.start, self.searched, self.is_seeking) = (0, 0, false);
    }

    /// Whether bytes wait.
    pub(crate) fn has_bytes(&self) -> bool {
        self.start < self.buffer.len()
    }

    /// The next message.
    pub(crate) fn next(&mut self) -> Framed<'_> {
        let rest = self.buffer.get(self.start..).unwrap_or(&[]);
        if self.is_seeking || !b"8=".starts_with(rest.get(..2).unwrap_or(rest)) {
            let start = next_start(rest);
            // The last bytes may be the beginning of a start.
            self.start += start.unwrap_or(rest.len().saturating_sub(START_BYTES - 1));
            self.searched = 0;
            self.is_seeking = start.is_none();
            if self.is_seeking {
                return Framed::NeedMore;
            }
        }
        let rest = self.buffer.get(self.start..).unwrap_or(&[]);
        match end(rest, self.limit, self.searched) {
            End::At(end) => {
                let start = self.start;
                self.start += end;
                self.searched = 0;
                Framed::Message(self.buffer.get(start..start + end).unwrap_or(&[]))
            }
            End::NotBefore(searched) => {
                self.searched = searched;
                Framed::NeedMore
            }
            End::TooLong => Framed::TooLong,
        }
    }
}

/// Where the next message begins behind bytes that are none.
fn next_start(rest: &[u8]) -> Option<usize> {
    let starts = [&b"\x018="[..], b"8=FIX"]
        .into_iter()
        .zip([1, 0])
        .filter_map(|(text, skipped)| memmem::find(rest, text).map(|at| at + skipped));
    starts.min()
}

/// Where a message ends.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum End {
    At(usize),
    /// Not within the bytes; this many of them need not be searched again.
    NotBefore(usize),
    TooLong,
}

/// Where the message ends that these bytes begin with. `searched` is what the last call returned.
pub(crate) fn end(rest: &[u8], limit: usize, searched: usize) -> End {
    let stated = match stated_end(rest) {
        Stated::NeedMore => return End::NotBefore(0),
        Stated::End(end) => end,
    };
    if stated > limit {
        return End::TooLong;
    }
    // The separator before CheckSum is the last byte of the body.
    let from = stated.saturating_sub(1).max(searched);
    let behind = rest.get(from..).unwrap_or(&[]);
    let found = match behind.starts_with(b"\x0110=") {
        true => Some(0),
        false => memmem::find(behind, b"\x0110="),
    };
    let end = match found {
        Some(at) => {
            let value = from + at + 4;
            let digits = rest.get(value..).unwrap_or(&[]);
            let field = digits.get(..CHECK_SUM_BYTES_MAX).unwrap_or(digits);
            match memchr(SOH, field) {
                Some(length) => End::At(value + length + 1),
                None if field.len() < CHECK_SUM_BYTES_MAX => End::NotBefore(from + at),
                None => End::At(value + CHECK_SUM_BYTES_MAX),
            }
        }
        None => End::NotBefore(rest.len().saturating_sub(3).max(searched)),
    };
    match end {
        End::At(end) if end > limit => End::TooLong,
        End::NotBefore(_) if rest.len() > limit => End::TooLong,
        end => end,
    }
}

/// The end of the body by BodyLength.
enum Stated {
    NeedMore,
    End(usize),
}

fn stated_end(rest: &[u8]) -> Stated {
    let head = rest.get(..HEAD_BYTES_MAX).unwrap_or(rest);
    let incomplete = head.len() < HEAD_BYTES_MAX;
    let Some(begin) = memchr(SOH, head) else {
        return match incomplete {
            true => Stated::NeedMore,
            false => Stated::End(0),
        };
    };
    let length = &head[begin + 1..];
    if incomplete && b"9=".starts_with(length.get(..2).unwrap_or(length)) && length.len() < 2 {
        return Stated::NeedMore;
    }
    let Some(length) = length.strip_prefix(b"9=") else {
        // No BodyLength: up to the first CheckSum.
        return Stated::End(begin + 1);
    };
    let mut body = 0_usize;
    for (at, byte) in length.iter().enumerate() {
        match byte {
            b'0'..=b'9' if at < 9 => body = body * 10 + usize::from(byte - b'0'),
            &SOH if at > 0 => return Stated::End(begin + 1 + 2 + at + 1 + body),
            _ => return Stated::End(begin + 1),
        }
    }
    match incomplete {
        true => Stated::NeedMore,
        false => Stated::End(begin + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &[u8] = b"8=FIX.4.4\x019=5\x0135=0\x0110=163\x01";

    fn frames(stream: &[u8], cut: usize) -> Vec<Vec<u8>> {
        let mut framer = SessionFramer::new(200);
        let mut out = Vec::new();
        for piece in stream.chunks(cut) {
            framer.push(piece);
            while let Framed::Message(bytes) = framer.next() {
                out.push(bytes.to_vec());
            }
        }
        out
    }

    #[test]
    fn a_wrong_length_swallows_up_to_the_next_check_sum() {
        let short = b"8=FIX.4.4\x019=2\x0135=0\x0134=2\x0110=163\x01".as_slice();
        let long = b"8=FIX.4.4\x019=30\x0135=0\x0134=2\x0110=163\x01".as_slice();
        let no_length = b"8=FIX.4.4\x0134=2\x0135=0\x0110=163\x01".as_slice();
        let no_number = b"8=FIX.4.4\x019=x\x0135=0\x0110=163\x01".as_slice();
        let swallowed = [long, ONE].concat();
        let stream = [
            b"noise\x01",
            short,
            ONE,
            &swallowed,
            no_length,
            no_number,
            ONE,
        ]
        .concat();
        let expected = [short, ONE, &swallowed, no_length, no_number, ONE];
        for cut in 1..stream.len() {
            assert_eq!(frames(&stream, cut), expected, "pieces of {cut} bytes");
        }
    }

    #[test]
    fn nothing_grows_beyond_the_limit() {
        let mut framer = SessionFramer::new(200);
        framer.push(b"8=FIX.4.4\x019=1000000000\x0135=");
        assert_eq!(framer.next(), Framed::NeedMore, "ten digits are no length");
        framer.push(&[b'x'; 200]);
        assert_eq!(framer.next(), Framed::TooLong);
        let mut framer = SessionFramer::new(200);
        framer.push(b"8=FIX.4.4\x019=500\x0135=");
        assert_eq!(framer.next(), Framed::TooLong);
        let mut framer = SessionFramer::new(200);
        for _ in 0..100_000 {
            framer.push(&[b'x'; 100]);
            assert_eq!(framer.next(), Framed::NeedMore);
        }
        assert!(framer.buffer.capacity() < 1 << 18);
    }
}
