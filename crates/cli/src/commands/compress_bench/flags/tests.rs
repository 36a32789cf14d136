//! What command lines of `compress-bench` plan, and which are refused.

use crate::args::{Command, parse};
use crate::commands::compress_bench::flags::*;

fn plan(line: &str) -> Option<Result<Plan<'static>>> {
    let words = format!("perfkit compress-bench {line}");
    let words: Vec<_> = words.split_whitespace().map(Into::into).collect();
    match parse(&words).map(|cli| cli.command) {
        Ok(Command::CompressBench(args)) => Some(args.plan()),
        _ => None,
    }
}

fn choices(line: &str) -> Vec<String> {
    let plan = plan(line).expect("parses").expect("a plan");
    let candidates = plan.candidates.iter();
    candidates.map(|known| known.name().to_owned()).collect()
}

#[test]
fn ranges_levels_and_fast_ones_add_up_without_repeating() {
    assert_eq!(choices(""), ["level 1", "level 3", "level 9", "level 19"]);
    assert_eq!(choices("-b5"), ["level 5"]);
    assert_eq!(choices("-e4"), ["level 3", "level 4"]);
    assert_eq!(
        choices("-b1 -e3 --level 2 --level 7 --fast=5 --fast"),
        [
            "fast 5", "fast 1", "level 1", "level 2", "level 3", "level 7"
        ]
    );
    assert_eq!(choices("-b-1 -e1"), ["fast 1", "level 1"]);
    assert_eq!(choices("--ultra -b22"), ["level 22"]);
    assert_eq!(
        choices("--level 1-3 --level 2 --level -2"),
        ["level 1", "level 2", "level 3", "fast 2"]
    );
    assert_eq!(choices("--level=18-19"), ["level 18", "level 19"]);
}

#[test]
fn recipes_stand_beside_levels_and_beside_what_they_replace() {
    assert_eq!(
        choices("--recipe text --recipe structured-data -b3"),
        ["level 3", "text", "structured_data"]
    );
    assert_eq!(choices("--recipes").len(), Recipe::ALL.len());
    assert_eq!(
        choices("--recipe text --recipe auto --recipe-compat exzstandard"),
        ["text", "auto", "exz text"]
    );
    let all = choices("--recipe-compat exzstandard");
    assert_eq!(all.len(), 2 * Recipe::ALL.len() - 1);
    assert!(plan("--recipe soup").is_none());
    assert!(plan("--recipe-compat other").is_none());
}

#[test]
fn the_matrix_is_of_all_recipes_unless_others_are_named() {
    assert_eq!(choices("--matrix").len(), Recipe::ALL.len());
    assert_eq!(choices("--matrix --level 3"), ["level 3"]);
    assert_eq!(choices("--matrix --recipe text"), ["text"]);
    assert_eq!(
        choices("--matrix --recipe-compat exzstandard").len(),
        2 * Recipe::ALL.len() - 1
    );
    let modes = |line| plan(line).expect("parses").expect("a plan").modes;
    assert_eq!(modes("--matrix"), [Mode::Whole, Mode::Flushed]);
    assert_eq!(modes("--matrix --no-matrix --streaming"), [Mode::Stream]);
    assert!(plan("--matrix --streaming").is_none());
    assert!(plan("--matrix --decompress-only").is_none());
}

#[test]
fn what_makes_no_sense_is_refused_before_any_work() {
    for line in [
        "-b5 -e3",
        "-b20",
        "--level 23",
        "--level 5-3",
        "--level 1-20",
        "--fast=0",
        "-T 300",
    ] {
        assert!(plan(line).expect("parses").is_err(), "{line}");
    }
    assert!(plan("-b-1000 -e1").expect("parses").is_err());
    for line in [
        "-i -1",
        "-i x",
        "--duration -1s",
        "--level x",
        "--level 1-",
        "--level 1-2-3",
        "-B 1",
        "-B 2G",
        "--rank-at=-1",
        "--size 1",
    ] {
        assert!(plan(line).is_none(), "{line}");
    }
}

#[test]
fn block_sizes_are_separated_by_commas() {
    let blocks = plan("-B4K,1M,4096 -i0.5").expect("parses").expect("a plan");
    assert_eq!(blocks.block_bytes, [Some(4096), Some(1 << 20)]);
    assert_eq!(blocks.time, Duration::from_millis(500));
    for line in ["-i 2", "--duration 2s", "--duration=2000ms"] {
        let timed = plan(line).expect("parses").expect("a plan");
        assert_eq!(timed.time, Duration::from_secs(2), "{line}");
    }
}
