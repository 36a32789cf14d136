//! The cipher of WinZip AES and the code that authenticates what it encrypts (feature `aes`).
//!
//! AES counts blocks from 1, the least significant byte first. HMAC-SHA1 covers the encrypted bytes, and
//! ten bytes of it are kept. Both alternate on short stripes, so that one finds in the cache what the other
//! left there.

use ::aes::{Aes128, Aes192, Aes256};
use ctr::Ctr128LE;
use ctr::cipher::{KeyIvInit as _, StreamCipher, StreamCipherSeek as _};
use zeroize::Zeroizing;

use super::aes::{AesStrength, CODE_BYTES, SALT_BYTES_MAX, VERIFIER_BYTES};
use super::derive::derive;
use super::mac::Mac;
use crate::error::{Error, ErrorKind};

const KEY_BYTES_MAX: usize = 32;
/// Bytes that are encrypted or decrypted before they are hashed: they fit the first-level cache,
/// and starting a stripe costs almost nothing.
const STRIPE_BYTES: usize = 4 << 10;

enum Keystream {
    Aes128(Ctr128LE<Aes128>),
    Aes192(Ctr128LE<Aes192>),
    Aes256(Ctr128LE<Aes256>),
}

impl Keystream {
    fn new(key: &[u8], strength: AesStrength) -> Option<Self> {
        let mut count = [0; 16];
        count[0] = 1;
        Some(match strength {
            AesStrength::Aes128 => Self::Aes128(Ctr128LE::new_from_slices(key, &count).ok()?),
            AesStrength::Aes192 => Self::Aes192(Ctr128LE::new_from_slices(key, &count).ok()?),
            AesStrength::Aes256 => Self::Aes256(Ctr128LE::new_from_slices(key, &count).ok()?),
        })
    }

    fn apply(&mut self, data: &mut [u8]) {
        match self {
            Self::Aes128(stream) => stream.apply_keystream(data),
            Self::Aes192(stream) => stream.apply_keystream(data),
            Self::Aes256(stream) => stream.apply_keystream(data),
        }
    }

    /// The same from one buffer to another of the same length.
    fn apply_to(&mut self, from: &[u8], to: &mut [u8]) {
        match self {
            Self::Aes128(stream) => stream.apply_keystream_b2b(from, to),
            Self::Aes192(stream) => stream.apply_keystream_b2b(from, to),
            Self::Aes256(stream) => stream.apply_keystream_b2b(from, to),
        }
    }

    fn seek(&mut self, position: u64) {
        match self {
            Self::Aes128(stream) => stream.seek(position),
            Self::Aes192(stream) => stream.seek(position),
            Self::Aes256(stream) => stream.seek(position),
        }
    }
}

/// The cipher and the authentication code of one entry.
pub(crate) struct Cipher {
    stream: Keystream,
    code: AuthCode,
    position: u64,
    /// The code after the bytes that were peeked at last.
    ahead: Option<AuthCode>,
}

impl Cipher {
    /// The cipher for a password and a salt, and the bytes that verify the password.
    pub(crate) fn new(
        strength: AesStrength,
        password: &[u8],
        salt: &[u8],
    ) -> Result<(Self, [u8; VERIFIER_BYTES]), Error> {
        let refused = || crate::error::internal("a key of another length");
        if salt.len() != strength.salt_bytes() {
            return Err(refused());
        }
        let mut keys = Zeroizing::new([0; 2 * KEY_BYTES_MAX + VERIFIER_BYTES]);
        let key_bytes = strength.key_bytes();
        let keys = &mut keys[..2 * key_bytes + VERIFIER_BYTES];
        derive(password, salt, keys);
        let (key, rest) = keys.split_at(key_bytes);
        let (code_key, verifier) = rest.split_at(key_bytes);
        let stream = Keystream::new(key, strength).ok_or_else(refused)?;
        let cipher = Self {
            stream,
            code: AuthCode(Mac::new(code_key)),
            position: 0,
            ahead: None,
        };
        Ok((cipher, [verifier[0], verifier[1]]))
    }

    /// Encrypts in place and authenticates the result.
    pub(crate) fn encrypt(&mut self, data: &mut [u8]) {
        let mut hashed = 0;
        let mut at = 0;
        while at < data.len() {
            let end = data.len().min(at + STRIPE_BYTES);
            self.stream.apply(&mut data[at..end]);
            self.code.hash(&data[hashed..at]);
            (hashed, at) = (at, end);
        }
        self.code.hash(&data[hashed..]);
        self.position += data.len() as u64;
    }

    /// Decrypts the next bytes in place, without advancing.
    pub(crate) fn decrypt_in_place(&mut self, data: &mut [u8]) {
        self.stream.seek(self.position);
        self.stream.apply(data);
    }

    /// Decrypts the next bytes into `plain`, which has the same length, without advancing. Prepares
    /// the code for advancing over all of them.
    pub(crate) fn peek(&mut self, encrypted: &[u8], plain: &mut [u8]) {
        self.stream.seek(self.position);
        let mut code = self.code.clone();
        let stripes = encrypted.chunks(STRIPE_BYTES);
        for (encrypted, plain) in stripes.zip(plain.chunks_mut(STRIPE_BYTES)) {
            self.stream.apply_to(encrypted, plain);
            code.hash(encrypted);
        }
        self.ahead = Some(code);
    }

    /// Advances over the first `taken` of these encrypted bytes, which were peeked at.
    pub(crate) fn advance(&mut self, data: &[u8], taken: usize) {
        match self.ahead.take().filter(|_| taken == data.len()) {
            Some(code) => self.code = code,
            None => self.code.hash(&data[..taken]),
        }
        self.position += taken as u64;
    }

    /// The code of everything advanced over.
    pub(crate) fn code(&mut self) -> &mut AuthCode {
        &mut self.code
    }
}

/// The authentication code of an entry while it is computed.
#[derive(Clone)]
pub(crate) struct AuthCode(Mac);

impl AuthCode {
    /// Adds encrypted bytes.
    pub(crate) fn hash(&mut self, data: &[u8]) {
        self.0.update(data);
    }

    /// The code as it follows a content.
    pub(crate) fn bytes(&self) -> [u8; CODE_BYTES] {
        let whole = self.0.code();
        std::array::from_fn(|at| whole[at])
    }

    /// Compares the computed code with the stated one in constant time.
    pub(crate) fn verify(&self, code: &[u8]) -> Result<(), Error> {
        let differs = self.bytes().into_iter().zip(code);
        let differs = differs.fold(0, |all, (one, other)| all | (one ^ other));
        if code.len() == CODE_BYTES && std::hint::black_box(differs) == 0 {
            return Ok(());
        }
        let what = "authentication code mismatch";
        Err(Error::new(ErrorKind::Authentication, what).help(
            "the archive is damaged or was changed; one wrong password in 65536 ends like this",
        ))
    }
}

/// A random salt from the system.
pub(crate) fn salt(strength: AesStrength, room: &mut [u8; SALT_BYTES_MAX]) -> Result<&[u8], Error> {
    let salt = &mut room[..strength.salt_bytes()];
    getrandom::fill(salt)
        .map_err(|error| Error::new(ErrorKind::Internal, format!("no random bytes: {error}")))?;
    Ok(salt)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decrypting_any_cut_gives_what_was_encrypted() {
        let content: Vec<u8> = (0..40_000_u32).map(|n| (n / 7) as u8).collect();
        for strength in [
            AesStrength::Aes128,
            AesStrength::Aes192,
            AesStrength::Aes256,
        ] {
            assert_eq!(usize::from(strength.bits()), strength.key_bytes() * 8);
            let salt = vec![7; strength.salt_bytes()];
            let (mut cipher, _) = Cipher::new(strength, b"pass", &salt).unwrap();
            let mut encrypted = content.clone();
            cipher.encrypt(&mut encrypted);
            let code = cipher.code().bytes();
            let (mut cipher, _) = Cipher::new(strength, b"pass", &salt).unwrap();
            let (mut plain, mut at) = (Vec::new(), 0);
            while at < encrypted.len() {
                let ahead = (at + 5000).min(encrypted.len());
                let mut part = vec![0; ahead - at];
                cipher.peek(&encrypted[at..ahead], &mut part);
                let taken = part.len().min(at % 5300 + 1);
                plain.extend_from_slice(&part[..taken]);
                cipher.advance(&encrypted[at..ahead], taken);
                at += taken;
            }
            assert!(plain == content);
            let found = cipher.code();
            found.verify(&code).unwrap();
            assert!(found.verify(&code[..9]).is_err());
            found.hash(b"x");
            assert!(found.verify(&code).is_err());
        }
    }
}
