//! What stands for the cipher of WinZip AES when the feature `aes` is off: an error wherever an entry
//! needs it.

use super::aes::{AesStrength, CODE_BYTES, SALT_BYTES_MAX, VERIFIER_BYTES};
use crate::error::{Error, ErrorKind};

/// A cipher that cannot be made.
pub(crate) enum Cipher {}

/// A code that cannot be made.
#[derive(Clone)]
pub(crate) enum AuthCode {}

fn missing() -> Error {
    let what = "encrypted with WinZip AES, which this build cannot read or write";
    Error::new(ErrorKind::Unsupported, what).help("build zipstream with its feature `aes`")
}

impl Cipher {
    pub(crate) fn new(
        _: AesStrength,
        _: &[u8],
        _: &[u8],
    ) -> Result<(Self, [u8; VERIFIER_BYTES]), Error> {
        Err(missing())
    }

    pub(crate) fn encrypt(&mut self, _: &mut [u8]) {
        match *self {}
    }

    pub(crate) fn decrypt_in_place(&mut self, _: &mut [u8]) {
        match *self {}
    }

    pub(crate) fn peek(&mut self, _: &[u8], _: &mut [u8]) {
        match *self {}
    }

    pub(crate) fn advance(&mut self, _: &[u8], _: usize) {
        match *self {}
    }

    pub(crate) fn code(&mut self) -> &mut AuthCode {
        match *self {}
    }
}

impl AuthCode {
    pub(crate) fn hash(&mut self, _: &[u8]) {
        match *self {}
    }

    pub(crate) fn bytes(&self) -> [u8; CODE_BYTES] {
        match *self {}
    }

    pub(crate) fn verify(&self, _: &[u8]) -> Result<(), Error> {
        match *self {}
    }
}

pub(crate) fn salt(_: AesStrength, _: &mut [u8; SALT_BYTES_MAX]) -> Result<&[u8], Error> {
    Err(missing())
}

#[cfg(test)]
mod tests {
    use crate::{ArchiveOptions, ArchiveWriter, Encryption, EntryOptions, ErrorKind, Password};

    #[test]
    fn an_entry_that_needs_the_feature_says_so() {
        let options = ArchiveOptions::new().encryption(Encryption::new(Password::from("pass")));
        let mut writer = ArchiveWriter::with_options(Vec::new(), options).unwrap();
        let added = writer.add("a", &EntryOptions::default(), &mut &b"content"[..]);
        let error = added.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert!(error.help_text().is_some_and(|help| help.contains("`aes`")));
    }
}
