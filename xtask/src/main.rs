//! `cargo xtask`: the chores of this repository, each a small module.
//!
//! Only the chores are here. Programs that need the libraries (for generated files, and those whose
//! instructions are counted) are in `bin/`, behind features, so that this program builds in seconds
//! and runs even if a library does not compile.

#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, reason = "printing is what a chore does")]
#![allow(clippy::print_stderr, reason = "printing is what a chore does")]

mod bench_gate;
mod ci;
mod codegen;
mod fuzz;
mod licences;
mod metadata;
mod package;
mod peers;
mod readme;
mod record;
mod sanitize;
mod sh;
mod tidy;
mod tune;
mod watch;

use std::process::ExitCode;

use peers::deflate_sweep::run as deflate_sweep;

const USAGE: &str = "\
usage: cargo xtask CHORE

  ci [--fast]            run every check in order, stop at the first failure;
                         --fast leaves out what needs a release build
  ci --keep-going        run every check, whatever fails
  ci --only STEP         run one check, by the name that `ci` prints
  tidy                   check house rules that no compiler checks
  codegen [--check]      write the generated files, or list those that are out of date
  licences               check licences, duplicate versions and sources of the dependencies
  bench-gate [--record]  compare instruction counts with recorded baselines
  readme                 run the commands of README.md and docs/
  sanitize               run them, and all other commands of perfkit, with the address sanitizer
  fuzz [SECONDS]         run every fuzz target (default 10 s each)
  package                build each published package from its own archive
  peers zstd [--quick]   compare with the zstd command, interleaved in one run
  peers zstd CASE        only a level (19), a level with a number of threads (19T2),
                         decompression (d), that of many frames (dm), or many small files
                         (small); the record keeps the other cases
  peers zstd-sweep [--quick]
                         compare with the zstd command over kinds of data, levels, threads and pipes;
                         PEER_ZSTD names another zstd than the one on PATH
  peers zip [--quick]    compare archives with zip, unzip, bsdtar, 7zz and libraries
  peers zip PART         only libraries, programs or tables; the record keeps the rest
  peers zip-interop      let every reader read every kind of archive
  peers zip-interop PART only ours, large, theirs or one by name; the record keeps the rest
  peers zip-memory       measure memory while packing and extracting
  peers stress [--quick] compare codecs under load with those of Go, in rounds
  peers stress SECTION   only perfkit itself: soak (a minute), open, leaks
  peers fix [--quick]    compare parsing and encoding with fefix and QuickFIX, in rounds
  peers fix-shapes [--quick]
                         compare parsing and encoding over shapes of messages with a naive parser and
                         encoder, fefix and, if it is installed, QuickFIX
  peers fix-desk         compare filters and orders of `perfkit fix` with grep, ripgrep and Python
  peers gzip [--quick]   compare gzip files by perfkit with gzip, pigz, libdeflate-gzip and igzip
  peers fix-log LOG      compare the speed of `perfkit fix` on a log with dd, wc and grep; generates
                         a LOG of 2 GiB if it does not exist
  peers fix-session [--quick]
                         compare sessions with a plain loop and with QuickFIX: echo, resend, memory
  peers betree           compare searches with the crate a-tree
  peers async [--quick]  compare async compression and archives with async-compression, async_zip,
                         s-zip and spawn_blocking: time, memory, stalls of the runtime
  peers betree-shapes [--quick]
                         compare searches over shapes of workloads with a simple index and a-tree
  peers deflate [OPTION…] [FILE…], peers inflate …
                         compare zipstream's own deflate and inflate with libdeflate and zlib-rs
  peers deflate-sweep [--quick]
                         compare zipstream's deflate with libraries and archivers on many kinds of data
  peers deflate-sweep PART
                         only libraries (16 minutes) or archivers (30); the record keeps the other
  peers dictionary [OPTION…] [FILE]
                         measure the cost of a dictionary per call
  peers commands [--quick]
                         compare commands of known work by perfkit and by hyperfine: verdicts, errors, time
  peers workers [--quick]
                         compare workers on NATS JetStream with matching without a broker
  peers verdicts [--quick]
                         simulate how often verdicts, gates and intervals are right
  peers all [--quick]    all of these, one after the other, while nothing else runs
  record NAME FILE…      put reports of perfkit (or runs of `tune --json`) into a record that has a
                         title and notes
  tune [OPTION…]         compare zstdkit's recipes with the native levels, or search for better
                         parameters; see --help
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["ci"] => ci::run(ci::Extent::Full, ci::Failure::Stop),
        ["ci", "--fast"] => ci::run(ci::Extent::Fast, ci::Failure::Stop),
        ["ci", "--keep-going"] => ci::run(ci::Extent::Full, ci::Failure::GoOn),
        ["ci", "--only", step] => ci::only(step),
        ["tidy"] => tidy::run(tidy::Generated::Check).map(drop),
        ["codegen"] => codegen::run(codegen::Mode::Write).map(drop),
        ["codegen", "--check"] => codegen::run(codegen::Mode::Check).map(drop),
        ["licences"] => licences::run().map(drop),
        ["bench-gate"] => bench_gate::run(bench_gate::Mode::Compare).map(drop),
        ["bench-gate", "--record"] => bench_gate::run(bench_gate::Mode::Record).map(drop),
        ["sanitize"] => sanitize::run().map(drop),
        ["readme"] => readme::run(&[]).map(drop),
        ["fuzz"] => fuzz::run(10).map(drop),
        ["fuzz", seconds] if seconds.parse::<u32>().is_ok() => {
            fuzz::run(seconds.parse().unwrap_or(10)).map(drop)
        }
        ["package"] => package::run().map(drop),
        ["peers", "zstd"] => peers::run(peers::Size::Full, &peers::Only::all()),
        ["peers", "zstd", "--quick"] => peers::run(peers::Size::Quick, &peers::Only::all()),
        ["peers", "zstd", case] => {
            peers::Only::parse(case).and_then(|only| peers::run(peers::Size::Full, &only))
        }
        ["peers", "zstd-sweep"] => peers::zstd_sweep::run::run(peers::Size::Full),
        ["peers", "zstd-sweep", "--quick"] => peers::zstd_sweep::run::run(peers::Size::Quick),
        ["peers", "zip"] => peers::zip::run(peers::Size::Full, peers::zip::Part::All),
        ["peers", "zip", "--quick"] => peers::zip::run(peers::Size::Quick, peers::zip::Part::All),
        ["peers", "zip", part, "--quick"] => {
            peers::zip::Part::parse(part).and_then(|part| peers::zip::run(peers::Size::Quick, part))
        }
        ["peers", "zip", part] => {
            peers::zip::Part::parse(part).and_then(|part| peers::zip::run(peers::Size::Full, part))
        }
        ["peers", "zip-memory"] => peers::zip::memory::run::run(),
        ["peers", "zip-interop"] => peers::zip::interop::run(peers::zip::interop::Part::All),
        ["peers", "zip-interop", part] => {
            peers::zip::interop::Part::parse(part).and_then(peers::zip::interop::run)
        }
        ["peers", "stress"] => peers::stress::run(peers::Size::Full),
        ["peers", "stress", "--quick"] => peers::stress::run(peers::Size::Quick),
        ["peers", "stress", section] => peers::stress::section(section),
        ["peers", "fix"] => peers::fix::run(peers::Size::Full),
        ["peers", "fix", "--quick"] => peers::fix::run(peers::Size::Quick),
        ["peers", "fix-shapes"] => peers::fix_shapes::run::run(peers::Size::Full),
        ["peers", "fix-shapes", "--quick"] => peers::fix_shapes::run::run(peers::Size::Quick),
        ["peers", "fix-desk"] => peers::fix_desk::run::run(),
        ["peers", "gzip"] => peers::gzip::run::run(peers::Size::Full),
        ["peers", "gzip", "--quick"] => peers::gzip::run::run(peers::Size::Quick),
        ["peers", "fix-log", log] => peers::fix_log::run::run(log),
        ["peers", "fix-session"] => peers::fix_session::run::run(peers::Size::Full),
        ["peers", "fix-session", "--quick"] => peers::fix_session::run::run(peers::Size::Quick),
        ["peers", "betree"] => peers::betree::run::run(),
        ["peers", "async"] => peers::async_streams::run::run(peers::Size::Full),
        ["peers", "async", "--quick"] => peers::async_streams::run::run(peers::Size::Quick),
        ["peers", "betree-shapes"] => peers::betree_shapes::run::run(peers::Size::Full),
        ["peers", "betree-shapes", "--quick"] => peers::betree_shapes::run::run(peers::Size::Quick),
        ["peers", name @ ("deflate" | "inflate"), words @ ..] => {
            peers::deflate::run::run(name, words)
        }
        ["peers", "deflate-sweep"] => {
            deflate_sweep::run(peers::Size::Full, deflate_sweep::Part::All)
        }
        ["peers", "deflate-sweep", "libraries"] => {
            deflate_sweep::run(peers::Size::Full, deflate_sweep::Part::Libraries)
        }
        ["peers", "deflate-sweep", "archivers"] => {
            deflate_sweep::run(peers::Size::Full, deflate_sweep::Part::Archivers)
        }
        ["peers", "deflate-sweep", "--quick"] => {
            deflate_sweep::run(peers::Size::Quick, deflate_sweep::Part::All)
        }
        ["peers", "dictionary", words @ ..] => peers::dictionary::run::run(words),
        ["peers", "commands"] => peers::commands::run::run(peers::Size::Full),
        ["peers", "commands", "--quick"] => peers::commands::run::run(peers::Size::Quick),
        ["peers", "verdicts"] => peers::verdicts::run::run(peers::Size::Full),
        ["peers", "verdicts", "--quick"] => peers::verdicts::run::run(peers::Size::Quick),
        ["peers", "workers"] => peers::workers::run::run(peers::Size::Full),
        ["peers", "workers", "--quick"] => peers::workers::run::run(peers::Size::Quick),
        ["peers", "all"] => peers::all::run(peers::Size::Full),
        ["peers", "all", "--quick"] => peers::all::run(peers::Size::Quick),
        ["record", name, files @ ..] if !files.is_empty() => peers::reports::put::put(name, files),
        ["tune", words @ ..] => tune::run(words),
        ["help" | "--help" | "-h"] => {
            print!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        _ => {
            eprint!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}
