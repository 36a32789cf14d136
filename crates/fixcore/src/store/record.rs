//! One record as bytes: its header and its checksum, and what is not a record.
//!
//! ```text
//! 0  u32 checksum   CRC-32C of all that follows, begun with the segment's salt and the word below
//! 4  u32 length     of the content, and the kind in the highest byte
//! 8  u64 number     of the message, or the number that this record sets
//! 16 u32 unsynced   how far before this record the synced part ended, in units of 8 bytes
//! 20 content, and zeros to a multiple of 8
//! ```
//!
//! All numbers are little endian. A header that begins with eight zeros marks the end. Each segment has
//! a random salt, so content that looks like a record is not mistaken for one.

/// The size of the header before the content.
pub(super) const HEADER_BYTES: usize = 20;
/// The alignment of records.
pub(super) const ALIGN: usize = 8;
/// The longest content, in bytes.
pub(super) const CONTENT_BYTES_MAX: usize = (1 << 24) - 1;

/// What a record holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RecordKind {
    /// A message under its number.
    Message,
    /// The same, with the next number expected from the other side in the first eight bytes.
    MessageAndTarget,
    /// The next number expected from the other side.
    NextTarget,
    /// The next number to send. Skipped numbers have no messages.
    NextSender,
}

impl RecordKind {
    fn byte(self) -> u8 {
        match self {
            Self::Message => 1,
            Self::NextTarget => 2,
            Self::NextSender => 3,
            Self::MessageAndTarget => 4,
        }
    }

    fn of(byte: u8) -> Option<Self> {
        match byte {
            1 => Some(Self::Message),
            2 => Some(Self::NextTarget),
            3 => Some(Self::NextSender),
            4 => Some(Self::MessageAndTarget),
            _ => None,
        }
    }

    /// Whether it holds a message.
    #[inline]
    pub(super) fn is_message(self) -> bool {
        matches!(self, Self::Message | Self::MessageAndTarget)
    }
}

/// A record with a correct checksum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Record<'a> {
    pub(super) kind: RecordKind,
    pub(super) number: u64,
    /// How far before this record the synced part ended, in bytes.
    pub(super) unsynced_bytes: u64,
    pub(super) content: &'a [u8],
}

impl<'a> Record<'a> {
    /// The message, and the next number expected if it states one.
    pub(super) fn message(&self) -> (&'a [u8], Option<u64>) {
        match self.kind {
            RecordKind::MessageAndTarget => {
                let message = self.content.get(TARGET_BYTES..).unwrap_or_default();
                (message, Some(u64_at(self.content, 0)))
            }
            _ => (self.content, None),
        }
    }

    /// Its size with padding.
    pub(super) fn size(&self) -> usize {
        size(self.content.len())
    }
}

/// The bytes before a message that state the next number expected.
pub(super) const TARGET_BYTES: usize = 8;

/// What was found where a record would begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum At<'a> {
    Record(Record<'a>),
    /// Zeros, or too few bytes for a header.
    End,
    /// A record that is longer than the rest, or of an unknown kind.
    Header,
    /// A record whose checksum does not match.
    Checksum,
}

/// The size of a record with this much content.
pub(super) fn size(content_bytes: usize) -> usize {
    (HEADER_BYTES + content_bytes).next_multiple_of(ALIGN)
}

/// Writes a record into the `size` bytes for it, which are zeros. Its content is a word, if there is one, and
/// then these bytes.
#[inline]
pub(super) fn write(
    out: &mut [u8],
    salt: u32,
    kind: RecordKind,
    number: u64,
    synced: u32,
    (target, content): (Option<u64>, &[u8]),
) {
    let target_bytes = if target.is_some() { TARGET_BYTES } else { 0 };
    let bytes = target_bytes + content.len();
    let word = bytes as u32 | u32::from(kind.byte()) << 24;
    let Some((head, rest)) = out.split_at_mut_checked(HEADER_BYTES) else {
        return;
    };
    head[4..8].copy_from_slice(&word.to_le_bytes());
    head[8..16].copy_from_slice(&number.to_le_bytes());
    head[16..20].copy_from_slice(&synced.to_le_bytes());
    if let Some(target) = target
        && let Some(place) = rest.get_mut(..TARGET_BYTES)
    {
        place.copy_from_slice(&target.to_le_bytes());
    }
    if let Some(place) = rest.get_mut(target_bytes..bytes) {
        place.copy_from_slice(content);
    }
    let sum = checksum(out, salt);
    out[..4].copy_from_slice(&sum.to_le_bytes());
}

/// The checksum of a record.
#[inline]
pub(super) fn checksum(record: &[u8], salt: u32) -> u32 {
    let rest = record.get(8..).unwrap_or_default();
    crc32c::crc32c_append(salt ^ u32_at(record, 4), rest)
}

/// What is at the beginning of `bytes`.
pub(super) fn read(bytes: &[u8], salt: u32) -> At<'_> {
    let Some(head) = bytes.first_chunk::<HEADER_BYTES>() else {
        return At::End;
    };
    if head[..8] == [0; 8] {
        return At::End;
    }
    let word = u32_at(head, 4);
    let size = size(word as usize & CONTENT_BYTES_MAX);
    let (Some(kind), Some(whole)) = (RecordKind::of(head[7]), bytes.get(..size)) else {
        return At::Header;
    };
    if checksum(whole, salt) != u32_at(head, 0) {
        return At::Checksum;
    }
    let content = &whole[HEADER_BYTES..HEADER_BYTES + (word as usize & CONTENT_BYTES_MAX)];
    if kind == RecordKind::MessageAndTarget && content.len() < TARGET_BYTES {
        return At::Header;
    }
    At::Record(Record {
        kind,
        number: u64_at(head, 8),
        unsynced_bytes: u64::from(u32_at(head, 16)) * ALIGN as u64,
        content,
    })
}

/// The kind, the number and the size that a header states; only their form is checked.
pub(super) fn claim(bytes: &[u8]) -> Option<(RecordKind, u64, usize)> {
    let head = bytes.first_chunk::<HEADER_BYTES>()?;
    let size = size(u32_at(head, 4) as usize & CONTENT_BYTES_MAX);
    let kind = RecordKind::of(head[7]).filter(|_| size <= bytes.len())?;
    Some((kind, u64_at(head, 8), size))
}

/// The message at the beginning of `bytes` if it has this number; its checksum is not verified.
#[inline]
pub(super) fn content(bytes: &[u8], number: u64) -> Option<&[u8]> {
    let head = bytes.first_chunk::<HEADER_BYTES>()?;
    let content_bytes = u32_at(head, 4) as usize & CONTENT_BYTES_MAX;
    let from = match head[7] {
        1 => HEADER_BYTES,
        4 => HEADER_BYTES + TARGET_BYTES,
        _ => return None,
    };
    let is_it = u64_at(head, 8) == number;
    bytes
        .get(from..HEADER_BYTES + content_bytes)
        .filter(|_| is_it)
}

#[inline]
pub(super) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    let word = bytes.get(at..).and_then(|rest| rest.first_chunk());
    word.map_or(0, |word| u32::from_le_bytes(*word))
}

#[inline]
pub(super) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    let word = bytes.get(at..).and_then(|rest| rest.first_chunk());
    word.map_or(0, |word| u64::from_le_bytes(*word))
}

/// Whether all bytes are zeros.
pub(super) fn is_zero(bytes: &[u8]) -> bool {
    let (chunks, rest) = bytes.as_chunks::<64>();
    let any = |chunk: &[u8]| chunk.iter().fold(0, |any, byte| any | byte);
    chunks.iter().all(|chunk| any(chunk) == 0) && any(rest) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_comes_back_and_no_flipped_bit_does() {
        let mut bytes = vec![0; size(5)];
        let hello = (None, &b"hello"[..]);
        write(&mut bytes, 7, RecordKind::Message, 12, 3, hello);
        let wanted = Record {
            kind: RecordKind::Message,
            number: 12,
            unsynced_bytes: 24,
            content: b"hello",
        };
        assert_eq!(read(&bytes, 7), At::Record(wanted));
        assert_eq!(content(&bytes, 12), Some(&b"hello"[..]));
        assert_eq!(content(&bytes, 13), None);
        assert_eq!(read(&bytes, 8), At::Checksum);
        for bit in 0..bytes.len() * 8 {
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(!matches!(read(&bytes, 7), At::Record(_)), "bit {bit}");
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
        assert_eq!(read(&[0; 64], 7), At::End);
        assert_eq!(read(&bytes[..24], 7), At::Header);
    }
}
