//! Decompresses gzip files, in order, on one thread.

use zipstream::gzip::{GzipDecoder, GzipError, GzipFlaw};
use zstdkit::Decoder;

use super::other::too_much;
use super::stage::{Decompress, record_block};
use crate::commands::transfer::{Operation, Stop, Stream};
use crate::failure::Failure;

/// Why a call was in vain.
enum Refused {
    Invalid(GzipError),
    TooLarge { most: u64 },
}

impl Decompress {
    /// Decompresses the members of a gzip file. Their checksums are always verified.
    pub(super) fn read_gzip(&mut self, stream: &mut Stream<'_>) -> Result<(), Stop> {
        let mut decoder = self.gzip.take().unwrap_or_default();
        decoder.restart();
        decoder.skip_trailing(self.as_gzip);
        let result = self.read_members(stream, &mut decoder);
        self.gzip = Some(decoder);
        result
    }

    fn read_members(
        &mut self,
        stream: &mut Stream<'_>,
        decoder: &mut GzipDecoder,
    ) -> Result<(), Stop> {
        let name = stream.name();
        loop {
            let input = stream.next()?;
            if input.is_empty() {
                break;
            }
            let mut rest: &[u8] = &input;
            loop {
                let mut operation = Operation::default();
                let mut before = decoder.totals().bytes_out;
                let left = self.options.output_limit.map(|most| (most, most - before));
                let step = stream
                    .call(
                        Decoder::recommended_output_bytes(),
                        &mut operation,
                        |room| match left {
                            None => decoder.read(rest, room).map_err(Refused::Invalid),
                            Some((most, left)) => {
                                // One byte more tells a content that ends from one that goes on.
                                let left = usize::try_from(left).unwrap_or(usize::MAX);
                                let bytes = room.len().min(left.saturating_add(1));
                                match decoder.read(rest, &mut room[..bytes]) {
                                    Ok(step) if step.produced > left => {
                                        Err(Refused::TooLarge { most })
                                    }
                                    step => step.map_err(Refused::Invalid),
                                }
                            }
                        },
                    )?
                    .map_err(|refused| self.refused(&name, refused))?;
                stream.produced(step.produced);
                rest = &rest[step.consumed..];
                record_block(stream, operation, &mut before, step.produced);
                if rest.is_empty() && !step.more_output {
                    break;
                }
            }
        }
        let totals = decoder
            .finish()
            .map_err(|error| self.refused(&name, Refused::Invalid(error)))?;
        self.checksums += totals.members;
        if let Some(at) = totals.trailing {
            self.trailing.push((stream.path().to_owned(), at));
        }
        self.totals = totals;
        Ok(())
    }

    fn refused(&mut self, name: &str, refused: Refused) -> Stop {
        let cannot = |why: String| Failure::new(format!("cannot decompress {name}: {why}"));
        Stop::Failed(match refused {
            Refused::TooLarge { most } => too_much(name, most),
            Refused::Invalid(error) => {
                let failure = cannot(error.to_string());
                match error.flaw() {
                    GzipFlaw::Checksum { .. } | GzipFlaw::Size { .. } => {
                        self.checksum_errors += 1;
                        failure
                    }
                    GzipFlaw::Truncated => {
                        failure.help("the file is truncated: download or copy it again")
                    }
                    _ => failure,
                }
            }
        })
    }
}
