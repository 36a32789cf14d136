//! Rules for Rust sources: module documentation and size.

use super::Finding;

/// A file longer than this contains something that should have a name of its own.
const LINES_WARN: usize = 400;
const LINES_MAX: usize = 900;

/// Checks one source file.
pub(super) fn check(path: &str, content: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    if !content.starts_with("//!") {
        findings.push(Finding::error(
            path,
            "starts without `//!`: say what lives here, and what does not",
        ));
    }
    let lines = content.lines().count();
    if lines > LINES_MAX {
        let message = format!("{lines} lines, more than {LINES_MAX}: split it");
        findings.push(Finding::error(path, message));
    } else if lines > LINES_WARN {
        findings.push(Finding::warning(
            path,
            format!("{lines} lines, more than {LINES_WARN}"),
        ));
    }
    findings
}

/// Whether a crate root forbids unsafe code.
pub(super) fn forbids_unsafe(content: &str) -> bool {
    content
        .lines()
        .any(|line| line.trim() == "#![forbid(unsafe_code)]")
}

/// Whether a crate root denies unsafe code where no file allows itself some.
pub(super) fn denies_unsafe(content: &str) -> bool {
    content
        .lines()
        .any(|line| line.trim() == "#![deny(unsafe_code)]")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn module_docs_come_first() {
        assert!(check("a.rs", "//! What this is.\nfn a() {}\n").is_empty());
        assert_eq!(check("a.rs", "fn a() {}\n//! Late.\n").len(), 1);
    }

    #[test]
    fn long_files_warn_and_then_fail() {
        let file = |lines: usize| format!("//! Doc.\n{}", "\n".repeat(lines - 1));
        assert!(check("a.rs", &file(LINES_WARN)).is_empty());
        assert!(check("a.rs", &file(LINES_WARN + 1))[0].warning);
        assert!(!check("a.rs", &file(LINES_MAX + 1))[0].warning);
    }

    #[test]
    fn forbidding_unsafe_is_an_attribute_not_a_comment() {
        assert!(forbids_unsafe("//! Doc.\n\n#![forbid(unsafe_code)]\n"));
        assert!(!forbids_unsafe("// #![forbid(unsafe_code)]\n"));
    }
}
