//! Under the names of Info-ZIP's programs the binary does what those do: the same command lines leave the
//! same files, entries, contents, times and modes, and end with the same exit codes. Each line runs with
//! the real programs and with ours, on copies of one tree.

use std::collections::BTreeMap;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::Command;

use libtest_mimic::Trial;
use zipstream::combine::Parts;
use zipstream::{
    ArchiveOptions, ArchiveReader, ArchiveWriter, Decryption, EntryKind, EntryOptions, Method,
    Password,
};

use crate::common::{Run, directory, feed, link_as};
use crate::peer::{self, works};

mod lines;
mod places;
mod split;

use places::{
    damage_costs_no_more_than_with_unzip, what_is_in_the_place_of_a_file_counts_as_with_unzip,
};
use split::{
    is_part, joined, split_archives_are_read_and_joined, what_is_split_is_read_by_others,
    what_is_written_over_is_never_a_file_that_is_packed,
};

/// The tests, each with whether what it needs is here.
pub(crate) fn trials() -> Vec<Trial> {
    let has = |program: &str| works(Command::new(program).arg("-v"));
    peer::trials![
        has("zip") && has("unzip") => [
            zip_lines_do_what_they_do_with_zip,
            unzip_lines_do_what_they_do_with_unzip,
            zipinfo_lines_do_what_they_do_with_zipinfo,
            split_archives_are_read_and_joined,
            what_is_written_over_is_never_a_file_that_is_packed,
            an_entry_goes_only_with_its_file,
            names_that_are_no_utf8_are_those_of_info_zip,
            pages_state_what_those_of_zipinfo_state,
            what_is_intact_is_recovered_and_what_is_lost_said,
            logs_say_what_was_asked_and_what_went_wrong,
            what_is_in_the_place_of_a_file_counts_as_with_unzip,
            damage_costs_no_more_than_with_unzip,
        ],
        has("zip") && works(Command::new("7zz").arg("i")) => [what_is_split_is_read_by_others],
        has("zipinfo") => [attributes_are_shown_as_zipinfo_shows_them],
        can_mount() => [a_full_disk_ends_an_extraction_at_once],
        true => [there_are_enough_lines, no_listing_steers_a_terminal],
    ]
}

/// Makes the tree that every line starts from. Archives are made by the real programs.
const TREE: &str = r#"
set -e
umask 022
mkdir -p src/sub/deep other/src out/src
printf 'old text\n' > src/a
seq 1 500 > src/b.txt
printf 'int main;\n' > src/sub/c.c
printf '#define D\n' > src/sub/deep/d.h
printf 'to be gone\n' > src/gone
: > src/empty
printf '#!/bin/sh\n' > src/run.sh
printf 'key\n' > src/private
printf 'other\n' > other/src/a
ln -s a src/link
chmod 755 src/run.sh; chmod 600 src/private; chmod 664 src/b.txt
find src other -exec touch -h -d '2020-01-02 03:04:06' {} +
zip -qry held.zip src
printf 'about this archive\n' | zip -qz held.zip > /dev/null
zip -qj flat.zip src/a src/b.txt src/sub/c.c
zip -qP secret sealed.zip src/a src/b.txt
zip -qrP secret locked.zip src/sub
zip -qr names.zip src/sub
mkdir -p links dirs/d
printf 'what it leads to\n' > links/real
ln -s real links/lnk; ln -s fresh-one links/fresh
printf 'old\n' > links/fresh-one
printf 'in it\n' > dirs/d/f
find links dirs -exec touch -h -d '2020-01-02 03:04:06' {} +
zip -qyr links.zip links
zip -qr dirs.zip dirs
cp held.zip tail.zip; printf 'what follows the archive' >> tail.zip
cp src/a 'd#f.txt'; zip -qk dos.zip 'd#f.txt'; rm 'd#f.txt'
LC_ALL=C sed 's/D#F/D\\F/g' dos.zip > slashed.zip; mv slashed.zip dos.zip
printf '1234' > four; zip -q9X tiny.zip four src/b.txt; rm four
touch -d '2020-01-02 03:04:06' tiny.zip
printf 'int other;\n' > src/sub/c.c; touch -d '2020-01-02 03:04:06' src/sub/c.c
zip -q sized.zip src/sub/c.c
printf 'int main;\n' > src/sub/c.c
touch -d '2020-01-02 03:04:06' src/sub/c.c links dirs dirs/d
printf 'new, by far\n' > links/fresh-one; touch -d '2021-05-06 07:08:10' links/fresh-one
chmod 700 dirs/d; touch -d '2021-05-06 07:08:10' dirs/d
touch -d '2020-01-02 03:04:06' src src/sub src/sub/deep links
printf 'not an archive\n' > junk.zip
head -c 300 held.zip > cut.zip
: > zero.zip
mkdir many; cp held.zip many/cp1.zip; cp flat.zip many/cp2.zip; cp junk.zip many/junk.zip; mkdir many/cpd.zip
printf 'the first\n' > dup1; printf 'the second, longer\n' > dup2; zip -q dup.zip dup1 dup2
LC_ALL=C sed 's/dup2/dup1/g' dup.zip > other.zip; mv other.zip dup.zip; rm dup1 dup2
mkdir d1 d2; printf 'one\n' > d1/f; printf 'two\n' > d2/f; zip -qr alike.zip d1 d2; rm -r d1 d2
printf 'abs\n' > Xabs; printf 'kept\n' > kept; zip -q abs.zip Xabs kept; rm Xabs kept
LC_ALL=C sed 's,Xabs,/abs,g' abs.zip > other.zip; mv other.zip abs.zip
printf 'ro\n' > RO.TXT; chmod 444 RO.TXT; printf 'rw\n' > RW.TXT; zip -qk ro.zip RO.TXT RW.TXT; rm -f RO.TXT RW.TXT
odd=$(printf 'e\033[1mc\001x'); printf 'odd\n' > "$odd"; printf 'odd\n' > "$(printf 'tab\tx')"
zip -q odd.zip e*x tab*; printf 'all\033[31m red\n' | zip -qz odd.zip > /dev/null; rm e*x tab*
zip -q noted.zip src/b.txt src/gone; printf 'of b\nof \033[1mgone\n' | zip -qc noted.zip > /dev/null
printf 'a\r\nb\r\n' > crlf; printf 'a\rb\rc' > cr; printf 'a\r\r\nb\n\r\032' > mixed; printf 'a\r\n\000\001b\r\n' > bin
zip -q text.zip crlf cr mixed bin; rm crlf cr mixed bin
cp src/run.sh special; chmod 6755 special; mkdir sticky; chmod 1777 sticky; zip -q special.zip special sticky; rm -r special sticky
printf 'up\n' > QQQup; printf 'in\n' > in; mkdir QQQ; printf 'over\n' > QQQ/x; zip -q up.zip QQQup in QQQ/x
LC_ALL=C sed 's,QQQup,../up,g; s,QQQ/x,../ox,g' up.zip > other.zip; mv other.zip up.zip; rm -r QQQup in QQQ
printf '1\n' > one1; printf '22\n' > one2; printf '333\n' > one3; zip -q three.zip one1 one2 one3
LC_ALL=C sed 's/one[23]/one1/g' three.zip > other.zip; mv other.zip three.zip; rm one1 one2 one3
seq 1 13000 > large; zip -q0s 64k split.zip large src/a; seq 1 30000 > large
head -c -22 flat.zip > noend.zip; { printf 'before it\n'; cat held.zip; } > pre.zip
find many large *.zip split.z01 -exec touch -h -d '2020-01-02 03:04:06' {} +
printf 'new text, longer\n' > src/a
printf 'new file\n' > src/new
rm src/gone
touch -d '2021-05-06 07:08:10' src/a src/new
printf 'older\n' > out/src/a; touch -d '2019-01-01' out/src/a
printf 'newer\n' > out/src/b.txt; touch -d '2022-01-01' out/src/b.txt
printf 'src/a\nsrc/sub/c.c\n' > list
printf 'src/a\nmissing\n' > bad-list
printf '*.c\n*.h\n' > patterns
touch -d '2020-01-02 03:04:06' src *.zip list bad-list patterns out out/src
"#;

fn there_are_enough_lines() {
    let lines = lines::ZIP.len() + lines::UNZIP.len() + lines::ZIPINFO.len();
    assert!(lines >= 120, "{lines}");
}

fn zip_lines_do_what_they_do_with_zip() {
    compare(&lines::ZIP);
}

fn unzip_lines_do_what_they_do_with_unzip() {
    compare(&lines::UNZIP);
}

fn zipinfo_lines_do_what_they_do_with_zipinfo() {
    compare(&lines::ZIPINFO);
}

/// One archive with attributes of all kinds, made by all systems but three that nobody has: Amiga, VMS and
/// THEOS.
fn attributes_are_shown_as_zipinfo_shows_them() {
    const ATTRIBUTES: [u32; 24] = [
        0,
        0x01,
        0x08,
        0x10,
        0x11,
        0x20,
        0x26,
        0x27,
        0o100_644 << 16,
        0o100_755 << 16 | 1,
        0o100_700 << 16 | 0x20,
        0o100_400 << 16 | 1,
        0o103_640 << 16,
        0o040_755 << 16 | 0x10,
        0o107_777 << 16,
        0o106_666 << 16,
        0o120_777 << 16,
        0o000_644 << 16,
        0o007_777 << 16,
        0o010_644 << 16,
        0o020_600 << 16,
        0o060_600 << 16,
        0o140_600 << 16,
        0o100_600 << 16,
    ];
    let mut writer = ArchiveWriter::new(Vec::new());
    let mut wanted = Vec::new();
    for system in (0..20_u8).filter(|system| ![1, 2, 18].contains(system)) {
        for attributes in ATTRIBUTES {
            for name in ["f", "p.exe", "d/", "x.BATch"] {
                let name = format!("{system}/{attributes:x}/{name}");
                let options = match name.ends_with('/') {
                    true => EntryOptions::directory(),
                    false => EntryOptions::default(),
                };
                let added = writer.add(&name, &options, &mut &b""[..]);
                added.expect("added");
                wanted.push((system, attributes));
            }
        }
    }
    let (mut archive, _) = writer.finish().expect("finished");
    let records = archive.windows(4).enumerate();
    let records = records.filter(|(_, bytes)| *bytes == b"PK\x01\x02");
    let records: Vec<usize> = records.map(|(at, _)| at).collect();
    assert_eq!(records.len(), wanted.len());
    for (at, (system, attributes)) in records.into_iter().zip(wanted) {
        archive[at + 5] = system;
        archive[at + 38..at + 42].copy_from_slice(&attributes.to_le_bytes());
    }
    let dir = directory();
    std::fs::write(dir.path().join("a.zip"), archive).expect("written");
    let own = link_as(dir.path(), "zipinfo");
    let shown = |program: &Path| {
        let mut run = Command::new(program);
        run.arg("a.zip").current_dir(dir.path()).env("TZ", "UTC");
        String::from_utf8_lossy(&feed(run, b"").stdout).into_owned()
    };
    let (ours, theirs) = (shown(&own), shown(Path::new("zipinfo")));
    let differs = ours.lines().zip(theirs.lines());
    let differs: Vec<_> = differs.filter(|(our, their)| our != their).collect();
    assert_eq!(differs, []);
    assert_eq!(ours.lines().count(), theirs.lines().count());
}

/// A directory with the names of the programs in `bin`, and what `script` makes; runs command lines in it by us.
fn made_by(script: &str) -> (tempfile::TempDir, impl Fn(&str) -> Run) {
    let dir = directory();
    std::fs::create_dir(dir.path().join("bin")).expect("made");
    for name in ["zip", "unzip", "zipinfo"] {
        link_as(&dir.path().join("bin"), name);
    }
    let shell = |path: &Path, script: &str| {
        let mut run = Command::new("sh");
        run.args(["-c", script]).current_dir(path);
        run.env("NO_COLOR", "1").env("TZ", "UTC");
        let output = feed(run, b"");
        Run {
            code: output.status.code(),
            stdout: output.stdout,
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    };
    let made = shell(dir.path(), script);
    assert_eq!(made.code, Some(0), "{}", made.stderr);
    let path = dir.path().to_owned();
    (dir, move |line: &str| shell(&path, line))
}

/// Offsets, checksums and sizes, in the order of the entries.
fn pages_state_what_those_of_zipinfo_state() {
    let (_dir, run) = made_by(
        "seq 1 500 > a; printf 'b\\n' > b; mkdir d; : > d/c; chmod 4750 b; zip -qr all.zip a b d && \
         printf 'of a\\n\\n\\n\\n' | zip -qc all.zip > list && printf 'of all\\n' | zip -qz all.zip > list",
    );
    let theirs = run("zipinfo -v all.zip").stdout;
    let theirs = String::from_utf8(theirs).expect("UTF-8");
    let ours = String::from_utf8(run("bin/zipinfo -v all.zip").stdout).expect("UTF-8");
    // The last word of a value, or the one before `bytes`.
    let values = |text: &str, label: &str| -> Vec<String> {
        let rows = text
            .lines()
            .filter_map(|row| row.trim().strip_prefix(label));
        let words = rows.map(|row| row.trim_end_matches("bytes").trim());
        words
            .map(|words| words.rsplit(' ').next().unwrap_or_default().to_owned())
            .collect()
    };
    for (label, own) in [
        (
            "offset of local header from start of archive:",
            "local header at byte",
        ),
        ("32-bit CRC value (hex):", "CRC-32"),
        ("compressed size:", "compressed size"),
        ("uncompressed size:", "size "),
        ("length of extra field:", "extra fields"),
    ] {
        let wanted = values(&theirs, label);
        assert_eq!(wanted.len(), 4, "{label}");
        let found = values(&ours, own);
        // The first row of a size is that of the file.
        let from = found.len() - wanted.len();
        assert_eq!(found[from..], wanted, "{label}");
    }
    for shown in [
        "Unix, version 3.0",
        "-rwsr-x---",
        "4750",
        "7875 (Unix user",
        "of all",
        "of a",
    ] {
        assert!(ours.contains(shown), "{shown}: {ours}");
    }
    assert_eq!(ours.matches("\nEntry ").count(), 4);
}

/// A socket, which nobody can read, in the place of a file that the archive has, and alone.
fn an_entry_goes_only_with_its_file() {
    let (dir, run) = made_by(
        "mkdir d; for f in a b c; do printf \"$f\\n\" > d/$f; done; touch -d 2020-01-02 d/*; zip -qr d.zip d; \
         printf 'newer a\\n' > d/a; rm d/b",
    );
    drop(UnixListener::bind(dir.path().join("d/b")).expect("bound"));
    for line in [
        "d.zip d/a d/b",
        "-r d.zip d",
        "-u d.zip d/a d/b",
        "-ur d.zip d",
        "-f d.zip",
        "-fr d.zip d",
        "-m d.zip d/a d/b",
        "new.zip d/b",
        "new.zip d/b d/a",
        "-rq new.zip d",
        "-rq new.zip d -x d/b",
    ] {
        let one = |bin: &str| {
            let copy = "rm -rf t; mkdir t; cp -a d d.zip t; cd t";
            let ended = run(&format!("{copy}; {bin}zip {line}"));
            let left = run("cd t; ls d").stdout;
            // Not more: the entry that Info-ZIP keeps states a size of 0.
            let names = run("cd t; for z in *.zip; do unzip -Z1 $z | sort; done").stdout;
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            (ended.code, text(&left), text(&names))
        };
        let theirs = one("");
        assert_eq!(one("../bin/"), theirs, "{line}");
        let kept = run("cd t; unzip -p d.zip d/b; unzip -tq d.zip");
        assert!(kept.stdout.starts_with(b"b\n"), "{line}");
        assert_eq!(kept.code, Some(0), "{line}: {}", kept.stderr);
    }
}

/// What one program packs, the other lists and extracts with the same bytes in names.
fn names_that_are_no_utf8_are_those_of_info_zip() {
    let (_dir, run) = made_by(
        "mkdir d; a=$(printf 'caf\\351'); b=$(printf '\\200x'); echo 1 > \"d/$a\"; echo 2 > \"d/$b\"; \
         echo 3 > d/na\u{ef}ve; ln -s \"$a\" d/link; zip -qry theirs.zip d; bin/zip -qry ours.zip d",
    );
    for archive in ["theirs.zip", "ours.zip"] {
        for line in [
            "unzip -Z1 A | sort",
            "unzip -l A | sort",
            "unzip -qo A -d out; cd out/d; ls -1; rm -r ../../out",
            "zipinfo -1 A '*caf*'",
        ] {
            let line = line.replace('A', archive);
            let (our, their) = (run(&format!("bin/{line}")), run(&line));
            assert_eq!((our.code, our.stdout), (their.code, their.stdout), "{line}");
            assert_eq!(our.stderr, "", "{line}");
        }
    }
    let names = |archive: &str| run(&format!("unzip -Z1 {archive} | sort")).stdout;
    assert_eq!(names("ours.zip"), names("theirs.zip"));
}

fn what_is_intact_is_recovered_and_what_is_lost_said() {
    let (_dir, run) = made_by(
        "seq 1 5000 > a; seq 1 6000 > b; seq 1 7000 > c; zip -q all.zip a b c && head -c -9000 all.zip > cut.zip; \
         seq 1 9 > junk.zip",
    );
    let cut = run("bin/zip -FF cut.zip -O saved.zip");
    assert_eq!(cut.code, Some(3), "{}", cut.stderr);
    assert!(cut.stderr.contains("entries lost: 1"), "{}", cut.stderr);
    let names = run("bin/unzip -Z1 saved.zip && unzip -tq saved.zip");
    assert_eq!(names.code, Some(0), "{}", names.stderr);
    assert!(names.stdout.starts_with(b"a\nb\n"));
    assert_eq!(run("bin/zip -F cut.zip -O other.zip").code, Some(3));
    assert_eq!(run("bin/zip -FF junk.zip -O other.zip").code, Some(3));
    assert_eq!(run("ls other.zip").stdout, b"");
}

fn logs_say_what_was_asked_and_what_went_wrong() {
    let (_dir, run) = made_by("seq 1 9 > a");
    assert_eq!(run("bin/zip -lf log new.zip a missing").code, Some(0));
    assert_eq!(run("bin/zip -la -li -lf log other.zip a").code, Some(0));
    assert_eq!(run("bin/zip -la -lf log -d none.zip a").code, Some(12));
    let log = String::from_utf8(run("cat log.log").stdout).expect("UTF-8");
    let place = |text: &str| log.find(text).unwrap_or_else(|| panic!("{text}: {log}"));
    let order = [
        place("-lf log new.zip a missing"),
        place("missing'"),
        place("-la -li -lf log other.zip a"),
        place("adding: a"),
        place("error 12"),
    ];
    assert!(order.is_sorted(), "{log}");
    assert_eq!(log.matches("adding").count(), 1);
    assert_eq!(log.matches("Done ").count(), 3);
    // A log takes the place of no archive.
    for line in [
        "bin/zip -lf new.zip new.zip a",
        "ln -s new.zip l.log && bin/zip -lf l new.zip a",
    ] {
        assert_eq!(run(line).code, Some(16), "{line}");
    }
    assert_eq!(run("bin/unzip -tq new.zip").code, Some(0));
}

/// Whether a file system of any size can be had for a test.
fn can_mount() -> bool {
    works(Command::new("unshare").args(["-rm", "mount", "-t", "tmpfs", "none", "/mnt"]))
}

/// One error and the exit code of a full disk, however many entries follow.
fn a_full_disk_ends_an_extraction_at_once() {
    let dir = directory();
    let mut writer = ArchiveWriter::new(Vec::new());
    for number in 0..60 {
        let name = format!("{number}.txt");
        let options = EntryOptions::new(Method::Stored);
        let added = writer.add(&name, &options, &mut &[b'x'; 32 << 10][..]);
        added.expect("added");
    }
    let (archive, _) = writer.finish().expect("finished");
    std::fs::write(dir.path().join("a.zip"), archive).expect("written");
    let perfkit = env!("CARGO_BIN_EXE_perfkit");
    std::os::unix::fs::symlink(perfkit, dir.path().join("unzip")).expect("linked");
    std::fs::create_dir(dir.path().join("small")).expect("made");
    for (line, code) in [
        ("../unzip -o ../a.zip", 50),
        ("../unzip -qo ../a*.zip", 50),
        ("$PERFKIT unzip --overwrite ../a.zip -d .", 3),
        ("$PERFKIT unzip --overwrite - -d . < ../a.zip", 3),
    ] {
        let script = format!("mount -t tmpfs -o size=512k none small && cd small && {line}");
        let mut run = Command::new("unshare");
        run.args(["-rm", "sh", "-c", &script])
            .env("PERFKIT", perfkit)
            .current_dir(dir.path());
        let output = feed(run, b"");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{line}: {stderr}");
        assert_eq!(
            stderr.matches("cannot write").count(),
            1,
            "{line}: {stderr}"
        );
    }
}

/// What a pipe gets may end at a terminal, as by `| head`.
fn no_listing_steers_a_terminal() {
    let dir = directory();
    let options = ArchiveOptions::new().comment(&b"c\x1b[31m\xc2\x9b\xe2\x80\xae\x07\r\n"[..]);
    let mut writer = ArchiveWriter::with_options(Vec::new(), options).expect("started");
    let names = [
        "a\u{1b}[31m",
        "b\u{9b}1m",
        "c\u{202e}gpj.exe",
        "d\n\te",
        "f\u{7f}",
        "dup",
    ];
    for name in names {
        let added = writer.add(name, &EntryOptions::default(), &mut &b"x"[..]);
        added.expect("added");
    }
    let (archive, _) = writer.finish().expect("finished");
    let own = "n\u{1b}[1m.zip";
    std::fs::write(dir.path().join(own), archive).expect("written");
    for name in ["zip", "unzip", "zipinfo"] {
        link_as(dir.path(), name);
    }
    let lines = [
        "unzip -l OWN",
        "unzip -v OWN",
        "unzip -z OWN",
        "unzip -t OWN",
        "unzip -c OWN",
        "unzip -l n*.zip",
        "unzip -Z1 OWN",
        "unzip -Z OWN",
        "zipinfo -l OWN",
        "zipinfo -2 OWN",
        "zipinfo -h OWN",
        "zipinfo -v OWN",
        "unzip -l OWN missing\u{1b}",
        "unzip OWN missing\u{1b}",
        "unzip missing\u{1b}",
        "unzip -l missing\u{1b}*",
        "unzip -^ OWN -d new",
        "unzip -^ OWN -d new",
        "unzip -^n OWN -d new",
        "unzip -o OWN -d other\u{1b}",
        "unzip -T OWN",
        "zip -sf OWN",
        "zip -T OWN",
        "zip -r new\u{1b}.zip new",
        "zip -sf more.zip new/a\u{1b}[31m",
        "zip -c new\u{1b}.zip new/a\u{1b}[31m",
        "zip -rm moved.zip new",
        "zip -d OWN * missing\u{1b}",
        "zip more.zip missing\u{1b}",
    ];
    for line in lines {
        let mut words = line.split(' ').map(|word| word.replace("OWN", own));
        let mut run = Command::new(dir.path().join(words.next().expect("a program")));
        run.args(words).current_dir(dir.path()).env("NO_COLOR", "1");
        let output = feed(run, b"of it\n");
        for (stream, bytes) in [("stdout", &output.stdout), ("stderr", &output.stderr)] {
            let text = std::str::from_utf8(bytes).expect("UTF-8");
            // Programs that read names get letters that only turn or hide text.
            let names_only = line.contains("-Z1") || line.contains("-2");
            let steers = |letter: char| match letter {
                '\n' | '\t' => false,
                '\u{202e}' => !names_only,
                other => other.is_control(),
            };
            assert!(!text.contains(steers), "{line}: {stream} {text:?}");
        }
    }
}

/// A line of the table: what of standard output is compared, the commands, and the input of the last.
pub(crate) struct Line(
    pub(crate) Out,
    pub(crate) &'static str,
    pub(crate) &'static str,
);

/// What standard output is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Out {
    /// Messages, which differ.
    Free,
    /// The same bytes.
    Same,
    /// An archive with the same entries.
    Archive,
}

/// Runs the lines by the programs and by us, and tells all that differs.
fn compare(lines: &[Line]) {
    let tree = directory();
    let made = Command::new("sh")
        .args(["-c", TREE])
        .current_dir(tree.path())
        .output();
    let made = made.expect("sh runs");
    let stderr = String::from_utf8_lossy(&made.stderr);
    assert!(made.status.success(), "{stderr}");
    let names = directory();
    for name in ["zip", "unzip", "zipinfo"] {
        link_as(names.path(), name);
    }
    let mut wrong = Vec::new();
    for line in lines {
        if let Some(how) = difference(tree.path(), names.path(), line) {
            wrong.push(format!("{}: {how}", line.1));
        }
    }
    let count = (wrong.len(), lines.len());
    assert!(
        wrong.is_empty(),
        "{} of {}\n{}",
        count.0,
        count.1,
        wrong.join("\n")
    );
}

fn difference(tree: &Path, names: &Path, Line(out, commands, input): &Line) -> Option<String> {
    let (theirs, ours) = (directory(), directory());
    let one = |program_dir: Option<&Path>, dir: &Path| {
        let copied = Command::new("cp")
            .arg("-a")
            .arg(tree.join("."))
            .arg(dir)
            .status();
        assert!(copied.expect("cp runs").success());
        let (mut last, mut codes) = (None, Vec::new());
        for command in commands.split(" && ") {
            let mut words = command.split(' ');
            let program = words.next().unwrap_or_default();
            let mut run = match program_dir {
                Some(own) if own.join(program).exists() => Command::new(own.join(program)),
                _ => Command::new(program),
            };
            run.args(words)
                .current_dir(dir)
                .env("NO_COLOR", "1")
                .env("TZ", "UTC")
                .env_remove("ZIPOPT")
                .env_remove("ZIP")
                .env_remove("UNZIP")
                .env_remove("UNZIPOPT")
                .env_remove("ZIPINFO")
                .env_remove("ZIPINFOOPT");
            let output = feed(run, input.as_bytes());
            codes.push(output.status.code());
            last = Some(Run {
                code: output.status.code(),
                stdout: output.stdout,
                stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
            });
        }
        (last.expect("a command"), codes)
    };
    let (their, their_codes) = one(None, theirs.path());
    let (our, our_codes) = one(Some(names), ours.path());
    let said = format!("\n{}--\n{}", our.stderr, their.stderr);
    if our_codes != their_codes {
        return Some(format!(
            "ends with {our_codes:?}, not {their_codes:?}{said}"
        ));
    }
    let silent = |run: &Run| run.stdout.is_empty() && run.stderr.is_empty();
    if silent(&their) && their.code == Some(0) && !silent(&our) {
        return Some(format!("is not silent: {}", our.stderr));
    }
    let same = match out {
        Out::Free => true,
        Out::Same => our.stdout == their.stdout,
        Out::Archive => entries(&our.stdout) == entries(&their.stdout),
    };
    if !same {
        let text = |run: &Run| String::from_utf8_lossy(&run.stdout).into_owned();
        return Some(format!("prints\n{}not\n{}", text(&our), text(&their)));
    }
    let (ours, theirs) = (files(ours.path()), files(theirs.path()));
    let differs = |name: &&String| ours.get(*name) != theirs.get(*name);
    let mut names = ours.keys().chain(theirs.keys()).filter(differs);
    let name = names.next()?;
    let (our, their) = (ours.get(name), theirs.get(name));
    Some(format!("'{name}' is\n{our:?}, not\n{their:?}{said}"))
}

/// All that there is below a directory: mode, time and content of each file, and what archives hold.
fn files(dir: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut open = vec![dir.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in std::fs::read_dir(directory).expect("listed") {
            let path = entry.expect("an entry").path();
            let metadata = path.symlink_metadata().expect("there");
            let name = path.strip_prefix(dir).expect("inside");
            let name = name.to_string_lossy().into_owned();
            let mode = metadata.permissions().mode();
            // What was made just now has no time to compare.
            let time = match metadata.mtime() {
                time if time < 1_700_000_000 => time,
                _ => 0,
            };
            let what = if metadata.is_dir() {
                open.push(path);
                format!("{mode:o} {time} directory")
            } else if metadata.is_symlink() {
                let target = std::fs::read_link(&path).expect("read");
                format!("link to {}", target.display())
            } else {
                let bytes = std::fs::read(&path).expect("read");
                if is_part(&path) {
                    found.insert(name, format!("{mode:o} a part"));
                    continue;
                }
                let archive = match Parts::count(&bytes) {
                    Ok(count) if count > 1 => entries(&joined(&path, &bytes)),
                    _ => bytes.starts_with(b"PK").then(|| entries(&bytes)).flatten(),
                };
                match archive {
                    Some(entries) => format!("{mode:o} {time} archive {entries:#?}"),
                    None => {
                        let text = String::from_utf8_lossy(&bytes);
                        format!("{mode:o} {time} {} bytes: {text:.40}", bytes.len())
                    }
                }
            };
            found.insert(name, what);
        }
    }
    found
}

/// The comment of an archive, and its entries in the order of their names; `None` if it is none.
fn entries(archive: &[u8]) -> Option<Vec<String>> {
    let mut reader = ArchiveReader::open(archive).ok()?;
    reader.set_decryption(Some(Decryption::new(Password::new("secret"))));
    let mut found = Vec::new();
    for entry in reader.entries() {
        let entry = entry.expect("a record");
        let content = reader.read(&entry);
        let content = content.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        let time = entry.time().seconds_utc(|local| local);
        // As of files: what was made just now has no time to compare.
        let time = if time < 1_700_000_000 { time } else { 0 };
        let kind = match entry.kind() {
            EntryKind::Directory => "directory",
            EntryKind::File => "file",
            EntryKind::Symlink => "link",
        };
        found.push(format!(
            "{} {kind} {:o} {time} encrypted {} text {} {:?} comment {:?} content {content:.40?}",
            entry.name_lossy(),
            entry.mode().unwrap_or_default(),
            entry.is_encrypted(),
            entry.internal_attributes() & 1,
            entry.owner(),
            String::from_utf8_lossy(entry.comment()),
        ));
    }
    found.sort();
    let comment = String::from_utf8_lossy(reader.directory().comment()).into_owned();
    found.push(format!("comment {comment:?}"));
    Some(found)
}
