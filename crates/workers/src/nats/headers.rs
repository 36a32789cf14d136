//! Blocks as messages: labels are headers.

use async_nats::HeaderMap;
use async_nats::header::NATS_MESSAGE_ID;

use crate::block::{Block, BlockId, Labels};

/// The headers of a block.
pub(super) fn headers(block: &Block, id: &BlockId) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(NATS_MESSAGE_ID, id.as_str());
    for (name, value) in block.labels.pairs() {
        headers.insert(name, value.as_str());
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
    Labels::read(|name| headers?.get(name).map(|value| value.as_str()))
}
