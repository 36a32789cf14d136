//! The kinds of data by name, and a stream of each.

use std::fmt;
use std::io;
use std::str::FromStr;

use super::prng::Prng;
use super::{binary, html, json, log, source, text};

/// The kind of data to imitate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// A random version 4 UUID per line.
    UuidText,
    /// An event record per line, with nested properties.
    JsonLines,
    /// Reference pages: navigation, tables, anchors, prose.
    Html,
    /// A web server's access log.
    Log,
    /// Source code with comments and tests.
    Source,
    /// Machine code, string tables and columns of numbers.
    Binary,
    /// Bytes that cannot be compressed.
    Random,
    /// Zero bytes.
    Zeros,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Self; 8] = [
        Self::UuidText,
        Self::JsonLines,
        Self::Html,
        Self::Log,
        Self::Source,
        Self::Binary,
        Self::Random,
        Self::Zeros,
    ];

    /// The name that [`FromStr`] reads.
    pub fn name(self) -> &'static str {
        match self {
            Self::UuidText => "uuid",
            Self::JsonLines => "json",
            Self::Html => "html",
            Self::Log => "log",
            Self::Source => "source",
            Self::Binary => "binary",
            Self::Random => "random",
            Self::Zeros => "zeros",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that is not a [`Kind`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown workload (expected uuid, json, html, log, source, binary, random or zeros)")]
pub struct UnknownKind;

impl FromStr for Kind {
    type Err = UnknownKind;

    fn from_str(name: &str) -> Result<Self, UnknownKind> {
        Self::ALL
            .into_iter()
            .find(|kind| kind.name() == name)
            .ok_or(UnknownKind)
    }
}

/// The first `bytes` bytes of a [`Generator`].
pub fn generate(kind: Kind, seed: u64, bytes: usize) -> Vec<u8> {
    let mut generator = Generator::new(kind, seed);
    let mut data = Vec::with_capacity(bytes.saturating_add(RECORD_BYTES_TYPICAL));
    while data.len() < bytes {
        generator.source.append(&mut generator.prng, &mut data);
    }
    data.truncate(bytes);
    data
}

const RECORD_BYTES_TYPICAL: usize = 4096;

/// An endless stream of one kind of data; bound it with [`io::Read::take`].
///
/// It buffers one record (a few kilobytes), however much is read from it.
pub struct Generator {
    source: Source,
    prng: Prng,
    record: Vec<u8>,
    read: usize,
}

impl Generator {
    /// A stream that depends only on these two.
    pub fn new(kind: Kind, seed: u64) -> Self {
        let mut prng = Prng::new(seed);
        let source = match kind {
            Kind::UuidText => Source::Uuid,
            Kind::JsonLines => Source::Json(Box::new(json::Json::new(&mut prng))),
            Kind::Html => Source::Html(Box::new(html::Html::new(&mut prng))),
            Kind::Log => Source::Log(Box::new(log::Log::new(&mut prng))),
            Kind::Source => Source::Code(Box::new(source::Code::new(&mut prng))),
            Kind::Binary => Source::Binary(Box::new(binary::Binary::new(&mut prng))),
            Kind::Random => Source::Random,
            Kind::Zeros => Source::Zeros,
        };
        Self {
            source,
            prng,
            record: Vec::new(),
            read: 0,
        }
    }
}

impl io::Read for Generator {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut filled = 0;
        while filled < buffer.len() {
            if self.read == self.record.len() {
                self.record.clear();
                self.read = 0;
                self.source.append(&mut self.prng, &mut self.record);
            }
            let count = (self.record.len() - self.read).min(buffer.len() - filled);
            buffer[filled..filled + count]
                .copy_from_slice(&self.record[self.read..self.read + count]);
            self.read += count;
            filled += count;
        }
        Ok(filled)
    }
}

impl fmt::Debug for Generator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Generator").finish_non_exhaustive()
    }
}

enum Source {
    Uuid,
    Json(Box<json::Json>),
    Html(Box<html::Html>),
    Log(Box<log::Log>),
    Code(Box<source::Code>),
    Binary(Box<binary::Binary>),
    Random,
    Zeros,
}

impl Source {
    /// Appends the next record, which is never empty.
    fn append(&mut self, prng: &mut Prng, out: &mut Vec<u8>) {
        match self {
            Self::Uuid => {
                text::uuid(prng, out);
                out.push(b'\n');
            }
            Self::Json(source) => source.append(prng, out),
            Self::Html(source) => source.append(prng, out),
            Self::Log(source) => source.append(prng, out),
            Self::Code(source) => source.append(prng, out),
            Self::Binary(source) => source.append(prng, out),
            Self::Random => (0..512).for_each(|_| out.extend(prng.next().to_le_bytes())),
            Self::Zeros => out.resize(out.len() + RECORD_BYTES_TYPICAL, 0),
        }
    }
}
