//! `compare --interleave` and signals: the command that runs ends with perfkit, whoever was
//! signalled and whatever the command thinks of it.

#![cfg(unix)]

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::common::signals::{send, until};
use crate::common::{Run, directory, perfkit};
use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// Starts a comparison of a script with itself. It writes its process number into `pid` once it has done what is
/// `first`.
fn start(dir: &Path, first: &str, script: &str) -> Child {
    let script = format!("{first} echo $$ > pid.new; mv pid.new pid; {script}");
    let mut command = perfkit();
    command
        .current_dir(dir)
        .args(["compare", "--report", "json", "--interleave", "9x1"]);
    command.args(["--", "sh", "-c", &script, "--", "sh", "-c", &script]);
    command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("runs")
}

/// The number of the command that runs.
fn running(dir: &Path) -> Pid {
    let number = || std::fs::read_to_string(dir.join("pid"));
    until("a command is started", || number().is_ok());
    let number = number().expect("a number");
    Pid::from_raw(number.trim().parse().expect("a number"))
}

fn ended_as_a_partial_report(child: Child) {
    let ended = Run::from(child.wait_with_output().expect("ends")).expect(130);
    let report = latency::report::read_json(&ended.stdout).expect("a valid report");
    assert!(!report.complete);
    assert_eq!(report.exit_code, 130);
}

#[test]
fn a_signal_to_perfkit_alone_ends_the_command_too() {
    for signal in [Signal::SIGINT, Signal::SIGTERM] {
        let dir = directory();
        let child = start(dir.path(), "", "exec sleep 100");
        let command = running(dir.path());
        send(&child, signal);
        ended_as_a_partial_report(child);
        assert_eq!(kill(command, None), Err(Errno::ESRCH), "{signal}");
    }
}

#[test]
fn a_command_that_will_not_end_is_ended() {
    for (first, script, stop) in [
        ("trap '' TERM INT;", "while :; do sleep 0.05; done", false),
        ("", "exec sleep 100", true),
    ] {
        let dir = directory();
        let child = start(dir.path(), first, script);
        let command = running(dir.path());
        if stop {
            kill(command, Signal::SIGSTOP).expect("sent");
        }
        send(&child, Signal::SIGTERM);
        ended_as_a_partial_report(child);
        assert_eq!(kill(command, None), Err(Errno::ESRCH), "{script}");
    }
}

#[test]
fn a_second_signal_ends_both_at_once() {
    // The second one has to come before the command's grace is over, which a busy machine may be too late for.
    assert!((0..10).any(|_| a_second_signal_comes_in_time()));
}

/// Whether it came before the command was ended for not heeding the first one.
fn a_second_signal_comes_in_time() -> bool {
    let dir = directory();
    let heeds = "trap 'touch asked' TERM INT;";
    let child = start(dir.path(), heeds, "while :; do sleep 0.05; done");
    let command = running(dir.path());
    send(&child, Signal::SIGINT);
    until("the command is asked to end", || {
        dir.path().join("asked").exists()
    });
    // Sooner it would be the same wish; the grace of the command is not over yet.
    std::thread::sleep(Duration::from_millis(400));
    send(&child, Signal::SIGINT);
    let ended = Run::from(child.wait_with_output().expect("ends")).expect(130);
    until("the command has ended", || {
        kill(command, None).is_err() || is_dead(command)
    });
    // At once is without a report.
    ended.stdout.is_empty()
}

/// Whether all that is left of a process is its entry, which the system's first process clears.
fn is_dead(pid: Pid) -> bool {
    let status = Command::new("ps")
        .args(["-o", "stat=", "-p", &pid.to_string()])
        .output();
    status.is_ok_and(|out| out.stdout.starts_with(b"Z"))
}
