//! Compresses all files of a run: each as a frame, or as frames that threads compress.

use std::time::Instant;

use files::BUFFER_BYTES;
use files::plan::Job;
use files::sink::Written;
use files::source::Summary;
use zipstream::gzip::GzipEncoder;
use zstdkit::EncoderOptions;
use zstdkit::parallel::{JobObserver, SeekableEncoder};
use zstdkit::{Operation as Directive, State};

use crate::commands::codec::codec_failure;
use crate::commands::compress::adapt::Adapt;
use crate::commands::compress::flags::CompressPlan;
use crate::commands::compress::press::Press;
use crate::commands::formats::Format;
use crate::commands::patch::SegmentedPlan;
use crate::commands::transfer::{Opening, Operation, Stage, Stop, Stream, WAIT_MAX};
use crate::failure::{Failure, Result};
use crate::term::signal;

/// Input of one operation: the largest zstd block, so that without worker threads one call
/// compresses one block.
pub(super) const CHUNK_BYTES: usize = 128 * 1024;
/// Output that a chunk needs at most, if nothing in it repeats (`ZSTD_compressBound`, rounded up).
pub(super) const ROOM_BYTES: usize = CHUNK_BYTES + CHUNK_BYTES / 128 + 64;

/// Input of a job whose level may be changed by the time it is done.
const ADAPTED_JOB_BYTES: usize = 2 << 20;

/// Encoders that are kept for later files of other sizes.
const ENCODERS_MAX: usize = 4;

/// The encoders of a run, created when files need them.
pub(crate) struct Compress {
    pub(super) plan: CompressPlan,
    /// The encoder used last, with its settings, and a few before it.
    encoders: Vec<(EncoderOptions, Press)>,
    /// The encoder for seekable files, if they are asked for.
    seekable: Option<SeekableEncoder>,
    /// The encoder for gzip files, once there was one.
    pub(super) gzip: Option<GzipEncoder>,
    /// Whether a patch of segments is written.
    pub(super) segmented: Option<SegmentedPlan>,
    pub(super) verified: u64,
    pub(super) wrong: u64,
}

impl Compress {
    pub(crate) fn new(plan: CompressPlan, observer: impl FnOnce() -> JobObserver) -> Result<Self> {
        let failed = |error| Failure::new(format!("cannot set up the encoder: {error}"));
        let seekable = plan.seekable.map(|bytes| {
            let (options, threads) = within(&plan, bytes)?;
            SeekableEncoder::new(&options, bytes, threads as usize)
                .map(|encoder| encoder.observer(observer()))
        });
        let mut stage = Self {
            seekable: seekable.transpose().map_err(failed)?,
            plan,
            encoders: Vec::new(),
            gzip: None,
            segmented: None,
            verified: 0,
            wrong: 0,
        };
        if stage.plan.format == Format::Zstd {
            // Invalid settings are a mistake of the command line, not of the first file.
            stage.prepare(&[], None).map_err(failed)?;
        }
        Ok(stage)
    }

    /// Puts the encoder for content that starts with `first` at the end of the list.
    fn prepare(
        &mut self,
        first: &[u8],
        size: Option<u64>,
    ) -> std::result::Result<(), zstdkit::Error> {
        let mut options = self.options(first, size);
        if let Some(limit) = self.plan.memory_limit {
            options = options.within_memory(limit, size)?;
        }
        let known = self.encoders.iter().position(|(of, _)| *of == options);
        let encoder = match known {
            Some(index) => self.encoders.remove(index).1,
            None => Press::new(&options)?,
        };
        if self.encoders.len() >= ENCODERS_MAX {
            self.encoders.remove(0);
        }
        self.encoders.push((options, encoder));
        Ok(())
    }

    pub(super) fn options(&self, first: &[u8], size: Option<u64>) -> EncoderOptions {
        let asked = &self.plan.encoder;
        let mut options = match self.plan.recipe {
            Some(recipe) => {
                let own = recipe.options(first, size);
                asked
                    .clone()
                    .with_level(own.level)
                    .with_parameters(own.parameters)
                    .with_window_log(asked.window_log.or(own.window_log))
                    .with_long_distance(asked.long_distance || own.long_distance)
            }
            None => asked.clone(),
        };
        if let Some(prefix) = &options.prefix {
            // Both versions must fit into one window, as with the zstd command.
            let reach = size.unwrap_or(0).max(prefix.len() as u64).max(1);
            options
                .window_log
                .get_or_insert((reach.ilog2() + 1).clamp(10, 31));
            options.long_distance = true;
        }
        if self.has_workers() {
            options.workers = self.plan.threads;
            if self.plan.adapt.is_some() {
                options.job_size.get_or_insert(ADAPTED_JOB_BYTES);
            }
            options = options.lean_jobs();
        }
        options
    }

    /// Whether the reading thread should compute the checksum: not if the codec has threads of its own,
    /// because they do it.
    fn hashes_apart(&self) -> bool {
        self.plan.format == Format::Zstd
            && self.plan.encoder.checksum
            && !self.has_workers()
            && self.seekable.is_none()
            && self.segmented.is_none()
    }

    /// Whether libzstd compresses on threads of its own.
    fn has_workers(&self) -> bool {
        let plan = &self.plan;
        plan.threads > 1 || plan.encoder.rsyncable || plan.adapt.is_some()
    }

    fn encoder(&mut self) -> &mut Press {
        let last = self.encoders.len() - 1;
        &mut self.encoders[last].1
    }
}

impl Stage for Compress {
    fn open(&mut self, _: &Job) -> Result<Opening> {
        Ok(Opening {
            threaded: self.seekable.is_some(),
            hash: self.hashes_apart(),
            ..Opening::default()
        })
    }

    fn run(&mut self, stream: &mut Stream<'_>) -> std::result::Result<(), Stop> {
        match self.plan.format {
            Format::Zstd => {}
            Format::Gzip => return self.write_gzip(stream),
            _ => return self.write_other(stream),
        }
        if let Some(plan) = self.segmented.clone() {
            return self.write_patch(&plan, stream);
        }
        if let Some(encoder) = &mut self.seekable {
            return many_frames(encoder, stream);
        }
        let name = stream.name();
        let failed = |error: zstdkit::Error| codec_failure("compress", &name, &error);
        let mut input = stream.next()?;
        let mut last = input.len() < BUFFER_BYTES;
        let is_named = stream.path().as_os_str() != "-" && stream.stated_size().is_some();
        let declared = self.plan.stream_size.filter(|_| !is_named);
        if let (true, Some(size)) = (last, declared)
            && size != input.len() as u64
        {
            let read = input.len() as u64;
            return Err(Stop::Failed(misstated(&name, size, read)));
        }
        let stated = declared.or(stream.stated_size());
        let resized = |stream: &Stream<'_>, size, read| match declared {
            Some(size) => misstated(&stream.name(), size, read),
            None => resized(stream, size, read),
        };
        // The size of content that is completely in memory is more reliable than that of the file system.
        let size = if last {
            Some(input.len() as u64)
        } else {
            stated
        };
        self.prepare(&input, size).map_err(&failed)?;
        let apart = self.hashes_apart() && stream.is_hashed_apart();
        match apart {
            true => self.encoder().begin_external_checksum(size),
            false => self.encoder().begin(size),
        }
        .map_err(&failed)?;
        let mut adapt = self.plan.adapt.map(|levels| {
            let level = self.plan.encoder.level;
            Adapt::new(levels, level, Instant::now())
        });
        if let Some(adapt) = &adapt {
            // An encoder that was used before has the level of its last file.
            let level = adapt.level();
            self.encoder().set_level(level);
        }
        let mut offset = 0_u64;
        loop {
            let read = offset + input.len() as u64;
            match size {
                Some(size) if read > size || (last && read < size) => {
                    return Err(Stop::Failed(resized(stream, size, read)));
                }
                _ => {}
            }
            if let (Some(size), false) = (size.filter(|&size| read == size), last) {
                // A file that grew while it was read has more content than was stated.
                match stream.next()?.len() as u64 {
                    0 => last = true,
                    more => return Err(Stop::Failed(resized(stream, size, size + more))),
                }
            }
            if let (true, true, Some(hash)) = (apart, last, stream.hash()) {
                self.encoder().set_content_hash(hash);
            }
            let mut rest: &[u8] = &input;
            loop {
                let (chunk, after) = rest.split_at(rest.len().min(CHUNK_BYTES));
                let end = last && after.is_empty();
                self.chunk(stream, chunk, end, offset, &failed)?;
                offset += chunk.len() as u64;
                rest = after;
                let adapted = adapt.as_mut();
                if let Some(level) =
                    adapted.and_then(|adapt| adapt.look(Instant::now(), stream.waits()))
                {
                    self.encoder().set_level(level);
                }
                if rest.is_empty() {
                    break;
                }
            }
            if last {
                return Ok(());
            }
            input = stream.next()?;
            last = input.len() < BUFFER_BYTES;
        }
    }

    fn check(&mut self, job: &Job, read: &Summary, written: &Written) -> Result<()> {
        if let Some(change) = read.change {
            let name = files::display(&job.source);
            return Err(changed(&name, &change.to_string()));
        }
        if !self.plan.verify {
            return Ok(());
        }
        self.verified += 1;
        let reason = match &written.verified {
            Some(Ok((hash, bytes))) if (Some(*hash), *bytes) == (read.xxh64, read.bytes) => {
                return Ok(());
            }
            Some(Err(error)) => error.clone(),
            _ => "it differs from the input".to_owned(),
        };
        self.wrong += 1;
        let name = files::display(&job.source);
        Err(Failure::new(format!(
            "the output for {name} does not decompress to its content: {reason}"
        ))
        .help("no file was replaced; please report this as a bug, with the command line"))
    }

    fn another(&self) -> Option<Self> {
        let plan = self.plan_of_another()?;
        let mut another = Self {
            plan,
            encoders: Vec::new(),
            seekable: None,
            gzip: None,
            segmented: None,
            verified: 0,
            wrong: 0,
        };
        if another.plan.format == Format::Zstd {
            another.prepare(&[], None).ok()?;
        }
        Some(another)
    }

    fn merge(&mut self, other: Self) {
        self.verified += other.verified;
        self.wrong += other.wrong;
    }
}

impl Compress {
    /// The plan for one of many small files.
    fn plan_of_another(&self) -> Option<CompressPlan> {
        let apart = self.plan.seekable.is_none()
            && self.plan.encoder.prefix.is_none()
            && self.segmented.is_none();
        apart.then(|| CompressPlan {
            // The output for a single job is the same without threads.
            threads: 1,
            // And over before a level could change.
            adapt: None,
            ..self.plan.clone()
        })
    }

    fn chunk(
        &mut self,
        stream: &mut Stream<'_>,
        mut chunk: &[u8],
        end: bool,
        offset: u64,
        failed: &impl Fn(zstdkit::Error) -> Failure,
    ) -> std::result::Result<(), Stop> {
        let directive = if end {
            Directive::End
        } else {
            Directive::Continue
        };
        let mut operation = Operation::default();
        loop {
            let encoder = self.encoder();
            let step = stream
                .call(ROOM_BYTES, &mut operation, |room| {
                    encoder.push(chunk, room, directive)
                })?
                .map_err(failed)?;
            stream.produced(step.produced);
            chunk = &chunk[step.consumed..];
            // Worker threads may need a while.
            if step.consumed + step.produced == 0 && signal::interrupted() {
                return Err(Stop::Interrupted);
            }
            let done = if end {
                step.state == State::Done
            } else {
                chunk.is_empty()
            };
            if done {
                break;
            }
        }
        let name = stream.name();
        stream.record(operation, || format!("{name}, chunk at byte {offset}"));
        Ok(())
    }
}

/// The settings of frames with this much content, and the threads that fit the limit together. Each of them holds a
/// frame, its content and one that waits.
fn within(
    plan: &CompressPlan,
    bytes: usize,
) -> std::result::Result<(EncoderOptions, u32), zstdkit::Error> {
    let Some(limit) = plan.memory_limit else {
        return Ok((plan.encoder.clone(), plan.threads));
    };
    let content = bytes as u64;
    let held = content.saturating_mul(3);
    let each = held.saturating_add(plan.encoder.memory_estimate_bytes(Some(content)));
    let threads = u32::try_from(limit / each.max(1)).unwrap_or(u32::MAX);
    let threads = threads.clamp(1, plan.threads);
    let room = (limit / u64::from(threads)).saturating_sub(held);
    let options = plan.encoder.clone().within_memory(room, Some(content))?;
    Ok((options, threads))
}

/// A source as frames that threads compress, and a seek table.
fn many_frames(
    encoder: &mut SeekableEncoder,
    stream: &mut Stream<'_>,
) -> std::result::Result<(), Stop> {
    let name = stream.name();
    let failed = |error: zstdkit::Error| codec_failure("compress", &name, &error);
    encoder.reset();
    loop {
        let input = stream.next()?;
        let ended = input.is_empty();
        let mut rest: &[u8] = &input;
        loop {
            let step = stream.call_alone(|| match ended {
                true => encoder.end(WAIT_MAX),
                false => encoder.push(rest, WAIT_MAX),
            });
            let step = step.map_err(&failed)?;
            rest = &rest[step.consumed..];
            match step.output {
                Some(frame) => stream.write(frame)?,
                // Threads may need a while.
                None if step.consumed == 0 && signal::interrupted() => {
                    return Err(Stop::Interrupted);
                }
                None => {}
            }
            match step.state {
                State::MoreOutput => {}
                State::NeedInput => break,
                State::Done => return Ok(()),
            }
        }
    }
}

/// The source does not have the size that the header of its frame states.
fn resized(stream: &Stream<'_>, size: u64, read: u64) -> Failure {
    let name = stream.name();
    let change = if read < size {
        format!("it shrank from {size} to {read} bytes")
    } else {
        format!("it grew past {size} bytes")
    };
    changed(&name, &change)
}

/// The source does not have the size that was declared.
fn misstated(name: &str, size: u64, read: u64) -> Failure {
    let more = if read > size { " or more" } else { "" };
    Failure::new(format!(
        "cannot compress {name}: --stream-size states {size} bytes, but it has {read}{more}"
    ))
    .help("leave out --stream-size if the size is unknown")
    .code(11)
}

/// The error for a file that is not compressed because it changed.
fn changed(name: &str, change: &str) -> Failure {
    Failure::new(format!(
        "cannot compress {name}: {change} while it was read"
    ))
    .help("compress a copy, or pipe it in")
}
