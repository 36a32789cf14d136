//! Spellings that people's fingers know and the argument parser does not: `-19`, `-3kf`.
//!
//! The words are rewritten before parsing (`-19` becomes `--level=19`), so that every later stage
//! knows one spelling only. Words after `--` are data and stay as they are.

use std::ffi::OsString;

/// Subcommands whose numeric flags are compression levels.
const WITH_LEVELS: [&str; 1] = ["compress"];

/// Rewrites `-N` and `-Nabc` to `--level=N` and `-abc` where the subcommand has levels.
pub(crate) fn normalise(argv: &[OsString]) -> Vec<OsString> {
    let mut out = Vec::with_capacity(argv.len() + 1);
    let mut has_levels = false;
    let mut seen_command = false;
    let mut only_data = false;
    for (index, word) in argv.iter().enumerate() {
        let text = word.to_str();
        if index > 0 && !seen_command && text.is_some_and(|t| !t.starts_with('-')) {
            seen_command = true;
            has_levels = text.is_some_and(|t| WITH_LEVELS.contains(&t));
        }
        only_data |= text == Some("--");
        match text.and_then(split_level) {
            Some((digits, rest)) if has_levels && !only_data => {
                out.push(format!("--level={digits}").into());
                if !rest.is_empty() {
                    out.push(format!("-{rest}").into());
                }
            }
            _ => out.push(word.clone()),
        }
    }
    out
}

/// Splits `-19kf` into `19` and `kf`; `None` for anything that does not start with `-` and a digit.
fn split_level(word: &str) -> Option<(&str, &str)> {
    let body = word.strip_prefix('-')?;
    let digits = body.len() - body.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    (digits > 0).then(|| body.split_at(digits))
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
