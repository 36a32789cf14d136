//! Entries as `std::io::Read` and `Write`: the same content for any cut, any short read or write, any
//! interruption and any error that may be retried.

use std::cell::Cell;
use std::io::{self, BufRead as _, Read, Write};

use proptest::prelude::*;
use zipstream::{
    ArchiveReader, ArchiveWriter, EntryOptions, Error, ErrorKind, Method, PipeReader, ReadAt,
    ReadOptions,
};

use crate::common::sample;

const MIB: usize = 1 << 20;

/// How many bytes each call moves, again and again from the first; 0 is an interruption. Now and then a
/// call fails for a reason that passes.
#[derive(Debug, Clone)]
struct Steps {
    steps: Vec<usize>,
    at: Cell<usize>,
}

/// One call in this many fails. A read of up to 256 KiB takes fewer calls, and starts again after a failure.
const CALLS_PER_FAILURE: usize = 1009;

impl Steps {
    fn new(steps: &[usize]) -> Self {
        Self {
            steps: steps.to_vec(),
            at: Cell::new(0),
        }
    }

    fn next(&self) -> io::Result<usize> {
        let at = self.at.get();
        self.at.set(at + 1);
        if at % CALLS_PER_FAILURE == 500 {
            return Err(io::ErrorKind::TimedOut.into());
        }
        match self.steps[at % self.steps.len()] {
            0 => Err(io::ErrorKind::Interrupted.into()),
            bytes => Ok(bytes),
        }
    }
}

/// A source or sink whose calls are short, interrupted, or fail for a while.
struct Faulty<T> {
    inner: T,
    steps: Steps,
}

impl<T: ReadAt> ReadAt for Faulty<T> {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let bytes = self.steps.next()?.min(buffer.len());
        self.inner.read_at(&mut buffer[..bytes], offset)
    }

    fn size(&self) -> io::Result<u64> {
        self.inner.size()
    }
}

impl<T: Read> Read for Faulty<T> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.steps.next()?.min(buffer.len());
        self.inner.read(&mut buffer[..bytes])
    }
}

impl<T: Write> Write for Faulty<T> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let most = self.steps.next()?.min(bytes.len());
        self.inner.write(&bytes[..most])
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// Repeats a call while it fails for a reason that passes.
fn patiently<T, E: Into<io::Error>>(mut call: impl FnMut() -> Result<T, E>) -> io::Result<T> {
    loop {
        match call().map_err(Into::into) {
            Err(error) if error.kind() == io::ErrorKind::TimedOut => {}
            result => return result,
        }
    }
}

/// Reads all of an entry with buffers of these sizes.
fn read_by(reader: &mut impl Read, sizes: &[usize]) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    for size in sizes.iter().cycle() {
        let mut buffer = vec![0; *size];
        match patiently(|| reader.read(&mut buffer))? {
            0 => break,
            bytes => content.extend_from_slice(&buffer[..bytes]),
        }
    }
    Ok(content)
}

fn archive(method: Method, content: &[u8]) -> Vec<u8> {
    let mut writer = ArchiveWriter::new(Vec::new());
    let options = EntryOptions::new(method).size_hint(content.len() as u64);
    let known = zipstream::KnownContent::new(content.len() as u64, crc32fast::hash(content));
    let options = match method {
        Method::Stored => options.known(known),
        _ => options,
    };
    writer
        .add("first", &options, &mut &content[..])
        .expect("a Vec takes all");
    writer.finish().expect("a Vec takes all").0
}

fn methods() -> impl Strategy<Value = Method> {
    prop::sample::select(vec![Method::Stored, Method::Deflate, Method::Zstd])
}

fn sizes() -> impl Strategy<Value = usize> {
    prop_oneof![0..3000_usize, MIB - 2..MIB + 3, 2 * MIB..2 * MIB + 400_000]
}

fn cuts() -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(
        prop_oneof![1..9_usize, 100..9000_usize, 1..300_000_usize],
        1..5,
    )
}

/// Short calls and failures, at least one of which moves bytes.
fn faults() -> impl Strategy<Value = Vec<usize>> {
    let one = prop_oneof![Just(0), 1..200_usize, 5000..200_000_usize];
    prop::collection::vec(one, 0..6).prop_map(|mut steps| {
        steps.push(70_001);
        steps
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(32) })]

    #[test]
    fn an_entry_reads_the_same_for_any_cut_and_fault(
        method in methods(),
        size in sizes(),
        cuts in cuts(),
        faults in faults(),
    ) {
        // Many short reads of a large entry would take minutes.
        let faults: Vec<usize> = faults
            .into_iter()
            .map(|bytes| if bytes == 0 { 0 } else { bytes.max(size / 500) })
            .collect();
        let cuts: Vec<usize> = cuts.into_iter().map(|bytes| bytes.max(size / 2000)).collect();
        let content = sample(3, size);
        let archive = archive(method, &content);
        let source = || Faulty { inner: &archive[..], steps: Steps::new(&faults) };

        let reader = patiently(|| ArchiveReader::open(source())).unwrap();
        let entry = reader.find("first").unwrap().unwrap();
        let found = read_by(&mut reader.entry_reader(&entry), &cuts).unwrap();
        prop_assert!(found == content, "from a file");

        let mut pipe = PipeReader::new(source_of(&archive, &faults), &ReadOptions::default());
        prop_assert!(patiently(|| pipe.next_entry().map(|entry| entry.is_some())).unwrap());
        let found = read_by(&mut pipe.entry_reader(), &cuts).unwrap();
        prop_assert!(found == content, "from a pipe");
    }

    #[test]
    fn an_entry_is_written_the_same_for_any_cut_and_fault(
        size in sizes(),
        cuts in cuts(),
        faults in faults(),
    ) {
        let cuts: Vec<usize> = cuts.into_iter().map(|bytes| bytes.max(size / 2000)).collect();
        let content = sample(5, size);
        let mut expected = ArchiveWriter::new(Vec::new());
        expected.start_entry("a", &EntryOptions::default()).unwrap();
        expected.push(&content).unwrap();
        expected.finish_entry().unwrap();
        let (expected, _) = expected.finish().unwrap();

        let sink = Faulty { inner: Vec::new(), steps: Steps::new(&faults) };
        let mut archive = ArchiveWriter::new(sink);
        let mut entry = archive.entry_writer("a", &EntryOptions::default()).unwrap();
        let mut rest = &content[..];
        for cut in cuts.iter().cycle() {
            let part = &rest[..rest.len().min(*cut)];
            let taken = patiently(|| entry.write(part)).unwrap();
            prop_assert!(taken > 0 || part.is_empty());
            rest = &rest[taken..];
            if rest.is_empty() {
                break;
            }
        }
        prop_assert_eq!(entry.content_bytes(), size as u64);
        patiently(|| entry.flush()).unwrap();
        if let Err(error) = entry.finish() {
            // The entry has ended; what failed is writing it out.
            prop_assert_eq!(error.kind(), ErrorKind::Io(io::ErrorKind::TimedOut));
        }
        patiently(|| archive.flush()).unwrap();
        let finished = finish(archive);
        prop_assert!(finished == expected);
    }

    #[test]
    fn damage_is_an_error_that_stays(
        method in methods(),
        size in prop_oneof![1..3000_usize, 2 * MIB..2 * MIB + 10],
        place in 0.0..1.0_f64,
    ) {
        let content = sample(9, size);
        let mut archive = archive(method, &content);
        let (start, end) = {
            let reader = ArchiveReader::open(&archive[..]).unwrap();
            let entry = reader.find("first").unwrap().unwrap();
            (35, 35 + entry.compressed_bytes() as usize)
        };
        let at = start + ((end - start - 1) as f64 * place) as usize;
        archive[at] ^= 0x10;

        let reader = ArchiveReader::open(&archive[..]).unwrap();
        let entry = reader.find("first").unwrap().unwrap();
        let mut file = reader.entry_reader(&entry);
        let mut pipe = PipeReader::new(&archive[..], &ReadOptions::default());
        pipe.next_entry().unwrap();
        let mut pipe = pipe.entry_reader();
        let faces: [&mut dyn Read; 2] = [&mut file, &mut pipe];
        for face in faces {
            let mut found = Vec::new();
            // Some bytes of a deflate stream may be changed without changing its content.
            match face.read_to_end(&mut found) {
                Ok(_) => prop_assert!(found == content),
                Err(error) => {
                    let again = face.read(&mut [0; 10]).unwrap_err();
                    prop_assert_eq!(again.to_string(), error.to_string());
                    prop_assert!(error.get_ref().is_some_and(|inner| inner.is::<Error>()));
                }
            }
        }
    }
}

fn source_of<'a>(archive: &'a [u8], faults: &[usize]) -> Faulty<&'a [u8]> {
    Faulty {
        inner: archive,
        steps: Steps::new(faults),
    }
}

/// Ends an archive over a sink that fails for a while; `finish` itself cannot be repeated.
fn finish(archive: ArchiveWriter<Faulty<Vec<u8>>>) -> Vec<u8> {
    archive.sink().steps.at.set(0);
    let mut archive = archive;
    archive.sink_mut().steps.steps = vec![usize::MAX];
    archive.finish().expect("the sink takes all").0.inner
}

#[test]
fn buffered_readers_and_copies_work_on_entries() {
    let content = sample(7, MIB + 70_000);
    for method in [Method::Stored, Method::Deflate, Method::Zstd] {
        let archive = archive(method, &content);
        let reader = ArchiveReader::open(&archive[..]).unwrap();
        let entry = reader.find("first").unwrap().unwrap();
        let mut copied = Vec::new();
        let mut face = reader.entry_reader(&entry);
        assert_eq!(face.entry().name().unwrap(), "first");
        let bytes = io::copy(&mut face, &mut copied).unwrap();
        assert_eq!(bytes, content.len() as u64);
        assert!(copied == content);
        assert_eq!(face.read(&mut [0; 5]).unwrap(), 0, "the end stays the end");

        let scratch = face.into_scratch();
        let face = reader.entry_reader_with(&entry, scratch);
        let lines = face.lines().map(Result::unwrap);
        let expected = std::str::from_utf8(&content).unwrap().lines();
        assert!(lines.eq(expected.map(str::to_owned)));
    }
}

#[cfg(feature = "aes")]
#[test]
fn encrypted_entries_are_read_too() {
    let content = sample(7, MIB + 70_000);
    let mut options = zipstream::ArchiveOptions::default();
    options.encryption = Some(zipstream::Encryption::new(zipstream::Password::from(
        "pass",
    )));
    let mut writer = ArchiveWriter::with_options(Vec::new(), options).unwrap();
    for (name, bytes) in [("large", content.len()), ("small", 1000)] {
        for method in [Method::Stored, Method::Deflate] {
            let entry = EntryOptions::new(method).size_hint(bytes as u64);
            let entry = entry.known(zipstream::KnownContent::new(bytes as u64, 0));
            let name = format!("{name} {method}");
            writer.add(&name, &entry, &mut &content[..bytes]).unwrap();
        }
    }
    let (archive, _) = writer.finish().unwrap();
    let mut reader = ArchiveReader::open(&archive[..]).unwrap();
    let entry = reader.entries().next().unwrap().unwrap();
    let refused = reader.entry_reader(&entry).read(&mut [0; 5]).unwrap_err();
    assert_eq!(refused.kind(), io::ErrorKind::InvalidData);
    reader.set_decryption(Some(zipstream::Decryption::new(zipstream::Password::from(
        "pass",
    ))));
    for entry in reader.entries() {
        let entry = entry.unwrap();
        let found = read_by(&mut reader.entry_reader(&entry), &[70_000, 3]).unwrap();
        assert!(found == content[..entry.content_bytes() as usize]);
    }
}

#[test]
fn a_pipe_continues_behind_an_entry_that_was_read_in_part() {
    let content = sample(2, 400_000);
    let mut writer = ArchiveWriter::new(Vec::new());
    for name in ["a", "b", "c"] {
        writer
            .add(name, &EntryOptions::default(), &mut &content[..])
            .unwrap();
    }
    let (archive, _) = writer.finish().unwrap();
    let mut pipe = PipeReader::new(&archive[..], &ReadOptions::default());
    let mut read = |parts: usize| {
        let entry = pipe.next_entry().unwrap().unwrap().name.clone();
        let mut found = Vec::new();
        for _ in 0..parts {
            // Each reader continues where the one before stopped.
            let mut part = vec![0; 1001];
            let bytes = pipe.entry_reader().read(&mut part).unwrap();
            found.extend_from_slice(&part[..bytes]);
        }
        assert!(content.starts_with(&found) && found.len() == 1001 * parts);
        let rest = pipe.content(&mut |piece: &[u8]| {
            found.extend_from_slice(piece);
            Ok::<_, Error>(())
        });
        assert_eq!(rest.unwrap() as usize, content.len() - 1001 * parts);
        assert!(found == content);
        assert_eq!(pipe.entry_reader().read(&mut [0; 9]).unwrap(), 0);
        entry
    };
    assert_eq!(read(3), "a");
    assert_eq!(read(0), "b");
    pipe.next_entry().unwrap().unwrap();
    assert_eq!(pipe.entry_reader().read(&mut [0; 9]).unwrap(), 9);
    assert!(
        pipe.next_entry().unwrap().is_none(),
        "what is left of c is passed over"
    );
    assert_eq!(pipe.entry_reader().read(&mut [0; 9]).unwrap(), 0);
}

#[test]
fn an_entry_that_is_dropped_stays_open() {
    let mut archive = ArchiveWriter::new(Vec::new());
    let options = EntryOptions::default();
    let mut entry = archive.entry_writer("broken", &options).unwrap();
    entry.write_all(b"half").unwrap();
    drop(entry);
    let refused = archive.entry_writer("next", &options).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Order);
    archive.abandon_entry().unwrap();
    archive
        .entry_writer("removed", &options)
        .unwrap()
        .abandon()
        .unwrap();
    let mut entry = archive.entry_writer("kept", &options).unwrap();
    entry.write_all(b"whole").unwrap();
    entry.finish().unwrap();
    let (bytes, totals) = archive.finish().unwrap();
    assert_eq!(totals.entries, 1);
    let reader = ArchiveReader::open(bytes).unwrap();
    assert_eq!(
        reader.read(&reader.find("kept").unwrap().unwrap()).unwrap(),
        b"whole"
    );
}
