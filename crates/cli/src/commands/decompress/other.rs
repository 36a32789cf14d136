//! Decompresses xz, lzma and lz4 files, in order, on one thread.

use zstdkit::Decoder;

use super::stage::{Decompress, WINDOW_LOG_MAX_OF_ANOTHER, record_block};
use crate::commands::formats::Format;
use crate::commands::formats::unpack::{Fault, Unpacker};
use crate::commands::transfer::{Operation, Stop, Stream};
use crate::failure::Failure;

/// Memory of a decoder of xz or lzma besides its dictionary: it counts that to the limit, too.
const OWN_BYTES: u64 = 1 << 20;

impl Decompress {
    /// Decompresses a file of one of these formats. The checksums that it has are always verified.
    pub(super) fn read_other(
        &mut self,
        format: Format,
        stream: &mut Stream<'_>,
    ) -> Result<(), Stop> {
        let name = stream.name();
        let window = self
            .options
            .window_limit
            .unwrap_or(1 << self.options.window_log_max);
        let limit = match self.is_another {
            true => window.min(1 << WINDOW_LOG_MAX_OF_ANOTHER),
            false => window,
        };
        let mut decoder = Unpacker::new(format, limit + OWN_BYTES);
        let most = self.options.output_limit;
        let checked = unpack(stream, &mut decoder, most, &mut |fault| {
            self.refused_other(format, &name, fault)
        })?;
        self.checksums += checked;
        Ok(())
    }

    fn refused_other(&self, format: Format, name: &str, fault: Fault) -> Stop {
        let format = format.name();
        let cannot = |why: String| Failure::new(format!("cannot decompress {name}: {why}"));
        Stop::Failed(match fault {
            Fault::Memory { .. } if self.is_another => return Stop::Declined,
            Fault::Memory { limit } => cannot(format!(
                "its {format} dictionary needs more than the limit of {limit} bytes"
            ))
            .help("raise -M (--memory-limit) if the source is trusted"),
            Fault::Truncated(at) => cannot(format!(
                "the data ends at byte {at}, inside the {format} stream"
            ))
            .help("the file is truncated: download or copy it again"),
            Fault::Invalid(what, at) => {
                cannot(format!("{format} data at or before byte {at}: {what}"))
            }
        })
    }
}

/// Decompresses all of a source; returns how many checksums were compared.
pub(super) fn unpack(
    stream: &mut Stream<'_>,
    decoder: &mut Unpacker,
    output_limit: Option<u64>,
    refused: &mut dyn FnMut(Fault) -> Stop,
) -> Result<u64, Stop> {
    let mut written = 0_u64;
    loop {
        let input = stream.next()?;
        let last = input.is_empty();
        let mut rest: &[u8] = &input;
        loop {
            let mut operation = Operation::default();
            let mut before = written;
            let step = stream
                .call(
                    Decoder::recommended_output_bytes(),
                    &mut operation,
                    |room| {
                        // One byte more tells a content that ends from one that goes on.
                        let left = output_limit.map_or(u64::MAX, |most| most - written);
                        let left = usize::try_from(left).unwrap_or(usize::MAX);
                        let bytes = room.len().min(left.saturating_add(1));
                        let step = decoder.push(rest, &mut room[..bytes], last)?;
                        Ok((step, step.produced > left))
                    },
                )?
                .map_err(&mut *refused)?;
            let (step, too_large) = step;
            if let (true, Some(most)) = (too_large, output_limit) {
                return Err(Stop::Failed(too_much(&stream.name(), most)));
            }
            stream.produced(step.produced);
            written += step.produced as u64;
            rest = &rest[step.consumed..];
            record_block(stream, operation, &mut before, step.produced);
            if step.consumed + step.produced == 0 || (rest.is_empty() && step.produced == 0) {
                break;
            }
        }
        if last {
            break;
        }
    }
    decoder.finish().map_err(refused)
}

/// The content exceeds the limit.
pub(super) fn too_much(name: &str, most: u64) -> Failure {
    Failure::new(format!(
        "cannot decompress {name}: its content is larger than the limit of {most} bytes"
    ))
    .help("raise --max-output if the source is trusted")
}
