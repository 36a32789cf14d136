//! Snapshots as files: a header and four or five sections, each with a checksum. `SNAPSHOT.md` next to this crate's
//! README describes the bytes.
//!
//! A file has the expressions as trees of words and everything they refer to. Loading builds programs and the
//! index again, so that no executable form comes from outside. [`write`] writes, [`read`] reads, [`words`]
//! checks trees.

mod read;
mod words;
mod write;

/// The first bytes of every file; a transfer that changes line ends destroys them.
const MAGIC: [u8; 8] = *b"\x89BET\r\n\x1a\n";
/// The version of files without names.
const VERSION: u32 = 1;
/// The version of files with names. Files of other versions are refused.
const VERSION_NAMED: u32 = 2;
/// Magic, version, mode, length of the file, checksum of the bytes before.
const HEADER_BYTES: usize = 28;
/// Name and length of a section.
const SECTION_BYTES: usize = 12;
/// The checksum after a section.
const SUM_BYTES: usize = 4;

/// The sections, in their order.
const DOMAIN: [u8; 4] = *b"DOMN";
const STRINGS: [u8; 4] = *b"STRS";
const NUMBERS: [u8; 4] = *b"NUMS";
const EXPRESSIONS: [u8; 4] = *b"EXPR";
/// Only in files of [`VERSION_NAMED`].
const NAMES: [u8; 4] = *b"NAME";
