//! Buffers to a file or a pipe, written behind by a thread where that pays.

use std::fs::File;
use std::hash::Hasher;
use std::io::{self, Seek, SeekFrom, Write};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};

use twox_hash::XxHash64;
use zstdkit::{Decoder, DecoderOptions};

use super::{BUFFER_BYTES, BUFFERS_IN_FLIGHT, POLL};
use crate::term::signal;

/// Zeros are looked for and left out in pieces of this size, the block size of most file systems.
const HOLE_BYTES: usize = 4096;

/// A buffer of [`BUFFER_BYTES`], of which the first `filled` are output.
#[derive(Debug)]
pub(crate) struct Buffer {
    bytes: Vec<u8>,
    filled: usize,
}

impl Buffer {
    fn new() -> Self {
        Self {
            bytes: vec![0; BUFFER_BYTES],
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
#[derive(Debug, Default)]
pub(crate) struct SinkOptions {
    /// Leave holes for zeros; only for new regular files.
    pub(crate) sparse: bool,
    /// Write on a thread of its own.
    pub(crate) behind: bool,
    /// Decode what is written and hash the content, to be compared with the input.
    pub(crate) verify: Option<DecoderOptions>,
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
}

#[derive(Debug)]
enum Writing {
    Inline(Box<Writer>, Option<Buffer>),
    Behind {
        full: SyncSender<Buffer>,
        back: Receiver<io::Result<Back>>,
    },
}

/// What the writing thread hands back.
#[derive(Debug)]
enum Back {
    Spare(Buffer),
    Finished(Written),
}

impl Sink {
    /// Starts writing to `file`, from its start when holes are allowed.
    ///
    /// `spare` is a buffer of a sink before this one, for what is written in place.
    pub(crate) fn start(
        file: Option<Arc<File>>,
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
            Writing::behind(writer)?
        } else {
            Writing::Inline(Box::new(writer), spare)
        };
        Ok(Self { writing })
    }

    /// An empty buffer.
    pub(crate) fn take(&mut self) -> io::Result<Buffer> {
        match &mut self.writing {
            Writing::Inline(_, spare) => Ok(spare.take().unwrap_or_else(Buffer::new)),
            Writing::Behind { back, .. } => match receive(back)? {
                Back::Spare(buffer) => Ok(buffer),
                Back::Finished(_) => Err(gone()),
            },
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
            // An error of the thread stands in the way back and is told by the next `take`.
            Writing::Behind { full, back } => match full.send(buffer) {
                Ok(()) => Ok(()),
                Err(_) => Err(first_error(back)),
            },
        }
    }

    /// Writes output that has memory of its own, behind all that was put.
    pub(crate) fn write(&mut self, mut output: &[u8]) -> io::Result<()> {
        if let Writing::Inline(writer, _) = &mut self.writing {
            return writer.write(output);
        }
        while !output.is_empty() {
            let mut buffer = self.take()?;
            let room = buffer.room();
            let (now, after) = output.split_at(room.len().min(output.len()));
            room[..now.len()].copy_from_slice(now);
            buffer.advance(now.len());
            self.put(buffer)?;
            output = after;
        }
        Ok(())
    }

    /// Waits until everything is written. With it comes the buffer for the next sink, if any.
    pub(crate) fn finish(self) -> io::Result<(Written, Option<Buffer>)> {
        match self.writing {
            Writing::Inline(writer, spare) => Ok((writer.finish()?, spare)),
            Writing::Behind { full, back } => {
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

impl Writing {
    /// Starts the writing thread. It is never joined: blocked on a pipe that nobody reads, it must
    /// not hold up the end of the process.
    fn behind(writer: Writer) -> io::Result<Self> {
        let (full, full_out) = sync_channel(BUFFERS_IN_FLIGHT);
        let (back_in, back) = sync_channel(BUFFERS_IN_FLIGHT + 1);
        for _ in 0..BUFFERS_IN_FLIGHT {
            // The channel holds one more than that: this cannot block.
            let _ = back_in.send(Ok(Back::Spare(Buffer::new())));
        }
        std::thread::Builder::new()
            .name("write".to_owned())
            .stack_size(128 * 1024)
            .spawn(move || write_behind(writer, &full_out, &back_in))?;
        Ok(Self::Behind { full, back })
    }
}

fn write_behind(mut writer: Writer, full: &Receiver<Buffer>, back: &SyncSender<io::Result<Back>>) {
    while let Ok(mut buffer) = full.recv() {
        let result = writer.write(buffer.output());
        buffer.filled = 0;
        let failed = result.is_err();
        if back.send(result.map(|()| Back::Spare(buffer))).is_err() || failed {
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
    file: Option<Arc<File>>,
    sparse: bool,
    bytes: u64,
    /// Zeros before the next byte to write, not written yet.
    hole: u64,
    verifier: Option<Verifier>,
}

impl Writer {
    fn write(&mut self, output: &[u8]) -> io::Result<()> {
        self.bytes += output.len() as u64;
        if let Some(verifier) = &mut self.verifier {
            verifier.feed(output);
        }
        let Some(mut file) = self.file.as_deref() else {
            return Ok(());
        };
        if !self.sparse {
            return file.write_all(output);
        }
        let mut from = 0;
        while from < output.len() {
            let zero = is_zero_piece(&output[from..]);
            let mut to = from;
            while to < output.len() && is_zero_piece(&output[to..]) == zero {
                to += HOLE_BYTES.min(output.len() - to);
            }
            if zero {
                self.hole += (to - from) as u64;
            } else {
                if self.hole > 0 {
                    file.seek(SeekFrom::Current(
                        i64::try_from(self.hole).unwrap_or(i64::MAX),
                    ))?;
                    self.hole = 0;
                }
                file.write_all(&output[from..to])?;
            }
            from = to;
        }
        Ok(())
    }

    fn finish(self) -> io::Result<Written> {
        if let (Some(file), true) = (&self.file, self.hole > 0) {
            file.set_len(self.bytes)?;
        }
        Ok(Written {
            bytes: self.bytes,
            verified: self.verifier.map(Verifier::finish),
        })
    }
}

/// Whether the first [`HOLE_BYTES`] of `bytes` (all, if there are fewer) are zeros.
fn is_zero_piece(bytes: &[u8]) -> bool {
    static ZEROS: [u8; HOLE_BYTES] = [0; HOLE_BYTES];
    let length = bytes.len().min(HOLE_BYTES);
    bytes[..length] == ZEROS[..length]
}

/// Decodes output as it is written and hashes the content.
#[derive(Debug)]
struct Verifier {
    decoder: Decoder,
    room: Vec<u8>,
    hasher: XxHash64,
    bytes: u64,
    error: Option<String>,
}

impl Verifier {
    fn new(options: &DecoderOptions) -> io::Result<Self> {
        let decoder = Decoder::new(options).map_err(io::Error::other)?;
        let room = vec![0; BUFFER_BYTES];
        Ok(Self {
            decoder,
            room,
            hasher: XxHash64::with_seed(0),
            bytes: 0,
            error: None,
        })
    }

    fn feed(&mut self, mut input: &[u8]) {
        while self.error.is_none() {
            match self.decoder.push(input, &mut self.room) {
                Ok(step) => {
                    self.hasher.write(&self.room[..step.produced]);
                    self.bytes += step.produced as u64;
                    input = &input[step.consumed.min(input.len())..];
                    if step.consumed == 0 && step.produced == 0 {
                        return;
                    }
                }
                Err(error) => self.error = Some(error.to_string()),
            }
        }
    }

    fn finish(self) -> Result<(u64, u64), String> {
        match self.error {
            Some(error) => Err(error),
            None => match self.decoder.finish() {
                Ok(_) => Ok((self.hasher.finish(), self.bytes)),
                Err(error) => Err(error.to_string()),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(options: &SinkOptions, pieces: &[&[u8]]) -> (Vec<u8>, Written) {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let handle = Arc::new(file.as_file().try_clone().expect("a handle"));
        let mut sink = Sink::start(Some(handle), options, None).expect("started");
        for piece in pieces {
            for part in piece.chunks(BUFFER_BYTES) {
                let mut buffer = sink.take().expect("a buffer");
                buffer.room()[..part.len()].copy_from_slice(part);
                buffer.advance(part.len());
                sink.put(buffer).expect("put");
            }
        }
        let (written, _) = sink.finish().expect("finished");
        (std::fs::read(file.path()).expect("read"), written)
    }

    #[test]
    fn holes_do_not_change_what_is_read_back() {
        let mut data = vec![0_u8; 3 * BUFFER_BYTES + 777];
        data[HOLE_BYTES * 5 + 3] = 7;
        data[BUFFER_BYTES + 1] = 8;
        for sparse in [false, true] {
            for behind in [false, true] {
                let options = SinkOptions {
                    sparse,
                    behind,
                    verify: None,
                };
                let (back, written) = write(&options, &[&data, b"tail", &[0; 9]]);
                assert_eq!(back.len(), data.len() + 13);
                assert_eq!(back[..data.len()], data);
                assert_eq!(back[data.len()..], *b"tail\0\0\0\0\0\0\0\0\0");
                assert_eq!(written.bytes, back.len() as u64);
            }
        }
    }

    #[test]
    fn a_failing_file_is_reported_by_both_ways_of_writing() {
        for behind in [false, true] {
            let options = SinkOptions {
                behind,
                ..SinkOptions::default()
            };
            // A handle that is open for reading only refuses every write.
            let file = tempfile::NamedTempFile::new().expect("a file");
            let handle = Arc::new(File::open(file.path()).expect("opened"));
            let mut sink = Sink::start(Some(handle), &options, None).expect("started");
            let outcome = (0..10).try_for_each(|_| {
                let mut buffer = sink.take()?;
                buffer.advance(100);
                sink.put(buffer)
            });
            assert!(outcome.is_err());
        }
    }

    #[test]
    fn verification_tells_a_good_frame_from_a_bad_one() {
        let content = b"some content, some content, some content".repeat(1000);
        let frame = zstdkit::compress(&content, &zstdkit::EncoderOptions::default()).expect("ok");
        let options = SinkOptions {
            verify: Some(DecoderOptions::default()),
            ..SinkOptions::default()
        };
        let (_, written) = write(&options, &[&frame]);
        let hash = XxHash64::oneshot(0, &content);
        assert_eq!(written.verified, Some(Ok((hash, content.len() as u64))));
        let (_, written) = write(&options, &[&frame[..frame.len() - 2]]);
        assert!(matches!(written.verified, Some(Err(_))));
    }
}
