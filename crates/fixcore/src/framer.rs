//! Messages in a stream, over a buffer of its own: see [`FrameScanner`] for how they are found.

use crate::error::ErrorKind;
use crate::frame_scanner::{Found, FrameScanner, LIMIT_BYTES};

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
