//! Encrypted entries of a file: where their parts lie, and their codes before their contents.

use super::directory::Entry;
use super::source::ReadAt;
use super::window::Window;
use crate::crypt::Decryption;
use crate::crypt::open::{Opened, Scheme, is_verified_first};
use crate::engine::content::{ContentDecoder, Step};
use crate::error::Error;

/// What of a content is hashed at a time before it is decrypted.
const STEP_BYTES: usize = 64 << 10;

/// How an entry is encrypted, by the directory.
pub(super) fn scheme(entry: &Entry<'_>) -> Result<Option<Scheme>, Error> {
    let central = entry.central();
    let check = (central.crc32, central.time);
    Scheme::of(central.flags, central.method, central.extra, check)
}

/// The compressed content of a large entry, which may be encrypted.
pub(crate) struct Body {
    /// Where the compressed content starts.
    pub(super) start: u64,
    /// The first byte behind it.
    pub(super) end: u64,
    sealed: Option<(Scheme, Opened)>,
}

impl Body {
    /// The content of an entry whose data starts at `data`; what is encrypted is opened, and
    /// authenticated where it is not released early.
    pub(super) fn open<R: ReadAt>(
        entry: &Entry<'_>,
        decryption: Option<&Decryption>,
        window: &mut Window,
        source: &R,
        data: u64,
    ) -> Result<Self, Error> {
        let outer_end = data + entry.compressed_bytes();
        let Some(scheme) = scheme(entry)? else {
            return Ok(Self {
                start: data,
                end: outer_end,
                sealed: None,
            });
        };
        let inner = scheme.inner_bytes(entry.compressed_bytes())?;
        let start = data + scheme.header_bytes() as u64;
        let end = start + inner;
        let open = |window: &mut Window| {
            let header = window.get(source, data, scheme.header_bytes(), outer_end)?;
            Opened::new(&scheme, decryption, &header[..scheme.header_bytes()])
        };
        let mut opened = open(window)?;
        if is_verified_first(&scheme, decryption) {
            let mut first = Self {
                start,
                end,
                sealed: Some((scheme, opened)),
            };
            first.finish(window, source, start)?;
            opened = open(window)?;
        }
        Ok(Self {
            start,
            end,
            sealed: Some((scheme, opened)),
        })
    }

    /// Whether the content is encrypted.
    pub(super) fn is_sealed(&self) -> bool {
        self.sealed.is_some()
    }

    /// Gives input to the decoder, decrypted where it has to be; the content is lent, or in `output`.
    pub(super) fn push<'a>(
        &mut self,
        decoder: &'a mut ContentDecoder,
        input: &[u8],
        output: &'a mut [u8],
        last: bool,
    ) -> Result<(Step, &'a [u8]), Error> {
        match &mut self.sealed {
            Some((_, opened)) => {
                let step = opened.push(decoder, input, output, last)?;
                Ok((step, &output[..step.produced]))
            }
            None => decoder.lend(input, output, last),
        }
    }

    /// Holds what was read up to `at`, and what is left behind that, to the code.
    pub(super) fn finish<R: ReadAt>(
        &mut self,
        window: &mut Window,
        source: &R,
        mut at: u64,
    ) -> Result<(), Error> {
        let Some((scheme, opened)) = &mut self.sealed else {
            return Ok(());
        };
        let code_end = self.end + scheme.code_bytes() as u64;
        while at < self.end {
            let left = usize::try_from(self.end - at).unwrap_or(usize::MAX);
            let need = left.min(STEP_BYTES);
            let held = window.get(source, at, need, code_end)?;
            opened.hash(&held[..need]);
            at += need as u64;
        }
        let held = window.get(source, at, scheme.code_bytes(), code_end)?;
        let verified = opened.verify(&held[..scheme.code_bytes()]);
        verified.map_err(|error| error.at(at))
    }

    /// The checksum to hold the content to, of those found and stated.
    pub(super) fn crc32(&self, found: u32, stated: u32) -> u32 {
        match &self.sealed {
            Some((scheme, _)) => scheme.crc32(found, stated),
            None => stated,
        }
    }
}
