//! Buffers to a file or a pipe, written behind by a thread where that pays.

use std::fmt::Debug;
use std::io::{self, Seek, SeekFrom, Write};
use std::ops::Deref;

use crate::behind::{Behind, Work};
use crate::output::Output;
use crate::{BUFFER_BYTES, BUFFERS_IN_FLIGHT, Cancel, place};

/// A buffer, of which the first `filled` are output.
#[derive(Debug)]
pub struct Buffer {
    bytes: Vec<u8>,
    filled: usize,
}

impl Buffer {
    fn new(bytes: usize) -> Self {
        Self {
            bytes: vec![0; bytes],
            filled: 0,
        }
    }

    /// Room for more.
    pub fn room(&mut self) -> &mut [u8] {
        &mut self.bytes[self.filled..]
    }

    /// Counts `produced` bytes at the start of [`Buffer::room`] as output.
    pub fn advance(&mut self, produced: usize) {
        self.filled = (self.filled + produced).min(self.bytes.len());
    }

    /// Bytes of output in it.
    pub fn filled(&self) -> usize {
        self.filled
    }

    /// The output in it.
    pub fn output(&self) -> &[u8] {
        &self.bytes[..self.filled]
    }
}

/// How output is written.
#[derive(Debug)]
pub struct SinkOptions {
    /// Bytes of a buffer.
    pub buffer_bytes: usize,
    /// Leave holes for zeros; only for new regular files.
    pub sparse: bool,
    /// Which thread writes.
    pub writes: Writes,
    /// Takes all that is written, in order, on the thread that writes.
    pub check: Option<Box<dyn Check>>,
    /// Ends waits.
    pub cancel: Cancel,
}

/// Which thread writes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Writes {
    /// The one that makes the output.
    #[default]
    Inline,
    /// One of its own.
    Behind,
    /// One of its own once this number of bytes was written: output may be much longer than its input, and for a little
    /// of it a thread costs more than it saves.
    BehindAfter(u64),
}

/// Looks at what is written: a checksum, or the proof that it can be read back.
pub trait Check: Debug + Send {
    /// Takes what was written next.
    fn feed(&mut self, bytes: &[u8]);

    /// Comes to an end: a hash and the number of bytes it is of, or what is wrong.
    fn finish(self: Box<Self>) -> Result<(u64, u64), String>;
}

/// Output that has memory of its own.
pub trait Piece: Deref<Target = [u8]> + Debug + Send {}

impl<T: Deref<Target = [u8]> + Debug + Send> Piece for T {}

impl Default for SinkOptions {
    fn default() -> Self {
        Self {
            buffer_bytes: BUFFER_BYTES,
            sparse: false,
            writes: Writes::default(),
            check: None,
            cancel: Cancel::default(),
        }
    }
}

/// What was written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Written {
    /// Bytes, holes included.
    pub bytes: u64,
    /// What the [`Check`] came to, if there was one: a hash and a number of bytes, or the error.
    pub verified: Option<Result<(u64, u64), String>>,
}

/// An output being written. Without a file it counts and drops what it is given.
#[derive(Debug)]
pub struct Sink {
    writing: Writing,
    buffer_bytes: usize,
    later: Option<Later>,
}

/// A writing thread that starts once this number of bytes was written.
#[derive(Debug)]
struct Later {
    bytes: u64,
    cancel: Cancel,
}

#[derive(Debug)]
enum Writing {
    Inline(Box<Writer>, Option<Buffer>),
    Behind(Threaded),
}

/// A writing thread and its buffers.
#[derive(Debug)]
struct Threaded {
    thread: Behind<Given, Back>,
    /// Buffers that came back while something else was waited for.
    spare: Vec<Buffer>,
    /// Whether the thread has output that is not in a buffer. There is one at most: it may be large.
    lent: bool,
}

/// What the writing thread is given, in the order of the output.
#[derive(Debug)]
enum Given {
    Buffer(Buffer),
    Piece(Box<dyn Piece>),
    /// This number of bytes was written by another thread.
    Placed(u64),
}

/// What the writing thread hands back.
#[derive(Debug)]
enum Back {
    Spare(Buffer),
    /// The output that was not in a buffer is written.
    Returned,
    Finished(Written),
}

impl Sink {
    /// Starts writing to `file`, from its start when holes are allowed.
    ///
    /// `spare` is a buffer of a sink before this one, for what is written in place.
    pub fn start(
        file: Option<Output>,
        options: SinkOptions,
        spare: Option<Buffer>,
    ) -> io::Result<Self> {
        let writer = Writer {
            file,
            sparse: options.sparse,
            bytes: 0,
            hole: 0,
            check: options.check,
        };
        let (mut later, cancel) = (None, options.cancel);
        let writing = match options.writes {
            Writes::Behind => {
                let threaded = Threaded::start(writer, options.buffer_bytes, cancel)?;
                Writing::Behind(threaded)
            }
            Writes::BehindAfter(bytes) => {
                later = Some(Later { bytes, cancel });
                Writing::Inline(Box::new(writer), spare)
            }
            Writes::Inline => Writing::Inline(Box::new(writer), spare),
        };
        Ok(Self {
            writing,
            buffer_bytes: options.buffer_bytes,
            later,
        })
    }

    /// Starts the thread if it is time.
    fn go_behind(&mut self) -> io::Result<()> {
        let Writing::Inline(writer, _) = &mut self.writing else {
            return Ok(());
        };
        if let Some(later) = self.later.take_if(|later| writer.bytes >= later.bytes) {
            let writer = std::mem::take(&mut **writer);
            let threaded = Threaded::start(writer, self.buffer_bytes, later.cancel)?;
            self.writing = Writing::Behind(threaded);
        }
        Ok(())
    }

    /// An empty buffer.
    pub fn take(&mut self) -> io::Result<Buffer> {
        match &mut self.writing {
            Writing::Inline(_, spare) => Ok(spare
                .take()
                .unwrap_or_else(|| Buffer::new(self.buffer_bytes))),
            Writing::Behind(behind) => behind.take(),
        }
    }

    /// Writes the output in `buffer`, sooner or later.
    pub fn put(&mut self, mut buffer: Buffer) -> io::Result<()> {
        match &mut self.writing {
            Writing::Inline(writer, spare) => {
                writer.write(buffer.output())?;
                buffer.filled = 0;
                *spare = Some(buffer);
                self.go_behind()
            }
            Writing::Behind(behind) => behind.thread.send(Given::Buffer(buffer)),
        }
    }

    /// Writes output that has memory of its own, behind all that was put.
    pub fn give(&mut self, piece: Box<dyn Piece>) -> io::Result<()> {
        match &mut self.writing {
            Writing::Inline(writer, _) => writer.write(&piece),
            Writing::Behind(behind) => behind.lend(piece),
        }
    }

    /// Passes over output that somebody else wrote at its place, behind all that was put.
    pub fn placed(&mut self, bytes: u64) -> io::Result<()> {
        match &mut self.writing {
            Writing::Inline(writer, _) => {
                writer.pass(bytes);
                Ok(())
            }
            Writing::Behind(behind) => behind.thread.send(Given::Placed(bytes)),
        }
    }

    /// Waits until everything is written. With it comes the buffer for the next sink, if any.
    pub fn finish(self) -> io::Result<(Written, Option<Buffer>)> {
        match self.writing {
            Writing::Inline(writer, spare) => Ok((writer.finish()?, spare)),
            Writing::Behind(behind) => {
                let written = behind.thread.finish(|back| match back {
                    Back::Finished(written) => Some(written),
                    Back::Spare(_) | Back::Returned => None,
                })?;
                Ok((written, None))
            }
        }
    }
}

impl Threaded {
    fn start(writer: Writer, buffer_bytes: usize, cancel: Cancel) -> io::Result<Self> {
        // Room for all buffers and the one output that is not in a buffer.
        let returned = BUFFERS_IN_FLIGHT + 1;
        Ok(Self {
            thread: Behind::start(writer, BUFFERS_IN_FLIGHT, returned, cancel)?,
            spare: std::iter::repeat_with(|| Buffer::new(buffer_bytes))
                .take(BUFFERS_IN_FLIGHT)
                .collect(),
            lent: false,
        })
    }

    fn take(&mut self) -> io::Result<Buffer> {
        loop {
            if let Some(buffer) = self.spare.pop() {
                return Ok(buffer);
            }
            self.receive()?;
        }
    }

    fn lend(&mut self, piece: Box<dyn Piece>) -> io::Result<()> {
        while self.lent {
            self.receive()?;
        }
        self.lent = true;
        self.thread.send(Given::Piece(piece))
    }

    /// Waits for what comes back next.
    fn receive(&mut self) -> io::Result<()> {
        match self.thread.receive()? {
            Back::Spare(buffer) => self.spare.push(buffer),
            Back::Returned => self.lent = false,
            // Only the end of all pieces has that.
            Back::Finished(_) => return Err(io::ErrorKind::BrokenPipe.into()),
        }
        Ok(())
    }
}

impl Work for Writer {
    type Piece = Given;
    type Back = Back;

    fn take(&mut self, piece: Given) -> io::Result<Option<Back>> {
        Ok(match piece {
            Given::Buffer(mut buffer) => {
                self.write(buffer.output())?;
                buffer.filled = 0;
                Some(Back::Spare(buffer))
            }
            Given::Piece(piece) => {
                self.write(&piece)?;
                Some(Back::Returned)
            }
            Given::Placed(bytes) => {
                self.pass(bytes);
                None
            }
        })
    }

    fn end(self) -> io::Result<Back> {
        self.finish().map(Back::Finished)
    }
}

/// The file with its position and what is put off.
#[derive(Debug, Default)]
struct Writer {
    file: Option<Output>,
    sparse: bool,
    bytes: u64,
    /// Bytes before the next one to write that are not to be written: zeros, or somebody else's.
    hole: u64,
    check: Option<Box<dyn Check>>,
}

impl Writer {
    fn write(&mut self, output: &[u8]) -> io::Result<()> {
        self.bytes += output.len() as u64;
        if let Some(check) = &mut self.check {
            check.feed(output);
        }
        if !self.sparse {
            return self.put(output);
        }
        let mut end = 0;
        for (at, piece) in place::pieces(output) {
            self.hole += (at - end) as u64;
            self.put(piece)?;
            end = at + piece.len();
        }
        self.hole += (output.len() - end) as u64;
        Ok(())
    }

    fn put(&mut self, piece: &[u8]) -> io::Result<()> {
        let Some(file) = &mut self.file else {
            return Ok(());
        };
        if self.hole > 0 {
            let hole = i64::try_from(self.hole).unwrap_or(i64::MAX);
            file.file().seek(SeekFrom::Current(hole))?;
            self.hole = 0;
        }
        file.write_all(piece)
    }

    fn pass(&mut self, bytes: u64) {
        self.bytes += bytes;
        self.hole += bytes;
    }

    fn finish(self) -> io::Result<Written> {
        if let (Some(file), true) = (&self.file, self.hole > 0) {
            file.file().set_len(self.bytes)?;
        }
        Ok(Written {
            bytes: self.bytes,
            verified: self.check.map(|check| check.finish()),
        })
    }
}

#[cfg(test)]
mod tests;
