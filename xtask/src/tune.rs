//! Builds the program that tunes and judges zstdkit's recipes, and runs it. What it does is in
//! `bin/tune/`; its words are handed on as they are.

use anyhow::Result;

use crate::sh;

pub(crate) fn run(words: &[&str]) -> Result<()> {
    let build = [
        "run",
        "--quiet",
        "--release",
        "--package",
        "xtask",
        "--features",
        "workloads",
        "--bin",
        "tune",
        "--",
    ];
    sh::run(sh::cargo(&build).args(words))
}
