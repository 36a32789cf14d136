//! One library on one case, for as long as it is asked to: what `cargo xtask peers zip` interleaves.
//!
//! `zip-libraries LIBRARY CASE INPUT OUT MILLISECONDS` prints one line of JSON: the median and the
//! least time of a turn, the turns, the size of the archive and the peak resident size. A case is
//! `one` (INPUT as one entry into the file OUT), `fifty` (50 entries of 10 KB out of it), `memory`
//! (100 KB of it into memory) or `tree` (the files of the directory INPUT, read and packed one after
//! the other). Everything is deflate at level 6 on one thread, and what a library takes for itself.

mod libraries;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// What is packed: names and contents.
pub(crate) enum Work {
    Contents(Vec<(String, Vec<u8>)>),
    /// Files under their names, read as they are packed.
    Files(Vec<(String, PathBuf)>),
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
        }
    }
}

/// Where an archive goes.
#[derive(Clone, Copy)]
pub(crate) enum Out<'a> {
    File(&'a Path),
    Memory,
}

fn work(case: &str, input: &Path) -> Work {
    if case == "tree" {
        let mut files = Vec::new();
        collect(input, "", &mut files);
        files.sort();
        return Work::Files(files);
    }
    let content = std::fs::read(input).expect("the input");
    Work::Contents(match case {
        "one" => vec![("data".to_owned(), content)],
        "fifty" => content
            .chunks(10_000)
            .cycle()
            .take(50)
            .enumerate()
            .map(|(index, part)| (format!("entry{index:03}.txt"), part.to_vec()))
            .collect(),
        "memory" => vec![("data".to_owned(), content[..100_000].to_vec())],
        other => panic!("no case '{other}'"),
    })
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
    let [library, case, input, out, milliseconds] = &arguments[..] else {
        eprintln!("zip-libraries LIBRARY CASE INPUT OUT MILLISECONDS");
        std::process::exit(2);
    };
    let work = work(case, Path::new(input));
    let path = PathBuf::from(out);
    let out = if case == "memory" {
        Out::Memory
    } else {
        Out::File(&path)
    };
    let budget = Duration::from_millis(milliseconds.parse().expect("a number"));
    let mut pack = libraries::find(library);
    let mut times = Vec::new();
    let started = Instant::now();
    let mut bytes = 0;
    loop {
        let start = Instant::now();
        bytes = pack(&work, out).max(bytes);
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
