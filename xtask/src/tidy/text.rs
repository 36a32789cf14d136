//! Rules for any text file: whitespace, and words that must not be left lying about.

use super::Finding;

/// Words that may not be committed, with what to do instead. Built from halves, so that this
/// file does not find itself.
const FORBIDDEN: &[(&str, &str)] = &[
    (concat!("TO", "DO"), "file an issue, or do it"),
    (concat!("FIX", "ME"), "file an issue, or fix it"),
    (concat!("XX", "X"), "say what is meant"),
    (
        concat!("todo", "!("),
        "code that is not there cannot be merged",
    ),
    (concat!("#[ig", "nore]"), "say why: #[ignore = \"reason\"]"),
    (concat!("/ro", "ot/"), "a path of one machine"),
    (concat!("/wo", "rk/"), "a path of one machine"),
    (concat!("../sha", "red"), "outside the repository"),
];

/// Checks one file.
pub(super) fn check(path: &str, content: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    if path.ends_with("Cargo.lock") || content.is_empty() {
        return findings;
    }
    // Golden output is compared byte by byte and must be exactly what a program printed.
    let golden = [".hgrm", ".hlog", ".csv", ".stdout", ".stderr"];
    let is_golden = golden.iter().any(|extension| path.ends_with(extension));
    // Go has one layout, and it is by tabs.
    let gofmt = path.ends_with(".go") || path.ends_with("go.mod");
    for (index, line) in content.lines().enumerate() {
        if !is_golden {
            if line.ends_with([' ', '\t', '\r']) {
                findings.push(Finding::at(
                    path,
                    index,
                    "whitespace at the end of the line",
                ));
            }
            if line.contains('\t') && !gofmt {
                findings.push(Finding::at(path, index, "a tab: indent with spaces"));
            }
        }
        for (word, advice) in FORBIDDEN {
            if has_word(line, word) {
                findings.push(Finding::at(path, index, format!("`{word}`: {advice}")));
            }
        }
    }
    if !is_golden && !content.ends_with('\n') {
        findings.push(Finding::error(path, "no line end at the end of the file"));
    }
    if !is_golden && content.ends_with("\n\n") {
        findings.push(Finding::error(path, "empty lines at the end of the file"));
    }
    findings
}

/// Whether `word` is in `line` as a whole word.
fn has_word(line: &str, word: &str) -> bool {
    let part_of_word = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).any(|(start, _)| {
        let before = line[..start].chars().next_back();
        let after = line[start + word.len()..].chars().next();
        // `a/work/b` is a relative path; an absolute one has no name before it.
        let starts =
            !before.is_some_and(|c| part_of_word(c) || (word.starts_with('/') && c == '.'));
        let open_ended = word.ends_with(['/', '(', ']']);
        starts && (open_ended || !after.is_some_and(part_of_word))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(path: &str, content: &str) -> Vec<String> {
        check(path, content)
            .into_iter()
            .map(|f| format!("{}: {}", f.place, f.message))
            .collect()
    }

    #[test]
    fn whitespace_is_found_with_its_line() {
        let found = messages("a.md", "good\nbad \n\tworse\n");
        assert_eq!(found[0], "a.md:2: whitespace at the end of the line");
        assert_eq!(found[1], "a.md:3: a tab: indent with spaces");
        assert!(messages("a.go", "\tindented\n").is_empty());
        assert_eq!(messages("a.md", "no end").len(), 1);
        assert_eq!(messages("a.md", "two ends\n\n").len(), 1);
        assert!(messages("a.hgrm", "golden \n").is_empty());
    }

    #[test]
    fn forbidden_words_are_found_whole() {
        for (word, _) in FORBIDDEN {
            let line = format!("see {word}\n");
            assert_eq!(messages("a.rs", &line).len(), 1, "{word}");
        }
        let longer = format!("{}S and AX{}\n", FORBIDDEN[0].0, FORBIDDEN[2].0);
        assert!(messages("a.rs", &longer).is_empty());
    }

    #[test]
    fn a_relative_path_is_no_machine_path() {
        assert!(messages("a.md", &format!("crates{}x\n", FORBIDDEN[6].0)).is_empty());
        assert!(messages("a.md", "#[ignore = \"needs a browser\"]\n").is_empty());
    }
}
