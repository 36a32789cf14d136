//! Rules for documents: which must exist, that their links lead somewhere, and that
//! ARCHITECTURE.md knows the code.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use super::{Files, Finding};

/// Documents that a stranger looks for.
const REQUIRED: &[&str] = &[
    "README.md",
    "ARCHITECTURE.md",
    "BIAS.md",
    "METHODOLOGY.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "LICENSE-MIT",
    "LICENSE-APACHE",
    "deny.toml",
    "bench-peers/README.md",
];

/// Which of the required documents are missing.
pub(super) fn required(files: &Files) -> Vec<Finding> {
    let missing = REQUIRED.iter().filter(|path| !files.contains_key(**path));
    missing
        .map(|path| Finding::error(*path, "does not exist: write it"))
        .collect()
}

/// Relative links of a Markdown file that lead nowhere.
pub(super) fn links(path: &str, content: &str, exists: impl Fn(&Path) -> bool) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut fenced = false;
    for (index, line) in content.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        if fenced {
            continue;
        }
        for target in targets(line) {
            let file = target.split('#').next().unwrap_or_default();
            if file.is_empty() || target.contains("://") || target.starts_with("mailto:") {
                continue;
            }
            if !resolve(path, file).is_some_and(|found| exists(&found)) {
                let message = format!("the link to `{target}` leads nowhere");
                findings.push(Finding::at(path, index, message));
            }
        }
    }
    findings
}

/// The targets of the inline links in a line.
fn targets(line: &str) -> Vec<&str> {
    let mut targets = Vec::new();
    let mut rest = line;
    while let Some(start) = rest.find("](") {
        rest = &rest[start + 2..];
        let Some(end) = rest.find(')') else { break };
        // `[text](target "title")`
        targets.push(rest[..end].split_whitespace().next().unwrap_or_default());
        rest = &rest[end..];
    }
    targets
}

/// `target` as seen from the file at `path`, from the root; `None` when it leaves the root.
fn resolve(path: &str, target: &str) -> Option<PathBuf> {
    let mut found = Path::new(path)
        .parent()
        .map(Path::to_path_buf)
        .unwrap_or_default();
    for part in Path::new(target).components() {
        match part {
            Component::ParentDir => {
                if !found.pop() {
                    return None;
                }
            }
            Component::Normal(name) => found.push(name),
            Component::CurDir => {}
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(found)
}

/// Crates and first-level modules that ARCHITECTURE.md does not name.
pub(super) fn architecture(files: &Files) -> Vec<Finding> {
    const DOCUMENT: &str = "ARCHITECTURE.md";
    let Some(text) = files.get(DOCUMENT) else {
        return Vec::new();
    };
    let mut crates = BTreeSet::new();
    let mut modules = BTreeSet::new();
    for path in files.keys().filter(|path| path.ends_with(".rs")) {
        let parts: Vec<&str> = path.split('/').collect();
        let ["crates", name, "src", first, ..] = parts.as_slice() else {
            continue;
        };
        crates.insert(format!("crates/{name}"));
        if !["lib.rs", "main.rs"].contains(first) {
            modules.insert((format!("crates/{name}/src"), (*first).to_owned()));
        }
    }
    let mut findings = Vec::new();
    for name in crates.iter().filter(|name| !text.contains(name.as_str())) {
        findings.push(Finding::error(DOCUMENT, format!("does not name `{name}`")));
    }
    for (folder, name) in &modules {
        // A folder is named as `export/`, a file as `gate.rs`; the other form of either will do,
        // for one becomes the other as it grows.
        let stem = name.trim_end_matches(".rs");
        if !text.contains(&format!("{stem}.rs")) && !text.contains(&format!("{stem}/")) {
            findings.push(Finding::error(
                DOCUMENT,
                format!("does not name `{name}` of {folder}"),
            ));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(entries: &[(&str, &str)]) -> Files {
        entries
            .iter()
            .map(|(path, text)| ((*path).to_owned(), (*text).to_owned()))
            .collect()
    }

    #[test]
    fn missing_documents_are_named() {
        let found = required(&files(&[("README.md", "")]));
        assert_eq!(found.len(), REQUIRED.len() - 1);
        assert_eq!(found[0].place, "ARCHITECTURE.md");
    }

    #[test]
    fn links_resolve_from_their_file() {
        let exists = |path: &Path| path == Path::new("docs/a.md") || path == Path::new("b.md");
        let good = "[a](a.md) [b](../b.md#part) [c](https://x.org/) [d](#here) [e](a.md \"A\")";
        assert!(links("docs/x.md", good, exists).is_empty());
        let found = links("docs/x.md", "one\n[a](b.md) [b](../../b.md)\n", exists);
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].place, "docs/x.md:2");
    }

    #[test]
    fn code_is_no_link() {
        assert!(links("x.md", "```\nf[0](x)\n```\n", |_| false).is_empty());
    }

    #[test]
    fn the_architecture_knows_crates_and_modules() {
        let code = [
            ("crates/a/src/lib.rs", ""),
            ("crates/a/src/gate.rs", ""),
            ("crates/a/src/io/b.rs", ""),
        ];
        let mut all = files(&code);
        assert!(architecture(&all).is_empty());
        all.insert(
            "ARCHITECTURE.md".to_owned(),
            "`crates/a`: gate.rs decides, io/ reads".to_owned(),
        );
        assert!(architecture(&all).is_empty());
        all.insert("ARCHITECTURE.md".to_owned(), "nothing".to_owned());
        assert_eq!(architecture(&all).len(), 3);
    }
}
