//! Stored entries whose content the caller puts into the archive itself.

use zipstream::{
    ArchiveEncoder, ArchiveOptions, ArchiveReader, Crc32, Encryption, EntryOptions, ErrorKind,
    KnownContent, Method, Password, ReadOptions,
};

fn sum(content: &[u8]) -> u32 {
    let mut sum = Crc32::new();
    sum.update(content);
    sum.sum()
}

fn content(bytes: usize) -> Vec<u8> {
    (0..bytes as u32).map(|at| (at / 7 % 249) as u8).collect()
}

fn encoder(threads: usize) -> ArchiveEncoder {
    let mut options = ArchiveOptions::default();
    options.threads = threads;
    ArchiveEncoder::new(options).expect("threads")
}

/// Takes the output.
fn drain(encoder: &mut ArchiveEncoder, archive: &mut Vec<u8>) {
    archive.extend_from_slice(encoder.output());
    let bytes = encoder.output().len();
    encoder.consume(bytes);
}

/// An archive with two contents that are put in apart, among others that threads compress.
fn apart(threads: usize, contents: &[Vec<u8>]) -> Vec<u8> {
    let (mut encoder, mut archive) = (encoder(threads), Vec::new());
    for (index, content) in contents.iter().enumerate() {
        let name = format!("compressed{index}");
        encoder
            .start_entry(&name, &EntryOptions::default())
            .expect("packed");
        encoder.push_all(content).expect("packed");
        encoder.finish_entry().expect("packed");
        let options = EntryOptions::new(Method::Deflate);
        let name = format!("stored{index}");
        encoder
            .start_external(&name, &options, content.len() as u64)
            .expect("packed");
        drain(&mut encoder, &mut archive);
        archive.extend_from_slice(content);
        let patch = encoder.finish_external(sum(content)).expect("packed");
        archive[patch.offset as usize..][..4].copy_from_slice(&patch.bytes);
    }
    let totals = encoder.finish().expect("packed");
    drain(&mut encoder, &mut archive);
    assert_eq!(totals.archive_bytes, archive.len() as u64);
    assert_eq!(totals.entries, 2 * contents.len() as u64);
    archive
}

#[test]
fn content_put_in_apart_makes_the_archive_that_it_makes_when_it_is_pushed() {
    let contents = [content(2_000_000), content(5), Vec::new(), content(1 << 20)];
    let (mut encoder, mut expected) = (encoder(0), Vec::new());
    for (index, content) in contents.iter().enumerate() {
        for kind in ["compressed", "stored"] {
            let mut options = EntryOptions::default();
            if kind == "stored" {
                options = EntryOptions::new(Method::Stored);
                options.known = Some(KnownContent::new(content.len() as u64, sum(content)));
            }
            encoder
                .start_entry(&format!("{kind}{index}"), &options)
                .unwrap();
            encoder.push_all(content).unwrap();
            encoder.finish_entry().unwrap();
        }
    }
    encoder.finish().unwrap();
    drain(&mut encoder, &mut expected);
    for threads in [0, 1, 3] {
        assert!(apart(threads, &contents) == expected, "{threads} threads");
    }
    let reader = ArchiveReader::open(&expected[..]).unwrap();
    let strict = ReadOptions::strict();
    assert!(ArchiveReader::open_with(&expected[..], &strict).is_ok());
    assert_eq!(reader.entries().count(), 8);
}

#[test]
fn what_cannot_be_put_in_apart_is_refused() {
    let mut options = ArchiveOptions::default();
    options.encryption = Some(Encryption::new(Password::new("p")));
    let mut sealed = ArchiveEncoder::new(options).unwrap();
    let entry = EntryOptions::default();
    let refused = sealed.start_external("a", &entry, 5).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Setting);

    let mut encoder = encoder(0);
    assert_eq!(
        encoder.finish_external(0).unwrap_err().kind(),
        ErrorKind::Order
    );
    encoder.start_external("a", &entry, 5).unwrap();
    // Its header was not taken.
    assert_eq!(
        encoder.finish_external(0).unwrap_err().kind(),
        ErrorKind::Order
    );
    assert_eq!(encoder.push(b"x").unwrap_err().kind(), ErrorKind::Order);
    assert_eq!(encoder.finish_entry().unwrap_err().kind(), ErrorKind::Order);
    assert_eq!(
        encoder.abandon_entry().unwrap_err().kind(),
        ErrorKind::Order
    );
    assert_eq!(encoder.finish().unwrap_err().kind(), ErrorKind::Order);
    let bytes = encoder.output().len();
    encoder.consume(bytes);
    let patch = encoder.finish_external(0x0403_0201).unwrap();
    assert_eq!((patch.offset, patch.bytes), (14, [1, 2, 3, 4]));
    let again = encoder.start_external("a", &entry, 5).unwrap_err();
    assert_eq!(again.kind(), ErrorKind::Duplicate);
    assert_eq!(encoder.finish().unwrap().content_bytes, 5);
}

#[test]
fn output_that_is_given_away_is_the_same_as_that_which_is_copied() {
    let fill = |encoder: &mut ArchiveEncoder, take: &mut dyn FnMut(&mut ArchiveEncoder)| {
        for index in 0..20 {
            let name = format!("{index}");
            encoder
                .start_entry(&name, &EntryOptions::default())
                .unwrap();
            encoder.push_all(&content(100_000 * index)).unwrap();
            encoder.finish_entry().unwrap();
            take(encoder);
        }
        encoder.finish().unwrap();
        take(encoder);
    };
    let (mut copied, mut given) = (Vec::new(), Vec::new());
    fill(&mut encoder(0), &mut |encoder| drain(encoder, &mut copied));
    let mut spare = vec![1, 2, 3];
    fill(&mut encoder(0), &mut |encoder| {
        // Some of it was written already.
        let written = encoder.output().len() / 3 * (given.len() % 2);
        given.extend_from_slice(&encoder.output()[..written]);
        encoder.consume(written);
        spare = encoder.take_output(std::mem::take(&mut spare));
        given.extend_from_slice(&spare);
    });
    assert!(copied == given);
}

#[test]
fn a_retracted_entry_leaves_no_trace_however_much_of_it_is_written() {
    let filler = content(300_000);
    let plain = |threads: usize| {
        let (mut encoder, mut archive) = (encoder(threads), Vec::new());
        for name in ["before", "again"] {
            let options = EntryOptions::default();
            encoder.start_entry(name, &options).expect("started");
            encoder.push_all(&filler).expect("packed");
            encoder.finish_entry().expect("packed");
        }
        encoder.finish().expect("packed");
        drain(&mut encoder, &mut archive);
        archive
    };
    let mut large = EntryOptions::default();
    large.size_hint = Some(5 << 20);
    let small = EntryOptions::default();
    for threads in [0, 2] {
        for (options, bytes) in [
            (&large, 3 << 20),
            (&large, 0),
            (&small, 100),
            (&small, 2 << 20),
        ] {
            for (apart, drains) in [(false, false), (false, true), (true, true)] {
                let (mut encoder, mut archive) = (encoder(threads), Vec::new());
                encoder.start_entry("before", &small).expect("started");
                encoder.push_all(&filler).expect("packed");
                encoder.finish_entry().expect("packed");
                if apart {
                    encoder
                        .start_external("again", options, bytes)
                        .expect("started");
                    drain(&mut encoder, &mut archive);
                    archive.resize(archive.len() + bytes as usize / 2, 0);
                } else {
                    encoder.start_entry("again", options).expect("started");
                    for _ in 0..bytes / 100 {
                        encoder.push_all(&[7; 100]).expect("packed");
                        if drains {
                            drain(&mut encoder, &mut archive);
                        }
                    }
                }
                let kept = encoder.retract_entry().expect("taken back");
                archive.truncate(kept as usize);
                assert_eq!(archive.len() as u64, kept);
                encoder.start_entry("again", &small).expect("started");
                encoder.push_all(&filler).expect("packed");
                encoder.finish_entry().expect("packed");
                encoder.finish().expect("packed");
                drain(&mut encoder, &mut archive);
                assert!(
                    archive == plain(threads),
                    "{threads} {bytes} {apart} {drains}"
                );
            }
        }
    }
}

#[test]
fn an_open_entry_says_how_much_its_header_has_room_for() {
    let mut encoder = encoder(0);
    let mut options = EntryOptions::new(Method::Stored);
    encoder.start_entry("any", &options).expect("started");
    assert_eq!(encoder.entry_left(), None);
    encoder.finish_entry().expect("ended");
    options.known = Some(KnownContent::new(2 << 20, 0));
    encoder.start_entry("known", &options).expect("started");
    encoder.push_all(&[0; 100]).expect("packed");
    assert_eq!(encoder.entry_left(), Some((2 << 20) - 100));
    let error = encoder.push_all(&content(2 << 20)).expect_err("too much");
    assert_eq!(error.kind(), ErrorKind::TooLarge);
    assert!(
        encoder.retract_entry().is_err(),
        "a failed archive stays failed"
    );
}
