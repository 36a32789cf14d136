//! Encrypted entries: only their password decrypts them, from a file and from a pipe; wrong passwords,
//! damage and hostile headers are different errors.

use zipstream::{
    AesStrength, ArchiveOptions, ArchiveReader, ArchiveWriter, Decryption, Encryption,
    EntryOptions, Error, ErrorKind, KnownContent, Method, Password, PipeReader, ReadOptions,
    Scratch,
};

const MIB: usize = 1 << 20;
const LOCAL: [u8; 4] = *b"PK\x03\x04";
const CENTRAL: [u8; 4] = *b"PK\x01\x02";

fn sample(bytes: usize) -> Vec<u8> {
    let line = |n: usize| format!("line {} of {}\n", n * n % 8191, n % 37).into_bytes();
    let mut content: Vec<u8> = (0..bytes / 10 + 1).flat_map(line).collect();
    content.truncate(bytes);
    content
}

fn encryption(strength: AesStrength, checksum: bool) -> Encryption {
    let mut encryption = Encryption::new(Password::from("right"));
    (encryption.strength, encryption.checksum) = (strength, checksum);
    encryption
}

fn settings(strength: AesStrength, checksum: bool, threads: usize) -> ArchiveOptions {
    let mut options = ArchiveOptions::default();
    options.encryption = Some(encryption(strength, checksum));
    options.threads = threads;
    options
}

fn write(options: ArchiveOptions, entries: &[(&str, EntryOptions, &[u8])]) -> Vec<u8> {
    let mut writer = ArchiveWriter::with_options(Vec::new(), options).expect("it works");
    for (name, options, content) in entries {
        writer
            .add(name, options, &mut &content[..])
            .expect("it works");
    }
    let (archive, totals) = writer.finish().expect("it works");
    assert_eq!(totals.archive_bytes, archive.len() as u64);
    archive
}

fn decryption(password: &str) -> Option<Decryption> {
    Some(Decryption::new(Password::from(password)))
}

fn early(password: &str) -> Option<Decryption> {
    decryption(password).map(|decryption| decryption.release_early(true))
}

fn by_file(archive: &[u8], how: Option<Decryption>, strict: bool) -> Result<Vec<Vec<u8>>, Error> {
    let options = if strict {
        ReadOptions::strict()
    } else {
        ReadOptions::default()
    };
    let mut reader = ArchiveReader::open_with(archive, &options)?;
    reader.set_decryption(how);
    reader.check()?;
    let entries = reader.entries();
    entries.map(|entry| reader.read(&entry?)).collect()
}

fn by_pipe(archive: &[u8], how: Option<Decryption>, strict: bool) -> Result<Vec<Vec<u8>>, Error> {
    let options = if strict {
        ReadOptions::strict()
    } else {
        ReadOptions::default()
    };
    let mut pipe = PipeReader::new(archive, &options);
    pipe.set_decryption(how);
    let mut contents = Vec::new();
    while pipe.next_entry()?.is_some() {
        let mut content = Vec::new();
        pipe.content(&mut |piece: &[u8]| {
            content.extend_from_slice(piece);
            Ok::<_, Error>(())
        })?;
        contents.push(content);
    }
    while pipe.next_record()?.is_some() {}
    Ok(contents)
}

/// Entries of every shape: held, in chunks, in one frame, stored of a known size, of any size.
fn shapes(large: &[u8]) -> Vec<(&'static str, EntryOptions, &[u8])> {
    let small = &large[..5000];
    let mut hinted = EntryOptions::default();
    hinted.size_hint = Some(large.len() as u64);
    let mut known = EntryOptions::new(Method::Stored);
    let mut sum = zipstream::Crc32::new();
    sum.update(large);
    known.known = Some(KnownContent::new(large.len() as u64, sum.sum()));
    let mut zstd = EntryOptions::new(Method::Zstd);
    zstd.modified = Some(1_000_000_000);
    let mut plain = EntryOptions::default();
    plain.encrypt = false;
    vec![
        ("empty", EntryOptions::default(), &[]),
        ("stored", EntryOptions::new(Method::Stored), small),
        ("incompressible", EntryOptions::default(), b"x"),
        ("deflate", EntryOptions::default(), small),
        ("zstd", zstd, small),
        ("dir/", EntryOptions::directory(), &[]),
        ("link", EntryOptions::symlink(), b"deflate"),
        ("plain", plain, small),
        ("hinted", hinted, large),
        ("unbounded", EntryOptions::default(), large),
        ("known", known, large),
        ("zstd-large", zstd, large),
    ]
}

#[test]
fn what_is_sealed_is_opened_in_every_shape() {
    let large = sample(MIB + 300_001);
    let shapes = shapes(&large);
    let expected: Vec<_> = shapes.iter().map(|shape| shape.2.to_vec()).collect();
    for (strength, checksum, threads) in [
        (AesStrength::Aes256, false, 0),
        (AesStrength::Aes192, true, 2),
        (AesStrength::Aes128, false, 2),
        (AesStrength::Aes128, true, 0),
    ] {
        let archive = write(settings(strength, checksum, threads), &shapes);
        for strict in [false, true] {
            assert!(by_file(&archive, decryption("right"), strict).unwrap() == expected);
            assert!(by_file(&archive, early("right"), strict).unwrap() == expected);
            assert!(by_pipe(&archive, early("right"), strict).unwrap() == expected);
        }
        let reader = ArchiveReader::open(&archive[..]).unwrap();
        for entry in reader.entries().map(Result::unwrap) {
            let name = entry.name().unwrap();
            let plain = name == "plain" || name == "dir/";
            assert_eq!(entry.is_encrypted(), !plain, "{name}");
            assert_eq!(
                entry.crc32() == 0,
                !checksum && !plain || entry.content_bytes() == 0
            );
            let open = reader.read(&entry).map_err(|error| error.kind());
            assert_eq!(open.is_ok(), plain, "{name}");
            assert!(plain || open == Err(ErrorKind::Password), "{name}");
        }
    }
}

/// The fault of a writer whose counter, code and checksum were its own: what WinZip AES is, by the
/// letter, with nothing of this crate.
#[test]
fn aes_is_that_of_the_format_and_not_one_of_our_own() {
    use ctr::cipher::{KeyIvInit as _, StreamCipher as _};
    use hmac::{Hmac, KeyInit as _, Mac as _};
    let archive = write(
        settings(AesStrength::Aes256, false, 0),
        &[("a", EntryOptions::new(Method::Stored), b"some content")],
    );
    // Version, flags, method; then checksum and sizes.
    assert_eq!(archive[4..10], [51, 0, 1, 0, 99, 0]);
    assert_eq!(archive[14..18], [0; 4], "AE-2 states no checksum");
    assert_eq!(archive[18..22], 40_u32.to_le_bytes());
    assert_eq!(archive[31..42], *b"\x01\x99\x07\x00\x02\x00AE\x03\x00\x00");
    let (salt, rest) = archive[42..82].split_at(16);
    let (verifier, rest) = rest.split_at(2);
    let (sealed, code) = rest.split_at(12);
    let mac = |key: &[u8], parts: &[&[u8]]| -> [u8; 20] {
        let mut mac = <Hmac<sha1::Sha1>>::new_from_slice(key).unwrap();
        parts.iter().for_each(|part| mac.update(part));
        mac.finalize().into_bytes().into()
    };
    let mut keys = Vec::new();
    for block in 1..=4_u32 {
        let mut turn = mac(b"right", &[salt, &block.to_be_bytes()]);
        let mut sum = turn;
        for _ in 1..1000 {
            turn = mac(b"right", &[&turn]);
            sum.iter_mut()
                .zip(turn)
                .for_each(|(sum, byte)| *sum ^= byte);
        }
        keys.extend_from_slice(&sum);
    }
    assert_eq!(verifier, &keys[64..66]);
    assert_eq!(code, &mac(&keys[32..64], &[sealed])[..10]);
    let mut count = [0; 16];
    count[0] = 1;
    let mut content = sealed.to_vec();
    ctr::Ctr128LE::<aes::Aes256>::new_from_slices(&keys[..32], &count)
        .unwrap()
        .apply_keystream(&mut content);
    assert_eq!(content, b"some content");
}

#[test]
fn only_salts_tell_two_archives_apart_whatever_the_threads() {
    let large = sample(MIB + 5);
    let shapes = shapes(&large);
    let layout = |threads| {
        let archive = write(settings(AesStrength::Aes256, true, threads), &shapes);
        let reader = ArchiveReader::open(&archive[..]).unwrap();
        let start = reader.directory().start() as usize;
        // The directory states every size, offset and checksum.
        (archive[start..].to_vec(), archive)
    };
    let [one, two, three] = [0, 1, 3].map(layout);
    assert!(one.0 == two.0 && one.0 == three.0);
    assert!(one.1 != two.1);
    let mut both = settings(AesStrength::Aes256, false, 0);
    both.reproducible = Some(0);
    let error = ArchiveWriter::with_options(Vec::new(), both).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Setting);
}

fn small() -> Vec<u8> {
    let content = sample(120);
    let mut plain = EntryOptions::new(Method::Stored);
    plain.encrypt = false;
    write(
        settings(AesStrength::Aes128, false, 0),
        &[
            ("a", EntryOptions::default(), &content),
            ("b", plain, b"stored"),
        ],
    )
}

#[test]
fn a_wrong_password_is_no_damage() {
    let large = sample(MIB + 1);
    let archive = write(
        settings(AesStrength::Aes256, false, 0),
        &[("large", EntryOptions::default(), &large)],
    );
    for archive in [small(), archive] {
        for how in [decryption("wrong"), early("wrong"), None] {
            let error = by_file(&archive, how.clone(), false).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Password, "{error}");
            assert!(error.offset().is_some() && error.entry_name().is_some());
        }
        for how in [early("wrong"), None] {
            let error = by_pipe(&archive, how, false).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Password, "{error}");
        }
        let error = by_pipe(&archive, decryption("right"), false).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported, "the code comes last");
    }
}

#[test]
fn nothing_is_given_out_before_it_is_authenticated() {
    let large = sample(2 * MIB);
    let mut options = EntryOptions::default();
    options.size_hint = Some(large.len() as u64);
    let shape = ("large", options, &large[..]);
    let mut archive = write(settings(AesStrength::Aes256, false, 0), &[shape]);
    let flip = archive.len() - 400;
    archive[flip] ^= 1;
    for (how, given) in [(decryption("right"), false), (early("right"), true)] {
        let mut reader = ArchiveReader::open(&archive[..]).unwrap();
        reader.set_decryption(how);
        let entry = reader.entries().next().unwrap().unwrap();
        let mut seen = 0;
        let result = reader.extract(&entry, &mut Scratch::default(), &mut |piece: &[u8]| {
            seen += piece.len();
            Ok::<_, Error>(())
        });
        let kind = result.unwrap_err().kind();
        // What is decoded first may be refused as data before the code is reached.
        assert!(kind == ErrorKind::Authentication || given, "{kind:?}");
        assert_eq!(seen > 0, given);
    }
}

#[test]
fn every_truncation_of_an_encrypted_archive_is_an_error() {
    let archive = small();
    for cut in 0..archive.len() {
        let part = &archive[..cut];
        let error = by_file(part, decryption("right"), false).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotZip, "{cut}");
        let error = by_pipe(part, early("right"), false).unwrap_err();
        let expected = if cut == 0 {
            ErrorKind::NotZip
        } else {
            ErrorKind::Truncated
        };
        assert_eq!(error.kind(), expected, "{cut}: {error}");
    }
}

#[test]
fn every_flipped_bit_is_an_error_or_changes_no_content() {
    let archive = small();
    let expected = by_file(&archive, decryption("right"), true).unwrap();
    let sealed = {
        let reader = ArchiveReader::open(&archive[..]).unwrap();
        reader.directory().start() as usize
    };
    for at in 0..archive.len() {
        let mut flipped = archive.clone();
        flipped[at] ^= 1 << (at % 8);
        let result = match at / 8 % 2 {
            0 => by_file(&flipped, decryption("right"), true),
            _ => by_pipe(&flipped, early("right"), true),
        };
        match result {
            Ok(contents) => assert!(contents == expected, "byte {at}"),
            Err(error) => assert!(at >= sealed || error.offset().is_some(), "byte {at}"),
        }
    }
}

fn find(archive: &[u8], signature: [u8; 4]) -> usize {
    let mut windows = archive.windows(4);
    windows.position(|at| at == signature).expect("it is there")
}

/// The archive with the same change in a local header and its record.
fn changed(archive: &[u8], local: usize, central: usize, bytes: &[u8]) -> Vec<u8> {
    let mut archive = archive.to_vec();
    for (signature, field) in [(LOCAL, local), (CENTRAL, central)] {
        let at = find(&archive, signature) + field;
        archive[at..at + bytes.len()].copy_from_slice(bytes);
    }
    archive
}

#[test]
fn hostile_headers_are_typed_errors() {
    let archive = small();
    // The extra field stands behind a name of one byte.
    for (what, field, bytes, kind) in [
        ("no field", 0, &[7][..], ErrorKind::Corrupt),
        ("a field beyond its area", 2, &[8], ErrorKind::Corrupt),
        ("version 3", 4, &[3], ErrorKind::Unsupported),
        ("another vendor", 6, b"XY", ErrorKind::Unsupported),
        ("strength 0", 8, &[0], ErrorKind::Unsupported),
        ("strength 4", 8, &[4], ErrorKind::Unsupported),
        (
            "a method inside that is not known",
            9,
            &[7, 7],
            ErrorKind::Unsupported,
        ),
        (
            "encryption in encryption",
            9,
            &[99, 0],
            ErrorKind::Unsupported,
        ),
        // What 256 bits take as a salt is other bytes here.
        ("another strength", 8, &[3], ErrorKind::Password),
    ] {
        let hostile = changed(&archive, 31 + field, 47 + field, bytes);
        for result in [
            by_file(&hostile, decryption("right"), false),
            by_file(&hostile, decryption("right"), true),
            by_pipe(&hostile, early("right"), false),
        ] {
            let error = result.unwrap_err();
            assert_eq!(error.kind(), kind, "{what}: {error}");
            assert!(error.offset().is_some(), "{what}");
        }
    }
    for bytes in [0_u32, 1, 19] {
        let short = changed(&archive, 18, 20, &bytes.to_le_bytes());
        let error = by_file(&short, decryption("right"), false).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{bytes}: {error}");
        let error = by_pipe(&short, early("right"), false).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{bytes}: {error}");
    }
    let strong = changed(&archive, 6, 8, &[0x41, 0]);
    let error = by_file(&strong, decryption("right"), false).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
}

#[test]
fn pipes_pass_over_what_they_have_no_password_for() {
    let archive = small();
    let mut pipe = PipeReader::new(&archive[..], &ReadOptions::strict());
    let mut names = Vec::new();
    while let Some(entry) = pipe.next_entry().unwrap() {
        assert_eq!(entry.encrypted, entry.name == "a");
        names.push(entry.name.clone());
        pipe.skip().unwrap();
    }
    assert_eq!(names, ["a", "b"]);
    while pipe.next_record().unwrap().is_some() {}
}

/// An entry as zip 3.0 encrypts it: its local header states sizes, and a descriptor follows as well.
#[test]
fn stored_entries_that_state_sizes_twice_are_read_from_a_pipe() {
    let mut archive = write(
        ArchiveOptions::default(),
        &[("a", EntryOptions::new(Method::Stored), b"some content")],
    );
    let start = find(&archive, CENTRAL);
    for (at, field) in [(0, 6), (start, 8)] {
        archive[at + field] |= 8;
    }
    let crc32 = archive[14..18].to_vec();
    let descriptor = [b"PK\x07\x08", &crc32[..], &[12, 0, 0, 0, 12, 0, 0, 0]].concat();
    archive.splice(start..start, descriptor);
    let end = archive.len() - 6;
    archive[end..end + 4].copy_from_slice(&(start as u32 + 16).to_le_bytes());
    for strict in [false, true] {
        assert_eq!(by_file(&archive, None, strict).unwrap(), [b"some content"]);
        assert_eq!(by_pipe(&archive, None, strict).unwrap(), [b"some content"]);
    }
}

/// Frame after frame: whether another one follows is known only once it is decrypted.
#[test]
fn several_frames_are_opened_from_a_pipe() {
    let content = vec![b'z'; 9 * MIB];
    for threads in [0, 2] {
        let archive = write(
            settings(AesStrength::Aes128, false, threads),
            &[("a", EntryOptions::new(Method::Zstd), &content)],
        );
        assert!(by_pipe(&archive, early("right"), true).unwrap() == [&content[..]]);
        assert!(by_file(&archive, decryption("right"), true).unwrap() == [&content[..]]);
    }
}

#[test]
fn a_pipe_goes_on_behind_an_entry_of_another_password() {
    let content = sample(5000);
    let mut archive = Vec::new();
    // Two archives in one place, with one directory: entries of two passwords.
    for (password, name) in [("other", "a"), ("right", "b")] {
        let mut options = ArchiveOptions::default();
        options.encryption = Some(Encryption::new(Password::from(password)));
        let part = write(options, &[(name, EntryOptions::default(), &content)]);
        let end = ArchiveReader::open(&part[..])
            .expect("opened")
            .directory()
            .start();
        archive.extend_from_slice(&part[..end as usize]);
    }
    let mut pipe = PipeReader::new(&archive[..], &ReadOptions::default());
    pipe.set_decryption(early("right"));
    let mut take = |_: &[u8]| Ok::<_, Error>(());
    assert_eq!(pipe.next_entry().expect("an entry").expect("one").name, "a");
    let error = pipe.content(&mut take).expect_err("refused");
    assert_eq!(
        (error.kind(), error.entry_name()),
        (ErrorKind::Password, Some("a"))
    );
    assert!(pipe.can_go_on());
    assert_eq!(pipe.next_entry().expect("an entry").expect("one").name, "b");
    assert_eq!(pipe.content(&mut take).expect("read"), 5000);
    let error = pipe.next_entry().expect_err("cut off");
    assert!(!pipe.can_go_on(), "{error}");
}

#[test]
fn testing_finds_what_reading_finds() {
    let large = sample(3 * MIB / 2);
    for checksum in [false, true] {
        let archive = write(settings(AesStrength::Aes256, checksum, 0), &shapes(&large));
        let outcomes = |archive: &[u8], how: Option<Decryption>, from: usize| -> Vec<_> {
            let mut reader = ArchiveReader::open(archive).expect("a directory");
            reader.set_decryption(how);
            let (mut scratch, mut outcomes) = (Scratch::default(), Vec::new());
            for entry in reader.entries().skip(from) {
                let entry = entry.expect("an entry");
                let mut bytes = 0;
                let tested = reader.test(&entry, &mut scratch, &mut |step| {
                    bytes += step;
                    Ok::<_, Error>(())
                });
                let read = reader.read(&entry).map(|content| content.len() as u64);
                let kinds = [&tested, &read].map(|result| result.as_ref().map_err(Error::kind));
                assert_eq!(kinds[0], kinds[1], "{}", entry.name_lossy());
                assert!(tested.is_err() || tested.ok() == Some(bytes));
                outcomes.push(read.map_err(|error| error.kind()));
            }
            outcomes
        };
        let right = outcomes(&archive, early("right"), 0);
        assert!(right.iter().all(Result::is_ok) && right.len() == 12);
        let wrong = outcomes(&archive, early("wrong"), 10);
        assert_eq!(wrong[0], Err(ErrorKind::Password));
        // In the content of a large stored entry, and in the code behind it.
        let reader = ArchiveReader::open(&archive[..]).expect("a directory");
        let known = reader.entries().nth(10).expect("there").expect("an entry");
        let next = reader.entries().nth(11).expect("there").expect("an entry");
        for back in [
            known.compressed_bytes() / 2,
            known.compressed_bytes() - 40,
            5,
        ] {
            let mut damaged = archive.clone();
            damaged[(next.offset() - back) as usize] ^= 1;
            let found = outcomes(&damaged, early("right"), 10);
            assert_eq!(found[0], Err(ErrorKind::Authentication), "{back}");
        }
        let mut reader = ArchiveReader::open(&archive[..]).expect("a directory");
        reader.set_decryption(early("right"));
        let ended = Error::from(zipstream::PushError::Source(
            std::io::ErrorKind::Other.into(),
        ));
        let mut step = |_| Err(ended.clone());
        let stopped = reader.test(&known, &mut Scratch::default(), &mut step);
        assert_eq!(stopped.map_err(|error| error.kind()), Err(ended.kind()));
    }
}
