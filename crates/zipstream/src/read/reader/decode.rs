//! Decoding the content of one entry: small content in one piece, large content piece by piece.

use std::sync::atomic::Ordering;

use super::super::encrypted::{self, Body};
use super::super::entry::Entry;
use super::super::source::ReadAt;
use super::{ArchiveReader, Scratch};
use crate::crypt::decrypt::decrypt_whole;
use crate::deflate::PART_SLACK_BYTES;
use crate::engine::bounds::{Bounds, compare, limit, more};
use crate::engine::content::ContentDecoder;
use crate::error::{Error, ErrorKind};
use crate::format::flag;
use crate::method::Method;
use crate::read::window::Window;

/// Room for one piece of larger content.
const PIECE_BYTES: usize = 128 << 10;

/// What the next step of a body is.
enum Next<'w> {
    /// It was done, for this number of bytes.
    Authenticated(usize),
    /// To decode this. Whether no more input follows.
    Decode(&'w [u8], bool),
    /// Nothing: all is decoded and verified.
    End,
}

impl<R: ReadAt> ArchiveReader<R> {
    /// Decodes and verifies a small content in one piece.
    pub(crate) fn whole<'s>(
        &self,
        entry: &Entry<'_>,
        scratch: &'s mut Scratch,
        data: u64,
    ) -> Result<&'s [u8], Error> {
        let bounds = self.bounds(entry);
        if entry.content_bytes() > bounds.limit {
            return Err(limit(bounds.limit).at(data));
        }
        // Both are at most 1 MiB.
        let content_bytes = entry.content_bytes() as usize;
        let compressed_bytes = entry.compressed_bytes() as usize;
        let Scratch {
            window,
            output,
            plain,
            inflate,
            decoder,
        } = scratch;
        let end = self.directory.start();
        let held = window.get(&self.source, data, compressed_bytes, end)?;
        let mut input = &held[..compressed_bytes];
        let scheme = encrypted::scheme(entry).map_err(|error| error.at(entry.record_offset()))?;
        if let Some(scheme) = &scheme {
            let password = encrypted::password(self.decryption.as_ref(), entry);
            let decrypted = decrypt_whole(scheme, password.as_ref(), input, plain);
            input = decrypted.map_err(|error| error.at(data))?;
        }
        let compressed_bytes = input.len();
        let bounds = Bounds {
            compressed: Some(compressed_bytes as u64),
            ..bounds
        };
        // One more byte shows content beyond the stated size.
        if output.len() < content_bytes + 1 {
            output.resize(content_bytes + 1, 0);
        }
        let content = match entry.method() {
            Method::Stored if compressed_bytes != content_bytes => {
                return Err(unequal(entry).at(data));
            }
            Method::Stored => input,
            Method::Deflate if !self.options.is_strict() => {
                let decompressor = inflate.get_or_insert_with(libdeflater::Decompressor::new);
                let produced = decompressor
                    .deflate_decompress(input, &mut output[..content_bytes])
                    .map_err(|error| refused(error, entry).at(data))?;
                &output[..produced]
            }
            Method::Deflate => {
                let inflated = decoder.inflate_whole(input, output, content_bytes);
                let (consumed, produced) = inflated.map_err(|error| error.at(data))?;
                self.leftover(consumed as u64, compressed_bytes as u64, data)?;
                &output[..produced]
            }
            method => {
                let started = decoder.start(method, bounds);
                let produced = started
                    .and_then(|()| decode(decoder, input, &mut output[..=content_bytes]))
                    .map_err(|error| error.at(data))?;
                self.leftover(decoder.consumed(), compressed_bytes as u64, data)?;
                &output[..produced]
            }
        };
        let found = (libdeflater::crc32(content), content.len() as u64);
        let stated = scheme.map_or(entry.crc32(), |scheme| scheme.crc32(found.0, entry.crc32()));
        compare(found, (stated, entry.content_bytes())).map_err(|error| error.at(data))?;
        self.count(content.len() as u64)?;
        Ok(content)
    }

    /// Starts decoding large content, which starts at byte `data`.
    pub(crate) fn begin(
        &self,
        entry: &Entry<'_>,
        scratch: &mut Scratch,
        data: u64,
    ) -> Result<Body, Error> {
        let Scratch {
            window,
            output,
            decoder,
            ..
        } = scratch;
        let password = encrypted::password(self.decryption.as_ref(), entry);
        let body = Body::open(entry, password.as_ref(), window, &self.source, data);
        let body = body.map_err(|error| error.at(data))?;
        let compressed_bytes = body.end - body.start;
        if entry.method() == Method::Stored && compressed_bytes != entry.content_bytes() {
            return Err(unequal(entry).at(body.start));
        }
        let bounds = Bounds {
            compressed: Some(compressed_bytes),
            ..self.bounds(entry)
        };
        let started = decoder.start(entry.method(), bounds);
        started.map_err(|error| error.at(body.start))?;
        if !body.has_crc() {
            decoder.leave_out_sum();
        }
        // Deflate decodes into its own buffer.
        let own = entry.method() == Method::Deflate && !body.is_encrypted();
        if !own && output.len() < PIECE_BYTES {
            output.resize(PIECE_BYTES, 0);
        }
        Ok(body)
    }

    /// The next piece of that content, of `most` bytes at most and of as much input, and how much was worked on; `None` after
    /// all of it was returned and verified.
    pub(crate) fn piece<'s>(
        &self,
        entry: &Entry<'_>,
        scratch: &'s mut Scratch,
        body: &mut Body,
        most: usize,
    ) -> Result<Option<(usize, &'s [u8])>, Error> {
        let Scratch {
            window,
            output,
            decoder,
            ..
        } = scratch;
        let data = body.start;
        let named = |error: Error| error.at(data);
        let next = self.next(entry, window, decoder, body, most);
        let (input, last) = match next.map_err(named)? {
            Next::Authenticated(bytes) => return Ok(Some((bytes, &[]))),
            Next::Decode(input, last) => (input, last),
            Next::End => return Ok(None),
        };
        let most = most.min(PIECE_BYTES);
        let pushed = body.push(decoder, input, output, most, last);
        let (step, piece) = pushed.map_err(named)?;
        self.count(step.produced as u64).map_err(named)?;
        Ok(Some((step.consumed.max(step.produced), piece)))
    }

    /// Decodes some of small content behind the first `filled` bytes of the output, which have room for all of it. Returns how
    /// much was worked on; `None` once all of it is there and verified.
    pub(crate) fn gather(
        &self,
        entry: &Entry<'_>,
        scratch: &mut Scratch,
        body: &mut Body,
        filled: &mut usize,
        most: usize,
    ) -> Result<Option<usize>, Error> {
        let Scratch {
            window,
            output,
            decoder,
            ..
        } = scratch;
        let data = body.start;
        let named = |error: Error| error.at(data);
        let next = self.next(entry, window, decoder, body, most);
        let (input, last) = match next.map_err(named)? {
            Next::Authenticated(bytes) => return Ok(Some(bytes)),
            Next::Decode(input, last) => (input, last),
            Next::End => return Ok(None),
        };
        // One more byte shows content beyond the stated size, which is at most 1 MiB.
        let all = entry.content_bytes() as usize + 1;
        let full = all.min(filled.saturating_add(most));
        let end = full + PART_SLACK_BYTES;
        if output.len() < end {
            output.reserve_exact(all + PART_SLACK_BYTES - output.len());
            output.resize(end, 0);
        }
        let pushed = body.gather(decoder, input, output, *filled..full, last);
        let step = pushed.map_err(named)?;
        self.count(step.produced as u64).map_err(named)?;
        *filled += step.produced;
        Ok(Some(step.consumed.max(step.produced)))
    }

    fn next<'w>(
        &self,
        entry: &Entry<'_>,
        window: &'w mut Window,
        decoder: &ContentDecoder,
        body: &mut Body,
        most: usize,
    ) -> Result<Next<'w>, Error> {
        let (data, end) = (body.start, body.end);
        let authenticated = body.authenticate(window, &self.source, most)?;
        if let Some(bytes) = authenticated {
            return Ok(Next::Authenticated(bytes));
        }
        let at = data + decoder.consumed();
        if decoder.is_done() {
            self.leftover(decoder.consumed(), end - data, data)?;
            if let Some(bytes) = body.finish(window, &self.source, at, most)? {
                return Ok(Next::Authenticated(bytes));
            }
            let crc32 = body.crc32(decoder.crc32(), entry.crc32());
            decoder.verify(crc32, entry.content_bytes())?;
            return Ok(Next::End);
        }
        let need = usize::from(at < end);
        let input = window.get(&self.source, at, need, end)?;
        let left = usize::try_from(end - at).unwrap_or(usize::MAX);
        let input = &input[..input.len().min(left).min(most)];
        Ok(Next::Decode(input, input.len() == left))
    }

    fn bounds(&self, entry: &Entry<'_>) -> Bounds {
        let limits = &self.options.limits;
        let produced = self.produced.load(Ordering::Relaxed);
        let left = limits.total_bytes.saturating_sub(produced);
        Bounds {
            stated: Some(entry.content_bytes()),
            compressed: Some(entry.compressed_bytes()),
            limit: limits.entry_bytes.min(left),
            ratio: limits.ratio,
            memory: limits.window_bytes,
            marker: entry.central().flags & flag::MARKER != 0,
        }
    }

    /// Counts content against the limit for all entries.
    pub(in crate::read) fn count(&self, bytes: u64) -> Result<(), Error> {
        let most = self.options.limits.total_bytes;
        let before = self.produced.fetch_add(bytes, Ordering::Relaxed);
        if before.saturating_add(bytes) > most {
            return Err(limit(most));
        }
        Ok(())
    }

    fn leftover(&self, consumed: u64, all: u64, at: u64) -> Result<(), Error> {
        let left = all.saturating_sub(consumed);
        if left > 0 && self.options.is_strict() {
            let what = format!("{left} bytes follow its compressed content");
            return Err(Error::corrupt(at + consumed, what));
        }
        Ok(())
    }
}

/// Decodes all of `input` into `output`, which has room for one byte more than is allowed.
fn decode(
    decoder: &mut ContentDecoder,
    mut input: &[u8],
    output: &mut [u8],
) -> Result<usize, Error> {
    let mut filled = 0;
    while !decoder.is_done() {
        let step = decoder.push(input, &mut output[filled..], true)?;
        input = &input[step.consumed..];
        filled += step.produced;
    }
    Ok(filled)
}

fn unequal(entry: &Entry<'_>) -> Error {
    let (compressed, content) = (entry.compressed_bytes(), entry.content_bytes());
    let what = format!("stored, with {compressed} compressed bytes but {content} bytes of content");
    Error::new(ErrorKind::Size, what)
}

fn refused(error: libdeflater::DecompressionError, entry: &Entry<'_>) -> Error {
    match error {
        libdeflater::DecompressionError::BadData => {
            Error::new(ErrorKind::Corrupt, "invalid deflate data")
        }
        libdeflater::DecompressionError::InsufficientSpace => more(entry.content_bytes()),
    }
}
