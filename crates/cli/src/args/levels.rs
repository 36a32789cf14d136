//! Levels and thread counts as every command that compresses understands them.

use std::sync::OnceLock;

use crate::failure::{Failure, Result};

/// Most threads that `-T` takes.
const THREADS_MAX: u32 = 256;
/// Default limit of small files that are processed in parallel.
const FILE_THREADS_MAX: u32 = 16;
/// The fastest of the levels below 1.
const FAST_MAX: u32 = 131_072;

/// A level from 1 to 19, or to 22 where `ultra` allows it, or a negative one.
pub(crate) fn level(level: i32, ultra: bool) -> Result<i32> {
    match level {
        20..=22 if !ultra => Err(Failure::usage(format!("level {level} needs --ultra"))
            .help("levels 20 to 22 need hundreds of megabytes to compress and to decompress; -19 is close")),
        -131_072..=22 => Ok(level),
        _ => Err(Failure::usage(format!("level {level} is out of range"))
            .help("levels are 1 to 19, 20 to 22 with --ultra; below 1 use --fast=N")),
    }
}

/// The level that `--fast=N` stands for.
pub(crate) fn fast(n: u32) -> Result<i32> {
    match n {
        0 => Err(Failure::usage("--fast=0 is out of range").help("the slowest is --fast=1")),
        n if n > FAST_MAX => Err(Failure::usage(format!("--fast={n} is out of range"))
            .help("the fastest is --fast=131072")),
        n => Ok(-(n as i32)),
    }
}

/// The CPUs that this process may use. The system is asked once: it answers from several files.
fn processors() -> u32 {
    static PROCESSORS: OnceLock<u32> = OnceLock::new();
    *PROCESSORS
        .get_or_init(|| std::thread::available_parallelism().map_or(1, |count| count.get() as u32))
}

/// The number of threads that `-T` asks for; 0 stands for one per CPU.
pub(crate) fn threads(asked: u32) -> Result<u32> {
    match asked {
        0 => Ok(processors()),
        n if n <= THREADS_MAX => Ok(n),
        n => Err(Failure::usage(format!(
            "-T{n} is out of range: at most {THREADS_MAX} threads"
        ))
        .help("-T0 uses one thread per CPU")),
    }
}

/// The number of small files to process in parallel: as `-T` says, or one per CPU up to a limit.
pub(crate) fn file_threads(asked: Option<u32>) -> Result<u32> {
    match asked {
        Some(asked) => threads(asked),
        None => threads(0).map(|processors| processors.min(FILE_THREADS_MAX)),
    }
}
