//! A writer that compresses.

use std::io::{self, Write};
use std::ops::DerefMut;

use super::pending::Pending;
use crate::encoder::Encoder;
use crate::error::Error;
use crate::options::EncoderOptions;
use crate::step::{Operation, State};

/// Compresses everything written to it into one frame and writes that to another writer.
///
/// Call [`finish`](EncoderWriter::finish) at the end. **Dropping the adapter without it leaves the
/// frame incomplete**: decoders report it as truncated. Drop itself writes nothing and cannot fail.
///
/// [`flush`](Write::flush) writes out all content so far, so that a reader can decode it, and then
/// flushes the inner writer. It costs compression ratio.
///
/// Compressed bytes reach the inner writer in pieces of up to 128 KiB, one call behind: a `write`
/// first writes out what the one before it produced. An error of the inner writer therefore never
/// takes content with it: the failed call took none and can be repeated.
///
/// ```
/// use std::io::{self, Write};
/// use zstdkit::{EncoderOptions, io::EncoderWriter};
///
/// let options = EncoderOptions::default().with_level(9);
/// let mut writer = EncoderWriter::new(Vec::new(), &options)?;
/// io::copy(&mut &b"to be or not to be"[..], &mut writer)?;
/// let frame = writer.finish()?;
/// assert_eq!(zstdkit::decompress(&frame, &Default::default())?, b"to be or not to be");
/// # Ok::<(), io::Error>(())
/// ```
///
/// With `serde_json`, straight into a compressed file:
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let directory = tempfile::tempdir()?;
/// # let path = directory.path().join("primes.json.zst");
/// use std::{fs::File, io::Write};
/// use zstdkit::io::{DecoderReader, EncoderWriter};
///
/// let mut writer = EncoderWriter::new(File::create(&path)?, &Default::default())?;
/// serde_json::to_writer(&mut writer, &[2, 3, 5, 7])?;
/// writer.finish()?.sync_all()?;
///
/// let reader = DecoderReader::new(File::open(&path)?, &Default::default())?;
/// let primes: Vec<u32> = serde_json::from_reader(reader)?;
/// assert_eq!(primes, [2, 3, 5, 7]);
/// # Ok(()) }
/// ```
#[derive(Debug)]
#[doc(alias = "ZstdEncoder")]
#[must_use = "a frame is complete only after finish"]
pub struct EncoderWriter<W, E = Box<Encoder>> {
    writer: W,
    encoder: E,
    pending: Pending,
}

impl<W: Write> EncoderWriter<W> {
    /// Compresses with these options. The frame does not state its size.
    pub fn new(writer: W, options: &EncoderOptions) -> Result<Self, Error> {
        Ok(Self::with_encoder(writer, Box::new(Encoder::new(options)?)))
    }

    /// Compresses exactly `content_bytes` of content. The frame states its size, so that decoders
    /// can allocate once, and small contents get small tables. Writing more or finishing with less
    /// is an error.
    pub fn with_content_size(
        writer: W,
        options: &EncoderOptions,
        content_bytes: u64,
    ) -> Result<Self, Error> {
        let mut encoder = Box::new(Encoder::new(options)?);
        encoder.begin(Some(content_bytes))?;
        Ok(Self::with_encoder(writer, encoder))
    }
}

impl<W: Write, E: DerefMut<Target = Encoder>> EncoderWriter<W, E> {
    /// Compresses with an encoder that has a frame open, such as one of a
    /// [`Pool`](crate::Pool::encoder).
    ///
    /// ```
    /// use std::io::Write;
    /// use zstdkit::{EncoderOptions, Pool, io::EncoderWriter};
    ///
    /// let pool = Pool::default();
    /// let encoder = pool.encoder(&EncoderOptions::default(), None)?;
    /// let mut writer = EncoderWriter::with_encoder(Vec::new(), encoder);
    /// writer.write_all(b"hello hello")?;
    /// let frame = writer.finish()?;
    /// assert_eq!(zstdkit::decompress(&frame, &Default::default())?, b"hello hello");
    /// assert_eq!(pool.stats().idle, 1);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn with_encoder(writer: W, encoder: E) -> Self {
        Self {
            writer,
            encoder,
            pending: Pending::new(Encoder::recommended_output_bytes()),
        }
    }

    /// Completes the frame, writes it out and returns the inner writer, which is not flushed.
    ///
    /// An error loses the inner writer; use [`try_finish`](EncoderWriter::try_finish) where that
    /// matters.
    pub fn finish(mut self) -> io::Result<W> {
        self.try_finish()?;
        Ok(self.writer)
    }

    /// Completes the frame and writes it out. After an error of the inner writer call it again to
    /// continue. Once it has succeeded further calls do nothing, and a write is an error.
    pub fn try_finish(&mut self) -> io::Result<()> {
        self.complete(Operation::End)
    }

    /// The inner writer.
    pub fn get_ref(&self) -> &W {
        &self.writer
    }

    /// The inner writer. Writing to it directly corrupts an unfinished frame.
    pub fn get_mut(&mut self) -> &mut W {
        &mut self.writer
    }

    /// The inner writer, without finishing the frame. Compressed bytes that were not yet written
    /// out are lost.
    pub fn into_inner(self) -> W {
        self.writer
    }

    fn complete(&mut self, operation: Operation) -> io::Result<()> {
        loop {
            self.pending.write_to(&mut self.writer)?;
            let step = self
                .encoder
                .push(&[], self.pending.room(), operation)
                .map_err(io::Error::from)?;
            self.pending.filled(step.produced);
            if step.state != State::MoreOutput {
                return self.pending.write_to(&mut self.writer);
            }
        }
    }
}

impl<W: Write, E: DerefMut<Target = Encoder>> Write for EncoderWriter<W, E> {
    fn write(&mut self, content: &[u8]) -> io::Result<usize> {
        loop {
            self.pending.write_to(&mut self.writer)?;
            let room = self.pending.room();
            let step = self.encoder.push(content, room, Operation::Continue)?;
            self.pending.filled(step.produced);
            if step.consumed > 0 || content.is_empty() {
                return Ok(step.consumed);
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.complete(Operation::Flush)?;
        self.writer.flush()
    }
}
