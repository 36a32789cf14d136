//! Encryption: keys, ciphers, and their fields in headers.
//!
//! [`aes`] has the fields of WinZip AES and `cipher` its cipher (feature `aes`); [`zipcrypto`] is
//! the old cipher, which is only read. The writer uses [`encrypt`], the readers use [`decrypt`]
//! with the passwords of [`decryption`].
//! Nothing here knows archives.

pub(crate) mod aes;
#[cfg(feature = "aes")]
pub(crate) mod cipher;
#[cfg(not(feature = "aes"))]
#[path = "no_cipher.rs"]
pub(crate) mod cipher;
pub(crate) mod decrypt;
pub(crate) mod decryption;
#[cfg(feature = "aes")]
mod derive;
pub(crate) mod encrypt;
#[cfg(feature = "aes")]
mod mac;
pub(crate) mod zipcrypto;

use std::fmt;
use std::sync::Arc;

use zeroize::Zeroizing;

pub use aes::AesStrength;
pub use decryption::Decryption;
pub use encrypt::Encryption;

/// A password: any bytes. They are wiped from memory with the last clone.
#[derive(Clone)]
pub struct Password(Arc<Zeroizing<Vec<u8>>>);

impl Password {
    /// The password with these bytes, which are moved and not copied.
    pub fn new(bytes: impl Into<Vec<u8>>) -> Self {
        Self(Arc::new(Zeroizing::new(bytes.into())))
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }
}

impl From<&str> for Password {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Password")
    }
}
