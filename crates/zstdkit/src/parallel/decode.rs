//! The parallel decoder: runs of whole frames go to threads, everything else goes through a
//! decoder on the calling thread. Where a run does not decode, it goes through that one as well, so
//! that partial content and error are those of a decoder without threads.

mod work;

use self::work::{Done, Made, Task, worker};
use super::plan::{Limits, Part, Planner, Run};
use super::workers::{OrderedWorkers, Worker};
use super::{Buffers, JobObserver, Output, PositionedWriter, no_observer};
use crate::decoder::{Decoder, Totals};
use crate::error::{Error, Repr};
use crate::options::DecoderOptions;
use crate::step::State;

/// What is held of a stream where no memory limit says otherwise.
const LIMITS: Limits = Limits {
    stored_bytes_max: 32 << 20,
    unsized_bytes_max: 4 << 20,
    content_bytes_max: 32 << 20,
    run_stored_bytes: 1 << 20,
    // What a thread made is read again soon: about as much as its second-level cache has room for.
    run_content_bytes: 1 << 20,
};

/// What one call of a [`ParallelDecoder`] did.
#[derive(Debug)]
#[must_use = "the counts say which bytes were taken and written"]
pub struct Decoded {
    /// Bytes taken from the start of the input. The rest must be given again.
    pub consumed: usize,
    /// Bytes written to the start of the room.
    pub produced: usize,
    /// Content that a worker made; then nothing was written to the room.
    pub output: Option<Output>,
    /// Bytes of content that are next and that a worker has put in their place; then there is none
    /// in the room or in memory.
    pub placed: u64,
    /// What to do next.
    pub state: State,
}

impl Decoded {
    fn more(consumed: usize, produced: usize, output: Option<Output>) -> Self {
        Self {
            consumed,
            produced,
            output,
            placed: 0,
            state: State::MoreOutput,
        }
    }
}

/// Decompresses a stream of frames, frames side by side.
///
/// Frames of up to 32 MiB are held until they are whole and then decoded by a thread; at most one
/// run of frames more than there are threads is under way, so memory is bounded. Larger frames are
/// decoded as they come, by the calling thread. Threads are started when there is work for them.
///
/// ```
/// use zstdkit::{State, parallel::ParallelDecoder};
///
/// let frame = zstdkit::compress(&[7; 300_000], &Default::default())?;
/// let stream = frame.repeat(9);
/// let mut decoder = ParallelDecoder::new(&Default::default(), 2)?;
/// let (mut rest, mut content, mut room) = (&stream[..], Vec::new(), vec![0; 1 << 17]);
/// loop {
///     let step = match rest {
///         [] => decoder.end(&mut room)?,
///         rest => decoder.push(rest, &mut room)?,
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
pub struct ParallelDecoder {
    options: DecoderOptions,
    threads: usize,
    decoder: Decoder,
    planner: Planner,
    workers: OrderedWorkers<Task, Done>,
    /// A worker on this thread, for streams that are one run.
    own: Option<Worker<Task, Done>>,
    mode: Mode,
    /// A run that a worker gave up: next to be handed out.
    retry: Option<Replay>,
    /// The newest of the stream, which waits until all before it was handed out.
    held: Option<Replay>,
    /// What was handed out.
    totals: Totals,
    stored: Buffers,
    content: Buffers,
    observer: JobObserver,
    writer: Option<PositionedWriter>,
    failed: Option<Error>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// Frames are gathered for the threads.
    Gather,
    /// A frame goes through the decoder as it comes.
    InOrder,
}

/// Bytes that were held, and then have to go through the decoder.
#[derive(Debug)]
struct Replay {
    bytes: Vec<u8>,
    at: usize,
    begun: bool,
}

impl Replay {
    fn new(bytes: Vec<u8>) -> Self {
        Self {
            bytes,
            at: 0,
            begun: false,
        }
    }
}

/// What of a run is to be handed out.
enum Accepted {
    Output(Output),
    Placed(u64),
}

impl ParallelDecoder {
    /// A decoder with up to this many threads beside the calling one. With one or none everything
    /// happens in the call, as by a [`Decoder`].
    ///
    /// A memory limit holds for each frame as for a [`Decoder`], and bounds what is held of the
    /// stream as well.
    pub fn new(options: &DecoderOptions, threads: usize) -> Result<Self, Error> {
        let mut limits = LIMITS;
        // A prefix serves the first frame of what a context is given, not each.
        let threads = if options.prefix.is_some() { 1 } else { threads };
        if let Some(bytes) = options.memory_limit {
            let share = bytes / (threads as u64 + 2) / 2;
            let share_in_memory = usize::try_from(share).unwrap_or(usize::MAX);
            limits.stored_bytes_max = limits.stored_bytes_max.min(share_in_memory);
            limits.unsized_bytes_max = limits.unsized_bytes_max.min(share_in_memory);
            limits.content_bytes_max = limits.content_bytes_max.min(share);
            limits.run_content_bytes = limits.run_content_bytes.min(share / 2);
            limits.run_stored_bytes = limits.run_stored_bytes.min(share_in_memory / 2);
        }
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

    /// Has `observer` called around the work on each run of frames. Before the first push.
    #[must_use]
    pub fn observer(mut self, observer: JobObserver) -> Self {
        self.observer = observer;
        self
    }

    /// Forgets the stream and starts at byte 0 of another, keeping threads and memory. `many`
    /// says that it is known to have more than one frame: without it the first frame is decoded as
    /// it comes, so that a stream of one frame is never held.
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

    /// Has workers put content in its place where they can: that of runs of frames which lie
    /// behind frames that all state their size. Until the next [`reset`](ParallelDecoder::reset);
    /// totals count such content in its turn, like all other.
    pub fn set_positioned_writer(&mut self, writer: PositionedWriter) {
        self.writer = Some(writer);
    }

    /// Takes input, and hands out content: in the room, in memory of its own, or by saying that it
    /// is in its place.
    ///
    /// Call it until it has taken all input and the state is not [`State::MoreOutput`]; a call
    /// does at most one block of work itself, but may wait for a thread to finish its run.
    pub fn push(&mut self, input: &[u8], room: &mut [u8]) -> Result<Decoded, Error> {
        self.guarded(|this| this.step(input, room, false))
    }

    /// The stream has ended: hands out what is left, call by call, until the state is
    /// [`State::Done`], which says that it ended where it may.
    pub fn end(&mut self, room: &mut [u8]) -> Result<Decoded, Error> {
        self.guarded(|this| this.step(&[], room, true))
    }

    /// What was handed out so far.
    pub fn totals(&self) -> Totals {
        self.totals
    }

    /// Threads that were started.
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

    fn step(&mut self, input: &[u8], room: &mut [u8], end: bool) -> Result<Decoded, Error> {
        let mut consumed = 0;
        loop {
            if self.replay_is_due() {
                let produced = self.go_on_with_replay(room)?;
                if produced > 0 || room.is_empty() {
                    return Ok(Decoded::more(consumed, produced, None));
                }
                continue;
            }
            if let Some(done) = self.result(end)? {
                match self.accept(done) {
                    Some(Accepted::Output(output)) if !output.is_empty() => {
                        return Ok(Decoded::more(consumed, 0, Some(output)));
                    }
                    Some(Accepted::Placed(placed)) => {
                        let more = Decoded::more(consumed, 0, None);
                        return Ok(Decoded { placed, ..more });
                    }
                    _ => continue,
                }
            }
            let rest = &input[consumed..];
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
            let state = if end {
                self.finish()?
            } else {
                State::NeedInput
            };
            return Ok(Decoded {
                consumed,
                produced: 0,
                output: None,
                placed: 0,
                state,
            });
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
                self.workers
                    .submit(task, || worker(options, observer.clone()))
            }
            Part::InOrder(bytes) => {
                self.held = Some(Replay::new(bytes));
                Ok(())
            }
        }
    }

    /// The last run of a stream needs no thread to be started for it.
    fn start_last(&mut self, part: Part) -> Result<(), Error> {
        match part {
            Part::Frames(run) if self.workers.is_idle() && self.workers.threads() == 0 => {
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
        // Who places content keeps its memory, and is the quicker for it.
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

    /// The next result, waiting for it where nothing else can be done.
    fn result(&mut self, end: bool) -> Result<Option<Done>, Error> {
        if self.workers.is_idle() {
            return Ok(None);
        }
        // At the end there may be more to give the threads before it is time to wait.
        let more = end && self.planner.has_more();
        let wait = self.workers.is_full() || self.held.is_some() || (end && !more);
        if !wait {
            return Ok(self.workers.try_next());
        }
        let offset = self.totals.bytes_in;
        let done = self.workers.next().ok_or(Repr::WorkerGone { offset })?;
        Ok(Some(done))
    }

    /// Hands out what a worker made; or has the run decoded in order, when it did not make it or
    /// must not have.
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

    fn replay_is_due(&self) -> bool {
        self.retry.is_some() || (self.held.is_some() && self.workers.is_idle())
    }

    /// One step of the decoder through bytes that were held.
    fn go_on_with_replay(&mut self, room: &mut [u8]) -> Result<usize, Error> {
        let slot = match self.retry {
            Some(_) => &mut self.retry,
            None => &mut self.held,
        };
        let Some(replay) = slot else {
            return Ok(0);
        };
        if !std::mem::replace(&mut replay.begun, true) {
            self.decoder.resume(self.totals);
        }
        let step = self.decoder.push(&replay.bytes[replay.at..], room)?;
        replay.at += step.consumed;
        self.totals = self.decoder.totals();
        if step.state == State::MoreOutput || replay.at < replay.bytes.len() {
            return Ok(step.produced);
        }
        if self.retry.take().is_none() {
            // Of bytes that are no frame the planner takes none: they are next in the input.
            let some = self.held.take().is_some_and(|held| held.at > 0);
            self.mode = Mode::InOrder;
            if some && self.decoder.at_boundary() {
                self.gather();
            }
        }
        Ok(step.produced)
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
