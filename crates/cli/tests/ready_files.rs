//! The file of `--ready-file` is there while a server answers, and at no other time.

use std::path::Path;
use std::process::{Child, Stdio};

use nix::sys::signal::Signal;

use crate::common::signals::{send, until};
use crate::common::{directory, file, perfkit, run, words};

/// Commands that listen, each with an address that this machine does not have in its place.
const ROWS: &[(&str, &str)] = &[
    #[cfg(feature = "serve")]
    (
        "betree serve --domains domains --listen 127.0.0.1:0 --ready-file ready",
        "betree serve --domains domains --listen 192.0.2.1:1 --ready-file ready",
    ),
    (
        "fix acceptor --settings right.cfg --app echo --ready-file ready",
        "fix acceptor --settings none.cfg --app echo --ready-file ready",
    ),
    (
        "fix certify --listen 127.0.0.1:0 --versions 4.4 --wait 5m --ready-file ready",
        "fix certify --listen 192.0.2.1:1 --versions 4.4 --wait 5m --ready-file ready",
    ),
];

fn start(dir: &Path, line: &str) -> Child {
    perfkit()
        .current_dir(dir)
        .args(words(line))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts")
}

#[test]
fn a_ready_file_is_there_while_a_server_answers() {
    for &(line, fails) in ROWS {
        let dir = directory();
        file(dir.path(), "domains", b"a|boolean|true\n");
        let settings = b"[DEFAULT]\nConnectionType=acceptor\nSocketAcceptPort=0\nSocketAcceptAddress=127.0.0.1\n\
              NonStopSession=Y\nSenderCompID=A\nTargetCompID=B\n[SESSION]\nBeginString=FIX.4.4\n";
        file(dir.path(), "right.cfg", settings);
        let ready = dir.path().join("ready");
        let said = || std::fs::read_to_string(&ready).unwrap_or_default();
        // One that cannot start.
        file(dir.path(), "ready", b"of a run before");
        let failed = run(dir.path(), words(fails));
        assert!(failed.code.is_some_and(|code| code != 0), "{fails}");
        assert!(!ready.exists(), "{fails}: {}", failed.stderr);
        // One that is asked to end, where another one was killed.
        let mut killed = start(dir.path(), line);
        until(line, || said().contains("127.0.0.1:"));
        killed.kill().expect("killed");
        killed.wait().expect("ended");
        assert!(!said().is_empty(), "nobody could remove it");
        file(dir.path(), "ready", b"of the one that was killed");
        let mut server = start(dir.path(), line);
        until(line, || said().contains("127.0.0.1:"));
        send(&server, Signal::SIGTERM);
        server.wait().expect("ended");
        assert!(!ready.exists(), "{line}");
    }
}

#[test]
fn a_server_that_ends_leaves_the_ready_file_of_the_next_one() {
    let dir = directory();
    let (line, _) = ROWS[ROWS.len() - 1];
    let ready = dir.path().join("ready");
    let mut first = start(dir.path(), line);
    until("the first one", || ready.exists());
    let before = std::fs::read_to_string(&ready).expect("read");
    let mut second = start(dir.path(), line);
    until("the second one", || {
        std::fs::read_to_string(&ready).is_ok_and(|now| now != before && now.ends_with('\n'))
    });
    let now = std::fs::read_to_string(&ready).expect("read");
    send(&first, Signal::SIGTERM);
    first.wait().expect("ended");
    assert_eq!(std::fs::read_to_string(&ready).expect("it stays"), now);
    send(&second, Signal::SIGTERM);
    second.wait().expect("ended");
    assert!(!ready.exists());
}
