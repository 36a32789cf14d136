//! Encrypted archives as users make and open them: passwords from files and from a terminal that
//! does not show them, and what happens without the right one.

use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;
use std::process::Stdio;

use crate::common::{code, directory, file, names, perfkit, pipe, run, samples, words};

/// Two files, one of them large, and their archive.
fn packed(dir: &Path, flags: &str) -> Vec<u8> {
    std::fs::create_dir(dir.join("src")).expect("made");
    file(dir, "src/large", &samples(1_400_000)[0].1);
    file(dir, "src/small", b"secret");
    file(dir, "right", b"open sesame\n");
    file(dir, "wrong", b"open barley");
    let line = format!("zip -r --password-file right a.zip src {flags}");
    run(dir, words(&line)).expect(0);
    std::fs::read(dir.join("a.zip")).expect("read")
}

fn assert_came_back(dir: &Path) {
    for name in ["large", "small"] {
        let read = |root: &str| std::fs::read(dir.join(root).join(name)).expect("read");
        assert!(read("src") == read("out/src"), "{name}");
    }
    std::fs::remove_dir_all(dir.join("out")).expect("removed");
}

#[test]
fn what_a_password_closes_it_opens() {
    for flags in [
        "--verify",
        "-T2 --aes 128",
        "-0 --aes 192 --verify",
        "-Z zstd",
    ] {
        let dir = directory();
        let archive = packed(dir.path(), flags);
        let line = "unzip -d out --password-file right --strict";
        run(dir.path(), words(&format!("{line} a.zip"))).expect(0);
        assert_came_back(dir.path());
        pipe(dir.path(), words(&format!("{line} -")), &archive).expect(0);
        assert_came_back(dir.path());
        let line = "unzip -qqp --password-file right a.zip src/small";
        assert_eq!(run(dir.path(), words(line)).expect(0).text(), "secret");
        let list = run(dir.path(), words("unzip -l a.zip")).expect(0);
        assert!(list.text().contains("encrypted"), "{}", list.text());
    }
}

#[test]
fn without_the_right_password_there_is_no_file() {
    let dir = directory();
    let archive = packed(dir.path(), "");
    for (flag, said) in [
        ("", "no password was given"),
        ("--password-file wrong", "wrong password"),
    ] {
        for input in ["a.zip", "-"] {
            let line = format!("unzip -d out {flag} {input}");
            let ended = pipe(dir.path(), words(&line), &archive);
            assert_eq!(ended.code, Some(3), "{}", ended.stderr);
            assert!(ended.stderr.contains(said), "{}", ended.stderr);
            let made = dir.path().join("out/src");
            assert!(names(&made).is_empty(), "{:?}", names(&made));
        }
    }
    let ended = run(dir.path(), words("zip --password-file none b.zip src -r")).expect(1);
    assert!(ended.stderr.contains("'none'"), "{}", ended.stderr);
    assert!(!dir.path().join("b.zip").exists());
}

#[test]
fn a_pipe_prints_nothing_unverified_unless_asked_to() {
    let dir = directory();
    let archive = packed(dir.path(), "");
    let line = "unzip -qqp - --password-file right src/small";
    let refused = pipe(dir.path(), words(line), &archive).expect(1);
    assert!(refused.stdout.is_empty());
    assert!(
        refused.stderr.contains("authenticates"),
        "{}",
        refused.stderr
    );
    let line = format!("{line} --unverified");
    let printed = pipe(dir.path(), words(&line), &archive).expect(0);
    assert_eq!(printed.text(), "secret");
}

#[test]
fn damage_is_told_from_a_wrong_password_and_leaves_no_file() {
    let dir = directory();
    let mut archive = packed(dir.path(), "-0");
    let at = archive.len() / 2;
    archive[at] ^= 4;
    file(dir.path(), "a.zip", &archive);
    for input in ["a.zip", "-"] {
        let line = format!("unzip -d out --password-file right {input}");
        let ended = pipe(dir.path(), words(&line), &archive).expect(3);
        let said = "entry 'src/large': authentication code mismatch";
        assert!(ended.stderr.contains(said), "{}", ended.stderr);
        assert!(!names(&dir.path().join("out/src")).contains(&"large".to_owned()));
    }
}

/// Runs perfkit with a terminal as its standard input, and types a line at each question.
fn typed(dir: &Path, line: &str, answers: &[&[u8]]) -> (Option<i32>, String) {
    let pty = nix::pty::openpty(None, None).expect("a terminal");
    let mut child = perfkit()
        .current_dir(dir)
        .args(words(line))
        .stdin(Stdio::from(pty.slave))
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it runs");
    let mut master = File::from(pty.master);
    let mut stderr = child.stderr.take().expect("a pipe");
    let mut said = Vec::new();
    let mut byte = [0];
    for answer in answers {
        // A question ends like this, and nothing else does.
        while !said.ends_with(b": ") || said.ends_with(b"perfkit: ") {
            if stderr.read(&mut byte).expect("read") == 0 {
                break;
            }
            said.push(byte[0]);
        }
        master.write_all(answer).expect("typed");
        said.push(b'|');
    }
    stderr.read_to_end(&mut said).expect("read");
    let code = code(child.wait().expect("it ends"));
    (code, String::from_utf8(said).expect("text"))
}

#[test]
fn a_terminal_is_asked_twice_and_shows_nothing() {
    let dir = directory();
    file(dir.path(), "a", b"content");
    file(dir.path(), "p", b"pass word\n");
    // A letter that is taken back, and a line that is begun anew.
    let answers: [&[u8]; 2] = [b"nonsense\x15pass wordx\x7f\r", b"pass word\n"];
    let (code, said) = typed(dir.path(), "zip -e a.zip a", &answers);
    assert_eq!(code, Some(0), "{said}");
    assert!(
        said.contains("password: ") && !said.contains("pass word"),
        "{said}"
    );
    run(dir.path(), words("unzip -d out --password-file p a.zip")).expect(0);

    let (code, said) = typed(dir.path(), "zip -e b.zip a", &[b"one\n", b"two\n"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("differ"), "{said}");
    let (code, _) = typed(dir.path(), "zip -e b.zip a", &[b"on\x03"]);
    assert_eq!(code, Some(130));
    assert!(!dir.path().join("b.zip").exists());

    let (code, said) = typed(dir.path(), "unzip -t a.zip", &[b"pass word\r"]);
    assert_eq!(code, Some(0), "{said}");
    let (code, said) = typed(dir.path(), "unzip -t a.zip", &[b"another\r"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("wrong password"), "{said}");
}

#[test]
fn a_pipe_goes_on_behind_an_entry_of_another_password() {
    let dir = directory();
    for (name, content) in [("one", "first"), ("two", "second"), ("other", "other\n")] {
        file(dir.path(), name, content.as_bytes());
    }
    file(dir.path(), "password", b"right\n");
    run(dir.path(), words("zip --password-file other a.zip one")).expect(0);
    run(
        dir.path(),
        words("zip --append --password-file password a.zip two"),
    )
    .expect(0);
    let archive = std::fs::read(dir.path().join("a.zip")).expect("read");
    let line = "unzip - -d out --password-file password";
    let ended = pipe(dir.path(), words(line), &archive).expect(3);
    assert!(ended.stderr.contains("'one'"), "{}", ended.stderr);
    assert_eq!(names(&dir.path().join("out")), ["two"]);
}

#[test]
fn nothing_is_added_in_the_clear_to_an_archive_of_encrypted_entries_unless_that_is_asked_for() {
    let dir = directory();
    let dir = dir.path();
    file(dir, "pw", b"secret");
    file(dir, "a", b"one");
    file(dir, "b", b"two");
    run(dir, "zip -q --password-file pw e.zip a".split(' ')).expect(0);
    let before = std::fs::read(dir.join("e.zip")).expect("read");
    for line in ["zip --append e.zip b", "zip -u e.zip b"] {
        let refused = run(dir, line.split(' ')).expect(2);
        assert!(
            refused.stderr.contains("has encrypted entries"),
            "{}",
            refused.stderr
        );
        assert_eq!(
            std::fs::read(dir.join("e.zip")).expect("read"),
            before,
            "{line}"
        );
    }
    run(dir, "zip -q --append --no-encrypt e.zip b".split(' ')).expect(0);
    run(dir, "zip -q --delete e.zip b".split(' ')).expect(0);
    run(dir, "zip -q --append --password-file pw e.zip b".split(' ')).expect(0);
    run(dir, "unzip -t --password-file pw e.zip".split(' ')).expect(0);
}
