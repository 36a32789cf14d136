//! Certificates of authorities that a test makes with `openssl`, for servers and clients on this machine.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::peer;

/// Whether there is such a program.
pub(crate) fn is_here() -> bool {
    peer::works(Command::new("openssl").arg("version"))
}

/// Makes an authority in a directory: NAME.pem and NAME.key.
pub(crate) fn authority(dir: &Path, name: &str) {
    openssl(dir, name, &["-addext", "keyUsage=critical,keyCertSign"]);
}

/// Makes a certificate of 127.0.0.1 that an authority has signed: NAME.pem, NAME.key, and NAME.both with all of both.
pub(crate) fn signed(dir: &Path, authority: &str, name: &str) {
    let (certificate, key) = (format!("{authority}.pem"), format!("{authority}.key"));
    openssl(
        dir,
        name,
        &[
            "-CA",
            &certificate,
            "-CAkey",
            &key,
            "-addext",
            "subjectAltName=IP:127.0.0.1",
        ],
    );
    let read = |kind: &str| std::fs::read(dir.join(format!("{name}.{kind}"))).expect("read");
    std::fs::write(
        dir.join(format!("{name}.both")),
        [read("key"), read("pem")].concat(),
    )
    .expect("written");
}

fn openssl(dir: &Path, name: &str, words: &[&str]) {
    let status = Command::new("openssl")
        .args([
            "req",
            "-x509",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:P-256",
            "-noenc",
            "-days",
            "2",
        ])
        .args([
            "-subj",
            &format!("/CN={name}"),
            "-keyout",
            &format!("{name}.key"),
            "-out",
            &format!("{name}.pem"),
        ])
        .args(words)
        .current_dir(dir)
        .stderr(Stdio::null())
        .status();
    assert!(status.expect("openssl runs").success(), "{name}");
}
