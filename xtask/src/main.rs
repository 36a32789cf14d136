//! `cargo xtask`: the chores of this repository, each a small module.
//!
//! Only the chores live here. What needs the libraries (generated files, the programs whose
//! instructions are counted) is in `bin/`, behind features, so that this program builds in
//! seconds and runs even while a library does not compile.

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

use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask CHORE

  ci [--fast]            every check, in order, stopping at the first failure;
                         --fast leaves out what needs a release build
  ci --keep-going        every check, whatever fails
  ci --only STEP         one of them, by the name that `ci` prints
  tidy                   house rules that no compiler checks
  codegen [--check]      write the generated files, or say which are out of date
  licences               licences, duplicate versions and sources of the dependencies
  bench-gate [--record]  count instructions against recorded baselines
  readme                 run the commands of README.md
  sanitize               run them, and every command that README.md has not, under the
                         address sanitizer
  fuzz [SECONDS]         run every fuzz target (default 10 s each)
  package                build each published package from its own archive
  peers zstd [--quick]   measure against the zstd command, interleaved in one run
  peers zstd CASE        only a level (19), a level with so many threads (19T2), or
                         decompression (d), that of many frames (dm), or many small files
                         (small); the record keeps the other cases
  peers zip [--quick]    measure archives against zip, unzip, bsdtar, 7zz and libraries
  peers zip PART         only libraries, programs or tables; the record keeps the rest
  peers zip-interop      who reads whose archives: every shape by every reader
  peers zip-interop PART only ours, large, theirs or what is named so; the record keeps the rest
  peers zip-memory       what packing and extracting hold at once
  peers stress [--quick] measure codecs under load beside those of Go, in rounds
  peers stress SECTION   only what perfkit shows by itself: soak (a minute), open, leaks
  peers fix [--quick]    measure parsing and encoding beside fefix and QuickFIX, in rounds
  peers fix-log LOG      how fast `perfkit fix` reads a log, beside dd, wc and grep; writes 2 GiB
                         of messages to LOG where that is not there
  peers betree           measure searches beside the crate a-tree
  peers deflate [OPTION…] [FILE…], peers inflate …
                         zipstream's own deflate and inflater beside libdeflate and zlib-rs
  peers dictionary [OPTION…] [FILE]
                         what a dictionary costs a call
  record NAME FILE…      put reports of perfkit (or runs of `tune --json`) into a record that has a
                         title and notes
  tune [OPTION…]         judge zstdkit's recipes beside the native levels, or search for better
                         parameters; --help says more
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
        ["peers", "zip"] => peers::zip::run(peers::Size::Full, peers::zip::Part::All),
        ["peers", "zip", "--quick"] => peers::zip::run(peers::Size::Quick, peers::zip::Part::All),
        ["peers", "zip", part, "--quick"] => {
            peers::zip::Part::parse(part).and_then(|part| peers::zip::run(peers::Size::Quick, part))
        }
        ["peers", "zip", part] => {
            peers::zip::Part::parse(part).and_then(|part| peers::zip::run(peers::Size::Full, part))
        }
        ["peers", "zip-memory"] => peers::zip::memory::run(),
        ["peers", "zip-interop"] => peers::zip::interop::run(peers::zip::interop::Part::All),
        ["peers", "zip-interop", part] => {
            peers::zip::interop::Part::parse(part).and_then(peers::zip::interop::run)
        }
        ["peers", "stress"] => peers::stress::run(peers::Size::Full),
        ["peers", "stress", "--quick"] => peers::stress::run(peers::Size::Quick),
        ["peers", "stress", section] => peers::stress::section(section),
        ["peers", "fix"] => peers::fix::run(peers::Size::Full),
        ["peers", "fix", "--quick"] => peers::fix::run(peers::Size::Quick),
        ["peers", "fix-log", log] => peers::fix_log::run(log),
        ["peers", "betree"] => peers::betree::run(),
        ["peers", name @ ("deflate" | "inflate"), words @ ..] => peers::deflate::run(name, words),
        ["peers", "dictionary", words @ ..] => peers::dictionary::run(words),
        ["record", name, files @ ..] if !files.is_empty() => peers::reports::put(name, files),
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
