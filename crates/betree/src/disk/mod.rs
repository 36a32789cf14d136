//! Snapshots as files: a header, four sections with a checksum each, nothing behind them. The bytes
//! are described in `SNAPSHOT.md` beside this crate's README.
//!
//! What is kept are the expressions as trees of words and all that these refer to. Programs and the
//! index are made anew when a file is read, so that nothing that runs comes from outside. Writing is
//! in [`write`], reading in [`read`], the rules of trees in [`words`].

mod read;
mod words;
mod write;

/// The first bytes of every file. A transfer that changes line ends destroys them.
const MAGIC: [u8; 8] = *b"\x89BET\r\n\x1a\n";
/// The version of the format. A file of another one is refused.
const VERSION: u32 = 1;
/// Magic, version, mode, length of the file, checksum of what was before.
const HEADER_BYTES: usize = 28;
/// Name and length of a section.
const SECTION_BYTES: usize = 12;
/// The checksum behind a section.
const SUM_BYTES: usize = 4;

/// The sections, in their order.
const DOMAIN: [u8; 4] = *b"DOMN";
const STRINGS: [u8; 4] = *b"STRS";
const NUMBERS: [u8; 4] = *b"NUMS";
const EXPRESSIONS: [u8; 4] = *b"EXPR";
