//! The seekable encoder: content is split into frames of equal size, which threads compress, followed by
//! a seek table. The output does not depend on the number of threads.

use std::time::Duration;

use super::buffers::{Buffers, Output};
use super::hooks::{JobObserver, no_observer};
use super::workers::{OrderedWorkers, Worker};
use crate::bounds::{saturate, within};
use crate::error::{Error, Repr};
use crate::oneshot::Compressor;
use crate::options::EncoderOptions;
use crate::seekable::SeekTableBuilder;
use crate::step::State;

/// The default content of a frame: one window of the usual levels, so that hardly any ratio is lost.
pub const FRAME_BYTES_DEFAULT: usize = 2 << 20;
/// With less content a frame would be mostly headers.
const FRAME_BYTES_MIN: usize = 1 << 10;
/// The limit that the authors of the format set for a frame of a seekable file.
const FRAME_BYTES_MAX: usize = 1 << 30;
/// The length of a frame's checksum, which ends it.
const CHECKSUM_BYTES: usize = 4;
/// The most input that a call takes.
const INPUT_BYTES_MAX: usize = 128 << 10;
/// Content of a stream of one frame that a call compresses itself.
const OWN_BYTES_MAX: usize = 16 << 10;

/// Compresses a stream into a seekable file: independent frames, compressed in parallel, and a seek
/// table.
///
/// A call takes at most 128 KiB of input and waits for threads no longer than it is told to. It compresses
/// nothing itself, but for a stream of up to 16 KiB.
///
/// At most one more frame than there are threads is in progress. This bounds the memory: the content
/// and the output of that many frames, and a context for each thread. Threads are started when there
/// is work for them.
///
/// ```
/// use std::time::Duration;
/// use zstdkit::State;
/// use zstdkit::{parallel::SeekableEncoder, seekable::SeekTable};
///
/// let content = vec![7; 300_000];
/// let mut encoder = SeekableEncoder::new(&Default::default(), 100_000, 2)?;
/// let (mut rest, mut file) = (&content[..], Vec::new());
/// loop {
///     // Other work can be done after each millisecond.
///     let wait = Duration::from_millis(1);
///     let step = match rest {
///         [] => encoder.end(wait)?,
///         rest => encoder.push(rest, wait)?,
///     };
///     rest = &rest[step.consumed..];
///     file.extend_from_slice(step.output.as_deref().unwrap_or_default());
///     if step.state == State::Done {
///         break;
///     }
/// }
/// assert_eq!(SeekTable::find(&file)?.expect("a table").len(), 3);
/// assert_eq!(zstdkit::decompress(&file, &Default::default())?, content);
/// # Ok::<(), zstdkit::Error>(())
/// ```
pub struct SeekableEncoder {
    options: EncoderOptions,
    frame_bytes: usize,
    workers: OrderedWorkers<Task, Done>,
    /// A worker on this thread, for streams of a single short frame.
    own: Option<Worker<Task, Done>>,
    /// Content of the next frame.
    next: Vec<u8>,
    next_start: u64,
    table: SeekTableBuilder,
    ending: Ending,
    content: Buffers,
    stored: Buffers,
    observer: JobObserver,
    failed: Option<Error>,
}

/// The result of one call of a [`SeekableEncoder`].
#[derive(Debug)]
#[must_use = "the count says which bytes were taken"]
pub struct Encoded {
    /// Bytes taken from the start of the input. The rest must be given again.
    pub consumed: usize,
    /// The next part of the file: a frame, or the seek table.
    pub output: Option<Output>,
    /// What to do next.
    pub state: State,
}

impl Encoded {
    fn more(consumed: usize, output: Option<Output>) -> Self {
        Self {
            consumed,
            output,
            state: State::MoreOutput,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    NotYet,
    /// All content is on its way.
    Asked,
    Done,
}

struct Task {
    start: u64,
    content: Vec<u8>,
    frame: Vec<u8>,
}

struct Done {
    content: Vec<u8>,
    frame: Vec<u8>,
    result: Result<usize, Error>,
}

impl SeekableEncoder {
    /// An encoder of frames of `frame_bytes` of content (1 KiB to 1 GiB), with up to this many threads
    /// in addition to the calling one. The `workers` of the options are ignored.
    pub fn new(
        options: &EncoderOptions,
        frame_bytes: usize,
        threads: usize,
    ) -> Result<Self, Error> {
        let bounds = [FRAME_BYTES_MIN, FRAME_BYTES_MAX].map(saturate);
        within("frame_bytes", saturate(frame_bytes), bounds[0], bounds[1])?;
        let options = EncoderOptions {
            workers: 0,
            job_size: None,
            overlap_log: None,
            rsyncable: false,
            ..options.clone()
        };
        options.validate()?;
        Ok(Self {
            table: SeekTableBuilder::new(options.checksum),
            options,
            frame_bytes,
            workers: OrderedWorkers::new(threads),
            own: None,
            next: Vec::new(),
            next_start: 0,
            ending: Ending::NotYet,
            content: Buffers::new(),
            stored: Buffers::new(),
            observer: no_observer(),
            failed: None,
        })
    }

    /// Calls `observer` around the compression of each frame. Set it before the first push.
    #[must_use]
    pub fn observer(mut self, observer: JobObserver) -> Self {
        self.observer = observer;
        self
    }

    /// Drops everything not handed out and begins another file, keeping threads and memory.
    pub fn reset(&mut self) {
        self.workers.forget();
        self.next.clear();
        self.next_start = 0;
        self.table = SeekTableBuilder::new(self.options.checksum);
        self.ending = Ending::NotYet;
        self.failed = None;
    }

    /// Takes input and hands out the next frame if it is ready. If it can do neither, it waits for a frame up to
    /// `wait`. A step that did nothing is [`State::MoreOutput`]: call again with the rest of the input.
    pub fn push(&mut self, input: &[u8], wait: Duration) -> Result<Encoded, Error> {
        self.guarded(|this| {
            if let (true, given @ 1..) = (this.ending != Ending::NotYet, input.len()) {
                return Err(Repr::NoOpenFrame { given }.into());
            }
            let piece = &input[..input.len().min(INPUT_BYTES_MAX)];
            let mut taken = 0;
            loop {
                let full = this.workers.is_full();
                let waits = full && taken == 0 && !piece.is_empty();
                if let Some(done) = this.result(if waits { wait } else { Duration::ZERO })? {
                    return Ok(Encoded::more(taken, Some(this.accept(done)?)));
                }
                if taken == input.len() {
                    let state = State::NeedInput;
                    return Ok(Encoded {
                        state,
                        ..Encoded::more(taken, None)
                    });
                }
                if full || taken == piece.len() {
                    return Ok(Encoded::more(taken, None));
                }
                let count = (this.frame_bytes - this.next.len()).min(piece.len() - taken);
                if this.next.capacity() == 0 {
                    this.next = this.content.take();
                }
                this.next.extend_from_slice(&piece[taken..taken + count]);
                taken += count;
                if this.next.len() == this.frame_bytes {
                    this.submit()?;
                }
            }
        })
    }

    /// Tells it that the content has ended. Each call hands out the next remaining frame, after waiting for it up
    /// to `wait`; with the seek table the state is [`State::Done`].
    pub fn end(&mut self, wait: Duration) -> Result<Encoded, Error> {
        self.guarded(|this| {
            if this.ending == Ending::NotYet && !this.workers.is_full() {
                this.ending = Ending::Asked;
                // Empty content gives a frame too: a file without one is not valid.
                if !this.next.is_empty() || this.next_start == 0 {
                    this.submit_last()?;
                }
            }
            if let Some(done) = this.result(wait)? {
                return Ok(Encoded::more(0, Some(this.accept(done)?)));
            }
            if !this.workers.is_idle() {
                return Ok(Encoded::more(0, None));
            }
            let table = (this.ending == Ending::Asked).then(|| this.table.take());
            this.ending = Ending::Done;
            Ok(Encoded {
                state: State::Done,
                ..Encoded::more(0, table.map(|table| this.stored.output(table)))
            })
        })
    }

    fn guarded<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T, Error>) -> Result<T, Error> {
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

    /// The next result, if it comes within this time.
    fn result(&mut self, wait: Duration) -> Result<Option<Done>, Error> {
        let offset = self.next_start;
        let result = self.workers.next_within(wait);
        result.map_err(|_| Repr::WorkerGone { offset }.into())
    }

    fn accept(&mut self, done: Done) -> Result<Output, Error> {
        let stored = done.result? as u64;
        let content = done.content.len() as u64;
        self.content.give(done.content);
        // A frame ends with the low half of the XXH64 of its content.
        let checksum = done.frame.last_chunk::<CHECKSUM_BYTES>();
        let checksum = checksum.map(|bytes| u32::from_le_bytes(*bytes));
        self.table.push(stored, content, checksum)?;
        Ok(self.stored.output(done.frame))
    }

    fn submit(&mut self) -> Result<(), Error> {
        let task = self.task();
        let (options, observer) = (&self.options, &self.observer);
        self.workers.submit(task, || {
            let (options, observer) = (options.clone(), observer.clone());
            Box::new(move || worker(&options, observer.clone()))
        })
    }

    /// Starts no thread for a short last frame.
    fn submit_last(&mut self) -> Result<(), Error> {
        if self.workers.threads() > 0 || self.next.len() > OWN_BYTES_MAX {
            return self.submit();
        }
        let task = self.task();
        let own = match &mut self.own {
            Some(own) => own,
            none => none.insert(worker(&self.options, self.observer.clone())?),
        };
        let done = own(task);
        self.workers.finished(done);
        Ok(())
    }

    fn task(&mut self) -> Task {
        let start = self.next_start;
        self.next_start += self.next.len() as u64;
        Task {
            start,
            content: std::mem::take(&mut self.next),
            frame: self.stored.take(),
        }
    }
}

/// Compresses the content of a frame.
fn worker(options: &EncoderOptions, observer: JobObserver) -> Result<Worker<Task, Done>, Error> {
    let mut compressor = Compressor::new(options)?;
    Ok(Box::new(move |task: Task| {
        let Task {
            start,
            content,
            mut frame,
        } = task;
        let mut result = Ok(0);
        observer(start, &mut || {
            result = compressor.compress_into(&content, &mut frame);
        });
        Done {
            content,
            frame,
            result,
        }
    }))
}

impl std::fmt::Debug for SeekableEncoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SeekableEncoder")
            .field("options", &self.options)
            .field("frame_bytes", &self.frame_bytes)
            .field("taken", &(self.next_start + self.next.len() as u64))
            .finish_non_exhaustive()
    }
}
