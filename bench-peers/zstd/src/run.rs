//! Runs a program once: wall time, processor time and resident size of that program alone.

use std::fs::File;
use std::io::Read as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use wait4::Wait4 as _;

/// A command line and where it runs.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    pub(crate) program: PathBuf,
    /// The name that the program sees as its own, if it is not that of its file.
    pub(crate) name: Option<&'static str>,
    pub(crate) words: Vec<String>,
    /// Where the program runs.
    pub(crate) folder: PathBuf,
    /// A file that another process writes into the program's standard input, while this one reads its output.
    pub(crate) piped: Option<&'static str>,
    /// The processor that it is bound to.
    pub(crate) processor: Option<u32>,
}

/// What one run took.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Taken {
    pub(crate) wall_ns: u64,
    pub(crate) cpu_ns: u64,
    pub(crate) rss_bytes: u64,
}

impl Line {
    pub(crate) fn new(program: &Path, folder: &Path, words: &str) -> Self {
        Self {
            program: program.to_owned(),
            name: None,
            words: words.split(' ').map(str::to_owned).collect(),
            folder: folder.to_owned(),
            piped: None,
            processor: None,
        }
    }

    /// Under this name.
    pub(crate) fn named(mut self, name: &'static str) -> Self {
        self.name = Some(name);
        self
    }

    /// With this file piped in and the output piped out.
    pub(crate) fn piped(mut self, file: &'static str) -> Self {
        self.piped = Some(file);
        self
    }

    pub(crate) fn bound(mut self, processor: Option<u32>) -> Self {
        self.processor = processor;
        self
    }

    fn command(&self) -> Command {
        let mut command = match self.processor {
            Some(processor) => {
                let mut command = Command::new("taskset");
                command
                    .args(["-c", &processor.to_string()])
                    .arg(&self.program);
                command
            }
            None => Command::new(&self.program),
        };
        if let Some(name) = self.name {
            command.arg0(name);
        }
        command.args(&self.words).current_dir(&self.folder);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::inherit());
        // Forked, not run in this process's memory, whose peak would be counted as the program's.
        command.uid(rustix::process::getuid().as_raw());
        command
    }

    /// Runs it; `kept` gets the piped output.
    pub(crate) fn run_keeping(&self, mut kept: Option<&mut Vec<u8>>) -> Taken {
        let mut command = self.command();
        let start = Instant::now();
        let mut feeder = None;
        if let Some(file) = self.piped {
            let mut cat = Command::new("cat");
            cat.arg(file)
                .current_dir(&self.folder)
                .stdout(Stdio::piped());
            let mut cat = cat.spawn().expect("cat starts");
            command
                .stdin(cat.stdout.take().expect("a pipe"))
                .stdout(Stdio::piped());
            feeder = Some(cat);
        }
        let mut child = command.spawn().expect("the program starts");
        drop(command);
        if let Some(mut output) = child.stdout.take() {
            let mut room = vec![0; 64 << 10];
            loop {
                match output.read(&mut room).expect("a pipe that can be read") {
                    0 => break,
                    count => {
                        if let Some(kept) = &mut kept {
                            kept.extend_from_slice(&room[..count]);
                        }
                    }
                }
            }
        }
        let used = child.wait4().expect("the program ends");
        let wall_ns = start.elapsed().as_nanos() as u64;
        if let Some(mut cat) = feeder {
            cat.wait().expect("cat ends");
        }
        assert!(used.status.success(), "{self:?} failed: {}", used.status);
        let cpu = used.rusage.utime + used.rusage.stime;
        Taken {
            wall_ns,
            cpu_ns: cpu.as_nanos() as u64,
            rss_bytes: used.rusage.maxrss,
        }
    }

    pub(crate) fn run(&self) -> Taken {
        self.run_keeping(None)
    }
}

/// Fails unless both files have the same bytes.
pub(crate) fn assert_same(folder: &Path, one: &str, other: &str) {
    let read = |name: &str| {
        let mut bytes = Vec::new();
        let mut file = File::open(folder.join(name)).expect("a file");
        file.read_to_end(&mut bytes).expect("its content");
        bytes
    };
    assert!(read(one) == read(other), "{one} and {other} differ");
}
