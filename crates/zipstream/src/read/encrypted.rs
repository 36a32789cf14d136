//! Encrypted entries of a file: where their parts are, and authentication before their content.

use std::ops::Range;

use super::entry::Entry;
use super::source::ReadAt;
use super::window::Window;
use crate::crypt::Decryption;
use crate::crypt::cipher::AuthCode;
use crate::crypt::decrypt::{Decryptor, Scheme, is_verified_first, or_wrong_password};
use crate::crypt::decryption::KnownPassword;
use crate::engine::content::{ContentDecoder, Step};
use crate::error::{Error, ErrorKind};
use crate::format::flag;

/// Bytes hashed per step before decryption.
const STEP_BYTES: usize = 64 << 10;

/// How an entry is encrypted, according to the directory.
pub(super) fn scheme(entry: &Entry<'_>) -> Result<Option<Scheme>, Error> {
    let central = entry.central();
    let check = (central.crc32, central.time);
    Scheme::of(central.flags, central.method, central.extra, check)
}

/// How an entry is decrypted, if it has to be and its password is known.
pub(super) fn password(
    decryption: Option<&Decryption>,
    entry: &Entry<'_>,
) -> Option<KnownPassword> {
    let decryption = decryption.filter(|_| entry.is_encrypted())?;
    decryption.of_entry(&entry.name_lossy())
}

/// Adds to an error that a wrong password may be its cause.
pub(super) fn explain(entry: &Entry<'_>, error: Error) -> Error {
    or_wrong_password(scheme(entry).ok().flatten().as_ref(), error)
}

/// The compressed content of a large entry, which may be encrypted.
pub(crate) struct Body {
    /// Where the compressed content starts.
    pub(super) start: u64,
    /// The first byte after it.
    pub(super) end: u64,
    decryption: Option<(Scheme, Decryptor)>,
    /// Authenticates the content before any of it is returned.
    first: Option<AuthCode>,
    /// The first byte after what is hashed but not decrypted. After an error of the source, hashing
    /// continues from there.
    hashed: u64,
}

impl Body {
    /// The content of an entry whose data starts at `data`; sets up decryption.
    pub(super) fn open<R: ReadAt>(
        entry: &Entry<'_>,
        decryption: Option<&KnownPassword>,
        window: &mut Window,
        source: &R,
        data: u64,
    ) -> Result<Self, Error> {
        let outer_end = data + entry.compressed_bytes();
        let Some(scheme) = scheme(entry)? else {
            return Ok(Self {
                start: data,
                end: outer_end,
                decryption: None,
                first: None,
                hashed: data,
            });
        };
        let inner = scheme.inner_bytes(entry.compressed_bytes())?;
        let start = data + scheme.header_bytes() as u64;
        let end = start + inner;
        let header = window.get(source, data, scheme.header_bytes(), outer_end)?;
        let mut decryptor = Decryptor::new(&scheme, decryption, &header[..scheme.header_bytes()])?;
        let first = match is_verified_first(&scheme, decryption) {
            true => decryptor.code().cloned(),
            false => None,
        };
        Ok(Self {
            start,
            end,
            decryption: Some((scheme, decryptor)),
            first,
            hashed: start,
        })
    }

    /// Whether the headers state the checksum of the content.
    pub(super) fn has_crc(&self) -> bool {
        let decryption = self.decryption.as_ref();
        decryption.is_none_or(|(scheme, _)| scheme.has_crc())
    }

    /// Whether the content is encrypted.
    pub(super) fn is_encrypted(&self) -> bool {
        self.decryption.is_some()
    }

    /// Authenticates the content unless it is released early, `most` bytes at a time; returns how many it was, `None` once nothing
    /// is left to do. It is called before any content is returned, and again after an error of the source.
    pub(crate) fn authenticate<R: ReadAt>(
        &mut self,
        window: &mut Window,
        source: &R,
        most: usize,
    ) -> Result<Option<usize>, Error> {
        let Some((mut first, (scheme, _))) = self.first.take().zip(self.decryption.as_ref()) else {
            return Ok(None);
        };
        let code_bytes = scheme.code_bytes();
        let hashed = self.hash(&mut first, code_bytes, window, source, most);
        match &hashed {
            Ok(None) => self.hashed = self.start,
            Ok(Some(_)) | Err(_) => self.first = Some(first),
        }
        hashed
    }

    /// Hashes the rest, `most` bytes of it at a time, and verifies the code. `None`: that was done.
    fn hash<R: ReadAt>(
        &mut self,
        code: &mut AuthCode,
        code_bytes: usize,
        window: &mut Window,
        source: &R,
        most: usize,
    ) -> Result<Option<usize>, Error> {
        let code_end = self.end + code_bytes as u64;
        let mut bytes = 0;
        while self.hashed < self.end {
            if bytes >= most {
                return Ok(Some(bytes));
            }
            let left = usize::try_from(self.end - self.hashed).unwrap_or(usize::MAX);
            let need = left.min(STEP_BYTES).min(most - bytes);
            let held = window.get(source, self.hashed, need, code_end)?;
            code.hash(&held[..need]);
            self.hashed += need as u64;
            bytes += need;
        }
        let held = window.get(source, self.end, code_bytes, code_end)?;
        let verified = code.verify(&held[..code_bytes]);
        verified.map(|()| None).map_err(|error| error.at(self.end))
    }

    /// Hashes the next bytes without decrypting them; returns their number, 0 at the end.
    pub(super) fn authenticate_next<R: ReadAt>(
        &mut self,
        window: &mut Window,
        source: &R,
    ) -> Result<u64, Error> {
        let left = usize::try_from(self.end - self.hashed).unwrap_or(usize::MAX);
        let need = left.min(2 * STEP_BYTES);
        let Some((_, decryptor)) = self.decryption.as_mut().filter(|_| need > 0) else {
            return Ok(0);
        };
        let held = window.get(source, self.hashed, need, self.end)?;
        if let Some(code) = decryptor.code() {
            code.hash(&held[..need]);
        }
        self.hashed += need as u64;
        Ok(need as u64)
    }

    /// Passes input to the decoder, decrypted if necessary, for `most` bytes of content. They are in the decoder's buffer or in
    /// `output`.
    pub(super) fn push<'a>(
        &mut self,
        decoder: &'a mut ContentDecoder,
        input: &[u8],
        output: &'a mut [u8],
        most: usize,
        last: bool,
    ) -> Result<(Step, &'a [u8]), Error> {
        match &mut self.decryption {
            Some((_, decryptor)) => {
                let room = output.len().min(most);
                let step = decryptor.push(decoder, input, &mut output[..room], last)?;
                Ok((step, &output[..step.produced]))
            }
            None => decoder.lend(input, output, most, last),
        }
    }

    /// The same for content that is gathered in `output`: this part of it comes next.
    pub(super) fn gather(
        &mut self,
        decoder: &mut ContentDecoder,
        input: &[u8],
        output: &mut [u8],
        part: Range<usize>,
        last: bool,
    ) -> Result<Step, Error> {
        match &mut self.decryption {
            Some((_, decryptor)) => decryptor.push(decoder, input, &mut output[part], last),
            None => decoder.gather(input, output, part, last),
        }
    }

    /// Verifies the code over what was read up to `at` and what follows, `most` bytes at a time. `None`: that was done.
    pub(super) fn finish<R: ReadAt>(
        &mut self,
        window: &mut Window,
        source: &R,
        at: u64,
        most: usize,
    ) -> Result<Option<usize>, Error> {
        let Some((scheme, mut decryptor)) = self.decryption.take() else {
            return Ok(None);
        };
        self.hashed = self.hashed.max(at);
        let verified = match decryptor.code() {
            Some(code) => self.hash(code, scheme.code_bytes(), window, source, most),
            None => Ok(None),
        };
        self.decryption = Some((scheme, decryptor));
        verified
    }

    /// The checksum that the content must have, given the computed and the stated one.
    pub(super) fn crc32(&self, found: u32, stated: u32) -> u32 {
        match &self.decryption {
            Some((scheme, _)) => scheme.crc32(found, stated),
            None => stated,
        }
    }
}

/// Refuses entries that are encrypted with certificates, or are patches.
pub(super) fn refuse_unreadable(flags: u16, offset: u64) -> Result<(), Error> {
    let error = if flags & (flag::MASKED | flag::STRONG) != 0 {
        let what = "encrypted in an unsupported way";
        Error::new(ErrorKind::Unsupported, what).help("only WinZip AES and ZipCrypto are supported")
    } else if flags & flag::PATCH != 0 {
        Error::new(ErrorKind::Unsupported, "patch data, which is not supported")
    } else {
        return Ok(());
    };
    Err(error.at(offset))
}
