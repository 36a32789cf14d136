//! The engines.

use std::io::Write as _;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader, ReadBuf};
use tokio::task::spawn_blocking;
use zstdkit::tokio::Scheduler;
use zstdkit::{DecoderOptions, EncoderOptions};

use crate::Result;
use crate::cell::{Cell, Work};

/// The content that `spawn_blocking` is given at a time.
const CHUNK_BYTES: usize = 128 << 10;

/// How long a slow sink or source waits before each piece.
const PAUSE: Duration = Duration::from_millis(1);

/// Who does the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Side {
    Zstdkit,
    AsyncCompression,
    SpawnBlocking,
}

impl Side {
    pub(crate) const ALL: [Self; 3] = [Self::Zstdkit, Self::AsyncCompression, Self::SpawnBlocking];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Zstdkit => "zstdkit",
            Self::AsyncCompression => "async-compression",
            Self::SpawnBlocking => "spawn_blocking",
        }
    }

    pub(crate) fn named(name: &str) -> Result<Self> {
        let found = Self::ALL.into_iter().find(|side| side.name() == name);
        found.ok_or_else(|| format!("no side {name}").into())
    }

    pub(crate) fn start(self) -> Result<Engine> {
        Ok(match self {
            Self::Zstdkit => Engine::Zstdkit(Scheduler::with_defaults()?),
            Self::AsyncCompression => Engine::AsyncCompression,
            Self::SpawnBlocking => Engine::SpawnBlocking,
        })
    }
}

/// What a stream gave, if it was to be kept.
pub(crate) struct Compressed(pub(crate) Vec<u8>);

impl From<Compressed> for Arc<[u8]> {
    fn from(compressed: Compressed) -> Self {
        compressed.0.into()
    }
}

/// A side, ready for streams.
#[derive(Debug, Clone)]
pub(crate) enum Engine {
    Zstdkit(Scheduler),
    AsyncCompression,
    SpawnBlocking,
}

/// What came of work, or why not, in words.
pub(crate) type Said<T> = std::result::Result<T, String>;

impl Engine {
    /// One stream from its first to its last byte.
    pub(crate) async fn stream(self, input: Arc<[u8]>, cell: Cell, keep: bool) -> Said<Compressed> {
        let sink = Sink {
            keep,
            bytes: Vec::new(),
            pace: Pace::new(&cell),
        };
        let source = Source {
            bytes: input.clone(),
            at: 0,
            piece_bytes: cell.piece_bytes,
            pace: Pace::new(&cell),
        };
        match (cell.work, self) {
            (Work::Encode, Self::Zstdkit(scheduler)) => {
                let options = EncoderOptions::default()
                    .with_level(cell.level)
                    .with_checksum(true);
                let encoder = scheduler.encoder(sink, &options, None).map_err(said)?;
                Ok(Compressed(
                    give(encoder, &input, &cell).await?.into_inner().bytes,
                ))
            }
            (Work::Encode, Self::AsyncCompression) => {
                let encoder = async_compression::tokio::write::ZstdEncoder::with_quality_and_params(
                    sink,
                    async_compression::Level::Precise(cell.level),
                    &[async_compression::zstd::CParameter::checksum_flag(true)],
                );
                Ok(Compressed(
                    give(encoder, &input, &cell).await?.into_inner().bytes,
                ))
            }
            (Work::Encode, Self::SpawnBlocking) => blocking_encode(sink, &input, &cell).await,
            (Work::Decode, Self::Zstdkit(scheduler)) => {
                let decoder = scheduler
                    .decoder(source, &DecoderOptions::default())
                    .map_err(said)?;
                take(decoder, keep, &cell).await
            }
            (Work::Decode, Self::AsyncCompression) => {
                let source = BufReader::new(source);
                take(
                    async_compression::tokio::bufread::ZstdDecoder::new(source),
                    keep,
                    &cell,
                )
                .await
            }
            (Work::Decode, Self::SpawnBlocking) => blocking_decode(source, keep).await,
        }
    }
}

pub(crate) fn said(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// Writes the content in pieces.
async fn give<W: AsyncWrite + Unpin>(mut encoder: W, input: &[u8], cell: &Cell) -> Said<W> {
    for piece in input.chunks(cell.piece_bytes) {
        encoder.write_all(piece).await.map_err(said)?;
        if cell.flush {
            encoder.flush().await.map_err(said)?;
        }
    }
    encoder.shutdown().await.map_err(said)?;
    Ok(encoder)
}

/// Reads all content, 16 KiB at a time.
async fn take<R: AsyncRead + Unpin>(mut decoder: R, keep: bool, cell: &Cell) -> Said<Compressed> {
    let (mut content, mut buffer) = (Vec::new(), vec![0; 16 << 10]);
    let mut total = 0;
    loop {
        let count = decoder.read(&mut buffer).await.map_err(said)?;
        if count == 0 {
            break;
        }
        total += count;
        if keep {
            content.extend_from_slice(&buffer[..count]);
        }
    }
    match total == cell.content_bytes {
        true => Ok(Compressed(content)),
        false => Err(format!("{total} bytes")),
    }
}

/// What most programs do by hand: content is gathered, and each chunk goes to a thread that may block.
async fn blocking_encode(sink: Sink, input: &[u8], cell: &Cell) -> Said<Compressed> {
    let mut encoder = zstd::stream::write::Encoder::new(sink, cell.level).map_err(said)?;
    encoder.include_checksum(true).map_err(said)?;
    let mut chunk = Vec::new();
    let step = async |mut encoder: zstd::stream::write::Encoder<'static, Sink>,
                      mut chunk: Vec<u8>,
                      flush| {
        spawn_blocking(move || {
            encoder.write_all(&chunk)?;
            if flush {
                encoder.flush()?;
            }
            chunk.clear();
            Ok::<_, std::io::Error>((encoder, chunk))
        })
        .await
        .map_err(said)?
        .map_err(said)
    };
    for piece in input.chunks(cell.piece_bytes) {
        chunk.extend_from_slice(piece);
        if cell.flush || chunk.len() >= CHUNK_BYTES {
            (encoder, chunk) = step(encoder, chunk, cell.flush).await?;
        }
    }
    (encoder, _) = step(encoder, chunk, false).await?;
    let sink = spawn_blocking(move || encoder.finish())
        .await
        .map_err(said)?
        .map_err(said)?;
    Ok(Compressed(sink.bytes))
}

/// The same for reading: compressed bytes are gathered, and each chunk goes to a thread that may block.
async fn blocking_decode(mut source: Source, keep: bool) -> Said<Compressed> {
    let mut decoder = zstd::stream::write::Decoder::new(Sink {
        keep,
        bytes: Vec::new(),
        pace: Pace::default(),
    })
    .map_err(said)?;
    let mut chunk = Vec::new();
    loop {
        let count = source.read_buf(&mut chunk).await.map_err(said)?;
        if count > 0 && chunk.len() < CHUNK_BYTES / 4 {
            continue;
        }
        (decoder, chunk) = spawn_blocking(move || {
            decoder.write_all(&chunk)?;
            chunk.clear();
            Ok::<_, std::io::Error>((decoder, chunk))
        })
        .await
        .map_err(said)?
        .map_err(said)?;
        if count == 0 {
            decoder.flush().map_err(said)?;
            return Ok(Compressed(decoder.into_inner().bytes));
        }
    }
}

/// When a sink or source is ready: always, or once in a millisecond.
#[derive(Debug, Default)]
struct Pace {
    slow: bool,
    asleep: Option<Pin<Box<tokio::time::Sleep>>>,
}

impl Pace {
    fn new(cell: &Cell) -> Self {
        Self {
            slow: cell.slow,
            asleep: None,
        }
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if !self.slow {
            return Poll::Ready(());
        }
        let sleep = || Box::pin(tokio::time::sleep(PAUSE));
        let asleep = self.asleep.get_or_insert_with(sleep);
        ready!(asleep.as_mut().poll(context));
        self.asleep = None;
        Poll::Ready(())
    }
}

/// Takes everything at once.
#[derive(Debug)]
struct Sink {
    keep: bool,
    bytes: Vec<u8>,
    pace: Pace,
}

impl Sink {
    fn take(&mut self, bytes: &[u8]) -> usize {
        if self.keep {
            self.bytes.extend_from_slice(bytes);
        }
        bytes.len()
    }
}

/// For threads that may block.
impl std::io::Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if self.pace.slow {
            std::thread::sleep(PAUSE);
        }
        Ok(self.take(bytes))
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl AsyncWrite for Sink {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        ready!(self.pace.poll(context));
        Poll::Ready(Ok(self.take(bytes)))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// Gives a piece at a time, at once.
struct Source {
    bytes: Arc<[u8]>,
    at: usize,
    piece_bytes: usize,
    pace: Pace,
}

impl AsyncRead for Source {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        ready!(self.pace.poll(context));
        let count = (self.bytes.len() - self.at)
            .min(self.piece_bytes)
            .min(buffer.remaining());
        buffer.put_slice(&self.bytes[self.at..self.at + count]);
        self.at += count;
        Poll::Ready(Ok(()))
    }
}
