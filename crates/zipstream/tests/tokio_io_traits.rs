//! Entries as `AsyncRead` and `AsyncWrite`: the same content over sources and sinks that are slow and
//! short, and nothing lost by futures that are dropped.

use std::io::{self, Cursor};
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{
    AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncSeek, AsyncWrite, AsyncWriteExt as _,
    ReadBuf,
};
use zipstream::tokio::{AsyncArchiveReader, AsyncArchiveWriter, AsyncPipeReader};
use zipstream::{ArchiveWriter, EntryOptions, Error, ErrorKind, Method, ReadOptions};

use crate::common::sample;

const MIB: usize = 1 << 20;

fn entries() -> Vec<(String, EntryOptions, Vec<u8>)> {
    let mut entries = Vec::new();
    for method in [Method::Deflate, Method::Zstd, Method::Stored] {
        for (index, size) in [0, 10, 70_000, MIB, 2 * MIB + 3].into_iter().enumerate() {
            let options = EntryOptions::new(method).size_hint(size as u64);
            entries.push((
                format!("{method} {size}"),
                options,
                sample(index as u32, size),
            ));
        }
    }
    entries
}

fn archive() -> Vec<u8> {
    let mut writer = ArchiveWriter::new(Vec::new());
    for (name, options, content) in entries() {
        writer.start_entry(&name, &options).expect("it works");
        writer.push(&content).expect("it works");
        writer.finish_entry().expect("it works");
    }
    writer.finish().expect("it works").0
}

/// Moves at most 50,001 bytes per call, and is ready only every other time.
struct Slow<T> {
    inner: T,
    calls: usize,
}

impl<T> Slow<T> {
    fn new(inner: T) -> Self {
        Self { inner, calls: 0 }
    }

    fn is_ready(&mut self, context: &Context<'_>) -> bool {
        self.calls += 1;
        if self.calls % 2 == 1 {
            context.waker().wake_by_ref();
        }
        self.calls.is_multiple_of(2)
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for Slow<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if !self.is_ready(context) {
            return Poll::Pending;
        }
        let mut part = vec![0; buffer.remaining().min(50_001)];
        let mut part = ReadBuf::new(&mut part);
        let read = Pin::new(&mut self.inner).poll_read(context, &mut part);
        buffer.put_slice(part.filled());
        read
    }
}

impl<T: AsyncSeek + Unpin> AsyncSeek for Slow<T> {
    fn start_seek(mut self: Pin<&mut Self>, position: io::SeekFrom) -> io::Result<()> {
        Pin::new(&mut self.inner).start_seek(position)
    }

    fn poll_complete(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<u64>> {
        match self.is_ready(context) {
            true => Pin::new(&mut self.inner).poll_complete(context),
            false => Poll::Pending,
        }
    }
}

impl AsyncWrite for Slow<Vec<u8>> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if !self.is_ready(context) {
            return Poll::Pending;
        }
        let taken = bytes.len().min(50_001);
        self.inner.extend_from_slice(&bytes[..taken]);
        Poll::Ready(Ok(taken))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// Reads everything; drops each future that is not ready at once and makes a new one.
async fn read_by_dropped_futures(reader: &mut (impl AsyncRead + Unpin)) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    let mut buffer = vec![0; 30_011];
    loop {
        let polled = {
            let mut future = std::pin::pin!(reader.read(&mut buffer));
            let mut context = Context::from_waker(std::task::Waker::noop());
            std::future::Future::poll(future.as_mut(), &mut context)
        };
        match polled {
            Poll::Pending => tokio::task::yield_now().await,
            Poll::Ready(Ok(0)) => return Ok(content),
            Poll::Ready(Ok(bytes)) => content.extend_from_slice(&buffer[..bytes]),
            Poll::Ready(Err(error)) => return Err(error),
        }
    }
}

#[tokio::test]
async fn entries_are_read_over_slow_sources() {
    let archive = archive();
    let source = Slow::new(Cursor::new(&archive));
    let mut file = AsyncArchiveReader::open(source).await.unwrap();
    let directory = file.directory();
    let mut pipe = AsyncPipeReader::new(Slow::new(&archive[..]), &ReadOptions::default());
    for (name, _, content) in entries() {
        let entry = directory.find(&name).unwrap().unwrap();
        let mut face = file.entry_reader(&entry);
        assert!(read_by_dropped_futures(&mut face).await.unwrap() == content);
        assert_eq!(face.read(&mut [0; 5]).await.unwrap(), 0, "the end stays");
        // A reader that is dropped half-way leaves nothing behind.
        let mut half = vec![0; content.len() / 2];
        let mut face = file.entry_reader(&entry);
        face.read_exact(&mut half).await.unwrap();
        assert!(content.starts_with(&half));

        assert!(pipe.next_entry().await.unwrap().is_some());
        let mut face = pipe.entry_reader();
        assert_eq!(face.entry().map(|entry| entry.name.clone()), Some(name));
        assert!(read_by_dropped_futures(&mut face).await.unwrap() == content);
    }
    assert!(pipe.next_entry().await.unwrap().is_none());
}

#[tokio::test]
async fn lines_of_an_entry_are_read() {
    let archive = archive();
    let mut file = AsyncArchiveReader::open(Cursor::new(&archive))
        .await
        .unwrap();
    let directory = file.directory();
    let entry = directory.find("deflate 70000").unwrap().unwrap();
    let mut lines = file.entry_reader(&entry).lines();
    let expected = String::from_utf8(sample(2, 70_000)).unwrap();
    for line in expected.lines() {
        assert_eq!(lines.next_line().await.unwrap().as_deref(), Some(line));
    }
    assert_eq!(lines.next_line().await.unwrap(), None);
}

#[tokio::test]
async fn damage_is_an_error_that_stays() {
    let mut archive = archive();
    let place = archive
        .windows(13)
        .position(|name| name == b"deflate 70000");
    archive[place.unwrap() + 2000] ^= 0x40;
    let mut file = AsyncArchiveReader::open(Cursor::new(&archive))
        .await
        .unwrap();
    let directory = file.directory();
    let entry = directory.find("deflate 70000").unwrap().unwrap();
    let mut face = file.entry_reader(&entry);
    let error = face.read_to_end(&mut Vec::new()).await.unwrap_err();
    assert!(error.get_ref().is_some_and(|inner| inner.is::<Error>()));
    let again = face.read(&mut [0; 5]).await.unwrap_err();
    assert_eq!(again.to_string(), error.to_string());
}

#[tokio::test]
async fn entries_are_written_over_slow_sinks() {
    let mut archive = AsyncArchiveWriter::new(Slow::new(Vec::new()));
    for (index, (name, options, content)) in entries().into_iter().enumerate() {
        let mut entry = archive.entry_writer(&name, &options).await.unwrap();
        for part in content.chunks(100_003) {
            entry.write_all(part).await.unwrap();
        }
        assert_eq!(entry.content_bytes(), content.len() as u64);
        entry.flush().await.unwrap();
        if index % 2 == 0 {
            entry.shutdown().await.unwrap();
            entry.shutdown().await.unwrap();
            assert!(entry.write(b"more").await.is_err());
        }
        entry.finish().await.unwrap();
    }
    let (sink, _) = archive.finish().await.unwrap();
    assert!(sink.inner == self::archive());
}

#[tokio::test]
async fn an_entry_that_is_dropped_stays_open() {
    let mut archive = AsyncArchiveWriter::new(Vec::new());
    let options = EntryOptions::default();
    let mut entry = archive.entry_writer("broken", &options).await.unwrap();
    entry.write_all(b"half").await.unwrap();
    drop(entry);
    let refused = archive.entry_writer("next", &options).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Order);
    archive.abandon_entry().unwrap();
    let mut entry = archive.entry_writer("kept", &options).await.unwrap();
    entry.write_all(b"whole").await.unwrap();
    entry.finish().await.unwrap();
    assert_eq!(archive.finish().await.unwrap().1.entries, 1);
}
