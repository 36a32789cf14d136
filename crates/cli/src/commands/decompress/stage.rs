//! Decodes all files of a run: in order, frames in parallel, or a part of the content.

use std::path::PathBuf;

use files::plan::Job;
use zipstream::gzip::{self, GzipDecoder, GzipTotals};
use zstdkit::parallel::{JobObserver, ParallelDecoder};
use zstdkit::seekable::{RangeDecoder, SeekTable};
use zstdkit::{Decoder, DecoderOptions, ErrorKind, State};

use crate::args::units::ByteRange;
use crate::commands::codec::{EMPTY_HELP, codec_failure};
use crate::commands::decompress::flags::DecompressPlan;
use crate::commands::decompress::passing::Passing;
use crate::commands::formats::Format;
use crate::commands::frames;
use crate::commands::transfer::{Opening, Operation, Stage, Stop, Stream, WAIT_MAX};
use crate::failure::{Failure, Result};
use crate::term::signal;

/// The largest seek table that is used, unless a larger memory limit is given.
const TABLE_BYTES_MAX: u64 = 256 << 20;

/// The largest window of each of several decoders: that of all levels except `--ultra` and `--long`.
pub(super) const WINDOW_LOG_MAX_OF_ANOTHER: u32 = 23;

/// One decoder over all files of a run.
pub(crate) struct Decompress {
    pub(super) options: DecoderOptions,
    pub(super) decoder: Decoder,
    /// The older file of patches.
    pub(super) older: Option<PathBuf>,
    /// Whether input that is not zstd is copied unchanged.
    pass_through: bool,
    /// For files of several frames, if there are threads for them.
    pub(super) parallel: Option<ParallelDecoder>,
    range: Option<ByteRange>,
    /// The requested part of the current source.
    part: Option<(SeekTable, std::ops::Range<u64>)>,
    /// Whether the current source is known to have several frames; `None` if that cannot be known before it
    /// is read.
    many: Option<bool>,
    /// Whether this is one of several stages, which leaves frames with a large window to the first one.
    pub(super) is_another: bool,
    /// For gzip files, once there was one.
    pub(super) gzip: Option<GzipDecoder>,
    /// Whether only gzip files are read, and other data behind the last member is skipped.
    pub(super) as_gzip: bool,
    /// Sources in which some was skipped, and from which byte.
    pub(crate) trailing: Vec<(PathBuf, u64)>,
    /// What the last gzip source was.
    pub(crate) totals: GzipTotals,
    pub(super) checksums: u64,
    pub(super) checksum_errors: u64,
}

impl Decompress {
    pub(crate) fn new(plan: &DecompressPlan, observer: JobObserver) -> Result<Self> {
        let failed = |error| Failure::new(format!("cannot set up the decoder: {error}"));
        let parallel = match plan.threads {
            // Input that is not zstd is detected by the decoder that works in order.
            _ if plan.pass_through => None,
            1 => None,
            threads => Some(
                ParallelDecoder::new(&plan.decoder, threads as usize)
                    .map_err(failed)?
                    .observer(observer),
            ),
        };
        Ok(Self {
            options: plan.decoder.clone(),
            decoder: Decoder::new(&plan.decoder).map_err(failed)?,
            older: None,
            pass_through: plan.pass_through,
            parallel,
            range: plan.range,
            part: None,
            many: None,
            is_another: false,
            gzip: None,
            as_gzip: plan.as_gzip,
            trailing: Vec::new(),
            totals: GzipTotals::default(),
            checksums: 0,
            checksum_errors: 0,
        })
    }

    pub(super) fn failed(&mut self, name: &str, error: &zstdkit::Error) -> Stop {
        if self.is_another && error.kind() == ErrorKind::WindowLimit {
            return Stop::Declined;
        }
        if error.kind() == ErrorKind::Checksum {
            self.checksum_errors += 1;
        }
        Stop::Failed(if error.is_no_frame() {
            Failure::new(format!("cannot decompress {name}: it is empty")).help(EMPTY_HELP)
        } else {
            codec_failure("decompress", name, error)
        })
    }
}

fn no_gzip(name: &str) -> Failure {
    Failure::new(format!("{name}: not in gzip format"))
        .help("perfkit decompress reads zstd, gzip, xz, lzma and lz4 files")
}

/// How input is read and output is written.
fn opening() -> Opening {
    Opening {
        // The largest block. The rest of decompressing in order needs little memory, so buffers matter.
        buffer_bytes: Decoder::recommended_output_bytes(),
        ..Opening::default()
    }
}

/// Whether the rest is not zstd at all.
fn is_other(error: &zstdkit::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotZstd | ErrorKind::TrailingData)
}

impl Stage for Decompress {
    fn open(&mut self, job: &Job) -> Result<Opening> {
        if let Some(range) = self.range {
            self.refuse_part(job)?;
            let bytes_max = self.options.memory_limit.unwrap_or(TABLE_BYTES_MAX);
            let table = frames::index(&job.source, range, bytes_max)?;
            let end = range.end.unwrap_or(u64::MAX);
            // Frames outside of the range are not read.
            let first = table.frames_for(range.start..end).start;
            let start = first.checked_sub(1).and_then(|before| table.frame(before));
            self.part = Some((table, range.start..end));
            return Ok(Opening {
                start: start.map_or(0, |frame| frame.stored.end),
                partial: true,
                ..opening()
            });
        }
        let regular = || std::fs::metadata(&job.source).is_ok_and(|metadata| metadata.is_file());
        self.many = match self.parallel {
            Some(_) if regular() => Some(frames::has_many(&job.source)),
            Some(_) => None,
            None => Some(false),
        };
        Ok(Opening {
            threaded: self.many == Some(true),
            ..opening()
        })
    }

    fn run(&mut self, stream: &mut Stream<'_>) -> std::result::Result<(), Stop> {
        if self.as_gzip {
            let first = stream.peek(gzip::MAGIC.len())?;
            // An empty source ends too early, which the decoder says.
            match gzip::MAGIC.starts_with(&first) {
                false if self.pass_through => return Passing::default().rest(stream, &[], 0),
                false => return Err(Stop::Failed(no_gzip(&stream.name()))),
                true => {}
            }
        }
        if self.part.is_none()
            && let Some(format) = Format::other(|magic| stream.begins_with(magic))?
        {
            return match format {
                Format::Gzip => self.read_gzip(stream),
                other => self.read_other(other, stream),
            };
        }
        if self.part.is_none() && self.read_patch(stream)? {
            return Ok(());
        }
        if let Some((table, range)) = self.part.take() {
            self.hold_older()?;
            return self.read_range(stream, &table, range);
        }
        if self.many != Some(false)
            && let Some(mut decoder) = self.parallel.take()
        {
            decoder.reset(self.many == Some(true));
            let result = self.read_frames(stream, &mut decoder);
            self.parallel = Some(decoder);
            return result;
        }
        self.read_in_order(stream)
    }

    fn another(&self) -> Option<Self> {
        if self.range.is_some() || self.older.is_some() {
            return None;
        }
        let mut options = self.options.clone();
        options.window_log_max = options.window_log_max.min(WINDOW_LOG_MAX_OF_ANOTHER);
        Some(Self {
            decoder: Decoder::new(&options).ok()?,
            options,
            older: None,
            pass_through: self.pass_through,
            parallel: None,
            range: None,
            part: None,
            many: None,
            is_another: true,
            gzip: None,
            as_gzip: self.as_gzip,
            trailing: Vec::new(),
            totals: GzipTotals::default(),
            checksums: 0,
            checksum_errors: 0,
        })
    }

    fn merge(&mut self, other: Self) {
        self.checksums += other.checksums;
        self.checksum_errors += other.checksum_errors;
        self.trailing.extend(other.trailing);
    }
}

impl Decompress {
    /// Decodes block by block on this thread.
    fn read_in_order(&mut self, stream: &mut Stream<'_>) -> std::result::Result<(), Stop> {
        self.decoder.reset();
        let name = stream.name();
        let mut produced_before = 0_u64;
        let mut passing = Passing::default();
        loop {
            let input = stream.next()?;
            if input.is_empty() {
                break;
            }
            let mut rest: &[u8] = &input;
            loop {
                let mut operation = Operation::default();
                let decoder = &mut self.decoder;
                let step = match stream.call(
                    Decoder::recommended_output_bytes(),
                    &mut operation,
                    |room| decoder.push(rest, room),
                )? {
                    Ok(step) => step,
                    Err(error) if self.pass_through && is_other(&error) => {
                        return passing.rest(stream, &input, error.offset().unwrap_or(0));
                    }
                    Err(error) => return Err(self.failed(&name, &error)),
                };
                stream.produced(step.produced);
                rest = &rest[step.consumed..];
                record_block(stream, operation, &mut produced_before, step.produced);
                if rest.is_empty() && step.state != State::MoreOutput {
                    break;
                }
            }
            passing.leave(&input);
        }
        let totals = match self.decoder.finish() {
            Ok(totals) => totals,
            Err(error) if self.pass_through && is_other(&error) => {
                return passing.rest(stream, &[], error.offset().unwrap_or(0));
            }
            // gzip copies what is empty, too.
            Err(error) if self.pass_through && self.as_gzip && error.is_no_frame() => {
                return Ok(());
            }
            // Too short to decide whether it is a frame.
            Err(_) if self.pass_through && passing.is_magic_cut_short() => {
                return passing.rest(stream, &[], 0);
            }
            Err(error) => return Err(self.failed(&name, &error)),
        };
        self.checksums += totals.checksums_verified;
        Ok(())
    }

    /// Decodes frames in parallel.
    fn read_frames(
        &mut self,
        stream: &mut Stream<'_>,
        decoder: &mut ParallelDecoder,
    ) -> std::result::Result<(), Stop> {
        let name = stream.name();
        if let Some(place) = stream.place() {
            decoder.set_positioned_writer(place);
        }
        loop {
            let input = stream.next()?;
            let ended = input.is_empty();
            let mut rest: &[u8] = &input;
            loop {
                let mut operation = Operation::default();
                let mut before = decoder.totals().bytes_out;
                let step = stream
                    .call(
                        Decoder::recommended_output_bytes(),
                        &mut operation,
                        |room| match ended {
                            true => decoder.end(room, WAIT_MAX),
                            false => decoder.push(rest, room, WAIT_MAX),
                        },
                    )?
                    .map_err(|error| self.failed(&name, &error))?;
                stream.produced(step.produced);
                rest = &rest[step.consumed..];
                record_block(stream, operation, &mut before, step.produced);
                let idle = step.consumed + step.produced == 0 && step.output.is_none();
                if let Some(output) = step.output {
                    stream.write(output)?;
                }
                if step.placed > 0 {
                    stream.placed(step.placed)?;
                } else if idle && signal::interrupted() {
                    return Err(Stop::Interrupted);
                }
                match step.state {
                    State::MoreOutput => {}
                    State::NeedInput => break,
                    State::Done => {
                        self.checksums += decoder.totals().checksums_verified;
                        return Ok(());
                    }
                }
            }
        }
    }

    /// Decodes a part of the content, from the frames that contain it.
    fn read_range(
        &mut self,
        stream: &mut Stream<'_>,
        table: &SeekTable,
        range: std::ops::Range<u64>,
    ) -> std::result::Result<(), Stop> {
        let name = stream.name();
        let start = range.start;
        if !table.is_open() && start > table.content_bytes() {
            return Err(beyond(&name, start, table.content_bytes()).into());
        }
        let mut decoder = RangeDecoder::new(table, range, &self.options)
            .map_err(|error| self.failed(&name, &error))?;
        loop {
            let input = stream.next()?;
            if input.is_empty() {
                break;
            }
            let mut rest: &[u8] = &input;
            loop {
                let mut operation = Operation::default();
                let mut before = decoder.range().start;
                let step = stream
                    .call(
                        Decoder::recommended_output_bytes(),
                        &mut operation,
                        |room| decoder.push(rest, room),
                    )?
                    .map_err(|error| self.failed(&name, &error))?;
                stream.produced(step.produced);
                rest = &rest[step.consumed..];
                record_block(stream, operation, &mut before, step.produced);
                match step.state {
                    State::MoreOutput => {}
                    State::NeedInput => break,
                    State::Done => return Ok(()),
                }
            }
        }
        decoder
            .finish()
            .map_err(|error| self.failed(&name, &error))?;
        match decoder.decoded_bytes() {
            bytes if bytes < start => Err(beyond(&name, start, bytes).into()),
            _ => Ok(()),
        }
    }
}

/// Records a decoded block that starts `before` bytes into the content.
pub(super) fn record_block(
    stream: &mut Stream<'_>,
    operation: Operation,
    before: &mut u64,
    produced: usize,
) {
    if produced > 0 {
        let (name, at) = (stream.name(), *before);
        stream.record(operation, || {
            format!("{name}, block of byte {at} of the content")
        });
        *before += produced as u64;
    }
}

fn beyond(name: &str, start: u64, bytes: u64) -> Failure {
    Failure::new(format!(
        "the range starts at byte {start}, but the content of {name} has {bytes} bytes"
    ))
    .help("`perfkit decompress -l` shows the size of the content")
}
