//! Nothing that is written is what is read: exit 2 before the work starts, with `-f` or without, and
//! every file as it was.

#![cfg(unix)]

use std::fs::{File, OpenOptions};
use std::path::Path;

use crate::common::{Run, directory, file, names, perfkit, run};

const MESSAGE: &[u8] =
    b"8=FIX.4.4|9=50|35=0|49=BUY|56=SELL|34=7|52=20260305-14:15:16.789|10=003|\n";

/// Runs the binary with standard output (or standard error) appended to a file.
fn append(dir: &Path, words: &str, stream: &str, name: &str) -> Run {
    let sink = OpenOptions::new()
        .append(true)
        .create(true)
        .open(dir.join(name));
    let sink = sink.expect("opened");
    let mut command = perfkit();
    command.current_dir(dir).args(words.split(' '));
    match stream {
        "stdout" => command.stdout(sink),
        _ => command.stderr(sink),
    };
    command.output().expect("perfkit runs").into()
}

#[test]
fn what_is_read_is_not_appended_to_by_a_standard_stream() {
    let dir = directory();
    let dir = dir.path();
    file(dir, "log", MESSAGE);
    std::fs::hard_link(dir.join("log"), dir.join("hard")).expect("linked");
    file(dir, "expressions", b"e > 1\n");
    for command in [
        "fix parse log",
        "fix print log",
        "fix anonymize log",
        "fix stats log",
        "fix fills log",
        "fix diff log other",
        "fix replay --speed 0 log",
        "compress -c log",
        "decompress -c log",
        "compress-bench log",
        "unzip -p log",
        "unzip -l log",
        "betree match --expressions expressions --events log",
        "betree explain --id 1 --expressions log",
        "report log",
        "compare log log",
        "zip - log",
        "zip -q - log",
    ] {
        for name in ["log", "hard"] {
            let refused = append(dir, command, "stdout", name).expect(2);
            assert!(
                refused.stderr.contains("standard output"),
                "{command}: {}",
                refused.stderr
            );
            assert_eq!(
                std::fs::read(dir.join("log")).expect("read"),
                MESSAGE,
                "{command}"
            );
        }
    }
    // A report on standard error is no better; without one there is nothing to refuse.
    append(dir, "fix parse log", "stderr", "log").expect(2);
    append(dir, "fix parse -qq log", "stderr", "log").expect(0);
    // What was appended is the one line that says so, by whoever has nothing else to say it on.
    let left = std::fs::read(dir.join("log")).expect("read");
    assert!(left.starts_with(MESSAGE));
}

#[test]
fn standard_input_is_a_file_too() {
    let dir = directory();
    let dir = dir.path();
    file(dir, "log", MESSAGE);
    for command in [
        "fix anonymize -",
        "fix anonymize",
        "compress -c",
        "compress",
    ] {
        let sink = OpenOptions::new()
            .append(true)
            .open(dir.join("log"))
            .expect("opened");
        let refused = perfkit()
            .current_dir(dir)
            .args(command.split(' '))
            .stdin(File::open(dir.join("log")).expect("opened"))
            .stdout(sink)
            .output();
        Run::from(refused.expect("perfkit runs")).expect(2);
        assert_eq!(
            std::fs::read(dir.join("log")).expect("read"),
            MESSAGE,
            "{command}"
        );
    }
}

#[test]
fn an_archive_is_not_made_of_itself_alone() {
    let dir = directory();
    let dir = dir.path();
    file(dir, "a", b"one");
    file(dir, "b", b"two");
    run(dir, ["zip", "-q", "x.zip", "a"]).expect(0);
    let before = std::fs::read(dir.join("x.zip")).expect("read");
    for words in ["zip --force x.zip x.zip", "zip --force x.zip ./x.zip x.zip"] {
        run(dir, words.split(' ')).expect(2);
        assert_eq!(
            std::fs::read(dir.join("x.zip")).expect("read"),
            before,
            "{words}"
        );
    }
    // Among others it is left out, as when a shell names all files of a directory.
    let packed = run(dir, ["zip", "--force", "x.zip", "a", "b", "x.zip"]).expect(0);
    assert!(
        packed.stderr.contains("not packed into itself"),
        "{}",
        packed.stderr
    );
    let listed = run(dir, ["unzip", "-l", "--report", "csv", "x.zip"]).expect(0);
    assert!(!listed.text().contains("x.zip,"), "{}", listed.text());
    // The same behind standard output.
    let out = File::create(dir.join("y.zip")).expect("made");
    let packed = perfkit()
        .current_dir(dir)
        .args(["zip", "-r", "-", "."])
        .stdout(out)
        .output();
    Run::from(packed.expect("perfkit runs")).expect(0);
    run(dir, ["unzip", "-t", "y.zip"]).expect(0);
    let listed = run(dir, ["unzip", "-l", "y.zip"]).expect(0);
    assert!(!listed.text().contains("y.zip\n"), "{}", listed.text());
}

#[test]
fn an_entry_does_not_take_the_place_of_the_archive_it_comes_from() {
    let dir = directory();
    let dir = dir.path();
    let inner = dir.join("inner");
    std::fs::create_dir(&inner).expect("made");
    file(&inner, "x.zip", b"not an archive");
    file(&inner, "large", &vec![b'x'; 3 << 20]);
    file(&inner, "a", b"one");
    file(&inner, "password", b"secret");
    run(&inner, "zip -q ../x.zip a x.zip large password".split(' ')).expect(0);
    let before = std::fs::read(dir.join("x.zip")).expect("read");
    let kept = run(dir, ["unzip", "--overwrite", "x.zip"]).expect(3);
    assert!(kept.stderr.contains("'x.zip'"), "{}", kept.stderr);
    assert_eq!(std::fs::read(dir.join("x.zip")).expect("read"), before);
    assert_eq!(std::fs::read(dir.join("a")).expect("read"), b"one");
    // By any name that leads to it, and a large entry as well.
    std::fs::rename(dir.join("x.zip"), dir.join("archive")).expect("moved");
    std::fs::remove_file(dir.join("large")).expect("removed");
    std::os::unix::fs::symlink("archive", dir.join("link")).expect("linked");
    std::fs::hard_link(dir.join("archive"), dir.join("large")).expect("linked");
    let kept = run(dir, ["unzip", "--overwrite", "link"]).expect(3);
    assert!(kept.stderr.contains("'large'"), "{}", kept.stderr);
    assert_eq!(std::fs::read(dir.join("archive")).expect("read"), before);
    assert!(names(dir).iter().all(|name| !name.ends_with(".part")));
}
