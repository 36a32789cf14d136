//! Blocks as messages: labels are headers.

use std::panic::{AssertUnwindSafe, catch_unwind};

use bytes::Bytes;
use rdkafka::message::{BorrowedMessage, Header, Headers as _, Message as _, OwnedHeaders};

use crate::block::{Block, Labels, Place};

/// What a message takes besides its content and headers: lengths, times, and the frame of a batch.
const FRAME_BYTES: usize = 128;
/// What a header takes besides its name and value.
const HEADER_BYTES: usize = 10;

/// The headers of a block.
pub(super) fn headers(block: &Block) -> OwnedHeaders {
    let pairs = block.labels.pairs();
    let new = OwnedHeaders::new_with_capacity(pairs.len());
    pairs.iter().fold(new, |headers, (key, value)| {
        headers.insert(Header {
            key,
            value: Some(value.as_bytes()),
        })
    })
}

/// How long a block is as a message, at most.
pub(super) fn message_len(block: &Block) -> usize {
    let pairs = block.labels.pairs();
    let headers = pairs
        .iter()
        .map(|(name, value)| name.len() + value.len() + HEADER_BYTES);
    FRAME_BYTES + block.bytes.len() + headers.sum::<usize>()
}

/// A message as a block.
pub(super) fn block(message: &BorrowedMessage<'_>) -> Block {
    // The client panics at names of headers that are no text; they are none of ours.
    let labels = catch_unwind(AssertUnwindSafe(|| labels(message))).unwrap_or_default();
    Block {
        labels,
        bytes: Bytes::copy_from_slice(message.payload().unwrap_or_default()),
    }
}

fn labels(message: &BorrowedMessage<'_>) -> Labels {
    let Some(headers) = message.headers() else {
        return Labels::default();
    };
    Labels::read(headers.iter().filter_map(|header| {
        let value = std::str::from_utf8(header.value?).ok()?;
        Some((header.key, value))
    }))
}

/// Where a message stands: its partition is part of the stream's name.
pub(super) fn place(topic: &str, partition: i32, offset: i64) -> Place {
    Place {
        stream: format!("{topic}/{partition}"),
        sequence: u64::try_from(offset).unwrap_or(0),
    }
}

/// The partition and the offset of a place of a topic.
pub(super) fn partition(topic: &str, place: &Place) -> Option<(i32, i64)> {
    let (name, partition) = place.stream.rsplit_once('/')?;
    let offset = i64::try_from(place.sequence).ok()?;
    (name == topic).then_some((partition.parse().ok()?, offset))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_says_topic_partition_and_offset() {
        let place = place("a.b", 3, 17);
        assert_eq!((place.stream.as_str(), place.sequence), ("a.b/3", 17));
        assert_eq!(partition("a.b", &place), Some((3, 17)));
        assert_eq!(partition("a", &place), None);
    }
}
