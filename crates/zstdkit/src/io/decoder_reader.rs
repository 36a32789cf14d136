//! A reader that decompresses.

use std::io::{self, BufRead, BufReader, Read};
use std::ops::DerefMut;

use crate::decoder::{Decoder, Totals};
use crate::error::Error;
use crate::options::DecoderOptions;
use crate::step::State;

/// Reads the content of all frames that another reader gives. Skippable frames are skipped.
///
/// The end of the inner reader is the end of the content. If it ends inside a frame, or has no
/// frame at all, the last read fails with
/// [`UnexpectedEof`](std::io::ErrorKind::UnexpectedEof). A frame's checksum follows its
/// content, so content is handed out before it was verified: trust it only after the end was read
/// without an error.
///
/// It is a [`BufRead`] too: `lines()` and small reads are served from a buffer of one block
/// (128 KiB); reads of at least that size are decoded straight into the caller's memory.
///
/// ```
/// use std::io::{BufRead, Read};
/// use zstdkit::{DecoderOptions, io::DecoderReader};
///
/// let stream = zstdkit::compress(b"one\ntwo\nthree", &Default::default())?;
/// // Refuse more than 1 GiB of content, whatever the stream says.
/// let options = DecoderOptions::default().with_output_limit(1 << 30);
/// let mut reader = DecoderReader::new(&stream[..], &options)?;
/// let mut line = String::new();
/// reader.read_line(&mut line)?;
/// assert_eq!(line, "one\n");
/// assert_eq!(std::io::read_to_string(reader)?, "two\nthree");
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
#[doc(alias = "ZstdDecoder")]
pub struct DecoderReader<R, D = Box<Decoder>> {
    reader: R,
    decoder: D,
    single_frame: bool,
    /// Decoded bytes may wait in the decoder: go on without reading.
    draining: bool,
    /// The end was reached, and the stream may end there.
    ended: bool,
    /// Content that was decoded and not yet read. Allocated by the first small read.
    content: Vec<u8>,
    start: usize,
    end: usize,
}

impl<R: Read> DecoderReader<BufReader<R>> {
    /// Decompresses what `reader` gives with these options, through a buffer of its own.
    pub fn new(reader: R, options: &DecoderOptions) -> Result<Self, Error> {
        let reader = BufReader::with_capacity(Decoder::recommended_input_bytes(), reader);
        Self::with_buffer(reader, options)
    }
}

impl<R: BufRead> DecoderReader<R> {
    /// Decompresses what a buffered reader gives. It consumes no byte after the last one it needs.
    pub fn with_buffer(reader: R, options: &DecoderOptions) -> Result<Self, Error> {
        Ok(Self::with_decoder(reader, Box::new(Decoder::new(options)?)))
    }
}

impl<R: BufRead, D: DerefMut<Target = Decoder>> DecoderReader<R, D> {
    /// Decompresses with a decoder at the start of a stream, such as one of a
    /// [`Pool`](crate::Pool::decoder).
    pub fn with_decoder(reader: R, decoder: D) -> Self {
        Self {
            reader,
            decoder,
            single_frame: false,
            draining: false,
            ended: false,
            content: Vec::new(),
            start: 0,
            end: 0,
        }
    }

    /// Ends the content after the first frame that is not skippable. With
    /// [`with_buffer`](DecoderReader::with_buffer) the inner reader is then positioned right after that
    /// frame, for formats that put something else there.
    ///
    /// ```
    /// use std::io::{BufRead, Read};
    /// use zstdkit::io::DecoderReader;
    ///
    /// let mut file = zstdkit::compress(b"content", &Default::default())?;
    /// file.extend(b"trailer");
    /// let mut rest = &file[..];
    /// let reader = DecoderReader::with_buffer(&mut rest, &Default::default())?.single_frame();
    /// assert_eq!(std::io::read_to_string(reader)?, "content");
    /// assert_eq!(rest, b"trailer");
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[must_use]
    pub fn single_frame(mut self) -> Self {
        self.single_frame = true;
        self
    }

    /// What was decoded so far.
    pub fn totals(&self) -> Totals {
        self.decoder.totals()
    }

    /// The inner reader.
    pub fn get_ref(&self) -> &R {
        &self.reader
    }

    /// The inner reader. What is read from it directly is missing from the stream.
    pub fn get_mut(&mut self) -> &mut R {
        &mut self.reader
    }

    /// The inner reader. Content that was decoded and not read is lost.
    pub fn into_inner(self) -> R {
        self.reader
    }

    /// Decodes into a buffer that is not empty. 0: the end.
    fn decode(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while !self.ended {
            let input = match self.draining {
                true => &[],
                false => self.reader.fill_buf()?,
            };
            if input.is_empty() && !self.draining {
                self.decoder.finish()?;
                self.ended = true;
                break;
            }
            let given = input.len();
            let step = self.decoder.push(input, buffer)?;
            if !self.draining {
                self.reader.consume(step.consumed);
            }
            self.draining = step.state == State::MoreOutput && step.consumed == given;
            if self.single_frame && self.decoder.at_boundary() {
                self.ended = self.decoder.totals().frames > 0;
            }
            if step.produced > 0 {
                return Ok(step.produced);
            }
        }
        Ok(0)
    }
}

impl<R: BufRead, D: DerefMut<Target = Decoder>> Read for DecoderReader<R, D> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let direct = buffer.len() >= Decoder::recommended_output_bytes();
        if direct && self.start == self.end {
            return self.decode(buffer);
        }
        let count = self.fill_buf()?.read(buffer)?;
        self.consume(count);
        Ok(count)
    }
}

impl<R: BufRead, D: DerefMut<Target = Decoder>> BufRead for DecoderReader<R, D> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.start == self.end {
            let mut content = std::mem::take(&mut self.content);
            content.resize(Decoder::recommended_output_bytes(), 0);
            let produced = self.decode(&mut content);
            self.content = content;
            (self.start, self.end) = (0, 0);
            self.end = produced?;
        }
        Ok(&self.content[self.start..self.end])
    }

    fn consume(&mut self, count: usize) {
        self.start = (self.start + count).min(self.end);
    }
}
