//! Steps of a content: how much each works on, and that it does not matter.

use super::*;
use crate::read::options::ReadOptions;
use crate::write::{ArchiveOptions, ArchiveWriter, EntryOptions, KnownContent};

const KIB: usize = 1 << 10;
/// A step of deflate may return so much more than it should: the longest copy, and some literals.
const SLACK_BYTES: u64 = 600;

fn sample(bytes: usize) -> Vec<u8> {
    let line = |number: usize| format!("{} of {number}\n", number * number % 9_973);
    (0..)
        .map(line)
        .flat_map(String::into_bytes)
        .take(bytes)
        .collect()
}

fn archive(method: Method, content: &[u8], options: ArchiveOptions) -> Vec<u8> {
    let mut writer = ArchiveWriter::with_options(Vec::new(), options).unwrap();
    let known = KnownContent::new(content.len() as u64, crc32fast::hash(content));
    let options = EntryOptions::new(method).known(known);
    writer.add("a", &options, &mut &content[..]).unwrap();
    writer.finish().unwrap().0
}

fn methods() -> Vec<Method> {
    vec![
        Method::Deflate,
        Method::Stored,
        #[cfg(feature = "zstd")]
        Method::Zstd,
    ]
}

/// The content of an entry in steps of this many bytes at most, or why it has none, and the number of steps.
fn in_steps<R: ReadAt>(
    reader: &ArchiveReader<R>,
    scratch: &mut Scratch,
    most: usize,
) -> (Result<Vec<u8>, Error>, usize) {
    let entry = reader.entries().next().unwrap().unwrap();
    let (mut content, mut read, mut steps) = (EntryContent::new(), Vec::new(), 0);
    loop {
        steps += 1;
        match content.step(reader, &entry, scratch, most) {
            Ok(Some(bytes)) => {
                let allowed = (most as u64).saturating_add(SLACK_BYTES);
                assert!(bytes <= allowed, "{bytes} of {most}");
                let unread = content.unread(scratch);
                read.extend_from_slice(unread);
                let bytes = unread.len();
                content.consume(bytes);
            }
            Ok(None) => return (Ok(read), steps),
            Err(error) => return (Err(error), steps),
        }
    }
}

#[test]
fn no_step_works_on_more_than_it_should() {
    let mut scratch = Scratch::default();
    for bytes in [0, 1, 5_000, 300_000, 1 << 20, 3_000_000] {
        let content = sample(bytes);
        for method in methods() {
            let archive = archive(method, &content, ArchiveOptions::default());
            for options in [ReadOptions::default(), ReadOptions::strict()] {
                let reader = ArchiveReader::open_with(&archive[..], &options).unwrap();
                for most in [4 * KIB, 25_000, 128 * KIB] {
                    let (read, steps) = in_steps(&reader, &mut scratch, most);
                    assert!(read.unwrap() == content, "{method} {bytes} {most}");
                    let least = bytes / (most + SLACK_BYTES as usize);
                    assert!(steps >= least, "{method} {bytes} {most}: {steps}");
                }
            }
        }
    }
}

#[test]
fn content_is_given_out_once_all_of_it_is_verified() {
    for method in methods() {
        let content = sample(400_000);
        let whole = archive(method, &content, ArchiveOptions::default());
        let reader = ArchiveReader::open(&whole[..]).unwrap();
        let entry = reader.entries().next().unwrap().unwrap();
        let data = (entry.offset() + 31) as usize;
        let end = data + entry.compressed_bytes() as usize;
        let mut scratch = Scratch::default();
        for at in (data..end).step_by(end / 50) {
            let mut damaged = whole.clone();
            damaged[at] ^= 0x10;
            let reader = ArchiveReader::open(&damaged[..]).unwrap();
            let entry = reader.entries().next().unwrap().unwrap();
            let mut content = EntryContent::new();
            let error = loop {
                match content.step(&reader, &entry, &mut scratch, 4 * KIB) {
                    Ok(Some(_)) => assert!(content.unread(&scratch).is_empty(), "{method}"),
                    Ok(None) => panic!("{method}: byte {at} was not verified"),
                    Err(error) => break error,
                }
            };
            // The same is wrong in one step, but for the words.
            let (other, _) = in_steps(&reader, &mut scratch, usize::MAX);
            assert_eq!(error.kind(), other.unwrap_err().kind(), "{method} {at}");
        }
    }
}

#[test]
fn sizes_and_limits_hold_in_steps() {
    let mut scratch = Scratch::default();
    for method in methods() {
        let content = sample(200_000);
        let whole = archive(method, &content, ArchiveOptions::default());
        let mut records = whole.windows(4);
        let central = records.rposition(|bytes| bytes == b"PK\x01\x02");
        for (stated, kind) in [
            (199_999_u32, ErrorKind::Size),
            (200_001, ErrorKind::Size),
            (100_000, ErrorKind::Size),
        ] {
            let mut other = whole.clone();
            let at = central.unwrap() + 24;
            other[at..at + 4].copy_from_slice(&stated.to_le_bytes());
            let reader = ArchiveReader::open(&other[..]).unwrap();
            let (read, _) = in_steps(&reader, &mut scratch, 4 * KIB);
            assert_eq!(read.unwrap_err().kind(), kind, "{method} {stated}");
        }
        let limits = crate::Limits::default().entry_bytes(150_000);
        let options = ReadOptions::default().limits(limits);
        let reader = ArchiveReader::open_with(&whole[..], &options).unwrap();
        let (read, _) = in_steps(&reader, &mut scratch, 4 * KIB);
        assert_eq!(read.unwrap_err().kind(), ErrorKind::Limit, "{method}");
    }
}

#[cfg(feature = "aes")]
#[test]
fn encrypted_content_is_authenticated_in_steps_before_any_is_given_out() {
    use crate::{Decryption, Encryption, Password};

    let password = || Password::new("secret");
    let mut scratch = Scratch::default();
    for method in methods() {
        for bytes in [100_000, 1 << 20, 2_000_000] {
            let content = sample(bytes);
            let options = ArchiveOptions::default().encryption(Encryption::new(password()));
            let archive = archive(method, &content, options);
            for early in [false, true] {
                let mut reader = ArchiveReader::open(&archive[..]).unwrap();
                let decryption = Decryption::new(password()).release_early(early);
                reader.set_decryption(Some(decryption.clone()));
                let (read, steps) = in_steps(&reader, &mut scratch, 16 * KIB);
                assert!(read.unwrap() == content, "{method} {bytes}");
                assert!(steps >= bytes / (16 * KIB), "{method} {bytes}: {steps}");

                let entry = reader.entries().next().unwrap().unwrap();
                let mut damaged = archive.clone();
                let middle = entry.offset() + entry.compressed_bytes() / 2;
                damaged[middle as usize] ^= 1;
                let mut reader = ArchiveReader::open(&damaged[..]).unwrap();
                reader.set_decryption(Some(decryption));
                let (read, _) = in_steps(&reader, &mut scratch, 16 * KIB);
                let kind = read.unwrap_err().kind();
                assert!(
                    kind == ErrorKind::Authentication || early,
                    "{method}: {kind:?}"
                );
            }
        }
    }
}
