//! Blocks as messages: labels are headers.

use async_nats::HeaderMap;
use async_nats::header::NATS_MESSAGE_ID;

use crate::block::{Block, BlockId, Labels};

/// The headers of a block.
pub(super) fn headers(block: &Block, id: &BlockId) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(NATS_MESSAGE_ID, id.as_str());
    for (name, value) in block.labels.pairs() {
        // Those of others may have several values.
        headers.append(name, value);
    }
    headers
}

/// The bytes that headers take on their way.
pub(super) fn headers_len(block: &Block, id: &BlockId) -> usize {
    // "NATS/1.0", line ends, ": ".
    let own = 12 + NATS_ID_LEN + 4 + id.as_str().len();
    let pairs = block.labels.pairs();
    own + pairs
        .iter()
        .map(|(name, value)| name.len() + value.len() + 4)
        .sum::<usize>()
}

const NATS_ID_LEN: usize = "Nats-Msg-Id".len();

/// The labels of a message.
pub(super) fn labels(headers: Option<&HeaderMap>) -> Labels {
    let headers = headers.into_iter().flat_map(HeaderMap::iter);
    Labels::read(headers.flat_map(|(name, values)| {
        let name: &str = name.as_ref();
        values.iter().map(move |value| (name, value.as_str()))
    }))
}
