//! Decoders of xz, lzma and lz4 in calls of bounded work.

use formats::lz4::{Lz4Decoder, Lz4Error, Lz4Flaw};
use lzma_rust2::{Action, LzmaStream, Status, XzStream};

use super::Format;

/// What a call did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Unpacked {
    /// Input bytes consumed.
    pub(crate) consumed: usize,
    /// Content bytes produced.
    pub(crate) produced: usize,
}

/// Why input is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fault {
    /// It is invalid: what, and at or before which byte.
    Invalid(String, u64),
    /// It ends too early, at this byte.
    Truncated(u64),
    /// Its dictionary needs more memory than is allowed.
    Memory {
        /// The limit.
        limit: u64,
    },
}

impl From<Lz4Error> for Fault {
    fn from(error: Lz4Error) -> Self {
        match error.flaw() {
            Lz4Flaw::Truncated => Self::Truncated(error.offset()),
            flaw => Self::Invalid(flaw.to_string(), error.offset()),
        }
    }
}

/// A decoder of one file.
pub(crate) struct Unpacker {
    of: Of,
    /// The most memory for a dictionary.
    limit: u64,
    consumed: u64,
    done: bool,
    /// Whether only the first stream is read, and the rest is skipped.
    single: bool,
}

enum Of {
    Xz(Box<XzStream>),
    Lzma(Box<LzmaStream>),
    Lz4(Box<Lz4Decoder>),
}

impl Unpacker {
    /// For a format of these three, and dictionaries up to `limit` bytes.
    pub(crate) fn new(format: Format, limit: u64) -> Self {
        let kib = u32::try_from(limit.div_ceil(1024)).unwrap_or(u32::MAX - 1);
        Self {
            of: match format {
                Format::Xz => Of::Xz(Box::new(XzStream::new_mem_limit(true, kib))),
                Format::Lzma => Of::Lzma(Box::new(LzmaStream::new_mem_limit(kib, None))),
                _ => Of::Lz4(Box::default()),
            },
            limit,
            consumed: 0,
            done: false,
            single: false,
        }
    }

    /// The same, for the first stream of an xz file; what follows is skipped.
    pub(crate) fn first(format: Format, limit: u64) -> Self {
        let mut first = Self::new(format, limit);
        first.single = true;
        if let Of::Xz(stream) = &mut first.of {
            let kib = stream.mem_limit();
            **stream = XzStream::new_mem_limit(false, kib);
        }
        first
    }

    /// Consumes input and gives content, until either is used up. `last`: no more input follows.
    pub(crate) fn push(
        &mut self,
        input: &[u8],
        output: &mut [u8],
        last: bool,
    ) -> Result<Unpacked, Fault> {
        if self.done {
            return match input.first() {
                Some(_) if self.single => Ok(Unpacked {
                    consumed: input.len(),
                    produced: 0,
                }),
                Some(_) => Err(self.invalid("what follows its end is other data")),
                None => Ok(Unpacked::default()),
            };
        }
        let action = if last { Action::Finish } else { Action::Run };
        let result = match &mut self.of {
            Of::Xz(stream) => stream.process(input, output, action).map(|did| {
                (
                    did.bytes_consumed,
                    did.bytes_produced,
                    did.status == Status::StreamEnd,
                )
            }),
            Of::Lzma(stream) => stream.process(input, output, action).map(|did| {
                let done = did.status == Status::StreamEnd;
                let unused = if done { stream.unused_input().len() } else { 0 };
                (
                    did.bytes_consumed.saturating_sub(unused),
                    did.bytes_produced,
                    done,
                )
            }),
            Of::Lz4(decoder) => {
                let did = decoder.push(input, output)?;
                self.consumed += did.consumed as u64;
                return Ok(Unpacked {
                    consumed: did.consumed,
                    produced: did.produced,
                });
            }
        };
        let (consumed, produced, done) = result.map_err(|error| match error.kind() {
            std::io::ErrorKind::OutOfMemory => Fault::Memory { limit: self.limit },
            std::io::ErrorKind::UnexpectedEof => {
                Fault::Truncated(self.consumed + input.len() as u64)
            }
            _ => self.invalid(&error.to_string()),
        })?;
        self.consumed += consumed as u64;
        self.done = done;
        Ok(Unpacked { consumed, produced })
    }

    /// What was read, if the input may end here: how many checksums were compared.
    pub(crate) fn finish(&self) -> Result<u64, Fault> {
        match &self.of {
            Of::Lz4(decoder) => {
                decoder.finish()?;
                Ok(decoder.frames())
            }
            _ if !self.done => Err(Fault::Truncated(self.consumed)),
            Of::Xz(stream) => Ok(stream.streams_started() as u64),
            Of::Lzma(_) => Ok(0),
        }
    }

    fn invalid(&self, what: &str) -> Fault {
        Fault::Invalid(what.to_owned(), self.consumed)
    }
}
