//! A reader of compressed bytes.

use std::io::{self, BufRead, BufReader, Read};
use std::ops::DerefMut;

use crate::encoder::Encoder;
use crate::error::Error;
use crate::options::EncoderOptions;
use crate::step::{Operation, State};

/// Reads content from another reader and gives it as one compressed frame.
///
/// The frame ends where the inner reader ends. Use it to hand compressed data to an interface that
/// takes a reader, such as the body of an upload.
///
/// ```
/// use std::io::Read;
/// use zstdkit::io::EncoderReader;
///
/// let content = b"to be or not to be".repeat(100);
/// let mut frame = Vec::new();
/// EncoderReader::new(&content[..], &Default::default())?.read_to_end(&mut frame)?;
/// assert!(frame.len() < 50);
/// assert_eq!(zstdkit::decompress(&frame, &Default::default())?, content);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct EncoderReader<R, E = Box<Encoder>> {
    reader: R,
    encoder: E,
    next: Next,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    /// Take more content.
    Read,
    /// Give what the encoder still holds of the content that was taken.
    Drain,
    /// The content has ended: complete the frame.
    End,
    /// The frame was given completely.
    Nothing,
}

impl<R: Read> EncoderReader<BufReader<R>> {
    /// Compresses what `reader` gives with these options, through a buffer of its own. The frame
    /// does not state its size.
    pub fn new(reader: R, options: &EncoderOptions) -> Result<Self, Error> {
        let reader = BufReader::with_capacity(Encoder::recommended_input_bytes(), reader);
        Ok(Self::with_encoder(reader, Box::new(Encoder::new(options)?)))
    }

    /// The same for exactly `content_bytes` of content, which the frame then states. A reader that
    /// gives more or less is an error.
    pub fn with_content_size(
        reader: R,
        options: &EncoderOptions,
        content_bytes: u64,
    ) -> Result<Self, Error> {
        let mut this = Self::new(reader, options)?;
        this.encoder.begin(Some(content_bytes))?;
        Ok(this)
    }
}

impl<R: BufRead, E: DerefMut<Target = Encoder>> EncoderReader<R, E> {
    /// Compresses what a buffered reader gives with an encoder that has a frame open, such as one of
    /// a [`Pool`](crate::Pool::encoder).
    pub fn with_encoder(reader: R, encoder: E) -> Self {
        Self {
            reader,
            encoder,
            next: Next::Read,
        }
    }

    /// The inner reader.
    pub fn get_ref(&self) -> &R {
        &self.reader
    }

    /// The inner reader. What is read from it directly is missing from the frame.
    pub fn get_mut(&mut self) -> &mut R {
        &mut self.reader
    }

    /// The inner reader.
    pub fn into_inner(self) -> R {
        self.reader
    }
}

impl<R: BufRead, E: DerefMut<Target = Encoder>> Read for EncoderReader<R, E> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while !buffer.is_empty() && self.next != Next::Nothing {
            let content = match self.next {
                Next::Read => self.reader.fill_buf()?,
                _ => &[],
            };
            if content.is_empty() && self.next == Next::Read {
                self.next = Next::End;
            }
            let operation = match self.next {
                Next::End => Operation::End,
                _ => Operation::Continue,
            };
            let given = content.len();
            let step = self.encoder.push(content, buffer, operation)?;
            if self.next == Next::Read {
                self.reader.consume(step.consumed);
            }
            self.next = match (self.next, step.state) {
                (_, State::Done) => Next::Nothing,
                (Next::End, _) => Next::End,
                (_, State::MoreOutput) if step.consumed == given => Next::Drain,
                _ => Next::Read,
            };
            if step.produced > 0 {
                return Ok(step.produced);
            }
        }
        Ok(0)
    }
}
