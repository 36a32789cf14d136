//! Decryption: the password is verified first, then the content is decrypted, then its code is
//! verified.

use super::aes::{self, CODE_BYTES, Field, VERIFIER_BYTES};
use super::cipher::{AuthCode, Cipher};
use super::decryption::KnownPassword;
use super::zipcrypto::{self, Keys};
use crate::engine::content::{ContentDecoder, Step};
use crate::error::{Error, ErrorKind};
use crate::format::flag;

/// Bytes decrypted at a time.
const STEP_BYTES: usize = 16 << 10;

/// How an entry is encrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scheme {
    Aes(Field),
    /// With the byte that the decrypted header must end with.
    ZipCrypto(u8),
}

impl Scheme {
    /// The encryption that headers describe; `None` if there is none.
    pub(crate) fn of(
        flags: u16,
        method: u16,
        extra: &[u8],
        (crc32, time): (u32, u16),
    ) -> Result<Option<Self>, Error> {
        if method == aes::METHOD {
            return Field::find(extra).map(|field| Some(Self::Aes(field)));
        }
        if flags & flag::ENCRYPTED == 0 {
            return Ok(None);
        }
        // Before a descriptor the checksum is unknown, and the time is used.
        let check = if flags & flag::DESCRIPTOR != 0 {
            time >> 8
        } else {
            (crc32 >> 24) as u16
        };
        Ok(Some(Self::ZipCrypto(check as u8)))
    }

    /// Bytes before the compressed content.
    pub(crate) fn header_bytes(&self) -> usize {
        match self {
            Self::Aes(field) => field.strength.salt_bytes() + VERIFIER_BYTES,
            Self::ZipCrypto(_) => zipcrypto::HEADER_BYTES,
        }
    }

    /// Bytes after it.
    pub(crate) fn code_bytes(&self) -> usize {
        match self {
            Self::Aes(_) => CODE_BYTES,
            Self::ZipCrypto(_) => 0,
        }
    }

    /// The size of the compressed content in an entry of `bytes` bytes.
    pub(crate) fn inner_bytes(&self, bytes: u64) -> Result<u64, Error> {
        let outer = (self.header_bytes() + self.code_bytes()) as u64;
        bytes.checked_sub(outer).ok_or_else(|| {
            let what = format!("encrypted, but its {bytes} bytes are too short for that");
            Error::new(ErrorKind::Corrupt, what)
        })
    }

    /// The checksum that the content must have, given the computed and the stated one: AE-2 states
    /// none.
    pub(crate) fn crc32(&self, found: u32, stated: u32) -> u32 {
        if self.has_crc() { stated } else { found }
    }

    /// Whether headers state the checksum of the content.
    pub(crate) fn has_crc(&self) -> bool {
        match self {
            Self::Aes(field) => field.has_crc,
            Self::ZipCrypto(_) => true,
        }
    }

    fn is_aes(&self) -> bool {
        matches!(self, Self::Aes(_))
    }
}

/// The decryption of one entry.
pub(crate) struct Decryptor {
    cipher: AnyCipher,
    plain: Vec<u8>,
}

enum AnyCipher {
    Aes(Box<Cipher>),
    ZipCrypto(Keys),
}

impl Decryptor {
    /// Starts an entry, given the encryption header before its content.
    pub(crate) fn new(
        scheme: &Scheme,
        decryption: Option<&KnownPassword>,
        header: &[u8],
    ) -> Result<Self, Error> {
        let Some(decryption) = decryption else {
            return Err(missing());
        };
        let password = decryption.password.bytes();
        let wrong = || {
            Error::new(ErrorKind::Password, "wrong password")
                .help("entries of one archive may have different passwords")
        };
        let cipher = match scheme {
            Scheme::Aes(field) => {
                let (salt, verifier) = header.split_at(field.strength.salt_bytes());
                let (cipher, right) = Cipher::new(field.strength, password, salt)?;
                if verifier != right {
                    return Err(wrong());
                }
                AnyCipher::Aes(Box::new(cipher))
            }
            Scheme::ZipCrypto(check) => {
                let mut keys = Keys::new(password);
                let mut header = header.to_vec();
                keys.decrypt(&mut header);
                if header.last() != Some(check) {
                    return Err(wrong());
                }
                AnyCipher::ZipCrypto(keys)
            }
        };
        Ok(Self {
            cipher,
            plain: Vec::new(),
        })
    }

    /// Passes encrypted input to a decoder; otherwise like [`ContentDecoder::push`].
    pub(crate) fn push(
        &mut self,
        decoder: &mut ContentDecoder,
        input: &[u8],
        output: &mut [u8],
        last: bool,
    ) -> Result<Step, Error> {
        let most = input.len().min(output.len());
        if let (AnyCipher::Aes(cipher), Some(bytes)) = (&mut self.cipher, decoder.copies(most))
            && bytes > 0
        {
            let (encrypted, plain) = (&input[..bytes], &mut output[..bytes]);
            cipher.peek(encrypted, plain);
            cipher.advance(encrypted, bytes);
            return decoder.copied(plain);
        }
        // Bytes that the decoder leaves are decrypted again. Decrypt no more than the output may
        // need, but enough for the smallest unit.
        let most = STEP_BYTES.min(output.len().saturating_add(64));
        let step = &input[..input.len().min(most)];
        let ahead = self.peek(step);
        let last = last && step.len() == input.len();
        let done = decoder.push(&self.plain, output, last)?;
        self.advance(step, done.consumed, ahead);
        Ok(done)
    }

    /// Whether a content that looked complete continues with these encrypted bytes; see
    /// [`ContentDecoder::goes_on`].
    pub(crate) fn goes_on(
        &mut self,
        decoder: &mut ContentDecoder,
        bytes: &[u8],
    ) -> Result<bool, Error> {
        let before = self.peek(bytes);
        let goes_on = decoder.goes_on(&self.plain)?;
        if goes_on {
            self.advance(bytes, bytes.len(), before);
        }
        Ok(goes_on)
    }

    /// Decrypts into `plain` without advancing; returns the ZipCrypto keys after these bytes.
    fn peek(&mut self, encrypted: &[u8]) -> Option<Keys> {
        match &mut self.cipher {
            AnyCipher::Aes(cipher) => {
                self.plain.resize(encrypted.len(), 0);
                cipher.peek(encrypted, &mut self.plain);
                None
            }
            AnyCipher::ZipCrypto(keys) => {
                let mut ahead = *keys;
                self.plain.clear();
                self.plain.extend_from_slice(encrypted);
                ahead.decrypt(&mut self.plain);
                Some(ahead)
            }
        }
    }

    /// Advances over the first `taken` of the bytes that were peeked at.
    fn advance(&mut self, encrypted: &[u8], taken: usize, ahead: Option<Keys>) {
        let all = taken == encrypted.len();
        match &mut self.cipher {
            AnyCipher::Aes(cipher) => cipher.advance(encrypted, taken),
            AnyCipher::ZipCrypto(keys) if all => *keys = ahead.unwrap_or(*keys),
            AnyCipher::ZipCrypto(keys) => {
                self.plain.clear();
                self.plain.extend_from_slice(&encrypted[..taken]);
                keys.decrypt(&mut self.plain);
            }
        }
    }

    /// The authentication code of everything taken, for AES.
    pub(crate) fn code(&mut self) -> Option<&mut AuthCode> {
        match &mut self.cipher {
            AnyCipher::Aes(cipher) => Some(cipher.code()),
            AnyCipher::ZipCrypto(_) => None,
        }
    }

    /// Compares that code with the stated one.
    pub(crate) fn verify(&mut self, code: &[u8]) -> Result<(), Error> {
        self.code().map_or(Ok(()), |found| found.verify(code))
    }

    /// Decrypts a whole content in place.
    fn decrypt(&mut self, data: &mut [u8]) {
        match &mut self.cipher {
            AnyCipher::Aes(cipher) => cipher.decrypt_in_place(data),
            AnyCipher::ZipCrypto(keys) => keys.decrypt(data),
        }
    }
}

/// Authenticates and decrypts an entry that is completely in memory, into `plain`.
pub(crate) fn decrypt_whole<'p>(
    scheme: &Scheme,
    decryption: Option<&KnownPassword>,
    encrypted: &[u8],
    plain: &'p mut Vec<u8>,
) -> Result<&'p [u8], Error> {
    scheme.inner_bytes(encrypted.len() as u64)?;
    let (header, rest) = encrypted.split_at(scheme.header_bytes());
    let (inner, code) = rest.split_at(rest.len() - scheme.code_bytes());
    let mut decryptor = Decryptor::new(scheme, decryption, header)?;
    if let Some(found) = decryptor.code() {
        found.hash(inner);
        found.verify(code)?;
    }
    plain.clear();
    plain.extend_from_slice(inner);
    decryptor.decrypt(plain);
    Ok(plain)
}

/// Refuses an AES entry whose content would come before its code.
pub(crate) fn refuse_early(
    scheme: &Scheme,
    decryption: Option<&KnownPassword>,
) -> Result<(), Error> {
    if !scheme.is_aes() || decryption.is_some_and(|known| known.early) {
        return Ok(());
    }
    if decryption.is_none() {
        return Err(missing());
    }
    let what = "encrypted content of a pipe comes before the code that authenticates it";
    Err(Error::new(ErrorKind::Unsupported, what)
        .help("read the archive from a file, or release content before it is verified (Decryption::release_early)"))
}

/// Adds to an error that the password may be wrong: ZipCrypto checks only one byte of it.
pub(crate) fn or_wrong_password(scheme: Option<&Scheme>, error: Error) -> Error {
    use ErrorKind::{Checksum, Corrupt, Size, Truncated};
    let zipcrypto = matches!(scheme, Some(Scheme::ZipCrypto(_)));
    match error.kind() {
        Checksum | Corrupt | Size | Truncated if zipcrypto => error.help(
            "the archive is damaged, or the password is wrong: this encryption lets one wrong \
             password in 256 pass",
        ),
        _ => error,
    }
}

/// Whether the content of an entry must be authenticated before pieces of it are returned.
pub(crate) fn is_verified_first(scheme: &Scheme, decryption: Option<&KnownPassword>) -> bool {
    scheme.is_aes() && !decryption.is_some_and(|known| known.early)
}

fn missing() -> Error {
    Error::new(ErrorKind::Password, "encrypted, but no password was given")
        .help("give the password of the archive")
}

impl std::fmt::Debug for Decryptor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Decryptor")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damage_under_the_old_cipher_may_be_a_wrong_password() {
        let help =
            |scheme, kind| or_wrong_password(Some(&scheme), Error::new(kind, "wrong")).help_text();
        let told = help(Scheme::ZipCrypto(7), ErrorKind::Checksum).unwrap_or_default();
        assert!(told.contains("one wrong password in 256"), "{told}");
        assert_eq!(help(Scheme::ZipCrypto(7), ErrorKind::Limit), None);
        let field = Field {
            has_crc: false,
            strength: aes::AesStrength::Aes256,
            method: 8,
        };
        assert_eq!(help(Scheme::Aes(field), ErrorKind::Checksum), None);
    }
}
