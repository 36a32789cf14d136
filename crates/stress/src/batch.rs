//! Batches of blocks on their way from producers to consumers, each block with its expected content.
//!
//! The expected content does not pass through the codec, so a fault cannot change it.

use std::sync::Arc;
use std::time::Instant;

use twox_hash::XxHash3_64;

/// The one block of a producer in the seed loop, and its content.
#[derive(Debug)]
pub(crate) struct Frozen {
    pub(crate) content: Vec<u8>,
    pub(crate) block: Vec<u8>,
}

/// The expected content of a block.
#[derive(Debug, Clone)]
pub(crate) enum Content {
    /// As its length and XXH3.
    Hash { bytes: usize, xxh3: u64 },
    /// As bytes.
    Frozen(Arc<Frozen>),
}

impl Content {
    pub(crate) fn of(content: &[u8]) -> Self {
        Self::Hash {
            bytes: content.len(),
            xxh3: XxHash3_64::oneshot(content),
        }
    }

    pub(crate) fn is(&self, content: &[u8]) -> bool {
        match self {
            Self::Hash { bytes, xxh3 } => {
                *bytes == content.len() && *xxh3 == XxHash3_64::oneshot(content)
            }
            Self::Frozen(frozen) => frozen.content == content,
        }
    }
}

/// One block of a batch.
#[derive(Debug)]
pub(crate) struct Item {
    /// Where its bytes are in the batch; `None`: those of the frozen block.
    place: Option<(usize, usize)>,
    pub(crate) content: Content,
    pub(crate) producer: u32,
    pub(crate) nth: u64,
    /// When it was due, or begun in a closed loop.
    pub(crate) from: Instant,
    pub(crate) corrupted: bool,
}

/// Blocks that are sent together. An emptied batch keeps its memory for reuse.
#[derive(Debug)]
pub(crate) struct Batch {
    bytes: Vec<u8>,
    pub(crate) items: Vec<Item>,
    pub(crate) sent: Instant,
}

/// The identity and begin of a block.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Origin {
    pub(crate) producer: u32,
    pub(crate) nth: u64,
    pub(crate) from: Instant,
}

impl Batch {
    pub(crate) fn new(now: Instant) -> Self {
        Self {
            bytes: Vec::new(),
            items: Vec::new(),
            sent: now,
        }
    }

    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.items.clear();
    }

    /// Adds a block; `corrupt`, if given, changes it.
    pub(crate) fn push(
        &mut self,
        origin: Origin,
        content: Content,
        block: &[u8],
        corrupt: Option<impl FnOnce(&mut [u8])>,
    ) {
        let corrupted = corrupt.is_some();
        let shared = matches!(content, Content::Frozen(_)) && !corrupted;
        let place = (!shared).then(|| {
            let start = self.bytes.len();
            self.bytes.extend_from_slice(block);
            (start, self.bytes.len())
        });
        if let (Some((start, end)), Some(corrupt)) = (place, corrupt) {
            corrupt(&mut self.bytes[start..end]);
        }
        self.items.push(Item {
            place,
            content,
            producer: origin.producer,
            nth: origin.nth,
            from: origin.from,
            corrupted,
        });
    }

    /// The bytes of a block of this batch.
    pub(crate) fn block<'a>(&'a self, item: &'a Item) -> &'a [u8] {
        match (item.place, &item.content) {
            (Some((start, end)), _) => &self.bytes[start..end],
            (None, Content::Frozen(frozen)) => &frozen.block,
            (None, Content::Hash { .. }) => &[],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origin() -> Origin {
        Origin {
            producer: 1,
            nth: 2,
            from: Instant::now(),
        }
    }

    #[test]
    fn blocks_come_out_as_they_went_in_unless_corrupted() {
        let mut batch = Batch::new(Instant::now());
        let frozen = Arc::new(Frozen {
            content: b"content".to_vec(),
            block: b"frozen".to_vec(),
        });
        let none = None::<fn(&mut [u8])>;
        batch.push(origin(), Content::of(b"one"), b"first", none);
        batch.push(
            origin(),
            Content::Frozen(frozen.clone()),
            &frozen.block,
            none,
        );
        let flip = |block: &mut [u8]| block[0] ^= 1;
        batch.push(
            origin(),
            Content::Frozen(frozen.clone()),
            &frozen.block,
            Some(flip),
        );
        let blocks: Vec<&[u8]> = batch.items.iter().map(|item| batch.block(item)).collect();
        assert_eq!(blocks, [&b"first"[..], b"frozen", b"grozen"]);
        assert_eq!(frozen.block, b"frozen", "what others send is as it was");
        assert!(batch.items[0].content.is(b"one") && !batch.items[0].content.is(b"on"));
        assert!(batch.items[1].content.is(b"content") && !batch.items[1].content.is(b"Content"));
    }
}
