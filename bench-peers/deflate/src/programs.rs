//! Archivers on one file: wall time with one to three threads, less what starting them takes.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use crate::Point;

const LEVELS: [i32; 3] = [1, 6, 9];
const THREADS: [usize; 3] = [1, 2, 3];
/// A program that takes longer is not run again.
const LONG_NS: u64 = 2_000_000_000;

/// The programs that are installed, in a folder of their own.
pub(crate) struct Programs {
    folder: tempfile::TempDir,
    all: Vec<Program>,
}

struct Program {
    name: &'static str,
    path: PathBuf,
    threads: &'static [usize],
    words: fn(i32, usize) -> Vec<String>,
}

const OUT: &str = "out";

fn words(text: &str) -> Vec<String> {
    text.split(' ').map(str::to_owned).collect()
}

fn known(
    own: &str,
) -> Vec<(
    &'static str,
    String,
    &'static [usize],
    fn(i32, usize) -> Vec<String>,
)> {
    vec![
        ("perfkit zip", own.to_owned(), &THREADS, |level, threads| {
            words(&format!("zip -qq -{level} -T {threads} {OUT} data"))
        }),
        ("pigz", "pigz".to_owned(), &THREADS, |level, threads| {
            words(&format!("-{level} -p {threads} -c data"))
        }),
        ("zip", "zip".to_owned(), &[1], |level, _| {
            words(&format!("-q -{level} {OUT} data"))
        }),
        ("7zz", "7zz".to_owned(), &THREADS, |level, threads| {
            words(&format!(
                "a -bd -tzip -mx={level} -mmt={threads} {OUT} data"
            ))
        }),
        ("bsdtar", "bsdtar".to_owned(), &[1], |level, _| {
            let level = format!("zip:compression-level={level}");
            words(&format!("--format=zip --options {level} -cf {OUT} data"))
        }),
        (
            "libdeflate-gzip",
            "libdeflate-gzip".to_owned(),
            &[1],
            |level, _| words(&format!("-{level} -k -c data")),
        ),
    ]
}

impl Programs {
    /// What is installed; what is not is named.
    pub(crate) fn new(own: &str, ignored: &mut Vec<String>) -> Self {
        let mut all = Vec::new();
        for (name, program, threads, words) in known(own) {
            match find(&program) {
                Some(path) => all.push(Program {
                    name,
                    path,
                    threads,
                    words,
                }),
                None => ignored.push(format!("{name}: the program is not installed")),
            }
        }
        let folder = tempfile::tempdir().expect("a folder");
        Self { folder, all }
    }

    /// All programs on one content.
    pub(crate) fn compare(&self, content: &[u8], rounds: usize) -> Vec<Point> {
        let mut points = Vec::new();
        for program in &self.all {
            for level in LEVELS {
                for &threads in program.threads {
                    self.put(&content[..content.len().min(1)]);
                    let start = (0..2).map(|_| self.run(program, level, threads).1);
                    let start = start.min().unwrap_or(0);
                    self.put(content);
                    let (bytes, mut ns) = self.run(program, level, threads);
                    for _ in 1..rounds {
                        if ns < LONG_NS {
                            ns = ns.min(self.run(program, level, threads).1);
                        }
                    }
                    let ns = ns.saturating_sub(start).max(1);
                    points.push((program.name.to_owned(), level, threads, bytes, ns));
                }
            }
        }
        points
    }

    fn put(&self, content: &[u8]) {
        std::fs::write(self.folder.path().join("data"), content).expect("a file");
    }

    /// Runs a program; returns the size of what it wrote, and the nanoseconds.
    fn run(&self, program: &Program, level: i32, threads: usize) -> (u64, u64) {
        let folder = self.folder.path();
        for old in [OUT, "out.zip"] {
            std::fs::remove_file(folder.join(old)).ok();
        }
        let words = (program.words)(level, threads);
        let to_output = words.iter().any(|word| word == "-c");
        let output = if to_output {
            let file = std::fs::File::create(folder.join(OUT)).expect("a file");
            Stdio::from(file)
        } else {
            Stdio::null()
        };
        let mut command = Command::new(&program.path);
        command.args(words).current_dir(folder);
        command
            .stdin(Stdio::null())
            .stdout(output)
            .stderr(Stdio::null());
        let begin = Instant::now();
        let status = command.status().expect("a program that starts");
        let ns = begin.elapsed().as_nanos() as u64;
        assert!(status.success(), "{} at {level} failed", program.name);
        let size = |name: &str| std::fs::metadata(folder.join(name)).map(|file| file.len());
        let bytes = size(OUT).or_else(|_| size("out.zip")).expect("an output");
        (bytes, ns)
    }
}

fn find(program: &str) -> Option<PathBuf> {
    if program.contains('/') {
        return Path::new(program).canonicalize().ok();
    }
    let path = std::env::var_os("PATH")?;
    let mut found = std::env::split_paths(&path).map(|folder| folder.join(program));
    found.find(|file| file.is_file())
}
