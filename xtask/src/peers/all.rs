//! All comparisons in a row, for one afternoon on a quiet machine. Each is a process of its own: one that fails does
//! not end the others.

use std::time::Instant;

use anyhow::{Context, Result, ensure};

use super::Size;
use crate::sh;

/// Comparisons that have a quick size.
const SIZED: [&str; 14] = [
    "zstd",
    "zstd-sweep",
    "gzip",
    "async",
    "zip",
    "deflate-sweep",
    "betree-shapes",
    "fix",
    "fix-shapes",
    "fix-session",
    "stress",
    "commands",
    "workers",
    "verdicts",
];
/// Those that have only one.
const OTHERS: [&str; 8] = [
    "dictionary",
    "zip-memory",
    "zip-interop",
    "deflate",
    "inflate",
    "betree",
    "fix-desk",
    "fix-log",
];

/// Runs them; a quick run has only those that have a quick size. Fails if one of them did.
pub(crate) fn run(size: Size) -> Result<()> {
    let program = std::env::current_exe().context("where is this program?")?;
    let folder = tempfile::tempdir()?;
    let others: &[&str] = match size {
        Size::Full => &OTHERS,
        Size::Quick => &[],
    };
    let mut failed = 0;
    let mut lines = Vec::new();
    for name in SIZED.iter().chain(others) {
        let mut command = sh::command(&program);
        command.args(["peers", name]);
        if *name == "fix-log" {
            // It makes a log of its own where there is none.
            command.arg(folder.path().join("log"));
        }
        if size == Size::Quick {
            command.arg("--quick");
        }
        let start = Instant::now();
        let result = sh::run(&mut command);
        let seconds = start.elapsed().as_secs();
        lines.push(match result {
            Ok(()) => format!("{name:15} ok     {seconds:6} s"),
            Err(error) => {
                failed += 1;
                format!("{name:15} FAILED {seconds:6} s  {error:#}")
            }
        });
    }
    println!("\n{}", lines.join("\n"));
    ensure!(failed == 0, "{failed} of {} failed, see above", lines.len());
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_comparison_that_help_names_is_one_of_all() {
        let lines = crate::USAGE.lines().map(str::trim);
        let named = lines.filter_map(|line| line.strip_prefix("peers "));
        let named: BTreeSet<&str> = named.filter_map(|rest| rest.split(' ').next()).collect();
        let all = SIZED.into_iter().chain(OTHERS).chain(["all"]);
        // Help has two names on one line.
        let all: BTreeSet<&str> = all.filter(|name| *name != "inflate").collect();
        assert_eq!(named, all);
    }

    #[test]
    fn what_has_a_quick_size_says_so_in_help() {
        for name in SIZED {
            let line = format!("  peers {name} [--quick]");
            assert!(crate::USAGE.contains(&line), "{name}");
        }
    }
}
