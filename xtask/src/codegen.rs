//! Generated files: written by a program, committed, and diffed in CI.
//!
//! The generators themselves are in `bin/generate.rs`, which needs the libraries. Add a file
//! by adding a row to [`FILES`] and an arm there.

use std::fs;

use anyhow::{Context, Result, bail};

use crate::sh;

/// One generated file.
struct Generated {
    /// Path from the root of the repository.
    path: &'static str,
    /// Name of its generator.
    generator: &'static str,
}

const FILES: &[Generated] = &[
    Generated {
        path: "schemas/report-v1.json",
        generator: "report-schema",
    },
    Generated {
        path: "crates/fixcore/dictionaries/fix40.txt",
        generator: "fix40",
    },
    Generated {
        path: "crates/fixcore/dictionaries/fix41.txt",
        generator: "fix41",
    },
    Generated {
        path: "crates/fixcore/dictionaries/fix42.txt",
        generator: "fix42",
    },
    Generated {
        path: "crates/fixcore/dictionaries/fix43.txt",
        generator: "fix43",
    },
    Generated {
        path: "crates/fixcore/dictionaries/fix44.txt",
        generator: "fix44",
    },
    Generated {
        path: "crates/fixcore/dictionaries/fix50.txt",
        generator: "fix50",
    },
    Generated {
        path: "crates/fixcore/dictionaries/fix50sp1.txt",
        generator: "fix50sp1",
    },
    Generated {
        path: "crates/fixcore/dictionaries/fix50sp2.txt",
        generator: "fix50sp2",
    },
    Generated {
        path: "crates/fixcore/dictionaries/fixt11.txt",
        generator: "fixt11",
    },
];

/// What to do with a file that differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Write,
    Check,
}

/// Writes or checks every generated file, and hands back one line about them.
pub(crate) fn run(mode: Mode) -> Result<String> {
    let mut stale = Vec::new();
    for file in FILES {
        let wanted = generate(file.generator)?;
        let path = sh::root().join(file.path);
        let found = fs::read_to_string(&path).unwrap_or_default();
        if found == wanted {
            println!("{}: up to date", file.path);
        } else if mode == Mode::Write {
            if let Some(parent) = path.parent() {
                fs::create_dir_all(parent)?;
            }
            fs::write(&path, &wanted).with_context(|| format!("cannot write {}", file.path))?;
            println!("{}: written", file.path);
        } else {
            println!("{}: {}", file.path, difference(&found, &wanted));
            stale.push(file.path);
        }
    }
    if !stale.is_empty() {
        bail!(
            "out of date: {}; run `cargo xtask codegen` and commit",
            stale.join(", ")
        );
    }
    Ok(format!("{} up to date", FILES.len()))
}

fn generate(generator: &str) -> Result<String> {
    let args = [
        "run",
        "--quiet",
        "--package",
        "xtask",
        "--features",
        "generate",
    ];
    let mut command = sh::cargo(&args);
    command.args(["--bin", "generate", "--", generator]);
    let mut text = sh::text(&mut command)?;
    text.push('\n');
    Ok(text)
}

/// The first line in which two texts differ.
fn difference(found: &str, wanted: &str) -> String {
    if found.is_empty() {
        return "missing".to_owned();
    }
    let pairs = found.lines().zip(wanted.lines());
    for (number, (old, new)) in pairs.enumerate() {
        if old != new {
            return format!(
                "line {} is `{}`, should be `{}`",
                number + 1,
                old.trim(),
                new.trim()
            );
        }
    }
    format!(
        "{} lines, should be {}",
        found.lines().count(),
        wanted.lines().count()
    )
}

#[cfg(test)]
mod tests {
    use super::difference;

    #[test]
    fn the_difference_names_the_line() {
        assert_eq!(difference("", "a\n"), "missing");
        assert_eq!(
            difference("a\n b\n", "a\n c\n"),
            "line 2 is `b`, should be `c`"
        );
        assert_eq!(difference("a\n", "a\nb\n"), "1 lines, should be 2");
    }
}
