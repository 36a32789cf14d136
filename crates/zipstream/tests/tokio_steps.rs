//! Directories are read, checked and searched in steps, with other tasks in between. Polls are counted, not timed: what is
//! done in one is bounded by the number of records, also on a machine without end of speed.

use std::future::{Future, poll_fn};
use std::io::Cursor;
use std::pin::pin;

use tokio::io::AsyncReadExt as _;
use zipstream::tokio::{AsyncArchiveReader, AsyncPipeReader};
use zipstream::{
    ArchiveReader, ArchiveWriter, EntryOptions, ErrorKind, KnownContent, Method, ReadOptions,
};

use crate::common::sample;

const ENTRIES: u32 = 60_000;
/// Records of these archives that a poll looks at, at most, where others are to have a turn after 100 µs.
const RECORDS_MAX: usize = 6_000;

/// What a future comes to, and how often it was polled.
async fn polls<T>(future: impl Future<Output = T>) -> (T, usize) {
    let mut future = pin!(future);
    let mut polls = 0;
    let value = poll_fn(|context| {
        polls += 1;
        future.as_mut().poll(context)
    });
    let value = value.await;
    (value, polls)
}

fn archive(names: impl Iterator<Item = String>) -> Vec<u8> {
    let mut writer = ArchiveWriter::new(Vec::new());
    let options = EntryOptions::new(Method::Stored);
    for name in names {
        writer.add(&name, &options, &mut &b""[..]).unwrap();
    }
    writer.finish().unwrap().0
}

fn many() -> Vec<u8> {
    archive((0..ENTRIES).map(|number| format!("{number:06}.txt")))
}

/// The same with its records in reverse order. All are equally long.
fn reversed() -> Vec<u8> {
    let mut archive = many();
    let reader = ArchiveReader::open(&archive[..]).unwrap();
    let (start, bytes) = (reader.directory().start(), reader.directory().bytes());
    let records = &mut archive[start as usize..][..bytes as usize];
    let record = records.len() / ENTRIES as usize;
    let mut turned: Vec<u8> = Vec::with_capacity(records.len());
    for one in records.chunks(record).rev() {
        turned.extend_from_slice(one);
    }
    records.copy_from_slice(&turned);
    archive
}

fn assert_divided(polls: usize) {
    assert!(polls >= ENTRIES as usize / RECORDS_MAX, "{polls} polls");
}

#[tokio::test]
async fn archives_are_opened_and_searched_in_turns() {
    let archive = many();
    for options in [ReadOptions::default(), ReadOptions::strict()] {
        let opened = AsyncArchiveReader::open_with(Cursor::new(&archive), &options);
        let (reader, opened) = polls(opened).await;
        assert_divided(opened);
        let directory = reader.unwrap().directory();
        // The first search looks at each record, the second makes an index, and those behind it have it.
        for number in [1, 2] {
            let name = format!("{number:06}.txt");
            let (found, searched) = polls(directory.find_async(&name)).await;
            assert_divided(searched);
            assert_eq!(found.unwrap().unwrap().name().unwrap(), name);
        }
        let (found, searched) = polls(directory.find_async("another")).await;
        // What was done before may have left no time in this turn.
        assert!(found.unwrap().is_none() && searched <= 2, "{searched}");
        assert!(directory.find("000007.txt").unwrap().is_some());
    }
}

#[tokio::test]
async fn searches_that_are_dropped_go_on_with_the_index() {
    let reader = AsyncArchiveReader::open(Cursor::new(many())).await.unwrap();
    let directory = reader.directory();
    directory.find_async("000001.txt").await.unwrap();
    let mut searches = 0;
    loop {
        searches += 1;
        // Each is dropped after its second poll.
        let mut search = pin!(directory.find_async("000003.txt"));
        let mut left = 2;
        let found = poll_fn(|context| match search.as_mut().poll(context) {
            std::task::Poll::Pending if left > 1 => {
                left -= 1;
                std::task::Poll::Pending
            }
            std::task::Poll::Pending => std::task::Poll::Ready(None),
            std::task::Poll::Ready(found) => std::task::Poll::Ready(Some(found)),
        });
        if let Some(found) = found.await {
            assert!(found.unwrap().is_some());
            break;
        }
        assert!(searches < 100_000, "it begins anew");
    }
    assert!(searches >= ENTRIES as usize / RECORDS_MAX / 2, "{searches}");
}

#[tokio::test]
async fn archives_out_of_order_are_checked_in_turns() {
    let mut archive = reversed();
    let mut reader = AsyncArchiveReader::open(Cursor::new(&archive))
        .await
        .unwrap();
    let (checked, sorted) = polls(reader.check()).await;
    checked.unwrap();
    assert_divided(sorted);
    let options = ReadOptions::strict();
    let strict = AsyncArchiveReader::open_with(Cursor::new(&archive), &options);
    let (strict, sorted) = polls(strict).await;
    strict.unwrap();
    assert_divided(sorted);
    // The last entry of the directory, which is the first one of the archive, moves into the second one.
    let start = reader.directory().start() as usize;
    let record = reader.directory().bytes() as usize / ENTRIES as usize;
    let last = start + record * (ENTRIES as usize - 1);
    archive[last + 42..last + 46].copy_from_slice(&1_u32.to_le_bytes());
    let mut reader = AsyncArchiveReader::open(Cursor::new(&archive))
        .await
        .unwrap();
    let (checked, sorted) = polls(reader.check()).await;
    assert_eq!(checked.unwrap_err().kind(), ErrorKind::Overlap);
    assert_divided(sorted);
    let sync = ArchiveReader::open(&archive[..]).unwrap();
    assert_eq!(sync.check().unwrap_err().kind(), ErrorKind::Overlap);
}

#[tokio::test]
async fn the_names_of_strangers_are_checked_in_turns() {
    let deep = "d/".repeat(30_000);
    let wide = "é".repeat(30_000);
    for name in [deep + "e", wide] {
        let archive = archive([name].into_iter());
        let options = ReadOptions::strict();
        let opened = AsyncArchiveReader::open_with(Cursor::new(&archive), &options);
        let (opened, polled) = polls(opened).await;
        opened.unwrap();
        // One entry, with as much work as thousands.
        assert!(polled > 2, "{polled} polls");
    }
}

#[tokio::test]
async fn shorter_turns_make_more_polls() {
    let archive = many();
    let mut least = 0;
    for threshold_ns in [100_000, 20_000, 4_000] {
        let options = ReadOptions::default().threshold_ns(threshold_ns);
        let opened = AsyncArchiveReader::open_with(Cursor::new(&archive), &options);
        let (opened, polled) = polls(opened).await;
        opened.unwrap();
        least = ENTRIES as usize / RECORDS_MAX * 100_000 / threshold_ns as usize;
        assert!(polled >= least, "{polled} polls at {threshold_ns} ns");
    }
    assert!(least >= 250);
}

const SMALL_BYTES: usize = 1 << 20;

/// An archive of one entry of the most bytes that are verified together.
fn of_small(method: Method, content: &[u8]) -> Vec<u8> {
    let mut writer = ArchiveWriter::new(Vec::new());
    let known = KnownContent::new(content.len() as u64, crc32fast::hash(content));
    let options = EntryOptions::new(method).known(known);
    writer.add("a", &options, &mut &content[..]).unwrap();
    writer.finish().unwrap().0
}

/// The least polls for work on `bytes`: a nanosecond is not counted for more than 16.
fn least_polls(bytes: usize, threshold_ns: u64) -> usize {
    bytes / 16 / threshold_ns as usize
}

#[tokio::test]
async fn small_entries_are_decoded_in_turns() {
    let content = sample(1, SMALL_BYTES);
    for method in [
        Method::Deflate,
        #[cfg(feature = "zstd")]
        Method::Zstd,
        Method::Stored,
    ] {
        let archive = of_small(method, &content);
        for threshold_ns in [4_000, 20_000] {
            let least = least_polls(SMALL_BYTES, threshold_ns);
            for options in [ReadOptions::default(), ReadOptions::strict()] {
                let options = options.threshold_ns(threshold_ns);
                let source = Cursor::new(&archive);
                let opened = AsyncArchiveReader::open_with(source, &options).await;
                let mut reader = opened.unwrap();
                let directory = reader.directory();
                let entry = directory.find("a").unwrap().unwrap();
                let (read, polled) = polls(reader.read(&entry)).await;
                assert!(read.unwrap() == content);
                assert!(polled >= least, "{method}: {polled} polls, not {least}");
                let mut read = Vec::new();
                let mut entry_reader = reader.entry_reader(&entry);
                let (bytes, polled) = polls(entry_reader.read_to_end(&mut read)).await;
                assert!(bytes.unwrap() == SMALL_BYTES && read == content);
                assert!(polled >= least, "{method}: {polled} polls, not {least}");
                let mut sink = Vec::new();
                let (bytes, polled) = polls(reader.copy_to(&entry, &mut sink)).await;
                assert!(bytes.unwrap() == SMALL_BYTES as u64 && sink == content);
                assert!(polled >= least, "{method}: {polled} polls, not {least}");
            }
        }
    }
}

#[tokio::test]
async fn entries_of_a_pipe_are_decoded_and_skipped_in_turns() {
    // Little input becomes much content.
    let content = vec![b'x'; 8 * SMALL_BYTES];
    for method in [
        Method::Deflate,
        #[cfg(feature = "zstd")]
        Method::Zstd,
    ] {
        let archive = of_small(method, &content);
        let options = ReadOptions::default().threshold_ns(20_000);
        let least = least_polls(content.len(), 20_000);
        let mut pipe = AsyncPipeReader::new(&archive[..], &options);
        pipe.next_entry().await.unwrap().unwrap();
        let (skipped, polled) = polls(pipe.next_entry()).await;
        assert!(skipped.unwrap().is_none());
        assert!(polled >= least, "{method}: {polled} polls, not {least}");
        let mut pipe = AsyncPipeReader::new(&archive[..], &options);
        pipe.next_entry().await.unwrap().unwrap();
        let (mut pieces, mut bytes) = (0, 0);
        while let Some(piece) = pipe.next_piece().await.unwrap() {
            (pieces, bytes) = (pieces + 1, bytes + piece.len());
        }
        assert_eq!(bytes, content.len());
        assert!(pieces >= content.len() / (128 << 10), "{pieces} pieces");
    }
}
