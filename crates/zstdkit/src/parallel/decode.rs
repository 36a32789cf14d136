//! The parallel decoder: runs of whole frames go to threads, everything else goes through a decoder on
//! the calling thread. A run that does not decode goes through that decoder too, so that partial content
//! and error are the same as without threads.

mod decoded;
mod replay;
mod work;

use std::time::Duration;

pub use self::decoded::Decoded;
use self::replay::{Mode, Replay};
use self::work::{Accepted, Done, Made, Task, worker};
use super::buffers::Buffers;
use super::hooks::{JobObserver, PositionedWriter, no_observer};
use super::plan::{Limits, Part, Planner, Run};
use super::workers::{OrderedWorkers, Worker};
use crate::decoder::{Decoder, Totals};
use crate::error::{Error, Repr};
use crate::options::DecoderOptions;
use crate::step::State;

/// The most input that a call takes.
const INPUT_BYTES_MAX: usize = 128 << 10;
/// Content of a run that a call decodes itself: as much as a block has.
const OWN_BYTES_MAX: u64 = 128 << 10;

/// Decompresses the frames of a stream in parallel.
///
/// A call takes at most 128 KiB of input, decodes at most 128 KiB of content itself, and waits for threads no
/// longer than it is told to.
///
/// Frames of up to 32 MiB are held until they are complete and then decoded by a thread. At most one
/// more run of frames than there are threads is in progress, so memory is bounded. The calling thread
/// decodes larger frames as they come. Threads are started when there is work for them.
///
/// ```
/// use std::time::Duration;
/// use zstdkit::{State, parallel::ParallelDecoder};
///
/// let frame = zstdkit::compress(&[7; 300_000], &Default::default())?;
/// let stream = frame.repeat(9);
/// let mut decoder = ParallelDecoder::new(&Default::default(), 2)?;
/// let (mut rest, mut content, mut room) = (&stream[..], Vec::new(), vec![0; 1 << 17]);
/// loop {
///     // Other work can be done after each millisecond.
///     let wait = Duration::from_millis(1);
///     let step = match rest {
///         [] => decoder.end(&mut room, wait)?,
///         rest => decoder.push(rest, &mut room, wait)?,
///     };
///     rest = &rest[step.consumed..];
///     content.extend_from_slice(step.output.as_deref().unwrap_or(&room[..step.produced]));
///     if step.state == State::Done {
///         break;
///     }
/// }
/// assert_eq!(content, vec![7; 9 * 300_000]);
/// assert_eq!(decoder.totals().frames, 9);
/// # Ok::<(), zstdkit::Error>(())
/// ```
#[doc(alias = "multithreading")]
pub struct ParallelDecoder {
    options: DecoderOptions,
    threads: usize,
    decoder: Decoder,
    planner: Planner,
    workers: OrderedWorkers<Task, Done>,
    /// A worker on this thread, for streams of a single short run.
    own: Option<Worker<Task, Done>>,
    mode: Mode,
    /// A run that a worker could not decode: decoded next, in order.
    retry: Option<Replay>,
    /// The newest part of the stream, which waits until everything before it was handed out.
    held: Option<Replay>,
    /// The totals of everything handed out.
    totals: Totals,
    stored: Buffers,
    content: Buffers,
    observer: JobObserver,
    writer: Option<PositionedWriter>,
    failed: Option<Error>,
}

impl ParallelDecoder {
    /// A decoder with up to this many threads in addition to the calling one. With one or none the
    /// calling thread does everything, like a [`Decoder`].
    ///
    /// A memory limit applies to each frame, as in a [`Decoder`], and also bounds how much of the
    /// stream is held.
    pub fn new(options: &DecoderOptions, threads: usize) -> Result<Self, Error> {
        // libzstd forgets a prefix after the first frame of a run.
        let threads = if options.prefix.is_some() { 1 } else { threads };
        let limits = Limits::new(options.memory_limit, threads);
        Ok(Self {
            options: options.clone(),
            threads,
            decoder: Decoder::new(options)?,
            planner: Planner::new(limits),
            workers: OrderedWorkers::new(threads),
            own: None,
            mode: Mode::InOrder,
            retry: None,
            held: None,
            totals: Totals::default(),
            stored: Buffers::new(),
            content: Buffers::new(),
            observer: no_observer(),
            writer: None,
            failed: None,
        })
    }

    /// Calls `observer` around the decoding of each run of frames. Set it before the first push.
    #[must_use]
    pub fn observer(mut self, observer: JobObserver) -> Self {
        self.observer = observer;
        self
    }

    /// Forgets the stream and starts at byte 0 of another, keeping threads and memory. Set `many` if
    /// the stream is known to have more than one frame. Otherwise the first frame is decoded as it
    /// comes, so that a stream of one frame is never held.
    pub fn reset(&mut self, many: bool) {
        self.workers.forget();
        self.decoder.reset();
        self.retry = None;
        self.held = None;
        self.totals = Totals::default();
        self.writer = None;
        self.failed = None;
        self.mode = Mode::InOrder;
        if many && self.threads > 1 {
            self.gather();
        }
    }

    /// Has workers write content to its final position where that is known: if all earlier frames
    /// state their size. Valid until the next [`reset`](ParallelDecoder::reset). Totals count such
    /// content in order, like all other content.
    pub fn set_positioned_writer(&mut self, writer: PositionedWriter) {
        self.writer = Some(writer);
    }

    /// Takes input and hands out content: in the room, in an [`Output`](super::Output), or as a count of bytes that a
    /// worker has already written.
    ///
    /// Call it until it has taken all input and the state is not [`State::MoreOutput`]. If a call can do nothing
    /// else, it waits for a thread up to `wait`, and may then have done nothing.
    pub fn push(
        &mut self,
        input: &[u8],
        room: &mut [u8],
        wait: Duration,
    ) -> Result<Decoded, Error> {
        self.guarded(|this| this.step(input, room, false, wait))
    }

    /// Tells it that the stream has ended. Each call hands out more of the rest, after waiting for it up to `wait`,
    /// until the state is [`State::Done`]: the stream was complete.
    pub fn end(&mut self, room: &mut [u8], wait: Duration) -> Result<Decoded, Error> {
        self.guarded(|this| this.step(&[], room, true, wait))
    }

    /// The totals of everything handed out so far.
    pub fn totals(&self) -> Totals {
        self.totals
    }

    /// The number of threads that were started.
    pub fn threads(&self) -> usize {
        self.workers.threads()
    }

    fn guarded(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<Decoded, Error>,
    ) -> Result<Decoded, Error> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        let result = work(self);
        if let Err(error) = &result {
            self.failed = Some(error.clone());
            self.workers.forget();
        }
        result
    }

    fn step(
        &mut self,
        input: &[u8],
        room: &mut [u8],
        end: bool,
        mut wait: Duration,
    ) -> Result<Decoded, Error> {
        let piece = &input[..input.len().min(INPUT_BYTES_MAX)];
        let mut consumed = 0;
        loop {
            if self.replay_is_due() {
                let produced = self.go_on_with_replay(room)?;
                if produced > 0 || room.is_empty() {
                    return Ok(Decoded::more(consumed, produced, None));
                }
                continue;
            }
            let must_wait = self.must_wait(end);
            let needs_input = !end && consumed == input.len();
            let limit = match must_wait && consumed == 0 && !needs_input {
                true => std::mem::take(&mut wait),
                false => Duration::ZERO,
            };
            match self.result(limit)?.map(|done| self.accept(done)) {
                Some(Some(Accepted::Output(output))) if !output.is_empty() => {
                    return Ok(Decoded::more(consumed, 0, Some(output)));
                }
                Some(Some(Accepted::Placed(placed))) => {
                    let more = Decoded::more(consumed, 0, None);
                    return Ok(Decoded { placed, ..more });
                }
                Some(_) => continue,
                None if must_wait => {
                    let state = match needs_input {
                        true => State::NeedInput,
                        false => State::MoreOutput,
                    };
                    let more = Decoded::more(consumed, 0, None);
                    return Ok(Decoded { state, ..more });
                }
                None => {}
            }
            let rest = &piece[consumed..];
            if self.mode == Mode::InOrder {
                let step = self.decoder.push(rest, room)?;
                consumed += step.consumed;
                self.totals = self.decoder.totals();
                if self.threads > 1 && self.decoder.at_boundary() {
                    self.gather();
                }
                if step.produced > 0 || (step.state == State::MoreOutput && room.is_empty()) {
                    return Ok(Decoded::more(consumed, step.produced, None));
                }
                if step.state == State::MoreOutput {
                    continue;
                }
            } else {
                let stored = &self.stored;
                let (taken, part) = self.planner.push(rest, || stored.take());
                consumed += taken;
                if let Some(part) = part {
                    self.start(part)?;
                    continue;
                }
                if let Some(part) = end.then(|| self.planner.finish()).flatten() {
                    self.start_last(part)?;
                    continue;
                }
            }
            let state = match end {
                true => self.finish()?,
                false if consumed < input.len() => State::MoreOutput,
                false => State::NeedInput,
            };
            let more = Decoded::more(consumed, 0, None);
            return Ok(Decoded { state, ..more });
        }
    }

    fn gather(&mut self) {
        self.planner.resume(&self.totals);
        self.mode = Mode::Gather;
    }

    fn finish(&mut self) -> Result<State, Error> {
        if self.mode == Mode::Gather {
            self.decoder.resume(self.totals);
        }
        self.decoder.finish().map(|_| State::Done)
    }

    fn start(&mut self, part: Part) -> Result<(), Error> {
        match part {
            Part::Frames(run) => {
                let task = self.task(run);
                let (options, observer) = (&self.options, &self.observer);
                self.workers.submit(task, || {
                    let (options, observer) = (options.clone(), observer.clone());
                    Box::new(move || worker(&options, observer.clone()))
                })
            }
            Part::InOrder(bytes) => {
                self.held = Some(Replay::new(bytes));
                Ok(())
            }
        }
    }

    /// Starts no thread for a short last run of a stream.
    fn start_last(&mut self, part: Part) -> Result<(), Error> {
        let alone = self.workers.is_idle() && self.workers.threads() == 0;
        match part {
            Part::Frames(run) if alone && run.content_bytes_max <= OWN_BYTES_MAX => {
                let task = self.task(run);
                let own = match &mut self.own {
                    Some(own) => own,
                    none => none.insert(worker(&self.options, self.observer.clone())?),
                };
                let done = own(task);
                self.workers.finished(done);
                Ok(())
            }
            part => self.start(part),
        }
    }

    fn task(&self, run: Run) -> Task {
        let limit = self.options.output_limit.unwrap_or(u64::MAX);
        let end = run
            .content_start
            .filter(|_| run.sized)
            .and_then(|start| start.checked_add(run.content_bytes_max));
        let fits = end.is_some_and(|end| end <= limit);
        let writer = self.writer.clone().filter(|_| fits);
        // A worker that writes content itself keeps its memory, which is faster.
        let content = match writer {
            Some(_) => Vec::new(),
            None => self.content.take(),
        };
        Task {
            run,
            content,
            writer,
        }
    }

    /// Whether nothing can be done before the next result.
    fn must_wait(&self, end: bool) -> bool {
        // At the end the threads may still need more work before waiting makes sense.
        let last = end && !self.planner.has_more();
        !self.workers.is_idle() && (self.workers.is_full() || self.held.is_some() || last)
    }

    /// The next result, if it comes within this time.
    fn result(&mut self, wait: Duration) -> Result<Option<Done>, Error> {
        let offset = self.totals.bytes_in;
        let result = self.workers.next_within(wait);
        result.map_err(|_| Repr::WorkerGone { offset }.into())
    }

    /// Hands out the result of a worker. If there is none, or it exceeds the output limit, the run is
    /// decoded again in order.
    fn accept(&mut self, done: Done) -> Option<Accepted> {
        let content_bytes = match &done.result {
            Made::Content(content) => Some(content.len() as u64),
            Made::Placed(bytes) => Some(*bytes),
            Made::Nothing(_) => None,
        };
        let limit = self.options.output_limit.unwrap_or(u64::MAX);
        let bytes_out = content_bytes
            .map(|bytes| self.totals.bytes_out.saturating_add(bytes))
            .filter(|&bytes_out| bytes_out <= limit);
        let Some(bytes_out) = bytes_out else {
            if let Made::Content(content) | Made::Nothing(content) = done.result {
                self.content.give(content);
            }
            self.retry = Some(Replay::new(done.run.bytes));
            return None;
        };
        self.totals.bytes_in = done.run.start + done.run.bytes.len() as u64;
        self.totals.bytes_out = bytes_out;
        self.totals.frames += done.run.frames;
        self.totals.skippable_frames += done.run.skippable_frames;
        if self.options.verify_checksum {
            self.totals.checksums_verified += done.run.checksums;
        }
        self.stored.give(done.run.bytes);
        match done.result {
            Made::Placed(bytes) => Some(Accepted::Placed(bytes)),
            Made::Content(content) | Made::Nothing(content) => {
                Some(Accepted::Output(self.content.output(content)))
            }
        }
    }
}

impl std::fmt::Debug for ParallelDecoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ParallelDecoder")
            .field("options", &self.options)
            .field("threads", &self.threads)
            .field("totals", &self.totals)
            .field("failed", &self.failed)
            .finish_non_exhaustive()
    }
}
