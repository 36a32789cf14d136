//! Archives that mean harm or are damaged.

use zipstream::ArchiveReader;
#[cfg(unix)]
use zipstream::extract::Links;
use zipstream::extract::{CaseClashes, Existing, ExtractOptions, Reason, Repeats, extract_to};
use zipstream::name::NameFault;
use zipstream::{EntryOptions, Method};

use super::{WAYS, archive, extract, file, names, nested, only, renamed};
use crate::common::sample;

#[test]
fn names_that_lead_elsewhere_are_refused_and_the_rest_is_extracted() {
    for (name, fault) in [
        ("../evil", NameFault::Traversal),
        ("a/../../evil", NameFault::Traversal),
        ("..\\evil", NameFault::Traversal),
        ("/tmp/evil", NameFault::Absolute),
        ("\\evil", NameFault::Absolute),
        ("C:\\evil", NameFault::Drive),
        ("c:evil", NameFault::Drive),
        ("a\0evil", NameFault::Nul),
    ] {
        let placeholder = "q".repeat(name.len());
        let good = archive(&[(&placeholder, file(), b"evil"), ("good", file(), b"good")]);
        let archive = renamed(&good, &placeholder, name);
        for piped in WAYS {
            let (outer, inner) = nested();
            let report = extract(&archive, piped, &inner, &ExtractOptions::default());
            let failed = only(&report);
            assert!(
                matches!(failed.reason, Reason::Name(found) if found == fault),
                "{name:?}: {failed:?}"
            );
            assert_eq!(failed.entry, name);
            assert!(!report.is_complete());
            assert_eq!(names(outer.path()), ["/inner", "/inner/good"], "{name:?}");
        }
    }
}

#[cfg(unix)]
#[test]
fn nothing_is_written_through_a_link_of_the_same_archive_or_one_that_lies_there() {
    for existing in [Existing::Refuse, Existing::Skip, Existing::Overwrite] {
        for piped in WAYS {
            let (outer, inner) = nested();
            let outside = outer.path().join("outside");
            std::fs::create_dir(&outside).unwrap();
            let target = outside.to_str().unwrap().as_bytes();
            let archive = archive(&[
                ("link", EntryOptions::symlink(), target),
                ("link/x", file(), b"evil"),
                ("lying/x", file(), b"evil"),
                ("lying/dir/", EntryOptions::directory(), b""),
            ]);
            std::fs::create_dir(&inner).unwrap();
            std::os::unix::fs::symlink(&outside, inner.join("lying")).unwrap();
            let options = ExtractOptions::default().existing(existing);
            let report = extract(&archive, piped, &inner, &options);
            assert!(report.failed >= 3, "{report:?}");
            assert_eq!(names(&outside), [""; 0]);
            assert!(inner.join("lying").is_symlink(), "{existing:?}");
        }
    }
}

#[cfg(unix)]
#[test]
fn links_lead_inside_or_are_not_made() {
    let link = EntryOptions::symlink;
    let long = "x".repeat(5000);
    let archive = archive(&[
        ("dir/", EntryOptions::directory(), b""),
        ("dir/file", file(), b"content"),
        ("inside", link(), b"dir/file"),
        ("dir/up", link(), b"../dir/file"),
        ("absolute", link(), b"/etc/passwd"),
        ("above", link(), b"../secret"),
        ("dir/above", link(), b"../../secret"),
        ("around", link(), b"dir/../../secret"),
        ("long", link(), long.as_bytes()),
    ]);
    for piped in WAYS {
        let (_outer, inner) = nested();
        let report = extract(&archive, piped, &inner, &ExtractOptions::default());
        assert_eq!(report.failed, 5, "{report:?}");
        for failed in &report.failures {
            assert!(matches!(failed.reason, Reason::Link(_)), "{failed:?}");
        }
        let expected = ["/dir", "/dir/file", "/dir/up", "/inside"];
        assert_eq!(names(&inner), expected);
        assert_eq!(std::fs::read(inner.join("dir/up")).unwrap(), b"content");

        for (links, skipped, failed) in [(Links::Skip, 7, 0), (Links::Refuse, 0, 7)] {
            let (_outer, inner) = nested();
            let options = ExtractOptions::default().links(links);
            let report = extract(&archive, piped, &inner, &options);
            assert_eq!((report.links_skipped, report.failed), (skipped, failed));
            assert_eq!(names(&inner), ["/dir", "/dir/file"]);
        }
    }
}

#[test]
fn one_path_is_given_to_one_entry() {
    let alike = archive(&[("Readme", file(), b"first"), ("README", file(), b"second")]);
    for piped in WAYS {
        let (_outer, inner) = nested();
        let options = ExtractOptions::default().case_clashes(CaseClashes::Refuse);
        let report = extract(&alike, piped, &inner, &options);
        assert!(matches!(only(&report).reason, Reason::CaseClash));
        assert_eq!(std::fs::read(inner.join("Readme")).unwrap(), b"first");

        let (_outer, inner) = nested();
        let report = extract(&alike, piped, &inner, &ExtractOptions::default());
        assert_eq!(report.case_clashes, 1);
        if cfg!(target_os = "linux") {
            assert!(report.is_complete());
            assert_eq!(names(&inner), ["/README", "/Readme"]);
        }
    }
}

#[test]
fn of_several_entries_of_one_path_one_becomes_a_file() {
    let large = vec![b'x'; 3 << 20];
    let link = EntryOptions::symlink();
    let several = archive(&[
        ("same0", file(), b"first"),
        ("other", file(), b"other"),
        ("same1", file(), &large),
        ("link0", link, b"other"),
        ("same2", file(), b"third"),
        ("link1", file(), b"no link"),
    ]);
    let several = ["same1", "same2"]
        .iter()
        .fold(several, |archive, name| renamed(&archive, name, "same0"));
    let several = renamed(&several, "link1", "link0");
    for piped in WAYS {
        for (repeats, existing, same, count, failed) in [
            (Repeats::Last, Existing::Refuse, &b"third"[..], 3, 0),
            (Repeats::Last, Existing::Overwrite, b"third", 3, 0),
            (Repeats::First, Existing::Refuse, b"first", 3, 0),
            (Repeats::First, Existing::Overwrite, b"first", 3, 0),
            (Repeats::Last, Existing::Skip, b"first", 3, 0),
            (Repeats::Refuse, Existing::Overwrite, b"first", 0, 3),
        ] {
            let (_outer, inner) = nested();
            let options = ExtractOptions::default().repeats(repeats);
            let report = extract(&several, piped, &inner, &options.existing(existing));
            let case = format!("{repeats:?} {existing:?} {piped:?} {report:?}");
            assert_eq!(std::fs::read(inner.join("same0")).unwrap(), same, "{case}");
            let is_link = inner.join("link0").is_symlink();
            assert_eq!(is_link, same == b"first", "{case}");
            assert_eq!(names(&inner), ["/link0", "/other", "/same0"], "{case}");
            assert_eq!(report.failed, failed, "{case}");
            // In a pipe, what exists is kept, whoever made it.
            let counted = report.repeats + report.kept;
            assert_eq!(counted, count, "{case}");
            assert_eq!(report.entries, 3, "{case}");
        }
        // What was there before is not taken for an earlier entry.
        let (_outer, inner) = nested();
        std::fs::create_dir(&inner).unwrap();
        std::fs::write(inner.join("same0"), "mine").unwrap();
        let report = extract(&several, piped, &inner, &ExtractOptions::default());
        assert_eq!(std::fs::read(inner.join("same0")).unwrap(), b"mine");
        assert!(report.failed > 0, "{report:?}");
    }
}

#[test]
fn a_damaged_last_entry_does_not_take_the_place_of_others_that_are_extracted() {
    let stored = EntryOptions::new(Method::Stored);
    let two = archive(&[("same0", stored, b"first"), ("same1", stored, b"second")]);
    let mut two = renamed(&two, "same1", "same0");
    let at = two.windows(6).position(|bytes| bytes == b"second").unwrap();
    two[at] ^= 1;
    for (piped, kept) in [(WAYS[0], None), (WAYS[1], Some(&b"first"[..]))] {
        let (_outer, inner) = nested();
        let report = extract(&two, piped, &inner, &ExtractOptions::default());
        assert!(matches!(only(&report).reason, Reason::Archive(_)));
        let there = std::fs::read(inner.join("same0")).ok();
        assert_eq!(there.as_deref(), kept, "{piped:?}");
    }
}

#[test]
fn entries_of_one_name_are_told_apart_by_their_records() {
    let two = archive(&[("same0", file(), b"first"), ("same1", file(), b"second")]);
    let two = renamed(&two, "same1", "same0");
    let reader = ArchiveReader::open(&two[..]).unwrap();
    for (bytes, content) in [(5, &b"first"[..]), (6, b"second")] {
        let (_outer, inner) = nested();
        let options = ExtractOptions::new().filter_entries(|entry| entry.content_bytes() == bytes);
        let report = extract_to(&reader, &inner, &options).unwrap();
        assert_eq!((report.entries, report.repeats), (1, 0));
        assert_eq!(std::fs::read(inner.join("same0")).unwrap(), content);
    }
}

#[test]
fn a_damaged_entry_has_no_name_and_leaves_nothing() {
    // Of one piece, and of many.
    for bytes in [1000, 3 << 20] {
        let content = sample(7, bytes);
        for method in [Method::Stored, Method::Deflate] {
            let options = EntryOptions::new(method);
            let mut archive = archive(&[
                ("before", file(), b"1"),
                ("dir/damaged", options, &content),
                ("dir/after", file(), b"2"),
            ]);
            // In the middle of what is damaged.
            let whole = ArchiveReader::open(&archive[..]).unwrap();
            let entry = whole.find("dir/damaged").unwrap().unwrap();
            let middle = entry.offset() + 30 + entry.compressed_bytes() * 9 / 10;
            archive[usize::try_from(middle).unwrap()] ^= 0x20;
            for piped in WAYS {
                for existing in [Existing::Refuse, Existing::Overwrite] {
                    let (_outer, inner) = nested();
                    let options = ExtractOptions::default().existing(existing);
                    let report = extract(&archive, piped, &inner, &options);
                    let failed = only(&report);
                    assert_eq!(failed.entry, "dir/damaged");
                    assert!(matches!(failed.reason, Reason::Archive(_)), "{failed:?}");
                    assert!(!names(&inner).contains(&"/dir/damaged".to_owned()));
                    let parts = names(&inner)
                        .iter()
                        .filter(|name| name.contains(".part"))
                        .count();
                    assert_eq!(parts, 0);
                    assert_eq!(std::fs::read(inner.join("before")).unwrap(), b"1");
                    if !piped {
                        assert_eq!(names(&inner), ["/before", "/dir", "/dir/after"]);
                    }
                }
            }
            // A file that is there keeps its content.
            let (_outer, inner) = nested();
            std::fs::create_dir_all(inner.join("dir")).unwrap();
            std::fs::write(inner.join("dir/damaged"), "old").unwrap();
            let options = ExtractOptions::default().existing(Existing::Overwrite);
            extract(&archive, false, &inner, &options);
            assert_eq!(std::fs::read(inner.join("dir/damaged")).unwrap(), b"old");
        }
    }
}

#[cfg(unix)]
#[test]
fn the_archive_that_is_read_is_not_replaced_by_an_entry() {
    let (_outer, inner) = nested();
    std::fs::create_dir(&inner).unwrap();
    let path = inner.join("a.zip");
    let bytes = archive(&[("a.zip", file(), b"evil"), ("b", file(), b"good")]);
    std::fs::write(&path, &bytes).unwrap();
    let options = ExtractOptions::default()
        .existing(Existing::Overwrite)
        .protect(&path);
    let report = extract(&bytes, false, &inner, &options);
    assert_eq!(only(&report).entry, "a.zip");
    assert_eq!(std::fs::read(&path).unwrap(), bytes);
}
