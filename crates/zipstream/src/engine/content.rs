//! Decoding of entry contents: one decoder for all methods, with sizes, limits and a checksum.
//!
//! Produced bytes are counted; what a header states is compared and never trusted.

use std::ops::Range;

use super::bounds::{Bounds, compare, judge, more};
#[cfg(feature = "methods")]
use super::read_only_methods::ReadOnlyMethod;
use crate::deflate::{InflateError, InflateFlaw, Inflater};
use crate::error::{Error, ErrorKind, internal};
use crate::method::Method;
#[cfg(not(all(feature = "methods", feature = "zstd")))]
use crate::method::unsupported;

/// What one call did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) consumed: usize,
    pub(crate) produced: usize,
    /// Whether the content is complete.
    pub(crate) done: bool,
}

/// Decodes contents one after the other and keeps its contexts.
pub(crate) struct ContentDecoder {
    method: Method,
    bounds: Bounds,
    crc: libdeflater::Crc,
    /// Whether the checksum is not needed.
    unsummed: bool,
    consumed: u64,
    produced: u64,
    done: bool,
    /// Whether the last call needed more input.
    starved: bool,
    inflate: Option<Inflater>,
    #[cfg(feature = "zstd")]
    zstd: Option<Box<zstdkit::Decoder>>,
    #[cfg(feature = "methods")]
    read_only: Option<ReadOnlyMethod>,
}

impl Default for ContentDecoder {
    fn default() -> Self {
        Self {
            method: Method::Stored,
            bounds: Bounds {
                stated: Some(0),
                compressed: Some(0),
                ..Bounds::default()
            },
            crc: libdeflater::Crc::new(),
            unsummed: false,
            consumed: 0,
            produced: 0,
            done: true,
            starved: false,
            inflate: None,
            #[cfg(feature = "zstd")]
            zstd: None,
            #[cfg(feature = "methods")]
            read_only: None,
        }
    }
}

impl ContentDecoder {
    /// Starts a content.
    pub(crate) fn start(&mut self, method: Method, bounds: Bounds) -> Result<(), Error> {
        match method {
            Method::Stored if bounds.compressed.is_none() => {
                return Err(Error::new(
                    ErrorKind::Unsupported,
                    "a stored entry with a descriptor has no known end: it cannot be read from a pipe",
                )
                .help("read the archive from a file"));
            }
            Method::Stored => {}
            Method::Deflate => match &mut self.inflate {
                Some(inflate) => inflate.restart(),
                None => self.inflate = Some(Inflater::new()),
            },
            #[cfg(feature = "zstd")]
            Method::Zstd => match &mut self.zstd {
                Some(decoder) => decoder.reset(),
                None => {
                    let decoder = zstdkit::Decoder::new(&windows_of(bounds.memory))
                        .map_err(|error| zstd(&error))?;
                    self.zstd = Some(Box::new(decoder));
                }
            },
            #[cfg(feature = "methods")]
            Method::Other(_) => self.read_only = Some(ReadOnlyMethod::new(method, &bounds)?),
            #[cfg(not(all(feature = "methods", feature = "zstd")))]
            other => return Err(unsupported(other)),
        }
        self.method = method;
        self.bounds = bounds;
        (self.crc, self.unsummed) = (libdeflater::Crc::new(), false);
        (self.consumed, self.produced) = (0, 0);
        self.done = method == Method::Stored && bounds.compressed == Some(0);
        Ok(())
    }

    /// Skips the checksum of this content, which is not stated.
    pub(crate) fn leave_out_sum(&mut self) {
        self.unsummed = true;
    }

    fn sum(&mut self, content: &[u8]) {
        if !self.unsummed {
            self.crc.update(content);
        }
    }

    /// Compressed bytes taken.
    pub(crate) fn consumed(&self) -> u64 {
        self.consumed
    }

    /// Content bytes produced.
    pub(crate) fn produced(&self) -> u64 {
        self.produced
    }

    /// Checksum of the content so far.
    pub(crate) fn crc32(&self) -> u32 {
        self.crc.sum()
    }

    pub(crate) fn is_done(&self) -> bool {
        self.done
    }

    /// Consumes compressed bytes and produces content. `last` says that no more input follows.
    pub(crate) fn push(
        &mut self,
        input: &[u8],
        output: &mut [u8],
        last: bool,
    ) -> Result<Step, Error> {
        if self.done {
            return Ok(self.step(0, 0));
        }
        let room = self.room(output.len());
        let output = &mut output[..room];
        let (consumed, produced) = match self.method {
            Method::Stored => self.copy(input, output),
            Method::Deflate => self.deflate(input, output)?,
            #[cfg(feature = "zstd")]
            Method::Zstd => self.frame(input, output)?,
            #[cfg(feature = "methods")]
            Method::Other(_) => self.read_only(input, output, last)?,
            #[cfg(not(all(feature = "methods", feature = "zstd")))]
            other => return Err(unsupported(other)),
        };
        self.consumed += consumed as u64;
        self.produced += produced as u64;
        judge(&self.bounds, self.consumed, self.produced)?;
        self.sum(&output[..produced]);
        if last && self.starved && !self.done {
            return Err(early());
        }
        Ok(self.step(consumed, produced))
    }

    /// How much of the output may be used: one byte beyond the allowed size shows that there is
    /// more.
    fn room(&self, most: usize) -> usize {
        let stated = self.bounds.stated.unwrap_or(u64::MAX);
        let allowed = self.bounds.limit.min(stated);
        let room = allowed.saturating_sub(self.produced).saturating_add(1);
        usize::try_from(room).unwrap_or(usize::MAX).min(most)
    }

    /// How many of the next bytes are stored content, which a caller that copies them anyway need
    /// not copy twice.
    pub(crate) fn copies(&self, most: usize) -> Option<usize> {
        if self.method != Method::Stored || self.done {
            return None;
        }
        let left = self.bounds.compressed.unwrap_or(0) - self.consumed;
        Some(
            self.room(most)
                .min(usize::try_from(left).unwrap_or(usize::MAX)),
        )
    }

    /// Counts these bytes, as many as [`copies`](Self::copies) returned.
    pub(crate) fn copied(&mut self, content: &[u8]) -> Result<Step, Error> {
        let bytes = content.len();
        self.consumed += bytes as u64;
        self.produced += bytes as u64;
        self.done = Some(self.consumed) == self.bounds.compressed;
        judge(&self.bounds, self.consumed, self.produced)?;
        self.sum(content);
        Ok(self.step(bytes, bytes))
    }

    /// Decompresses a whole deflate content of stated size `stated`; returns the consumed and the
    /// produced bytes. More output room than that makes it faster. It does not affect a started
    /// content.
    pub(crate) fn inflate_whole(
        &mut self,
        input: &[u8],
        output: &mut [u8],
        stated: usize,
    ) -> Result<(usize, usize), Error> {
        let inflate = self.inflate.get_or_insert_default();
        match inflate.whole(input, output, stated) {
            Ok(did) => Ok((did.consumed, did.produced)),
            Err(error) => Err(match error.flaw() {
                InflateFlaw::Room => more(stated as u64),
                InflateFlaw::Truncated => early(),
                _ => invalid_deflate(&error),
            }),
        }
    }

    /// Like [`push`](Self::push) with `most` bytes of `output`, but the content stays in the method's own buffer if it has one,
    /// where it may be a little more.
    pub(crate) fn lend<'a>(
        &'a mut self,
        input: &[u8],
        output: &'a mut [u8],
        most: usize,
        last: bool,
    ) -> Result<(Step, &'a [u8]), Error> {
        if self.method != Method::Deflate || self.done {
            let room = output.len().min(most);
            let step = self.push(input, &mut output[..room], last)?;
            return Ok((step, &output[..step.produced]));
        }
        let inflate = self.inflate.get_or_insert_default();
        let piece = inflate
            .push_within(input, most)
            .map_err(|error| invalid_deflate(&error))?;
        self.consumed += piece.consumed as u64;
        self.produced += piece.content.len() as u64;
        self.done = piece.done;
        judge(&self.bounds, self.consumed, self.produced)?;
        if !self.unsummed {
            self.crc.update(piece.content);
        }
        // Content that is held back needs more input, or follows without any.
        self.starved = piece.consumed == input.len() && piece.content.is_empty();
        if last && self.starved && !self.done {
            return Err(early());
        }
        let step = Step {
            consumed: piece.consumed,
            produced: piece.content.len(),
            done: piece.done,
        };
        Ok((step, piece.content))
    }

    /// Like [`push`](Self::push) for content that is gathered in `output`: this part of it comes next. It may become a little
    /// longer, where there is room.
    pub(crate) fn gather(
        &mut self,
        input: &[u8],
        output: &mut [u8],
        part: Range<usize>,
        last: bool,
    ) -> Result<Step, Error> {
        if self.method != Method::Deflate || self.done {
            return self.push(input, &mut output[part], last);
        }
        let inflate = self.inflate.get_or_insert_default();
        let did = inflate
            .gather(input, output, part.start, part.end)
            .map_err(|error| invalid_deflate(&error))?;
        self.consumed += did.consumed as u64;
        self.produced += did.produced as u64;
        self.done = did.done;
        judge(&self.bounds, self.consumed, self.produced)?;
        self.sum(&output[part.start..part.start + did.produced]);
        self.starved = did.consumed == input.len() && part.start + did.produced < part.end;
        if last && self.starved && !self.done {
            return Err(early());
        }
        Ok(self.step(did.consumed, did.produced))
    }

    /// The last `bytes` bytes of the content that [`lend`](Self::lend) returned last.
    pub(crate) fn lent(&self, bytes: usize) -> &[u8] {
        let inflate = self.inflate.as_ref();
        inflate.map_or(&[], |inflate| inflate.last_content(bytes))
    }

    fn step(&self, consumed: usize, produced: usize) -> Step {
        Step {
            consumed,
            produced,
            done: self.done,
        }
    }

    fn copy(&mut self, input: &[u8], output: &mut [u8]) -> (usize, usize) {
        let left = self.bounds.compressed.unwrap_or(0) - self.consumed;
        let left = usize::try_from(left).unwrap_or(usize::MAX);
        let bytes = input.len().min(output.len()).min(left);
        output[..bytes].copy_from_slice(&input[..bytes]);
        self.done = bytes == left;
        self.starved = bytes == input.len();
        (bytes, bytes)
    }

    fn deflate(&mut self, input: &[u8], output: &mut [u8]) -> Result<(usize, usize), Error> {
        let Some(inflate) = &mut self.inflate else {
            return Err(internal("no inflate context"));
        };
        let did = inflate
            .read(input, output)
            .map_err(|error| invalid_deflate(&error))?;
        self.done = did.done;
        self.starved = did.consumed == input.len() && did.produced < output.len();
        Ok((did.consumed, did.produced))
    }

    #[cfg(feature = "methods")]
    fn read_only(
        &mut self,
        input: &[u8],
        output: &mut [u8],
        last: bool,
    ) -> Result<(usize, usize), Error> {
        let Some(decoder) = &mut self.read_only else {
            return Err(internal("no decoder"));
        };
        let (consumed, produced, done) = decoder.push(input, output, last)?;
        self.done = done;
        self.starved = consumed == input.len() && produced < output.len();
        Ok((consumed, produced))
    }

    #[cfg(feature = "zstd")]
    fn frame(&mut self, input: &[u8], output: &mut [u8]) -> Result<(usize, usize), Error> {
        let Some(decoder) = &mut self.zstd else {
            return Err(internal("no zstd context"));
        };
        let step = decoder.push(input, output).map_err(|error| zstd(&error))?;
        let taken = self.consumed + step.consumed as u64;
        let whole = self.bounds.compressed.is_none_or(|all| taken == all);
        self.done = taken > 0 && whole && decoder.at_boundary();
        let idle = matches!(step.state, zstdkit::State::NeedInput | zstdkit::State::Done);
        self.starved = idle && step.consumed == input.len();
        Ok((step.consumed, step.produced))
    }

    /// Whether a content that looked complete continues with `bytes`, which it then consumes: if
    /// the compressed size is unknown, another zstd frame may follow.
    #[cfg(feature = "zstd")]
    pub(crate) fn goes_on(&mut self, bytes: &[u8]) -> Result<bool, Error> {
        if self.method != Method::Zstd || bytes != zstdkit::frame::MAGIC {
            return Ok(false);
        }
        self.done = false;
        self.push(bytes, &mut [], false)?;
        Ok(true)
    }

    #[cfg(not(feature = "zstd"))]
    pub(crate) fn goes_on(&mut self, _: &[u8]) -> Result<bool, Error> {
        Ok(false)
    }

    /// Compares size and checksum of a complete content with the stated ones.
    pub(crate) fn verify(&self, crc32: u32, content: u64) -> Result<(), Error> {
        compare((self.crc32(), self.produced), (crc32, content))
    }
}

fn early() -> Error {
    Error::new(ErrorKind::Corrupt, "its compressed content ends too early")
}

/// The error for invalid deflate data.
pub(crate) fn invalid_deflate(error: &InflateError) -> Error {
    let (what, at) = (error.what(), error.offset());
    let what = format!("invalid deflate data: {what} at byte {at} of its compressed content");
    Error::new(ErrorKind::Corrupt, what)
}

/// Options of a decoder whose windows have at most this many bytes.
#[cfg(feature = "zstd")]
fn windows_of(bytes: u64) -> zstdkit::DecoderOptions {
    const LOG_MAX: u32 = if cfg!(target_pointer_width = "64") {
        31
    } else {
        30
    };
    let log = u64::BITS - bytes.saturating_sub(1).leading_zeros();
    zstdkit::DecoderOptions::default()
        .with_window_log_max(log.clamp(10, LOG_MAX))
        .with_window_limit(bytes)
}

#[cfg(feature = "zstd")]
fn zstd(error: &zstdkit::Error) -> Error {
    let what = format!("in its compressed content: {error}");
    match error.kind() {
        zstdkit::ErrorKind::WindowLimit | zstdkit::ErrorKind::MemoryLimit => {
            Error::new(ErrorKind::Limit, what)
                .help("raise Limits::window_bytes if the source is trusted")
        }
        _ => Error::new(ErrorKind::Corrupt, what),
    }
}
