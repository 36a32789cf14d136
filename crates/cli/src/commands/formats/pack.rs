//! Encoders of xz, lzma and lz4: what they give for each part of the content.

use std::cell::RefCell;
use std::io::{self, Write};
use std::rc::Rc;

use lz4::liblz4::BlockChecksum;
use lz4::{BlockMode, BlockSize, ContentChecksum, EncoderBuilder};
use lzma_rust2::{CheckType, LzmaOptions, LzmaWriter, XzOptions, XzWriter};

use super::Format;

/// What an encoder wrote and nobody took yet.
#[derive(Clone, Default)]
struct Taken(Rc<RefCell<Vec<u8>>>);

impl Write for Taken {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// An encoder of one file.
pub(crate) struct Packer {
    of: Of,
    taken: Taken,
}

enum Of {
    Xz(Box<XzWriter<Taken>>),
    Lzma(Box<LzmaWriter<Taken>>),
    Lz4(Box<lz4::Encoder<Taken>>),
}

/// How a file is written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Packing {
    /// One of these three.
    pub(crate) format: Format,
    /// A level of that format.
    pub(crate) level: i32,
    /// Whether a checksum of the content is written, where the format has one.
    pub(crate) checksum: bool,
    /// The size of the content, if it is known and to be stated.
    pub(crate) content_bytes: Option<u64>,
}

impl Packer {
    /// Starts a file.
    pub(crate) fn new(packing: Packing) -> io::Result<Self> {
        let taken = Taken::default();
        let levels = packing.format.levels();
        let level = packing
            .level
            .clamp(*levels.start(), *levels.end())
            .unsigned_abs();
        let out = taken.clone();
        let of = match packing.format {
            Format::Xz => {
                let mut options = XzOptions::with_preset(level);
                if !packing.checksum {
                    options.set_check_sum_type(CheckType::None);
                }
                Of::Xz(Box::new(XzWriter::new(out, options)?))
            }
            Format::Lzma => {
                let options = LzmaOptions::with_preset(level);
                // The size is left out, as xz and zstd do: an end marker follows the content.
                Of::Lzma(Box::new(LzmaWriter::new_use_header(out, &options, None)?))
            }
            _ => {
                let mut builder = EncoderBuilder::new();
                builder
                    .level(level)
                    .block_mode(BlockMode::Independent)
                    .block_size(BlockSize::Max4MB)
                    .block_checksum(BlockChecksum::NoBlockChecksum)
                    .checksum(match packing.checksum {
                        true => ContentChecksum::ChecksumEnabled,
                        false => ContentChecksum::NoChecksum,
                    })
                    // 0 stands for a size that is not stated.
                    .content_size(packing.content_bytes.unwrap_or(0));
                Of::Lz4(Box::new(builder.build(out)?))
            }
        };
        Ok(Self { of, taken })
    }

    /// Takes a part of the content.
    pub(crate) fn push(&mut self, part: &[u8]) -> io::Result<()> {
        match &mut self.of {
            Of::Xz(writer) => writer.write_all(part),
            Of::Lzma(writer) => writer.write_all(part),
            Of::Lz4(encoder) => encoder.write_all(part),
        }
    }

    /// Ends the content; returns what was not taken yet.
    pub(crate) fn finish(self) -> io::Result<Vec<u8>> {
        match self.of {
            Of::Xz(writer) => drop(writer.finish()?),
            Of::Lzma(writer) => drop(writer.finish()?),
            Of::Lz4(encoder) => encoder.finish().1?,
        }
        Ok(self.taken.0.take())
    }

    /// Takes what was written so far.
    pub(crate) fn take(&mut self) -> Vec<u8> {
        self.taken.0.take()
    }
}
