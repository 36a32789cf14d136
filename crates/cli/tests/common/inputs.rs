//! Inputs of every kind and size, and runs of the binary on them that are stopped when they do not end.

#![allow(dead_code, reason = "each test binary uses its own part of this")]

use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::Run;
use super::perfkit;

/// Bytes of a buffer of a source.
pub(crate) const BUFFER: usize = 256 << 10;
/// Bytes of all buffers between a source and its reader.
pub(crate) const IN_FLIGHT: usize = 3 * BUFFER;
/// Files up to this size are read without a thread that reads ahead.
const INLINE: usize = 1 << 20;
/// Nothing, a byte, and sizes around one buffer, around all buffers, around what is read ahead of, and
/// far beyond.
pub(crate) const SIZES: [usize; 12] = [
    0,
    1,
    BUFFER - 1,
    BUFFER,
    BUFFER + 1,
    IN_FLIGHT - 1,
    IN_FLIGHT,
    IN_FLIGHT + 1,
    INLINE,
    INLINE + 1,
    2 * IN_FLIGHT,
    10 * IN_FLIGHT,
];
/// A run on the largest of these takes a second or two on a busy machine; one that hangs never ends.
const LIMIT: Duration = Duration::from_secs(300);

/// How an input reaches the binary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A regular file by its name.
    File,
    /// A regular file as standard input.
    Redirected,
    /// A pipe as standard input.
    Pipe,
    /// A FIFO by its name.
    #[cfg(unix)]
    Fifo,
}

impl Kind {
    pub(crate) const ALL: &'static [Self] = &[
        Self::File,
        Self::Redirected,
        Self::Pipe,
        #[cfg(unix)]
        Self::Fifo,
    ];

    pub(crate) fn is_file(self) -> bool {
        self == Self::File
    }
}

/// Runs a line in `dir`, where `{}` stands for the input; `stdin` is what names standard input there.
pub(crate) fn run_on(dir: &Path, line: &str, kind: Kind, stdin: &str, input: &[u8]) -> Run {
    let path = dir.join("input");
    let _ = std::fs::remove_file(&path);
    let name = match kind {
        Kind::Redirected | Kind::Pipe => stdin,
        _ => "input",
    };
    let mut command = perfkit();
    command
        .current_dir(dir)
        .args(line.replace("{}", name).split_whitespace())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    match kind {
        Kind::File => std::fs::write(&path, input).expect("written"),
        Kind::Redirected => {
            std::fs::write(&path, input).expect("written");
            command.stdin(File::open(&path).expect("opened"));
        }
        Kind::Pipe => {
            command.stdin(Stdio::piped());
        }
        #[cfg(unix)]
        Kind::Fifo => {
            let made = std::process::Command::new("mkfifo").arg(&path).status();
            assert!(made.expect("mkfifo runs").success());
        }
    }
    let mut child = command.spawn().expect("perfkit runs");
    let writer = match kind {
        Kind::Pipe => {
            let pipe = child.stdin.take().expect("a pipe");
            Some(write_all(move || Some(pipe), input))
        }
        #[cfg(unix)]
        Kind::Fifo => {
            let path = path.clone();
            let open = move || File::options().write(true).open(path).ok();
            Some(write_all(open, input))
        }
        _ => None,
    };
    let (stdout, stderr) = (read_all(child.stdout.take()), read_all(child.stderr.take()));
    let code = wait(&mut child, || {
        format!("{line} with {} bytes as {kind:?}", input.len())
    });
    #[cfg(unix)]
    while writer
        .as_ref()
        .is_some_and(|writer| kind == Kind::Fifo && !writer.is_finished())
    {
        // A command that never opened it leaves the writer waiting for a reader, now or when the
        // writer comes to that.
        use rustix::fs::{Mode, OFlags};
        let _ = rustix::fs::open(&path, OFlags::RDONLY | OFlags::NONBLOCK, Mode::empty());
        std::thread::sleep(Duration::from_millis(1));
    }
    if let Some(writer) = writer {
        writer.join().expect("the writer ends");
    }
    Run {
        code,
        stdout: stdout.join().expect("standard output ends"),
        stderr: String::from_utf8_lossy(&stderr.join().expect("standard error ends")).into_owned(),
    }
}

/// Writes in the background; a reader may have had enough before the end.
fn write_all<W: Write>(
    open: impl FnOnce() -> Option<W> + Send + 'static,
    input: &[u8],
) -> JoinHandle<()> {
    let input = input.to_vec();
    std::thread::spawn(move || {
        if let Some(mut pipe) = open() {
            let _ = pipe.write_all(&input);
        }
    })
}

fn read_all(pipe: Option<impl Read + Send + 'static>) -> JoinHandle<Vec<u8>> {
    let mut pipe = pipe.expect("a pipe");
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        pipe.read_to_end(&mut bytes).expect("read");
        bytes
    })
}

/// The exit code of a process that ends within the limit; another is stopped.
fn wait(child: &mut Child, what: impl Fn() -> String) -> Option<i32> {
    let start = Instant::now();
    let mut pause = Duration::from_millis(1);
    loop {
        if let Some(status) = child.try_wait().expect("waited for") {
            return status.code();
        }
        if start.elapsed() > LIMIT {
            let _ = child.kill();
            let _ = child.wait();
            panic!("{} does not end within {LIMIT:?}", what());
        }
        std::thread::sleep(pause);
        pause = (2 * pause).min(Duration::from_millis(20));
    }
}
