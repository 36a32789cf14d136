//! Copies input unchanged if it turns out not to be zstd.

use zstdkit::Decoder;

use crate::commands::transfer::{Operation, Stop, Stream};

/// How many bytes of magic number a frame starts with.
const MAGIC_BYTES: usize = 4;

/// Unchanged input, from where it turns out not to be zstd. Four bytes are enough to decide.
#[derive(Debug, Default)]
pub(super) struct Passing {
    /// Bytes before the current input.
    before_bytes: u64,
    /// The last bytes before it.
    tail: Vec<u8>,
}

impl Passing {
    /// Remembers bytes that may have to be written later.
    pub(super) fn leave(&mut self, input: &[u8]) {
        self.before_bytes += input.len() as u64;
        self.tail.extend_from_slice(
            input
                .get(input.len().saturating_sub(MAGIC_BYTES)..)
                .unwrap_or_default(),
        );
        let extra = self.tail.len().saturating_sub(MAGIC_BYTES);
        self.tail.drain(..extra);
    }

    /// Whether the whole input was shorter than a magic number, and not empty.
    pub(super) fn is_magic_cut_short(&self) -> bool {
        (1..MAGIC_BYTES as u64).contains(&self.before_bytes)
    }

    /// Writes all bytes from `offset` on.
    pub(super) fn rest(
        self,
        stream: &mut Stream<'_>,
        input: &[u8],
        offset: u64,
    ) -> std::result::Result<(), Stop> {
        let missing = self.before_bytes.saturating_sub(offset);
        let missing = usize::try_from(missing).unwrap_or(0).min(self.tail.len());
        copy(stream, &self.tail[self.tail.len() - missing..])?;
        let start = usize::try_from(offset.saturating_sub(self.before_bytes)).unwrap_or(0);
        copy(stream, input.get(start..).unwrap_or_default())?;
        loop {
            let input = stream.next()?;
            if input.is_empty() {
                return Ok(());
            }
            copy(stream, &input)?;
        }
    }
}

fn copy(stream: &mut Stream<'_>, bytes: &[u8]) -> std::result::Result<(), Stop> {
    for part in bytes.chunks(Decoder::recommended_output_bytes()) {
        stream.call(part.len(), &mut Operation::default(), |room| {
            room[..part.len()].copy_from_slice(part);
        })?;
        stream.produced(part.len());
    }
    Ok(())
}
