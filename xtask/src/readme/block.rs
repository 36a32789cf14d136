//! Parses the fenced blocks of a document, and compares output with what the document shows.

use anyhow::{Result, bail};

/// Where a block runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// In the temporary directory.
    Folder,
    /// At the root of the repository.
    Repository,
    /// It does not run.
    Nowhere,
}

/// One block of commands.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Block {
    /// Line of its first command, from 1.
    pub(super) line: usize,
    pub(super) place: Place,
    pub(super) code: String,
    /// The `text,exact` block that follows.
    pub(super) exact: Option<String>,
}

/// Parses the blocks of a document. An unknown mark is an error: otherwise its block would silently
/// never run.
pub(super) fn read(document: &str) -> Result<Vec<Block>> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut lines = document.lines().enumerate();
    while let Some((index, line)) = lines.next() {
        let Some(info) = line.trim_start().strip_prefix("```") else {
            continue;
        };
        let mut body = String::new();
        let mut closed = false;
        for (_, line) in lines.by_ref() {
            if line.trim_start().starts_with("```") {
                closed = true;
                break;
            }
            body.push_str(line);
            body.push('\n');
        }
        if !closed {
            bail!("line {}: the block is never closed", index + 1);
        }
        let place = match info.trim() {
            "sh" => Place::Folder,
            "sh,repo" => Place::Repository,
            "sh,norun" => Place::Nowhere,
            "text,exact" => {
                match blocks.last_mut() {
                    Some(block) if block.exact.is_none() => block.exact = Some(body),
                    _ => bail!("line {}: no commands above this exact output", index + 1),
                }
                continue;
            }
            other
                if ["sh", "bash", "console"]
                    .iter()
                    .any(|name| other.starts_with(name)) =>
            {
                bail!("line {}: unknown mark `{other}`", index + 1)
            }
            _ => continue,
        };
        blocks.push(Block {
            line: index + 2,
            place,
            code: body,
            exact: None,
        });
    }
    Ok(blocks)
}

/// Fails with the first line of `wanted` that `output` does not have.
pub(super) fn matches(wanted: &str, output: &str) -> Result<()> {
    let mut found = output.lines().map(str::trim_end).peekable();
    let mut skipping = false;
    for line in wanted.lines().map(str::trim_end) {
        if line == "…" {
            skipping = true;
        } else if skipping {
            if !found.any(|other| line_matches(line, other)) {
                bail!("the output has no line `{line}` where the document shows one:\n{output}");
            }
            skipping = false;
        } else {
            let other = found.next().unwrap_or("(the end)");
            if !line_matches(line, other) {
                bail!("the document shows `{line}`, the output is `{other}`:\n{output}");
            }
        }
    }
    match found.next() {
        Some(line) if !skipping => bail!("the output goes on with `{line}`"),
        _ => Ok(()),
    }
}

/// Whether a line is as shown, `…` standing for anything.
fn line_matches(wanted: &str, found: &str) -> bool {
    let mut parts = wanted.split('…');
    let Some(mut rest) = parts.next().and_then(|first| found.strip_prefix(first)) else {
        return false;
    };
    let Some(last) = wanted.contains('…').then(|| parts.next_back()).flatten() else {
        return rest.is_empty();
    };
    for part in parts {
        let Some(at) = rest.find(part) else {
            return false;
        };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_read_with_their_marks() {
        let document = "# T\n```sh\na\nb\n```\n```text\nfree\n```\n```sh,repo\nc\n```\n\
                        ```text,exact\nout\n```\n```sh,norun\nd\n```\n```rust\nfn e() {}\n```\n";
        let blocks = read(document).unwrap();
        assert_eq!(blocks.len(), 3);
        assert_eq!((blocks[0].line, blocks[0].place), (3, Place::Folder));
        assert_eq!(
            (blocks[0].code.as_str(), blocks[0].exact.as_deref()),
            ("a\nb\n", None)
        );
        assert_eq!(
            (blocks[1].place, blocks[1].exact.as_deref()),
            (Place::Repository, Some("out\n"))
        );
        assert_eq!(blocks[2].place, Place::Nowhere);
    }

    #[test]
    fn mistakes_are_errors() {
        assert!(read("```sh\nopen\n").is_err());
        assert!(read("```sh,maybe\na\n```\n").is_err());
        assert!(read("```text,exact\na\n```\n").is_err());
    }

    #[test]
    fn output_is_compared_by_line() {
        assert!(matches("a\nb\n", "a\nb\n").is_ok());
        assert!(matches("a\n", "a\nb\n").is_err());
        assert!(matches("a\nb\n", "a\n").is_err());
        assert!(matches("a\n…\nz\n", "a\nb\nc\nz\n").is_ok());
        assert!(matches("a\n…\n", "a\nb\n").is_ok());
        assert!(matches("a\n…\nz\n", "a\nb\n").is_err());
    }

    #[test]
    fn an_ellipsis_stands_for_anything_in_a_line() {
        assert!(line_matches("took … ms", "took 12.5 ms"));
        assert!(line_matches("… of …", "3 of 4"));
        assert!(!line_matches("took … ms", "took 12.5 s"));
        assert!(!line_matches("a", "ab"));
        assert!(line_matches("…", ""));
    }
}
