//! Buffers to a file or a pipe, written behind by a thread where that pays.

use std::io::{self, Seek, SeekFrom, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};

use zstdkit::DecoderOptions;
use zstdkit::parallel::Output;

use super::verify::Verifier;
use super::{BUFFER_BYTES, BUFFERS_IN_FLIGHT, POLL, output, place};
use crate::term::signal;

/// A buffer, of which the first `filled` are output.
#[derive(Debug)]
pub(crate) struct Buffer {
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
    pub(crate) fn room(&mut self) -> &mut [u8] {
        &mut self.bytes[self.filled..]
    }

    /// Counts `produced` bytes at the start of [`Buffer::room`] as output.
    pub(crate) fn advance(&mut self, produced: usize) {
        self.filled = (self.filled + produced).min(self.bytes.len());
    }

    /// Bytes of output in it.
    pub(crate) fn filled(&self) -> usize {
        self.filled
    }

    /// The output in it.
    pub(crate) fn output(&self) -> &[u8] {
        &self.bytes[..self.filled]
    }
}

/// How output is written.
#[derive(Debug)]
pub(crate) struct SinkOptions {
    /// Bytes of a buffer.
    pub(crate) buffer_bytes: usize,
    /// Leave holes for zeros; only for new regular files.
    pub(crate) sparse: bool,
    /// Write on a thread of its own.
    pub(crate) behind: bool,
    /// Decode what is written and hash the content, to be compared with the input.
    pub(crate) verify: Option<DecoderOptions>,
}

impl Default for SinkOptions {
    fn default() -> Self {
        Self {
            buffer_bytes: BUFFER_BYTES,
            sparse: false,
            behind: false,
            verify: None,
        }
    }
}

/// What was written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Written {
    /// Bytes, holes included.
    pub(crate) bytes: u64,
    /// What decoding gave, when it was asked for: XXH64 and number of bytes, or the error.
    pub(crate) verified: Option<Result<(u64, u64), String>>,
}

/// An output being written. Without a file it counts and drops what it is given.
#[derive(Debug)]
pub(crate) struct Sink {
    writing: Writing,
    buffer_bytes: usize,
}

#[derive(Debug)]
enum Writing {
    Inline(Box<Writer>, Option<Buffer>),
    Behind(Behind),
}

/// The giving end of a writing thread.
#[derive(Debug)]
struct Behind {
    full: SyncSender<Piece>,
    back: Receiver<io::Result<Back>>,
    /// Buffers that came back while something else was waited for.
    spare: Vec<Buffer>,
    /// Whether the thread has output that is not in a buffer. One at a time: it may be large.
    lent: bool,
}

/// What the writing thread is given, in the order of the output.
#[derive(Debug)]
enum Piece {
    Buffer(Buffer),
    Output(Output),
    /// So many bytes that somebody else wrote.
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
    pub(crate) fn start(
        file: Option<output::Output>,
        options: &SinkOptions,
        spare: Option<Buffer>,
    ) -> io::Result<Self> {
        let verifier = options.verify.as_ref().map(Verifier::new).transpose()?;
        let writer = Writer {
            file,
            sparse: options.sparse,
            bytes: 0,
            hole: 0,
            verifier,
        };
        let writing = if options.behind {
            Writing::Behind(Behind::start(writer, options.buffer_bytes)?)
        } else {
            Writing::Inline(Box::new(writer), spare)
        };
        Ok(Self {
            writing,
            buffer_bytes: options.buffer_bytes,
        })
    }

    /// An empty buffer.
    pub(crate) fn take(&mut self) -> io::Result<Buffer> {
        match &mut self.writing {
            Writing::Inline(_, spare) => Ok(spare
                .take()
                .unwrap_or_else(|| Buffer::new(self.buffer_bytes))),
            Writing::Behind(behind) => behind.take(),
        }
    }

    /// Writes the output in `buffer`, sooner or later.
    pub(crate) fn put(&mut self, mut buffer: Buffer) -> io::Result<()> {
        match &mut self.writing {
            Writing::Inline(writer, spare) => {
                writer.write(buffer.output())?;
                buffer.filled = 0;
                *spare = Some(buffer);
                Ok(())
            }
            Writing::Behind(behind) => behind.send(Piece::Buffer(buffer)),
        }
    }

    /// Writes output that has memory of its own, behind all that was put.
    pub(crate) fn give(&mut self, output: Output) -> io::Result<()> {
        match &mut self.writing {
            Writing::Inline(writer, _) => writer.write(&output),
            Writing::Behind(behind) => behind.lend(output),
        }
    }

    /// Passes over output that somebody else wrote at its place, behind all that was put.
    pub(crate) fn placed(&mut self, bytes: u64) -> io::Result<()> {
        match &mut self.writing {
            Writing::Inline(writer, _) => {
                writer.pass(bytes);
                Ok(())
            }
            Writing::Behind(behind) => behind.send(Piece::Placed(bytes)),
        }
    }

    /// Waits until everything is written. With it comes the buffer for the next sink, if any.
    pub(crate) fn finish(self) -> io::Result<(Written, Option<Buffer>)> {
        match self.writing {
            Writing::Inline(writer, spare) => Ok((writer.finish()?, spare)),
            Writing::Behind(Behind { full, back, .. }) => {
                drop(full);
                loop {
                    if let Back::Finished(written) = receive(&back)? {
                        return Ok((written, None));
                    }
                }
            }
        }
    }
}

impl Behind {
    /// Starts the writing thread. It is never joined: blocked on a pipe that nobody reads, it must
    /// not hold up the end of the process.
    fn start(writer: Writer, buffer_bytes: usize) -> io::Result<Self> {
        let (full, full_out) = sync_channel(BUFFERS_IN_FLIGHT);
        // Room for all buffers, the one output beside them, and the end: the thread never waits
        // to hand something back.
        let (back_in, back) = sync_channel(BUFFERS_IN_FLIGHT + 2);
        std::thread::Builder::new()
            .name("write".to_owned())
            .stack_size(128 * 1024)
            .spawn(move || write_behind(writer, &full_out, &back_in))?;
        Ok(Self {
            full,
            back,
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

    fn lend(&mut self, output: Output) -> io::Result<()> {
        while self.lent {
            self.receive()?;
        }
        self.lent = true;
        self.send(Piece::Output(output))
    }

    fn send(&mut self, piece: Piece) -> io::Result<()> {
        // An error of the thread stands in the way back, and is told here or by what waits next.
        match self.full.send(piece) {
            Ok(()) => Ok(()),
            Err(_) => Err(first_error(&self.back)),
        }
    }

    /// Waits for what comes back next.
    fn receive(&mut self) -> io::Result<()> {
        match receive(&self.back)? {
            Back::Spare(buffer) => self.spare.push(buffer),
            Back::Returned => self.lent = false,
            Back::Finished(_) => return Err(gone()),
        }
        Ok(())
    }
}

fn write_behind(mut writer: Writer, full: &Receiver<Piece>, back: &SyncSender<io::Result<Back>>) {
    while let Ok(piece) = full.recv() {
        let result = match piece {
            Piece::Buffer(mut buffer) => writer.write(buffer.output()).map(|()| {
                buffer.filled = 0;
                Back::Spare(buffer)
            }),
            Piece::Output(output) => writer.write(&output).map(|()| Back::Returned),
            Piece::Placed(bytes) => {
                writer.pass(bytes);
                continue;
            }
        };
        let failed = result.is_err();
        if back.send(result).is_err() || failed {
            return;
        }
    }
    let _ = back.send(writer.finish().map(Back::Finished));
}

fn receive(back: &Receiver<io::Result<Back>>) -> io::Result<Back> {
    loop {
        match back.recv_timeout(POLL) {
            Ok(result) => return result,
            Err(RecvTimeoutError::Timeout) if signal::interrupted() => {
                return Err(io::ErrorKind::Interrupted.into());
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Err(gone()),
        }
    }
}

/// The error that made the thread stop, behind the spare buffers that it sent before.
fn first_error(back: &Receiver<io::Result<Back>>) -> io::Error {
    back.iter().find_map(io::Result::err).unwrap_or_else(gone)
}

fn gone() -> io::Error {
    io::Error::other("the writing thread is gone")
}

/// The file with its position and what is put off.
#[derive(Debug)]
struct Writer {
    file: Option<output::Output>,
    sparse: bool,
    bytes: u64,
    /// Bytes before the next one to write that are not to be written: zeros, or somebody else's.
    hole: u64,
    verifier: Option<Verifier>,
}

impl Writer {
    fn write(&mut self, output: &[u8]) -> io::Result<()> {
        self.bytes += output.len() as u64;
        if let Some(verifier) = &mut self.verifier {
            verifier.feed(output);
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
            verified: self.verifier.map(Verifier::finish),
        })
    }
}

#[cfg(test)]
mod tests;
