//! Where in a capture messages stand.

use std::sync::Arc;

/// Where in a capture a message stands.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Origin {
    /// The last packet with some of its bytes, counted from 1, as Wireshark does.
    pub packet: u64,
    /// When it had arrived with everything before it in its stream, by the times of packets, in nanoseconds since
    /// 1970, if the capture has times.
    pub time_ns: Option<i64>,
    /// The addresses, as `10.0.0.1:5001 > 10.0.0.2:40000`.
    pub stream: Arc<str>,
    /// The number of the TCP connection, with both of its directions, in the order in which they began. Another
    /// connection of the same addresses has another number.
    pub connection: u64,
    /// The byte of the stream that the message begins with, counted from 0. A stream that began before the capture
    /// is counted from its first packet.
    pub stream_offset: u64,
    /// The byte of the capture that the message begins with.
    pub offset: u64,
}

impl Origin {
    /// The place so many bytes further on.
    #[must_use]
    pub(crate) fn further(&self, bytes: u64) -> Self {
        let mut place = self.clone();
        place.stream_offset += bytes;
        place.offset += bytes;
        place
    }
}

/// Something that a capture lacks.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Lost {
    /// Where: what comes next in the stream.
    pub origin: Origin,
    /// What, in words.
    pub text: String,
}

/// Where what was read of a capture stands there.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Origins {
    /// By the byte of the log that a piece begins with, in order.
    pub pieces: Vec<(u64, Origin)>,
    /// What the capture lacks, by the byte of the log that it would have been before.
    pub lost: Vec<(u64, Lost)>,
}

impl Origins {
    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty() && self.lost.is_empty()
    }

    pub(crate) fn clear(&mut self) {
        self.pieces.clear();
        self.lost.clear();
    }

    /// The place of a byte of the log.
    pub(crate) fn at(&self, offset: u64) -> Option<Origin> {
        let behind = self.pieces.partition_point(|(start, _)| *start <= offset);
        let (start, origin) = self.pieces.get(behind.checked_sub(1)?)?;
        Some(origin.further(offset - start))
    }

    /// Moves what is before a byte of the log into `out`, which is cleared. The last piece stays too: it may go on.
    pub(crate) fn pass(&mut self, end: u64, out: &mut Self) {
        out.pieces.clear();
        out.lost.clear();
        let behind = self.pieces.partition_point(|(start, _)| *start < end);
        out.pieces
            .extend_from_slice(self.pieces.get(..behind).unwrap_or(&[]));
        self.pieces.drain(..behind.saturating_sub(1));
        let behind = self.lost.partition_point(|(start, _)| *start < end);
        out.lost.extend(self.lost.drain(..behind));
    }
}
