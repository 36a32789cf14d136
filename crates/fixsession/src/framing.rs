//! Finds messages in the bytes of a connection.
//!
//! A message ends with the `10=` field that stands where its BodyLength says. One without it there is garbled:
//! it ends with its first `10=` field, or where the next message begins, so that a wrong length hides no other
//! message. The session sees garbled messages too, and ignores them.

use fixcore::SOH;
use fixcore::frame::{self, Head};
use memchr::{memchr, memmem};

/// BeginString and BodyLength with their tags are shorter than this.
const HEAD_BYTES_MAX: usize = 64;
/// How many used bytes are kept before the rest is moved to the front.
const KEPT_BYTES: usize = 1 << 16;
/// How a CheckSum begins, with the separator before it.
const CHECK_SUM: &[u8] = b"\x0110=";
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
            self.start += start.unwrap_or(rest.len().saturating_sub(frame::START.len() - 1));
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
    let starts = [&b"\x018="[..], frame::START]
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
    let stated_body = stated.saturating_sub(1);
    let end = match rest.get(stated_body..) {
        // What is behind is not looked at: a data field may contain whole messages.
        None => End::NotBefore(0),
        Some(behind) if behind.starts_with(CHECK_SUM) => check_sum_end(rest, stated_body),
        Some(behind) if CHECK_SUM.starts_with(behind) => End::NotBefore(0),
        Some(_) => garbled_end(rest, searched),
    };
    match end {
        End::At(end) if end > limit => End::TooLong,
        End::NotBefore(_) if rest.len() > limit => End::TooLong,
        end => end,
    }
}

/// Where a message ends whose CheckSum is not where it should be.
fn garbled_end(rest: &[u8], searched: usize) -> End {
    let from = searched.max(frame::START.len());
    let sum = memmem::find(rest.get(from..).unwrap_or(&[]), CHECK_SUM).map(|at| from + at);
    let before = rest.get(..sum.unwrap_or(rest.len())).unwrap_or(rest);
    match (frame::next_head(before, from), sum) {
        (Head::At(next), _) => End::At(next),
        (_, Some(sum)) => check_sum_end(rest, sum),
        // The last bytes may be the beginning of a CheckSum.
        (Head::NotBefore(head), None) => {
            let sum = rest.len().saturating_sub(CHECK_SUM.len() - 1);
            End::NotBefore(head.min(sum).max(searched))
        }
    }
}

/// The end of the CheckSum field whose separator before it is at `at`.
fn check_sum_end(rest: &[u8], at: usize) -> End {
    let value = at + CHECK_SUM.len();
    let digits = rest.get(value..).unwrap_or(&[]);
    let field = digits.get(..CHECK_SUM_BYTES_MAX).unwrap_or(digits);
    let end = memchr(SOH, field);
    // A message that lacks its last separator has the next one behind it.
    let own = field.get(..end.unwrap_or(field.len())).unwrap_or(field);
    if let Some(next) = memmem::find(own, frame::START) {
        return End::At(value + next);
    }
    match end {
        Some(length) => End::At(value + length + 1),
        None if field.len() < CHECK_SUM_BYTES_MAX => End::NotBefore(at),
        None => End::At(value + CHECK_SUM_BYTES_MAX),
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
    fn a_garbled_message_hides_no_other_one() {
        let short = b"8=FIX.4.4\x019=2\x0135=0\x0134=2\x0110=163\x01".as_slice();
        let long = b"8=FIX.4.4\x019=30\x0135=0\x0134=2\x0110=163\x01".as_slice();
        let by_one = b"8=FIX.4.4\x019=6\x0135=0\x0110=163\x01".as_slice();
        let to_last_separator = b"8=FIX.4.4\x019=12\x0135=0\x0110=163\x01".as_slice();
        let no_length = b"8=FIX.4.4\x0134=2\x0135=0\x0110=163\x01".as_slice();
        let no_number = b"8=FIX.4.4\x019=x\x0135=0\x0110=163\x01".as_slice();
        let no_sum = b"8=FIX.4.4\x019=5\x0135=0\x0158=FIX is 8=FIX.4.4\x01".as_slice();
        let no_end = b"8=FIX.4.4\x019=5\x0135=0\x0110=163".as_slice();
        let data = b"8=FIX.4.4\x019=46\x0135=0\x0195=26\x0196=8=FIX.4.4\x019=5\x0135=0\x0110=163\x01\x0134=2\x0110=0\x01"
            .as_slice();
        let expected = [
            short,
            ONE,
            long,
            ONE,
            by_one,
            to_last_separator,
            ONE,
            no_length,
            no_number,
            ONE,
            no_sum,
            ONE,
            no_end,
            ONE,
            data,
            ONE,
        ];
        let stream = [&b"noise\x01"[..], &expected.concat()].concat();
        for cut in 1..stream.len() {
            assert_eq!(frames(&stream, cut), expected, "pieces of {cut} bytes");
        }
    }

    /// Each byte is looked at a few times, however many messages state that they are long.
    #[test]
    fn heads_without_messages_end_where_the_next_begins() {
        let head = b"8=FIX.4.4\x019=150\x01".as_slice();
        let stream = head.repeat(10_000);
        let found = frames(&stream, 7);
        assert!(found.iter().all(|bytes| bytes == head));
        // The last ones may be whole still.
        assert!(found.len() > 9_980);
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
