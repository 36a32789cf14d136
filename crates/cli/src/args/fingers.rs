//! Spellings that people's fingers know and the argument parser does not: `-19`, `-qf3`.
//!
//! The words are rewritten before parsing (`-19` becomes `--level=19`), so that every later stage
//! knows one spelling only. Words after `--` are data and stay as they are.

use std::ffi::OsString;

/// Subcommands whose numeric flags are compression levels.
const WITH_LEVELS: [&str; 1] = ["compress"];

/// Short flags that take no value, and so can stand beside a level in one word.
const BARE_FLAGS: &str = "cfkqrvC";

/// Rewrites `-N` and `-Nabc` to `--level=N` and `-abc` where the subcommand has levels.
pub(crate) fn normalise(argv: &[OsString]) -> Vec<OsString> {
    let mut out = Vec::with_capacity(argv.len() + 1);
    let mut has_levels = false;
    let mut seen_command = false;
    let mut only_data = false;
    for (index, word) in argv.iter().enumerate() {
        let text = word.to_str();
        // `--color` is the one flag before the command whose value is a word of its own.
        let value = index > 0 && argv[index - 1] == "--color";
        if index > 0 && !value && !seen_command && text.is_some_and(|t| !t.starts_with('-')) {
            seen_command = true;
            has_levels = text.is_some_and(|t| WITH_LEVELS.contains(&t));
        }
        only_data |= text == Some("--");
        match text.and_then(split_level) {
            Some((level, letters)) if has_levels && !only_data => {
                out.push(format!("--level={level}").into());
                if !letters.is_empty() {
                    out.push(format!("-{letters}").into());
                }
            }
            _ => out.push(word.clone()),
        }
    }
    out
}

/// Splits `-qf19k` into `19` and `qfk`: one run of digits among letters of flags without a value.
fn split_level(word: &str) -> Option<(&str, String)> {
    let body = word.strip_prefix('-')?;
    let start = body.find(|c: char| c.is_ascii_digit())?;
    let digits = &body[start..];
    let end = digits.find(|c: char| !c.is_ascii_digit());
    let (digits, after) = digits.split_at(end.unwrap_or(digits.len()));
    let letters = [&body[..start], after].concat();
    letters
        .chars()
        .all(|c| BARE_FLAGS.contains(c))
        .then_some((digits, letters))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rewrite(line: &str) -> String {
        let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let words = normalise(&words);
        words
            .iter()
            .map(|w| w.to_str().unwrap_or("?"))
            .collect::<Vec<_>>()
            .join(" ")
    }

    #[test]
    fn levels_are_rewritten_only_where_they_are_levels() {
        assert_eq!(
            rewrite("perfkit compress -19 f"),
            "perfkit compress --level=19 f"
        );
        assert_eq!(
            rewrite("perfkit compress -3kf f"),
            "perfkit compress --level=3 -kf f"
        );
        assert_eq!(
            rewrite("perfkit compress -qf3k f"),
            "perfkit compress --level=3 -qfk f"
        );
        assert_eq!(
            rewrite("perfkit -q compress -1 -"),
            "perfkit -q compress --level=1 -"
        );
        assert_eq!(
            rewrite("perfkit compress -- -19"),
            "perfkit compress -- -19"
        );
        assert_eq!(rewrite("perfkit decompress -19"), "perfkit decompress -19");
        assert_eq!(
            rewrite("perfkit compress -T2 --fast=3 -"),
            "perfkit compress -T2 --fast=3 -"
        );
    }
}
