//! Which entries an asynchronous writer compresses itself: those that end within its threshold, as hard as content may be. Jobs
//! are counted by their threads and sizes, not timed.

use std::sync::{Arc, Mutex};
use std::thread;

use zipstream::tokio::AsyncArchiveWriter;
use zipstream::{ArchiveOptions, ArchiveReader, EntryOptions, Job, Method, Workers};

use crate::common::sample;

/// The content of the jobs that the thread of the runtime did itself, and of those of others.
#[derive(Debug, Default)]
struct Jobs {
    here: Vec<u64>,
    elsewhere: Vec<u64>,
}

/// Writes entries of these contents, at this level, on a thread that may be held for so long.
async fn written(
    method: Method,
    level: i32,
    threshold_ns: Option<u64>,
    encrypted: bool,
    contents: &[Vec<u8>],
) -> Jobs {
    let jobs = Arc::<Mutex<Jobs>>::default();
    let (seen, here) = (jobs.clone(), thread::current().id());
    let mut options = ArchiveOptions::default()
        .workers(Workers::new(1))
        .observer(Arc::new(move |job: Job, work: &mut dyn FnMut()| {
            let mut jobs = seen.lock().unwrap();
            match thread::current().id() == here {
                true => jobs.here.push(job.content_bytes),
                false => jobs.elsewhere.push(job.content_bytes),
            }
            drop(jobs);
            work();
        }));
    if let Some(threshold_ns) = threshold_ns {
        options = options.threshold_ns(threshold_ns);
    }
    if encrypted {
        let password = zipstream::Password::new("secret");
        options = options.encryption(zipstream::Encryption::new(password));
    }
    let mut writer = AsyncArchiveWriter::with_options(Vec::new(), options).unwrap();
    for (number, content) in contents.iter().enumerate() {
        let entry = EntryOptions::new(method).level(level);
        let mut source = &content[..];
        writer
            .add(&number.to_string(), &entry, &mut source)
            .await
            .unwrap();
        // What is compressed elsewhere does not keep the next one from being compressed here.
        writer.flush().await.unwrap();
    }
    let (archive, totals) = writer.finish().await.unwrap();
    assert_eq!(totals.entries, contents.len() as u64);
    if !encrypted {
        let reader = ArchiveReader::open(archive).unwrap();
        for (entry, content) in reader.entries().zip(contents) {
            assert!(reader.read(&entry.unwrap()).unwrap() == *content);
        }
    }
    Arc::into_inner(jobs).unwrap().into_inner().unwrap()
}

#[tokio::test]
async fn what_may_take_longer_than_the_threshold_goes_to_another_thread() {
    let kib = |count: usize| sample(count as u32, count << 10);
    for (method, level, threshold_ns, most) in [
        (Method::Deflate, 1, None, 20),
        (Method::Deflate, 6, None, 10),
        (Method::Deflate, 6, Some(200_000), 20),
        (Method::Deflate, 6, Some(20_000), 2),
        (Method::Deflate, 9, None, 0),
        (Method::Deflate, 9, Some(250_000), 2),
        (Method::Deflate, 10, None, 0),
        #[cfg(feature = "zstd")]
        (Method::Zstd, 1, None, 16),
        #[cfg(feature = "zstd")]
        (Method::Zstd, 19, None, 0),
    ] {
        let name = format!("{method} {level} {threshold_ns:?}");
        for count in [1, 2, 5, 10, 11, 17, 21, 64, 200] {
            let jobs = written(method, level, threshold_ns, false, &[kib(count)]).await;
            let here = jobs.here.len();
            assert_eq!(
                here,
                usize::from(count <= most),
                "{name}: {count} KiB, {jobs:?}"
            );
            assert_eq!(
                jobs.here.len() + jobs.elsewhere.len(),
                1,
                "{name}: {jobs:?}"
            );
        }
        // Easy content teaches nothing that hard content would have to pay for.
        let mut contents = vec![b"ab".repeat(1000); 100];
        contents.push(kib(100));
        let jobs = written(method, level, threshold_ns, false, &contents).await;
        let longest = jobs.here.iter().max().copied().unwrap_or(0);
        assert!(longest <= (most.max(1) as u64) << 10, "{name}: {jobs:?}");
    }
}

#[tokio::test]
async fn what_repeats_itself_from_end_to_end_is_compressed_at_once() {
    let line = b"one line of a log, again and again\n";
    for level in [1, 6, 9] {
        for bytes in [30_000, 100_000, 128 << 10] {
            let content: Vec<u8> = line.iter().copied().cycle().take(bytes).collect();
            let jobs = written(
                Method::Deflate,
                level,
                None,
                false,
                std::slice::from_ref(&content),
            )
            .await;
            assert_eq!(jobs.here, [bytes as u64], "{level}");
            // Its end does not.
            let mut other = content;
            other[bytes - 1] ^= 1;
            let jobs = written(Method::Deflate, level, None, false, &[other]).await;
            assert!(jobs.here.is_empty(), "{level}: {jobs:?}");
        }
    }
}

#[cfg(feature = "aes")]
#[tokio::test]
async fn keys_are_made_by_other_threads() {
    let jobs = written(Method::Deflate, 6, None, true, &[sample(1, 100)]).await;
    assert!(
        jobs.here.is_empty() && jobs.elsewhere.len() == 1,
        "{jobs:?}"
    );
}
