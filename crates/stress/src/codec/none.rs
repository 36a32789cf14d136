//! No compression at all: the baseline that shows what everything but the codec costs.

use super::{Compress, Decompress};
use crate::error::CodecError;

/// Contents as they are.
#[derive(Debug, Clone, Copy)]
pub struct Stored;

/// The limit on content.
struct StoredContext(usize);

super::codec!(Stored, "none", StoredContext, StoredContext);
super::holds!(StoredContext: 0);

impl Compress for StoredContext {
    fn compress(&mut self, content: &[u8], block: &mut Vec<u8>) -> Result<(), CodecError> {
        block.clear();
        block.extend_from_slice(content);
        Ok(())
    }
}

impl Decompress for StoredContext {
    fn decompress(&mut self, block: &[u8], content: &mut Vec<u8>) -> Result<(), CodecError> {
        if block.len() > self.0 {
            return Err(CodecError::TooLarge {
                codec: "none",
                limit_bytes: self.0,
            });
        }
        content.clear();
        content.extend_from_slice(block);
        Ok(())
    }
}
