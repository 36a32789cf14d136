//! The readers: programs that extract, and libraries that print what they read.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::fields::crc32;
use crate::reading::{Item, Reading, tidy};

/// How a reader is asked.
pub(crate) enum How {
    /// A line of shell that extracts `$1` into the working directory, and one that lists its names.
    Program(&'static str, Option<&'static str>),
    /// A line of shell that prints what it makes of every archive in the folder `$1`; `$2` has the sources.
    Library(&'static str),
}

/// A reader: its name, a line of shell that fails where it is absent, and how it is asked.
pub(crate) struct Reader {
    pub(crate) name: &'static str,
    here: &'static str,
    how: How,
    /// The highest status with which it has refused nothing.
    warns: i32,
    /// Whether it knows links, and restores times.
    links: bool,
}

/// All of them, in the order of the table.
pub(crate) const ALL: &[Reader] = &[
    Reader {
        name: "unzip",
        here: "unzip -v",
        how: How::Program("unzip -o -P x \"$1\"", Some("unzip -Z1 \"$1\"")),
        warns: 1,
        links: true,
    },
    Reader {
        name: "7zz",
        here: "7zz i",
        how: How::Program(
            "7zz x -y -px \"$1\"",
            Some("7zz l -slt -ba -px \"$1\" | sed -n 's/^Path = //p'"),
        ),
        warns: 1,
        links: true,
    },
    Reader {
        name: "bsdtar",
        here: "bsdtar --version",
        how: How::Program(
            "bsdtar --passphrase x -xf \"$1\"",
            Some("bsdtar --passphrase x -tf \"$1\""),
        ),
        warns: 0,
        links: true,
    },
    Reader {
        name: "bsdtar, pipe",
        here: "bsdtar --version",
        how: How::Program("cat \"$1\" | bsdtar --passphrase x -xf -", None),
        warns: 0,
        links: false,
    },
    Reader {
        name: "Python",
        here: "python3 --version",
        how: How::Library("python3 \"$2/read.py\" \"$1\""),
        warns: 0,
        links: false,
    },
    Reader {
        name: "Go",
        here: "go version",
        how: How::Library("go run \"$2/read.go\" \"$1\""),
        warns: 0,
        links: false,
    },
    Reader {
        name: "Java",
        here: "java -version",
        how: How::Library("java \"$2/Read.java\" file \"$1\""),
        warns: 0,
        links: false,
    },
    Reader {
        name: "Java, stream",
        here: "java -version",
        how: How::Library("java \"$2/Read.java\" stream \"$1\""),
        warns: 0,
        links: false,
    },
];

fn shell(line: &str, words: &[&Path], dir: &Path) -> Command {
    let mut command = Command::new("timeout");
    // The C library's UTF-8, and no zone: times of DOS are UTC.
    command
        .args(["120", "bash", "-o", "pipefail", "-c", line, "bash"])
        .args(words)
        .current_dir(dir)
        .envs([("LC_ALL", "C.UTF-8"), ("TZ", "UTC")])
        .stdin(Stdio::null())
        .stderr(Stdio::null());
    command
}

impl Reader {
    /// Whether it is here.
    pub(crate) fn is_here(&self) -> bool {
        let here = Path::new("/");
        let mut command = shell(self.here, &[], here);
        command
            .stdout(Stdio::null())
            .status()
            .is_ok_and(|status| status.success())
    }

    /// What it makes of each archive in a folder, by file name.
    pub(crate) fn read(&self, folder: &Path, files: &[String]) -> BTreeMap<String, Reading> {
        match &self.how {
            How::Program(extract, list) => files
                .iter()
                .map(|file| {
                    (
                        file.clone(),
                        self.extract(&folder.join(file), extract, *list),
                    )
                })
                .collect(),
            How::Library(line) => {
                let sources =
                    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/contradictions/peers");
                let output = shell(line, &[folder, &sources], folder)
                    .output()
                    .expect("it runs");
                assert!(output.status.success(), "{line}");
                printed(&String::from_utf8(output.stdout).expect("text"))
            }
        }
    }

    fn extract(&self, archive: &Path, extract: &str, list: Option<&str>) -> Reading {
        let out = tempfile::tempdir().expect("a directory");
        // What leads out stays in the temporary directory.
        let deep = out.path().join("up/up/up");
        fs::create_dir_all(&deep).expect("made");
        let mut command = shell(extract, &[archive], &deep);
        let status = command.stdout(Stdio::null()).status().expect("it runs");
        let code = status.code().unwrap_or(i32::MAX);
        let mut reading = Reading {
            refused: code > self.warns,
            ..Reading::default()
        };
        self.walk(&deep, "", &mut reading);
        for above in ["up/up", "up", "."] {
            let others = fs::read_dir(out.path().join(above))
                .expect("read")
                .flatten();
            for other in others.filter(|other| other.file_name() != "up") {
                let item = Item {
                    kind: 'f',
                    crc32: 0,
                    seconds: None,
                };
                reading.add(&format!("../{}", other.file_name().display()), item);
            }
        }
        if let Some(list) = list.filter(|_| !reading.refused) {
            let output = shell(list, &[archive], &deep).output().expect("it runs");
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            let names: BTreeSet<String> = text.lines().map(tidy).collect();
            reading.listed = output.status.success().then_some(names);
        }
        reading
    }

    fn walk(&self, folder: &Path, above: &str, reading: &mut Reading) {
        for entry in fs::read_dir(folder).expect("read").flatten() {
            let path = entry.path();
            // What is no UTF-8 stays apart from what is.
            let name = entry.file_name().as_bytes().to_vec();
            let name = format!(
                "{above}{}",
                String::from_utf8(name.clone()).unwrap_or_else(|_| format!("{name:02x?}"))
            );
            let meta = path.symlink_metadata().expect("read");
            if meta.is_dir() {
                let item = Item {
                    kind: 'd',
                    crc32: 0,
                    seconds: None,
                };
                reading.add(&name, item);
                self.walk(&path, &format!("{name}/"), reading);
                continue;
            }
            let content = match meta.is_symlink() {
                true => fs::read_link(&path).map(|to| to.as_os_str().as_bytes().to_vec()),
                false => fs::read(&path),
            };
            let kind = match meta.is_symlink() {
                _ if !self.links => '?',
                true => 'l',
                false => 'f',
            };
            let item = Item {
                kind,
                crc32: crc32(&content.unwrap_or_default()),
                seconds: (!meta.is_symlink()).then(|| meta.mtime()),
            };
            reading.add(&name, item);
        }
    }
}

/// Reads what libraries print.
fn printed(text: &str) -> BTreeMap<String, Reading> {
    let mut all = BTreeMap::new();
    let mut current = None;
    for line in text.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        if let ["=", file] = words[..] {
            let refused = Reading {
                refused: true,
                ..Reading::default()
            };
            current = Some(all.entry(file.to_owned()).or_insert(refused));
            continue;
        }
        let Some(reading) = &mut current else {
            continue;
        };
        match words[..] {
            ["ok"] => reading.refused = false,
            [name, kind, sum] => {
                let kind = kind.chars().next().unwrap_or('?');
                let sum = u32::from_str_radix(sum, 16).expect("hex");
                let item = Item {
                    kind,
                    crc32: if kind == 'd' { 0 } else { sum },
                    seconds: None,
                };
                reading.add(&unhex(name), item);
            }
            _ => {}
        }
    }
    all
}

fn unhex(text: &str) -> String {
    let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
    let byte = |pair: &[u8]| {
        let text = std::str::from_utf8(pair).expect("hex");
        u8::from_str_radix(text, 16).expect("hex")
    };
    let bytes: Vec<u8> = digits.chunks(2).map(byte).collect();
    String::from_utf8(bytes.clone()).unwrap_or_else(|_| format!("{bytes:02x?}"))
}
