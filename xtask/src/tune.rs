//! Builds the program that tunes and judges zstdkit's recipes, and runs it with the given arguments. The
//! program is in `bin/tune/`.

use anyhow::Result;

use crate::{metadata, sh};

pub(crate) fn run(words: &[&str]) -> Result<()> {
    let [profile, name] = metadata::MEASURED;
    let build = [
        "run",
        "--quiet",
        profile,
        name,
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
