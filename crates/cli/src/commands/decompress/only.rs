//! Decompresses what is xz, lzma or lz4 and nothing else, as the programs of these names do.

use files::plan::Job;
use zstdkit::Decoder;

use super::other::unpack;
use super::passing::Passing;
use crate::commands::formats::Format;
use crate::commands::formats::unpack::{Fault, Unpacker};
use crate::commands::transfer::{Opening, Stage, Stop, Stream};
use crate::failure::{Failure, Result};

/// One decoder for each file.
#[derive(Debug, Clone)]
pub(crate) struct Only {
    /// The formats that are read.
    pub(crate) formats: Vec<Format>,
    /// Memory for a dictionary, at most.
    pub(crate) limit: u64,
    /// Whether input of other formats is copied unchanged.
    pub(crate) pass_through: bool,
    /// Whether only the first stream is read, and the rest is skipped.
    pub(crate) first: bool,
    /// Whether empty input has empty content.
    pub(crate) takes_empty: bool,
}

impl Stage for Only {
    fn open(&mut self, _: &Job) -> Result<Opening> {
        Ok(Opening {
            buffer_bytes: Decoder::recommended_output_bytes(),
            ..Opening::default()
        })
    }

    fn run(&mut self, stream: &mut Stream<'_>) -> std::result::Result<(), Stop> {
        let name = stream.name();
        let found = match self.formats.as_slice() {
            // Its header has no first bytes that are always the same.
            [Format::Lzma] => Some(Format::Lzma),
            _ => Format::other(|magic| stream.begins_with(magic))?,
        };
        let format = match found.filter(|format| self.formats.contains(format)) {
            Some(format) => format,
            None if self.pass_through => return Passing::default().rest(stream, &[], 0),
            None if self.takes_empty && stream.next()?.is_empty() => return Ok(()),
            None => {
                return Err(Stop::Failed(
                    Failure::new(format!("{name}: File format not recognized"))
                        .help("perfkit decompress reads zstd, gzip, xz, lzma and lz4 files"),
                ));
            }
        };
        let mut decoder = match self.first {
            true => Unpacker::first(format, self.limit),
            false => Unpacker::new(format, self.limit),
        };
        unpack(stream, &mut decoder, None, &mut |fault| {
            let format = format.name();
            Stop::Failed(match fault {
                Fault::Memory { limit } => Failure::new(format!(
                    "{name}: Memory usage limit reached: its dictionary needs more than {limit} bytes"
                ))
                .help("raise the memory limit if the source is trusted"),
                Fault::Truncated(at) => Failure::new(format!(
                    "{name}: Unexpected end of input at byte {at}, inside the {format} stream"
                ))
                .help("the file is truncated: download or copy it again"),
                Fault::Invalid(what, at) => Failure::new(format!(
                    "{name}: Compressed data is corrupt at or before byte {at}: {what}"
                )),
            })
        })?;
        Ok(())
    }

    fn another(&self) -> Option<Self> {
        Some(self.clone())
    }
}
