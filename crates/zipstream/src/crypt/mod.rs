//! Encryption: keys and ciphers, and what headers say of them.
//!
//! [`aes`] is WinZip AES both ways, [`zipcrypto`] the old cipher, which is only read; [`encrypt`] writes,
//! [`decrypt`] reads. Nothing here knows an archive.

pub(crate) mod aes;
#[cfg(feature = "aes")]
pub(crate) mod cipher;
#[cfg(not(feature = "aes"))]
#[path = "no_cipher.rs"]
pub(crate) mod cipher;
pub(crate) mod decrypt;
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
pub use decrypt::Decryption;
pub use encrypt::Encryption;

/// A password: any bytes. It is wiped from memory with its last copy.
#[derive(Clone)]
pub struct Password(Arc<Zeroizing<Vec<u8>>>);

impl Password {
    /// The password of these bytes, which are not copied.
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
