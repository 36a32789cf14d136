//! Sources, targets and exports that could hurt one another: what is refused, kept and left behind.

use std::path::Path;

use crate::common::{self, directory, file, names, perfkit, run, samples, words};

fn read(dir: &Path, name: &str) -> Vec<u8> {
    std::fs::read(dir.join(name)).expect("read")
}

#[test]
fn names_that_lead_to_one_file_are_refused_before_any_work() {
    let dir = directory();
    std::fs::create_dir(dir.path().join("sub")).expect("made");
    for name in ["a", "b.zst", "b.tzst", "b.tar.zst"] {
        file(dir.path(), name, name.as_bytes());
    }
    let before = names(dir.path());
    for (line, told) in [
        (
            "compress a ./a",
            "the target of 'a' and the target of './a'",
        ),
        ("compress -f a a.zst", "a source and the target of 'a'"),
        ("compress -f a -o sub/../a", "would become itself"),
        ("decompress b.tzst b.tar.zst", "'b.tar' is the target of"),
        (
            "compress a -o x --export-csv sub/../x",
            "the file of --export-csv",
        ),
        (
            "compress -f a -o x --export-csv a",
            "'a' is read (a source) and would be overwritten (--export-csv)",
        ),
        (
            "compress -f a --patch-from b.zst -o ./b.zst",
            "the file of --patch-from and the target of 'a'",
        ),
        (
            "compress a --export-json r --export-csv ./r",
            "'./r' is named twice: by --export-json and by --export-csv",
        ),
        ("compress -c a --export-json -", "--export-json - would mix"),
        (
            "compress a --export-json - --export-csv -",
            "would mix two reports",
        ),
        (
            "env --export-json r --export-csv r",
            "'r' is named twice: by --export-json and by --export-csv",
        ),
    ] {
        let failed = run(dir.path(), words(line)).expect(2);
        assert!(failed.stderr.contains(told), "{line}: {}", failed.stderr);
        assert!(
            failed.stderr.contains("\nhelp: "),
            "{line}: {}",
            failed.stderr
        );
        assert!(failed.stdout.is_empty(), "{line}");
        assert_eq!(names(dir.path()), before, "{line}");
    }
    assert_eq!(read(dir.path(), "a"), b"a");
}

#[cfg(unix)]
#[test]
fn output_appended_to_its_own_source_is_refused() {
    let dir = directory();
    let path = file(dir.path(), "a", b"content");
    let append = std::fs::File::options()
        .append(true)
        .open(&path)
        .expect("opened");
    let mut command = perfkit();
    command
        .current_dir(dir.path())
        .args(["compress", "-c", "a"])
        .stdout(append);
    let failed = common::Run::from(command.output().expect("runs")).expect(2);
    assert!(
        failed.stderr.contains("standard output goes to 'a'"),
        "{}",
        failed.stderr
    );
    assert_eq!(read(dir.path(), "a"), b"content");
}

#[test]
fn removing_the_source_is_for_files_only_and_says_so() {
    let dir = directory();
    file(dir.path(), "a", b"content");
    let kept = run(dir.path(), ["compress", "--rm", "-c", "a"]).expect(0);
    assert!(kept.stderr.contains("sources are kept"), "{}", kept.stderr);
    assert!(
        !run(dir.path(), ["compress", "-q", "--rm", "-c", "a"])
            .expect(0)
            .stderr
            .contains("kept")
    );
    assert_eq!(names(dir.path()), ["a"]);
    file(dir.path(), "-", b"a file of an unlucky name");
    common::pipe(dir.path(), ["compress", "--rm", "-", "-o", "out"], b"piped").expect(0);
    assert_eq!(names(dir.path()), ["-", "a", "out"]);
    run(dir.path(), ["compress", "--rm", "a"]).expect(0);
    assert_eq!(names(dir.path()), ["-", "a.zst", "out"]);
}

/// Runs a command on `a`, slow enough that `meanwhile` happens while it is read.
fn slowly(dir: &Path, line: &str, meanwhile: impl FnOnce()) -> common::Run {
    file(dir, "a", &samples(2_500_000).swap_remove(3).1);
    let child = perfkit()
        .current_dir(dir)
        .args(words(line))
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("runs");
    let end = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while names(dir).len() < 2 {
        assert!(
            std::time::Instant::now() < end,
            "{line}: nothing is written"
        );
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    meanwhile();
    child.wait_with_output().expect("ends").into()
}

#[test]
#[ignore = "long: cargo xtask ci runs it"]
fn a_source_that_changes_while_it_is_read_is_kept() {
    let dir = directory();
    let failed = slowly(dir.path(), "compress -19 --rm a", || {
        use std::io::Write as _;
        let mut source = std::fs::File::options()
            .write(true)
            .open(dir.path().join("a"))
            .expect("opened");
        source.write_all(b"changed").expect("written");
    })
    .expect(1);
    assert!(
        failed
            .stderr
            .contains("cannot compress 'a': it was written to while it was read"),
        "{}",
        failed.stderr
    );
    assert!(read(dir.path(), "a").starts_with(b"changed"));
    assert_eq!(names(dir.path()), ["a"]);
    let failed = slowly(dir.path(), "compress -19 --rm a", || {
        std::fs::rename(dir.path().join("a"), dir.path().join("was")).expect("renamed");
        file(dir.path(), "a", b"another file");
    })
    .expect(1);
    assert!(
        failed.stderr.contains("so it was not removed"),
        "{}",
        failed.stderr
    );
    assert_eq!(read(dir.path(), "a"), b"another file");
}

#[test]
fn a_source_of_another_size_than_it_had_leaves_no_target() {
    let dir = directory();
    let failed = slowly(dir.path(), "compress -19 --rm a", || {
        let source = std::fs::File::options()
            .write(true)
            .open(dir.path().join("a"));
        source
            .and_then(|source| source.set_len(1_500_000))
            .expect("cut");
    })
    .expect(1);
    let told = "shrank from 2500000 to 1500000 bytes while it was read";
    assert!(failed.stderr.contains(told), "{}", failed.stderr);
    assert_eq!(names(dir.path()), ["a"]);
    let failed = slowly(dir.path(), "compress -19 a", || {
        let source = std::fs::File::options()
            .write(true)
            .open(dir.path().join("a"));
        source
            .and_then(|source| source.set_len(2_700_000))
            .expect("extended");
    })
    .expect(1);
    assert!(
        failed.stderr.contains("grew past 2500000 bytes"),
        "{}",
        failed.stderr
    );
    assert_eq!(names(dir.path()), ["a"]);
}

#[cfg(unix)]
#[test]
fn a_copy_is_never_wider_than_its_source_and_gets_its_owner() {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
    let dir = directory();
    let mode = |name: &str| dir.path().join(name).metadata().expect("there").mode() & 0o777;
    slowly(dir.path(), "compress -19 a", || {
        let names = names(dir.path());
        let temporary = names
            .iter()
            .find(|name| name.ends_with(".part"))
            .expect("a file");
        assert_eq!(mode(temporary) & 0o077, 0, "{:o}", mode(temporary));
    })
    .expect(0);
    let path = file(dir.path(), "b", b"content");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o456)).expect("set");
    if chown(&path, Some(4321), Some(4321)).is_err() {
        return;
    }
    run(dir.path(), ["compress", "b"]).expect(0);
    let target = dir.path().join("b.zst").metadata().expect("there");
    assert_eq!((target.uid(), target.gid()), (4321, 4321));
    assert_eq!(mode("b.zst"), 0o456);
}

#[test]
fn the_longest_names_work_and_longer_ones_fail_at_once() {
    let dir = directory();
    let (longest, longer) = ("n".repeat(251), "m".repeat(252));
    for name in [&longest, &longer] {
        file(dir.path(), name, b"content");
    }
    run(dir.path(), ["compress", &longest]).expect(0);
    run(dir.path(), ["compress", &longest, "-o", &"o".repeat(255)]).expect(0);
    let failed = run(dir.path(), ["compress", &longer]).expect(1);
    assert!(
        failed.stderr.contains("file name too long"),
        "{}",
        failed.stderr
    );
}

#[test]
fn an_empty_walk_is_no_failure_and_archives_are_walked_too() {
    let dir = directory();
    std::fs::create_dir_all(dir.path().join("tree")).expect("made");
    for command in ["compress", "decompress"] {
        let nothing = run(dir.path(), [command, "-r", "tree"]).expect(0);
        assert!(
            nothing.stderr.contains("nothing to do"),
            "{}",
            nothing.stderr
        );
    }
    file(dir.path(), "a", b"content");
    run(dir.path(), ["compress", "a", "-o", "tree/x.tzst"]).expect(0);
    let passed = run(dir.path(), ["compress", "-r", "tree"]).expect(0);
    assert!(passed.stderr.contains("1 files"), "{}", passed.stderr);
    run(dir.path(), ["decompress", "-r", "tree"]).expect(0);
    assert_eq!(read(dir.path(), "tree/x.tar"), b"content");
    for name in [".zst", ".tzst"] {
        file(dir.path(), name, b"");
        let failed = run(dir.path(), ["decompress", name]).expect(1);
        assert!(
            failed.stderr.contains("nothing but a suffix"),
            "{}",
            failed.stderr
        );
    }
}

#[test]
fn a_target_that_is_no_file_is_told_in_words() {
    let dir = directory();
    file(dir.path(), "a", b"content");
    for (target, told) in [
        ("..", "'..' is a directory"),
        ("new/", "'new/' is a directory"),
        ("no/x", "no such file or directory"),
        ("a/x", "not a directory"),
    ] {
        let failed = run(dir.path(), ["compress", "a", "-o", target]).expect(1);
        assert!(failed.stderr.contains(told), "{target}: {}", failed.stderr);
    }
    assert_eq!(names(dir.path()), ["a"]);
}

#[cfg(unix)]
#[test]
fn a_limit_on_file_sizes_is_an_error_that_leaves_nothing() {
    let dir = directory();
    file(dir.path(), "a", &samples(900_000).swap_remove(5).1);
    let mut command = std::process::Command::new("sh");
    let script = format!(
        "ulimit -f 8; exec '{}' compress -q a",
        env!("CARGO_BIN_EXE_perfkit")
    );
    command.current_dir(dir.path()).args(["-c", &script]);
    let failed = common::Run::from(command.output().expect("runs")).expect(1);
    assert!(
        failed.stderr.contains("file too large"),
        "{}",
        failed.stderr
    );
    assert_eq!(names(dir.path()), ["a"]);
}

#[cfg(unix)]
#[test]
fn an_export_to_a_closed_pipe_is_a_quiet_success() {
    let dir = directory();
    file(dir.path(), "a", b"content");
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let mut command = perfkit();
    command
        .current_dir(dir.path())
        .args(["compress", "a", "--export-json", "-"])
        .stdout(writer);
    let ended = common::Run::from(command.output().expect("runs")).expect(0);
    assert!(!ended.stderr.contains("perfkit:"), "{}", ended.stderr);
    assert_eq!(names(dir.path()), ["a", "a.zst"]);
}

#[cfg(target_os = "linux")]
#[test]
fn exports_are_written_when_the_report_cannot_be_printed() {
    let dir = directory();
    file(dir.path(), "a", b"content");
    let full = std::fs::File::options()
        .write(true)
        .open("/dev/full")
        .expect("opened");
    let mut command = perfkit();
    command
        .current_dir(dir.path())
        .args(["compress", "a", "--export-json", "r"])
        .stderr(full);
    assert_eq!(command.status().expect("runs").code(), Some(1));
    assert_eq!(names(dir.path()), ["a", "a.zst", "r"]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_terminal_gets_text_but_nothing_binary() {
    let dir = directory();
    for (name, content) in [("text", &b"a line\n"[..]), ("binary", b"\x1b[2J\0")] {
        file(dir.path(), name, content);
        run(dir.path(), ["compress", name]).expect(0);
    }
    let on_terminal = |line: &str| {
        let terminal = nix::pty::openpty(None, None).expect("a terminal");
        let mut command = perfkit();
        command
            .current_dir(dir.path())
            .args(words(line))
            .stdout(terminal.slave);
        common::Run::from(command.output().expect("runs"))
    };
    for line in ["compress -c text", "compress -o /dev/stdout text"] {
        let failed = on_terminal(line).expect(2);
        assert!(
            failed
                .stderr
                .starts_with("perfkit: standard output is a terminal"),
            "{}",
            failed.stderr
        );
    }
    on_terminal("compress -f -c text").expect(0);
    on_terminal("decompress -c text.zst").expect(0);
    // Control characters of content are shown there: see `shown.rs`.
    on_terminal("decompress -c binary.zst").expect(0);
    on_terminal("decompress -f -c binary.zst").expect(0);
    let terminal = nix::pty::openpty(None, None).expect("a terminal");
    let name = nix::unistd::ttyname(&terminal.slave).expect("a name");
    let failed = run(
        dir.path(),
        [
            "compress".as_ref(),
            "text".as_ref(),
            "-o".as_ref(),
            name.as_os_str(),
        ],
    )
    .expect(2);
    assert!(failed.stderr.contains("is a terminal"), "{}", failed.stderr);
}

#[test]
fn a_file_and_standard_output_are_not_one_target() {
    let dir = directory();
    common::file(dir.path(), "a", b"content");
    run(dir.path(), words("compress -q a")).expect(0);
    for line in [
        "compress -c -o X a",
        "compress -o X -c a",
        "decompress -c -o X a.zst",
        "decompress --to-stdout --output X a.zst",
    ] {
        let refused = run(dir.path(), words(line)).expect(2);
        assert!(refused.stdout.is_empty(), "{line}");
        assert!(!dir.path().join("X").exists(), "{line}");
    }
    for line in [
        "advise --code --threshold 200us",
        "advise --code a",
        "advise --code --size 64K",
    ] {
        run(dir.path(), words(line)).expect(2);
    }
}
