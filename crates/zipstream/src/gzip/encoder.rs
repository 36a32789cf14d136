//! The encoder: members whose content is compressed in chunks, by the calling thread or by others.
//!
//! The chunks are those of archives, and so are the threads that compress them.

use std::time::Duration;

use super::cut::Cutter;
use super::header;
use super::member::GzipMember;
use crate::crc::Crc32;
use crate::deflate;
use crate::engine::chunk::CHUNK_BYTES;
use crate::error::{Error, ErrorKind};
use crate::write::{Chunk, ChunkJob, Coding, Engines, InFlight, Workers};

/// The level that gzip has by default.
const LEVEL: i32 = 6;
/// More threads would only take memory.
const THREADS_MAX: usize = 256;
/// Output that waits; beyond it, finished chunks are left where they are.
const OUT_BYTES_MAX: usize = 2 * CHUNK_BYTES;

/// How gzip files are written.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct GzipOptions {
    /// 0 to 10, 6 by default: 0 stores, 10 searches longest. Other values are clamped.
    pub level: i32,
    /// Threads that compress, in addition to the calling one. With 0, calls compress themselves. The bytes
    /// of the file do not depend on it.
    pub threads: usize,
    /// Whether chunks end where the content says, so that a change leaves most bytes of the file as they
    /// were, and programs such as rsync find them. The file becomes some percent larger, and takes longer.
    pub rsyncable: bool,
    /// Threads shared with other encoders, in place of own ones. The encoder keeps `threads` of them
    /// busy, at least one.
    pub workers: Option<Workers>,
}

impl Default for GzipOptions {
    fn default() -> Self {
        Self {
            level: LEVEL,
            threads: 0,
            rsyncable: false,
            workers: None,
        }
    }
}

impl GzipOptions {
    /// Level 6, and no threads.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets [`level`](Self::level).
    #[must_use]
    pub fn level(mut self, level: i32) -> Self {
        self.level = level;
        self
    }

    /// Sets [`threads`](Self::threads).
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// Sets [`rsyncable`](Self::rsyncable).
    #[must_use]
    pub fn rsyncable(mut self, rsyncable: bool) -> Self {
        self.rsyncable = rsyncable;
        self
    }

    /// Sets [`workers`](Self::workers).
    #[must_use]
    pub fn workers(mut self, workers: Workers) -> Self {
        self.workers = Some(workers);
        self
    }
}

/// The result of [`GzipEncoder::push`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GzipEncoded {
    /// Input bytes consumed.
    pub consumed: usize,
    /// Bytes of the file produced.
    pub produced: usize,
    /// Whether the member is complete and all of it was produced.
    pub done: bool,
}

/// Chunks for these threads.
fn in_flight(workers: &Option<Workers>, threads: usize) -> Option<InFlight> {
    let workers = workers.clone()?;
    Some(InFlight::new(workers, threads, None))
}

/// How far the current member is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Between members.
    Idle,
    /// Content is taken.
    Open,
    /// All content is compressed, or will be by threads.
    Ending,
    /// All is in the output.
    Written,
}

/// Writes gzip files: members whose content is compressed in chunks of 256 KiB, or of 24 KiB on average where
/// [the content says where they end](GzipOptions::rsyncable), each primed by the content before it. A call compresses at most one chunk, or hands it to a thread, and waits no longer than it is
/// told to. Memory: one chunk and its output; with threads, two for each.
///
/// ```
/// use std::time::Duration;
/// use zipstream::gzip::{GzipDecoder, GzipEncoder, GzipMember, GzipOptions};
///
/// let mut encoder = GzipEncoder::new(&GzipOptions::new().level(9));
/// encoder.begin(&GzipMember::new().name("hello.txt"))?;
/// let mut file = [0; 128];
/// let step = encoder.push(b"hello\n", &mut file, true, Duration::ZERO)?;
/// assert!(step.done);
///
/// let (mut decoder, mut content) = (GzipDecoder::new(), [0; 16]);
/// let step = decoder.read(&file[..step.produced], &mut content)?;
/// assert_eq!(&content[..step.produced], b"hello\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct GzipEncoder {
    level: i32,
    workers: Option<Workers>,
    threads: usize,
    in_flight: Option<InFlight>,
    engines: Engines,
    chunk: Chunk,
    /// Where chunks end by their content, and whether the chunk ends here.
    cutter: Option<Cutter>,
    ended: bool,
    spare: Vec<Chunk>,
    /// Chunks that threads have.
    out_there: usize,
    /// Output, of which this much was given away.
    out: Vec<u8>,
    given: usize,
    sum: u32,
    content_bytes: u64,
    state: State,
    failed: Option<Error>,
}

impl GzipEncoder {
    /// An encoder between members. Threads start when there is work for them.
    pub fn new(options: &GzipOptions) -> Self {
        let threads = options.threads.min(THREADS_MAX);
        let own = || (threads > 0).then(|| Workers::new(threads));
        let workers = options.workers.clone().or_else(own);
        Self {
            level: options.level.clamp(0, deflate::OPTIMAL),
            in_flight: in_flight(&workers, threads),
            workers,
            threads,
            engines: Engines::default(),
            chunk: Chunk::default(),
            cutter: options.rsyncable.then(Cutter::default),
            ended: false,
            spare: Vec::new(),
            out_there: 0,
            out: Vec::new(),
            given: 0,
            sum: Crc32::new().sum(),
            content_bytes: 0,
            state: State::Idle,
            failed: None,
        }
    }

    /// Starts a member.
    ///
    /// # Errors
    /// The member before it is not complete.
    pub fn begin(&mut self, member: &GzipMember) -> Result<(), Error> {
        if self.state != State::Idle || self.failed.is_some() {
            return Err(Error::new(
                ErrorKind::Order,
                "the gzip member before this one is not complete",
            ));
        }
        header::write(member, self.level, &mut self.out);
        self.chunk.begin(0, Coding::Deflate, self.level);
        self.restart();
        (self.sum, self.content_bytes) = (Crc32::new().sum(), 0);
        self.state = State::Open;
        Ok(())
    }

    /// Gives up the member, if one is open, and what of it was not produced yet. Threads skip its chunks.
    pub fn abandon(&mut self) {
        if self.out_there > 0 || self.failed.is_some() {
            self.in_flight = in_flight(&self.workers, self.threads);
        }
        self.out.clear();
        self.given = 0;
        self.out_there = 0;
        self.failed = None;
        self.state = State::Idle;
    }

    /// Consumes content and produces bytes of the file, until either is used up. `end` says that no content
    /// follows the input. Where threads have to finish first, it waits up to `wait`; it may then return
    /// without having done anything.
    ///
    /// # Errors
    /// No member was begun, or no thread can be started.
    pub fn push(
        &mut self,
        input: &[u8],
        output: &mut [u8],
        end: bool,
        wait: Duration,
    ) -> Result<GzipEncoded, Error> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        if self.state == State::Idle {
            return Err(Error::new(ErrorKind::Order, "no gzip member was begun"));
        }
        let step = self.step(input, output, end, wait);
        step.inspect_err(|error| self.failed = Some(error.clone()))
    }

    fn step(
        &mut self,
        input: &[u8],
        output: &mut [u8],
        end: bool,
        wait: Duration,
    ) -> Result<GzipEncoded, Error> {
        let mut produced = self.give(output);
        let mut consumed = 0;
        if self.given == self.out.len() {
            while self.out.len() < OUT_BYTES_MAX && self.take_in()? {}
            if self.state == State::Open {
                consumed = self.take_content(input, end, wait)?;
            } else if self.out_there > 0 && self.out.is_empty() {
                self.wait(wait);
                self.take_in()?;
            }
            if self.state == State::Ending && self.out_there == 0 {
                self.out.extend_from_slice(&self.sum.to_le_bytes());
                // The size modulo 2^32, as the format has it.
                let size = (self.content_bytes & u64::from(u32::MAX)) as u32;
                self.out.extend_from_slice(&size.to_le_bytes());
                self.state = State::Written;
            }
            produced += self.give(&mut output[produced..]);
        }
        let done = self.state == State::Written && self.out.is_empty();
        if done {
            self.state = State::Idle;
        }
        Ok(GzipEncoded {
            consumed,
            produced,
            done,
        })
    }

    /// Fills the chunk, and compresses it once it is full and more follows, or the content ends. So chunks
    /// do not depend on how the input is cut.
    fn take_content(&mut self, input: &[u8], end: bool, wait: Duration) -> Result<usize, Error> {
        let mut consumed = 0;
        loop {
            let missing = match self.ended {
                true => 0,
                false => CHUNK_BYTES - self.chunk.content().len(),
            };
            let rest = &input[consumed..];
            if missing > 0 && !rest.is_empty() {
                let part = rest.len().min(missing);
                // There may be less room at a time than is missing.
                let room = self.chunk.room(CHUNK_BYTES);
                let mut part = part.min(room.len());
                if let Some(cutter) = &mut self.cutter
                    && let Some(bytes) = cutter.cut(&rest[..part])
                {
                    part = bytes;
                    self.ended = true;
                }
                room[..part].copy_from_slice(&rest[..part]);
                self.chunk.advance(part);
                consumed += part;
                continue;
            }
            if rest.is_empty() && !end {
                return Ok(consumed);
            }
            self.chunk.last = rest.is_empty();
            self.dispatch(wait)?;
            return Ok(consumed);
        }
    }

    /// Compresses the chunk or hands it to a thread, if that is possible now.
    fn dispatch(&mut self, wait: Duration) -> Result<(), Error> {
        let last = self.chunk.last;
        let alone = last && self.out_there == 0;
        match &self.in_flight {
            // A thread for the only chunk, or the last one of all, would only cost the way to it.
            Some(in_flight) if !alone => {
                if self.out_there >= in_flight.jobs_max() {
                    in_flight.wait_within(wait);
                    if !self.take_in()? {
                        return Ok(());
                    }
                }
                let mut next = self.spare.pop().unwrap_or_default();
                next.follow(&self.chunk);
                let chunk = std::mem::replace(&mut self.chunk, next);
                self.restart();
                if let Some(in_flight) = &self.in_flight {
                    in_flight.submit(ChunkJob::Chunk(chunk))?;
                    self.out_there += 1;
                }
            }
            _ => {
                self.chunk.pack(&mut self.engines, false, &mut self.out)?;
                self.count(self.chunk.crc32, self.chunk.content().len() as u64);
                self.chunk.slide();
                self.restart();
            }
        }
        if last {
            self.state = State::Ending;
        }
        Ok(())
    }

    /// The chunk is a new one.
    fn restart(&mut self) {
        self.ended = false;
        if let Some(cutter) = &mut self.cutter {
            cutter.restart();
        }
    }

    /// Waits until the oldest chunk is finished, but no longer than `wait`.
    fn wait(&self, wait: Duration) {
        if let Some(in_flight) = &self.in_flight {
            in_flight.wait_within(wait);
        }
    }

    /// Moves the oldest chunk into the output, if it is finished.
    fn take_in(&mut self) -> Result<bool, Error> {
        let Some(in_flight) = self.in_flight.as_ref().filter(|_| self.out_there > 0) else {
            return Ok(false);
        };
        let Some((mut job, result)) = in_flight.next(false)? else {
            return Ok(false);
        };
        self.out_there -= 1;
        result?;
        if let ChunkJob::Chunk(chunk) = &job {
            self.out.extend_from_slice(&chunk.out);
            self.count(chunk.crc32, chunk.content().len() as u64);
        }
        job.recycle();
        if let ChunkJob::Chunk(chunk) = job {
            self.spare.push(chunk);
        }
        Ok(true)
    }

    fn count(&mut self, crc32: u32, bytes: u64) {
        self.sum = Crc32::joined(self.sum, crc32, bytes);
        self.content_bytes += bytes;
    }

    /// Moves output to where the caller wants it.
    fn give(&mut self, output: &mut [u8]) -> usize {
        let rest = &self.out[self.given..];
        let bytes = rest.len().min(output.len());
        output[..bytes].copy_from_slice(&rest[..bytes]);
        self.given += bytes;
        if self.given == self.out.len() {
            self.out.clear();
            self.given = 0;
        }
        bytes
    }
}

impl std::fmt::Debug for GzipEncoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GzipEncoder")
            .field("level", &self.level)
            .field("state", &self.state)
            .field("content_bytes", &self.content_bytes)
            .finish_non_exhaustive()
    }
}
