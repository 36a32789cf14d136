//! Other programs read the archives that perfkit writes and the reverse: unzip, zip, 7zz, bsdtar
//! (from a file and from a pipe), Python, Go and Java.
//!
//! These tests need programs that a user's machine may lack. Each then reports `ignored`.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use libtest_mimic::Trial;

use crate::common::{self, directory, feed, file, names, pipe, run, samples, words};
use crate::peer::{self, works};

/// The tests, each with whether what it needs is here.
pub(crate) fn trials() -> Vec<Trial> {
    let has = |program: &str, flag: &str| works(Command::new(program).arg(flag));
    peer::trials![
        true => [every_archive_is_strict],
        has("unzip", "-v") => [unzip_tests_every_archive, unzip_reads],
        has("7zz", "i") => [seven_zip_tests_every_archive, seven_zip_reads, seven_zip_is_read, seven_zip_aes, seven_zip_crypto_is_read],
        has("bsdtar", "--version") => [bsdtar_lists_every_archive, bsdtar_reads, bsdtar_is_read, bsdtar_aes],
        has("python3", "--version") => [python_tests_every_archive, python_both_ways],
        has("go", "version") => [go_reads],
        has("java", "-version") => [java_reads_a_stream],
        has("zip", "-v") => [zip_is_read, zip_crypto_is_read],
        has("zip", "-v") && has("unzip", "-v") && has("7zz", "i") && has("python3", "--version") && Path::new(ZONES_DIR).is_dir() => [times_are_right_in_every_zone],
        has("unzip", "-v") && has("zip", "-v") && has("7zz", "i") && has("bsdtar", "--version") && has("python3", "--version") => [archives_that_go_on_are_read],
        has("unzip", "-v") && has("7zz", "i") && has("python3", "--version") => [changed_archives_are_read],
        has("zip", "-v") && has("unzip", "-v") && has("7zz", "i") && has("python3", "--version") => [merged_archives_of_others_are_read],
        has_pyzipper() => [pyzipper_aes],
    ]
}

fn has_pyzipper() -> bool {
    works(Command::new("python3").args(["-c", "import pyzipper"]))
}

/// Where the zones of a system are.
const ZONES_DIR: &str = "/usr/share/zoneinfo";

/// Runs a peer in `dir`; it must succeed.
fn peer(dir: &Path, line: &str, input: &[u8]) -> Vec<u8> {
    let mut words = line.split(' ');
    let mut command = Command::new(words.next().unwrap_or_default());
    command.args(words).current_dir(dir);
    let output = feed(command, input);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{line}: {stderr}");
    output.stdout
}

/// Files of all shapes: small, at the limit of what is held, and large; a directory and a name that
/// is not ASCII.
fn tree(dir: &Path) {
    std::fs::create_dir_all(dir.join("src/deep")).expect("made");
    for (name, data) in samples(1_400_000).into_iter().take(2) {
        file(dir, &format!("src/{name}"), &data);
        for size in [0, 1, 65_535, 65_536, 1 << 20, (1 << 20) + 1] {
            file(dir, &format!("src/deep/{name}-{size}"), &data[..size]);
        }
    }
    let script = file(dir, "src/größe", b"size");
    std::fs::set_permissions(script, PermissionsExt::from_mode(0o755)).expect("set");
}

/// Packs the tree in every way; gives what follows `zip` on the command line, and the archive.
fn archives(dir: &Path, zstd: bool) -> Vec<(String, Vec<u8>)> {
    let mut lines = vec!["-r", "-9r", "-1rT2", "-0r", "-rX"];
    if zstd {
        lines.push("-r -Z zstd");
    }
    let pack = |line: &str| {
        run(dir, words(&format!("zip --force {line} out.zip src"))).expect(0);
        let archive = std::fs::read(dir.join("out.zip")).expect("read");
        (line.to_owned(), archive)
    };
    let mut all: Vec<_> = lines.into_iter().map(pack).collect();
    // Content of unknown size takes the widest headers.
    let large = &samples(1_400_000)[0].1;
    let streamed = pipe(dir, words("zip -qq - -"), large).expect(0).stdout;
    all.push(("- -".to_owned(), streamed));
    all
}

/// Whether two trees hold the same files.
fn assert_same(one: &Path, other: &Path) {
    assert_eq!(names(one), names(other));
    for name in names(one) {
        let (a, b) = (one.join(&name), other.join(&name));
        if a.is_dir() {
            assert_same(&a, &b);
        } else {
            assert!(std::fs::read(&a).expect("read") == std::fs::read(&b).expect("read"));
        }
    }
}

/// Has a peer extract every archive into `out`, and compares what came of it.
fn extracted_by(line: &str, zstd: bool, through_pipe: bool) {
    let dir = directory();
    tree(dir.path());
    let out = dir.path().join("out");
    for (how, archive) in archives(dir.path(), zstd) {
        std::fs::create_dir(&out).expect("made");
        file(dir.path(), "out.zip", &archive);
        let input: &[u8] = if through_pipe { &archive } else { b"" };
        peer(dir.path(), line, input);
        if how == "- -" {
            let found = std::fs::read(out.join("-")).expect("read");
            assert!(found == samples(1_400_000)[0].1, "{line}");
        } else {
            assert_same(&dir.path().join("src"), &out.join("src"));
        }
        std::fs::remove_dir_all(&out).expect("removed");
    }
}

/// An archive that a combination of flags made.
struct Made {
    /// The command lines.
    line: String,
    bytes: Vec<u8>,
    zstd: bool,
    encrypted: bool,
    empty: bool,
}

/// A small tree of everything: empty and large files, an empty directory, a link, a name that is not
/// ASCII.
fn everything(dir: &Path) {
    std::fs::create_dir_all(dir.join("src/hollow")).expect("made");
    let large = &samples(1_200_000)[0].1;
    for (name, data) in [
        ("empty", &large[..0]),
        ("größe", b"size"),
        ("small", &large[..5000]),
    ] {
        file(dir, &format!("src/{name}"), data);
    }
    file(dir, "src/large", large);
    file(dir, "more", b"what is added");
    file(dir, "pw", b"secret");
    symlink("small", dir.join("src/link")).expect("made");
}

/// Archives by every flag that changes what is written, by several commands one after the other, and
/// into pipes.
fn combinations(dir: &Path) -> Vec<Made> {
    everything(dir);
    let mut lines: Vec<String> = (0..=9)
        .map(|level| format!("-{level}r a.zip src"))
        .collect();
    for flags in ["-Z zstd", "-Z zstd --level 19", "-Z store"] {
        lines.push(format!("-r {flags} a.zip src"));
    }
    for flags in ["-0", "", "-Z zstd", "--aes 128", "--aes 192 -T2", "-0 -T2"] {
        lines.push(format!("-r --password-file pw {flags} a.zip src"));
    }
    for flags in [
        "-X",
        "-D",
        "-T1",
        "-T3",
        "--symlinks follow",
        "--symlinks skip",
        "--verify",
    ] {
        lines.push(format!("-r {flags} a.zip src"));
    }
    for change in [
        "--append a.zip more",
        "-u a.zip more",
        "--delete a.zip src/small",
        "--delete a.zip *",
    ] {
        lines.push(format!("-r a.zip src; {change}"));
    }
    for change in [
        "--append -Z zstd a.zip more",
        "--append --password-file pw a.zip more",
    ] {
        lines.push(format!("-r a.zip src; {change}"));
    }
    lines.push("-r --append a.zip src; --append a.zip more".to_owned());
    lines.push("-r a.zip src; --repair a.zip b.zip".to_owned());
    lines.push("-r a.zip src; --delete a.zip src".to_owned());
    let made = |line: String| {
        let mut bytes = Vec::new();
        for name in ["a.zip", "b.zip"] {
            let _ = std::fs::remove_file(dir.join(name));
        }
        for part in line.split("; ") {
            run(dir, words(&format!("zip {part}"))).expect(0);
            let name = if part.contains("--repair") {
                "b.zip"
            } else {
                "a.zip"
            };
            bytes = std::fs::read(dir.join(name)).expect("read");
        }
        Made {
            zstd: line.contains("zstd"),
            encrypted: line.contains("pw"),
            empty: line.ends_with(" *") || line.ends_with("--delete a.zip src"),
            line,
            bytes,
        }
    };
    let mut all: Vec<Made> = lines.into_iter().map(made).collect();
    for (flags, input) in [
        ("-0", "src/large"),
        ("", "src/large"),
        ("-Z zstd", "src"),
        ("", "-"),
    ] {
        let line = format!("zip -qqr {flags} - {input}");
        let large = std::fs::read(dir.join("src/large")).expect("read");
        let bytes = pipe(dir, words(&line), &large).expect(0).stdout;
        let zstd = flags.contains("zstd");
        all.push(Made {
            line,
            bytes,
            zstd,
            encrypted: false,
            empty: false,
        });
    }
    // A comment, which stays when the archive goes on or is written anew.
    for change in ["--append", "-u"] {
        let mut bytes = all[6].bytes.clone();
        let end = bytes.len();
        bytes[end - 2..].copy_from_slice(&4_u16.to_le_bytes());
        bytes.extend_from_slice(b"note");
        file(dir, "a.zip", &bytes);
        run(dir, words(&format!("zip {change} a.zip more"))).expect(0);
        let bytes = std::fs::read(dir.join("a.zip")).expect("read");
        assert!(bytes.ends_with(b"note"));
        let line = format!("a comment, {change}");
        all.push(Made {
            line,
            bytes,
            zstd: false,
            encrypted: false,
            empty: false,
        });
    }
    all
}

fn every_archive_is_strict() {
    let dir = directory();
    for Made { line, bytes, .. } in combinations(dir.path()) {
        file(dir.path(), "it.zip", &bytes);
        let test = |how: &str| {
            let test = format!("unzip -t --strict --password-file pw {how}");
            let ended = pipe(dir.path(), words(&test), &bytes);
            assert_eq!(ended.code, Some(0), "{line}, {how}: {}", ended.stderr);
            assert!(
                !ended.stderr.contains("warning"),
                "{line}: {}",
                ended.stderr
            );
        };
        ["it.zip", "it.zip -T1", "-"].into_iter().for_each(test);
    }
}

/// Has a peer test every archive that it can read.
fn tested_by(line: &str, can: impl Fn(&Made) -> bool, through_pipe: bool) {
    let dir = directory();
    for made in combinations(dir.path()).iter().filter(|made| can(made)) {
        file(dir.path(), "it.zip", &made.bytes);
        let input: &[u8] = if through_pipe { &made.bytes } else { b"" };
        let mut words = line.split(' ');
        let mut command = Command::new(words.next().unwrap_or_default());
        command.args(words).current_dir(dir.path());
        let output = feed(command, input);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{line} of {}: {stderr}", made.line);
    }
}

fn unzip_tests_every_archive() {
    // It calls an empty archive one that it cannot do anything with.
    tested_by(
        "unzip -tqq it.zip",
        |made| !made.zstd && !made.encrypted && !made.empty,
        false,
    );
}

fn seven_zip_tests_every_archive() {
    tested_by("7zz t -psecret it.zip", |_| true, false);
}

fn bsdtar_lists_every_archive() {
    // It takes the content of a link as it stands, encrypted or not.
    tested_by("bsdtar -tf it.zip", |made| !made.encrypted, false);
    tested_by(
        "bsdtar -tf -",
        |made| !made.zstd && !made.encrypted && !made.empty,
        true,
    );
}

fn python_tests_every_archive() {
    let can = |made: &Made| !made.zstd && !made.encrypted;
    tested_by("python3 -m zipfile -t it.zip", can, false);
}

fn unzip_reads() {
    extracted_by("unzip -q out.zip -d out", false, false);
}

fn seven_zip_reads() {
    extracted_by("7zz x -y -oout out.zip", true, false);
}

fn bsdtar_reads() {
    // Its zstd reader, up to version 3.6 at least, misses the end of content that fills its buffer.
    extracted_by("bsdtar -x -C out -f out.zip", false, false);
    extracted_by("bsdtar -x -C out -f -", false, true);
}

const PYTHON: &str = "\
import sys, zipfile
archive = zipfile.ZipFile(sys.argv[1])
assert archive.testzip() is None
archive.extractall('out')
";

const PYTHON_METHODS: &str = "\
import os, zipfile
for name, method in (('bzip2', zipfile.ZIP_BZIP2), ('lzma', zipfile.ZIP_LZMA)):
    with zipfile.ZipFile(name + '.zip', 'w', method) as archive:
        for root, _, files in os.walk('src'):
            for file in files:
                archive.write(os.path.join(root, file))
";

fn python_both_ways() {
    let dir = directory();
    file(dir.path(), "read.py", PYTHON.as_bytes());
    tree(dir.path());
    for (how, archive) in archives(dir.path(), false) {
        file(dir.path(), "out.zip", &archive);
        peer(dir.path(), "python3 read.py out.zip", b"");
        if how != "- -" {
            assert_same(&dir.path().join("src"), &dir.path().join("out/src"));
        }
    }
    peer(dir.path(), "python3 -m zipfile -c python.zip src", b"");
    read_by_perfkit(dir.path(), "python.zip", true);
    file(dir.path(), "write.py", PYTHON_METHODS.as_bytes());
    peer(dir.path(), "python3 write.py", b"");
    for method in ["bzip2", "lzma"] {
        read_by_perfkit(dir.path(), &format!("{method}.zip"), true);
    }
}

const GO: &str = r#"package main

import ("archive/zip"; "fmt"; "hash/crc32"; "io"; "os")

func main() {
    r, err := zip.OpenReader(os.Args[1])
    if err != nil { panic(err) }
    for _, f := range r.File {
        c, err := f.Open()
        if err != nil { panic(err) }
        h := crc32.NewIEEE()
        if _, err := io.Copy(h, c); err != nil { panic(err) }
        fmt.Println(f.Name, h.Sum32() == f.CRC32)
    }
}
"#;

fn go_reads() {
    let dir = directory();
    file(dir.path(), "main.go", GO.as_bytes());
    peer(dir.path(), "go build -o reader main.go", b"");
    tree(dir.path());
    for (how, archive) in archives(dir.path(), false) {
        file(dir.path(), "out.zip", &archive);
        let said = peer(dir.path(), "./reader out.zip", b"");
        let said = String::from_utf8(said).expect("text");
        assert!(!said.is_empty() && !said.contains("false"), "{how}: {said}");
    }
}

const JAVA: &str = "\
import java.util.zip.*;
class Reader {
    public static void main(String[] a) throws Exception {
        ZipInputStream in = new ZipInputStream(System.in);
        int count = 0;
        byte[] buffer = new byte[65536];
        for (ZipEntry e; (e = in.getNextEntry()) != null; count++)
            while (in.read(buffer) > 0) { }
        System.out.println(count);
    }
}
";

fn java_reads_a_stream() {
    let dir = directory();
    file(dir.path(), "Reader.java", JAVA.as_bytes());
    tree(dir.path());
    for (how, archive) in archives(dir.path(), false) {
        // It takes no descriptors of 64 bits.
        if how != "- -" {
            let said = peer(dir.path(), "java Reader.java", &archive);
            assert_eq!(String::from_utf8_lossy(&said).trim(), "17", "{how}");
        }
    }
}

/// Has perfkit extract an archive of `src`, in both profiles and from a pipe.
fn read_by_perfkit(dir: &Path, name: &str, streams: bool) {
    let archive = std::fs::read(dir.join(name)).expect("read");
    let check = || {
        assert_same(&dir.join("src"), &dir.join("ours/src"));
        std::fs::remove_dir_all(dir.join("ours")).expect("removed");
    };
    run(dir, words(&format!("unzip {name} -d ours"))).expect(0);
    check();
    run(dir, words(&format!("unzip --strict {name} -d ours"))).expect(0);
    check();
    if streams {
        pipe(dir, words("unzip - -d ours"), &archive).expect(0);
        check();
    }
}

fn zip_is_read() {
    let dir = directory();
    tree(dir.path());
    symlink("größe", dir.path().join("src/link")).expect("made");
    // In the C locale it writes names in UTF-8 and does not say so.
    peer(dir.path(), "zip -qry theirs.zip src", b"");
    read_by_perfkit(dir.path(), "theirs.zip", true);
    let link = dir.path().join("src/link");
    assert!(link.is_symlink());
    let streamed = peer(dir.path(), "zip -q - -", b"from a pipe");
    let back = pipe(dir.path(), words("unzip -qqp -"), &streamed).expect(0);
    assert_eq!(back.text(), "from a pipe");
}

fn seven_zip_is_read() {
    let dir = directory();
    tree(dir.path());
    for method in ["Copy", "Deflate", "Deflate64", "BZip2", "LZMA", "xz"] {
        let line = format!("7zz a -tzip -mm={method} {method}.zip src");
        peer(dir.path(), &line, b"");
        read_by_perfkit(dir.path(), &format!("{method}.zip"), true);
    }
}

fn bsdtar_is_read() {
    let dir = directory();
    tree(dir.path());
    peer(dir.path(), "bsdtar -a -cf theirs.zip src", b"");
    let ours = dir.path().join("ours/src");
    run(dir.path(), words("unzip theirs.zip -d ours")).expect(0);
    assert_same(&dir.path().join("src"), &ours);
}

/// Packs the tree with AES in every shape, has a peer extract each into `out`, and compares.
fn opened_by(line: &str) {
    let dir = directory();
    tree(dir.path());
    file(dir.path(), "password", b"right\n");
    for flags in ["", "--aes 192 -T2", "--aes 128 -0"] {
        let zip = format!("zip -r --force --password-file password {flags} out.zip src");
        run(dir.path(), words(&zip)).expect(0);
        std::fs::create_dir(dir.path().join("out")).expect("made");
        peer(dir.path(), line, b"");
        assert_same(&dir.path().join("src"), &dir.path().join("out/src"));
        std::fs::remove_dir_all(dir.path().join("out")).expect("removed");
    }
}

/// Has perfkit open an encrypted archive of `src`, and refuse it with another password.
fn opened_by_perfkit(dir: &Path, name: &str, streams: bool) {
    file(dir, "password", b"right\n");
    file(dir, "wrong", b"wrong\n");
    let line = "--password-file password -d ours";
    let archive = std::fs::read(dir.join(name)).expect("read");
    run(dir, words(&format!("unzip {name} {line}"))).expect(0);
    assert_same(&dir.join("src"), &dir.join("ours/src"));
    std::fs::remove_dir_all(dir.join("ours")).expect("removed");
    if streams {
        pipe(dir, words(&format!("unzip - {line}")), &archive).expect(0);
        assert_same(&dir.join("src"), &dir.join("ours/src"));
        std::fs::remove_dir_all(dir.join("ours")).expect("removed");
    }
    let line = format!("unzip -t {name} --password-file wrong src/größe");
    let ended = run(dir, words(&line)).expect(1);
    assert!(!ended.stderr.is_empty());
}

fn seven_zip_aes() {
    opened_by("7zz x -y -pright -oout out.zip");
    let dir = directory();
    tree(dir.path());
    for bits in ["128", "192", "256"] {
        let method = if bits == "192" { "LZMA" } else { "Deflate" };
        let line = format!("7zz a -tzip -mm={method} -mem=AES{bits} -pright aes{bits}.zip src");
        peer(dir.path(), &line, b"");
        opened_by_perfkit(dir.path(), &format!("aes{bits}.zip"), true);
    }
}

fn bsdtar_aes() {
    opened_by("bsdtar --passphrase right -x -C out -f out.zip");
    let dir = directory();
    tree(dir.path());
    for how in ["aes128", "aes256"] {
        let line = format!(
            "bsdtar -a -c --options zip:encryption={how} --passphrase right -f {how}.zip src"
        );
        peer(dir.path(), &line, b"");
        opened_by_perfkit(dir.path(), &format!("{how}.zip"), true);
    }
}

const PYZIPPER: &str = "\
import os, sys, pyzipper
if sys.argv[1] == 'read':
    archive = pyzipper.AESZipFile('out.zip')
    archive.setpassword(b'right')
    assert archive.testzip() is None
    archive.extractall('out')
else:
    for bits in (128, 192, 256):
        with pyzipper.AESZipFile(f'aes{bits}.zip', 'w', pyzipper.ZIP_DEFLATED) as archive:
            archive.setpassword(b'right')
            archive.setencryption(pyzipper.WZ_AES, nbits=bits)
            for root, _, files in os.walk('src'):
                for name in files:
                    archive.write(os.path.join(root, name))
";

fn pyzipper_aes() {
    let dir = directory();
    file(dir.path(), "aes.py", PYZIPPER.as_bytes());
    tree(dir.path());
    peer(dir.path(), "python3 aes.py write", b"");
    for bits in ["128", "192", "256"] {
        opened_by_perfkit(dir.path(), &format!("aes{bits}.zip"), true);
    }
    file(dir.path(), "password", b"right\n");
    for flags in ["", "--aes 192 -T2", "--aes 128 -0"] {
        let zip = format!("zip -r --force --password-file password {flags} out.zip src");
        run(dir.path(), words(&zip)).expect(0);
        peer(dir.path(), "python3 aes.py read", b"");
        assert_same(&dir.path().join("src"), &dir.path().join("out/src"));
    }
}

fn zip_crypto_is_read() {
    let dir = directory();
    tree(dir.path());
    peer(dir.path(), "zip -qr -P right theirs.zip src", b"");
    opened_by_perfkit(dir.path(), "theirs.zip", true);
    // Of a pipe the time checks the password, for the checksum comes last.
    let streamed = peer(dir.path(), "zip -q -P right - -", b"from a pipe");
    let line = "unzip -qqp - --password-file password";
    let back = pipe(dir.path(), words(line), &streamed).expect(0);
    assert_eq!(back.text(), "from a pipe");
}

fn seven_zip_crypto_is_read() {
    let dir = directory();
    tree(dir.path());
    let line = "7zz a -tzip -mem=ZipCrypto -pright theirs.zip src";
    peer(dir.path(), line, b"");
    opened_by_perfkit(dir.path(), "theirs.zip", true);
}

fn archives_that_go_on_are_read() {
    let dir = directory();
    tree(dir.path());
    file(dir.path(), "read.py", PYTHON.as_bytes());
    for first in ["zip -qr out.zip src/deep", "7zz a out.zip src/deep"] {
        peer(dir.path(), first, b"");
        run(dir.path(), words("zip -r --append out.zip src")).expect(3);
        for line in [
            "unzip -q out.zip -d out",
            "7zz x -y -oout out.zip",
            "bsdtar -x -C out -f out.zip",
            "python3 read.py out.zip",
        ] {
            std::fs::create_dir_all(dir.path().join("out")).expect("made");
            peer(dir.path(), line, b"");
            assert_same(&dir.path().join("src"), &dir.path().join("out/src"));
            assert_eq!(names(&dir.path().join("out")), ["src"], "{line}");
            std::fs::remove_dir_all(dir.path().join("out")).expect("removed");
        }
        // And theirs go on behind ours.
        file(dir.path(), "more", b"of theirs");
        peer(dir.path(), "zip -q out.zip more", b"");
        run(dir.path(), words("unzip -t --strict out.zip")).expect(0);
        std::fs::remove_file(dir.path().join("out.zip")).expect("removed");
    }
}

fn changed_archives_are_read() {
    let dir = directory();
    tree(dir.path());
    file(dir.path(), "read.py", PYTHON.as_bytes());
    file(dir.path(), "gone", b"to be deleted");
    // Of another program, whose headers are not ours.
    peer(dir.path(), "zip -qr out.zip src/deep gone", b"");
    run(dir.path(), words("zip --append out.zip src/größe")).expect(0);
    run(dir.path(), words("zip -ur out.zip src")).expect(0);
    run(dir.path(), words("zip --delete out.zip gone")).expect(0);
    for line in [
        "unzip -q out.zip -d out",
        "7zz x -y -oout out.zip",
        "python3 read.py out.zip",
    ] {
        peer(dir.path(), line, b"");
        assert_same(&dir.path().join("src"), &dir.path().join("out/src"));
        assert_eq!(names(&dir.path().join("out")), ["src"], "{line}");
        std::fs::remove_dir_all(dir.path().join("out")).expect("removed");
    }
    run(dir.path(), words("unzip -t --strict out.zip")).expect(0);
}

/// A zone without changes, two with hours that they change by, one with a half of an hour in the offset,
/// and one that changes by half an hour.
const ZONES: [&str; 5] = [
    "UTC",
    "Europe/Berlin",
    "America/New_York",
    "Asia/Kolkata",
    "Australia/Lord_Howe",
];

/// Moments in winter and summer, of either half of the world, and an hour before and after changes in
/// Berlin and New York. None is shown twice by a clock of one of the zones.
const MOMENTS: [i64; 6] = [
    1_768_478_401,
    1_784_116_803,
    1_774_742_400,
    1_774_749_601,
    1_772_949_600,
    1_772_956_800,
];

/// The times of the files of a tree of one level, links included.
fn times(dir: &Path) -> Vec<(String, i64)> {
    let time = |name: String| {
        let metadata = dir.join(&name).symlink_metadata().expect("it is there");
        let seconds = std::os::unix::fs::MetadataExt::mtime(&metadata);
        (name, seconds)
    };
    names(dir).into_iter().map(time).collect()
}

/// Runs a command line in `dir` and in a zone; it must succeed.
fn in_zone(dir: &Path, zone: &str, mut command: Command, line: &str) {
    command
        .args(line.split(' '))
        .current_dir(dir)
        .env("TZ", zone);
    let output = command.output().expect("it runs");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{line} in {zone}: {stderr}");
}

/// Checks that times differ from those of the files by at most `seconds`.
fn assert_near(dir: &Path, files: &[(String, i64)], seconds: i64, what: &str) {
    let found = times(dir);
    assert_eq!(found.len(), files.len(), "{what}");
    for (found, file) in found.iter().zip(files) {
        let differs = (found.1 - file.1).abs();
        assert!(
            found.0 == file.0 && differs <= seconds,
            "{what}: {found:?}, {file:?}"
        );
    }
}

fn times_are_right_in_every_zone() {
    let dir = directory();
    let dir = dir.path();
    std::fs::create_dir(dir.join("src")).expect("made");
    for (number, moment) in MOMENTS.into_iter().enumerate() {
        let path = file(dir, &format!("src/{number}"), b"x");
        let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(moment as u64);
        let file = std::fs::File::options().write(true).open(path);
        file.expect("opened").set_modified(time).expect("set");
    }
    symlink("0", dir.join("src/link")).expect("made");
    let touch = ["-h", "-d", "@1500000000", "src/link"];
    let touched = Command::new("touch").args(touch).current_dir(dir).status();
    assert!(touched.expect("touch runs").success());
    let files = times(&dir.join("src"));
    let extract = |zone: &str, seconds: i64, what: &str| {
        for line in ["unzip -qq -d out a.zip", "unzip -qq -d out -"] {
            let mut command = common::perfkit();
            if line.ends_with('-') {
                command.stdin(std::fs::File::open(dir.join("a.zip")).expect("opened"));
            }
            in_zone(dir, zone, command, line);
            let what = format!("{what}, {line} in {zone}");
            assert_near(&dir.join("out/src"), &files, seconds, &what);
            std::fs::remove_dir_all(dir.join("out")).expect("removed");
        }
        std::fs::remove_file(dir.join("a.zip")).expect("removed");
    };
    for zone in ZONES {
        // The old fields are local and have steps of two seconds; Info-ZIP rounds up.
        for (program, line, seconds) in [
            ("zip", "-qryX a.zip src", 2),
            ("zip", "-qry a.zip src", 0),
            ("7zz", "a -bso0 -snl -tzip -mtm=on a.zip src", 2),
        ] {
            in_zone(dir, zone, Command::new(program), line);
            extract(zone, seconds, program);
        }
        // Moments do not depend on the zone.
        for other in ZONES {
            in_zone(dir, zone, Command::new("zip"), "-qry a.zip src");
            extract(other, 0, zone);
        }
        in_zone(dir, zone, common::perfkit(), "zip -qqr --force a.zip src");
        in_zone(dir, zone, Command::new("unzip"), "-q -d peer a.zip");
        // Info-ZIP leaves links the time of the run; their name comes last.
        std::fs::remove_file(dir.join("peer/src/link")).expect("removed");
        assert_near(&dir.join("peer/src"), &files[..MOMENTS.len()], 0, zone);
        std::fs::remove_dir_all(dir.join("peer")).expect("removed");
        extract(zone, 0, "perfkit");
    }
}

fn merged_archives_of_others_are_read() {
    let dir = directory();
    let dir = dir.path();
    for (number, (_, data)) in samples(2_000_000).iter().take(4).enumerate() {
        file(dir, &format!("f{number}"), data);
    }
    peer(dir, "zip -q one.zip f0", b"");
    peer(dir, "7zz a -bso0 two.zip f1", b"");
    peer(dir, "python3 -m zipfile -c three.zip f2", b"");
    // With a descriptor.
    let streamed = pipe(dir, words("zip -qq - f3"), b"").expect(0).stdout;
    file(dir, "four.zip", &streamed);
    run(
        dir,
        words("zip -qq --merge all.zip one.zip two.zip three.zip four.zip"),
    )
    .expect(0);
    run(
        dir,
        words("zip -qq --merge --split-entries 3 part.zip all.zip"),
    )
    .expect(0);
    for archive in ["all.zip", "part-1.zip", "part-2.zip"] {
        peer(dir, &format!("unzip -qt {archive}"), b"");
        peer(dir, &format!("7zz t {archive}"), b"");
        peer(dir, &format!("python3 -m zipfile -t {archive}"), b"");
    }
    peer(dir, "unzip -q all.zip -d out", b"");
    for number in 0..4 {
        let name = format!("f{number}");
        let read = |path: &Path| std::fs::read(path.join(&name)).expect("read");
        assert!(read(&dir.join("out")) == read(dir), "{name}");
    }
}
