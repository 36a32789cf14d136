//! Archives that other programs write: the strict profile accepts all of them, from a file and from a pipe.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use libtest_mimic::{Failed, Trial};
use zipstream::ReadOptions;

use crate::verdict::{by_file, by_pipe};

/// What a line of shell needs, and the line: it writes `out.zip` of the folder `src`.
const LINES: &[(&str, &str)] = &[
    ("zip -v", "zip -qr out.zip src"),
    ("zip -v", "zip -q0r out.zip src"),
    ("zip -v", "zip -qryX out.zip src"),
    ("zip -v", "zip -qr -fz out.zip src"),
    ("zip -v", "zip -qr - src | cat >out.zip"),
    ("zip -v", "zip -qr -z out.zip src <<<comment"),
    ("zip -v", "zip -q - - <src/text | cat >out.zip"),
    ("zip -v", "cat src/text | zip -q out.zip -"),
    ("7zz i", "7zz a -tzip -bd out.zip src"),
    ("7zz i", "7zz a -tzip -bd -mx0 out.zip src"),
    ("7zz i", "7zz a -tzip -bd -mtc -snl out.zip src"),
    ("bsdtar --version", "bsdtar --format zip -cf out.zip src"),
    (
        "bsdtar --version",
        "bsdtar --format zip -cf - src | cat >out.zip",
    ),
    (
        "bsdtar --version",
        "bsdtar --format zip --options zip:zip64 -cf out.zip src",
    ),
    ("python3 --version", "python3 -m zipfile -c out.zip src"),
    (
        "python3 --version",
        "python3 -c \"import sys,zipfile as z; a=z.ZipFile(sys.stdout.buffer,'w',z.ZIP_DEFLATED); [a.write(f) for f in ('src','src/text','src/größe','src/empty')]; a.close()\" | cat >out.zip",
    ),
    (
        "python3 --version",
        "python3 -c \"import zipfile as z; a=z.ZipFile('out.zip','w'); i=z.ZipInfo('big'); f=a.open(i,'w',force_zip64=True); f.write(b'x'); f.close(); a.close()\"",
    ),
    (
        "go version",
        "go run \"$1/../../../../bench-peers/zip-interop/peer.go\" write src >out.zip",
    ),
    (
        "java -version",
        "java \"$1/../../../../bench-peers/zip-interop/Peer.java\" stream write src >out.zip",
    ),
];

/// A test of each line, each with whether what it needs is here.
pub(crate) fn trials() -> Vec<Trial> {
    let trial = |(needs, line): &(&str, &'static str)| {
        let here = Command::new("bash")
            .args(["-c", needs])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|status| status.success());
        let line = *line;
        Trial::test(format!("plain: {line}"), move || {
            accepted(line);
            Ok::<(), Failed>(())
        })
        .with_ignored_flag(!here)
    };
    LINES.iter().map(trial).collect()
}

fn accepted(line: &str) {
    let folder = tempfile::tempdir().expect("a directory");
    let source = folder.path().join("src");
    fs::create_dir_all(source.join("deep/er")).expect("made");
    fs::write(source.join("text"), "a line\n".repeat(3000)).expect("written");
    fs::write(source.join("empty"), "").expect("written");
    fs::write(source.join("größe"), "not ASCII").expect("written");
    fs::write(source.join("deep/er/one"), "1").expect("written");
    std::os::unix::fs::symlink("text", source.join("link")).expect("made");
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/contradictions");
    let output = Command::new("bash")
        .args(["-e", "-o", "pipefail", "-c", line, "bash"])
        .arg(here)
        .current_dir(folder.path())
        .env("LC_ALL", "C.UTF-8")
        .stdin(Stdio::null())
        .output()
        .expect("it runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{line}: {said}");
    let archive = fs::read(folder.path().join("out.zip")).expect("read");
    let strict = ReadOptions::strict();
    let (file, pipe) = (by_file(&archive, &strict), by_pipe(&archive, &strict));
    assert!(file.is_ok(), "{line}: {file:?}");
    assert_eq!(file, pipe, "{line}");
}
