//! What a source of requests is asked for, and how much is taken of it in one poll.

use std::io::{self, Cursor, SeekFrom};
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncSeek, ReadBuf};
use zipstream::tokio::AsyncArchiveReader;
use zipstream::{ArchiveWriter, EntryOptions, KnownContent, Method, ReadOptions};

use crate::common::sample;

const ENTRIES: usize = 60_000;
/// The most that is copied in one turn.
const PIECE_BYTES: usize = 256 << 10;

/// Answers each request for as many bytes as the room that it was given, after it has had others wait.
struct Requests {
    content: Vec<u8>,
    at: usize,
    /// What was answered and not read yet.
    held: usize,
    requests: usize,
    /// The most that was read at once.
    most: usize,
}

impl Requests {
    fn new(content: Vec<u8>) -> Self {
        Self {
            content,
            at: 0,
            held: 0,
            requests: 0,
            most: 0,
        }
    }
}

impl AsyncRead for Requests {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        room: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let left = self.content.len() - self.at;
        if self.held == 0 && left > 0 {
            self.requests += 1;
            self.held = room.remaining().min(left);
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        let bytes = self.held.min(room.remaining());
        room.put_slice(&self.content[self.at..self.at + bytes]);
        (self.at, self.held) = (self.at + bytes, self.held - bytes);
        self.most = self.most.max(bytes);
        Poll::Ready(Ok(()))
    }
}

impl AsyncSeek for Requests {
    fn start_seek(mut self: Pin<&mut Self>, to: SeekFrom) -> io::Result<()> {
        let mut cursor = Cursor::new(&self.content);
        let at = io::Seek::seek(&mut cursor, to)?;
        (self.at, self.held) = (at as usize, 0);
        Ok(())
    }

    fn poll_complete(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<u64>> {
        Poll::Ready(Ok(self.at as u64))
    }
}

fn archive(entries: impl Iterator<Item = (String, Method, Vec<u8>)>) -> Vec<u8> {
    let mut writer = ArchiveWriter::new(Vec::new());
    for (name, method, content) in entries {
        let known = KnownContent::new(content.len() as u64, crc32fast::hash(&content));
        let options = EntryOptions::new(method).known(known);
        writer.add(&name, &options, &mut &content[..]).unwrap();
    }
    writer.finish().unwrap().0
}

#[tokio::test]
async fn a_large_directory_is_one_request_and_taken_in_pieces() {
    let many = archive((0..ENTRIES).map(|number| (format!("{number}"), Method::Stored, vec![])));
    for threshold_ns in [100_000, 1_000_000] {
        let options = ReadOptions::default().threshold_ns(threshold_ns);
        let source = Requests::new(many.clone());
        let opened = AsyncArchiveReader::open_with(source, &options).await;
        let reader = opened.unwrap();
        assert_eq!(reader.len(), ENTRIES as u64);
        assert!(reader.directory().bytes() > 8 * PIECE_BYTES as u64);
        let source = reader.source();
        // The end of the archive, and the directory. It was one for each piece.
        assert_eq!(source.requests, 2);
        assert!(source.most <= PIECE_BYTES, "{}", source.most);
    }
}

#[tokio::test]
async fn an_entry_that_is_verified_as_a_whole_is_one_request() {
    let methods = [
        Method::Deflate,
        #[cfg(feature = "zstd")]
        Method::Zstd,
        Method::Stored,
    ];
    // Between them lies more than is read ahead.
    let content = |seed| sample(seed, 1 << 20);
    let noise = |seed: usize| {
        let mut state = seed as u32 * 2 + 1;
        let next = |_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        };
        (0..900_000).map(next).collect::<Vec<u8>>()
    };
    let entries = methods.iter().enumerate().flat_map(|(number, method)| {
        [
            (format!("{method}"), *method, content(number as u32)),
            (format!("noise {method}"), *method, noise(number)),
            (format!("between {method}"), Method::Stored, noise(9)),
        ]
    });
    let archive = archive(entries);
    let mut reader = AsyncArchiveReader::open(Requests::new(archive))
        .await
        .unwrap();
    let directory = reader.directory();
    for (number, method) in methods.iter().enumerate() {
        for (name, expected) in [
            (format!("noise {method}"), noise(number)),
            (format!("{method}"), content(number as u32)),
        ] {
            let entry = directory.find(&name).unwrap().unwrap();
            let before = reader.source().requests;
            assert!(reader.read(&entry).await.unwrap() == expected, "{name}");
            let requests = reader.source().requests - before;
            assert!(requests <= 1, "{name}: {requests} requests");
        }
    }
    assert!(reader.source().most <= PIECE_BYTES);
}
