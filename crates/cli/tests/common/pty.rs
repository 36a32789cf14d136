//! Running a command with terminals as its standard output and standard error.

use std::fs::File;
use std::io::Read as _;
use std::os::fd::OwnedFd;
use std::process::Command;
use std::thread::JoinHandle;

use nix::sys::termios::{SetArg, cfmakeraw, tcgetattr, tcsetattr};

/// What came out on the terminals, to the byte.
#[derive(Debug)]
pub(crate) struct Shown {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
}

/// A terminal that changes nothing, and whoever reads what is written to it.
fn terminal() -> (OwnedFd, JoinHandle<Vec<u8>>) {
    let pty = nix::pty::openpty(None, None).expect("a terminal");
    let mut settings = tcgetattr(&pty.slave).expect("settings");
    cfmakeraw(&mut settings);
    tcsetattr(&pty.slave, SetArg::TCSANOW, &settings).expect("set");
    let mut master = File::from(pty.master);
    let reader = std::thread::spawn(move || {
        let (mut all, mut piece) = (Vec::new(), [0; 4096]);
        // The end of a terminal is an error.
        while let Ok(count @ 1..) = master.read(&mut piece) {
            all.extend_from_slice(&piece[..count]);
        }
        all
    });
    (pty.slave, reader)
}

/// Runs `command` on two terminals of its own.
pub(crate) fn run(mut command: Command) -> Shown {
    let (stdout, out) = terminal();
    let (stderr, err) = terminal();
    let mut child = command
        .stdout(stdout)
        .stderr(stderr)
        .spawn()
        .expect("perfkit runs");
    // It holds our ends of the terminals.
    drop(command);
    let status = child.wait().expect("it ends");
    Shown {
        code: super::code(status),
        stdout: out.join().expect("read"),
        stderr: err.join().expect("read"),
    }
}
