//! A writer that decompresses.

use std::io::{self, Write};
use std::ops::DerefMut;

use super::pending::Pending;
use crate::decoder::{Decoder, Totals};
use crate::error::Error;
use crate::options::DecoderOptions;
use crate::step::State;

/// Decompresses everything written to it and writes the content to another writer.
///
/// Call [`finish`](DecoderWriter::finish) at the end: only that says whether the stream was complete.
/// **Dropping the adapter without it loses what was not yet written out** and reports nothing.
///
/// [`flush`](Write::flush) writes out all content that the bytes so far give.
///
/// ```
/// use std::io::{self, Write};
/// use zstdkit::io::DecoderWriter;
///
/// let frame = zstdkit::compress(b"hello hello", &Default::default())?;
/// let mut writer = DecoderWriter::new(Vec::new(), &Default::default())?;
/// io::copy(&mut &frame[..], &mut writer)?;
/// assert_eq!(writer.finish()?, b"hello hello");
/// # Ok::<(), io::Error>(())
/// ```
#[derive(Debug)]
#[must_use = "only finish says whether the stream was complete"]
pub struct DecoderWriter<W, D = Box<Decoder>> {
    writer: W,
    decoder: D,
    pending: Pending,
}

impl<W: Write> DecoderWriter<W> {
    /// Decompresses with these options.
    pub fn new(writer: W, options: &DecoderOptions) -> Result<Self, Error> {
        Ok(Self::with_decoder(writer, Box::new(Decoder::new(options)?)))
    }
}

impl<W: Write, D: DerefMut<Target = Decoder>> DecoderWriter<W, D> {
    /// Decompresses with a decoder at the start of a stream, such as one of a
    /// [`Pool`](crate::Pool::decoder).
    pub fn with_decoder(writer: W, decoder: D) -> Self {
        Self {
            writer,
            decoder,
            pending: Pending::new(Decoder::recommended_output_bytes()),
        }
    }

    /// Writes out the rest of the content, checks that the stream may end here and returns the inner
    /// writer, which is not flushed.
    ///
    /// An error loses the inner writer; use [`try_finish`](DecoderWriter::try_finish) where that
    /// matters.
    pub fn finish(mut self) -> io::Result<W> {
        self.try_finish()?;
        Ok(self.writer)
    }

    /// Writes out the rest of the content and checks that the stream may end here. After an error of
    /// the inner writer call it again to continue. More frames may be written afterwards.
    pub fn try_finish(&mut self) -> io::Result<Totals> {
        self.drain()?;
        Ok(self.decoder.finish()?)
    }

    /// What was decoded so far.
    pub fn totals(&self) -> Totals {
        self.decoder.totals()
    }

    /// The inner writer.
    pub fn get_ref(&self) -> &W {
        &self.writer
    }

    /// The inner writer. What is written to it directly goes between the content.
    pub fn get_mut(&mut self) -> &mut W {
        &mut self.writer
    }

    /// The inner writer, without checking the end of the stream. Content that was not yet written
    /// out is lost.
    pub fn into_inner(self) -> W {
        self.writer
    }

    /// Writes out everything that waits, here and in the decoder.
    fn drain(&mut self) -> io::Result<()> {
        loop {
            self.pending.write_to(&mut self.writer)?;
            let step = self.decoder.push(&[], self.pending.room())?;
            self.pending.filled(step.produced);
            if step.state != State::MoreOutput {
                return self.pending.write_to(&mut self.writer);
            }
        }
    }
}

impl<W: Write, D: DerefMut<Target = Decoder>> Write for DecoderWriter<W, D> {
    fn write(&mut self, input: &[u8]) -> io::Result<usize> {
        loop {
            self.pending.write_to(&mut self.writer)?;
            let step = self.decoder.push(input, self.pending.room())?;
            self.pending.filled(step.produced);
            if step.consumed > 0 || input.is_empty() {
                return Ok(step.consumed);
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.drain()?;
        self.writer.flush()
    }
}
