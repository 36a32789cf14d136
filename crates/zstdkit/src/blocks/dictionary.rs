//! The entropy tables and offsets of a trained dictionary (RFC 8878, section 5).

use std::sync::Arc;

use super::Reason;
use super::bits::PAD;
use super::block::Own;
use super::fse::{LITERALS, MATCHES, OFFSETS, SequenceTable};
use super::huffman::Huffman;
use crate::digested::Dictionary;

/// What blocks may use of a dictionary.
#[derive(Clone)]
pub(super) struct Parsed {
    pub(super) dictionary: Dictionary,
    /// Its tables. `None`: it is raw content.
    pub(super) own: Option<Arc<Own>>,
    pub(super) offsets: Option<[usize; 3]>,
    pub(super) content_start: usize,
}

impl Parsed {
    /// Reads a dictionary, which libzstd has accepted.
    pub(super) fn read(dictionary: &Dictionary) -> Result<Self, Reason> {
        /// Magic number and id.
        const HEADER_BYTES: usize = 8;
        const CUT_SHORT: Reason = "dictionary is cut short";
        let mut parsed = Self {
            dictionary: dictionary.clone(),
            own: None,
            offsets: None,
            content_start: 0,
        };
        if dictionary.id().is_none() {
            return Ok(parsed);
        }
        let mut bytes = vec![0; PAD];
        bytes.extend_from_slice(dictionary.bytes());
        let mut at = PAD + HEADER_BYTES;
        let (tree, length) = Huffman::read(&bytes, at, bytes.len())?;
        at += length;
        let mut table = |code| -> Result<_, Reason> {
            let rest = bytes.get(at..).ok_or(CUT_SHORT)?;
            let (table, length) = SequenceTable::read(rest, code)?;
            at += length;
            Ok(Some(table))
        };
        let offsets = table(&OFFSETS)?;
        let matches = table(&MATCHES)?;
        let literals = table(&LITERALS)?;
        let repeated = bytes.get(at..at + 12).ok_or(CUT_SHORT)?;
        let mut first = [0; 3];
        for (offset, field) in first.iter_mut().zip(repeated.chunks_exact(4)) {
            *offset = u32::from_le_bytes([field[0], field[1], field[2], field[3]]) as usize;
        }
        parsed.own = Some(Arc::new(Own {
            tree: Some(tree),
            literals_start: 0,
            tables: [literals, offsets, matches],
            sequences_start: 0,
        }));
        parsed.offsets = Some(first);
        parsed.content_start = at + 12 - PAD;
        Ok(parsed)
    }
}
