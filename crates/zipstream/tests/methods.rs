//! Methods that are read and not written: their contents come back, by file and by pipe, and what
//! is damaged, cut off or asks for too much memory is a typed error.

use std::io::Write as _;

use zipstream::{
    ArchiveReader, ArchiveWriter, EntryOptions, Error, ErrorKind, Limits, Method, PipeReader,
    ReadOptions,
};

const LZMA_MARK: u16 = 2;

fn sample(bytes: usize) -> Vec<u8> {
    let line = |n: usize| format!("line {} of {}\n", n * n % 8191, n % 37).into_bytes();
    let mut content: Vec<u8> = (0..bytes / 10 + 1).flat_map(line).collect();
    content.truncate(bytes);
    content
}

fn bzip2(content: &[u8]) -> Vec<u8> {
    let mut writer = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    writer.write_all(content).expect("it works");
    writer.finish().expect("it works")
}

/// With the header of the format, and a mark at the end if `mark`.
fn lzma(content: &[u8], mark: bool) -> Vec<u8> {
    let options = lzma_rust2::LzmaOptions::with_preset(1);
    let mut out = vec![9, 20, 5, 0, options.get_props()];
    out.extend_from_slice(&options.dict_size.to_le_bytes());
    let mut writer =
        lzma_rust2::LzmaWriter::new_no_header(&mut out, &options, mark).expect("it works");
    writer.write_all(content).expect("it works");
    writer.finish().expect("it works");
    out
}

fn zstd(content: &[u8]) -> Vec<u8> {
    zstdkit::compress(content, &zstdkit::EncoderOptions::default()).expect("it works")
}

fn xz(content: &[u8]) -> Vec<u8> {
    let options = lzma_rust2::XzOptions::with_preset(1);
    let mut writer = lzma_rust2::XzWriter::new(Vec::new(), options).expect("it works");
    writer.write_all(content).expect("it works");
    writer.finish().expect("it works")
}

/// Stored blocks, which are those of deflate.
fn deflate64(content: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    for part in content.chunks(60_000) {
        let length = part.len() as u16;
        out.push(0);
        out.extend_from_slice(&length.to_le_bytes());
        out.extend_from_slice(&(!length).to_le_bytes());
        out.extend_from_slice(part);
    }
    // An empty block of fixed codes, the last one.
    out.extend_from_slice(&[3, 0]);
    out
}

/// An archive of one entry that is compressed elsewhere.
fn archive(code: u16, flags: u16, packed: &[u8], content: &[u8]) -> Vec<u8> {
    let mut sum = zipstream::Crc32::new();
    sum.update(packed);
    let mut options = EntryOptions::new(Method::Stored);
    options.known = Some(zipstream::KnownContent::new(packed.len() as u64, sum.sum()));
    let mut writer = ArchiveWriter::new(Vec::new());
    writer
        .add("a", &options, &mut &packed[..])
        .expect("it works");
    let (mut archive, _) = writer.finish().expect("it works");
    let mut sum = zipstream::Crc32::new();
    sum.update(content);
    let central = archive.len() - 22 - 47;
    assert_eq!(archive[central..central + 4], *b"PK\x01\x02");
    for (start, shift) in [(0, 0), (central, 2)] {
        let mut put = |at: usize, bytes: &[u8]| {
            let at = start + at + shift;
            archive[at..at + bytes.len()].copy_from_slice(bytes);
        };
        put(6, &flags.to_le_bytes());
        put(8, &code.to_le_bytes());
        put(14, &sum.sum().to_le_bytes());
        put(22, &(content.len() as u32).to_le_bytes());
    }
    archive
}

fn by_file(archive: &[u8], options: &ReadOptions) -> Result<Vec<u8>, Error> {
    let reader = ArchiveReader::open_with(archive, options)?;
    let entry = reader.find("a")?.expect("it is there");
    reader.read(&entry)
}

fn by_pipe(archive: &[u8], options: &ReadOptions) -> Result<Vec<u8>, Error> {
    let mut pipe = PipeReader::new(archive, options);
    let mut content = Vec::new();
    while pipe.next_entry()?.is_some() {
        pipe.content(&mut |piece: &[u8]| {
            content.extend_from_slice(piece);
            Ok::<_, Error>(())
        })?;
    }
    while pipe.next_record()?.is_some() {}
    Ok(content)
}

type Case = (&'static str, u16, u16, Vec<u8>);

fn packed(content: &[u8]) -> Vec<Case> {
    vec![
        ("deflate64", 9, 0, deflate64(content)),
        ("bzip2", 12, 0, bzip2(content)),
        ("lzma", 14, 0, lzma(content, false)),
        ("lzma with a mark", 14, LZMA_MARK, lzma(content, true)),
        ("xz", 95, 0, xz(content)),
    ]
}

#[test]
fn contents_come_back_in_both_profiles_and_from_a_pipe() {
    for bytes in [0, 1, 5000, 1 << 20, (1 << 20) + 1, 3_000_000] {
        let content = sample(bytes);
        for (what, code, flags, packed) in packed(&content) {
            let archive = archive(code, flags, &packed, &content);
            for options in [ReadOptions::default(), ReadOptions::strict()] {
                for read in [by_file, by_pipe] {
                    let found = read(&archive, &options);
                    let found = found.unwrap_or_else(|error| panic!("{what}, {bytes}: {error}"));
                    assert!(found == content, "{what}, {bytes}");
                }
            }
        }
    }
}

#[test]
fn what_is_cut_off_or_damaged_is_an_error() {
    let content = sample(400);
    for (what, code, flags, packed) in packed(&content) {
        for cut in 0..packed.len() {
            let archive = archive(code, flags, &packed[..cut], &content);
            for read in [by_file, by_pipe] {
                // A stream that lacks its end mark, or its index only, may have all of its content.
                match read(&archive, &ReadOptions::default()) {
                    Ok(found) => assert!(found == content, "{what}, {cut}"),
                    Err(error) => assert!(error.offset().is_some(), "{what}, {cut}: {error}"),
                }
            }
        }
        for at in 0..packed.len() {
            let mut packed = packed.clone();
            packed[at] ^= 1 << (at % 8);
            let archive = archive(code, flags, &packed, &content);
            for read in [by_file, by_pipe] {
                match read(&archive, &ReadOptions::strict()) {
                    Ok(found) => assert!(found == content, "{what}, {at}"),
                    Err(error) => assert!(error.offset().is_some(), "{what}, {at}: {error}"),
                }
            }
        }
    }
}

#[test]
fn windows_beyond_the_limit_are_refused_before_they_are_made() {
    let content = sample(5000);
    let mut greedy = lzma(&content, false);
    greedy[5..9].copy_from_slice(&0xf000_0000_u32.to_le_bytes());
    let tight = ReadOptions::new().limits(Limits::default().window_bytes(64 << 10));
    for (code, packed, options) in [
        (14, greedy, ReadOptions::default()),
        (14, lzma(&content, false), tight),
        (95, xz(&content), tight),
        (93, zstd(&sample(1_000_000)), tight),
        (93, zstd(&sample((64 << 10) + 1)), tight),
    ] {
        let archive = archive(code, 0, &packed, &content);
        for read in [by_file, by_pipe] {
            let error = read(&archive, &options).expect_err("it is too much");
            assert_eq!(error.kind(), ErrorKind::Limit, "{code}: {error}");
            assert!(error.offset().is_some(), "{error}");
        }
    }
    // A window that is just as large as allowed.
    let content = sample(64 << 10);
    for options in [tight, ReadOptions::default()] {
        let archive = archive(93, 0, &zstd(&content), &content);
        for read in [by_file, by_pipe] {
            assert!(read(&archive, &options).expect("it fits") == content);
        }
    }
}

#[test]
fn limits_count_what_is_produced() {
    let content = vec![0; 3_000_000];
    for (what, code, flags, packed) in packed(&content) {
        let archive = archive(code, flags, &packed, &content[..10]);
        let error = by_file(&archive, &ReadOptions::default()).expect_err("it lies");
        // A stream of a stated size may end there, and another checksum remains.
        let kind = error.kind();
        let expected_kind = matches!(
            kind,
            ErrorKind::Size | ErrorKind::Checksum | ErrorKind::Corrupt
        );
        assert!(expected_kind, "{what}: {error}");
    }
}
