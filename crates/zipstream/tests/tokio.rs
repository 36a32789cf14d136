//! The types for tokio: the same bytes as without it, nothing lost by dropped futures, and no worker of
//! the runtime blocked.

use std::future::Future as _;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use tokio::io::{AsyncWrite, AsyncWriteExt as _};
use zipstream::tokio::{AsyncArchiveReader, AsyncArchiveWriter, AsyncPipeReader};
use zipstream::{
    ArchiveOptions, ArchiveReader, ArchiveWriter, Decryption, Encryption, EntryOptions, ErrorKind,
    KnownContent, Method, Password, ReadOptions, Workers,
};

use crate::common::sample;

const MIB: usize = 1 << 20;

/// Entries of every path: small and large, of every method, stored behind work on threads.
fn entries() -> Vec<(String, EntryOptions, Vec<u8>)> {
    let sizes = [0, 10, 10_000, 70_000, 300_000, MIB, 2 * MIB + 3, 5 * MIB];
    let mut entries = Vec::new();
    for method in [Method::Deflate, Method::Zstd, Method::Stored] {
        for (index, size) in sizes.into_iter().enumerate() {
            let content = sample(index as u32 + 1, size);
            let mut options = EntryOptions::new(method);
            if method == Method::Deflate {
                options = options.level(1);
            }
            options.size_hint = (index % 2 == 0).then_some(size as u64);
            if method == Method::Stored {
                options.known = Some(KnownContent::new(size as u64, crc32fast::hash(&content)));
            }
            entries.push((format!("{method}/{index}"), options, content));
        }
        // Shrinks to nothing, then does not.
        let mut content = vec![b'x'; 2 * MIB];
        content.extend_from_slice(&sample(3, MIB));
        let options = EntryOptions::new(method).level(1);
        entries.push((format!("{method}/runs"), options, content));
    }
    entries
}

fn expected() -> Vec<u8> {
    let mut writer = ArchiveWriter::new(Vec::new());
    for (name, options, content) in entries() {
        writer.start_entry(&name, &options).expect("it works");
        writer.push(&content).expect("it works");
        writer.finish_entry().expect("it works");
    }
    writer.finish().expect("it works").0
}

fn settings(workers: usize, threads: usize) -> ArchiveOptions {
    let mut options = ArchiveOptions::default();
    options.threads = threads;
    options.workers = Some(Workers::new(workers));
    options
}

#[tokio::test]
async fn the_bytes_are_those_of_the_writer_without_tokio() {
    let expected = expected();
    for (workers, threads, cut) in [(1, 0, 777), (2, 2, 100_000), (3, 3, usize::MAX)] {
        let options = settings(workers, threads);
        let mut writer = AsyncArchiveWriter::with_options(Vec::new(), options).unwrap();
        for (name, options, content) in entries() {
            writer.start_entry(&name, &options).await.unwrap();
            for part in content.chunks(cut) {
                writer.push(part).await.unwrap();
            }
            writer.finish_entry().await.unwrap();
        }
        let (archive, totals) = writer.finish().await.unwrap();
        assert_eq!(totals.archive_bytes, archive.len() as u64);
        assert!(archive == expected, "{workers} workers, parts of {cut}");
    }
    let reader = ArchiveReader::open_with(&expected[..], &ReadOptions::strict()).unwrap();
    for (entry, (name, _, content)) in reader.entries().zip(entries()) {
        let entry = entry.unwrap();
        assert_eq!(entry.name().unwrap(), name);
        assert!(reader.read(&entry).unwrap() == content);
    }
}

/// Takes a few bytes at a time, and only every other time it is asked.
#[derive(Default)]
struct Slow {
    bytes: Vec<u8>,
    asked: usize,
}

impl AsyncWrite for Slow {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        self.asked += 1;
        if self.asked % 2 == 1 {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        let taken = bytes.len().min(50_001);
        self.bytes.extend_from_slice(&bytes[..taken]);
        Poll::Ready(Ok(taken))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// Polls a future that `make` makes once, drops it when it is not ready, lets others run and makes
/// another one.
macro_rules! dropped_until_ready {
    ($make:expr) => {
        loop {
            let polled = {
                let mut future = std::pin::pin!($make);
                let mut context = Context::from_waker(Waker::noop());
                future.as_mut().poll(&mut context)
            };
            match polled {
                Poll::Ready(value) => break value,
                Poll::Pending => tokio::task::yield_now().await,
            }
        }
    };
}

#[tokio::test]
async fn futures_that_are_dropped_lose_nothing_and_do_nothing_twice() {
    let expected = expected();
    let mut writer = AsyncArchiveWriter::with_options(Slow::default(), settings(2, 2)).unwrap();
    for (name, options, content) in entries() {
        dropped_until_ready!(writer.start_entry(&name, &options)).unwrap();
        // Here a part may have been taken by each of the futures.
        dropped_until_ready!(writer.push(&content[writer.entry_bytes() as usize..])).unwrap();
        assert_eq!(writer.entry_bytes(), content.len() as u64);
        dropped_until_ready!(writer.finish_entry()).unwrap();
    }
    dropped_until_ready!(writer.close()).unwrap();
    assert!(writer.sink().bytes == expected);
}

#[tokio::test]
async fn a_source_that_is_read_goes_on_after_a_drop() {
    let content = sample(9, 3 * MIB);
    let (mut far, mut near) = tokio::io::duplex(10_000);
    let sent = content.clone();
    let sending = tokio::spawn(async move { far.write_all(&sent).await });
    let mut writer = AsyncArchiveWriter::new(Vec::new());
    let options = EntryOptions::default().level(1);
    writer.start_entry("a", &options).await.unwrap();
    loop {
        let polled = {
            let mut future = std::pin::pin!(writer.push_from(&mut near));
            future
                .as_mut()
                .poll(&mut Context::from_waker(Waker::noop()))
        };
        match polled {
            Poll::Ready(bytes) if bytes.as_ref().is_ok_and(|bytes| *bytes == 0) => break,
            Poll::Ready(bytes) => drop(bytes.unwrap()),
            Poll::Pending => tokio::task::yield_now().await,
        }
    }
    writer.finish_entry().await.unwrap();
    let (archive, _) = writer.finish().await.unwrap();
    sending.await.unwrap().unwrap();
    let reader = ArchiveReader::open(&archive[..]).unwrap();
    let entry = reader.find("a").unwrap().unwrap();
    assert!(reader.read(&entry).unwrap() == content);
}

#[tokio::test]
async fn others_run_while_an_archive_is_packed() {
    let packing = tokio::spawn(async {
        let mut writer = AsyncArchiveWriter::new(tokio::io::sink());
        let content = sample(1, 30_000);
        for index in 0..100 {
            let name = format!("{index}");
            let options = EntryOptions::default().level(1);
            writer
                .add(&name, &options, &mut &content[..])
                .await
                .unwrap();
        }
        writer.finish().await.unwrap().1
    });
    // Both are tasks of one thread: a turn here is one that the other gave.
    let mut turns = 0;
    while !packing.is_finished() {
        turns += 1;
        tokio::task::yield_now().await;
    }
    assert_eq!(packing.await.unwrap().entries, 100);
    // Once for every three entries, which are more than it takes.
    assert!(turns >= 100 / 3, "{turns}");
}

#[tokio::test]
async fn a_sink_that_fails_fails_the_call_and_mistakes_cost_nothing() {
    let (near, far) = tokio::io::duplex(100);
    drop(far);
    let mut writer = AsyncArchiveWriter::new(near);
    let options = EntryOptions::new(Method::Stored);
    writer.start_entry("a", &options).await.unwrap();
    assert!(writer.start_entry("b", &options).await.is_err());
    writer.push(&[0; 200_000]).await.unwrap();
    writer.finish_entry().await.unwrap();
    let error = writer.finish().await.unwrap_err();
    assert_eq!(
        error.kind(),
        zipstream::ErrorKind::Io(std::io::ErrorKind::BrokenPipe)
    );
}

#[tokio::test]
async fn archives_are_read_anywhere_and_as_they_come() {
    let archive = expected();
    for options in [ReadOptions::default(), ReadOptions::strict()] {
        let source = std::io::Cursor::new(&archive);
        let mut reader = AsyncArchiveReader::open_with(source, &options)
            .await
            .unwrap();
        let directory = reader.directory();
        for (name, _, content) in entries().into_iter().rev() {
            let entry = directory.find(&name).unwrap().unwrap();
            assert!(reader.read(&entry).await.unwrap() == content, "{name}");
        }
        reader.check().await.unwrap();

        // In parts of a size of its own.
        let (mut far, near) = tokio::io::duplex(70_000);
        let sent = archive.clone();
        let sending = tokio::spawn(async move { far.write_all(&sent).await });
        let mut pipe = AsyncPipeReader::new(near, &options);
        for (name, _, content) in entries() {
            assert_eq!(pipe.next_entry().await.unwrap().unwrap().name, name);
            let mut found = Vec::new();
            while let Some(piece) = pipe.next_piece().await.unwrap() {
                found.extend_from_slice(piece);
            }
            assert!(found == content, "{name}");
        }
        assert!(pipe.next_entry().await.unwrap().is_none());
        let mut records = 0;
        while pipe.next_record().await.unwrap().is_some() {
            records += 1;
        }
        assert_eq!(records, entries().len());
        assert_eq!(pipe.offset(), archive.len() as u64);
        sending.await.unwrap().unwrap();
    }
}

#[tokio::test]
async fn reading_goes_on_after_futures_that_are_dropped() {
    let archive = expected();
    let (mut far, near) = tokio::io::duplex(1000);
    let sent = archive.clone();
    let sending = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        runtime.block_on(far.write_all(&sent)).unwrap();
    });
    let mut pipe = AsyncPipeReader::new(near, &ReadOptions::strict());
    for (name, _, content) in entries() {
        let found =
            dropped_until_ready!(async { Some(pipe.next_entry().await.unwrap()?.name.clone()) });
        assert_eq!(found, Some(name));
        let mut found = Vec::new();
        while let Some(piece) =
            dropped_until_ready!(async { Some(pipe.next_piece().await.unwrap()?.to_vec()) })
        {
            found.extend_from_slice(&piece);
        }
        assert!(found == content);
    }
    while dropped_until_ready!(async { pipe.next_record().await.unwrap().map(drop) }).is_some() {}
    sending.join().unwrap();
}

#[tokio::test]
async fn what_is_wrong_with_an_archive_is_said_as_without_tokio() {
    let archive = expected();
    let open = |bytes: Vec<u8>, options: ReadOptions| async move {
        let opened = AsyncArchiveReader::open_with(std::io::Cursor::new(bytes), &options).await;
        opened.map(drop).unwrap_err().to_string()
    };
    for (cut, options) in [
        (archive.len() - 1, ReadOptions::strict()),
        (archive.len() / 2, ReadOptions::default()),
        (0, ReadOptions::default()),
    ] {
        let bytes = archive[..cut].to_vec();
        let expected = ArchiveReader::open_with(&bytes[..], &options).unwrap_err();
        assert_eq!(open(bytes, options).await, expected.to_string());
    }
    // A header that contradicts the directory, deep inside.
    let reader = ArchiveReader::open(&archive[..]).unwrap();
    let entry = reader.find("zstd/3").unwrap().unwrap();
    let mut wrong = archive.clone();
    wrong[entry.offset() as usize + 14] ^= 1;
    let expected = ArchiveReader::open_with(&wrong[..], &ReadOptions::strict()).unwrap_err();
    assert_eq!(
        open(wrong, ReadOptions::strict()).await,
        expected.to_string()
    );
}

#[tokio::test]
async fn large_encrypted_entries_are_given_out_once_they_are_authenticated() {
    let content: Vec<u8> = (0..3_000_000_u32).map(|n| (n >> 3) as u8).collect();
    let mut settings = ArchiveOptions::default();
    settings.encryption = Some(Encryption::new(Password::new("right")));
    let mut writer = ArchiveWriter::with_options(Vec::new(), settings).unwrap();
    for (name, method) in [("deflate", Method::Deflate), ("stored", Method::Stored)] {
        let mut options = EntryOptions::new(method);
        let bytes = content.len() as u64;
        options.known = (method == Method::Stored).then_some(KnownContent::new(bytes, 0));
        writer.add(name, &options, &mut &content[..]).unwrap();
    }
    let archive = writer.finish().unwrap().0;
    let decryption = |password: &str| Decryption::new(Password::new(password));
    let open = |archive: Vec<u8>| AsyncArchiveReader::open(std::io::Cursor::new(archive));
    for early in [false, true] {
        for name in ["deflate", "stored"] {
            let mut reader = open(archive.clone()).await.unwrap();
            reader.set_decryption(Some(decryption("right").release_early(early)));
            let directory = reader.directory();
            let entry = directory.find(name).unwrap().unwrap();
            assert!(reader.read(&entry).await.unwrap() == content, "{name}");

            let mut damaged = archive.clone();
            let middle = entry.offset() + entry.compressed_bytes() / 2;
            damaged[middle as usize] ^= 1;
            let mut reader = open(damaged).await.unwrap();
            reader.set_decryption(Some(decryption("right").release_early(early)));
            let mut sink = Vec::new();
            let error = reader.copy_to(&entry, &mut sink).await.unwrap_err();
            // What was given out early may be what fails.
            let expected_kind = error.kind() == ErrorKind::Authentication;
            assert!(expected_kind || early, "{name}: {error}");
            assert_eq!(sink.is_empty(), !early, "{name}");

            reader.set_decryption(Some(decryption("wrong")));
            let error = reader.read(&entry).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Password);
        }
    }
}
