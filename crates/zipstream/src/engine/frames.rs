//! Zstandard in frames of a bounded size, which any thread can compress.
//!
//! A frame depends on its content alone. The codec gets it in parts of a fixed size, so that it
//! becomes the same whether it is collected first or compressed as it arrives.

use zstdkit::{Encoder, Operation, State};

use super::chunk::CHUNK_BYTES;
use super::whole::zstd_options;
use crate::error::{Error, ErrorKind};

/// Content of a frame: larger ones compress better, but take more memory and hold a thread longer.
/// It is twice the window of the default level.
const FRAME_BYTES: usize = 4 << 20;
/// Content of a frame at levels with larger windows.
const HIGH_FRAME_BYTES: usize = 16 << 20;
const HIGH_LEVEL: i32 = 10;

/// Content of a frame at this level, a multiple of a chunk.
pub(crate) const fn frame_bytes(level: i32) -> usize {
    if level < HIGH_LEVEL {
        FRAME_BYTES
    } else {
        HIGH_FRAME_BYTES
    }
}

/// Compresses frames and keeps the context of the last level.
#[derive(Default)]
pub(crate) struct Frames {
    encoder: Option<(i32, Box<Encoder>)>,
    /// Content of the open frame so far.
    taken: usize,
}

impl Frames {
    /// Drops the open frame, as at the start of an entry.
    pub(crate) fn restart(&mut self) {
        if self.taken > 0 {
            self.encoder = None;
        }
        self.taken = 0;
    }

    /// Appends a part of a content compressed. All parts but the last are chunks. `first` marks the
    /// first part of the content.
    pub(crate) fn part(
        &mut self,
        level: i32,
        content: &[u8],
        first: bool,
        last: bool,
        out: &mut Vec<u8>,
    ) -> Result<(), Error> {
        if content.is_empty() && self.taken == 0 && !first {
            // Earlier frames contain everything.
            return Ok(());
        }
        let taken = self.taken + content.len();
        let ends = last || taken >= frame_bytes(level);
        let begins = self.taken == 0;
        let encoder = match &mut self.encoder {
            Some((of, encoder)) if *of == level => encoder,
            other => {
                let encoder = Encoder::new(&zstd_options(level)).map_err(failed)?;
                &mut other.insert((level, Box::new(encoder))).1
            }
        };
        if begins {
            encoder.begin(None).map_err(failed)?;
        }
        let result = push(encoder, content, ends, out);
        if result.is_err() {
            self.encoder = None;
        }
        self.taken = if ends || result.is_err() { 0 } else { taken };
        result
    }

    /// Appends the content of one frame compressed.
    pub(crate) fn whole(
        &mut self,
        level: i32,
        content: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), Error> {
        self.restart();
        let mut rest = content;
        loop {
            let (part, after) = rest.split_at(rest.len().min(CHUNK_BYTES));
            self.part(level, part, true, after.is_empty(), out)?;
            rest = after;
            if rest.is_empty() {
                return Ok(());
            }
        }
    }
}

fn push(
    encoder: &mut Encoder,
    mut content: &[u8],
    ends: bool,
    out: &mut Vec<u8>,
) -> Result<(), Error> {
    let operation = if ends {
        Operation::End
    } else {
        Operation::Continue
    };
    loop {
        let start = out.len();
        out.resize(start + Encoder::recommended_output_bytes(), 0);
        let step = encoder
            .push(content, &mut out[start..], operation)
            .map_err(failed)?;
        out.truncate(start + step.produced);
        content = &content[step.consumed..];
        if step.state != State::MoreOutput {
            return Ok(());
        }
    }
}

fn failed(error: zstdkit::Error) -> Error {
    Error::new(ErrorKind::Internal, format!("zstd: {error}"))
}
