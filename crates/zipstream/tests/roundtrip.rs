//! What is written is read back the same, by the directory and from a pipe, whatever the threads and
//! however it was given.

use std::sync::OnceLock;

use zipstream::{
    ArchiveEncoder, ArchiveOptions, ArchiveReader, ArchiveWriter, Encryption, EntryKind,
    EntryOptions, EntryTime, Error, ErrorKind, KnownContent, Method, Password, PipeReader,
    ReadOptions, Scratch, StreamDecoder, StreamEvent,
};

const MIB: usize = 1 << 20;

/// Text-like bytes with some noise: the beginnings of one stream, each a little further on.
fn sample(seed: u32, bytes: usize) -> Vec<u8> {
    static STREAM: OnceLock<Vec<u8>> = OnceLock::new();
    let stream = STREAM.get_or_init(|| stream(2 * MIB + 1000));
    stream[seed as usize..seed as usize + bytes].to_vec()
}

fn stream(bytes: usize) -> Vec<u8> {
    let mut state = 1_u32;
    let mut next = move || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state
    };
    let mut out = Vec::with_capacity(bytes + 32);
    while out.len() < bytes {
        match next() % 20 {
            0 => out.extend((0..next() % 64).map(|_| next() as u8)),
            n => out.extend_from_slice(format!("word{} ", n * (next() % 50)).as_bytes()),
        }
    }
    out.truncate(bytes);
    out
}

fn sizes() -> Vec<usize> {
    let near = |size: usize| [size - 1, size, size + 1];
    let mut sizes = vec![0, 1, 2, 100, MIB + 300_017];
    sizes.extend(near(64 << 10));
    sizes.extend([256 << 10, MIB, MIB + 1]);
    sizes
}

struct Case {
    method: Method,
    level: i32,
    hinted: bool,
}

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for hinted in [false, true] {
        for (method, level) in [
            (Method::Stored, 0),
            (Method::Deflate, 0),
            (Method::Deflate, 1),
            (Method::Deflate, 6),
            (Method::Zstd, 3),
        ] {
            cases.push(Case {
                method,
                level,
                hinted,
            });
        }
    }
    cases
}

fn options(case: &Case, size: usize) -> EntryOptions {
    let mut options = EntryOptions::new(case.method).level(case.level);
    options.modified = Some(1_700_000_001);
    options.size_hint = case.hinted.then_some(size as u64);
    options
}

/// An archive of all sizes, given in parts of `cut` bytes.
fn archive(case: &Case, threads: usize, cut: usize) -> Vec<u8> {
    let mut settings = ArchiveOptions::default();
    settings.threads = threads;
    let mut writer = ArchiveWriter::with_options(Vec::new(), settings).expect("it works");
    for (index, size) in sizes().into_iter().enumerate() {
        let content = sample(index as u32, size);
        writer
            .start_entry(&format!("dir/{index}.txt"), &options(case, size))
            .expect("it works");
        for part in content.chunks(cut) {
            writer.push(part).expect("it works");
        }
        writer.finish_entry().expect("it works");
    }
    let (archive, totals) = writer.finish().expect("it works");
    assert_eq!(totals.archive_bytes, archive.len() as u64);
    assert_eq!(totals.entries, sizes().len() as u64);
    assert_eq!(totals.content_bytes, sizes().iter().sum::<usize>() as u64);
    archive
}

fn utc(seconds: i64) -> EntryTime {
    EntryTime::Utc {
        seconds,
        nanoseconds: 0,
    }
}

fn check_seek(archive: &[u8], options: &ReadOptions) {
    let reader = ArchiveReader::open_with(archive, options).expect("it works");
    reader.check().expect("it works");
    assert_eq!(reader.len(), sizes().len() as u64);
    for (index, size) in sizes().into_iter().enumerate() {
        let name = format!("dir/{index}.txt");
        let entry = reader.find(&name).expect("it works").expect("it is there");
        assert_eq!(entry.kind(), EntryKind::File);
        assert_eq!(
            (entry.mode(), entry.time()),
            (Some(0o644), utc(1_700_000_001))
        );
        assert!(
            reader.read(&entry).expect("it works") == sample(index as u32, size),
            "{name}"
        );
    }
}

fn check_pipe(archive: &[u8], options: &ReadOptions) {
    let mut pipe = PipeReader::new(archive, options);
    let mut count = 0;
    while let Some(entry) = pipe.next_entry().expect("it works") {
        assert_eq!(entry.name, format!("dir/{count}.txt"));
        let mut content = Vec::new();
        pipe.content(&mut |piece: &[u8]| {
            content.extend_from_slice(piece);
            Ok::<_, Error>(())
        })
        .expect("it works");
        assert!(content == sample(count as u32, sizes()[count]), "{count}");
        count += 1;
    }
    let mut records = 0;
    while let Some(record) = pipe.next_record().expect("it works") {
        assert_eq!(
            record.name().expect("it works"),
            format!("dir/{records}.txt")
        );
        records += 1;
    }
    assert_eq!((count, records), (sizes().len(), sizes().len()));
    assert_eq!(pipe.offset(), archive.len() as u64);
}

#[test]
fn every_method_and_size_is_read_back_in_both_profiles() {
    for case in cases() {
        let archive = archive(&case, 0, usize::MAX);
        for options in [ReadOptions::default(), ReadOptions::strict()] {
            check_seek(&archive, &options);
            check_pipe(&archive, &options);
        }
    }
}

#[test]
fn bytes_depend_neither_on_threads_nor_on_cuts() {
    for case in cases() {
        let expected = archive(&case, 0, usize::MAX);
        assert!(archive(&case, 0, 700) == expected, "small pushes");
        for threads in [1, 3] {
            assert!(
                archive(&case, threads, 100_000) == expected,
                "{threads} threads"
            );
        }
    }
}

#[test]
fn small_entries_have_no_descriptor_and_stored_ones_never_do() {
    for case in cases() {
        let archive = archive(&case, 0, usize::MAX);
        let reader = ArchiveReader::open(&archive[..]).unwrap();
        for entry in reader.entries() {
            let entry = entry.unwrap();
            assert_eq!(entry.has_descriptor(), entry.content_bytes() > MIB as u64);
            assert!(!(entry.has_descriptor() && entry.method() == Method::Stored));
            // Local ZIP64 only where the size was not hinted at.
            let at = entry.offset() as usize;
            let wide = archive[at + 18..at + 22] == [0xff; 4];
            assert_eq!(wide, entry.has_descriptor() && !case.hinted);
        }
    }
}

#[test]
fn a_known_content_is_stored_without_a_descriptor_and_held_to_it() {
    let content = sample(1, 2 * MIB);
    let known = KnownContent::new(content.len() as u64, crc32fast::hash(&content));
    let mut options = EntryOptions::new(Method::Stored);
    options.known = Some(known);
    let mut writer = ArchiveWriter::new(Vec::new());
    writer.add("a", &options, &mut &content[..]).unwrap();
    let (archive, _) = writer.finish().unwrap();
    let reader = ArchiveReader::open_with(&archive[..], &ReadOptions::strict()).unwrap();
    let entry = reader.entries().next().unwrap().unwrap();
    assert_eq!(
        (entry.method(), entry.has_descriptor()),
        (Method::Stored, false)
    );
    assert!(reader.read(&entry).unwrap() == content);
    check_only(&archive, &content);

    for (given, kind) in [
        (&content[1..], ErrorKind::Mismatch),
        (&[&content[..], b"x"].concat()[..], ErrorKind::TooLarge),
        (&[&content[1..], b"x"].concat()[..], ErrorKind::Mismatch),
    ] {
        let mut writer = ArchiveWriter::new(Vec::new());
        let error = writer.add("a", &options, &mut &given[..]).unwrap_err();
        assert_eq!(error.kind(), kind);
        assert_eq!(error.entry_name(), Some("a"));
    }
}

fn check_only(archive: &[u8], content: &[u8]) {
    let mut pipe = PipeReader::new(archive, &ReadOptions::strict());
    assert!(pipe.next_entry().expect("it works").is_some());
    let mut found = Vec::new();
    pipe.content(&mut |piece: &[u8]| {
        found.extend_from_slice(piece);
        Ok::<_, Error>(())
    })
    .expect("it works");
    assert!(found == content);
    assert!(pipe.next_entry().expect("it works").is_none());
}

#[test]
fn kinds_modes_times_and_names_come_back() {
    let mut encoder = ArchiveEncoder::new(ArchiveOptions::default()).unwrap();
    let mut directory = EntryOptions::directory();
    directory.mode = 0o750;
    let mut script = EntryOptions::default();
    (script.mode, script.modified) = (0o4755, Some(86_400));
    for (name, options, content) in [
        ("größe", &directory, &b""[..]),
        ("größe/日本語.sh", &script, b"#!/bin/sh\n"),
        ("link", &EntryOptions::symlink(), b"target"),
    ] {
        encoder.start_entry(name, options).unwrap();
        encoder.push_all(content).unwrap();
        encoder.finish_entry().unwrap();
    }
    encoder.finish().unwrap();
    let reader = ArchiveReader::open_with(encoder.output(), &ReadOptions::strict()).unwrap();
    let found = reader.entries().map(|entry| {
        let entry = entry.unwrap();
        let name = entry.name().unwrap().into_owned();
        (name, entry.kind(), entry.mode(), entry.time())
    });
    let found: Vec<_> = found.collect();
    let dos_min = EntryTime::Local {
        seconds: 315_532_800,
    };
    assert_eq!(
        found,
        [
            (
                "größe/".to_owned(),
                EntryKind::Directory,
                Some(0o750),
                dos_min
            ),
            (
                "größe/日本語.sh".to_owned(),
                EntryKind::File,
                Some(0o4755),
                utc(86_400)
            ),
            ("link".to_owned(), EntryKind::Symlink, Some(0o777), dos_min),
        ]
    );
}

#[test]
fn reproducible_archives_forget_when_and_by_whom() {
    let pack = |mode, modified| {
        let mut settings = ArchiveOptions::default();
        settings.reproducible = Some(1_000_000_000);
        let mut writer = ArchiveWriter::with_options(Vec::new(), settings).unwrap();
        let mut options = EntryOptions::default();
        (options.mode, options.modified) = (mode, modified);
        writer.add("a", &options, &mut &b"abc"[..]).unwrap();
        writer.finish().unwrap().0
    };
    assert_eq!(pack(0o600, Some(5)), pack(0o644, None));
    assert_ne!(pack(0o600, None), pack(0o700, None));
}

#[test]
fn mistakes_leave_the_archive_as_it_was() {
    let mut encoder = ArchiveEncoder::new(ArchiveOptions::default()).unwrap();
    let options = EntryOptions::default();
    let mut add = |name: &str, options: &EntryOptions| {
        encoder.start_entry(name, options)?;
        encoder.push_all(b"x")?;
        encoder.finish_entry()
    };
    add("a", &options).unwrap();
    let kind = |result: Result<(), Error>| result.unwrap_err().kind();
    assert_eq!(kind(add("a", &options)), ErrorKind::Duplicate);
    assert_eq!(kind(add("../b", &options)), ErrorKind::Name);
    assert_eq!(kind(add("b/", &options)), ErrorKind::Name);
    assert_eq!(kind(add("b", &options.level(11))), ErrorKind::Setting);
    let other = EntryOptions::new(Method::Other(12));
    assert_eq!(kind(add("b", &other)), ErrorKind::Unsupported);
    add("b", &options).unwrap();

    encoder.start_entry("c", &options).unwrap();
    assert_eq!(encoder.finish().unwrap_err().kind(), ErrorKind::Order);
    encoder.push_all(b"lost").unwrap();
    encoder.abandon_entry().unwrap();
    encoder.start_entry("c", &options).unwrap();
    encoder.finish_entry().unwrap();
    assert_eq!(encoder.finish().unwrap().entries, 3);
    assert_eq!(encoder.push(b"x").unwrap_err().kind(), ErrorKind::Order);
}

#[test]
fn many_entries_need_zip64_and_have_it() {
    let mut settings = ArchiveOptions::default();
    settings.threads = 2;
    let mut writer = ArchiveWriter::with_options(Vec::new(), settings).unwrap();
    for index in 0..65_540 {
        let options = EntryOptions::new(Method::Stored);
        writer
            .add(&index.to_string(), &options, &mut &b""[..])
            .unwrap();
    }
    let (archive, _) = writer.finish().unwrap();
    let reader = ArchiveReader::open_with(&archive[..], &ReadOptions::strict()).unwrap();
    assert_eq!(reader.len(), 65_540);
    let mut pipe = PipeReader::new(&archive[..], &ReadOptions::strict());
    let mut count = 0;
    while pipe.next_entry().unwrap().is_some() {
        count += 1;
    }
    while pipe.next_record().unwrap().is_some() {
        count -= 1;
    }
    assert_eq!(count, 0);
}

#[test]
fn the_stream_decoder_takes_any_cut() {
    let case = &cases()[3];
    let mut writer = ArchiveWriter::new(Vec::new());
    for size in [0, 5, 70_000, MIB + 5] {
        let content = sample(7, size);
        writer
            .add(&size.to_string(), &options(case, size), &mut &content[..])
            .unwrap();
    }
    let (archive, _) = writer.finish().unwrap();
    for cut in [1, 7, 4096] {
        let mut decoder = StreamDecoder::new(&ReadOptions::strict());
        let mut output = vec![0; 1 << cut.min(12)];
        let (mut entries, mut records, mut content) = (0, 0, 0);
        for piece in archive.chunks(cut) {
            let mut input = piece;
            loop {
                let step = decoder.push(input, &mut output).unwrap();
                input = &input[step.consumed..];
                content += step.produced;
                match step.event {
                    StreamEvent::NeedInput | StreamEvent::End => break,
                    StreamEvent::EntryEnd => entries += 1,
                    StreamEvent::Record => records += 1,
                    StreamEvent::Entry | StreamEvent::Content => {}
                }
            }
            assert!(input.is_empty());
        }
        decoder.finish().unwrap();
        assert_eq!((entries, records), (4, 4));
        assert_eq!(content, 70_010 + MIB);
    }
}

#[test]
fn what_surrounds_jobs_sees_all_content() {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};
    for threads in [0, 2] {
        let seen = Arc::new((AtomicU64::new(0), AtomicU64::new(0)));
        let inner = Arc::clone(&seen);
        let mut settings = ArchiveOptions::default();
        settings.threads = threads;
        settings.observer = Some(Arc::new(
            move |job: zipstream::Job, work: &mut dyn FnMut()| {
                work();
                inner.0.fetch_add(job.content_bytes, Ordering::Relaxed);
                inner.1.fetch_add(job.entries, Ordering::Relaxed);
            },
        ));
        let mut writer = ArchiveWriter::with_options(Vec::new(), settings).unwrap();
        for size in [10, 20, 2 * MIB] {
            let content = sample(3, size);
            let options = EntryOptions::default();
            writer
                .add(&size.to_string(), &options, &mut &content[..])
                .unwrap();
        }
        writer.finish().unwrap();
        assert_eq!(seen.0.load(Ordering::Relaxed), 30 + 2 * MIB as u64);
        assert_eq!(seen.1.load(Ordering::Relaxed), 2);
    }
}

#[test]
fn little_content_starts_no_thread() {
    use std::sync::{Arc, Mutex};
    let caller = std::thread::current().id();
    // How many entries of how many bytes, and whether the caller's own thread packs them.
    for (entries, bytes, encrypted, own) in [
        (1, 0, false, true),
        (16, 200, false, true),
        (17, 200, false, false),
        (1, 4 << 10, false, true),
        (1, (4 << 10) + 1, false, false),
        (1, 10, true, false),
    ] {
        let seen: Arc<Mutex<Vec<std::thread::ThreadId>>> = Arc::default();
        let threads = Arc::clone(&seen);
        let pack = |threads: usize, observer: Option<zipstream::JobObserver>| {
            let mut settings = ArchiveOptions::default();
            settings.threads = threads;
            settings.observer = observer;
            settings.encryption = encrypted.then(|| Encryption::new(Password::from("secret")));
            let mut writer = ArchiveWriter::with_options(Vec::new(), settings).unwrap();
            for nth in 0..entries {
                let content = sample(nth, bytes);
                let options = EntryOptions::default();
                let name = nth.to_string();
                writer.add(&name, &options, &mut &content[..]).unwrap();
            }
            writer.finish().unwrap().0
        };
        let observer = Arc::new(move |_: zipstream::Job, work: &mut dyn FnMut()| {
            work();
            threads.lock().unwrap().push(std::thread::current().id());
        });
        let archive = pack(2, Some(observer));
        let seen = seen.lock().unwrap();
        assert!(!seen.is_empty());
        let is_own = |thread| thread == caller;
        assert!(
            seen.iter().all(|thread| is_own(*thread) == own),
            "{entries} {bytes}"
        );
        assert!(encrypted || archive == pack(0, None), "{entries} {bytes}");
    }
}

#[test]
fn large_zstd_entries_are_frames_that_every_face_reads_as_one_content() {
    let content = stream(9 * MIB + 5);
    let pack = |threads, cut: usize, known: bool| {
        let mut settings = ArchiveOptions::default();
        settings.threads = threads;
        let mut writer = ArchiveWriter::with_options(Vec::new(), settings).unwrap();
        let mut options = EntryOptions::new(Method::Zstd);
        options.size_hint = known.then_some(content.len() as u64);
        writer.start_entry("a", &options).unwrap();
        for part in content.chunks(cut) {
            writer.push(part).unwrap();
        }
        writer.finish_entry().unwrap();
        writer.finish().unwrap().0
    };
    for known in [false, true] {
        let archive = pack(0, usize::MAX, known);
        assert!(pack(0, 100_000, known) == archive, "cuts");
        assert!(pack(2, 300_000, known) == archive, "threads");
        let reader = ArchiveReader::open_with(&archive[..], &ReadOptions::strict()).unwrap();
        let entry = reader.entries().next().unwrap().unwrap();
        assert!(reader.read(&entry).unwrap() == content);
        check_only(&archive, &content);
        check_cut(&archive, &content);
    }
}

/// Reads from input that comes byte by byte where one record or frame meets the next.
fn check_cut(archive: &[u8], content: &[u8]) {
    let starts = |window: &[u8]| window == [0x28, 0xb5, 0x2f, 0xfd] || window == *b"PK\x07\x08";
    let near: Vec<usize> = (0..archive.len() - 4)
        .filter(|at| starts(&archive[*at..at + 4]))
        .collect();
    assert!(near.len() > 3);
    let mut decoder = StreamDecoder::new(&ReadOptions::strict());
    let mut output = vec![0; 128 << 10];
    let (mut at, mut found) = (0, Vec::new());
    loop {
        let next = near.iter().find(|start| **start + 30 > at);
        let far = next.map_or(archive.len(), |start| start.saturating_sub(10));
        let input = &archive[at..far.max(at + 1).min(archive.len())];
        let step = decoder.push(input, &mut output).expect("it works");
        at += step.consumed;
        found.extend_from_slice(&output[..step.produced]);
        if step.event == StreamEvent::End {
            break;
        }
    }
    assert_eq!(at, archive.len());
    assert!(found == content);
}

#[test]
fn a_stored_entry_behind_work_on_threads_keeps_its_place() {
    let content = sample(3, 2 * MIB);
    let pack = |threads| {
        let mut settings = ArchiveOptions::default();
        settings.threads = threads;
        let mut writer = ArchiveWriter::with_options(Vec::new(), settings).unwrap();
        for index in 0..3 {
            let large = EntryOptions::new(Method::Deflate);
            let name = format!("{index}.deflate");
            writer.add(&name, &large, &mut &content[..]).unwrap();
            let mut stored = EntryOptions::new(Method::Stored);
            stored.known = Some(KnownContent::new(
                content.len() as u64,
                crc32fast::hash(&content),
            ));
            let name = format!("{index}.stored");
            writer.add(&name, &stored, &mut &content[..]).unwrap();
        }
        writer.finish().unwrap().0
    };
    let archive = pack(0);
    assert!(pack(2) == archive);
    let reader = ArchiveReader::open_with(&archive[..], &ReadOptions::strict()).unwrap();
    for entry in reader.entries() {
        assert!(reader.read(&entry.unwrap()).unwrap() == content);
    }
}

#[test]
fn content_in_small_writes_compresses_as_that_in_one() {
    let content = stream(8 * MIB);
    let pack = |cut: usize| {
        let mut writer = ArchiveWriter::new(Vec::new());
        let options = EntryOptions::default().level(1);
        writer.start_entry("a", &options).unwrap();
        for part in content.chunks(cut) {
            writer.push(part).unwrap();
        }
        writer.finish_entry().unwrap();
        writer.finish().unwrap().0.len() as f64
    };
    let (small, one) = (pack(64), pack(usize::MAX));
    assert!((small / one - 1.0).abs() < 0.001, "{small} for {one}");
}

/// Waiting in steps for threads changes nothing, and each step ends.
#[test]
fn threads_are_waited_for_in_steps() {
    use std::time::Duration;
    let content: Vec<u8> = (0..300_000_u32)
        .flat_map(|n| (n / 3).to_le_bytes())
        .collect();
    let pack = |stepwise: bool| {
        let mut options = ArchiveOptions::default();
        options.threads = 2;
        let mut encoder = ArchiveEncoder::new(options).unwrap();
        let mut steps = 0;
        for name in ["a", "b", "c", "d", "e", "f"] {
            let mut entry = EntryOptions::default();
            entry.level = Some(9);
            encoder.start_entry(name, &entry).unwrap();
            for mut piece in content.chunks(100_000) {
                while !piece.is_empty() {
                    while stepwise && !encoder.wait_for_threads(Duration::ZERO).unwrap() {
                        steps += 1;
                    }
                    let taken = encoder.push(piece).unwrap();
                    piece = &piece[taken..];
                }
            }
            encoder.finish_entry().unwrap();
        }
        while stepwise && !encoder.settle_within(Duration::from_millis(1)).unwrap() {
            steps += 1;
        }
        encoder.finish().unwrap();
        (encoder.output().to_vec(), steps)
    };
    let (whole, none) = pack(false);
    let (stepwise, steps) = pack(true);
    assert!(whole == stepwise);
    assert!(none == 0 && steps > 0);
}

#[test]
fn a_scratch_serves_archive_after_archive() {
    let contents = [&b"first content"[..], b"other content"];
    let archives = contents.map(|content| {
        let mut writer = ArchiveWriter::new(Vec::new());
        let options = EntryOptions::new(Method::Stored);
        writer.add("a", &options, &mut &content[..]).expect("added");
        writer.finish().expect("finished").0
    });
    let readers = [0, 1].map(|at: usize| ArchiveReader::open(&archives[at][..]).expect("read"));
    let mut scratch = Scratch::default();
    for at in [0, 1, 1, 0, 1] {
        let entry = readers[at].find("a").expect("found").expect("there");
        let mut found = Vec::new();
        let extracted = readers[at].extract(&entry, &mut scratch, &mut |piece: &[u8]| {
            found.extend_from_slice(piece);
            Ok::<_, Error>(())
        });
        extracted.expect("read");
        assert_eq!(found, contents[at]);
    }
}
