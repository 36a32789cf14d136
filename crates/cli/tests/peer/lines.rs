//! Lines of shell with two programs of one name, on copies of one tree: what each leaves, prints and ends with.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;
use std::process::Command;

use crate::common::{Run, directory, feed};

/// What a file is: its kind, mode, time and content; compressed content is compared decompressed.
pub(crate) type Tree = BTreeMap<String, (u32, i64, Vec<u8>)>;

pub(crate) fn tree(dir: &Path, timed: bool) -> Tree {
    let mut found = Tree::new();
    let mut open = vec![dir.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in std::fs::read_dir(directory).expect("listed") {
            let path = entry.expect("an entry").path();
            let metadata = path.symlink_metadata().expect("there");
            if metadata.is_dir() {
                open.push(path);
                continue;
            }
            // A link may lead nowhere now.
            let bytes = std::fs::read(&path).unwrap_or_default();
            let time = if timed { metadata.mtime() } else { 0 };
            let name = path
                .strip_prefix(dir)
                .expect("inside")
                .display()
                .to_string();
            let mode = metadata.permissions().mode();
            found.insert(name, (mode, time, content(&bytes)));
        }
    }
    found
}

/// The content of compressed bytes, by the real programs; other bytes are what they are.
pub(crate) fn content(bytes: &[u8]) -> Vec<u8> {
    let program: &[&str] = match bytes {
        [0x1f, 0x8b, ..] => &["gzip", "-dcq"],
        [0xfd, b'7', b'z', b'X', b'Z', ..] | [0x5d, 0, ..] => &["xz", "-dcq"],
        [0x04, 0x22, 0x4d, 0x18, ..] => &["lz4", "-dcq"],
        [0x28, 0xb5, 0x2f, 0xfd, ..] => &["zstd", "-dcq", "--long=31"],
        _ => return bytes.to_vec(),
    };
    let mut command = Command::new(program[0]);
    command.args(&program[1..]);
    let mut out = feed(command, bytes).stdout;
    // What the header states: flags, time and name.
    if program[0] == "gzip" {
        out.extend_from_slice(&bytes[3..bytes.len().min(8)]);
        let name = bytes.get(10..).filter(|_| bytes[3] & 8 != 0);
        out.extend(name.into_iter().flatten().take_while(|byte| **byte != 0));
    }
    out
}

/// The binary under other names.
pub(crate) fn binary(names: &[&str]) -> tempfile::TempDir {
    let dir = directory();
    for name in names {
        let path = dir.path().join(name);
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_perfkit"), path).expect("linked");
    }
    dir
}

/// Makes a tree in a directory by lines of shell.
pub(crate) fn make(lines: &str, dir: &Path) {
    let mut command = Command::new("sh");
    command.args(["-c", lines]).current_dir(dir);
    let output = feed(command, b"");
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}");
}

/// Runs a line of shell with these programs first on PATH.
pub(crate) fn shell(line: &str, dir: &Path, bin: Option<&Path>) -> Run {
    let path = std::env::var("PATH").unwrap_or_default();
    let path = match bin {
        Some(bin) => format!("{}:{path}", bin.display()),
        None => path,
    };
    let mut command = Command::new("sh");
    command
        .args(["-c", line])
        .current_dir(dir)
        .env("PATH", path)
        .env("TZ", "UTC")
        .env("NO_COLOR", "1")
        .env_remove("GZIP");
    feed(command, b"").into()
}

/// Runs each line with both, theirs from `their_bin` if that is not on PATH, and tells what differs. `exact`: exit codes and times must agree, not only success.
pub(crate) fn compare(
    lines: &[&str],
    their_bin: Option<&Path>,
    bin: &Path,
    make: impl Fn(&Path),
    exact: bool,
) {
    let mut wrong = String::new();
    for line in lines {
        let (theirs, ours) = (directory(), directory());
        make(theirs.path());
        make(ours.path());
        let their = shell(line, theirs.path(), their_bin);
        let our = shell(line, ours.path(), Some(bin));
        let code = |run: &Run| run.code.map(|code| if exact { code } else { code.min(1) });
        if code(&our) != code(&their) {
            wrong += &format!(
                "{line}: ends with {:?}, not {:?}\n  {}  -- {}\n",
                our.code, their.code, our.stderr, their.stderr
            );
        }
        if content(&our.stdout) != content(&their.stdout) {
            let text = |run: &Run| {
                String::from_utf8_lossy(&run.stdout[..run.stdout.len().min(400)]).into_owned()
            };
            wrong += &format!(
                "{line}: standard output is\n{}not\n{}\n",
                text(&our),
                text(&their)
            );
        }
        let (theirs, ours) = (tree(theirs.path(), exact), tree(ours.path(), exact));
        let names: BTreeSet<_> = theirs.keys().chain(ours.keys()).collect();
        for name in names {
            let (own, other) = (ours.get(name), theirs.get(name));
            // What was just made has the time of now.
            let alike = match (own, other) {
                (Some(own), Some(other)) => {
                    let now = own.1.abs_diff(other.1) < 60;
                    own.0 == other.0 && now && own.2 == other.2
                }
                (None, None) => true,
                _ => false,
            };
            if !alike {
                let kind = |one: Option<&(u32, i64, Vec<u8>)>| {
                    one.map(|(mode, time, bytes)| format!("{mode:o} {time} {} bytes", bytes.len()))
                };
                wrong += &format!(
                    "{line}: '{name}' is {:?}, not {:?}\n  {}",
                    kind(own),
                    kind(other),
                    our.stderr
                );
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}
