//! One library on one case, for as long as it is asked to: what `cargo xtask peers zip` interleaves.
//!
//! `zip-libraries LIBRARY CASE INPUT OUT MILLISECONDS` prints one line of JSON: the median and the
//! least time of a turn, the turns, the size of the archive and the peak resident size. Which cases
//! there are is in [`Case::of`]. Everything but what a case says otherwise is deflate at level 6 on
//! one thread, and what a library takes for itself.

mod libraries;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The password of encrypted cases, which `perfkit zip` and 7zz get as well.
#[allow(dead_code, reason = "not every build encrypts")]
pub(crate) const PASSWORD: &str = "correct";
/// One write of the case that trickles.
const TRICKLE_BYTES: usize = 64;

/// What is packed: names and contents.
pub(crate) enum Work {
    Contents(Vec<(String, Vec<u8>)>),
    /// Files under their names, read as they are packed.
    Files(Vec<(String, PathBuf)>),
    /// An archive that is read.
    Archive(PathBuf),
}

impl Work {
    /// Each name with its content.
    pub(crate) fn each(&self, mut take: impl FnMut(&str, &[u8])) {
        match self {
            Self::Contents(all) => all.iter().for_each(|(name, content)| take(name, content)),
            Self::Files(all) => {
                for (name, path) in all {
                    take(name, &std::fs::read(path).expect("a file of the tree"));
                }
            }
            Self::Archive(path) => panic!("{} is to be read", path.display()),
        }
    }
}

/// Where an archive goes.
#[derive(Clone, Copy)]
pub(crate) enum Out<'a> {
    File(&'a Path),
    Memory,
}

/// How entries are packed.
#[derive(Clone, Copy)]
#[allow(dead_code, reason = "no build has it all")]
pub(crate) struct Settings {
    /// Of deflate; 0 stores.
    pub(crate) level: i32,
    /// AES-256.
    pub(crate) encrypted: bool,
    /// Threads inside of the library, where it has any.
    pub(crate) threads: usize,
    /// The most content that is given at once.
    pub(crate) write_bytes: usize,
}

/// A case by its name.
struct Case {
    work: Work,
    settings: Settings,
}

impl Case {
    fn of(name: &str, input: &Path) -> Self {
        let settings = Settings {
            level: 6,
            encrypted: false,
            threads: 0,
            write_bytes: usize::MAX,
        };
        let stored = Settings {
            level: 0,
            ..settings
        };
        let content = || std::fs::read(input).expect("the input");
        let one = |content: Vec<u8>| Work::Contents(vec![("data".to_owned(), content)]);
        let (work, settings) = match name {
            // INPUT as one entry into a file.
            "one" => (one(content()), settings),
            "threads" => (
                one(content()),
                Settings {
                    threads: std::thread::available_parallelism().map_or(1, usize::from),
                    ..settings
                },
            ),
            "stored" => (one(content()), stored),
            "aes" => (
                one(content()),
                Settings {
                    encrypted: true,
                    ..stored
                },
            ),
            // 8 MiB of INPUT at once, and in many small writes.
            "whole" => (one(cycled(&content())), settings),
            "trickle" => (
                one(cycled(&content())),
                Settings {
                    write_bytes: TRICKLE_BYTES,
                    ..settings
                },
            ),
            "fifty" => (Work::Contents(parts(&content(), 50, 10_000)), settings),
            // What an entry costs that is nearly empty and has a key of its own.
            "keys" => (
                Work::Contents(parts(&content(), 500, 10)),
                Settings {
                    encrypted: true,
                    ..stored
                },
            ),
            // 100 KB of INPUT into memory.
            "memory" => (one(content()[..100_000].to_vec()), settings),
            // The files of the directory INPUT, read and packed one after the other.
            "tree" => (tree(input), settings),
            "tree-fast" => (
                tree(input),
                Settings {
                    level: 1,
                    ..settings
                },
            ),
            // The entries of the archive INPUT, each read and verified.
            "test" => (Work::Archive(input.to_owned()), settings),
            other => panic!("no case '{other}'"),
        };
        Self { work, settings }
    }
}

fn cycled(content: &[u8]) -> Vec<u8> {
    content.iter().copied().cycle().take(8 << 20).collect()
}

fn parts(content: &[u8], count: usize, bytes: usize) -> Vec<(String, Vec<u8>)> {
    let parts = content.chunks_exact(bytes).cycle().take(count).enumerate();
    parts
        .map(|(index, part)| (format!("entry{index:03}.txt"), part.to_vec()))
        .collect()
}

fn tree(folder: &Path) -> Work {
    let mut files = Vec::new();
    collect(folder, "", &mut files);
    files.sort();
    Work::Files(files)
}

fn collect(folder: &Path, name: &str, files: &mut Vec<(String, PathBuf)>) {
    for entry in std::fs::read_dir(folder).expect("a directory").flatten() {
        let name = format!("{name}{}", entry.file_name().to_string_lossy());
        let kind = entry.file_type().expect("a type");
        if kind.is_dir() {
            collect(&entry.path(), &format!("{name}/"), files);
        } else if kind.is_file() {
            files.push((name, entry.path()));
        }
    }
}

/// The peak resident size, where the system tells.
fn peak_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
    kib.unwrap_or(0) * 1024
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [library, name, input, out, milliseconds] = &arguments[..] else {
        eprintln!("zip-libraries LIBRARY CASE INPUT OUT MILLISECONDS");
        std::process::exit(2);
    };
    let case = Case::of(name, Path::new(input));
    let path = PathBuf::from(out);
    let out = if name == "memory" {
        Out::Memory
    } else {
        Out::File(&path)
    };
    let budget = Duration::from_millis(milliseconds.parse().expect("a number"));
    let mut run = match &case.work {
        Work::Archive(_) => libraries::reader(library),
        _ => libraries::find(library),
    };
    let mut times = Vec::new();
    let started = Instant::now();
    let mut bytes = 0;
    loop {
        let start = Instant::now();
        bytes = run(&case.work, &case.settings, out).max(bytes);
        let ns = start.elapsed().as_nanos();
        // The first turn warms up, where there is time for another.
        if started.elapsed() < budget && times.is_empty() && bytes > 0 && ns * 3 < budget.as_nanos()
        {
            times.push(0);
            continue;
        }
        times.push(ns);
        if started.elapsed() >= budget {
            break;
        }
    }
    times.retain(|ns| *ns > 0);
    times.sort_unstable();
    println!(
        "{{\"ns\": {}, \"ns_min\": {}, \"turns\": {}, \"bytes\": {bytes}, \"rss_bytes\": {}}}",
        times[times.len() / 2],
        times[0],
        times.len(),
        peak_bytes()
    );
}
