//! Constants of the seekable format.

/// The length of the footer: number of frames, descriptor, magic number.
pub const FOOTER_BYTES: usize = 9;
/// The most frames in a table.
pub const FRAMES_MAX: u32 = 1 << 27;
/// The magic number that ends a file with a seek table.
pub(super) const FOOTER_MAGIC: u32 = 0x8f92_eab1;
/// The magic number of the skippable frame that holds a table.
pub(super) const TABLE_MAGIC: u32 = crate::format::SKIPPABLE_MAGIC + 0xe;
/// The bit of the descriptor that is set if entries have a checksum.
pub(super) const CHECKSUM_FLAG: u8 = 1 << 7;
/// Bits of the descriptor that must be 0.
pub(super) const RESERVED_BITS: u8 = 0x7c;
