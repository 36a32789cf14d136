//! Decodes a range of the content: which bytes of the file to read, which part of their content to drop,
//! and whether the frames match the table.

use std::hash::Hasher as _;
use std::ops::Range;

use twox_hash::XxHash64;

use super::table::SeekTable;
use crate::decoder::{Decoder, Totals};
use crate::error::{Error, ErrorKind, Repr};
use crate::options::DecoderOptions;
use crate::step::{State, Step};

/// Decodes a range of the content, in calls of at most one block.
///
/// Read the file from [`start`](RangeDecoder::start) and push what was read until the state is
/// [`State::Done`]. Each frame that is decoded to its end is compared with the table: its size in the
/// file, the size of its content, and the checksum if the table has one and checksums are verified.
/// Decoding stops at the end of the range, so the checksum of a frame that reaches beyond it is not
/// verified. The table's entries for frames that are not read are trusted: if they are wrong, the range
/// is a different part of the content.
///
/// ```
/// use zstdkit::{State, seekable::{RangeDecoder, SeekTable, SeekTableBuilder}};
///
/// let frame = zstdkit::compress(b"hello hello", &Default::default())?;
/// let mut builder = SeekTableBuilder::new(false);
/// builder.push(frame.len() as u64, 11, None)?;
/// let file = [frame, builder.finish()].concat();
///
/// let table = SeekTable::find(&file)?.expect("a table");
/// let mut decoder = RangeDecoder::new(&table, 3..8, &Default::default())?;
/// let mut rest = &file[decoder.start() as usize..];
/// let (mut content, mut room) = (Vec::new(), [0; 16]);
/// loop {
///     let step = decoder.push(rest, &mut room)?;
///     rest = &rest[step.consumed..];
///     content.extend_from_slice(&room[..step.produced]);
///     if step.state != State::MoreOutput {
///         break;
///     }
/// }
/// assert_eq!(content, b"lo he");
/// # Ok::<(), zstdkit::Error>(())
/// ```
#[derive(Debug)]
#[doc(alias = "random_access")]
#[doc(alias = "seek")]
pub struct RangeDecoder<'t> {
    table: &'t SeekTable,
    decoder: Decoder,
    /// Bytes of content that the decoder has handed out, counted from the start of the file.
    position: u64,
    /// The part of the content that is still to be read.
    range: Range<u64>,
    start: u64,
    /// The frame of the table that is being decoded.
    frame: usize,
    hash: Option<XxHash64>,
    failed: Option<Error>,
}

impl<'t> RangeDecoder<'t> {
    /// A decoder for this range of the content. The part beyond the end of the content is cut off.
    pub fn new(
        table: &'t SeekTable,
        mut range: Range<u64>,
        options: &DecoderOptions,
    ) -> Result<Self, Error> {
        let frame = table.frames_for(range.clone()).start;
        if !table.is_open() {
            range.end = range.end.min(table.content_bytes());
        }
        range.end = range.end.max(range.start);
        let (start, content) = table.start(frame);
        let mut decoder = Decoder::new(options)?;
        decoder.resume(Totals {
            bytes_in: start,
            bytes_out: content,
            ..Totals::default()
        });
        let hashed = options.verify_checksum && table.has_checksums();
        Ok(Self {
            table,
            decoder,
            position: content,
            range,
            start,
            frame,
            hash: hashed.then(|| XxHash64::with_seed(0)),
            failed: None,
        })
    }

    /// The byte of the file where to start reading. The output limit of the options counts the content
    /// before it as produced.
    pub fn start(&self) -> u64 {
        self.start
    }

    /// The position of the next byte to hand out, and the end of the range.
    pub fn range(&self) -> Range<u64> {
        self.range.clone()
    }

    /// The position in the content up to which it has decoded. If the input has ended and this is before
    /// the range, the content ends before the range.
    pub fn decoded_bytes(&self) -> u64 {
        self.position
    }

    /// Takes input and writes content of the range. [`State::Done`]: the range is complete.
    pub fn push(&mut self, input: &[u8], output: &mut [u8]) -> Result<Step, Error> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        let result = loop {
            match self.step(input, output) {
                // Content before the range is skipped. Little is left of the block: continue.
                Ok(step)
                    if step.state == State::MoreOutput
                        && step.consumed + step.produced == 0
                        && !output.is_empty() => {}
                result => break result,
            }
        };
        if let Err(error) = &result {
            self.failed = Some(error.clone());
        }
        result
    }

    /// Checks that the range is complete, or says why the file may not end here. With an
    /// [open](SeekTable::is_open) index, whose content size is unknown, the range ends with the last
    /// frame.
    pub fn finish(&self) -> Result<(), Error> {
        match &self.failed {
            Some(error) => Err(error.clone()),
            None if self.range.is_empty() => Ok(()),
            None => {
                let totals = self.decoder.finish()?;
                if self.table.is_open() {
                    return Ok(());
                }
                Err(Repr::SeekTableBytes {
                    offset: totals.bytes_in,
                    what: "content",
                    stated: self.table.content_bytes(),
                    found: totals.bytes_out,
                }
                .into())
            }
        }
    }

    fn step(&mut self, input: &[u8], output: &mut [u8]) -> Result<Step, Error> {
        if self.range.is_empty() {
            return Ok(Step {
                consumed: 0,
                produced: 0,
                state: State::Done,
            });
        }
        let before = self.position;
        let step = self.decoder.push(input, output).map_err(|error| {
            // An index lists frames that were found. Only a table can list one that does not exist.
            match (error.kind(), error.offset()) {
                (ErrorKind::NotZstd, Some(offset)) => Error::from(Repr::SeekTable {
                    offset,
                    reason: "no frame begins at a position that it lists",
                }),
                _ => error,
            }
        })?;
        self.position += step.produced as u64;
        let produced = &mut output[..step.produced];
        if let Some(hash) = &mut self.hash {
            hash.write(produced);
        }
        if self.decoder.at_boundary() {
            self.check_frames()?;
        }
        // The part of `produced`, which begins at `before`, that belongs to the range.
        let skip = self
            .range
            .start
            .saturating_sub(before)
            .min(produced.len() as u64) as usize;
        let want = self.range.end - self.range.start;
        let count = (produced.len() - skip).min(usize::try_from(want).unwrap_or(usize::MAX));
        produced.copy_within(skip..skip + count, 0);
        self.range.start += count as u64;
        let state = match step.state {
            _ if self.range.is_empty() => State::Done,
            // The end of a frame is not the end of the range.
            State::Done => State::NeedInput,
            state => state,
        };
        Ok(Step {
            consumed: step.consumed,
            produced: count,
            state,
        })
    }

    /// Compares the frame that has just ended with the table.
    fn check_frames(&mut self) -> Result<(), Error> {
        let totals = self.decoder.totals();
        while let Some(frame) = self.table.frame(self.frame) {
            // Several frames may share an entry. None may reach beyond it.
            if totals.bytes_in < frame.stored.end {
                return Ok(());
            }
            let wrong = |what, stated, found| {
                Err(Repr::SeekTableBytes {
                    offset: frame.stored.start,
                    what,
                    stated,
                    found,
                }
                .into())
            };
            let stored = frame.stored.end - frame.stored.start;
            if totals.bytes_in > frame.stored.end && frame.content.is_empty() {
                // The decoder skips a skippable frame in the same call as the frame after it.
                self.frame += 1;
                continue;
            }
            if totals.bytes_in > frame.stored.end {
                return wrong("frame", stored, totals.bytes_in - frame.stored.start);
            }
            if totals.bytes_out != frame.content.end {
                let stated = frame.content.end - frame.content.start;
                let found = totals.bytes_out.saturating_sub(frame.content.start);
                return wrong("content", stated, found);
            }
            if let (Some(hash), Some(stored)) = (&mut self.hash, frame.checksum) {
                let computed = hash.finish() as u32;
                if stored != computed {
                    return Err(Repr::Checksum {
                        offset: self.table.checksums_offset + 12 * self.frame as u64,
                        stored,
                        computed,
                    }
                    .into());
                }
                *hash = XxHash64::with_seed(0);
            }
            self.frame += 1;
            if self
                .table
                .frame(self.frame)
                .is_none_or(|next| next.stored.end > totals.bytes_in)
            {
                break;
            }
        }
        Ok(())
    }
}
