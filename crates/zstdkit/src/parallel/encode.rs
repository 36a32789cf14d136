//! The seekable encoder: content cut into frames of one size, compressed by threads, in order, and
//! a seek table behind them. What comes out does not depend on the number of threads.

use super::workers::{OrderedWorkers, Worker};
use super::{Buffers, JobObserver, Output, no_observer};
use crate::bounds::{saturate, within};
use crate::error::{Error, Repr};
use crate::oneshot::Compressor;
use crate::options::EncoderOptions;
use crate::seekable::SeekTableBuilder;

/// Content of a frame where nothing else is asked for: a window of the usual levels, so that
/// hardly any ratio is lost.
pub const FRAME_BYTES_DEFAULT: usize = 2 << 20;
/// Less content in a frame would be mostly headers.
const FRAME_BYTES_MIN: usize = 1 << 10;
/// The most that the format's authors give a frame of a seekable file.
const FRAME_BYTES_MAX: usize = 1 << 30;
/// The length of a frame's checksum, which ends it.
const CHECKSUM_BYTES: usize = 4;

/// Compresses a stream into a seekable file: independent frames, compressed side by side, and a
/// seek table.
///
/// At most one frame more than there are threads is under way, so memory is bounded by that many
/// frames of content, what they are compressed to, and a context for each thread. Threads are
/// started when there is work for them.
///
/// ```
/// use zstdkit::{parallel::SeekableEncoder, seekable::SeekTable};
///
/// let content = vec![7; 300_000];
/// let mut encoder = SeekableEncoder::new(&Default::default(), 100_000, 2)?;
/// let (mut rest, mut file) = (&content[..], Vec::new());
/// while !rest.is_empty() {
///     let (taken, output) = encoder.push(rest)?;
///     rest = &rest[taken..];
///     file.extend(output.iter().flat_map(|frame| frame.iter()));
/// }
/// while let Some(frame) = encoder.end()? {
///     file.extend_from_slice(&frame);
/// }
/// assert_eq!(SeekTable::find(&file)?.expect("a table").len(), 3);
/// assert_eq!(zstdkit::decompress(&file, &Default::default())?, content);
/// # Ok::<(), zstdkit::Error>(())
/// ```
pub struct SeekableEncoder {
    options: EncoderOptions,
    frame_bytes: usize,
    workers: OrderedWorkers<Task, Done>,
    /// A worker on this thread, for streams of one frame.
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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    NotYet,
    LastFrame,
    Table,
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
    /// An encoder of frames of `frame_bytes` of content (1 KiB to 1 GiB), with up to this many
    /// threads beside the calling one. The workers of the options are not used.
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

    /// Has `observer` called around the compression of each frame. Before the first push.
    #[must_use]
    pub fn observer(mut self, observer: JobObserver) -> Self {
        self.observer = observer;
        self
    }

    /// Drops what was not handed out and begins another file, keeping threads and memory.
    pub fn reset(&mut self) {
        self.workers.forget();
        self.next.clear();
        self.next_start = 0;
        self.table = SeekTableBuilder::new(self.options.checksum);
        self.ending = Ending::NotYet;
        self.failed = None;
    }

    /// Takes input, and hands out the next frame if it is ready. What was not taken has to be
    /// given again. A call may wait for a thread to finish its frame.
    pub fn push(&mut self, input: &[u8]) -> Result<(usize, Option<Output>), Error> {
        self.guarded(|this| {
            if this.ending != Ending::NotYet {
                return match input.len() {
                    0 => Ok((0, None)),
                    given => Err(Repr::NoOpenFrame { given }.into()),
                };
            }
            let mut taken = 0;
            loop {
                if let Some(done) = this.result(false)? {
                    return Ok((taken, Some(this.accept(done)?)));
                }
                let count = (this.frame_bytes - this.next.len()).min(input.len() - taken);
                if this.next.capacity() == 0 {
                    this.next = this.content.take();
                }
                this.next.extend_from_slice(&input[taken..taken + count]);
                taken += count;
                if this.next.len() < this.frame_bytes {
                    return Ok((taken, None));
                }
                this.submit()?;
            }
        })
    }

    /// The content has ended: hands out what is left, the table last, and then nothing.
    pub fn end(&mut self) -> Result<Option<Output>, Error> {
        self.guarded(|this| {
            loop {
                if let Some(done) = this.result(this.ending != Ending::NotYet)? {
                    return this.accept(done).map(Some);
                }
                match this.ending {
                    Ending::NotYet => {
                        this.ending = Ending::LastFrame;
                        // No content is a frame as well: a file without one is no zstd file.
                        if !this.next.is_empty() || this.next_start == 0 {
                            this.submit_last()?;
                        }
                    }
                    Ending::LastFrame => this.ending = Ending::Table,
                    Ending::Table => {
                        this.ending = Ending::Done;
                        let table = this.table.finish();
                        return Ok(Some(this.stored.output(table)));
                    }
                    Ending::Done => return Ok(None),
                }
            }
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

    fn result(&mut self, wait: bool) -> Result<Option<Done>, Error> {
        if self.workers.is_idle() || !(wait || self.workers.is_full()) {
            return Ok(self.workers.try_next());
        }
        let offset = self.next_start;
        let done = self.workers.next().ok_or(Repr::WorkerGone { offset })?;
        Ok(Some(done))
    }

    fn accept(&mut self, done: Done) -> Result<Output, Error> {
        let stored = done.result? as u64;
        let content = done.content.len() as u64;
        self.content.give(done.content);
        // The low half of the XXH64 of the content is what ends the frame.
        let checksum = done.frame.last_chunk::<CHECKSUM_BYTES>();
        let checksum = checksum.map(|bytes| u32::from_le_bytes(*bytes));
        self.table.push(stored, content, checksum)?;
        Ok(self.stored.output(done.frame))
    }

    fn submit(&mut self) -> Result<(), Error> {
        let task = self.task();
        let (options, observer) = (&self.options, &self.observer);
        self.workers
            .submit(task, || worker(options, observer.clone()))
    }

    /// The last frame needs no thread to be started for it.
    fn submit_last(&mut self) -> Result<(), Error> {
        if self.workers.threads() > 0 {
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

/// What a thread does with the content of a frame.
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
