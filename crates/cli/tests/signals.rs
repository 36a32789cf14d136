//! Signals: the first ends the work with a valid partial report, the second at once; neither leaves
//! a temporary file.

#![cfg(unix)]

use std::io::Write as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::common::signals::{send, until, until_signals_are_handled};
use crate::common::{self, directory, names, perfkit, samples};
use nix::sys::signal::Signal;

/// A run that has begun, and waits for input that does not come.
fn waiting(dir: &Path, mut command: Command, exports: &str) -> Child {
    let mut child = command
        .current_dir(dir)
        .args(["compress", "-", "-o", "out"])
        .args(common::words(exports))
        .stdin(Stdio::piped())
        .spawn()
        .expect("runs");
    let stdin = child.stdin.as_mut().expect("a pipe");
    stdin
        .write_all(&samples(600_000).swap_remove(0).1)
        .expect("written");
    until("two temporary files", || names(dir).len() == 2);
    child
}

#[test]
fn every_signal_that_asks_to_end_is_heeded_between_steps() {
    for signal in [Signal::SIGTERM, Signal::SIGHUP, Signal::SIGXCPU] {
        // What `timeout` and a closing terminal do is no second wish. A busy machine may let so much time go by
        // between both that it is one.
        assert!((0..10).any(|_| is_heeded_once(signal)), "{signal}");
    }
}

/// Sends a signal twice, and says whether it was taken for one.
fn is_heeded_once(signal: Signal) -> bool {
    let dir = directory();
    let mut command = perfkit();
    command.stderr(Stdio::piped());
    let mut child = waiting(dir.path(), command, "--export-json r");
    // The input must not end before the signal has arrived.
    let _stdin = child.stdin.take();
    send(&child, signal);
    send(&child, signal);
    common::Run::from(child.wait_with_output().expect("ends")).expect(130);
    let left = names(dir.path());
    if left.is_empty() {
        return false;
    }
    assert_eq!(left, ["r"], "{signal}");
    let report = std::fs::read(dir.path().join("r")).expect("a report");
    let report = latency::report::read_json(&report).expect("a valid report");
    assert!(!report.complete);
    true
}

/// The signal that ended a process.
fn ended_by(status: std::process::ExitStatus) -> Option<i32> {
    std::os::unix::process::ExitStatusExt::signal(&status)
}

#[test]
fn an_interrupted_run_ends_by_the_signal_so_that_a_loop_of_the_shell_ends_too() {
    // The first interrupt, after the report; SIGTERM has its exit code.
    for (signal, by, code) in [
        (Signal::SIGINT, Some(Signal::SIGINT as i32), None),
        (Signal::SIGTERM, None, Some(130)),
    ] {
        let dir = directory();
        let mut command = perfkit();
        command.stderr(Stdio::piped()).stdout(Stdio::piped());
        let mut child = waiting(dir.path(), command, "--export-json r --report json");
        let _stdin = child.stdin.take();
        send(&child, signal);
        let ended = child.wait_with_output().expect("ends");
        assert_eq!((ended_by(ended.status), ended.status.code()), (by, code));
        // What is printed and what is exported is whole.
        let report = std::fs::read(dir.path().join("r")).expect("a report");
        assert!(!latency::report::read_json(&report).expect("valid").complete);
        let printed = latency::report::read_json(&ended.stderr).expect("valid");
        assert_eq!(printed.exit_code, 130);
    }
}

#[test]
fn under_the_names_of_other_programs_any_signal_ends_by_itself() {
    for name in ["gzip", "xz", "zstd"] {
        for signal in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP] {
            let dir = directory();
            let program = common::link_as(dir.path(), name);
            let mut child = common::linked(&program)
                .current_dir(dir.path())
                .args(["-d", "-c"])
                .stdin(Stdio::piped())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .expect("runs");
            until_signals_are_handled(&child);
            send(&child, signal);
            // Its input stays open: nothing else ends it.
            until("the end", || child.try_wait().expect("asked").is_some());
            let status = child.wait().expect("ended");
            assert_eq!(ended_by(status), Some(signal as i32), "{name} {status}");
        }
    }
}

#[test]
fn an_interrupt_at_any_moment_of_the_start_is_heeded() {
    let dir = directory();
    for nth in 0..60 {
        let mut child = perfkit()
            .current_dir(dir.path())
            .args(["compress", "-qqc"])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("runs");
        // Where signals are ignored, another program runs first and must have set them back.
        common::until_perfkit_runs(&child);
        std::thread::sleep(Duration::from_micros(500 * nth));
        send(&child, Signal::SIGINT);
        // Its input stays open: nothing else ends it.
        until("the end", || child.try_wait().expect("asked").is_some());
        let status = child.wait().expect("ended");
        assert_eq!(common::code(status), Some(130), "{nth}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_second_interrupt_leaves_no_temporary_file() {
    let dir = directory();
    // A full pipe that nobody reads: the exports of the first interrupt get no further.
    let (_reader, mut writer) = std::io::pipe().expect("a pipe");
    writer.write_all(&[b' '; 1 << 16]).expect("filled");
    let mut command = perfkit();
    command.stdout(writer).stderr(Stdio::null());
    let mut child = waiting(dir.path(), command, "--export-json - --export-csv r");
    send(&child, Signal::SIGINT);
    until("the target is given up", || names(dir.path()).len() == 1);
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(
        child.try_wait().expect("asked"),
        None,
        "it waits for the pipe"
    );
    assert_eq!(names(dir.path()).len(), 1, "the export is not written yet");
    send(&child, Signal::SIGINT);
    let ended = child.wait().expect("ends");
    assert_eq!(common::code(ended), Some(130));
    assert!(names(dir.path()).is_empty(), "{:?}", names(dir.path()));
}

#[test]
fn a_signal_that_was_ignored_from_the_start_stays_so() {
    let dir = directory();
    let mut command = Command::new("sh");
    let script = format!(
        "trap '' HUP; exec '{}' \"$@\"",
        env!("CARGO_BIN_EXE_perfkit")
    );
    command.args(["-c", &script, "sh"]).stderr(Stdio::piped());
    let child = waiting(dir.path(), command, "--export-json r");
    send(&child, Signal::SIGHUP);
    std::thread::sleep(Duration::from_millis(200));
    common::Run::from(child.wait_with_output().expect("ends")).expect(0);
    assert_eq!(names(dir.path()), ["out", "r"]);
}

#[test]
fn waiting_for_the_other_end_of_a_fifo_can_be_interrupted() {
    for arguments in [
        ["fifo", "-o", "out"],
        ["a", "-o", "fifo"],
        ["a", "--export-json", "fifo"],
    ] {
        let dir = directory();
        common::file(dir.path(), "a", b"content");
        let made = Command::new("mkfifo").arg(dir.path().join("fifo")).status();
        assert!(made.expect("mkfifo runs").success());
        let mut child = perfkit()
            .current_dir(dir.path())
            .arg("compress")
            .args(arguments)
            .stderr(Stdio::null())
            .spawn()
            .expect("runs");
        until_signals_are_handled(&child);
        std::thread::sleep(Duration::from_millis(100));
        assert_eq!(child.try_wait().expect("asked"), None, "{arguments:?}");
        send(&child, Signal::SIGINT);
        assert_eq!(
            common::code(child.wait().expect("ends")),
            Some(130),
            "{arguments:?}"
        );
        assert_eq!(names(dir.path()), ["a", "fifo"]);
    }
}
