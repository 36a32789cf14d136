//! Targets over `zipstream`: any bytes as an archive, and archives written by a plan.

use std::collections::HashSet;

use zipstream::combine::Parts;
use zipstream::{
    ArchiveEncoder, ArchiveOptions, ArchiveReader, ArchiveWriter, Decryption, Encryption,
    EntryOptions, Error, Limits, Method, Password, PipeReader, Profile, ReadAt, ReadOptions,
    StreamDecoder, StreamEvent, salvage,
};

use crate::plan::Plan;

/// The most content that a target asks for.
const CONTENT_BYTES_MAX: u64 = 1 << 20;

fn options(profile: Profile) -> ReadOptions {
    let limits = Limits::default()
        .entry_bytes(CONTENT_BYTES_MAX)
        .total_bytes(4 * CONTENT_BYTES_MAX)
        .entries(1000)
        .window_bytes(4 << 20);
    ReadOptions::new().profile(profile).limits(limits)
}

/// The password of every encrypted seed; content may come before its code, for it is only looked at.
fn decryption() -> Option<Decryption> {
    Some(Decryption::new(Password::from("pass")).release_early(true))
}

type Contents = Vec<(String, Vec<u8>)>;

fn by_file(archive: impl ReadAt, options: &ReadOptions) -> Result<Contents, Error> {
    let mut reader = ArchiveReader::open_with(archive, options)?;
    reader.set_decryption(decryption());
    reader.check()?;
    let mut contents = Vec::new();
    let mut total = 0;
    for entry in reader.entries() {
        let entry = entry?;
        let content = reader.read(&entry)?;
        assert_eq!(content.len() as u64, entry.content_bytes());
        total += content.len() as u64;
        assert!(total <= options.limits.total_bytes);
        contents.push((entry.name()?.into_owned(), content));
    }
    assert_eq!(contents.len() as u64, reader.len());
    Ok(contents)
}

/// An archive that was cut in two, as a split one: all of its records state the first part.
fn by_parts(archive: &[u8], cut: usize, options: &ReadOptions) -> Result<Contents, Error> {
    let (first, last) = archive.split_at(cut.min(archive.len()));
    let parts = Parts::join(vec![first.to_vec(), last.to_vec()], &options.limits)?;
    by_file(parts, options)
}

fn by_pipe(archive: &[u8], options: &ReadOptions) -> Result<Contents, Error> {
    let mut pipe = PipeReader::new(archive, options);
    pipe.set_decryption(decryption());
    let mut contents = Vec::new();
    while let Some(entry) = pipe.next_entry()? {
        let name = entry.name.clone();
        let mut content = Vec::new();
        pipe.content(&mut |piece: &[u8]| {
            content.extend_from_slice(piece);
            Ok::<_, Error>(())
        })?;
        assert!(content.len() as u64 <= options.limits.entry_bytes);
        contents.push((name, content));
    }
    while pipe.next_record()?.is_some() {}
    Ok(contents)
}

/// The pipe reader's core with any cut of input and output: how it ends, and what came of it.
fn by_cuts(
    archive: &[u8],
    options: &ReadOptions,
    cut: usize,
    room: usize,
) -> Result<Vec<u8>, Error> {
    let mut decoder = StreamDecoder::new(options);
    decoder.set_decryption(decryption());
    let mut output = vec![0; room];
    let mut content = Vec::new();
    for piece in archive.chunks(cut) {
        let mut input = piece;
        loop {
            let step = decoder.push(input, &mut output)?;
            content.extend_from_slice(&output[..step.produced]);
            input = &input[step.consumed..];
            if matches!(step.event, StreamEvent::NeedInput | StreamEvent::End) {
                assert!(input.is_empty(), "it wants more and leaves some");
                break;
            }
        }
    }
    decoder.finish()?;
    Ok(content)
}

/// Any bytes as an archive: no panic, limits hold, errors within the archive, and what the strict
/// profile reads from a file and from a pipe is the same whatever the cut.
pub fn zip_read(data: &[u8]) {
    let mut plan = Plan::new(data);
    let (cut, room) = (plan.size(1 << 16), plan.size(1 << 16));
    let archive = plan.rest();
    for profile in [Profile::Default, Profile::Strict] {
        let options = options(profile);
        let file = by_file(archive, &options);
        let pipe = by_pipe(archive, &options);
        let cuts = by_cuts(archive, &options, cut, room);
        for error in [
            file.as_ref().err(),
            pipe.as_ref().err(),
            cuts.as_ref().err(),
        ] {
            let offset = error.and_then(Error::offset).unwrap_or(0);
            assert!(offset <= archive.len() as u64, "{error:?}");
        }
        match (&pipe, &cuts) {
            (Ok(pipe), Ok(cuts)) => {
                let content = pipe.iter().map(|(_, content)| content);
                assert!(content.flatten().eq(cuts), "the cut changed the content");
            }
            // Which of two faults is met first may depend on the cut.
            (Err(_), Err(_)) => {}
            (one, other) => panic!(
                "the cut changed the end: {one:?}, {:?}",
                other.as_ref().err()
            ),
        }
        let _ = by_parts(archive, archive.len() / 2, &options);
        if profile == Profile::Strict {
            if let Ok(file) = &file {
                // The first part has a byte of the first entry, the last one the rest.
                let parts = by_parts(archive, usize::from(!file.is_empty()), &options);
                assert_eq!(&parts.expect("its parts are read"), file);
            }
            let sorted = |contents: &Contents| {
                let mut contents = contents.clone();
                contents.sort();
                contents
            };
            match (&file, &pipe) {
                (Ok(file), Ok(pipe)) => assert_eq!(sorted(file), sorted(pipe)),
                (Err(_), Err(_)) => {}
                (file, pipe) => panic!(
                    "a file and a pipe differ: {:?}, {:?}",
                    file.as_ref().err(),
                    pipe.as_ref().err()
                ),
            }
        }
    }
}

/// Any bytes as a broken archive: what is saved of it lies within it and makes an archive, and of one
/// that is whole by the strict profile everything is saved.
pub fn zip_salvage(data: &[u8]) {
    let strict = options(Profile::Strict);
    let saved = match salvage(&data, &strict.limits, decryption()) {
        Ok(saved) => saved,
        Err(error) => {
            let offset = error.offset().unwrap_or(0);
            assert!(offset <= data.len() as u64, "{error:?}");
            return;
        }
    };
    let mut encoder = ArchiveEncoder::new(ArchiveOptions::default()).expect("no threads");
    let mut names = HashSet::new();
    for entry in &saved.entries {
        if !names.insert(entry.raw.name_bytes()) {
            continue;
        }
        let range = entry.range.start as usize..entry.range.end as usize;
        encoder
            .start_raw(entry.raw.clone())
            .expect("its name is new");
        encoder.push_raw(&data[range]).expect("it is taken");
        encoder.finish_raw().expect("all of it came");
    }
    encoder.finish().expect("it ends");
    let rebuilt = ArchiveReader::open(encoder.output()).expect("it is an archive");
    assert_eq!(rebuilt.len(), names.len() as u64);
    rebuilt.check().expect("nothing overlaps");
    if let Ok(contents) = by_pipe(data, &strict) {
        assert!(saved.entries.len() >= contents.len(), "{saved:?}");
    }
}

/// Archives of a plan: read back the same in the strict profile, by file and by pipe, and the same
/// bytes for any number of threads and any cut.
pub fn zip_roundtrip(data: &[u8]) {
    let plan = Plan::new(data);
    let (archive, expected) = write(plan.clone(), 0, false);
    if data.first().is_some_and(|byte| byte & 7 == 0) {
        assert!(
            write(plan.clone(), 2, false).0 == archive,
            "threads changed the archive"
        );
    }
    let strict = ReadOptions::strict();
    assert_eq!(
        by_file(archive.as_slice(), &strict).expect("it is read"),
        expected
    );
    assert_eq!(by_pipe(&archive, &strict).expect("it is read"), expected);
    if data.first().is_some_and(|byte| byte & 7 == 1) {
        let (archive, expected) = write(plan, 0, true);
        assert_eq!(
            by_file(archive.as_slice(), &strict).expect("it is read"),
            expected
        );
        assert_eq!(by_pipe(&archive, &strict).expect("it is read"), expected);
    }
}

fn write(mut plan: Plan<'_>, threads: usize, encrypts: bool) -> (Vec<u8>, Contents) {
    let mut settings = ArchiveOptions::default();
    settings.threads = threads;
    settings.reproducible = plan.bit().then_some(1_000_000_000);
    // Salts differ, so that this is for archives that are not compared.
    if encrypts && settings.reproducible.is_none() {
        settings.encryption = Some(Encryption::new(Password::from("pass")));
    }
    let mut writer = ArchiveWriter::with_options(Vec::new(), settings).expect("threads start");
    let mut expected = Vec::new();
    let mut large_left = 2;
    while !plan.is_empty() && expected.len() < 40 {
        let method = [
            Method::Stored,
            Method::Deflate,
            Method::Deflate,
            Method::Zstd,
        ][plan.below(4)];
        let mut options = EntryOptions::new(method);
        if method != Method::Stored {
            options = options.level(plan.below(10) as i32);
        }
        options.modified = plan.bit().then(|| i64::from(plan.byte()) << plan.below(40));
        // Large entries are a small content again and again.
        let bytes = if plan.below(16) == 0 && large_left > 0 {
            large_left -= 1;
            (1 << 20) - 2 + plan.below(4)
        } else {
            plan.size(1 << 12)
        };
        let hint = plan.bit().then_some(1_u64 << plan.below(40));
        options.size_hint = hint;
        let cut = plan.size(1 << 20).max(bytes / 512);
        let pattern = plan.take(64.min(bytes));
        let pattern = if pattern.is_empty() {
            &b"."[..]
        } else {
            pattern
        };
        let content: Vec<u8> = pattern.iter().copied().cycle().take(bytes).collect();
        let letters = ["a", "ö", "日", "b c"][plan.below(4)];
        let name = format!("{letters}/{}", expected.len());
        writer.start_entry(&name, &options).expect("it starts");
        for part in content.chunks(cut) {
            writer.push(part).expect("it is taken");
        }
        if plan.below(8) == 1 && content.len() < 1 << 20 && hint.is_none() {
            writer.abandon_entry().expect("nothing is written of it");
            continue;
        }
        writer.finish_entry().expect("it ends");
        expected.push((name, content));
    }
    let (archive, totals) = writer.finish().expect("it ends");
    assert_eq!(totals.archive_bytes, archive.len() as u64);
    assert_eq!(totals.entries, expected.len() as u64);
    (archive, expected)
}
