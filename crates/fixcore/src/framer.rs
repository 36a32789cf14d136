//! Finds messages in a stream and buffers it: see [`FrameScanner`] for how they are found.

use crate::error::ErrorKind;
use crate::frame_scanner::{Found, FrameScanner, LIMIT_BYTES};

/// How many used bytes are kept before the rest is moved to the front.
const KEPT_BYTES: usize = 1 << 16;

/// The most memory that a framer with this limit takes if up to `pushed_bytes` are pushed before its
/// messages are taken out.
#[cfg(all(feature = "io", target_os = "linux"))]
pub(crate) fn kept_bytes_max(limit_bytes: usize, pushed_bytes: usize) -> usize {
    // A growing buffer may have twice the room that it needs.
    2 * (KEPT_BYTES + limit_bytes + pushed_bytes)
}

/// What comes next in a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Frame<'b> {
    /// A message by its length and its end. A [`Decoder`](crate::Decoder) says whether it is valid.
    Message {
        /// Its place in the stream.
        offset: u64,
        /// The whole message.
        bytes: &'b [u8],
    },
    /// Bytes that are not a message.
    Skipped {
        /// Their place in the stream.
        offset: u64,
        /// How many there are.
        bytes: u64,
        /// What is wrong with them, if they begin like a message.
        why: Option<ErrorKind>,
    },
}

/// Splits a stream into messages.
///
/// ```
/// use fixcore::{Frame, Framer};
///
/// let mut framer = Framer::new();
/// framer.push(b"8=FIX.4.4\x019=5\x0135=0\x01");
/// assert_eq!(framer.next_frame(), None);
/// framer.push(b"10=163\x01");
/// assert!(matches!(framer.next_frame(), Some(Frame::Message { offset: 0, .. })));
/// ```
#[doc(alias = "splitter")]
#[doc(alias = "tokenizer")]
#[derive(Debug)]
pub struct Framer {
    scanner: FrameScanner,
    buffer: Vec<u8>,
    /// Where the unused bytes of the buffer begin, and their place in the stream.
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
    /// A framer for messages of up to 1 MiB.
    #[must_use]
    pub fn new() -> Self {
        Self::with_limit(LIMIT_BYTES)
    }

    /// A framer for messages of up to `limit_bytes`, which is reduced to less than
    /// [`MESSAGE_BYTES_MAX`](crate::MESSAGE_BYTES_MAX).
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

    /// Adds the next bytes of the stream. The buffer holds at most the longest message and the bytes
    /// pushed between calls of [`next_frame`](Self::next_frame).
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

    /// Marks the end of the stream: an incomplete message is skipped.
    pub fn end(&mut self) {
        self.ended = true;
    }

    /// How many bytes were reported as skipped.
    #[must_use]
    pub fn skipped_bytes(&self) -> u64 {
        self.skipped_total
    }

    /// The next message, or the bytes skipped before it. `None` if more bytes must be pushed first, or
    /// if the stream has ended and all of it was returned.
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
    use crate::frame::SOH;

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
