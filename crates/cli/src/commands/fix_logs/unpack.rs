//! Logs that are compressed with gzip or zstd, read as what they hold.

use std::io;

use fixlog::{Got, Source};
use zipstream::gzip::{self, GzipDecoder};
use zstdkit::{Decoder, DecoderOptions, State, frame};

use super::Input;

/// Compressed bytes that are read at once.
const PACKED_BYTES: usize = 128 << 10;

/// A log, whatever it is compressed with.
pub(crate) enum Log {
    /// Nothing of it was read.
    Unread(Input),
    Plain(Input),
    Packed(Box<Packed>),
}

/// A log that is compressed.
pub(crate) struct Packed {
    input: Input,
    buffer: Vec<u8>,
    /// The part of the buffer that is to be decoded.
    rest: std::ops::Range<usize>,
    codec: Codec,
    ended: bool,
    /// Whether there is more content of what was consumed.
    more_output: bool,
}

enum Codec {
    Gzip(Box<GzipDecoder>),
    Zstd(Box<Decoder>),
}

/// What the first bytes of a log say.
enum Magic {
    Plain,
    Gzip,
    Zstd,
    /// More of them are needed.
    Begun,
}

fn magic(first: &[u8]) -> Magic {
    let begins = |magic: &[u8]| {
        let common = first.len().min(magic.len());
        (first[..common] == magic[..common]).then_some(first.len() >= magic.len())
    };
    // The lowest four bits of its first byte tell its variant.
    let skippable = first.first().and_then(|variant| {
        let mut magic = frame::SKIPPABLE_MAGIC;
        magic[0] |= variant & 0xf;
        begins(&magic)
    });
    match (begins(&gzip::MAGIC), begins(&frame::MAGIC), skippable) {
        (Some(true), ..) => Magic::Gzip,
        (_, Some(true), _) | (.., Some(true)) => Magic::Zstd,
        (None, None, None) => Magic::Plain,
        _ => Magic::Begun,
    }
}

impl Source for Log {
    fn read(&mut self, room: &mut [u8], stopped: &dyn Fn() -> bool) -> io::Result<Got> {
        match self {
            Self::Plain(input) => input.read(room, stopped),
            Self::Packed(packed) => packed.read(room, stopped),
            Self::Unread(input) => {
                let mut filled = 0;
                let magic = loop {
                    match input.read(&mut room[filled..], stopped)? {
                        Got::Bytes(count) => filled += count,
                        Got::Stopped => return Ok(Got::Stopped),
                        Got::End | Got::Restarted => break Magic::Plain,
                    }
                    match magic(&room[..filled]) {
                        Magic::Begun => {}
                        magic => break magic,
                    }
                };
                let Self::Unread(input) = std::mem::replace(self, Self::Plain(Input::ended()))
                else {
                    return Ok(Got::End);
                };
                let codec = match magic {
                    Magic::Gzip => Codec::Gzip(Box::default()),
                    Magic::Zstd => {
                        let decoder = Decoder::new(&DecoderOptions::default());
                        Codec::Zstd(Box::new(decoder.map_err(io::Error::other)?))
                    }
                    Magic::Plain | Magic::Begun => {
                        *self = Self::Plain(input);
                        return Ok(match filled {
                            0 => Got::End,
                            count => Got::Bytes(count),
                        });
                    }
                };
                let mut packed = Packed {
                    input,
                    buffer: room[..filled].to_vec(),
                    rest: 0..filled,
                    codec,
                    ended: false,
                    more_output: false,
                };
                let got = packed.read(room, stopped);
                *self = Self::Packed(Box::new(packed));
                got
            }
        }
    }
}

impl Packed {
    /// Reads content until `room` is full, or until there is some and no more can be had without waiting.
    fn read(&mut self, room: &mut [u8], stopped: &dyn Fn() -> bool) -> io::Result<Got> {
        let mut filled = 0;
        while filled < room.len() {
            if self.rest.is_empty() && !self.more_output {
                if self.ended || (filled > 0 && self.input.is_live()) {
                    break;
                }
                self.buffer.resize(PACKED_BYTES, 0);
                match self.input.read(&mut self.buffer, stopped)? {
                    Got::Bytes(count) => self.rest = 0..count,
                    Got::Stopped => return Ok(Got::Stopped),
                    Got::End | Got::Restarted => {
                        self.codec.finish()?;
                        self.ended = true;
                        break;
                    }
                }
            }
            let input = &self.buffer[self.rest.clone()];
            let (consumed, produced, more) = self.codec.push(input, &mut room[filled..])?;
            self.rest.start += consumed;
            self.more_output = more;
            filled += produced;
        }
        Ok(match filled {
            0 => Got::End,
            count => Got::Bytes(count),
        })
    }
}

impl Codec {
    /// Bytes consumed and produced, and whether there is more to produce from what was consumed.
    fn push(&mut self, input: &[u8], room: &mut [u8]) -> io::Result<(usize, usize, bool)> {
        match self {
            Self::Gzip(decoder) => {
                let step = decoder.read(input, room).map_err(damaged)?;
                Ok((step.consumed, step.produced, step.more_output))
            }
            Self::Zstd(decoder) => {
                let step = decoder.push(input, room).map_err(damaged)?;
                let more = step.state == State::MoreOutput;
                Ok((step.consumed, step.produced, more))
            }
        }
    }

    /// Checks that the last member or frame is whole.
    fn finish(&mut self) -> io::Result<()> {
        match self {
            Self::Gzip(decoder) => decoder.finish().map(drop).map_err(damaged),
            Self::Zstd(decoder) => decoder.finish().map(drop).map_err(damaged),
        }
    }
}

fn damaged(error: impl std::fmt::Display) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error.to_string())
}
