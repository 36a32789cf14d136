//! Encryption: salt and verifier before the compressed content, the authentication code after it.

use super::Password;
use super::aes::{AesStrength, CODE_BYTES, Field, VERIFIER_BYTES};
use super::cipher::{self, Cipher};
use crate::error::Error;
use crate::method::Method;

/// How entries are encrypted: with WinZip AES, which most programs read.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Encryption {
    /// The password.
    pub password: Password,
    /// The length of the key; 256 bits by default.
    pub strength: AesStrength,
    /// Whether headers state the checksum of the content (AE-1), which reveals something about
    /// short contents. Without it (AE-2, the default) only the authentication code protects the
    /// content.
    pub checksum: bool,
}

impl Encryption {
    /// AE-2 with a key of 256 bits.
    pub fn new(password: Password) -> Self {
        Self {
            password,
            strength: AesStrength::default(),
            checksum: false,
        }
    }

    /// Sets [`strength`](Self::strength).
    #[must_use]
    pub fn strength(mut self, strength: AesStrength) -> Self {
        self.strength = strength;
        self
    }

    /// Sets [`checksum`](Self::checksum).
    #[must_use]
    pub fn checksum(mut self, checksum: bool) -> Self {
        self.checksum = checksum;
        self
    }

    pub(crate) fn of_entry(&self) -> EntryEncryption {
        EntryEncryption {
            strength: self.strength,
            checksum: self.checksum,
        }
    }
}

/// What the headers state about the encryption of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EntryEncryption {
    pub(crate) strength: AesStrength,
    pub(crate) checksum: bool,
}

/// The most bytes that encryption adds to an entry.
pub(crate) const OVERHEAD_BYTES_MAX: u64 = (16 + VERIFIER_BYTES + CODE_BYTES) as u64;

impl EntryEncryption {
    /// Bytes added to the compressed content.
    pub(crate) fn bytes(self) -> u64 {
        (self.strength.salt_bytes() + VERIFIER_BYTES + CODE_BYTES) as u64
    }

    pub(crate) fn field(self, method: Method) -> Field {
        Field {
            has_crc: self.checksum,
            strength: self.strength,
            method: method.code(),
        }
    }
}

/// The encryption of one entry.
pub(crate) struct Encryptor(Cipher);

impl Encryptor {
    /// Starts an entry: appends its salt and the bytes that verify the password.
    pub(crate) fn begin(encryption: &Encryption, out: &mut Vec<u8>) -> Result<Self, Error> {
        let mut room = [0; 16];
        let strength = encryption.strength;
        let salt = cipher::salt(strength, &mut room)?;
        let (cipher, verifier) = Cipher::new(strength, encryption.password.bytes(), salt)?;
        out.extend_from_slice(salt);
        out.extend_from_slice(&verifier);
        Ok(Self(cipher))
    }

    /// Encrypts the next part in place.
    pub(crate) fn encrypt(&mut self, data: &mut [u8]) {
        self.0.encrypt(data);
    }

    /// Appends the authentication code.
    pub(crate) fn end(mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.0.code().bytes());
    }
}

impl std::fmt::Debug for Encryptor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Encryptor")
    }
}
