//! [`Read`](std::io::Read) and [`Write`](std::io::Write) adapters, so that `io::copy`, `serde_json`,
//! `csv` and everything else that speaks `std::io` works with zstd streams.
//!
//! | | the caller writes | the caller reads |
//! |---|---|---|
//! | compress | [`EncoderWriter`] | [`EncoderReader`] |
//! | decompress | [`DecoderWriter`] | [`DecoderReader`] |
//!
//! The adapters do no I/O of their own: they call the reader or writer that they were given, on the
//! calling thread. All work is done by [`Encoder`](crate::Encoder) and [`Decoder`](crate::Decoder).
//! Use those directly where a call must not block, and `zstdkit::tokio` (feature `tokio`) inside an
//! asynchronous runtime.
//!
//! ```
//! use std::io::{self, BufRead, Write};
//! use zstdkit::io::{DecoderReader, EncoderWriter};
//!
//! // Compress what is written.
//! let mut writer = EncoderWriter::new(Vec::new(), &Default::default())?;
//! writeln!(writer, "first line")?;
//! io::copy(&mut &b"second line\n"[..], &mut writer)?;
//! let frame = writer.finish()?;
//!
//! // Decompress while reading.
//! let reader = DecoderReader::new(&frame[..], &Default::default())?;
//! let lines = reader.lines().collect::<io::Result<Vec<_>>>()?;
//! assert_eq!(lines, ["first line", "second line"]);
//! # Ok::<(), io::Error>(())
//! ```
//!
//! # Errors
//! An error of the inner reader or writer is passed on unchanged and nothing is lost: repeat the
//! call to continue. Writers retry [`Interrupted`](std::io::ErrorKind::Interrupted) by themselves;
//! readers pass it on, as those of the standard library do. An error of zstd is an
//! [`io::Error`](std::io::Error) that holds an [`Error`](crate::Error), which names the byte; every
//! further call repeats it.
//!
//! ```
//! use std::io::{ErrorKind, Read};
//!
//! let mut frame = zstdkit::compress(b"to be or not to be", &Default::default())?;
//! frame.pop();
//! let mut reader = zstdkit::io::DecoderReader::new(&frame[..], &Default::default())?;
//! let error = reader.read_to_end(&mut Vec::new()).unwrap_err();
//! assert_eq!(error.kind(), ErrorKind::UnexpectedEof);
//! let error = error.downcast::<zstdkit::Error>().unwrap();
//! assert_eq!(error.offset(), Some(frame.len() as u64));
//! # Ok::<(), zstdkit::Error>(())
//! ```

mod decoder_reader;
mod decoder_writer;
mod encoder_reader;
mod encoder_writer;
mod pending;

pub use decoder_reader::DecoderReader;
pub use decoder_writer::DecoderWriter;
pub use encoder_reader::EncoderReader;
pub use encoder_writer::EncoderWriter;
