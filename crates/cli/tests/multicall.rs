//! Under the names of the zstd program the binary does what that program does: the same command
//! lines leave the same files, the same output and the same exit codes. Compared with the program
//! itself where there is one (else `ignored`), and with expectations of our own everywhere.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use libtest_mimic::Trial;

use crate::common::{Run, directory, feed, file, names, samples, words};
use crate::peer;

const NAMES: [&str; 4] = ["zstd", "zstdmt", "unzstd", "zstdcat"];

/// The tests, each with whether what it needs is here.
pub(crate) fn trials() -> Vec<Trial> {
    let zstd = peer::has_zstd();
    peer::trials![
        zstd => [
            lines_do_what_they_do_with_zstd,
            pipes_do_what_they_do_with_zstd,
            listings_read_as_those_of_zstd,
            dictionaries_of_either_are_used_by_the_other,
        ],
        true => [
            every_name_does_its_own,
            what_is_said_and_when,
            what_is_no_frame_passes_through,
            several_become_one_whole_or_not_at_all,
            mistakes_end_with_one,
            samples_become_a_dictionary,
            variables_stand_in_for_flags,
            existing_files_are_asked_about_at_a_terminal,
        ],
    ]
}

/// The binary under its other names.
struct Binary(tempfile::TempDir);

impl Binary {
    fn new() -> Self {
        let dir = directory();
        for name in NAMES {
            let built = env!("CARGO_BIN_EXE_perfkit");
            let path = dir.path().join(name);
            #[cfg(unix)]
            std::os::unix::fs::symlink(built, path).expect("linked");
            #[cfg(not(unix))]
            std::fs::copy(built, path.with_extension("exe")).expect("copied");
        }
        Self(dir)
    }

    /// Runs a line whose first word is one of the names.
    fn run(&self, dir: &Path, line: &str, input: &[u8]) -> Run {
        let mut words = words(line).into_iter();
        let program = words.next().expect("a name");
        run(self.0.path().join(program), dir, words, input)
    }
}

fn run(program: PathBuf, dir: &Path, words: impl Iterator<Item = String>, input: &[u8]) -> Run {
    let mut command = Command::new(program);
    command
        .args(words)
        .current_dir(dir)
        .env("NO_COLOR", "1")
        .env_remove("ZSTD_CLEVEL")
        .env_remove("ZSTD_NBTHREADS");
    feed(command, input).into()
}

/// Files to work on, the same each time.
fn fixture(dir: &Path) {
    static DATA: LazyLock<Vec<(&str, Vec<u8>)>> = LazyLock::new(|| samples(150_001));
    let data = &*DATA;
    file(dir, "a", &data[0].1);
    file(dir, "b", &data[2].1);
    file(dir, "r", &data[5].1);
    file(dir, "empty", b"");
    file(dir, "tiny", b"hi");
    file(dir, "list", b"a\nb\n");
    let frame = |index: usize| {
        let data: &(&str, Vec<u8>) = &data[index];
        zstdkit::compress(&data.1, &zstdkit::EncoderOptions::default()).expect("compressed")
    };
    file(dir, "c.zst", &frame(1));
    file(dir, "d.tzst", &frame(3));
    file(dir, "cut.zst", &frame(1)[..5000]);
    file(dir, "two.zst", &[frame(1), frame(3)].concat());
    file(dir, "tail.zst", &[&frame(1)[..], b"no frame"].concat());
    std::fs::create_dir_all(dir.join("sub/deep")).expect("made");
    std::fs::create_dir(dir.join("out")).expect("made");
    file(dir, "sub/x", &data[4].1);
    file(dir, "sub/deep/y", b"some content");
    file(dir, "sub/z.gz", b"not really");
    #[cfg(unix)]
    std::os::unix::fs::symlink("a", dir.join("link")).expect("linked");
}

/// What a file or a stream holds, compressed or not. A patch is told by its header alone.
fn content(bytes: &[u8]) -> Vec<u8> {
    let frames = bytes.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]);
    let options = zstdkit::DecoderOptions::default().with_window_log_max(31);
    match frames.then(|| zstdkit::decompress(bytes, &options)) {
        Some(Ok(content)) => content,
        Some(Err(_)) => bytes[..4].to_vec(),
        None => bytes.to_vec(),
    }
}

fn tree(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open = vec![dir.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in std::fs::read_dir(directory).expect("listed") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                open.push(path);
            } else {
                // A link may lead nowhere now.
                let bytes = std::fs::read(&path).unwrap_or_default();
                let name = path.strip_prefix(dir).expect("inside").to_owned();
                found.insert(name, content(&bytes));
            }
        }
    }
    found
}

/// Runs the lines by the program and by us, each in a directory of its own, and tells all that
/// differs.
fn compare<'a>(lines: impl IntoIterator<Item = (&'a str, &'a [u8])>) {
    let binary = Binary::new();
    let mut wrong = String::new();
    for (line, input) in lines {
        if let Some(how) = difference(&binary, line, input) {
            wrong += &format!("{line}: {how}\n");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

fn difference(binary: &Binary, line: &str, input: &[u8]) -> Option<String> {
    let (theirs, ours) = (directory(), directory());
    fixture(theirs.path());
    fixture(ours.path());
    let mut rest = words(line).into_iter();
    let program = rest.next().expect("a name");
    let their = run(program.into(), theirs.path(), rest, input);
    let our = binary.run(ours.path(), line, input);
    let said = format!("{}--\n{}", our.stderr, their.stderr);
    // Its codes above 1 say where in its source an error was found.
    let code = |run: &Run| run.code.map(|code| code.min(1));
    if code(&our) != code(&their) {
        return Some(format!(
            "ends with {:?}, {:?}\n{said}",
            our.code, their.code
        ));
    }
    if content(&our.stdout) != content(&their.stdout) {
        return Some(format!("standard output differs\n{said}"));
    }
    let (theirs, ours) = (tree(theirs.path()), tree(ours.path()));
    let names = |tree: &BTreeMap<PathBuf, Vec<u8>>| tree.keys().cloned().collect::<Vec<_>>();
    if names(&ours) != names(&theirs) {
        let (ours, theirs) = (names(&ours), names(&theirs));
        return Some(format!("leaves {ours:?}, {theirs:?}\n{said}"));
    }
    let mut files = theirs.iter().filter(|(name, bytes)| &&ours[*name] != bytes);
    let (name, _) = files.next()?;
    Some(format!("'{}' differs\n{said}", name.display()))
}

fn lines_do_what_they_do_with_zstd() {
    compare(
        [
            "zstd a",
            "zstd a b empty",
            "zstd -12T2 a",
            "zstd -3kf a",
            "zstd --ultra -20 tiny",
            "zstd -22 tiny",
            "zstd --fast=3 a",
            "zstd --fast a",
            "zstd -0 a",
            "zstd --rm a b",
            "zstd --rm -k a",
            "zstd -q --rm a -c",
            "zstd -f --rm -c a",
            "zstd -c a b",
            "zstd a -o new",
            "zstd a -o new -o newer",
            "zstd a -o b",
            "zstd -f a -o b",
            "zstd a b -o new",
            "zstd -f a b -o new",
            "zstd -f --rm a b -o new",
            "zstd -q a b -o new",
            "zstd -c a -o new",
            "zstd -o new -c a",
            "zstd -T0 --long a",
            "zstd --long=24 --no-check --no-content-size a",
            "zstd --rsyncable -T2 -B1M a",
            "zstd --zstd=wlog=20,clog=16,hlog=17,slog=2,mml=5,tlen=8,strat=4 a",
            "zstd --single-thread --threads=2 a",
            "zstd --threads 2 a --no-progress",
            "zstd --format=zstd --sparse --adapt a",
            "zstd --size-hint=100 --stream-size=5 a",
            "zstd -r sub",
            "zstd -r --exclude-compressed sub c.zst",
            "zstd --exclude-compressed c.zst",
            "zstd -r sub/deep -c",
            "zstd sub",
            "zstd missing",
            "zstd missing a",
            "zstd --output-dir-flat out a sub/x",
            "zstd --output-dir-flat=out -r sub",
            "zstd --output-dir-mirror new -r sub a",
            "zstd --output-dir-mirror new ./sub/x sub/../a",
            "zstd --filelist=list",
            "zstd --filelist list r",
            "zstd --filelist missing",
            "zstd link",
            "zstd -f link",
            "zstd link a",
            "zstd -- a",
            "zstd -- -a",
            "zstd -d c.zst",
            "zstd --decompress d.tzst",
            "zstd --uncompress c.zst two.zst",
            "zstd -d --rm c.zst d.tzst",
            "zstd -d c.zst -o a",
            "zstd -df c.zst -o a",
            "zstd -d c.zst -o new --no-sparse",
            "zstd -df c.zst d.tzst -o new",
            "zstd -d c.zst d.tzst -o new",
            "zstd -dc c.zst d.tzst",
            "zstd -d a",
            "zstd -dc a",
            "zstd -dcf a tiny c.zst",
            "zstd -df a -o new",
            "zstd -d --pass-through a -o new",
            "zstd -dcf --no-pass-through a",
            "zstd -dc empty",
            "zstd -dcf empty",
            "zstd -dcf tail.zst",
            "zstd -d --rm cut.zst",
            "zstd -dr sub",
            "zstd -d --output-dir-flat out c.zst d.tzst",
            "zstd -d --memory=1K c.zst",
            "zstd -d -M1M c.zst",
            "zstd -t c.zst two.zst",
            "zstd -t cut.zst c.zst",
            "zstd -t a",
            "zstd -t --rm c.zst",
            "zstd -D b a",
            "zstd -D missing a",
            "zstd -D sub a",
            "zstd --patch-from=b a -o new",
            "zstd --patch-from b a b",
            "zstd --patch-from=b -D b a",
            "zstd --patch-from=missing a",
            "zstd --bad a",
            "zstd -X a",
            "zstd --fast=0 a",
            "zstd --long=99 a",
            "zstd --zstd=wlog=99 a",
            "zstd --zstd=strat=99 a",
            "zstd a -o",
            "zstd --threads=x a",
            "zstd --maxdict a",
            "zstd -l",
            "zstd -l missing.zst",
            "zstdmt -3 a",
            "unzstd c.zst",
            "unzstd -c two.zst",
            "unzstd a",
            "unzstd -z a",
            "zstdcat c.zst two.zst",
            "zstdcat a tiny c.zst",
            "zstdcat missing a",
            "zstdcat tail.zst",
            "zstdcat -o new c.zst",
        ]
        .map(|line| (line, &b""[..])),
    );
}

fn pipes_do_what_they_do_with_zstd() {
    let data = &samples(400_000)[0].1;
    let frame = zstdkit::compress(data, &zstdkit::EncoderOptions::default()).expect("compressed");
    compare(
        [
            ("zstd", data),
            ("zstd -", data),
            ("zstd -9 -T2 -c", data),
            ("zstd -o new", data),
            ("zstd -o a", data),
            ("zstd - a", data),
            ("zstd --patch-from=a", data),
            ("zstd --patch-from=a --stream-size=400000", data),
            ("zstd --stream-size=400000", data),
            ("zstd --stream-size=7", data),
            ("zstd -d", &frame),
            ("zstd -dc -", &frame),
            ("zstd -d -o new", &frame),
            ("zstd -t", &frame),
            ("unzstd", &frame),
            ("zstdcat", &frame),
            ("zstdcat", data),
            ("zstd -d", data),
            ("zstd -dcf", data),
            ("zstd -l -", &frame),
        ]
        .map(|(line, input)| (line, &input[..])),
    );
}

fn listings_read_as_those_of_zstd() {
    let binary = Binary::new();
    let dir = directory();
    fixture(dir.path());
    for line in [
        "zstd -l c.zst",
        "zstd -l c.zst two.zst",
        "unzstd -l c.zst",
        "zstd -lv c.zst",
    ] {
        let mut rest = words(line).into_iter();
        let program = rest.next().expect("a name");
        let their = run(program.into(), dir.path(), rest, b"").expect(0);
        let our = binary.run(dir.path(), line, b"").expect(0);
        let cells = |run: &Run| {
            let text = run.text().replace("----", "");
            words(&text).join(" ")
        };
        assert_eq!(
            cells(&our).replace(" - ", " "),
            cells(&their).replace(" - ", " "),
            "{line}"
        );
    }
}

/// A directory of samples.
fn records(dir: &Path) {
    std::fs::create_dir(dir.join("records")).expect("made");
    let json = samples(400_000).swap_remove(0).1;
    for (at, record) in json.chunks(1000).enumerate() {
        file(dir, &format!("records/{at:03}"), record);
    }
}

fn dictionaries_of_either_are_used_by_the_other() {
    let binary = Binary::new();
    let dir = directory();
    records(dir.path());
    let ours = |line: &str| binary.run(dir.path(), line, b"").expect(0);
    let theirs = |line: &str| {
        let mut rest = words(line).into_iter();
        let program = rest.next().expect("a name");
        run(program.into(), dir.path(), rest, b"").expect(0)
    };
    ours("zstd -q --train -r records -o own --maxdict=8K --dictID=77");
    theirs("zstd -q --train -r records -o their --maxdict=8K --dictID=78");
    let record = std::fs::read(dir.path().join("records/007")).expect("read");
    for (dictionary, id) in [("own", 77), ("their", 78)] {
        let bytes = std::fs::read(dir.path().join(dictionary)).expect("read");
        assert_eq!(bytes[4..8], u32::to_le_bytes(id), "{dictionary}");
        assert!(bytes.len() <= 8192);
        let by_us = ours(&format!("zstd -D {dictionary} -c records/007")).stdout;
        let by_them = theirs(&format!("zstd -D {dictionary} -c records/007")).stdout;
        assert!(by_us.len() < record.len() / 3 && by_them.len() < record.len() / 3);
        file(dir.path(), "by-us.zst", &by_us);
        file(dir.path(), "by-them.zst", &by_them);
        let back = theirs(&format!("zstd -dc -D {dictionary} by-us.zst")).stdout;
        assert_eq!(back, record);
        let back = ours(&format!("zstd -dc -D {dictionary} by-them.zst")).stdout;
        assert_eq!(back, record);
    }
}

fn samples_become_a_dictionary() {
    let binary = Binary::new();
    let dir = directory();
    records(dir.path());
    let said = |line: &str, code| binary.run(dir.path(), line, b"").expect(code).stderr;
    let line = said("zstd --train-fastcover -r records --maxdict 4K", 0);
    assert!(line.starts_with("Save dictionary of size "), "{line}");
    assert!(line.ends_with(" into file dictionary\n"), "{line}");
    // What was compressed with it cannot be read without it.
    let kept = said("zstd --train -r records --maxdict=4K", 1);
    assert!(
        kept.contains("'dictionary' exists already\nhelp: add -f"),
        "{kept}"
    );
    assert_eq!(said("zstd -q -f --train -r records --maxdict=4K", 0), "");
    for (line, code, told) in [
        ("zstd --train records/001 -o d", 14, "fewer than 7 samples"),
        ("zstd --train -o d", 14, "--train needs files"),
        ("zstd --train missing -o d", 14, "cannot read 'missing'"),
        (
            "zstd --train-cover=x=9 -r records -o d",
            1,
            "--train-cover=x=9",
        ),
    ] {
        let text = said(line, code);
        assert!(text.contains(told), "{line}: {text}");
        assert!(!dir.path().join("d").exists(), "{line}");
    }
}

#[cfg(unix)]
fn existing_files_are_asked_about_at_a_terminal() {
    use std::io::Write as _;
    let binary = Binary::new();
    let dir = directory();
    let content: Vec<String> = (0..8).map(|at| format!("f{at}")).collect();
    for name in &content {
        file(dir.path(), name, name.as_bytes());
    }
    let kept = |name: &str| std::fs::read(dir.path().join(name)).expect("read") == b"kept";
    let asked = |answers: &[u8]| {
        for name in ["f3.zst", "f5.zst"] {
            file(dir.path(), name, b"kept");
        }
        let pty = nix::pty::openpty(None, None).expect("a terminal");
        let mut keyboard = std::fs::File::from(pty.master);
        keyboard.write_all(answers).expect("typed");
        let mut command = Command::new(binary.0.path().join("zstd"));
        command.current_dir(dir.path()).env("NO_COLOR", "1");
        let output = command.args(&content).stdin(pty.slave).output();
        let run = Run::from(output.expect("runs"));
        for name in ["f0.zst", "f1.zst", "f2.zst", "f4.zst", "f6.zst", "f7.zst"] {
            std::fs::remove_file(dir.path().join(name)).expect("done whatever the answer");
        }
        run
    };
    let run = asked(b"yes\nn\n").expect(1);
    let question = |name| format!("zstd: '{name}' exists already; overwrite (y/n)?");
    let (first, second) = (question("f3.zst"), question("f5.zst"));
    let order = run.stderr.find(&first).zip(run.stderr.find(&second));
    assert!(
        order.is_some_and(|(first, second)| first < second),
        "{}",
        run.stderr
    );
    assert!(
        run.stderr.contains("zstd: 'f5.zst' exists already\n"),
        "{}",
        run.stderr
    );
    assert!(!kept("f3.zst") && kept("f5.zst"));
    asked(b"n\ny\n").expect(1);
    assert!(kept("f3.zst") && !kept("f5.zst"));
    asked(b"y\nY\n").expect(0);
    assert!(!kept("f3.zst") && !kept("f5.zst"));
}

#[cfg(not(unix))]
fn existing_files_are_asked_about_at_a_terminal() {}

fn every_name_does_its_own() {
    let binary = Binary::new();
    let dir = directory();
    fixture(dir.path());
    let html = &samples(150_001)[1].1;
    binary.run(dir.path(), "zstd a", b"").expect(0);
    binary.run(dir.path(), "zstdmt b", b"").expect(0);
    binary.run(dir.path(), "unzstd c.zst", b"").expect(0);
    assert_eq!(&std::fs::read(dir.path().join("c")).expect("read"), html);
    let shown = binary.run(dir.path(), "zstdcat c.zst", b"").expect(0);
    assert!(&shown.stdout == html && shown.stderr.is_empty());
    let all = names(dir.path());
    assert!(all.contains(&"a.zst".into()) && all.contains(&"b.zst".into()));
}

fn what_is_said_and_when() {
    let binary = Binary::new();
    let dir = directory();
    fixture(dir.path());
    let said = |line: &str, code| binary.run(dir.path(), line, b"").expect(code).stderr;
    let line = said("zstd -f a", 0);
    assert!(line.starts_with("a                    :"), "{line}");
    assert!(
        line.ends_with(" KiB, a.zst)\n") && line.contains('%'),
        "{line}"
    );
    assert_eq!(
        said("zstd -f empty", 0),
        "empty                :  (     0 B =>     13 B, empty.zst)\n"
    );
    assert_eq!(
        said("zstd -dfo back a.zst", 0),
        "a.zst               : 150001 bytes\n"
    );
    assert_eq!(said("zstd -qf a", 0), "");
    assert_eq!(said("zstd -cf a", 0), "");
    let two = said("zstd -f a b", 0);
    assert!(
        two.starts_with("  2 files compressed :") && two.lines().count() == 1,
        "{two}"
    );
    assert_eq!(said("zstd -vf a b", 0).lines().count(), 4);
    let refused = said("zstd a", 1);
    assert!(
        refused.starts_with("zstd: 'a.zst' exists already\nhelp: add -f"),
        "{refused}"
    );
    assert!(said("zstd -q a", 1).contains("exists already"));
    assert_eq!(said("zstd -qq a", 1), "");
    let lowered = said("zstd -25 -f tiny", 0);
    assert!(lowered.starts_with("warning: compression level higher than max, reduced to 19"));
    let version = binary.run(dir.path(), "zstd -V", b"").expect(0);
    assert!(
        version.text().starts_with("*** Zstandard CLI (") && version.text().contains("-bit) v1.")
    );
    let bare = binary.run(dir.path(), "zstd -qV", b"").expect(0);
    assert_eq!(bare.text().trim(), zstdkit::version());
    let (short, long) = (
        binary.run(dir.path(), "zstd -h", b"").expect(0),
        binary.run(dir.path(), "zstd -H", b"").expect(0),
    );
    assert!(short.text().contains("Usage: zstd") && long.text().len() > short.text().len());
}

fn what_is_no_frame_passes_through() {
    let binary = Binary::new();
    let dir = directory();
    // Around the ends of the buffers that input comes in, where the first bytes of what is no
    // frame may be split.
    let noise = samples(300_000).swap_remove(5).1;
    let frame = zstdkit::compress(&noise, &zstdkit::EncoderOptions::default()).expect("compressed");
    let skip = |bytes: usize| {
        let mut skippable = 0x184d_2a50_u32.to_le_bytes().to_vec();
        skippable.extend(u32::try_from(bytes - 8).expect("small").to_le_bytes());
        skippable.resize(bytes, 7);
        skippable
    };
    for tail in [
        &b"x"[..],
        b"\x28\xb5\x2f",
        b"\x28\xb5\x2fno frame",
        b"plain, and on it goes",
    ] {
        for at in [262_140, 262_141, 262_142, 262_143, 262_144, 262_145] {
            let input = [&skip(at - 20)[..], &skip(20), tail].concat();
            let shown = binary.run(dir.path(), "zstdcat", &input);
            if tail.len() == 3 {
                shown.expect(1);
            } else {
                assert_eq!(shown.expect(0).stdout, tail, "at {at}");
            }
        }
        let alone = binary.run(dir.path(), "zstdcat", tail).expect(0);
        assert_eq!(alone.stdout, tail);
    }
    let mixed = [&frame[..], &noise].concat();
    let shown = binary.run(dir.path(), "zstdcat", &mixed).expect(0);
    assert!(shown.stdout == [&noise[..], &noise].concat());
    binary.run(dir.path(), "zstd -dc", &mixed).expect(1);
    // What is damaged is no other format.
    let damaged = [&frame[..1000], &noise].concat();
    binary.run(dir.path(), "zstdcat", &damaged).expect(1);
}

fn several_become_one_whole_or_not_at_all() {
    let binary = Binary::new();
    let dir = directory();
    fixture(dir.path());
    let read = |name: &str| std::fs::read(dir.path().join(name)).expect("read");
    let joined = [read("a"), read("b")].concat();
    let failed = binary
        .run(dir.path(), "zstd a b -o both.zst", b"")
        .expect(1);
    assert!(
        failed.stderr.contains("would contain 2 inputs"),
        "{}",
        failed.stderr
    );
    binary
        .run(dir.path(), "zstd -f --rm a b -o both.zst", b"")
        .expect(0);
    binary.run(dir.path(), "zstd -d both.zst", b"").expect(0);
    assert!(read("both") == joined, "and the sources are kept");
    let before = names(dir.path());
    binary
        .run(dir.path(), "zstd -df c.zst cut.zst -o new", b"")
        .expect(1);
    binary
        .run(dir.path(), "zstd -df c.zst missing.zst -o both", b"")
        .expect(1);
    assert_eq!(names(dir.path()), before);
    assert!(read("both") == joined);
    binary.run(dir.path(), "zstd -f a b -o a", b"").expect(1);
}

fn mistakes_end_with_one() {
    let binary = Binary::new();
    let dir = directory();
    fixture(dir.path());
    let before = names(dir.path());
    for (line, told) in [
        (
            "zstd --bad a",
            "zstd: Incorrect parameter: --bad\nhelp: usage: zstd",
        ),
        (
            "zstd --format=brotli a",
            "choose zstd, gzip, xz, lzma or lz4",
        ),
        ("zstd -f a -o a", "would become itself"),
        ("zstd -d a", "does not end in .zst"),
        (
            "zstd --output-dir-flat missing a",
            "create its directory first",
        ),
        ("zstd --output-dir-flat out a sub/../a", "the target of"),
        ("zstd --filelist=empty", "lists no files"),
        (
            "unzstd cut.zst",
            "unzstd: cannot decompress 'cut.zst': unexpected end",
        ),
    ] {
        let failed = binary.run(dir.path(), line, b"").expect(1);
        assert!(failed.stderr.contains(told), "{line}: {}", failed.stderr);
        assert_eq!(names(dir.path()), before, "{line}");
    }
}

fn variables_stand_in_for_flags() {
    let binary = Binary::new();
    let dir = directory();
    fixture(dir.path());
    let size = |level: &str, flag: &str| {
        let mut command = Command::new(binary.0.path().join("zstd"));
        command.current_dir(dir.path()).args(["-c", "a"]);
        command.args(words(flag)).env("ZSTD_CLEVEL", level);
        Run::from(feed(command, b"")).expect(0).stdout.len()
    };
    assert!(size("19", "") < size("1", ""));
    assert_eq!(size("19", "-1"), size("1", ""));
    assert_eq!(size("x", ""), size("3", ""));
}
