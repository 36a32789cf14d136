//! What is there afterwards, whatever way it was read.

use zipstream::extract::{
    Destination, Existing, ExtractOptions, Reason, extract_into, extract_pipe_into,
};
use zipstream::{
    ArchiveOptions, ArchiveReader, ArchiveWriter, EntryOptions, Method, PipeReader, ReadOptions,
};

#[cfg(unix)]
use super::{MODIFIED, Node};
use super::{WAYS, archive, extract, file, names, nested, only, tree};
use crate::common::sample;

#[test]
fn files_that_exist_are_refused_kept_or_replaced() {
    let large = sample(3, 2 << 20);
    let archive = archive(&[("small", file(), b"new"), ("large", file(), &large)]);
    for piped in WAYS {
        for (existing, failed, kept, replaced) in [
            (Existing::Refuse, 2, 0, false),
            (Existing::Skip, 0, 2, false),
            (Existing::Overwrite, 0, 0, true),
        ] {
            let (_outer, inner) = nested();
            std::fs::create_dir(&inner).unwrap();
            for name in ["small", "large"] {
                std::fs::write(inner.join(name), "old").unwrap();
            }
            let options = ExtractOptions::default().existing(existing);
            let report = extract(&archive, piped, &inner, &options);
            assert_eq!((report.failed, report.kept), (failed, kept), "{existing:?}");
            for failed in &report.failures {
                assert!(matches!(failed.reason, Reason::Exists));
            }
            let small = std::fs::read(inner.join("small")).unwrap();
            let expected: &[u8] = if replaced { b"new" } else { b"old" };
            assert_eq!(small, expected);
            let found = std::fs::read(inner.join("large")).unwrap();
            assert!(found == if replaced { &large[..] } else { b"old" });
            assert_eq!(names(&inner), ["/large", "/small"]);
        }
    }
}

/// Many entries of every kind.
fn many() -> Vec<u8> {
    let large = sample(1, (2 << 20) + 5);
    let small: Vec<(String, Vec<u8>)> = (0..300_u32)
        .map(|at| {
            (
                format!("d{}/e{}/f{at}", at % 7, at % 3),
                sample(at, at as usize * 10),
            )
        })
        .collect();
    let mut entries: Vec<(&str, EntryOptions, &[u8])> = vec![
        ("d1/", EntryOptions::directory().mode(0o750), b""),
        ("d1/e1/", EntryOptions::directory().mode(0o555), b""),
        (
            "large",
            EntryOptions::new(Method::Stored).mode(0o640),
            &large,
        ),
        ("run.sh", file().mode(0o4755), b"#!/bin/sh\n"),
        ("empty", file().mode(0o444), b""),
    ];
    if cfg!(unix) {
        entries.push(("d2/link", EntryOptions::symlink(), b"../large"));
    }
    for (at, (name, content)) in small.iter().enumerate() {
        let mode = if at % 2 == 0 { 0o644 } else { 0o600 };
        entries.push((name, file().mode(mode), content));
    }
    archive(&entries)
}

#[test]
fn every_number_of_threads_and_a_pipe_give_the_same_tree() {
    let archive = many();
    let whole = ArchiveReader::open(&archive[..]).unwrap();
    let mut trees = Vec::new();
    for (piped, threads) in [(false, 1), (false, 4), (true, 1)] {
        let (outer, inner) = nested();
        let options = ExtractOptions::default().threads(threads);
        let report = extract(&archive, piped, &inner, &options);
        assert!(report.is_complete(), "{report:?}");
        assert_eq!(report.entries, whole.len());
        trees.push(tree(&inner));
        // So that the directory can be removed.
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let open = std::fs::Permissions::from_mode(0o755);
            std::fs::set_permissions(inner.join("d1/e1"), open).unwrap();
        }
        drop(outer);
    }
    assert!(trees[0] == trees[1], "1 and 4 threads");
    assert!(trees[0] == trees[2], "file and pipe");
    #[cfg(unix)]
    {
        assert_eq!(trees[0]["/d1"], Node::Directory(0o750, MODIFIED));
        assert_eq!(trees[0]["/d1/e1"], Node::Directory(0o555, MODIFIED));
        let run = Node::File(b"#!/bin/sh\n".to_vec(), 0o755, MODIFIED);
        assert_eq!(trees[0]["/run.sh"], run, "without set-user-ID");
        assert_eq!(
            trees[0]["/d2/link"],
            Node::Link("../large".to_owned(), MODIFIED)
        );
    }
}

#[cfg(unix)]
#[test]
fn local_times_are_of_the_zone_that_is_asked_for() {
    let fixed = 1_000_000_000;
    let mut options = ArchiveOptions::default();
    // Only the old fields have a time then, which has no zone.
    options.reproducible = Some(fixed);
    let mut writer = ArchiveWriter::with_options(Vec::new(), options).unwrap();
    for (name, options) in [
        ("dir/", EntryOptions::directory()),
        ("dir/file", file()),
        ("link", EntryOptions::symlink()),
    ] {
        writer.add(name, &options, &mut &b"dir/file"[..]).unwrap();
    }
    let (archive, _) = writer.finish().unwrap();
    let options = ExtractOptions::default().local_times(|local| local + 7_200);
    for piped in WAYS {
        let (_outer, inner) = nested();
        let report = extract(&archive, piped, &inner, &options);
        assert!(report.is_complete(), "{report:?}");
        for name in ["dir", "dir/file", "link"] {
            use std::os::unix::fs::MetadataExt as _;
            let metadata = std::fs::symlink_metadata(inner.join(name)).unwrap();
            assert_eq!(metadata.mtime(), fixed + 7_200, "{name} {piped}");
        }
    }
}

#[cfg(unix)]
#[test]
fn times_beyond_32_bits_are_kept() {
    use std::os::unix::fs::MetadataExt as _;

    // From 1906 to 2286, which the file systems of today have.
    for modified in [-2_000_000_000, -1, 0, 4_102_444_800, 10_000_000_000] {
        let mut writer = ArchiveWriter::new(Vec::new());
        let options = file().modified(modified);
        writer.add("file", &options, &mut &b"x"[..]).unwrap();
        let (archive, _) = writer.finish().unwrap();
        for piped in WAYS {
            let (_outer, inner) = nested();
            extract(&archive, piped, &inner, &ExtractOptions::default());
            let metadata = std::fs::metadata(inner.join("file")).unwrap();
            assert_eq!(metadata.mtime(), modified);
        }
    }
}

#[cfg(unix)]
#[test]
fn modes_and_times_may_be_left_to_the_system() {
    use std::os::unix::fs::PermissionsExt as _;

    let archive = archive(&[
        ("dir/", EntryOptions::directory().mode(0o700), b""),
        ("dir/file", file().mode(0o700), b"content"),
    ]);
    for piped in WAYS {
        let (outer, inner) = nested();
        let plain = outer.path().join("plain");
        std::fs::write(&plain, "").unwrap();
        let expected = plain.metadata().unwrap().permissions().mode();
        let options = ExtractOptions::default().modes(false).times(false);
        let report = extract(&archive, piped, &inner, &options);
        assert!(report.is_complete());
        let found = inner.join("dir/file").metadata().unwrap();
        assert_eq!(found.permissions().mode(), expected);
        for node in tree(&inner).values() {
            let (Node::File(_, mode, modified) | Node::Directory(mode, modified)) = node else {
                panic!("{node:?}");
            };
            assert!(*mode != 0o700 && *modified != MODIFIED, "{node:?}");
        }

        // A file without a stated mode is no more readable than the archive.
        std::fs::set_permissions(&plain, std::fs::Permissions::from_mode(0o600)).unwrap();
        let (_outer, inner) = nested();
        let options = ExtractOptions::default().modes(false);
        let options = options.readable_as(&plain.metadata().unwrap());
        extract(&archive, piped, &inner, &options);
        let found = inner.join("dir/file").metadata().unwrap();
        assert_eq!(found.permissions().mode() & 0o777, 0o600);
    }
}

#[test]
fn contents_go_to_a_writer_in_order_or_are_verified() {
    let mut archive = many();
    let reader = ArchiveReader::open(&archive[..]).unwrap();
    let options = ExtractOptions::default().filter(|name| !name.ends_with('/'));
    let mut printed = Vec::new();
    let report = extract_into(&reader, Destination::Writer(&mut printed), &options).unwrap();
    assert!(report.is_complete());
    let mut piped = Vec::new();
    let mut pipe = PipeReader::new(&archive[..], &ReadOptions::default());
    extract_pipe_into(&mut pipe, Destination::Writer(&mut piped), &options).unwrap();
    assert!(printed == piped);
    assert_eq!(printed.len() as u64, report.content_bytes);

    let report = extract_into(&reader, Destination::Nowhere, &options).unwrap();
    assert!(report.is_complete());
    let entry = reader.find("large").unwrap().unwrap();
    let at = usize::try_from(entry.offset()).unwrap() + 100;
    archive[at] ^= 1;
    let reader = ArchiveReader::open(&archive[..]).unwrap();
    let report = extract_into(&reader, Destination::Nowhere, &options).unwrap();
    assert_eq!(only(&report).entry, "large");
}

#[cfg(unix)]
#[test]
fn owners_are_those_of_the_archive_on_request_only() {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

    use zipstream::EntryOwner;
    use zipstream::extract::extract_to;
    let directory = tempfile::tempdir().unwrap();
    let own = std::fs::metadata(directory.path()).unwrap();
    let (user, group) = match own.uid() {
        // Only the superuser may give files away.
        0 => (12_345, 54_321),
        user => (user, own.gid()),
    };
    let large = sample(3, 2 << 20);
    let owned = |options: EntryOptions| options.owner(EntryOwner::new(user, group));
    let archive = archive(&[
        ("d/", owned(EntryOptions::directory()), b""),
        ("d/small", owned(file()).mode(0o750), b"small"),
        ("d/large", owned(file()), &large),
    ]);
    let reader = ArchiveReader::open(&archive[..]).unwrap();
    for (asked, expected) in [(false, (own.uid(), own.gid())), (true, (user, group))] {
        let target = directory.path().join(asked.to_string());
        let options = ExtractOptions::default().owners(asked);
        assert!(
            extract_to(&reader, &target, &options)
                .unwrap()
                .is_complete()
        );
        for name in ["d", "d/small", "d/large"] {
            let found = std::fs::metadata(target.join(name)).unwrap();
            assert_eq!((found.uid(), found.gid()), expected, "{name}");
        }
        let mode = std::fs::metadata(target.join("d/small"))
            .unwrap()
            .permissions();
        assert_eq!(mode.mode() & 0o700, 0o700);
    }
}

/// Systems without modes say no more than that a file is read-only.
#[cfg(unix)]
#[test]
fn files_that_dos_marks_as_read_only_are_not_written_to() {
    use std::os::unix::fs::PermissionsExt as _;
    let entries = [
        ("dir/", EntryOptions::directory(), &b""[..]),
        ("marked", file(), b"1"),
        ("plain", file(), b"2"),
    ];
    let mut bytes = archive(&entries);
    let records = bytes.windows(4).enumerate();
    let records: Vec<usize> = records
        .filter_map(|(at, four)| (four == b"PK\x01\x02").then_some(at))
        .collect();
    for (record, attributes) in records.into_iter().zip([0x11_u32, 0x21, 0x20]) {
        bytes[record + 5] = 0;
        bytes[record + 38..record + 42].copy_from_slice(&attributes.to_le_bytes());
    }
    for piped in WAYS {
        let (_outer, inner) = nested();
        let report = extract(&bytes, piped, &inner, &ExtractOptions::default());
        assert!(report.is_complete(), "{report:?}");
        let writes = |name: &str| {
            let found = inner.join(name).metadata().unwrap();
            found.permissions().mode() & 0o222 != 0
        };
        assert_eq!(["marked", "plain", "dir"].map(writes), [false, true, true]);
    }
}
