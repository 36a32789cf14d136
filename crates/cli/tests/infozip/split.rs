//! Split archives: ours read by others, those of others by us.

use std::path::Path;

use zipstream::combine::{Parts, part_path};
use zipstream::{Limits, ReadAt as _};

use super::made_by;

/// What Info-ZIP splits, and does not read itself.
pub(super) fn split_archives_are_read_and_joined() {
    let (_dir, run) = made_by(
        "seq 1 60000 > large; printf 'small\\n' > small; zip -q0s 64k parts.zip large small && \
         zip -qs 64k -9 alone.zip small && ls parts.z05",
    );
    for (line, code) in [
        ("bin/unzip -tq parts.zip", 0),
        ("bin/unzip -p parts.zip large | cmp - large", 0),
        (
            "bin/unzip -qo parts.zip -d new && cmp large new/large && cmp small new/small",
            0,
        ),
        ("bin/zipinfo -v parts.zip | grep -c 'split archive'", 0),
        (
            "bin/zip -qs 0 parts.zip -O joined.zip && unzip -tq joined.zip && bin/unzip -tq joined.zip",
            0,
        ),
        ("$PERFKIT unzip -t --strict joined.zip", 0),
        (
            "bin/zip -qFF parts.zip -O whole.zip && unzip -tq whole.zip && unzip -Z1 whole.zip | grep large",
            0,
        ),
        ("bin/unzip -tq alone.zip", 0),
        ("bin/unzip -tq parts.z01", 9),
        (
            "$PERFKIT unzip -t parts.zip && $PERFKIT unzip -l parts.zip",
            0,
        ),
        ("$PERFKIT unzip -p parts.zip large | cmp - large", 0),
        ("$PERFKIT unzip -t --strict parts.zip", 1),
        ("$PERFKIT unzip -t --strict alone.zip", 1),
        ("mv parts.z03 away && bin/unzip -l parts.zip", 9),
        ("$PERFKIT unzip -t parts.zip # away", 1),
        ("bin/zip -s 0 parts.zip -O other.zip", 18),
    ] {
        let ended = run(&line.replace("$PERFKIT", env!("CARGO_BIN_EXE_perfkit")));
        assert_eq!(ended.code, Some(code), "{line}: {}", ended.stderr);
        if line.contains("away") {
            assert!(ended.stderr.contains("parts.z03"), "{}", ended.stderr);
        }
    }
}

/// Parts that we write, by Info-ZIP's `zip`, which joins them, and by 7-Zip, which reads them.
pub(super) fn what_is_split_is_read_by_others() {
    let (_dir, run) = made_by(
        "mkdir d; seq 1 90000 > d/large; seq 1 9 > d/small; for n in $(seq 1 2000); do echo $n > d/$n; done; \
         head -c 3000000 /dev/urandom > noise; \
         for n in 1 2 3 4 5 6; do cp noise noise$n; done; mkdir kept; cp -r d noise* kept",
    );
    for (line, parts) in [
        ("bin/zip -0qrs 400k a.zip d/large d/small", 2),
        ("bin/zip -0qrs 64k a.zip d", 13),
        ("bin/zip -qrs 100k -P secret a.zip d noise", 35),
        (
            "bin/zip -qs 1m b.zip noise && bin/zip -qs 64k b.zip -O a.zip",
            46,
        ),
        // More than are held open at once.
        ("bin/zip -0qs 64k a.zip noise?", 275),
    ] {
        let ended = run(&format!("rm -f a.z*; {line}"));
        assert_eq!(ended.code, Some(0), "{line}: {}", ended.stderr);
        let count = run("ls a.z* | wc -l").stdout;
        let count = String::from_utf8_lossy(&count).trim().to_owned();
        assert_eq!(count, parts.to_string(), "{line}");
        for check in [
            "7zz t -psecret a.zip > log",
            // Info-ZIP loses what goes on in a third part, also of archives that it has split itself.
            "test -e a.z02 || { zip -qs 0 a.zip -O whole.zip && bin/unzip -tqP secret whole.zip && rm whole.zip; }",
            "bin/unzip -tqP secret a.zip",
            "rm -rf new && bin/unzip -qoP secret a.zip -d new",
            "(cd new && find . -type f -exec cksum {} +) > sums && test -s sums",
            "(cd new && find . -type f -print0) | (cd kept && xargs -0 cksum) | cmp - sums",
        ] {
            let ended = run(check);
            let log = String::from_utf8_lossy(&ended.stdout).into_owned();
            assert_eq!(
                ended.code,
                Some(0),
                "{line}: {check}: {}{log}",
                ended.stderr
            );
        }
    }
}

/// Of another archive, the parts that are too many go.
pub(super) fn what_is_written_over_is_never_a_file_that_is_packed() {
    let (_dir, run) = made_by("seq 1 60000 > large; seq 1 9 > small; cp large a.z02");
    for (line, code) in [
        ("bin/zip -0s 64k a.zip large a.z02", 16),
        ("cmp large a.z02 && ! test -e a.zip && ! test -e a.z01", 0),
        ("rm a.z02 && bin/zip -0qs 64k a.zip large && ls a.z05", 0),
        (
            "bin/zip -0qs 64k b.zip large && bin/zip -qs 128k b.zip -O a.zip && ls a.z02",
            0,
        ),
        (
            "! test -e a.z03 && ! test -e a.z05 && bin/unzip -tq a.zip",
            0,
        ),
        (
            "bin/zip -qs 64k a.zip -O a.zip && ls a.z05 && bin/unzip -tq a.zip",
            0,
        ),
    ] {
        let ended = run(line);
        assert_eq!(ended.code, Some(code), "{line}: {}", ended.stderr);
        // Nothing is added where all is refused.
        let said = String::from_utf8_lossy(&ended.stdout);
        assert!(code == 0 || !said.contains("adding"), "{line}: {said}");
    }
}

/// Whether a file is a part of a split archive, and not the last one.
pub(super) fn is_part(path: &Path) -> bool {
    let suffix = path.extension().and_then(|suffix| suffix.to_str());
    let number = suffix.and_then(|suffix| suffix.strip_prefix('z'));
    number.is_some_and(|number| number.parse::<u32>().is_ok())
}

/// The bytes of the whole archive whose last part is at `path`.
pub(super) fn joined(path: &Path, last: &[u8]) -> Vec<u8> {
    let count = Parts::count(&last).expect("parts");
    let parts = (1..count).map(|number| std::fs::read(part_path(path, number)).expect("a part"));
    let parts = parts.chain([last.to_vec()]).collect();
    let whole = Parts::join(parts, &Limits::default()).expect("joined");
    let mut bytes = vec![0; whole.size().expect("a size") as usize];
    let mut at = 0;
    while at < bytes.len() {
        at += whole.read_at(&mut bytes[at..], at as u64).expect("read");
    }
    bytes
}
