//! WinZip AES (AE-1 and AE-2) in headers: the strength of the key and the extra field. The cipher
//! itself is in `cipher`.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, ErrorKind, unknown};
use crate::format::{extra, le16};

/// The method number that headers of such entries state.
pub(crate) const METHOD: u16 = 99;
/// The version of the format that a reader needs, times ten.
pub(crate) const VERSION: u16 = 51;
/// Bytes of the extra field, its header included.
pub(crate) const FIELD_BYTES: usize = 11;
/// Bytes that tell most wrong passwords from the right one.
pub(crate) const VERIFIER_BYTES: usize = 2;
/// Bytes of the authentication code after the content.
pub(crate) const CODE_BYTES: usize = 10;
pub(super) const SALT_BYTES_MAX: usize = 16;

/// How long the key is. It is shown as, and read from, `aes-128`, `aes-192` or `aes-256`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum AesStrength {
    /// 128 bits.
    Aes128,
    /// 192 bits.
    Aes192,
    /// 256 bits.
    #[default]
    Aes256,
}

impl AesStrength {
    /// The length of the key in bits.
    pub const fn bits(self) -> u16 {
        self.code() as u16 * 64 + 64
    }

    const fn code(self) -> u8 {
        match self {
            Self::Aes128 => 1,
            Self::Aes192 => 2,
            Self::Aes256 => 3,
        }
    }

    pub(crate) const fn salt_bytes(self) -> usize {
        self.code() as usize * 4 + 4
    }

    #[cfg(feature = "aes")]
    pub(super) const fn key_bytes(self) -> usize {
        self.salt_bytes() * 2
    }
}

impl fmt::Display for AesStrength {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Aes128 => "aes-128",
            Self::Aes192 => "aes-192",
            Self::Aes256 => "aes-256",
        })
    }
}

impl FromStr for AesStrength {
    type Err = Error;

    /// Reads what [`Display`](fmt::Display) writes.
    fn from_str(text: &str) -> Result<Self, Error> {
        match text {
            "aes-128" => Ok(Self::Aes128),
            "aes-192" => Ok(Self::Aes192),
            "aes-256" => Ok(Self::Aes256),
            _ => Err(unknown("strength", text, "aes-128, aes-192, aes-256")),
        }
    }
}

/// What the extra field says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Field {
    /// Whether headers state the checksum of the content (AE-1), or 0 (AE-2).
    pub(crate) has_crc: bool,
    pub(crate) strength: AesStrength,
    /// The number of the compression method.
    pub(crate) method: u16,
}

impl Field {
    /// Reads the field in an extra area.
    pub(crate) fn find(area: &[u8]) -> Result<Self, Error> {
        let corrupt = |what: &'static str| Error::new(ErrorKind::Corrupt, what);
        let unsupported = |what: String| Error::new(ErrorKind::Unsupported, what);
        let data = extra::find(area, extra::AES)
            .ok_or_else(|| corrupt("encrypted with AES, but its AES field is missing"))?;
        if data.len() < FIELD_BYTES - 4 {
            return Err(corrupt("an AES field that is too short"));
        }
        if &data[2..4] != b"AE" {
            return Err(unsupported("AES of an unknown vendor".to_owned()));
        }
        let has_crc = match le16(data, 0) {
            1 => true,
            2 => false,
            other => return Err(unsupported(format!("version {other} of AES encryption"))),
        };
        let strength = match data[4] {
            1 => AesStrength::Aes128,
            2 => AesStrength::Aes192,
            3 => AesStrength::Aes256,
            other => return Err(unsupported(format!("AES of unknown strength {other}"))),
        };
        let method = le16(data, 5);
        Ok(Self {
            has_crc,
            strength,
            method,
        })
    }

    /// Appends the field.
    pub(crate) fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&extra::AES.to_le_bytes());
        out.extend_from_slice(&7_u16.to_le_bytes());
        out.extend_from_slice(&[if self.has_crc { 1 } else { 2 }, 0]);
        out.extend_from_slice(b"AE");
        out.push(self.strength.code());
        out.extend_from_slice(&self.method.to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_field_is_what_the_format_has() {
        let field = Field {
            has_crc: false,
            strength: AesStrength::Aes256,
            method: 8,
        };
        let mut area = Vec::new();
        field.put(&mut area);
        assert_eq!(area, b"\x01\x99\x07\x00\x02\x00AE\x03\x08\x00");
        assert_eq!(Field::find(&area).unwrap(), field);
        let kind = |at: usize, byte: u8| {
            let mut area = area.clone();
            area[at] = byte;
            Field::find(&area).unwrap_err().kind()
        };
        assert_eq!(kind(4, 3), ErrorKind::Unsupported, "version");
        assert_eq!(kind(6, b'X'), ErrorKind::Unsupported, "vendor");
        assert_eq!(kind(8, 0), ErrorKind::Unsupported, "strength");
        assert_eq!(kind(8, 4), ErrorKind::Unsupported, "strength");
        assert_eq!(kind(0, 2), ErrorKind::Corrupt, "another field");
        assert_eq!(kind(2, 8), ErrorKind::Corrupt, "cut off");
        assert_eq!(Field::find(b"").unwrap_err().kind(), ErrorKind::Corrupt);
        let short = b"\x01\x99\x06\x00\x02\x00AE\x03\x08";
        assert_eq!(Field::find(short).unwrap_err().kind(), ErrorKind::Corrupt);
    }
}
