//! Methods that are read and never written: deflate64, bzip2, LZMA and XZ (feature `methods`).
//!
//! The decoders come from the crates deflate64, bzip2 (over its Rust library) and lzma-rust2. None
//! takes more memory than allowed, whatever its input says.

use lzma_rust2::{Action, LzmaStream, Status, XzStream};

use super::bounds::Bounds;
use crate::error::{Error, ErrorKind};
use crate::method::{Method, unsupported};

/// Bytes before a raw LZMA stream: a version, the length of the properties, and five bytes of
/// properties.
const LZMA_HEADER_BYTES: usize = 9;
const LZMA_PROPERTIES_BYTES: usize = 5;

/// A decoder of one content.
pub(crate) enum ReadOnlyMethod {
    Deflate64(Box<deflate64::InflaterManaged>),
    Bzip2(bzip2::Decompress),
    /// Before its properties, which may arrive in any cut.
    LzmaHeader(Vec<u8>, Bounds),
    Lzma(Box<LzmaStream>),
    Xz(Box<XzStream>),
}

/// The result of a call: bytes consumed and produced, and whether the content is complete.
pub(crate) type Did = (usize, usize, bool);

impl ReadOnlyMethod {
    /// A decoder for a method.
    pub(crate) fn new(method: Method, bounds: &Bounds) -> Result<Self, Error> {
        // These two read ahead, beyond the end of the content.
        if matches!(method.code(), 9 | 14) && bounds.compressed.is_none() {
            let what = format!("a {method} entry with a descriptor has no known end");
            return Err(Error::new(ErrorKind::Unsupported, what)
                .help("read the archive from a file, not from a pipe"));
        }
        Ok(match method.code() {
            9 => Self::Deflate64(Box::new(deflate64::InflaterManaged::new())),
            12 => Self::Bzip2(bzip2::Decompress::new(false)),
            14 => Self::LzmaHeader(Vec::with_capacity(LZMA_HEADER_BYTES), *bounds),
            95 => {
                let kib = u32::try_from(bounds.memory / 1024).unwrap_or(u32::MAX - 1);
                Self::Xz(Box::new(XzStream::new_mem_limit(false, kib)))
            }
            _ => return Err(unsupported(method)),
        })
    }

    /// Consumes compressed bytes and produces content. `last` says that no more input follows.
    pub(crate) fn push(
        &mut self,
        mut input: &[u8],
        output: &mut [u8],
        last: bool,
    ) -> Result<Did, Error> {
        let mut header_bytes = 0;
        if let Self::LzmaHeader(header, bounds) = self {
            header_bytes = input.len().min(LZMA_HEADER_BYTES - header.len());
            let (taken, rest) = input.split_at(header_bytes);
            header.extend_from_slice(taken);
            if header.len() < LZMA_HEADER_BYTES {
                return Ok((header_bytes, 0, false));
            }
            *self = Self::Lzma(Box::new(lzma(header, bounds)?));
            input = rest;
        }
        let (taken, given, done) = self.step(input, output, last)?;
        if !done && taken + given == 0 && !input.is_empty() && !output.is_empty() {
            let what = "its compressed content makes no progress";
            return Err(Error::new(ErrorKind::Corrupt, what));
        }
        Ok((header_bytes + taken, given, done))
    }

    fn step(&mut self, input: &[u8], output: &mut [u8], last: bool) -> Result<Did, Error> {
        match self {
            Self::Deflate64(inflater) => {
                let did = inflater.inflate(input, output);
                if did.data_error {
                    return Err(invalid("deflate64"));
                }
                Ok((did.bytes_consumed, did.bytes_written, inflater.finished()))
            }
            Self::Bzip2(decoder) => {
                let before = (decoder.total_in(), decoder.total_out());
                let status = decoder.decompress(input, output);
                let status = status.map_err(|_| invalid("bzip2"))?;
                // Neither exceeds the length of its buffer.
                let taken = (decoder.total_in() - before.0) as usize;
                let given = (decoder.total_out() - before.1) as usize;
                match status {
                    bzip2::Status::MemNeeded => Err(memory("bzip2")),
                    status => Ok((taken, given, status == bzip2::Status::StreamEnd)),
                }
            }
            Self::LzmaHeader(..) => Ok((0, 0, false)),
            Self::Lzma(stream) => {
                let did = stream.process(input, output, action(last));
                let did = did.map_err(|error| refused("lzma", &error))?;
                let done = did.status == Status::StreamEnd;
                let unused = if done { stream.unused_input().len() } else { 0 };
                let taken = did.bytes_consumed.saturating_sub(unused);
                Ok((taken, did.bytes_produced, done))
            }
            Self::Xz(stream) => {
                let did = stream.process(input, output, action(last));
                let did = did.map_err(|error| refused("xz", &error))?;
                let done = did.status == Status::StreamEnd;
                Ok((did.bytes_consumed, did.bytes_produced, done))
            }
        }
    }
}

fn action(last: bool) -> Action {
    if last { Action::Finish } else { Action::Run }
}

/// The stream that a header describes.
fn lzma(header: &[u8], bounds: &Bounds) -> Result<LzmaStream, Error> {
    if usize::from(header[2]) != LZMA_PROPERTIES_BYTES || header[3] != 0 {
        return Err(invalid("lzma"));
    }
    let window = u32::from_le_bytes([header[5], header[6], header[7], header[8]]);
    if u64::from(window) > bounds.memory {
        return Err(memory("lzma"));
    }
    // The stream ends with a marker, or at the stated size.
    let stated = bounds.stated.filter(|_| !bounds.marker);
    let bytes = stated.unwrap_or(u64::MAX);
    LzmaStream::new_with_props(bytes, header[4], window, None)
        .map_err(|error| refused("lzma", &error))
}

fn refused(method: &str, error: &std::io::Error) -> Error {
    match error.kind() {
        std::io::ErrorKind::OutOfMemory => memory(method),
        std::io::ErrorKind::UnexpectedEof => {
            Error::new(ErrorKind::Corrupt, "its compressed content ends too early")
        }
        _ => invalid(method),
    }
}

fn invalid(method: &str) -> Error {
    Error::new(ErrorKind::Corrupt, format!("invalid {method} data"))
}

fn memory(method: &str) -> Error {
    let what = format!("its {method} data asks for a window beyond the limit of memory");
    Error::new(ErrorKind::Limit, what).help("raise Limits::window_bytes if the source is trusted")
}
