//! The messages of one stream, and what is between them, as pieces of a log.

use std::collections::VecDeque;
use std::sync::Arc;

use fixcore::frame::START;
use fixcore::{Found, FrameScanner};
use memchr::memmem;

use super::origin::{Lost, Origin, Origins};

/// Bytes that are no message are passed on when they are as many.
const JUNK_BYTES: usize = 64 << 10;
/// What a mark costs.
const MARK_BYTES: usize = size_of::<(u64, Mark)>();

/// The packet that bytes of a stream came in.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Mark {
    pub(super) packet: u64,
    /// The number of the TCP connection.
    pub(super) connection: u64,
    pub(super) time_ns: Option<i64>,
    /// The byte of the capture that they begin with.
    pub(super) offset: u64,
}

/// The text of a log: each piece on a line, behind the time and the stream that it came on.
#[derive(Debug, Default)]
pub(super) struct Text {
    bytes: Vec<u8>,
    taken: usize,
    /// The byte of the log that `bytes` begins with.
    offset: u64,
    pub(super) origins: Origins,
}

impl Text {
    /// Moves what there is into `room`; how many bytes that were.
    pub(super) fn take(&mut self, room: &mut [u8]) -> usize {
        let rest = self.bytes.get(self.taken..).unwrap_or(&[]);
        let count = rest.len().min(room.len());
        room[..count].copy_from_slice(&rest[..count]);
        self.taken += count;
        if self.taken == self.bytes.len() {
            self.offset += self.taken as u64;
            self.taken = 0;
            self.bytes.clear();
        }
        count
    }

    fn end(&self) -> u64 {
        self.offset + self.bytes.len() as u64
    }

    fn piece(&mut self, bytes: &[u8], origin: Origin) {
        if let Some(ns) = origin.time_ns {
            let time = crate::stamp::time(ns);
            self.bytes.extend_from_slice(time.as_bytes());
            self.bytes.push(b' ');
        }
        self.bytes.extend_from_slice(origin.stream.as_bytes());
        self.bytes.extend_from_slice(b" : ");
        self.origins.pieces.push((self.end(), origin));
        self.bytes.extend_from_slice(bytes);
        self.bytes.push(b'\n');
    }

    /// Says that something is missing here.
    pub(super) fn lost(&mut self, origin: Origin, text: String) {
        self.origins.lost.push((self.end(), Lost { origin, text }));
    }
}

/// Finds the messages of one stream.
#[derive(Debug)]
pub(super) struct Messages {
    scanner: FrameScanner,
    buffer: Vec<u8>,
    /// The byte of the stream that the buffer begins with.
    start: u64,
    /// Bytes at the beginning of the buffer that are no message.
    junk: usize,
    /// By the byte of the stream that a packet brought.
    marks: VecDeque<(u64, Mark)>,
    /// Whether a message has begun, since the stream did or since something was missing.
    is_in_step: bool,
    /// Whether a message ever began.
    is_fix: bool,
}

impl Messages {
    /// Of a stream that begins with this byte.
    pub(super) fn new(start: u64) -> Self {
        Self {
            scanner: FrameScanner::new(),
            buffer: Vec::new(),
            start,
            junk: 0,
            marks: VecDeque::new(),
            is_in_step: false,
            is_fix: false,
        }
    }

    /// Whether a message ever began.
    pub(super) fn is_fix(&self) -> bool {
        self.is_fix
    }

    /// Bytes of memory that are held.
    pub(super) fn held(&self) -> usize {
        self.buffer.len() + self.marks.len() * MARK_BYTES
    }

    /// Takes the next bytes of the stream.
    pub(super) fn data(&mut self, bytes: &[u8], mark: Mark, name: &Arc<str>, text: &mut Text) {
        let at = self.start + self.buffer.len() as u64;
        self.marks.push_back((at, mark));
        self.buffer.extend_from_slice(bytes);
        if !self.is_in_step {
            match memmem::find(&self.buffer, START) {
                None => return self.drop_front(self.buffer.len().saturating_sub(START.len() - 1)),
                Some(at) => self.drop_front(at),
            }
            (self.is_in_step, self.is_fix) = (true, true);
        }
        self.scan(false, name, text);
    }

    /// So many bytes are missing, before those of a packet.
    pub(super) fn gap(&mut self, missing: u64) {
        self.start += self.buffer.len() as u64 + missing;
        self.buffer.clear();
        self.marks.clear();
        self.junk = 0;
        self.scanner = FrameScanner::new();
        self.is_in_step = false;
    }

    /// The stream ends: what is left is no whole message.
    pub(super) fn end(&mut self, name: &Arc<str>, text: &mut Text) {
        if self.is_in_step {
            self.scan(true, name, text);
            self.pass(self.junk, name, text);
        }
        self.gap(0);
    }

    fn scan(&mut self, ended: bool, name: &Arc<str>, text: &mut Text) {
        loop {
            let rest = self.buffer.get(self.junk..).unwrap_or(&[]);
            if rest.is_empty() {
                break;
            }
            let (taken, found) = self.scanner.next(rest, ended);
            match found {
                Some(Found::Message) => {
                    self.pass(self.junk, name, text);
                    self.pass(taken, name, text);
                }
                Some(Found::Skipped { .. }) => self.pass(self.junk + taken, name, text),
                None => {
                    self.junk += taken;
                    break;
                }
            }
        }
        if self.junk >= JUNK_BYTES {
            self.pass(self.junk, name, text);
        }
    }

    /// Makes a piece of the first bytes.
    fn pass(&mut self, bytes: usize, name: &Arc<str>, text: &mut Text) {
        self.junk = self.junk.saturating_sub(bytes);
        let Some(piece) = self.buffer.get(..bytes).filter(|piece| !piece.is_empty()) else {
            return;
        };
        let mark = |byte: u64| {
            let behind = self.marks.partition_point(|(start, _)| *start <= byte);
            let mark = self.marks.get(behind.saturating_sub(1));
            mark.copied().unwrap_or_default()
        };
        let (at, first) = mark(self.start);
        let end = self.start + bytes as u64;
        let (_, last) = mark(end - 1);
        // Its head may have come last, if it was sent again.
        let parts = self.marks.iter().take_while(|(start, _)| *start < end);
        let latest = |(packet, time_ns): (u64, Option<i64>), (_, mark): &(u64, Mark)| {
            (packet.max(mark.packet), time_ns.max(mark.time_ns))
        };
        let (packet, time_ns) = parts.fold((last.packet, last.time_ns), latest);
        let origin = Origin {
            packet,
            time_ns,
            stream: Arc::clone(name),
            connection: last.connection,
            stream_offset: self.start,
            offset: first.offset + (self.start - at),
        };
        text.piece(piece, origin);
        self.drop_front(bytes);
    }

    fn drop_front(&mut self, bytes: usize) {
        self.buffer.drain(..bytes);
        self.start += bytes as u64;
        // The mark of the byte that is first now stays.
        while let Some((next, _)) = self.marks.get(1)
            && *next <= self.start
        {
            self.marks.pop_front();
        }
    }
}
