//! Encoders of xz, lzma and lz4: what they give for each part of the content.

use std::cell::RefCell;
use std::io::{self, Write};
use std::rc::Rc;

use lz4::block::CompressionMode;
use lz4::liblz4::BlockChecksum;
use lz4::{BlockMode, BlockSize, ContentChecksum, EncoderBuilder};
use lzma_rust2::{CheckType, LzmaWriter, XzOptions, XzWriter};

use super::Format;
use super::settings::{Check, PackSettings};

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
    Legacy(Box<Legacy>),
}

/// The content of each block of lz4's legacy format but the last.
const LEGACY_BLOCK_BYTES: usize = 8 << 20;

/// An encoder of lz4's legacy format: blocks of a fixed size behind four bytes of magic.
struct Legacy {
    out: Taken,
    level: i32,
    block: Vec<u8>,
}

impl Legacy {
    fn new(mut out: Taken, level: i32) -> io::Result<Self> {
        out.write_all(&formats::lz4::LEGACY_MAGIC)?;
        Ok(Self {
            out,
            level,
            block: Vec::new(),
        })
    }

    fn push(&mut self, mut part: &[u8]) -> io::Result<()> {
        while !part.is_empty() {
            let room = LEGACY_BLOCK_BYTES - self.block.len();
            let (now, later) = part.split_at(part.len().min(room));
            self.block.extend_from_slice(now);
            part = later;
            if self.block.len() == LEGACY_BLOCK_BYTES {
                self.end_block()?;
            }
        }
        Ok(())
    }

    fn end_block(&mut self) -> io::Result<()> {
        if self.block.is_empty() {
            return Ok(());
        }
        let mode = match self.level {
            ..3 => CompressionMode::DEFAULT,
            level => CompressionMode::HIGHCOMPRESSION(level),
        };
        let packed = lz4::block::compress(&self.block, Some(mode), false)?;
        self.block.clear();
        let bytes = u32::try_from(packed.len()).map_err(io::Error::other)?;
        self.out.write_all(&bytes.to_le_bytes())?;
        self.out.write_all(&packed)
    }
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
    /// What only these formats have.
    pub(crate) settings: PackSettings,
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
        let settings = packing.settings;
        let of = match packing.format {
            Format::Xz => {
                let mut options = XzOptions::with_preset(level);
                options.lzma_options = settings.lzma.options(level);
                options.set_check_sum_type(match settings.check {
                    _ if !packing.checksum => CheckType::None,
                    Check::None => CheckType::None,
                    Check::Crc32 => CheckType::Crc32,
                    Check::Crc64 => CheckType::Crc64,
                    Check::Sha256 => CheckType::Sha256,
                });
                if let Some(bytes) = settings.block_bytes {
                    // The encoder has no blocks below the size of the dictionary, which reaches no further anyway.
                    let dictionary = &mut options.lzma_options.dict_size;
                    *dictionary = u32::try_from(bytes.get())
                        .map_or(*dictionary, |bytes| bytes.max(4096).min(*dictionary));
                }
                options.set_block_size(settings.block_bytes);
                Of::Xz(Box::new(XzWriter::new(out, options)?))
            }
            Format::Lzma => {
                let options = settings.lzma.options(level);
                // The size is left out, as xz and zstd do: an end marker follows the content.
                Of::Lzma(Box::new(LzmaWriter::new_use_header(out, &options, None)?))
            }
            _ if settings.lz4.legacy => Of::Legacy(Box::new(Legacy::new(out, packing.level)?)),
            _ => {
                let own = settings.lz4;
                let mut builder = EncoderBuilder::new();
                builder
                    // Below zero it is an acceleration; the library takes it as a signed number.
                    .level(match own.acceleration {
                        0 => level,
                        by => by.cast_signed().wrapping_neg().cast_unsigned(),
                    })
                    .block_mode(match own.linked {
                        true => BlockMode::Linked,
                        false => BlockMode::Independent,
                    })
                    .block_size(match own.block {
                        4 => BlockSize::Max64KB,
                        5 => BlockSize::Max256KB,
                        6 => BlockSize::Max1MB,
                        _ => BlockSize::Max4MB,
                    })
                    .block_checksum(match own.block_sums {
                        true => BlockChecksum::BlockChecksumEnabled,
                        false => BlockChecksum::NoBlockChecksum,
                    })
                    .favor_dec_speed(own.favors_decoding)
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
            Of::Legacy(encoder) => encoder.push(part),
        }
    }

    /// Ends the content; returns what was not taken yet.
    pub(crate) fn finish(self) -> io::Result<Vec<u8>> {
        match self.of {
            Of::Xz(writer) => drop(writer.finish()?),
            Of::Lzma(writer) => drop(writer.finish()?),
            Of::Lz4(encoder) => encoder.finish().1?,
            Of::Legacy(mut encoder) => encoder.end_block()?,
        }
        Ok(self.taken.0.take())
    }

    /// Takes what was written so far.
    pub(crate) fn take(&mut self) -> Vec<u8> {
        self.taken.0.take()
    }
}
