//! A compressed block as it is stored: where its sections are, and the tables that it brings. Later blocks may use
//! these tables, so they are made once, by whichever thread needs them first.

use std::sync::{Arc, OnceLock};

use super::bits::PAD;
use super::fse::{Code, LITERALS, MATCHES, OFFSETS, SequenceTable};
use super::huffman::Huffman;
use super::{Reason, TOO_MUCH};

/// The shortest match, and so the least content of a sequence.
const MATCH_LEN_MIN: usize = 3;
const CUT_SHORT: Reason = "block is cut short";
const UNDEFINED: Reason = "refers to tables that were never defined";

/// How literals are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LiteralsKind {
    Raw,
    Repeated,
    /// With a Huffman tree.
    Tree,
    /// With the Huffman tree of an earlier block.
    Treeless,
}

/// How a table of a sequences section is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TableKind {
    Predefined,
    Single,
    Described,
    /// That of an earlier block.
    Earlier,
}

/// Where the parts of a block are in its buffer.
#[derive(Debug)]
pub(super) struct Layout {
    pub(super) literals: LiteralsKind,
    /// The number of literals.
    pub(super) literals_len: usize,
    pub(super) four_streams: bool,
    pub(super) literals_start: usize,
    pub(super) literals_end: usize,
    pub(super) sequences: usize,
    /// Of literal lengths, offsets and match lengths, if there are sequences.
    pub(super) tables: [TableKind; 3],
    /// Where the descriptions of these tables begin.
    pub(super) tables_start: usize,
}

/// The codes of the three tables, in the order in which they are stored.
pub(super) const CODES: [&Code; 3] = [&LITERALS, &OFFSETS, &MATCHES];

impl Layout {
    /// Reads the headers of both sections. `max` is the most content that a block of the frame may have.
    pub(super) fn read(bytes: &[u8], max: usize) -> Result<Self, Reason> {
        let block = bytes
            .get(PAD..)
            .filter(|block| block.len() >= 2)
            .ok_or(CUT_SHORT)?;
        let byte = |at: usize| block.get(at).map(|&byte| u64::from(byte)).ok_or(CUT_SHORT);
        let (kind, size_format) = (block[0] & 3, block[0] >> 2 & 3);
        let mut four_streams = false;
        let (literals, header, len, stored);
        if kind < 2 {
            (header, len) = match size_format {
                1 => (2, (byte(0)? | byte(1)? << 8) >> 4),
                3 => (3, (byte(0)? | byte(1)? << 8 | byte(2)? << 16) >> 4),
                _ => (1, byte(0)? >> 3),
            };
            (literals, stored) = match kind {
                0 => (LiteralsKind::Raw, len),
                _ => (LiteralsKind::Repeated, 1),
            };
        } else {
            let mut field = 0;
            for at in 0..5 {
                field |= byte(at)? << (8 * at);
            }
            let width = match size_format {
                0 | 1 => 10,
                2 => 14,
                _ => 18,
            };
            let mask = (1 << width) - 1;
            header = (4 + 2 * width) / 8;
            len = field >> 4 & mask;
            stored = field >> (4 + width) & mask;
            four_streams = size_format != 0;
            literals = match kind {
                2 => LiteralsKind::Tree,
                _ => LiteralsKind::Treeless,
            };
        }
        if len > max as u64 {
            return Err("more literals than a block may have");
        }
        if four_streams && len < 6 {
            return Err("literals header does not match its size");
        }
        let literals_start = PAD + header;
        let literals_end = literals_start + stored as usize;
        let rest = bytes.get(literals_end..).ok_or(CUT_SHORT)?;
        let (sequences, header, tables) = sequences_header(rest)?;
        if sequences * MATCH_LEN_MIN > max {
            return Err(TOO_MUCH);
        }
        Ok(Self {
            literals,
            literals_len: len as usize,
            four_streams,
            literals_start,
            literals_end,
            sequences,
            tables,
            tables_start: literals_end + header,
        })
    }
}

/// The number of sequences, the length of the header, and how the tables are stored.
fn sequences_header(section: &[u8]) -> Result<(usize, usize, [TableKind; 3]), Reason> {
    let byte = |at: usize| {
        section
            .get(at)
            .map(|&byte| usize::from(byte))
            .ok_or(CUT_SHORT)
    };
    let (sequences, at) = match byte(0)? {
        255 => ((byte(1)? | byte(2)? << 8) + 0x7f00, 3),
        high @ 128.. => ((high - 128) << 8 | byte(1)?, 2),
        low => (low, 1),
    };
    if sequences == 0 {
        return match section.len() == at {
            true => Ok((0, at, [TableKind::Predefined; 3])),
            false => Err("data behind the last section of a block"),
        };
    }
    let modes = byte(at)?;
    if modes & 3 != 0 {
        return Err("reserved bits of a sequences section are set");
    }
    let kind = |shift: u32| match modes >> shift & 3 {
        0 => TableKind::Predefined,
        1 => TableKind::Single,
        2 => TableKind::Described,
        _ => TableKind::Earlier,
    };
    Ok((sequences, at + 1, [kind(6), kind(4), kind(2)]))
}

/// The tables that a block brings.
pub(super) struct Own {
    pub(super) tree: Option<Box<Huffman>>,
    /// Where the Huffman-coded literals begin.
    pub(super) literals_start: usize,
    pub(super) tables: [Option<Box<SequenceTable>>; 3],
    /// Where the bit stream of the sequences begins.
    pub(super) sequences_start: usize,
}

/// A compressed block.
pub(super) struct Stored {
    /// [`PAD`] bytes, then the block.
    pub(super) bytes: Vec<u8>,
    pub(super) layout: Layout,
    own: OnceLock<Result<Own, Reason>>,
}

impl Stored {
    pub(super) fn new(bytes: Vec<u8>, layout: Layout) -> Self {
        let own = OnceLock::new();
        Self { bytes, layout, own }
    }

    /// The tables of the block. Made at the first call.
    pub(super) fn own(&self) -> Result<&Own, Reason> {
        let own = self.own.get_or_init(|| self.read_own());
        own.as_ref().map_err(|&reason| reason)
    }

    fn read_own(&self) -> Result<Own, Reason> {
        let (layout, bytes) = (&self.layout, &self.bytes[..]);
        let mut literals_start = layout.literals_start;
        let mut tree = None;
        if layout.literals == LiteralsKind::Tree {
            let (made, length) = Huffman::read(bytes, literals_start, layout.literals_end)?;
            literals_start += length;
            if literals_start >= layout.literals_end {
                return Err("literals are cut short");
            }
            tree = Some(made);
        }
        let mut at = layout.tables_start;
        let mut tables = [None, None, None];
        if layout.sequences > 0 {
            for ((table, kind), code) in tables.iter_mut().zip(layout.tables).zip(CODES) {
                match kind {
                    TableKind::Predefined | TableKind::Earlier => {}
                    TableKind::Single => {
                        let symbol = *bytes.get(at).ok_or(CUT_SHORT)?;
                        *table = Some(SequenceTable::single(symbol, code)?);
                        at += 1;
                    }
                    TableKind::Described => {
                        let (made, length) = SequenceTable::read(&bytes[at..], code)?;
                        *table = Some(made);
                        at += length;
                    }
                }
            }
        }
        Ok(Own {
            tree,
            literals_start,
            tables,
            sequences_start: at,
        })
    }
}

/// Where a table comes from.
#[derive(Clone, Default)]
pub(super) enum Source {
    #[default]
    Nowhere,
    Predefined,
    Block(Arc<Stored>),
    Dictionary(Arc<Own>),
}

/// The tables that are in force behind a block. The first step of each block updates them; it is cheap, and the only
/// one that must be done in order before sequences are executed.
#[derive(Clone, Default)]
pub(super) struct Sources {
    pub(super) tree: Source,
    pub(super) tables: [Source; 3],
}

impl Sources {
    /// The tables of a dictionary.
    pub(super) fn of_dictionary(own: &Arc<Own>) -> Self {
        let source = || Source::Dictionary(own.clone());
        Self {
            tree: source(),
            tables: [source(), source(), source()],
        }
    }

    /// Goes on to the next block: these are the tables in force for it and behind it.
    pub(super) fn enter(&mut self, block: &Arc<Stored>) {
        let layout = &block.layout;
        if layout.literals == LiteralsKind::Tree {
            self.tree = Source::Block(block.clone());
        }
        if layout.sequences > 0 {
            for (source, kind) in self.tables.iter_mut().zip(layout.tables) {
                match kind {
                    TableKind::Earlier => {}
                    TableKind::Predefined => *source = Source::Predefined,
                    TableKind::Single | TableKind::Described => {
                        *source = Source::Block(block.clone());
                    }
                }
            }
        }
    }

    pub(super) fn tree(&self) -> Result<&Huffman, Reason> {
        let own = match &self.tree {
            Source::Block(block) => block.own()?,
            Source::Dictionary(own) => own,
            Source::Nowhere | Source::Predefined => return Err(UNDEFINED),
        };
        own.tree.as_deref().ok_or(UNDEFINED)
    }

    /// The table of this position in [`CODES`].
    pub(super) fn table(&self, at: usize) -> Result<&SequenceTable, Reason> {
        let own = match &self.tables[at] {
            Source::Predefined => return Ok(predefined(at)),
            Source::Block(block) => block.own()?,
            Source::Dictionary(own) => own,
            Source::Nowhere => return Err(UNDEFINED),
        };
        own.tables[at].as_deref().ok_or(UNDEFINED)
    }
}

fn predefined(at: usize) -> &'static SequenceTable {
    static TABLES: [OnceLock<Box<SequenceTable>>; 3] =
        [OnceLock::new(), OnceLock::new(), OnceLock::new()];
    TABLES[at].get_or_init(|| SequenceTable::predefined(CODES[at]))
}
