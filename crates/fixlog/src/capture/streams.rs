//! All streams of a capture, in bounded memory.

use std::collections::HashMap;
use std::net::SocketAddr;

use super::link::Segment;
use super::messages::{Mark, Text};
use super::stream::Stream;

/// Directions of connections that are followed at once. When there are more, the half that was silent for the
/// longest time is let go.
const STREAMS_MAX: usize = 1 << 16;
/// Bytes of incomplete messages and of segments that came too early, of all streams. When there are more, nothing
/// waits any longer.
const HELD_BYTES_MAX: usize = 64 << 20;

/// Follows all streams.
#[derive(Debug, Default)]
pub(super) struct Streams {
    by_addresses: HashMap<(SocketAddr, SocketAddr), Stream>,
    next: u64,
    next_connection: u64,
    held: usize,
}

impl Streams {
    /// Takes a segment. `mark` is the place of its payload.
    pub(super) fn segment(&mut self, segment: &Segment<'_>, mark: Mark, text: &mut Text) {
        if let Some(number) = segment.acknowledged
            && let Some(other) = self.by_addresses.get_mut(&(segment.to, segment.from))
        {
            let before = other.held();
            other.acknowledged(number, mark, text);
            self.held = self.held - before + other.held();
        }
        let addresses = (segment.from, segment.to);
        let is_known = self.by_addresses.contains_key(&addresses);
        if !is_known && segment.payload.is_empty() && !segment.is_first {
            return;
        }
        if !is_known && self.by_addresses.len() >= STREAMS_MAX {
            self.let_go(text);
        }
        let other = self.by_addresses.get(&(segment.to, segment.from));
        let other = other.map(Stream::connection);
        let (next, mut mark) = (self.next, mark);
        mark.connection = self.next_connection + 1;
        let stream = self.by_addresses.entry(addresses).or_insert_with(|| {
            self.next += 1;
            Stream::new(next, segment)
        });
        let before = stream.held();
        stream.segment(segment, other, mark, text);
        self.next_connection = self.next_connection.max(stream.connection());
        self.held = self.held - before + stream.held();
        if self.held > HELD_BYTES_MAX {
            self.end_all(text);
        }
    }

    /// Bytes of memory that are held.
    #[cfg(test)]
    pub(super) fn held(&self) -> usize {
        self.held
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.by_addresses.len()
    }

    /// The capture ends.
    pub(super) fn end(&mut self, text: &mut Text) {
        self.end_all(text);
        self.by_addresses.clear();
    }

    /// Nothing waits any longer.
    fn end_all(&mut self, text: &mut Text) {
        let mut streams: Vec<_> = self.by_addresses.values_mut().collect();
        streams.sort_by_key(|stream| stream.number);
        for stream in streams {
            stream.end(text);
        }
        self.held = 0;
    }

    fn let_go(&mut self, text: &mut Text) {
        let mut streams: Vec<_> = self
            .by_addresses
            .iter()
            .map(|(addresses, stream)| (stream.last_packet, *addresses))
            .collect();
        streams.sort_unstable();
        for (_, addresses) in &streams[..streams.len() / 2] {
            if let Some(mut stream) = self.by_addresses.remove(addresses) {
                self.held -= stream.held();
                stream.end(text);
            }
        }
    }
}
