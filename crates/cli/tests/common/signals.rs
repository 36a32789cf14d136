//! Signals to a running binary, and waiting for what it does: for an event, never for a time alone,
//! so that a busy machine makes a test slow and not wrong.

#![allow(dead_code, reason = "each test binary uses its own part of this")]

use std::process::Child;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// Longer than anything that is waited for may take.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

pub(crate) fn pid(child: &Child) -> Pid {
    Pid::from_raw(i32::try_from(child.id()).expect("a pid"))
}

pub(crate) fn send(child: &Child, signal: Signal) {
    kill(pid(child), signal).expect("sent");
}

pub(crate) fn until(what: &str, mut is: impl FnMut() -> bool) {
    let started = Instant::now();
    while !is() {
        assert!(started.elapsed() < PATIENCE, "never: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Waits until the process has its own handlers for signals, of which that for SIGXCPU is the last: from then on it
/// ends between steps. Where the system does not tell, a little time has to do.
pub(crate) fn until_signals_are_handled(child: &Child) {
    if !cfg!(target_os = "linux") {
        std::thread::sleep(Duration::from_millis(500));
        return;
    }
    let bit = 1 << (Signal::SIGXCPU as u32 - 1);
    until("handlers of signals", || {
        super::signal_mask(&child.id().to_string(), "SigCgt:") & bit != 0
    });
}
