//! Whole buffers: compress or decompress one in one call, with a context that is reused.
//!
//! Only the size of the input bounds these calls. In an event loop use [`Encoder`](crate::Encoder) and
//! [`Decoder`](crate::Decoder).

use crate::context::{CompressContext, DecompressContext, failure};
use crate::decoder::{self, Decoder};
use crate::error::{Error, Repr};
use crate::format::{self, BLOCK_BYTES_MAX, Header};
use crate::memory::DECODER_BYTES;
use crate::options::{DecoderOptions, EncoderOptions};
use crate::reservation::Reservation;
use crate::step::State;

/// A size that only a header states is allocated at once up to this, or up to [`TRUSTED_RATIO`] times
/// the input if that is more.
const TRUSTED_BYTES: u64 = 4 << 20;
const TRUSTED_RATIO: u64 = 64;

/// The largest frame that `input_bytes` of content can become.
pub fn compress_bound(input_bytes: usize) -> usize {
    zstd_safe::compress_bound(input_bytes)
}

/// Compresses whole buffers, one frame each, over one context.
///
/// ```
/// let mut compressor = zstdkit::Compressor::new(&Default::default())?;
/// let mut frame = Vec::new();
/// for content in [&b"first"[..], b"second"] {
///     compressor.compress_into(content, &mut frame)?;
///     assert_eq!(zstdkit::decompress(&frame, &Default::default())?, content);
/// }
/// # Ok::<(), zstdkit::Error>(())
/// ```
#[doc(alias = "ZSTD_CCtx")]
pub struct Compressor {
    context: CompressContext,
    /// Whether libzstd itself failed in it.
    pub(crate) spoiled: bool,
    /// The memory it may hold, if it belongs to a pool.
    pub(crate) reservation: Option<Reservation>,
    /// The largest content for which that memory is enough.
    pub(crate) covered_bytes: u64,
}

impl Compressor {
    /// Makes a context with these options.
    pub fn new(options: &EncoderOptions) -> Result<Self, Error> {
        Ok(Self {
            context: CompressContext::new(options)?,
            spoiled: false,
            reservation: None,
            covered_bytes: u64::MAX,
        })
    }

    /// The options it was made with. They never change.
    pub fn options(&self) -> &EncoderOptions {
        self.context.options()
    }

    /// Compresses `content` into one frame.
    pub fn compress(&mut self, content: &[u8]) -> Result<Vec<u8>, Error> {
        let mut frame = Vec::new();
        self.compress_into(content, &mut frame)?;
        frame.shrink_to_fit();
        Ok(frame)
    }

    /// Replaces the contents of `frame` by the compressed `content`, reusing its memory. Returns the
    /// length of the frame.
    pub fn compress_into(&mut self, content: &[u8], frame: &mut Vec<u8>) -> Result<usize, Error> {
        frame.clear();
        self.cover(content.len() as u64)?;
        reserve(frame, compress_bound(content.len()))?;
        let count = self.context.whole(content, frame);
        count.map_err(|code| self.failed(code))
    }

    /// Compresses `content` into the start of `frame` and returns the length of the frame.
    /// A slice of [`compress_bound`] bytes is always long enough.
    pub fn compress_to_slice(&mut self, content: &[u8], frame: &mut [u8]) -> Result<usize, Error> {
        let capacity = frame.len();
        self.cover(content.len() as u64)?;
        self.context.whole(content, frame).map_err(|code| {
            if crate::error::is_output_too_small(code) {
                Repr::OutputTooSmall { capacity }.into()
            } else {
                self.failed(code)
            }
        })
    }

    /// Reserves the memory to compress content of this size, if it belongs to a pool.
    #[inline]
    pub(crate) fn cover(&mut self, content_bytes: u64) -> Result<(), Error> {
        match content_bytes <= self.covered_bytes {
            true => Ok(()),
            false => self.cover_more(content_bytes),
        }
    }

    fn cover_more(&mut self, content_bytes: u64) -> Result<(), Error> {
        if let Some(reservation) = &mut self.reservation {
            let options = self.context.options();
            reservation.cover(options.one_shot_estimate_bytes(Some(content_bytes)))?;
        }
        self.covered_bytes = content_bytes;
        Ok(())
    }

    fn failed(&mut self, code: usize) -> Error {
        self.spoiled = true;
        failure(code, 0)
    }

    /// Bytes of memory that the context holds.
    pub fn memory_bytes(&self) -> usize {
        self.context.memory_bytes() + size_of::<Self>()
    }
}

impl std::fmt::Debug for Compressor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Compressor").finish_non_exhaustive()
    }
}

/// Decompresses whole buffers over one context.
///
/// ```
/// let frame = zstdkit::compress(b"hello hello", &Default::default())?;
/// let mut decompressor = zstdkit::Decompressor::new(&Default::default())?;
/// let mut content = Vec::new();
/// decompressor.decompress_into(&frame, &mut content)?;
/// assert_eq!(content, b"hello hello");
/// # Ok::<(), zstdkit::Error>(())
/// ```
#[doc(alias = "ZSTD_DCtx")]
pub struct Decompressor {
    options: DecoderOptions,
    /// Decodes a buffer in one pass and verifies checksums itself.
    direct: DecompressContext,
    /// Decodes what the direct path refuses, and finds the exact error.
    streaming: Option<Box<Decoder>>,
    /// The memory the direct path may hold, if it belongs to a pool.
    pub(crate) reservation: Option<Reservation>,
}

impl Decompressor {
    /// Makes a context with these options.
    pub fn new(options: &DecoderOptions) -> Result<Self, Error> {
        let mut direct = DecompressContext::new(options)?;
        direct.verify_checksum(options.verify_checksum)?;
        Ok(Self {
            options: options.clone(),
            direct,
            streaming: None,
            reservation: None,
        })
    }

    /// The options it was made with.
    pub fn options(&self) -> &DecoderOptions {
        &self.options
    }

    /// Decompresses all frames of `stream`.
    pub fn decompress(&mut self, stream: &[u8]) -> Result<Vec<u8>, Error> {
        let mut content = Vec::new();
        self.decompress_into(stream, &mut content)?;
        content.shrink_to_fit();
        Ok(content)
    }

    /// Replaces the contents of `content` by the content of all frames of `stream`, reusing its
    /// memory. Returns the length of the content. After an error `content` is empty.
    ///
    /// The stated size of the frames, or the most that their blocks can hold, is allocated at once up
    /// to 64 times the input (at least 4 MiB). Beyond that the output grows as it is produced.
    pub fn decompress_into(
        &mut self,
        stream: &[u8],
        content: &mut Vec<u8>,
    ) -> Result<usize, Error> {
        content.clear();
        if let Some((bytes, dictionary)) = self.direct_bytes(stream) {
            self.direct.use_dictionary(dictionary)?;
            reserve(content, bytes)?;
            if let Ok(bytes) = self.direct.whole(stream, content) {
                return Ok(bytes);
            }
            content.clear();
        }
        let result = self.stream_into(stream, content);
        if result.is_err() {
            content.clear();
        }
        result
    }

    /// Bytes of memory that the contexts hold.
    pub fn memory_bytes(&self) -> usize {
        let streaming = self
            .streaming
            .as_ref()
            .map_or(0, |decoder| decoder.memory_bytes());
        self.direct.memory_bytes() + streaming + size_of::<Self>()
    }

    /// Whether libzstd itself failed in it.
    pub(crate) fn spoiled(&self) -> bool {
        self.streaming.as_ref().is_some_and(|one| one.spoiled())
    }

    /// The memory that a pool has reserved for it.
    pub(crate) fn reserved_bytes(&self) -> u64 {
        let streaming = self
            .streaming
            .as_ref()
            .and_then(|one| one.reservation.as_ref());
        let reservations = [self.reservation.as_ref(), streaming];
        reservations
            .into_iter()
            .flatten()
            .map(Reservation::bytes)
            .sum()
    }

    /// Gives back what a pool has reserved for it.
    #[cfg(feature = "tokio")]
    pub(crate) fn return_reservations(&mut self) {
        self.reservation = None;
        if let Some(streaming) = &mut self.streaming {
            streaming.reservation = None;
        }
    }

    /// Accounts for the memory it holds. `false`: the budget of its pool is exceeded.
    pub(crate) fn settle_reservations(&mut self) -> bool {
        let held = (self.direct.memory_bytes() + size_of::<Self>()) as u64;
        let direct = self.reservation.as_mut().is_none_or(|one| one.settle(held));
        let streaming = self
            .streaming
            .as_mut()
            .is_none_or(|one| one.settle_reservation());
        direct && streaming
    }

    /// The most content the stream can hold and which of the dictionaries its frames need, if no
    /// frame is refused, all need the same, and it is not too much to allocate at once. Whatever
    /// is wrong with a frame is left to the streaming path to say.
    ///
    /// It reads the headers itself rather than through a scanner: on a frame of 300 bytes the
    /// difference is a tenth of the whole call.
    fn direct_bytes(&self, stream: &[u8]) -> Option<(usize, usize)> {
        let window_limit = self.options.window_bytes_max();
        let trusted = (stream.len() as u64)
            .saturating_mul(TRUSTED_RATIO)
            .max(TRUSTED_BYTES);
        let limit = trusted.min(self.options.output_limit.unwrap_or(u64::MAX));
        let mut rest = Some(stream).filter(|stream| !stream.is_empty())?;
        let (mut total, mut dictionary) = (0_u64, None);
        while !rest.is_empty() {
            if let Some(after) = format::after_skippable_frame(rest) {
                rest = after;
                continue;
            }
            let (header, body) = format::split_header(rest)?;
            let frame = format::measure_blocks(&header, body, &mut { usize::MAX })
                .filter(|frame| frame.ended)?;
            total = total.checked_add(header.content_size.unwrap_or(frame.bound))?;
            let needed = self.position(header.dictionary)?;
            let refused = *dictionary.get_or_insert(needed) != needed
                || self.options.prefix.is_some()
                || header.window > window_limit
                || total > limit
                || self.over_memory(&header);
            if refused {
                return None;
            }
            rest = frame.rest;
        }
        Some((usize::try_from(total).ok()?, dictionary.unwrap_or(0)))
    }

    /// Which of the dictionaries a frame means that names this id.
    fn position(&self, id: u32) -> Option<usize> {
        let mut given = self.options.dictionaries.iter();
        match id {
            0 => Some(0),
            id => given.position(|one| one.id() == Some(id)),
        }
    }

    fn over_memory(&self, header: &Header) -> bool {
        let limit = self.options.memory_limit;
        limit.is_some_and(|limit| decoder::need_bytes(self.direct.memory_bytes(), header) > limit)
    }

    fn stream_into(&mut self, stream: &[u8], content: &mut Vec<u8>) -> Result<usize, Error> {
        let decoder = match &mut self.streaming {
            Some(decoder) => decoder,
            none => {
                let own = self.reservation.as_ref();
                let reservation = own.map(|own| own.for_part(DECODER_BYTES)).transpose()?;
                let mut decoder = Box::new(Decoder::new(&self.options)?);
                decoder.reservation = reservation;
                none.insert(decoder)
            }
        };
        decoder.reset();
        let (mut input, mut len) = (stream, 0);
        loop {
            if content.len() - len < BLOCK_BYTES_MAX as usize {
                grow(content, len)?;
            }
            let step = decoder.push(input, &mut content[len..])?;
            input = &input[step.consumed..];
            len += step.produced;
            if step.state != State::MoreOutput {
                break;
            }
        }
        decoder.finish()?;
        content.truncate(len);
        Ok(len)
    }
}

impl std::fmt::Debug for Decompressor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Decompressor")
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

/// Compresses `content` into one frame with a context of its own.
///
/// ```
/// let frame = zstdkit::compress(b"hello hello", &Default::default())?;
/// assert_eq!(zstdkit::decompress(&frame, &Default::default())?, b"hello hello");
/// # Ok::<(), zstdkit::Error>(())
/// ```
#[doc(alias = "encode_all")]
pub fn compress(content: &[u8], options: &EncoderOptions) -> Result<Vec<u8>, Error> {
    Compressor::new(options)?.compress(content)
}

/// Decompresses all frames of `stream` with a context of its own.
#[doc(alias = "decode_all")]
pub fn decompress(stream: &[u8], options: &DecoderOptions) -> Result<Vec<u8>, Error> {
    Decompressor::new(options)?.decompress(stream)
}

fn reserve(buffer: &mut Vec<u8>, bytes: usize) -> Result<(), Error> {
    buffer.try_reserve_exact(bytes).map_err(|_| {
        Repr::Memory {
            bytes: Some(bytes as u64),
            what: "the output",
        }
        .into()
    })
}

/// Makes room for a block after the first `len` bytes, doubling as it goes.
fn grow(buffer: &mut Vec<u8>, len: usize) -> Result<(), Error> {
    let block = BLOCK_BYTES_MAX as usize;
    let target = len.saturating_add(len.max(block));
    buffer
        .try_reserve(target - buffer.len())
        .map_err(|_| Repr::Memory {
            bytes: Some(target as u64),
            what: "the output",
        })?;
    buffer.resize(target, 0);
    Ok(())
}
