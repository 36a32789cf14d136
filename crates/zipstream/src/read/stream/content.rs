//! The content of an entry in a stream: the encryption header, the content, the authentication code
//! and the descriptor.

use super::super::strict::sizes_before_a_descriptor;
use super::{DESCRIPTOR_BYTES_MAX, State, StreamDecoder, StreamEvent, StreamStep};
use crate::crypt::decrypt::{Decryptor, refuse_early};
use crate::crypt::decryption::KnownPassword;
use crate::engine::bounds::{Bounds, limit};
use crate::error::{Error, ErrorKind, internal};
use crate::format::local::descriptor_bytes;
use crate::method::Method;

impl StreamDecoder {
    /// Skips the entry that was just reported, without decoding or verifying it, and reports
    /// neither its content nor its end. Returns `false` if its end can only be found by decoding:
    /// then its content follows and is dropped.
    pub fn skip_entry(&mut self) -> bool {
        let skips = self.state == State::Begin && !self.header.descriptor;
        if skips {
            let header = self.header;
            if let Some(seen) = self.seen.last_mut() {
                seen.crc32 = header.crc32;
                seen.compressed = header.compressed + header.outer_bytes();
                seen.content = header.content;
                self.state = State::Skip(seen.compressed);
            }
        }
        self.skipping = !skips;
        skips
    }

    /// Refuses the current entry: the next call reports it, and skips the entry if its end is
    /// known.
    pub(super) fn refuse(&mut self, error: Error) {
        self.refused = Some(self.named(error));
        self.state = State::Refused;
    }

    /// Why the entry is refused. Its content is skipped if its header states its size; otherwise
    /// the error stays.
    pub(super) fn give_up(&mut self) -> Error {
        let error = self.refused.clone();
        let error = error.unwrap_or_else(|| internal("nothing is refused"));
        if self.header.descriptor {
            self.refused = None;
            return error;
        }
        let header = self.header;
        let opened = self.offset.saturating_sub(self.content_start);
        if let Some(seen) = self.seen.last_mut() {
            seen.crc32 = header.crc32;
            seen.compressed = header.compressed + header.outer_bytes();
            seen.content = header.content;
            self.state = State::Skip(seen.compressed.saturating_sub(opened));
        }
        error
    }

    /// Starts the content of the current entry.
    pub(super) fn begin(&mut self) -> Result<(), Error> {
        let (limits, header) = (&self.options.limits, &self.header);
        let known = header.stated;
        let bounds = Bounds {
            stated: known.then_some(header.content),
            compressed: known.then_some(header.compressed),
            limit: limits
                .entry_bytes
                .min(limits.total_bytes.saturating_sub(self.total)),
            ratio: limits.ratio,
            memory: limits.window_bytes,
            marker: header.marker,
        };
        let method = self
            .entry
            .as_ref()
            .map_or(Method::Stored, |entry| entry.method);
        self.content_start = self.offset;
        self.decoder.start(method, bounds)?;
        self.decryptor = None;
        self.state = match &header.scheme {
            Some(scheme) => {
                if !self.skipping {
                    refuse_early(scheme, self.password().as_ref())?;
                }
                State::EncryptionHeader
            }
            None => State::Content,
        };
        Ok(())
    }

    /// How the current entry is decrypted, if its password is known.
    fn password(&self) -> Option<KnownPassword> {
        let (decryption, entry) = (self.decryption.as_ref()?, self.entry.as_ref()?);
        decryption.of_entry(&entry.name)
    }

    /// Starts the decryption.
    pub(super) fn open(
        &mut self,
        input: &[u8],
        taken: &mut usize,
    ) -> Result<Option<StreamEvent>, Error> {
        let Some(scheme) = self.header.scheme else {
            return Err(internal("nothing is encrypted"));
        };
        if !self.hold(scheme.header_bytes(), input, taken) {
            return Ok(Some(StreamEvent::NeedInput));
        }
        let password = self.password();
        let decryptor = Decryptor::new(&scheme, password.as_ref(), &self.held);
        self.held.clear();
        match decryptor {
            Ok(decryptor) => {
                self.decryptor = Some(decryptor);
                self.state = State::Content;
            }
            Err(error) => self.refuse(error),
        }
        Ok(None)
    }

    /// Verifies the authentication code.
    pub(super) fn code(
        &mut self,
        input: &[u8],
        taken: &mut usize,
    ) -> Result<Option<StreamEvent>, Error> {
        let bytes = self.header.scheme.map_or(0, |scheme| scheme.code_bytes());
        if self.header.descriptor {
            if !self.hold(4, input, taken) {
                return Ok(Some(StreamEvent::NeedInput));
            }
            let goes_on = match &mut self.decryptor {
                Some(decryptor) => decryptor.goes_on(&mut self.decoder, &self.held[..4]),
                None => Ok(false),
            };
            if goes_on.map_err(|error| self.named(error))? {
                self.held.clear();
                self.state = State::Content;
                return Ok(None);
            }
        }
        if !self.hold(bytes, input, taken) {
            return Ok(Some(StreamEvent::NeedInput));
        }
        if let Some(mut decryptor) = self.decryptor.take() {
            let verified = decryptor.verify(&self.held[..bytes]);
            verified.map_err(|error| self.named(error))?;
        }
        // The rest is the start of the descriptor.
        self.held.drain(..bytes);
        self.complete().map(Some)
    }

    pub(super) fn content(
        &mut self,
        input: &[u8],
        output: &mut [u8],
        taken: usize,
    ) -> Result<StreamStep, Error> {
        let mut rest = &input[taken..];
        let mut last = false;
        if !self.header.descriptor {
            let left = self
                .header
                .compressed
                .saturating_sub(self.decoder.consumed());
            let left = usize::try_from(left).unwrap_or(usize::MAX);
            last = rest.len() >= left;
            rest = &rest[..rest.len().min(left)];
        }
        let step = match &mut self.decryptor {
            Some(decryptor) => decryptor.push(&mut self.decoder, rest, output, last),
            None => self.decoder.push(rest, output, last),
        };
        let step = step.map_err(|error| self.named(error))?;
        self.offset += step.consumed as u64;
        self.total += step.produced as u64;
        if self.total > self.options.limits.total_bytes {
            return Err(self.named(limit(self.options.limits.total_bytes)));
        }
        let event = match (step.done, step.consumed + step.produced) {
            (true, _) => self.content_end()?,
            (false, 0) => StreamEvent::NeedInput,
            (false, _) => StreamEvent::Content,
        };
        Ok(StreamStep {
            consumed: taken + step.consumed,
            produced: step.produced,
            event,
        })
    }

    /// The content is complete; its code and descriptor may follow.
    fn content_end(&mut self) -> Result<StreamEvent, Error> {
        if let Some(scheme) = self.header.scheme {
            let left = self.header.compressed > self.decoder.consumed();
            if scheme.code_bytes() > 0 && !self.header.descriptor && left {
                let what = "bytes follow its compressed content";
                return Err(self.named(Error::new(ErrorKind::Corrupt, what)));
            }
            self.state = State::Code;
            return Ok(StreamEvent::Content);
        }
        self.complete()
    }

    /// Content and code are complete; a descriptor may follow.
    fn complete(&mut self) -> Result<StreamEvent, Error> {
        if self.header.descriptor {
            self.state = State::Descriptor;
            return Ok(StreamEvent::Content);
        }
        let left = self
            .header
            .compressed
            .saturating_sub(self.decoder.consumed());
        if left > 0 && self.options.is_strict() {
            let what = format!("{left} bytes follow its compressed content");
            return Err(self.named(Error::new(ErrorKind::Corrupt, what)));
        }
        let crc32 = self.header.crc32(self.decoder.crc32(), self.header.crc32);
        let verified = self.decoder.verify(crc32, self.header.content);
        verified.map_err(|error| self.named(error))?;
        let stated = self.header.scheme.map(|_| self.header.crc32);
        self.remember(left, stated.unwrap_or(crc32));
        self.state = State::Skip(left);
        Ok(StreamEvent::EntryEnd)
    }

    fn remember(&mut self, left: u64, crc32: u32) {
        let outer = self.header.outer_bytes();
        if let Some(seen) = self.seen.last_mut() {
            seen.crc32 = crc32;
            seen.compressed = self.decoder.consumed() + left + outer;
            seen.content = self.decoder.produced();
        }
    }

    pub(super) fn descriptor(
        &mut self,
        input: &[u8],
        taken: &mut usize,
    ) -> Result<Option<StreamEvent>, Error> {
        if !self.hold(4, input, taken) {
            return Ok(Some(StreamEvent::NeedInput));
        }
        let plain = self.header.scheme.is_none();
        let goes_on = plain && {
            let goes_on = self.decoder.goes_on(&self.held);
            goes_on.map_err(|error| self.named(error))?
        };
        if goes_on {
            self.held.clear();
            self.state = State::Content;
            return Ok(None);
        }
        // Bytes beyond the descriptor are the start of the next record.
        if !self.hold(DESCRIPTOR_BYTES_MAX, input, taken) {
            return Ok(Some(StreamEvent::NeedInput));
        }
        let decoder = &self.decoder;
        let compressed = decoder.consumed() + self.header.outer_bytes();
        // A checksum that is not stated is 0, or the real one.
        let mut crc32 = decoder.crc32();
        let find = |crc32| {
            let values = (crc32, compressed, decoder.produced());
            descriptor_bytes(&self.held, values, self.header.wide)
        };
        let mut found = find(crc32);
        if found.is_none() && self.header.crc32(crc32, 0) != 0 {
            crc32 = 0;
            found = find(crc32);
        }
        let Some(bytes) = found else {
            if self.header.stated && self.header.compressed == 0 {
                let what = "a stored entry with a descriptor has no known end: it cannot be read from a pipe";
                return Err(self.named(Error::new(ErrorKind::Unsupported, what)));
            }
            let what = "its descriptor differs from its content in size or checksum";
            return Err(self.named(Error::new(ErrorKind::Mismatch, what)));
        };
        if self.options.is_strict() {
            let values = (crc32, compressed, decoder.produced());
            let before = sizes_before_a_descriptor(&self.header.before, values);
            before.map_err(|error| self.named(error))?;
        }
        self.held.drain(..bytes);
        self.remember(0, crc32);
        self.state = State::Record;
        Ok(Some(StreamEvent::EntryEnd))
    }
}
