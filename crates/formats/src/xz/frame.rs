//! Headers and footers of streams.

use super::error::XzFlaw;

/// The size of a header, and that of a footer.
pub(super) const FRAME_BYTES: usize = 12;
const HEADER_MAGIC: [u8; 6] = [0xfd, b'7', b'z', b'X', b'Z', 0];
const FOOTER_MAGIC: [u8; 2] = *b"YZ";

/// The kind of checksum that the blocks of a stream have, by its number, 0 to 15.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Check(u8);

impl Check {
    /// Its number.
    pub fn id(self) -> u8 {
        self.0
    }

    /// The check with this number; `None` above 15.
    pub fn from_id(id: u8) -> Option<Self> {
        (id < 16).then_some(Self(id))
    }

    /// Its name, or `None` for a number that has none yet.
    pub fn name(self) -> Option<&'static str> {
        match self.0 {
            0 => Some("None"),
            1 => Some("CRC32"),
            4 => Some("CRC64"),
            10 => Some("SHA-256"),
            _ => None,
        }
    }

    fn of_flags(flags: [u8; 2]) -> Result<Self, XzFlaw> {
        match flags {
            [0, id @ 0..=15] => Ok(Self(id)),
            _ => Err(XzFlaw::Flags {
                stated: u16::from_be_bytes(flags),
            }),
        }
    }
}

/// Reads a header.
pub(super) fn header(bytes: &[u8; FRAME_BYTES]) -> Result<Check, XzFlaw> {
    let [magic @ .., _, _, _, _, _, _] = bytes;
    if *magic != HEADER_MAGIC {
        return Err(XzFlaw::NoHeader);
    }
    equal("header", number(&bytes[8..]), &bytes[6..8])?;
    Check::of_flags([bytes[6], bytes[7]])
}

/// Reads a footer: the check, and the size of the index before it in bytes.
pub(super) fn footer(bytes: &[u8; FRAME_BYTES]) -> Result<(Check, u64), XzFlaw> {
    if bytes[10..] != FOOTER_MAGIC {
        return Err(XzFlaw::NoFooter);
    }
    equal("footer", number(bytes), &bytes[4..10])?;
    let check = Check::of_flags([bytes[8], bytes[9]])?;
    Ok((check, (u64::from(number(&bytes[4..])) + 1) * 4))
}

fn equal(of: &'static str, stated: u32, data: &[u8]) -> Result<(), XzFlaw> {
    match crc32fast::hash(data) {
        computed if computed == stated => Ok(()),
        computed => Err(XzFlaw::Checksum {
            of,
            stated,
            computed,
        }),
    }
}

fn number(bytes: &[u8]) -> u32 {
    bytes
        .first_chunk()
        .map_or(0, |four| u32::from_le_bytes(*four))
}
