//! House rules that no compiler checks.
//!
//! The rules are pure functions over a path and a text, in [`text`] (any file), [`rust`] (Rust
//! sources, as [`tokens`] and [`paths`]), [`docs`] (links, the architecture), [`commands`] and [`circles`]
//! (what imports what), [`packages`] (manifests) and [`least`] (versions of dependencies). This file finds the files and prints what was found.

mod circles;
mod commands;
mod docs;
mod least;
mod packages;
mod paths;
mod rust;
mod text;
mod tokens;

use std::collections::BTreeMap;
use std::fs;

use anyhow::{Result, bail};

use crate::{codegen, metadata, record, sh};

/// A finding: what is wrong, and where.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Finding {
    /// `path` or `path:line`.
    place: String,
    message: String,
    /// A warning is shown and does not fail.
    warning: bool,
}

impl Finding {
    fn error(place: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            place: place.into(),
            message: message.into(),
            warning: false,
        }
    }

    fn warning(place: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            place: place.into(),
            message: message.into(),
            warning: true,
        }
    }

    fn at(path: &str, line_index: usize, message: impl Into<String>) -> Self {
        Self::error(format!("{path}:{}", line_index + 1), message)
    }
}

/// Whether to look at generated files too, which builds a library.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Generated {
    Check,
    /// Another step has done it.
    Skip,
}

/// The tracked and the new text files, by their path from the root.
type Files = BTreeMap<String, String>;

/// Checks every rule, and returns one line about them.
pub(crate) fn run(generated: Generated) -> Result<String> {
    let files = read_files()?;
    let mut findings = Vec::new();
    for (path, content) in &files {
        findings.extend(text::check(path, content));
        if path.ends_with(".rs") {
            findings.extend(rust::check(path, content));
        }
        if path.ends_with(".md") {
            findings.extend(docs::links(path, content, |target| {
                sh::root().join(target).exists()
            }));
        }
    }
    findings.extend(
        record::check(&files)
            .into_iter()
            .map(|(path, message)| Finding::error(path, message)),
    );
    findings.extend(docs::required(&files));
    findings.extend(docs::architecture(&files));
    findings.extend(circles::check(&files));
    findings.extend(commands::check(&files));
    findings.extend(least::check(&files));
    findings.extend(packages::security(&files));
    findings.extend(packages::check(
        &metadata::workspace()?,
        &sh::root(),
        &files,
    ));

    findings.sort();
    let warnings = findings.iter().filter(|finding| finding.warning).count();
    let errors = findings.len() - warnings;
    for finding in &findings {
        let kind = if finding.warning { "warning" } else { "error" };
        println!("{kind}: {}: {}", finding.place, finding.message);
    }
    let generated = match generated {
        Generated::Check => codegen::run(codegen::Mode::Check).map(drop),
        Generated::Skip => Ok(()),
    };
    if errors > 0 {
        if let Err(error) = generated {
            println!("error: {error:#}");
        }
        bail!("{errors} findings in {} files", files.len());
    }
    generated?;
    Ok(format!("{} files, {warnings} warnings", files.len()))
}

/// Every text file that git tracks or would offer to add.
fn read_files() -> Result<Files> {
    let args = [
        "ls-files",
        "-z",
        "--cached",
        "--others",
        "--exclude-standard",
    ];
    let listed = sh::output(sh::command("git").args(args))?;
    let mut files = Files::new();
    for path in listed
        .stdout
        .split(|byte| *byte == 0)
        .filter(|path| !path.is_empty())
    {
        let path = String::from_utf8_lossy(path).into_owned();
        // A file that git still lists may be missing in the work tree; a corpus is data.
        let Ok(bytes) = fs::read(sh::root().join(&path)) else {
            continue;
        };
        if path.starts_with("fuzz/corpus/") || bytes.contains(&0) {
            continue;
        }
        match String::from_utf8(bytes) {
            Ok(text) => files.insert(path, text),
            Err(_) => continue,
        };
    }
    Ok(files)
}
