//! The records of an archive: parsing and building them.
//!
//! What is acceptable is decided in `read` and `write`.

pub(crate) mod central;
pub(crate) mod end;
pub(crate) mod extra;
pub(crate) mod local;
pub(crate) mod names;
pub(crate) mod time;

/// "PK\3\4": a local header.
pub(crate) const LOCAL_SIGNATURE: u32 = 0x0403_4b50;
/// "PK\7\10": a data descriptor, if it has a signature.
pub(crate) const DESCRIPTOR_SIGNATURE: u32 = 0x0807_4b50;
/// "PK\1\2": a record of the directory.
pub(crate) const CENTRAL_SIGNATURE: u32 = 0x0201_4b50;
/// "PK\5\6": the end record.
pub(crate) const END_SIGNATURE: u32 = 0x0605_4b50;
/// "PK\6\6": the ZIP64 end record.
pub(crate) const END64_SIGNATURE: u32 = 0x0606_4b50;
/// "PK\6\7": the locator of the ZIP64 end record.
pub(crate) const LOCATOR_SIGNATURE: u32 = 0x0706_4b50;
/// "PK\6\10": archive extra data, before an encrypted directory.
pub(crate) const EXTRA_DATA_SIGNATURE: u32 = 0x0806_4b50;

/// The value of a 32-bit field whose real value is in the ZIP64 extra field.
pub(crate) const MAX32: u32 = u32::MAX;
/// The same for a 16-bit field.
pub(crate) const MAX16: u16 = u16::MAX;

/// General purpose flags.
pub(crate) mod flag {
    /// The content is encrypted.
    pub(crate) const ENCRYPTED: u16 = 1;
    /// Two bits whose meaning the method has.
    pub(crate) const METHOD: u16 = 3 << 1;
    /// For LZMA: a marker ends the compressed content.
    pub(crate) const MARKER: u16 = 1 << 1;
    /// A descriptor with sizes and checksum follows the content.
    pub(crate) const DESCRIPTOR: u16 = 1 << 3;
    /// Compressed patch data.
    pub(crate) const PATCH: u16 = 1 << 5;
    /// Encrypted with certificates.
    pub(crate) const STRONG: u16 = 1 << 6;
    /// Name and comment are UTF-8.
    pub(crate) const UTF8: u16 = 1 << 11;
    /// The directory is encrypted and local headers are masked.
    pub(crate) const MASKED: u16 = 1 << 13;
}

pub(crate) fn le16(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

pub(crate) fn le32(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

pub(crate) fn le64(bytes: &[u8], at: usize) -> u64 {
    u64::from(le32(bytes, at)) | u64::from(le32(bytes, at + 4)) << 32
}
