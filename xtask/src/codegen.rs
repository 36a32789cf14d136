//! Generated files: written by a program, committed, and diffed in CI.
//!
//! The generators themselves are in `bin/generate.rs`, which needs the libraries. Add a file
//! by adding a row to [`FILES`] and an arm there. The Markdown of each record of measurements is
//! generated too, from its JSON; see [`crate::record`].

use std::fs;

use anyhow::{Context, Result, bail};

use crate::record::{self, Record};
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
        path: "crates/betree-c/include/betree.h",
        generator: "betree-header",
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

/// What to do with a file that is out of date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Write,
    Check,
}

/// How to correct a file that is out of date.
const COMMAND: &str = "cargo xtask codegen";

/// Writes or checks every generated file, and returns one line about them.
pub(crate) fn run(mode: Mode) -> Result<String> {
    let mut stale = Vec::new();
    let files = FILES
        .iter()
        .map(|file| (file.path.to_owned(), generate(file.generator)));
    let files: Vec<(String, Result<String>)> = files.chain(pages()?).collect();
    for (path, wanted) in &files {
        let at = sh::root().join(path);
        let found = fs::read_to_string(&at).unwrap_or_default();
        match (stale_line(path, &found, wanted), wanted) {
            (None, _) => println!("{path}: up to date"),
            (Some(_), Ok(wanted)) if mode == Mode::Write => {
                if let Some(parent) = at.parent() {
                    fs::create_dir_all(parent)?;
                }
                fs::write(&at, wanted).with_context(|| format!("cannot write {path}"))?;
                println!("{path}: written");
            }
            (Some(line), _) => stale.push(line),
        }
    }
    if !stale.is_empty() {
        bail!(
            "{} of {} generated files:\n{}",
            stale.len(),
            files.len(),
            stale.join("\n")
        );
    }
    Ok(format!("{} up to date", files.len()))
}

/// The Markdown of every record, from its JSON.
fn pages() -> Result<Vec<(String, Result<String>)>> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(sh::root().join(record::FOLDER))? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        paths.push(format!("{}/{name}", record::FOLDER));
    }
    paths.sort();
    let page = |name: &str| {
        let json = format!("{}/{name}.json", record::FOLDER);
        let text = fs::read_to_string(sh::root().join(&json))
            .map_err(anyhow::Error::from)
            .and_then(|text| Record::parse(&text)?.markdown())
            .with_context(|| json.clone());
        (format!("{}/{name}.md", record::FOLDER), text)
    };
    Ok(record::names(paths.iter()).into_iter().map(page).collect())
}

/// The message for a file that is out of date, and how to correct it.
fn stale_line(path: &str, found: &str, wanted: &Result<String>) -> Option<String> {
    match wanted {
        Ok(wanted) if found == wanted => None,
        Ok(wanted) => Some(format!(
            "{path}: {}: run `{COMMAND}` and commit it",
            difference(found, wanted)
        )),
        Err(error) => Some(format!(
            "{path}: cannot be generated: {error:#}: mend that and run `{COMMAND}`"
        )),
    }
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
    use anyhow::anyhow;

    use super::{difference, stale_line};

    #[test]
    fn a_stale_file_is_named_with_the_command_that_mends_it() {
        let wanted = Ok("a\n".to_owned());
        assert_eq!(stale_line("x.md", "a\n", &wanted), None);
        assert_eq!(
            stale_line("x.md", "b\n", &wanted).as_deref(),
            Some("x.md: line 1 is `b`, should be `a`: run `cargo xtask codegen` and commit it")
        );
        let line =
            stale_line("x.md", "b\n", &Err(anyhow!("x.json: no record"))).unwrap_or_default();
        assert!(
            line.starts_with("x.md: cannot be generated: x.json: no record"),
            "{line}"
        );
        assert!(line.ends_with("`cargo xtask codegen`"), "{line}");
    }

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
