//! One direction of a TCP connection, put together from segments in any order.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::link::Segment;
use super::messages::{Mark, Messages, Text};
use super::origin::Origin;

/// Bytes that wait for missing ones; with more, these do not come.
const WAITING_BYTES_MAX: usize = 1 << 20;
/// What was acknowledged did come, and the capture lacks it if it is not there after this time.
const ACKNOWLEDGED_NS: i64 = 1_000_000_000;
/// The same for what was not acknowledged in the capture.
const WAITING_NS: i64 = 10_000_000_000;
/// A sequence number this far away is that of another connection with the same addresses.
const AWAY_BYTES_MAX: i64 = 16 << 20;
/// What a piece that waits costs besides its bytes.
const PIECE_BYTES: usize = 128;

/// One direction of a connection.
#[derive(Debug)]
pub(super) struct Stream {
    /// In the order in which streams began.
    pub(super) number: u64,
    pub(super) last_packet: u64,
    name: Arc<str>,
    /// The number of the connection, once there is one.
    connection: Option<u64>,
    /// The sequence number that comes next, and the byte of the stream that it is of.
    next: Option<u32>,
    position: u64,
    /// The number of the first byte, if the beginning was captured.
    first: Option<u32>,
    waiting: BTreeMap<u64, (Vec<u8>, Mark)>,
    waiting_bytes: usize,
    /// Since when something is missing, and since when the other side has it.
    missing_ns: Option<i64>,
    acknowledged_ns: Option<i64>,
    messages: Messages,
}

impl Stream {
    pub(super) fn new(number: u64, segment: &Segment<'_>) -> Self {
        Self {
            number,
            last_packet: 0,
            name: format!("{} > {}", segment.from, segment.to).into(),
            connection: None,
            next: None,
            position: 0,
            first: None,
            waiting: BTreeMap::new(),
            waiting_bytes: 0,
            missing_ns: None,
            acknowledged_ns: None,
            messages: Messages::new(0),
        }
    }

    /// Bytes of memory that are held.
    pub(super) fn held(&self) -> usize {
        self.waiting_bytes + self.waiting.len() * PIECE_BYTES + self.messages.held()
    }

    /// The number of the connection.
    pub(super) fn connection(&self) -> u64 {
        self.connection.unwrap_or_default()
    }

    /// The number of the connection that begins: that of the other direction if that began it, else a new one.
    fn connect(&mut self, segment: &Segment<'_>, other: Option<u64>, new: u64) {
        let is_first_of_both = segment.is_first && segment.acknowledged.is_none();
        let other = other.filter(|other| Some(*other) > self.connection && !is_first_of_both);
        self.connection = Some(other.unwrap_or(new));
    }

    /// Takes a segment of this direction. `mark` is the place of its payload, with the number of the connection if
    /// it begins a new one; `other` is the number of the other direction.
    pub(super) fn segment(
        &mut self,
        segment: &Segment<'_>,
        other: Option<u64>,
        mut mark: Mark,
        text: &mut Text,
    ) {
        self.last_packet = mark.packet;
        let new = mark.connection;
        if self.connection.is_none() {
            self.connect(segment, other, new);
        }
        let mut sequence = segment.sequence;
        if segment.is_first {
            sequence = sequence.wrapping_add(1);
            // Sent again, it changes nothing.
            if self.first != Some(sequence) {
                if self.next.is_some() {
                    self.connect(segment, other, new);
                }
                self.begin(text);
                (self.first, self.next) = (Some(sequence), Some(sequence));
            }
        }
        mark.connection = self.connection();
        if segment.payload.is_empty() {
            return self.give_up(mark, text);
        }
        let next = *self.next.get_or_insert(sequence);
        let mut ahead = distance(next, sequence);
        if ahead.abs() > AWAY_BYTES_MAX {
            self.connect(segment, other, new);
            mark.connection = self.connection();
            self.begin(text);
            self.next = Some(sequence);
            ahead = 0;
        }
        let start = self.position.saturating_add_signed(ahead);
        let late = usize::try_from(-ahead).unwrap_or(0);
        match segment.payload.get(late..) {
            // It came before.
            None | Some([]) => {}
            Some(_) if ahead > 0 => self.wait(start, segment.payload, mark),
            Some(rest) => {
                let now_ns = mark.time_ns;
                mark.offset += late as u64;
                self.pass(rest, mark, text);
                if segment.cut_off > 0 {
                    self.lose(
                        segment.cut_off as u64,
                        mark,
                        "were cut off by the capture in",
                        text,
                    );
                }
                self.pass_waiting(now_ns, text);
            }
        }
        self.give_up(mark, text);
    }

    /// The other side has everything before this sequence number.
    pub(super) fn acknowledged(&mut self, number: u32, mark: Mark, text: &mut Text) {
        if self.waiting.is_empty() {
            return;
        }
        let has_more = self.next.is_some_and(|next| distance(next, number) > 0);
        if has_more && self.acknowledged_ns.is_none() {
            self.acknowledged_ns = mark.time_ns;
        }
        self.give_up(mark, text);
    }

    /// The capture ends, or this stream is no longer followed.
    pub(super) fn end(&mut self, text: &mut Text) {
        while !self.waiting.is_empty() {
            self.skip(text);
        }
        self.messages.end(&self.name, text);
    }

    /// Another connection begins with the same addresses.
    fn begin(&mut self, text: &mut Text) {
        if self.next.is_some() {
            self.end(text);
        }
        self.messages = Messages::new(0);
        (self.position, self.first, self.next) = (0, None, None);
    }

    fn pass(&mut self, bytes: &[u8], mark: Mark, text: &mut Text) {
        self.messages.data(bytes, mark, &self.name, text);
        self.position += bytes.len() as u64;
        self.next = self.next.map(|next| next.wrapping_add(bytes.len() as u32));
    }

    fn wait(&mut self, start: u64, bytes: &[u8], mark: Mark) {
        let before = self.waiting.get(&start).map(|(bytes, _)| bytes.len());
        if before.is_some_and(|before| before >= bytes.len()) {
            return;
        }
        self.waiting_bytes += bytes.len() - before.unwrap_or(0);
        self.waiting.insert(start, (bytes.to_vec(), mark));
        if self.missing_ns.is_none() {
            self.missing_ns = mark.time_ns;
        }
    }

    /// Passes on what waited and is next now. What waited for bytes that came only now came now.
    fn pass_waiting(&mut self, now_ns: Option<i64>, text: &mut Text) {
        while let Some(first) = self.waiting.first_entry()
            && *first.key() <= self.position
        {
            let (start, (bytes, mut mark)) = first.remove_entry();
            self.waiting_bytes -= bytes.len();
            let late = self.position - start;
            if let Some(rest) = bytes.get(late as usize..).filter(|rest| !rest.is_empty()) {
                mark.offset += late;
                mark.time_ns = mark.time_ns.max(now_ns);
                self.pass(rest, mark, text);
            }
        }
        let is_missing = !self.waiting.is_empty();
        let since = self.waiting.values().map(|(_, mark)| mark.time_ns).next();
        self.missing_ns = since.flatten().filter(|_| is_missing);
        self.acknowledged_ns = None;
    }

    /// Goes on behind what is missing if it does not come.
    fn give_up(&mut self, mark: Mark, text: &mut Text) {
        let passed = |since: Option<i64>, most: i64| match (since, mark.time_ns) {
            (Some(since), Some(now)) => now.saturating_sub(since) >= most,
            _ => false,
        };
        while !self.waiting.is_empty()
            && (self.waiting_bytes > WAITING_BYTES_MAX
                || passed(self.acknowledged_ns, ACKNOWLEDGED_NS)
                || passed(self.missing_ns, WAITING_NS))
        {
            self.skip(text);
        }
    }

    /// Goes on with the first bytes that wait.
    fn skip(&mut self, text: &mut Text) {
        let Some((start, (_, mark))) = self.waiting.first_key_value() else {
            return;
        };
        let (start, mark) = (*start, *mark);
        let missing = start.saturating_sub(self.position);
        self.lose(missing, mark, "are missing in", text);
        self.pass_waiting(None, text);
    }

    /// So many bytes did not come; the next ones come with a packet.
    fn lose(&mut self, missing: u64, mark: Mark, why: &str, text: &mut Text) {
        if self.messages.is_fix() && missing > 0 {
            let origin = Origin {
                packet: mark.packet,
                time_ns: mark.time_ns,
                stream: Arc::clone(&self.name),
                connection: mark.connection,
                stream_offset: self.position,
                offset: mark.offset,
            };
            text.lost(origin, format!("{missing} bytes {why} {}", self.name));
        }
        self.messages.gap(missing);
        self.position += missing;
        self.next = self.next.map(|next| next.wrapping_add(missing as u32));
    }
}

/// How far the second sequence number is ahead of the first.
fn distance(from: u32, to: u32) -> i64 {
    i64::from(to.wrapping_sub(from).cast_signed())
}
